//! Element-wise loops over rows that lie in different parts of their operands.

use std::ops::Range;

use super::error::SliceError;
use super::slice::{check, check_length};

/// The local rows of an operand: three consecutive parts, or one element for all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowParts {
    /// Rows of left halo, owned part and right halo.
    Parts([usize; 3]),
    /// A 0-d or one-element operand, the same for every row.
    Broadcast,
}

/// Where an operand has the rows of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartRows {
    /// 0 left halo, 1 owned part, 2 right halo.
    pub part: usize,
    /// First row inside that part.
    pub start: usize,
}

/// One loop: local rows of the result, and where each operand has them (`None`: broadcast).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSegment {
    /// Rows of the result.
    pub rows: Range<usize>,
    /// Left operand.
    pub left: Option<PartRows>,
    /// Right operand.
    pub right: Option<PartRows>,
}

/// The loops of one element-wise operation in execution order: those inside `core` first.
///
/// Rows are cut at the borders of the operands' parts and at both ends of the core, so each
/// segment lies in one part of each operand and the core needs no halo. Law: the segments cover
/// every row exactly once. Two broadcast operands have no rows and no segments.
///
/// # Errors
/// Operands with different numbers of rows, or a core that is not inside them.
pub fn segments(
    left: &RowParts,
    right: &RowParts,
    core: Option<&Range<usize>>,
) -> Result<Vec<RowSegment>, SliceError> {
    let mut cuts = vec![0];
    let total = [left.total()?, right.total()?];
    let rows = match total {
        [Some(left), Some(right)] if left != right => {
            return Err(SliceError::UnequalRows { left, right });
        }
        [Some(rows), _] | [None, Some(rows)] => rows,
        [None, None] => return Ok(Vec::new()),
    };
    for operand in [left, right] {
        cuts.extend(operand.ends());
    }
    let core = checked_core(core, rows)?;
    let segment = |rows: Range<usize>| RowSegment {
        left: left.find(rows.start),
        right: right.find(rows.start),
        rows,
    };
    let (inside, outside) = cut_at(cuts, &core);
    Ok(inside.into_iter().chain(outside).map(segment).collect())
}

/// The loops over boxes where several axes are cut: per axis the operands' parts and the core.
///
/// The boxes inside the core (the product of the core ranges; none if one of them is empty) come
/// first, then the others in row-major order. An axis on which both operands broadcast must not be
/// given.
///
/// # Errors
/// Lists of different lengths, or what [`segments`] refuses on some axis.
pub fn segments_nd(
    left: &[RowParts],
    right: &[RowParts],
    core: Option<&[Range<usize>]>,
) -> Result<Vec<Vec<Range<usize>>>, SliceError> {
    check_length(right.len(), left.len())?;
    if let Some(core) = core {
        check_length(core.len(), left.len())?;
    }
    // Each box with whether it has been inside the core on all axes so far.
    let mut boxes = vec![(Vec::new(), core.is_some())];
    for axis in 0..left.len() {
        let range = core.map(|core| &core[axis]);
        let mut rows: Vec<_> =
            segments(&left[axis], &right[axis], range)?.into_iter().map(|s| s.rows).collect();
        rows.sort_by_key(|rows| rows.start);
        let inside = |rows: &Range<usize>| {
            range.is_some_and(|core| core.start <= rows.start && rows.end <= core.end)
        };
        boxes = boxes
            .into_iter()
            .flat_map(|(prefix, in_core): (Vec<Range<usize>>, bool)| {
                let extend = move |rows: &Range<usize>| {
                    let longer = prefix.iter().cloned().chain([rows.clone()]).collect();
                    (longer, in_core && inside(rows))
                };
                rows.iter().map(extend).collect::<Vec<_>>()
            })
            .collect();
    }
    boxes.sort_by_key(|(_, in_core)| !in_core);
    Ok(boxes.into_iter().map(|(ranges, _)| ranges).collect())
}

impl RowParts {
    fn total(&self) -> Result<Option<usize>, SliceError> {
        let Self::Parts(parts) = self else { return Ok(None) };
        let total = parts.iter().fold(0_usize, |sum, rows| sum.saturating_add(*rows));
        check(&(0..total))?;
        Ok(Some(total))
    }

    /// Where each part ends.
    fn ends(&self) -> Vec<usize> {
        let Self::Parts([left, owned, right]) = self else { return Vec::new() };
        vec![*left, left + owned, left + owned + right]
    }

    fn find(&self, row: usize) -> Option<PartRows> {
        let ends = self.ends();
        let part = ends.iter().position(|end| row < *end)?;
        let start = part.checked_sub(1).map_or(0, |before| ends[before]);
        Some(PartRows { part, start: row - start })
    }
}

fn checked_core(core: Option<&Range<usize>>, rows: usize) -> Result<Range<usize>, SliceError> {
    let core = core.cloned().unwrap_or(0..0);
    check(&core)?;
    if core.end > rows {
        return Err(SliceError::NotInside { range: core, outer: 0..rows });
    }
    Ok(core)
}

/// The ranges between the cuts, those inside the core apart from the others.
fn cut_at(mut cuts: Vec<usize>, core: &Range<usize>) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    if !core.is_empty() {
        cuts.extend([core.start, core.end]);
    }
    cuts.sort_unstable();
    cuts.dedup();
    let pairs = cuts.windows(2).map(|pair| pair[0]..pair[1]);
    pairs.partition(|rows| core.start <= rows.start && rows.end <= core.end)
}
