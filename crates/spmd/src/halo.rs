//! Halo exchange on tensors that already have room for their halos.

use std::panic::Location;

use pantile_engine::Element;
use pantile_geometry::{Axis, Distribution, Fingerprint};

use crate::structure::Council;
use crate::whole::fold;
use crate::{CartesianPartition, Error, Tensor, blocks};

/// How wide the halos are along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widths {
    /// Left and right, by coordinate.
    sides: Vec<(usize, usize)>,
    /// The two ends of the axis are neighbours.
    periodic: bool,
}

impl Widths {
    /// The same widths at every coordinate. At the two ends of the axis there is no neighbour: the
    /// cells there belong to the worker, as boundary cells do.
    #[must_use]
    pub fn uniform(workers: usize, left: usize, right: usize) -> Self {
        Self { sides: vec![(left, right); workers], periodic: false }
    }

    /// Left and right width at each coordinate.
    #[must_use]
    pub fn each(sides: &[(usize, usize)]) -> Self {
        Self { sides: sides.to_vec(), periodic: false }
    }

    /// No halo.
    #[must_use]
    pub fn none(workers: usize) -> Self {
        Self::uniform(workers, 0, 0)
    }

    /// The two ends of the axis are neighbours.
    #[must_use]
    pub fn periodic(mut self) -> Self {
        self.periodic = true;
        self
    }

    /// Widths without those at the ends of an axis that is not periodic.
    fn inner(&self) -> Vec<(usize, usize)> {
        let mut sides = self.sides.clone();
        if !self.periodic {
            if let Some(first) = sides.first_mut() {
                first.0 = 0;
            }
            if let Some(last) = sides.last_mut() {
                last.1 = 0;
            }
        }
        sides
    }
}

/// Fills the halos of tensors with the neighbours' data.
///
/// A tensor comes with its halo cells: along an axis `[left halo | own cells | right halo]`. Halos
/// may differ per worker and side, and be wider than the neighbour's block: the cells then come from
/// their owners, corners included. The adjoint adds the halo cells to where they came from and
/// leaves zeros.
pub struct HaloExchange {
    council: Council,
    partition: CartesianPartition,
    widths: Vec<Widths>,
}

impl HaloExchange {
    /// An exchange between the members of `partition`, one [`Widths`] per axis.
    ///
    /// # Errors
    /// There is not one per axis, or not one pair per coordinate.
    pub fn new(partition: &CartesianPartition, widths: &[Widths]) -> Result<Self, Error> {
        const NAME: &str = "halo exchange";
        let shape = partition.team().shape();
        let given: Vec<usize> = widths.iter().map(|axis| axis.sides.len()).collect();
        if given != shape {
            let rank = partition.world()?.rank();
            let expected = format!("widths for {shape:?} workers");
            return Err(Error::WrongShape { name: NAME, rank, got: given, expected });
        }
        let arguments = format!("{} {widths:?}", partition.mesh()?);
        let council = Council {
            name: NAME,
            world: partition.world()?.clone(),
            team: partition.members(),
            fingerprint: fold(Fingerprint::of(&arguments)),
        };
        Ok(Self { council, partition: partition.clone(), widths: widths.to_vec() })
    }

    /// Fills the halos of `x`, in place. Collective in the partition; others keep what they have.
    ///
    /// # Errors
    /// The tensors do not form a grid, or are smaller than their halos; or the ranks cannot work
    /// together.
    #[track_caller]
    pub fn exchange<T: Element>(&self, x: &mut Tensor<T>) -> Result<(), Error> {
        self.exchange_at(x, Location::caller())
    }

    fn exchange_at<T: Element>(
        &self,
        x: &mut Tensor<T>,
        place: &'static Location<'static>,
    ) -> Result<(), Error> {
        let Some((bare, full)) = self.agree(x, 0, place)? else { return Ok(()) };
        let mut engine = self.council.world.engine();
        let movement = engine.movement(self.council.name, &bare, &full, T::DTYPE)?;
        Ok(engine.run_in_place_at(&movement, x.tile_mut(), place)?)
    }

