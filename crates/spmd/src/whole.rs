//! Movements of whole tensors: broadcast, sum-reduce, all-sum-reduce.
//!
//! All three act on an array of *cells*: a cell is one worker's whole tensor, and the movement is
//! the plan between two distributions of the cells. So forward and adjoint are one piece of code,
//! turned around.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use pantile_engine::{Cells, DType, Element, Movement, Tile};
use pantile_geometry::teams::{AxisChoice, Groups, Transpose};
use pantile_geometry::{Distribution, Fingerprint};

use crate::structure::{Council, Structure};
use crate::{CartesianPartition, Error, Partition, Tensor};

/// Two distributions of cells as functions of the number of elements per cell.
type Sides = dyn Fn(Option<usize>) -> Result<(Distribution, Distribution), Error> + Send + Sync;

/// Direction, type and sizes of the cells: what a compiled movement depends on.
type CellKey = (bool, DType, Vec<usize>);

/// What the three have in common.
struct Whole {
    council: Council,
    sides: Box<Sides>,
    cells: (Distribution, Distribution),
    preserve_batch: bool,
    movements: Mutex<BTreeMap<CellKey, Arc<Movement>>>,
}

/// Compiled movements that one object keeps.
const KEPT: usize = 64;

impl Whole {
    fn new(
        name: &'static str,
        (source, target): (&Partition, &Partition),
        sides: Box<Sides>,
    ) -> Result<Self, Error> {
        let union = source.create_partition_union(target)?;
        let cells = sides(None)?;
        let arguments = format!("{} -> {}", cells.0, cells.1);
        let council = Council {
            name,
            world: source.world()?.clone(),
            team: union.members(),
            fingerprint: fold(Fingerprint::of(&arguments)),
        };
        Ok(Self { council, sides, cells, preserve_batch: false, movements: Mutex::default() })
    }

    /// Moves tensors from the source to the target, or, if `back`, their adjoint.
    fn apply<T: Element>(
        &self,
        x: &Tensor<T>,
        back: bool,
        place: &'static Location<'static>,
    ) -> Result<Tensor<T>, Error> {
        if !self.council.has_me() {
            return Ok(x.clone());
        }
        let call = self.council.call(u64::from(back), place);
        let (from, to) = self.ends(back)?;
        let me = self.council.world.rank();
        let (mine, dtype) = (cell_of(&from, me).map(|_| x), T::DTYPE);
        let heard = self.council.hear(&call, mine)?;
        let shapes = self.cell_shapes(&from, &heard)?;
        let counts: Vec<usize> = shapes.iter().map(Structure::elements).collect();
        let movement = self.movement(back, dtype, counts)?;
        let nothing = Tile::zeroed(dtype, 0);
        let source = mine.map_or(&nothing, Tensor::tile);
        let mut target = Tile::zeroed(dtype, movement.target_len());
        self.council.world.engine().run_at(&movement, source, &mut target, place)?;
        Ok(match cell_of(&to, me) {
            Some(cell) => Tensor::from_tile(shapes[cell].shape.clone(), target),
            None => self.nothing(x),
        })
    }

    /// What a worker outside of the target gets.
    fn nothing<T: Element>(&self, x: &Tensor<T>) -> Tensor<T> {
        match (self.preserve_batch, x.shape().first()) {
            (true, Some(batch)) => Tensor::zeros(&[*batch, 0]),
            _ => Tensor::empty(),
        }
    }

    /// Where the cells are before and after.
    fn ends(&self, back: bool) -> Result<(Distribution, Distribution), Error> {
        turned(self.cells.clone(), back)
    }

    /// The structure of every cell: equal on all its holders.
    fn cell_shapes(
        &self,
        from: &Distribution,
        heard: &[Option<Structure>],
    ) -> Result<Vec<Structure>, Error> {
        let mut holders: Vec<Vec<(usize, &Structure)>> = vec![Vec::new(); from.shape()[0]];
        for (rank, structure) in self.council.team.iter().zip(heard) {
            if let (Some(cell), Some(structure)) = (cell_of(from, *rank), structure) {
                holders[cell].push((*rank, structure));
            }
        }
        let mut shapes = Vec::with_capacity(holders.len());
        for members in holders {
            let common = self.council.common(members.into_iter())?;
            shapes.push(common.expect("every cell has a holder").clone());
        }
        Ok(shapes)
    }

    fn movement(
        &self,
        back: bool,
        dtype: DType,
        counts: Vec<usize>,
    ) -> Result<Arc<Movement>, Error> {
        let key = (back, dtype, counts);
        let mut movements = self.movements.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(movement) = movements.get(&key) {
            return Ok(Arc::clone(movement));
        }
        let movement = self.compile(back, dtype, &key.2)?;
        while movements.len() >= KEPT {
            movements.pop_first();
        }
        movements.insert(key, Arc::clone(&movement));
        Ok(movement)
    }

    fn compile(&self, back: bool, dtype: DType, counts: &[usize]) -> Result<Arc<Movement>, Error> {
        let (name, mut engine) = (self.council.name, self.council.world.engine());
        let all_equal = counts.windows(2).all(|pair| pair[0] == pair[1]);
        if let (true, Some(elements)) = (all_equal, counts.first()) {
            // Cells of one size are a plain array, which has better ways.
            let (from, to) = turned((self.sides)(Some(*elements))?, back)?;
            return Ok(engine.movement(name, &from, &to, dtype)?);
        }
        let (source, target) = self.ends(back)?;
        let cells = Cells { source, target, counts: counts.to_vec() };
        Ok(engine.cell_movement(name, &cells, dtype)?)
    }
}

