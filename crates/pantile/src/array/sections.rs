//! The parts of an array that this process hosts.

use std::sync::Arc;

use pantile_engine::Tile;
use pantile_geometry::{AxisMap, Cut, Distribution, Rank};

use super::fault::Fault;
use super::node::{Home, Node, Tiles, lock};
use super::{Array, World, here};

/// What one rank has of an array.
#[derive(Clone)]
pub struct Section {
    /// The rank.
    pub rank: Rank,
    /// Its memory, row-major over [`Section::room`]. What is owned never changes; the room around it
    /// belongs to whatever runs.
    pub tile: Arc<Tile>,
    home: Arc<Home>,
}

impl Section {
    /// The global indices along each axis, in the order of the elements, as runs of neighbours:
    /// first and last (excluded).
    #[must_use]
    pub fn runs(&self) -> Vec<Vec<(usize, usize)>> {
        runs_of(&self.home.plain, self.rank)
    }

    /// The length of each axis of what this rank owns.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        owned_shape(&self.home.plain, self.rank)
    }

    /// For each axis, the length of the memory, and where in it what is owned begins.
    #[must_use]
    pub fn room(&self) -> Vec<(usize, usize)> {
        let Some(maps) = self.home.room.axes() else { return Vec::new() };
        let here = self.home.room.mesh().position_of(self.rank).is_some();
        let along = |(axis, map): (usize, &AxisMap)| {
            if !here {
                return (0, 0);
            }
            let coordinate = self.home.room.coordinate(self.rank, axis).unwrap_or(0);
            let length = map.local_length(coordinate);
            if !(matches!(map.cut(), Cut::Block(_)) && map.view().is_none()) {
                return (length, 0);
            }
            let (first, last) = map.owned(coordinate);
            let origin = map.global(coordinate, 0).map_or(first, |(index, _)| index);
            (length, if first < last { first.saturating_sub(origin) } else { 0 })
        };
        maps.iter().enumerate().map(along).collect()
    }

    /// Copies its elements to their places among the bytes of the whole array.
    pub fn copy_into(&self, whole: &mut [u8]) {
        self.place(self.tile.as_bytes(), self.tile.dtype().bytes(), whole);
    }

    /// Copies elements of `size` pieces each to their places.
    pub(crate) fn place<T: Copy>(&self, from: &[T], size: usize, whole: &mut [T]) {
        // Also a rank outside of the mesh of a single element, which has none.
        if from.is_empty() {
            return;
        }
        let (runs, room) = (self.runs(), self.room());
        let rows = Rows { runs: &runs, shape: self.home.plain.shape(), room: &room };
        rows.each(0, (0, 0), &mut |start, local, length| {
            let row = &from[local * size..][..length * size];
            whole[start * size..][..row.len()].copy_from_slice(row);
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
        let (runs, shape) = (runs_of(home, rank), owned_shape(home, rank));
        let room: Vec<(usize, usize)> = shape.into_iter().map(|length| (length, 0)).collect();
        let rows = Rows { runs: &runs, shape: home.shape(), room: &room };
        rows.each(0, (0, 0), &mut |start, _, length| {
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

/// The pieces of a section that lie in a row, in the whole array and in the section.
struct Rows<'a> {
    runs: &'a [Vec<(usize, usize)>],
    shape: &'a [usize],
    /// Lengths of the memory, and where in it the section begins.
    room: &'a [(usize, usize)],
}

impl Rows<'_> {
    /// Calls `f` with the place in the whole array, the place in memory and the length of every
    /// piece, in the order of memory.
    fn each(
        &self,
        axis: usize,
        (global, local): (usize, usize),
        f: &mut dyn FnMut(usize, usize, usize),
    ) {
        let Some(own) = self.runs.get(axis) else { return f(global, local, 1) };
        let (length, begin) = self.room[axis];
        let (global, mut local) = (global * self.shape[axis], local * length + begin);
        for (from, to) in own {
            if axis + 1 == self.runs.len() {
                f(global + from, local, to - from);
                local += to - from;
            } else {
                for index in *from..*to {
                    self.each(axis + 1, (global + index, local), f);
                    local += 1;
                }
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
        tiles.map(|(rank, tile)| Section { rank, tile, home: Arc::clone(&home) }).collect()
    }

    /// Where a stored node lives, and the tiles of it that this process hosts.
    pub(crate) fn tiles_of(&self, node: &Arc<Node>) -> Option<(Arc<Home>, Tiles)> {
        let stored = lock(&node.stored);
        let stored = stored.as_ref()?;
        stored.tiles.get_or_init(|| lock(&self.inner.crew).get(stored.id));
        Some((Arc::clone(&stored.home), Arc::clone(&stored.tiles)))
    }
}
