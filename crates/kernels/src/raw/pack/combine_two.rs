//! Combining two sources into a new target, in one pass.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use bytemuck::Pod;

use crate::combine::{Apply, Combination, Visitor};
use crate::nest::{Level, LoopNest, Nest, StridedLoop};
use crate::pack::simd::{TileLoop, dispatch};
use crate::pack::stream;

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
/// Promises 1 to 5 of [`pack`](crate::pack), for each nest with its source and the target, and
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
    // SAFETY: R1, R2, R3, R6; promised by the caller, and the copy initialises what is combined into.
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

/// The arguments of [`combine_two`], for which the same holds.
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
                let at = At { first, second, target }.add(start);
                dispatch(TwoTile { rows, run, at, streaming, operation });
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
///
/// Invariant: R1, R2 and R6 hold for the cells that the loops have from here on.
#[derive(Clone, Copy)]
struct At<T> {
    first: *const T,
    second: *const T,
    target: *mut T,
}

/// A tile of three memories.
struct TwoTile<T, O> {
    rows: (usize, Three),
    run: (usize, Three),
    at: At<T>,
    streaming: bool,
    operation: PhantomData<O>,
}

impl<T: Pod, O: Apply<T>> TileLoop for TwoTile<T, O> {
    #[inline(always)]
    fn run(self) {
        let (count, strides) = self.run;
        let (rows, row) = self.rows;
        let stream = self.streaming && count * size_of::<T>() >= stream::RUN_BYTES_MIN;
        for index in 0..rows {
            let at = self.at.add(row.map(|stride| index * stride));
            match strides {
                [1, 1, 1] if stream => stream_run::<T, O>(at, count),
                [1, 1, 1] => combine_run::<T, O>(at, count, [1, 1, 1]),
                _ => combine_run::<T, O>(at, count, strides),
            }
        }
    }
}

impl<T: Pod> At<T> {
    /// So many elements further in each memory.
    #[inline(always)]
    fn add(self, [first, second, target]: Three) -> Self {
        // SAFETY: R2; offsets are those of two nests, whose spans the entry compares with all sides.
        unsafe {
            let (first, second) = (self.first.add(first), self.second.add(second));
            Self { first, second, target: self.target.add(target) }
        }
    }

    /// Makes the target what an operation gives of both sources.
    #[inline(always)]
    fn combine_one<O: Apply<T>>(self) {
        // SAFETY: R1, R2, R6; the element is one of both nests.
        unsafe {
            let value = O::apply(self.first.read_unaligned(), self.second.read_unaligned());
            self.target.write_unaligned(value);
        }
    }
}

/// Combines `count` cells at these strides.
#[inline(always)]
fn combine_run<T: Pod, O: Apply<T>>(at: At<T>, count: usize, strides: Three) {
    for index in 0..count {
        at.add(strides.map(|stride| index * stride)).combine_one::<O>();
    }
}

/// Bytes that are combined before they are written with non-temporal stores.
pub(crate) const CHUNK: usize = 1024;

#[repr(align(64))]
struct Chunk([MaybeUninit<u8>; CHUNK]);

/// Combines a run of `count` cells without gaps, and writes it with non-temporal stores.
#[inline(always)]
fn stream_run<T: Pod, O: Apply<T>>(at: At<T>, count: usize) {
    let chunk = CHUNK / size_of::<T>();
    // A target that no whole number of elements leads to a line from is written as usual.
    let head = at.target.cast::<u8>().align_offset(stream::LINE);
    let whole = head.is_multiple_of(size_of::<T>());
    let head = if whole { (head / size_of::<T>()).min(count) } else { count };
    let body = (count - head) / chunk * chunk;
    let mut buffer = Chunk([MaybeUninit::uninit(); CHUNK]);
    let target = buffer.0.as_mut_ptr().cast::<T>();
    combine_run::<T, O>(at, head, [1; 3]);
    for index in (head..head + body).step_by(chunk) {
        let cells = at.add([index; 3]);
        combine_run::<T, O>(At { target, ..cells }, chunk, [1; 3]);
        // SAFETY: R1, R2, R4; the buffer is a chunk of whole lines, and `copy_lines` refuses a target that is
        // not aligned.
        unsafe { stream::copy_lines(target.cast(), cells.target.cast(), CHUNK) };
    }
    combine_run::<T, O>(at.add([head + body; 3]), count - head - body, [1; 3]);
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
