//! Conjugate gradients for -u'' = 1 on a line, until the residual is small.
//!
//! `cargo run --release -p pantile --example cg [-- SIZE]`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use pantile::prelude::*;

/// The second difference with zeros beyond both ends.
fn apply(u: &Array) -> Array {
    let v = 2.0 * u;
    v.set(s![1..], v.get(s![1..]) - u.get(s![..-1]));
    v.set(s![..-1], v.get(s![..-1]) - u.get(s![1..]));
    v
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size: usize = std::env::args().nth(1).map_or(Ok(200), |text| text.parse())?;
    let world = pantile::session()?;
    let mut x = world.dist("block(r)").zeros(&[size]);
    let mut r = world.dist("block(r)").ones(&[size]);
    let mut p = r.copy();
    let mut rho = (&r * &r).sum();
    let mut turns = 0;
    while rho.item::<f64>()?.sqrt() > 1e-10 && turns < 10 * size {
        let q = apply(&p);
        let alpha = &rho / (&p * &q).sum();
        x += &alpha * &p;
        r -= &alpha * &q;
        let next = (&r * &r).sum();
        p = &r + (&next / &rho) * &p;
        rho = next;
        turns += 1;
    }
    println!("{turns} turns, residual {:e}", rho.item::<f64>()?.sqrt());
    println!("largest value {}", x.max().item::<f64>()?);
    Ok(())
}
