//! Copying a box between two memories, whatever the order of its axes is in each.

use std::cmp::Reverse;
use std::mem::MaybeUninit;

use smallvec::SmallVec;

use super::Ends;
use super::copy::copy_tile;
use super::transpose::{RUN, Square, TransposeFace, UNEVEN_RUN, transpose};
use crate::nest::StridedLoop;
use crate::pack::stream;
use crate::pack::transpose_vectors;
use crate::pack::walk::{RunTile, TileRows};

/// Where the elements of a box lie in a memory, counted in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread<'a> {
    /// The place of the first one.
    pub offset: isize,
    /// How much further the next one is along each axis; may be negative, and 0 in a source.
    pub strides: &'a [isize],
}

/// One axis of a box: how many elements, and how much further the next one is on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoxAxis {
    pub(crate) count: usize,
    pub(crate) source: isize,
    pub(crate) target: isize,
}

type BoxAxes = SmallVec<[BoxAxis; 8]>;

/// Copies every element of a box of this shape, which has one stride per axis on both sides.
///
/// Boxes whose axes lie in another order in the source are copied in blocks that stay in the
/// caches. With `streaming`, what is long enough is written with non-temporal stores; see
/// [`worth_streaming`](crate::pack::worth_streaming).
///
/// # Safety
/// Promises 1 to 4 of [`pack`](crate::pack), for the elements of `element_bytes` bytes that the box
/// has on both sides.
///
/// # Panics
/// If no element has so many bytes (1, 2, 4, 8 or 16).
pub unsafe fn copy_box(
    shape: &[usize],
    element_bytes: usize,
    (source, from): (*const u8, Spread<'_>),
    (target, into): (*mut u8, Spread<'_>),
    streaming: bool,
) {
    if shape.contains(&0) {
        return;
    }
    let bytes = element_bytes.cast_signed();
    let mut source = source.wrapping_offset(from.offset * bytes);
    let mut target = target.wrapping_offset(into.offset * bytes);
    let axes = arrange(shape, [from.strides, into.strides], |back| {
        source = source.wrapping_offset(back.source * bytes);
        target = target.wrapping_offset(back.target * bytes);
    });
    let copy_as = match element_bytes {
        1 => copy_axes::<u8>,
        2 => copy_axes::<u16>,
        4 => copy_axes::<u32>,
        8 => copy_axes::<u64>,
        16 => copy_axes::<[u64; 2]>,
        other => panic!("got elements of {other} bytes, expected 1, 2, 4, 8 or 16"),
    };
    // SAFETY: R1, R2, R3; promised by the caller, which has compared the reach of the box with both sides.
    let start = unsafe { Ends::new(source, target) };
    copy_as(&axes, start, streaming);
    if streaming {
        stream::fence();
    }
}

/// The axes in the order of the target, all of them forwards there, as few as possible. `back` gets
/// the last index of every axis that was reversed, as distances.
fn arrange(shape: &[usize], strides: [&[isize]; 2], mut back: impl FnMut(BoxAxis)) -> BoxAxes {
    let mut axes = BoxAxes::new();
    for ((count, source), target) in shape.iter().zip(strides[0]).zip(strides[1]) {
        let mut axis = BoxAxis { count: *count, source: *source, target: *target };
        if *count == 1 {
            continue;
        }
        if axis.target < 0 {
            let last = axis.count.cast_signed() - 1;
            back(BoxAxis { source: axis.source * last, target: axis.target * last, ..axis });
            axis = BoxAxis { source: -axis.source, target: -axis.target, ..axis };
        }
        axes.push(axis);
    }
    axes.sort_by_key(|axis| Reverse(axis.target));
    let mut joined = BoxAxes::new();
    for axis in axes {
        let along = axis.count.cast_signed();
        match joined.last_mut() {
            Some(last)
                if last.source == along * axis.source && last.target == along * axis.target =>
            {
                *last = BoxAxis { count: last.count * axis.count, ..axis };
            }
            _ => joined.push(axis),
        }
    }
    joined
}

impl<T> Ends<T> {
    /// The elements `index` further along an axis.
    #[inline(always)]
    pub(super) fn along(self, axis: BoxAxis, index: usize) -> Self {
        let index = index.cast_signed();
        self.offset(index * axis.source, index * axis.target)
    }
}

fn copy_axes<T: Square>(axes: &[BoxAxis], at: Ends<u8>, streaming: bool) {
    let at = at.cast::<T>();
    match near_axis(axes) {
        Some(near) => transpose_axes(axes, near, at, streaming),
        None => copy_rows(axes, at, streaming),
    }
}

/// The axis along which the source is nearest, if it is another one than that of the target.
fn near_axis(axes: &[BoxAxis]) -> Option<usize> {
    let (last, outer) = axes.split_last()?;
    let moving = outer.iter().enumerate().filter(|(_, axis)| axis.source != 0);
    let (near, axis) = moving.min_by_key(|(_, axis)| axis.source.unsigned_abs())?;
    (axis.source.unsigned_abs() < last.source.unsigned_abs()).then_some(near)
}

/// Calls `visit` with the first elements of everything along the axes.
fn walk<T: Copy>(axes: &[BoxAxis], at: Ends<T>, visit: &mut dyn FnMut(Ends<T>)) {
    let Some((axis, inner)) = axes.split_first() else { return visit(at) };
    for index in 0..axis.count {
        walk(inner, at.along(*axis, index), visit);
    }
}

/// Copies a box whose rows are columns of the source. Axes along which the source goes further
/// than from one column to the next come outside, the others inside of a run of columns, so that
/// their lines are met again while they are near.
fn transpose_axes<T: Square>(axes: &[BoxAxis], near: usize, at: Ends<T>, streaming: bool) {
    let (mut rows, columns) = (axes[near], axes[axes.len() - 1]);
    let mut at = at;
    if rows.source < 0 {
        at = at.along(rows, rows.count - 1);
        rows = BoxAxis { source: -rows.source, target: -rows.target, ..rows };
    }
    let others = axes[..axes.len() - 1].iter().enumerate().filter(|(axis, _)| *axis != near);
    let mut others: BoxAxes = others.map(|(_, axis)| *axis).collect();
    others.sort_by_key(|axis| Reverse(axis.source.unsigned_abs()));
    let far = |axis: &&BoxAxis| axis.source.unsigned_abs() > columns.source.unsigned_abs();
    let (outer, inner) = others.split_at(others.iter().take_while(far).count());
    let line = stream::LINE.cast_signed() / size_of::<T>().cast_signed();
    let aligned_rows = axes[..axes.len() - 1].iter().all(|axis| axis.target % line == 0);
    let longest = match aligned_rows || !streaming {
        true if transpose_vectors::can(size_of::<T>()) => transpose_vectors::width(streaming),
        true => RUN,
        false => UNEVEN_RUN,
    } / size_of::<T>();
    let lead = if aligned_rows && streaming {
        at.target().cast::<u8>().align_offset(stream::LINE)
    } else {
        0
    };
    let lead = (lead / size_of::<T>()).min(columns.count);
    let each_run = &mut |at: Ends<T>| {
        let mut first = 0;
        while first < columns.count {
            let left = columns.count - first;
            let count = if first < lead { lead } else { longest.min(left) };
            let face = TransposeFace { rows, columns: BoxAxis { count, ..columns } };
            walk(inner, at.along(columns, first), &mut |at| transpose(face, at, streaming));
            first += count;
        }
    };
    walk(outer, at, each_run);
}

/// Copies a box row by row.
fn copy_rows<T: Copy>(axes: &[BoxAxis], at: Ends<T>, streaming: bool) {
    const ONCE: BoxAxis = BoxAxis { count: 1, source: 1, target: 1 };
    let (outer, rows, run) = match axes {
        [] => (axes, ONCE, ONCE),
        [run] => (&[][..], ONCE, *run),
        [outer @ .., rows, run] => (outer, *rows, *run),
    };
    let gathers = run.source != 1
        && run.target == 1
        && (run.source < 0 || streaming && run.count * size_of::<T>() >= stream::RUN_BYTES_MIN);
    let dim = |axis: BoxAxis| {
        let (source, target) = (usize::try_from(axis.source), usize::try_from(axis.target));
        Some(StridedLoop { count: axis.count, source: source.ok()?, target: target.ok()? })
    };
    let visit = &mut |at: Ends<T>| match (dim(rows), dim(run)) {
        (Some(rows), Some(run)) if !gathers => {
            copy_tile(&RunTile { rows: TileRows::Strided(rows), run }, at, streaming);
        }
        _ => walk(&[rows], at, &mut |at| gather_run(run, at, streaming)),
    };
    walk(outer, at, visit);
}

/// Elements that are gathered before they are written.
pub(crate) const GATHERED: usize = 128;

/// Copies a run, a few elements at a time.
fn gather_run<T: Copy>(run: BoxAxis, at: Ends<T>, streaming: bool) {
    let mut near = [MaybeUninit::<T>::uninit(); GATHERED];
    let near = near.as_mut_ptr().cast::<T>();
    for first in (0..run.count).step_by(GATHERED) {
        let count = GATHERED.min(run.count - first);
        let from = at.along(run, first);
        // SAFETY: R4; `count` is at most what `near` has room for, and the gathered elements are read from it.
        let kept = unsafe { Ends::new(near.cast_const(), near) };
        for index in 0..count {
            from.along(run, index).with_target(kept.add(0, index).target()).copy_one();
        }
        let kept = kept.with_target(from.target());
        match (streaming, run.target) {
            (true, 1) => kept.stream_near(count * size_of::<T>()),
            (false, 1) => kept.copy_bytes(count * size_of::<T>()),
            (_, far) => (0..count.cast_signed())
                .for_each(|index| kept.offset(index, index * far).copy_one()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shape: &[usize], source: &[isize], target: &[isize], expected: &[BoxAxis]) {
        let axes = arrange(shape, [source, target], |_| {});
        assert_eq!(axes.as_slice(), expected);
    }

    fn axis(count: usize, source: isize, target: isize) -> BoxAxis {
        BoxAxis { count, source, target }
    }

    #[test]
    fn axes_are_in_the_order_of_the_target() {
        check(&[], &[], &[], &[]);
        check(&[2, 3], &[3, 1], &[3, 1], &[axis(6, 1, 1)]);
        check(&[2, 3], &[1, 2], &[3, 1], &[axis(2, 1, 3), axis(3, 2, 1)]);
        check(&[2, 1, 3], &[3, 9, 1], &[1, 9, 2], &[axis(3, 1, 2), axis(2, 3, 1)]);
        check(&[2, 3], &[3, 1], &[-3, -1], &[axis(6, -1, 1)]);
        check(&[4, 2, 3], &[1, 12, 4], &[6, 3, 1], &[axis(4, 1, 6), axis(6, 4, 1)]);
    }

    #[test]
    fn the_nearest_axis_of_the_source_makes_it_transposed() {
        assert_eq!(near_axis(&[axis(4, 1, 6), axis(6, 4, 1)]), Some(0));
        assert_eq!(near_axis(&[axis(4, 6, 6), axis(6, 1, 1)]), None);
        assert_eq!(near_axis(&[axis(4, 0, 6), axis(6, 4, 1)]), None);
        assert_eq!(near_axis(&[axis(4, 9, 50), axis(4, -1, 6), axis(6, 4, 1)]), Some(1));
        assert_eq!(near_axis(&[]), None);
    }
}
