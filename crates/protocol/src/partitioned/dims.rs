//! Between the two descriptions: dimensions of all ranks <-> partitions.
//!
//! A block gives one partition per rank, its owned part only; a cyclic dimension gives one
//! partition per block, so that a rank has several. The way back asks for ranks in row-major order:
//! one partition per rank is a block, equal blocks dealt in turn are cyclic, anything else has no
//! name in the protocol.

use super::{Location, Partition, Partitioned, Position};
use crate::{Block, Dim, DimKind, Error, Place};
use std::collections::BTreeMap;

/// More partitions than this are refused rather than written down.
const PARTITIONS_MAX: u128 = 1 << 22;
const LANGUAGE: &str = "`__partitioned__`";
const PROTOCOL: &str = "the protocol";

/// One piece of an axis and the grid rank that has it.
struct AxisPiece {
    start: i64,
    extent: i64,
    grid_rank: i64,
}

/// The partitions of an array whose axes are described by `axes`: per axis the dimensions of all
/// its grid ranks, in order. Locations are ranks, in row-major order over the grid.
///
/// # Errors
/// An axis is unstructured, or there would be more than four million partitions.
pub fn from_dims(axes: &[Vec<Dim>]) -> Result<Partitioned, Error> {
    let counts = axes.iter().enumerate().map(|(axis, dims)| count(axis, dims));
    let tiling: Vec<i64> = counts.collect::<Result<_, _>>()?;
    let total = tiling.iter().fold(1_u128, |n, c| n.saturating_mul(u128::from(c.unsigned_abs())));
    let longest = tiling.iter().max().map_or(0, |count| u128::from(count.unsigned_abs()));
    if total.max(longest) > PARTITIONS_MAX {
        let limit = PARTITIONS_MAX;
        return Err(Error::TooMany { what: "partitions", count: total.max(longest), limit });
    }
    let pieces: Vec<Vec<AxisPiece>> = axes.iter().map(|dims| cut(dims)).collect();
    let grid: Vec<i64> = axes.iter().map(|dims| dims.first().map_or(1, grid_size)).collect();
    let mut partitions = BTreeMap::new();
    for position in positions(&tiling) {
        let own: Vec<&AxisPiece> = position
            .iter()
            .zip(&pieces)
            .filter_map(|(at, axis)| usize::try_from(*at).ok().and_then(|at| axis.get(at)))
            .collect();
        let coordinates = own.iter().map(|piece| piece.grid_rank);
        let partition = Partition {
            start: own.iter().map(|piece| piece.start).collect(),
            shape: own.iter().map(|piece| piece.extent).collect(),
            location: vec![Location::Rank(row_major(coordinates, &grid))],
        };
        partitions.insert(position, partition);
    }
    let shape = axes.iter().map(|dims| dims.first().map_or(0, Dim::size)).collect();
    Ok(Partitioned { shape, tiling, partitions, locals: None })
}

fn grid_size(dim: &Dim) -> i64 {
    dim.place().grid_size
}

fn row_major(coordinates: impl Iterator<Item = i64>, grid: &[i64]) -> i64 {
    coordinates
        .zip(grid)
        .fold(0, |index: i64, (at, count)| index.saturating_mul(*count).saturating_add(at))
}

fn count(axis: usize, dims: &[Dim]) -> Result<i64, Error> {
    match dims.first().map(|dim| (dim.kind(), dim.size())) {
        Some((DimKind::Cyclic { block_size, .. }, size)) => {
            Ok(size / block_size + i64::from(size % block_size > 0))
        }
        Some((DimKind::Indexed { .. }, _)) => {
            Err(Error::inexpressible(LANGUAGE, axis, "an unstructured dimension"))
        }
        _ => Ok(i64::try_from(dims.len()).unwrap_or(i64::MAX)),
    }
}

fn cut(dims: &[Dim]) -> Vec<AxisPiece> {
    match dims.first().map(|dim| (dim.kind(), dim.place())) {
        Some((DimKind::Cyclic { block_size, .. }, place)) => {
            let mut pieces = Vec::new();
            let mut start = 0;
            while start < place.size {
                let extent = (*block_size).min(place.size - start);
                let grid_rank = start / block_size % place.grid_size;
                pieces.push(AxisPiece { start, extent, grid_rank });
                start += extent;
            }
            pieces
        }
        _ => {
            let piece = |dim: &Dim| {
                let owned = dim.owned().unwrap_or(0..0);
                let extent = owned.end.saturating_sub(owned.start);
                AxisPiece { start: owned.start, extent, grid_rank: dim.place().grid_rank }
            };
            dims.iter().map(piece).collect()
        }
    }
}

