//! Copying elements.

#![allow(unsafe_code, reason = "copies through pointers; see the promises of the parent module")]

use super::stream;
use super::walk::{NestPart, RunTile, tiles_of};
use crate::nest::Nest;

/// Runs of at most this many bytes are copied in place; longer ones by the system's routine.
pub(super) const SHORT_BYTES_MAX: usize = 256;

/// Copies every element of the nest's source to its target.
///
/// With `streaming`, runs of 2 KiB and more are written with non-temporal stores; see
/// [`worth_streaming`](super::worth_streaming).
///
/// # Safety
/// Promises 1 to 4 of [this module](super), for elements of `element_bytes` bytes.
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
    // SAFETY: promises 1 to 4 are the caller's.
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
    // SAFETY: promises 1 to 4 are the caller's.
    unsafe { copy_as((nest, part), source, target, streaming) }
}

/// # Safety
/// Promises 1 to 4, for elements of type `T`.
unsafe fn copy_elements<T: Copy>(
    (nest, part): (&Nest, NestPart),
    source: *const u8,
    target: *mut u8,
    streaming: bool,
) {
    let (source, target) = (source.cast::<T>(), target.cast::<T>());
    tiles_of(nest, part, |start, tile| {
        // SAFETY: promises 1 to 4 and 6: the tile lies inside of both memories.
        unsafe {
            let at = Ends { source: source.add(start.source), target: target.add(start.target) };
            copy_tile(tile, at, streaming);
        }
    });
    if streaming {
        stream::fence();
    }
}

/// Where the two sides of a tile start.
#[derive(Clone, Copy)]
pub(super) struct Ends<T> {
    pub(super) source: *const T,
    pub(super) target: *mut T,
}

impl<T> Ends<T> {
    /// # Safety
    /// Both offsets lie inside of the memories, as promises 1, 2 and 6 say.
    #[inline(always)]
    unsafe fn add(self, source: usize, target: usize) -> Self {
        // SAFETY: the caller's.
        unsafe { Self { source: self.source.add(source), target: self.target.add(target) } }
    }
}

/// # Safety
/// Promises 1 to 4, for the cells of the tile.
pub(super) unsafe fn copy_tile<T: Copy>(tile: &RunTile<'_>, at: Ends<T>, streaming: bool) {
    let run = tile.run;
    let bytes = run.count * size_of::<T>();
    let copy: unsafe fn(&RunTile<'_>, Ends<T>) = match (run.source, run.target, run.count) {
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
    // SAFETY: promises 1 to 4 are the caller's, and the runs are as the function asks for.
    unsafe { copy(tile, at) }
}

/// Runs of a length that the compiler knows.
///
/// # Safety
/// Promises 1 to 4, for the cells of the tile; its runs are `WIDTH` elements without gaps.
unsafe fn copy_fixed<T: Copy, const WIDTH: usize>(tile: &RunTile<'_>, at: Ends<T>) {
    tile.rows.each(|source, target| {
        // SAFETY: promises 1 to 4 and 6: the row is part of the tile.
        unsafe {
            let row = at.add(source, target);
            let run = row.source.cast::<[T; WIDTH]>().read_unaligned();
            row.target.cast::<[T; WIDTH]>().write_unaligned(run);
        }
    });
}

/// What short runs are copied by.
type ShortBlock = [u64; 2];

/// Runs of a few vectors, without a call.
///
/// # Safety
/// Promises 1 to 4, for the cells of the tile; its runs have no gaps and at least a block.
unsafe fn copy_short<T: Copy>(tile: &RunTile<'_>, at: Ends<T>) {
    let bytes = tile.run.count * size_of::<T>();
    assert!(bytes >= size_of::<ShortBlock>(), "shorter runs are copied element by element");
    let last = bytes - size_of::<ShortBlock>();
    tile.rows.each(|source, target| {
        // SAFETY: promises 1 to 4 and 6: the row is part of the tile.
        let row = unsafe { at.add(source, target) };
        let copy_block = |offset: usize| {
            // SAFETY: the block ends at most where the row does, as `offset <= last`.
            unsafe {
                let block = row.source.byte_add(offset).cast::<ShortBlock>().read_unaligned();
                row.target.byte_add(offset).cast::<ShortBlock>().write_unaligned(block);
            }
        };
        // The last block may overlap the one before it: it writes the same bytes again.
        (0..last).step_by(size_of::<ShortBlock>()).for_each(copy_block);
        copy_block(last);
    });
}

/// Long runs, by the system's routine.
///
/// # Safety
/// Promises 1 to 4, for the cells of the tile; its runs have no gaps.
unsafe fn copy_long<T: Copy>(tile: &RunTile<'_>, at: Ends<T>) {
    let bytes = tile.run.count * size_of::<T>();
    tile.rows.each(|source, target| {
        // SAFETY: promises 1 to 4 and 6: the row is part of the tile.
        unsafe {
            let row = at.add(source, target);
            row.source.cast::<u8>().copy_to_nonoverlapping(row.target.cast(), bytes);
        }
    });
}

/// Long runs, written with non-temporal stores, each while the beginning of the next one is on its
/// way. They follow each other: if runs alternated, loads would wait for stores at the same place
/// of another page.
///
/// # Safety
/// Promises 1 to 4, for the cells of the tile; its runs have no gaps.
unsafe fn stream_runs<T: Copy>(tile: &RunTile<'_>, at: Ends<T>) {
    let bytes = tile.run.count * size_of::<T>();
    let mut waits: Option<Ends<T>> = None;
    let copy = |row: Ends<T>| {
        // SAFETY: promises 1 to 4 and 6: the row is part of the tile.
        unsafe { stream::copy_run(row.source.cast(), row.target.cast(), bytes) }
    };
    tile.rows.each(|source, target| {
        // SAFETY: promises 1 to 4 and 6: the row is part of the tile.
        let row = unsafe { at.add(source, target) };
        stream::prefetch_run(row.source.cast(), bytes);
        if let Some(before) = waits.replace(row) {
            copy(before);
        }
    });
    if let Some(last) = waits {
        copy(last);
    }
}

/// Elements one by one, at fixed distances, of which some are known to be 1.
///
/// # Safety
/// Promises 1 to 4, for the cells of the tile; a side is `true` only if its stride is 1.
unsafe fn copy_strided<T: Copy, const SOURCE: bool, const TARGET: bool>(
    tile: &RunTile<'_>,
    at: Ends<T>,
) {
    let from = if SOURCE { 1 } else { tile.run.source };
    let into = if TARGET { 1 } else { tile.run.target };
    tile.rows.each(|source, target| {
        for index in 0..tile.run.count {
            // SAFETY: promises 1 to 4 and 6: the cell is part of the tile.
            unsafe {
                let cell = at.add(source + index * from, target + index * into);
                cell.target.write_unaligned(cell.source.read_unaligned());
            }
        }
    });
}
