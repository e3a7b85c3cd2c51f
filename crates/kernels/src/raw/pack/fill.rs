//! Filling cells with one value.

use crate::pack::walk::tiles;
use crate::{Nest, Scalar};

/// Writes `value` to every target offset of the nest; [`Nest::over`] makes one of a layout.
///
/// # Safety
/// Promises 2 and 3 of [`pack`](crate::pack), for the target offsets of the nest and elements of the
/// value's type; what was there need not be initialised.
pub unsafe fn fill(nest: &Nest, value: &Scalar, target: *mut u8) {
    let fill_as = match value.dtype().bytes() {
        1 => fill_elements::<u8>,
        2 => fill_elements::<u16>,
        4 => fill_elements::<u32>,
        8 => fill_elements::<u64>,
        _ => fill_elements::<[u64; 2]>,
    };
    // SAFETY: R1, R2; promised by the caller, which has compared the target with the nest's span.
    unsafe { fill_as(nest, value, target) }
}

/// # Safety
/// Promises 2 and 3, for elements of type `T`, which has the size of the value.
unsafe fn fill_elements<T: bytemuck::Pod>(nest: &Nest, value: &Scalar, target: *mut u8) {
    let value: T = bytemuck::pod_read_unaligned(value.as_bytes());
    let target = target.cast::<T>();
    tiles(nest, |start, tile| {
        tile.rows.each(|_, row| {
            let first = start.target + row;
            let write = |offset: usize| {
                // SAFETY: R1, R2; the offset is one of the nest's, whose span the caller has compared.
                unsafe { target.add(first + offset).write_unaligned(value) };
            };
            match tile.run.target {
                1 => (0..tile.run.count).for_each(write),
                stride => (0..tile.run.count).for_each(|index| write(index * stride)),
            }
        });
    });
}
