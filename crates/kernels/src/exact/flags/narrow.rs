//! The same in vectors of 32 bytes, which round to whole numbers without a note.
//!
//! A number is divided by the lowest bit of the first level, which is a power of two, and rounded to
//! a whole number, unnoted. So many lowest bits are added to the first level, and what is left of
//! the number to the second one; that is noted.

use std::arch::asm;
use std::arch::x86_64::{_MM_HINT_T2, _mm_prefetch};

use super::super::window::LANES;
use super::{LOST, ROW, START};

/// Bytes by which memory is asked for before it is needed.
const AHEAD: usize = 1024;

/// Bytes behind those that are asked for at the end, so that memory is at work in the pause.
const TAIL: usize = 4096;

/// One pass over `count` rows of four vectors, with what is done with a row.
///
/// Levels are in registers 0-7, a quarter of a row in each; 8-11 are for whole numbers, and what is
/// left without them; 14 and 15 are one over the lowest bit, and the lowest bit.
macro_rules! pass {
    ($row:literal, $levels:expr, $scale:expr, $rows:expr, $ahead:expr) => {{
        let (rows, count) = ($rows.as_ptr(), $rows.len() / ROW);
        let mut notes = START;
        if count > 0 {
            asm!(
                "stmxcsr [{notes}]",
                "ldmxcsr [{notes} + 4]",
                "vbroadcastsd ymm14, [{scale}]",
                "vbroadcastsd ymm15, [{scale} + 8]",
                "vmovupd ymm0, [{levels}]",
                "vmovupd ymm1, [{levels} + 32]",
                "vmovupd ymm2, [{levels} + 64]",
                "vmovupd ymm3, [{levels} + 96]",
                "vmovupd ymm4, [{levels} + {level}]",
                "vmovupd ymm5, [{levels} + {level} + 32]",
                "vmovupd ymm6, [{levels} + {level} + 64]",
                "vmovupd ymm7, [{levels} + {level} + 96]",
                ".p2align 4",
                "2:",
                "prefetcht0 [{rows} + {ahead}]",
                $row,
                "dec {count}",
                "jnz 2b",
                "vmovupd [{levels}], ymm0",
                "vmovupd [{levels} + 32], ymm1",
                "vmovupd [{levels} + 64], ymm2",
                "vmovupd [{levels} + 96], ymm3",
                "vmovupd [{levels} + {level}], ymm4",
                "vmovupd [{levels} + {level} + 32], ymm5",
                "vmovupd [{levels} + {level} + 64], ymm6",
                "vmovupd [{levels} + {level} + 96], ymm7",
                "stmxcsr [{notes} + 8]",
                "ldmxcsr [{notes}]",
                level = const LANES * size_of::<f64>(),
                levels = in(reg) $levels.as_mut_ptr(),
                notes = in(reg) notes.as_mut_ptr(),
                scale = in(reg) $scale.as_ptr(),
                ahead = in(reg) $ahead,
                count = inout(reg) count => _,
                rows = inout(reg) rows => _,
                out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
                out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
                out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
                options(nostack)
            );
        }
        notes[2] & LOST == 0
    }};
}

/// One over the lowest bit of the first level, that bit, and how far ahead memory is asked for: near
/// numbers are asked for where they are, which costs nothing.
fn settings(unit: f64, far: bool) -> ([f64; 2], usize) {
    ([unit.recip(), unit], if far { AHEAD } else { 0 })
}

/// Asks for what lies behind numbers, and behind what was asked for with them.
fn ask_behind<T>(numbers: &[T]) {
    let end = numbers.as_ptr_range().end.wrapping_byte_add(AHEAD);
    for line in (0..TAIL).step_by(64) {
        // SAFETY: a hint that never faults; every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T2>(end.wrapping_byte_add(line).cast()) };
    }
}

/// Adds rows; false if bits were lost. What does not fill a row is left.
///
/// # Safety
/// The processor has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn add(
    (levels, unit): (&mut [[f64; LANES]; 2], f64),
    numbers: &[f64],
    far: bool,
) -> bool {
    let (scale, ahead) = settings(unit, far);
    // SAFETY: reads whole rows, reads and writes the first lanes of both levels; the processor's
    // settings are as before at the end.
    let kept = unsafe {
        pass!(
            "prefetcht0 [{rows} + {ahead} + 64]
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
            levels,
            scale,
            numbers,
            ahead
        )
    };
    if far {
        ask_behind(numbers);
    }
    kept
}

/// Adds rows that are widened; as [`add`].
///
/// # Safety
/// The processor has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn widen(
    (levels, unit): (&mut [[f64; LANES]; 2], f64),
    numbers: &[f32],
    far: bool,
) -> bool {
    let (scale, ahead) = settings(unit, far);
    // SAFETY: as in `add`.
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
            levels,
            scale,
            numbers,
            ahead
        )
    };
    if far {
        ask_behind(numbers);
    }
    kept
}
