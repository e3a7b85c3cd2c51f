//! The judgement of all ranks together.
//!
//! The dictionary of a dimension is the same for all ranks with one grid rank on that axis, so an
//! axis is judged on one *line* of the grid. If ranks disagree about what the whole axis is, or the
//! grid does not fit the ranks, how the parts fit each other is not a question that can be asked,
//! and only the disagreement is reported.

use crate::validate::read;
use crate::{Code, Dim, DimKind, Dtype, Finding, Section, validate};
use std::collections::{BTreeMap, BTreeSet};

/// Judges every section alone and then all of them together; section r is rank r's.
#[must_use]
pub fn check(sections: &[Section]) -> Vec<Finding> {
    let alone = sections.iter().enumerate().flat_map(|(rank, section)| {
        validate(section).into_iter().map(move |finding| finding.on_rank(rank))
    });
    alone.chain(across(sections)).collect()
}

/// Judges what only all ranks together can break; section r is rank r's.
///
/// Dimensions that cannot be read are left out (see [`crate::validate`] for why they cannot).
#[must_use]
pub fn across(sections: &[Section]) -> Vec<Finding> {
    let mut findings = Vec::new();
    judge_dtypes(sections, &mut findings);
    let sequence = |section: &Section| section.dim_data.as_ref()?.as_sequence().map(<[_]>::len);
    if sections.iter().any(|section| sequence(section).is_none()) {
        return findings;
    }
    let dims: Vec<Vec<Option<Dim>>> = sections.iter().map(|section| read(section).0).collect();
    let Some(first) = dims.first() else { return findings };
    let ndim = first.len();
    for (rank, own) in dims.iter().enumerate().filter(|(_, own)| own.len() != ndim) {
        let message = format!("{} dimensions, but rank 0 has {ndim}", own.len());
        findings.push(Finding::new(Code::NdimDiffers, message).on_rank(rank));
    }
    if dims.iter().any(|own| own.len() != ndim) {
        return findings;
    }
    let axes: Vec<AxisOfRanks> = (0..ndim).map(|axis| AxisOfRanks::new(axis, &dims)).collect();
    let agreed: Vec<bool> = axes.iter().map(|axis| axis.judge_constants(&mut findings)).collect();
    if judge_grid(&axes, dims.len(), &mut findings) {
        for (axis, _) in axes.iter().zip(&agreed).filter(|(_, agreed)| **agreed) {
            axis.judge_lines(&axes, &mut findings);
        }
    }
    findings
}

fn judge_dtypes(sections: &[Section], findings: &mut Vec<Finding>) {
    let mut stated = sections.iter().enumerate().filter_map(|(r, s)| s.format().map(|f| (r, f)));
    let Some((first_rank, first)) = stated.next() else { return };
    for (rank, format) in stated.filter(|(_, format)| !Dtype::same(first, format)) {
        let message = format!("element type is {format:?}, but rank {first_rank} has {first:?}");
        findings.push(Finding::new(Code::Dtype, message).on_rank(rank));
    }
}

/// One axis of all ranks; `None` where a rank's dictionary could not be read.
struct AxisOfRanks<'a> {
    axis: usize,
    dims: Vec<Option<&'a Dim>>,
}

