//! Functions of arrays.

use pantile_engine::DType;
use pantile_ir::infer;
use pantile_ir::{Binary, Op, Type, Unary};
use smallvec::smallvec;

use super::error::ArrayError;
use super::{Array, Operand, here};

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $function:ident;)*) => {
        impl Array {$(
            $(#[$doc])*
            #[track_caller]
            #[must_use]
            pub fn $name(&self) -> Self {
                self.unary(Unary::$function)
            }
        )*}
    };
}

unary! {
    /// The magnitude.
    abs Abs;
    /// Inverse cosine.
    acos Acos;
    /// Inverse hyperbolic cosine.
    acosh Acosh;
    /// Inverse sine.
    asin Asin;
    /// Inverse hyperbolic sine.
    asinh Asinh;
    /// Inverse tangent.
    atan Atan;
    /// Inverse hyperbolic tangent.
    atanh Atanh;
    /// The next whole number above.
    ceil Ceil;
    /// The conjugate.
    conj Conj;
    /// Cosine.
    cos Cos;
    /// Hyperbolic cosine.
    cosh Cosh;
    /// The error function.
    erf Erf;
    /// e to the power.
    exp Exp;
    /// e to the power, less one.
    expm1 Expm1;
    /// The next whole number below.
    floor Floor;
    /// The imaginary part.
    imag Imag;
    /// Neither infinite nor NaN.
    is_finite IsFinite;
    /// Infinite.
    is_inf IsInf;
    /// Not a number.
    is_nan IsNan;
    /// The natural logarithm.
    log Log;
    /// The natural logarithm of one more.
    log1p Log1p;
    /// The logarithm to base 2.
    log2 Log2;
    /// The logarithm to base 10.
    log10 Log10;
    /// True where zero.
    logical_not LogicalNot;
    /// Itself; refused for bool, as the other sign is.
    positive Positive;
    /// The real part.
    real Real;
    /// One over it.
    reciprocal Reciprocal;
    /// The nearest whole number, halves to even.
    round Round;
    /// -1, 0 or 1.
    sign Sign;
    /// True where the sign bit is set.
    signbit SignBit;
    /// Sine.
    sin Sin;
    /// Hyperbolic sine.
    sinh Sinh;
    /// The square root.
    sqrt Sqrt;
    /// Times itself.
    square Square;
    /// Tangent.
    tan Tan;
    /// Hyperbolic tangent.
    tanh Tanh;
    /// The whole number towards zero.
    trunc Trunc;
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $function:ident;)*) => {
        impl Array {$(
            $(#[$doc])*
            #[track_caller]
            #[must_use]
            pub fn $name(&self, other: impl Into<Operand>) -> Self {
                self.binary(Binary::$function, other)
            }
        )*}
    };
}

binary! {
    /// The angle of the point (other, self).
    atan2 Atan2;
    /// Bits moved up.
    left_shift BitwiseLeftShift;
    /// Bits moved down.
    right_shift BitwiseRightShift;
    /// The magnitude of this with the sign of the other.
    copysign CopySign;
    /// Equal, element by element.
    equal Equal;
    /// The whole number below the quotient.
    floor_divide FloorDivide;
    /// Above, element by element.
    greater Greater;
    /// Not below, element by element.
    greater_equal GreaterEqual;
    /// The length of the vector of both.
    hypot Hypot;
    /// Below, element by element.
    less Less;
    /// Not above, element by element.
    less_equal LessEqual;
    /// log(exp(self) + exp(other)).
    logaddexp LogAddExp;
    /// Both are not zero.
    logical_and LogicalAnd;
    /// One is not zero.
    logical_or LogicalOr;
    /// Exactly one is not zero.
    logical_xor LogicalXor;
    /// The greater one.
    maximum Maximum;
    /// The smaller one.
    minimum Minimum;
    /// The next number towards the other.
    nextafter NextAfter;
    /// Not equal, element by element.
    not_equal NotEqual;
    /// To the power.
    pow Pow;
}

impl Array {
    /// The elements in another type.
    #[track_caller]
    #[must_use]
    pub fn cast(&self, dtype: DType) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = Ok(Type::array(&self.shape(), dtype));
        Self::record(&self.world, Op::CastElement { copy: None }, smallvec![node], ty, place)
    }

    /// `yes` where this is true, else `no`.
    #[track_caller]
    #[must_use]
    pub fn choose(&self, yes: impl Into<Operand>, no: impl Into<Operand>) -> Self {
        let place = here();
        let (yes, no) = (yes.into(), no.into());
        let other = match (&yes, &no) {
            (Operand::Array(array), _) | (_, Operand::Array(array)) => array.dtype(),
            // Two numbers: there is no array whose type they could take.
            (Operand::Number(yes), Operand::Number(no)) => {
                pantile_ir::promote(yes.scalar().dtype(), no.scalar().dtype())
            }
        };
        let (yes, no) =
            (yes.array(&self.world, other, &place), no.array(&self.world, other, &place));
        let dims =
            |array: &Self| -> Vec<Option<usize>> { array.shape().into_iter().map(Some).collect() };
        let dtype = pantile_ir::promote(yes.dtype(), no.dtype());
        let ty = match self.dtype() {
            DType::Bool => infer::broadcast(&[&dims(self), &dims(&yes), &dims(&no)])
                .map(|shape| Type::array(&shape.into_iter().flatten().collect::<Vec<_>>(), dtype))
                .map_err(ArrayError::Shape),
            got => Err(ArrayError::Condition { got }),
        };
        let operands = smallvec![self.node(&place), yes.node(&place), no.node(&place)];
        Self::record(&self.world, Op::Where, operands, ty, place)
    }

    /// Not below `low` and not above `high`.
    #[track_caller]
    #[must_use]
    pub fn clip(&self, low: impl Into<Operand>, high: impl Into<Operand>) -> Self {
        self.maximum(low).minimum(high)
    }
}
