//! The parts of an array that this process hosts.

use std::sync::Arc;

use pantile_engine::Tile;
use pantile_geometry::{AxisMap, Cut, Distribution, Rank};

use super::fault::Fault;
use super::node::{Node, Tiles, lock};
use super::{Array, World, here};

/// What one rank has of an array.
#[derive(Clone)]
pub struct Section {
    /// The rank.
    pub rank: Rank,
    /// Its elements, row-major over [`Section::shape`]; they never change.
    pub tile: Arc<Tile>,
    home: Distribution,
}

impl Section {
    /// The global indices along each axis, in the order of the elements, as runs of neighbours:
    /// first and last (excluded).
    #[must_use]
    pub fn runs(&self) -> Vec<Vec<(usize, usize)>> {
        runs_of(&self.home, self.rank)
    }

    /// The length of each axis of what this rank has.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        owned_shape(&self.home, self.rank)
    }

    /// Copies its elements to their places among the bytes of the whole array.
    pub fn copy_into(&self, whole: &mut [u8]) {
        self.place(self.tile.as_bytes(), self.tile.dtype().bytes(), whole);
    }

    /// Copies elements of `size` pieces each to their places.
    pub(crate) fn place<T: Copy>(&self, mut from: &[T], size: usize, whole: &mut [T]) {
        // Also a rank outside of the mesh of a single element, which has none.
        if from.is_empty() {
            return;
        }
        each_row(&self.runs(), self.home.shape(), 0, 0, &mut |start, length| {
            let (row, rest) = from.split_at(length * size);
            whole[start * size..][..row.len()].copy_from_slice(row);
            from = rest;
        });
    }
}

/// The global indices that a rank owns along each axis, as runs of neighbours: first and last
/// (excluded).
#[must_use]
pub fn runs_of(home: &Distribution, rank: Rank) -> Vec<Vec<(usize, usize)>> {
    let Some(maps) = home.axes() else { return Vec::new() };
    let here = home.mesh().position_of(rank).is_some();
    maps.iter()
        .enumerate()
        .map(|(axis, map)| {
            let coordinate = home.coordinate(rank, axis).unwrap_or(0);
            if matches!(map.cut(), Cut::Block(_)) && map.view().is_none() {
                let (from, to) = map.owned(coordinate);
                return if here && from < to { vec![(from, to)] } else { Vec::new() };
            }
            let locals = if here { 0..map.local_length(coordinate) } else { 0..0 };
            let mut runs: Vec<(usize, usize)> = Vec::new();
            for (index, _) in locals.filter_map(|local| map.global(coordinate, local)) {
                match runs.last_mut() {
                    Some((_, end)) if *end == index => *end += 1,
                    _ => runs.push((index, index + 1)),
                }
            }
            runs
        })
        .collect()
}

/// The bytes that a rank owns of the bytes of a whole array with elements of `size` bytes.
///
/// # Panics
/// If there are fewer bytes than the array has.
#[must_use]
pub fn part_of(home: &Distribution, rank: Rank, whole: &[u8], size: usize) -> Vec<u8> {
    let mut part = Vec::new();
    if home.mesh().position_of(rank).is_some() {
        each_row(&runs_of(home, rank), home.shape(), 0, 0, &mut |start, length| {
            part.extend_from_slice(&whole[start * size..][..length * size]);
        });
    }
    part
}

/// The shape of what a rank owns.
pub(crate) fn owned_shape(home: &Distribution, rank: Rank) -> Vec<usize> {
    let Some(maps) = home.axes() else { return Vec::new() };
    let here = home.mesh().position_of(rank).is_some();
    let length = |(axis, map): (usize, &AxisMap)| match here {
        true => map.local_length(home.coordinate(rank, axis).unwrap_or(0)),
        false => 0,
    };
    maps.iter().enumerate().map(length).collect()
}

/// Calls `f` with the place in the whole array and the length of every piece that lies in a row.
fn each_row(
    runs: &[Vec<(usize, usize)>],
    shape: &[usize],
    axis: usize,
    before: usize,
    f: &mut dyn FnMut(usize, usize),
) {
    let Some(own) = runs.get(axis) else { return f(before, 1) };
    for (from, to) in own {
        if axis + 1 == runs.len() {
            f(before * shape[axis] + from, to - from);
        } else {
            for index in *from..*to {
                each_row(runs, shape, axis + 1, before * shape[axis] + index, f);
            }
        }
    }
}

impl Array {
    /// The parts of it that this process hosts, by rank. Computes it.
    ///
    /// # Errors
    /// As [`Array::compute`].
    #[track_caller]
    pub fn sections(&self) -> Result<Vec<Section>, Fault> {
        let place = here();
        let node = self.node(&place);
        self.world.evaluate(&[Arc::clone(&node)], &place)?;
        Ok(self.world.sections_of(&node))
    }
}

impl World {
    /// The parts of a stored node that this process hosts.
    pub(crate) fn sections_of(&self, node: &Arc<Node>) -> Vec<Section> {
        let Some((home, tiles)) = self.tiles_of(node) else { return Vec::new() };
        let tiles = tiles.get().into_iter().flatten().cloned();
        tiles.map(|(rank, tile)| Section { rank, tile, home: home.clone() }).collect()
    }

    /// Where a stored node lives, and the tiles of it that this process hosts.
    pub(crate) fn tiles_of(&self, node: &Arc<Node>) -> Option<(Distribution, Tiles)> {
        let stored = lock(&node.stored);
        let stored = stored.as_ref()?;
        stored.tiles.get_or_init(|| lock(&self.inner.crew).get(stored.id));
        Some((stored.home.clone(), Arc::clone(&stored.tiles)))
    }
}
