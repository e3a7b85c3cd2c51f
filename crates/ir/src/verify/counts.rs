//! How many operands and results an operation has.

use crate::{Arith, Dim, Index, Op, Slice, Type};

/// How many there may be.
enum Count {
    Exactly(usize),
    OneOf(Vec<usize>),
    AtLeast(usize),
}

use Count::{AtLeast, Exactly, OneOf};

impl Count {
    fn fits(&self, count: usize) -> bool {
        match self {
            Exactly(expected) => count == *expected,
            OneOf(expected) => expected.contains(&count),
            AtLeast(least) => count >= *least,
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exactly(count) => write!(f, "{count}"),
            AtLeast(count) => write!(f, "at least {count}"),
            OneOf(counts) => {
                let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
                f.write_str(&counts.join(" or "))
            }
        }
    }
}

/// What is wrong with the numbers of operands and results, if something is.
pub(super) fn wrong(op: &Op, operands: &[&Type], results: &[&Type]) -> Option<String> {
    let ndim = operands.first().map_or(0, |ty| ty.shape().len());
    let (takes, gives) = of_scalars(op)
        .or_else(|| of_arrays(op, results))
        .unwrap_or_else(|| of_members(op, ndim, operands, results));
    if !takes.fits(operands.len()) {
        return Some(format!("has {} operands, expected {takes}", operands.len()));
    }
    (!gives.fits(results.len())).then(|| format!("has {} results, expected {gives}", results.len()))
}

fn of_scalars(op: &Op) -> Option<(Count, Count)> {
    Some(match op {
        Op::Return | Op::Yield | Op::RegionYield => (AtLeast(0), Exactly(0)),
        Op::Condition => (AtLeast(1), Exactly(0)),
        Op::For => (AtLeast(3), AtLeast(0)),
        Op::While | Op::Region(_) => (AtLeast(0), AtLeast(0)),
        Op::Constant(_) => (Exactly(0), Exactly(1)),
        Op::Arith(Arith::NegF) | Op::Convert => (Exactly(1), Exactly(1)),
        Op::Arith(_) | Op::Compare(_) => (Exactly(2), Exactly(1)),
        Op::SelectScalar => (Exactly(3), Exactly(1)),
        _ => return None,
    })
}

/// Lengths are left out, or there is one for each axis, or one for each `?`.
fn lengths(results: &[&Type], others: usize) -> Count {
    let shape: &[Dim] = results.first().map_or(&[], |ty| ty.shape());
    let open = shape.iter().filter(|dim| dim.is_none()).count();
    let mut counts = vec![others + open, others + shape.len()];
    counts.dedup();
    OneOf(counts)
}

fn of_arrays(op: &Op, results: &[&Type]) -> Option<(Count, Count)> {
    let takes = match op {
        Op::Create { value } => lengths(results, usize::from(*value)),
        Op::Reshape { .. } => lengths(results, 1),
        Op::Eye { .. } | Op::IndexAlong { .. } => Exactly(0),
        Op::Random { .. }
        | Op::Permute(_)
        | Op::Broadcast
        | Op::Cast
        | Op::Copy
        | Op::FromMemRef
        | Op::ToTensor
        | Op::Unary(_)
        | Op::CastElement { .. }
        | Op::Reduce { .. }
        | Op::Stencil { .. }
        | Op::Redistribute
        | Op::Replicate
        | Op::Halo { .. } => Exactly(1),
        Op::Arange | Op::Dim | Op::Binary(_) | Op::MatMul => Exactly(2),
        Op::Linspace { .. } | Op::Where | Op::Clip => Exactly(3),
        Op::Subview(slice) | Op::ExtractSlice(slice) => Exactly(1 + values_in(slice)),
        Op::ImmutableInsertSlice(slice) => Exactly(2 + values_in(slice)),
        Op::InsertSlice(slice) => return Some((Exactly(2 + values_in(slice)), Exactly(0))),
        Op::Delete => return Some((Exactly(1), Exactly(0))),
        Op::MapBlocks { .. } => return Some((AtLeast(1), AtLeast(1))),
        _ => return None,
    };
    Some((takes, Exactly(1)))
}

fn of_members(op: &Op, ndim: usize, operands: &[&Type], results: &[&Type]) -> (Count, Count) {
    let pairs = results.len() / 2;
    let parts = if ndim == 0 { 1 } else { 3 };
    let again = |previous: bool| if previous { 7 } else { 5 };
    let result_ndim = |at: usize| results.get(at).map_or(0, |ty| ty.shape().len());
    let core = |others: usize| {
        let mut counts = vec![others, others + 3 * ndim];
        counts.dedup();
        (OneOf(counts), Exactly(1))
    };
    match op {
        Op::Load => (Exactly(1 + ndim), Exactly(1)),
        Op::InitDist => {
            let offsets = result_ndim(0);
            (OneOf(if offsets == 0 { vec![1] } else { vec![offsets + 1, offsets + 3] }), Exactly(1))
        }
        Op::LocalOffsetsOf => (Exactly(1), Exactly(ndim)),
        Op::PartsOf => (Exactly(1), Exactly(parts)),
        Op::DefaultPartition => (AtLeast(2), Exactly(2 * operands.len().saturating_sub(2))),
        Op::LocalTarget => (Exactly(1 + 3 * ndim), Exactly(2 * ndim)),
        Op::BoundingBox { previous, .. } => (Exactly(again(*previous) * pairs), Exactly(2 * pairs)),
        Op::LocalCore { previous } => (Exactly(1 + again(*previous) * ndim), Exactly(2 * ndim)),
        Op::Repartition { request } => {
            (Exactly(1 + if *request { 2 * ndim } else { 0 }), Exactly(1))
        }
        Op::DistSubview { slice, target } => {
            let target = if *target { 2 * ndim } else { 0 };
            (Exactly(1 + values_in(slice) + target), Exactly(1))
        }
        Op::DistUnary(_) => core(1),
        Op::DistBinary(_) => {
            // Either operand may be the one without axes.
            let other = operands.get(1).map_or(0, |ty| ty.shape().len());
            let mut counts = vec![2, 2 + 3 * ndim.max(other)];
            counts.dedup();
            (OneOf(counts), Exactly(1))
        }
        Op::TeamSize(_) | Op::TeamMember(_) => (Exactly(0), Exactly(1)),
        Op::AllReduce { .. } | Op::Wait => (Exactly(1), Exactly(0)),
        Op::GetHalo { .. } => (Exactly(1 + 4 * ndim), Exactly(3)),
        Op::CopyReshape { .. } => (Exactly(1 + 2 * ndim + 3 * result_ndim(1)), Exactly(2)),
        Op::CopyPermute { .. } => (Exactly(1 + 4 * ndim), Exactly(2)),
        _ => (AtLeast(0), AtLeast(0)),
    }
}

fn values_in(slice: &Slice) -> usize {
    let lists = [&slice.offsets, &slice.sizes, &slice.strides];
    lists.into_iter().flatten().filter(|entry| **entry == Index::Operand).count()
}
