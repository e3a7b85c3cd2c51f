//! The ranks arranged as a grid with named axes.

use std::fmt;
use std::sync::Arc;

use crate::Error;
use crate::number::{check_length, checked_product, position};

/// A worker's number in the world.
pub type Rank = usize;

/// World ranks arranged as a grid with named axes, row-major.
///
/// The *team* lists the ranks that fill the grid, in any order, without repeats; all other world
/// ranks are idle. A team that is an arithmetic pattern (all ranks, a sub-mesh of them) is kept
/// as a formula, so a mesh of a million ranks costs nothing.
///
/// Two meshes are equal if they have the same team in the same order and the same shape once
/// axes of extent 1 are dropped; names do not count.
///
/// ```
/// use pantile_geometry::Mesh;
/// let mesh = Mesh::new(&[("x", 2), ("y", 3)])?;
/// assert_eq!(mesh.rank_at(4), 4);
/// assert_eq!(mesh.coordinates_of(5), Some(vec![1, 2]));
/// assert_eq!(mesh.at("x", 1)?.ranks().collect::<Vec<_>>(), [3, 4, 5]);
/// # Ok::<(), pantile_geometry::Error>(())
/// ```
#[derive(Clone)]
pub struct Mesh {
    names: Vec<String>,
    shape: Vec<usize>,
    team: Team,
}

/// Which world rank sits where.
///
/// Invariant: a team that a `Grid` can say is never a `List`.
#[derive(Clone, PartialEq, Eq)]
enum Team {
    /// `base + sum(coordinate * stride)`; strides are nested, so the sum can be taken apart.
    Grid { base: Rank, strides: Vec<usize> },
    /// Ranks in row-major order, and (rank, position) sorted by rank.
    List { ranks: Arc<[Rank]>, lookup: Arc<[(Rank, usize)]> },
}

impl Mesh {
    /// The ranks `0..size` in row-major order on axes with these names and extents.
    ///
    /// # Errors
    /// An extent is 0, a name is not a word or repeated, or the mesh is too large.
    pub fn new(axes: &[(&str, usize)]) -> Result<Self, Error> {
        let names: Vec<String> = axes.iter().map(|(name, _)| (*name).to_owned()).collect();
        let shape: Vec<usize> = axes.iter().map(|(_, extent)| *extent).collect();
        for (axis, name) in names.iter().enumerate() {
            let problem = if !is_word(name) {
                "is not a word of letters, digits and `_`"
            } else if names[..axis].contains(name) {
                "is named twice"
            } else if shape[axis] == 0 {
                "has extent 0, expected at least 1"
            } else {
                continue;
            };
            return Err(Error::MeshAxis { name: name.clone(), problem });
        }
        checked_product("ranks of the mesh", &shape)?;
        let strides = row_major(&shape);
        Ok(Self { names, shape, team: Team::Grid { base: 0, strides } })
    }

    /// The ranks `0..size` on one axis named `r`.
    ///
    /// # Errors
    /// `size` is 0 or too large.
    pub fn line(size: usize) -> Result<Self, Error> {
        Self::new(&[("r", size)])
    }

    /// A mesh of one rank and no axes.
    #[must_use]
    pub fn one(rank: Rank) -> Self {
        let team = Team::Grid { base: rank, strides: Vec::new() };
        Self { names: Vec::new(), shape: Vec::new(), team }
    }

