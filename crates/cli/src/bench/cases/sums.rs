//! Sums: ours are exact and the same for any number of ranks, the bound is a plain one.

use super::{COUNTS, Setting, program};
use crate::bench::case::{Case, Group, Site};
use crate::bench::loops::{dot, sum};

/// All of them, in memory and in the caches.
pub(super) fn all(setting: Setting) -> Vec<Case> {
    let list: [(_, _, _, fn(&Site<'_>), _); 2] = [
        ("exact sum(a)", 1, SUM, |site| say(site, sum(site.part(0))), 0.83),
        ("exact sum(a b)", 2, DOT, |site| say(site, dot(site.part(0), site.part(1))), 0.75),
    ];
    let mut cases = Vec::new();
    for (name, inputs, body, by_hand, aim) in list {
        let places = [
            (Group::Memory, setting.count(COUNTS[0]), setting.at_least(aim)),
            (Group::Caches, COUNTS[1].max(64 * setting.ranks), None),
        ];
        for (group, count, aim) in places {
            cases.push(Case {
                group,
                name,
                ranks: setting.ranks,
                shape: vec![count],
                text: program(&[count], 0, inputs, ("!s", body)),
                inputs,
                states: 0,
                rooms: 1,
                is_sum: true,
                by_hand: vec![("plain sum in many lanes", by_hand)],
                steps: 1,
                aim,
            });
        }
    }
    cases
}

/// This thread's part of a sum.
fn say(site: &Site<'_>, part: f64) {
    if let Some(first) = site.own(0).as_mut_slice::<f64>().first_mut() {
        *first = part;
    }
}

const SUM: &str = "%r = ndarray.reduction %a {op = \"sum\"} : !g -> !s\nreturn %r : !s";

const DOT: &str = "\
%p = ndarray.ewbin %a, %b {op = \"multiply\"} : (!g, !g) -> !g
%r = ndarray.reduction %p {op = \"sum\"} : !g -> !s
return %r : !s";
