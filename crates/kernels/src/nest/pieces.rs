//! Pieces of two axes, cut where either side breaks and grouped where they are alike.

use std::collections::BTreeMap;

use super::joint::strided;
use super::{Dim, Level, Pair};
use crate::layout::{Axis, Piece};

/// At most this many kinds of pieces of several runs; beyond, all are cut into single runs.
const KINDS_MAX: usize = 16;

/// Pieces of a block that have the same loops inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) start: Pair,
    pub(super) levels: Vec<Level>,
}

/// `count` runs of `length` elements on both sides.
#[derive(Clone, Copy)]
struct Both {
    start: Pair,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    length: usize,
    count: usize,
    source: usize,
    target: usize,
}

/// One side of a block: its pieces one after the other, and the stride inside of runs.
struct Side {
    pieces: Vec<Piece>,
    stride: usize,
}

/// The loops over a block of axes that have equally many elements on both sides.
pub(super) fn groups([source, target]: &[Vec<Axis>; 2]) -> Vec<Group> {
    if let ([Axis::Plain(source)], [Axis::Plain(target)]) = (&source[..], &target[..]) {
        return vec![Group { start: Pair::default(), levels: vec![strided(*source, *target)] }];
    }
    let (source, target) = (Side::of(source), Side::of(target));
    let mut pieces = zip(&source, &target);
    let mut kinds = by_kind(&pieces);
    if kinds.len() > KINDS_MAX {
        pieces = pieces.iter().flat_map(Both::runs).collect();
        kinds = by_kind(&pieces);
    }
    let strides = [source.stride, target.stride];
    kinds.into_iter().map(|(kind, starts)| group(kind, starts, strides)).collect()
}

/// The loop over a block as one list of its elements.
pub(super) fn listed([source, target]: &[Vec<Axis>; 2]) -> Group {
    let (source, target) = (Side::of(source), Side::of(target));
    let runs = zip(&source, &target).into_iter().flat_map(|both| both.runs().collect::<Vec<_>>());
    let elements = runs.flat_map(|run| (0..run.kind.length).map(move |at| (run.start, at)));
    let pairs = elements.map(|(start, at)| Pair {
        source: start.source + at * source.stride,
        target: start.target + at * target.stride,
    });
    Group { start: Pair::default(), levels: vec![Level::Listed(pairs.collect())] }
}

impl Both {
    /// The single runs of this piece.
    fn runs(&self) -> impl Iterator<Item = Self> + use<> {
        let Self { start, kind } = *self;
        let single = Kind { count: 1, source: 0, target: 0, ..kind };
        (0..kind.count).map(move |at| {
            let source = start.source + at * kind.source;
            let target = start.target + at * kind.target;
            Self { start: Pair { source, target }, kind: single }
        })
    }
}

impl Side {
    /// The pieces of a product of axes: those of the inner one, for every offset of the others.
    fn of(axes: &[Axis]) -> Self {
        let Some((inner, outer)) = axes.split_last() else {
            return Self { pieces: Vec::new(), stride: 1 };
        };
        let (mut pieces, stride) = match inner {
            Axis::Plain(plain) => {
                (vec![Piece { start: 0, count: 1, step: 0, length: plain.count }], plain.stride)
            }
            Axis::Pieces { pieces, stride, .. } => (pieces.clone(), *stride),
        };
        for axis in outer.iter().rev() {
            if let (Axis::Plain(plain), [piece @ Piece { count: 1, .. }]) =
                (axis, pieces.as_mut_slice())
            {
                (piece.count, piece.step) = (plain.count, plain.stride);
                continue;
            }
            let offsets = axis.offsets();
            let shifted = offsets.iter().flat_map(|offset| {
                pieces.iter().map(move |piece| Piece { start: piece.start + offset, ..*piece })
            });
            pieces = shifted.collect();
        }
        Self { pieces, stride }
    }
}

