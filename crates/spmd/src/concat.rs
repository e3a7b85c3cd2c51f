//! Blocks put together along some axes of a partition, and their adjoint: sums taken apart.

use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use pantile_engine::{Element, Tile};
use pantile_geometry::teams::AxisChoice;
use pantile_geometry::{Axis, Direction, Distribution, Fingerprint, Operator};

use crate::structure::Council;
use crate::whole::fold;
use crate::{CartesianPartition, Error, Tensor, blocks};

/// What the two have in common: an array that is cut over all axes of a partition on one side, and
/// whole along some of them on the other.
struct Concat {
    council: Council,
    partition: CartesianPartition,
    /// Per axis, whether it stays cut.
    kept: Vec<bool>,
    /// The blocks that last went in: the same on every worker.
    last: Mutex<Option<Distribution>>,
}

impl Concat {
    fn new(
        name: &'static str,
        partition: &CartesianPartition,
        axes: &AxisChoice,
    ) -> Result<Self, Error> {
        let kept = axes.kept(partition.team().dim())?;
        let arguments = format!("{} {kept:?}", partition.mesh()?);
        let council = Council {
            name,
            world: partition.world()?.clone(),
            team: partition.members(),
            fingerprint: fold(Fingerprint::of(&arguments)),
        };
        Ok(Self { council, partition: partition.clone(), kept, last: Mutex::default() })
    }

    /// The structure step: the extents of all workers' tensors, those of the axes that are not kept
    /// summed up or, if they are whole, checked to be equal.
    fn agree<T: Element>(
        &self,
        tensor: &Tensor<T>,
        whole: bool,
        place: &'static Location<'static>,
    ) -> Result<Option<blocks::Extents>, Error> {
        if !self.partition.active() {
            return Ok(None);
        }
        let call = self.council.call(u64::from(whole), place);
        let heard = self.council.hear(&call, Some(tensor))?;
        let mut extents = blocks::extents(&self.council, &self.partition, &heard)?;
        if whole {
            for (axis, lengths) in extents.iter_mut().enumerate() {
                if !self.kept[axis] {
                    self.expect_equal(axis, lengths)?;
                    lengths.truncate(1);
                }
            }
        }
        Ok(Some(extents))
    }

    fn expect_equal(&self, axis: usize, lengths: &[usize]) -> Result<(), Error> {
        let Some(coordinate) = lengths.iter().position(|length| *length != lengths[0]) else {
            return Ok(());
        };
        let mut index = vec![0; self.kept.len()];
        index[axis] = coordinate;
        let place = self.partition.team().rank_of_index(&index)?;
        Err(Error::WrongShape {
            name: self.council.name,
            rank: self.partition.team().world_rank(place).unwrap_or(place),
            got: vec![lengths[coordinate]],
            expected: format!("length {} along axis {axis}, as at coordinate 0", lengths[0]),
        })
    }

    /// The array cut over the kept axes only: the same along the others, or terms of a sum.
    fn whole(&self, extents: &blocks::Extents, terms: bool) -> Result<Distribution, Error> {
        let axes = extents.iter().enumerate().map(|(axis, extents)| match self.kept[axis] {
            true => Axis::cut(&[&blocks::name(axis)], blocks::cuts(extents)),
            false => Axis::whole(),
        });
        let shape = blocks::global_shape(extents);
        let whole = Distribution::new(&shape, self.partition.mesh()?, axes.collect())?;
        if !terms {
            return Ok(whole);
        }
        let names: Vec<String> =
            (0..self.kept.len()).filter(|axis| !self.kept[*axis]).map(blocks::name).collect();
        let directions: Vec<Direction<'_>> =
            names.iter().map(|name| Direction::Mesh(name)).collect();
        Ok(whole.with_terms(&directions, Operator::Sum)?)
    }

    /// The array cut over all axes: as it last was, or balanced where it was whole.
    fn blocks(
        &self,
        extents: &blocks::Extents,
        last: Option<Distribution>,
    ) -> Result<Distribution, Error> {
        let shape = blocks::global_shape(extents);
        if let Some(last) = last.filter(|last| last.shape() == shape) {
            return Ok(last);
        }
        let axes = extents.iter().enumerate().map(|(axis, extents)| match self.kept[axis] {
            true => Axis::cut(&[&blocks::name(axis)], blocks::cuts(extents)),
            false => Axis::block(&[&blocks::name(axis)]),
        });
        Ok(Distribution::new(&shape, self.partition.mesh()?, axes.collect())?)
    }

