//! The same loops on slices, with everything checked.

use super::{Spread, Twin, combine, combine_two, copy, copy_box, fill};
use crate::pack::walk::{NestSide, each_offset};
use crate::pack::worth_streaming;
use crate::{Combination, DType, Element, Error, Layout, Nest, Scalar, bytes_of};

/// Copies elements of `element_bytes` bytes; see [`copy`].
///
/// # Errors
/// If no element has so many bytes, or a buffer is too short.
pub fn copy_bytes(
    nest: &Nest,
    element_bytes: usize,
    source: &[u8],
    target: &mut [u8],
    streaming: bool,
) -> Result<(), Error> {
    if ![1, 2, 4, 8, 16].contains(&element_bytes) {
        return Err(Error::ElementBytes { got: element_bytes });
    }
    fits(source.len(), nest.source_span(), element_bytes)?;
    fits(target.len(), nest.target_span(), element_bytes)?;
    // SAFETY: R1, R2, R3; `fits` has compared both sides, which are references.
    unsafe { copy(nest, element_bytes, source.as_ptr(), target.as_mut_ptr(), streaming) };
    Ok(())
}

/// Copies elements, with non-temporal stores if there are very many; see [`copy`].
///
/// # Errors
/// If a buffer is too short.
pub fn copy_elements<T: Element>(nest: &Nest, source: &[T], target: &mut [T]) -> Result<(), Error> {
    let bytes = size_of::<T>();
    fits(size_of_val(source), nest.source_span(), bytes)?;
    fits(size_of_val(target), nest.target_span(), bytes)?;
    let streaming = worth_streaming(nest.len() * bytes);
    // SAFETY: R1, R2, R3; `fits` has compared both sides, which are references.
    unsafe { copy(nest, bytes, source.as_ptr().cast(), target.as_mut_ptr().cast(), streaming) };
    Ok(())
}

