//! A distribution -> dimensions of all ranks, or partitions.

use super::Extra;
use crate::partitioned::{self, Location, Partition, Partitioned};
use crate::{Block, Dim, DimKind, Error, Place, Section, check};
use pantile_geometry::{AxisMap, Cut, Distribution, IndexSet, Rank};
use std::collections::BTreeMap;

const PROTOCOL: &str = "the protocol";
const PARTITIONED: &str = "`__partitioned__`";
/// More grid places than this along one axis are refused rather than listed.
const PLACES_MAX: u128 = 1 << 20;

/// The description of a distribution: one dimension per axis and grid rank, dictionaries on demand.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exported {
    axes: Vec<Vec<Dim>>,
    distribution: Distribution,
}

impl Exported {
    /// Per axis the dimensions of its grid ranks.
    #[must_use]
    pub fn axes(&self) -> &[Vec<Dim>] {
        &self.axes
    }

    /// Number of ranks of the description: places of its grid.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.axes.iter().map(Vec::len).product()
    }

    /// Grid coordinates of a rank of the description.
    fn coordinates(&self, rank: usize) -> Vec<usize> {
        let mut rest = rank;
        let mut coordinates = vec![0; self.axes.len()];
        for (at, dims) in coordinates.iter_mut().zip(&self.axes).rev() {
            *at = rest % dims.len();
            rest /= dims.len();
        }
        coordinates
    }

    /// The dimensions of a rank of the description.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    pub fn dims(&self, rank: usize) -> Vec<Dim> {
        assert!(rank < self.ranks(), "rank {rank} of {}", self.ranks());
        let own = self.coordinates(rank);
        self.axes.iter().zip(own).map(|(dims, at)| dims[at].clone()).collect()
    }

    /// The section of a rank of the description.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    pub fn section(&self, rank: usize, format: Option<String>) -> Section {
        Section::from_dims(&self.dims(rank), format)
    }

    /// The world rank behind a rank of the description: the same, unless the mesh has another team
    /// or its axes cut the array in another order.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    pub fn world_rank(&self, rank: usize) -> Rank {
        assert!(rank < self.ranks(), "rank {rank} of {}", self.ranks());
        let own = self.coordinates(rank);
        self.distribution.mesh().rank_of(&mesh_coordinates(&self.distribution, &own))
    }
}

/// Mesh coordinates of grid coordinates; free mesh axes are at 0.
fn mesh_coordinates(distribution: &Distribution, grid: &[usize]) -> Vec<usize> {
    let shape = distribution.mesh().shape();
    let mut coordinates = vec![0; shape.len()];
    for (map, at) in distribution.axes().unwrap_or_default().iter().zip(grid) {
        let mut rest = *at;
        for mesh_axis in map.over().iter().rev() {
            coordinates[*mesh_axis] = rest % shape[*mesh_axis];
            rest /= shape[*mesh_axis];
        }
    }
    coordinates
}

/// The strict description of a distribution. `extras` (one per axis, or none) say what
/// distributions do not keep; room beyond the owned part becomes padding.
///
/// # Errors
/// Which axis cannot be said, and why: boxes, Terms, copies, backward slices, owners that do not
/// hold their part, halos that differ at a border or reach beyond the neighbour.
pub fn export(distribution: &Distribution, extras: &[Extra]) -> Result<Exported, Error> {
    let distribution = product_of_axes(distribution, PROTOCOL)?;
    for axis in distribution.free_mesh_axes() {
        if distribution.mesh().shape()[axis] > 1 {
            let name = &distribution.mesh().names()[axis];
            let reason = format!("copies along the mesh axis `{name}`");
            return Err(Error::inexpressible(PROTOCOL, None, reason));
        }
    }
    let maps = distribution.axes().unwrap_or_default().iter().enumerate();
    let axes = maps.map(|(axis, map)| {
        let extra = extras.get(axis).copied().unwrap_or_default();
        let dims = AxisExport { axis, map, language: PROTOCOL }.dims(extra)?;
        judge(axis, &dims)?;
        Ok::<_, Error>(dims)
    });
    let axes = axes.collect::<Result<_, _>>()?;
    Ok(Exported { axes, distribution })
}

