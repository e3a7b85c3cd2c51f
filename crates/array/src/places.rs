//! Where arrays live.

use std::sync::Arc;

use pantile_engine::DType;
use pantile_geometry::Distribution;
use pantile_ir::infer::ShapeError;
use pantile_ir::{ArrayType, Env, Op, PlacedAt, Placement, Type};
use pantile_lower::home_of;
use smallvec::smallvec;

use super::error::ArrayError;
use super::graph::hash_of;
use super::node::{Node, lock};
use super::session::DefaultPlacement;
use super::{Array, Session, here};

impl Session {
    /// Where an array of this shape lives that is placed so, on so many ranks.
    pub(crate) fn home_at(
        &self,
        placement: &Placement,
        shape: &[usize],
        ranks: usize,
    ) -> Result<Arc<PlacedAt>, ArrayError> {
        let key = match placement {
            Placement::Template(text) => hash_of(&(text, shape, self.ranks_for(ranks))),
            Placement::At(at) => hash_of(&(at.fingerprint(), shape, self.ranks_for(ranks))),
        };
        if let Some(known) = lock(&self.inner.homes).get(&key) {
            return Ok(Arc::clone(known));
        }
        let ty = type_at(shape, DType::F64, placement.clone());
        let home = home_of(&ty, &self.setting_for(ranks));
        let home = PlacedAt::new(home.map_err(|error| ArrayError::Home(*error.kind))?);
        lock(&self.inner.homes).insert(key, Arc::clone(&home), 0);
        Ok(home)
    }

    /// Where an array of this shape lives that is made here.
    pub(crate) fn home_here(
        &self,
        shape: &[usize],
        ranks: usize,
    ) -> Result<Arc<PlacedAt>, ArrayError> {
        match &self.default_placement {
            Some(one) => self.home_at(&one.placement, shape, ranks),
            None => self.home_at(&Placement::from("auto"), shape, ranks),
        }
    }

    /// The type of an array that is made here, on so many ranks. A placement that is none is an error
    /// at once, not at the first line that needs the elements.
    pub(crate) fn made_type(
        &self,
        shape: &[usize],
        dtype: DType,
        ranks: usize,
    ) -> Result<Type, ArrayError> {
        let Some(one) = &self.default_placement else { return Ok(Type::array(shape, dtype)) };
        let home = self.home_at(&one.placement, shape, ranks)?;
        Ok(type_at(shape, dtype, one.placed(home)))
    }

    /// A node's elements at a home: what has them there already, else what is recorded now.
    fn once(&self, node: &Arc<Node>, key: u128, record: impl FnOnce() -> Array) -> Array {
        // Handles need not end on all processes at the same time, and all have to record the same.
        if self.inner.is_spread {
            return record();
        }
        if let Some(known) = node.at_home(key) {
            return Array::of(self, known);
        }
        let array = record();
        if array.fault().is_none() {
            node.remember(key, &array.node(&here()));
        }
        array
    }
}

impl DefaultPlacement {
    /// As the type of an array has it that lives there. What names no mesh, and a single element, depend on
    /// the ranks of the program that the array gets into.
    fn placed(&self, home: Arc<PlacedAt>) -> Placement {
        match self.ranks > 0 && home.ndim() > 0 {
            true => Placement::At(home),
            false => self.placement.clone(),
        }
    }
}

/// The type of an array that is placed so.
fn type_at(shape: &[usize], dtype: DType, placement: Placement) -> Type {
    Type::Array(ArrayType::new(shape, dtype).placed(Some(Env::Placement(placement))))
}

impl Array {
    /// The same array living somewhere else; texts as in [`Session::dist`](super::Session::dist).
    ///
    /// Where one process speaks for all ranks, this version of the array moves once: as long as
    /// the result is referred to, asking for it again gives it again. An assignment to either makes a
    /// new version that the other does not see.
    #[track_caller]
    #[must_use]
    pub fn redistribute(&self, dist: &str) -> Self {
        self.redistribute_in(&self.world.dist(dist))
    }

    /// The same array living there; see [`Array::redistribute`].
    #[track_caller]
    #[must_use]
    pub fn redistribute_to(&self, home: &Distribution) -> Self {
        self.redistribute_in(&self.world.at(home))
    }

    /// The same array where a world makes arrays to live.
    #[track_caller]
    fn redistribute_in(&self, world: &Session) -> Self {
        let place = here();
        let node = self.node(&place);
        let shape = self.shape();
        let named = world.named_ranks();
        let ranks = *named.as_ref().unwrap_or(&0);
        let record = |ty| {
            let operands = smallvec![Arc::clone(&node)];
            let moved = Self::record(&self.world, Op::Redistribute, operands, ty, place);
            lock(&moved.base).need_ranks(ranks);
            moved
        };
        let home = named.and_then(|named| world.home_here(&shape, named.max(node.ranks())));
        match (home, &world.default_placement) {
            (Ok(home), Some(one)) => self.world.once(&node, home.fingerprint(), || {
                record(Ok(type_at(&shape, self.dtype(), one.placed(home.clone()))))
            }),
            (Ok(_), None) => self.clone(),
            (Err(error), _) => record(Err(error)),
        }
    }

    /// The same array, whole on every rank.
    #[track_caller]
    #[must_use]
    pub fn replicate(&self) -> Self {
        self.replicate_on(0)
    }

    /// The same, on the ranks below `ranks` at least.
    #[track_caller]
    pub(crate) fn replicate_on(&self, ranks: usize) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = Type::array(&self.shape(), self.dtype());
        let copies = Placement::from("copies");
        let home = self.world.home_at(&copies, &self.shape(), node.ranks().max(ranks));
        let operands = smallvec![Arc::clone(&node)];
        let record = || {
            let copies = Self::record(&self.world, Op::Replicate, operands, Ok(ty), place);
            lock(&copies.base).need_ranks(ranks);
            copies
        };
        match home {
            Ok(home) => self.world.once(&node, home.fingerprint(), record),
            Err(_) => record(),
        }
    }

    /// The same array, whose ranks shall know so many cells of their neighbours, below and above
    /// along each axis. The elements are the same: reads of neighbours find the widths they need by
    /// themselves, and this only says which ones to expect.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let a = world.arange(0, 6, 1).halo(&[1], &[1]);
    /// assert_eq!((a.get(s![2..]) - a.get(s![..-2])).to_vec::<i64>()?, [2, 2, 2, 2]);
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn halo(&self, low: &[usize], high: &[usize]) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = match low.len() == self.ndim() && high.len() == self.ndim() {
            true => Ok(Type::array(&self.shape(), self.dtype())),
            false => {
                let got = [low.len(), high.len()];
                Err(ArrayError::Shape(ShapeError::HaloWidths { got, ndim: self.ndim() }))
            }
        };
        let op = Op::Halo { low: low.to_vec(), high: high.to_vec() };
        Self::record(&self.world, op, smallvec![node], ty, place)
    }
}
