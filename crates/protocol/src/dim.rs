//! One dimension of one rank's description, typed.

use crate::{Code, Finding, Kind, Object};

/// Where a rank stands on an axis, and how long the axis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Global extent: boundary padding counts, communication padding does not.
    pub size: i64,
    /// Number of grid places along the axis.
    pub grid_size: i64,
    /// The rank's place among them.
    pub grid_rank: i64,
}

/// A contiguous part of an axis: what is *available* here, padding included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    /// First available global index.
    pub start: i64,
    /// One past the last available global index.
    pub stop: i64,
    /// Widths of the left and right padding, both inside `start..stop`.
    pub padding: (i64, i64),
    /// Whether the axis closes on itself; changes nothing in who owns what.
    pub periodic: bool,
}

/// How the axis is dealt to its grid places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DimKind {
    /// `b`: one contiguous part per place.
    Block(Block),
    /// `c`: blocks of `block_size` dealt in turn.
    Cyclic {
        /// First global index here (or the size, if there is none).
        start: i64,
        /// Length of a block.
        block_size: i64,
    },
    /// `u`: any labels.
    Indexed {
        /// The global labels in local order.
        indices: Vec<i64>,
        /// Whether every label is promised to be in one place only.
        one_to_one: bool,
    },
}

/// A dimension dictionary whose values have the right types and signs.
///
/// Invariants: D1 `size >= 0`. D2 `0 <= grid_rank < grid_size`. D3 padding widths and block size
/// are at least 0 and 1. Whether `start`, `stop` and the widths fit each other and the other ranks
/// is what [`crate::validate`] and [`crate::across`] say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dim {
    place: Place,
    kind: DimKind,
}

impl Dim {
    /// A dimension.
    ///
    /// # Errors
    /// The finding for the invariant that does not hold.
    pub fn new(place: Place, kind: DimKind) -> Result<Self, Finding> {
        let Place { size, grid_size, grid_rank } = place;
        if size < 0 {
            return Err(Finding::new(Code::SizeNeg, format!("size is {size}")));
        }
        if grid_size < 1 {
            return Err(Finding::new(Code::GridSize, format!("grid size is {grid_size}")));
        }
        if !(0..grid_size).contains(&grid_rank) {
            let message = format!("grid rank is {grid_rank}, expected one of 0..{grid_size}");
            return Err(Finding::new(Code::GridRank, message));
        }
        match &kind {
            DimKind::Block(block) if block.padding.0 < 0 || block.padding.1 < 0 => {
                Err(Finding::new(Code::PaddingNeg, format!("padding is {:?}", block.padding)))
            }
            DimKind::Cyclic { block_size, .. } if *block_size < 1 => {
                Err(Finding::new(Code::BlockSize, format!("block size is {block_size}")))
            }
            _ => Ok(Self { place, kind }),
        }
    }

    /// A dimension on one place, all of it there: what the empty dictionary stands for.
    ///
    /// A negative extent counts as 0.
    #[must_use]
    pub fn whole(size: i64) -> Self {
        let size = size.max(0);
        let block = Block { start: 0, stop: size, padding: (0, 0), periodic: false };
        let place = Place { size, grid_size: 1, grid_rank: 0 };
        Self { place, kind: DimKind::Block(block) }
    }

    /// Where the rank stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Global extent.
    #[must_use]
    pub fn size(&self) -> i64 {
        self.place.size
    }

    /// How the axis is dealt.
    #[must_use]
    pub fn kind(&self) -> &DimKind {
        &self.kind
    }

    /// The block, if it is one.
    #[must_use]
    pub fn as_block(&self) -> Option<Block> {
        if let DimKind::Block(block) = self.kind { Some(block) } else { None }
    }

    /// The letter of the kind: `b`, `c` or `u`.
    #[must_use]
    pub fn letter(&self) -> &'static str {
        match self.kind {
            DimKind::Block(_) => "b",
            DimKind::Cyclic { .. } => "c",
            DimKind::Indexed { .. } => "u",
        }
    }

    /// The strict dictionary: every required key, optional keys only where they are not the
    /// default, in the order that the reference library writes.
    #[must_use]
    pub fn to_object(&self) -> Object {
        let Place { size, grid_size, grid_rank } = self.place;
        let mut dict = Object::dict([
            ("dist_type", self.letter().into()),
            ("size", size.into()),
            ("proc_grid_rank", grid_rank.into()),
            ("proc_grid_size", grid_size.into()),
        ]);
        match &self.kind {
            DimKind::Block(block) => {
                dict.set("start", block.start.into());
                dict.set("stop", block.stop.into());
                if block.padding != (0, 0) {
                    let (left, right) = block.padding;
                    dict.set("padding", Object::tuple([left.into(), right.into()]));
                }
                if block.periodic {
                    dict.set("periodic", true.into());
                }
            }
            DimKind::Cyclic { start, block_size } => {
                dict.set("start", (*start).into());
                if *block_size != 1 {
                    dict.set("block_size", (*block_size).into());
                }
            }
            DimKind::Indexed { indices, one_to_one } => {
                dict.set("indices", Kind::Indices(indices.clone()).into());
                if *one_to_one {
                    dict.set("one_to_one", true.into());
                }
            }
        }
        dict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invariants_are_kept() {
        let place = Place { size: 5, grid_size: 2, grid_rank: 1 };
        let cyclic = |block_size| DimKind::Cyclic { start: 1, block_size };
        let code = |place, kind| Dim::new(place, kind).unwrap_err().code;
        assert!(Dim::new(place, cyclic(1)).is_ok());
        assert_eq!(code(place, cyclic(0)), Code::BlockSize);
        assert_eq!(code(Place { size: -1, ..place }, cyclic(1)), Code::SizeNeg);
        assert_eq!(code(Place { grid_size: 0, ..place }, cyclic(1)), Code::GridSize);
        assert_eq!(code(Place { grid_rank: 2, ..place }, cyclic(1)), Code::GridRank);
        let block = Block { start: 0, stop: 2, padding: (0, -1), periodic: false };
        assert_eq!(code(place, DimKind::Block(block)), Code::PaddingNeg);
    }
}
