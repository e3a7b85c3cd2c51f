//! Placement: which worker hosts which rank of a world.

use std::collections::BTreeSet;

use crate::wire::{Registration, WireFault};

/// Most ranks of a world.
pub(super) const RANKS_MAX: u64 = 1024;

/// The worker of every rank: neighbours are on one worker, and none has more than one more.
pub(super) fn assign_hosts(
    ready: &[(u64, &Registration)],
    ranks: u64,
) -> Result<Vec<u64>, WireFault> {
    if ready.is_empty() {
        return Err(WireFault::refused("no worker has come to this coordinator yet"));
    }
    if ranks == 0 {
        let own = |(id, registration): &(u64, &Registration)| {
            std::iter::repeat_n(*id, registration.ranks as usize)
        };
        return Ok(ready.iter().flat_map(own).take(1024).collect());
    }
    if ranks > RANKS_MAX {
        return Err(WireFault::refused(format!("got {ranks} ranks, expected at most {RANKS_MAX}")));
    }
    let workers = ready.len() as u64;
    let of = |rank: u64| ready[usize::try_from(rank * workers / ranks).unwrap_or(0)].0;
    Ok((0..ranks).map(of).collect())
}

/// The workers, each once.
pub(super) fn distinct(hosts: &[u64]) -> BTreeSet<u64> {
    hosts.iter().copied().collect()
}
