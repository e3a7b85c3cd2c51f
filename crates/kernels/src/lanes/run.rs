//! Running a program over a domain, through pointers.

#![allow(unsafe_code, reason = "works through pointers; see the promises of the parent module")]

use std::ops::Range;

use super::feed::{
    RawSource, add_sources, check_sources, counted, element, fill_scalars, inside, load,
};
use super::kernel::{CHUNK, Slot};
use super::load::{Strided, transfer};
use super::program::Program;
use super::scratch::{Frame, Scratch};
use super::walk::Walk;
use crate::Error;

/// Where an output of a program goes, through a pointer; see [`Target`](super::Target).
#[derive(Clone, Copy, Debug)]
pub struct RawTarget<'a> {
    /// The first byte.
    pub start: *mut u8,
    /// How many bytes there are.
    pub bytes: usize,
    /// The element at position 0, counted in lanes.
    pub offset: isize,
    /// Lanes from one position to the next, per axis of the domain.
    pub strides: &'a [isize],
}

/// Runs a program for every element of a domain of this shape.
///
/// # Errors
/// If sources or targets are not as many as inputs and outputs, have other types or numbers of
/// axes, or reach beyond their bytes. Nothing was written then.
///
/// # Safety
/// Promises 1 and 2 of [this module](super).
pub unsafe fn map_raw(
    program: &Program,
    shape: &[usize],
    sources: &[RawSource<'_>],
    targets: &[RawTarget<'_>],
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let walk = &mut scratch.walk;
    add_sources(program, shape, sources, walk)?;
    counted("targets", targets.len(), program.outputs().len())?;
    for target in targets {
        walk.operand(target.offset as i64, target.strides.iter().map(|step| *step as i64), true)?;
    }
    if shape.contains(&0) {
        return Ok(());
    }
    check_sources(program, sources, walk)?;
    for (index, (target, dtype)) in targets.iter().zip(program.outputs()).enumerate() {
        inside(walk.reach(sources.len() + index), target.bytes, *dtype)?;
    }
    let store = Store { program, sources, targets };
    // SAFETY: promises 1 and 2; that elements lie inside of their bytes was just checked.
    unsafe { each_block(program, sources, scratch, &store) };
    Ok(())
}

/// Computes all blocks of a domain that is not empty.
///
/// # Safety
/// Promises 1 and 2 of the parent module; sources and targets were checked.
unsafe fn each_block(
    program: &Program,
    sources: &[RawSource<'_>],
    scratch: &mut Scratch,
    store: &Store<'_>,
) {
    let Scratch { walk, frame, .. } = scratch;
    walk.arrange();
    frame.prepare(program);
    fill_scalars(program, sources, frame);
    store.choose_direct(walk, frame);
    let (row, longest) = (walk.row(), program.block());
    loop {
        for first in (0..row).step_by(longest) {
            let block = (first, longest.min(row - first));
            store.before(walk, frame, first);
            // SAFETY: the caller's promises. Slots are blocks of our own, sources that were
            // checked, or targets that overlap no source and no other target.
            unsafe {
                load(program, sources, walk, frame, block);
                program.run(&frame.slots, block.1);
                program.copy(&frame.slots, block.1);
                store.after(walk, frame, block);
            }
        }
        if !walk.advance() {
            return;
        }
    }
}

/// Brings outputs to their targets.
struct Store<'a> {
    program: &'a Program,
    sources: &'a [RawSource<'a>],
    targets: &'a [RawTarget<'a>],
}

impl Store<'_> {
    /// Finds the targets that may be written where they are: nobody else has their bytes.
    fn choose_direct(&self, walk: &Walk, frame: &mut Frame) {
        for index in 0..self.targets.len() {
            let operand = self.sources.len() + index;
            let alone = (0..operand + self.targets.len() - index)
                .filter(|other| *other != operand)
                .all(|other| apart(&self.bytes(walk, operand), &self.bytes(walk, other)));
            frame.direct[index] = walk.stride(operand) == 1 && alone;
        }
    }

    /// Brings the slots of such targets to a block.
    fn before(&self, walk: &Walk, frame: &mut Frame, first: usize) {
        for (index, target) in self.targets.iter().enumerate() {
            let operand = self.sources.len() + index;
            if frame.direct[index] {
                let (place, _) = walk.offsets(operand, first);
                let start = element(target.start, place, self.program.outputs()[index]);
                frame.slots[operand] = Slot { start, step: CHUNK };
            }
        }
    }

    /// Brings a block to the other targets.
    ///
    /// # Safety
    /// Promises 1 and 2 of the parent module; targets were checked and the block computed.
    unsafe fn after(&self, walk: &Walk, frame: &Frame, (first, count): (usize, usize)) {
        for (index, (target, dtype)) in self.targets.iter().zip(self.program.outputs()).enumerate()
        {
            let operand = self.sources.len() + index;
            if frame.direct[index] {
                continue;
            }
            let (place, stride) = walk.offsets(operand, first);
            let to = Strided { start: element(target.start, place, *dtype), stride };
            let from = Strided { start: frame.slots[operand].start, stride: 1 };
            // SAFETY: the elements lie inside of the target, which was checked; the block is ours.
            unsafe { transfer(*dtype, [from, to], count, self.program.vectors()) };
        }
    }

    /// The addresses that an operand reaches; none if it is no memory.
    fn bytes(&self, walk: &Walk, operand: usize) -> Range<i128> {
        let (start, dtype) = match self.sources.get(operand) {
            Some(RawSource::Memory { start, .. }) => (*start, self.program.inputs()[operand]),
            Some(_) => return 0..0,
            None => {
                let index = operand - self.sources.len();
                (self.targets[index].start.cast_const(), self.program.outputs()[index])
            }
        };
        let (lowest, highest) = walk.reach(operand);
        let bytes = dtype.bytes() as i128;
        let start = start.addr() as i128;
        start + lowest * bytes..start + (highest + 1) * bytes
    }
}

fn apart(one: &Range<i128>, other: &Range<i128>) -> bool {
    one.end <= other.start || other.end <= one.start
}
