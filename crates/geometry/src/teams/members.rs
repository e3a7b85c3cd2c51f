//! The ordered list of a team's world ranks, without a list where a range will do.

use std::ops::Range;

/// World ranks in team order, without repeats.
///
/// Normal form: consecutive ascending ranks are always a `Range`, so equality is equality of lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Members {
    /// Consecutive ascending ranks.
    Range(Range<usize>),
    /// Any other order; `sorted` holds (world rank, rank) ascending, to look ranks up.
    List { ranks: Vec<usize>, sorted: Vec<(usize, usize)> },
}

impl Members {
    /// Takes the ranks as they are listed.
    ///
    /// # Errors
    /// The first (lowest) rank that is listed twice.
    pub(super) fn new(ranks: Vec<usize>) -> Result<Self, usize> {
        if let Some(&first) = ranks.first()
            && ranks.iter().enumerate().all(|(offset, rank)| *rank == first + offset)
        {
            return Ok(Self::Range(first..first + ranks.len()));
        }
        let mut sorted: Vec<_> = ranks.iter().enumerate().map(|(at, rank)| (*rank, at)).collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(pair[0].0),
            None => Ok(Self::List { ranks, sorted }),
        }
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Range(range) => range.len(),
            Self::List { ranks, .. } => ranks.len(),
        }
    }

    /// The world rank at a position below `len`.
    pub(super) fn get(&self, rank: usize) -> Option<usize> {
        match self {
            Self::Range(range) => (rank < range.len()).then(|| range.start + rank),
            Self::List { ranks, .. } => ranks.get(rank).copied(),
        }
    }

    /// The position of a world rank.
    pub(super) fn position(&self, world_rank: usize) -> Option<usize> {
        match self {
            Self::Range(range) => range.contains(&world_rank).then(|| world_rank - range.start),
            Self::List { sorted, .. } => {
                let at = sorted.binary_search_by_key(&world_rank, |entry| entry.0).ok()?;
                Some(sorted[at].1)
            }
        }
    }

    /// All world ranks in team order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter_map(|rank| self.get(rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_ranks_are_a_range() {
        assert_eq!(Members::new(vec![3, 4, 5]), Ok(Members::Range(3..6)));
        assert!(matches!(Members::new(vec![4, 3]), Ok(Members::List { .. })));
        assert_eq!(Members::new(vec![4, 7, 4]), Err(4));
    }

    #[test]
    fn positions_are_found_in_any_order() {
        for ranks in [vec![9, 2, 5], vec![5, 6, 7]] {
            let members = Members::new(ranks.clone()).unwrap();
            assert_eq!(members.iter().collect::<Vec<_>>(), ranks);
            for (at, rank) in ranks.iter().enumerate() {
                assert_eq!(members.position(*rank), Some(at));
            }
            assert_eq!((members.position(4), members.get(3)), (None, None));
        }
    }
}
