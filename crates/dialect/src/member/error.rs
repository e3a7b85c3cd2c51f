//! What has no form for one member.

use std::fmt;

use pantile_geometry::slices::SliceError;

use pantile_ir::Reduction;

/// Why an operation has no form for one member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberError {
    /// A slice cannot be answered for.
    Slice(SliceError),
    /// A reduction of rows is not put together from what members have.
    Reduction(Reduction),
    /// A reduction of no elements.
    Empty(Reduction),
    /// Rows are written at another number of places.
    Places {
        /// Rows that there are.
        rows: usize,
        /// Places of the slice.
        places: usize,
    },
    /// Operands have different numbers of local rows.
    LocalRows {
        /// Rows of one.
        one: usize,
        /// Rows of another.
        other: usize,
    },
    /// Operands begin at different rows.
    LocalOffsets {
        /// First row of one.
        one: usize,
        /// First row of another.
        other: usize,
    },
    /// A core goes beyond the rows.
    CoreEnd {
        /// Its end.
        end: usize,
        /// The rows.
        rows: usize,
    },
    /// A row that the array does not have.
    Row {
        /// The row.
        row: i64,
        /// Rows of the array.
        length: usize,
    },
    /// The parts of an array are not known.
    UnknownParts,
    /// The parts of an argument are not known.
    UnknownArgument,
    /// The parts of an array that a loop carries are not known.
    UnknownCarried,
    /// The parts of a result are not known.
    UnknownPieces,
    /// Lengths are not known.
    UnknownLengths,
    /// Lengths are not known, or there are none.
    UnknownOrNoLengths,
    /// A slice, or where it is needed, is not known.
    UnknownSlice,
    /// The rows that are asked for are not known.
    UnknownRequest,
    /// A core is not known.
    UnknownCore,
    /// What a member has to do depends on numbers that are not known.
    UnknownNumbers,
    /// There is no form of the operation for one member.
    NoForm,
    /// A distributed value is for a local array.
    DistributedValue,
    /// A distributed source is for a local array.
    DistributedSource,
    /// A local array is for a distributed one.
    LocalSource,
    /// A distributed array is combined with a local one.
    LocalOperand,
    /// The result of a local array is distributed.
    DistributedResult,
    /// An array is not distributed.
    NotDistributed,
    /// A result is not distributed.
    ResultNotDistributed,
    /// A view is no array.
    ViewNotArray,
    /// A view has fewer axes than its array.
    ViewDropsAxes,
    /// A result is no array.
    ResultNotArray,
    /// An array has halos that would become stale.
    Halos,
    /// A member does not store all columns that it writes.
    MissingColumns,
    /// A member does not store all columns that it reads.
    SomeColumns,
    /// Not every member has the one element.
    MissingElement,
    /// Parts have another length than the type says.
    PartLength,
    /// A loop carries an array in other parts.
    OtherParts,
    /// A reduced array is not in its default partition.
    NotDefaultPartition,
    /// Operands are not in their default partition.
    OperandsNotDefault,
    /// Not every member has an operand for all rows.
    OperandNotEverywhere,
    /// Rows that were asked for are reduced.
    RequestedRows,
    /// No operand has the rows of the result.
    NoDistributedOperand,
    /// Arrays have different shapes.
    Shapes,
    /// No element is the least of its type.
    NoLeast,
    /// An element of complex numbers is read.
    Complex,
}

