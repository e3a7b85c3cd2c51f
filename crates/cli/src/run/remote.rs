//! A program on the workers of a cluster.
//!
//! ```text
//! files ── tiles of every rank ──> workers    put
//!          the program, as text ─>            run: elements stay there
//! files, standard output <── tiles of those ranks that are wanted
//! ```

use anyhow::{Error, Result, anyhow, bail};
use pantile::launch::Environment;
use pantile::program::CompiledProgram;
use pantile::{Backend, Launch};
use pantile_engine::Tile;
use pantile_ir::Program;

use super::results::Outputs;
use super::{Arguments, bind, compile, failures, here, job, memory};
use crate::cluster::offload::{self, OffloadEstimate};
use crate::cluster::target::is_near;
use crate::numbers::bytes;
use crate::program::{Bound, Options};
use crate::report::Report;

/// Runs a program on a cluster, or here if that is cheaper.
pub(super) fn run(
    arguments: &Arguments,
    program: &Program,
    address: &str,
    mut notes: Vec<String>,
) -> Result<Report> {
    if arguments.progress || arguments.trace.is_some() {
        bail!("--progress and --trace see ranks of this process only, not those of a cluster");
    }
    if let Some(scheme) = arguments.scheme {
        bail!(
            "--scheme {scheme} is for ranks of this process: those of a cluster have what was said \
             when its workers were started (pantile worker --scheme)"
        );
    }
    let asked = arguments.threads.map(|threads| usize::try_from(threads).unwrap_or(usize::MAX));
    let threads = asked.map_or_else(|| Environment::of_process().threads(), Ok)?;
    let bound = bind(arguments, program)?;
    let cluster = arguments.target.connect(address, &arguments.options)?;
    let ranks = cluster.ranks();
    let options = (&arguments.options, &arguments.outputs[..]);
    let (program, outputs) = compile(options.0, options.1, &bound, (false, ranks))?;
    if !arguments.always_ship {
        let weighed = compare(options, &bound, (&program, &outputs), is_near(address))?;
        if !weighed.is_worthwhile() {
            drop(cluster);
            let ranks = arguments.options.said_ranks()?.unwrap_or(1);
            notes.push(format!("not shipped, {} (--always-ship)", weighed.why()));
            let launch = arguments.launch(Some(Backend::Threads), Some(ranks))?;
            return here(arguments, bound, &launch, notes);
        }
    }
    // What workers have they know best; a limit that somebody states holds everywhere.
    if arguments.memory.is_some() {
        memory::check(program.executable(), arguments.memory)?;
    }
    outputs.try_files()?;
    let files: Vec<_> = bound.files.into_iter().flatten().collect();
    let mut executor = cluster.into_executor();
    executor.set_threads(threads)?;
    let (tiles, cost) = program.run_on(
        &mut executor,
        |at, rank| Ok::<_, Error>(files[at].tile(program.argument(at), rank)?),
        |at, rank| outputs.wants(program.result(at), at, rank),
    )?;
    let traffic = executor.traffic().unwrap_or_default();
    // Sessions are not kept longer than they are needed.
    drop(executor);
    notes.push(job::note(&cost, ranks, "cluster"));
    let (up, down) = (bytes(traffic.bytes_up.into()), bytes(traffic.bytes_down.into()));
    notes.push(format!("{up} to the workers, {down} from them"));
    Ok(Report::text(finish(&program, &outputs, &tiles)?).with_notes(notes))
}

/// Compares so many ranks of a cluster with one rank here, for a program whose results are printed.
///
/// # Errors
/// The program cannot be lowered for these ranks.
pub(crate) fn weigh(
    options: &Options,
    bound: &Bound,
    ranks: usize,
    near: bool,
) -> Result<OffloadEstimate> {
    let (there, outputs) = compile(options, &[], bound, (false, ranks))?;
    compare((options, &[]), bound, (&there, &outputs), near)
}

fn compare(
    (options, names): (&Options, &[(String, String)]),
    bound: &Bound,
    (there, outputs): (&CompiledProgram, &Outputs),
    near: bool,
) -> Result<OffloadEstimate> {
    // A program that is for more ranks cannot be had on one.
    let home = compile(options, names, bound, (true, 1)).ok();
    let home = home.as_ref().map(|(home, _)| &**home.executable());
    let travel = (offload::argument_bytes(there.executable()), fetched(there, outputs));
    offload::estimate(home, there.executable(), travel, near)
}

/// Bytes of results that are fetched.
fn fetched(program: &CompiledProgram, outputs: &Outputs) -> u128 {
    let executable = program.executable();
    let wanted = |(at, rank): (usize, usize)| {
        let (slot, _) = executable.results[at];
        let owned = program.result(at).owned_elements(rank).map_or(0, |owned| owned.len());
        match outputs.wants(program.result(at), at, rank) {
            true => owned * executable.slots[slot.index()].dtype.bytes(),
            false => 0,
        }
    };
    let results = 0..executable.results.len();
    let pairs = results.flat_map(|at| (0..executable.ranks).map(move |rank| (at, rank)));
    pairs.map(|pair| wanted(pair) as u128).sum()
}

/// Writes and prints what was fetched as if it had been computed by so many threads.
fn finish(program: &CompiledProgram, outputs: &Outputs, tiles: &[Vec<Tile>]) -> Result<String> {
    let launch = Launch::threads(program.executable().ranks);
    let homes = job::homes(program);
    let results = launch.run_ranks(|rank| {
        let text = outputs.finish(&mut rank.engine(), &homes, &tiles[rank.rank()])?;
        Ok::<_, Error>((rank.rank() == 0).then_some(text))
    })?;
    failures::first(results)?.ok_or_else(|| anyhow!("rank 0 has nothing to say"))
}
