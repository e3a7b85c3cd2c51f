//! Where a block axis is cut: closed formulas, or explicit cuts.

use std::sync::Arc;

/// How an axis of length `n` is cut into contiguous parts; parts may be empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cuts {
    /// Equal parts, the remainder on the first ones: 10 over 4 is 3 3 2 2.
    Balanced,
    /// Equal parts, the remainder on the last ones: 10 over 4 is 2 2 3 3.
    RemainderLast,
    /// Parts of `ceil(n / parts)` until the axis ends: 10 over 4 is 3 3 3 1.
    Ceil,
    /// Part `c` is `cuts[c]..cuts[c + 1]`; ascending from 0 to `n`.
    At(Arc<[usize]>),
}

impl Cuts {
    /// The start of part `part` of an axis of length `length` cut into `parts`.
    /// `part == parts` gives the end of the axis.
    #[must_use]
    pub fn start(&self, length: usize, parts: usize, part: usize) -> usize {
        let (quotient, remainder) = (length / parts, length % parts);
        match self {
            Self::Balanced => part * quotient + part.min(remainder),
            Self::RemainderLast => part * quotient + (part + remainder).saturating_sub(parts),
            Self::Ceil => length.min(part * length.div_ceil(parts)),
            Self::At(cuts) => cuts[part],
        }
    }

    /// Part `part` as a half-open range.
    #[must_use]
    pub fn part(&self, length: usize, parts: usize, part: usize) -> (usize, usize) {
        (self.start(length, parts, part), self.start(length, parts, part + 1))
    }

    /// The part that contains `index`.
    #[must_use]
    pub fn part_of(&self, length: usize, parts: usize, index: usize) -> usize {
        debug_assert!(index < length, "index {index} is beyond the axis of length {length}");
        let (quotient, remainder) = (length / parts, length % parts);
        match self {
            Self::Balanced => {
                let bulge = remainder * (quotient + 1);
                if index < bulge {
                    index / (quotient + 1)
                } else {
                    remainder + (index - bulge) / quotient
                }
            }
            Self::RemainderLast => {
                let flat = (parts - remainder) * quotient;
                if index < flat {
                    index / quotient
                } else {
                    parts - remainder + (index - flat) / (quotient + 1)
                }
            }
            Self::Ceil => index / length.div_ceil(parts),
            Self::At(cuts) => cuts.partition_point(|cut| *cut <= index) - 1,
        }
    }

    /// The same cuts in the simplest spelling: a formula if one says the same.
    #[must_use]
    pub(crate) fn normal(&self, length: usize, parts: usize) -> Self {
        let (quotient, remainder) = (length / parts, length % parts);
        match self {
            Self::RemainderLast if remainder == 0 => Self::Balanced,
            Self::Ceil if remainder == 0 || parts - remainder == 1 || quotient == 0 => {
                Self::Balanced
            }
            Self::At(cuts) => [Self::Balanced, Self::RemainderLast, Self::Ceil]
                .into_iter()
                .find(|rule| (0..=parts).all(|part| rule.start(length, parts, part) == cuts[part]))
                .unwrap_or_else(|| self.clone()),
            rule => rule.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(cuts: &Cuts, length: usize, parts: usize) -> Vec<usize> {
        (0..parts)
            .map(|part| cuts.part(length, parts, part))
            .map(|(start, stop)| stop - start)
            .collect()
    }

    #[test]
    fn the_three_rules_differ_by_the_remainder() {
        assert_eq!(sizes(&Cuts::Balanced, 10, 4), [3, 3, 2, 2]);
        assert_eq!(sizes(&Cuts::RemainderLast, 10, 4), [2, 2, 3, 3]);
        assert_eq!(sizes(&Cuts::Ceil, 10, 4), [3, 3, 3, 1]);
        assert_eq!(sizes(&Cuts::Ceil, 9, 7), [2, 2, 2, 2, 1, 0, 0]);
        for (length, parts, want) in [
            (10, 3, vec![4, 3, 3]),
            (7, 3, vec![3, 2, 2]),
            (3, 4, vec![1, 1, 1, 0]),
            (77, 4, vec![20, 19, 19, 19]),
            (55, 4, vec![14, 14, 14, 13]),
            (50, 3, vec![17, 17, 16]),
        ] {
            assert_eq!(sizes(&Cuts::Balanced, length, parts), want);
        }
    }

    #[test]
    fn part_of_inverts_part_and_normal_keeps_the_parts() {
        for length in 0..20 {
            for parts in 1..9 {
                for cuts in [Cuts::Balanced, Cuts::RemainderLast, Cuts::Ceil] {
                    let list: Vec<usize> =
                        (0..=parts).map(|part| cuts.start(length, parts, part)).collect();
                    assert_eq!((list[0], list[parts]), (0, length));
                    let explicit = Cuts::At(list.into());
                    assert_eq!(explicit.normal(length, parts), cuts.normal(length, parts));
                    for index in 0..length {
                        for rule in [&cuts, &explicit] {
                            let part = rule.part_of(length, parts, index);
                            let (start, stop) = rule.part(length, parts, part);
                            assert!(start <= index && index < stop);
                        }
                    }
                }
            }
        }
    }
}
