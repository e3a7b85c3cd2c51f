//! Views: other shapes and parts of the elements of a base, which can be assigned to.

use std::sync::Arc;

use pantile_engine::DType;
use pantile_ir::{Index, Op, Place, Slice, Type};
use smallvec::smallvec;

use super::error::ArrayError;
use super::node::Node;
use super::slice::{SliceItem, resolve};

/// One step from what it is a view of, which has shape `from`, to `shape`.
#[derive(Clone, PartialEq)]
pub(crate) struct ViewStep {
    from: Vec<usize>,
    pub(crate) shape: Vec<usize>,
    how: How,
}

#[derive(Clone, PartialEq)]
enum How {
    /// Along each axis of `from`: first, number and distance of indices, and whether the axis goes.
    Slice(Vec<MergedAxes>),
    /// Axis `i` is axis `axes[i]` of `from`.
    Permute(Vec<usize>),
    /// The same elements, row-major.
    Reshape,
}

#[derive(Clone, Copy, PartialEq)]
struct MergedAxes {
    first: i64,
    size: usize,
    step: i64,
    goes: bool,
}

impl ViewStep {
    /// A slice of an array of this shape.
    pub(crate) fn slice(shape: &[usize], items: &[SliceItem]) -> Result<Self, ArrayError> {
        if items.len() > shape.len() {
            return Err(ArrayError::SliceAxes { got: items.len(), shape: shape.to_vec() });
        }
        let mut stretches = Vec::with_capacity(shape.len());
        for (axis, length) in shape.iter().enumerate() {
            let item = items.get(axis).copied().unwrap_or(SliceItem::Range(None, None, 1));
            let (first, size, step, goes) = resolve(item, axis, *length)?;
            stretches.push(MergedAxes { first, size, step, goes });
        }
        Ok(Self::of_stretches(shape.to_vec(), stretches))
    }

    /// One element of an array of this shape, without axes.
    pub(crate) fn element(shape: &[usize], index: &[usize]) -> Self {
        let at = |at: &usize| i64::try_from(*at).unwrap_or(i64::MAX);
        let one = |index| MergedAxes { first: at(index), size: 1, step: 1, goes: true };
        Self::of_stretches(shape.to_vec(), index.iter().map(one).collect())
    }

    fn of_stretches(from: Vec<usize>, stretches: Vec<MergedAxes>) -> Self {
        let kept = stretches.iter().filter(|one| !one.goes);
        Self { from, shape: kept.map(|one| one.size).collect(), how: How::Slice(stretches) }
    }

    /// The axes of an array of this shape in another order, which is a permutation.
    pub(crate) fn permute(shape: &[usize], axes: &[usize]) -> Self {
        let permuted = axes.iter().map(|axis| shape[*axis]).collect();
        Self { from: shape.to_vec(), shape: permuted, how: How::Permute(axes.to_vec()) }
    }

    /// The elements of an array of this shape in another one of as many.
    pub(crate) fn reshape(from: &[usize], shape: &[usize]) -> Self {
        Self { from: from.to_vec(), shape: shape.to_vec(), how: How::Reshape }
    }

    /// True if it changes nothing.
    pub(crate) fn is_all(&self) -> bool {
        let whole = |(one, length): (&MergedAxes, &usize)| {
            !one.goes && one.first == 0 && one.size == *length && (one.step == 1 || one.size <= 1)
        };
        match &self.how {
            How::Slice(stretches) => stretches.iter().zip(&self.from).all(whole),
            How::Permute(axes) => axes.iter().copied().eq(0..axes.len()),
            How::Reshape => self.from == self.shape,
        }
    }

    /// True if its elements need an order of their own.
    pub(crate) fn is_slice(&self) -> bool {
        matches!(self.how, How::Slice(_))
    }

    /// True if it has the same elements in the same order, in another shape.
    pub(crate) fn is_reshape(&self) -> bool {
        matches!(self.how, How::Reshape)
    }

    /// This and then another one, if that is one step.
    pub(crate) fn then(&self, next: &Self) -> Option<Self> {
        let (How::Slice(own), How::Slice(inner)) = (&self.how, &next.how) else { return None };
        let mut inner = inner.iter();
        let mut both = Vec::with_capacity(own.len());
        for one in own {
            both.push(match one.goes {
                true => *one,
                false => {
                    let next = inner.next()?;
                    let first = one.first + one.step * next.first;
                    let step = if next.size <= 1 { 1 } else { one.step * next.step };
                    MergedAxes { first, size: next.size, step, goes: next.goes }
                }
            });
        }
        // Where nothing is left, nothing is anywhere.
        both.iter_mut().filter(|one| one.size == 0).for_each(|one| one.first = 0);
        Some(Self::of_stretches(self.from.clone(), both))
    }

