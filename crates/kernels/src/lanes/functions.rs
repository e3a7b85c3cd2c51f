//! Functions such as `exp` as loops of their own: their formulas, compiled.

use pantile_lanes::LaneFunction;
use pantile_lanes::expand::plain;

use super::kernel::{Kernel, LaneApply, kernel};
use crate::simd::Vectors;

/// Declares functions of three lanes, of which some are nothing.
macro_rules! functions {
    ($($name:ident($x:pat = $a:ty, $y:pat = $b:ty, $z:pat = $c:ty) $value:expr
        $(, slow_path if $takes_slow_path:expr => $slow_path:expr)?;)*) => {$(
        struct $name;

        impl LaneApply for $name {
            type A = $a;
            type B = $b;
            type C = $c;
            type Result = f64;

            const IS_LONG: bool = true;

            #[inline(always)]
            fn apply($x: $a, $y: $b, $z: $c) -> f64 {
                $value
            }

            $(
                const HAS_SLOW_PATH: bool = true;

                #[inline(always)]
                fn takes_slow_path($x: $a, $y: $b, $z: $c) -> bool {
                    $takes_slow_path
                }

                #[inline(never)]
                fn slow_path($x: $a, $y: $b, $z: $c) -> f64 {
                    $slow_path
                }
            )?
        }
    )*};
}

/// Declares functions that need nothing but their lanes, by their names in `plain`.
macro_rules! plain {
    ($($name:ident $function:ident;)*) => {
        functions! { $($name(x = f64, () = (), () = ()) plain::$function(x);)* }
    };
}

plain! {
    Acos acos;
    Acosh acosh;
    Asin asin;
    Asinh asinh;
    Atan atan;
    Atanh atanh;
    Cosh cosh;
    Erf erf;
    Exp exp;
    Expm1 expm1;
    Log log;
    Log1p log1p;
    Log2 log2;
    Log10 log10;
    Sinh sinh;
    Tanh tanh;
}

functions! {
    Atan2(y = f64, x = f64, () = ()) plain::atan2(y, x);
    Hypot(x = f64, y = f64, () = ()) plain::hypot(x, y);
    LogAddExp(x = f64, y = f64, () = ()) plain::logaddexp(x, y);
    Pow(x = f64, y = f64, () = ()) plain::pow(x, y);
    Normal(index = u64, seed = u64, stream = u64) plain::normal(index, seed, stream);
    Uniform(index = u64, seed = u64, stream = u64) plain::uniform(index, seed, stream);
    // Large angles are rare, and take the slow path.
    Cos(x = f64, () = (), () = ()) plain::cos_of_small(x),
        slow_path if !plain::is_small_angle(x) => plain::cos(x);
    Sin(x = f64, () = (), () = ()) plain::sin_of_small(x),
        slow_path if !plain::is_small_angle(x) => plain::sin(x);
    Tan(x = f64, () = (), () = ()) plain::tan_of_small(x),
        slow_path if !plain::is_small_angle(x) => plain::tan(x);
}

/// The loop of a function.
pub(super) fn function(function: LaneFunction, vectors: Vectors) -> Kernel {
    macro_rules! loops {
        ($($name:ident),*) => {
            match function {
                $(LaneFunction::$name => kernel::<$name>(vectors),)*
            }
        };
    }
    loops!(
        Acos, Acosh, Asin, Asinh, Atan, Atan2, Atanh, Cos, Cosh, Erf, Exp, Expm1, Hypot, Log,
        Log1p, Log2, Log10, LogAddExp, Normal, Pow, Sin, Sinh, Tan, Tanh, Uniform
    )
}
