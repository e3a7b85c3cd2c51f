//! The Rust in docs/rust.md is Rust that runs.

use pantile::prelude::*;
use pantile::{Plan, Schedule};

#[rustfmt::skip]
fn first_example() -> Result<(), Box<dyn std::error::Error>> {
    pantile::run(|world| {
        let rows: Distribution = format!("6x4 on r={}: block(r) halo 1, whole", world.size()).parse()?;
        let columns: Distribution = format!("6x4 on r={}: whole, block(r)", world.size()).parse()?;
        let mut array = DistArray::from_fn(world, &rows, |at| (10 * at[0] + at[1]) as f64);
        array.local_mut()?.iter_mut().for_each(|x| *x *= 2.0);   // halos are stale now
        array.exchange_halo()?;                                  // and filled again, in place
        let turned = array.redistribute(&columns)?;              // rows to columns
        let back = turned.redistribute_adjoint(&rows)?;          // the adjoint is derived
        assert_eq!(back.shape(), [6, 4]);
        let whole = turned.gather(0)?;                           // the whole array, on rank 0
        assert_eq!(whole.is_some(), world.rank() == 0);
        Ok::<_, Error>(())
    })?;
    Ok(())
}

fn second_example() -> Result<(), Box<dyn std::error::Error>> {
    let blocks: Distribution = "8 on r=4: block(r)".parse()?;
    let halos: Distribution = "8 on r=4: block(r) halo 1".parse()?;
    let exchange = Plan::between(&blocks, &halos)?;
    assert_eq!(exchange.moved(), 6);
    assert_eq!(exchange.adjoint()?, Plan::between(&halos.dual()?, &blocks.dual()?)?);
    assert_eq!(exchange.for_rank(2), Schedule::between(&blocks, &halos, 2)?);
    Ok(())
}

#[rustfmt::skip]
fn array_example() -> Result<(), Box<dyn std::error::Error>> {
    let session = pantile::session()?;                     // threads, or the processes of mpirun
    let u = session.zeros(&[64, 64]);
    u.set(s![16..48, 16..48], 100.0);
    for _ in 0..10 {
        let near = u.get(s![..-2, 1..-1]) + u.get(s![2.., 1..-1])
            + u.get(s![1..-1, ..-2]) + u.get(s![1..-1, 2..]);
        u.set(s![1..-1, 1..-1], 0.25 * near);              // halos travel when it runs
    }
    assert_eq!(u.max().item::<f64>()?, 100.0);             // now it runs
    Ok(())
}

#[test]
fn the_examples_hold() {
    array_example().unwrap();
    first_example().unwrap();
    second_example().unwrap();
    let here: Vec<&str> = include_str!("readme.rs").lines().map(str::trim).collect();
    let page = include_str!("../../../../docs/rust.md");
    let blocks = page.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    for line in blocks.flat_map(str::lines).map(str::trim) {
        let header = line.starts_with("use ") || line.starts_with("fn main()");
        assert!(
            header || here.contains(&line),
            "docs/rust.md has a line that is not tested: {line}"
        );
    }
}
