//! The halo table of one axis: per worker what it has, computes, receives, sends and needs.

use std::fmt;
use std::ops::Range;

use super::blocks::Blocks;
use super::error::HaloError;
use super::number::{signed, tame, unsigned};
use super::window::{LayerAxis, Window};

/// The halos of one layer on one axis of the partition.
///
/// Positions are those of the input, or, after [`AxisHalo::with_boundary_padding`], of the input
/// with its padding (`boundary` cells on each side) counted as data of the edge workers. Only
/// [`WorkerHalo::needed_global`] always speaks of the input without padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisHalo {
    input: Blocks,
    output: Blocks,
    boundary: usize,
    demands: Vec<Demand>,
}

/// What the outputs of one worker look at, not yet cut to the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) first: i64,
    /// Inclusive.
    pub(super) last: i64,
    /// True if no input is needed although `first <= last` (no outputs).
    pub(super) nothing: bool,
}

/// One row of the table. Widths come as (left, right).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerHalo {
    /// Explicit padding that counts as this worker's data.
    pub pad: (usize, usize),
    /// The input block, explicit padding included.
    pub owned: Range<usize>,
    /// The outputs this worker computes.
    pub output: Range<usize>,
    /// Cells needed beyond the block; negative where owned cells are not needed.
    pub signed: (i64, i64),
    /// Cells received: the positive parts of `signed`.
    pub receive: (usize, usize),
    /// Cells sent to the direct neighbours: what they receive from this side.
    pub send: (usize, usize),
    /// Extent of the block with its received cells.
    pub exchange_length: usize,
    /// The part of the exchanged block that yields exactly the outputs, trimmed on both sides;
    /// empty for a worker without outputs.
    pub needed: Range<usize>,
    /// The input needed, in indices of the input without padding, cut to it.
    pub needed_global: Range<usize>,
    /// Cells the local kernel looks at before the input's first and after its last cell: padding
    /// of a window, repeats of the edge of an interpolation.
    ///
    /// Law for a window: `beyond.0 + needed_global.len() + beyond.1` is the extent that a kernel
    /// without padding turns into exactly `output.len()` outputs.
    pub beyond: (usize, usize),
}

/// A side of a block on one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Towards lower indices.
    Left,
    /// Towards higher indices.
    Right,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::Right => "right",
        })
    }
}

/// Cells that one worker supplies to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supply {
    /// Who has them.
    pub worker: usize,
    /// Which, in the positions of [`WorkerHalo::owned`].
    pub range: Range<usize>,
}

/// Who fills the ghost cells of a worker, however far away; ascending by worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Senders {
    /// Suppliers of the left ghost cells.
    pub left: Vec<Supply>,
    /// Suppliers of the right ghost cells.
    pub right: Vec<Supply>,
}

/// A halo that is wider than the direct neighbour's block.
///
/// An exchange with direct neighbours only would fill it with cells that have not arrived yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideHalo {
    /// The worker that receives.
    pub worker: usize,
    /// The side of its halo.
    pub side: Side,
    /// Cells it receives there.
    pub width: usize,
    /// Cells the direct neighbour on that side has.
    pub available: usize,
}

impl AxisHalo {
    /// The halos of a layer whose padding, if any, is not data: the index functions know it.
    ///
    /// Outputs are balanced over as many workers as the input has.
    ///
    /// # Errors
    /// The layer cannot be applied to an input of this extent.
    pub fn new(layer: &dyn LayerAxis, input: &Blocks) -> Result<Self, HaloError> {
        let output = Blocks::balanced(layer.output_extent(input.extent())?, input.workers())?;
        let demands = (0..output.workers())
            .map(|worker| {
                let outputs = output.range(worker);
                Demand {
                    first: tame(layer.first_input(signed(outputs.start))),
                    last: tame(layer.last_input(signed(outputs.end) - 1)),
                    nothing: outputs.is_empty(),
                }
            })
            .collect();
        Ok(Self { input: input.clone(), output, boundary: 0, demands })
    }

    /// The halos of a window whose padding is laid around the input first, as data of the first
    /// and last worker, and may then be sent like other data.
    ///
    /// # Errors
    /// The window cannot be applied to an input of this extent.
    pub fn with_boundary_padding(window: &Window, input: &Blocks) -> Result<Self, HaloError> {
        let padded = input.padded(window.padding())?;
        let halo = Self::new(&window.without_padding(), &padded)?;
        Ok(Self { boundary: window.padding(), ..halo })
    }

    pub(super) fn from_demands(input: Blocks, output: Blocks, demands: Vec<Demand>) -> Self {
        debug_assert_eq!(input.workers(), demands.len());
        Self { input, output, boundary: 0, demands }
    }

