//! The loops over a domain: their order, and where each operand is in every row.

use std::ops::Range;

use crate::Error;

/// A last axis shorter than this changes places with a much longer one.
pub(crate) const SHORT: usize = 16;

/// Loops over a domain for several operands, each of which is at a place that moves by a step
/// along every axis. Places of memory are elements; places of an index are its values.
///
/// Invariants:
/// 1. `steps` has `axes` entries per operand, `starts` and `weighs` have one.
/// 2. `order` lists the axes that are looped over, outermost first; others have one position. Its
///    first `kept` axes move the operand that the loops were arranged for, if there is one; of the
///    others only the last may.
/// 3. `at` are the places of the row's first element.
#[derive(Clone, Debug, Default)]
pub(crate) struct DomainWalk {
    axes: usize,
    extents: Vec<usize>,
    steps: Vec<i64>,
    starts: Vec<i64>,
    /// True for memory, whose steps decide the order of the loops.
    weighs: Vec<bool>,
    order: Vec<usize>,
    kept: usize,
    position: Vec<usize>,
    at: Vec<i64>,
}

impl DomainWalk {
    /// Begins a new domain without operands.
    pub(crate) fn over(&mut self, shape: &[usize]) {
        self.axes = shape.len();
        self.extents.clear();
        self.extents.extend_from_slice(shape);
        self.steps.clear();
        self.starts.clear();
        self.weighs.clear();
    }

    /// Adds an operand; `weighs` is true for memory.
    ///
    /// # Errors
    /// If it has not one step per axis.
    pub(crate) fn operand(
        &mut self,
        start: i64,
        steps: impl ExactSizeIterator<Item = i64>,
        weighs: bool,
    ) -> Result<(), Error> {
        if steps.len() != self.axes {
            return Err(Error::Counts { what: "strides", got: steps.len(), expected: self.axes });
        }
        self.steps.extend(steps);
        self.starts.push(start);
        self.weighs.push(weighs);
        Ok(())
    }

    /// The lowest and highest place that an operand reaches; the domain is not empty.
    pub(crate) fn reach(&self, operand: usize) -> (i128, i128) {
        let start = i128::from(self.starts[operand]);
        let (mut lowest, mut highest) = (start, start);
        for (axis, extent) in self.extents.iter().enumerate() {
            let last = i128::from(self.step(operand, axis)) * (*extent as i128 - 1);
            lowest += last.min(0);
            highest += last.max(0);
        }
        (lowest, highest)
    }

    /// Orders and joins the loops: memory in its own order, rows as long as possible.
    pub(crate) fn arrange(&mut self) {
        self.order.clear();
        self.order.extend((0..self.axes).filter(|axis| self.extents[*axis] != 1));
        for end in 1..self.order.len() {
            let mut place = end;
            while place > 0 && self.weight(self.order[place - 1]) < self.weight(self.order[place]) {
                self.order.swap(place - 1, place);
                place -= 1;
            }
        }
        self.join();
        self.lengthen();
        self.kept = 0;
        self.position.clear();
        self.position.resize(self.axes, 0);
        self.at.clone_from(&self.starts);
    }

    /// The same, with the loops that move an operand outside of those that do not.
    pub(crate) fn arrange_for(&mut self, operand: usize) {
        self.arrange();
        let outer = self.order.len().saturating_sub(1);
        for place in 0..outer {
            if self.step(operand, self.order[place]) != 0 {
                self.order[self.kept..=place].rotate_right(1);
                self.kept += 1;
            }
        }
    }

    /// How far memory moves along an axis, over all operands.
    fn weight(&self, axis: usize) -> u128 {
        let memory = (0..self.starts.len()).filter(|operand| self.weighs[*operand]);
        memory.map(|operand| u128::from(self.step(operand, axis).unsigned_abs())).sum()
    }

    /// Makes one loop of two where all operands go on as if they were one.
    fn join(&mut self) {
        for place in (1..self.order.len()).rev() {
            let (outer, inner) = (self.order[place - 1], self.order[place]);
            let extent = self.extents[inner];
            let goes_on = (0..self.starts.len()).all(|operand| {
                let along = i128::from(self.step(operand, inner)) * extent as i128;
                i128::from(self.step(operand, outer)) == along
            });
            let joint = extent.checked_mul(self.extents[outer]);
            if let (true, Some(joint)) = (goes_on, joint) {
                self.extents[inner] = joint;
                self.extents[outer] = 1;
                self.order.remove(place - 1);
            }
        }
    }

    /// Makes a much longer axis the last one if that is very short.
    fn lengthen(&mut self) {
        let Some(last) = self.order.last() else { return };
        let short = self.extents[*last];
        let longest = (0..self.order.len()).max_by_key(|place| self.extents[self.order[*place]]);
        if let Some(place) = longest
            && short < SHORT
            && self.extents[self.order[place]] >= 4 * short
        {
            let axis = self.order.remove(place);
            self.order.push(axis);
        }
    }

    fn step(&self, operand: usize, axis: usize) -> i64 {
        self.steps[operand * self.axes + axis]
    }

    /// Whether two operands move alike from one position to the next.
    pub(crate) fn moves_alike(&self, one: usize, other: usize) -> bool {
        self.order.iter().all(|axis| self.step(one, *axis) == self.step(other, *axis))
    }

    /// Elements of the domain; it was checked to lie in memory.
    pub(crate) fn elements(&self) -> usize {
        self.order.iter().map(|axis| self.extents[*axis]).fold(1, usize::saturating_mul)
    }

    /// Elements of a row.
    pub(crate) fn row(&self) -> usize {
        self.order.last().map_or(1, |axis| self.extents[*axis])
    }

    /// How an operand moves along a row.
    pub(crate) fn stride(&self, operand: usize) -> i64 {
        self.order.last().map_or(0, |axis| self.step(operand, *axis))
    }

