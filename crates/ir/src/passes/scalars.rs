//! Arithmetic on constants.

use pantile_lanes::expand::{self, Lane};
use pantile_lanes::{Body, DType, Scalar, evaluate};

use crate::{Arith, Predicate};

/// The result of an operation on constants, if it has one that does not depend on the machine.
pub(super) fn arith(arith: Arith, of: &[Scalar]) -> Option<Scalar> {
    let dtype = of.first()?.dtype();
    match (arith, of) {
        (Arith::NegF, [x]) => match dtype {
            DType::F32 => x.get::<f32>().map(|x| Scalar::of(-x)),
            DType::F64 => x.get::<f64>().map(|x| Scalar::of(-x)),
            _ => None,
        },
        (Arith::AddF | Arith::SubF | Arith::MulF | Arith::DivF, [x, y]) => match dtype {
            DType::F32 => {
                let (x, y) = (x.get::<f32>()?, y.get::<f32>()?);
                let z = floats(arith, x, y)?;
                Some(Scalar::of(if z.is_nan() { f32::from_bits(0x7FC0_0000) } else { z }))
            }
            DType::F64 => {
                let (x, y) = (x.get::<f64>()?, y.get::<f64>()?);
                let z = floats(arith, x, y)?;
                let nan = f64::from_bits(0x7FF8_0000_0000_0000);
                Some(Scalar::of(if z.is_nan() { nan } else { z }))
            }
            _ => None,
        },
        (_, [x, y]) => wrapped(dtype, whole(arith, dtype, integer(x)?, integer(y)?)?),
        _ => None,
    }
}

fn floats<F>(arith: Arith, x: F, y: F) -> Option<F>
where
    F: std::ops::Add<Output = F>
        + std::ops::Sub<Output = F>
        + std::ops::Mul<Output = F>
        + std::ops::Div<Output = F>,
{
    Some(match arith {
        Arith::AddF => x + y,
        Arith::SubF => x - y,
        Arith::MulF => x * y,
        Arith::DivF => x / y,
        _ => return None,
    })
}

fn whole(arith: Arith, dtype: DType, x: i128, y: i128) -> Option<i128> {
    let logical = matches!(arith, Arith::AndI | Arith::OrI | Arith::XOrI);
    if dtype == DType::Bool && !logical {
        return None;
    }
    Some(match arith {
        Arith::AddI => x + y,
        Arith::SubI => x - y,
        Arith::MulI => x * y,
        // What a quotient by 0 is, the machine that runs the program says.
        Arith::DivSI => x.checked_div(y)?,
        Arith::FloorDivSI => floor(x, y)?,
        Arith::CeilDivSI => -floor(-x, y)?,
        Arith::RemSI => x.checked_rem(y)?,
        Arith::MinSI => x.min(y),
        Arith::MaxSI => x.max(y),
        Arith::AndI => x & y,
        Arith::OrI => x | y,
        Arith::XOrI => x ^ y,
        _ => return None,
    })
}

fn floor(x: i128, y: i128) -> Option<i128> {
    let quotient = x.checked_div(y)?;
    Some(if x % y != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient })
}

/// A comparison of constants.
pub(super) fn compare(predicate: Predicate, x: &Scalar, y: &Scalar) -> Option<Scalar> {
    let order = match (integer(x), integer(y)) {
        (Some(x), Some(y)) => Some(x.cmp(&y)),
        _ => real(x)?.partial_cmp(&real(y)?),
    };
    use std::cmp::Ordering::{Equal, Greater, Less};
    Some(Scalar::of(match predicate {
        Predicate::Eq => order == Some(Equal),
        Predicate::Ne => order != Some(Equal),
        Predicate::Lt => order == Some(Less),
        Predicate::Le => matches!(order, Some(Less | Equal)),
        Predicate::Gt => order == Some(Greater),
        Predicate::Ge => matches!(order, Some(Greater | Equal)),
    }))
}

/// A constant in another type; complex ones are left alone.
pub(super) fn convert(x: &Scalar, to: DType) -> Option<Scalar> {
    let complex = |dtype| matches!(dtype, DType::C64 | DType::C128);
    if complex(x.dtype()) || complex(to) {
        return None;
    }
    let mut body = Body::new();
    let lane = Lane::Real(body.input(x.dtype()).ok()?);
    let Lane::Real(node) = expand::cast(&mut body, lane, to).ok()? else { return None };
    body.output(node);
    evaluate(&body, &[*x]).ok()?.first().copied()
}

/// A whole number of any type.
pub(super) fn integer(x: &Scalar) -> Option<i128> {
    Some(match x.dtype() {
        DType::Bool => i128::from(x.get::<bool>()?),
        DType::I8 => i128::from(x.get::<i8>()?),
        DType::I16 => i128::from(x.get::<i16>()?),
        DType::I32 => i128::from(x.get::<i32>()?),
        DType::I64 => i128::from(x.get::<i64>()?),
        DType::U8 => i128::from(x.get::<u8>()?),
        DType::U16 => i128::from(x.get::<u16>()?),
        DType::U32 => i128::from(x.get::<u32>()?),
        DType::U64 => i128::from(x.get::<u64>()?),
        _ => return None,
    })
}

fn real(x: &Scalar) -> Option<f64> {
    match x.dtype() {
        DType::F32 => x.get::<f32>().map(f64::from),
        DType::F64 => x.get::<f64>(),
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation, reason = "whole numbers wrap around in their type")]
#[allow(clippy::cast_sign_loss, reason = "whole numbers wrap around in their type")]
fn wrapped(dtype: DType, x: i128) -> Option<Scalar> {
    Some(match dtype {
        DType::Bool => Scalar::of(x != 0),
        DType::I8 => Scalar::of(x as i8),
        DType::I16 => Scalar::of(x as i16),
        DType::I32 => Scalar::of(x as i32),
        DType::I64 => Scalar::of(x as i64),
        DType::U8 => Scalar::of(x as u8),
        DType::U16 => Scalar::of(x as u16),
        DType::U32 => Scalar::of(x as u32),
        DType::U64 => Scalar::of(x as u64),
        _ => return None,
    })
}