    /// The same grid filled by other ranks, given in row-major order.
    ///
    /// # Errors
    /// The number of ranks is not the size of the mesh, or a rank is repeated or too large.
    pub fn with_team(mut self, ranks: Vec<Rank>) -> Result<Self, Error> {
        let expected = self.size();
        if ranks.len() != expected {
            return Err(Error::Count { what: "ranks in the team", got: ranks.len(), expected });
        }
        let mut lookup: Vec<(Rank, usize)> =
            ranks.iter().enumerate().map(|(position, rank)| (*rank, position)).collect();
        lookup.sort_unstable();
        if let Some((last, _)) = lookup.last() {
            check_length("world rank", *last)?;
        }
        if let Some(pair) = lookup.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let value = position(pair[0].0);
            return Err(Error::Repeated { what: "world rank", value });
        }
        self.team = match grid_of(&self.shape, &ranks) {
            Some(grid) => grid,
            None => Team::List { ranks: ranks.into(), lookup: lookup.into() },
        };
        Ok(self)
    }

    /// The sub-mesh with the coordinate on the axis `name` fixed; that axis disappears.
    ///
    /// # Errors
    /// There is no such axis, or the coordinate is beyond its extent.
    pub fn at(&self, name: &str, coordinate: usize) -> Result<Self, Error> {
        let axis = self.axis(name)?;
        self.at_axis(axis, coordinate)
    }

    /// As [`Mesh::at`], by the number of the mesh axis.
    pub(crate) fn at_axis(&self, axis: usize, coordinate: usize) -> Result<Self, Error> {
        if coordinate >= self.shape[axis] {
            let name = self.names[axis].clone();
            return Err(Error::MeshAxis { name, problem: "has no such coordinate" });
        }
        let (mut names, mut shape) = (self.names.clone(), self.shape.clone());
        names.remove(axis);
        shape.remove(axis);
        if let Team::Grid { base, strides } = &self.team {
            let base = base + coordinate * strides[axis];
            let mut strides = strides.clone();
            strides.remove(axis);
            return Ok(Self { names, shape, team: Team::Grid { base, strides } });
        }
        let positions = 0..self.size();
        let ranks = positions
            .filter(|position| self.coordinates_at(*position)[axis] == coordinate)
            .map(|position| self.rank_at(position))
            .collect();
        Self { names, shape, team: Team::Grid { base: 0, strides: Vec::new() } }.with_team(ranks)
    }

    /// Names of the axes.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Extents of the axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// The number of the axis `name`.
    ///
    /// # Errors
    /// There is no such axis.
    pub fn axis(&self, name: &str) -> Result<usize, Error> {
        self.names.iter().position(|known| known == name).ok_or_else(|| Error::MeshAxis {
            name: name.to_owned(),
            problem: "does not exist on this mesh",
        })
    }

    /// The world rank at a row-major position.
    ///
    /// # Panics
    /// If `position` is not below [`Mesh::size`].
    #[must_use]
    pub fn rank_at(&self, position: usize) -> Rank {
        assert!(position < self.size(), "position {position} is beyond the mesh");
        match &self.team {
            Team::List { ranks, .. } => ranks[position],
            Team::Grid { base, strides } => {
                let mut rest = position;
                let mut rank = *base;
                for axis in (0..self.shape.len()).rev() {
                    rank += rest % self.shape[axis] * strides[axis];
                    rest /= self.shape[axis];
                }
                rank
            }
        }
    }

    /// The world rank at these coordinates.
    ///
    /// # Panics
    /// If a coordinate is beyond its axis.
    #[must_use]
    pub fn rank_of(&self, coordinates: &[usize]) -> Rank {
        match &self.team {
            Team::Grid { base, strides } => {
                let inside = coordinates.iter().zip(&self.shape).all(|(c, n)| c < n);
                assert!(inside, "coordinates {coordinates:?} are beyond the mesh");
                base + coordinates.iter().zip(strides).map(|(c, stride)| c * stride).sum::<usize>()
            }
            Team::List { .. } => self.rank_at(flatten(coordinates, &self.shape)),
        }
    }

    /// Coordinates of a row-major position.
    #[must_use]
    pub fn coordinates_at(&self, position: usize) -> Vec<usize> {
        unflatten(position, &self.shape)
    }

    /// Row-major position of a world rank; `None` if it is idle.
    #[must_use]
    pub fn position_of(&self, rank: Rank) -> Option<usize> {
        match &self.team {
            Team::List { lookup, .. } => {
                let at = lookup.binary_search_by_key(&rank, |entry| entry.0).ok()?;
                Some(lookup[at].1)
            }
            Team::Grid { .. } => Some(flatten(&self.coordinates_of(rank)?, &self.shape)),
        }
    }

    /// Coordinates of a world rank; `None` if it is idle.
    #[must_use]
    pub fn coordinates_of(&self, rank: Rank) -> Option<Vec<usize>> {
        let Team::Grid { base, strides } = &self.team else {
            return Some(self.coordinates_at(self.position_of(rank)?));
        };
        let mut rest = rank.checked_sub(*base)?;
        let mut coordinates = vec![0; self.shape.len()];
        for axis in by_stride(&self.shape, strides) {
            coordinates[axis] = rest / strides[axis];
            if coordinates[axis] >= self.shape[axis] {
                return None;
            }
            rest %= strides[axis];
        }
        (rest == 0).then_some(coordinates)
    }

    /// All ranks in row-major order.
    pub fn ranks(&self) -> impl Iterator<Item = Rank> + '_ {
        (0..self.size()).map(|position| self.rank_at(position))
    }

    /// How many ranks a world has at least that has this mesh: one more than the highest of the team.
    #[must_use]
    pub fn ranks_needed(&self) -> usize {
        match &self.team {
            Team::List { ranks, .. } => ranks.iter().max().map_or(0, |rank| rank + 1),
            Team::Grid { base, strides } => {
                let last =
                    self.shape.iter().zip(strides).map(|(length, stride)| (length - 1) * stride);
                base + last.sum::<usize>() + 1
            }
        }
    }

    /// True if ranks compare alike along some axes at whatever coordinates of the others: the rank is
    /// a sum over the axes, or grows along the mesh.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        match &self.team {
            Team::List { ranks, .. } => ranks.is_sorted(),
            Team::Grid { .. } => true,
        }
    }

    /// True if the team is the ranks `0..size` in order.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        match &self.team {
            Team::List { .. } => false,
            Team::Grid { base, strides } => {
                let plain = row_major(&self.shape);
                *base == 0
                    && (0..self.shape.len()).all(|a| self.shape[a] == 1 || strides[a] == plain[a])
            }
        }
    }

    /// The same grid filled by `base + sum(coordinate * stride)`.
    ///
    /// # Errors
    /// There is not one stride per axis, or a stride does not exceed what all smaller ones
    /// together reach, so that a rank could not be taken apart again.
    pub fn with_formula(mut self, base: Rank, strides: &[usize]) -> Result<Self, Error> {
        let (got, expected) = (strides.len(), self.shape.len());
        if got != expected {
            return Err(Error::Count { what: "strides of the team", got, expected });
        }
        check_length("world rank", base)?;
        for (stride, extent) in strides.iter().zip(&self.shape) {
            checked_product("world rank", &[*stride, *extent])?;
            check_length("world rank", stride * extent)?;
        }
        if let Some(axis) = overlapping(&self.shape, strides) {
            let problem = "has a stride within reach of the smaller ones: list the ranks instead";
            return Err(Error::MeshAxis { name: self.names[axis].clone(), problem });
        }
        self.team = Team::Grid { base, strides: strides.to_vec() };
        Ok(self)
    }

    /// First rank and strides, if the team is a formula.
    pub(crate) fn formula(&self) -> Option<(Rank, &[usize])> {
        match &self.team {
            Team::Grid { base, strides } => Some((*base, strides)),
            Team::List { .. } => None,
        }
    }

    /// The same mesh with its axes named by number.
    pub(crate) fn renamed(&self) -> Self {
        let names = (0..self.names.len()).map(|axis| format!("a{axis}")).collect();
        Self { names, ..self.clone() }
    }

    /// Numbers of the axes with extent above 1.
    pub(crate) fn wide_axes(&self) -> Vec<usize> {
        (0..self.shape.len()).filter(|axis| self.shape[*axis] > 1).collect()
    }

    /// The mesh without its axes of extent 1: what equality compares.
    pub(crate) fn squeezed(&self) -> Self {
        let wide = self.wide_axes();
        let pick = |of: &[usize]| wide.iter().map(|axis| of[*axis]).collect::<Vec<usize>>();
        let team = match &self.team {
            Team::Grid { base, strides } => Team::Grid { base: *base, strides: pick(strides) },
            list @ Team::List { .. } => list.clone(),
        };
        let names = wide.iter().map(|axis| self.names[*axis].clone()).collect();
        Self { names, shape: pick(&self.shape), team }
    }
}