    /// How far neighbours along the new axes are apart, where those along the old ones are so far
    /// apart; `None` if they are not evenly spaced: then NumPy copies, too.
    pub(crate) fn strides(&self, old: &[isize]) -> Option<Vec<isize>> {
        match &self.how {
            How::Slice(stretches) => {
                let kept = stretches.iter().zip(old).filter(|(one, _)| !one.goes);
                let step = |one: &MergedAxes| isize::try_from(one.step).unwrap_or(isize::MAX);
                Some(kept.map(|(one, stride)| stride * step(one)).collect())
            }
            How::Permute(axes) => Some(axes.iter().map(|axis| old[*axis]).collect()),
            How::Reshape => reshaped_strides(&self.from, old, &self.shape),
        }
    }

    /// The index in what it is a view of.
    pub(crate) fn through(&self, index: &[usize]) -> Vec<usize> {
        match &self.how {
            How::Slice(stretches) => {
                let mut index = index.iter();
                let along = |one: &MergedAxes| {
                    let at = if one.goes { 0 } else { index.next().copied().unwrap_or(0) };
                    one.first + one.step * i64::try_from(at).unwrap_or(0)
                };
                stretches.iter().map(along).map(|at| usize::try_from(at).unwrap_or(0)).collect()
            }
            How::Permute(axes) => {
                let mut outer = vec![0; axes.len()];
                axes.iter().zip(index).for_each(|(axis, at)| outer[*axis] = *at);
                outer
            }
            How::Reshape => {
                let pairs = self.shape.iter().zip(index);
                unravel(pairs.fold(0, |number, (length, at)| number * length + at), &self.from)
            }
        }
    }

    /// A node seen in this way.
    pub(crate) fn of(&self, node: &Arc<Node>, place: &Place) -> Arc<Node> {
        let ty = Type::array(&self.shape, node.ty.dtype().unwrap_or(DType::F64));
        if let Some(fault) = &node.fault {
            return Node::faulty(fault.clone(), ty);
        }
        let op = match &self.how {
            How::Slice(stretches) => Op::ExtractSlice(ir_slice(stretches)),
            How::Permute(axes) => Op::Permute(axes.clone()),
            How::Reshape => Op::Reshape { copy: None },
        };
        Node::new(op, smallvec![Arc::clone(node)], ty, place.clone())
    }

    /// `base` where this view of it is `part`.
    pub(crate) fn put(&self, part: Arc<Node>, base: &Arc<Node>, place: &Place) -> Arc<Node> {
        let ty = Type::array(&self.from, base.ty.dtype().unwrap_or(DType::F64));
        let (op, operand) = match &self.how {
            How::Slice(stretches) => {
                let sizes: Vec<usize> = stretches.iter().map(|one| one.size).collect();
                let full = reshaped(part, &sizes, place);
                let op = Op::ImmutableInsertSlice(ir_slice(stretches));
                return Node::new(
                    op,
                    smallvec![full, Arc::clone(base)],
                    base.ty.clone(),
                    place.clone(),
                );
            }
            How::Permute(axes) => {
                let mut back = vec![0; axes.len()];
                axes.iter().enumerate().for_each(|(new, old)| back[*old] = new);
                (Op::Permute(back), part)
            }
            How::Reshape => (Op::Reshape { copy: None }, part),
        };
        Node::new(op, smallvec![operand], ty, place.clone())
    }
}

/// An axis of a view as a part of an axis of its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The axis of the base.
    pub axis: usize,
    /// The first index.
    pub first: i64,
    /// The distance of indices.
    pub step: i64,
    /// Number of indices.
    pub size: usize,
}

/// The axes of a view, and the axes of the base that are fixed at one index.
pub type SeenAxes = (Vec<Seen>, Vec<(usize, usize)>);

