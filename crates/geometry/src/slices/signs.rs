//! Several cut axes: parts around the owned box by sign vector, and who sends them.
//!
//! ```text
//!   (-1,-1) (-1,0) (-1,1)
//!   ( 0,-1) owned  ( 0,1)        a part is the product of left, owned or right range per axis
//!   ( 1,-1) ( 1,0) ( 1,1)
//! ```

use std::ops::Range;

use super::error::SliceError;
use super::partition::check_members;
use super::plan::Owners;
use super::repartition::repartition;
use super::slice::{MAX_INDEX, check, check_length};

/// The part of a requested box in one direction from the owned box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedPart {
    /// Per axis -1 (left), 0 (owned) or 1 (right).
    pub sign: Vec<i8>,
    /// Global indices; empty parts are listed too.
    pub region: Vec<Range<usize>>,
}

/// A box that one member of a grid sends to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridDelivery {
    /// The member that owns the box.
    pub source: usize,
    /// The member that asked for it.
    pub target: usize,
    /// The part of the receiver's request in which it lies.
    pub sign: Vec<i8>,
    /// Global indices.
    pub region: Vec<Range<usize>>,
}

/// Most axes for which all parts are listed (3^8 = 6,561).
const MAX_AXES: usize = 8;

/// The parts of `request` around `owned`, one per sign vector in lexicographic order.
///
/// Law: the parts tile the request; with one axis they are left halo, view, right halo.
///
/// # Errors
/// Different numbers of axes, more than 8, or a wrong range.
pub fn parts_by_sign(
    owned: &[Range<usize>],
    request: &[Range<usize>],
) -> Result<Vec<SignedPart>, SliceError> {
    check_length(request.len(), owned.len())?;
    if owned.len() > MAX_AXES {
        return Err(SliceError::TooLarge { got: owned.len(), limit: MAX_AXES });
    }
    let mut parts = vec![SignedPart { sign: Vec::new(), region: Vec::new() }];
    for (owned, request) in owned.iter().zip(request) {
        let division = repartition(owned, request)?;
        let (low, high) = (request.start + division.left, request.end - division.right);
        let thirds = [(-1, request.start..low), (0, low..high), (1, high..request.end)];
        let extend = |part: &SignedPart, (sign, range): &(i8, Range<usize>)| {
            let mut part = part.clone();
            part.sign.push(*sign);
            part.region.push(range.clone());
            part
        };
        parts = parts.iter().flat_map(|part| thirds.iter().map(|t| extend(part, t))).collect();
    }
    Ok(parts)
}

/// All boxes sent between the members of a grid, by source, then by target.
///
/// `owned` lists, per axis, the range of each grid coordinate; `requests` lists the requested box
/// of each member, members row-major over the grid. A sender contributes to exactly one part of a
/// receiver: the sign of the difference of their coordinates.
///
/// # Errors
/// An axis without coordinates, requests that are not one per member or not one range per axis, or
/// a wrong range.
pub fn grid_halo_plan(
    owned: &[Vec<Range<usize>>],
    requests: &[Vec<Range<usize>>],
) -> Result<Vec<GridDelivery>, SliceError> {
    let shape: Vec<usize> = owned.iter().map(Vec::len).collect();
    for range in owned.iter().flatten().chain(requests.iter().flatten()) {
        check(range)?;
    }
    let members = shape.iter().fold(1_usize, |product, extent| product.saturating_mul(*extent));
    check_length(requests.len(), members)?;
    let owners: Vec<Owners<'_>> = owned.iter().map(|ranges| Owners::new(ranges)).collect();
    let mut deliveries = Vec::new();
    for (target, request) in requests.iter().enumerate() {
        check_length(request.len(), owned.len())?;
        let mut coordinates = vec![0; shape.len()];
        let mut rest = target;
        for (coordinate, extent) in coordinates.iter_mut().zip(&shape).rev() {
            *coordinate = rest % extent;
            rest /= extent;
        }
        let mut found = vec![GridDelivery { source: 0, target, sign: vec![], region: vec![] }];
        for (axis, owners) in owners.iter().enumerate() {
            let holders: Vec<_> = owners.of(&request[axis]).collect();
            found = found
                .iter()
                .flat_map(|delivery| {
                    holders.iter().map(|(holder, range)| {
                        let mut next = delivery.clone();
                        next.source = delivery.source * shape[axis] + holder;
                        next.sign.push(sign(*holder, coordinates[axis]));
                        next.region.push(range.clone());
                        next
                    })
                })
                .collect();
        }
        deliveries.extend(found.into_iter().filter(|delivery| delivery.source != target));
    }
    deliveries.sort_by_key(|delivery| (delivery.source, delivery.target));
    Ok(deliveries)
}

/// The requested boxes of all members, row-major over the grid, for a stencil that reads
/// `radius[axis]` cells to each side: the owned box widened and cut to the array. A member that
/// owns nothing on some axis asks for nothing there.
///
/// # Errors
/// Different numbers of axes, no members or too many, or a wrong range.
pub fn requests_of_radius(
    owned: &[Vec<Range<usize>>],
    radius: &[usize],
) -> Result<Vec<Vec<Range<usize>>>, SliceError> {
    check_length(radius.len(), owned.len())?;
    let members = owned.iter().fold(1_usize, |product, axis| product.saturating_mul(axis.len()));
    check_members(members)?;
    let mut requests = vec![Vec::new()];
    for (ranges, radius) in owned.iter().zip(radius) {
        let extent = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        let mut widened = Vec::with_capacity(ranges.len());
        for range in ranges {
            check(range)?;
            widened.push(if range.is_empty() {
                range.clone()
            } else {
                let end = range.end.saturating_add((*radius).min(MAX_INDEX)).min(extent);
                range.start.saturating_sub(*radius)..end
            });
        }
        let extend = |request: &Vec<Range<usize>>, range: &Range<usize>| {
            request.iter().cloned().chain([range.clone()]).collect::<Vec<_>>()
        };
        requests = requests
            .iter()
            .flat_map(|request| widened.iter().map(|r| extend(request, r)))
            .collect();
    }
    Ok(requests)
}

fn sign(source: usize, target: usize) -> i8 {
    match source.cmp(&target) {
        std::cmp::Ordering::Less => -1,
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => 1,
    }
}
