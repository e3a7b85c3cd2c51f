//! `pantile draw`: pictures (SVG).

use anyhow::{Result, bail};
use clap::Args;
use pantile_geometry::halo::AxisHalo;

use crate::report::Report;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The distribution
    distribution: String,
    /// Draw the movement to this one
    target: Option<String>,
}

/// Runs the subcommand.
pub(crate) fn run(_arguments: &Arguments) -> Result<Report> {
    bail!("pictures are not there yet")
}

/// The picture of one axis of a layer's halos.
pub(crate) fn halo(_halo: &AxisHalo, _title: &str) -> Result<Report> {
    bail!("pictures are not there yet")
}
