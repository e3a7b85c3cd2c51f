//! The elements that a rank owns, in the order of its memory.

use smallvec::{SmallVec, smallvec};

use super::Distribution;
use crate::Rank;
use crate::axis::{AxisMap, Cut};

/// One value per axis, in place for up to four.
type PerAxis<T> = SmallVec<[T; 4]>;

/// Runs of indices along one axis: first, and behind the last.
type AxisRuns = SmallVec<[(usize, usize); 1]>;

/// The elements that a rank owns: a product of indices along each axis, which are runs of neighbours.
///
/// ```
/// use pantile_geometry::Distribution;
/// let rows: Distribution = "4x3 on r=2: block(r), whole".parse()?;
/// let owned = rows.owned_elements(1).ok_or("rank 1 is in the mesh")?;
/// let run = owned.dense_runs().next().ok_or("it owns two rows")?;
/// assert_eq!((run.global, run.local, run.count), (6, 0, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedElements {
    /// Of the whole array.
    shape: PerAxis<usize>,
    /// Along each axis the first index and the one behind the last, in the order of memory.
    runs: PerAxis<AxisRuns>,
}

/// Elements that are neighbours in the whole array and in the memory of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnedRun {
    /// The row-major number of the first one in the whole array.
    pub global: usize,
    /// Its place in memory.
    pub local: usize,
    /// How many there are.
    pub count: usize,
}

impl Distribution {
    /// What a rank owns; nothing if it is outside of the mesh, or the array is distributed in boxes.
    #[must_use]
    pub fn owned_elements(&self, rank: Rank) -> Option<OwnedElements> {
        self.mesh().position_of(rank)?;
        let axes = self.axes()?.iter().enumerate();
        let runs = axes
            .map(|(axis, map)| Some(axis_runs(map, self.coordinate(rank, axis)?)))
            .collect::<Option<_>>()?;
        Some(OwnedElements { shape: self.shape().into(), runs })
    }

    /// True if this rank is the first of those that own the same elements.
    #[must_use]
    pub fn is_first_owner(&self, rank: Rank) -> bool {
        let free = self.free_mesh_axes();
        let place = self.mesh().coordinates_of(rank);
        place.is_some_and(|place| free.iter().all(|axis| place[*axis] == 0))
    }
}

impl OwnedElements {
    /// Along each axis the first index and the one behind the last of every run, in the order of
    /// memory.
    #[must_use]
    pub fn runs(&self) -> impl ExactSizeIterator<Item = &[(usize, usize)]> {
        self.runs.iter().map(SmallVec::as_slice)
    }

    /// Number of elements along each axis.
    #[must_use]
    pub fn local_shape(&self) -> Vec<usize> {
        self.runs.iter().map(|runs| length_of(runs)).collect()
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.iter().map(|runs| length_of(runs)).product()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.iter().any(SmallVec::is_empty)
    }

    /// The same with the axes in reverse order.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let runs = self.runs.iter().rev().cloned().collect();
        let shape = self.shape.iter().rev().copied().collect();
        Self { shape, runs }
    }

    /// The place in dense memory of an element, given by its row-major number in the whole array.
    #[must_use]
    pub fn local(&self, number: usize) -> Option<usize> {
        let (mut rest, mut at, mut stride) = (number, 0, 1);
        for (length, runs) in self.shape.iter().zip(&self.runs).rev() {
            let index = rest.checked_rem(*length)?;
            rest /= length;
            at += place_in(runs, index)? * stride;
            stride *= length_of(runs);
        }
        Some(at)
    }

    /// Its elements, where they lie row-major and without gaps in memory.
    #[must_use]
    pub fn dense_runs(&self) -> OwnedRuns<'_> {
        self.runs_in(0, &dense_strides(&self.local_shape()))
    }

    /// Its elements, where the first lies at a place in memory and neighbours along each axis so far
    /// apart.
    #[must_use]
    pub fn runs_in(&self, first: usize, strides: &[usize]) -> OwnedRuns<'_> {
        let whole = |axis: usize| self.runs[axis].as_slice() == [(0, self.shape[axis])];
        let joins = |axis: usize| {
            let inner: usize = self.shape[axis..].iter().product();
            strides[axis - 1] == inner && whole(axis)
        };
        let dense = self.shape.len().saturating_sub(1);
        let cut = match strides.last() {
            Some(1) => (1..=dense).rev().find(|axis| !joins(*axis)).unwrap_or(0),
            _ => dense,
        };
        OwnedRuns {
            axes: &self.runs,
            first,
            globals: dense_strides(&self.shape),
            locals: strides.into(),
            cut,
            places: if self.is_empty() { None } else { Some(smallvec![Place::default(); cut + 1]) },
        }
    }
}

