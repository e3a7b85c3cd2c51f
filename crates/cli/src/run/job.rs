//! What one rank does.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use pantile::npy::{NpyError, NpyFile};
use pantile::program::{CompiledProgram, RunCost};
use pantile::spmd::RankContext;
use pantile_engine::{Event, Tile};
use pantile_geometry::Distribution;

use super::results::Outputs;
use super::trace::{self, Watcher};
use crate::numbers::{bytes, plural, seconds};

/// A program with everything that its ranks need.
pub(super) struct Job {
    pub(super) program: CompiledProgram,
    /// What is given for its arguments.
    pub(super) files: Vec<NpyFile>,
    pub(super) outputs: Outputs,
    pub(super) progress: bool,
    pub(super) trace: Option<PathBuf>,
}

/// What a run took, for standard error.
pub(super) fn note(cost: &RunCost, ranks: usize, backend: &str) -> String {
    format!(
        "{} ({}), {} in {}, {}",
        plural(ranks as u128, "rank"),
        backend,
        bytes(cost.bytes.into()),
        plural(cost.messages, "message"),
        seconds(cost.took.as_secs_f64())
    )
}

/// Where the results of a program live.
pub(super) fn homes(program: &CompiledProgram) -> Vec<Distribution> {
    (0..program.executable().results.len()).map(|at| program.result(at).clone()).collect()
}

impl Job {
    /// Runs the program on one rank; rank 0 gives the text of the results, and what they took.
    pub(super) fn run(&self, context: &RankContext) -> Result<Option<(String, RunCost)>> {
        let rank = context.rank();
        let files = self.files.iter().enumerate();
        let arguments = files.map(|(at, file)| file.tile(self.program.argument(at), rank));
        let arguments = arguments.collect::<Result<Vec<Tile>, NpyError>>()?;
        let arguments: Vec<&Tile> = arguments.iter().collect();
        let mut on_rank = self.program.on_rank(context)?;
        let tells = self.progress && rank == 0;
        let executable = self.program.executable();
        let mut watcher = (self.trace.is_some() || tells)
            .then(|| Watcher::new(executable, Instant::now(), tells));
        let (results, cost) = match &mut watcher {
            None => on_rank.run(&arguments, None)?,
            Some(watcher) => {
                on_rank.run(&arguments, Some(&mut |event: &Event| watcher.see(event)))?
            }
        };
        drop(on_rank);
        let mut engine = context.engine();
        if let (Some(path), Some(watcher)) = (&self.trace, &watcher) {
            let events = watcher.text(rank, self.trace.is_some());
            trace::write(&mut engine, path, &events)?;
        }
        let text = self.outputs.finish(&mut engine, &homes(&self.program), &results)?;
        Ok((rank == 0).then_some((text, cost)))
    }
}
