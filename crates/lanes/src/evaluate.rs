//! What a body means: its nodes computed one after the other, for one element.

use crate::{
    BinaryOp, DType, Element, Error, LaneNode, LaneOp, LookupTable, LoopBody, Scalar, UnaryOp,
    dispatch, expand,
};

/// The outputs of a body for one element with these inputs.
///
/// This is the meaning of a body; an implementation that runs bodies faster must give the same
/// bits. Only the bits of a NaN that arithmetic makes are open, until `Canonical` fixes them.
///
/// # Errors
/// If the inputs are not of the number and types that the body asks for.
pub fn evaluate(body: &LoopBody, inputs: &[Scalar]) -> Result<Vec<Scalar>, Error> {
    let given = inputs.iter().map(Scalar::dtype);
    if !given.clone().eq(body.inputs().iter().copied()) {
        return Err(Error::WrongInputs { got: given.collect(), expected: body.inputs().to_vec() });
    }
    let mut values: Vec<Scalar> = Vec::with_capacity(body.nodes().len());
    for op in body.nodes() {
        values.push(value(op, inputs, &values)?);
    }
    Ok(body.outputs().iter().map(|node| values[node.index()]).collect())
}

/// The value of one node, given those before it.
fn value(op: &LaneOp, inputs: &[Scalar], values: &[Scalar]) -> Result<Scalar, Error> {
    // Invariant 1 of a body: operands come before, with types that fit.
    let at = |node: LaneNode| values[node.index()];
    let found = match *op {
        LaneOp::Input(number) => Some(inputs[number as usize]),
        LaneOp::Const(value) => Some(value),
        LaneOp::Unary(one, x) => on_type(at(x).dtype(), &Primitive::Unary(one, at(x))),
        LaneOp::Binary(two, x, y) => on_type(at(x).dtype(), &Primitive::Binary(two, at(x), at(y))),
        LaneOp::MulAdd(x, y, z) => mul_add(at(x), at(y), at(z)),
        LaneOp::Select(which, yes, no) => {
            at(which).get::<bool>().map(|which| if which { at(yes) } else { at(no) })
        }
        LaneOp::Cast(x, to) => on_type(at(x).dtype(), &Primitive::Cast(at(x), to)),
        LaneOp::Bits(x, to) => Scalar::from_bytes(to, at(x).as_bytes()),
        LaneOp::Table(table, place) => at(place).get::<u64>().map(|place| word(table, place)),
        LaneOp::Sum(terms) => {
            crate::exact::sum(&terms.nodes().iter().map(|node| at(*node)).collect::<Vec<_>>())
        }
        LaneOp::Call(function, _) => {
            let lanes: Vec<Scalar> = op.operands().map(at).collect();
            evaluate(expand::expansion(function), &lanes)?.first().copied()
        }
    };
    found.ok_or_else(|| Error::WrongLane { op: format!("{op:?}"), dtype: DType::Bool })
}

fn mul_add(x: Scalar, y: Scalar, z: Scalar) -> Option<Scalar> {
    if x.dtype() == DType::F32 {
        Some(Scalar::of(x.get::<f32>()?.mul_add(y.get()?, z.get()?)))
    } else {
        Some(Scalar::of(x.get::<f64>()?.mul_add(y.get()?, z.get()?)))
    }
}

/// The entry of a lookup table; a place beyond the end reads the last one.
fn word(table: LookupTable, place: u64) -> Scalar {
    let last = table.entries.len() - 1;
    Scalar::of(table.entries[usize::try_from(place).map_or(last, |place| place.min(last))])
}

/// What to compute once the type is known.
enum Primitive {
    Unary(UnaryOp, Scalar),
    Binary(BinaryOp, Scalar, Scalar),
    Cast(Scalar, DType),
}

impl Primitive {
    fn run<T: PrimitiveOps>(&self) -> Option<Scalar> {
        match *self {
            Self::Unary(one, x) => x.get::<T>()?.one(one).map(Scalar::of),
            Self::Binary(two, x, y) => {
                let (x, y) = (x.get::<T>()?, y.get::<T>()?);
                let boolean = match two {
                    BinaryOp::Eq => x == y,
                    BinaryOp::Ne => x != y,
                    BinaryOp::Lt => x < y,
                    BinaryOp::Le => x <= y,
                    _ => return x.two(two, y).map(Scalar::of),
                };
                Some(Scalar::of(boolean))
            }
            Self::Cast(x, to) => x.get::<T>()?.cast(to),
        }
    }
}

fn on_type(dtype: DType, compute: &Primitive) -> Option<Scalar> {
    dispatch!(dtype, T {
        bool | integers | floats => compute.run::<T>(),
        complex => None,
    })
}

/// The primitive operations on one Rust type; `None` where a body has no such node.
trait PrimitiveOps: Element + PartialOrd {
    fn one(self, op: UnaryOp) -> Option<Self>;
    fn two(self, op: BinaryOp, other: Self) -> Option<Self>;
    fn cast(self, to: DType) -> Option<Scalar>;
}

impl PrimitiveOps for bool {
    fn one(self, op: UnaryOp) -> Option<Self> {
        (op == UnaryOp::Not).then_some(!self)
    }

