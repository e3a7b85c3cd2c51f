//! Functions of arrays.

use pantile_engine::DType;
use pantile_ir::infer;
use pantile_ir::{Binary, Boundary, Env, Op, Reduction, Type, Unary};

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

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $along:ident $reduction:ident;)*) => {
        impl Array {$(
            $(#[$doc])*
            ///
            /// Of all elements.
            #[track_caller]
            #[must_use]
            pub fn $name(&self) -> Self {
                self.reduce(Reduction::$reduction, None, false, 0.0)
            }

            $(#[$doc])*
            ///
            /// Along these axes.
            #[track_caller]
            #[must_use]
            pub fn $along(&self, axes: &[usize]) -> Self {
                self.reduce(Reduction::$reduction, Some(axes), false, 0.0)
            }
        )*}
    };
}

reductions! {
    /// The sum; of floats the exact one, rounded once.
    sum sum_along Sum;
    /// The product.
    prod prod_along Prod;
    /// The smallest.
    min min_along Min;
    /// The largest.
    max max_along Max;
    /// The mean: the exact sum divided by the count, rounded once.
    mean mean_along Mean;
    /// The variance: the mean squared distance from the mean.
    var var_along Var;
    /// The standard deviation.
    std std_along Std;
    /// True if one is not zero.
    any any_along Any;
    /// True if none is zero.
    all all_along All;
    /// The first place of the smallest, row-major over the axes.
    argmin argmin_along ArgMin;
    /// The first place of the largest, row-major over the axes.
    argmax argmax_along ArgMax;
    /// How many are not zero.
    count_nonzero count_nonzero_along CountNonZero;
    /// The square root of the sum of squared magnitudes.
    norm norm_along Norm2;
}

impl Array {
    /// Any reduction, along some axes or all; reduced axes stay with length 1 if `keepdims`.
    /// `correction` is taken off the count of variances.
    #[track_caller]
    #[must_use]
    pub fn reduce(
        &self,
        reduction: Reduction,
        axes: Option<&[usize]>,
        keepdims: bool,
        correction: f64,
    ) -> Self {
        let place = here();
        let node = self.node(&place);
        let shape = self.shape();
        let all: Vec<usize> = (0..shape.len()).collect();
        let axes = axes.unwrap_or(&all);
        let wrong = axes
            .iter()
            .enumerate()
            .any(|(at, axis)| *axis >= shape.len() || axes[..at].contains(axis));
        let ty = match wrong {
            true => Err(format!(
                "{} along {axes:?} of shape {shape:?}, expected different axes of it",
                reduction.name()
            )),
            false => infer::reduced_dtype(reduction, self.dtype()).map(|dtype| {
                let left = shape.iter().enumerate().filter_map(|(axis, length)| {
                    match axes.contains(&axis) {
                        true if keepdims => Some(1),
                        true => None,
                        false => Some(*length),
                    }
                });
                Type::array(&left.collect::<Vec<_>>(), dtype)
            }),
        };
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        let op = Op::Reduce {
            reduction: reduction.into(),
            axes: Some(axes),
            keepdims,
            correction: correction.to_bits(),
        };
        Self::record(&self.world, op, vec![node], ty, place)
    }

    /// The elements in another type.
    #[track_caller]
    #[must_use]
    pub fn cast(&self, dtype: DType) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = Ok(Type::array(&self.shape(), dtype));
        Self::record(&self.world, Op::CastElement { copy: None }, vec![node], ty, place)
    }

    /// `yes` where this is true, else `no`.
    #[track_caller]
    #[must_use]
    pub fn choose(&self, yes: impl Into<Operand>, no: impl Into<Operand>) -> Self {
        let place = here();
        let (yes, no) = (yes.into(), no.into());
        let other = [&yes, &no].into_iter().find_map(|one| match one {
            Operand::Array(array) => Some(array.dtype()),
            Operand::Number(_) => None,
        });
        let other = other.unwrap_or(DType::F64);
        let (yes, no) =
            (yes.array(&self.world, other, &place), no.array(&self.world, other, &place));
        let dims =
            |array: &Self| -> Vec<Option<usize>> { array.shape().into_iter().map(Some).collect() };
        let dtype = pantile_ir::promote(yes.dtype(), no.dtype());
        let ty = match self.dtype() {
            DType::Bool => infer::broadcast(&[&dims(self), &dims(&yes), &dims(&no)])
                .map(|shape| Type::array(&shape.into_iter().flatten().collect::<Vec<_>>(), dtype)),
            other => Err(format!("got a condition of type {other}, expected bool")),
        };
        let operands = vec![self.node(&place), yes.node(&place), no.node(&place)];
        Self::record(&self.world, Op::Where, operands, ty, place)
    }

    /// Not below `low` and not above `high`.
    #[track_caller]
    #[must_use]
    pub fn clip(&self, low: impl Into<Operand>, high: impl Into<Operand>) -> Self {
        self.maximum(low).minimum(high)
    }

    /// The same elements, row-major, in another shape.
    #[track_caller]
    #[must_use]
    pub fn reshape(&self, shape: &[usize]) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = match shape.iter().product::<usize>() == self.size() {
            true => Ok(Type::array(shape, self.dtype())),
            false => Err(format!("got {shape:?} for the elements of shape {:?}", self.shape())),
        };
        Self::record(&self.world, Op::Reshape { copy: None }, vec![node], ty, place)
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this.
    #[track_caller]
    #[must_use]
    pub fn permute(&self, axes: &[usize]) -> Self {
        let place = here();
        let node = self.node(&place);
        let shape = self.shape();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        let ty = match sorted.into_iter().eq(0..shape.len()) {
            true => {
                let shape: Vec<usize> = axes.iter().map(|axis| shape[*axis]).collect();
                Ok(Type::array(&shape, self.dtype()))
            }
            false => Err(format!(
                "got axes {axes:?}, expected a permutation of the {} axes",
                shape.len()
            )),
        };
        Self::record(&self.world, Op::Permute(axes.to_vec()), vec![node], ty, place)
    }

    /// The axes in reverse order.
    #[track_caller]
    #[must_use]
    pub fn t(&self) -> Self {
        self.permute(&(0..self.ndim()).rev().collect::<Vec<_>>())
    }

    /// The array repeated to a larger shape, aligned at the last axes.
    #[track_caller]
    #[must_use]
    pub fn broadcast_to(&self, shape: &[usize]) -> Self {
        let place = here();
        let node = self.node(&place);
        let dims =
            |shape: &[usize]| -> Vec<Option<usize>> { shape.iter().copied().map(Some).collect() };
        let ty = match infer::broadcast(&[&dims(&self.shape()), &dims(shape)]) {
            Ok(both) if both == dims(shape) => Ok(Type::array(shape, self.dtype())),
            _ => Err(format!("shape {:?} does not broadcast to {shape:?}", self.shape())),
        };
        Self::record(&self.world, Op::Broadcast, vec![node], ty, place)
    }

    /// The same array living somewhere else; texts as in [`World::dist`](super::World::dist).
    #[track_caller]
    #[must_use]
    pub fn redistribute(&self, dist: &str) -> Self {
        let place = here();
        let node = self.node(&place);
        let Type::Array(array) = Type::array(&self.shape(), self.dtype()) else {
            unreachable!("it is an array")
        };
        let ty = Type::Array(array.placed(Some(Env::Spread(dist.to_owned()))));
        let home = pantile_ir::lower::home_of(&ty, &self.world.setting());
        let ty = home.map(|_| ty).map_err(|error| error.message);
        Self::record(&self.world, Op::Redistribute, vec![node], ty, place)
    }

    /// The same array, whole on every rank.
    #[track_caller]
    #[must_use]
    pub fn replicate(&self) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = Ok(Type::array(&self.shape(), self.dtype()));
        Self::record(&self.world, Op::Replicate, vec![node], ty, place)
    }

    /// Shifted elements times weights, summed in the order of the points: offsets and weights.
    #[track_caller]
    #[must_use]
    pub fn stencil(&self, points: &[(&[i64], f64)], boundary: Boundary) -> Self {
        let place = here();
        let node = self.node(&place);
        let fits = points.iter().all(|(offsets, _)| offsets.len() == self.ndim());
        let float = matches!(self.dtype(), DType::F32 | DType::F64);
        let ty = match fits && float {
            true => Ok(Type::array(&self.shape(), self.dtype())),
            false => Err(format!(
                "a stencil of an array of shape {:?} and type {}: expected one offset per axis, and floats",
                self.shape(),
                self.dtype()
            )),
        };
        let op = Op::Stencil {
            points: points.iter().map(|(offsets, _)| offsets.to_vec()).collect(),
            weights: points.iter().map(|(_, weight)| weight.to_bits()).collect(),
            boundary,
        };
        Self::record(&self.world, op, vec![node], ty, place)
    }
}