/// All positions of a grid in row-major order.
fn positions(tiling: &[i64]) -> Vec<Position> {
    let mut all = vec![Vec::new()];
    for count in tiling {
        let longer = |position: &Position| {
            let position = position.clone();
            (0..*count).map(move |at| [position.as_slice(), &[at]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The dimensions of all ranks of an array in partitions: one list of dimensions per rank.
///
/// # Errors
/// The dictionary is not valid, a location is not one rank, or the partitions are not dealt as the
/// protocol can say.
pub fn per_rank(partitioned: &Partitioned) -> Result<Vec<Vec<Dim>>, Error> {
    let findings = partitioned.check();
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    let owners = owners(partitioned)?;
    let ndim = partitioned.shape.len();
    if owners.is_empty() {
        return Err(Error::inexpressible(PROTOCOL, None, "an array without partitions"));
    }
    let axes: Vec<AxisDims> =
        (0..ndim).map(|axis| AxisDims::of(partitioned, &owners, axis)).collect::<Result<_, _>>()?;
    let grid: Vec<i64> = axes.iter().map(|axis| axis.places).collect();
    for (position, rank) in &owners {
        let coordinates = position.iter().zip(&grid).map(|(at, places)| at % places);
        let expected = row_major(coordinates, &grid);
        if *rank != expected {
            let reason = format!(
                "the partition at {} is on rank {rank}, row-major order asks for rank {expected}",
                super::check::shown(position)
            );
            return Err(Error::inexpressible(PROTOCOL, None, reason));
        }
    }
    Ok(positions(&grid)
        .iter()
        .map(|at| at.iter().zip(&axes).map(|(r, axis)| axis.dim(*r)).collect())
        .collect())
}

fn owners(partitioned: &Partitioned) -> Result<BTreeMap<&Position, i64>, Error> {
    let owner = |(position, partition): (_, &Partition)| match partition.location.as_slice() {
        [Location::Rank(rank)] => Ok((position, *rank)),
        [other] => {
            let reason = format!("{other} as a location, where ranks are expected");
            Err(Error::inexpressible(PROTOCOL, None, reason))
        }
        several => {
            let reason = format!("a partition on {} places, where it has one", several.len());
            Err(Error::inexpressible(PROTOCOL, None, reason))
        }
    };
    partitioned.partitions.iter().map(owner).collect()
}

/// How one axis is dealt.
struct AxisDims {
    size: i64,
    places: i64,
    /// Start and extent of every piece.
    pieces: Vec<(i64, i64)>,
}

impl AxisDims {
    /// Looks along the line through the origin: where its owner returns, the axis is cyclic.
    fn of(
        partitioned: &Partitioned,
        owners: &BTreeMap<&Position, i64>,
        axis: usize,
    ) -> Result<Self, Error> {
        let count = partitioned.tiling[axis];
        let mut position = vec![0; partitioned.tiling.len()];
        let mut places = count;
        let mut pieces = Vec::new();
        let first = owners.get(&position);
        for at in 0..count {
            position[axis] = at;
            if at > 0 && places == count && owners.get(&position) == first {
                places = at;
            }
            let partition = partitioned.partitions.get(&position);
            pieces.extend(partition.map(|p| (p.start[axis], p.shape[axis])));
        }
        let size = partitioned.shape[axis];
        let dims = Self { size, places, pieces };
        if places < count && !dims.has_equal_blocks() {
            let reason = "several partitions per rank that are not equal blocks";
            return Err(Error::inexpressible(PROTOCOL, axis, reason));
        }
        Ok(dims)
    }

    /// All pieces but the last are equal, and the last is not longer and not empty.
    fn has_equal_blocks(&self) -> bool {
        let Some(((_, last), before)) = self.pieces.split_last() else { return false };
        let block = before.first().map_or(*last, |(_, extent)| *extent);
        *last > 0 && *last <= block && before.iter().all(|(_, extent)| *extent == block)
    }

    fn dim(&self, grid_rank: i64) -> Dim {
        let place = Place { size: self.size, grid_size: self.places, grid_rank };
        let cyclic = usize::try_from(self.places).is_ok_and(|places| places < self.pieces.len());
        let at = usize::try_from(grid_rank).unwrap_or_default();
        let (start, extent) = self.pieces.get(at).copied().unwrap_or((self.size, 0));
        let kind = if cyclic {
            let block_size = self.pieces[0].1;
            DimKind::Cyclic { start: grid_rank.saturating_mul(block_size), block_size }
        } else {
            let stop = start.saturating_add(extent);
            DimKind::Block(Block { start, stop, padding: (0, 0), periodic: false })
        };
        Dim::new(place, kind).expect("sizes, places and blocks were checked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{self, Document};
    use crate::{Section, across};
    use pantile_testkit::{Rng, cases};

    fn random_axis(rng: &mut Rng) -> Vec<Dim> {
        let grid_size = rng.range(1, 4);
        let size = rng.range(0, 9);
        let dims = |kind: &dyn Fn(i64) -> DimKind| -> Vec<Dim> {
            (0..grid_size)
                .map(|grid_rank| {
                    Dim::new(Place { size, grid_size, grid_rank }, kind(grid_rank)).unwrap()
                })
                .collect()
        };
        if rng.chance(1, 2) {
            let block_size = rng.range(1, 4);
            return dims(&|rank| DimKind::Cyclic { start: rank * block_size, block_size });
        }
        let mut cuts: Vec<i64> = (1..grid_size).map(|_| rng.range(0, size + 1)).collect();
        cuts.extend([0, size]);
        cuts.sort_unstable();
        dims(&|rank| {
            let at = usize::try_from(rank).unwrap();
            let (start, stop) = (cuts[at], cuts[at + 1]);
            DimKind::Block(Block { start, stop, padding: (0, 0), periodic: false })
        })
    }

    /// Every element is in one partition, on the rank that owns it.
    #[test]
    fn partitions_hold_what_ranks_own() {
        cases("partitions", 3_000, |rng| {
            let axes: Vec<Vec<Dim>> = (0..rng.below(4)).map(|_| random_axis(rng)).collect();
            let partitioned = from_dims(&axes).unwrap();
            assert_eq!(partitioned.check(), []);
            let (read, findings, _) = super::super::read(&partitioned.to_value());
            assert_eq!((read.as_ref(), findings.as_slice()), (Some(&partitioned), [].as_slice()));
            for partition in partitioned.partitions().values() {
                let Location::Rank(mut rank) = partition.location[0] else { panic!("a rank") };
                for axis in (0..axes.len()).rev() {
                    let places = i64::try_from(axes[axis].len()).unwrap();
                    let dim = &axes[axis][usize::try_from(rank % places).unwrap()];
                    rank /= places;
                    let (start, extent) = (partition.start[axis], partition.shape[axis]);
                    assert!((start..start + extent).all(|global| dim.local(global).is_some()));
                }
            }
            back(&axes, &partitioned);
        });
    }

    /// The way back places every element as before, if it exists.
    fn back(axes: &[Vec<Dim>], partitioned: &Partitioned) {
        let Ok(ranks) = per_rank(partitioned) else { return };
        let sections: Vec<Section> =
            ranks.iter().map(|dims| Section::from_dims(dims, None)).collect();
        assert_eq!(across(&sections), []);
        let grid: Vec<i64> = axes.iter().map(|dims| i64::try_from(dims.len()).unwrap()).collect();
        for (rank, dims) in ranks.iter().enumerate() {
            let mut rest = i64::try_from(rank).unwrap();
            let own: Vec<i64> = dims.iter().map(|dim| dim.place().grid_size).collect();
            for axis in (0..axes.len()).rev() {
                let at = usize::try_from(rest % grid[axis]).unwrap();
                rest /= grid[axis];
                if own == grid {
                    assert!(dims[axis].globals().eq(axes[axis][at].globals()));
                }
            }
        }
    }

    #[test]
    fn what_the_protocol_cannot_say_is_refused() {
        let fails = |text: &str, message: &str| {
            let Document::Partitioned { partitioned, .. } = json::read(text).unwrap() else {
                panic!("{text}")
            };
            let error = per_rank(&partitioned.unwrap()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        };
        let text = |owners: [&str; 4], cuts: [i64; 5]| {
            let parts: Vec<String> = (0..4)
                .map(|k| {
                    let extent = cuts[k + 1] - cuts[k];
                    format!(
                        r#""{k}": {{"start": [{}], "shape": [{extent}], "location": {}}}"#,
                        cuts[k], owners[k]
                    )
                })
                .collect();
            format!(
                r#"{{"shape": [{}], "partition_tiling": [4], "partitions": {{{}}}}}"#,
                cuts[4],
                parts.join(",")
            )
        };
        let even = [0, 2, 4, 6, 8];
        fails(&text(["[0]", "[1]", "[0]", "[1]"], [0, 2, 3, 6, 8]), "not equal blocks");
        fails(&text(["[0]", "[1]", "[0]", "[1]"], [0, 2, 4, 6, 9]), "not equal blocks");
        fails(&text(["[0]", "[0]", "[1]", "[1]"], even), "row-major order");
        fails(&text(["[0]", "[2]", "[1]", "[3]"], even), "row-major order");
        fails(&text(["[0, 1]", "[1]", "[2]", "[3]"], even), "2 places");
        fails(&text(["\"a\"", "[1]", "[2]", "[3]"], even), "where ranks are expected");
        fails(&text(["[0]", "[1]", "[2]", "[3]"], [0, 2, 4, 6, 5]), "breaks 1 rule");
    }

    #[test]
    fn endless_lists_are_refused() {
        let place = Place { size: 1 << 60, grid_size: 2, grid_rank: 0 };
        let dim = Dim::new(place, DimKind::Cyclic { start: 0, block_size: 1 }).unwrap();
        assert!(matches!(from_dims(&[vec![dim]]), Err(Error::TooMany { .. })));
        let labels = DimKind::Indexed { indices: vec![0], one_to_one: true };
        let dim = Dim::new(Place { size: 1, grid_size: 1, grid_rank: 0 }, labels).unwrap();
        assert!(matches!(from_dims(&[vec![dim]]), Err(Error::Inexpressible { .. })));
    }
}