/// Goes through the pieces of both sides, as many equal runs at a time as both allow.
fn zip(source: &Side, target: &Side) -> Vec<Both> {
    let (mut one, mut other) = (Cursor::over(source), Cursor::over(target));
    let mut found = Vec::new();
    while let (Some(a), Some(b)) = (one.head(), other.head()) {
        let length = a.length.min(b.length);
        let (a, b) = (one.runs_of(length, a), other.runs_of(length, b));
        let count = a.count.min(b.count);
        let steps = if count == 1 { [0, 0] } else { [a.step, b.step] };
        let kind = Kind { length, count, source: steps[0], target: steps[1] };
        found.push(Both { start: Pair { source: a.start, target: b.start }, kind });
        one.skip(count * length, a);
        other.skip(count * length, b);
    }
    found
}

/// A place in the pieces of one side.
struct Cursor {
    /// The next pieces, the first one last.
    pieces: Vec<Piece>,
    stride: usize,
}

impl Cursor {
    fn over(side: &Side) -> Self {
        Self { pieces: side.pieces.iter().rev().copied().collect(), stride: side.stride }
    }

    fn head(&self) -> Option<Piece> {
        self.pieces.last().copied()
    }

    /// How `head` starts with runs of `length`, at most that of its runs, at equal distances:
    /// whole runs, or equal parts of the first one.
    fn runs_of(&self, length: usize, head: Piece) -> Piece {
        if head.length == length {
            return head;
        }
        let (count, step) = (head.length / length, length * self.stride);
        Piece { start: head.start, count, step, length }
    }

    /// Moves on by that many elements of the head, which are whole ones of its `runs`.
    fn skip(&mut self, elements: usize, runs: Piece) {
        let Some(mut head) = self.pieces.pop() else { return };
        if head.length == runs.length {
            let count = elements / runs.length;
            head.start += count * head.step;
            head.count -= count;
            self.push(head);
            return;
        }
        self.push(Piece { start: head.start + head.step, count: head.count - 1, ..head });
        let start = head.start + elements * self.stride;
        self.push(Piece { start, count: 1, step: 0, length: head.length - elements });
    }

    fn push(&mut self, piece: Piece) {
        if piece.count > 0 && piece.length > 0 {
            self.pieces.push(piece);
        }
    }
}

/// The starts of the pieces of each kind.
fn by_kind(pieces: &[Both]) -> BTreeMap<Kind, Vec<Pair>> {
    let mut kinds: BTreeMap<Kind, Vec<Pair>> = BTreeMap::new();
    for piece in pieces {
        kinds.entry(piece.kind).or_default().push(piece.start);
    }
    kinds
}

/// The loops over pieces of one kind.
fn group(kind: Kind, starts: Vec<Pair>, [source, target]: [usize; 2]) -> Group {
    let inner = [
        Level::Strided(Dim { count: kind.count, source: kind.source, target: kind.target }),
        Level::Strided(Dim { count: kind.length, source, target }),
    ];
    let (start, outer) = match progression(&starts) {
        Some((start, dim)) => (start, Level::Strided(dim)),
        None => (Pair::default(), Level::Listed(starts)),
    };
    Group { start, levels: std::iter::once(outer).chain(inner).collect() }
}

/// The start and the strides of pairs at equal ascending distances.
fn progression(pairs: &[Pair]) -> Option<(Pair, Dim)> {
    let first = *pairs.first()?;
    let Some(second) = pairs.get(1) else {
        return Some((first, Dim { count: 1, source: 0, target: 0 }));
    };
    let source = second.source.checked_sub(first.source)?;
    let target = second.target.checked_sub(first.target)?;
    let fits = |pairs: &[Pair]| {
        pairs[1].source.checked_sub(pairs[0].source) == Some(source)
            && pairs[1].target.checked_sub(pairs[0].target) == Some(target)
    };
    let dim = Dim { count: pairs.len(), source, target };
    pairs.windows(2).all(fits).then_some((first, dim))
}
