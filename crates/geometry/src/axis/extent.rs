//! Which interval each coordinate of a block axis holds, or has room for.

use std::sync::Arc;

/// An interval per coordinate, in positions of the base axis.
///
/// Positions outside `0..n` exist on periodic axes only: position `p` is element `p mod n` with
/// lift `floor(p / n)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Extent {
    /// Exactly the owned part.
    Owned,
    /// The owned part widened (or, if negative, narrowed) on both sides; cut off at the ends of
    /// an axis that is not periodic. Coordinates that own nothing get no halo.
    Halo {
        /// Width on the low side.
        before: i64,
        /// Width on the high side.
        after: i64,
    },
    /// One interval per coordinate.
    Each(Arc<[(i64, i64)]>),
}

impl Extent {
    /// The interval of a coordinate that owns `owned` of an axis of length `length`.
    pub(crate) fn interval(
        &self,
        coordinate: usize,
        owned: (i64, i64),
        length: i64,
        periodic: bool,
    ) -> (i64, i64) {
        match self {
            Self::Owned => owned,
            Self::Each(list) => list[coordinate],
            Self::Halo { .. } if owned.0 == owned.1 => owned,
            Self::Halo { before, after } => {
                let (mut low, mut high) = (owned.0 - before, owned.1 + after);
                if !periodic {
                    (low, high) = (low.clamp(0, length), high.clamp(0, length));
                }
                if low < high { (low, high) } else { (owned.0, owned.0) }
            }
        }
    }

    /// How far beyond its owned part any coordinate may reach, before and after;
    /// `None` if only looking at every coordinate can tell.
    pub(crate) fn reach(&self) -> Option<(i64, i64)> {
        match self {
            Self::Owned => Some((0, 0)),
            Self::Halo { before, after } => Some(((*before).max(0), (*after).max(0))),
            Self::Each(_) => None,
        }
    }
}