/// A movement and its adjoint: the movement between the duals.
fn turned(
    (source, target): (Distribution, Distribution),
    back: bool,
) -> Result<(Distribution, Distribution), Error> {
    match back {
        true => Ok((target.dual()?, source.dual()?)),
        false => Ok((source, target)),
    }
}

/// The cell that a rank has, if any.
fn cell_of(cells: &Distribution, rank: usize) -> Option<usize> {
    let held = cells.held(rank);
    held.iter().find_map(|(_, region)| region.axes()[0].iter().next())
}

pub(crate) fn fold(fingerprint: Fingerprint) -> u64 {
    let bytes = fingerprint.0.to_le_bytes();
    let half = |from: usize| bytes[from..].first_chunk::<8>().map_or(0, |b| u64::from_le_bytes(*b));
    half(0) ^ half(8)
}

/// Copies tensors from a partition to a larger one: each worker of the source to a group of the
/// target, by the rules of [`Partition::create_broadcast_partition_to`].
///
/// Workers that are not in the source give any tensor, which is not looked at; workers that are not
/// in the target get an empty one. The adjoint sums.
pub struct Broadcast(Whole);

/// Sums tensors of a partition to a smaller one; the mirror image of [`Broadcast`], whose adjoint
/// copies.
pub struct SumReduce(Whole);

/// Sums tensors over some axes of a partition; every worker gets its sum. It is its own adjoint.
pub struct AllSumReduce(Whole);

impl Broadcast {
    /// A broadcast from `source` to `target`.
    ///
    /// # Errors
    /// The shapes do not match, or the partitions come from different worlds.
    pub fn new(source: &Partition, target: &Partition) -> Result<Self, Error> {
        Self::transposed(source, target, Transpose::default())
    }

    /// A broadcast whose shapes are matched after reversing one or both.
    ///
    /// # Errors
    /// As [`Broadcast::new`].
    pub fn transposed(
        source: &Partition,
        target: &Partition,
        transpose: Transpose,
    ) -> Result<Self, Error> {
        source.same_world(target)?;
        let groups = Groups::broadcast(source.team(), target.team(), transpose)?;
        Ok(Self(Whole::new("broadcast", (source, target), sides(groups))?))
    }
}

impl SumReduce {
    /// A sum from `source` to `target`.
    ///
    /// # Errors
    /// The shapes do not match, or the partitions come from different worlds.
    pub fn new(source: &Partition, target: &Partition) -> Result<Self, Error> {
        Self::transposed(source, target, Transpose::default())
    }

    /// A sum whose shapes are matched after reversing one or both.
    ///
    /// # Errors
    /// As [`SumReduce::new`].
    pub fn transposed(
        source: &Partition,
        target: &Partition,
        transpose: Transpose,
    ) -> Result<Self, Error> {
        source.same_world(target)?;
        let groups = Groups::reduction(source.team(), target.team(), transpose)?;
        Ok(Self(Whole::new("sum-reduce", (source, target), sides(groups))?))
    }
}

impl AllSumReduce {
    /// A sum over the chosen axes of `partition`: those to reduce, or those to keep; negative ones
    /// count from the end.
    ///
    /// # Errors
    /// An axis does not exist or is named twice.
    pub fn new(partition: &CartesianPartition, axes: &AxisChoice) -> Result<Self, Error> {
        let (team, axes) = (partition.team().clone(), axes.clone());
        let sides = Box::new(move |elements: Option<usize>| match elements {
            None => Ok(team.allreduction_distributions(&axes)?),
            Some(elements) => Ok(team.allreduction_tensors(&axes, elements)?),
        });
        Ok(Self(Whole::new("all-sum-reduce", (partition, partition), sides)?))
    }
}

fn sides(groups: Groups) -> Box<Sides> {
    Box::new(move |elements| match elements {
        None => Ok(groups.cell_distributions()?),
        Some(elements) => Ok(groups.tensor_distributions(elements)?),
    })
}

macro_rules! linear {
    ($name:ident) => {
        impl $name {
            /// Empty results keep the batch extent of the worker's own input: `[b, 0]` instead of
            /// `[0]`.
            #[must_use]
            pub fn preserve_batch(mut self, preserve: bool) -> Self {
                self.0.preserve_batch = preserve;
                self
            }

            /// Moves the tensors. Collective among the workers of both partitions; others get a
            /// copy of what they gave.
            ///
            /// # Errors
            /// Tensors of one group differ in type or shape, or the ranks cannot work together.
            #[track_caller]
            pub fn forward<T: Element>(&self, x: &Tensor<T>) -> Result<Tensor<T>, Error> {
                self.0.apply(x, false, Location::caller())
            }

            /// Moves tensors of the result back: the adjoint. Collective, as `forward`.
            ///
            /// # Errors
            /// As `forward`.
            #[track_caller]
            pub fn adjoint<T: Element>(&self, dy: &Tensor<T>) -> Result<Tensor<T>, Error> {
                self.0.apply(dy, true, Location::caller())
            }
        }
    };
}

linear!(Broadcast);
linear!(SumReduce);
linear!(AllSumReduce);
