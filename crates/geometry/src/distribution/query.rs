//! Questions about elements and ranks: owner, holders, local places.

use super::{Distribution, Map};
use crate::axis::{Holder, Holding};
use crate::index::IndexSet;
use crate::mesh::unflatten;
use crate::number::lift_order;
use crate::{Rank, Region, Slab};

/// A rank that has an element, and the lifts under which it has it (one per array axis).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementHolder {
    /// World rank.
    pub rank: Rank,
    /// Turns of each periodic axis; all 0 elsewhere.
    pub lifts: Vec<i64>,
}

impl Distribution {
    /// All holders of an element by ascending (rank, lifts).
    ///
    /// # Panics
    /// If the index is not in the array.
    #[must_use]
    pub fn holders(&self, index: &[usize]) -> Vec<ElementHolder> {
        self.assert_inside(index);
        let mut holders = match &self.map {
            Map::Boxes(boxes) => {
                let rank = |at| self.mesh.rank_at(at);
                let holder = |at| ElementHolder { rank: rank(at), lifts: vec![0; index.len()] };
                boxes.around(index).map(holder).collect()
            }
            Map::Axes(product) => {
                let holdings =
                    product.axes.iter().zip(index).map(|(map, k)| map.holding(*k).holders);
                self.combine(&holdings.collect::<Vec<_>>())
            }
        };
        holders.sort_unstable();
        holders
    }

    /// All combinations of holders along the array axes and coordinates of the free mesh axes.
    fn combine(&self, along: &[Vec<Holder>]) -> Vec<ElementHolder> {
        let mut partial = vec![(vec![0; self.mesh.shape().len()], Vec::new())];
        for (axis, holders) in along.iter().enumerate() {
            let longer = partial.iter().flat_map(|(coordinates, lifts)| {
                holders.iter().map(move |holder| {
                    let mut coordinates: Vec<usize> = coordinates.clone();
                    self.place(axis, holder.coordinate, &mut coordinates);
                    let mut lifts: Vec<i64> = lifts.clone();
                    lifts.push(holder.lift);
                    (coordinates, lifts)
                })
            });
            partial = longer.collect();
        }
        for axis in self.free_mesh_axes() {
            let longer = partial.iter().flat_map(|(coordinates, lifts)| {
                (0..self.mesh.shape()[axis]).map(move |c| {
                    let mut coordinates = coordinates.clone();
                    coordinates[axis] = c;
                    (coordinates, lifts.clone())
                })
            });
            partial = longer.collect();
        }
        let holder = |(coordinates, lifts): (Vec<usize>, Vec<i64>)| ElementHolder {
            rank: self.mesh.rank_of(&coordinates),
            lifts,
        };
        partial.into_iter().map(holder).collect()
    }

    /// Writes a coordinate of an array axis' direction into mesh coordinates.
    fn place(&self, axis: usize, coordinate: usize, into: &mut [usize]) {
        let over = self.axes().map_or(&[][..], |axes| axes[axis].over());
        let extents: Vec<usize> = over.iter().map(|axis| self.mesh.shape()[*axis]).collect();
        for (mesh_axis, c) in over.iter().zip(unflatten(coordinate, &extents)) {
            into[*mesh_axis] = c;
        }
    }

    /// The owner of an element; `None` if nobody holds it.
    ///
    /// # Panics
    /// If the index is not in the array.
    #[must_use]
    pub fn owner(&self, index: &[usize]) -> Option<ElementHolder> {
        self.assert_inside(index);
        match &self.map {
            // The lowest coordinate, not the lowest rank.
            Map::Boxes(boxes) => {
                let rank = self.mesh.rank_at(boxes.around(index).next()?);
                Some(ElementHolder { rank, lifts: vec![0; index.len()] })
            }
            Map::Axes(product) => {
                let mut coordinates = vec![0; self.mesh.shape().len()];
                let mut lifts = Vec::new();
                for (axis, k) in index.iter().enumerate() {
                    let owner = product.axes[axis].holding(*k).owner?;
                    self.place(axis, owner.coordinate, &mut coordinates);
                    lifts.push(owner.lift);
                }
                Some(ElementHolder { rank: self.mesh.rank_of(&coordinates), lifts })
            }
        }
    }

    fn assert_inside(&self, index: &[usize]) {
        let inside =
            index.len() == self.ndim() && index.iter().zip(&self.shape).all(|(i, n)| i < n);
        assert!(inside, "index {index:?} is not in an array of shape {:?}", self.shape);
    }

    /// Coordinate of `rank` along an array axis' direction; `None` if it is idle.
    #[must_use]
    pub fn coordinate(&self, rank: Rank, axis: usize) -> Option<usize> {
        let coordinates = self.mesh.coordinates_of(rank)?;
        Some(self.coordinate_from(&coordinates, axis))
    }

    fn coordinate_from(&self, coordinates: &[usize], axis: usize) -> usize {
        let over = self.axes().map_or(&[][..], |axes| axes[axis].over());
        over.iter().fold(0, |at, axis| at * self.mesh.shape()[*axis] + coordinates[*axis])
    }

    fn box_of(&self, rank: Rank) -> Option<&[(usize, usize)]> {
        let position = self.mesh.position_of(rank)?;
        Some(&self.boxes()?.list()[position])
    }

    /// Extents of a rank's local memory (its room); `None` if it is idle.
    #[must_use]
    pub fn local_shape(&self, rank: Rank) -> Option<Vec<usize>> {
        let coordinates = self.mesh.coordinates_of(rank)?;
        match &self.map {
            Map::Boxes(_) => Some(self.box_of(rank)?.iter().map(|(from, to)| to - from).collect()),
            Map::Axes(product) => {
                let axes = product.axes.iter().enumerate();
                let length = |(axis, map): (usize, &crate::AxisMap)| {
                    map.local_length(self.coordinate_from(&coordinates, axis))
                };
                Some(axes.map(length).collect())
            }
        }
    }

