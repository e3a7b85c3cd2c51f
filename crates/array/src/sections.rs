//! The parts of an array that this process hosts.

use std::sync::Arc;

use pantile_engine::Tile;
use pantile_geometry::{Distribution, OwnedElements, Rank};

use pantile_lower::owned_places;

use super::fault::Fault;
use super::node::{Home, HostedTiles, Node, lock};
use super::views::{Seen, SeenAxes, dense_strides};
use super::{Array, Session, here};

/// What one rank has of an array.
#[derive(Clone)]
pub struct Section {
    /// The rank.
    pub rank: Rank,
    /// Its memory, in which [`Section::places`] are its elements. What is owned never changes; the
    /// room around it belongs to whatever runs.
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

    /// What this rank owns; nothing if it is outside of the mesh.
    #[must_use]
    pub fn owned_elements(&self) -> Option<OwnedElements> {
        self.home.plain.owned_elements(self.rank)
    }

    /// True if this rank is the first of those that own the same elements.
    #[must_use]
    pub fn is_first_owner(&self) -> bool {
        self.home.plain.is_first_owner(self.rank)
    }

    /// The length of each axis of what this rank owns.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        owned_shape(&self.home.plain, self.rank)
    }

    /// Where its elements are in the memory: that of the first one, and how far neighbours along
    /// each axis are apart.
    #[must_use]
    pub fn places(&self) -> (usize, Vec<usize>) {
        let places = owned_places(&self.home.room, self.rank).map(|(_, places)| places);
        let number = |place: isize| usize::try_from(place).unwrap_or(0);
        places.map_or_else(
            || (0, vec![0; self.home.plain.ndim()]),
            |places| (number(places.offset), places.strides.into_iter().map(number).collect()),
        )
    }

    /// Copies its elements to their places among the bytes of the whole array.
    pub fn copy_into(&self, whole: &mut [u8]) {
        self.place(self.tile.as_bytes(), self.tile.dtype().bytes(), whole);
    }

    /// True if it is the whole array, as every rank of its mesh has it.
    pub(crate) fn is_copy(&self) -> bool {
        self.home.plain.mesh().position_of(self.rank).is_some() && self.home.is_copy()
    }

    /// Copies its elements of a slice to their places among the bytes of that slice.
    pub(crate) fn copy_seen(&self, seen: &SeenAxes, slice: &mut [u8]) {
        // Also a rank outside of the mesh of a single element, which has none.
        if self.tile.is_empty() {
            return;
        }
        let (axes, fixed) = seen;
        let Some(owned) = self.owned_elements() else { return };
        let (first, strides) = self.places();
        let sizes: Vec<usize> = axes.iter().map(|one| one.size).collect();
        let dense = dense_strides(&sizes);
        let along = |(axis, runs): (usize, &[(usize, usize)])| {
            let stride = isize::try_from(strides[axis]).unwrap_or(0);
            let seen = axes.iter().zip(&dense).find(|(one, _)| one.axis == axis);
            let at = fixed.iter().find(|(one, _)| *one == axis).map(|(_, at)| *at);
            let one = Seen { axis, first: number(at.unwrap_or(0)), step: 1, size: 1 };
            let (seen, target) = seen.map_or((one, 0), |(seen, dense)| (*seen, *dense));
            pieces_of(runs, &seen, stride, target)
        };
        let pieces: Vec<Vec<SlicePiece>> = owned.runs().enumerate().map(along).collect();
        let bytes = self.tile.dtype().bytes();
        let copy = &mut |from: isize, to: isize, length: usize| {
            let place = |at: isize| usize::try_from(at).unwrap_or(usize::MAX) * bytes;
            let row = &self.tile.as_bytes()[place(from)..][..length * bytes];
            slice[place(to)..][..row.len()].copy_from_slice(row);
        };
        each_piece(&pieces, (isize::try_from(first).unwrap_or(0), 0), copy);
    }

    /// Copies elements of `size` pieces each to their places.
    pub(crate) fn place<T: Copy>(&self, from: &[T], size: usize, whole: &mut [T]) {
        // Also a rank outside of the mesh of a single element, which has none.
        if from.is_empty() {
            return;
        }
        let Some(owned) = self.owned_elements() else { return };
        let (first, strides) = self.places();
        for run in owned.runs_in(first, &strides) {
            let row = &from[run.local * size..][..run.count * size];
            whole[run.global * size..][..row.len()].copy_from_slice(row);
        }
    }
}

/// The global indices that a rank owns along each axis, as runs of neighbours: first and last
/// (excluded); none if it is outside of the mesh.
#[must_use]
pub fn runs_of(home: &Distribution, rank: Rank) -> Vec<Vec<(usize, usize)>> {
    let nothing = || vec![Vec::new(); home.ndim()];
    home.owned_elements(rank)
        .map_or_else(nothing, |owned| owned.runs().map(<[_]>::to_vec).collect())
}

