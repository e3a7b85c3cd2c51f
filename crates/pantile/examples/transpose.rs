//! A matrix that is transposed and added up, as in the Parallel Research Kernels: rows of both
//! matrices are cut into blocks, so every turn moves nearly all elements between ranks.
//!
//! `cargo run --release -p pantile --example transpose [-- ORDER TURNS]`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use pantile::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse());
    let order: u32 = numbers.next().unwrap_or(Ok(100))?;
    let turns: u32 = numbers.next().unwrap_or(Ok(11))?;

    let world = pantile::session()?.dist("block(r), whole");
    let shape = [order as usize, order as usize];
    let (row, column) = (world.index(&shape, 0), world.index(&shape, 1));
    let mut a = (&row * i64::from(order) + &column).cast(DType::F64);
    let mut b = world.zeros(&shape);
    for _ in 0..turns {
        b += a.t();
        a += 1.0;
        world.compute(&[&a, &b])?;
    }

    // What b has to be, from the indices alone.
    let (turns, added) = (f64::from(turns), f64::from(turns * (turns.max(1) - 1) / 2));
    let expected = (&column * i64::from(order) + &row).cast(DType::F64) * turns + added;
    let error = (&b - expected).norm1().item::<f64>()?;
    println!("error {error}, total {}", b.sum().item::<f64>()?);
    assert_eq!(error, 0.0);
    Ok(())
}
