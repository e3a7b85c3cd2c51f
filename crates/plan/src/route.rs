//! Which way a movement takes: straight, or over distributions in between.
//!
//! The way depends only on what every rank knows, and never changes a bit of the result: terms are
//! combined in ascending order on every one of these ways.

use pantile_geometry::{Distribution, Kind};

use crate::between::Problem;

/// Below this size of a tile a straight movement costs less than a second round of messages.
const LARGE_BYTES: usize = 128 << 10;

/// Up to so many ranks all take from all: one round instead of two.
const ALL_FROM_ALL: usize = 64;

/// What the choice of a way depends on besides the distributions; the same on every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terrain {
    /// Peers look at each other's memory.
    pub windows: bool,
    /// Tiles below this size go straight: a second round of messages would cost more.
    pub large_bytes: usize,
}

impl Terrain {
    /// Ranks that look at each other's memory, as threads do, or that send messages.
    #[must_use]
    pub fn new(windows: bool) -> Self {
        Self { windows, large_bytes: LARGE_BYTES }
    }
}

/// The distributions from `source` to `target`, both included.
#[must_use]
pub fn route(
    source: &Distribution,
    target: &Distribution,
    element_bytes: usize,
    terrain: Terrain,
) -> Vec<Distribution> {
    let between = if order_depends_on_copies(source) {
        Vec::new()
    } else {
        through_blocks(source, target, element_bytes, terrain)
            .or_else(|| through_one(source, target))
            .or_else(|| axis_by_axis(source, target, terrain.windows))
            .unwrap_or_default()
    };
    let mut path = vec![source.clone()];
    path.extend(between);
    path.push(target.clone());
    path
}

/// True if the ranks of an element's terms ascend in another order in another copy of them: a rank
/// between that takes another copy than the receiver would round their sum differently.
fn order_depends_on_copies(source: &Distribution) -> bool {
    !source.mesh().is_ordered() && source.has_terms() && source.has_copies()
}

/// All-reduce as reduce-scatter and all-gather, broadcast as scatter and all-gather: blocks of the
/// target's mesh in between. Every rank then moves its share instead of the whole.
fn through_blocks(
    source: &Distribution,
    target: &Distribution,
    element_bytes: usize,
    Terrain { windows, large_bytes }: Terrain,
) -> Option<Vec<Distribution>> {
    let free: Vec<usize> = copied_axes(target);
    let copies: usize = free.iter().map(|axis| target.mesh().shape()[*axis]).product();
    // Two ranks with windows read each other's terms as fast as they would read the halves twice.
    let few = if windows { 2 } else { 1 + usize::from(!source.has_terms()) };
    let tile = target.size().saturating_mul(element_bytes) / tiles(target, &free).max(1);
    let spreads = source.has_terms() || holders(source) < holders(target);
    let wanted = copies > few && tile >= large_bytes && spreads && (source.has_terms() || !windows);
    if !wanted || source.boxes().is_some() {
        return None;
    }
    // The longest axis gives the most even blocks.
    let longest = (0..target.ndim()).max_by_key(|axis| target.shape()[*axis])?;
    Some(vec![target.cut_further(longest, &free)?])
}

/// Small tiles that many ranks have parts or terms of, and many want as a whole: one rank gathers
/// them, and all others take them from it. That is two messages per rank, where all from all would be
/// as many as there are pairs.
fn through_one(source: &Distribution, target: &Distribution) -> Option<Vec<Distribution>> {
    let (shape, mesh) = (target.shape(), target.mesh());
    if mesh.size() <= ALL_FROM_ALL || source.boxes().is_some() {
        return None;
    }
    let senders = match source.has_terms() {
        true => source.mesh().size(),
        false => source.mesh().size() / holders(source).max(1),
    };
    if senders <= ALL_FROM_ALL || *target != Distribution::copies(shape, mesh.clone()).ok()? {
        return None;
    }
    let gathered = Distribution::on_rank(shape, mesh.ranks().next()?).ok()?;
    let reached = Problem::new(source, &gathered).is_ok();
    reached.then(|| vec![gathered])
}

/// Mesh axes along which every rank holds the same.
fn copied_axes(target: &Distribution) -> Vec<usize> {
    if target.boxes().is_some() || target.has_terms() {
        return Vec::new();
    }
    let free = target.free_mesh_axes().into_iter();
    free.filter(|axis| target.mesh_kind(*axis) == Kind::Copies).collect()
}

