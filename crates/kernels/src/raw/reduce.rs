//! The entries of reductions.

use super::lanes::CheckedSources;
use crate::Error;
use crate::lanes::{LoopProgram, RawSource, Scratch, Source};
use crate::reduce::Folds;
use crate::reduce::run::fold_domain;

/// Folds the outputs of a program over a domain of this shape into cells; see [`reduce_raw`].
///
/// # Errors
/// As of [`reduce_raw`]; a [`Source::Buffer`] is refused, because there are no buffers.
pub fn reduce(
    program: &LoopProgram,
    shape: &[usize],
    sources: &[Source<'_>],
    folds: &mut Folds<'_, '_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let sources: Result<Vec<RawSource<'_>>, Error> = (sources.iter())
        .map(|source| {
            source
                .raw(|buffer| Err(Error::Counts { what: "buffers", got: 0, expected: buffer + 1 }))
        })
        .collect();
    // SAFETY: R1; sources are references, and cells are borrowed alone.
    unsafe { reduce_raw(program, shape, &sources?, folds, scratch) }
}

/// Folds the outputs of a program over a domain of this shape into cells.
///
/// Words of sums that are in the cells already must be those that [`ExactSum`](crate::ExactSum)
/// writes, or sums of up to 2^29 such; afterwards they are such.
///
/// # Errors
/// If sources are not as many as inputs, or folds and cells as outputs, or they have other types
/// or numbers of axes; if a source reaches beyond its bytes, or the cells are too few, not whole
/// or not aligned. Nothing was written then.
///
/// # Safety
/// Promises 1 and 2 of [`lanes`](crate::lanes).
pub unsafe fn reduce_raw(
    program: &LoopProgram,
    shape: &[usize],
    sources: &[RawSource<'_>],
    folds: &mut Folds<'_, '_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    fold_domain((program, shape), sources, folds, scratch, |walk| {
        // SAFETY: R1; promised by the caller, and `new` compares the sources with their bytes.
        unsafe { CheckedSources::new(program, sources, walk) }
    })
}
