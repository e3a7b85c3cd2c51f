//! `pantile run --member`: each rank makes its own program by the passes, and executes it.

use std::time::Instant;

use anyhow::{Error, Result, bail};
use pantile::Launch;
use pantile::launch::Environment;
use pantile::npy::{NpyError, NpyFile};
use pantile::spmd::RankContext;
use pantile_engine::Tile;
use pantile_ir::Program;
use pantile_member::{MemberRunError, MemberSetting, MemberWay};

use super::results::Outputs;
use super::{Arguments, failures};
use crate::numbers::{plural, seconds};
use crate::program::Bound;
use crate::report::Report;

/// A program with everything that its members need.
struct MemberJob {
    program: Program,
    setting: MemberSetting,
    files: Vec<NpyFile>,
    outputs: Outputs,
}

/// Runs a program on ranks that this process hosts, or is one of.
pub(super) fn here(
    arguments: &Arguments,
    bound: Bound,
    launch: &Launch,
    mut notes: Vec<String>,
) -> Result<Report> {
    let Some(ranks) = launch.ranks() else {
        bail!("the launcher does not say how many processes there are: say -n");
    };
    bound.check_lengths()?;
    let teams = arguments.options.setting(ranks, None)?.teams;
    let setting = MemberSetting { teams, arguments: Some(bound.types), by_operation: false };
    let mut shapes = Vec::new();
    for ty in pantile_member::result_types(&bound.program, &setting) {
        let shape: Option<Vec<usize>> = ty.shape().iter().copied().collect();
        match shape.zip(ty.dtype()) {
            Some(known) => shapes.push(known),
            None => bail!("the lengths of a result ({ty}) are not known before the program runs"),
        }
    }
    let mut outputs = Outputs::new(&bound.program, shapes, &arguments.outputs)?;
    if Environment::of_process().is_first_process() {
        outputs.try_files()?;
    }
    let program = outputs.with_sums(&bound.program).unwrap_or(bound.program);
    let files = bound.files.into_iter().flatten().collect();
    let job = MemberJob { program, setting, files, outputs };
    let start = Instant::now();
    let done = failures::first(launch.run_ranks(|rank| job.run(rank))?)?;
    let Some((text, way)) = done else { return Ok(Report::default()) };
    let how = match way {
        MemberWay::Members => "a program for each".to_owned(),
        MemberWay::Operations { reason } => {
            let reason = reason.map(|reason| format!("; {reason}")).unwrap_or_default();
            format!("operation by operation{reason}")
        }
    };
    let (ranks, backend) = (plural(ranks as u128, "rank"), launch.backend().name());
    let took = seconds(start.elapsed().as_secs_f64());
    notes.push(format!("{ranks} ({backend}), {took}, {how}"));
    Ok(Report::text(text).with_notes(notes))
}

impl MemberJob {
    /// Runs the program on one rank; rank 0 gives the text of the results.
    fn run(&self, context: &RankContext) -> Result<Option<(String, MemberWay)>> {
        let (rank, ranks) = (context.rank(), context.size());
        let homes = pantile_member::argument_homes(&self.program, &self.setting, ranks)?;
        let files = self.files.iter().zip(&homes);
        let tiles = files.map(|(file, home)| file.tile(home, rank));
        let tiles = tiles.collect::<Result<Vec<Tile>, NpyError>>()?;
        let mut engine = context.engine();
        let run = pantile_member::run(&mut engine, &self.program, &self.setting, &tiles);
        let run = run.map_err(|error| match error {
            // An error of the engine tells who began.
            MemberRunError::Engine(error) => Error::new(error),
            other => Error::new(other),
        })?;
        let (homes, tiles): (Vec<_>, Vec<_>) =
            run.results.into_iter().map(|result| (result.home, result.tile)).unzip();
        let text = self.outputs.finish(&mut engine, &homes, &tiles)?;
        Ok((rank == 0).then_some((text, run.way)))
    }
}
