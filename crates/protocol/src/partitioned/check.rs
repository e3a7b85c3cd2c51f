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

#[cfg(test)]
mod tests {
    use crate::json::{self, Document};

    fn findings(text: &str) -> Vec<String> {
        let Document::Partitioned { findings, .. } = json::read(text).unwrap() else {
            panic!("{text}")
        };
        findings.iter().map(ToString::to_string).collect()
    }

    fn line(tiling: usize, parts: &[(&str, i64, i64)], rest: &str) -> String {
        let part = |(key, start, extent): &(&str, i64, i64)| {
            format!(r#""{key}": {{"start": [{start}], "shape": [{extent}], "location": [0]}}"#)
        };
        let parts: Vec<String> = parts.iter().map(part).collect();
        format!(
            r#"{{"shape": [4], "partition_tiling": [{tiling}], "partitions": {{{}}}{rest}}}"#,
            parts.join(",")
        )
    }

    #[test]
    fn partitions_tile_the_axis() {
        let check = |parts: &[(&str, i64, i64)], message: &str| {
            assert_eq!(findings(&line(2, parts, "")), [message], "{parts:?}");
        };
        assert!(findings(&line(2, &[("0", 0, 3), ("(1,)", 3, 1)], "")).is_empty());
        check(
            &[("0", 0, 2), ("1", 3, 2)],
            "axis 0: PARTITION_CUTS: partition 1 has 2 elements from 3, expected to start at 2",
        );
        check(
            &[("0", 0, 2), ("1", 1, 3)],
            "axis 0: PARTITION_CUTS: partition 1 has 3 elements from 1, expected to start at 2",
        );
        check(
            &[("0", 0, 2), ("1", 2, 1)],
            "axis 0: PARTITION_CUTS: the partitions end at 3, expected the extent 4",
        );
        check(&[("0", 0, 2)], "PARTITION_MISSING: no partition at (1,): 1 of 2 are there");
    }

    #[test]
    fn positions_and_locals_are_on_the_grid() {
        let parts = [("0", 0, 2), ("1", 2, 2)];
        assert_eq!(
            findings(&line(2, &parts, r#", "locals": [[1], [1], [2]]"#)),
            [
                "PARTITION_LOCALS: (1,) in `locals` is listed twice",
                "PARTITION_LOCALS: (2,) in `locals` is not a position of the grid",
            ]
        );
        assert_eq!(
            findings(&line(1, &parts, "")),
            ["PARTITION_POSITION: (1,) is not a position of the grid (1,)"]
        );
        let endless = line(1 << 60, &parts, "");
        assert_eq!(
            findings(&endless),
            [format!("PARTITION_MISSING: no partition at (2,): 2 of {} are there", 1_u64 << 60)]
        );
    }

    #[test]
    fn forms_of_all_drafts_are_read() {
        let text = |shape: &str, location: &str| {
            format!(
                r#"{{{shape}, "partitions": {{
                    "0": {{"start": [0], "shape": [4], "location": {location}}}}}}}"#
            )
        };
        let now = r#""shape": [4], "partition_tiling": [1]"#;
        for location in [
            "3",
            "\"node\"",
            "[3]",
            "[\"node\", \"other\"]",
            "[[\"node\", 7]]",
            "[\"node\", 7]",
            "[[\"node\", 7, \"kDLCPU\"], [\"node\", 8]]",
        ] {
            assert!(findings(&text(now, location)).is_empty(), "{location}");
            assert!(findings(&text(r#""shape": [1]"#, location)).is_empty(), "{location}");
        }
        for location in ["[]", "[[3]]", "null", "[null]", "[[\"node\", 7, 3]]"] {
            let found = findings(&text(now, location));
            assert!(found[0].contains("PARTITION_LOCATION"), "{location}: {found:?}");
        }
        assert!(
            findings(&text(now, "3").replace("\"start\"", "\"begin\""))[0].contains("MISSING_KEY")
        );
        assert!(findings(&text(now, "3").replace("[0]", "[0.5]"))[0].contains("TYPE"));
        assert!(
            findings(&text(now, "3").replace("\"0\"", "\"x\""))[0].contains("PARTITION_POSITION")
        );
    }
}
