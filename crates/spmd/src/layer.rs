//! Halo exchange for layers with a sliding window: what a local kernel needs, and nothing else.

use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use pantile_engine::{DType, Element, Frame, Movement, Tile};
use pantile_geometry::halo::{AxisHalo, Blocks, LayerAxis, LayerHalo, WindowParameters};
use pantile_geometry::{Distribution, Fingerprint};

use crate::structure::Council;
use crate::whole::fold;
use crate::{CartesianPartition, Error, Tensor, blocks};

/// One axis of a layer that any thread may ask.
type SharedAxis = Arc<dyn LayerAxis + Send + Sync>;

/// Gives every worker exactly the input that it needs to compute its share of the balanced output
/// of a convolution, a pooling or any other layer with a sliding window, padding included.
///
/// A worker gives its block of the input, balanced or not, and gets a tensor on which a kernel
/// *without padding* yields exactly its outputs: halo cells of the neighbours (however many blocks
/// away), padding at the edges of the array, and none of its own cells that no output of its own
/// looks at. The adjoint takes a tensor of that shape back: cells that came from elsewhere are added
/// there, padding is dropped.
pub struct LayerExchange {
    council: Council,
    partition: CartesianPartition,
    layers: Vec<SharedAxis>,
    /// What the last `forward` saw: the same on every worker.
    last: Mutex<Option<Arc<CutExchange>>>,
}

/// The exchange for one cut of the input.
struct CutExchange {
    extents: blocks::Extents,
    input: Distribution,
    needed: Distribution,
    frame: Frame,
    /// Both directions, by type.
    movements: Mutex<Vec<(DType, bool, Arc<Movement>)>>,
}

impl LayerExchange {
    /// The exchange of a convolution or pooling; parameters shorter than the number of axes belong
    /// to the last axes.
    ///
    /// # Errors
    /// A parameter has more entries than the partition axes, or is out of range.
    pub fn new(
        partition: &CartesianPartition,
        parameters: &WindowParameters,
    ) -> Result<Self, Error> {
        let windows = parameters.windows(partition.team().dim())?;
        let arguments = format!("{parameters:?}");
        let layers = windows.into_iter().map(|window| Arc::new(window) as SharedAxis);
        Self::of_layers(partition, layers.collect(), &arguments)
    }

    /// The exchange of a layer that says, axis by axis, which inputs an output looks at. `name`
    /// stands for these functions when workers compare what they do.
    ///
    /// # Errors
    /// There is not one layer per axis of the partition.
    pub fn custom(
        partition: &CartesianPartition,
        layers: Vec<Arc<dyn LayerAxis + Send + Sync>>,
        name: &str,
    ) -> Result<Self, Error> {
        Self::of_layers(partition, layers, name)
    }

    fn of_layers(
        partition: &CartesianPartition,
        layers: Vec<SharedAxis>,
        arguments: &str,
    ) -> Result<Self, Error> {
        const NAME: &str = "layer exchange";
        let (source, target) = (partition.team().dim(), layers.len());
        if source != target {
            return Err(Error::Dimensions { name: NAME, source, target });
        }
        let arguments = format!("{} {arguments}", partition.mesh()?);
        let council = Council {
            name: NAME,
            world: partition.world()?.clone(),
            team: partition.members(),
            fingerprint: fold(Fingerprint::of(&arguments)),
        };
        Ok(Self { council, partition: partition.clone(), layers, last: Mutex::default() })
    }

    /// What the local kernel needs, padded with zeros. Collective in the partition; others get a
    /// copy of what they gave.
    ///
    /// # Errors
    /// The blocks do not form a grid, the layer cannot be applied to the array, or the ranks cannot
    /// work together.
    #[track_caller]
    pub fn forward<T: Element>(&self, x: &Tensor<T>) -> Result<Tensor<T>, Error> {
        self.forward_at(x, T::default(), Location::caller())
    }

    /// What the local kernel needs, padded with `padding` (minus infinity for max-pooling).
    /// Collective, as [`LayerExchange::forward`].
    ///
    /// # Errors
    /// As [`LayerExchange::forward`].
    #[track_caller]
    pub fn forward_padded<T: Element>(
        &self,
        x: &Tensor<T>,
        padding: T,
    ) -> Result<Tensor<T>, Error> {
        self.forward_at(x, padding, Location::caller())
    }

