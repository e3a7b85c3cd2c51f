//! The same in vectors of 32 bytes, which round to whole numbers without setting flags.
//!
//! A number is divided by the lowest bit of the first bin, which is a power of two, and rounded to
//! a whole number without setting flags. So many lowest bits are added to the first bin, and what
//! is left of the number to the second one; that sets flags.

use std::arch::asm;
use std::arch::x86_64::{_MM_HINT_T2, _mm_prefetch};

use super::super::binned::LANES;
use super::{EXCEPTION_FLAGS, MXCSR_SLOTS, ROW};

/// The prefetch distance in bytes.
const PREFETCH_DISTANCE: usize = 1024;

/// Bytes behind those that are prefetched at the end, so that memory is at work in the pause.
const TAIL: usize = 4096;

/// One pass over `count` rows of four vectors, with what is done with a row.
///
/// Bins are in registers 0-7, a quarter of a row in each; 8-11 are for whole numbers, and what is
/// left without them; 14 and 15 are one over the lowest bit, and the lowest bit.
macro_rules! pass {
    ($row:literal, $bins:expr, $scale:expr, $rows:expr, $distance:expr) => {{
        let (rows, count) = ($rows.as_ptr(), $rows.len() / ROW);
        let mut mxcsr = MXCSR_SLOTS;
        if count > 0 {
            asm!(
                "stmxcsr [{mxcsr}]",
                "ldmxcsr [{mxcsr} + 4]",
                "vbroadcastsd ymm14, [{scale}]",
                "vbroadcastsd ymm15, [{scale} + 8]",
                "vmovupd ymm0, [{bins}]",
                "vmovupd ymm1, [{bins} + 32]",
                "vmovupd ymm2, [{bins} + 64]",
                "vmovupd ymm3, [{bins} + 96]",
                "vmovupd ymm4, [{bins} + {bin}]",
                "vmovupd ymm5, [{bins} + {bin} + 32]",
                "vmovupd ymm6, [{bins} + {bin} + 64]",
                "vmovupd ymm7, [{bins} + {bin} + 96]",
                ".p2align 4",
                "2:",
                "prefetcht0 [{rows} + {distance}]",
                $row,
                "dec {count}",
                "jnz 2b",
                "vmovupd [{bins}], ymm0",
                "vmovupd [{bins} + 32], ymm1",
                "vmovupd [{bins} + 64], ymm2",
                "vmovupd [{bins} + 96], ymm3",
                "vmovupd [{bins} + {bin}], ymm4",
                "vmovupd [{bins} + {bin} + 32], ymm5",
                "vmovupd [{bins} + {bin} + 64], ymm6",
                "vmovupd [{bins} + {bin} + 96], ymm7",
                "stmxcsr [{mxcsr} + 8]",
                "ldmxcsr [{mxcsr}]",
                bin = const LANES * size_of::<f64>(),
                bins = in(reg) $bins.as_mut_ptr(),
                mxcsr = in(reg) mxcsr.as_mut_ptr(),
                scale = in(reg) $scale.as_ptr(),
                distance = in(reg) $distance,
                count = inout(reg) count => _,
                rows = inout(reg) rows => _,
                out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
                out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
                out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
                options(nostack)
            );
        }
        mxcsr[2] & EXCEPTION_FLAGS == 0
    }};
}

/// One over the lowest bit of the first bin, that bit, and the prefetch distance: near numbers are
/// prefetched where they are, which costs nothing.
fn settings(unit: f64, far: bool) -> ([f64; 2], usize) {
    ([unit.recip(), unit], if far { PREFETCH_DISTANCE } else { 0 })
}

/// Prefetches what lies behind numbers, and behind what was prefetched with them.
fn prefetch_behind<T>(numbers: &[T]) {
    let end = numbers.as_ptr_range().end.wrapping_byte_add(PREFETCH_DISTANCE);
    for line in (0..TAIL).step_by(64) {
        // SAFETY: R7; a hint that never faults, which every x86-64 has.
        unsafe { _mm_prefetch::<_MM_HINT_T2>(end.wrapping_byte_add(line).cast()) };
    }
}

