//! Which elements of an array a rank owns, in the order in which they lie in its memory.

use pantile_geometry::{AxisMap, Cut, Distribution, Rank};

/// The elements that a rank owns: a product of indices along each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// The whole array.
    shape: Vec<usize>,
    /// Along each axis the first index and the number of consecutive ones, in local order.
    runs: Vec<Vec<(usize, usize)>>,
    /// True if this rank is the first of those that own the same.
    first: bool,
}

impl Share {
    /// What a rank owns of an array that lives there; `None` if it owns nothing.
    pub(crate) fn of(home: &Distribution, rank: Rank) -> Option<Self> {
        let place = home.mesh().coordinates_of(rank)?;
        let axes = home.axes()?;
        let mut runs = Vec::with_capacity(axes.len());
        for (axis, map) in axes.iter().enumerate() {
            runs.push(axis_runs(map, home.coordinate(rank, axis)?));
        }
        if runs.iter().any(Vec::is_empty) {
            return None;
        }
        let first = home.free_mesh_axes().iter().all(|axis| place[*axis] == 0);
        Some(Self { shape: home.shape().to_vec(), runs, first })
    }

    /// True if this rank is the first of those that own the same elements.
    pub(crate) fn is_first(&self) -> bool {
        self.first
    }

    /// Number of elements along each axis.
    pub(crate) fn local_shape(&self) -> Vec<usize> {
        self.runs.iter().map(|runs| runs.iter().map(|(_, count)| count).sum()).collect()
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.local_shape().iter().product()
    }

    /// The same with the axes the other way round.
    pub(crate) fn reversed(&self) -> Self {
        let turned = |list: &[usize]| list.iter().rev().copied().collect();
        let runs = self.runs.iter().rev().cloned().collect();
        Self { shape: turned(&self.shape), runs, first: self.first }
    }

    /// Where an element, given by its row-major number in the whole array, lies in local memory.
    pub(crate) fn local(&self, number: usize) -> Option<usize> {
        let (mut rest, mut at, mut stride) = (number, 0, 1);
        for (length, runs) in self.shape.iter().zip(&self.runs).rev() {
            let index = rest.checked_rem(*length)?;
            rest /= length;
            let mut before = 0;
            let place = runs.iter().find_map(|(start, count)| {
                let here = index.checked_sub(*start).filter(|offset| offset < count);
                let place = here.map(|offset| before + offset);
                before += count;
                place
            });
            at += place? * stride;
            stride *= runs.iter().map(|(_, count)| count).sum::<usize>();
        }
        Some(at)
    }

    /// Calls `f` with the number of the first element and the count of every stretch that is
    /// consecutive in the whole array, in the order of local memory.
    pub(crate) fn stretches<E>(
        &self,
        f: &mut dyn FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        // The axes from here on are owned whole.
        let whole = |axis: &usize| self.runs[*axis] == [(0, self.shape[*axis])];
        let cut = (0..self.shape.len()).rev().find(|axis| !whole(axis));
        let Some(cut) = cut else { return f(0, self.shape.iter().product()) };
        self.walk(0, 0, cut, f)
    }

    fn walk<E>(
        &self,
        axis: usize,
        before: usize,
        cut: usize,
        f: &mut dyn FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let inner: usize = self.shape[axis + 1..].iter().product();
        for (start, count) in &self.runs[axis] {
            if axis == cut {
                f(before + start * inner, count * inner)?;
                continue;
            }
            for index in *start..start + count {
                self.walk(axis + 1, before + index * inner, cut, f)?;
            }
        }
        Ok(())
    }
}

/// The indices that a coordinate owns along an axis, in local order.
fn axis_runs(map: &AxisMap, coordinate: usize) -> Vec<(usize, usize)> {
    if matches!(map.cut(), Cut::Block(_)) && map.view().is_none() && !map.is_periodic() {
        let (from, to) = map.owned(coordinate);
        return if from < to { vec![(from, to - from)] } else { Vec::new() };
    }
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for local in 0..map.local_length(coordinate) {
        let Some((index, _)) = map.global(coordinate, local) else { continue };
        match runs.last_mut() {
            Some((start, count)) if *start + *count == index => *count += 1,
            _ => runs.push((index, 1)),
        }
    }
    runs
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;

    /// The elements of every rank, one by one, by asking for every element who owns it.
    fn check(text: &str, ranks: usize) {
        let home: Distribution = text.parse().unwrap();
        let mut owned = vec![0; home.size()];
        for rank in 0..ranks {
            let Some(share) = Share::of(&home, rank) else { continue };
            let mut listed = Vec::new();
            let each = &mut |start: usize, count: usize| {
                listed.extend(start..start + count);
                Ok::<(), ()>(())
            };
            share.stretches(each).unwrap();
            assert_eq!(listed.len(), share.len(), "{text}");
            for (local, number) in listed.iter().enumerate() {
                assert_eq!(share.local(*number), Some(local), "{text}, rank {rank}");
                let mut index = Vec::new();
                let mut rest = *number;
                for length in home.shape().iter().rev() {
                    index.insert(0, rest % length);
                    rest /= length;
                }
                let holders = home.holders(&index);
                assert!(holders.iter().any(|holder| holder.rank == rank), "{text}: {number}");
                owned[*number] += usize::from(share.is_first());
            }
            let other = (0..home.size()).find(|number| !listed.contains(number));
            assert!(other.is_none_or(|number| share.local(number).is_none()));
        }
        assert!(owned.iter().all(|count| *count == 1), "{text}: {owned:?}");
    }

    #[test]
    fn every_element_has_one_first_owner() {
        check("7x5 on x=2, y=2: block(x), block(y)", 4);
        check("7x5 on r=3: block(r), whole", 3);
        check("7x5 on r=3: whole, cyclic(r, 2)", 3);
        check("7x5x3 on x=2, y=2: cyclic(y, 1), whole, block(x)", 4);
        check("4x3 on r=3: whole, whole", 3);
        check("2x3 on r=4: block(r), whole", 4);
        check("8 on r=2: indexed(r, [0 3 5] [1 2 4 6 7])", 2);
        check("4 on r=2: block(r) of 8 from 7 by -2", 2);
        check("6 on r=2 team [2 0]: block(r)", 3);
        check("0x3 on r=2: block(r), whole", 2);
    }

    #[test]
    fn scalars_are_one_element_of_the_first_rank() {
        let home = Distribution::copies(&[], pantile_geometry::Mesh::line(3).unwrap()).unwrap();
        for rank in 0..3 {
            let share = Share::of(&home, rank).unwrap();
            assert_eq!((share.len(), share.local(0), share.is_first()), (1, Some(0), rank == 0));
        }
        assert_eq!(Share::of(&home, 3), None);
    }

    #[test]
    fn whole_rows_are_one_stretch() {
        let home: Distribution = "6x4x2 on r=2: block(r), whole, whole".parse().unwrap();
        let mut list = Vec::new();
        let share = Share::of(&home, 1).unwrap();
        share
            .stretches(&mut |start, count| {
                list.push((start, count));
                Ok::<(), ()>(())
            })
            .unwrap();
        assert_eq!(list, [(24, 24)]);
        assert_eq!(share.reversed().local_shape(), [2, 4, 3]);
    }
}