/// The partitions of a distribution, with the world ranks that have them; copies are several
/// locations of one partition, halos are left out.
///
/// # Errors
/// Which axis cannot be said, and why: boxes, Terms, labels, backward slices, owners that do not
/// hold their part, too many partitions.
pub fn export_partitioned(distribution: &Distribution) -> Result<Partitioned, Error> {
    let distribution = product_of_axes(distribution, PARTITIONED)?;
    let maps = distribution.axes().unwrap_or_default().iter().enumerate();
    let axes = maps.map(|(axis, map)| {
        let dims = AxisExport { axis, map, language: PARTITIONED }.dims(Extra::default())?;
        dims.iter()
            .map(|dim| AxisExport { axis, map, language: PARTITIONED }.without_padding(dim))
            .collect()
    });
    let axes: Vec<Vec<Dim>> = axes.collect::<Result<_, Error>>()?;
    let plain = partitioned::from_dims(&axes)?;
    let places = Exported { axes, distribution };
    let located = plain.partitions().iter().map(|(position, partition)| {
        let rank = match partition.location.first() {
            Some(Location::Rank(rank)) => usize::try_from(*rank).unwrap_or_default(),
            _ => 0,
        };
        let location = places
            .holders(rank)
            .into_iter()
            .map(|rank| Location::Rank(i64::try_from(rank).unwrap_or(i64::MAX)));
        let partition = Partition { location: location.collect(), ..partition.clone() };
        (position.clone(), partition)
    });
    let located: BTreeMap<_, _> = located.collect();
    Partitioned::new(plain.shape().to_vec(), plain.tiling().to_vec(), located, None)
}

impl Exported {
    /// All world ranks at a grid place, one per coordinate of the free mesh axes, ascending.
    fn holders(&self, rank: usize) -> Vec<Rank> {
        let mesh = self.distribution.mesh();
        let own = mesh_coordinates(&self.distribution, &self.coordinates(rank));
        let mut places = vec![own];
        for axis in self.distribution.free_mesh_axes() {
            let copies = |place: &Vec<usize>| {
                let place = place.clone();
                (0..mesh.shape()[axis]).map(move |at| {
                    let mut place = place.clone();
                    place[axis] = at;
                    place
                })
            };
            places = places.iter().flat_map(copies).collect();
        }
        let mut ranks: Vec<Rank> = places.iter().map(|place| mesh.rank_of(place)).collect();
        ranks.sort_unstable();
        ranks
    }
}

/// The distribution as a product of axes of Copies, views turned into cuts where that is possible.
fn product_of_axes(
    distribution: &Distribution,
    language: &'static str,
) -> Result<Distribution, Error> {
    if distribution.axes().is_none() {
        return Err(Error::inexpressible(language, None, "a box per rank"));
    }
    if distribution.has_terms() {
        return Err(Error::inexpressible(language, None, "terms that are still to be combined"));
    }
    let viewed = distribution.axes().unwrap_or_default().iter().any(|map| map.view().is_some());
    Ok(if viewed { distribution.normal() } else { distribution.clone() })
}

/// Strict judgement of one axis alone, in the words of the finding.
fn judge(axis: usize, dims: &[Dim]) -> Result<(), Error> {
    let sections: Vec<Section> =
        dims.iter().map(|dim| Section::from_dims(std::slice::from_ref(dim), None)).collect();
    match check(&sections).first() {
        None => Ok(()),
        Some(finding) => {
            let reason = format!("{}: {}", finding.code, finding.message);
            Err(Error::inexpressible(PROTOCOL, axis, reason))
        }
    }
}

/// One axis on its way out.
struct AxisExport<'a> {
    axis: usize,
    map: &'a AxisMap,
    language: &'static str,
}

/// Two intervals of one coordinate, as positions of the axis.
struct IntervalPair {
    owned: (i64, i64),
    room: (i64, i64),
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl AxisExport<'_> {
    fn refuse(&self, reason: impl Into<String>) -> Error {
        Error::inexpressible(self.language, self.axis, reason)
    }

    fn dims(&self, extra: Extra) -> Result<Vec<Dim>, Error> {
        let parts = self.map.parts();
        if parts as u128 > PLACES_MAX {
            let count = parts as u128;
            return Err(Error::TooMany { what: "places along an axis", count, limit: PLACES_MAX });
        }
        let indexed = matches!(self.map.cut(), Cut::Indexed(_));
        if self.map.view().is_some() && !indexed {
            return Err(self.refuse("a slice that cannot be said by other cuts"));
        }
        let size = signed(self.map.length());
        match self.map.cut() {
            Cut::Block(_) => self.blocks(extra),
            Cut::Cyclic { block } => {
                let block_size = signed(*block);
                let start = |rank: i64| rank.saturating_mul(block_size);
                self.each(size, |rank| Ok(DimKind::Cyclic { start: start(rank), block_size }))
            }
            Cut::Indexed(_) => self.labels(size, extra),
            _ => Err(self.refuse("a cut that it does not know")),
        }
    }