    fn forward_at<T: Element>(
        &self,
        x: &Tensor<T>,
        padding: T,
        place: &'static Location<'static>,
    ) -> Result<Tensor<T>, Error> {
        if !self.partition.active() {
            return Ok(x.clone());
        }
        let heard = self.council.hear(&self.council.call(0, place), Some(x))?;
        let extents = blocks::extents(&self.council, &self.partition, &heard)?;
        let plan = self.plan(extents)?;
        let movement = self.movement(&plan, T::DTYPE, false)?;
        let shape = self.needed_shape(&plan, self.council.world.rank());
        let mut needed = Tensor::full(&shape, padding);
        self.council.world.engine().run_at(&movement, x.tile(), needed.tile_mut(), place)?;
        Ok(needed)
    }

    /// Brings gradients of what the kernel saw back to the blocks of the input: the adjoint.
    /// Collective, as [`LayerExchange::forward`].
    ///
    /// # Errors
    /// There was no forward, or a tensor does not have the shape that it gave; or the ranks cannot
    /// work together.
    #[track_caller]
    pub fn adjoint<T: Element>(&self, dy: &Tensor<T>) -> Result<Tensor<T>, Error> {
        let place = Location::caller();
        if !self.partition.active() {
            return Ok(dy.clone());
        }
        let heard = self.council.hear(&self.council.call(1, place), Some(dy))?;
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let plan = last.ok_or(Error::NoForward { name: self.council.name })?;
        for (rank, structure) in self.council.team.iter().zip(&heard) {
            let (got, expected) = (structure.as_ref(), self.needed_shape(&plan, *rank));
            if let Some(got) = got.filter(|got| got.shape != expected) {
                let (name, got) = (self.council.name, got.shape.clone());
                let expected = format!("{expected:?}, as forward gave");
                return Err(Error::WrongShape { name, rank: *rank, got, expected });
            }
        }
        let movement = self.movement(&plan, T::DTYPE, true)?;
        let mut moved = Tile::zeroed(T::DTYPE, movement.target_len());
        self.council.world.engine().run_at(&movement, dy.tile(), &mut moved, place)?;
        let shape = plan.input.local_shape(self.council.world.rank());
        Ok(Tensor::from_tile(shape.unwrap_or_default(), moved))
    }

    /// The exchange for these blocks; the last one if they are as they were.
    fn plan(&self, extents: blocks::Extents) -> Result<Arc<CutExchange>, Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = last.as_ref().filter(|plan| plan.extents == extents) {
            return Ok(Arc::clone(plan));
        }
        let mut halos = Vec::with_capacity(self.layers.len());
        for (layer, extents) in self.layers.iter().zip(&extents) {
            halos.push(AxisHalo::new(&**layer, &Blocks::from_extents(extents)?)?);
        }
        let input = blocks::distribution(&self.partition, &extents)?;
        let halo = LayerHalo::from_axes(halos);
        let needed = halo.needed(&input)?;
        let axes = halo.axes().iter().map(|axis| axis.iter().map(|row| row.beyond).collect());
        let frame = Frame { axes: axes.collect() };
        let plan = CutExchange { extents, input, needed, frame, movements: Mutex::default() };
        let plan = Arc::new(plan);
        *last = Some(Arc::clone(&plan));
        Ok(plan)
    }

    fn needed_shape(&self, plan: &CutExchange, rank: usize) -> Vec<usize> {
        plan.frame.local_shape(&plan.needed, rank).expect("a member has a tile")
    }

    fn movement(
        &self,
        plan: &CutExchange,
        dtype: DType,
        back: bool,
    ) -> Result<Arc<Movement>, Error> {
        let mut kept = plan.movements.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., movement)) = kept.iter().find(|(d, b, _)| (*d, *b) == (dtype, back)) {
            return Ok(Arc::clone(movement));
        }
        let (none, name) = (Frame::default(), self.council.name);
        let mut engine = self.council.world.engine();
        let movement = match back {
            false => engine.framed_movement(
                name,
                (&plan.input, &none),
                (&plan.needed, &plan.frame),
                dtype,
            ),
            true => {
                let (from, to) = (plan.needed.dual()?, plan.input.dual()?);
                engine.framed_movement(name, (&from, &plan.frame), (&to, &none), dtype)
            }
        }?;
        kept.push((dtype, back, Arc::clone(&movement)));
        Ok(movement)
    }
}
