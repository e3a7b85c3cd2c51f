//! Programs that compute nothing: elements go from one memory to another.

#![allow(unsafe_code, reason = "works through pointers; see the promises of the parent module")]

use pantile_lanes::DType;
use smallvec::SmallVec;

use super::operand_load::RawSource;
use super::run::{RawTarget, Store};
use super::walk::DomainWalk;
use crate::pack::{Spread, copy_box, worth_streaming};

/// Copies boxes if that is all that a program does, and no other operand has the bytes of its
/// targets; false if it is not, and nothing was done. The domain is not empty, and the loops are
/// not yet arranged.
///
/// # Safety
/// Promises 1 and 2 of the parent module; sources and targets were checked.
pub(super) unsafe fn move_boxes(shape: &[usize], store: &Store<'_>, walk: &DomainWalk) -> bool {
    let Store { program, targets, .. } = store;
    // Bools have to be made of bytes, so they are not only moved.
    let moves = program.instructions.is_empty()
        && program.outputs().iter().all(|dtype| *dtype != DType::Bool)
        && (0..targets.len()).all(|target| source_of(store, target).is_some());
    if !moves {
        return false;
    }
    if let ([_, _], Some(pair)) = (*targets, LanePair::of(store)) {
        let alone = (0..2).all(|target| store.alone(walk, target, |other| other < 2));
        if alone {
            // SAFETY: the caller's promises; source and target are apart.
            unsafe { pair.copy(shape, program.outputs()[0].bytes()) };
        }
        return alone;
    }
    if !(0..targets.len()).all(|target| store.alone(walk, target, |_| true)) {
        return false;
    }
    for (index, target) in targets.iter().enumerate() {
        let Some(source) = source_of(store, index) else { continue };
        let bytes = program.outputs()[index].bytes();
        // SAFETY: the caller's promises; the target is apart from every source.
        unsafe { copy(shape, bytes, source, *target) };
    }
    true
}

/// Elements of a source: the first byte, and where they lie.
type CopySource<'a> = (*const u8, Spread<'a>);

/// The memory that an output is copied from.
fn source_of<'a>(store: &Store<'a>, output: usize) -> Option<CopySource<'a>> {
    let origin = *store.program.origins.get(output)?;
    match store.sources.get(origin)? {
        RawSource::Memory { start, offset, strides, .. } => {
            Some((*start, Spread { offset: *offset, strides }))
        }
        RawSource::Index { .. } | RawSource::Scalar(_) => None,
    }
}

/// # Safety
/// The elements of the box may be read and written, and no byte is both.
unsafe fn copy(shape: &[usize], bytes: usize, source: CopySource<'_>, target: RawTarget<'_>) {
    let into = Spread { offset: target.offset, strides: target.strides };
    let streaming = worth_streaming(shape.iter().product::<usize>() * bytes);
    // SAFETY: the caller's.
    unsafe { copy_box(shape, bytes, source, (target.start, into), streaming) };
}

/// Two lanes that are the halves of wider elements on both sides.
struct LanePair<'a> {
    source: CopySource<'a>,
    target: RawTarget<'a>,
}

impl<'a> LanePair<'a> {
    /// The two lanes of a program as one.
    fn of(store: &Store<'a>) -> Option<Self> {
        let (sources, targets) = ([source_of(store, 0)?, source_of(store, 1)?], store.targets);
        let halves = |one: Spread<'_>, other: Spread<'_>| {
            one.offset + 1 == other.offset
                && one.offset % 2 == 0
                && one.strides == other.strides
                && one.strides.iter().all(|stride| stride % 2 == 0)
        };
        let spread =
            |target: &RawTarget<'a>| Spread { offset: target.offset, strides: target.strides };
        let same = sources[0].0 == sources[1].0
            && targets[0].start == targets[1].start
            && store.program.outputs()[0] == store.program.outputs()[1]
            && halves(sources[0].1, sources[1].1)
            && halves(spread(&targets[0]), spread(&targets[1]));
        same.then_some(Self { source: sources[0], target: targets[0] })
    }

    /// # Safety
    /// As [`copy`], for both lanes.
    unsafe fn copy(&self, shape: &[usize], bytes: usize) {
        let half = |strides: &[isize]| -> SmallVec<[isize; 8]> {
            strides.iter().map(|stride| stride / 2).collect()
        };
        let (start, from) = self.source;
        let (strides, into) = (half(from.strides), half(self.target.strides));
        let source = (start, Spread { offset: from.offset / 2, strides: &strides });
        let target = RawTarget { offset: self.target.offset / 2, strides: &into, ..self.target };
        // SAFETY: the caller's.
        unsafe { copy(shape, 2 * bytes, source, target) };
    }
}
