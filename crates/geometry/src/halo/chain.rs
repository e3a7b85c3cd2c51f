//! Several layers behind one exchange: each worker fetches once all the input that its share of
//! the last output depends on, then runs every layer locally.
//!
//! Outputs of inner layers near block borders are computed by two workers: arithmetic instead of
//! messages.

use std::ops::Range;

use super::axis::{AxisHalo, Demand};
use super::blocks::Blocks;
use super::error::HaloError;
use super::number::{signed, tame, unsigned};
use super::window::LayerAxis;

/// The halos of layers applied one after the other on one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    halo: AxisHalo,
    extents: Vec<usize>,
    stages: Vec<Vec<Stage>>,
}

/// What one worker feeds to one layer.
///
/// Law: the layer, run without padding on `beyond.0` cells of padding, `input`, and `beyond.1`
/// cells of padding, yields exactly the next stage's `input` (the last one the worker's outputs).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stage {
    /// Global indices of the layer's input.
    pub input: Range<usize>,
    /// Cells looked at before index 0 and past the end of the layer's input.
    pub beyond: (usize, usize),
}

impl Chain {
    /// Composes `layers`, first applied first; the last output is balanced.
    ///
    /// # Errors
    /// No layers, or one that cannot be applied to its input.
    pub fn new(layers: &[&dyn LayerAxis], input: &Blocks) -> Result<Self, HaloError> {
        if layers.is_empty() {
            return Err(HaloError::Zero { what: "number of layers" });
        }
        let mut extents = vec![input.extent()];
        for layer in layers {
            let extent = layer.output_extent(extents[extents.len() - 1])?;
            extents.push(extent);
        }
        let output = Blocks::balanced(extents[layers.len()], input.workers())?;
        let (mut demands, mut stages) = (Vec::new(), Vec::new());
        for worker in 0..input.workers() {
            let (demand, worker_stages) = trace_back(layers, &extents, output.range(worker));
            demands.push(demand);
            stages.push(worker_stages);
        }
        let halo = AxisHalo::from_demands(input.clone(), output, demands);
        Ok(Self { halo, extents, stages })
    }

    /// The one exchange that serves all layers.
    #[must_use]
    pub fn halo(&self) -> &AxisHalo {
        &self.halo
    }

    /// The extents: the input, then the output of each layer.
    #[must_use]
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// Per layer what a worker feeds to it; nothing past the last worker.
    #[must_use]
    pub fn stages(&self, worker: usize) -> &[Stage] {
        self.stages.get(worker).map_or(&[], Vec::as_slice)
    }

    /// The part of the first input that a worker needs.
    #[must_use]
    pub fn needed_global(&self, worker: usize) -> Range<usize> {
        self.stages(worker).first().map_or(0..0, |stage| stage.input.clone())
    }
}

/// From the outputs of the last layer back to the first input.
fn trace_back(
    layers: &[&dyn LayerAxis],
    extents: &[usize],
    outputs: Range<usize>,
) -> (Demand, Vec<Stage>) {
    let mut nothing = outputs.is_empty();
    let mut stages = Vec::with_capacity(layers.len());
    let (mut first, mut last) = (signed(outputs.start), signed(outputs.end) - 1);
    let mut demand = Demand { first, last, nothing };
    for (layer, extent) in layers.iter().zip(extents).rev() {
        let extent = signed(*extent);
        demand = Demand {
            first: tame(layer.first_input(first)),
            last: tame(layer.last_input(last)),
            nothing,
        };
        // Padding between layers is made locally, so the demand is cut to the layer's input.
        (first, last) = (demand.first.max(0), demand.last.min(extent - 1));
        stages.push(stage(demand, extent));
        nothing |= last < first;
    }
    stages.reverse();
    (demand, stages)
}

fn stage(demand: Demand, extent: i64) -> Stage {
    let start = demand.first.clamp(0, extent);
    if demand.nothing {
        return Stage { input: unsigned(start)..unsigned(start), beyond: (0, 0) };
    }
    let stop = (demand.last + 1).clamp(start, extent);
    let total = (demand.last + 1 - demand.first).max(0);
    let before = (-demand.first).clamp(0, total);
    let after = (demand.last + 1 - extent).clamp(0, total);
    Stage { input: unsigned(start)..unsigned(stop), beyond: (unsigned(before), unsigned(after)) }
}
