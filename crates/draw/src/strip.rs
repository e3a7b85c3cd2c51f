//! Where the cells, outputs and arrows of a halo table are on paper.

use std::ops::Range;

use pantile_geometry::halo::{AxisHalo, Supply, WorkerHalo};

use crate::canvas::Rect;
use crate::words::{real, signed, width_of};

/// The longest axis that is drawn cell by cell.
const CELLS: usize = 40;
/// Height of a cell.
pub(crate) const HEIGHT: f64 = 26.0;
/// Width of an output.
pub(crate) const OUTPUT: f64 = 26.0;
/// From row to row.
pub(crate) const PITCH: f64 = 104.0;

/// Cells that travel.
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) x: f64,
    pub(crate) count: usize,
}

impl Arrow {
    /// True if it passes the space below a worker's cells.
    pub(crate) fn passes(&self, worker: usize) -> bool {
        (self.from.min(self.to)..self.from.max(self.to)).contains(&worker)
    }
}

/// One axis on paper.
pub(crate) struct Strip<'a> {
    pub(crate) halo: &'a AxisHalo,
    pub(crate) rows: Vec<WorkerHalo>,
    /// Width of an index.
    pub(crate) unit: f64,
    /// True if cells are drawn one by one.
    pub(crate) cells: bool,
    /// Cells of padding that count as data.
    pub(crate) boundary: i64,
    /// Where the table begins.
    pub(crate) table: f64,
}

impl<'a> Strip<'a> {
    pub(crate) fn new(halo: &'a AxisHalo) -> Self {
        let rows: Vec<WorkerHalo> = halo.iter().collect();
        let extent = halo.input().extent();
        let cells = extent <= CELLS && halo.output().extent() <= 2 * CELLS;
        let digits = width_of(&extent.to_string(), 11.0) + 8.0;
        let unit = if cells { digits.max(28.0) } else { 760.0 / real(extent.max(1)) };
        let boundary = rows.first().map_or(0, |row| signed(row.pad.0));
        let after = rows.iter().map(|row| row.beyond.1).max().unwrap_or(0);
        let after = if boundary == 0 { real(after.min(6)) * unit.min(28.0) } else { 0.0 };
        let table = real(extent) * unit + after + 28.0;
        Self { halo, rows, unit, cells, boundary, table }
    }

    pub(crate) fn x(&self, position: usize) -> f64 {
        real(position) * self.unit
    }

    pub(crate) fn area(&self, worker: usize, range: &Range<usize>) -> Rect {
        let width = (self.x(range.end) - self.x(range.start)).max(0.0);
        Rect::new(self.x(range.start), real(worker) * PITCH, width, HEIGHT)
    }

    pub(crate) fn needed(&self, worker: usize) -> Range<usize> {
        let row = &self.rows[worker];
        let start = row.owned.start - row.receive.0 + row.needed.start;
        start..start + row.needed.len()
    }

    pub(crate) fn ghosts(&self, worker: usize) -> Vec<Range<usize>> {
        let senders = self.halo.senders(worker);
        let hull = |supplies: &[Supply]| {
            let start = supplies.iter().map(|supply| supply.range.start).min()?;
            let end = supplies.iter().map(|supply| supply.range.end).max()?;
            Some(start..end)
        };
        [hull(&senders.left), hull(&senders.right)].into_iter().flatten().collect()
    }

    /// The cells under the outputs of a worker, padding included.
    pub(crate) fn under(&self, worker: usize) -> Rect {
        let row = &self.rows[worker];
        let mut area = self.area(worker, &self.needed(worker));
        if self.boundary == 0 {
            let width = self.unit.min(28.0);
            let (before, after) = (real(row.beyond.0.min(6)), real(row.beyond.1.min(6)));
            area.x -= before * width;
            area.width += (before + after) * width;
        }
        area
    }

    /// Where the outputs of a worker are drawn: below its cells, clear of the arrows between it
    /// and the next worker if that is possible.
    pub(crate) fn outputs(&self, worker: usize) -> Rect {
        let (area, count) = (self.under(worker), real(self.rows[worker].output.len()));
        let wide = match self.cells {
            true => OUTPUT * count,
            false => (area.width * 0.7).clamp(90.0, 400.0),
        };
        let middle = area.middle().x - wide / 2.0;
        let crossing = self.arrows().filter(|arrow| arrow.passes(worker)).map(|arrow| arrow.x);
        let limit = crossing.fold(f64::INFINITY, f64::min) - 10.0 - wide;
        let x = if limit >= area.x - wide / 2.0 { middle.min(limit) } else { middle };
        Rect::new(x, area.bottom() + 24.0, wide, 20.0)
    }

    /// From the owners of ghosts to the ghosts.
    pub(crate) fn arrows(&self) -> impl Iterator<Item = Arrow> + '_ {
        (0..self.rows.len()).flat_map(move |worker| {
            let own = self.area(worker, &self.rows[worker].owned);
            let senders = self.halo.senders(worker);
            let sides = [(senders.left, true), (senders.right, false)];
            let arrows = sides.into_iter().flat_map(move |(supplies, left)| {
                supplies.into_iter().map(move |supply| {
                    let middle = self.area(worker, &supply.range).middle().x;
                    // Ghosts of a very long axis are drawn wider than they are.
                    let x =
                        if left { middle.min(own.x - 5.0) } else { middle.max(own.right() + 5.0) };
                    Arrow { from: supply.worker, to: worker, x, count: supply.range.len() }
                })
            });
            arrows.collect::<Vec<_>>()
        })
    }
}
