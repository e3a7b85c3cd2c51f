//! Totals of movements that are too large to be added up pair by pair.
//!
//! Totals are a product over independent parts of the mesh, so they are cheap for a million ranks
//! that talk to their neighbours and dear for a few thousand where everybody talks to everybody.

use pantile_geometry::{Distribution, Rank};

use crate::schedule::{Message, Schedule};
use crate::{Error, Totals};

/// Peers of a rank as sender and as receiver, the most among a few ranks.
#[derive(Clone, Copy, Debug, Default)]
struct Peers {
    sending: usize,
    receiving: usize,
}

/// Pairs of ranks up to which totals are added up exactly.
const PAIRS_MAX: u128 = 3_000_000;

/// A bound on the pairs of ranks behind the totals of one step.
fn pairs(source: &Distribution, target: &Distribution) -> Result<u128, Error> {
    let (from, to) = (source.mesh(), target.mesh());
    if from.size() as u128 * to.size() as u128 <= 1 << 20 {
        return Ok(1 << 20);
    }
    if from != to || source.boxes().is_some() || target.boxes().is_some() {
        return Ok(bound(from.size(), to.size(), probe(source, target)?));
    }
    let parts = independent(source, target);
    if parts.is_empty() {
        return Ok(0);
    }
    let peers = probe(source, target)?;
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

fn probe(source: &Distribution, target: &Distribution) -> Result<Peers, Error> {
    let mut most = Peers::default();
    for rank in some_ranks(source, target) {
        for hop in Schedule::between(source, target, rank)?.hops {
            most.sending = most.sending.max(hop.sends.len());
            most.receiving = most.receiving.max(hop.receives.len());
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
    // Mesh axes that cut nothing on either side are counted by a formula.
    let cuts = |at: &usize| {
        let over = |side: &Distribution, axis: usize| {
            side.axes().is_some_and(|axes| axes.iter().any(|map| map.over().contains(&axis)))
        };
        over(source, source_wide[*at]) || over(target, target_wide[*at])
    };
    let mut names: Vec<usize> = (0..part.len()).filter(cuts).map(|at| part[at]).collect();
    names.sort_unstable();
    names.dedup();
    let ranks = |name: &usize| {
        let own = (0..part.len()).filter(|at| part[*at] == *name);
        own.map(|at| extents[source_wide[at]]).product()
    };
    names.iter().map(ranks).collect()
}

impl Totals {
    /// The totals of the movement from `source` to `target`: exact where adding them up is cheap,
    /// else extrapolated from what a few evenly spaced ranks receive ([`Totals::exact`] tells).
    ///
    /// # Errors
    /// As [`crate::Plan::between`].
    pub fn about(source: &Distribution, target: &Distribution) -> Result<Self, Error> {
        if pairs(source, target)? <= PAIRS_MAX {
            return Self::between(source, target);
        }
        let mesh = target.mesh();
        let share = |position: usize| -> Result<Self, Error> {
            let rank = mesh.rank_at(position);
            let schedule = Schedule::between(source, target, rank)?;
            let receives = schedule.hops.iter().flat_map(|hop| &hop.receives);
            let (own, others): (Vec<&Message>, Vec<&Message>) =
                receives.partition(|message| message.peer == rank);
            let size = |messages: &[&Message]| -> u128 {
                messages.iter().map(|message| message.size() as u128).sum()
            };
            let (moved, kept) = (size(&others), size(&own));
            Ok(Self { moved, kept, messages: others.len() as u128, exact: false })
        };
        // Fewer of them where each has very many peers.
        let peers = usize::try_from(share(0)?.messages).unwrap_or(usize::MAX);
        let count = (150_000 / peers.max(1)).clamp(3, 257).min(mesh.size());
        let mut sum = Self::default();
        for at in 0..count {
            // The middle of each of `count` stretches.
            let position = (2 * at + 1) as u128 * mesh.size() as u128 / (2 * count) as u128;
            let part = share(usize::try_from(position).unwrap_or(0))?;
            sum.moved += part.moved;
            sum.kept += part.kept;
            sum.messages += part.messages;
        }
        let scaled = |total: u128| total * mesh.size() as u128 / count as u128;
        let (moved, kept) = (scaled(sum.moved), scaled(sum.kept));
        Ok(Self { moved, kept, messages: scaled(sum.messages), exact: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, target: &str, expected: u128) {
        let parse = |text: &str| text.parse::<Distribution>().unwrap();
        let pairs = pairs(&parse(source), &parse(target)).unwrap();
        assert_eq!(pairs, expected, "{source} -> {target}");
    }

    #[test]
    fn neighbours_are_cheap_and_everybody_is_dear() {
        let tiles = "65536x65536 on x=1024, y=1024: block(x), block(y)";
        // Nine peers per rank, 1024 ranks per independent part.
        let halos = "65536x65536 on x=1024, y=1024: block(x) halo 1, block(y) halo 1";
        check(tiles, halos, 2 * 9 * 1024);
        check("8192 on r=8192: whole; sum(r)", "8192 on r=8192: whole", 0);
        check("8192x9 on r=8192: block(r), whole", "8192x9 on r=8192: whole, block(r)", 9 * 8192);
        check(tiles, "65536x65536 on rank 0: whole, whole", 1 << 20);
    }

    #[test]
    fn mesh_axes_of_one_array_axis_belong_together() {
        let source: Distribution = "65536 on x=64, y=64: block(x*y)".parse().unwrap();
        let target = "65536 on x=64, one=1, y=64: block(y)".parse().unwrap();
        assert_eq!(independent(&source, &target), [4096]);
        let apart: Distribution = "65536x9 on x=64, y=32: block(x), block(y)".parse().unwrap();
        assert_eq!(independent(&apart, &apart), [64, 32]);
        let half = "65536x9 on x=64, y=32: block(x), whole".parse().unwrap();
        assert_eq!(independent(&half, &half), [64], "y is counted by a formula");
    }

    /// Where everybody talks to everybody a few ranks stand for all.
    #[test]
    fn extrapolated_totals_are_near() {
        let rows = "6000x6000 on r=6000: block(r), whole".parse().unwrap();
        let columns = "6000x6000 on r=6000: whole, block(r)".parse().unwrap();
        let about = Totals::about(&rows, &columns).unwrap();
        let moved = 6000 * 5999;
        assert_eq!((about.moved, about.kept, about.messages), (moved, 6000, moved));
        assert!(!about.exact);
        let terms = "8 on r=1000000: whole; sum(r)".parse().unwrap();
        let copies = "8 on r=1000000: whole".parse().unwrap();
        let exact = Totals::about(&terms, &copies).unwrap();
        assert_eq!((exact.moved, exact.messages), (8 * 999_999_000_000, 999_999_000_000));
        assert!(exact.exact);
    }
}
