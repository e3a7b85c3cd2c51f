//! From the blocks of one partition to those of another.

use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use pantile_engine::{Element, Tile};
use pantile_geometry::{Distribution, Fingerprint};

use crate::structure::Council;
use crate::whole::fold;
use crate::{CartesianPartition, Error, Tensor, blocks};

/// Moves the blocks of an array from one partition to another, balanced.
///
/// The blocks that come in may be unbalanced, as long as they form a grid; those that go out are
/// balanced, the larger ones first. Workers outside of the source give any tensor, workers outside
/// of the target get an empty one. The adjoint moves balanced blocks back to where the last
/// `forward` took them from.
pub struct Repartition {
    council: Council,
    source: CartesianPartition,
    target: CartesianPartition,
    preserve_batch: bool,
    /// Where the last `forward` took its blocks from: the same on every worker.
    last: Mutex<Option<Distribution>>,
}

impl Repartition {
    /// A movement from `source` to `target`, which have as many axes as the arrays to be moved.
    ///
    /// # Errors
    /// The partitions differ in the number of axes, or come from different worlds.
    pub fn new(source: &CartesianPartition, target: &CartesianPartition) -> Result<Self, Error> {
        const NAME: &str = "repartition";
        let union = source.create_partition_union(target)?;
        let (from, to) = (source.team().dim(), target.team().dim());
        if from != to {
            return Err(Error::Dimensions { name: NAME, source: from, target: to });
        }
        let arguments = format!("{} -> {}", source.mesh()?, target.mesh()?);
        let council = Council {
            name: NAME,
            world: source.world()?.clone(),
            team: union.members(),
            fingerprint: fold(Fingerprint::of(&arguments)),
        };
        let (source, target) = (source.clone(), target.clone());
        Ok(Self { council, source, target, preserve_batch: false, last: Mutex::default() })
    }

    /// Empty results keep the batch extent of the worker's own input: `[b, 0]` instead of `[0]`.
    #[must_use]
    pub fn preserve_batch(mut self, preserve: bool) -> Self {
        self.preserve_batch = preserve;
        self
    }

    /// Moves the blocks. Collective among the workers of both partitions; others get a copy of
    /// what they gave.
    ///
    /// # Errors
    /// The blocks do not form a grid, their number of axes is not that of the partitions, or an
    /// axis of length 1 meets several workers; or the ranks cannot work together.
    #[track_caller]
    pub fn forward<T: Element>(&self, x: &Tensor<T>) -> Result<Tensor<T>, Error> {
        let place = Location::caller();
        let Some(extents) = self.agree(&self.source, x, 0, place)? else { return Ok(x.clone()) };
        let shape = blocks::global_shape(&extents);
        for (axis, workers) in self.target.team().shape().into_iter().enumerate() {
            if shape[axis] == 1 && workers != 1 {
                return Err(Error::ShortAxis { axis, workers });
            }
        }
        let source = blocks::distribution(&self.source, &extents)?;
        let target = Distribution::blocks(&shape, self.target.mesh()?)?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(source.clone());
        self.moved(x, (&source, &target), place)
    }

    /// Moves blocks of the result back: the adjoint. Collective, as `forward`.
    ///
    /// # Errors
    /// As `forward`; also if the blocks are not the balanced ones that `forward` gives.
    #[track_caller]
    pub fn adjoint<T: Element>(&self, dy: &Tensor<T>) -> Result<Tensor<T>, Error> {
        let place = Location::caller();
        let Some(extents) = self.agree(&self.target, dy, 1, place)? else { return Ok(dy.clone()) };
        let shape = blocks::global_shape(&extents);
        let source = blocks::distribution(&self.target, &extents)?;
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let target = match last.filter(|last| last.shape() == shape) {
            Some(last) => last,
            None => Distribution::blocks(&shape, self.source.mesh()?)?,
        };
        self.moved(dy, (&source.dual()?, &target.dual()?), place)
    }

    /// The structure step: the extents of the blocks of one side; `None` outside of both.
    fn agree<T: Element>(
        &self,
        side: &CartesianPartition,
        tensor: &Tensor<T>,
        phase: u64,
        place: &'static Location<'static>,
    ) -> Result<Option<blocks::Extents>, Error> {
        if !self.council.has_me() {
            return Ok(None);
        }
        let mine = side.active().then_some(tensor);
        let heard = self.council.hear(&self.council.call(phase, place), mine)?;
        blocks::extents(&self.council, side, &heard).map(Some)
    }

    fn moved<T: Element>(
        &self,
        x: &Tensor<T>,
        (source, target): (&Distribution, &Distribution),
        place: &'static Location<'static>,
    ) -> Result<Tensor<T>, Error> {
        let me = self.council.world.rank();
        let mut engine = self.council.world.engine();
        let movement = engine.movement(self.council.name, source, target, T::DTYPE)?;
        let nothing = Tile::zeroed(T::DTYPE, 0);
        let from = if source.local_shape(me).is_some() { x.tile() } else { &nothing };
        let mut moved = Tile::zeroed(T::DTYPE, movement.target_len());
        engine.run_at(&movement, from, &mut moved, place)?;
        Ok(match (target.local_shape(me), x.shape().first()) {
            (Some(shape), _) => Tensor::from_tile(shape, moved),
            (None, Some(batch)) if self.preserve_batch => Tensor::zeros(&[*batch, 0]),
            (None, _) => Tensor::empty(),
        })
    }
}
