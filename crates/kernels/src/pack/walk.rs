//! The outer loops of a nest, down to tiles of rows.

use smallvec::SmallVec;

use crate::nest::{Level, LoopNest, Nest, OffsetPair, StridedLoop};

/// The two innermost loops of a nest: runs of elements in rows.
#[derive(Clone, Copy)]
pub(crate) struct RunTile<'a> {
    pub(crate) rows: TileRows<'a>,
    pub(crate) run: StridedLoop,
}

/// Where the runs of a tile start.
#[derive(Clone, Copy)]
pub(crate) enum TileRows<'a> {
    Strided(StridedLoop),
    Listed(&'a [OffsetPair]),
}

/// One time, in place.
const ONCE: StridedLoop = StridedLoop { count: 1, source: 1, target: 1 };

/// Calls `visit` with the start of every tile.
pub(crate) fn tiles(nest: &Nest, mut visit: impl FnMut(OffsetPair, &RunTile<'_>)) {
    for nest in nest.loops() {
        let (outer, tile) = split(&nest.levels);
        walk(outer, nest.start, &mut |start| visit(start, &tile));
    }
}

/// One of several parts of a nest: no two have a pair in common, and all together have all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NestPart {
    /// Which one.
    pub part: usize,
    /// Of how many; at least one.
    pub of: usize,
}

impl NestPart {
    /// The only part.
    pub const ALL: Self = Self { part: 0, of: 1 };

    /// Its range of so many, in multiples of a grain.
    #[must_use]
    pub fn range(self, count: usize, grain: usize) -> std::ops::Range<usize> {
        let grains = count.div_ceil(grain);
        let start = |part: usize| (grains * part / self.of * grain).min(count);
        start(self.part)..start(self.part + 1)
    }

    /// Its part of a nest: one of the loops is shorter, and begins later. Where there are lists the
    /// first part has everything.
    fn cut(self, nest: &LoopNest) -> Option<(OffsetPair, SmallVec<[Level; 8]>)> {
        let dims = nest.levels.iter().map(|level| match level {
            Level::Strided(dim) => Some(*dim),
            Level::Listed(_) => None,
        });
        let dims: Option<SmallVec<[StridedLoop; 8]>> = dims.collect();
        let Some(mut dims) = dims.filter(|dims| !dims.is_empty()) else {
            return (self.part == 0).then(|| (nest.start, nest.levels.iter().cloned().collect()));
        };
        // Runs are not cut into chunks of less than a few lines.
        let grain = |at: usize| if at + 1 == dims.len() { GRAIN } else { 1 };
        let grains = |at: usize| dims[at].count.div_ceil(grain(at));
        let enough = (0..dims.len()).find(|at| grains(*at) >= self.of);
        let at = enough.or_else(|| (0..dims.len()).max_by_key(|at| grains(*at)))?;
        let (range, dim) = (self.range(dims[at].count, grain(at)), &mut dims[at]);
        dim.count = range.len();
        let source = nest.start.source + range.start * dim.source;
        let target = nest.start.target + range.start * dim.target;
        let levels = dims.into_iter().map(Level::Strided).collect();
        (!range.is_empty()).then_some((OffsetPair { source, target }, levels))
    }
}

/// Elements of runs that stay together.
const GRAIN: usize = 64;

/// Calls `visit` with the start of every tile of a part.
pub(crate) fn tiles_of(
    nest: &Nest,
    part: NestPart,
    mut visit: impl FnMut(OffsetPair, &RunTile<'_>),
) {
    if part == NestPart::ALL {
        return tiles(nest, visit);
    }
    for nest in nest.loops() {
        let Some((start, levels)) = part.cut(nest) else { continue };
        let (outer, tile) = split(&levels);
        walk(outer, start, &mut |start| visit(start, &tile));
    }
}

fn split(levels: &[Level]) -> (&[Level], RunTile<'_>) {
    match levels {
        [] => (levels, RunTile { rows: TileRows::Strided(ONCE), run: ONCE }),
        [outer @ .., Level::Listed(pairs)] => {
            (outer, RunTile { rows: TileRows::Listed(pairs), run: ONCE })
        }
        [Level::Strided(run)] => (&[], RunTile { rows: TileRows::Strided(ONCE), run: *run }),
        [outer @ .., rows, Level::Strided(run)] => {
            let rows = match rows {
                Level::Strided(dim) => TileRows::Strided(*dim),
                Level::Listed(pairs) => TileRows::Listed(pairs),
            };
            (outer, RunTile { rows, run: *run })
        }
    }
}

fn walk(levels: &[Level], start: OffsetPair, visit: &mut dyn FnMut(OffsetPair)) {
    let Some((level, inner)) = levels.split_first() else { return visit(start) };
    let rows = match level {
        Level::Strided(dim) => TileRows::Strided(*dim),
        Level::Listed(pairs) => TileRows::Listed(pairs),
    };
    rows.each(|source, target| {
        let start = OffsetPair { source: start.source + source, target: start.target + target };
        walk(inner, start, visit);
    });
}

impl TileRows<'_> {
    /// Calls `visit` with the source and target offset of every row.
    #[inline(always)]
    pub(crate) fn each(&self, mut visit: impl FnMut(usize, usize)) {
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
pub(crate) fn each_offset(nest: &Nest, side: NestSide, mut visit: impl FnMut(usize)) {
    let pick = |pair: OffsetPair| if side == NestSide::Source { pair.source } else { pair.target };
    tiles(nest, |start, tile| {
        tile.rows.each(|source, target| {
            for at in 0..tile.run.count {
                let inner =
                    OffsetPair { source: at * tile.run.source, target: at * tile.run.target };
                visit(pick(start) + pick(OffsetPair { source, target }) + pick(inner));
            }
        });
    });
}

/// A side of a nest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestSide {
    Source,
    Target,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;
    use pantile_geometry::{IndexSet, Slab};

    fn pairs(nest: &Nest, part: NestPart) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        tiles_of(nest, part, |start, tile| {
            tile.rows.each(|source, target| {
                for at in 0..tile.run.count {
                    let inner = (at * tile.run.source, at * tile.run.target);
                    pairs.push((start.source + source + inner.0, start.target + target + inner.1));
                }
            });
        });
        pairs
    }

    #[test]
    fn parts_together_have_every_pair_once() {
        let layout = |axes: &[IndexSet], shape: &[usize]| {
            let axes = axes.iter().map(|set| set.indices().clone()).collect();
            Layout::of(&Slab { axes }, shape).expect("a region of the shape")
        };
        let list = IndexSet::from_list(vec![0, 1, 4, 9, 16, 25]);
        let range = |length: usize| IndexSet::range(1, 1 + length);
        for source in [
            Layout::dense(3, 0),
            Layout::dense(3, 1),
            Layout::dense(3, 1000),
            layout(&[range(7), range(5)], &[9, 9]),
            layout(&[range(2), range(500)], &[4, 600]),
            layout(&[range(2), range(3), range(4), range(2)], &[5, 5, 5, 5]),
            layout(&[list.clone(), range(6)], &[30, 8]),
            layout(&[list], &[26]),
        ] {
            let nest =
                Nest::joint(&source, &Layout::dense(2, source.len())).expect("equal lengths");
            let mut all = pairs(&nest, NestPart::ALL);
            assert_eq!(all.len(), source.len());
            all.sort_unstable();
            for of in 1..9 {
                let shares = (0..of).flat_map(|part| pairs(&nest, NestPart { part, of }));
                let mut shares: Vec<_> = shares.collect();
                shares.sort_unstable();
                assert_eq!(shares, all, "{of} shares of {nest:?}");
            }
        }
    }
}
