//! Where arrays live.

use pantile_ir::{Env, Op, Type};

use super::{Array, here};

impl Array {
    /// The same array living somewhere else; texts as in [`World::dist`](super::World::dist).
    #[track_caller]
    #[must_use]
    pub fn redistribute(&self, dist: &str) -> Self {
        let place = here();
        let node = self.node(&place);
        let Type::Array(array) = Type::array(&self.shape(), self.dtype()) else {
            unreachable!("it is an array")
        };
        let ty = Type::Array(array.placed(Some(Env::Spread(dist.to_owned()))));
        let home = pantile_ir::lower::home_of(&ty, &self.world.setting());
        let ty = home.map(|_| ty).map_err(|error| error.message);
        Self::record(&self.world, Op::Redistribute, vec![node], ty, place)
    }

    /// The same array, whole on every rank.
    #[track_caller]
    #[must_use]
    pub fn replicate(&self) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = Ok(Type::array(&self.shape(), self.dtype()));
        Self::record(&self.world, Op::Replicate, vec![node], ty, place)
    }

    /// The same array, whose ranks shall know so many cells of their neighbours, below and above
    /// along each axis. The elements are the same: reads of neighbours find the widths they need by
    /// themselves, and this only says which ones to expect.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = World::threads(2)?;
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
            false => Err(format!(
                "got {} and {} halo widths, expected one per axis: {}",
                low.len(),
                high.len(),
                self.ndim()
            )),
        };
        let op = Op::Halo { low: low.to_vec(), high: high.to_vec() };
        Self::record(&self.world, op, vec![node], ty, place)
    }
}
