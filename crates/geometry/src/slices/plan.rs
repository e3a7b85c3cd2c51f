//! Who sends which rows to whom so that every member gets its requested box.

use std::ops::Range;

use super::error::SliceError;
use super::slice::{check, check_length};

/// The halo in which rows arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaloSide {
    /// Before the owned rows: the sender is a lower member.
    Left,
    /// After the owned rows: the sender is a higher member.
    Right,
}

/// Rows that one member sends to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The member that owns the rows.
    pub source: usize,
    /// The member that asked for them.
    pub target: usize,
    /// Global rows.
    pub rows: Range<usize>,
    /// Where the receiver puts them.
    pub side: HaloSide,
}

/// All deliveries, by source, then by target; `owned` and `boxes` are the rows of each member.
///
/// Side is member order, not adjacency, so halos deeper than one neighbour are served too. Law:
/// where the owned rows tile the array in member order, what a member gets from lower members, its
/// own rows and what it gets from higher members are together exactly its box.
///
/// # Errors
/// Lists of different lengths, or a wrong range.
pub fn halo_plan(
    owned: &[Range<usize>],
    boxes: &[Range<usize>],
) -> Result<Vec<Delivery>, SliceError> {
    check_length(boxes.len(), owned.len())?;
    for range in owned.iter().chain(boxes) {
        check(range)?;
    }
    let owners = Owners::new(owned);
    let mut deliveries = Vec::new();
    for (target, request) in boxes.iter().enumerate() {
        for (source, rows) in owners.of(request) {
            if source != target {
                let side = if target < source { HaloSide::Right } else { HaloSide::Left };
                deliveries.push(Delivery { source, target, rows, side });
            }
        }
    }
    deliveries.sort_by_key(|delivery| (delivery.source, delivery.target));
    Ok(deliveries)
}

/// The blocks of all members, ready to be asked who owns what.
pub(super) struct Owners<'a> {
    owned: &'a [Range<usize>],
    /// Blocks in order, the usual case, are looked up; anything else is searched through.
    ascending: bool,
}

impl<'a> Owners<'a> {
    pub(super) fn new(owned: &'a [Range<usize>]) -> Self {
        Self { owned, ascending: owned.windows(2).all(|pair| pair[0].end <= pair[1].start) }
    }

    /// The members that own some of `request`, with what they own of it, in member order.
    pub(super) fn of<'b>(
        &'b self,
        request: &'b Range<usize>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + use<'b> {
        let first = match self.ascending {
            true => self.owned.partition_point(|rows| rows.end <= request.start),
            false => 0,
        };
        (first..self.owned.len())
            .map(|member| (member, &self.owned[member]))
            .take_while(|(_, rows)| !self.ascending || rows.start < request.end)
            .map(|(member, rows)| {
                (member, rows.start.max(request.start)..rows.end.min(request.end))
            })
            .filter(|(_, rows)| rows.start < rows.end)
    }
}
