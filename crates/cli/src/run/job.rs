//! What one rank does.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use pantile_comm::{Call, Communicator};
use pantile_engine::{Engine, Runner, Scheme, Tile};
use pantile_ir::lower::Executable;

use super::results::Outputs;
use super::trace::{self, Watcher};
use crate::npy::{Share, Source};
use crate::numbers::{bytes, plural, seconds};

/// A program with everything that its ranks need.
pub(super) struct Job {
    pub(super) executable: Arc<Executable>,
    /// Threads of each rank.
    pub(super) threads: usize,
    /// How they cut the loops that they share.
    pub(super) scheme: Scheme,
    /// What is given for its arguments.
    pub(super) files: Vec<Source>,
    pub(super) outputs: Outputs,
    pub(super) progress: bool,
    pub(super) trace: Option<PathBuf>,
}

/// What rank 0 has to say in the end.
pub(super) struct Done {
    /// For standard output.
    pub(super) text: String,
    pub(super) messages: u64,
    pub(super) bytes: u64,
    pub(super) took: Duration,
}

impl Done {
    /// What the run cost, for standard error.
    pub(super) fn note(&self, ranks: usize, backend: &str) -> String {
        format!(
            "{} ({}), {} in {}, {}",
            plural(ranks as u128, "rank"),
            backend,
            bytes(self.bytes.into()),
            plural(self.messages, "message"),
            seconds(self.took.as_secs_f64())
        )
    }
}

impl Job {
    /// Runs the program on one rank; rank 0 gives what there is to say.
    pub(super) fn run(&self, communicator: Communicator) -> Result<Option<Done>> {
        let mut engine = Engine::new(communicator);
        engine.set_threads(self.threads)?;
        engine.set_scheme(self.scheme);
        let rank = engine.rank();
        let arguments = self.arguments(rank)?;
        let mut runner = Runner::new(&mut engine, Arc::clone(&self.executable))?;
        engine.barrier()?;
        let (before, start) = (engine.counters(), Instant::now());
        let watches = self.trace.is_some() || (self.progress && rank == 0);
        let mut watcher =
            watches.then(|| Watcher::new(&self.executable, start, self.progress && rank == 0));
        let arguments: Vec<&Tile> = arguments.iter().collect();
        let results = match &mut watcher {
            None => runner.run_on(&mut engine, &arguments)?,
            Some(watcher) => {
                runner.run_watched(&mut engine, &arguments, &mut |event| watcher.see(event))?
            }
        };
        let took = start.elapsed();
        let after = engine.counters();
        let sent = [after.messages - before.messages, after.bytes - before.bytes];
        drop(runner);
        let sent = total(&mut engine, sent)?;
        if let (Some(path), Some(watcher)) = (&self.trace, &watcher) {
            let events = watcher.text(rank, self.trace.is_some());
            trace::write(&mut engine, path, &events)?;
        }
        let text = self.outputs.finish(&mut engine, &self.executable, &results)?;
        let done = Done { text, messages: sent[0], bytes: sent[1], took };
        Ok((rank == 0).then_some(done))
    }

    fn arguments(&self, rank: usize) -> Result<Vec<Tile>> {
        let numbered = self.files.iter().enumerate();
        numbered.map(|(at, file)| argument(&self.executable, (at, file), rank)).collect()
    }
}

/// The elements of an argument that a rank owns, from a file.
pub(super) fn argument(
    executable: &Executable,
    (at, file): (usize, &Source),
    rank: usize,
) -> Result<Tile> {
    let (slot, _) = &executable.arguments[at];
    file.tile(Share::of(&executable.slots[slot.index()].home, rank).as_ref())
}

/// Numbers of all ranks added up.
fn total(engine: &mut Engine, own: [u64; 2]) -> Result<[u64; 2]> {
    let team: Vec<usize> = (0..engine.size()).collect();
    let record: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
    let records = engine.gather(&Call::here("counters", 0), &team, &record)?;
    let mut sum = [0_u64; 2];
    for record in records {
        for (sum, part) in sum.iter_mut().zip(record.chunks_exact(8)) {
            let part = part.try_into().map_err(|_| anyhow!("a record of counters is too short"))?;
            *sum += u64::from_le_bytes(part);
        }
    }
    Ok(sum)
}
