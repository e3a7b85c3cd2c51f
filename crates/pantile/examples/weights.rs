//! The movements of a distributed linear layer: weights are broadcast, partial results summed, and
//! the gradients go back along the adjoints, which nobody had to write.
//!
//!     cargo run -p pantile --example weights
//!     mpirun -n 3 target/debug/examples/weights                   # built with --features mpi
#![allow(clippy::print_stdout, reason = "an example shows something")]

use pantile::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let results = pantile::run(|world| {
        let all = world.partition();
        let workers = all.create_cartesian_topology_partition(&[world.size()])?;
        let root =
            all.create_partition_inclusive(&[0])?.create_cartesian_topology_partition(&[1])?;
        let spread = Broadcast::new(&root, &workers)?;
        let total = SumReduce::new(&workers, &root)?;

        // Forward: y = sum over ranks of (rank + 1) * w.
        let w =
            if root.active() { Tensor::from_vec(&[2], vec![3.0, 4.0])? } else { Tensor::empty() };
        let everywhere = spread.forward(&w)?;
        let scale = (world.rank() + 1) as f64;
        let partial = Tensor::from_fn(&[2], |at| scale * everywhere.as_slice()[at[0]]);
        let y = total.forward(&partial)?;

        // Backward: the adjoints in reverse order.
        let dy = if root.active() { Tensor::full(&[2], 1.0) } else { Tensor::empty() };
        let back = total.adjoint(&dy)?;
        let gradient = Tensor::from_fn(&[2], |at| scale * back.as_slice()[at[0]]);
        let dw = spread.adjoint(&gradient)?;
        Ok::<_, Error>((world.size(), y.to_vec(), dw.to_vec()))
    })?;
    let (size, y, dw) = &results[0];
    let factor = (size * (size + 1) / 2) as f64;
    if !y.is_empty() {
        println!("{size} ranks: y = {y:?}, dw = {dw:?}");
        assert_eq!((y, dw), (&vec![3.0 * factor, 4.0 * factor], &vec![factor; 2]));
    }
    Ok(())
}
