//! What an operator means for each element type.
//!
//! Integers wrap. For `bool`, sum and maximum are *or*, product and minimum are *and*. Minimum
//! and maximum of floats pass NaN on and put -0.0 below +0.0, so they do not depend on the order
//! of their terms; bitwise operators have no meaning for floats, and complex numbers have only
//! sum and product, the latter by the plain formula without fused multiply-add.

use bytemuck::Pod;
use num_complex::Complex;
use pantile_geometry::Operator;

use crate::{DType, Error, Scalar, dispatch};

/// An operator together with an element type that it is defined for.
///
/// Invariants:
/// 1. `supports(dtype, operator)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Combination {
    dtype: DType,
    operator: Operator,
}

impl Combination {
    /// The combination of elements of a type by an operator.
    ///
    /// # Errors
    /// If the operator is not defined for the type.
    pub fn new(dtype: DType, operator: Operator) -> Result<Self, Error> {
        if !supports(dtype, operator) {
            return Err(Error::Unsupported { operator, dtype });
        }
        Ok(Self { dtype, operator })
    }

    /// The element type.
    #[must_use]
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// The operator.
    #[must_use]
    pub fn operator(self) -> Operator {
        self.operator
    }

    /// One value combined with another.
    ///
    /// # Errors
    /// If one of them has another type.
    pub fn apply(self, one: &Scalar, other: &Scalar) -> Result<Scalar, Error> {
        for got in [one.dtype(), other.dtype()] {
            if got != self.dtype {
                return Err(Error::DTypes { got, expected: self.dtype });
            }
        }
        Ok(self.visit(Single { dtype: self.dtype, one, other }))
    }

    /// Calls `visitor` with the machine's type and operation of this combination. Wrapping
    /// arithmetic does not see the sign, and bools are bytes of 0 and 1, so several
    /// combinations share one.
    pub(crate) fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        use Operator::{And, Max, Min, Or, Prod, Sum};
        match (self.dtype, self.operator) {
            (DType::Bool, Sum | Max | Or) => visitor.visit::<u8, DoOr>(),
            (DType::Bool, Prod | Min | And) => visitor.visit::<u8, DoAnd>(),
            (DType::I8, Min | Max) => ordered::<i8, V>(self.operator, visitor),
            (DType::I16, Min | Max) => ordered::<i16, V>(self.operator, visitor),
            (DType::I32, Min | Max) => ordered::<i32, V>(self.operator, visitor),
            (DType::I64, Min | Max) => ordered::<i64, V>(self.operator, visitor),
            (DType::U8 | DType::I8, operator) => whole::<u8, V>(operator, visitor),
            (DType::U16 | DType::I16, operator) => whole::<u16, V>(operator, visitor),
            (DType::U32 | DType::I32, operator) => whole::<u32, V>(operator, visitor),
            (DType::U64 | DType::I64, operator) => whole::<u64, V>(operator, visitor),
            (DType::F32, Min | Max) => ordered::<f32, V>(self.operator, visitor),
            (DType::F64, Min | Max) => ordered::<f64, V>(self.operator, visitor),
            (DType::F32, operator) => ring::<f32, V>(operator, visitor),
            (DType::F64, operator) => ring::<f64, V>(operator, visitor),
            (DType::C64, operator) => ring::<Complex<f32>, V>(operator, visitor),
            (DType::C128, operator) => ring::<Complex<f64>, V>(operator, visitor),
        }
    }
}

/// True if elements of the type can be combined by the operator.
#[must_use]
pub fn supports(dtype: DType, operator: Operator) -> bool {
    match dtype {
        DType::F32 | DType::F64 => !matches!(operator, Operator::And | Operator::Or),
        DType::C64 | DType::C128 => matches!(operator, Operator::Sum | Operator::Prod),
        _ => true,
    }
}

/// What a reader sees where no term arrived: 0 for sums, 1 for products, the largest value for
/// minima, the smallest for maxima (infinities for floats), all ones for *and*, 0 for *or*.
///
/// # Errors
/// If the operator is not defined for the type.
pub fn identity(dtype: DType, operator: Operator) -> Result<Scalar, Error> {
    Combination::new(dtype, operator)?;
    Ok(dispatch!(dtype, T {
        bool => Scalar::of(matches!(operator, Operator::Prod | Operator::Min | Operator::And)),
        integers => Scalar::of(neutral([0, 1, T::MAX, T::MIN, !0], operator)),
        floats => Scalar::of(neutral([0.0, 1.0, T::INFINITY, T::NEG_INFINITY, 0.0], operator)),
        complex => {
            let [zero, one] = [T::new(0.0, 0.0), T::new(1.0, 0.0)];
            Scalar::of(neutral([zero, one, zero, zero, zero], operator))
        },
    }))
}

/// Where an accumulation starts: `start` combined with `x` is `x`, bit for bit (but for payloads
/// of NaN). It is the [`identity`] except for sums of floats, which start at -0.0: adding 0.0
/// would turn -0.0 into 0.0.
///
/// Products of complex numbers have no such value: by the plain formula `(1, 0) * x` loses the
/// sign of a zero and makes NaN of infinities. They should start with a copy of the first term.
///
/// # Errors
/// If the operator is not defined for the type.
pub fn start(dtype: DType, operator: Operator) -> Result<Scalar, Error> {
    Ok(match (dtype, operator) {
        (DType::F32, Operator::Sum) => Scalar::of(-0f32),
        (DType::F64, Operator::Sum) => Scalar::of(-0f64),
        (DType::C64, Operator::Sum) => Scalar::of(Complex::new(-0f32, -0.0)),
        (DType::C128, Operator::Sum) => Scalar::of(Complex::new(-0f64, -0.0)),
        _ => identity(dtype, operator)?,
    })
}

