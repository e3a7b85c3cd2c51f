//! Blocked transposes: copying a face whose rows are the columns of its source, block by block.
//!
//! A line of the source has elements of several rows of the target. Blocks are as wide as two
//! lines, so that every line is used up while it is near, and not longer than the caches keep of
//! lines that lie at distances of a power of two.

use std::mem::MaybeUninit;

use super::Ends;
use super::boxes::BoxAxis;
use crate::pack::stream;
use crate::pack::transpose_vectors;

/// Bytes of a target row that are written one after the other.
pub(crate) const RUN: usize = 256;

/// The same where rows begin at different places of their lines: fewer of them are partial.
pub(crate) const UNEVEN_RUN: usize = 1024;

/// Bytes of the source that a block is wide.
const WIDTH: usize = 2 * stream::LINE;

/// Rows of a block at most.
pub(crate) const ROWS_MAX: usize = 32;

/// Bytes from one row of a block that is kept to the next. One line more than a row keeps rows
/// from competing for places in the cache.
const PITCH: usize = UNEVEN_RUN + stream::LINE;

/// Two axes, of which rows are near in the source and columns are near in the target.
#[derive(Clone, Copy)]
pub(crate) struct TransposeFace {
    pub(crate) rows: BoxAxis,
    pub(crate) columns: BoxAxis,
}

/// Elements that are exchanged in squares of vectors.
pub(crate) trait Square: Copy {
    /// Elements of a vector, and vectors of a square.
    const SIDE: usize;

    /// Copies a square: columns of the source lie `source` elements apart, rows of the target
    /// `target` elements, and everything else side by side.
    fn transpose(at: Ends<Self>, source: isize, target: isize);
}

#[repr(align(64))]
struct StagingBlock([MaybeUninit<u8>; ROWS_MAX * PITCH]);

/// Copies a face whose columns are at most [`UNEVEN_RUN`] bytes. With `streaming`, whole lines of
/// the target are written with non-temporal stores; the caller ends with [`stream::fence`].
pub(crate) fn transpose<T: Square>(face: TransposeFace, at: Ends<T>, streaming: bool) {
    let TransposeFace { rows, columns } = face;
    let is_line = |bytes: usize| bytes.is_multiple_of(stream::LINE);
    let lines = is_line(at.target().addr())
        && is_line(rows.target.unsigned_abs().wrapping_mul(size_of::<T>()));
    let near = rows.source == 1 && columns.target == 1 && transpose_vectors::can(size_of::<T>());
    if !near || (streaming && !lines) {
        return transpose_blocks(face, at, streaming);
    }
    let done = transpose_vectors::transpose_vectors(face, at, streaming);
    if done.1 < columns.count {
        let right = BoxAxis { count: columns.count - done.1, ..columns };
        let upper = BoxAxis { count: done.0, ..rows };
        transpose_block(TransposeFace { rows: upper, columns: right }, at.along(columns, done.1));
    }
    if done.0 < rows.count {
        let below = BoxAxis { count: rows.count - done.0, ..rows };
        transpose_block(TransposeFace { rows: below, columns }, at.along(rows, done.0));
    }
}

/// [`transpose`] by blocks that are kept near before they are written with non-temporal stores.
fn transpose_blocks<T: Square>(face: TransposeFace, at: Ends<T>, streaming: bool) {
    let rows = (WIDTH / size_of::<T>()).min(ROWS_MAX);
    let bytes = face.columns.count * size_of::<T>();
    assert!(bytes <= UNEVEN_RUN, "a row of a block has room for a run");
    let kept = streaming && face.columns.target == 1 && bytes >= stream::LINE;
    let mut block = StagingBlock([MaybeUninit::uninit(); ROWS_MAX * PITCH]);
    for first in (0..face.rows.count).step_by(rows) {
        let count = rows.min(face.rows.count - first);
        let part = TransposeFace { rows: BoxAxis { count, ..face.rows }, ..face };
        let from = at.along(face.rows, first);
        if !kept {
            transpose_block(part, from);
            continue;
        }
        let near = block.0.as_mut_ptr().cast::<u8>();
        let target = (PITCH / size_of::<T>()).cast_signed();
        let into = TransposeFace { rows: BoxAxis { target, ..part.rows }, ..part };
        transpose_block(into, from.with_target(near.cast::<T>()));
        for row in 0..count {
            let target = from.along(face.rows, row).target();
            // SAFETY: R2, R4; the row was just written to the block, which has room for `ROWS_MAX` of them.
            unsafe { Ends::<u8>::new(near.add(row * PITCH), target.cast()) }.stream_near(bytes);
        }
    }
}

