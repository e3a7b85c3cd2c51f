//! Transposes, by blocks.

use super::multiversion::multiversion;

/// Side of a block: lines are used as a whole on both sides.
const BLOCK: usize = 32;

/// Side of one that fits into registers.
const SMALL: usize = 8;

/// Rows of an array that are not side by side in memory, the first one first.
pub type SourceRows<'a> = &'a dyn Fn(usize) -> &'a [f64];

/// Rows of a transposed matrix, block by block: row k of `into` is column `first + k` of `rows`.
/// `ADD`: onto what is there.
#[inline(always)]
fn transpose_loop<const ADD: bool>(
    into: &mut [f64],
    first: usize,
    count: usize,
    rows: SourceRows<'_>,
) {
    let lines = into.len() / count;
    for left in (0..count).step_by(BLOCK) {
        let wide = BLOCK.min(count - left);
        let mut block: [&[f64]; BLOCK] = [&[]; BLOCK];
        for (k, row) in block.iter_mut().enumerate().take(wide) {
            *row = &rows(left + k)[first..first + lines];
        }
        for top in (0..lines).step_by(BLOCK) {
            for line in top..lines.min(top + BLOCK) {
                let own = &mut into[line * count + left..][..wide];
                for (own, row) in own.iter_mut().zip(&block) {
                    *own = if ADD { *own + row[line] } else { row[line] };
                }
            }
        }
    }
}

/// The same by blocks that fit into registers; one by one where no whole block fits.
#[inline(always)]
fn transpose_small<const ADD: bool>(
    into: &mut [f64],
    first: usize,
    count: usize,
    rows: SourceRows<'_>,
) {
    let lines = into.len() / count;
    for left in (0..count).step_by(SMALL) {
        let wide = SMALL.min(count - left);
        let mut block: [&[f64]; SMALL] = [&[]; SMALL];
        for (k, row) in block.iter_mut().enumerate().take(wide) {
            *row = &rows(left + k)[first..first + lines];
        }
        let whole = if wide == SMALL { lines / SMALL * SMALL } else { 0 };
        for top in (0..whole).step_by(SMALL) {
            let square = block.map(|row| row[top..].first_chunk().map_or([0.0; SMALL], |x| *x));
            for line in 0..SMALL {
                let own = &mut into[(top + line) * count + left..][..SMALL];
                for (own, row) in own.iter_mut().zip(&square) {
                    *own = if ADD { *own + row[line] } else { row[line] };
                }
            }
        }
        for line in whole..lines {
            let own = &mut into[line * count + left..][..wide];
            for (own, row) in own.iter_mut().zip(&block) {
                *own = if ADD { *own + row[line] } else { row[line] };
            }
        }
    }
}

/// Names for the macro below, which knows no generics.
macro_rules! named {
    ($($name:ident = $loops:ident::<$add:literal>;)*) => {$(
        #[inline(always)]
        fn $name(into: &mut [f64], first: usize, count: usize, rows: SourceRows<'_>) {
            $loops::<$add>(into, first, count, rows);
        }
    )*};
}

named! {
    transpose_set = transpose_loop::<false>;
    transpose_add = transpose_loop::<true>;
    small_set = transpose_small::<false>;
    small_add = transpose_small::<true>;
}

multiversion! {
    /// Rows of a transposed matrix: row k is column `first + k` of `count` rows.
    ///
    /// # Panics
    /// If there are no rows, or they have fewer columns.
    transpose = transpose_set(into: &mut [f64], first: usize, count: usize, rows: SourceRows<'_>) -> ();
    /// The same by smaller blocks.
    ///
    /// # Panics
    /// If there are no rows, or they have fewer columns.
    transpose_by_8 = small_set(into: &mut [f64], first: usize, count: usize, rows: SourceRows<'_>) -> ();
    /// Rows of a transposed matrix, added to what is there.
    ///
    /// # Panics
    /// If there are no rows, or they have fewer columns.
    add_transpose = transpose_add(into: &mut [f64], first: usize, count: usize, rows: SourceRows<'_>) -> ();
    /// The same by smaller blocks.
    ///
    /// # Panics
    /// If there are no rows, or they have fewer columns.
    add_transpose_by_8 = small_add(into: &mut [f64], first: usize, count: usize, rows: SourceRows<'_>) -> ();
}
