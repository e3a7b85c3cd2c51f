//! The loop of every primitive operation on every type.

#![allow(unsafe_code, reason = "looks into tables through pointers")]

use pantile_lanes::{DType, One, Two};

use super::kernel::{Call, Kernel, Loose, kernel};
use super::ops;
use crate::simd::Vectors;

/// An integer operation that does not see the sign.
macro_rules! unsigned {
    ($dtype:ident, $vectors:ident, $op:ident) => {
        match $dtype {
            DType::Bool | DType::I8 | DType::U8 => Some(kernel::<ops::$op<u8>>($vectors)),
            DType::I16 | DType::U16 => Some(kernel::<ops::$op<u16>>($vectors)),
            DType::I32 | DType::U32 => Some(kernel::<ops::$op<u32>>($vectors)),
            DType::I64 | DType::U64 => Some(kernel::<ops::$op<u64>>($vectors)),
            _ => None,
        }
    };
}

/// An operation on floats.
macro_rules! floats {
    ($dtype:ident, $vectors:ident, $op:ident) => {
        match $dtype {
            DType::F32 => Some(kernel::<ops::$op<f32>>($vectors)),
            DType::F64 => Some(kernel::<ops::$op<f64>>($vectors)),
            _ => None,
        }
    };
}

/// An operation that sees the sign of integers; of truth values as of bytes.
macro_rules! signed {
    ($dtype:ident, $vectors:ident, $op:ident) => {
        match $dtype {
            DType::I8 => Some(kernel::<ops::$op<i8>>($vectors)),
            DType::I16 => Some(kernel::<ops::$op<i16>>($vectors)),
            DType::I32 => Some(kernel::<ops::$op<i32>>($vectors)),
            DType::I64 => Some(kernel::<ops::$op<i64>>($vectors)),
            _ => unsigned!($dtype, $vectors, $op),
        }
    };
}

/// The loop of an operation on one lane, if there is one for the type.
pub(super) fn one(op: One, dtype: DType, vectors: Vectors) -> Option<Kernel> {
    let float = matches!(dtype, DType::F32 | DType::F64);
    match op {
        One::Neg if float => floats!(dtype, vectors, FloatNeg),
        One::Abs if float => floats!(dtype, vectors, FloatAbs),
        One::Neg => unsigned!(dtype, vectors, Neg),
        One::Abs => match dtype {
            DType::I8 => Some(kernel::<ops::Abs<i8>>(vectors)),
            DType::I16 => Some(kernel::<ops::Abs<i16>>(vectors)),
            DType::I32 => Some(kernel::<ops::Abs<i32>>(vectors)),
            DType::I64 => Some(kernel::<ops::Abs<i64>>(vectors)),
            _ => unsigned!(dtype, vectors, Copied),
        },
        One::Not if dtype == DType::Bool => Some(kernel::<ops::Other<u8>>(vectors)),
        One::Not => unsigned!(dtype, vectors, Not),
        One::Sqrt => floats!(dtype, vectors, Sqrt),
        One::Floor => floats!(dtype, vectors, Floor),
        One::Ceil => floats!(dtype, vectors, Ceil),
        One::Trunc => floats!(dtype, vectors, Trunc),
        One::RoundEven => floats!(dtype, vectors, RoundEven),
        One::Canonical => floats!(dtype, vectors, Canonical),
    }
}

/// The loop of an operation on two lanes, if there is one for the type.
pub(super) fn two(op: Two, dtype: DType, vectors: Vectors) -> Option<Kernel> {
    match dtype {
        DType::F32 | DType::F64 => two_floats(op, dtype, vectors),
        DType::Bool => two_bools(op, vectors),
        _ => two_integers(op, dtype, vectors),
    }
}

fn two_floats(op: Two, dtype: DType, vectors: Vectors) -> Option<Kernel> {
    match op {
        Two::Add => floats!(dtype, vectors, FloatAdd),
        Two::Sub => floats!(dtype, vectors, FloatSub),
        Two::Mul => floats!(dtype, vectors, FloatMul),
        Two::Div => floats!(dtype, vectors, FloatDiv),
        Two::Rem => floats!(dtype, vectors, FloatRem),
        Two::Min => floats!(dtype, vectors, Min),
        Two::Max => floats!(dtype, vectors, Max),
        Two::Eq => floats!(dtype, vectors, Eq),
        Two::Ne => floats!(dtype, vectors, Ne),
        Two::Lt => floats!(dtype, vectors, Lt),
        Two::Le => floats!(dtype, vectors, Le),
        _ => None,
    }
}

