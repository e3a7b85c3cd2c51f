//! From a [`DType`](crate::DType) to code for its Rust type.

/// Runs an expression for the Rust type of a [`DType`], which has a name in it.
///
/// It is a `match` with an arm for each type, so that the expression is compiled once for each.
/// Arms may differ by groups of types: `bool`, `integers`, `floats` and `complex`; `_` are all
/// others, for which the name means nothing.
///
/// ```
/// use pantile_lanes::{DType, Element, Scalar, dispatch};
///
/// fn zero(dtype: DType) -> Scalar {
///     dispatch!(dtype, T => Scalar::of(T::default()))
/// }
///
/// fn largest(dtype: DType) -> Option<Scalar> {
///     dispatch!(dtype, T {
///         integers => Some(Scalar::of(T::MAX)),
///         floats => Some(Scalar::of(T::INFINITY)),
///         _ => None,
///     })
/// }
///
/// assert_eq!(zero(DType::C64).dtype(), DType::C64);
/// assert_eq!(largest(DType::I8), Some(Scalar::of(127i8)));
/// assert_eq!(largest(DType::Bool), None);
/// ```
///
/// [`DType`]: crate::DType
#[macro_export]
macro_rules! dispatch {
    ($dtype:expr, $T:ident => $body:expr $(,)?) => {
        $crate::dispatch!(@arms $dtype, $T, [] bool | integers | floats | complex => $body)
    };
    ($dtype:expr, $T:ident { $($arms:tt)* }) => {
        $crate::dispatch!(@arms $dtype, $T, [] $($arms)*)
    };

    // The groups in front of the next `|` or `=>`, as types; arms that are complete are in brackets.
    (@arms $dtype:expr, $T:ident, $done:tt bool $($rest:tt)*) => {
        $crate::dispatch!(@types $dtype, $T, $done [Bool bool] $($rest)*)
    };
    (@arms $dtype:expr, $T:ident, $done:tt integers $($rest:tt)*) => {
        $crate::dispatch!(@types $dtype, $T, $done
            [I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64] $($rest)*)
    };
    (@arms $dtype:expr, $T:ident, $done:tt floats $($rest:tt)*) => {
        $crate::dispatch!(@types $dtype, $T, $done [F32 f32, F64 f64] $($rest)*)
    };
    (@arms $dtype:expr, $T:ident, $done:tt complex $($rest:tt)*) => {
        $crate::dispatch!(@types $dtype, $T, $done
            [C64 $crate::Complex<f32>, C128 $crate::Complex<f64>] $($rest)*)
    };
    (@arms $dtype:expr, $T:ident, [$($done:tt)*] _ => $other:expr $(,)?) => {
        match $dtype {
            $($done)*
            _ => $other,
        }
    };
    (@arms $dtype:expr, $T:ident, [$($done:tt)*]) => {
        match $dtype {
            $($done)*
        }
    };

    // An arm for each of some types, and then what is left.
    (@types $dtype:expr, $T:ident, [$($done:tt)*] [$($variant:ident $type:ty),*]
        $(| $more:ident)* => $body:expr $(, $($rest:tt)*)?) => {
        $crate::dispatch!(@more $dtype, $T, [$($done)* $($crate::DType::$variant => {
            #[allow(dead_code, reason = "an arm may not need its type")]
            type $T = $type;
            $body
        })*] [$($more)*] $body, $($($rest)*)?)
    };
    (@more $dtype:expr, $T:ident, $done:tt [] $body:expr, $($rest:tt)*) => {
        $crate::dispatch!(@arms $dtype, $T, $done $($rest)*)
    };
    (@more $dtype:expr, $T:ident, $done:tt [$($more:ident)+] $body:expr, $($rest:tt)*) => {
        $crate::dispatch!(@arms $dtype, $T, $done $($more)|+ => $body, $($rest)*)
    };
}
