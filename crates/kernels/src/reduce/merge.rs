//! Cells of parts of the elements, made those of all.

use bytemuck::Pod;

use super::LaneFold;
use super::fold::whole;
use super::rounded::write_rounded;
use crate::combine::{Apply, Visitor};
use crate::{Combination, DType, Error, ExactSum};

impl LaneFold {
    /// How parts of the elements are folded, each into cells of its own, for [`merge`](Self::merge)
    /// to make them those of all. None if the result depends on the order of the elements.
    #[must_use]
    pub fn of_parts(self) -> Option<Self> {
        match self {
            Self::Rounded { .. } => Some(Self::Sum),
            Self::Plain => None,
            other => Some(other),
        }
    }

    /// Merges cells of a part, folded as [`of_parts`](Self::of_parts) says, into as many cells. In
    /// which order parts are merged does not matter, and neither does what the parts are. Cells of
    /// [`Rounded`](Self::Rounded) are written, so their part is all that there is.
    ///
    /// # Errors
    /// If there is no such fold of that type, or it cannot be merged; if the bytes are not whole
    /// cells, or not equally many. Nothing was written then.
    pub fn merge(self, dtype: DType, cells: &mut [u8], part: &[u8]) -> Result<(), Error> {
        let cell = self.cell(dtype)?;
        let Some(parts) = self.of_parts() else {
            return Err(Error::Unsupported { operator: cell.operator, dtype });
        };
        let each = parts.cell(dtype)?;
        let (got, expected) = (whole(part.len(), each)?, whole(cells.len(), cell)?);
        if got != expected {
            return Err(Error::Counts { what: "cells", got, expected });
        }
        let pairs = cells.chunks_exact_mut(cell.bytes()).zip(part.chunks_exact(each.bytes()));
        match self {
            Self::Rounded { count } => pairs.for_each(|(cell, part)| {
                write_rounded(&ExactSum::read_few(&words(part)), (dtype, count), cell);
            }),
            _ if each.elements > 1 => pairs.for_each(|(cell, part)| {
                let mut sum = ExactSum::read_few(&words(cell));
                sum.merge(&ExactSum::read_few(&words(part)));
                let mut merged = [0; ExactSum::WORDS];
                sum.write(&mut merged);
                cell.copy_from_slice(bytemuck::cast_slice(&merged));
            }),
            _ => Combination::new(cell.dtype, cell.operator)?.visit(Merge { cells, part }),
        }
        Ok(())
    }
}

/// The words of a sum, wherever they lie.
fn words(bytes: &[u8]) -> [i64; ExactSum::WORDS] {
    let mut words = [0; ExactSum::WORDS];
    bytemuck::cast_slice_mut(&mut words).copy_from_slice(bytes);
    words
}

/// Cells of one element each.
struct Merge<'a> {
    cells: &'a mut [u8],
    part: &'a [u8],
}

impl Visitor for Merge<'_> {
    type Output = ();

    fn visit<T: Pod, O: Apply<T>>(self) {
        let pairs = self.cells.chunks_exact_mut(size_of::<T>());
        for (cell, part) in pairs.zip(self.part.chunks_exact(size_of::<T>())) {
            let (one, other) =
                (bytemuck::pod_read_unaligned(cell), bytemuck::pod_read_unaligned(part));
            cell.copy_from_slice(bytemuck::bytes_of(&O::apply(one, other)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fold: LaneFold, dtype: DType, cells: &[u8], part: &[u8]) -> Result<Vec<u8>, Error> {
        let mut merged = cells.to_vec();
        fold.merge(dtype, &mut merged, part)?;
        Ok(merged)
    }

    fn sum_of(numbers: &[f64]) -> Vec<u8> {
        let (mut sum, mut words) = (ExactSum::new(), [0; ExactSum::WORDS]);
        sum.add_slice_f64(numbers);
        sum.write(&mut words);
        bytemuck::cast_slice(&words).to_vec()
    }

    #[test]
    fn parts_become_all() {
        let (one, other) = (sum_of(&[1e300, 1.0]), sum_of(&[-1e300, 2.5, -4.0]));
        let all = check(LaneFold::Sum, DType::F64, &one, &other);
        assert_eq!(all, Ok(sum_of(&[-0.5])), "the words are those of one sum");
        let mean = check(LaneFold::Rounded { count: 4 }, DType::F64, &[7; 8], &sum_of(&[1.0, 2.0]));
        assert_eq!(mean, Ok(0.75_f64.to_ne_bytes().to_vec()));
        let sum = check(LaneFold::Rounded { count: 1 }, DType::F32, &[7; 4], &sum_of(&[1.0, 2.0]));
        assert_eq!(sum, Ok(3_f32.to_ne_bytes().to_vec()));
        assert_eq!(check(LaneFold::Sum, DType::U8, &[250, 1], &[10, 2]), Ok(vec![4, 3]));
        assert_eq!(check(LaneFold::Prod, DType::U8, &[3, 1], &[10, 2]), Ok(vec![30, 2]));
        assert_eq!(check(LaneFold::Max, DType::I8, &[0xFF], &[3]), Ok(vec![3]));
        assert_eq!(check(LaneFold::All, DType::Bool, &[1, 1], &[1, 0]), Ok(vec![1, 0]));
        assert_eq!(check(LaneFold::Any, DType::Bool, &[0, 1], &[0, 0]), Ok(vec![0, 1]));
        let counts = [3_i64, 4].map(i64::to_ne_bytes);
        let count = check(LaneFold::Count, DType::Bool, &counts[0], &counts[1]);
        assert_eq!(count, Ok(7_i64.to_ne_bytes().to_vec()));
    }

    #[test]
    fn what_cannot_be_merged_is_refused() {
        assert_eq!(LaneFold::Plain.of_parts(), None);
        let plain = check(LaneFold::Plain, DType::F64, &[0; 8], &[0; 8]);
        assert!(matches!(plain, Err(Error::Unsupported { .. })), "{plain:?}");
        let fewer = check(LaneFold::Sum, DType::U8, &[0; 3], &[0; 2]);
        assert_eq!(fewer, Err(Error::Counts { what: "cells", got: 2, expected: 3 }));
        assert!(check(LaneFold::Sum, DType::U16, &[0; 3], &[0; 3]).is_err(), "not whole");
    }
}