/// An iterator over the runs of owned elements, in the order of memory.
#[derive(Clone, Debug)]
pub struct OwnedRuns<'a> {
    axes: &'a [AxisRuns],
    first: usize,
    globals: PerAxis<usize>,
    locals: PerAxis<usize>,
    /// The axis along which runs go; those behind it are owned whole.
    cut: usize,
    /// Where it is along the axes up to that one; nothing at the end.
    places: Option<PerAxis<Place>>,
}

/// A place among the runs of one axis.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    run: usize,
    /// Behind the start of the run.
    offset: usize,
    /// Among all that is owned.
    local: usize,
}

impl Iterator for OwnedRuns<'_> {
    type Item = OwnedRun;

    fn next(&mut self) -> Option<OwnedRun> {
        let places = self.places.as_mut()?;
        if self.axes.is_empty() {
            self.places = None;
            return Some(OwnedRun { global: 0, local: self.first, count: 1 });
        }
        let mut found = OwnedRun { global: 0, local: self.first, count: 1 };
        for (axis, place) in places.iter().enumerate() {
            let index = self.axes[axis][place.run].0 + place.offset;
            found.global += index * self.globals[axis];
            found.local += place.local * self.locals[axis];
        }
        let (start, end) = self.axes[self.cut][places[self.cut].run];
        // Without a dense last axis a run is one element.
        let dense = self.locals.last() == Some(&1);
        let count = if dense { end - start } else { 1 };
        found.count = if dense { count * self.globals[self.cut] } else { 1 };
        if !advance(places, self.axes, count) {
            self.places = None;
        }
        Some(found)
    }
}

/// Goes on by so many indices along the last of the axes; false at the end.
fn advance(places: &mut [Place], axes: &[AxisRuns], mut by: usize) -> bool {
    for (place, runs) in places.iter_mut().zip(axes).rev() {
        let (start, end) = runs[place.run];
        (place.offset, place.local) = (place.offset + by, place.local + by);
        if place.offset < end - start {
            return true;
        }
        (place.run, place.offset) = (place.run + 1, 0);
        if place.run < runs.len() {
            return true;
        }
        (*place, by) = (Place::default(), 1);
    }
    false
}

/// The indices that a coordinate owns along an axis, in the order of memory.
fn axis_runs(map: &AxisMap, coordinate: usize) -> AxisRuns {
    if matches!(map.cut(), Cut::Block(_)) && map.view().is_none() {
        let (from, to) = map.owned(coordinate);
        return if from < to { smallvec![(from, to)] } else { SmallVec::new() };
    }
    let mut runs = AxisRuns::new();
    let locals = 0..map.local_length(coordinate);
    for (index, _) in locals.filter_map(|local| map.global(coordinate, local)) {
        match runs.last_mut() {
            Some((_, end)) if *end == index => *end += 1,
            _ => runs.push((index, index + 1)),
        }
    }
    runs
}

fn length_of(runs: &[(usize, usize)]) -> usize {
    runs.iter().map(|(from, to)| to - from).sum()
}

fn place_in(runs: &[(usize, usize)], index: usize) -> Option<usize> {
    let mut before = 0;
    runs.iter().find_map(|(from, to)| {
        let place = (*from..*to).contains(&index).then(|| before + index - from);
        before += to - from;
        place
    })
}

fn dense_strides(shape: &[usize]) -> PerAxis<usize> {
    let mut strides: PerAxis<usize> = smallvec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}
