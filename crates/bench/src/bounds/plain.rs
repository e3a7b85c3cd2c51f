//! Loops that are not one formula for each element: sums, stars.

use super::multiversion::multiversion;

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
fn triad_f32_loop(a: &mut [f32], b: &[f32], c: &[f32]) {
    a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (b, c))| *a = b + 3.0 * c);
}

#[inline(always)]
fn rows_loop(u: &[f64], columns: usize, into: &mut [f64]) {
    into.iter_mut().zip(u.chunks(columns)).for_each(|(into, row)| *into = sum_loop(row));
}

/// Sums of rows that are short: four numbers as they are, others by a few lanes.
#[inline(always)]
fn short_rows_loop(u: &[f64], columns: usize, into: &mut [f64]) {
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
fn columns_loop(u: &[f64], columns: usize, into: &mut [f64]) {
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

/// Weights of a star of radius 2: right, left, below, above; then the same at a distance of 2.
pub const STAR: [f64; 8] = [0.25, -0.25, 0.25, -0.25, 0.125, -0.125, 0.125, -0.125];

/// Adds the differences of a star of radius 2 to the inner points of a row.
#[inline(always)]
fn add_star_loop(into: &mut [f64], rows: [&[f64]; 5]) {
    let count = into.len();
    let [far_up, up, at, down, far_down] = rows.map(|row| &row[..count]);
    for i in 2..count.saturating_sub(2) {
        let mut star = STAR[0] * at[i + 1];
        star += STAR[1] * at[i - 1];
        star += STAR[2] * down[i];
        star += STAR[3] * up[i];
        star += STAR[4] * at[i + 2];
        star += STAR[5] * at[i - 2];
        star += STAR[6] * far_down[i];
        star += STAR[7] * far_up[i];
        into[i] += star;
    }
}

multiversion! {
    /// A plain sum, in as many lanes as are good for speed.
    sum = sum_loop(a: &[f64]) -> f64;
    /// The same of products.
    dot = dot_loop(a: &[f64], b: &[f64]) -> f64;
    /// Plain sums of the rows of a matrix with so many columns.
    ///
    /// # Panics
    /// If there are no columns.
    rows = rows_loop(u: &[f64], columns: usize, into: &mut [f64]) -> ();
    /// The same for rows that are short.
    ///
    /// # Panics
    /// If there are no columns.
    short_rows = short_rows_loop(u: &[f64], columns: usize, into: &mut [f64]) -> ();
    /// Plain sums of its columns.
    ///
    /// # Panics
    /// If there are no columns.
    columns = columns_loop(u: &[f64], columns: usize, into: &mut [f64]) -> ();
    /// a = b + 3 c
    triad_f32 = triad_f32_loop(a: &mut [f32], b: &[f32], c: &[f32]) -> ();
    /// a += 1
    add_one = add_one_loop(a: &mut [f64]) -> ();
    /// The means of four neighbours, of a row and those beside it; its ends stay.
    ///
    /// # Panics
    /// If the row is empty, or one of the others shorter.
    jacobi = jacobi_loop(into: &mut [f64], rows: [&[f64]; 3]) -> ();
    /// Adds a star of radius 2 to a row, but for the two elements at either end.
    ///
    /// # Panics
    /// If one of the rows around it is shorter.
    add_star = add_star_loop(into: &mut [f64], rows: [&[f64]; 5]) -> ();
}
