//! Runs a compiled program without arguments on threads.

use std::sync::Arc;

use pantile_comm::threads;
use pantile_engine::{Engine, Error, Runner};
use pantile_lower::Executable;

/// What every rank has after so many runs, and the messages and bytes of all of them together.
pub(crate) fn run(executable: &Arc<Executable>, times: usize) -> (Vec<Vec<u8>>, u64, u64) {
    let options = pantile_comm::Options::default();
    let results = threads::run(executable.ranks, &options, |communicator| {
        let mut engine = Engine::new(communicator);
        let mut runner = Runner::new(&mut engine, Arc::clone(executable))?;
        let mut made = Vec::new();
        for _ in 0..times {
            made = runner.run(&mut engine, &[])?;
        }
        let bytes: Vec<u8> = made.iter().flat_map(|tile| tile.as_bytes().to_vec()).collect();
        Ok::<_, Error>((bytes, engine.counters()))
    });
    let mut all = (Vec::new(), 0, 0);
    for result in results {
        let (bytes, counters) = result.unwrap();
        all.0.push(bytes);
        all.1 += counters.messages;
        all.2 += counters.bytes;
    }
    all
}