fn two_bools(op: Two, vectors: Vectors) -> Option<Kernel> {
    Some(match op {
        Two::Add | Two::Or | Two::Max => kernel::<ops::Or<u8>>(vectors),
        Two::Mul | Two::And | Two::Min => kernel::<ops::And<u8>>(vectors),
        Two::Xor => kernel::<ops::Xor<u8>>(vectors),
        Two::Eq => kernel::<ops::Eq<u8>>(vectors),
        Two::Ne => kernel::<ops::Ne<u8>>(vectors),
        Two::Lt => kernel::<ops::Lt<u8>>(vectors),
        Two::Le => kernel::<ops::Le<u8>>(vectors),
        _ => return None,
    })
}

fn two_integers(op: Two, dtype: DType, vectors: Vectors) -> Option<Kernel> {
    match op {
        Two::Add => unsigned!(dtype, vectors, Add),
        Two::Sub => unsigned!(dtype, vectors, Sub),
        Two::Mul => unsigned!(dtype, vectors, Mul),
        Two::Div => signed!(dtype, vectors, Div),
        Two::Rem => signed!(dtype, vectors, Rem),
        Two::Min => signed!(dtype, vectors, Min),
        Two::Max => signed!(dtype, vectors, Max),
        Two::And => unsigned!(dtype, vectors, And),
        Two::Or => unsigned!(dtype, vectors, Or),
        Two::Xor => unsigned!(dtype, vectors, Xor),
        Two::Shl => unsigned!(dtype, vectors, Shl),
        Two::Shr => signed!(dtype, vectors, Shr),
        Two::MulHigh => (dtype == DType::U64).then(|| kernel::<ops::MulHigh<u64>>(vectors)),
        Two::Eq => unsigned!(dtype, vectors, Eq),
        Two::Ne => unsigned!(dtype, vectors, Ne),
        Two::Lt => signed!(dtype, vectors, Lt),
        Two::Le => signed!(dtype, vectors, Le),
    }
}

/// The loop of a fused product and sum.
pub(super) fn mul_add(dtype: DType, vectors: Vectors) -> Option<Kernel> {
    floats!(dtype, vectors, MulAdd)
}

/// The loop of a choice between two lanes.
pub(super) fn select(dtype: DType, vectors: Vectors) -> Option<Kernel> {
    match dtype.bytes() {
        1 => Some(kernel::<ops::Select<u8>>(vectors)),
        2 => Some(kernel::<ops::Select<u16>>(vectors)),
        4 => Some(kernel::<ops::Select<u32>>(vectors)),
        8 => Some(kernel::<ops::Select<u64>>(vectors)),
        _ => None,
    }
}

/// The loop that copies a lane.
pub(super) fn copy(dtype: DType) -> Option<Kernel> {
    match dtype.bytes() {
        1 => Some(copy_all::<u8>),
        2 => Some(copy_all::<u16>),
        4 => Some(copy_all::<u32>),
        8 => Some(copy_all::<u64>),
        _ => None,
    }
}

/// Copies a lane, or repeats its first element.
///
/// # Safety
/// Promises 1 and 2 of [`Call`].
unsafe fn copy_all<T: Copy>(call: &Call) {
    let from = call.operands[0].start.cast::<Loose<T>>();
    let target = call.target.cast::<Loose<T>>();
    // SAFETY: target and operand have `count` elements, or the operand is a chunk.
    unsafe {
        if call.operands[0].step == 0 {
            std::slice::from_raw_parts_mut(target, call.count).fill(*from);
        } else {
            from.copy_to_nonoverlapping(target, call.count);
        }
    }
}

/// Looks places up in a table.
///
/// # Safety
/// The promises of [`Call`]; the table is not empty.
pub(super) unsafe fn look_up(call: &Call) {
    let places = call.operands[0];
    let (places, step) = (places.start.cast::<Loose<u64>>(), places.step);
    let target = call.target.cast::<Loose<u64>>();
    let last = call.words.len() - 1;
    for index in 0..call.count {
        let from = if step == 0 { 0 } else { index };
        // SAFETY: promise 1 of the call: target and operand have `count` elements, or a chunk.
        unsafe {
            let place = (*places.add(from)).0;
            let place = usize::try_from(place).map_or(last, |place| place.min(last));
            (*target.add(index)).0 = call.words[place];
        }
    }
}