impl PartialEq for Mesh {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.squeezed(), other.squeezed());
        a.shape == b.shape && a.team == b.team
    }
}

impl Eq for Mesh {}

impl fmt::Debug for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mesh({self})")
    }
}

/// Horner's rule over coordinates, row-major.
pub(crate) fn flatten(coordinates: &[usize], shape: &[usize]) -> usize {
    coordinates.iter().zip(shape).fold(0, |position, (c, extent)| position * extent + c)
}

/// The coordinates of a row-major position.
pub(crate) fn unflatten(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut coordinates = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        coordinates[axis] = position % shape[axis];
        position /= shape[axis];
    }
    coordinates
}

fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Axes of extent above 1, widest stride first.
fn by_stride(shape: &[usize], strides: &[usize]) -> Vec<usize> {
    let mut axes: Vec<usize> = (0..shape.len()).filter(|axis| shape[*axis] > 1).collect();
    axes.sort_by_key(|axis| std::cmp::Reverse(strides[*axis]));
    axes
}

/// The formula of a list of ranks, if it has one that can be taken apart again.
fn grid_of(shape: &[usize], ranks: &[Rank]) -> Option<Team> {
    let base = *ranks.first()?;
    let unit = row_major(shape);
    let mut strides = Vec::with_capacity(shape.len());
    for axis in 0..shape.len() {
        strides.push(if shape[axis] > 1 { ranks[unit[axis]].checked_sub(base)? } else { 1 });
    }
    if overlapping(shape, &strides).is_some() {
        return None;
    }
    let matches = ranks.iter().enumerate().all(|(position, rank)| {
        let coordinates = unflatten(position, shape);
        let offset: usize = coordinates.iter().zip(&strides).map(|(c, stride)| c * stride).sum();
        *rank == base + offset
    });
    matches.then_some(Team::Grid { base, strides })
}

