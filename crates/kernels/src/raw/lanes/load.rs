//! Elements at equal distances into a block, and back.

use std::marker::PhantomData;

use pantile_lanes::DType;

use crate::lanes::kernel::Unaligned;
use crate::simd::{VectorLoop, Vectors};

/// Elements in memory: the first, and how many elements further the next one is.
#[derive(Clone, Copy)]
pub(crate) struct Strided {
    pub(crate) start: *mut u8,
    pub(crate) stride: isize,
}

/// Moves `count` elements. Of bytes that are bools, all but 0 become 1.
///
/// # Safety
/// So many elements may be read at one place and written at the other, and no byte is both.
pub(crate) unsafe fn transfer(
    dtype: DType,
    [from, to]: [Strided; 2],
    count: usize,
    vectors: Vectors,
) {
    match dtype.bytes() {
        1 if dtype == DType::Bool => {
            vectors.run(NormaliseBools(StridedMove::<u8>::new(from, to, count)))
        }
        1 => vectors.run(StridedMove::<u8>::new(from, to, count)),
        2 => vectors.run(StridedMove::<u16>::new(from, to, count)),
        4 => vectors.run(StridedMove::<u32>::new(from, to, count)),
        _ => vectors.run(StridedMove::<u64>::new(from, to, count)),
    }
}

/// Writes `count` numbers that grow by a step, wrapping.
///
/// # Safety
/// So many `i64` may be written.
pub(crate) unsafe fn ramp(first: i64, step: i64, block: *mut u8, count: usize) {
    let block = block.cast::<Unaligned<i64>>();
    for index in 0..count {
        let value = first.wrapping_add(step.wrapping_mul(index as i64));
        // SAFETY: R1, R4; `BlockFrame::block_of` has compared the count with the room.
        unsafe { block.add(index).write(Unaligned(value)) };
    }
}

/// The arguments of [`transfer`], whose promises they carry.
struct StridedMove<T> {
    from: Strided,
    to: Strided,
    count: usize,
    elements: PhantomData<T>,
}

impl<T: Copy> StridedMove<T> {
    fn new(from: Strided, to: Strided, count: usize) -> Self {
        Self { from, to, count, elements: PhantomData }
    }

    /// Moves elements with these strides, which are constants where that makes better loops.
    #[inline(always)]
    fn by(&self, from_stride: isize, to_stride: isize, change: impl Fn(T) -> T) {
        let (from, to) =
            (self.from.start.cast::<Unaligned<T>>(), self.to.start.cast::<Unaligned<T>>());
        for index in 0..self.count.cast_signed() {
            // SAFETY: R1, R2, R3, R4; the elements are those for which `transfer` was called.
            unsafe {
                let value = *from.offset(index * from_stride);
                *to.offset(index * to_stride) = Unaligned(change(value.0));
            }
        }
    }

    #[inline(always)]
    fn each(&self, change: impl Fn(T) -> T) {
        match (self.from.stride, self.to.stride) {
            (1, 1) => self.by(1, 1, change),
            (0, 1) => self.by(0, 1, change),
            (2, 1) => self.by(2, 1, change),
            (1, 2) => self.by(1, 2, change),
            (-1, 1) => self.by(-1, 1, change),
            (from, to) => self.by(from, to, change),
        }
    }
}

impl<T: Copy> VectorLoop for StridedMove<T> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        self.each(|value| value);
    }
}

/// Bytes as bools.
struct NormaliseBools(StridedMove<u8>);

impl VectorLoop for NormaliseBools {
    type Output = ();

    #[inline(always)]
    fn run(self, _: Vectors) {
        self.0.each(|value| u8::from(value != 0));
    }
}
