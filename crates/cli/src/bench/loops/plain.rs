//! Loops that are not one formula for each element: sums, stars, transposes.

use pantile_kernels::Vectors;

/// Side of a block of a transpose: lines are used as a whole on both sides.
const BLOCK: usize = 32;

/// Side of one that fits into registers.
const SMALL: usize = 8;

/// Rows of an array that are not side by side in memory, the first one first.
pub(in crate::bench) type Rows<'a> = &'a dyn Fn(usize) -> &'a [f64];

#[inline(always)]
fn sum_loop(a: &[f64]) -> f64 {
    let mut sums = [0.0; 64];
    let (rows, rest) = a.as_chunks::<64>();
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().chain(rest).sum()
}

#[inline(always)]
fn dot_loop(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 64];
    let (rows, rest) = a.as_chunks::<64>();
    let (others, other) = b.as_chunks::<64>();
    for (row, other) in rows.iter().zip(others) {
        for (sum, (a, b)) in sums.iter_mut().zip(row.iter().zip(other)) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(other).map(|(a, b)| a * b).sum::<f64>()
}

#[inline(always)]
fn add_one_loop(a: &mut [f64]) {
    a.iter_mut().for_each(|a| *a += 1.0);
}

/// The inner points of a row become the means of their neighbours.
#[inline(always)]
fn jacobi_loop(into: &mut [f64], [up, at, down]: [&[f64]; 3]) {
    let count = into.len();
    let (up, at, down) = (&up[..count], &at[..count], &down[..count]);
    into[0] = at[0];
    into[count - 1] = at[count - 1];
    for i in 1..count - 1 {
        into[i] = (up[i] + down[i] + at[i - 1] + at[i + 1]) * 0.25;
    }
}

/// Adds the differences of a star of radius 2 to the inner points of a row.
#[inline(always)]
fn add_star_loop(into: &mut [f64], rows: [&[f64]; 5]) {
    let count = into.len();
    let [far_up, up, at, down, far_down] = rows.map(|row| &row[..count]);
    for i in 2..count - 2 {
        let mut star = 0.25 * at[i + 1];
        star += -0.25 * at[i - 1];
        star += 0.25 * down[i];
        star += -0.25 * up[i];
        star += 0.125 * at[i + 2];
        star += -0.125 * at[i - 2];
        star += 0.125 * far_down[i];
        star += -0.125 * far_up[i];
        into[i] += star;
    }
}

/// Rows of a transposed matrix, block by block: row k of `into` is column `first + k` of `rows`.
/// `ADD`: onto what is there.
#[inline(always)]
fn turned_loop<const ADD: bool>(into: &mut [f64], first: usize, count: usize, rows: Rows<'_>) {
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
fn turned_small<const ADD: bool>(into: &mut [f64], first: usize, count: usize, rows: Rows<'_>) {
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
        fn $name(into: &mut [f64], first: usize, count: usize, rows: Rows<'_>) {
            $loops::<$add>(into, first, count, rows);
        }
    )*};
}

named! {
    turned_only = turned_loop::<false>;
    turned_more = turned_loop::<true>;
    small_only = turned_small::<false>;
    small_more = turned_small::<true>;
}

/// Declares loops for every set, chosen when they are called.
macro_rules! chosen {
    ($($(#[$doc:meta])* $name:ident = $loops:ident($($argument:ident: $type:ty),*) -> $to:ty;)*) => {$(
        $(#[$doc])*
        pub(in crate::bench) fn $name($($argument: $type),*) -> $to {
            #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
            #[cfg(target_arch = "x86_64")]
            fn with_avx512($($argument: $type),*) -> $to {
                $loops($($argument),*)
            }

            #[target_feature(enable = "avx2,fma")]
            #[cfg(target_arch = "x86_64")]
            fn with_avx2($($argument: $type),*) -> $to {
                $loops($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            match Vectors::widest().bytes() {
                // SAFETY: the processor has them.
                64 => return unsafe { with_avx512($($argument),*) },
                // SAFETY: the processor has them.
                32 => return unsafe { with_avx2($($argument),*) },
                _ => {}
            }
            $loops($($argument),*)
        }
    )*};
}

chosen! {
    /// A plain sum, in as many lanes as are good for speed.
    sum = sum_loop(a: &[f64]) -> f64;
    /// The same of products.
    dot = dot_loop(a: &[f64], b: &[f64]) -> f64;
    /// a += 1
    add_one = add_one_loop(a: &mut [f64]) -> ();
    /// The means of four neighbours, of a row and those beside it.
    jacobi = jacobi_loop(into: &mut [f64], rows: [&[f64]; 3]) -> ();
    /// Adds a star of radius 2 to a row.
    add_star = add_star_loop(into: &mut [f64], rows: [&[f64]; 5]) -> ();
    /// Rows of a transposed matrix: row k is column `first + k` of `count` rows.
    turned = turned_only(into: &mut [f64], first: usize, count: usize, rows: Rows<'_>) -> ();
    /// The same by smaller blocks.
    turned_by_8 = small_only(into: &mut [f64], first: usize, count: usize, rows: Rows<'_>) -> ();
    /// Rows of a transposed matrix, added to what is there.
    add_turned = turned_more(into: &mut [f64], first: usize, count: usize, rows: Rows<'_>) -> ();
    /// The same by smaller blocks.
    add_turned_by_8 = small_more(into: &mut [f64], first: usize, count: usize, rows: Rows<'_>) -> ();
}
