//! The outer loops of a nest, down to tiles of rows.

use crate::nest::{Dim, Level, Nest, Pair};

/// The two innermost loops of a nest: runs of elements in rows.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) run: Dim,
}

/// Where the runs of a tile start.
#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    Strided(Dim),
    Listed(&'a [Pair]),
}

/// One time, in place.
const ONCE: Dim = Dim { count: 1, source: 1, target: 1 };

/// Calls `visit` with the start of every tile.
pub(super) fn tiles(nest: &Nest, mut visit: impl FnMut(Pair, &Tile<'_>)) {
    for nest in nest.loops() {
        let (outer, tile) = split(&nest.levels);
        walk(outer, nest.start, &mut |start| visit(start, &tile));
    }
}

fn split(levels: &[Level]) -> (&[Level], Tile<'_>) {
    match levels {
        [] => (levels, Tile { rows: Rows::Strided(ONCE), run: ONCE }),
        [outer @ .., Level::Listed(pairs)] => {
            (outer, Tile { rows: Rows::Listed(pairs), run: ONCE })
        }
        [Level::Strided(run)] => (&[], Tile { rows: Rows::Strided(ONCE), run: *run }),
        [outer @ .., rows, Level::Strided(run)] => {
            let rows = match rows {
                Level::Strided(dim) => Rows::Strided(*dim),
                Level::Listed(pairs) => Rows::Listed(pairs),
            };
            (outer, Tile { rows, run: *run })
        }
    }
}

fn walk(levels: &[Level], start: Pair, visit: &mut dyn FnMut(Pair)) {
    let Some((level, inner)) = levels.split_first() else { return visit(start) };
    let rows = match level {
        Level::Strided(dim) => Rows::Strided(*dim),
        Level::Listed(pairs) => Rows::Listed(pairs),
    };
    rows.each(|source, target| {
        let start = Pair { source: start.source + source, target: start.target + target };
        walk(inner, start, visit);
    });
}

impl Rows<'_> {
    /// Calls `visit` with the source and target offset of every row.
    #[inline(always)]
    pub(super) fn each(&self, mut visit: impl FnMut(usize, usize)) {
        match self {
            Self::Strided(dim) => {
                for row in 0..dim.count {
                    visit(row * dim.source, row * dim.target);
                }
            }
            Self::Listed(pairs) => {
                for pair in *pairs {
                    visit(pair.source, pair.target);
                }
            }
        }
    }
}

/// One side of a nest, element by element, as offsets.
pub(super) fn each_offset(nest: &Nest, side: Side, mut visit: impl FnMut(usize)) {
    let pick = |pair: Pair| if side == Side::Source { pair.source } else { pair.target };
    tiles(nest, |start, tile| {
        tile.rows.each(|source, target| {
            for at in 0..tile.run.count {
                let inner = Pair { source: at * tile.run.source, target: at * tile.run.target };
                visit(pick(start) + pick(Pair { source, target }) + pick(inner));
            }
        });
    });
}

/// A side of a nest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Target,
}
