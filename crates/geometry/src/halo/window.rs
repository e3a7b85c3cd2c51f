//! Layers as index functions on one axis: sliding windows, and anything a caller can state.

use super::error::HaloError;
use super::number::{check_size, signed};

/// A layer on one axis: which input indices an output index looks at.
///
/// Laws an implementor keeps: both functions are non-decreasing; `first_input(i) <= last_input(i)`;
/// output i depends on no input outside `first_input(i)..=last_input(i)`. Indices below 0 or past
/// the end of the input are allowed: they are padding, or repeats of the edge, and are never moved.
pub trait LayerAxis {
    /// The output extent for an input extent.
    ///
    /// # Errors
    /// The layer cannot be applied to such an input.
    fn output_extent(&self, input_extent: usize) -> Result<usize, HaloError>;

    /// The first input index that an output index looks at.
    fn first_input(&self, output: i64) -> i64;

    /// The last input index that an output index looks at.
    fn last_input(&self, output: i64) -> i64;
}

/// A right-looking sliding window: convolution or pooling on one axis.
///
/// Output i looks at `stride * i - padding + dilation * (0..kernel)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    kernel: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
}

impl Window {
    /// A window with the given kernel, stride, padding (on each side) and dilation.
    ///
    /// # Errors
    /// A kernel, stride or dilation of 0, or anything above the limit.
    pub fn new(
        kernel: usize,
        stride: usize,
        padding: usize,
        dilation: usize,
    ) -> Result<Self, HaloError> {
        for (what, got) in [("kernel", kernel), ("stride", stride), ("dilation", dilation)] {
            check_size(what, got)?;
            if got == 0 {
                return Err(HaloError::Zero { what });
            }
        }
        check_size("padding", padding)?;
        check_size("dilated kernel", dilation.saturating_mul(kernel - 1))?;
        Ok(Self { kernel, stride, padding, dilation })
    }

    /// The window that looks at each input alone.
    #[must_use]
    pub fn identity() -> Self {
        Self { kernel: 1, stride: 1, padding: 0, dilation: 1 }
    }

    /// Padding on each side.
    #[must_use]
    pub fn padding(&self) -> usize {
        self.padding
    }

    /// The same window for an input that carries its padding as data.
    pub(super) fn without_padding(&self) -> Self {
        Self { padding: 0, ..*self }
    }

    /// Distance from the first to the last cell under the window.
    fn reach(&self) -> usize {
        self.dilation * (self.kernel - 1)
    }
}

impl LayerAxis for Window {
    fn output_extent(&self, input_extent: usize) -> Result<usize, HaloError> {
        check_size("extent", input_extent)?;
        let padded = input_extent + 2 * self.padding;
        let span = self.reach() + 1;
        match padded.checked_sub(span) {
            Some(rest) => Ok(rest / self.stride + 1),
            None => Err(HaloError::KernelTooWide { span, padded }),
        }
    }

    fn first_input(&self, output: i64) -> i64 {
        signed(self.stride).saturating_mul(output).saturating_sub(signed(self.padding))
    }

    fn last_input(&self, output: i64) -> i64 {
        self.first_input(output).saturating_add(signed(self.reach()))
    }
}

/// Window settings of an n-d layer; each list may be shorter than the number of axes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowParameters {
    /// Kernel extents.
    pub kernel: Vec<usize>,
    /// Strides.
    pub stride: Vec<usize>,
    /// Padding widths, the same on both sides of an axis.
    pub padding: Vec<usize>,
    /// Dilations.
    pub dilation: Vec<usize>,
}

impl WindowParameters {
    /// One window per axis: short lists are extended on the left with kernel 1, stride 1,
    /// padding 0 and dilation 1 (batch and channel axes come first).
    ///
    /// # Errors
    /// A list longer than `ndim`, or a window that [`Window::new`] refuses.
    pub fn windows(&self, ndim: usize) -> Result<Vec<Window>, HaloError> {
        let kernel = extended("kernel", &self.kernel, 1, ndim)?;
        let stride = extended("stride", &self.stride, 1, ndim)?;
        let padding = extended("padding", &self.padding, 0, ndim)?;
        let dilation = extended("dilation", &self.dilation, 1, ndim)?;
        (0..ndim)
            .map(|axis| Window::new(kernel[axis], stride[axis], padding[axis], dilation[axis]))
            .collect()
    }
}

fn extended(
    what: &'static str,
    values: &[usize],
    fill: usize,
    ndim: usize,
) -> Result<Vec<usize>, HaloError> {
    let got = values.len();
    let missing = ndim.checked_sub(got).ok_or(HaloError::TooManyEntries { what, got, ndim })?;
    Ok(std::iter::repeat_n(fill, missing).chain(values.iter().copied()).collect())
}

/// A layer given by its two index functions, for one input extent.
#[derive(Clone, Copy, Debug)]
pub struct CustomLayer<F, L> {
    input_extent: usize,
    output_extent: usize,
    first: F,
    last: L,
}

impl<F: Fn(i64) -> i64, L: Fn(i64) -> i64> CustomLayer<F, L> {
    /// A layer from `input_extent` to `output_extent` cells; see [`LayerAxis`] for the laws that
    /// `first` and `last` keep.
    ///
    /// # Errors
    /// No output, or an extent above the limit.
    pub fn new(
        input_extent: usize,
        output_extent: usize,
        first: F,
        last: L,
    ) -> Result<Self, HaloError> {
        check_size("extent", input_extent)?;
        check_size("extent", output_extent)?;
        if output_extent == 0 {
            return Err(HaloError::Zero { what: "output extent" });
        }
        Ok(Self { input_extent, output_extent, first, last })
    }
}

impl<F: Fn(i64) -> i64, L: Fn(i64) -> i64> LayerAxis for CustomLayer<F, L> {
    fn output_extent(&self, input_extent: usize) -> Result<usize, HaloError> {
        check_made_for(input_extent, self.input_extent)?;
        Ok(self.output_extent)
    }

    fn first_input(&self, output: i64) -> i64 {
        (self.first)(output)
    }

    fn last_input(&self, output: i64) -> i64 {
        (self.last)(output)
    }
}

/// Refuses an input other than the one a layer was made for.
pub(super) fn check_made_for(got: usize, expected: usize) -> Result<(), HaloError> {
    if got == expected { Ok(()) } else { Err(HaloError::WrongExtent { got, expected }) }
}
