//! Combining two sources into a new target, in one pass.

#![allow(unsafe_code, reason = "works through pointers; see the promises of the parent module")]

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use bytemuck::Pod;

use super::simd::{TileLoop, dispatch};
use super::stream;
use crate::combine::{Apply, Combination, Visitor};
use crate::nest::{Level, LoopNest, Nest, StridedLoop};

/// Two nests that take two sources to the same target offsets, compiled to be run in one pass.
///
/// It is one pass where the loops of both agree, which they do if the two target layouts are equal
/// and no lists are needed; otherwise a copy and a combination.
#[derive(Clone, Debug)]
pub struct Twin {
    nests: [Nest; 2],
    loops: Option<Vec<Loops>>,
}

impl Twin {
    /// The two nests as one.
    #[must_use]
    pub fn new(first: &Nest, second: &Nest) -> Self {
        Self { loops: zip([first, second]), nests: [first.clone(), second.clone()] }
    }

    /// The two nests.
    #[must_use]
    pub fn nests(&self) -> &[Nest; 2] {
        &self.nests
    }
}

/// Writes `target = first op second`. With `streaming`, runs of 2 KiB and more are written with
/// non-temporal stores.
///
/// # Safety
/// Promises 1 to 5 of [this module](super), for each nest with its source and the target, and
/// elements of the combination's type; the target need not be initialised where the first nest
/// writes it.
pub unsafe fn combine_two(
    twin: &Twin,
    how: Combination,
    sources: [*const u8; 2],
    target: *mut u8,
    streaming: bool,
) {
    if let Some(loops) = &twin.loops {
        how.visit(CombineTwo { loops, sources, target, streaming });
        if streaming {
            stream::fence();
        }
        return;
    }
    // SAFETY: promises 1 to 5 are the caller's; the copy initialises what is combined into.
    unsafe {
        super::copy(&twin.nests[0], how.dtype().bytes(), sources[0], target, streaming);
        super::combine(&twin.nests[1], how, sources[1], target);
    }
}

/// An offset or a stride in the first source, the second source, and the target.
type Three = [usize; 3];

/// A nest of loops over three memories, outermost first; the last two are the tile.
#[derive(Clone, Debug)]
struct Loops {
    start: Three,
    levels: Vec<(usize, Three)>,
}

/// Both nests as one, if their targets and loops agree.
fn zip([first, second]: [&Nest; 2]) -> Option<Vec<Loops>> {
    let (first, second) = (first.loops(), second.loops());
    if first.len() != second.len() {
        return None;
    }
    first.iter().zip(second).map(|(one, other)| zip_loops(one, other)).collect()
}

fn zip_loops(first: &LoopNest, second: &LoopNest) -> Option<Loops> {
    let mut stacks = [dims(first)?, dims(second)?];
    let start = [first.start.source, second.start.source, first.start.target];
    let mut levels = Vec::new();
    // Nothing is popped from one unless the other has something too: what is left means that one
    // nest has more cells.
    while stacks.iter().all(|stack| !stack.is_empty()) {
        let (one, other) = (stacks[0].pop()?, stacks[1].pop()?);
        // The larger loop is split to the smaller one's count.
        let count = one.count.min(other.count);
        let one = split(one, count, &mut stacks[0])?;
        let other = split(other, count, &mut stacks[1])?;
        if one.target != other.target {
            return None;
        }
        levels.push((count, [one.source, other.source, one.target]));
    }
    let agree = first.start.target == second.start.target && stacks.iter().all(Vec::is_empty);
    agree.then_some(Loops { start, levels })
}

/// The levels of a nest without lists, innermost first.
fn dims(nest: &LoopNest) -> Option<Vec<StridedLoop>> {
    let dims = nest.levels.iter().rev().map(|level| match level {
        Level::Strided(dim) => Some(*dim),
        Level::Listed(_) => None,
    });
    dims.collect()
}

/// The outer `count` of a loop; what is inside goes back to the stack.
fn split(dim: StridedLoop, count: usize, stack: &mut Vec<StridedLoop>) -> Option<StridedLoop> {
    let inner = dim.count / count;
    if inner * count != dim.count {
        return None;
    }
    if inner > 1 {
        stack.push(StridedLoop { count: inner, ..dim });
    }
    Some(StridedLoop { count, source: dim.source * inner, target: dim.target * inner })
}

/// The arguments of [`combine_two`], whose promises they carry.
struct CombineTwo<'a> {
    loops: &'a [Loops],
    sources: [*const u8; 2],
    target: *mut u8,
    streaming: bool,
}

impl Visitor for CombineTwo<'_> {
    type Output = ();

    fn visit<T: Pod, O: Apply<T>>(self) {
        let operation = PhantomData::<O>;
        let [first, second] = self.sources.map(<*const u8>::cast::<T>);
        let (target, streaming) = (self.target.cast::<T>(), self.streaming);
        for nest in self.loops {
            let inner = nest.levels.len().saturating_sub(2);
            let (outer, tile) = nest.levels.split_at(inner);
            let (rows, run) = match tile {
                [] => ((1, [1; 3]), (1, [1; 3])),
                [run] => ((1, [1; 3]), *run),
                [rows, run, ..] => (*rows, *run),
            };
            walk(outer, nest.start, &mut |start| {
                // SAFETY: promises 1, 2 and 6: the tile lies inside of all memories.
                let at = unsafe { At { first, second, target }.add(start) };
                // SAFETY: promises 1 to 5 are the caller's.
                unsafe { dispatch(TwoTile { rows, run, at, streaming, operation }) };
            });
        }
    }
}

