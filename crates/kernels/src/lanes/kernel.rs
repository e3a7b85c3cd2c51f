//! Loops over blocks: one operation on lanes, compiled for every instruction set.

#![allow(unsafe_code, reason = "the loops of operations are kernels")]

use crate::simd::Vectors;

/// Elements that a loop takes at a time. An operand that is the same everywhere is this long.
pub(crate) const CHUNK: usize = 128;

/// The step of a slot that has a place for every element.
pub(crate) const EACH: usize = usize::MAX;

/// One operation on a block.
pub(crate) type Kernel = unsafe fn(&KernelCall);

/// Where a lane of a block lies. Machine code knows this order.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct LaneSlot {
    /// Its first element.
    pub(crate) start: *mut u8,
    /// The bits of an element's number that count: [`EACH`], or 0 if all chunks are the same.
    pub(crate) step: usize,
    /// Bytecode writes here with non-temporal stores; the place is that of a cache line.
    pub(crate) non_temporal: bool,
}

// SAFETY: R1; a slot is a place, and what reads or writes there names its own invariants.
unsafe impl Send for LaneSlot {}

/// The arguments of a [`Kernel`].
///
/// The caller promises:
/// 1. The target may be written, and the operands that the operation has may be read and are
///    initialised, for `count` elements of its types (one chunk if their step is 0).
/// 2. The target overlaps none of the operands.
/// 3. The processor has the instructions that the kernel was compiled for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelCall {
    pub(crate) target: *mut u8,
    pub(crate) operands: [LaneSlot; 3],
    pub(crate) count: usize,
    pub(crate) table: &'static [u64],
}

/// What is done to the elements at one place. Operands that an operation has not are `()`.
pub(crate) trait LaneApply: 'static {
    type A: Copy;
    type B: Copy;
    type C: Copy;
    type Result: Copy + Default;

    fn apply(a: Self::A, b: Self::B, c: Self::C) -> Self::Result;

    /// True if it is so long that one loop of it is enough: short rests are copied to be whole.
    const IS_LONG: bool = false;

    /// True if some elements take the slow path.
    const HAS_SLOW_PATH: bool = false;

    /// True for elements that take the slow path.
    #[inline(always)]
    fn takes_slow_path(_: Self::A, _: Self::B, _: Self::C) -> bool {
        false
    }

    /// The slow path: right for all elements.
    #[inline(always)]
    fn slow_path(a: Self::A, b: Self::B, c: Self::C) -> Self::Result {
        Self::apply(a, b, c)
    }
}

/// An element that needs no alignment.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(crate) struct Unaligned<T: Copy>(pub(crate) T);

/// The loop of an operation for an instruction set.
pub(crate) fn kernel<K: LaneApply>(vectors: Vectors) -> Kernel {
    #[cfg(target_arch = "x86_64")]
    return vectors.pick([every::<K>, every_avx2::<K>, every_avx512::<K>]);
    #[cfg(not(target_arch = "x86_64"))]
    return vectors.pick([every::<K>, every::<K>, every::<K>]);
}

