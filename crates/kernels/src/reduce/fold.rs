//! How lanes are folded, and what they are folded into.

use pantile_geometry::Operator;

use crate::{Combination, DType, Error, ExactSum, identity};

/// How the elements of an output are folded into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneFold {
    /// The sum. Of floats the exact one, as the words of an [`ExactSum`]; integers wrap; of bools
    /// *or*.
    Sum,
    /// The sum of floats in an order that is quick: every step rounds.
    Plain,
    /// The exact sum of floats, divided by a count and rounded once, as
    /// [`ExactSum::divided_f64`] and [`ExactSum::divided_f32`] do; a count of 1 makes it the sum.
    /// Of `F32` and `F64` only.
    ///
    /// One reduction must see all elements of a cell: it is written, whatever was in it, and
    /// cells of several reductions cannot be combined.
    Rounded {
        /// What the sum is divided by; NaN if it is 0.
        count: u64,
    },
    /// The product. Integers wrap; of bools *and*. The product of floats depends on their
    /// order: see [`tree_product`](super::tree_product).
    Prod,
    /// The smallest; NaN if one is NaN (the positive quiet one), -0.0 below +0.0.
    Min,
    /// The largest; NaN if one is NaN (the positive quiet one), -0.0 below +0.0.
    Max,
    /// Whether one is true. Bools only, as the next two.
    Any,
    /// Whether all are true.
    All,
    /// How many are true, as `I64`.
    Count,
}

/// What an output is folded into, one for each element of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldCell {
    /// The type of its elements.
    pub dtype: DType,
    /// How many elements it has: one, or the words of an [`ExactSum`].
    pub elements: usize,
    /// The operator that combines cells of several reductions, element by element.
    pub operator: Operator,
}

impl LaneFold {
    /// The cells for outputs of a type.
    ///
    /// # Errors
    /// If there is no such fold of that type.
    pub fn cell(self, dtype: DType) -> Result<FoldCell, Error> {
        let float = matches!(dtype, DType::F32 | DType::F64);
        let (operator, counts) = match self {
            Self::Sum if float => (Operator::Sum, ExactSum::WORDS),
            Self::Plain | Self::Rounded { .. } if !float => {
                return Err(Error::Unsupported { operator: Operator::Sum, dtype });
            }
            Self::Prod if float => {
                return Err(Error::Unsupported { operator: Operator::Prod, dtype });
            }
            Self::Any | Self::All | Self::Count if dtype != DType::Bool => {
                return Err(Error::DTypes { got: dtype, expected: DType::Bool });
            }
            Self::Count => (Operator::Sum, 1),
            Self::Sum | Self::Plain | Self::Rounded { .. } => (Operator::Sum, 0),
            Self::Prod => (Operator::Prod, 0),
            Self::Min => (Operator::Min, 0),
            Self::Max => (Operator::Max, 0),
            Self::Any => (Operator::Or, 0),
            Self::All => (Operator::And, 0),
        };
        if counts > 0 {
            return Ok(FoldCell { dtype: DType::I64, elements: counts, operator });
        }
        Combination::new(dtype, operator)?;
        Ok(FoldCell { dtype, elements: 1, operator })
    }

    /// Makes cells those of no elements; those of [`Rounded`](Self::Rounded) need no start and
    /// are left as they are.
    ///
    /// # Errors
    /// If there is no such fold of that type, or the bytes are not whole cells.
    pub fn start(self, dtype: DType, cells: &mut [u8]) -> Result<(), Error> {
        let cell = self.cell(dtype)?;
        let nothing = identity(cell.dtype, cell.operator)?;
        whole(cells.len(), cell)?;
        if matches!(self, Self::Rounded { .. }) {
            return Ok(());
        }
        for element in cells.chunks_exact_mut(cell.dtype.bytes()) {
            element.copy_from_slice(nothing.as_bytes());
        }
        Ok(())
    }
}

impl FoldCell {
    /// Its size in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.dtype.bytes() * self.elements
    }
}

/// The number of cells in so many bytes.
pub(super) fn whole(bytes: usize, cell: FoldCell) -> Result<usize, Error> {
    if !bytes.is_multiple_of(cell.bytes()) {
        return Err(pantile_lanes::Error::Misfit { dtype: cell.dtype, bytes }.into());
    }
    Ok(bytes / cell.bytes())
}
