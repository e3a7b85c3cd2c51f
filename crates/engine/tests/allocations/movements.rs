//! Repeating a movement allocates nothing.

use std::sync::atomic::Ordering;

use super::counting::ALLOCATIONS;
use pantile_comm::threads;
use pantile_engine::{DType, Engine, Error, Tile};
use pantile_geometry::Distribution;

/// Allocations of all ranks during the later runs of a movement.
fn allocations(ranks: usize, source: &str, target: &str) -> u64 {
    let (source, target): (Distribution, Distribution) =
        (source.parse().unwrap(), target.parse().unwrap());
    let results = threads::run(ranks, &Default::default(), |communicator| {
        let mut engine = Engine::new(communicator);
        engine.set_large_bytes(0);
        let movement = engine.movement("movement", &source, &target, DType::F64)?;
        let from = Tile::zeroed(DType::F64, movement.source_len());
        let mut to = Tile::zeroed(DType::F64, movement.target_len());
        for _ in 0..5 {
            engine.run(&movement, &from, &mut to)?;
        }
        engine.barrier()?;
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..20 {
            engine.run(&movement, &from, &mut to)?;
        }
        // Every rank has finished its runs when the first leaves this one.
        engine.run(&movement, &from, &mut to)?;
        Ok::<_, Error>(ALLOCATIONS.load(Ordering::Relaxed) - before)
    });
    results.into_iter().map(Result::unwrap).min().unwrap()
}

pub(crate) fn repeating_a_movement_allocates_nothing() {
    for (source, target) in [
        ("12x9 on r=3: block(r), whole", "12x9 on r=3: whole, block(r)"),
        ("12x9 on r=3: block(r), whole", "12x9 on r=3: cyclic(r, 2), whole"),
        ("12x9 on r=3: whole, whole; sum(r)", "12x9 on r=3: whole, whole"),
        ("12 on r=3: block(r)", "12 on r=3: block(r) halo 2"),
        ("12 on r=3: block(r) halo 2; sum(0)", "12 on r=3: block(r)"),
        ("7 on r=3: indexed(r, [0 4] [1 2 6] [3 5])", "7 on r=3: block(r)"),
    ] {
        assert_eq!(allocations(3, source, target), 0, "{source} -> {target}");
    }
}