/// Picks from the neutral values of sum (and *or*), product, minimum, maximum, *and*.
fn neutral<T>([zero, one, largest, smallest, ones]: [T; 5], operator: Operator) -> T {
    match operator {
        Operator::Sum | Operator::Or => zero,
        Operator::Prod => one,
        Operator::Min => largest,
        Operator::Max => smallest,
        Operator::And => ones,
    }
}

/// Something to do for a machine type and an operation on it.
pub(crate) trait Visitor {
    /// What comes out.
    type Output;

    /// Does it.
    fn visit<T: Pod, O: Apply<T>>(self) -> Self::Output;
}

/// An operation on two values of a machine type.
pub(crate) trait Apply<T>: 'static {
    /// The combined value.
    fn apply(one: T, other: T) -> T;
}

struct Single<'a> {
    dtype: DType,
    one: &'a Scalar,
    other: &'a Scalar,
}

impl Visitor for Single<'_> {
    type Output = Scalar;

    fn visit<T: Pod, O: Apply<T>>(self) -> Scalar {
        let read = |scalar: &Scalar| bytemuck::pod_read_unaligned::<T>(scalar.as_bytes());
        let value = O::apply(read(self.one), read(self.other));
        let scalar = Scalar::from_bytes(self.dtype, bytemuck::bytes_of(&value));
        scalar.expect("operations on bools give bools")
    }
}

pub(crate) struct DoSum;
pub(crate) struct DoProd;
pub(crate) struct DoMin;
pub(crate) struct DoMax;
pub(crate) struct DoAnd;
pub(crate) struct DoOr;

fn whole<T: Pod, V: Visitor>(operator: Operator, visitor: V) -> V::Output
where
    DoSum: Apply<T>,
    DoProd: Apply<T>,
    DoMin: Apply<T>,
    DoMax: Apply<T>,
    DoAnd: Apply<T>,
    DoOr: Apply<T>,
{
    match operator {
        Operator::And => visitor.visit::<T, DoAnd>(),
        Operator::Or => visitor.visit::<T, DoOr>(),
        Operator::Min | Operator::Max => ordered(operator, visitor),
        Operator::Sum | Operator::Prod => ring(operator, visitor),
    }
}

fn ordered<T: Pod, V: Visitor>(operator: Operator, visitor: V) -> V::Output
where
    DoMin: Apply<T>,
    DoMax: Apply<T>,
{
    match operator {
        Operator::Min => visitor.visit::<T, DoMin>(),
        Operator::Max => visitor.visit::<T, DoMax>(),
        _ => unreachable!("invariant 1 of Combination"),
    }
}

fn ring<T: Pod, V: Visitor>(operator: Operator, visitor: V) -> V::Output
where
    DoSum: Apply<T>,
    DoProd: Apply<T>,
{
    match operator {
        Operator::Sum => visitor.visit::<T, DoSum>(),
        Operator::Prod => visitor.visit::<T, DoProd>(),
        _ => unreachable!("invariant 1 of Combination"),
    }
}

macro_rules! apply {
    ($operation:ty, [$($type:ty),*], |$one:ident, $other:ident| $value:expr) => {$(
        impl Apply<$type> for $operation {
            #[inline(always)]
            fn apply($one: $type, $other: $type) -> $type {
                $value
            }
        }
    )*};
}

apply!(DoSum, [u8, u16, u32, u64], |one, other| one.wrapping_add(other));
apply!(DoProd, [u8, u16, u32, u64], |one, other| one.wrapping_mul(other));
apply!(DoAnd, [u8, u16, u32, u64], |one, other| one & other);
apply!(DoOr, [u8, u16, u32, u64], |one, other| one | other);
apply!(DoMin, [u8, u16, u32, u64, i8, i16, i32, i64], |one, other| one.min(other));
apply!(DoMax, [u8, u16, u32, u64, i8, i16, i32, i64], |one, other| one.max(other));
apply!(DoSum, [f32, f64], |one, other| one + other);
apply!(DoProd, [f32, f64], |one, other| one * other);
apply!(DoSum, [Complex<f32>, Complex<f64>], |one, other| {
    Complex { re: one.re + other.re, im: one.im + other.im }
});
apply!(DoProd, [Complex<f32>, Complex<f64>], |one, other| Complex {
    re: one.re * other.re - one.im * other.im,
    im: one.re * other.im + one.im * other.re,
});

// Selections rather than branches, so that loops become vector code. Equal values differ at most
// in the sign of zero: the bits of both together have it (minimum), or not (maximum). If `other`
// is NaN, all comparisons fail and it is what remains.
macro_rules! apply_float {
    ($($type:ident),*) => {$(
        apply!(DoMin, [$type], |one, other| {
            let least = if one < other { one } else { other };
            let both = $type::from_bits(one.to_bits() | other.to_bits());
            let least = if one == other { both } else { least };
            if one.is_nan() { one } else { least }
        });
        apply!(DoMax, [$type], |one, other| {
            let most = if one > other { one } else { other };
            let both = $type::from_bits(one.to_bits() & other.to_bits());
            let most = if one == other { both } else { most };
            if one.is_nan() { one } else { most }
        });
    )*};
}

apply_float!(f32, f64);
