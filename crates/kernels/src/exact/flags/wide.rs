//! The same in vectors of 64 bytes, whose additions may leave the exception flags alone.
//!
//! The sum of a bin and a number is rounded on purpose, without setting flags; taking the bin away
//! again, taking that away from the number, and adding what is left to the second bin set flags.

use std::arch::asm;

use super::super::binned::{LANES, PREFETCH_DISTANCE};
use super::{EXCEPTION_FLAGS, MXCSR_SLOTS};

/// Adds pairs of rows, or the products of them; false if bits were lost.
///
/// # Panics
/// If there are fewer others.
///
/// # Safety
/// The processor has AVX-512.
pub(super) unsafe fn add(
    bins: &mut [[f64; LANES]; 2],
    (numbers, others): (&[f64], Option<&[f64]>),
    far: bool,
) -> bool {
    assert!(others.is_none_or(|others| others.len() >= numbers.len()), "as many others as numbers");
    let (bins, first) = (bins.as_mut_ptr().cast(), numbers.as_ptr());
    let count = numbers.len() / (2 * LANES);
    // SAFETY: R2, R7; `count` pairs of rows lie in the slices, of which the second is asserted to be as long.
    unsafe {
        match others {
            None => sum(bins, first, count, far),
            Some(others) => products(bins, (first, others.as_ptr()), count, far),
        }
    }
}

/// One pass over `count` pairs of rows of four vectors, with what loads the numbers of a row,
/// goes to the next one, and comes before a pair.
///
/// Numbers are in registers 8-11, the second bin is in 4-7, and the first in 0-3 before the
/// first row of a pair, in 12-15 before the second one.
macro_rules! pass {
    ($load:literal, $next:literal, $pair:literal, $bins:ident, $count:ident, $mxcsr:ident
     $(, $name:ident = $value:expr)*) => {
        asm!(
            "stmxcsr [{mxcsr}]",
            "ldmxcsr [{mxcsr} + 4]",
            "vmovupd zmm0, [{bins}]",
            "vmovupd zmm1, [{bins} + 64]",
            "vmovupd zmm2, [{bins} + 128]",
            "vmovupd zmm3, [{bins} + 192]",
            "vmovupd zmm4, [{bins} + 256]",
            "vmovupd zmm5, [{bins} + 320]",
            "vmovupd zmm6, [{bins} + 384]",
            "vmovupd zmm7, [{bins} + 448]",
            "2:",
            $pair,
            $load,
            "vaddpd zmm12, zmm0, zmm8, {{rn-sae}}",
            "vaddpd zmm13, zmm1, zmm9, {{rn-sae}}",
            "vaddpd zmm14, zmm2, zmm10, {{rn-sae}}",
            "vaddpd zmm15, zmm3, zmm11, {{rn-sae}}",
            "vsubpd zmm0, zmm12, zmm0",
            "vsubpd zmm1, zmm13, zmm1",
            "vsubpd zmm2, zmm14, zmm2",
            "vsubpd zmm3, zmm15, zmm3",
            "vsubpd zmm8, zmm8, zmm0",
            "vsubpd zmm9, zmm9, zmm1",
            "vsubpd zmm10, zmm10, zmm2",
            "vsubpd zmm11, zmm11, zmm3",
            "vaddpd zmm4, zmm4, zmm8",
            "vaddpd zmm5, zmm5, zmm9",
            "vaddpd zmm6, zmm6, zmm10",
            "vaddpd zmm7, zmm7, zmm11",
            $next,
            $load,
            "vaddpd zmm0, zmm12, zmm8, {{rn-sae}}",
            "vaddpd zmm1, zmm13, zmm9, {{rn-sae}}",
            "vaddpd zmm2, zmm14, zmm10, {{rn-sae}}",
            "vaddpd zmm3, zmm15, zmm11, {{rn-sae}}",
            "vsubpd zmm12, zmm0, zmm12",
            "vsubpd zmm13, zmm1, zmm13",
            "vsubpd zmm14, zmm2, zmm14",
            "vsubpd zmm15, zmm3, zmm15",
            "vsubpd zmm8, zmm8, zmm12",
            "vsubpd zmm9, zmm9, zmm13",
            "vsubpd zmm10, zmm10, zmm14",
            "vsubpd zmm11, zmm11, zmm15",
            "vaddpd zmm4, zmm4, zmm8",
            "vaddpd zmm5, zmm5, zmm9",
            "vaddpd zmm6, zmm6, zmm10",
            "vaddpd zmm7, zmm7, zmm11",
            $next,
            "dec {count}",
            "jnz 2b",
            "vmovupd [{bins}], zmm0",
            "vmovupd [{bins} + 64], zmm1",
            "vmovupd [{bins} + 128], zmm2",
            "vmovupd [{bins} + 192], zmm3",
            "vmovupd [{bins} + 256], zmm4",
            "vmovupd [{bins} + 320], zmm5",
            "vmovupd [{bins} + 384], zmm6",
            "vmovupd [{bins} + 448], zmm7",
            "stmxcsr [{mxcsr} + 8]",
            "ldmxcsr [{mxcsr}]",
            bins = in(reg) $bins,
            mxcsr = in(reg) $mxcsr.as_mut_ptr(),
            count = inout(reg) $count => _,
            $($name = inout(reg) $value => _,)*
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
            out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
            out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
            out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _,
            out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            options(nostack)
        )
    };
}

