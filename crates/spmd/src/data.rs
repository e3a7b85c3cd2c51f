//! Plain data between the members of a partition: what programs tell each other besides tensors.

use std::panic::Location;

use pantile_engine::{Combination, Element, Tile};
use pantile_geometry::teams::TeamError;
use pantile_geometry::{Axis, Direction, Distribution, Fingerprint, Mesh, Operator};

use crate::structure::{Council, Structure};
use crate::whole::fold;
use crate::{Error, Partition, Tensor};

impl Partition {
    /// The data of the member `root`, on every member. Only the root's `data` is looked at;
    /// receivers need not know its shape. Data of no axis arrives with one. `None` outside of the
    /// partition. Collective.
    ///
    /// # Errors
    /// There is no such member, it gave nothing, or its elements are of another type.
    #[track_caller]
    pub fn broadcast_data<T: Element>(
        &self,
        data: Option<&Tensor<T>>,
        root: usize,
    ) -> Result<Option<Tensor<T>>, Error> {
        let Some(root) = self.team().world_rank(root) else {
            return Err(TeamError::RankOutOfRange { rank: root, size: self.team().size() }.into());
        };
        self.broadcast_from(data, root, Location::caller())
    }

    /// The data of the member `root` *of `holders`*, a part of this partition, on every member of
    /// this partition. Collective.
    ///
    /// # Errors
    /// As [`Partition::broadcast_data`]; also if that member is not in this partition.
    #[track_caller]
    pub fn broadcast_data_of<T: Element>(
        &self,
        data: Option<&Tensor<T>>,
        root: usize,
        holders: &Partition,
    ) -> Result<Option<Tensor<T>>, Error> {
        self.same_world(holders)?;
        let world_rank = holders.team().world_rank(root);
        match world_rank.filter(|rank| self.team().is_active(*rank)) {
            Some(root) => self.broadcast_from(data, root, Location::caller()),
            None => {
                Err(TeamError::RankOutOfRange { rank: root, size: holders.team().size() }.into())
            }
        }
    }

    /// Equally long data of every member, as a tensor with one row per member. `None` outside of
    /// the partition. Collective.
    ///
    /// # Errors
    /// Two members differ in type or length.
    #[track_caller]
    pub fn allgather_data<T: Element>(&self, data: &[T]) -> Result<Option<Tensor<T>>, Error> {
        let place = Location::caller();
        let council = self.council("allgather of data", 0)?;
        if !self.active() {
            return Ok(None);
        }
        let data = Tensor::from_vec(&[data.len()], data.to_vec())?;
        let structure = self.agree(&council, Some(&data), place)?;
        let (rows, columns) = (self.team().size(), structure.elements());
        let line = Mesh::line(rows)?.with_team(self.members())?;
        let shape = [rows, columns];
        let source =
            Distribution::new(&shape, line.clone(), vec![Axis::block(&["r"]), Axis::whole()])?;
        let target = Distribution::copies(&shape, line)?;
        let moved = self.moved(&council, (&source, &target), data.tile(), place)?;
        Ok(Some(Tensor::from_tile(shape.to_vec(), moved)))
    }

    /// Equally shaped data of every member, combined element by element in the order of their world
    /// ranks, on every member. `None` outside of the partition. Collective.
    ///
    /// # Errors
    /// Two members differ in type or shape, or the type does not have the operator.
    #[track_caller]
    pub fn allreduce_data<T: Element>(
        &self,
        data: &Tensor<T>,
        operator: Operator,
    ) -> Result<Option<Tensor<T>>, Error> {
        let place = Location::caller();
        // A team of one combines nothing, but refuses what a larger one would.
        Combination::new(T::DTYPE, operator).map_err(pantile_engine::Error::Kernel)?;
        let council = self.council("allreduce of data", operator as u64)?;
        if !self.active() {
            return Ok(None);
        }
        let structure = self.agree(&council, Some(data), place)?;
        let line = Mesh::line(self.team().size())?.with_team(self.members())?;
        let copies = Distribution::copies(&[structure.elements()], line)?;
        let terms = copies.clone().with_terms(&[Direction::Mesh("r")], operator)?;
        let moved = self.moved(&council, (&terms, &copies), data.tile(), place)?;
        Ok(Some(Tensor::from_tile(structure.shape, moved)))
    }

    fn broadcast_from<T: Element>(
        &self,
        data: Option<&Tensor<T>>,
        root: usize,
        place: &'static Location<'static>,
    ) -> Result<Option<Tensor<T>>, Error> {
        let council = self.council("broadcast of data", root as u64)?;
        if !self.active() {
            return Ok(None);
        }
        let is_root = council.world.rank() == root;
        let mine = data.filter(|_| is_root);
        let structure = self.agree(&council, mine, place)?;
        let line = Mesh::line(self.team().size())?.with_team(self.members())?;
        let size = [structure.elements()];
        let (source, target) =
            (Distribution::on_rank(&size, root)?, Distribution::copies(&size, line)?);
        let nothing = Tile::zeroed(T::DTYPE, 0);
        let tile = mine.map_or(&nothing, Tensor::tile);
        let moved = self.moved(&council, (&source, &target), tile, place)?;
        let shape = if structure.shape.is_empty() { vec![1] } else { structure.shape };
        Ok(Some(Tensor::from_tile(shape, moved)))
    }

    /// The structure step: what all workers that give something have in common.
    fn agree<T: Element>(
        &self,
        council: &Council,
        mine: Option<&Tensor<T>>,
        place: &'static Location<'static>,
    ) -> Result<Structure, Error> {
        let heard = council.hear(&council.call(0, place), mine)?;
        let members = council.team.iter().zip(&heard);
        let given = members.filter_map(|(rank, heard)| Some((*rank, heard.as_ref()?)));
        match council.common(given)? {
            Some(structure) => Ok(structure.clone()),
            None => Err(Error::Inactive { asked: "data that its root did not give" }),
        }
    }

    fn moved(
        &self,
        council: &Council,
        (source, target): (&Distribution, &Distribution),
        tile: &Tile,
        place: &'static Location<'static>,
    ) -> Result<Tile, Error> {
        let mut engine = council.world.engine();
        let movement = engine.movement(council.name, source, target, tile.dtype())?;
        let mut moved = Tile::zeroed(tile.dtype(), movement.target_len());
        engine.run_at(&movement, tile, &mut moved, place)?;
        Ok(moved)
    }

    fn council(&self, name: &'static str, argument: u64) -> Result<Council, Error> {
        let team = self.members();
        let fingerprint = fold(Fingerprint::of(&format!("{team:?} {argument}")));
        Ok(Council { name, world: self.world()?.clone(), team, fingerprint })
    }
}
