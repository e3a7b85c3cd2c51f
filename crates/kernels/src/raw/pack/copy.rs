//! Copying elements.

use super::Ends;
use crate::nest::Nest;
use crate::pack::stream;
use crate::pack::walk::{NestPart, RunTile, tiles_of};

/// Runs of at most this many bytes are copied in place; longer ones by the system's routine.
pub(crate) const SHORT_BYTES_MAX: usize = 256;

/// Copies every element of the nest's source to its target.
///
/// With `streaming`, runs of 2 KiB and more are written with non-temporal stores; see
/// [`worth_streaming`](crate::pack::worth_streaming).
///
/// # Safety
/// Promises 1 to 4 of [`pack`](crate::pack), for elements of `element_bytes` bytes.
///
/// # Panics
/// If no element has so many bytes (1, 2, 4, 8 or 16).
pub unsafe fn copy(
    nest: &Nest,
    element_bytes: usize,
    source: *const u8,
    target: *mut u8,
    streaming: bool,
) {
    // SAFETY: R1, R2, R3; promised by the caller, which has compared both sides with the nest's spans.
    unsafe { copy_part(nest, NestPart::ALL, element_bytes, (source, target), streaming) }
}

/// Copies the elements of one part of a nest; see [`copy`]. Several threads may copy one each.
///
/// # Safety
/// As of [`copy`].
///
/// # Panics
/// As of [`copy`].
pub unsafe fn copy_part(
    nest: &Nest,
    part: NestPart,
    element_bytes: usize,
    (source, target): (*const u8, *mut u8),
    streaming: bool,
) {
    let copy_as = match element_bytes {
        1 => copy_elements::<u8>,
        2 => copy_elements::<u16>,
        4 => copy_elements::<u32>,
        8 => copy_elements::<u64>,
        16 => copy_elements::<[u64; 2]>,
        other => panic!("got elements of {other} bytes, expected 1, 2, 4, 8 or 16"),
    };
    // SAFETY: R1, R2, R3; promised by the caller, which has compared both sides with the nest's spans.
    let ends = unsafe { Ends::new(source, target) };
    copy_as((nest, part), ends, streaming);
}

fn copy_elements<T: Copy>((nest, part): (&Nest, NestPart), ends: Ends<u8>, streaming: bool) {
    let ends = ends.cast::<T>();
    tiles_of(nest, part, |start, tile| {
        copy_tile(tile, ends.add(start.source, start.target), streaming);
    });
    if streaming {
        stream::fence();
    }
}

/// Copies the cells of a tile.
pub(super) fn copy_tile<T: Copy>(tile: &RunTile<'_>, at: Ends<T>, streaming: bool) {
    let run = tile.run;
    let bytes = run.count * size_of::<T>();
    let copy: fn(&RunTile<'_>, Ends<T>) = match (run.source, run.target, run.count) {
        (1, 1, _) if streaming && bytes >= stream::RUN_BYTES_MIN => stream_runs,
        (1, 1, 1) => copy_fixed::<T, 1>,
        (1, 1, 2) => copy_fixed::<T, 2>,
        (1, 1, 3) => copy_fixed::<T, 3>,
        (1, 1, 4) => copy_fixed::<T, 4>,
        (1, 1, _) if bytes < size_of::<ShortBlock>() => copy_strided::<T, true, true>,
        (1, 1, _) if bytes <= SHORT_BYTES_MAX => copy_short,
        (1, 1, _) => copy_long,
        (1, _, _) => copy_strided::<T, true, false>,
        (_, 1, _) => copy_strided::<T, false, true>,
        _ => copy_strided::<T, false, false>,
    };
    copy(tile, at);
}

/// Runs of a length that the compiler knows, without gaps.
fn copy_fixed<T: Copy, const WIDTH: usize>(tile: &RunTile<'_>, at: Ends<T>) {
    tile.rows.each(|source, target| at.add(source, target).copy_block::<[T; WIDTH]>(0));
}

/// What short runs are copied by.
type ShortBlock = [u64; 2];

/// Runs of a few vectors without gaps, of at least a block, without a call.
fn copy_short<T: Copy>(tile: &RunTile<'_>, at: Ends<T>) {
    let bytes = tile.run.count * size_of::<T>();
    assert!(bytes >= size_of::<ShortBlock>(), "shorter runs are copied element by element");
    let last = bytes - size_of::<ShortBlock>();
    tile.rows.each(|source, target| {
        let row = at.add(source, target);
        // The last block may overlap the one before it: it writes the same bytes again.
        for offset in (0..last).step_by(size_of::<ShortBlock>()) {
            row.copy_block::<ShortBlock>(offset);
        }
        row.copy_block::<ShortBlock>(last);
    });
}

/// Long runs without gaps, by the system's routine.
fn copy_long<T: Copy>(tile: &RunTile<'_>, at: Ends<T>) {
    let bytes = tile.run.count * size_of::<T>();
    tile.rows.each(|source, target| at.add(source, target).copy_bytes(bytes));
}

/// Long runs without gaps, written with non-temporal stores, each while the beginning of the next one is
/// on its way. They follow each other: if runs alternated, loads would wait for stores at the same place
/// of another page.
fn stream_runs<T: Copy>(tile: &RunTile<'_>, at: Ends<T>) {
    let bytes = tile.run.count * size_of::<T>();
    let mut waits: Option<Ends<T>> = None;
    tile.rows.each(|source, target| {
        let row = at.add(source, target);
        stream::prefetch_run(row.source().cast(), bytes);
        if let Some(before) = waits.replace(row) {
            before.stream_bytes(bytes);
        }
    });
    if let Some(last) = waits {
        last.stream_bytes(bytes);
    }
}

/// Elements one by one, at fixed distances, of which some are known to be 1: a side is `true` only if its
/// stride is 1.
fn copy_strided<T: Copy, const SOURCE: bool, const TARGET: bool>(tile: &RunTile<'_>, at: Ends<T>) {
    let from = if SOURCE { 1 } else { tile.run.source };
    let into = if TARGET { 1 } else { tile.run.target };
    tile.rows.each(|source, target| {
        for index in 0..tile.run.count {
            at.add(source + index * from, target + index * into).copy_one();
        }
    });
}
