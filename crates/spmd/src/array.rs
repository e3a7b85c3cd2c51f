//! Distributed arrays.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use pantile_engine::{Element, Movement, Tile};
use pantile_geometry::{Distribution, Indices};

use crate::tensor::advance;
use crate::{Error, RankContext, Tensor};

/// An array of which each rank has its part, as its distribution says.
///
/// Movements are collective: every rank of the world calls them in the same order. Writing local
/// elements makes the halos stale; [`DistArray::exchange_halo`] fills them again.
pub struct DistArray<T> {
    world: RankContext,
    distribution: Distribution,
    /// Extents of the tile, halo and room included; none on an idle rank.
    extents: Option<Vec<usize>>,
    tile: Tile,
    /// The halo exchange of this array, once it was asked for.
    exchange: Option<Arc<ReadyExchange>>,
    elements: PhantomData<T>,
}

/// A halo exchange, ready to be run.
struct ReadyExchange {
    /// The array before: halos are room.
    bare: Distribution,
    /// The array after: halos are held.
    full: Distribution,
    forward: Arc<Movement>,
}

/// A rank's own part of an array.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct LocalView<'a, T> {
    shape: &'a [usize],
    elements: &'a [T],
}

impl<'a, T: Element> LocalView<'a, T> {
    /// Extents, halo and room included.
    #[must_use]
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// Elements in row-major order.
    #[must_use]
    pub fn as_slice(&self) -> &'a [T] {
        self.elements
    }

    /// The element at a local index; `None` outside.
    #[must_use]
    pub fn get(&self, index: &[usize]) -> Option<T> {
        let inside = index.len() == self.shape.len()
            && index.iter().zip(self.shape).all(|(at, extent)| at < extent);
        let offset = index.iter().zip(self.shape).fold(0, |sum, (at, extent)| sum * extent + at);
        inside.then(|| self.elements[offset])
    }
}

impl<T: Element> DistArray<T> {
    /// Zeros.
    #[must_use]
    pub fn zeros(world: &RankContext, distribution: &Distribution) -> Self {
        let len = distribution.local_shape(world.rank()).map_or(0, |shape| shape.iter().product());
        Self::from_parts(world, distribution, Tile::zeroed(T::DTYPE, len))
    }

    /// The value of a function at each global index, wherever it is held: where several ranks hold
    /// terms of an element, each of them gets the value.
    #[must_use]
    pub fn from_fn(
        world: &RankContext,
        distribution: &Distribution,
        mut value: impl FnMut(&[usize]) -> T,
    ) -> Self {
        let mut array = Self::zeros(world, distribution);
        let rank = world.rank();
        let shape = distribution.local_shape(rank).unwrap_or_default();
        let elements = array.tile.as_mut_slice::<T>();
        for (lifts, region) in distribution.held(rank) {
            let Some(slab) = distribution.slab(rank, &lifts, &region) else { continue };
            let axes: Vec<Vec<(usize, usize)>> = region
                .axes()
                .iter()
                .zip(&slab.axes)
                .map(|(indices, places)| indices.iter().zip(listed(places)).collect())
                .collect();
            each(&axes, &shape, |index, offset| elements[offset] = value(index));
        }
        array
    }

    /// This rank's elements in row-major order, halo and room included; none on an idle rank.
    ///
    /// # Errors
    /// There are not as many as the distribution says.
    pub fn from_tile(
        world: &RankContext,
        distribution: &Distribution,
        elements: Vec<T>,
    ) -> Result<Self, Error> {
        let shape = distribution.local_shape(world.rank());
        let len = shape.as_ref().map_or(0, |shape| shape.iter().product());
        if elements.len() != len {
            return Err(Error::Elements { shape: shape.unwrap_or(vec![0]), got: elements.len() });
        }
        Ok(Self::from_parts(world, distribution, Tile::from_vec(elements)))
    }

