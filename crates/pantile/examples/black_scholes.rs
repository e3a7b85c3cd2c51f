//! Prices of options by the formula of Black and Scholes.
//!
//! `cargo run --release -p pantile --example black_scholes [-- COUNT]`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use pantile::prelude::*;

const RATE: f64 = 0.1;
const VOLATILITY: f64 = 0.2;

/// Calls and puts.
fn prices(price: &Array, strike: &Array, years: &Array) -> (Array, Array) {
    let discounted = (-RATE * years).exp() * strike;
    let spread = VOLATILITY * years.sqrt();
    let ratio = (price / strike).log() + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years;
    let one = &ratio / &spread;
    let two = &one - &spread;
    let normal = |x: &Array| 0.5 + 0.5 * (x * std::f64::consts::FRAC_1_SQRT_2).erf();
    let call = price * normal(&one) - &discounted * normal(&two);
    let put = &call - price + &discounted;
    (call, put)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    let world = pantile::session()?;
    let price = 10.0 + 40.0 * world.uniform(1, &[count]);
    let strike = 10.0 + 40.0 * world.uniform(2, &[count]);
    let years = 1.0 + 1.0 * world.uniform(3, &[count]);
    let (call, put) = prices(&price, &strike, &years);
    world.compute(&[&call, &put])?;
    println!(
        "first option: call {}, put {}",
        call.get(s![0]).item::<f64>()?,
        put.get(s![0]).item::<f64>()?
    );
    println!("all options:  call {}, put {}", call.sum().item::<f64>()?, put.sum().item::<f64>()?);
    Ok(())
}
