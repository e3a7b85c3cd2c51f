//! Wavefronts (two-sweep temporal blocking): two loops, the second right behind the first. What the first has brought to the caches is still
//! there when the second comes, and memory is read once instead of twice.
//!
//! ```text
//!   rows   0 1 2 3 4 5 6 7 8 9
//!   first  ■ ■ ■ ■ ■ ■ ■ ■ · ·     a cache block at a time
//!   second ■ ■ ■ ■ ■ · · · · ·     as far as the first reads nothing any more
//! ```
//!
//! Both update arrays in place. How far the second may go follows from where rows begin and end in
//! memory: nothing that it writes is read or written by a row of the first that is still to come, and
//! nothing that it reads is written by one.

use std::ops::Range;

use super::loops::{BoxLoop, LoopContext, ProgramMemories};
use super::prepare::{Prepared, PreparedLoop};
use crate::Error;

/// Bytes of a cache block, about. It has to stay in the caches together with the rows around it; with short
/// blocks loops begin anew too often.
pub(super) const CACHE_BLOCK_BYTES: usize = 1 << 20;

/// Loops that touch fewer bytes find them in the caches anyhow.
pub(super) const LEAST_BYTES: usize = 4 << 20;

/// How the rows of a second loop follow those of a first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wavefront {
    /// Rows of both loops.
    rows: [usize; 2],
    /// Rows of the first loop that are done before the second has its turn.
    block_rows: usize,
    limits: Vec<Limit>,
}

/// Places of both loops in one memory that must not meet: the second stays below the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    /// The lowest lane of the first loop's first row, and lanes from row to row.
    first: (isize, isize),
    /// The highest lane of the second loop's first row, and lanes from row to row.
    second: (isize, isize),
}

impl Limit {
    /// Rows of the second loop that stay below all rows of the first one from this one on.
    fn rows(self, row: usize) -> usize {
        let below = self.first.0 + row.cast_signed() * self.first.1 - self.second.0;
        if below <= 0 { 0 } else { (below - 1).unsigned_abs() / self.second.1.unsigned_abs() + 1 }
    }
}

impl Wavefront {
    /// How one step follows another, if it can and that saves anything.
    pub(crate) fn between(first: &Prepared, second: &Prepared) -> Option<Self> {
        let first = match first {
            Prepared::Compute(one) => one,
            Prepared::Exchange(exchange) => exchange.during.as_ref().map(|(one, _)| one)?,
            _ => return None,
        };
        let Prepared::Compute(second) = second else { return None };
        let (one, other) = (updates_in_place(first)?, updates_in_place(second)?);
        let mut limits = Vec::new();
        for write in &other.writes {
            let met = one.places().filter(|place| place.tile == write.tile);
            limits.extend(met.map(|place| (place.rows(&one.shape), write.rows(&other.shape))));
        }
        for write in &one.writes {
            let met = other.places().filter(|place| place.tile == write.tile);
            limits.extend(met.map(|place| (write.rows(&one.shape), place.rows(&other.shape))));
        }
        let limits: Option<Vec<Limit>> = limits
            .into_iter()
            .map(|(first, second)| {
                let forward = first.step > 0 && second.step > 0;
                forward.then_some(Limit {
                    first: (first.lowest, first.step),
                    second: (second.highest, second.step),
                })
            })
            .collect();
        let rows = [one.shape[0], other.shape[0]];
        let row_bytes = one.shape[1..].iter().product::<usize>() * size_of::<f64>();
        let block_rows = (CACHE_BLOCK_BYTES / (row_bytes * one.writes.len().max(1)).max(1)).max(1);
        let wavefront =
            Self { rows, block_rows, limits: limits.filter(|limits| !limits.is_empty())? };
        // Where the second would have to wait for most of the first nothing is near any more.
        (wavefront.behind(rows[0] / 2) > rows[1] / 3).then_some(wavefront)
    }

    /// Rows of the second loop that may be done when all of the first before this one are.
    fn behind(&self, row: usize) -> usize {
        if row >= self.rows[0] {
            return self.rows[1];
        }
        self.limits.iter().map(|limit| limit.rows(row)).min().unwrap_or(0).min(self.rows[1])
    }

    /// Rows of the first loop that are computed while halos travel.
    pub(crate) fn ahead(&self) -> usize {
        self.rows[0] / 4
    }

    /// True if loops are not shared with pool threads, which would have to wait for each other.
    pub(crate) fn is_single_threaded(&self, context: &LoopContext<'_>) -> bool {
        context.thread_pool.threads() == 1
    }

    /// Runs the rows of the first loop from one on, and all of the second.
    pub(crate) fn run(
        &self,
        [first, second]: [&PreparedLoop; 2],
        from: usize,
        tiles: ProgramMemories<'_>,
        context: &mut LoopContext<'_>,
    ) -> Result<(), Error> {
        let (mut row, mut behind) = (from, 0);
        loop {
            let next = (row + self.block_rows).min(self.rows[0]);
            rows(first, row..next, tiles, context)?;
            row = next;
            let end = self.behind(row);
            rows(second, behind..end.max(behind), tiles, context)?;
            behind = end.max(behind);
            if row == self.rows[0] {
                return Ok(());
            }
        }
    }
}

/// Runs some rows of a loop.
pub(crate) fn rows(
    one: &PreparedLoop,
    rows: Range<usize>,
    tiles: ProgramMemories<'_>,
    context: &mut LoopContext<'_>,
) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let run = |boxed: &BoxLoop| boxed.map_rows(&one.program, rows.clone(), tiles, context.scratch);
    one.loops.iter().try_for_each(run)
}

/// The box of a loop that does nothing but update large arrays in place: non-temporal stores leave
/// nothing in the caches to come back to.
fn updates_in_place(one: &PreparedLoop) -> Option<&BoxLoop> {
    let [boxed] = one.loops.as_slice() else { return None };
    let read = |tile: usize| boxed.read_places().any(|at| at.tile == tile);
    let plain = one.folds.is_empty() && one.copies.is_empty() && !boxed.shape.is_empty();
    let bytes = boxed.shape.iter().product::<usize>().saturating_mul(size_of::<f64>());
    let in_place = boxed.writes.iter().all(|write| read(write.tile));
    (plain && in_place && bytes >= LEAST_BYTES).then_some(boxed)
}