    fn two(self, op: BinaryOp, other: Self) -> Option<Self> {
        match op {
            BinaryOp::Add | BinaryOp::Or | BinaryOp::Max => Some(self | other),
            BinaryOp::Mul | BinaryOp::And | BinaryOp::Min => Some(self & other),
            BinaryOp::Xor => Some(self ^ other),
            _ => None,
        }
    }

    fn cast(self, to: DType) -> Option<Scalar> {
        if to == DType::Bool { Some(Scalar::of(self)) } else { u8::from(self).cast(to) }
    }
}

/// The casts of numbers: Rust's `as` wraps between integers, and saturates from floats to them.
macro_rules! cast_of_number {
    ($zero:expr) => {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "casts of lanes wrap, saturate or round, as `as` does"
        )]
        fn cast(self, to: DType) -> Option<Scalar> {
            dispatch!(to, T {
                bool => Some(Scalar::of(self != $zero)),
                integers | floats => Some(Scalar::of(self as T)),
                complex => None,
            })
        }
    };
}

macro_rules! integers {
    ($($type:ident, $unsigned:ident, $abs:expr;)*) => {$(
        impl PrimitiveOps for $type {
            fn one(self, op: UnaryOp) -> Option<Self> {
                match op {
                    UnaryOp::Neg => Some(self.wrapping_neg()),
                    UnaryOp::Abs => Some($abs(self)),
                    UnaryOp::Not => Some(!self),
                    _ => None,
                }
            }

            fn two(self, op: BinaryOp, other: Self) -> Option<Self> {
                // The amount of a shift, none if it is not below the width.
                let amount = u32::try_from(other as $unsigned).ok().filter(|n| *n < $type::BITS);
                Some(match op {
                    BinaryOp::Add => self.wrapping_add(other),
                    BinaryOp::Sub => self.wrapping_sub(other),
                    BinaryOp::Mul => self.wrapping_mul(other),
                    BinaryOp::Div => if other == 0 { 0 } else { self.wrapping_div(other) },
                    BinaryOp::Rem => if other == 0 { 0 } else { self.wrapping_rem(other) },
                    BinaryOp::Min => self.min(other),
                    BinaryOp::Max => self.max(other),
                    BinaryOp::And => self & other,
                    BinaryOp::Or => self | other,
                    BinaryOp::Xor => self ^ other,
                    BinaryOp::Shl => amount.map_or(0, |amount| self << amount),
                    BinaryOp::Shr => self >> amount.unwrap_or($type::BITS - 1)
                        >> u32::from(amount.is_none()),
                    BinaryOp::MulHigh => upper_half(self, other)?,
                    _ => return None,
                })
            }

            cast_of_number!(0);
        }
    )*};
}

/// The upper half of the double-width product; of `u64` only.
fn upper_half<T: Element>(x: T, y: T) -> Option<T> {
    let (x, y) = (Scalar::of(x).get::<u64>()?, Scalar::of(y).get::<u64>()?);
    let product = u128::from(x) * u128::from(y);
    Scalar::of(u64::try_from(product >> 64).ok()?).get()
}

integers! {
    i8, u8, i8::wrapping_abs;
    i16, u16, i16::wrapping_abs;
    i32, u32, i32::wrapping_abs;
    i64, u64, i64::wrapping_abs;
    u8, u8, std::convert::identity;
    u16, u16, std::convert::identity;
    u32, u32, std::convert::identity;
    u64, u64, std::convert::identity;
}

macro_rules! floats {
    ($($type:ident, $quiet:literal;)*) => {$(
        impl PrimitiveOps for $type {
            fn one(self, op: UnaryOp) -> Option<Self> {
                Some(match op {
                    UnaryOp::Neg => -self,
                    UnaryOp::Abs => self.abs(),
                    UnaryOp::Sqrt => self.sqrt(),
                    UnaryOp::Floor => self.floor(),
                    UnaryOp::Ceil => self.ceil(),
                    UnaryOp::Trunc => self.trunc(),
                    UnaryOp::RoundEven => self.round_ties_even(),
                    UnaryOp::Canonical => if self.is_nan() { $type::from_bits($quiet) } else { self },
                    UnaryOp::Not => return None,
                })
            }

            fn two(self, op: BinaryOp, other: Self) -> Option<Self> {
                let nan = self.is_nan() || other.is_nan();
                // In the order of the bits, -0.0 is below +0.0.
                let below = self < other || (self == other && self.is_sign_negative());
                Some(match op {
                    BinaryOp::Add => self + other,
                    BinaryOp::Sub => self - other,
                    BinaryOp::Mul => self * other,
                    BinaryOp::Div => self / other,
                    BinaryOp::Rem => self % other,
                    BinaryOp::Min if nan => $type::NAN,
                    BinaryOp::Max if nan => $type::NAN,
                    BinaryOp::Min => if below { self } else { other },
                    BinaryOp::Max => if below { other } else { self },
                    _ => return None,
                })
            }

            cast_of_number!(0.0);
        }
    )*};
}

floats! {
    f32, 0x7fc0_0000;
    f64, 0x7ff8_0000_0000_0000;
}

#[cfg(test)]
#[path = "evaluate_tests.rs"]
mod tests;