    fn from_parts(world: &RankContext, distribution: &Distribution, tile: Tile) -> Self {
        let extents = distribution.local_shape(world.rank());
        let (world, distribution) = (world.clone(), distribution.clone());
        Self { world, distribution, extents, tile, exchange: None, elements: PhantomData }
    }

    /// Where every element lives.
    #[must_use]
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }

    /// Global extents.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.distribution.shape()
    }

    /// The world it lives in.
    #[must_use]
    pub fn world(&self) -> &RankContext {
        &self.world
    }

    /// Extents of this rank's part, halo and room included; `None` on an idle rank.
    #[must_use]
    pub fn local_shape(&self) -> Option<Vec<usize>> {
        self.extents.clone()
    }

    /// This rank's elements in row-major order, halo and room included.
    #[must_use]
    pub fn local(&self) -> &[T] {
        self.tile.as_slice()
    }

    /// This rank's part, to be looked at by local index; none on an idle rank.
    pub fn local_view(&self) -> Option<LocalView<'_, T>> {
        let shape = self.extents.as_deref()?;
        Some(LocalView { shape, elements: self.tile.as_slice() })
    }

    /// This rank's elements, to be written. What others have of them is stale from now on: halos
    /// become room. Not collective, but every rank has to do it, or none.
    ///
    /// # Errors
    /// None for distributions made by the constructors; the signature leaves it open.
    pub fn local_mut(&mut self) -> Result<&mut [T], Error> {
        match &self.exchange {
            Some(exchange) if self.distribution == exchange.full => {
                self.distribution = exchange.bare.clone();
            }
            Some(_) => {}
            None => self.distribution = self.distribution.written()?,
        }
        Ok(self.tile.as_mut_slice())
    }

    /// The global index of a local one, if it is held.
    #[must_use]
    pub fn global_index(&self, local: &[usize]) -> Option<Vec<usize>> {
        Some(self.distribution.global(self.world.rank(), local)?.0)
    }

    /// The array in another distribution. Collective.
    ///
    /// # Errors
    /// There is no such movement, the same on every rank; or the ranks cannot work together.
    #[track_caller]
    pub fn redistribute(&self, target: &Distribution) -> Result<Self, Error> {
        let source = self.distribution.clone();
        self.moved("redistribute", (&source, target), target, Location::caller())
    }

    /// This array, of the result of a `redistribute` from `original`, brought back: the adjoint.
    /// Copies of an element are summed; terms get copies. Collective.
    ///
    /// # Errors
    /// As [`DistArray::redistribute`]; also if there are Terms of another operator than sum.
    #[track_caller]
    pub fn redistribute_adjoint(&self, original: &Distribution) -> Result<Self, Error> {
        let (source, target) = (self.distribution.dual()?, original.dual()?);
        let movement = (&source, &target);
        self.moved("adjoint of redistribute", movement, original, Location::caller())
    }

    fn moved(
        &self,
        name: &'static str,
        (source, target): (&Distribution, &Distribution),
        result: &Distribution,
        place: &'static Location<'static>,
    ) -> Result<Self, Error> {
        let mut engine = self.world.engine();
        let movement = engine.movement(name, source, target, T::DTYPE)?;
        let mut tile = Tile::zeroed(T::DTYPE, movement.target_len());
        engine.run_at(&movement, &self.tile, &mut tile, place)?;
        Ok(Self::from_parts(&self.world, result, tile))
    }

    /// Moves the elements into an array that is already there, in its distribution. Collective;
    /// allocates nothing when repeated.
    ///
    /// # Errors
    /// As [`DistArray::redistribute`].
    #[track_caller]
    pub fn redistribute_into(&self, target: &mut Self) -> Result<(), Error> {
        let place = Location::caller();
        let mut engine = self.world.engine();
        let (from, to) = (&self.distribution, &target.distribution);
        let movement = engine.movement("redistribute", from, to, T::DTYPE)?;
        Ok(engine.run_at(&movement, &self.tile, &mut target.tile, place)?)
    }

    /// Fills the halos, in place: everything that there is room for. Collective.
    ///
    /// # Errors
    /// If the ranks cannot work together.
    #[track_caller]
    pub fn exchange_halo(&mut self) -> Result<(), Error> {
        let place = Location::caller();
        let exchange = self.exchange()?;
        self.world.engine().run_in_place_at(&exchange.forward, &mut self.tile, place)?;
        self.distribution = exchange.full.clone();
        Ok(())
    }

    /// Adds every halo cell to the element it is a copy of, and sets it to zero: the adjoint of
    /// [`DistArray::exchange_halo`]. Collective.
    ///
    /// # Errors
    /// If the ranks cannot work together.
    #[track_caller]
    pub fn accumulate_halo(&mut self) -> Result<(), Error> {
        let place = Location::caller();
        let exchange = self.exchange()?;
        let (from, to) = (exchange.full.dual()?, exchange.bare.dual()?);
        let mut engine = self.world.engine();
        let movement = engine.accumulation("halo accumulation", &from, &to, T::DTYPE)?;
        engine.run_in_place_at(&movement, &mut self.tile, place)?;
        drop(engine);
        self.distribution = exchange.bare.clone();
        Ok(())
    }

    fn exchange(&mut self) -> Result<Arc<ReadyExchange>, Error> {
        if let Some(exchange) = &self.exchange {
            return Ok(Arc::clone(exchange));
        }
        let bare = self.distribution.written()?;
        let full = bare.exchanged()?;
        let forward = self.world.engine().movement("halo exchange", &bare, &full, T::DTYPE)?;
        let exchange = Arc::new(ReadyExchange { bare, full, forward });
        self.exchange = Some(Arc::clone(&exchange));
        Ok(exchange)
    }

    /// The whole array on one rank; `None` on the others. Collective.
    ///
    /// # Errors
    /// As [`DistArray::redistribute`].
    #[track_caller]
    pub fn gather(&self, root: usize) -> Result<Option<Tensor<T>>, Error> {
        let target = Distribution::on_rank(self.shape(), root)?;
        let source = self.distribution.clone();
        let whole = self.moved("gather", (&source, &target), &target, Location::caller())?;
        Ok(whole.local_shape().map(|shape| Tensor::from_tile(shape, whole.tile)))
    }

    /// The whole array on every rank of the world. Collective.
    ///
    /// # Errors
    /// As [`DistArray::redistribute`].
    #[track_caller]
    pub fn gather_all(&self) -> Result<Tensor<T>, Error> {
        let mesh = pantile_geometry::Mesh::line(self.world.size())?;
        let target = Distribution::copies(self.shape(), mesh)?;
        let source = self.distribution.clone();
        let whole = self.moved("gather", (&source, &target), &target, Location::caller())?;
        Ok(Tensor::from_tile(self.shape().to_vec(), whole.tile))
    }
}

/// Local places of one axis, one by one.
fn listed(places: &Indices) -> Vec<usize> {
    match places {
        Indices::Segments(segments) => segments.iter().flat_map(|s| s.iter()).collect(),
        Indices::List(list) => list.to_vec(),
    }
}

/// Calls `visit` with the global index and the local offset of every cell of a product of axes,
/// each a list of (global index, local place), in a memory of this shape.
fn each(axes: &[Vec<(usize, usize)>], shape: &[usize], mut visit: impl FnMut(&[usize], usize)) {
    let extents: Vec<usize> = axes.iter().map(Vec::len).collect();
    let mut turn = vec![0; axes.len()];
    let mut index = vec![0; axes.len()];
    for _ in 0..extents.iter().product() {
        let mut offset = 0;
        for (axis, cells) in axes.iter().enumerate() {
            let (global, place) = cells[turn[axis]];
            index[axis] = global;
            offset = offset * shape[axis] + place;
        }
        visit(&index, offset);
        advance(&mut turn, &extents);
    }
}

impl<T: Element> fmt::Debug for DistArray<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DistArray({} {}, rank {})", T::DTYPE, self.distribution, self.world.rank())
    }
}
