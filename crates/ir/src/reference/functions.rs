//! Elementwise functions of one or two elements in the type that they compute in.
//!
//! What arithmetic defines is written out here; approximations and complex functions are those of
//! `lanes`, evaluated node by node.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use pantile_lanes::expand::{self, ElementLanes};
use pantile_lanes::{Binary, DType, LoopBody, Scalar, Unary, evaluate};

use super::number::{
    Number, is_complex, is_true, joined, part, parts, read, sign_bit, width, with_sign, write,
};
use super::{EvaluationError, OperandError};
use crate::Random;

/// A function that is a body of primitive operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Unary(Unary),
    Binary(Binary),
    Random(Random, u64),
}

/// The functions, with the bodies that have been made.
#[derive(Default)]
pub(super) struct Functions {
    bodies: BTreeMap<(Key, DType), LoopBody>,
}

impl Functions {
    /// A function of an element in its compute type.
    pub(super) fn unary(
        &mut self,
        function: Unary,
        x: Scalar,
        result: DType,
    ) -> Result<Scalar, EvaluationError> {
        match of_bits(function, x).or_else(|| of_number(function, x, result)) {
            Some(found) => Ok(found),
            None => self.by_body(Key::Unary(function), &[x], result),
        }
    }

    /// A function of two elements in their compute type.
    pub(super) fn binary(
        &mut self,
        function: Binary,
        x: Scalar,
        y: Scalar,
        result: DType,
    ) -> Result<Scalar, EvaluationError> {
        let dtype = x.dtype();
        let found = match (read(x), read(y)) {
            _ if function == Binary::CopySign => Some(with_sign(x, sign_bit(y))),
            (Number::Whole(x), Number::Whole(y)) => whole(function, x, y, dtype),
            (Number::Real(x), Number::Real(y)) => real(function, x, y),
            (Number::Complex(..), Number::Complex(..)) => complex(function, x, y),
            _ => return Err(OperandError::Mixed { function, of: [dtype, y.dtype()] }.into()),
        };
        match found {
            Some(found) if function == Binary::CopySign => Ok(found),
            Some(found) => Ok(write(read(found), result)),
            None => self.by_body(Key::Binary(function), &[x, y], result),
        }
    }

    /// The random number at a place.
    pub(super) fn random(
        &mut self,
        kind: Random,
        stream: u64,
        seed: u64,
        index: u64,
    ) -> Result<Scalar, EvaluationError> {
        let given = [Scalar::of(index), Scalar::of(seed)];
        self.by_body(Key::Random(kind, stream), &given, DType::F64)
    }

    fn by_body(
        &mut self,
        key: Key,
        of: &[Scalar],
        result: DType,
    ) -> Result<Scalar, EvaluationError> {
        let dtype = of[0].dtype();
        let body = match self.bodies.entry((key, dtype)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(body(key, of)?),
        };
        let lanes: Vec<Scalar> = of
            .iter()
            .flat_map(|value| match is_complex(value.dtype()) {
                true => vec![parts(*value).0, parts(*value).1],
                false => vec![*value],
            })
            .collect();
        let found = evaluate(body, &lanes)?;
        let found = match found[..] {
            [re, im] => joined(re, im),
            [one] => one,
            _ => return Err(OperandError::NoValue.into()),
        };
        // Writes NaN as the one that arithmetic gives.
        Ok(write(read(found), result))
    }
}

fn body(key: Key, of: &[Scalar]) -> Result<LoopBody, pantile_lanes::Error> {
    let mut body = LoopBody::new();
    let mut lanes = Vec::new();
    for value in of {
        let dtype = value.dtype();
        let first = body.input(part(dtype))?;
        lanes.push(match is_complex(dtype) {
            true => ElementLanes::Complex(first, body.input(part(dtype))?),
            false => ElementLanes::Real(first),
        });
    }
    let made = match (key, &lanes[..]) {
        (Key::Unary(function), [x]) => expand::unary(&mut body, function, *x)?,
        (Key::Binary(function), [x, y]) => expand::binary(&mut body, function, *x, *y)?,
        (Key::Random(kind, stream), [ElementLanes::Real(index), ElementLanes::Real(seed)]) => {
            ElementLanes::Real(match kind {
                Random::Uniform => expand::uniform(&mut body, *index, *seed, stream)?,
                Random::Normal => expand::normal(&mut body, *index, *seed, stream)?,
            })
        }
        _ => {
            let dtypes = of.iter().map(Scalar::dtype).collect();
            return Err(pantile_lanes::Error::WrongTypes { function: "a function", dtypes });
        }
    };
    match made {
        ElementLanes::Real(node) => body.output(node),
        ElementLanes::Complex(re, im) => {
            body.output(re);
            body.output(im);
        }
    }
    Ok(body)
}

