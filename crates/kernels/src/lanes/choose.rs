//! The loop of every primitive operation on every type.

#![allow(unsafe_code, reason = "the loops of operations are kernels")]

use pantile_lanes::{BinaryOp, DType, UnaryOp, dispatch};

use super::kernel::{Kernel, KernelCall, Unaligned, kernel};
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
        dispatch!($dtype, T {
            floats => Some(kernel::<ops::$op<T>>($vectors)),
            _ => None,
        })
    };
}

/// An operation that sees the sign of integers; of bools as of bytes.
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
pub(super) fn one(op: UnaryOp, dtype: DType, vectors: Vectors) -> Option<Kernel> {
    let float = matches!(dtype, DType::F32 | DType::F64);
    match op {
        UnaryOp::Neg if float => floats!(dtype, vectors, FloatNeg),
        UnaryOp::Abs if float => floats!(dtype, vectors, FloatAbs),
        UnaryOp::Neg => unsigned!(dtype, vectors, Neg),
        UnaryOp::Abs => match dtype {
            DType::I8 => Some(kernel::<ops::Abs<i8>>(vectors)),
            DType::I16 => Some(kernel::<ops::Abs<i16>>(vectors)),
            DType::I32 => Some(kernel::<ops::Abs<i32>>(vectors)),
            DType::I64 => Some(kernel::<ops::Abs<i64>>(vectors)),
            _ => unsigned!(dtype, vectors, Copied),
        },
        UnaryOp::Not if dtype == DType::Bool => Some(kernel::<ops::Other<u8>>(vectors)),
        UnaryOp::Not => unsigned!(dtype, vectors, Not),
        UnaryOp::Sqrt => floats!(dtype, vectors, Sqrt),
        UnaryOp::Floor => floats!(dtype, vectors, Floor),
        UnaryOp::Ceil => floats!(dtype, vectors, Ceil),
        UnaryOp::Trunc => floats!(dtype, vectors, Trunc),
        UnaryOp::RoundEven => floats!(dtype, vectors, RoundEven),
        UnaryOp::Canonical => floats!(dtype, vectors, CanonicalNan),
    }
}

/// The loop of an operation on two lanes, if there is one for the type.
pub(super) fn two(op: BinaryOp, dtype: DType, vectors: Vectors) -> Option<Kernel> {
    match dtype {
        DType::F32 | DType::F64 => two_floats(op, dtype, vectors),
        DType::Bool => two_bools(op, vectors),
        _ => two_integers(op, dtype, vectors),
    }
}

fn two_floats(op: BinaryOp, dtype: DType, vectors: Vectors) -> Option<Kernel> {
    match op {
        BinaryOp::Add => floats!(dtype, vectors, FloatAdd),
        BinaryOp::Sub => floats!(dtype, vectors, FloatSub),
        BinaryOp::Mul => floats!(dtype, vectors, FloatMul),
        BinaryOp::Div => floats!(dtype, vectors, FloatDiv),
        BinaryOp::Rem => floats!(dtype, vectors, FloatRem),
        BinaryOp::Min => floats!(dtype, vectors, Min),
        BinaryOp::Max => floats!(dtype, vectors, Max),
        BinaryOp::Eq => floats!(dtype, vectors, Eq),
        BinaryOp::Ne => floats!(dtype, vectors, Ne),
        BinaryOp::Lt => floats!(dtype, vectors, Lt),
        BinaryOp::Le => floats!(dtype, vectors, Le),
        _ => None,
    }
}

fn two_bools(op: BinaryOp, vectors: Vectors) -> Option<Kernel> {
    Some(match op {
        BinaryOp::Add | BinaryOp::Or | BinaryOp::Max => kernel::<ops::Or<u8>>(vectors),
        BinaryOp::Mul | BinaryOp::And | BinaryOp::Min => kernel::<ops::And<u8>>(vectors),
        BinaryOp::Xor => kernel::<ops::Xor<u8>>(vectors),
        BinaryOp::Eq => kernel::<ops::Eq<u8>>(vectors),
        BinaryOp::Ne => kernel::<ops::Ne<u8>>(vectors),
        BinaryOp::Lt => kernel::<ops::Lt<u8>>(vectors),
        BinaryOp::Le => kernel::<ops::Le<u8>>(vectors),
        _ => return None,
    })
}

fn two_integers(op: BinaryOp, dtype: DType, vectors: Vectors) -> Option<Kernel> {
    match op {
        BinaryOp::Add => unsigned!(dtype, vectors, Add),
        BinaryOp::Sub => unsigned!(dtype, vectors, Sub),
        BinaryOp::Mul => unsigned!(dtype, vectors, Mul),
        BinaryOp::Div => signed!(dtype, vectors, Div),
        BinaryOp::Rem => signed!(dtype, vectors, Rem),
        BinaryOp::Min => signed!(dtype, vectors, Min),
        BinaryOp::Max => signed!(dtype, vectors, Max),
        BinaryOp::And => unsigned!(dtype, vectors, And),
        BinaryOp::Or => unsigned!(dtype, vectors, Or),
        BinaryOp::Xor => unsigned!(dtype, vectors, Xor),
        BinaryOp::Shl => unsigned!(dtype, vectors, Shl),
        BinaryOp::Shr => signed!(dtype, vectors, Shr),
        BinaryOp::MulHigh => (dtype == DType::U64).then(|| kernel::<ops::MulHigh<u64>>(vectors)),
        BinaryOp::Eq => unsigned!(dtype, vectors, Eq),
        BinaryOp::Ne => unsigned!(dtype, vectors, Ne),
        BinaryOp::Lt => signed!(dtype, vectors, Lt),
        BinaryOp::Le => signed!(dtype, vectors, Le),
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
/// Promises 1 and 2 of [`KernelCall`].
unsafe fn copy_all<T: Copy>(call: &KernelCall) {
    let from = call.operands[0].start.cast::<Unaligned<T>>();
    let target = call.target.cast::<Unaligned<T>>();
    // SAFETY: R2, R3, R4; target and operand have `count` elements, or the operand is a chunk.
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
/// The promises of [`KernelCall`]; the table is not empty.
pub(super) unsafe fn look_up(call: &KernelCall) {
    let places = call.operands[0];
    let (places, step) = (places.start.cast::<Unaligned<u64>>(), places.step);
    let target = call.target.cast::<Unaligned<u64>>();
    let last = call.table.len() - 1;
    for index in 0..call.count {
        let from = if step == 0 { 0 } else { index };
        // SAFETY: R2, R4; target and operand have `count` elements, or a chunk, and the table is a slice.
        unsafe {
            let place = (*places.add(from)).0;
            let place = usize::try_from(place).map_or(last, |place| place.min(last));
            (*target.add(index)).0 = call.table[place];
        }
    }
}
