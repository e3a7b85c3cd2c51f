//! Hand-written loops, compiled for the same instruction sets as ours: what the machine can do.

use pantile_kernels::Vectors;

/// What is computed for one element.
pub(crate) trait Formula {
    /// The element at a place. Must be `#[inline(always)]`.
    ///
    /// # Safety
    /// The place lies inside of all inputs.
    unsafe fn at(&self, place: usize) -> f64;
}

/// Declares formulas over slices.
macro_rules! formulas {
    ($($(#[$doc:meta])* $name:ident { $($input:ident: $type:ty),* } |$self:ident, $i:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name<'a> { $(pub(crate) $input: $type,)* }

        impl Formula for $name<'_> {
            #[inline(always)]
            unsafe fn at(&$self, $i: usize) -> f64 {
                // SAFETY: the caller's promise.
                unsafe { $value }
            }
        }
    )*};
}

formulas! {
    /// b
    Copied { b: &'a [f64] } |self, i| *self.b.get_unchecked(i);
    /// b + 3 c
    Triad { b: &'a [f64], c: &'a [f64] } |self, i|
        self.b.get_unchecked(i) + 3.0 * self.c.get_unchecked(i);
    /// a b + c d - e / f
    Six { of: [&'a [f64]; 6] } |self, i| {
        let [a, b, c, d, e, f] = self.of.map(|of| *of.get_unchecked(i));
        a * b + c * d - e / f
    };
    /// (up + down + left + right) / 4 - middle, of rows that begin one element to the left.
    Five { rows: [&'a [f64]; 3] } |self, i| {
        let [up, at, down] = self.rows;
        let sum = up.get_unchecked(i + 1) + down.get_unchecked(i + 1);
        let sum = sum + at.get_unchecked(i) + at.get_unchecked(i + 2);
        sum * 0.25 - at.get_unchecked(i + 1)
    };
}

/// The weights of a star of radius 2, for distances 1 and 2.
pub(crate) const STAR: [f64; 2] = [0.25, 0.125];

/// Writes a formula to all places.
pub(crate) fn write<F: Formula>(into: &mut [f64], formula: F, streaming: bool) {
    #[cfg(target_arch = "x86_64")]
    match (Vectors::widest().bytes(), streaming) {
        // SAFETY: the processor has them; inputs are as long as the target.
        (64, true) => return unsafe { x86::stream_avx512(into, formula) },
        // SAFETY: the same.
        (64, false) => return unsafe { x86::plain_avx512(into, formula) },
        // SAFETY: the same.
        (32, true) => return unsafe { x86::stream_avx2(into, formula) },
        // SAFETY: the same.
        (32, false) => return unsafe { x86::plain_avx2(into, formula) },
        _ => {}
    }
    // SAFETY: inputs are as long as the target.
    unsafe { plain(into, formula) }
}

/// Adds the star around a row to the row. The rows begin two elements to the left.
#[inline(always)]
fn star(into: &mut [f64], rows: [&[f64]; 5]) {
    let count = into.len();
    let [far_up, up, at, down, far_down] = rows.map(|row| &row[..count + 4]);
    for i in 0..count {
        let mut sum = into[i];
        sum += STAR[0] * at[i + 3];
        sum += STAR[0] * at[i + 1];
        sum += STAR[0] * down[i + 2];
        sum += STAR[0] * up[i + 2];
        sum += STAR[1] * at[i + 4];
        sum += STAR[1] * at[i];
        sum += STAR[1] * far_down[i + 2];
        sum += STAR[1] * far_up[i + 2];
        into[i] = sum;
    }
}

#[inline(always)]
fn sum(a: &[f64]) -> f64 {
    let mut sums = [0.0; 64];
    let (rows, rest) = a.as_chunks::<64>();
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().chain(rest).sum()
}

#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
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
fn triad_f32(a: &mut [f32], b: &[f32], c: &[f32]) {
    a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (b, c))| *a = b + 3.0 * c);
}

#[inline(always)]
fn rows(u: &[f64], columns: usize, into: &mut [f64]) {
    into.iter_mut().zip(u.chunks(columns)).for_each(|(into, row)| *into = sum(row));
}

/// Sums of rows that are short: four numbers as they are, others by a few lanes.
#[inline(always)]
fn short_rows(u: &[f64], columns: usize, into: &mut [f64]) {
    if columns == 4 {
        let rows = u.as_chunks::<4>().0;
        into.iter_mut().zip(rows).for_each(|(into, [a, b, c, d])| *into = (a + b) + (c + d));
        return;
    }
    for (into, row) in into.iter_mut().zip(u.chunks_exact(columns)) {
        let (chunks, rest) = row.as_chunks::<16>();
        let mut sums = [0.0; 16];
        for chunk in chunks {
            sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value);
        }
        *into = sums.iter().sum::<f64>() + rest.iter().sum::<f64>();
    }
}

