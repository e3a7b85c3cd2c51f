//! Arrays from elements of the caller.

use std::sync::Arc;

use pantile_engine::{DType, Element, Tile};
use pantile_geometry::{Distribution, Rank};
use pantile_ir::Type;

use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::node::{Home, Node, Stored, lock};
use super::sections::owned_shape;
use super::{Array, Session, elements, here};

impl Session {
    /// Elements from a function of their global index. Every rank calls it for those it owns.
    #[track_caller]
    #[must_use]
    pub fn from_fn<T: Element>(&self, shape: &[usize], value: impl Fn(&[usize]) -> T) -> Array {
        let tiles = self.from_tiles(shape, T::DTYPE, |home, rank| {
            let mut elements = Vec::new();
            each_owned(home, rank, &mut |index| elements.push(value(index)));
            Ok::<_, Fault>(Tile::from_vec(elements))
        });
        let ty = Type::array(shape, T::DTYPE);
        tiles.unwrap_or_else(|fault| Array::of(self, Node::faulty(fault, ty)))
    }

    /// An array whose tiles a function gives, for every rank that this process hosts: those of the
    /// elements that it owns by this distribution, row-major.
    ///
    /// # Errors
    /// What the function says, or a tile of the wrong length or type, or a distribution that does
    /// not fit.
    #[track_caller]
    pub fn from_tiles<E: From<Fault>>(
        &self,
        shape: &[usize],
        dtype: DType,
        mut tile: impl FnMut(&Distribution, Rank) -> Result<Tile, E>,
    ) -> Result<Array, E> {
        let place = here();
        let fault = |kind: FaultKind| E::from(Fault::new(kind, place.clone()));
        elements(shape).map_err(|error| fault(error.into()))?;
        let placed = self.named_ranks().and_then(|ranks| {
            Ok((self.made_type(shape, dtype, ranks)?, self.home_here(shape, ranks)?))
        });
        let (ty, home) = placed.map_err(|error| fault(error.into()))?;
        let mut tiles = Vec::new();
        for rank in self.hosted_of(&home).iter().copied() {
            let given = tile(&home, rank)?;
            let here = home.mesh().position_of(rank).is_some();
            let expected = if here { owned_shape(&home, rank).iter().product() } else { 0 };
            if (given.len(), given.dtype()) != (expected, dtype) {
                let (got, expected) = ((given.len(), given.dtype()), (expected, dtype));
                return Err(fault(FaultKind::GivenTile { rank, got, expected }));
            }
            tiles.push(given);
        }
        let id = self.inner.new_id();
        let mut next = tiles.into_iter();
        let nothing = || Tile::zeroed(dtype, 0);
        self.check_process()?;
        let mut executor = lock(&self.inner.executor);
        if !self.inner.in_process {
            // What was dropped makes room for this: the next program may be far off.
            let dropped = self.inner.deferred_frees.take();
            executor.forget(&dropped);
        }
        let put = executor.put(id, |_| next.next().unwrap_or_else(nothing));
        drop(executor);
        put.map_err(Fault::from)?;
        let deferred_frees = Arc::clone(&self.inner.deferred_frees);
        let home = Home::without_room(home);
        let node = Node::kept(ty, place, Stored { id, home, tiles: None, deferred_frees });
        Ok(Array::of(self, node))
    }

    /// Remembers the hash of elements that all processes have to give alike. It travels with the next
    /// program: processes that gave other elements are told so then. Nothing is sent now, and nothing
    /// is done where one process has all ranks.
    #[track_caller]
    pub fn expect_equal(&self, bytes: &[u8]) {
        if self.inner.is_spread {
            let mut given = lock(&self.inner.given);
            let before = given.as_ref().map_or(0, |(hash, _)| *hash);
            *given = Some((data_hash(before, bytes), here()));
        }
    }

    /// Elements in row-major order, the same list on every process.
    #[track_caller]
    #[must_use]
    pub fn from_vec<T: Element>(&self, shape: &[usize], elements: &[T]) -> Array {
        let expected = super::elements(shape).unwrap_or(usize::MAX);
        if elements.len() != expected {
            let (got, shape_of) = (elements.len(), shape.to_vec());
            let kind = FaultKind::ElementCount { got, shape: shape_of, expected };
            let ty = Type::array(shape, T::DTYPE);
            return Array::of(self, Node::faulty(Fault::new(kind, here()), ty));
        }
        self.expect_equal(Tile::from_vec(elements.to_vec()).as_bytes());
        self.from_fn(shape, |index| {
            let at = index.iter().zip(shape).fold(0, |at, (index, length)| at * length + index);
            elements[at]
        })
    }
}

/// A hash of bytes that goes on from another one: eight bytes at a time, in four chains.
fn data_hash(before: u64, bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(ODD).rotate_left(29);
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let mut chains = [1u64, 2, 3, 4];
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        for (chain, bytes) in chains.iter_mut().zip(block.chunks_exact(8)) {
            *chain = mix(*chain, word(bytes));
        }
    }
    let rest = blocks.remainder().chunks(8).fold(before, |hash, bytes| mix(hash, word(bytes)));
    let all = chains.into_iter().fold(rest, mix);
    mix(all, bytes.len() as u64)
}

/// Calls `f` with the index of every element that a rank owns, in the order of its memory.
pub(crate) fn each_owned(home: &Distribution, rank: usize, f: &mut dyn FnMut(&[usize])) {
    let Some(owned) = home.owned_elements(rank) else { return };
    let list = |runs: &[(usize, usize)]| runs.iter().flat_map(|(from, to)| *from..*to).collect();
    let lists: Vec<Vec<usize>> = owned.runs().map(list).collect();
    product(&lists, &mut vec![0; lists.len()], 0, f);
}

fn product(lists: &[Vec<usize>], index: &mut [usize], axis: usize, f: &mut dyn FnMut(&[usize])) {
    let Some(list) = lists.get(axis) else { return f(index) };
    for at in list {
        index[axis] = *at;
        product(lists, index, axis + 1, f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_changes_the_hash_of_data() {
        for length in [0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100] {
            let mut bytes: Vec<u8> = (0..length).collect();
            let hash = data_hash(5, &bytes);
            assert_ne!(hash, data_hash(6, &bytes), "what was given before counts");
            for at in 0..bytes.len() {
                bytes[at] ^= 1;
                assert_ne!(hash, data_hash(5, &bytes), "byte {at} of {length}");
                bytes[at] ^= 1;
            }
            bytes.push(0);
            assert_ne!(hash, data_hash(5, &bytes), "{length} bytes and a zero");
        }
    }
}
