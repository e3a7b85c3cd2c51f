//! Functions such as `exp` as loops of their own: their formulas, compiled.

use pantile_lanes::Function;
use pantile_lanes::expand::plain;

use super::kernel::{Apply, Kernel, kernel};
use crate::simd::Vectors;

/// Declares functions of three lanes, of which some are nothing.
macro_rules! functions {
    ($($name:ident($x:pat = $a:ty, $y:pat = $b:ty, $z:pat = $c:ty) $value:expr
        $(, rarely if $is_rare:expr => $rare:expr)?;)*) => {$(
        struct $name;

        impl Apply for $name {
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
                const HAS_RARE: bool = true;

                #[inline(always)]
                fn is_rare($x: $a, $y: $b, $z: $c) -> bool {
                    $is_rare
                }

                #[inline(never)]
                fn rare($x: $a, $y: $b, $z: $c) -> f64 {
                    $rare
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
    // Large angles are rare, and take a long way.
    Cos(x = f64, () = (), () = ()) plain::cos_of_small(x),
        rarely if !plain::is_small_angle(x) => plain::cos(x);
    Sin(x = f64, () = (), () = ()) plain::sin_of_small(x),
        rarely if !plain::is_small_angle(x) => plain::sin(x);
    Tan(x = f64, () = (), () = ()) plain::tan_of_small(x),
        rarely if !plain::is_small_angle(x) => plain::tan(x);
}

/// The loop of a function.
pub(super) fn function(function: Function, vectors: Vectors) -> Kernel {
    macro_rules! loops {
        ($($name:ident),*) => {
            match function {
                $(Function::$name => kernel::<$name>(vectors),)*
            }
        };
    }
    loops!(
        Acos, Acosh, Asin, Asinh, Atan, Atan2, Atanh, Cos, Cosh, Erf, Exp, Expm1, Hypot, Log,
        Log1p, Log2, Log10, LogAddExp, Normal, Pow, Sin, Sinh, Tan, Tanh, Uniform
    )
}