    /// `x` with its halos filled. Collective, as [`HaloExchange::exchange`].
    ///
    /// # Errors
    /// As [`HaloExchange::exchange`].
    #[track_caller]
    pub fn forward<T: Element>(&self, x: &Tensor<T>) -> Result<Tensor<T>, Error> {
        let mut filled = x.clone();
        self.exchange_at(&mut filled, Location::caller())?;
        Ok(filled)
    }

    /// Adds the halo cells of `dy` to the cells they came from, and sets them to zero, in place:
    /// only cells at the edges are touched. Collective, as [`HaloExchange::exchange`].
    ///
    /// # Errors
    /// As [`HaloExchange::exchange`].
    #[track_caller]
    pub fn accumulate<T: Element>(&self, dy: &mut Tensor<T>) -> Result<(), Error> {
        self.accumulate_at(dy, Location::caller())
    }

    fn accumulate_at<T: Element>(
        &self,
        dy: &mut Tensor<T>,
        place: &'static Location<'static>,
    ) -> Result<(), Error> {
        let Some((bare, full)) = self.agree(dy, 1, place)? else { return Ok(()) };
        let (from, to) = (full.dual()?, bare.dual()?);
        let mut engine = self.council.world.engine();
        let movement = engine.accumulation("halo accumulation", &from, &to, T::DTYPE)?;
        Ok(engine.run_in_place_at(&movement, dy.tile_mut(), place)?)
    }

    /// `dy` with its halo cells added to the cells they came from: the adjoint. Collective, as
    /// [`HaloExchange::exchange`].
    ///
    /// # Errors
    /// As [`HaloExchange::exchange`].
    #[track_caller]
    pub fn adjoint<T: Element>(&self, dy: &Tensor<T>) -> Result<Tensor<T>, Error> {
        let mut sum = dy.clone();
        self.accumulate_at(&mut sum, Location::caller())?;
        Ok(sum)
    }

    /// The structure step: the array with its halos as room, and with its halos filled.
    fn agree<T: Element>(
        &self,
        tensor: &Tensor<T>,
        phase: u64,
        place: &'static Location<'static>,
    ) -> Result<Option<(Distribution, Distribution)>, Error> {
        if !self.partition.active() {
            return Ok(None);
        }
        let heard = self.council.hear(&self.council.call(phase, place), Some(tensor))?;
        let padded = blocks::extents(&self.council, &self.partition, &heard)?;
        let (mut bare, mut full, mut shape) = (Vec::new(), Vec::new(), Vec::new());
        for (axis, (widths, padded)) in self.widths.iter().zip(&padded).enumerate() {
            let own = self.own_extents(axis, widths, padded)?;
            let cut = Axis::cut(&[&blocks::name(axis)], blocks::cuts(&own));
            let cut = if widths.periodic { cut.periodic() } else { cut };
            let held = held(widths, &own);
            bare.push(cut.clone().room(&held));
            full.push(cut.held(&held));
            shape.push(own.iter().sum());
        }
        let mesh = self.partition.mesh()?;
        let bare = Distribution::new(&shape, mesh.clone(), bare)?;
        Ok(Some((bare, Distribution::new(&shape, mesh, full)?)))
    }

    /// Lengths without halos, by coordinate.
    fn own_extents(
        &self,
        axis: usize,
        widths: &Widths,
        padded: &[usize],
    ) -> Result<Vec<usize>, Error> {
        let sides = widths.inner().into_iter().zip(padded).enumerate();
        let own = sides.map(|(coordinate, ((left, right), padded))| {
            padded.checked_sub(left + right).ok_or_else(|| {
                let mut index = vec![0; self.widths.len()];
                index[axis] = coordinate;
                let place = self.partition.team().rank_of_index(&index).unwrap_or(0);
                Error::WrongShape {
                    name: self.council.name,
                    rank: self.partition.team().world_rank(place).unwrap_or(place),
                    got: vec![*padded],
                    expected: format!("at least the {left} + {right} halo cells along axis {axis}"),
                }
            })
        });
        own.collect()
    }
}

/// What each coordinate has: its own cells with its halos.
fn held(widths: &Widths, own: &[usize]) -> Vec<(i64, i64)> {
    let signed = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let mut start = 0;
    let intervals = widths.inner().into_iter().zip(own).map(|((left, right), own)| {
        let interval = (signed(start) - signed(left), signed(start + own + right));
        start += own;
        interval
    });
    intervals.collect()
}