fn walk(levels: &[(usize, Three)], start: Three, visit: &mut dyn FnMut(Three)) {
    let Some(((count, strides), inner)) = levels.split_first() else { return visit(start) };
    for index in 0..*count {
        let next = [0, 1, 2].map(|side| start[side] + index * strides[side]);
        walk(inner, next, visit);
    }
}

/// A cell in three memories.
#[derive(Clone, Copy)]
struct At<T> {
    first: *const T,
    second: *const T,
    target: *mut T,
}

/// A tile of three memories. [`TileLoop::run`] asks for promises 1 to 5 for its cells.
struct TwoTile<T, O> {
    rows: (usize, Three),
    run: (usize, Three),
    at: At<T>,
    streaming: bool,
    operation: PhantomData<O>,
}

impl<T: Pod, O: Apply<T>> TileLoop for TwoTile<T, O> {
    #[inline(always)]
    unsafe fn run(self) {
        let (count, strides) = self.run;
        let (rows, row) = self.rows;
        let stream = self.streaming && count * size_of::<T>() >= stream::RUN_BYTES_MIN;
        for index in 0..rows {
            // SAFETY: promises 1, 2 and 6: the row is part of the tile.
            let at = unsafe { self.at.add(row.map(|stride| index * stride)) };
            match strides {
                // SAFETY: promises 1 to 5 are the caller's; the run has no gaps.
                [1, 1, 1] if stream => unsafe { stream_run::<T, O>(at, count) },
                // SAFETY: promises 1 to 5 are the caller's; so are the strides.
                [1, 1, 1] => unsafe { combine_run::<T, O>(at, count, [1, 1, 1]) },
                // SAFETY: the same.
                _ => unsafe { combine_run::<T, O>(at, count, strides) },
            }
        }
    }
}

impl<T> At<T> {
    /// # Safety
    /// The offsets lie inside of the memories, as promises 1, 2 and 6 say.
    #[inline(always)]
    unsafe fn add(self, [first, second, target]: Three) -> Self {
        // SAFETY: the caller's.
        unsafe {
            let (first, second) = (self.first.add(first), self.second.add(second));
            Self { first, second, target: self.target.add(target) }
        }
    }
}

/// # Safety
/// Promises 1 to 5, for `count` cells at these strides.
#[inline(always)]
unsafe fn combine_run<T: Pod, O: Apply<T>>(at: At<T>, count: usize, strides: Three) {
    for index in 0..count {
        // SAFETY: promises 1 to 6: the cell is part of the run.
        unsafe {
            let cell = at.add(strides.map(|stride| index * stride));
            let value = O::apply(cell.first.read_unaligned(), cell.second.read_unaligned());
            cell.target.write_unaligned(value);
        }
    }
}

/// Bytes that are combined before they are written with non-temporal stores.
pub(super) const CHUNK: usize = 1024;

#[repr(align(64))]
struct Chunk([MaybeUninit<u8>; CHUNK]);

/// Combines a run and writes it with non-temporal stores.
///
/// # Safety
/// Promises 1 to 5, for `count` cells without gaps.
#[inline(always)]
unsafe fn stream_run<T: Pod, O: Apply<T>>(at: At<T>, count: usize) {
    let chunk = CHUNK / size_of::<T>();
    // A target that no whole number of elements leads to a line from is written as usual.
    let head = at.target.cast::<u8>().align_offset(stream::LINE);
    let whole = head.is_multiple_of(size_of::<T>());
    let head = if whole { (head / size_of::<T>()).min(count) } else { count };
    let body = (count - head) / chunk * chunk;
    let mut buffer = Chunk([MaybeUninit::uninit(); CHUNK]);
    let target = buffer.0.as_mut_ptr().cast::<T>();
    // SAFETY: promises 1 to 5, for the first cells of the run.
    unsafe { combine_run::<T, O>(at, head, [1; 3]) };
    for index in (head..head + body).step_by(chunk) {
        // SAFETY: promises 1 to 5, for `chunk` cells that the buffer has room for; the target of
        // the first is aligned to a line, and so are all, as a chunk is whole lines.
        unsafe {
            let cells = at.add([index; 3]);
            combine_run::<T, O>(At { target, ..cells }, chunk, [1; 3]);
            stream::copy_lines(target.cast(), cells.target.cast(), CHUNK);
        }
    }
    // SAFETY: promises 1 to 5, for the last cells of the run.
    unsafe { combine_run::<T, O>(at.add([head + body; 3]), count - head - body, [1; 3]) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    #[test]
    fn nests_of_unequal_length_are_not_one_pass() {
        let nest = |len| Nest::joint(&Layout::dense(0, len), &Layout::dense(1, len)).unwrap();
        let one_pass = |one: usize, other: usize| zip([&nest(one), &nest(other)]).is_some();
        assert!(one_pass(1, 1) && one_pass(4, 4));
        assert!(!one_pass(1, 4) && !one_pass(4, 1) && !one_pass(2, 4) && !one_pass(4, 2));
    }
}
