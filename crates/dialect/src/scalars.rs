//! Arithmetic on constants.

use pantile_lanes::expand::{self, ElementLanes};
use pantile_lanes::{Binary, DType, LoopBody, Scalar, Unary, evaluate};

use pantile_ir::{Arith, Predicate, Reduction, infer};

/// The bits of the NaNs that arithmetic gives.
const NAN32: u32 = 0x7FC0_0000;
const NAN64: u64 = 0x7FF8_0000_0000_0000;

/// The result of an operation on constants, if it has one that does not depend on the machine.
#[must_use]
pub fn arith(arith: Arith, of: &[Scalar]) -> Option<Scalar> {
    let dtype = of.first()?.dtype();
    if let (Some(plain), [x, y]) = (arith.of_unsigned(), of) {
        return convert(&self::arith(plain, &[bits(x)?, bits(y)?])?, dtype);
    }
    match (arith, of) {
        (Arith::ShLI, [x, y]) => binary(Binary::BitwiseLeftShift, [x, y], dtype),
        (Arith::ShRSI, [x, y]) => binary(Binary::BitwiseRightShift, [x, y], dtype),
        (Arith::NegF, [x]) => match dtype {
            DType::F32 => x.get::<f32>().map(|x| Scalar::of(-x)),
            DType::F64 => x.get::<f64>().map(|x| Scalar::of(-x)),
            _ => None,
        },
        (Arith::AddF | Arith::SubF | Arith::MulF | Arith::DivF, [x, y]) => match dtype {
            DType::F32 => {
                let (x, y) = (x.get::<f32>()?, y.get::<f32>()?);
                let z = floats(arith, x, y)?;
                Some(Scalar::of(if z.is_nan() { f32::from_bits(NAN32) } else { z }))
            }
            DType::F64 => {
                let (x, y) = (x.get::<f64>()?, y.get::<f64>()?);
                let z = floats(arith, x, y)?;
                Some(Scalar::of(if z.is_nan() { f64::from_bits(NAN64) } else { z }))
            }
            _ => None,
        },
        (_, [x, y]) => wrapped(dtype, whole(arith, dtype, integer(x)?, integer(y)?)?),
        _ => None,
    }
}

/// The same bits as an unsigned number.
fn bits(x: &Scalar) -> Option<Scalar> {
    convert(x, infer::unsigned(x.dtype()))
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

/// A comparison of constants, if it is defined for them.
#[must_use]
pub fn compare(predicate: Predicate, x: &Scalar, y: &Scalar) -> Option<Scalar> {
    if let Some(plain) = predicate.of_unsigned() {
        return compare(plain, &bits(x)?, &bits(y)?);
    }
    let order = match (integer(x), integer(y)) {
        (Some(x), Some(y)) => Some(x.cmp(&y)),
        _ => real(x)?.partial_cmp(&real(y)?),
    };
    use std::cmp::Ordering::{Equal, Greater, Less};
    Some(Scalar::of(match predicate {
        Predicate::Eq => order == Some(Equal),
        Predicate::Ne => order != Some(Equal),
        Predicate::Lt | Predicate::ULt => order == Some(Less),
        Predicate::Le | Predicate::ULe => matches!(order, Some(Less | Equal)),
        Predicate::Gt | Predicate::UGt => order == Some(Greater),
        Predicate::Ge | Predicate::UGe => matches!(order, Some(Greater | Equal)),
    }))
}

/// A constant in another type; complex ones are left alone.
#[must_use]
pub fn convert(x: &Scalar, to: DType) -> Option<Scalar> {
    computed(&[*x], |body, lanes| expand::cast(body, lanes[0], to).ok())
}

/// An elementwise function of a constant; `wanted` is the type of the result.
pub(super) fn unary(function: Unary, x: &Scalar, wanted: DType) -> Option<Scalar> {
    let (compute, result) = infer::unary_types(function, x.dtype(), Some(wanted)).ok()?;
    computed(&[*x], |body, lanes| {
        let x = expand::cast(body, lanes[0], compute).ok()?;
        let made = expand::unary(body, function, x).ok()?;
        expand::cast(body, made, result).ok()
    })
}

/// An elementwise function of two constants. What a quotient of whole numbers by 0 is, the machine
/// that runs the program says.
pub(super) fn binary(function: Binary, of: [&Scalar; 2], wanted: DType) -> Option<Scalar> {
    let types = (of[0].dtype(), of[1].dtype());
    let (compute, result) = infer::binary_types(function, types, Some(wanted)).ok()?;
    let quotient = matches!(function, Binary::Divide | Binary::FloorDivide | Binary::Remainder);
    if quotient && integer(&convert(of[1], compute)?) == Some(0) {
        return None;
    }
    computed(&of.map(|scalar| *scalar), |body, lanes| {
        let x = expand::cast(body, lanes[0], compute).ok()?;
        let y = expand::cast(body, lanes[1], compute).ok()?;
        let made = expand::binary(body, function, x, y).ok()?;
        expand::cast(body, made, result).ok()
    })
}

/// What a body gives for real constants; a NaN is the one that arithmetic gives.
fn computed(
    of: &[Scalar],
    make: impl Fn(&mut LoopBody, &[ElementLanes]) -> Option<ElementLanes>,
) -> Option<Scalar> {
    let complex = |scalar: &Scalar| matches!(scalar.dtype(), DType::C64 | DType::C128);
    if of.iter().any(complex) {
        return None;
    }
    let mut body = LoopBody::new();
    let lanes: Vec<ElementLanes> = of
        .iter()
        .map(|x| body.input(x.dtype()).ok().map(ElementLanes::Real))
        .collect::<Option<_>>()?;
    let ElementLanes::Real(node) = make(&mut body, &lanes)? else { return None };
    body.output(node);
    let found = evaluate(&body, of).ok()?.first().copied()?;
    Some(match found.dtype() {
        DType::F32 if found.get::<f32>()?.is_nan() => Scalar::of(f32::from_bits(NAN32)),
        DType::F64 if found.get::<f64>()?.is_nan() => Scalar::of(f64::from_bits(NAN64)),
        _ => found,
    })
}

/// What is left of as many times the same whole number; `wanted` is the type of the result.
pub(super) fn reduced(
    reduction: Reduction,
    x: &Scalar,
    count: usize,
    wanted: DType,
) -> Option<Scalar> {
    let (x, times) = (integer(x)?, u32::try_from(count).ok()?);
    match reduction {
        Reduction::Max | Reduction::Min if count > 0 => wrapped(wanted, x),
        Reduction::Any => Some(Scalar::of(count > 0 && x != 0)),
        Reduction::All => Some(Scalar::of(count == 0 || x != 0)),
        Reduction::Sum if infer::is_integer(wanted) => wrapped(wanted, x * i128::from(times)),
        // Only the last bits count, and those of a product depend on nothing else.
        Reduction::Prod if infer::is_integer(wanted) => wrapped(wanted, x.wrapping_pow(times)),
        _ => None,
    }
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