#[inline(always)]
fn columns(u: &[f64], columns: usize, into: &mut [f64]) {
    into.fill(0.0);
    if let Ok(sums) = <&mut [f64; 16]>::try_from(&mut *into) {
        // So few that they stay in registers.
        let mut own = [0.0; 16];
        for row in u.as_chunks::<16>().0 {
            own.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        *sums = own;
        return;
    }
    for row in u.chunks(columns) {
        into.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

/// # Safety
/// Inputs are as long as the target.
#[inline(always)]
unsafe fn plain<F: Formula>(into: &mut [f64], formula: F) {
    for (place, into) in into.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *into = unsafe { formula.at(place) };
    }
}

/// Declares loops for every set, chosen when they are called.
macro_rules! chosen {
    ($($name:ident = $loops:ident($($argument:ident: $type:ty),*) -> $to:ty;)*) => {$(
        pub(crate) fn $name($($argument: $type),*) -> $to {
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
    plain_star = star(into: &mut [f64], rows: [&[f64]; 5]) -> ();
    plain_sum = sum(a: &[f64]) -> f64;
    plain_dot = dot(a: &[f64], b: &[f64]) -> f64;
    plain_triad_f32 = triad_f32(a: &mut [f32], b: &[f32], c: &[f32]) -> ();
    plain_rows = rows(u: &[f64], n: usize, into: &mut [f64]) -> ();
    plain_short_rows = short_rows(u: &[f64], n: usize, into: &mut [f64]) -> ();
    plain_columns = columns(u: &[f64], n: usize, into: &mut [f64]) -> ();
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm_sfence, _mm256_loadu_pd, _mm256_stream_pd, _mm512_loadu_pd, _mm512_stream_pd,
    };

    use super::{Formula, plain};

    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) unsafe fn plain_avx512<F: Formula>(into: &mut [f64], formula: F) {
        // SAFETY: the caller's promise.
        unsafe { plain(into, formula) }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn plain_avx2<F: Formula>(into: &mut [f64], formula: F) {
        // SAFETY: the caller's promise.
        unsafe { plain(into, formula) }
    }

    /// Elements that are computed before they are written past the caches: compilers make vectors
    /// of a loop with nothing else in it.
    const BLOCK: usize = 64;

    /// Declares a loop that writes past the caches.
    macro_rules! streaming {
        ($($name:ident, $features:literal, $lanes:literal, $load:ident, $stream:ident;)*) => {$(
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name<F: Formula>(into: &mut [f64], formula: F) {
                let count = into.len();
                let head = into.as_ptr().align_offset(8 * $lanes).min(count);
                let whole = head + (count - head) / BLOCK * BLOCK;
                // SAFETY: places lie inside, and those of vectors are aligned.
                unsafe {
                    for place in (0..head).chain(whole..count) {
                        into[place] = formula.at(place);
                    }
                    for place in (head..whole).step_by(BLOCK) {
                        let mut block = [0.0; BLOCK];
                        for (at, value) in block.iter_mut().enumerate() {
                            *value = formula.at(place + at);
                        }
                        for vector in block.as_chunks::<$lanes>().0.iter().enumerate() {
                            let to = into.as_mut_ptr().add(place + vector.0 * $lanes);
                            $stream(to, $load(vector.1.as_ptr()));
                        }
                    }
                }
                _mm_sfence();
            }
        )*};
    }

    streaming! {
        stream_avx512, "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl", 8, _mm512_loadu_pd, _mm512_stream_pd;
        stream_avx2, "avx2,fma", 4, _mm256_loadu_pd, _mm256_stream_pd;
    }
}
