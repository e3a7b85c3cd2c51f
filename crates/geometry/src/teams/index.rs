//! Row-major positions restricted to some of the axes.

use crate::mesh::unflatten;

/// The row-major position over the axes where `chosen` is set, in axis order.
pub(super) fn flatten_chosen(shape: &[usize], index: &[usize], chosen: &[bool]) -> usize {
    let mut position = 0;
    for ((extent, coordinate), chosen) in shape.iter().zip(index).zip(chosen) {
        if *chosen {
            position = position * extent + coordinate;
        }
    }
    position
}

/// The extents where `chosen` is set, in axis order.
pub(super) fn chosen_extents(shape: &[usize], chosen: &[bool]) -> Vec<usize> {
    shape.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(extent, _)| *extent).collect()
}

/// The ranks, ascending, of all grid points whose coordinates on the `fixed` axes have the
/// row-major position `position` (taken over those axes).
pub(super) fn line(shape: &[usize], fixed: &[bool], position: usize) -> Vec<usize> {
    let fixed_index = unflatten(position, &chosen_extents(shape, fixed));
    let mut ranks = vec![0];
    let mut next_fixed = fixed_index.into_iter();
    for (extent, fixed) in shape.iter().zip(fixed) {
        let coordinates = if *fixed {
            let at = next_fixed.next().unwrap_or_default();
            at..at + 1
        } else {
            0..*extent
        };
        ranks = ranks
            .iter()
            .flat_map(|rank| coordinates.clone().map(move |coordinate| rank * extent + coordinate))
            .collect();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_ascend_and_keep_the_fixed_coordinates() {
        let check = |fixed: [bool; 3], position: usize, expected: &[usize]| {
            assert_eq!(line(&[2, 3, 2], &fixed, position), expected);
        };
        check([true, false, true], 0, &[0, 2, 4]);
        check([true, false, true], 3, &[7, 9, 11]);
        check([false, true, false], 1, &[2, 3, 8, 9]);
        check([true, true, true], 5, &[5]);
        check([false, false, false], 0, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(flatten_chosen(&[2, 3, 2], &[1, 2, 0], &[true, false, true]), 2);
    }
}