/// What describes the whole axis, by key, as words.
fn constants(dim: &Dim) -> [(&'static str, String); 6] {
    let none = || "absent".to_owned();
    let (block_size, periodic, one_to_one) = match dim.kind() {
        DimKind::Block(block) => (none(), block.periodic.to_string(), none()),
        DimKind::Cyclic { block_size, .. } => (block_size.to_string(), none(), none()),
        DimKind::Indexed { one_to_one, .. } => (none(), none(), one_to_one.to_string()),
    };
    [
        ("dist_type", dim.letter().to_owned()),
        ("size", dim.size().to_string()),
        ("proc_grid_size", dim.place().grid_size.to_string()),
        ("block_size", block_size),
        ("periodic", periodic),
        ("one_to_one", one_to_one),
    ]
}

/// Equal but for the padding, in which edge processes may differ.
fn same_but_padding(a: &Dim, b: &Dim) -> bool {
    match (a.kind(), b.kind()) {
        (DimKind::Block(x), DimKind::Block(y)) => {
            let y = crate::Block { padding: x.padding, ..*y };
            a.place() == b.place() && *x == y
        }
        _ => a == b,
    }
}

impl<'a> AxisOfRanks<'a> {
    fn new(axis: usize, dims: &'a [Vec<Option<Dim>>]) -> Self {
        Self { axis, dims: dims.iter().map(|own| own[axis].as_ref()).collect() }
    }

    fn find(&self, code: Code, rank: usize, message: String) -> Finding {
        Finding::new(code, message).on_axis(self.axis).on_rank(rank)
    }

    /// True if all ranks could be read and agree on what the axis is.
    fn judge_constants(&self, findings: &mut Vec<Finding>) -> bool {
        let readable = self.dims.iter().enumerate().filter_map(|(r, dim)| dim.map(|d| (r, d)));
        let readable: Vec<(usize, &Dim)> = readable.collect();
        let Some((first_rank, first)) = readable.first() else { return false };
        let before = findings.len();
        let expected = constants(first);
        let mut differing: [Vec<usize>; 6] = Default::default();
        for (rank, dim) in &readable {
            for (list, (own, other)) in
                differing.iter_mut().zip(constants(dim).iter().zip(&expected))
            {
                if own != other {
                    list.push(*rank);
                }
            }
        }
        // Another type explains every other difference.
        let only_type = !differing[0].is_empty();
        for (at, ranks) in differing.iter().enumerate().filter(|(_, ranks)| !ranks.is_empty()) {
            let (rank, (key, wanted)) = (ranks[0], &expected[at]);
            let own = self.dims[rank].map(|dim| constants(dim)[at].1.clone()).unwrap_or_default();
            if at > 0 && only_type && (own == "absent" || wanted == "absent") {
                continue;
            }
            let mut message = format!("`{key}` is {own}, but rank {first_rank} has {wanted}");
            if ranks.len() > 1 {
                message.push_str(&format!(" (and {} more ranks differ)", ranks.len() - 1));
            }
            if *key == "size" {
                message.push_str(&self.size_hint());
            }
            findings.push(self.find(Code::AxisConstantDiffers, rank, message));
        }
        findings.len() == before && readable.len() == self.dims.len()
    }

    /// Producers are known to state the local extent as the size: say so if it looks like that.
    fn size_hint(&self) -> String {
        let mut places: BTreeMap<i64, &Dim> = BTreeMap::new();
        for dim in self.dims.iter().flatten() {
            places.entry(dim.place().grid_rank).or_insert(dim);
        }
        let local = places.values().all(|dim| i128::from(dim.size()) == dim.wide_extent());
        if !local || places.len() < 2 {
            return String::new();
        }
        let total: i128 = places.values().map(|dim| dim.wide_owned_count()).sum();
        format!("; every rank states its local extent as `size`, the sum would be {total}")
    }

    fn grid_rank(&self, rank: usize) -> i64 {
        self.dims[rank].map_or(0, |dim| dim.place().grid_rank)
    }

    /// The ranks of one line of the grid along this axis, for every line, by grid rank.
    fn lines(&self, axes: &[AxisOfRanks<'_>]) -> Vec<Vec<usize>> {
        let mut lines: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
        for rank in 0..self.dims.len() {
            let others = axes.iter().filter(|other| other.axis != self.axis);
            lines.entry(others.map(|axis| axis.grid_rank(rank)).collect()).or_default().push(rank);
        }
        let mut lines: Vec<Vec<usize>> = lines.into_values().collect();
        lines.iter_mut().for_each(|line| line.sort_by_key(|rank| (self.grid_rank(*rank), *rank)));
        lines
    }

    fn judge_lines(&self, axes: &[AxisOfRanks<'_>], findings: &mut Vec<Finding>) {
        let identical = self.judge_identical(findings);
        let mut seen = BTreeSet::new();
        for line in self.lines(axes) {
            let dims: Vec<(usize, &Dim)> =
                line.iter().filter_map(|rank| self.dims[*rank].map(|dim| (*rank, dim))).collect();
            let full = dims.iter().enumerate().all(|(at, (_, dim))| {
                usize::try_from(dim.place().grid_rank).is_ok_and(|rank| rank == at)
            });
            let Some(places) = dims.first().map(|(_, dim)| dim.place().grid_size) else { continue };
            if !full || usize::try_from(places) != Ok(dims.len()) {
                continue; // some place of the line is missing: RANK_ORDER has said so
            }
            // Lines differ at most in their padding, unless that was reported already.
            let paddings: Vec<_> =
                dims.iter().map(|(_, dim)| dim.as_block().map(|b| b.padding)).collect();
            let first = seen.is_empty();
            if seen.insert(paddings) && (first || identical) {
                self.judge_line(&dims, findings);
            }
        }
    }

    fn judge_identical(&self, findings: &mut Vec<Finding>) -> bool {
        let mut places: BTreeMap<i64, usize> = BTreeMap::new();
        let mut reported = BTreeSet::new();
        for (rank, dim) in self.dims.iter().enumerate() {
            let (Some(dim), at) = (dim, self.grid_rank(rank)) else { continue };
            let reference = *places.entry(at).or_insert(rank);
            let Some(other) = self.dims[reference] else { continue };
            if !same_but_padding(dim, other) && reported.insert(at) {
                let message = format!(
                    "differs from rank {reference}, which has the same grid rank {at}: {}",
                    difference(dim, other)
                );
                findings.push(self.find(Code::AxisNotIdentical, rank, message));
            }
        }
        reported.is_empty()
    }

    fn judge_line(&self, line: &[(usize, &Dim)], findings: &mut Vec<Finding>) {
        match line[0].1.kind() {
            DimKind::Block(_) => {
                for pair in line.windows(2) {
                    self.judge_border(pair[0], pair[1], findings);
                }
                self.judge_ends(line, findings);
                self.judge_sum(line, findings);
            }
            DimKind::Cyclic { .. } => self.judge_sum(line, findings),
            DimKind::Indexed { one_to_one: true, .. } => {
                self.judge_one_to_one(line, findings);
                self.judge_sum(line, findings);
            }
            DimKind::Indexed { .. } => {}
        }
    }

    /// The border between two neighbours: abutting, equal widths, halos within the neighbour.
    fn judge_border(&self, left: (usize, &Dim), right: (usize, &Dim), findings: &mut Vec<Finding>) {
        let ((left_rank, left), (right_rank, right)) = (left, right);
        let (Some(a), Some(b)) = (left.as_block(), right.as_block()) else { return };
        let (Some(a_owned), Some(b_owned)) = (left.wide_owned(), right.wide_owned()) else {
            return;
        };
        if a_owned.end != b_owned.start {
            let message = format!(
                "owned part starts at {}, but the part of rank {left_rank} ends at {}",
                b_owned.start, a_owned.end
            );
            findings.push(self.find(Code::Adjacency, right_rank, message));
        }
        let (right_width, left_width) = (a.padding.1, b.padding.0);
        if right_width != left_width {
            let message = format!(
                "left padding is {left_width}, but the right padding of rank {left_rank} is \
                 {right_width}"
            );
            findings.push(self.find(Code::PaddingCounterpart, right_rank, message));
        }
        let mut exceeds = |rank, side, width: i64, other, owned: i128| {
            if i128::from(width) > owned {
                let message = format!("{side} padding is {width}, but rank {other} owns {owned}");
                findings.push(self.find(Code::PaddingExceedsNeighbour, rank, message));
            }
        };
        exceeds(left_rank, "right", right_width, right_rank, right.wide_owned_count());
        exceeds(right_rank, "left", left_width, left_rank, left.wide_owned_count());
    }

    fn judge_ends(&self, line: &[(usize, &Dim)], findings: &mut Vec<Finding>) {
        let ((first_rank, first), (last_rank, last)) = (line[0], line[line.len() - 1]);
        if let Some(block) = first.as_block().filter(|block| block.start != 0) {
            let message = format!("the first part starts at {}, expected 0", block.start);
            findings.push(self.find(Code::Ends, first_rank, message));
        }
        if let Some(block) = last.as_block().filter(|block| block.stop != last.size()) {
            let message =
                format!("the last part stops at {}, expected the size {}", block.stop, last.size());
            findings.push(self.find(Code::Ends, last_rank, message));
        }
    }

    fn judge_sum(&self, line: &[(usize, &Dim)], findings: &mut Vec<Finding>) {
        let sum: i128 = line.iter().map(|(_, dim)| dim.wide_owned_count()).sum();
        let size = line[0].1.size();
        if sum != i128::from(size) {
            let hint = self.size_hint();
            let message = format!("the ranks own {sum} together, but `size` is {size}{hint}");
            findings.push(Finding::new(Code::SizeSum, message).on_axis(self.axis));
        }
    }

    fn judge_one_to_one(&self, line: &[(usize, &Dim)], findings: &mut Vec<Finding>) {
        let mut owners: Vec<(i64, usize)> = Vec::new();
        for (rank, dim) in line {
            if let DimKind::Indexed { indices, .. } = dim.kind() {
                owners.extend(indices.iter().map(|label| (*label, *rank)));
            }
        }
        owners.sort_unstable();
        let repeats =
            owners.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
        for (count, pair) in repeats.enumerate() {
            let ((label, first), (_, rank)) = (pair[0], pair[1]);
            // A few labels show the fault; a million would hide the other findings.
            if count < 8 {
                let message = format!("label {label} is also on rank {first}");
                findings.push(self.find(Code::OneToOne, rank, message));
            }
        }
    }
}

/// The first key in which two dimensions differ, with both values.
fn difference(dim: &Dim, other: &Dim) -> String {
    match (dim.kind(), other.kind()) {
        (DimKind::Block(a), DimKind::Block(b)) => {
            format!("{}..{} and {}..{}", a.start, a.stop, b.start, b.stop)
        }
        (DimKind::Cyclic { start: a, .. }, DimKind::Cyclic { start: b, .. }) => {
            format!("`start` is {a} and {b}")
        }
        (DimKind::Indexed { .. }, DimKind::Indexed { .. }) => "other `indices`".to_owned(),
        _ => "another `dist_type`".to_owned(),
    }
}

/// True if the grid has as many places as there are ranks, so that its lines can be judged.
fn judge_grid(axes: &[AxisOfRanks<'_>], ranks: usize, findings: &mut Vec<Finding>) -> bool {
    let mut shape = Vec::new();
    for axis in axes {
        let sizes: Option<BTreeSet<i64>> =
            axis.dims.iter().map(|dim| dim.map(|dim| dim.place().grid_size)).collect();
        match sizes {
            Some(sizes) if sizes.len() == 1 => shape.extend(sizes),
            _ => return false, // unreadable or differing: reported already
        }
    }
    let places = shape.iter().fold(1_u128, |n, p| n.saturating_mul(u128::from(p.unsigned_abs())));
    if places != ranks as u128 {
        let shape: Vec<String> = shape.iter().map(i64::to_string).collect();
        let grid = if shape.is_empty() { "no axes".to_owned() } else { shape.join(" x ") };
        let message = format!("the grid of {grid} has {places} places for {ranks} ranks");
        findings.push(Finding::new(Code::GridProduct, message));
        return false;
    }
    for rank in 0..ranks {
        let coordinates: Vec<i64> = axes.iter().map(|axis| axis.grid_rank(rank)).collect();
        let expected = coordinates
            .iter()
            .zip(&shape)
            .fold(0_i128, |index, (at, places)| index * i128::from(*places) + i128::from(*at));
        if expected != rank as i128 {
            let message = format!(
                "grid coordinates {coordinates:?} belong to rank {expected} in row-major order"
            );
            findings.push(Finding::new(Code::RankOrder, message).on_rank(rank));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Place};

    fn block(grid: (i64, i64), size: i64, range: (i64, i64), padding: (i64, i64)) -> Dim {
        let place = Place { size, grid_rank: grid.0, grid_size: grid.1 };
        let block = Block { start: range.0, stop: range.1, padding, periodic: false };
        Dim::new(place, DimKind::Block(block)).unwrap()
    }

    fn found(sections: &[Section]) -> Vec<String> {
        across(sections).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_local_extent_as_size_is_recognised() {
        let dims = [block((0, 2), 5, (0, 5), (0, 0)), block((1, 2), 5, (5, 10), (0, 0))];
        let sections = dims.map(|dim| Section::from_dims(&[dim], None));
        assert_eq!(
            found(&sections),
            [
                "rank 1, axis 0: ENDS: the last part stops at 10, expected the size 5",
                "axis 0: SIZE_SUM: the ranks own 10 together, but `size` is 5; every rank states \
                 its local extent as `size`, the sum would be 10",
            ]
        );
    }

    #[test]
    fn element_types_are_compared_by_meaning() {
        let section = |format: &str| Section::from_dims(&[], Some(format.to_owned()));
        let dtypes = |sections: &[Section]| {
            found(sections).into_iter().filter(|text| text.contains("DTYPE")).collect::<Vec<_>>()
        };
        assert_eq!(dtypes(&[section("<f8"), section("<d")]), [""; 0]);
        assert_eq!(
            dtypes(&[section("<f8"), section("<f4")]),
            ["rank 1: DTYPE: element type is \"<f4\", but rank 0 has \"<f8\""]
        );
    }

    /// Lines of a 2x2 grid that differ in padding only: boundary widths may, inner ones may not.
    #[test]
    fn every_line_with_other_padding_is_judged() {
        let columns = |rank| block((rank, 2), 4, (2 * rank, 2 * rank + 2), (0, 0));
        let rows = |rank: i64, padding| {
            block((rank, 2), 10, if rank == 0 { (0, 6) } else { (4, 10) }, padding)
        };
        let sections = |paddings: [(i64, i64); 4]| -> Vec<Section> {
            (0..4)
                .zip(paddings)
                .map(|(rank, padding)| [rows(rank / 2, padding), columns(rank % 2)])
                .map(|dims| Section::from_dims(&dims, None))
                .collect()
        };
        assert_eq!(found(&sections([(0, 1), (2, 1), (1, 0), (1, 3)])), [""; 0]);
        let codes: BTreeSet<Code> =
            across(&sections([(0, 1), (0, 0), (1, 0), (1, 0)])).iter().map(|f| f.code).collect();
        let expected = [Code::Adjacency, Code::PaddingCounterpart, Code::SizeSum];
        assert_eq!(codes, BTreeSet::from(expected));
    }
}
