//! Programs that compute nothing: elements go from one memory to another.

use pantile_lanes::DType;
use smallvec::SmallVec;

use super::{RawSource, RawTarget, Store};
use crate::lanes::walk::DomainWalk;
use crate::pack::{Spread, copy_box, worth_streaming};

impl Store<'_> {
    /// Copies boxes if that is all that the program does, and no other operand has the bytes of its
    /// targets; false if it is not, and nothing was done. The loops are not yet arranged.
    pub(super) fn move_boxes(&self, shape: &[usize], walk: &DomainWalk) -> bool {
        let (program, targets) = (self.program(), self.targets());
        // Bools have to be made of bytes, so they are not only moved.
        let moves = program.instructions.is_empty()
            && program.outputs().iter().all(|dtype| *dtype != DType::Bool)
            && (0..targets.len()).all(|target| source_of(self, target).is_some());
        if !moves {
            return false;
        }
        if let ([_, _], Some(pair)) = (targets, LanePair::of(self)) {
            let alone = (0..2).all(|target| self.alone(walk, target, |other| other < 2));
            if alone {
                pair.copy(shape, program.outputs()[0].bytes());
            }
            return alone;
        }
        if !(0..targets.len()).all(|target| self.alone(walk, target, |_| true)) {
            return false;
        }
        for (index, target) in targets.iter().enumerate() {
            let Some(source) = source_of(self, index) else { continue };
            copy(shape, program.outputs()[index].bytes(), source, *target);
        }
        true
    }
}

/// Elements of a source: the first byte, and where they lie.
type CopySource<'a> = (*const u8, Spread<'a>);

/// The memory that an output is copied from.
fn source_of<'a>(store: &Store<'a>, output: usize) -> Option<CopySource<'a>> {
    let origin = *store.program().origins.get(output)?;
    // Also as numbers of another type bools are 0 or 1, whatever their bytes.
    store.program().inputs().get(origin).filter(|dtype| **dtype != DType::Bool)?;
    match store.sources().get(origin)? {
        RawSource::Memory { start, offset, strides, .. } => {
            Some((*start, Spread { offset: *offset, strides }))
        }
        RawSource::Index { .. } | RawSource::Scalar(_) => None,
    }
}

/// Copies a box between operands that were compared with their bytes, and found to be apart.
fn copy(shape: &[usize], bytes: usize, source: CopySource<'_>, target: RawTarget<'_>) {
    let into = Spread { offset: target.offset, strides: target.strides };
    let streaming = worth_streaming(shape.iter().product::<usize>() * bytes);
    // SAFETY: R1, R2, R3; `Store::new` has compared both, and `Store::alone` their addresses.
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
        let (sources, targets) = ([source_of(store, 0)?, source_of(store, 1)?], store.targets());
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
            && store.program().outputs()[0] == store.program().outputs()[1]
            && halves(sources[0].1, sources[1].1)
            && halves(spread(&targets[0]), spread(&targets[1]));
        same.then_some(Self { source: sources[0], target: targets[0] })
    }

    /// Copies both lanes as one element.
    fn copy(&self, shape: &[usize], bytes: usize) {
        let half = |strides: &[isize]| -> SmallVec<[isize; 8]> {
            strides.iter().map(|stride| stride / 2).collect()
        };
        let (start, from) = self.source;
        let (strides, into) = (half(from.strides), half(self.target.strides));
        let source = (start, Spread { offset: from.offset / 2, strides: &strides });
        let target = RawTarget { offset: self.target.offset / 2, strides: &into, ..self.target };
        copy(shape, 2 * bytes, source, target);
    }
}
