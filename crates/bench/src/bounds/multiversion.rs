//! Loops for every set of vectors, chosen when they are called.

/// Declares functions that run a loop as it is compiled for the widest vectors of this machine.
macro_rules! multiversion {
    ($($(#[$doc:meta])* $name:ident = $loops:ident($($argument:ident: $type:ty),*) -> $to:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name($($argument: $type),*) -> $to {
            #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
            #[cfg(target_arch = "x86_64")]
            fn with_avx512($($argument: $type),*) -> $to {
                $loops($($argument),*)
            }

            #[target_feature(enable = "avx2,fma")]
            #[cfg(target_arch = "x86_64")]
            fn with_avx2($($argument: $type),*) -> $to {
                $loops($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            match pantile_kernels::Vectors::widest().bytes() {
                // SAFETY: R2; `Vectors::widest` was detected.
                64 => return unsafe { with_avx512($($argument),*) },
                // SAFETY: R2; `Vectors::widest` was detected.
                32 => return unsafe { with_avx2($($argument),*) },
                _ => {}
            }
            $loops($($argument),*)
        }
    )*};
}

pub(crate) use multiversion;
