//! A standing wave in a square basin: the linear wave equation on a staggered grid. The elevation
//! lives in the middle of cells, the speeds on their faces; no water flows through the walls.
//!
//! `cargo run --release -p pantile --example wave [-- STEPS]`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use pantile::prelude::*;

const N: usize = 128;
const DX: f64 = 2.0 / N as f64;
const DT: f64 = 0.02 / 9.0;
const GRAVITY: f64 = 9.81;
const PI: f64 = std::f64::consts::PI;
/// The stages of a Runge-Kutta step of order 3: next = a old + b (now + dt rate(now)).
const STAGES: [(f64, f64); 3] = [(0.0, 1.0), (0.75, 0.25), (1.0 / 3.0, 2.0 / 3.0)];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let steps: u32 = std::env::args().nth(1).map_or(Ok(451), |text| text.parse())?;
    let world = pantile::session()?.dist("block(r), whole");
    let middle = |axis| world.index(&[N, N], axis).cast(DType::F64) * DX - 1.0 + DX / 2.0;
    let start = (middle(0) * PI).cos() * 0.5 * (middle(1) * PI).cos();
    let (mut e, u, v) = (start.clone(), world.zeros(&[N + 1, N]), world.zeros(&[N, N + 1]));
    let (u_inside, v_inside) = (u.get(s![1..-1, ..]), v.get(s![.., 1..-1]));

    for _ in 0..steps {
        let (e0, u0, v0) = (e.clone(), u_inside.copy(), v_inside.copy());
        for (a, b) in STAGES {
            let du = (e.get(s![1.., ..]) - e.get(s![..-1, ..])) * -GRAVITY / DX;
            let dv = (e.get(s![.., 1..]) - e.get(s![.., ..-1])) * -GRAVITY / DX;
            let de = (u.get(s![1.., ..]) - u.get(s![..-1, ..])) / DX
                + (v.get(s![.., 1..]) - v.get(s![.., ..-1])) / DX;
            e = &e0 * a + (&e + de * -1.0 * DT) * b;
            u_inside.assign(&u0 * a + (&u_inside + du * DT) * b);
            v_inside.assign(&v0 * a + (&v_inside + dv * DT) * b);
        }
        world.compute(&[&e, &u, &v])?;
    }

    // It swings with the angular frequency pi sqrt(2 g h). The exact wave is that of one step
    // before, as in examples/wave.dist.
    let time = f64::from(steps.max(1) - 1) * DT;
    let exact = &start * (PI * (2.0 * GRAVITY).sqrt() * time).cos();
    let error = (exact - &e).square().mean().sqrt().item::<f64>()?;
    let change = (e.sum() - start.sum()).item::<f64>()?;
    println!("distance from the exact wave {error:e}, change of volume {change:e}");
    if steps == 451 {
        assert!((error - 0.007_224_068_445_110_564).abs() < 1e-12, "{error}");
    }
    assert!(change.abs() < 1e-10, "{change}");
    Ok(())
}