/// Number of different tiles, if the ranks along `free` hold the same.
fn tiles(target: &Distribution, free: &[usize]) -> usize {
    let copies: usize = free.iter().map(|axis| target.mesh().shape()[*axis]).product();
    target.mesh().size() / copies.max(1)
}

/// How many ranks hold each element of a distribution in plain blocks.
fn holders(distribution: &Distribution) -> usize {
    let free = distribution.free_mesh_axes();
    free.iter().map(|axis| distribution.mesh().shape()[*axis]).product()
}

/// A halo exchange over two or more cut axes as messages: two per axis instead of one per
/// neighbour, corners included. Where ranks look at each other's memory corners cost nothing, and
/// one round is better than several.
fn axis_by_axis(
    source: &Distribution,
    target: &Distribution,
    windows: bool,
) -> Option<Vec<Distribution>> {
    // Sums of several hops would be rounded in another order.
    if windows || source.has_terms() || target.has_terms() || source == target {
        return None;
    }
    // Only where ownership stays: other movements would travel several times.
    if source.written().ok()? != target.written().ok()? {
        return None;
    }
    let mut between: Vec<Distribution> = Vec::new();
    for axis in 0..source.ndim() {
        let changed: Vec<usize> = (0..=axis).collect();
        let next = source.with_axes_of(target, &changed)?;
        if between.last().unwrap_or(source) != &next {
            between.push(next);
        }
    }
    // The last one is the target itself.
    between.pop();
    // A stop may want elements that the target does not, and that nobody has.
    let stops = std::iter::once(source).chain(&between).zip(&between);
    let reached = stops.into_iter().all(|(from, to)| Problem::new(from, to).is_ok());
    (!between.is_empty() && reached).then_some(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stops between two distributions of ranks that look at each other's memory.
    fn check(source: &str, target: &str, expected: &[&str]) {
        let [source, target] = [source, target].map(|text| text.parse::<Distribution>().unwrap());
        let path = route(&source, &target, 8, Terrain::new(true));
        let between: Vec<String> =
            path[1..path.len() - 1].iter().map(ToString::to_string).collect();
        assert_eq!(between, expected, "{source} -> {target}");
    }

    #[test]
    fn copies_of_terms_in_another_order_go_straight() {
        let check = |team: &str, map: &str, expected: &[&str]| {
            let target = format!("99999 on a=2, b=2{team}: whole");
            check(&format!("99999 on a=2, b=2{team}: {map}"), &target, expected);
        };
        let blocks = |team: &str| format!("99999 on a=2, b=2{team}: block(a*b)");
        // Copy 0 has the terms of ranks 0 and 1, copy 1 those of ranks 3 and 2.
        check(" team [0 3 1 2]", "whole; sum(a)", &[]);
        check(" team [0 3 1 2]", "whole; sum(a, b)", &[&blocks(" team [0 3 1 2]")]);
        // A sum over the axes, or ranks that grow along the mesh.
        check("", "whole; sum(a)", &[&blocks("")]);
        check(" team [0 2 1 3]", "whole; sum(a)", &[&blocks(" team from 0 by 1 2")]);
        check(" team [0 1 2 4]", "whole; sum(a)", &[&blocks(" team [0..3 4]")]);
    }

    #[test]
    fn many_ranks_gather_small_tiles_on_one_of_them() {
        check("71 on r=64: whole; sum(r)", "71 on r=64: whole", &[]);
        check("71 on r=65: whole; sum(r)", "71 on r=65: whole", &["71 on rank 0: whole"]);
        check("scalar on r=4096:; max(r)", "scalar on r=4096:", &["scalar on rank 0:"]);
        check("99 on r=99: block(r)", "99 on r=99: whole", &["99 on rank 0: whole"]);
        let team = ["99 on r=90 team from 7 by 1: block(r)", "99 on r=90 team from 7 by 1: whole"];
        check(team[0], team[1], &["99 on rank 7: whole"]);
        // One rank, or few, that have all of it are enough for many.
        check("99 on rank 0: whole", "99 on r=99: whole", &[]);
        check("99 on a=3, b=33: block(a)", "99 on r=99: whole", &[]);
        // Not everybody wants all of it.
        check("99 on r=99: block(r)", "99 on r=99: cyclic(r, 1)", &[]);
        check("99 on r=99: whole; sum(r)", "99 on r=99: block(r)", &[]);
    }
}