    /// One dimension per grid rank.
    fn each(
        &self,
        size: i64,
        kind: impl Fn(i64) -> Result<DimKind, Error>,
    ) -> Result<Vec<Dim>, Error> {
        let grid_size = signed(self.map.parts());
        let dim = |grid_rank: i64| {
            let place = Place { size, grid_size, grid_rank };
            Dim::new(place, kind(grid_rank)?).map_err(|finding| self.refuse(finding.message))
        };
        (0..grid_size).map(dim).collect()
    }

    fn labels(&self, size: i64, extra: Extra) -> Result<Vec<Dim>, Error> {
        let shown = self.map.shown_labels();
        let one_to_one = extra.one_to_one.unwrap_or_else(|| self.map.is_single());
        self.each(size, |rank| {
            let at = usize::try_from(rank).unwrap_or_default();
            let label = |local: usize| {
                let (index, _) = self.map.global(at, local)?;
                Some(shown.as_ref().map_or(signed(index), |labels| labels[index]))
            };
            let indices = (0..self.map.local_length(at)).filter_map(label).collect();
            Ok(DimKind::Indexed { indices, one_to_one })
        })
    }

    /// Owned part and room of a coordinate.
    fn part(&self, coordinate: usize) -> Result<IntervalPair, Error> {
        let owned = self.map.owned(coordinate);
        if !self.holds_what_it_owns(coordinate, owned) {
            return Err(self.refuse(format!("coordinate {coordinate} does not hold all it owns")));
        }
        let owned = (signed(owned.0), signed(owned.1));
        let room = match self.map.global(coordinate, 0) {
            None => (owned.0, owned.0),
            Some((index, lift)) => {
                let start =
                    signed(index).saturating_add(lift.saturating_mul(signed(self.map.length())));
                (start, start.saturating_add(signed(self.map.local_length(coordinate))))
            }
        };
        if room.0 > owned.0 || room.1 < owned.1 {
            let reason = format!("coordinate {coordinate} has room apart from what it owns");
            return Err(self.refuse(reason));
        }
        Ok(IntervalPair { owned, room })
    }

    fn holds_what_it_owns(&self, coordinate: usize, owned: (usize, usize)) -> bool {
        let here = |(lift, set): &(i64, IndexSet)| {
            *lift == 0 && set.contains(owned.0) && set.contains(owned.1 - 1)
        };
        owned.0 >= owned.1 || self.map.held(coordinate).iter().any(here)
    }

    fn blocks(&self, extra: Extra) -> Result<Vec<Dim>, Error> {
        let last = self.map.parts() - 1;
        let periodic = self.map.is_periodic();
        let length = signed(self.map.length());
        let (before, after) = if periodic {
            let (first, end) = (self.part(0)?, self.part(last)?);
            (first.owned.0 - first.room.0, end.room.1 - end.owned.1)
        } else {
            (0, 0)
        };
        self.each(length.saturating_add(before).saturating_add(after), |rank| {
            let coordinate = usize::try_from(rank).unwrap_or_default();
            let IntervalPair { owned, room } = self.part(coordinate)?;
            let mut padding = (owned.0 - room.0, room.1 - owned.1);
            if coordinate == 0 && !periodic {
                padding.0 = extra.boundary.0;
            }
            if coordinate == last && !periodic {
                padding.1 = extra.boundary.1;
            }
            let (start, stop) = (room.0 + before, room.1 + before);
            Ok(DimKind::Block(Block { start, stop, padding, periodic }))
        })
    }

    /// The owned part of a block alone, as positions of the axis.
    fn without_padding(&self, dim: &Dim) -> Result<Dim, Error> {
        if dim.as_block().is_none() {
            return Ok(dim.clone());
        }
        let place = Place { size: signed(self.map.length()), ..dim.place() };
        let coordinate = usize::try_from(place.grid_rank).unwrap_or_default();
        let (start, stop) = self.part(coordinate)?.owned;
        let block = Block { start, stop, padding: (0, 0), periodic: false };
        Dim::new(place, DimKind::Block(block)).map_err(|finding| self.refuse(finding.message))
    }
}