    /// Where an operand is at an element of the row.
    pub(crate) fn place(&self, operand: usize, element: usize) -> i64 {
        // Indices wrap; places of memory were checked.
        let along = self.stride(operand).wrapping_mul(element as i64);
        self.at[operand].wrapping_add(along)
    }

    /// The same two of an operand that is memory, or cells, as offsets.
    pub(crate) fn offsets(&self, operand: usize, element: usize) -> (isize, isize) {
        #[allow(clippy::cast_possible_truncation, reason = "checked to lie inside of memory")]
        let offset = |place: i64| place as isize;
        (offset(self.place(operand, element)), offset(self.stride(operand)))
    }

    /// Goes to the next row; false after the last one, and it is at the first one again.
    pub(crate) fn advance(&mut self) -> bool {
        self.step_axes(0..self.order.len().saturating_sub(1))
    }

    /// Goes to the next row for which the operand that the loops were arranged for is moved.
    pub(crate) fn advance_kept(&mut self) -> bool {
        self.step_axes(0..self.kept)
    }

    /// Goes to the next row for which that operand stays; false after the last one, and it is at
    /// the first one again.
    pub(crate) fn advance_folded(&mut self) -> bool {
        self.step_axes(self.kept..self.order.len().saturating_sub(1))
    }

    /// Rows that follow each other along the innermost loop for which that operand stays, from
    /// this one on; none if there is no such loop.
    pub(crate) fn folded_rows(&self) -> Option<usize> {
        let axis = self.outside()?;
        (self.kept + 1 < self.order.len()).then(|| self.extents[axis] - self.position[axis])
    }

    /// The same for loops for which that operand is moved, if there are no others.
    pub(crate) fn kept_rows(&self) -> Option<usize> {
        let axis = self.outside()?;
        (self.kept + 1 == self.order.len()).then(|| self.extents[axis] - self.position[axis])
    }

    /// Rows that follow each other along the innermost loop of rows, from this one on.
    pub(crate) fn rows_left(&self) -> usize {
        self.outside().map_or(1, |axis| self.extents[axis] - self.position[axis])
    }

    /// How far an operand goes from one row to the next along the innermost loop of rows.
    pub(crate) fn row_step(&self, operand: usize) -> i64 {
        self.outside().map_or(0, |axis| self.step(operand, axis))
    }

    /// Goes on by so many of these rows, at most all but one: the last is left by
    /// [`advance_folded`](Self::advance_folded) or [`advance_kept`](Self::advance_kept).
    pub(crate) fn skip_rows(&mut self, rows: usize) {
        let Some(axis) = self.outside() else { return };
        self.position[axis] += rows;
        for (operand, at) in self.at.iter_mut().enumerate() {
            let step = self.steps[operand * self.axes + axis];
            *at = at.wrapping_add(step.wrapping_mul(rows as i64));
        }
    }

    /// The axis of the innermost loop of rows.
    fn outside(&self) -> Option<usize> {
        self.order.len().checked_sub(2).map(|place| self.order[place])
    }

    fn step_axes(&mut self, places: Range<usize>) -> bool {
        for place in places.rev() {
            let axis = self.order[place];
            self.position[axis] += 1;
            let more = self.position[axis] < self.extents[axis];
            for (operand, at) in self.at.iter_mut().enumerate() {
                let step = self.steps[operand * self.axes + axis];
                let back = step.wrapping_mul(self.extents[axis] as i64 - 1);
                *at = if more { at.wrapping_add(step) } else { at.wrapping_sub(back) };
            }
            if more {
                return true;
            }
            self.position[axis] = 0;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All places of the operands, row by row, and the length of rows.
    fn places(shape: &[usize], operands: &[(i64, &[i64])]) -> (Vec<Vec<i64>>, usize) {
        let mut walk = DomainWalk::default();
        walk.over(shape);
        for (start, steps) in operands {
            walk.operand(*start, steps.iter().copied(), true).unwrap();
        }
        walk.arrange();
        let mut found = Vec::new();
        loop {
            for element in 0..walk.row() {
                found.push((0..operands.len()).map(|o| walk.place(o, element)).collect());
            }
            if !walk.advance() {
                return (found, walk.row());
            }
        }
    }

    fn check(shape: &[usize], operands: &[(i64, &[i64])], row: usize) {
        let (mut found, got) = places(shape, operands);
        assert_eq!(got, row);
        let mut expected = vec![operands.iter().map(|(start, _)| *start).collect::<Vec<i64>>()];
        for (axis, extent) in shape.iter().enumerate() {
            let longer = expected.iter().flat_map(|places| {
                (0..*extent as i64).map(move |at| {
                    let moved = places.iter().zip(operands);
                    moved.map(|(place, (_, steps))| place + at * steps[axis]).collect()
                })
            });
            expected = longer.collect();
        }
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn rows_are_long_and_meet_everything_once() {
        check(&[], &[(3, &[])], 1);
        check(&[1, 1], &[(3, &[7, 7])], 1);
        check(&[2, 3, 4], &[(0, &[12, 4, 1]), (5, &[12, 4, 1])], 24);
        check(&[2, 3, 4], &[(0, &[12, 4, 1]), (5, &[20, 5, 1])], 4);
        check(&[4, 3, 20], &[(0, &[1, 4, 12])], 240);
        check(&[4, 3], &[(11, &[-3, -1]), (0, &[3, 1])], 12);
        check(&[100, 3], &[(0, &[5, 1])], 100);
        check(&[30, 20], &[(0, &[0, 1]), (0, &[20, 1])], 20);
        check(&[5, 1, 20], &[(0, &[20, 99, 1]), (0, &[0, 0, 0])], 100);
    }
}