/// The bytes that a rank owns of the bytes of a whole array with elements of `size` bytes.
///
/// # Panics
/// If there are fewer bytes than the array has.
#[must_use]
pub fn part_of(home: &Distribution, rank: Rank, whole: &[u8], size: usize) -> Vec<u8> {
    let Some(owned) = home.owned_elements(rank) else { return Vec::new() };
    let mut part = Vec::with_capacity(owned.len() * size);
    for run in owned.dense_runs() {
        part.extend_from_slice(&whole[run.global * size..][..run.count * size]);
    }
    part
}

/// The shape of what a rank owns, where ranks hold what they own and nothing else.
pub(crate) fn owned_shape(home: &Distribution, rank: Rank) -> Vec<usize> {
    home.local_shape(rank).unwrap_or_else(|| vec![0; home.ndim()])
}

/// Neighbours along one axis of a slice that are neighbours in a rank's memory, too: the place of the
/// first one there and in the slice, the distances of neighbours, and how many there are.
struct SlicePiece {
    from: (isize, isize),
    to: (isize, isize),
    count: usize,
}

/// The pieces of one axis: what a slice sees of the runs of indices that a rank owns.
fn pieces_of(
    runs: &[(usize, usize)],
    seen: &Seen,
    stride: isize,
    target: isize,
) -> Vec<SlicePiece> {
    let place = |value: i64| isize::try_from(value).unwrap_or(0);
    let step = seen.step.abs();
    let mut local = 0;
    let mut pieces = Vec::new();
    for (from, to) in runs {
        let (low, high) = (number(*from), number(*to));
        // The numbers k with low <= first + step k < high.
        let (least, end) = match seen.step > 0 {
            true => (low - seen.first, high - seen.first),
            false => (seen.first - high + 1, seen.first - low + 1),
        };
        let up = |value: i64| ((value.max(0) + step - 1) / step).min(number(seen.size));
        let (k, end) = (up(least), up(end));
        if k < end {
            let at = local + seen.first + seen.step * k - low;
            pieces.push(SlicePiece {
                from: (place(at) * stride, place(seen.step) * stride),
                to: (place(k) * target, target),
                count: usize::try_from(end - k).unwrap_or(0),
            });
        }
        local += high - low;
    }
    pieces
}

fn number(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Calls `f` with the place in memory, the place in the slice and the length of every row.
fn each_piece(
    axes: &[Vec<SlicePiece>],
    (from, to): (isize, isize),
    f: &mut dyn FnMut(isize, isize, usize),
) {
    let Some((pieces, inner)) = axes.split_first() else { return f(from, to, 1) };
    for piece in pieces {
        let (mut from, mut to) = (from + piece.from.0, to + piece.to.0);
        if inner.is_empty() && (piece.from.1, piece.to.1) == (1, 1) {
            f(from, to, piece.count);
            continue;
        }
        for _ in 0..piece.count {
            each_piece(inner, (from, to), f);
            (from, to) = (from + piece.from.1, to + piece.to.1);
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
        self.world.sections_of(&node)
    }
}

impl Session {
    /// The parts of a stored node that this process hosts.
    pub(crate) fn sections_of(&self, node: &Arc<Node>) -> Result<Vec<Section>, Fault> {
        let Some((home, tiles)) = self.tiles_of(node)? else { return Ok(Vec::new()) };
        let tiles = tiles.iter().cloned();
        Ok(tiles.map(|(rank, tile)| Section { rank, tile, home: Arc::clone(&home) }).collect())
    }

    /// What one rank has of a stored node of which every rank has all.
    pub(crate) fn copy_of(&self, node: &Arc<Node>) -> Result<Vec<Section>, Fault> {
        let found = lock(&node.stored).as_ref().map(|one| (one.id, Arc::clone(&one.home)));
        let Some((id, home)) = found else { return Ok(Vec::new()) };
        let first: Vec<Rank> = home.plain.mesh().ranks().take(1).collect();
        let tiles = lock(&self.inner.executor).get(id, &first)?;
        let own = |(rank, tile)| Section { rank, tile, home: Arc::clone(&home) };
        Ok(tiles.into_iter().map(own).collect())
    }

    /// Where a stored node lives, and the tiles of it that this process hosts.
    pub(crate) fn tiles_of(
        &self,
        node: &Arc<Node>,
    ) -> Result<Option<(Arc<Home>, HostedTiles)>, Fault> {
        self.check_process()?;
        self.stage(node);
        let mut stored = lock(&node.stored);
        let Some(stored) = stored.as_mut() else { return Ok(None) };
        let tiles = match &stored.tiles {
            Some(tiles) => Arc::clone(tiles),
            None => {
                let tiles = lock(&self.inner.executor)
                    .get(stored.id, &self.hosted_of(&stored.home.room))?;
                Arc::clone(stored.tiles.insert(Arc::new(tiles)))
            }
        };
        Ok(Some((Arc::clone(&stored.home), tiles)))
    }
}
