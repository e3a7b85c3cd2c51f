//! Panels of rows that are columns in memory.

use super::{CheckedSources, RawSource};
use crate::lanes::operand_load::element;
use crate::lanes::panel::{COLUMNS, PITCH, ROWS};
use crate::lanes::scratch::BlockFrame;
use crate::lanes::walk::DomainWalk;
use crate::pack::{Spread, copy_box};

impl CheckedSources<'_> {
    /// Brings so many rows of a block of columns to the panels, from the row of the walk on.
    ///
    /// # Panics
    /// If they do not fit a panel.
    pub(crate) fn transpose_panels(
        &self,
        walk: &DomainWalk,
        frame: &mut BlockFrame,
        (rows, (first, count)): (usize, (usize, usize)),
    ) -> *mut u8 {
        assert!(rows <= ROWS && count <= COLUMNS, "{rows} x {count} elements in a panel");
        let panels = frame.panels(ROWS * PITCH);
        for (number, index) in frame.transposed.iter().enumerate() {
            let RawSource::Memory { start, .. } = self.list()[*index] else { continue };
            let dtype = self.program().inputs()[*index];
            let (place, along) = walk.offsets(*index, first);
            let across = isize::try_from(walk.row_step(*index)).unwrap_or(0);
            let from = Spread { offset: 0, strides: &[across, along] };
            assert!(COLUMNS * dtype.bytes() <= PITCH, "a row of a panel has room for {dtype}");
            let pitch = (PITCH / dtype.bytes()).cast_signed();
            let into = Spread { offset: 0, strides: &[pitch, 1] };
            let source = (element(start, place, dtype).cast_const(), from);
            let panel = panels.wrapping_add(number * ROWS * PITCH);
            // SAFETY: R1, R2, R4; `new` has compared the source, and rows and columns fit a panel as asserted.
            unsafe { copy_box(&[rows, count], dtype.bytes(), source, (panel, into), false) };
        }
        panels
    }
}
