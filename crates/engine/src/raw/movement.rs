//! Loops of movements over two memories or three. Each compares what it reaches with both ends first.

use pantile_kernels::pack::{self, NestPart, Twin};
use pantile_kernels::{Combination, Nest, Scalar};

use super::MemorySpan;

/// Copies elements of so many bytes that lie side by side on both sides.
///
/// # Panics
/// If a side has fewer.
pub(crate) fn copy_run(source: MemorySpan, target: MemorySpan, elements: usize, bytes: usize) {
    let (from, to) = (source.holding(elements, bytes), target.holding(elements, bytes));
    // SAFETY: R3; `MemorySpan::holding` compares both sides, and messages are memory of their own.
    unsafe { std::ptr::copy_nonoverlapping(from, to, elements * bytes) }
}

/// Where a loop over a nest reads and writes.
fn ends(
    nest: &Nest,
    bytes: usize,
    (source, target): (MemorySpan, MemorySpan),
) -> (*const u8, *mut u8) {
    let source = source.holding(nest.source_span(), bytes).cast_const();
    (source, target.holding(nest.target_span(), bytes))
}

/// Copies a part of a nest, whose elements have so many bytes. Several threads may copy one each.
///
/// # Panics
/// If a side is too short.
pub(crate) fn copy_part(
    nest: &Nest,
    part: NestPart,
    bytes: usize,
    both: (MemorySpan, MemorySpan),
    streaming: bool,
) {
    let ends = ends(nest, bytes, both);
    // SAFETY: R3; `MemorySpan::holding` compares both sides, and parts have no cell in common.
    unsafe { pack::copy_part(nest, part, bytes, ends, streaming) }
}

/// Combines elements into a target.
///
/// # Panics
/// If a side is too short.
pub(crate) fn combine(nest: &Nest, how: Combination, source: MemorySpan, target: MemorySpan) {
    let (source, target) = ends(nest, how.dtype().bytes(), (source, target));
    // SAFETY: R1, R3; `MemorySpan::holding` compares both sides.
    unsafe { pack::combine(nest, how, source, target) }
}

/// Combines two sources into a target.
///
/// # Panics
/// If a side is too short.
pub(crate) fn combine_two(
    twin: &Twin,
    how: Combination,
    sources: [MemorySpan; 2],
    target: MemorySpan,
    streaming: bool,
) {
    let [first, second] = twin.nests();
    let bytes = how.dtype().bytes();
    let (one, _) = ends(first, bytes, (sources[0], target));
    let (other, target) = ends(second, bytes, (sources[1], target));
    // SAFETY: R1, R3; `MemorySpan::holding` compares both ends of both nests.
    unsafe { pack::combine_two(twin, how, [one, other], target, streaming) }
}

/// Fills the target cells of a nest.
///
/// # Panics
/// If the target is too short.
pub(crate) fn fill(nest: &Nest, value: &Scalar, target: MemorySpan) {
    let target = target.holding(nest.target_span(), value.dtype().bytes());
    // SAFETY: R3; `MemorySpan::holding` compares the target, and no thread reads what is written.
    unsafe { pack::fill(nest, value, target) }
}