/// Functions that pass bits on, or look at them.
fn of_bits(function: Unary, x: Scalar) -> Option<Scalar> {
    let float = matches!(x.dtype(), DType::F32 | DType::F64);
    let (re, im) = parts(x);
    Some(match function {
        Unary::Positive => x,
        Unary::Conj if is_complex(x.dtype()) => joined(re, with_sign(im, !sign_bit(im))),
        Unary::Conj => x,
        Unary::Real => re,
        Unary::Imag => im,
        Unary::Negative if float => with_sign(x, !sign_bit(x)),
        Unary::Negative if is_complex(x.dtype()) => {
            joined(with_sign(re, !sign_bit(re)), with_sign(im, !sign_bit(im)))
        }
        Unary::Abs if float => with_sign(x, false),
        Unary::SignBit if float => Scalar::of(sign_bit(x)),
        _ => return None,
    })
}

/// Functions that arithmetic defines; none for the others.
fn of_number(function: Unary, x: Scalar, result: DType) -> Option<Scalar> {
    let dtype = x.dtype();
    let number = read(x);
    if function == Unary::LogicalNot {
        return Some(Scalar::of(!is_true(number)));
    }
    if let Number::Complex(re, im) = number {
        return match function {
            Unary::IsNan => Some(Scalar::of(re.is_nan() || im.is_nan())),
            Unary::IsInf => Some(Scalar::of(re.is_infinite() || im.is_infinite())),
            Unary::IsFinite => Some(Scalar::of(re.is_finite() && im.is_finite())),
            Unary::Round => {
                let rounded = Number::Complex(re.round_ties_even(), im.round_ties_even());
                Some(write(rounded, result))
            }
            Unary::Square => complex(Binary::Multiply, x, x),
            _ => None,
        };
    }
    let found = match (function, number) {
        (Unary::Abs, Number::Whole(x)) => Number::Whole(x.abs()),
        (Unary::Negative, Number::Whole(x)) => Number::Whole(-x),
        (Unary::BitwiseInvert, Number::Whole(x)) if dtype == DType::Bool => Number::Whole(1 - x),
        (Unary::BitwiseInvert, Number::Whole(x)) => Number::Whole(!x),
        (Unary::Sign, Number::Whole(x)) => Number::Whole(x.signum()),
        (Unary::SignBit, Number::Whole(x)) => Number::Whole(i128::from(x < 0)),
        (Unary::Square, Number::Whole(x)) => Number::Whole(x.wrapping_mul(x)),
        (Unary::Ceil | Unary::Floor | Unary::Trunc | Unary::Round, Number::Whole(_)) => number,
        (Unary::IsNan | Unary::IsInf, Number::Whole(_)) => Number::Whole(0),
        (Unary::IsFinite, Number::Whole(_)) => Number::Whole(1),
        (_, Number::Real(x)) => return real_of_one(function, x, result),
        _ => return None,
    };
    Some(write(found, result))
}

fn real_of_one(function: Unary, x: f64, result: DType) -> Option<Scalar> {
    let found = match function {
        Unary::IsNan => return Some(Scalar::of(x.is_nan())),
        Unary::IsInf => return Some(Scalar::of(x.is_infinite())),
        Unary::IsFinite => return Some(Scalar::of(x.is_finite())),
        Unary::Ceil => x.ceil(),
        Unary::Floor => x.floor(),
        Unary::Trunc => x.trunc(),
        Unary::Round => x.round_ties_even(),
        Unary::Sign if x > 0.0 => 1.0,
        Unary::Sign if x < 0.0 => -1.0,
        Unary::Sign if x == 0.0 => 0.0,
        Unary::Sign => x,
        Unary::Square => x * x,
        // Rounded to f64 and then to f32 these three are rounded as if once.
        Unary::Sqrt => x.sqrt(),
        Unary::Reciprocal => 1.0 / x,
        _ => return None,
    };
    Some(write(Number::Real(found), result))
}

/// Functions that are true or false: by the order of two numbers, of which NaN has none, or by
/// which of them are not zero.
fn truth(function: Binary, order: Option<Ordering>, (x, y): (bool, bool)) -> Option<bool> {
    Some(match function {
        Binary::Equal => order == Some(Ordering::Equal),
        Binary::NotEqual => order != Some(Ordering::Equal),
        Binary::Less => order == Some(Ordering::Less),
        Binary::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Binary::Greater => order == Some(Ordering::Greater),
        Binary::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Binary::LogicalAnd => x && y,
        Binary::LogicalOr => x || y,
        Binary::LogicalXor => x != y,
        _ => return None,
    })
}

