//! What can be wrong with a slice, a range or a set of parts.

use std::fmt;
use std::ops::Range;

/// Why an index function cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SliceError {
    /// Strides are positive.
    ZeroStride,
    /// A number is above the limit up to which the arithmetic is exact.
    TooLarge {
        /// What was given.
        got: usize,
        /// The largest that is accepted.
        limit: usize,
    },
    /// A range ends before it starts.
    Reversed {
        /// What was given.
        range: Range<usize>,
    },
    /// A member is not below the number of members, or there are none.
    MemberOutOfRange {
        /// What was given.
        member: usize,
        /// The number of members.
        members: usize,
    },
    /// Two lists that go axis by axis (or member by member) have different lengths.
    WrongLength {
        /// The number of entries given.
        got: usize,
        /// The number expected.
        expected: usize,
    },
    /// A range has to lie inside another.
    NotInside {
        /// The range in question.
        range: Range<usize>,
        /// Where it has to lie.
        outer: Range<usize>,
    },
    /// The operands of an element-wise operation hold different numbers of rows.
    UnequalRows {
        /// Rows of the left operand.
        left: usize,
        /// Rows of the right operand.
        right: usize,
    },
}

impl fmt::Display for SliceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroStride => write!(f, "got stride 0, expected at least 1"),
            Self::TooLarge { got, limit } => write!(f, "got {got}, expected at most {limit}"),
            Self::Reversed { range } => {
                write!(
                    f,
                    "got a range from {} to {}, expected start <= end",
                    range.start, range.end
                )
            }
            Self::MemberOutOfRange { member, members } => {
                write!(f, "got member {member}, expected one below {members}")
            }
            Self::WrongLength { got, expected } => {
                write!(f, "got {got} entries, expected {expected}")
            }
            Self::NotInside { range, outer } => write!(
                f,
                "got range {}..{}, expected one inside {}..{}",
                range.start, range.end, outer.start, outer.end
            ),
            Self::UnequalRows { left, right } => {
                write!(f, "got operands of {left} and {right} local rows, expected equal numbers")
            }
        }
    }
}

impl std::error::Error for SliceError {}
