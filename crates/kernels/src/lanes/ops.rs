//! The primitive operations on machine types.
//!
//! Bools are bytes of 0 and 1. Wrapping arithmetic does not see the sign, so signed and
//! unsigned integers of a width share most operations.

use std::marker::PhantomData;

use pantile_lanes::expand::plain;

use super::kernel::LaneApply;

/// Declares operations of one, two or three operands on each of some types.
macro_rules! apply {
    ($($name:ident [$($type:ident),*] |$a:ident| $value:expr;)*) => {$(
        pub(super) struct $name<T>(PhantomData<T>);
        $(impl LaneApply for $name<$type> {
            type A = $type;
            type B = ();
            type C = ();
            type Result = $type;

            #[inline(always)]
            fn apply($a: $type, (): (), (): ()) -> $type {
                $value
            }
        })*
    )*};
    ($($name:ident [$($type:ident),*] |$a:ident, $b:ident| -> $to:ident $value:expr;)*) => {$(
        pub(super) struct $name<T>(PhantomData<T>);
        $(impl LaneApply for $name<$type> {
            type A = $type;
            type B = $type;
            type C = ();
            type Result = apply!(@ $to $type);

            #[inline(always)]
            fn apply($a: $type, $b: $type, (): ()) -> Self::Result {
                $value
            }
        })*
    )*};
    (@ same $type:ident) => { $type };
    (@ bool $type:ident) => { u8 };
}

apply! {
    Copied [u8, u16, u32, u64] |a| a;
    Neg [u8, u16, u32, u64] |a| a.wrapping_neg();
    Abs [i8, i16, i32, i64] |a| a.wrapping_abs();
    Not [u8, u16, u32, u64] |a| !a;
    Other [u8] |a| a ^ 1;
    FloatNeg [f32, f64] |a| -a;
    FloatAbs [f32, f64] |a| a.abs();
    Sqrt [f32, f64] |a| a.sqrt();
    Floor [f32, f64] |a| a.floor();
    Ceil [f32, f64] |a| a.ceil();
    Trunc [f32, f64] |a| a.trunc();
    RoundEven [f32, f64] |a| a.round_ties_even();
}

apply! {
    Add [u8, u16, u32, u64] |a, b| -> same a.wrapping_add(b);
    Sub [u8, u16, u32, u64] |a, b| -> same a.wrapping_sub(b);
    Mul [u8, u16, u32, u64] |a, b| -> same a.wrapping_mul(b);
    Div [i8, i16, i32, i64, u8, u16, u32, u64] |a, b| -> same
        if b == 0 { 0 } else { a.wrapping_div(b) };
    Rem [i8, i16, i32, i64, u8, u16, u32, u64] |a, b| -> same
        if b == 0 { 0 } else { a.wrapping_rem(b) };
    Min [i8, i16, i32, i64, u8, u16, u32, u64] |a, b| -> same a.min(b);
    Max [i8, i16, i32, i64, u8, u16, u32, u64] |a, b| -> same a.max(b);
    And [u8, u16, u32, u64] |a, b| -> same a & b;
    Or [u8, u16, u32, u64] |a, b| -> same a | b;
    Xor [u8, u16, u32, u64] |a, b| -> same a ^ b;
    MulHigh [u64] |a, b| -> same plain::mul_high(a, b);
    FloatAdd [f32, f64] |a, b| -> same a + b;
    FloatSub [f32, f64] |a, b| -> same a - b;
    FloatMul [f32, f64] |a, b| -> same a * b;
    FloatDiv [f32, f64] |a, b| -> same a / b;
    FloatRem [f32, f64] |a, b| -> same a % b;
    Eq [u8, u16, u32, u64, f32, f64] |a, b| -> bool u8::from(a == b);
    Ne [u8, u16, u32, u64, f32, f64] |a, b| -> bool u8::from(a != b);
    Lt [i8, i16, i32, i64, u8, u16, u32, u64, f32, f64] |a, b| -> bool u8::from(a < b);
    Le [i8, i16, i32, i64, u8, u16, u32, u64, f32, f64] |a, b| -> bool u8::from(a <= b);
}