/// The prefetch distance of each of the streams of far numbers, in pairs of rows.
const PREFETCH_PAIRS: usize = 8;

/// Far numbers are read in four places at once, a quarter of all numbers apart, because a processor
/// has more on its way then than from one place: the vectors of a row come from there. Shortly
/// before the end the quarters of as many numbers behind these are prefetched.
///
/// # Safety
/// The processor has AVX-512; `bins` are 64 numbers, and `rows` are `count` pairs of rows of
/// 32 numbers; there is at least one.
#[target_feature(enable = "avx512f")]
unsafe fn sum(bins: *mut f64, rows: *const f64, count: usize, far: bool) -> bool {
    const LINE: usize = 64;
    let (apart, step) = if far { (count * 2 * LINE, LINE) } else { (LINE, 4 * LINE) };
    // Near numbers are prefetched where they are: that costs nothing.
    let (distance, switch) = if far { (PREFETCH_PAIRS * 2 * LINE, PREFETCH_PAIRS) } else { (0, 0) };
    let mut mxcsr = MXCSR_SLOTS;
    // SAFETY: R2, R7; reads `count` pairs of rows, and MXCSR is as before at the end.
    unsafe {
        pass!(
            "prefetcht0 [{soon}]
             prefetcht0 [{soon} + {apart}]
             prefetcht0 [{soon} + 2 * {apart}]
             prefetcht0 [{soon} + {thrice}]
             vmovupd zmm8, [{rows}]
             vmovupd zmm9, [{rows} + {apart}]
             vmovupd zmm10, [{rows} + 2 * {apart}]
             vmovupd zmm11, [{rows} + {thrice}]",
            "add {rows}, {step}
             add {soon}, {step}",
            "cmp {count}, {switch}
             jne 3f
             add {soon}, {thrice}
             3:",
            bins,
            count,
            mxcsr,
            rows = rows,
            soon = rows.wrapping_byte_add(distance),
            apart = apart,
            thrice = 3 * apart,
            step = step,
            switch = switch
        );
    }
    mxcsr[2] & EXCEPTION_FLAGS == 0
}

/// # Safety
/// As [`sum`], for both of the rows.
#[target_feature(enable = "avx512f")]
unsafe fn products(
    bins: *mut f64,
    (rows, others): (*const f64, *const f64),
    count: usize,
    far: bool,
) -> bool {
    let (mut mxcsr, distance) = (MXCSR_SLOTS, if far { PREFETCH_DISTANCE } else { 0 });
    // SAFETY: R2, R7; reads `count` pairs of rows of both, as `sum` does of one.
    unsafe {
        pass!(
            "prefetcht0 [{rows} + {distance}]
             prefetcht0 [{rows} + {distance} + 64]
             prefetcht0 [{rows} + {distance} + 128]
             prefetcht0 [{rows} + {distance} + 192]
             prefetcht0 [{others} + {distance}]
             prefetcht0 [{others} + {distance} + 64]
             prefetcht0 [{others} + {distance} + 128]
             prefetcht0 [{others} + {distance} + 192]
             vmovupd zmm8, [{rows}]
             vmovupd zmm9, [{rows} + 64]
             vmovupd zmm10, [{rows} + 128]
             vmovupd zmm11, [{rows} + 192]
             vmovupd zmm16, [{others}]
             vmovupd zmm17, [{others} + 64]
             vmovupd zmm18, [{others} + 128]
             vmovupd zmm19, [{others} + 192]
             vmulpd zmm8, zmm8, zmm16, {{rn-sae}}
             vmulpd zmm9, zmm9, zmm17, {{rn-sae}}
             vmulpd zmm10, zmm10, zmm18, {{rn-sae}}
             vmulpd zmm11, zmm11, zmm19, {{rn-sae}}",
            "add {rows}, 256
             add {others}, 256",
            "",
            bins,
            count,
            mxcsr,
            rows = rows,
            others = others,
            distance = distance
        );
    }
    mxcsr[2] & EXCEPTION_FLAGS == 0
}
