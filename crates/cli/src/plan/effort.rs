//! How many pairs of ranks have to be looked at to add up a movement exactly.
//!
//! Totals are a product over independent parts of the mesh, so they are cheap for a million ranks
//! that talk to their neighbours and dear for a few thousand where everybody talks to everybody.

use anyhow::Result;
use pantile_geometry::{Distribution, Rank};
use pantile_plan::Schedule;

/// Peers of a rank as sender and as receiver, the most among a few ranks.
#[derive(Clone, Copy, Debug, Default)]
struct Peers {
    sending: usize,
    receiving: usize,
}

/// Pairs of ranks up to which totals are added up exactly.
pub(crate) const PAIRS_MAX: u128 = 3_000_000;

/// A bound on the pairs of ranks behind the totals of one step.
pub(crate) fn pairs(source: &Distribution, target: &Distribution) -> Result<u128> {
    let (from, to) = (source.mesh(), target.mesh());
    if from.size() as u128 * to.size() as u128 <= 1 << 20 {
        return Ok(1 << 20);
    }
    let peers = probe(source, target)?;
    if from != to || source.boxes().is_some() || target.boxes().is_some() {
        return Ok(bound(from.size(), to.size(), peers));
    }
    let parts = independent(source, target);
    Ok(parts.into_iter().map(|ranks| bound(ranks, ranks, peers)).sum())
}

fn bound(from: usize, to: usize, peers: Peers) -> u128 {
    let all = from as u128 * to as u128;
    all.min(from as u128 * peers.sending as u128).min(to as u128 * peers.receiving as u128)
}

/// First, middle and last rank of both meshes.
fn some_ranks(source: &Distribution, target: &Distribution) -> Vec<Rank> {
    let of = |side: &Distribution| {
        let mesh = side.mesh();
        let middle: Vec<usize> = mesh.shape().iter().map(|extent| extent / 2).collect();
        [mesh.rank_at(0), mesh.rank_of(&middle), mesh.rank_at(mesh.size() - 1)]
    };
    let mut ranks = [of(source), of(target)].concat();
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

fn probe(source: &Distribution, target: &Distribution) -> Result<Peers> {
    let mut most = Peers::default();
    for rank in some_ranks(source, target) {
        for leg in Schedule::between(source, target, rank)?.legs {
            most.sending = most.sending.max(leg.sends.len());
            most.receiving = most.receiving.max(leg.receives.len());
        }
    }
    Ok(most)
}

/// Ranks of each independent part of a mesh that both sides share: mesh axes that cut the same
/// array axis, on either side, belong together.
fn independent(source: &Distribution, target: &Distribution) -> Vec<usize> {
    let extents = source.mesh().shape();
    // Meshes are the same up to axes of extent 1, so that axes may have other numbers.
    let wide = |side: &Distribution| -> Vec<usize> {
        let shape = side.mesh().shape();
        (0..shape.len()).filter(|axis| shape[*axis] > 1).collect()
    };
    let (source_wide, target_wide) = (wide(source), wide(target));
    let mut part: Vec<usize> = (0..source_wide.len()).collect();
    for axis in 0..source.ndim() {
        let mut joined: Vec<usize> = Vec::new();
        for (side, wide) in [(source, &source_wide), (target, &target_wide)] {
            let over = side.axes().map_or(&[][..], |axes| axes[axis].over());
            joined.extend(over.iter().filter_map(|m| wide.iter().position(|known| known == m)));
        }
        if let Some(first) = joined.first().map(|at| part[*at]) {
            let old: Vec<usize> = joined.iter().map(|at| part[*at]).collect();
            part.iter_mut().filter(|p| old.contains(p)).for_each(|p| *p = first);
        }
    }
    let mut names = part.clone();
    names.sort_unstable();
    names.dedup();
    let ranks = |name: &usize| {
        let own = (0..part.len()).filter(|at| part[*at] == *name);
        own.map(|at| extents[source_wide[at]]).product()
    };
    names.iter().map(ranks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, target: &str, expected: u128) {
        let pairs = pairs(&source.parse().unwrap(), &target.parse().unwrap()).unwrap();
        assert_eq!(pairs, expected, "{source} -> {target}");
    }

    #[test]
    fn neighbours_are_cheap_and_everybody_is_dear() {
        let tiles = "65536x65536 on x=1024, y=1024: block(x), block(y)";
        // Nine peers per rank, 1024 ranks per independent part.
        let halos = "65536x65536 on x=1024, y=1024: block(x) halo 1, block(y) halo 1";
        check(tiles, halos, 2 * 9 * 1024);
        check("8192 on r=8192: whole; sum(r)", "8192 on r=8192: whole", 1 << 26);
        check(tiles, "65536x65536 on rank 0: whole, whole", 1 << 20);
    }

    #[test]
    fn mesh_axes_of_one_array_axis_belong_together() {
        let source = "65536 on x=64, y=64: block(x*y)".parse().unwrap();
        let target = "65536 on x=64, one=1, y=64: block(y)".parse().unwrap();
        assert_eq!(independent(&source, &target), [4096]);
        let apart = "65536 on x=64, y=64: block(x)".parse().unwrap();
        assert_eq!(independent(&apart, &apart), [64, 64]);
    }
}