/// A chain of views of a base as parts of its axes; `None` if it cannot be said so.
pub(crate) fn seen_axes(base: &[usize], chain: &[ViewStep]) -> Option<SeenAxes> {
    let whole = |(axis, size): (usize, &usize)| Seen { axis, first: 0, step: 1, size: *size };
    let mut axes: Vec<Seen> = base.iter().enumerate().map(whole).collect();
    let mut fixed = Vec::new();
    for view in chain {
        axes = match &view.how {
            How::Reshape => return None,
            How::Permute(order) => order.iter().map(|axis| axes[*axis]).collect(),
            How::Slice(stretches) => {
                let mut kept = Vec::new();
                for (old, one) in axes.iter().zip(stretches) {
                    let (first, step) = (old.first + old.step * one.first, old.step * one.step);
                    match one.goes {
                        true => fixed.push((old.axis, usize::try_from(first).ok()?)),
                        false => kept.push(Seen { first, step, size: one.size, ..*old }),
                    }
                }
                kept
            }
        };
    }
    Some((axes, fixed))
}

/// A node in another shape.
fn reshaped(node: Arc<Node>, shape: &[usize], place: &Place) -> Arc<Node> {
    if node.shape() == shape {
        return node;
    }
    ViewStep::reshape(&node.shape(), shape).of(&node, place)
}

fn ir_slice(stretches: &[MergedAxes]) -> Slice {
    let known = |size: usize| Index::Known(i64::try_from(size).unwrap_or(i64::MAX));
    Slice {
        offsets: stretches.iter().map(|one| Index::Known(one.first)).collect(),
        sizes: stretches.iter().map(|one| known(one.size)).collect(),
        strides: stretches.iter().map(|one| Index::Known(one.step)).collect(),
    }
}

/// The index of the element with a number in row-major order.
pub(crate) fn unravel(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, length) in index.iter_mut().zip(shape).rev() {
        (*at, number) = (number % length.max(&1), number / length.max(&1));
    }
    index
}

/// Distances between neighbours in a dense array.
pub(crate) fn dense_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * isize::try_from(shape[axis]).unwrap_or(isize::MAX);
    }
    strides
}

