//! Automatic process grids: how many ranks to put on each cut axis of an array.

use std::fmt;

/// The largest number of ranks: factors are found by trial division up to its square root.
pub const MAX_GRID_RANKS: usize = 1 << 32;

/// Why no grid can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GridError {
    /// The marks of cut axes are not one per axis.
    WrongLength {
        /// The number of marks.
        got: usize,
        /// The number of axes.
        ndim: usize,
    },
    /// There are no ranks.
    NoRanks,
    /// There are too many ranks.
    TooManyRanks {
        /// What was given.
        got: usize,
        /// The largest number that is accepted.
        limit: usize,
    },
}

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLength { got, ndim } => {
                write!(f, "got {got} marks of cut axes, expected one for each of {ndim} axes")
            }
            Self::NoRanks => write!(f, "got 0 ranks, expected at least 1"),
            Self::TooManyRanks { got, limit } => {
                write!(f, "got {got} ranks, expected at most {limit}")
            }
        }
    }
}

impl std::error::Error for GridError {}

/// A grid for an array of `shape` on up to `ranks` ranks, 1 on every axis that is not cut.
///
/// Of all ways to write the number of ranks as a product of one factor per cut axis, larger factors
/// go to longer axes (to the later one of equals), factors above their extent are ruled out, and
/// the way whose ratios between axes are nearest to the ratios of the extents is taken (least sum
/// of squares over pairs of axes, earlier over later; of equals the one with the smaller smallest
/// factor).
///
/// If every way gives some axis more ranks than it has elements, the largest smaller number of
/// ranks that does not is used instead, so the product may be below `ranks`. Empty axes get 1.
///
/// # Errors
/// Not one mark per axis, no ranks, or more than [`MAX_GRID_RANKS`].
///
/// ```
/// use pantile_geometry::grid::auto_grid;
///
/// assert_eq!(auto_grid(&[5, 9], &[true, true], 6)?, [2, 3]);
/// assert_eq!(auto_grid(&[5, 9], &[true, false], 6)?, [5, 1]);
/// # Ok::<(), pantile_geometry::grid::GridError>(())
/// ```
pub fn auto_grid(
    shape: &[usize],
    cut_axes: &[bool],
    ranks: usize,
) -> Result<Vec<usize>, GridError> {
    if cut_axes.len() != shape.len() {
        return Err(GridError::WrongLength { got: cut_axes.len(), ndim: shape.len() });
    }
    if ranks == 0 {
        return Err(GridError::NoRanks);
    }
    if ranks > MAX_GRID_RANKS {
        return Err(GridError::TooManyRanks { got: ranks, limit: MAX_GRID_RANKS });
    }
    // Cut axes by ascending extent, the later of equals last: position i gets the i-th smallest
    // factor.
    let mut axes: Vec<usize> = (0..shape.len()).filter(|axis| cut_axes[*axis]).collect();
    axes.sort_by_key(|axis| shape[*axis]);
    let limits: Vec<usize> = axes.iter().map(|axis| shape[*axis].max(1)).collect();
    let mut grid = vec![1; shape.len()];
    for (axis, factor) in axes.iter().zip(best_factors(&axes, &limits, ranks)) {
        grid[*axis] = factor;
    }
    Ok(grid)
}

/// The chosen factors in the order of `limits` (ascending).
fn best_factors(axes: &[usize], limits: &[usize], ranks: usize) -> Vec<usize> {
    let most = limits.iter().fold(1_usize, |product, limit| product.saturating_mul(*limit));
    for used in (2..=ranks.min(most)).rev() {
        let mut search = Search { axes, limits, chosen: Vec::new(), best: None };
        search.extend(used, &divisors(used));
        if let Some((_, factors)) = search.best {
            return factors;
        }
    }
    vec![1; limits.len()]
}

/// A walk through all non-decreasing factorisations that fit the limits.
struct Search<'a> {
    /// The array axis of each position.
    axes: &'a [usize],
    limits: &'a [usize],
    chosen: Vec<usize>,
    best: Option<(f64, Vec<usize>)>,
}

impl Search<'_> {
    /// Chooses the remaining factors, whose product is `rest`.
    fn extend(&mut self, rest: usize, divisors: &[usize]) {
        let at = self.chosen.len();
        let left = self.limits.len() - at;
        if left == 0 {
            if rest == 1 {
                self.consider();
            }
            return;
        }
        let smallest = self.chosen.last().copied().unwrap_or(1);
        let from = match left {
            1 => rest.max(smallest),
            _ => smallest,
        };
        let first = divisors.partition_point(|factor| *factor < from);
        for &factor in divisors[first..].iter().take_while(|factor| **factor <= self.limits[at]) {
            // All later factors are at least this one.
            let least = u32::try_from(left).ok().and_then(|left| factor.checked_pow(left));
            if least.is_none_or(|least| least > rest) {
                break;
            }
            if rest.is_multiple_of(factor) {
                self.chosen.push(factor);
                self.extend(rest / factor, divisors);
                self.chosen.pop();
            }
        }
    }

    fn consider(&mut self) {
        let distance = self.distance();
        if self.best.as_ref().is_none_or(|(least, _)| distance < *least) {
            self.best = Some((distance, self.chosen.clone()));
        }
    }

    /// Sum of squared differences of the ratios, earlier over later axis, of extents and factors.
    fn distance(&self) -> f64 {
        let mut by_axis: Vec<(usize, f64, f64)> = (0..self.axes.len())
            .map(|at| (self.axes[at], self.limits[at] as f64, self.chosen[at] as f64))
            .collect();
        by_axis.sort_by_key(|entry| entry.0);
        let mut sum = 0.0;
        for (at, (_, extent, factor)) in by_axis.iter().enumerate() {
            for (_, later_extent, later_factor) in &by_axis[at + 1..] {
                let difference = extent / later_extent - factor / later_factor;
                sum += difference * difference;
            }
        }
        sum
    }
}

/// All divisors, ascending.
fn divisors(number: usize) -> Vec<usize> {
    let mut small = Vec::new();
    let mut large = Vec::new();
    let mut divisor = 1;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            small.push(divisor);
            if divisor * divisor < number {
                large.push(number / divisor);
            }
        }
        divisor += 1;
    }
    small.extend(large.into_iter().rev());
    small
}
