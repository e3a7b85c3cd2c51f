//! Is there enough memory? Asked before anything runs.

use anyhow::{Result, bail};
use pantile_engine::available_memory;
use pantile_ir::lower::Executable;

use crate::numbers::{bytes, size};
use crate::program::hosted_ranks;

/// Beyond so many ranks not each of them is looked at.
const LISTED: usize = 4096;

/// Refuses an executable that needs more than there is.
///
/// # Errors
/// What it needs and what there is.
pub(super) fn check(executable: &Executable, limit: Option<usize>) -> Result<()> {
    let hosted = hosted_ranks(executable.ranks).max(1);
    let (limit, why) = match limit {
        Some(limit) => (limit, "--memory allows".to_owned()),
        None => match available_memory() {
            Some(free) => (free / hosted, format!("each of {} ranks here can have", size(hosted))),
            None => return Ok(()),
        },
    };
    let ranks = 0..executable.ranks.min(LISTED);
    let most = ranks.map(|rank| (executable.needed_bytes(rank), std::cmp::Reverse(rank))).max();
    match most {
        Some((needed, std::cmp::Reverse(rank))) if needed > limit => bail!(
            "the program needs {} on rank {rank}, but {why} {}: more ranks, or a larger --memory",
            bytes(needed as u128),
            bytes(limit as u128)
        ),
        _ => Ok(()),
    }
}
