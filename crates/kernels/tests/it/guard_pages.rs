//! Buffers between pages without access (guard pages): a load or store outside of one ends the
//! process.
//!
//! Each kernel runs on memories that begin at the first byte of a page, or end at the last, for
//! many lengths and all alignments that this gives.
#![cfg(unix)]
#![allow(unsafe_code, reason = "maps pages and calls the raw loops")]

use crate::common::{alike, combinations, elements, naive};
use pantile_geometry::{IndexSet, Slab};
use pantile_kernels::lanes::{LoopProgram, RawSource, RawTarget, Scratch, map_raw};
use pantile_kernels::{Combination, DType, Layout, Nest, Scalar, Vectors, pack};
use pantile_lanes::{BinaryOp, LaneOp, LoopBody};
use pantile_testkit::Rng;

/// Pages of memory between two that may not be touched.
struct GuardedPages {
    start: *mut u8,
    len: usize,
    page: usize,
}

impl GuardedPages {
    fn new(len: usize) -> Self {
        // SAFETY: asks for a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let len = len.next_multiple_of(page);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let all = len + 2 * page;
        // SAFETY: a new mapping, at no particular place.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), all, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        let start = base.cast::<u8>().wrapping_add(page);
        // SAFETY: the pages between the first and the last of the mapping.
        let done = unsafe { libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(done, 0);
        Self { start, len, page }
    }

    /// Memory of these bytes, at the end or the beginning of the pages.
    fn put(&mut self, bytes: &[u8], at_end: bool) -> *mut u8 {
        let at = if at_end { self.len - bytes.len() } else { 0 };
        // SAFETY: the pages may be written, and no slice of them lives.
        let memory = unsafe { std::slice::from_raw_parts_mut(self.start, self.len) };
        memory[at..at + bytes.len()].copy_from_slice(bytes);
        memory[at..].as_mut_ptr()
    }
}

impl Drop for GuardedPages {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, which is not used any more.
        unsafe { libc::munmap(self.start.sub(self.page).cast(), self.len + 2 * self.page) };
    }
}

/// `rows` runs of `width` at distance `pitch`, the first at offset 0, the last up to the end.
fn rows(rows: usize, width: usize, pitch: usize) -> Layout {
    let axes = [IndexSet::range(0, rows), IndexSet::range(0, width)];
    let axes = axes.iter().map(|set| set.indices().clone()).collect();
    Layout::of(&Slab { axes }, &[rows, pitch]).unwrap()
}

/// Pairs of layouts that begin at 0 and use the last element of their span.
fn layouts() -> Vec<[Layout; 2]> {
    let lengths = (1..40).chain([63, 64, 65, 127, 128, 129, 255, 257, 511, 600, 1025, 2100]);
    let mut all: Vec<[Layout; 2]> =
        lengths.map(|len| [Layout::dense(0, len), Layout::dense(0, len)]).collect();
    for width in [1, 2, 3, 4, 5, 7, 8, 9, 17, 33, 300, 1100] {
        all.push([rows(5, width, width + 3), Layout::dense(0, 5 * width)]);
        all.push([Layout::dense(0, 5 * width), rows(5, width, width + 1)]);
        all.push([rows(5, width, width + 2), rows(5, width, width + 5)]);
    }
    let squares = IndexSet::from_list((0..12).map(|at| at * at).collect());
    let list = Layout::of(&Slab { axes: vec![squares.indices().clone()] }, &[122]).unwrap();
    all.push([list.clone(), Layout::dense(0, 12)]);
    all.push([Layout::dense(0, 12), list]);
    all
}

const ENDS: [[bool; 2]; 4] = [[true, true], [true, false], [false, true], [false, false]];

/// Four pages of memory and more for every test layout.
const ROOM: usize = 6000 * 16;

#[test]
fn copies_stay_inside() {
    let (mut from, mut into) = (GuardedPages::new(ROOM), GuardedPages::new(ROOM));
    let mut rng = Rng::new(1);
    for [source, target] in layouts() {
        let nest = Nest::joint(&source, &target).unwrap();
        for size in [1, 2, 4, 8, 16] {
            let data = elements(&mut rng, DType::U8, source.span() * size);
            let old = elements(&mut rng, DType::U8, target.span() * size);
            for ([from_end, into_end], streaming) in ENDS.into_iter().zip([true, false, true, true])
            {
                let (source, target) = (from.put(&data, from_end), into.put(&old, into_end));
                // SAFETY: both memories have the spans of the nest, and no other code uses them.
                unsafe { pack::copy(&nest, size, source, target, streaming) };
                let mut want = old.clone();
                pack::copy_bytes(&nest, size, &data, &mut want, false).unwrap();
                // SAFETY: the target has so many bytes.
                assert!(unsafe { std::slice::from_raw_parts(target, want.len()) } == want);
            }
        }
    }
}

