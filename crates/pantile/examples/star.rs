//! A star-shaped stencil of radius 2, as in the Parallel Research Kernels: for the field
//! row + column every turn adds exactly 2 wherever the star fits.
//!
//! `cargo run --release -p pantile --example star [-- SIZE TURNS]`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use pantile::prelude::*;

/// Offsets and weights: 1/(4 d) and -1/(4 d) at distance d.
const STAR: [(&[i64], f64); 8] = [
    (&[0, 1], 0.25),
    (&[0, -1], -0.25),
    (&[1, 0], 0.25),
    (&[-1, 0], -0.25),
    (&[0, 2], 0.125),
    (&[0, -2], -0.125),
    (&[2, 0], 0.125),
    (&[-2, 0], -0.125),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse());
    let size: usize = numbers.next().unwrap_or(Ok(64))?;
    let turns: usize = numbers.next().unwrap_or(Ok(11))?;

    let world = pantile::session()?.dist("block(r), whole");
    let shape = [size, size];
    let mut field = (world.index(&shape, 0) + world.index(&shape, 1)).cast(DType::F64);
    let out = world.zeros(&shape);
    let mut inside = out.get(s![2..-2, 2..-2]);
    for _ in 0..turns {
        inside += field.stencil(&STAR, Boundary::Zero).get(s![2..-2, 2..-2]);
        field += 1.0;
        world.compute(&[&out, &field])?;
    }
    let norm = inside.abs().mean().item::<f64>()?;
    println!("norm {norm}");
    assert_eq!(norm, 2.0 * turns as f64);
    Ok(())
}
