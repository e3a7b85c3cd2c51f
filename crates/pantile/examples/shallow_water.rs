//! A gyre in shallow water: the nonlinear equations on a rotating square, on a staggered grid. The
//! elevation e lives in the middle of cells, the speeds u and v on their faces, the vorticity q on
//! corners, weighted as Arakawa and Hsu (1990) do, which keeps energy. The gyre stays as it is.
//!
//! `cargo run --release -p pantile --example shallow_water [-- STEPS]`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use pantile::prelude::*;

const N: usize = 128;
const DX: f64 = 2.0 / N as f64;
const DT: f64 = 0.02 / 9.0;
const GRAVITY: f64 = 9.81;
const CORIOLIS: f64 = 10.0;
/// The stages of a Runge-Kutta step of order 3: next = a old + b (now + dt rate(now)). The third
/// number is 1 where speeds along the walls are those of before the step, else they are 0.
const STAGES: [(f64, f64, f64); 3] =
    [(0.0, 1.0, 0.0), (0.75, 0.25, 0.0), (1.0 / 3.0, 2.0 / 3.0, 1.0)];

/// The difference of neighbours along an axis, over their distance.
fn slope(a: &Array, axis: usize) -> Array {
    match axis {
        0 => (a.get(s![1.., ..]) - a.get(s![..-1, ..])) / DX,
        _ => (a.get(s![.., 1..]) - a.get(s![.., ..-1])) / DX,
    }
}

/// The mean of neighbours along an axis.
fn mean(a: &Array, axis: usize) -> Array {
    match axis {
        0 => 0.5 * (a.get(s![..-1, ..]) + a.get(s![1.., ..])),
        _ => 0.5 * (a.get(s![.., ..-1]) + a.get(s![.., 1..])),
    }
}

/// What changes e, and u and v between the walls.
fn rates(world: &Session, e: &Array, u: &Array, v: &Array) -> (Array, Array, Array) {
    // The flow through faces; none through the walls.
    let h = e + 1.0;
    let (hu, hv) = (world.zeros(&[N + 1, N]), world.zeros(&[N, N + 1]));
    hu.set(s![1..-1, ..], mean(&h, 0) * u.get(s![1..-1, ..]));
    hv.set(s![.., 1..-1], mean(&h, 1) * v.get(s![.., 1..-1]));

    // The depth at corners: cells at the walls are repeated.
    let wide = world.zeros(&[N + 2, N + 2]);
    wide.set(s![1..-1, 1..-1], &h);
    wide.set(s![0, ..], wide.get(s![1, ..]));
    wide.set(s![-1, ..], wide.get(s![-2, ..]));
    wide.set(s![.., 0], wide.get(s![.., 1]));
    wide.set(s![.., -1], wide.get(s![.., -2]));

    // The vorticity (f - du/dy + dv/dx) / h, and its weights for the four faces of a cell.
    let turn = world.full(&[N + 1, N + 1], CORIOLIS);
    let (mut across, mut along) = (turn.get(s![.., 1..-1]), turn.get(s![1..-1, ..]));
    across -= slope(u, 1);
    along += slope(v, 0);
    let q = turn / mean(&mean(&wide, 0), 1);
    let (nw, ne) = (q.get(s![..-1, ..-1]), q.get(s![..-1, 1..]));
    let (sw, se) = (q.get(s![1.., ..-1]), q.get(s![1.., 1..]));
    let (qa, qb) = ((&ne + &nw + &se) / 12.0, (&se + &sw + &ne) / 12.0);
    let (qc, qd) = ((&sw + &se + &nw) / 12.0, (&nw + &ne + &sw) / 12.0);

    let energy = 0.5 * (mean(&u.square(), 0) + mean(&v.square(), 1));
    let head = GRAVITY * e + energy;
    let du = qa.get(s![1.., ..]) * hv.get(s![1.., 1..])
        + qb.get(s![..-1, ..]) * hv.get(s![..-1, 1..])
        + qc.get(s![..-1, ..]) * hv.get(s![..-1, ..-1])
        + qd.get(s![1.., ..]) * hv.get(s![1.., ..-1])
        - slope(&head, 0);
    let dv = qc.get(s![.., 1..]) * hu.get(s![1.., 1..])
        + qd.get(s![.., 1..]) * hu.get(s![..-1, 1..])
        + qa.get(s![.., ..-1]) * hu.get(s![..-1, ..-1])
        + qb.get(s![.., ..-1]) * hu.get(s![1.., ..-1])
        + slope(&head, 1);
    (-(slope(&hu, 0) + slope(&hv, 1)), du, -dv)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let steps: u32 = std::env::args().nth(1).map_or(Ok(451), |text| text.parse())?;
    let world = pantile::session()?.dist("block(r), whole");
    let gyre = |x: &Array, y: &Array| 0.02 * (-(x.square() + y.square()) / 0.16).exp();
    let point = |shape: &[usize], axis: usize, shift: f64| {
        world.index(shape, axis).cast(DType::F64) * DX - 1.0 + shift
    };
    let place = |shape: [usize; 2], x: f64, y: f64| (point(&shape, 0, x), point(&shape, 1, y));
    let (x, y) = place([N, N], DX / 2.0, DX / 2.0);
    let start = gyre(&x, &y);
    let (x, y) = place([N + 1, N], 0.0, DX / 2.0);
    let mut u = GRAVITY / CORIOLIS * 2.0 * &y / 0.16 * gyre(&x, &y);
    let (x, y) = place([N, N + 1], DX / 2.0, 0.0);
    let mut v = -GRAVITY / CORIOLIS * 2.0 * &x / 0.16 * gyre(&x, &y);
    let mut e = start.clone();

    for _ in 0..steps {
        let (e0, u0, v0) = (e.clone(), u.clone(), v.clone());
        for (a, b, keep) in STAGES {
            let (de, du, dv) = rates(&world, &e, &u, &v);
            let (u1, v1) = (&u0 * keep, &v0 * keep);
            let ((u, v), inside) = ((&mut u, &mut v), (s![1..-1, ..], s![.., 1..-1]));
            u1.set(inside.0, a * u0.get(inside.0) + b * (u.get(inside.0) + DT * du));
            v1.set(inside.1, a * v0.get(inside.1) + b * (v.get(inside.1) + DT * dv));
            (e, *u, *v) = (a * &e0 + b * (&e + DT * de), u1, v1);
        }
        world.compute(&[&e, &u, &v])?;
    }

    let error = (&start - &e).square().mean().sqrt().item::<f64>()?;
    let change = (e.sum() - start.sum()).item::<f64>()?;
    let fastest = u.max().item::<f64>()?;
    println!("distance from the gyre {error:e}, change of volume {change:e}, fastest {fastest}");
    if steps == 451 {
        assert!((error - 4.315_798_960_517_963_6e-5).abs() < 1e-12, "{error}");
        assert!((fastest - 0.042_182_688_960_862_656).abs() < 1e-12, "{fastest}");
    }
    assert!(change.abs() < 1e-10, "{change}");
    Ok(())
}
