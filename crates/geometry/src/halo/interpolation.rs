//! Interpolation (upsampling and downsampling) as a layer, in exact rational arithmetic.
//!
//! Positions in the input are fractions. Rounding them would move a needed range by one near whole
//! numbers, so they are kept as integers over a common denominator.

use super::error::HaloError;
use super::number::check_size;
use super::window::{LayerAxis, check_made_for};

/// How an output cell is made from input cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpolationMode {
    /// The cell at the position rounded down; the factor is the quotient of the extents.
    Nearest,
    /// Between two cells; cell centres at half-integers.
    Linear,
    /// Between two cells; first and last cells of input and output coincide.
    LinearAligned,
}

/// A positive fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

/// Interpolation of one axis from `input` to `output` cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpolation {
    mode: InterpolationMode,
    input: usize,
    output: usize,
    /// Input cells per output cell, as numerator and denominator; the numerator may be 0.
    factor: (i128, i128),
}

impl Ratio {
    /// The fraction `numerator / denominator`.
    ///
    /// # Errors
    /// Zero, or a value outside 2^-20 to 2^20, or parts above 2^53.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, HaloError> {
        let (largest, limit) = (1_u128 << 20, 1_u64 << 53);
        let (wide_numerator, wide_denominator) = (u128::from(numerator), u128::from(denominator));
        if numerator == 0
            || denominator == 0
            || numerator > limit
            || denominator > limit
            || wide_numerator > largest * wide_denominator
            || wide_denominator > largest * wide_numerator
        {
            return Err(HaloError::BadScale);
        }
        let (mut divisor, mut rest) = (numerator, denominator);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Ok(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// The first continued fraction of `value` that rounds to it: 1.5 is 3/2, 0.1 is 1/10.
    ///
    /// So a scale that was typed in decimals, or computed as a quotient, means what was meant and
    /// not the binary number next to it.
    ///
    /// # Errors
    /// Not a number, not positive, or outside 2^-20 to 2^20.
    pub fn nearest(value: f64) -> Result<Self, HaloError> {
        let largest = f64::from(1 << 20);
        if !(value >= 1.0 / largest && value <= largest) {
            return Err(HaloError::BadScale);
        }
        let bits = value.to_bits();
        // A normal number is mantissa * 2^(exponent - 1075); here the power is from -72 to -32.
        let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
        let exponent = u32::try_from(bits >> 52).map_err(|_| HaloError::BadScale)?;
        let (mut upper, mut lower) = (mantissa, 1_u128 << (1075 - exponent));
        let (mut before, mut convergent) = ((0_u64, 1_u64), (1_u64, 0_u64));
        while lower != 0 {
            let digit = u64::try_from(upper / lower).map_err(|_| HaloError::BadScale)?;
            (upper, lower) = (lower, upper % lower);
            let next = |new: u64, old: u64| digit.checked_mul(new).and_then(|n| n.checked_add(old));
            let (numerator, denominator) = next(convergent.0, before.0)
                .zip(next(convergent.1, before.1))
                .ok_or(HaloError::BadScale)?;
            (before, convergent) = (convergent, (numerator, denominator));
            if numerator as f64 / denominator as f64 == value {
                break;
            }
        }
        Self::new(convergent.0, convergent.1)
    }

    /// Upper part in lowest terms.
    #[must_use]
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// Lower part in lowest terms.
    #[must_use]
    pub fn denominator(self) -> u64 {
        self.denominator
    }
}

impl Interpolation {
    /// Interpolation to a given number of cells.
    ///
    /// # Errors
    /// An extent of 0 or above the limit.
    pub fn to_size(
        mode: InterpolationMode,
        input: usize,
        output: usize,
    ) -> Result<Self, HaloError> {
        for (what, extent) in [("input extent", input), ("output extent", output)] {
            check_size(what, extent)?;
            if extent == 0 {
                return Err(HaloError::Zero { what });
            }
        }
        let factor = match mode {
            InterpolationMode::LinearAligned if output == 1 => (0, 1),
            InterpolationMode::LinearAligned => (wide(input) - 1, wide(output) - 1),
            _ => (wide(input), wide(output)),
        };
        Ok(Self { mode, input, output, factor })
    }

    /// Interpolation by a scale: `input * scale` cells, rounded down.
    ///
    /// The linear mode steps by exactly `1 / scale`; the others by the quotient of the extents.
    ///
    /// # Errors
    /// An input extent of 0 or above the limit, or a scale that leaves no output or too much.
    pub fn by_scale(
        mode: InterpolationMode,
        input: usize,
        scale: Ratio,
    ) -> Result<Self, HaloError> {
        check_size("input extent", input)?;
        let output = wide(input) * i128::from(scale.numerator) / i128::from(scale.denominator);
        let output = usize::try_from(output).map_err(|_| HaloError::BadScale)?;
        if output == 0 && input > 0 {
            return Err(HaloError::BadScale);
        }
        let by_size = Self::to_size(mode, input, output)?;
        Ok(match mode {
            InterpolationMode::Linear => {
                let factor = (i128::from(scale.denominator), i128::from(scale.numerator));
                Self { factor, ..by_size }
            }
            _ => by_size,
        })
    }

    /// The output extent.
    #[must_use]
    pub fn output(&self) -> usize {
        self.output
    }

    /// The position of an output cell in the input, as numerator and denominator.
    ///
    /// Every local kernel that takes its weights from this agrees with the halos.
    #[must_use]
    pub fn position(&self, output: i64) -> (i128, i128) {
        let (numerator, denominator) = self.factor;
        let output = i128::from(output);
        match self.mode {
            InterpolationMode::Linear => {
                ((numerator * (2 * output + 1) - denominator).max(0), 2 * denominator)
            }
            _ => (numerator * output, denominator),
        }
    }
}

impl LayerAxis for Interpolation {
    fn output_extent(&self, input_extent: usize) -> Result<usize, HaloError> {
        check_made_for(input_extent, self.input)?;
        Ok(self.output)
    }

    fn first_input(&self, output: i64) -> i64 {
        let (numerator, denominator) = self.position(output);
        i64::try_from(numerator.div_euclid(denominator)).unwrap_or(i64::MAX)
    }

    fn last_input(&self, output: i64) -> i64 {
        let neighbour = i64::from(self.mode != InterpolationMode::Nearest);
        self.first_input(output).saturating_add(neighbour)
    }
}

fn wide(extent: usize) -> i128 {
    i128::try_from(extent).unwrap_or(i128::MAX)
}
