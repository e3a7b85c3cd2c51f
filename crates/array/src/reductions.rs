//! What is left of an array along some axes.

use pantile_ir::infer;
use pantile_ir::{Op, Reduction, Type};
use smallvec::smallvec;

use super::error::ArrayError;
use super::{Array, here};

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $along:ident $reduction:ident;)*) => {
        impl Array {$(
            $(#[$doc])*
            ///
            /// Of all elements.
            #[track_caller]
            #[must_use]
            pub fn $name(&self) -> Self {
                self.reduce(Reduction::$reduction, None, false, 0.0)
            }

            $(#[$doc])*
            ///
            /// Along these axes.
            #[track_caller]
            #[must_use]
            pub fn $along(&self, axes: &[usize]) -> Self {
                self.reduce(Reduction::$reduction, Some(axes), false, 0.0)
            }
        )*}
    };
}

reductions! {
    /// The sum; of floats the exact one, rounded once.
    sum sum_along Sum;
    /// The product.
    prod prod_along Prod;
    /// The smallest.
    min min_along Min;
    /// The largest.
    max max_along Max;
    /// The mean: the exact sum divided by the count, rounded once.
    mean mean_along Mean;
    /// The variance: the mean squared distance from the mean.
    var var_along Var;
    /// The standard deviation.
    std std_along Std;
    /// True if one is not zero.
    any any_along Any;
    /// True if none is zero.
    all all_along All;
    /// The first place of the smallest, row-major over the axes.
    argmin argmin_along ArgMin;
    /// The first place of the largest, row-major over the axes.
    argmax argmax_along ArgMax;
    /// How many are not zero.
    count_nonzero count_nonzero_along CountNonZero;
    /// The square root of the sum of squared magnitudes.
    norm norm_along Norm2;
    /// The sum of the magnitudes.
    norm1 norm1_along Norm1;
    /// The largest magnitude.
    norm_inf norm_inf_along NormInf;
}

impl Array {
    /// Any reduction, along some axes or all; reduced axes stay with length 1 if `keepdims`.
    /// `correction` is taken off the count of variances.
    #[track_caller]
    #[must_use]
    pub fn reduce(
        &self,
        reduction: Reduction,
        axes: Option<&[usize]>,
        keepdims: bool,
        correction: f64,
    ) -> Self {
        let place = here();
        let node = self.node(&place);
        let shape = self.shape();
        let all: Vec<usize> = (0..shape.len()).collect();
        let axes = axes.unwrap_or(&all);
        let wrong = axes
            .iter()
            .enumerate()
            .any(|(at, axis)| *axis >= shape.len() || axes[..at].contains(axis));
        let ty = match wrong {
            true => {
                let (reduction, axes, shape) = (reduction.name(), axes.to_vec(), shape.clone());
                Err(ArrayError::ReducedAxes { reduction, axes, shape })
            }
            false => infer::reduced_dtype(reduction, self.dtype()).map_err(ArrayError::Type).map(
                |dtype| {
                    let left = shape.iter().enumerate().filter_map(|(axis, length)| {
                        match axes.contains(&axis) {
                            true if keepdims => Some(1),
                            true => None,
                            false => Some(*length),
                        }
                    });
                    Type::array(&left.collect::<Vec<_>>(), dtype)
                },
            ),
        };
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        let op = Op::Reduce {
            reduction: reduction.into(),
            axes: Some(axes),
            keepdims,
            correction: correction.to_bits(),
        };
        Self::record(&self.world, op, smallvec![node], ty, place)
    }
}
