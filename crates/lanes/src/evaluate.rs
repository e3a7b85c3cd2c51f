//! What a body means: its nodes computed one after the other, for one element.

use crate::{Body, DType, Element, Error, Node, One, Op, Scalar, Table, Two, expand};

/// The outputs of a body for one element with these inputs.
///
/// This is the meaning of a body; whoever runs bodies faster must give the same bits. Only the
/// bits of a NaN that arithmetic makes are open, until `Canonical` fixes them.
///
/// # Errors
/// If the inputs are not of the number and types that the body asks for.
pub fn evaluate(body: &Body, inputs: &[Scalar]) -> Result<Vec<Scalar>, Error> {
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
fn value(op: &Op, inputs: &[Scalar], values: &[Scalar]) -> Result<Scalar, Error> {
    // Invariant 1 of a body: operands come before, with types that fit.
    let at = |node: Node| values[node.index()];
    let found = match *op {
        Op::Input(number) => Some(inputs[number as usize]),
        Op::Const(value) => Some(value),
        Op::One(one, x) => on_type(at(x).dtype(), &Compute::One(one, at(x))),
        Op::Two(two, x, y) => on_type(at(x).dtype(), &Compute::Two(two, at(x), at(y))),
        Op::MulAdd(x, y, z) => mul_add(at(x), at(y), at(z)),
        Op::Select(which, yes, no) => {
            at(which).get::<bool>().map(|which| if which { at(yes) } else { at(no) })
        }
        Op::Cast(x, to) => on_type(at(x).dtype(), &Compute::Cast(at(x), to)),
        Op::Bits(x, to) => Scalar::from_bytes(to, at(x).as_bytes()),
        Op::Table(table, place) => at(place).get::<u64>().map(|place| word(table, place)),
        Op::Sum(terms) => {
            crate::exact::sum(&terms.nodes().iter().map(|node| at(*node)).collect::<Vec<_>>())
        }
        Op::Call(function, _) => {
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

/// The word of a table; a place beyond the end reads the last one.
fn word(table: Table, place: u64) -> Scalar {
    let last = table.words.len() - 1;
    Scalar::of(table.words[usize::try_from(place).map_or(last, |place| place.min(last))])
}

/// What to compute once the type is known.
enum Compute {
    One(One, Scalar),
    Two(Two, Scalar, Scalar),
    Cast(Scalar, DType),
}

impl Compute {
    fn run<T: Lane>(&self) -> Option<Scalar> {
        match *self {
            Self::One(one, x) => x.get::<T>()?.one(one).map(Scalar::of),
            Self::Two(two, x, y) => {
                let (x, y) = (x.get::<T>()?, y.get::<T>()?);
                let truth = match two {
                    Two::Eq => x == y,
                    Two::Ne => x != y,
                    Two::Lt => x < y,
                    Two::Le => x <= y,
                    _ => return x.two(two, y).map(Scalar::of),
                };
                Some(Scalar::of(truth))
            }
            Self::Cast(x, to) => x.get::<T>()?.cast(to),
        }
    }
}

fn on_type(dtype: DType, compute: &Compute) -> Option<Scalar> {
    match dtype {
        DType::Bool => compute.run::<bool>(),
        DType::I8 => compute.run::<i8>(),
        DType::I16 => compute.run::<i16>(),
        DType::I32 => compute.run::<i32>(),
        DType::I64 => compute.run::<i64>(),
        DType::U8 => compute.run::<u8>(),
        DType::U16 => compute.run::<u16>(),
        DType::U32 => compute.run::<u32>(),
        DType::U64 => compute.run::<u64>(),
        DType::F32 => compute.run::<f32>(),
        DType::F64 => compute.run::<f64>(),
        DType::C64 | DType::C128 => None,
    }
}

/// The primitive operations on one Rust type; `None` where a body has no such node.
trait Lane: Element + PartialOrd {
    fn one(self, op: One) -> Option<Self>;
    fn two(self, op: Two, other: Self) -> Option<Self>;
    fn cast(self, to: DType) -> Option<Scalar>;
}

impl Lane for bool {
    fn one(self, op: One) -> Option<Self> {
        (op == One::Not).then_some(!self)
    }

    fn two(self, op: Two, other: Self) -> Option<Self> {
        match op {
            Two::Add | Two::Or | Two::Max => Some(self | other),
            Two::Mul | Two::And | Two::Min => Some(self & other),
            Two::Xor => Some(self ^ other),
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
            Some(match to {
                DType::Bool => Scalar::of(self != $zero),
                DType::I8 => Scalar::of(self as i8),
                DType::I16 => Scalar::of(self as i16),
                DType::I32 => Scalar::of(self as i32),
                DType::I64 => Scalar::of(self as i64),
                DType::U8 => Scalar::of(self as u8),
                DType::U16 => Scalar::of(self as u16),
                DType::U32 => Scalar::of(self as u32),
                DType::U64 => Scalar::of(self as u64),
                DType::F32 => Scalar::of(self as f32),
                DType::F64 => Scalar::of(self as f64),
                DType::C64 | DType::C128 => return None,
            })
        }
    };
}

macro_rules! integers {
    ($($type:ident, $unsigned:ident, $abs:expr;)*) => {$(
        impl Lane for $type {
            fn one(self, op: One) -> Option<Self> {
                match op {
                    One::Neg => Some(self.wrapping_neg()),
                    One::Abs => Some($abs(self)),
                    One::Not => Some(!self),
                    _ => None,
                }
            }

            fn two(self, op: Two, other: Self) -> Option<Self> {
                // The amount of a shift, none if it is not below the width.
                let amount = u32::try_from(other as $unsigned).ok().filter(|n| *n < $type::BITS);
                Some(match op {
                    Two::Add => self.wrapping_add(other),
                    Two::Sub => self.wrapping_sub(other),
                    Two::Mul => self.wrapping_mul(other),
                    Two::Div => if other == 0 { 0 } else { self.wrapping_div(other) },
                    Two::Rem => if other == 0 { 0 } else { self.wrapping_rem(other) },
                    Two::Min => self.min(other),
                    Two::Max => self.max(other),
                    Two::And => self & other,
                    Two::Or => self | other,
                    Two::Xor => self ^ other,
                    Two::Shl => amount.map_or(0, |amount| self << amount),
                    Two::Shr => self >> amount.unwrap_or($type::BITS - 1)
                        >> u32::from(amount.is_none()),
                    Two::MulHigh => upper_half(self, other)?,
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
        impl Lane for $type {
            fn one(self, op: One) -> Option<Self> {
                Some(match op {
                    One::Neg => -self,
                    One::Abs => self.abs(),
                    One::Sqrt => self.sqrt(),
                    One::Floor => self.floor(),
                    One::Ceil => self.ceil(),
                    One::Trunc => self.trunc(),
                    One::RoundEven => self.round_ties_even(),
                    One::Canonical => if self.is_nan() { $type::from_bits($quiet) } else { self },
                    One::Not => return None,
                })
            }

            fn two(self, op: Two, other: Self) -> Option<Self> {
                let nan = self.is_nan() || other.is_nan();
                // In the order of the bits, -0.0 is below +0.0.
                let below = self < other || (self == other && self.is_sign_negative());
                Some(match op {
                    Two::Add => self + other,
                    Two::Sub => self - other,
                    Two::Mul => self * other,
                    Two::Div => self / other,
                    Two::Rem => self % other,
                    Two::Min if nan => $type::NAN,
                    Two::Max if nan => $type::NAN,
                    Two::Min => if below { self } else { other },
                    Two::Max => if below { other } else { self },
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
