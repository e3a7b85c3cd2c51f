//! Heat spreads on a plate that is cut over the ranks: halos are exchanged in every step, and the
//! result is the same on any number of ranks.
//!
//!     cargo run --release -p pantile --example heat                          # threads, one per core
//!     mpirun -n 4 target/release/examples/heat                    # built with --features mpi
#![allow(clippy::print_stdout, reason = "an example shows something")]

use pantile::prelude::*;

const N: usize = 64;
const STEPS: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sums = pantile::run(|world| {
        let rows = Mesh::line(world.size())?;
        let plate =
            Distribution::new(&[N, N], rows, vec![Axis::block(&["r"]).halo(1, 1), Axis::whole()])?;
        // One hot spot in the middle; every rank also fills its halo, from the same formula.
        let mut now =
            DistArray::from_fn(world, &plate, |at| f64::from(u8::from(at == [N / 2, N / 2])));
        for _ in 0..STEPS {
            let next = step(&now);
            now.local_mut()?.copy_from_slice(&next);
            now.exchange_halo()?;
        }
        let whole = now.gather(0)?;
        Ok::<_, Error>(whole.map(|plate| plate.as_slice().iter().sum::<f64>()))
    })?;
    for sum in sums.into_iter().flatten() {
        println!("heat on the plate after {STEPS} steps: {sum:.12}");
        assert!((sum - 0.998_249_093_062).abs() < 1e-12, "heat is lost at the cold edge only");
    }
    Ok(())
}

/// One step on this rank's tile; edge cells of the plate stay as they are.
fn step(plate: &DistArray<f64>) -> Vec<f64> {
    let (old, mut new) = (plate.local(), plate.local().to_vec());
    let rows = plate.local_shape().map_or(0, |shape| shape[0]);
    for row in 1..rows.max(1) - 1 {
        for column in 1..N - 1 {
            let at = row * N + column;
            let around = old[at - N] + old[at + N] + old[at - 1] + old[at + 1];
            new[at] = old[at] + 0.2 * (around - 4.0 * old[at]);
        }
    }
    new
}
