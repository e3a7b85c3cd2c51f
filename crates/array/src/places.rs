//! Where arrays live.

use std::sync::Arc;

use pantile_geometry::Distribution;
use pantile_ir::infer::ShapeError;
use pantile_ir::{Env, Op, Type};
use pantile_lower::home_of;
use smallvec::smallvec;

use super::error::ArrayError;
use super::node::{Node, lock};
use super::{Array, Session, here};

impl Session {
    /// Where arrays of a type live on so many ranks.
    pub(crate) fn type_home(&self, ty: &Type, ranks: usize) -> Result<Distribution, ArrayError> {
        let home = home_of(ty, &self.setting_for(ranks));
        home.map_err(|error| ArrayError::Home(*error.kind))
    }

    /// A node's elements at a home: what has them there already, else what is recorded now.
    fn once(&self, node: &Arc<Node>, home: &Distribution, record: impl FnOnce() -> Array) -> Array {
        // Handles need not end on all processes at the same time, and all have to record the same.
        if self.inner.is_spread {
            return record();
        }
        let key = home.fingerprint().0;
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

/// The type of an array that lives as a text says.
fn ty_at(ty: &Type, dist: &str) -> Type {
    match ty {
        Type::Array(array) => Type::Array(array.placed(Some(Env::Spread(dist.to_owned())))),
        other => other.clone(),
    }
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
        let place = here();
        let node = self.node(&place);
        let ty = ty_at(&Type::array(&self.shape(), self.dtype()), dist);
        let world = self.world.dist(dist);
        let named = world.named_ranks();
        let ranks = *named.as_ref().unwrap_or(&0);
        let record = |ty| {
            let operands = smallvec![Arc::clone(&node)];
            let moved = Self::record(&self.world, Op::Redistribute, operands, ty, place);
            lock(&moved.base).need_ranks(ranks);
            moved
        };
        let home = named.and_then(|named| world.type_home(&ty, named.max(node.ranks())));
        match home {
            Ok(home) => self.world.once(&node, &home, || record(Ok(ty))),
            Err(error) => record(Err(error)),
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
        let home = self.world.type_home(&ty_at(&ty, "copies"), node.ranks().max(ranks));
        let operands = smallvec![Arc::clone(&node)];
        let record = || {
            let copies = Self::record(&self.world, Op::Replicate, operands, Ok(ty), place);
            lock(&copies.base).need_ranks(ranks);
            copies
        };
        match home {
            Ok(home) => self.world.once(&node, &home, record),
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