/// Adds rows; false if bits were lost. What does not fill a row is left.
///
/// # Safety
/// The processor has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn add(
    (bins, unit): (&mut [[f64; LANES]; 2], f64),
    numbers: &[f64],
    far: bool,
) -> bool {
    let (scale, distance) = settings(unit, far);
    // SAFETY: R2, R7; reads whole rows of the slice, reads and writes the first lanes of both bins, and
    // MXCSR is as before at the end.
    let kept = unsafe {
        pass!(
            "prefetcht0 [{rows} + {distance} + 64]
             vmulpd ymm8, ymm14, [{rows}]
             vmulpd ymm9, ymm14, [{rows} + 32]
             vmulpd ymm10, ymm14, [{rows} + 64]
             vmulpd ymm11, ymm14, [{rows} + 96]
             vroundpd ymm8, ymm8, 8
             vroundpd ymm9, ymm9, 8
             vroundpd ymm10, ymm10, 8
             vroundpd ymm11, ymm11, 8
             vfmadd231pd ymm0, ymm8, ymm15
             vfmadd231pd ymm1, ymm9, ymm15
             vfmadd231pd ymm2, ymm10, ymm15
             vfmadd231pd ymm3, ymm11, ymm15
             vfnmadd213pd ymm8, ymm15, [{rows}]
             vfnmadd213pd ymm9, ymm15, [{rows} + 32]
             vfnmadd213pd ymm10, ymm15, [{rows} + 64]
             vfnmadd213pd ymm11, ymm15, [{rows} + 96]
             vaddpd ymm4, ymm4, ymm8
             vaddpd ymm5, ymm5, ymm9
             vaddpd ymm6, ymm6, ymm10
             vaddpd ymm7, ymm7, ymm11
             add {rows}, 128",
            bins,
            scale,
            numbers,
            distance
        )
    };
    if far {
        prefetch_behind(numbers);
    }
    kept
}

/// Adds rows that are widened; as [`add`].
///
/// # Safety
/// The processor has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn widen(
    (bins, unit): (&mut [[f64; LANES]; 2], f64),
    numbers: &[f32],
    far: bool,
) -> bool {
    let (scale, distance) = settings(unit, far);
    // SAFETY: R2, R7; reads whole rows of the slice, as `add` does.
    let kept = unsafe {
        pass!(
            "vcvtps2pd ymm12, [{rows}]
             vcvtps2pd ymm13, [{rows} + 16]
             vmulpd ymm8, ymm14, ymm12
             vmulpd ymm9, ymm14, ymm13
             vroundpd ymm8, ymm8, 8
             vroundpd ymm9, ymm9, 8
             vfmadd231pd ymm0, ymm8, ymm15
             vfmadd231pd ymm1, ymm9, ymm15
             vfnmadd213pd ymm8, ymm15, ymm12
             vfnmadd213pd ymm9, ymm15, ymm13
             vcvtps2pd ymm12, [{rows} + 32]
             vcvtps2pd ymm13, [{rows} + 48]
             vmulpd ymm10, ymm14, ymm12
             vmulpd ymm11, ymm14, ymm13
             vroundpd ymm10, ymm10, 8
             vroundpd ymm11, ymm11, 8
             vfmadd231pd ymm2, ymm10, ymm15
             vfmadd231pd ymm3, ymm11, ymm15
             vfnmadd213pd ymm10, ymm15, ymm12
             vfnmadd213pd ymm11, ymm15, ymm13
             vaddpd ymm4, ymm4, ymm8
             vaddpd ymm5, ymm5, ymm9
             vaddpd ymm6, ymm6, ymm10
             vaddpd ymm7, ymm7, ymm11
             add {rows}, 64",
            bins,
            scale,
            numbers,
            distance
        )
    };
    if far {
        prefetch_behind(numbers);
    }
    kept
}
