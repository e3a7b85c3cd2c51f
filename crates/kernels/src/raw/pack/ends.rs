//! Both ends of a copy.

use crate::pack::stream;

/// Where the source and the target of elements lie.
///
/// Invariant: R1 to R3 hold for the elements that its nest or box has from here on, and loops move it by the
/// offsets of these alone.
#[derive(Clone, Copy)]
pub(crate) struct Ends<T> {
    source: *const T,
    target: *mut T,
}

impl<T> Ends<T> {
    /// Two ends.
    ///
    /// # Safety
    /// R1 to R3 of [`raw`](crate::raw) for the elements that will be met from here on, and R2 for every
    /// place on the way.
    pub(super) unsafe fn new(source: *const T, target: *mut T) -> Self {
        Self { source, target }
    }

    /// The first element of the source.
    pub(crate) fn source(self) -> *const T {
        self.source
    }

    /// The first element of the target.
    pub(crate) fn target(self) -> *mut T {
        self.target
    }

    /// The same with another target, in memory that is kept near and has room for what will be written.
    pub(super) fn with_target(self, target: *mut T) -> Self {
        Self { target, ..self }
    }

    /// The same places as elements of another type.
    pub(crate) fn cast<U>(self) -> Ends<U> {
        Ends { source: self.source.cast(), target: self.target.cast() }
    }

    /// So many elements further on each side.
    #[inline(always)]
    pub(super) fn add(self, source: usize, target: usize) -> Self {
        // SAFETY: R2; offsets are those of a nest, whose spans the entry compares with both sides.
        unsafe { Self { source: self.source.add(source), target: self.target.add(target) } }
    }

    /// So many elements further on each side, or back.
    #[inline(always)]
    pub(super) fn offset(self, source: isize, target: isize) -> Self {
        // SAFETY: R2; distances are those of a box, whose reach the entry compares with both sides.
        unsafe { Self { source: self.source.offset(source), target: self.target.offset(target) } }
    }
}

impl<T: Copy> Ends<T> {
    /// Copies one element.
    #[inline(always)]
    pub(super) fn copy_one(self) {
        // SAFETY: R1, R2, R3; the element is one of the nest or box, which the entry compares.
        unsafe { self.target.write_unaligned(self.source.read_unaligned()) }
    }

    /// Makes the target what an operation gives of it and the source.
    #[inline(always)]
    pub(super) fn combine_one(self, apply: impl Fn(T, T) -> T) {
        // SAFETY: R1, R2, R6; the element is one of the nest, and an operation gives elements of its type.
        unsafe {
            let target = apply(self.target.read_unaligned(), self.source.read_unaligned());
            self.target.write_unaligned(target);
        }
    }

    /// Copies elements side by side, as one of a type of their size, so many bytes further.
    #[inline(always)]
    pub(super) fn copy_block<B: Copy>(self, offset: usize) {
        // SAFETY: R1, R2, R3; the block ends at most where a run of the nest does.
        unsafe {
            let block = self.source.byte_add(offset).cast::<B>().read_unaligned();
            self.target.byte_add(offset).cast::<B>().write_unaligned(block);
        }
    }

    /// Copies so many bytes side by side, by the system's routine.
    #[inline(always)]
    pub(super) fn copy_bytes(self, bytes: usize) {
        // SAFETY: R1, R2, R3; the bytes are those of a run of the nest.
        unsafe { self.source.cast::<u8>().copy_to_nonoverlapping(self.target.cast(), bytes) }
    }

    /// Copies so many bytes side by side with non-temporal stores.
    #[inline(always)]
    pub(super) fn stream_bytes(self, bytes: usize) {
        // SAFETY: R1, R2, R3; the bytes are those of a run of the nest.
        unsafe { stream::copy_run(self.source.cast(), self.target.cast(), bytes) }
    }

    /// Copies so many bytes side by side that are near, with non-temporal stores.
    #[inline(always)]
    pub(super) fn stream_near(self, bytes: usize) {
        // SAFETY: R1, R2, R3, R4; the bytes are those of a run that was gathered.
        unsafe { stream::write_non_temporal(self.source.cast(), self.target.cast(), bytes) }
    }
}