/// Distances in another shape, if elements stay evenly spaced along every axis of it.
fn reshaped_strides(from: &[usize], old: &[isize], to: &[usize]) -> Option<Vec<isize>> {
    if from.contains(&0) {
        return Some(dense_strides(to));
    }
    // Runs of old axes that go on as one: their elements, and the distance of the last axis.
    let mut runs: Vec<(usize, isize)> = Vec::new();
    for (length, stride) in from.iter().zip(old).filter(|(length, _)| **length > 1) {
        let along = stride * isize::try_from(*length).unwrap_or(isize::MAX);
        match runs.last_mut() {
            Some((elements, last)) if *last == along => {
                (*elements, *last) = (*elements * length, *stride);
            }
            _ => runs.push((*length, *stride)),
        }
    }
    let mut strides = vec![1; to.len()];
    let mut axes = (0..to.len()).rev();
    for (elements, stride) in runs.into_iter().rev() {
        let (mut left, mut stride) = (elements, stride);
        while left > 1 {
            let axis = axes.next()?;
            if left % to[axis] != 0 {
                return None;
            }
            strides[axis] = stride;
            stride *= isize::try_from(to[axis]).unwrap_or(isize::MAX);
            left /= to[axis];
        }
    }
    Some(strides)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_testkit::{Rng, cases};

    /// Places of all elements in the memory of a base, in the order of the view.
    fn places(chain: &[ViewStep], shape: &[usize], base: &[usize]) -> Vec<usize> {
        let number = |index: Vec<usize>| {
            index.iter().zip(base).fold(0, |number, (at, length)| number * length + at)
        };
        (0..shape.iter().product())
            .map(|at| {
                let index = unravel(at, shape);
                number(chain.iter().rev().fold(index, |index, view| view.through(&index)))
            })
            .collect()
    }

    fn random_view(rng: &mut Rng, shape: &[usize]) -> ViewStep {
        match rng.below(3) {
            0 => {
                let item = |length: &usize, rng: &mut Rng| match rng.below(4) {
                    0 if *length > 0 => SliceItem::At(rng.below(*length) as i64),
                    1 => SliceItem::Range(None, None, 1),
                    _ => {
                        let end =
                            |rng: &mut Rng| (rng.below(3) > 0).then(|| rng.below(9) as i64 - 4);
                        let step = [1, 2, -1, -2][rng.below(4)];
                        SliceItem::Range(end(rng), end(rng), step)
                    }
                };
                let items: Vec<SliceItem> = shape.iter().map(|length| item(length, rng)).collect();
                ViewStep::slice(shape, &items).unwrap()
            }
            1 => {
                let mut axes: Vec<usize> = (0..shape.len()).collect();
                for at in (1..axes.len()).rev() {
                    axes.swap(at, rng.below(at + 1));
                }
                ViewStep::permute(shape, &axes)
            }
            _ => {
                let mut left: usize = shape.iter().product();
                let mut to = Vec::new();
                while left > 1 && rng.below(4) > 0 {
                    let parts: Vec<usize> =
                        (1..=left).filter(|one| left.is_multiple_of(*one)).collect();
                    let part = parts[rng.below(parts.len())];
                    to.push(part);
                    left /= part;
                }
                to.push(left);
                ViewStep::reshape(shape, &to)
            }
        }
    }

    /// The distance of neighbours along every axis, if it is the same everywhere.
    fn found_strides(places: &[usize], shape: &[usize]) -> Option<Vec<isize>> {
        let strides = dense_strides(shape);
        let mut found = vec![1; shape.len()];
        for axis in 0..shape.len() {
            let mut distance = None;
            for (number, place) in places.iter().enumerate() {
                let index = unravel(number, shape);
                if index[axis] + 1 == shape[axis] {
                    continue;
                }
                let next = places[number + strides[axis].unsigned_abs()];
                let step = next as isize - *place as isize;
                if *distance.get_or_insert(step) != step {
                    return None;
                }
            }
            found[axis] = distance.unwrap_or(1);
        }
        Some(found)
    }

    #[test]
    fn views_are_what_their_strides_say_or_not_evenly_spaced() {
        cases("views", 3000, |rng| {
            let base: Vec<usize> = (0..rng.below(4)).map(|_| 1 + rng.below(4)).collect();
            let (mut chain, mut shape) = (Vec::<ViewStep>::new(), base.clone());
            let mut strides = dense_strides(&base);
            for _ in 0..4 {
                let view = random_view(rng, &shape);
                let mut longer = chain.clone();
                longer.push(view.clone());
                let all = places(&longer, &view.shape, &base);
                let expected = found_strides(&all, &view.shape);
                match view.strides(&strides) {
                    None => {
                        assert_eq!(expected, None, "{base:?} {:?} to {:?}", shape, view.shape);
                        return;
                    }
                    Some(got) => {
                        for (axis, length) in view.shape.iter().enumerate() {
                            let one = all.is_empty() || *length == 1;
                            assert!(one || expected.as_ref().is_some_and(|e| e[axis] == got[axis]));
                        }
                        strides = got;
                    }
                }
                // Two slices are one.
                match chain.last().and_then(|last| last.then(&view)) {
                    Some(both) => {
                        chain.pop();
                        chain.push(both);
                    }
                    None => chain.push(view.clone()),
                }
                assert_eq!(places(&chain, &view.shape, &base), all);
                shape.clone_from(&view.shape);
            }
        });
    }

    #[test]
    fn chains_of_slices_and_permutations_are_parts_of_axes() {
        cases("parts of axes", 2000, |rng| {
            let base: Vec<usize> = (0..rng.below(4)).map(|_| 1 + rng.below(4)).collect();
            let (mut chain, mut shape) = (Vec::<ViewStep>::new(), base.clone());
            for _ in 0..3 {
                chain.push(random_view(rng, &shape));
                shape.clone_from(&chain[chain.len() - 1].shape);
            }
            let reshapes = chain.iter().any(|view| matches!(view.how, How::Reshape));
            let seen = seen_axes(&base, &chain);
            assert_eq!(seen.is_none(), reshapes);
            let Some((axes, fixed)) = seen else { return };
            for number in 0..shape.iter().product() {
                let index = unravel(number, &shape);
                let expected = chain.iter().rev().fold(index.clone(), |at, view| view.through(&at));
                let mut found = vec![usize::MAX; base.len()];
                fixed.iter().for_each(|(axis, at)| found[*axis] = *at);
                for (one, at) in axes.iter().zip(index) {
                    let at = one.first + one.step * i64::try_from(at).unwrap();
                    found[one.axis] = usize::try_from(at).unwrap();
                }
                assert_eq!(found, expected);
            }
        });
    }
}