/// Integers and truth values, of which a sum is true if one of them is.
fn whole(function: Binary, x: i128, y: i128, dtype: DType) -> Option<Scalar> {
    let inside = (0..i128::from(width(dtype))).contains(&y);
    let found = match function {
        Binary::Add => x + y,
        Binary::Subtract => x - y,
        Binary::Multiply => x.wrapping_mul(y),
        Binary::Divide if y == 0 => 0,
        Binary::Divide => x / y,
        Binary::FloorDivide => floor_quotient(x, y),
        Binary::Remainder if y == 0 => 0,
        Binary::Remainder => x - y * floor_quotient(x, y),
        Binary::Pow => power(x, y),
        Binary::Maximum => x.max(y),
        Binary::Minimum => x.min(y),
        Binary::BitwiseAnd => x & y,
        Binary::BitwiseOr => x | y,
        Binary::BitwiseXor => x ^ y,
        Binary::BitwiseLeftShift if inside => x << y,
        Binary::BitwiseLeftShift => 0,
        Binary::BitwiseRightShift if inside => x >> y,
        Binary::BitwiseRightShift => x >> 127,
        _ => {
            let found = truth(function, Some(x.cmp(&y)), (x != 0, y != 0));
            return found.map(Scalar::of);
        }
    };
    Some(write(Number::Whole(found), dtype))
}

/// The whole number below the quotient; 0 if the divisor is 0.
pub(super) fn floor_quotient(x: i128, y: i128) -> i128 {
    if y == 0 {
        return 0;
    }
    let quotient = x / y;
    if x % y != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient }
}

/// x times itself, y times, wrapping. One over that is 0, unless x is 1 or -1.
fn power(x: i128, y: i128) -> i128 {
    match (x, y) {
        (1, _) => 1,
        (-1, _) => 1 - 2 * (y & 1),
        (_, ..0) => 0,
        _ => {
            let (mut result, mut base, mut left) = (1i128, x, y);
            while left > 0 {
                if left & 1 == 1 {
                    result = result.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                left >>= 1;
            }
            result
        }
    }
}

/// Real numbers; `f32` results are rounded by whoever writes them, which is once for these.
fn real(function: Binary, x: f64, y: f64) -> Option<Scalar> {
    // -0.0 is below +0.0.
    let below = x < y || (x == y && x.is_sign_negative());
    let found = match function {
        Binary::Add => x + y,
        Binary::Subtract => x - y,
        Binary::Multiply => x * y,
        Binary::Divide => x / y,
        Binary::Maximum | Binary::Minimum if x.is_nan() || y.is_nan() => f64::NAN,
        Binary::Maximum => {
            if below {
                y
            } else {
                x
            }
        }
        Binary::Minimum => {
            if below {
                x
            } else {
                y
            }
        }
        _ => {
            let found = truth(function, x.partial_cmp(&y), (x != 0.0, y != 0.0));
            return found.map(Scalar::of);
        }
    };
    Some(Scalar::of(found))
}

/// Complex numbers part by part, each product and sum rounded in the type of the parts.
fn complex(function: Binary, x: Scalar, y: Scalar) -> Option<Scalar> {
    let dtype = part(x.dtype());
    let ((a, b), (c, d)) = (parts(x), parts(y));
    let real = |function: Binary, one: Scalar, other: Scalar| -> Option<Scalar> {
        let (Number::Real(one), Number::Real(other)) = (read(one), read(other)) else {
            return None;
        };
        Some(write(read(real(function, one, other)?), dtype))
    };
    let (one, other) = (is_true(read(x)), is_true(read(y)));
    Some(match function {
        Binary::Add | Binary::Subtract => joined(real(function, a, c)?, real(function, b, d)?),
        Binary::Multiply => {
            let times = |one, other| real(Binary::Multiply, one, other);
            joined(
                real(Binary::Subtract, times(a, c)?, times(b, d)?)?,
                real(Binary::Add, times(a, d)?, times(b, c)?)?,
            )
        }
        Binary::Equal => Scalar::of(read(a) == read(c) && read(b) == read(d)),
        Binary::NotEqual => Scalar::of(read(a) != read(c) || read(b) != read(d)),
        Binary::LogicalAnd | Binary::LogicalOr | Binary::LogicalXor => {
            Scalar::of(truth(function, None, (one, other))?)
        }
        _ => return None,
    })
}

/// An element of one.
pub(super) fn one(dtype: DType) -> Scalar {
    write(Number::Whole(1), dtype)
}
