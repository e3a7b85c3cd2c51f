//! The heat equation by slices: one plate, hot at one edge.
//!
//! `cargo run --release -p pantile --example jacobi [-- SIZE TURNS]`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use pantile::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse());
    let size: usize = numbers.next().unwrap_or(Ok(64))?;
    let turns: usize = numbers.next().unwrap_or(Ok(100))?;

    let world = pantile::session()?;
    let u = world.dist("block(r), whole").zeros(&[size, size]);
    u.set(s![0, ..], 100.0);
    for _ in 0..turns {
        let near = u.get(s![..-2, 1..-1])
            + u.get(s![2.., 1..-1])
            + u.get(s![1..-1, ..-2])
            + u.get(s![1..-1, 2..]);
        u.set(s![1..-1, 1..-1], 0.25 * near);
    }
    println!("heat of the plate: {}", u.sum().item::<f64>()?);
    println!("warmest inside:    {}", u.get(s![1..-1, 1..-1]).max().item::<f64>()?);
    Ok(())
}