    fn remember(&self, blocks: &Distribution) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(blocks.clone());
    }

    fn last(&self) -> Option<Distribution> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Blocks to whole: gathers.
    fn gather<T: Element>(
        &self,
        x: &Tensor<T>,
        place: &'static Location<'static>,
    ) -> Result<Tensor<T>, Error> {
        let Some(extents) = self.agree(x, false, place)? else { return Ok(x.clone()) };
        let source = blocks::distribution(&self.partition, &extents)?;
        self.remember(&source);
        self.moved(x, (&source, &self.whole(&extents, false)?), place)
    }

    /// Whole to blocks: sums and scatters.
    fn scatter<T: Element>(
        &self,
        x: &Tensor<T>,
        last: Option<Distribution>,
        place: &'static Location<'static>,
    ) -> Result<Tensor<T>, Error> {
        let Some(extents) = self.agree(x, true, place)? else { return Ok(x.clone()) };
        let (source, target) = (self.whole(&extents, true)?, self.blocks(&extents, last)?);
        self.moved(x, (&source, &target), place)
    }

    fn moved<T: Element>(
        &self,
        x: &Tensor<T>,
        (source, target): (&Distribution, &Distribution),
        place: &'static Location<'static>,
    ) -> Result<Tensor<T>, Error> {
        let mut engine = self.council.world.engine();
        let movement = engine.movement(self.council.name, source, target, T::DTYPE)?;
        let mut moved = Tile::zeroed(T::DTYPE, movement.target_len());
        engine.run_at(&movement, x.tile(), &mut moved, place)?;
        let shape = target.local_shape(self.council.world.rank());
        Ok(Tensor::from_tile(shape.expect("an active worker has a tile"), moved))
    }
}

/// Puts blocks together along the chosen axes of a partition, whose number of axes is that of the
/// tensors: every worker then has the whole along these. The adjoint sums and takes apart again,
/// into blocks as they were.
pub struct AllGather(Concat);

/// Sums tensors along the chosen axes of a partition and leaves each worker a balanced block of the
/// sum along these. The adjoint puts the blocks together again.
pub struct ReduceScatter(Concat);

impl AllGather {
    /// Gathers along the axes that `axes` does not keep.
    ///
    /// # Errors
    /// An axis does not exist or is named twice.
    pub fn new(partition: &CartesianPartition, axes: &AxisChoice) -> Result<Self, Error> {
        Ok(Self(Concat::new("all-gather", partition, axes)?))
    }

    /// Puts the blocks together. Collective in the partition; others get a copy.
    ///
    /// # Errors
    /// The blocks do not form a grid, or the ranks cannot work together.
    #[track_caller]
    pub fn forward<T: Element>(&self, x: &Tensor<T>) -> Result<Tensor<T>, Error> {
        self.0.gather(x, Location::caller())
    }

    /// Sums and takes apart: the adjoint. Collective, as `forward`.
    ///
    /// # Errors
    /// As `forward`.
    #[track_caller]
    pub fn adjoint<T: Element>(&self, dy: &Tensor<T>) -> Result<Tensor<T>, Error> {
        self.0.scatter(dy, self.0.last(), Location::caller())
    }
}

impl ReduceScatter {
    /// Sums along the axes that `axes` does not keep.
    ///
    /// # Errors
    /// An axis does not exist or is named twice.
    pub fn new(partition: &CartesianPartition, axes: &AxisChoice) -> Result<Self, Error> {
        Ok(Self(Concat::new("reduce-scatter", partition, axes)?))
    }

    /// Sums and takes apart. Collective in the partition; others get a copy.
    ///
    /// # Errors
    /// The tensors do not form a grid, or the ranks cannot work together.
    #[track_caller]
    pub fn forward<T: Element>(&self, x: &Tensor<T>) -> Result<Tensor<T>, Error> {
        self.0.scatter(x, None, Location::caller())
    }

    /// Puts the blocks together: the adjoint. Collective, as `forward`.
    ///
    /// # Errors
    /// As `forward`.
    #[track_caller]
    pub fn adjoint<T: Element>(&self, dy: &Tensor<T>) -> Result<Tensor<T>, Error> {
        self.0.gather(dy, Location::caller())
    }
}