    /// The number of workers on the axis.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.demands.len()
    }

    /// The cut of the input, explicit padding included.
    #[must_use]
    pub fn input(&self) -> &Blocks {
        &self.input
    }

    /// The balanced cut of the output.
    #[must_use]
    pub fn output(&self) -> &Blocks {
        &self.output
    }

    /// The row of a worker, `None` past the last.
    #[must_use]
    pub fn worker(&self, worker: usize) -> Option<WorkerHalo> {
        let demand = *self.demands.get(worker)?;
        let owned = self.input.range(worker);
        let signed_halo = self.signed_halo(worker);
        let receive = (unsigned(signed_halo.0), unsigned(signed_halo.1));
        let send = (
            worker.checked_sub(1).map_or(0, |left| unsigned(self.signed_halo(left).1)),
            if worker + 1 < self.workers() { unsigned(self.signed_halo(worker + 1).0) } else { 0 },
        );
        let exchange_length = owned.len() + receive.0 + receive.1;
        let start = unsigned(-signed_halo.0).min(exchange_length);
        let stop = unsigned(signed(owned.len() + receive.0) + signed_halo.1);
        let stop = if demand.nothing { start } else { stop.max(start) };
        let (needed_global, beyond) = self.needed_global(demand);
        Some(WorkerHalo {
            pad: self.pad(worker),
            owned,
            output: self.output.range(worker),
            signed: signed_halo,
            receive,
            send,
            exchange_length,
            needed: start..stop,
            needed_global,
            beyond,
        })
    }

    /// All rows in worker order.
    pub fn iter(&self) -> impl Iterator<Item = WorkerHalo> + '_ {
        (0..self.workers()).filter_map(|worker| self.worker(worker))
    }

    /// Who supplies the ghost cells of a worker: the right answer also where a halo is wider than
    /// the direct neighbour's block.
    ///
    /// The cells of each side add up to [`WorkerHalo::receive`], except that a worker whose outputs
    /// look at no cell (it has none, or they look at padding only) asks for nothing.
    #[must_use]
    pub fn senders(&self, worker: usize) -> Senders {
        let Some(row) = self.worker(worker).filter(|_| self.needs_something(worker)) else {
            return Senders::default();
        };
        let supplies = |range: Range<usize>| {
            self.input.covering(range).map(|(worker, range)| Supply { worker, range }).collect()
        };
        Senders {
            left: supplies(row.owned.start - row.receive.0..row.owned.start),
            right: supplies(row.owned.end..row.owned.end + row.receive.1),
        }
    }

    /// All halos that are wider than the direct neighbour's block.
    ///
    /// If there are none, exchanging with direct neighbours is right.
    #[must_use]
    pub fn wide_halos(&self) -> Vec<WideHalo> {
        let mut wide = Vec::new();
        for worker in 0..self.workers() {
            let (left, right) = self.signed_halo(worker);
            let before = worker.checked_sub(1).map_or(0, |left| self.input.range(left).len());
            let after = self.input.range(worker + 1).len();
            for (side, width, available) in
                [(Side::Left, unsigned(left), before), (Side::Right, unsigned(right), after)]
            {
                if width > available {
                    wide.push(WideHalo { worker, side, width, available });
                }
            }
        }
        wide
    }

    fn signed_halo(&self, worker: usize) -> (i64, i64) {
        let demand = self.demands[worker];
        let owned = self.input.range(worker);
        let first = demand.first.max(0);
        let last = demand.last.min(signed(self.input.extent()) - 1);
        (signed(owned.start) - first, last + 1 - signed(owned.end))
    }

    fn needs_something(&self, worker: usize) -> bool {
        let demand = self.demands[worker];
        !demand.nothing && demand.first.max(0) <= demand.last.min(signed(self.input.extent()) - 1)
    }

    fn pad(&self, worker: usize) -> (usize, usize) {
        let at_edge = |edge: bool| if edge { self.boundary } else { 0 };
        (at_edge(worker == 0), at_edge(worker + 1 == self.workers()))
    }

    /// The needed input without padding, and how many cells lie before and after it.
    fn needed_global(&self, demand: Demand) -> (Range<usize>, (usize, usize)) {
        let boundary = signed(self.boundary);
        let extent = signed(self.input.extent()) - 2 * boundary;
        let (first, end) = (demand.first - boundary, demand.last + 1 - boundary);
        let start = first.clamp(0, extent);
        if demand.nothing {
            return (unsigned(start)..unsigned(start), (0, 0));
        }
        let stop = end.clamp(start, extent);
        let total = (end - first).max(0);
        let beyond = ((-first).clamp(0, total), (end - extent).clamp(0, total));
        (unsigned(start)..unsigned(stop), (unsigned(beyond.0), unsigned(beyond.1)))
    }
}