    /// What a rank holds: a region for each combination of lifts (one, unless an axis is
    /// periodic). Idle ranks hold nothing.
    #[must_use]
    pub fn held(&self, rank: Rank) -> Vec<(Vec<i64>, Region)> {
        let Some(coordinates) = self.mesh.coordinates_of(rank) else { return Vec::new() };
        let Map::Axes(product) = &self.map else {
            let ranges = self.box_of(rank).unwrap_or_default();
            return vec![(vec![0; self.ndim()], Region::from_ranges(ranges))];
        };
        let mut parts: Vec<(Vec<i64>, Vec<IndexSet>)> = vec![(Vec::new(), Vec::new())];
        for (axis, map) in product.axes.iter().enumerate() {
            let held = map.held(self.coordinate_from(&coordinates, axis));
            let longer = parts.iter().flat_map(|(lifts, sets)| {
                held.iter().map(move |(lift, set)| {
                    let (mut lifts, mut sets) = (lifts.clone(), sets.clone());
                    lifts.push(*lift);
                    sets.push(set.clone());
                    (lifts, sets)
                })
            });
            parts = longer.collect();
        }
        parts.into_iter().map(|(lifts, sets)| (lifts, Region::new(sets))).collect()
    }

    /// What a rank owns, as a box; empty where a cut owns nothing. Idle ranks own nothing.
    #[must_use]
    pub fn owned(&self, rank: Rank) -> Option<Vec<(usize, usize)>> {
        let coordinates = self.mesh.coordinates_of(rank)?;
        let axes = self.axes()?.iter().enumerate();
        Some(axes.map(|(axis, map)| map.owned(self.coordinate_from(&coordinates, axis))).collect())
    }

    /// The local index of an element under `lifts` in a rank's memory; `None` if the rank has
    /// no room for it.
    #[must_use]
    pub fn local(&self, rank: Rank, lifts: &[i64], index: &[usize]) -> Option<Vec<usize>> {
        let coordinates = self.mesh.coordinates_of(rank)?;
        match &self.map {
            Map::Boxes(_) => {
                let ranges = self.box_of(rank)?.iter().zip(index).zip(lifts);
                ranges
                    .map(|(((from, to), at), lift)| {
                        (from <= at && at < to && *lift == 0).then(|| at - from)
                    })
                    .collect()
            }
            Map::Axes(product) => product
                .axes
                .iter()
                .enumerate()
                .map(|(axis, map)| {
                    let coordinate = self.coordinate_from(&coordinates, axis);
                    map.local(coordinate, lifts[axis], index[axis])
                })
                .collect(),
        }
    }

    /// The element and lifts at a local index of a rank; `None` beyond its room. Places in the
    /// room that are not held are answered too: they are where that element would be.
    #[must_use]
    pub fn global(&self, rank: Rank, local: &[usize]) -> Option<(Vec<usize>, Vec<i64>)> {
        let coordinates = self.mesh.coordinates_of(rank)?;
        let places: Option<Vec<(usize, i64)>> = match &self.map {
            Map::Boxes(_) => {
                let ranges = self.box_of(rank)?.iter().zip(local);
                ranges.map(|((from, to), at)| (from + at < *to).then_some((from + at, 0))).collect()
            }
            Map::Axes(product) => product
                .axes
                .iter()
                .enumerate()
                .map(|(axis, map)| {
                    map.global(self.coordinate_from(&coordinates, axis), local[axis])
                })
                .collect(),
        };
        Some(places?.into_iter().unzip())
    }

    /// Where a region lies in a rank's memory; `None` if the rank has no room for all of it.
    #[must_use]
    pub fn slab(&self, rank: Rank, lifts: &[i64], region: &Region) -> Option<Slab> {
        let coordinates = self.mesh.coordinates_of(rank)?;
        let boxed;
        let maps: &[crate::AxisMap] = match &self.map {
            Map::Axes(product) => &product.axes,
            // A box is a whole array with cropped axes.
            Map::Boxes(_) => {
                let ranges = self.box_of(rank)?.iter().zip(&self.shape);
                boxed = ranges.map(|(r, n)| crate::AxisMap::cropped(*n, *r)).collect::<Vec<_>>();
                &boxed
            }
        };
        let locate = |(axis, map): (usize, &crate::AxisMap)| {
            let coordinate = self.coordinate_from(&coordinates, axis);
            let lift = lifts.get(axis).copied().unwrap_or(0);
            map.locate(coordinate, lift, &region.axes()[axis])
        };
        let axes = maps.iter().enumerate().map(locate).collect::<Option<_>>()?;
        Some(Slab { axes })
    }
}

impl Holding {
    /// Lifts under which a coordinate holds, nearest first.
    pub fn lifts(&self, coordinate: usize) -> impl Iterator<Item = i64> + '_ {
        let from = self.holders.partition_point(|holder| holder.coordinate < coordinate);
        let own = &self.holders[from..];
        let count = own.partition_point(|holder| holder.coordinate == coordinate);
        let mut lifts: Vec<i64> = Vec::new();
        if count > 1 {
            lifts.extend(own[..count].iter().map(|holder| holder.lift));
            lifts.sort_by_key(|lift| lift_order(*lift));
        }
        let single = own[..count].first().filter(|_| count == 1).map(|holder| holder.lift);
        single.into_iter().chain(lifts)
    }
}
