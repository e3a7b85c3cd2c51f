//! Values in another type.

use std::marker::PhantomData;

use pantile_lanes::DType;

use super::kernel::{Kernel, LaneApply, kernel};
use crate::simd::Vectors;

/// A value of type `A` as one of type `B`, as Rust's `as` does it: integers wrap; floats to
/// integers go towards zero, NaN to 0, too large ones to the largest.
struct Cast<A, B>(PhantomData<(A, B)>);

/// Whether a value is not zero.
struct NotZero<T>(PhantomData<T>);

macro_rules! casts {
    ($($from:ident => [$($to:ident),*];)*) => {$($(
        impl LaneApply for Cast<$from, $to> {
            type A = $from;
            type B = ();
            type C = ();
            type Result = $to;

            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::allow_attributes,
                reason = "casts of lanes wrap, saturate or round, as `as` does"
            )]
            fn apply(a: $from, (): (), (): ()) -> $to {
                a as $to
            }
        }
    )*)*};
}

// Integers of one width are the same bits; narrowing does not see the sign.
casts! {
    i8 => [u16, u32, u64, f32, f64];
    u8 => [u16, u32, u64, f32, f64];
    i16 => [u32, u64, f32, f64];
    u16 => [u8, u32, u64, f32, f64];
    i32 => [u64, f32, f64];
    u32 => [u8, u16, u64, f32, f64];
    i64 => [f32, f64];
    u64 => [u8, u16, u32, f32, f64];
    f32 => [i8, i16, i32, i64, u8, u16, u32, u64, f64];
    f64 => [i8, i16, i32, i64, u8, u16, u32, u64, f32];
}

macro_rules! not_zero {
    ($($type:ident: $zero:literal),*) => {$(
        impl LaneApply for NotZero<$type> {
            type A = $type;
            type B = ();
            type C = ();
            type Result = u8;

            #[inline(always)]
            fn apply(a: $type, (): (), (): ()) -> u8 {
                u8::from(a != $zero)
            }
        }
    )*};
}

not_zero!(u8: 0, u16: 0, u32: 0, u64: 0, f32: 0.0, f64: 0.0);

/// Picks the loop from a list of types and the machine types that they are cast to.
macro_rules! pick {
    ($to:ident, $vectors:ident, $from:ident: $($($dtype:ident)|* => $type:ident,)*) => {
        match $to {
            $($(DType::$dtype)|* => Some(kernel::<Cast<$from, $type>>($vectors)),)*
            _ => None,
        }
    };
}

/// True if a cast leaves the bits as they are.
pub(super) fn keeps_bits(from: DType, to: DType) -> bool {
    let whole = |dtype: DType| !matches!(dtype, DType::F32 | DType::F64);
    let same = whole(from) && whole(to) && from.bytes() == to.bytes() && to != DType::Bool;
    from == to || same
}

/// The loop of a cast that changes bits.
pub(super) fn cast(from: DType, to: DType, vectors: Vectors) -> Option<Kernel> {
    if to == DType::Bool {
        return to_bool(from, vectors);
    }
    match from {
        DType::I8 => pick!(to, vectors, i8: I16 | U16 => u16, I32 | U32 => u32, I64 | U64 => u64,
            F32 => f32, F64 => f64,),
        DType::U8 | DType::Bool => pick!(to, vectors, u8: I16 | U16 => u16, I32 | U32 => u32,
            I64 | U64 => u64, F32 => f32, F64 => f64,),
        DType::I16 => match to {
            DType::I8 | DType::U8 => Some(kernel::<Cast<u16, u8>>(vectors)),
            _ => pick!(to, vectors, i16: I32 | U32 => u32, I64 | U64 => u64, F32 => f32,
                F64 => f64,),
        },
        DType::U16 => pick!(to, vectors, u16: I8 | U8 => u8, I32 | U32 => u32, I64 | U64 => u64,
            F32 => f32, F64 => f64,),
        DType::I32 => match to {
            DType::I8 | DType::U8 => Some(kernel::<Cast<u32, u8>>(vectors)),
            DType::I16 | DType::U16 => Some(kernel::<Cast<u32, u16>>(vectors)),
            _ => pick!(to, vectors, i32: I64 | U64 => u64, F32 => f32, F64 => f64,),
        },
        DType::U32 => pick!(to, vectors, u32: I8 | U8 => u8, I16 | U16 => u16, I64 | U64 => u64,
            F32 => f32, F64 => f64,),
        DType::I64 => match to {
            DType::F32 => Some(kernel::<Cast<i64, f32>>(vectors)),
            DType::F64 => Some(kernel::<Cast<i64, f64>>(vectors)),
            _ => cast(DType::U64, to, vectors),
        },
        DType::U64 => pick!(to, vectors, u64: I8 | U8 => u8, I16 | U16 => u16, I32 | U32 => u32,
            F32 => f32, F64 => f64,),
        DType::F32 => pick!(to, vectors, f32: I8 => i8, I16 => i16, I32 => i32, I64 => i64,
            U8 => u8, U16 => u16, U32 => u32, U64 => u64, F64 => f64,),
        DType::F64 => pick!(to, vectors, f64: I8 => i8, I16 => i16, I32 => i32, I64 => i64,
            U8 => u8, U16 => u16, U32 => u32, U64 => u64, F32 => f32,),
        DType::C64 | DType::C128 => None,
    }
}

fn to_bool(from: DType, vectors: Vectors) -> Option<Kernel> {
    Some(match from {
        DType::Bool | DType::I8 | DType::U8 => kernel::<NotZero<u8>>(vectors),
        DType::I16 | DType::U16 => kernel::<NotZero<u16>>(vectors),
        DType::I32 | DType::U32 => kernel::<NotZero<u32>>(vectors),
        DType::I64 | DType::U64 => kernel::<NotZero<u64>>(vectors),
        DType::F32 => kernel::<NotZero<f32>>(vectors),
        DType::F64 => kernel::<NotZero<f64>>(vectors),
        DType::C64 | DType::C128 => return None,
    })
}
