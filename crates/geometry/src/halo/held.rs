//! Halo tables as distributions: the exchange a layer needs is the movement to what it needs.

use super::axis::AxisHalo;
use super::grid::LayerHalo;
use crate::{Distribution, Error, Extent};

impl AxisHalo {
    /// The input that each worker needs, as what a block axis holds: the target of the exchange.
    /// Padding is not part of it, and owned cells that no output looks at are left out.
    #[must_use]
    pub fn held(&self) -> Extent {
        let interval = |range: std::ops::Range<usize>| {
            let at = |end: usize| i64::try_from(end).unwrap_or(i64::MAX);
            (at(range.start), at(range.end))
        };
        Extent::Each(self.iter().map(|row| interval(row.needed_global)).collect())
    }
}

impl LayerHalo {
    /// `input` with every axis holding what the layer needs: `Plan::between` the two is the
    /// halo exchange of the layer, with as many senders as it takes, and its adjoint.
    ///
    /// # Errors
    /// The input has another number of axes, or an axis with another number of coordinates.
    pub fn needed(&self, input: &Distribution) -> Result<Distribution, Error> {
        let (got, expected) = (self.axes().len(), input.ndim());
        if got != expected {
            return Err(Error::Count { what: "axes of the layer", got, expected });
        }
        let mut needed = input.clone();
        for (axis, halo) in self.axes().iter().enumerate() {
            needed = needed.with_held(axis, halo.held())?;
        }
        Ok(needed)
    }
}
