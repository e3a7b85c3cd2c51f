//! The least that any correct movement of one element can carry between ranks.
//!
//! A correct movement with a correct adjoint has the form `(s, k(d)) -> (m(s), d)` for all source
//! terms s and target copies d, with any map k from target copies to source copies and any map m
//! from source terms to target terms. Here all maps are tried.

use super::classes::{Class, classes};
use super::holders::{Direction, Holder, Part};
use super::normal::{holders_by_term, normal_directions, one_holder_each};
use super::product;
use super::spec::{Kind, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// World rank of the holder with a given term (first) and a given copy (second).
type Grid = Vec<Vec<usize>>;

/// The least number of pairs between different ranks for one element that both sides hold;
/// `None` if more than `limit` maps k would have to be tried.
///
/// For a fixed k every term s may pick its t alone, so only the maps k are enumerated.
#[must_use]
pub fn least_moves(source: &Spec, target: &Spec, index: &[usize], limit: usize) -> Option<usize> {
    let (from, to) = (grid(source, index), grid(target, index));
    let (copies, wanted) = (from.first()?.len(), to.first()?.len());
    let maps = copies.checked_pow(u32::try_from(wanted).ok()?)?;
    if maps > limit {
        return None;
    }
    let every_copy: Vec<usize> = (0..copies).collect();
    let stays = product(&vec![every_copy; wanted]).iter().map(|k| most_stays(&from, &to, k)).max();
    Some(from.len() * wanted - stays?)
}

/// The most pairs that can stay on their rank if every target copy d takes from `k[d]`.
fn most_stays(from: &Grid, to: &Grid, k: &[usize]) -> usize {
    let stays = |s: &[usize], t: &[usize]| (0..k.len()).filter(|&d| s[k[d]] == t[d]).count();
    from.iter().map(|s| to.iter().map(|t| stays(s, t)).max().unwrap_or(0)).sum()
}

/// The ranks of an element's holders, arranged by term and copy.
fn grid(spec: &Spec, index: &[usize]) -> Grid {
    let mut by_term: BTreeMap<Vec<Part>, Vec<Holder>> = BTreeMap::new();
    // Holders come in row-major order of their parts, so equal columns are equal copies.
    for (term, holder) in holders_by_term((spec, &normal_directions(spec)), index) {
        by_term.entry(term).or_default().push(holder);
    }
    by_term.into_values().map(|row| row.iter().map(|holder| holder.rank).collect()).collect()
}

/// True where the rules promise the minimum: the target is all Copies, or the source all Terms, or
/// no class has both kinds on one side.
///
/// A direction where every index has exactly one holder has no kind worth counting.
#[must_use]
pub fn promised(source: &Spec, target: &Spec) -> bool {
    let (from, to) = (normal_directions(source), normal_directions(target));
    let kinds = |spec: &Spec, along: &[Direction], members: &[usize]| -> BTreeSet<Kind> {
        let counts = |d: &&Direction| !one_holder_each(spec, d);
        members.iter().map(|&m| &along[m]).filter(counts).map(|d| d.kind).collect()
    };
    let pure = |class: &Class| {
        kinds(source, &from, &class.source).len() < 2 && kinds(target, &to, &class.target).len() < 2
    };
    let all = |along: &[Direction]| (0..along.len()).collect::<Vec<_>>();
    !kinds(target, &to, &all(&to)).contains(&Kind::Terms)
        || !kinds(source, &from, &all(&from)).contains(&Kind::Copies)
        || classes((source, &from), (target, &to)).iter().all(pure)
}
