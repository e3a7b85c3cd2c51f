//! Halos of an n-d layer on a Cartesian partition: one table per axis.

use std::ops::Range;

use super::axis::{AxisHalo, WorkerHalo};
use super::blocks::Blocks;
use super::error::HaloError;
use super::slabs::{AxisStep, SlabAxis, exchange_slabs};
use super::window::WindowParameters;

/// The halos of a layer on every axis of a Cartesian partition.
///
/// All widths on an axis depend on the worker's coordinate on that axis alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerHalo {
    axes: Vec<AxisHalo>,
}

impl LayerHalo {
    /// Joins the tables of the axes.
    #[must_use]
    pub fn from_axes(axes: Vec<AxisHalo>) -> Self {
        Self { axes }
    }

    /// Windows over an input cut into `input` (one cut per axis); padding is not data.
    ///
    /// # Errors
    /// Lists longer than the number of axes, or a window that cannot be applied.
    pub fn new(parameters: &WindowParameters, input: &[Blocks]) -> Result<Self, HaloError> {
        let windows = parameters.windows(input.len())?;
        let axes = windows.iter().zip(input).map(|(window, cut)| AxisHalo::new(window, cut));
        Ok(Self { axes: axes.collect::<Result<_, _>>()? })
    }

    /// Windows over an input cut into `input`; padding is laid around it first, as data of the
    /// workers at the edges.
    ///
    /// # Errors
    /// Lists longer than the number of axes, or a window that cannot be applied.
    pub fn with_boundary_padding(
        parameters: &WindowParameters,
        input: &[Blocks],
    ) -> Result<Self, HaloError> {
        let windows = parameters.windows(input.len())?;
        let axes = windows.iter().zip(input);
        let axes = axes.map(|(window, cut)| AxisHalo::with_boundary_padding(window, cut));
        Ok(Self { axes: axes.collect::<Result<_, _>>()? })
    }

    /// Balanced blocks of an array of `shape` on a partition of `partition_shape`.
    ///
    /// # Errors
    /// Different numbers of axes, no workers on an axis, or extents above the limit.
    pub fn balanced_blocks(
        shape: &[usize],
        partition_shape: &[usize],
    ) -> Result<Vec<Blocks>, HaloError> {
        if shape.len() != partition_shape.len() {
            let (got, ndim) = (partition_shape.len(), shape.len());
            return Err(HaloError::WrongLength { what: "partition shape", got, ndim });
        }
        shape
            .iter()
            .zip(partition_shape)
            .map(|(n, workers)| Blocks::balanced(*n, *workers))
            .collect()
    }

    /// The tables, one per axis.
    #[must_use]
    pub fn axes(&self) -> &[AxisHalo] {
        &self.axes
    }

    /// The global output shape.
    #[must_use]
    pub fn output_shape(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.output().extent()).collect()
    }

    /// The rows of the worker at these coordinates, one per axis.
    ///
    /// # Errors
    /// A wrong number of coordinates, or one that is out of range.
    pub fn worker(&self, index: &[usize]) -> Result<Vec<WorkerHalo>, HaloError> {
        if index.len() != self.axes.len() {
            let (got, ndim) = (index.len(), self.axes.len());
            return Err(HaloError::WrongLength { what: "worker index", got, ndim });
        }
        let rows = self.axes.iter().zip(index).map(|(axis, &worker)| {
            let workers = axis.workers();
            axis.worker(worker).ok_or(HaloError::WorkerOutOfRange { worker, workers })
        });
        rows.collect()
    }

    /// The box of the input (without padding) that the worker at these coordinates needs; if it
    /// is empty on one axis the worker needs nothing.
    ///
    /// # Errors
    /// A wrong number of coordinates, or one that is out of range.
    pub fn needed_global(&self, index: &[usize]) -> Result<Vec<Range<usize>>, HaloError> {
        Ok(self.worker(index)?.into_iter().map(|row| row.needed_global).collect())
    }

    /// The slabs that the worker at these coordinates exchanges, axis by axis.
    ///
    /// # Errors
    /// A wrong index, or a halo that spans more than the direct neighbour.
    pub fn slabs(&self, index: &[usize]) -> Result<Vec<AxisStep>, HaloError> {
        let axes: Vec<SlabAxis> = self.worker(index)?.iter().map(SlabAxis::from).collect();
        exchange_slabs(&axes)
    }
}