/// Copies a block: squares as far as there are any, and the rest one by one.
fn transpose_block<T: Square>(block: TransposeFace, at: Ends<T>) {
    let TransposeFace { rows, columns } = block;
    let near = rows.source == 1 && columns.target == 1;
    let squares = |count: usize| if near { count / T::SIDE * T::SIDE } else { 0 };
    let (whole_rows, whole_columns) = (squares(rows.count), squares(columns.count));
    for column in (0..whole_columns).step_by(T::SIDE) {
        for row in (0..whole_rows).step_by(T::SIDE) {
            let at = at.along(columns, column).along(rows, row);
            T::transpose(at, columns.source, rows.target);
        }
    }
    let one_by_one = |row: usize, from: usize| {
        for column in from..columns.count {
            at.along(rows, row).along(columns, column).copy_one();
        }
    };
    (0..whole_rows).for_each(|row| one_by_one(row, whole_columns));
    (whole_rows..rows.count).for_each(|row| one_by_one(row, 0));
}

impl Square for [u64; 2] {
    const SIDE: usize = 1;

    #[inline(always)]
    fn transpose(at: Ends<Self>, _: isize, _: isize) {
        at.copy_one();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpackhi_epi8, _mm_unpackhi_epi16,
        _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_unpacklo_epi16,
        _mm_unpacklo_epi32, _mm_unpacklo_epi64,
    };

    use super::{Ends, Square};

    /// Interleaves vector after vector with the one half of them further, until everything is
    /// where it belongs: as often as a side can be halved.
    macro_rules! square {
        ($element:ty, $side:literal, $low:ident, $high:ident) => {
            impl Square for $element {
                const SIDE: usize = $side;

                #[inline(always)]
                fn transpose(at: Ends<Self>, source: isize, target: isize) {
                    let vector = |column: usize| {
                        let start = at.source().wrapping_offset(column.cast_signed() * source);
                        // SAFETY: R1, R2, R7; a column of the square, and every x86-64 has the instruction.
                        unsafe { _mm_loadu_si128(start.cast::<__m128i>()) }
                    };
                    let mut vectors: [__m128i; $side] = std::array::from_fn(vector);
                    for _ in 0..usize::ilog2($side) {
                        vectors = std::array::from_fn(|at| {
                            let (one, other) = (vectors[at / 2], vectors[at / 2 + $side / 2]);
                            // SAFETY: R7; every x86-64 has these instructions.
                            unsafe {
                                if at % 2 == 0 { $low(one, other) } else { $high(one, other) }
                            }
                        });
                    }
                    for (row, vector) in vectors.into_iter().enumerate() {
                        let start = at.target().wrapping_offset(row.cast_signed() * target);
                        // SAFETY: R1, R2, R7; a row of the square, and every x86-64 has the instruction.
                        unsafe { _mm_storeu_si128(start.cast::<__m128i>(), vector) };
                    }
                }
            }
        };
    }

    square!(u8, 16, _mm_unpacklo_epi8, _mm_unpackhi_epi8);
    square!(u16, 8, _mm_unpacklo_epi16, _mm_unpackhi_epi16);
    square!(u32, 4, _mm_unpacklo_epi32, _mm_unpackhi_epi32);
    square!(u64, 2, _mm_unpacklo_epi64, _mm_unpackhi_epi64);
}

#[cfg(not(target_arch = "x86_64"))]
mod portable {
    use super::{Ends, Square};

    macro_rules! square {
        ($element:ty) => {
            impl Square for $element {
                const SIDE: usize = 1;

                #[inline(always)]
                fn transpose(at: Ends<Self>, _: isize, _: isize) {
                    at.copy_one();
                }
            }
        };
    }

    square!(u8);
    square!(u16);
    square!(u32);
    square!(u64);
}
