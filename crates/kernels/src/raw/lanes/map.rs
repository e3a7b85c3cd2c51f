//! The entry of loops over operands through pointers.

use super::{RawSource, RawTarget, Store};
use crate::Error;
use crate::lanes::operand_load::{add_sources, counted};
use crate::lanes::program::LoopProgram;
use crate::lanes::run::each_block;
use crate::lanes::scratch::Scratch;

/// Runs a program for every element of a domain of this shape.
///
/// # Errors
/// If sources or targets are not as many as inputs and outputs, have other types or numbers of
/// axes, or reach beyond their bytes. Nothing was written then.
///
/// # Safety
/// Promises 1 and 2 of [`lanes`](crate::lanes).
pub unsafe fn map_raw(
    program: &LoopProgram,
    shape: &[usize],
    sources: &[RawSource<'_>],
    targets: &[RawTarget<'_>],
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let walk = &mut scratch.walk;
    add_sources(program, shape, sources, walk)?;
    counted("targets", targets.len(), program.outputs().len())?;
    for target in targets {
        walk.operand(target.offset as i64, target.strides.iter().map(|step| *step as i64), true)?;
    }
    if shape.contains(&0) {
        return Ok(());
    }
    // SAFETY: R1, R3; promised by the caller, and `Store::new` compares all operands with their bytes.
    let store = unsafe { Store::new(program, sources, targets, walk)? };
    if !store.move_boxes(shape, walk) {
        each_block(scratch, &store);
    }
    Ok(())
}