impl fmt::Display for MemberError {
    #[allow(clippy::too_many_lines, reason = "one arm per variant")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slice(error) => error.fmt(f),
            Self::Reduction(reduction) => write!(
                f,
                "{} of rows on several members is not put together from what each has, expected sum, prod, max, min, mean, any, all, count_nonzero, norm1 or norm_inf",
                reduction.name()
            ),
            Self::Empty(reduction) => {
                write!(f, "{} of no elements is not defined", reduction.name())
            }
            Self::Places { rows, places } => write!(f, "got {rows} rows to write at {places} places, expected what `distribute` brings there"),
            Self::LocalRows { one, other } => write!(f, "got {one} and {other} local rows, expected the same ones, as `dist.repartition` brings them together"),
            Self::LocalOffsets { one, other } => write!(f, "got rows from {one} and from {other} on, expected the same ones, as `dist.repartition` brings them together"),
            Self::CoreEnd { end, rows } => write!(f, "got a core up to row {end} of {rows}"),
            Self::Row { row, length } => write!(f, "got row {row}, expected one below {length}"),
            Self::UnknownParts => f.write_str("got an array whose parts are not known"),
            Self::UnknownArgument => {
                f.write_str("got an argument whose parts are not known")
            }
            Self::UnknownCarried => f.write_str("carries an array whose parts are not known"),
            Self::UnknownPieces => f.write_str("got parts that are not known"),
            Self::UnknownLengths => f.write_str("got lengths that are not known"),
            Self::UnknownOrNoLengths => f.write_str("got lengths that are not known, or none"),
            Self::UnknownSlice => f.write_str("got a slice or a target that is not known before the program runs, expected constants but for offsets along other axes than the first"),
            Self::UnknownRequest => f.write_str("got a request of rows, or lengths, that are not known before the program runs"),
            Self::UnknownCore => f.write_str("got a core that is not known"),
            Self::UnknownNumbers => f.write_str("got numbers that are not known before the program runs, expected constants of which `fold` finds what this member has to do"),
            Self::NoForm => f.write_str("got a distributed array, and there is no form of it for one member"),
            Self::DistributedValue => f.write_str("got a distributed value for a local array"),
            Self::DistributedSource => f.write_str("got a distributed source for a local array"),
            Self::LocalSource => f.write_str("got a local array for a distributed one"),
            Self::LocalOperand => f.write_str("got a distributed and a local array"),
            Self::DistributedResult => f.write_str("got a local array and a distributed result"),
            Self::NotDistributed => f.write_str("got an array that is not distributed"),
            Self::ResultNotDistributed => f.write_str("got a result that is not distributed"),
            Self::ViewNotArray => f.write_str("got a view that is no array"),
            Self::ViewDropsAxes => f.write_str("got a view that drops axes"),
            Self::ResultNotArray => f.write_str("got a result that is no array"),
            Self::Halos => f.write_str("got an array with halos, which would not change with it"),
            Self::MissingColumns => f.write_str("got columns that are not stored here"),
            Self::SomeColumns => f.write_str("got an array of which not all columns are stored"),
            Self::MissingElement => f.write_str("got one element that not every member has"),
            Self::PartLength => f.write_str("got parts of another length than the type says"),
            Self::OtherParts => f.write_str("got an array with other parts than those that the loop carries"),
            Self::NotDefaultPartition => f.write_str("got an array that is not in its default partition, expected what `distribute` brings there"),
            Self::OperandsNotDefault => f.write_str("got operands that are not in their default partition, expected what `distribute` brings there"),
            Self::OperandNotEverywhere => f.write_str("got an operand for all rows that not every member has, expected what `distribute` brings there"),
            Self::RequestedRows => f.write_str("got requested rows: several members may have them, or none, expected an array in parts that are all of it"),
            Self::NoDistributedOperand => f.write_str("got no distributed array with the rows of the result"),
            Self::Shapes => f.write_str("got arrays of different shapes"),
            Self::NoLeast => f.write_str("got elements of which none is the least"),
            Self::Complex => f.write_str("got complex numbers, expected real ones"),
        }
    }
}

impl std::error::Error for MemberError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_what_was_got() {
        use MemberError as E;
        let all = [
            (E::UnknownParts, "got an array whose parts are not known"),
            (E::UnknownArgument, "got an argument whose parts are not known"),
            (E::UnknownCarried, "carries an array whose parts are not known"),
            (E::UnknownPieces, "got parts that are not known"),
            (E::UnknownLengths, "got lengths that are not known"),
            (E::UnknownOrNoLengths, "got lengths that are not known, or none"),
            (
                E::UnknownSlice,
                "got a slice or a target that is not known before the program runs, expected constants but for offsets along other axes than the first",
            ),
            (
                E::UnknownRequest,
                "got a request of rows, or lengths, that are not known before the program runs",
            ),
            (E::UnknownCore, "got a core that is not known"),
            (
                E::UnknownNumbers,
                "got numbers that are not known before the program runs, expected constants of which `fold` finds what this member has to do",
            ),
            (E::NoForm, "got a distributed array, and there is no form of it for one member"),
            (E::DistributedValue, "got a distributed value for a local array"),
            (E::DistributedSource, "got a distributed source for a local array"),
            (E::LocalSource, "got a local array for a distributed one"),
            (E::LocalOperand, "got a distributed and a local array"),
            (E::DistributedResult, "got a local array and a distributed result"),
            (E::NotDistributed, "got an array that is not distributed"),
            (E::ResultNotDistributed, "got a result that is not distributed"),
            (E::ViewNotArray, "got a view that is no array"),
            (E::ViewDropsAxes, "got a view that drops axes"),
            (E::ResultNotArray, "got a result that is no array"),
            (E::Halos, "got an array with halos, which would not change with it"),
            (E::MissingColumns, "got columns that are not stored here"),
            (E::SomeColumns, "got an array of which not all columns are stored"),
            (E::MissingElement, "got one element that not every member has"),
            (E::PartLength, "got parts of another length than the type says"),
            (E::OtherParts, "got an array with other parts than those that the loop carries"),
            (
                E::NotDefaultPartition,
                "got an array that is not in its default partition, expected what `distribute` brings there",
            ),
            (
                E::OperandsNotDefault,
                "got operands that are not in their default partition, expected what `distribute` brings there",
            ),
            (
                E::OperandNotEverywhere,
                "got an operand for all rows that not every member has, expected what `distribute` brings there",
            ),
            (
                E::RequestedRows,
                "got requested rows: several members may have them, or none, expected an array in parts that are all of it",
            ),
            (E::NoDistributedOperand, "got no distributed array with the rows of the result"),
            (E::Shapes, "got arrays of different shapes"),
            (E::NoLeast, "got elements of which none is the least"),
            (E::Complex, "got complex numbers, expected real ones"),
            (
                E::Places { rows: 2, places: 3 },
                "got 2 rows to write at 3 places, expected what `distribute` brings there",
            ),
            (E::CoreEnd { end: 5, rows: 4 }, "got a core up to row 5 of 4"),
            (E::Row { row: 9, length: 4 }, "got row 9, expected one below 4"),
            (E::Empty(Reduction::Max), "max of no elements is not defined"),
        ];
        for (error, text) in all {
            assert_eq!(error.to_string(), text);
        }
    }
}
