//! Exact sums of a few lanes: quickly where the rounding errors are known, else by the
//! superaccumulator.
//!
//! Every addition gives its rounded sum and the exact rest. The rests are added in the same way;
//! if nothing is left of that, the last sum and the sum of the rests are all there is, and adding
//! them is the only rounding. Numbers far apart, infinities and NaN leave something.

#![allow(unsafe_code, reason = "the loops of sums are kernels")]

use std::ops::{Add, Sub};

use pantile_lanes::{DType, SumTerms, dispatch};

use super::kernel::{CHUNK, LaneSlot, Unaligned};
use crate::ExactSum;
use crate::simd::{VectorLoop, Vectors};

/// A loop that sums lanes: target, operands (those beyond its number are not looked at), count.
///
/// The caller gives promises 1 and 2 of a [`KernelCall`](super::kernel::KernelCall).
pub(crate) type Adds = unsafe fn(*mut u8, &[LaneSlot; SumTerms::MOST], usize, Vectors);

/// The loop that sums so many lanes of a type.
pub(crate) fn adds(dtype: DType, count: usize) -> Option<Adds> {
    dispatch!(dtype, T {
        floats => of::<T>(count),
        _ => None,
    })
}

fn of<T: Float>(count: usize) -> Option<Adds> {
    Some(match count {
        1 => all::<T, 1>,
        2 => all::<T, 2>,
        3 => all::<T, 3>,
        4 => all::<T, 4>,
        5 => all::<T, 5>,
        6 => all::<T, 6>,
        7 => all::<T, 7>,
        8 => all::<T, 8>,
        _ => return None,
    })
}

/// # Safety
/// As of [`Adds`].
unsafe fn all<T: Float, const N: usize>(
    target: *mut u8,
    operands: &[LaneSlot; SumTerms::MOST],
    count: usize,
    vectors: Vectors,
) {
    for done in (0..count).step_by(CHUNK) {
        let target = target.wrapping_add(done * size_of::<T>()).cast::<Unaligned<T>>();
        let length = CHUNK.min(count - done);
        // SAFETY: R2, R3, R4, R6; promised by the call for `count` elements, which need no alignment.
        let target = unsafe { std::slice::from_raw_parts_mut(target, length) };
        let terms: [&[Unaligned<T>]; N] = std::array::from_fn(|term| {
            let LaneSlot { start, step, .. } = operands[term];
            let start = start.wrapping_add((done & step) * size_of::<T>());
            // SAFETY: R2, R3, R4, R6; the same for an operand, or it is a chunk.
            unsafe { std::slice::from_raw_parts(start.cast::<Unaligned<T>>(), length) }
        });
        if vectors.run(Quick { target, terms }) {
            continue;
        }
        for (at, target) in target.iter_mut().enumerate() {
            let terms = terms.map(|term| term[at].0);
            let (sum, certain) = quick(terms);
            *target = Unaligned(if certain { sum } else { T::exact(terms) });
        }
    }
}

/// The sums of a chunk; gives true if all of them are certain.
struct Quick<'a, T: Float, const N: usize> {
    target: &'a mut [Unaligned<T>],
    terms: [&'a [Unaligned<T>]; N],
}

impl<T: Float, const N: usize> VectorLoop for Quick<'_, T, N> {
    type Output = bool;

    #[inline(always)]
    fn run(self, _: Vectors) -> bool {
        // Slices of one length that is known make a loop without checks.
        let count = self.target.len();
        let terms = self.terms.map(|term| &term[..count]);
        let mut all = true;
        for (at, target) in self.target.iter_mut().enumerate() {
            let (sum, certain) = quick(std::array::from_fn::<T, N, _>(|term| terms[term][at].0));
            *target = Unaligned(sum);
            all &= certain;
        }
        all
    }
}

/// The rounded sum, and whether it is certain to be that of the exact sum.
#[inline(always)]
fn quick<T: Float, const N: usize>(terms: [T; N]) -> (T, bool) {
    if N <= 2 {
        // One addition is rounded as it should be.
        let sum = terms.into_iter().fold(T::default(), |sum, term| sum + term);
        return (sum + T::default(), true);
    }
    let (mut sum, mut rests) = two_sum(terms[0], terms[1]);
    let mut certain = true;
    for term in &terms[2..] {
        let rest;
        (sum, rest) = two_sum(sum, *term);
        let left;
        (rests, left) = two_sum(rests, rest);
        certain &= left == T::default();
    }
    (sum + rests + T::default(), certain)
}

/// A rounded sum and what is missing in it, exactly; NaN if something is too large.
#[inline(always)]
fn two_sum<T: Float>(a: T, b: T) -> (T, T) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// Floats.
trait Float: Copy + Default + PartialEq + Add<Output = Self> + Sub<Output = Self> + 'static {
    /// The exact sum, rounded once.
    fn exact<const N: usize>(terms: [Self; N]) -> Self;
}

impl Float for f64 {
    #[cold]
    fn exact<const N: usize>(terms: [Self; N]) -> Self {
        let mut sum = ExactSum::new();
        terms.into_iter().for_each(|term| sum.add(term));
        sum.to_f64()
    }
}

impl Float for f32 {
    #[cold]
    fn exact<const N: usize>(terms: [Self; N]) -> Self {
        let mut sum = ExactSum::new();
        terms.into_iter().for_each(|term| sum.add(f64::from(term)));
        sum.to_f32()
    }
}