/// The first axis whose stride does not exceed what all smaller ones together reach.
fn overlapping(shape: &[usize], strides: &[usize]) -> Option<usize> {
    let mut reach = 0;
    by_stride(shape, strides).into_iter().rev().find(|axis| {
        let overlaps = strides[*axis] <= reach;
        reach += strides[*axis] * (shape[*axis] - 1);
        overlaps
    })
}

fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(team: Vec<Rank>) -> Mesh {
        Mesh::new(&[("x", 2), ("y", 3)]).unwrap().with_team(team).unwrap()
    }

    #[test]
    fn positions_and_ranks_are_inverse() {
        let teams = [vec![5, 4, 3, 2, 1, 0], vec![0, 10, 20, 3, 13, 23], vec![7, 1, 2, 3, 4, 5]];
        for team in teams {
            let mesh = mesh(team.clone());
            for (position, rank) in team.iter().enumerate() {
                assert_eq!(mesh.rank_at(position), *rank);
                assert_eq!(mesh.position_of(*rank), Some(position));
                assert_eq!(mesh.rank_of(&mesh.coordinates_at(position)), *rank);
            }
            for rank in (0..40).filter(|rank| !team.contains(rank)) {
                assert_eq!(mesh.position_of(rank), None);
            }
        }
    }

    #[test]
    fn sub_meshes_keep_their_ranks() {
        for team in [vec![0, 1, 2, 3, 4, 5], vec![9, 4, 3, 2, 1, 0]] {
            let mesh = mesh(team.clone());
            let column = mesh.at("y", 1).unwrap();
            assert_eq!(column.ranks().collect::<Vec<_>>(), [team[1], team[4]]);
            let one = column.at("x", 1).unwrap();
            assert_eq!(one, Mesh::one(team[4]));
        }
        assert!(mesh(vec![0, 1, 2, 3, 4, 5]).at("z", 0).is_err());
        assert!(mesh(vec![0, 1, 2, 3, 4, 5]).at("x", 2).is_err());
    }

    #[test]
    fn equality_ignores_names_and_axes_of_extent_one() {
        let plain = Mesh::new(&[("a", 2), ("b", 3)]).unwrap();
        assert_eq!(plain, Mesh::new(&[("x", 2), ("one", 1), ("y", 3)]).unwrap());
        assert_ne!(plain, Mesh::new(&[("x", 3), ("y", 2)]).unwrap());
        assert_ne!(plain, mesh(vec![0, 1, 2, 3, 5, 4]));
        assert!(plain.is_plain() && !mesh(vec![1, 2, 3, 4, 5, 6]).is_plain());
    }

    #[test]
    fn bad_meshes_are_refused() {
        assert!(Mesh::new(&[("x", 0)]).is_err());
        assert!(Mesh::new(&[("x", 1), ("x", 2)]).is_err());
        assert!(Mesh::new(&[("2x", 1)]).is_err());
        assert!(Mesh::new(&[("x", 1 << 40), ("y", 1 << 40)]).is_err());
        assert!(Mesh::line(2).unwrap().with_team(vec![1]).is_err());
        assert!(Mesh::line(2).unwrap().with_team(vec![1, 1]).is_err());
        let grid = Mesh::new(&[("x", 2), ("y", 3)]).unwrap();
        assert!(grid.clone().with_formula(0, &[2, 1]).is_err());
        assert!(grid.clone().with_formula(0, &[0, 1]).is_err());
        assert_eq!(grid.clone().with_formula(7, &[1, 2]).unwrap().position_of(12), Some(5));
        assert!(grid.with_formula(0, &[1]).is_err());
    }
}
