//! The rules of a `__partitioned__` dictionary.

use super::{Partitioned, Position};
use crate::{Code, Finding};
use std::collections::{BTreeMap, BTreeSet};

/// A position as users write it: `(1, 0)`.
pub(super) fn shown(position: &[i64]) -> String {
    let numbers: Vec<String> = position.iter().map(i64::to_string).collect();
    let comma = if position.len() == 1 { "," } else { "" };
    format!("({}{comma})", numbers.join(", "))
}

pub(super) fn check(partitioned: &Partitioned) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (shape, tiling) = (&partitioned.shape, &partitioned.tiling);
    if shape.len() != tiling.len() {
        let message =
            format!("`shape` has {} axes, `partition_tiling` has {}", shape.len(), tiling.len());
        findings.push(Finding::new(Code::Ndim, message));
        return findings;
    }
    for (what, numbers) in [("shape", shape), ("partition_tiling", tiling)] {
        for (axis, number) in numbers.iter().enumerate().filter(|(_, number)| **number < 0) {
            let message = format!("`{what}` is {number}, expected at least 0");
            findings.push(Finding::new(Code::SizeNeg, message).on_axis(axis));
        }
    }
    if !findings.is_empty() {
        return findings;
    }
    let placed = check_positions(partitioned, &mut findings);
    check_partitions(partitioned, &mut findings);
    check_locals(partitioned, &mut findings);
    if placed && findings.is_empty() {
        for axis in 0..shape.len() {
            check_cuts(partitioned, axis, &mut findings);
        }
    }
    findings
}

fn in_grid(position: &[i64], tiling: &[i64]) -> bool {
    position.len() == tiling.len()
        && position.iter().zip(tiling).all(|(at, count)| (0..*count).contains(at))
}

/// True if every position of the grid has a partition and there is no other.
fn check_positions(partitioned: &Partitioned, findings: &mut Vec<Finding>) -> bool {
    let (tiling, partitions) = (&partitioned.tiling, &partitioned.partitions);
    let before = findings.len();
    for position in partitions.keys().filter(|position| !in_grid(position, tiling)) {
        let message =
            format!("{} is not a position of the grid {}", shown(position), shown(tiling));
        findings.push(Finding::new(Code::PartitionPosition, message));
    }
    let places =
        tiling.iter().fold(1_u128, |n, count| n.saturating_mul(u128::from(count.unsigned_abs())));
    let present = partitions.keys().filter(|position| in_grid(position, tiling)).count();
    if places != present as u128 {
        let message = match first_missing(partitioned) {
            Some(missing) => format!("no partition at {}", shown(&missing)),
            None => "some positions have no partition".to_owned(),
        };
        let message = format!("{message}: {present} of {places} are there");
        findings.push(Finding::new(Code::PartitionMissing, message));
    }
    findings.len() == before
}

/// The first position in row-major order without a partition. Looks at one position more than
/// there are partitions at most, however large the grid claims to be.
fn first_missing(partitioned: &Partitioned) -> Option<Position> {
    if partitioned.tiling.contains(&0) {
        return None;
    }
    let mut position = vec![0; partitioned.tiling.len()];
    while partitioned.partitions.contains_key(&position) {
        let axis = (0..position.len()).rev().find(|axis| {
            let last = position[*axis] + 1 == partitioned.tiling[*axis];
            position[*axis] = if last { 0 } else { position[*axis] + 1 };
            !last
        });
        axis?;
    }
    Some(position)
}

fn check_partitions(partitioned: &Partitioned, findings: &mut Vec<Finding>) {
    let ndim = partitioned.shape.len();
    for (position, partition) in &partitioned.partitions {
        let place = shown(position);
        for (what, numbers) in [("start", &partition.start), ("shape", &partition.shape)] {
            if numbers.len() != ndim {
                let message =
                    format!("`{what}` of {place} has {} axes, expected {ndim}", numbers.len());
                findings.push(Finding::new(Code::Ndim, message));
            }
        }
        if partition.location.is_empty() {
            let message = format!("the partition at {place} has no location");
            findings.push(Finding::new(Code::PartitionLocation, message));
        }
    }
}

fn check_locals(partitioned: &Partitioned, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for position in partitioned.locals.iter().flatten() {
        let problem = if !in_grid(position, &partitioned.tiling) {
            "is not a position of the grid"
        } else if !seen.insert(position) {
            "is listed twice"
        } else {
            continue;
        };
        let message = format!("{} in `locals` {problem}", shown(position));
        findings.push(Finding::new(Code::PartitionLocals, message));
    }
}

/// Partitions with one number on an axis share start and extent there, and these tile the axis.
fn check_cuts(partitioned: &Partitioned, axis: usize, findings: &mut Vec<Finding>) {
    let mut cuts: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for (position, partition) in &partitioned.partitions {
        let own = (partition.start[axis], partition.shape[axis]);
        let cut = *cuts.entry(position[axis]).or_insert(own);
        if own != cut {
            let message = format!(
                "the partition at {} has {} elements from {}, others in its line have {} from {}",
                shown(position),
                own.1,
                own.0,
                cut.1,
                cut.0
            );
            findings.push(Finding::new(Code::PartitionCuts, message).on_axis(axis));
            return;
        }
    }
    let mut end = 0_i128;
    for (at, (start, extent)) in &cuts {
        if i128::from(*start) != end || *extent < 0 {
            let message = format!(
                "partition {at} has {extent} elements from {start}, expected to start at {end}"
            );
            findings.push(Finding::new(Code::PartitionCuts, message).on_axis(axis));
            return;
        }
        end += i128::from(*extent);
    }
    // An array without partitions can only be empty along some axis that has none.
    let size = partitioned.shape[axis];
    if end != i128::from(size) && !(cuts.is_empty() && partitioned.tiling[axis] > 0) {
        let message = format!("the partitions end at {end}, expected the extent {size}");
        findings.push(Finding::new(Code::PartitionCuts, message).on_axis(axis));
    }
}