/// Copies a box between two memories, with non-temporal stores if it has very many elements; see
/// [`copy_box`]. Where the target has several elements at one place, one of them stays.
///
/// # Errors
/// If no element has so many bytes, there is not one stride per axis, or a memory is too short.
pub fn copy_box_bytes(
    shape: &[usize],
    element_bytes: usize,
    (source, from): (&[u8], Spread<'_>),
    (target, into): (&mut [u8], Spread<'_>),
) -> Result<(), Error> {
    if ![1, 2, 4, 8, 16].contains(&element_bytes) {
        return Err(Error::ElementBytes { got: element_bytes });
    }
    reaches(shape, from, source.len() / element_bytes)?;
    reaches(shape, into, target.len() / element_bytes)?;
    let elements = shape.iter().try_fold(1usize, |all, count| all.checked_mul(*count));
    let streaming = worth_streaming(elements.unwrap_or(usize::MAX).saturating_mul(element_bytes));
    let (source, target) = ((source.as_ptr(), from), (target.as_mut_ptr(), into));
    // SAFETY: R1, R2, R3; `reaches` has compared both sides, which are references.
    unsafe { copy_box(shape, element_bytes, source, target, streaming) };
    Ok(())
}

/// Refuses a box with elements outside of a memory of so many.
fn reaches(shape: &[usize], at: Spread<'_>, elements: usize) -> Result<(), Error> {
    if at.strides.len() != shape.len() {
        let (got, expected) = (at.strides.len(), shape.len());
        return Err(Error::Counts { what: "strides", got, expected });
    }
    if shape.contains(&0) {
        return Ok(());
    }
    let (mut lowest, mut highest) = (at.offset as i128, at.offset as i128);
    for (count, stride) in shape.iter().zip(at.strides) {
        let last = (*count as i128 - 1).saturating_mul(*stride as i128);
        lowest = lowest.saturating_add(last.min(0));
        highest = highest.saturating_add(last.max(0));
    }
    if lowest >= 0 && highest < elements as i128 {
        return Ok(());
    }
    Err(Error::Reach { lowest, highest, elements })
}

/// Combines elements into a target; see [`combine`].
///
/// # Errors
/// If a buffer is too short, or a bool cell is neither 0 nor 1.
pub fn combine_bytes(
    nest: &Nest,
    how: Combination,
    source: &[u8],
    target: &mut [u8],
) -> Result<(), Error> {
    let bytes = how.dtype().bytes();
    fits(source.len(), nest.source_span(), bytes)?;
    fits(target.len(), nest.target_span(), bytes)?;
    if how.dtype() == DType::Bool {
        bools(nest, NestSide::Source, source)?;
        bools(nest, NestSide::Target, target)?;
    }
    // SAFETY: R1, R2, R3, R6; `fits` and `bools` have compared both sides, which are references.
    unsafe { combine(nest, how, source.as_ptr(), target.as_mut_ptr()) };
    Ok(())
}

/// Combines elements into a target; see [`combine`].
///
/// # Errors
/// If a buffer is too short, or the combination is of another type.
pub fn combine_elements<T: Element>(
    nest: &Nest,
    how: Combination,
    source: &[T],
    target: &mut [T],
) -> Result<(), Error> {
    if how.dtype() != T::DTYPE {
        return Err(Error::DTypes { got: T::DTYPE, expected: how.dtype() });
    }
    fits(size_of_val(source), nest.source_span(), size_of::<T>())?;
    fits(size_of_val(target), nest.target_span(), size_of::<T>())?;
    // SAFETY: R1, R2, R3, R6; `fits` has compared both sides, which are references to elements.
    unsafe { combine(nest, how, bytes_of(source).as_ptr(), target.as_mut_ptr().cast()) };
    Ok(())
}

/// Combines two sources into a new target; see [`combine_two`].
///
/// # Errors
/// If a buffer is too short, or a bool cell is neither 0 nor 1.
pub fn combine_two_bytes(
    nests: [&Nest; 2],
    how: Combination,
    sources: [&[u8]; 2],
    target: &mut [u8],
    streaming: bool,
) -> Result<(), Error> {
    let bytes = how.dtype().bytes();
    for (nest, source) in nests.into_iter().zip(sources) {
        fits(source.len(), nest.source_span(), bytes)?;
        fits(target.len(), nest.target_span(), bytes)?;
        if how.dtype() == DType::Bool {
            bools(nest, NestSide::Source, source)?;
        }
    }
    let sources = sources.map(<[u8]>::as_ptr);
    let twin = Twin::new(nests[0], nests[1]);
    // SAFETY: R1, R2, R3, R6; `fits` and `bools` have compared sources and target, which are references.
    unsafe { combine_two(&twin, how, sources, target.as_mut_ptr(), streaming) };
    Ok(())
}

/// Fills a layout with a value; see [`fill`].
///
/// # Errors
/// If the buffer is too short.
pub fn fill_bytes(layout: &Layout, value: &Scalar, target: &mut [u8]) -> Result<(), Error> {
    fits(target.len(), layout.span(), value.dtype().bytes())?;
    // SAFETY: R1, R2; `fits` has compared the target, which is a reference.
    unsafe { fill(&Nest::over(layout), value, target.as_mut_ptr()) };
    Ok(())
}

/// Fills a layout with a value; see [`fill`].
///
/// # Errors
/// If the buffer is too short.
pub fn fill_elements<T: Element>(layout: &Layout, value: T, target: &mut [T]) -> Result<(), Error> {
    fits(size_of_val(target), layout.span(), size_of::<T>())?;
    // SAFETY: R1, R2; `fits` has compared the target, which is a reference.
    unsafe { fill(&Nest::over(layout), &Scalar::of(value), target.as_mut_ptr().cast()) };
    Ok(())
}

/// Refuses a buffer that is too short for so many elements.
fn fits(got: usize, span: usize, element_bytes: usize) -> Result<(), Error> {
    let expected = span * element_bytes;
    if got < expected { Err(Error::Short { got, expected }) } else { Ok(()) }
}

/// Refuses bytes other than 0 and 1 in the cells of one side.
fn bools(nest: &Nest, side: NestSide, bytes: &[u8]) -> Result<(), Error> {
    let mut wrong = None;
    each_offset(nest, side, |offset| {
        if bytes[offset] > 1 && wrong.is_none() {
            wrong = Some(pantile_lanes::Error::NotBool { got: bytes[offset], offset }.into());
        }
    });
    wrong.map_or(Ok(()), Err)
}