#[test]
fn combining_stays_inside() {
    let (mut from, mut into) = (GuardedPages::new(ROOM), GuardedPages::new(ROOM));
    let mut rng = Rng::new(2);
    for (at, [source, target]) in layouts().into_iter().enumerate() {
        let nest = Nest::joint(&source, &target).unwrap();
        for (dtype, operator) in combinations().into_iter().skip(at % 3).step_by(3) {
            let how = Combination::new(dtype, operator).unwrap();
            let data = elements(&mut rng, dtype, source.span());
            let old = elements(&mut rng, dtype, target.span());
            let [from_end, into_end] = ENDS[rng.below(4)];
            let (source, target) = (from.put(&data, from_end), into.put(&old, into_end));
            // SAFETY: both memories have the spans of the nest and elements of the type.
            unsafe { pack::combine(&nest, how, source, target) };
            let mut want = old;
            pack::combine_bytes(&nest, how, &data, &mut want).unwrap();
            // SAFETY: the target has so many bytes.
            let got = unsafe { std::slice::from_raw_parts(target, want.len()) };
            assert!(alike(dtype, got, &want), "{how:?}");
        }
    }
}

#[test]
fn two_sources_stay_inside() {
    let mut memories = [GuardedPages::new(ROOM), GuardedPages::new(ROOM), GuardedPages::new(ROOM)];
    let mut rng = Rng::new(3);
    for (at, [source, target]) in layouts().into_iter().enumerate() {
        let dense = Layout::dense(0, source.len());
        let nests = [&source, &dense].map(|side| Nest::joint(side, &target).unwrap());
        for (dtype, operator) in combinations().into_iter().skip(at % 3).step_by(3) {
            let how = Combination::new(dtype, operator).unwrap();
            let data = [&source, &dense].map(|side| elements(&mut rng, dtype, side.span()));
            let old = elements(&mut rng, dtype, target.span());
            let ends = ENDS[rng.below(4)];
            let (one, other) =
                (memories[0].put(&data[0], ends[0]), memories[1].put(&data[1], ends[1]));
            let into = memories[2].put(&old, rng.chance(1, 2));
            let twin = pack::Twin::new(&nests[0], &nests[1]);
            // SAFETY: the memories have the spans of the nests and elements of the type.
            unsafe { pack::combine_two(&twin, how, [one, other], into, rng.chance(2, 3)) };
            let size = dtype.bytes();
            let first = |data: &[u8]| data[..size].to_vec();
            let want = naive(dtype, operator, &first(&data[0]), &first(&data[1]));
            // SAFETY: the target has at least one element.
            let got = unsafe { std::slice::from_raw_parts(into, size) };
            assert!(alike(dtype, got, &want), "{how:?}");
        }
    }
}

#[test]
fn filling_stays_inside() {
    let mut into = GuardedPages::new(ROOM);
    for [source, target] in layouts() {
        for dtype in [DType::U8, DType::I16, DType::F32, DType::F64, DType::C128] {
            let value = pantile_kernels::identity(dtype, pantile_geometry::Operator::Prod).unwrap();
            for (layout, at_end) in [(&source, true), (&target, false), (&target, true)] {
                let target = into.put(&vec![7; layout.span() * dtype.bytes()], at_end);
                // SAFETY: the memory has the span of the layout.
                unsafe { pack::fill(&Nest::over(layout), &value, target) };
                // SAFETY: the target has at least one element.
                let got = unsafe { std::slice::from_raw_parts(target, dtype.bytes()) };
                assert_eq!(Scalar::from_bytes(dtype, got), Some(value));
            }
        }
    }
}

/// Bytecode reads and writes whole vectors, but for what is left of a row.
#[test]
fn loop_bodies_stay_inside() {
    let mut memory: [GuardedPages; 3] = std::array::from_fn(|_| GuardedPages::new(1 << 16));
    for dtype in [DType::F64, DType::F32, DType::U64] {
        let mut body = LoopBody::new();
        let (x, y) = (body.input(dtype).unwrap(), body.input(dtype).unwrap());
        let sum = body.push(LaneOp::Binary(BinaryOp::Add, x, y)).unwrap();
        let less = body.push(LaneOp::Binary(BinaryOp::Lt, x, y)).unwrap();
        let most = body.push(LaneOp::Select(less, y, sum)).unwrap();
        body.output(most);
        for vectors in Vectors::all() {
            let program = LoopProgram::compile_for(&body, vectors).unwrap();
            for count in (1..140).chain([255, 256, 257, 511, 513, 2047, 2049]) {
                for at_end in [false, true] {
                    let bytes = count * dtype.bytes();
                    let zeros = vec![0; bytes];
                    let [x, y, to] = memory.each_mut().map(|pages| pages.put(&zeros, at_end));
                    let sources = [x, y].map(|start| RawSource::Memory {
                        start: start.cast_const(),
                        bytes,
                        offset: 0,
                        strides: &[1],
                    });
                    let target = RawTarget { start: to, bytes, offset: 0, strides: &[1] };
                    let mut scratch = Scratch::new();
                    // SAFETY: the memories are apart and as long as they say.
                    unsafe { map_raw(&program, &[count], &sources, &[target], &mut scratch) }
                        .unwrap();
                }
            }
        }
    }
}
