//! Every loop against one that is as plain as can be.

use pantile_bench::bounds::{
    self as bounds, Copied, Five, Formula, Four, Prices, STAR, Six, Triad, Waves,
};
use pantile_testkit::{Rng, cases};

/// Small multiples of 1/8: sums of them are exact in any order.
fn numbers(rng: &mut Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.range(1, 801) as f64 / 8.0).collect()
}

/// Writes a formula both ways to a place that may not be aligned, and compares each element.
fn check<F: Formula>(skip: usize, count: usize, formula: F, expected: impl Fn(usize) -> f64) {
    for streaming in [false, true] {
        let mut into = vec![-1.0; skip + count + 1];
        bounds::write(&mut into[skip..skip + count], formula, streaming);
        for (place, value) in into.iter().enumerate() {
            let inside = (skip..skip + count).contains(&place);
            let right = if inside { expected(place - skip) } else { -1.0 };
            let near = (value - right).abs() <= 1e-13 * right.abs().max(1.0);
            assert!(near, "{value} at {place} of {count} after {skip}, not {right}");
        }
    }
}

#[test]
fn formulas_are_written_everywhere_and_nowhere_else() {
    cases("formulas_are_written_everywhere_and_nowhere_else", 40, |rng| {
        let (skip, count) = (rng.below(9), rng.below(300));
        let inputs: [Vec<f64>; 6] = std::array::from_fn(|_| numbers(rng, count));
        let [a, b, c, d, e, f] = inputs.each_ref().map(Vec::as_slice);
        check(skip, count, Copied([a]), |i| a[i]);
        check(skip, count, Triad([a, b]), |i| a[i] + 3.0 * b[i]);
        let six = |i: usize| a[i] * b[i] + c[i] * d[i] - e[i] / f[i];
        check(skip, count, Six([a, b, c, d, e, f]), six);
        let mean = |i: usize| (a[i] + b[i] + c[i] + d[i]) / 4.0;
        check(skip, count, Four([a, b, c, d]), mean);
        check(skip, count, Five([a, b, c, d, e]), |i| mean(i) - e[i]);
        let waves = |i: usize| (-a[i] * a[i]).exp() * b[i].sin() + c[i].abs().sqrt();
        check(skip, count, Waves([a, b, c]), waves);
        let price = |i: usize| price(a[i], b[i], c[i]);
        check(skip, count, Prices::new([a, b, c]), price);
    });
}

fn price(share: f64, strike: f64, time: f64) -> f64 {
    let [rate, drift, volatility] = bounds::MARKET;
    let [slope, bend] = bounds::CURVE;
    let normal = |d: f64| 1.0 / (1.0 + (d * (slope + bend * d * d)).exp());
    let spread = volatility * time.sqrt();
    let high = ((share / strike).ln() + drift * time) / spread;
    let now = strike * (-rate * time).exp();
    (share * normal(high) - now * normal(high - spread)).max(0.0)
}

#[test]
#[should_panic(expected = "inputs are as long as the target")]
fn a_formula_that_is_too_short_is_refused() {
    bounds::write(&mut [0.0; 3], Triad([&[1.0; 3], &[1.0; 2]]), true);
}

#[test]
fn sums_are_those_of_all_elements() {
    cases("sums_are_those_of_all_elements", 40, |rng| {
        let (rows, any) = (1 + rng.below(20), 1 + rng.below(200));
        let columns = *rng.pick(&[4, 16, any]);
        let [a, b] = std::array::from_fn(|_| numbers(rng, rows * columns));
        assert_eq!(bounds::sum(&a), a.iter().sum::<f64>());
        assert_eq!(bounds::dot(&a, &b), a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>());
        let row_sums: Vec<f64> = a.chunks(columns).map(|row| row.iter().sum()).collect();
        for loops in [bounds::rows, bounds::short_rows] {
            let mut into = vec![-1.0; rows];
            loops(&a, columns, &mut into);
            assert_eq!(into, row_sums);
        }
        let column = |at: usize| a.iter().skip(at).step_by(columns).sum::<f64>();
        let mut into = vec![-1.0; columns];
        bounds::columns(&a, columns, &mut into);
        assert_eq!(into, (0..columns).map(column).collect::<Vec<f64>>());
    });
}

#[test]
fn rows_see_their_neighbours() {
    cases("rows_see_their_neighbours", 40, |rng| {
        let count = 4 + rng.below(97);
        let rows: [Vec<f64>; 5] = std::array::from_fn(|_| numbers(rng, count));
        let rows = rows.each_ref().map(Vec::as_slice);
        let before = numbers(rng, count);
        let mut into = before.clone();
        bounds::add_star(&mut into, rows);
        for i in 0..count {
            let around = |(y, x): (usize, usize)| rows[y][i + x - 2];
            let places = [(2, 3), (2, 1), (3, 2), (1, 2), (2, 4), (2, 0), (4, 2), (0, 2)];
            let inside = (2..count - 2).contains(&i);
            let star =
                || places.into_iter().zip(STAR).map(|(at, weight)| weight * around(at)).sum();
            assert_eq!(into[i], before[i] + if inside { star() } else { 0.0 });
        }
        bounds::jacobi(&mut into, [rows[0], rows[1], rows[2]]);
        for i in 0..count {
            let [up, at, down] = [rows[0], rows[1], rows[2]];
            let mean = || (up[i] + down[i] + at[i - 1] + at[i + 1]) / 4.0;
            assert_eq!(into[i], if i == 0 || i == count - 1 { at[i] } else { mean() });
        }
        let more: Vec<f64> = into.iter().map(|value| value + 1.0).collect();
        bounds::add_one(&mut into);
        assert_eq!(into, more);
    });
}

#[test]
fn single_precision_has_a_triad_of_its_own() {
    let mut into = [0.0f32; 100];
    bounds::triad_f32(&mut into, &[0.5; 100], &[2.0; 100]);
    assert_eq!(into, [6.5; 100]);
}

#[test]
fn transposes_turn_columns_into_rows() {
    cases("transposes_turn_columns_into_rows", 40, |rng| {
        let (count, columns) = (1 + rng.below(80), 1 + rng.below(80));
        let first = rng.below(columns);
        let lines = 1 + rng.below(columns - first);
        let a = numbers(rng, count * columns);
        let rows = |row: usize| &a[row * columns..][..columns];
        let transposed: Vec<f64> =
            (0..lines * count).map(|at| a[at % count * columns + first + at / count]).collect();
        for loops in [bounds::transpose, bounds::transpose_by_8] {
            let mut into = vec![-1.0; lines * count];
            loops(&mut into, first, count, &rows);
            assert_eq!(into, transposed);
        }
        let before = numbers(rng, lines * count);
        let sums: Vec<f64> = before.iter().zip(&transposed).map(|(a, b)| a + b).collect();
        for loops in [bounds::add_transpose, bounds::add_transpose_by_8] {
            let mut into = before.clone();
            loops(&mut into, first, count, &rows);
            assert_eq!(into, sums);
        }
    });
}
