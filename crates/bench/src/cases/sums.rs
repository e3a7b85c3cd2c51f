//! Sums: ours are exact and the same for any number of ranks, the bound is a plain one.

use crate::bounds::{dot, sum};

use super::{CaseSize, program};
use crate::case::{Case, Site};

/// All of them, in memory and in the caches.
pub(crate) fn all(setting: CaseSize) -> Vec<Case> {
    let list: [(_, _, _, fn(&Site<'_>), _); 2] = [
        ("exact sum(a)", 1, SUM, |site| say(site, sum(site.part(0))), 0.83),
        ("exact sum(a b)", 2, DOT, |site| say(site, dot(site.part(0), site.part(1))), 0.75),
    ];
    let mut cases = Vec::new();
    for (name, inputs, body, by_hand, aim) in list {
        cases.extend(setting.in_both(name, aim).map(|base| Case {
            text: program(&base.shape, 0, inputs, ("!s", body)),
            inputs,
            is_sum: true,
            by_hand: vec![("plain sum in many lanes", by_hand)],
            ..base
        }));
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