/// Selections rather than branches, so that loops become vector code. Equal values differ at most
/// in the sign of zero: the bits of both together have it (minimum), or not (maximum). If `b` is
/// NaN, all comparisons fail and it is what remains.
macro_rules! float {
    ($($type:ident, $nan:literal;)*) => {$(
        impl LaneApply for Min<$type> {
            type A = $type;
            type B = $type;
            type C = ();
            type Result = $type;

            #[inline(always)]
            fn apply(a: $type, b: $type, (): ()) -> $type {
                let least = if a < b { a } else { b };
                let both = $type::from_bits(a.to_bits() | b.to_bits());
                let least = if a == b { both } else { least };
                if a.is_nan() { a } else { least }
            }
        }

        impl LaneApply for Max<$type> {
            type A = $type;
            type B = $type;
            type C = ();
            type Result = $type;

            #[inline(always)]
            fn apply(a: $type, b: $type, (): ()) -> $type {
                let most = if a > b { a } else { b };
                let both = $type::from_bits(a.to_bits() & b.to_bits());
                let most = if a == b { both } else { most };
                if a.is_nan() { a } else { most }
            }
        }

        impl LaneApply for CanonicalNan<$type> {
            type A = $type;
            type B = ();
            type C = ();
            type Result = $type;

            #[inline(always)]
            fn apply(a: $type, (): (), (): ()) -> $type {
                if a.is_nan() { $type::from_bits($nan) } else { a }
            }
        }

        impl LaneApply for MulAdd<$type> {
            type A = $type;
            type B = $type;
            type C = $type;
            type Result = $type;

            #[inline(always)]
            fn apply(a: $type, b: $type, c: $type) -> $type {
                a.mul_add(b, c)
            }
        }
    )*};
}

pub(super) struct CanonicalNan<T>(PhantomData<T>);
pub(super) struct MulAdd<T>(PhantomData<T>);

float! {
    f32, 0x7FC0_0000;
    f64, 0x7FF8_0000_0000_0000;
}

pub(super) struct Select<T>(PhantomData<T>);
pub(super) struct Shl<T>(PhantomData<T>);
pub(super) struct Shr<T>(PhantomData<T>);

/// Amounts of shifts are unsigned; from the width on nothing is left but the sign.
macro_rules! shift {
    ($name:ident: $($type:ident by $unsigned:ident),* => |$a:ident, $b:ident, $bits:ident| $value:expr) => {$(
        impl LaneApply for $name<$type> {
            type A = $type;
            type B = $unsigned;
            type C = ();
            type Result = $type;

            #[inline(always)]
            fn apply($a: $type, $b: $unsigned, (): ()) -> $type {
                #[allow(clippy::cast_possible_truncation, reason = "a width is at most 64")]
                let $bits = $unsigned::BITS as $unsigned;
                $value
            }
        }
    )*};
}

shift! { Shl: u8 by u8, u16 by u16, u32 by u32, u64 by u64 =>
|a, b, bits| if b < bits { a << (b % bits) } else { 0 } }
shift! { Shr: u8 by u8, u16 by u16, u32 by u32, u64 by u64 =>
|a, b, bits| if b < bits { a >> (b % bits) } else { 0 } }
shift! { Shr: i8 by u8, i16 by u16, i32 by u32, i64 by u64 =>
|a, b, bits| a >> b.min(bits - 1) }

macro_rules! select {
    ($($type:ident),*) => {$(
        impl LaneApply for Select<$type> {
            type A = u8;
            type B = $type;
            type C = $type;
            type Result = $type;

            #[inline(always)]
            fn apply(a: u8, b: $type, c: $type) -> $type {
                if a != 0 { b } else { c }
            }
        }
    )*};
}

select!(u8, u16, u32, u64);
