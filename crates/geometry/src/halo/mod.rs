//! Halo arithmetic of layers with a sliding window: which input each worker needs so that the
//! balanced output can be computed locally.
//!
//! A layer is seen, per axis, as two index functions ([`LayerAxis`]): the first and the last input
//! index that an output index looks at. From these, the cut of the input ([`Blocks`]) and the
//! balanced cut of the output follow all widths ([`AxisHalo`]): per worker and per side, possibly
//! zero, possibly negative (input owned but not needed), since they come from the outputs and not
//! from the kernel's radius.
//!
//! ```text
//!   input   |  0  1  2  3 |  4  5  6 |  7  8  9 |      kernel 2, stride 2, three workers
//!   output  |  0     1    |  2     3 |  4       |
//!   worker 1 needs 4..8: one cell from the right; worker 2 needs 8..10: one cell less than it has
//! ```

mod axis;
mod blocks;
mod chain;
mod error;
mod grid;
mod held;
mod interpolation;
mod number;
mod slabs;
mod window;

pub use axis::{AxisHalo, Senders, Side, Supply, WideHalo, WorkerHalo};
pub use blocks::{BlockOverlap, Blocks};
pub use chain::{Chain, Stage};
pub use error::HaloError;
pub use grid::LayerHalo;
pub use interpolation::{Interpolation, InterpolationMode, Ratio};
pub use number::{MAX_EXTENT, MAX_WORKERS};
pub use slabs::{AxisStep, LocalBox, SlabAxis, exchange_slabs};
pub use window::{CustomLayer, LayerAxis, Window, WindowParameters};
