//! Is there enough memory? Asked before anything runs.

use anyhow::{Result, bail};
use pantile_engine::limit::{LimitKind, limits};
use pantile_lower::Executable;

use crate::numbers::{bytes, size};
use crate::program::{hosted_ranks, own_ranks};

/// Beyond so many ranks not each of them is looked at.
const LISTED: usize = 4096;

/// Refuses an executable that needs more than there is.
///
/// # Errors
/// What it needs and what there is.
pub(super) fn check(executable: &Executable, limit: Option<usize>) -> Result<()> {
    let (limit, why) = match limit {
        Some(limit) => (limit, format!("--memory allows {}", bytes(limit as u128))),
        None => match narrowest(executable.ranks) {
            Some((share, limit)) => {
                let hosted = size(hosted_ranks(executable.ranks).max(1));
                let share_text = bytes(share as u128);
                (share, format!("each of {hosted} ranks here can have {share_text} of {limit}"))
            }
            None => return Ok(()),
        },
    };
    let ranks = 0..executable.ranks.min(LISTED);
    let most = ranks.map(|rank| (executable.needed_bytes(rank), std::cmp::Reverse(rank))).max();
    match most {
        Some((needed, std::cmp::Reverse(rank))) if needed > limit => bail!(
            "the program needs {} on rank {rank}, but {why}: more ranks, or a larger --memory",
            bytes(needed as u128)
        ),
        _ => Ok(()),
    }
}

/// The least that a rank can have, and what sets that limit. What is this process's alone is shared by
/// its ranks, all else by the ranks of this machine.
fn narrowest(ranks: usize) -> Option<(usize, LimitKind)> {
    let shares = limits().into_iter().map(|limit| {
        let sharers = if limit.scope.is_some() { hosted_ranks(ranks) } else { own_ranks(ranks) };
        let left = usize::try_from(limit.left).unwrap_or(usize::MAX);
        (left / sharers.max(1), limit.kind)
    });
    shares.min_by_key(|(share, _)| *share)
}
