//! The operators of Rust on arrays and numbers.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, Shr, Sub, SubAssign,
};

use std::sync::Arc;

use pantile_ir::infer;
use pantile_ir::{ArrayType, Binary, Op, Place, Type, Unary};
use smallvec::smallvec;

use super::error::ArrayError;
use super::node::Node;
use super::{Array, Operand, Session, here};

impl Array {
    /// Any function of one element.
    #[track_caller]
    #[must_use]
    pub fn unary(&self, function: Unary) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = infer::unary_types(function, self.dtype(), None)
            .map(|(_, result)| Type::array(&self.shape(), result))
            .map_err(ArrayError::Type);
        Self::record(&self.world, Op::Unary(function.into()), smallvec![node], ty, place)
    }

    /// Any function of two elements: of this array and of what it is combined with.
    #[track_caller]
    #[must_use]
    pub fn binary(&self, function: Binary, other: impl Into<Operand>) -> Self {
        let place = here();
        let own = self.node(&place);
        let other = other.into().node(own.dtype(), &place);
        Self::both(&self.world, function, [own, other], place)
    }

    /// The other way round: `number - array`.
    #[track_caller]
    #[must_use]
    pub fn reversed(&self, function: Binary, other: impl Into<Operand>) -> Self {
        let place = here();
        let own = self.node(&place);
        let other = other.into().node(own.dtype(), &place);
        Self::both(&self.world, function, [other, own], place)
    }

    fn both(world: &Session, function: Binary, nodes: [Arc<Node>; 2], place: Place) -> Self {
        let ty = binary_type(function, &nodes[0], &nodes[1]);
        Self::record(world, Op::Binary(function.into()), nodes.into(), ty, place)
    }
}

/// The type of a function of two arrays.
fn binary_type(function: Binary, one: &Node, other: &Node) -> Result<Type, ArrayError> {
    let (_, result) = infer::binary_types(function, (one.dtype(), other.dtype()), None)?;
    let shape = infer::broadcast(&[one.ty.shape(), other.ty.shape()]).map_err(|error| {
        ArrayError::Operands {
            function,
            shapes: [one.shape(), other.shape()],
            error: Box::new(error),
        }
    })?;
    Ok(Type::Array(ArrayType { shape, element: result.into(), layout: None, envs: Vec::new() }))
}

macro_rules! operators {
    ($($trait:ident $method:ident $function:ident;)*) => {$(
        impl<T: Into<Operand>> $trait<T> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: T) -> Array {
                self.binary(Binary::$function, other)
            }
        }
        impl<T: Into<Operand>> $trait<T> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: T) -> Array {
                self.binary(Binary::$function, other)
            }
        }
        // One kind of each, so that a plain literal has its type at once.
        operators!(@numbers $trait $method $function; f64 i64);
    )*};
    (@numbers $trait:ident $method:ident $function:ident; $($number:ty)*) => {$(
        impl $trait<Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array {
                other.reversed(Binary::$function, self)
            }
        }
        impl $trait<&Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array {
                other.reversed(Binary::$function, self)
            }
        }
    )*};
}

operators! {
    Add add Add;
    Sub sub Subtract;
    Mul mul Multiply;
    Div div Divide;
    Rem rem Remainder;
    BitAnd bitand BitwiseAnd;
    BitOr bitor BitwiseOr;
    BitXor bitxor BitwiseXor;
    Shl shl BitwiseLeftShift;
    Shr shr BitwiseRightShift;
}

macro_rules! assignments {
    ($($trait:ident $method:ident $function:ident;)*) => {$(
        impl<T: Into<Operand>> $trait<T> for Array {
            /// In place: every view of the same elements sees it.
            #[track_caller]
            fn $method(&mut self, other: T) {
                let result = self.binary(Binary::$function, other);
                self.assign(result);
            }
        }
    )*};
}

assignments! {
    AddAssign add_assign Add;
    SubAssign sub_assign Subtract;
    MulAssign mul_assign Multiply;
    DivAssign div_assign Divide;
    RemAssign rem_assign Remainder;
    BitAndAssign bitand_assign BitwiseAnd;
    BitOrAssign bitor_assign BitwiseOr;
    BitXorAssign bitxor_assign BitwiseXor;
}

impl Neg for &Array {
    type Output = Array;
    #[track_caller]
    fn neg(self) -> Array {
        self.unary(Unary::Negative)
    }
}

impl Neg for Array {
    type Output = Array;
    #[track_caller]
    fn neg(self) -> Array {
        self.unary(Unary::Negative)
    }
}

impl Not for &Array {
    type Output = Array;
    #[track_caller]
    fn not(self) -> Array {
        self.unary(Unary::BitwiseInvert)
    }
}

impl Not for Array {
    type Output = Array;
    #[track_caller]
    fn not(self) -> Array {
        self.unary(Unary::BitwiseInvert)
    }
}
