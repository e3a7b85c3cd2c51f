//! Plans: which rank sends what to which between two distributions, asked without a world.

use std::collections::BTreeMap;

use pantile::draw;
use pantile::geometry::{self, AxisMap, Cut, IndexSet, Rank};
use pantile::plan::{self, Estimate, Machine, Totals, Transfer};
use pyo3::prelude::*;

use crate::distribution::{Distribution, Runs, runs_of_set, wrong};

/// Movements with more messages are counted, not listed.
const MESSAGES_MAX: u128 = 200_000;

/// Ranks that are looked at where not all are.
const SAMPLES: usize = 64;

/// The movement between two distributions.
#[pyclass(frozen)]
pub(crate) struct Plan {
    source: geometry::Distribution,
    target: geometry::Distribution,
    totals: Totals,
    /// All of it, if it is not too long.
    listed: Option<plan::Plan>,
}

/// Adds the class of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Plan>()
}

/// A transfer: from, to, elements, runs along each axis, lifts of both sides.
type Row = (Rank, Rank, usize, Vec<Runs>, Vec<i64>, Vec<i64>);

/// What an estimate says: seconds, moved, kept and peak bytes, messages, busiest rank, ranks looked
/// at if not all, and bytes with messages over links within processes, within nodes and between.
type Costs = (f64, u128, u128, u128, u128, Rank, Option<usize>, Vec<(u128, u128)>);

/// Rows and columns of a matrix, and its cells that are not 0: row, column, number.
type Matrix = ((usize, usize), Vec<(Rank, Rank, usize)>);

impl Plan {
    fn listed(&self) -> PyResult<&plan::Plan> {
        self.listed.as_ref().ok_or_else(|| {
            let messages = self.totals.messages;
            wrong(format!(
                "the plan has {messages} messages, more than the {MESSAGES_MAX} that are listed; \
                 messages, moved, bytes and estimate are known"
            ))
        })
    }

    /// How many elements of a transfer belong to the owned part of its target.
    fn owned(&self, transfer: &Transfer) -> usize {
        let Some(maps) = self.target.axes() else { return transfer.size() };
        let along = maps.iter().zip(transfer.region.axes()).enumerate();
        let count = along.map(|(axis, (map, set))| {
            let coordinate = self.target.coordinate(transfer.to, axis).unwrap_or(0);
            owned_count(map, coordinate, transfer.target_lifts.along(axis), set)
        });
        count.product()
    }
}

/// How many indices of a set a coordinate owns; cuts without owners own what they hold.
fn owned_count(map: &AxisMap, coordinate: usize, lift: i64, set: &IndexSet) -> usize {
    if !matches!(map.cut(), Cut::Block(_)) {
        return set.size();
    }
    let (low, high) = map.owned(coordinate);
    if lift == 0 { set.clip(low, high).size() } else { 0 }
}

#[pymethods]
impl Plan {
    /// The movement from one distribution to another.
    #[new]
    fn new(
        py: Python<'_>,
        source: PyRef<'_, Distribution>,
        target: PyRef<'_, Distribution>,
    ) -> PyResult<Self> {
        let (source, target) = (source.inner.clone(), target.inner.clone());
        py.detach(|| {
            let totals = Totals::about(&source, &target)?;
            let listed = match totals.messages <= MESSAGES_MAX {
                true => Some(plan::Plan::between(&source, &target)?),
                false => None,
            };
            Ok(Self { source, target, totals, listed })
        })
        .map_err(|error: plan::Error| wrong(error))
    }

    #[getter]
    fn source(&self) -> Distribution {
        Distribution { inner: self.source.clone() }
    }

    #[getter]
    fn target(&self) -> Distribution {
        Distribution { inner: self.target.clone() }
    }

    /// Elements that change rank, elements that stay, messages, and whether that is exact.
    #[getter]
    fn totals(&self) -> (u128, u128, u128, bool) {
        (self.totals.moved, self.totals.kept, self.totals.messages, self.totals.exact)
    }

    /// All transfers in order, also of what stays.
    fn transfers(&self) -> PyResult<Vec<Row>> {
        let row = |one: &Transfer| {
            let runs = one.region.axes().iter().map(runs_of_set).collect();
            let lifts = |of: &plan::Lifts| of.as_slice().to_vec();
            (one.from, one.to, one.size(), runs, lifts(&one.source_lifts), lifts(&one.target_lifts))
        };
        Ok(self.listed()?.transfers().map(row).collect())
    }

    /// Extents of the matrix, and source rank, target rank and number of elements where there are
    /// some: of the owned parts of the target, or of all that it holds.
    fn matrix(&self, halo: bool) -> PyResult<Matrix> {
        let ranks = |side: &geometry::Distribution| side.mesh().ranks().max().map_or(0, |r| r + 1);
        let mut cells: BTreeMap<(Rank, Rank), usize> = BTreeMap::new();
        for one in self.listed()?.transfers() {
            let count = if halo { one.size() } else { self.owned(one) };
            if count > 0 {
                *cells.entry((one.from, one.to)).or_default() += count;
            }
        }
        let cells = cells.into_iter().map(|((from, to), count)| (from, to, count)).collect();
        Ok(((ranks(&self.source), ranks(&self.target)), cells))
    }

    /// What it costs, by the machine model.
    fn estimate(
        &self,
        py: Python<'_>,
        itemsize: usize,
        ranks_per_process: usize,
        ranks_per_node: usize,
    ) -> PyResult<Costs> {
        let machine = Machine::default().with_ranks(ranks_per_process, ranks_per_node);
        let cost = py.detach(|| match &self.listed {
            Some(plan) => Ok(plan.estimate(&machine, itemsize)),
            None => Estimate::between((&self.source, &self.target), &machine, itemsize, SAMPLES),
        });
        let cost = cost.map_err(wrong)?;
        let links = cost.links.iter().map(|link| (link.bytes, link.messages)).collect();
        let (moved, messages) = (cost.moved_bytes(), cost.messages());
        let (kept, peak) = (cost.kept_bytes, cost.peak_bytes);
        Ok((cost.seconds, moved, kept, peak, messages, cost.busiest, cost.sampled, links))
    }

    /// Every arrow turned around.
    fn adjoint(&self) -> PyResult<Self> {
        let (source, target) = (self.target.dual(), self.source.dual());
        let (source, target) = (source.map_err(wrong)?, target.map_err(wrong)?);
        let listed = self.listed.as_ref().map(plan::Plan::adjoint).transpose().map_err(wrong)?;
        Ok(Self { source, target, totals: self.totals, listed })
    }

    /// A picture, as SVG: arrows between tiles, or a table of ranks.
    fn svg(&self, table: bool) -> PyResult<String> {
        let plan = self.listed()?;
        let drawn = match table {
            true => draw::matrix(plan),
            false => draw::plan(plan).or_else(|_| draw::matrix(plan)),
        };
        drawn.map(|svg| svg.to_string()).map_err(wrong)
    }

    /// As text.
    fn text(&self) -> PyResult<String> {
        Ok(self.listed()?.to_string())
    }
}
