//! Is there enough memory? Asked before anything runs.

use anyhow::{Result, bail};
use pantile_ir::lower::{Executable, SlotId};

use crate::numbers::{bytes, size};
use crate::program::hosted_ranks;

/// Beyond so many ranks not each of them is looked at.
const LISTED: usize = 4096;

/// Bytes that a rank needs: arrays, and copies of what goes in and comes out.
pub(crate) fn needed(executable: &Executable, rank: usize) -> usize {
    let door = |(slot, _): &(SlotId, pantile_ir::Type)| {
        let shape = executable.local_owned(*slot, rank).map(|(shape, _)| shape);
        let elements: usize = shape.map_or(0, |shape| shape.iter().product());
        elements.saturating_mul(executable.slots[slot.index()].dtype.bytes())
    };
    let doors = executable.arguments.iter().chain(&executable.results).map(door);
    doors.fold(executable.local_bytes(rank), usize::saturating_add)
}

/// Refuses an executable that needs more than there is.
///
/// # Errors
/// What it needs and what there is.
pub(super) fn check(executable: &Executable, limit: Option<usize>) -> Result<()> {
    let hosted = hosted_ranks(executable.ranks).max(1);
    let (limit, why) = match limit {
        Some(limit) => (limit, "--memory allows".to_owned()),
        None => match available() {
            Some(free) => (free / hosted, format!("each of {} ranks here can have", size(hosted))),
            None => return Ok(()),
        },
    };
    let ranks = 0..executable.ranks.min(LISTED);
    let most = ranks.map(|rank| (needed(executable, rank), std::cmp::Reverse(rank))).max();
    match most {
        Some((needed, std::cmp::Reverse(rank))) if needed > limit => bail!(
            "the program needs {} on rank {rank}, but {why} {}: more ranks, or a larger --memory",
            bytes(needed as u128),
            bytes(limit as u128)
        ),
        _ => Ok(()),
    }
}

/// Bytes that are free on this machine, if it tells.
fn available() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}
