//! Columns of a table to mean 0 and deviation 1.
//!
//! `cargo run --release -p pantile --example standardise [-- ROWS COLUMNS]`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse());
    let rows: usize = numbers.next().unwrap_or(Ok(10_000))?;
    let columns: usize = numbers.next().unwrap_or(Ok(4))?;

    let world = pantile::session()?;
    let scale = world.arange(1.0, columns as f64 + 1.0, 1.0);
    let x = world.normal(42, &[rows, columns]) * &scale + &scale;
    let z = (&x - x.mean_along(&[0])) / x.std_along(&[0]);
    println!("means before:     {}", x.mean_along(&[0]));
    println!("deviations after: {}", z.std_along(&[0]));
    println!("largest mean after: {:e}", z.mean_along(&[0]).abs().max().item::<f64>()?);
    Ok(())
}