/// # Safety
/// Promises 1 and 2 of [`KernelCall`].
#[inline(always)]
unsafe fn every<K: LaneApply>(call: &KernelCall) {
    let mut done = 0;
    while done < call.count {
        let count = CHUNK.min(call.count - done);
        // SAFETY: R2, R3, R4; the chunk ends at most at `count`, for which the call was made.
        unsafe {
            let target = chunk_mut::<K::Result>(call.target, done, count);
            let a = chunk::<K::A>(call.operands[0], done, count);
            let b = chunk::<K::B>(call.operands[1], done, count);
            let c = chunk::<K::C>(call.operands[2], done, count);
            // A length that is known makes a loop without a rest.
            if K::IS_LONG {
                long::<K>(target, a, b, c)
            } else if count == CHUNK {
                some::<K, CHUNK>(target, a, b, c)
            } else {
                rest::<K>(target, a, b, c)
            };
        }
        done += CHUNK;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn every_avx2<K: LaneApply>(call: &KernelCall) {
    // SAFETY: R7; `kernel` chooses functions by the vectors that were detected.
    unsafe { every::<K>(call) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
unsafe fn every_avx512<K: LaneApply>(call: &KernelCall) {
    // SAFETY: R7; `kernel` chooses functions by the vectors that were detected.
    unsafe { every::<K>(call) }
}

/// # Safety
/// Promise 1 of [`KernelCall`] for this target, which no other code uses meanwhile.
#[inline(always)]
unsafe fn chunk_mut<'a, T: Copy>(
    start: *mut u8,
    done: usize,
    count: usize,
) -> &'a mut [Unaligned<T>] {
    // SAFETY: R2, R3, R4, R6; promised by the call for `count` elements, which need no alignment.
    unsafe { std::slice::from_raw_parts_mut(start.cast::<Unaligned<T>>().add(done), count) }
}

/// # Safety
/// Promise 1 of [`KernelCall`] for this operand, which no code writes meanwhile.
#[inline(always)]
unsafe fn chunk<'a, T: Copy>(slot: LaneSlot, done: usize, count: usize) -> &'a [Unaligned<T>] {
    // Bits rather than a choice: the compiler would make a loop for each.
    let done = done & slot.step;
    // SAFETY: R2, R3, R4, R6; promised by the call for `count` elements, which need no alignment.
    unsafe { std::slice::from_raw_parts(slot.start.cast::<Unaligned<T>>().add(done), count) }
}

#[inline(always)]
fn some<K: LaneApply, const COUNT: usize>(
    target: &mut [Unaligned<K::Result>],
    a: &[Unaligned<K::A>],
    b: &[Unaligned<K::B>],
    c: &[Unaligned<K::C>],
) {
    rest::<K>(&mut target[..COUNT], &a[..COUNT], &b[..COUNT], &c[..COUNT]);
}

#[inline(always)]
fn rest<K: LaneApply>(
    target: &mut [Unaligned<K::Result>],
    a: &[Unaligned<K::A>],
    b: &[Unaligned<K::B>],
    c: &[Unaligned<K::C>],
) {
    each::<K>(target, a, b, c, K::apply);
}

/// Computes all elements by a function: that of the operation, or its slow path.
#[inline(always)]
fn each<K: LaneApply>(
    target: &mut [Unaligned<K::Result>],
    a: &[Unaligned<K::A>],
    b: &[Unaligned<K::B>],
    c: &[Unaligned<K::C>],
    by: impl Fn(K::A, K::B, K::C) -> K::Result,
) {
    for (((target, a), b), c) in target.iter_mut().zip(a).zip(b).zip(c) {
        *target = Unaligned(by(a.0, b.0, c.0));
    }
}

/// One loop for whole chunks and for rests, which become whole by repeating their first element.
#[inline(always)]
fn long<K: LaneApply>(
    target: &mut [Unaligned<K::Result>],
    a: &[Unaligned<K::A>],
    b: &[Unaligned<K::B>],
    c: &[Unaligned<K::C>],
) {
    if K::HAS_SLOW_PATH && any_takes_slow_path::<K>(a, b, c) {
        return chunk_slow_path::<K>(target, a, b, c);
    }
    let inputs;
    let mut results = None;
    let (to, a, b, c) = if target.len() == CHUNK {
        (&mut *target, a, b, c)
    } else {
        inputs = (filled(a), filled(b), filled(c));
        let results = results.insert([Unaligned(K::Result::default()); CHUNK]);
        (&mut results[..], &inputs.0[..], &inputs.1[..], &inputs.2[..])
    };
    some::<K, CHUNK>(to, a, b, c);
    if let Some(results) = results {
        target.copy_from_slice(&results[..target.len()]);
    }
}

/// A chunk that begins with these elements, of which there are some.
fn filled<T: Copy>(from: &[Unaligned<T>]) -> [Unaligned<T>; CHUNK] {
    let mut chunk = [from[0]; CHUNK];
    chunk[..from.len()].copy_from_slice(from);
    chunk
}

#[inline(always)]
fn any_takes_slow_path<K: LaneApply>(
    a: &[Unaligned<K::A>],
    b: &[Unaligned<K::B>],
    c: &[Unaligned<K::C>],
) -> bool {
    // All of them, so that this is vector code too.
    a.iter().zip(b).zip(c).fold(false, |any, ((a, b), c)| any | K::takes_slow_path(a.0, b.0, c.0))
}

#[cold]
fn chunk_slow_path<K: LaneApply>(
    target: &mut [Unaligned<K::Result>],
    a: &[Unaligned<K::A>],
    b: &[Unaligned<K::B>],
    c: &[Unaligned<K::C>],
) {
    each::<K>(target, a, b, c, K::slow_path);
}
