//! A program on the workers of a cluster.
//!
//! ```text
//! files ── tiles of every rank ──> workers    put
//!          the program, as text ─>            run: elements stay there
//! files, standard output <── tiles of those ranks that are wanted
//! ```

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use pantile_cluster::{Cluster, Meter};
use pantile_comm::{Options as World, threads};
use pantile_engine::{ArrayId, Crew, Engine, Tile};
use pantile_geometry::Fingerprint;
use pantile_ir::Program;
use pantile_ir::lower::{Executable, Recipe};

use super::job::{Done, argument};
use super::results::Outputs;
use super::{Arguments, Backend, Prepared, bind, here, launch, memory, prepare};
use crate::cluster::gate::{self, Weighed};
use crate::cluster::target::is_near;
use crate::npy::Source;
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
    let threads = launch::threads(arguments.threads)?;
    let bound = bind(arguments, program)?;
    let cluster = arguments.target.connect(address, &arguments.options)?;
    let ranks = cluster.ranks();
    let options = (&arguments.options, &arguments.outputs[..]);
    let prepared = prepare(options.0, options.1, &bound, (false, ranks))?;
    if !arguments.always_ship {
        let weighed = compare(options, &bound, &prepared, is_near(address))?;
        if !weighed.ships() {
            drop(cluster);
            let ranks = arguments.options.said_ranks()?.unwrap_or(1);
            notes.push(format!("not shipped, {} (--always-ship)", weighed.why()));
            return here(arguments, bound, (Backend::Threads, ranks), (threads, notes));
        }
    }
    // What workers have they know best; a limit that somebody states holds everywhere.
    if arguments.memory.is_some() {
        memory::check(&prepared.executable, arguments.memory)?;
    }
    prepared.outputs.try_files()?;
    let files: Vec<Source> = bound.files.into_iter().flatten().collect();
    let (done, meter) = ship(cluster, prepared, &files, threads)?;
    notes.push(done.note(ranks, "cluster"));
    let traffic = meter.read();
    let (up, down) = (bytes(traffic.bytes_up.into()), bytes(traffic.bytes_down.into()));
    notes.push(format!("{up} to the workers, {down} from them"));
    Ok(Report::text(done.text).with_notes(notes))
}

/// Compares so many ranks of a cluster with one rank here, for a program whose results are printed.
///
/// # Errors
/// The program cannot be lowered for these ranks.
pub(crate) fn weigh(options: &Options, bound: &Bound, ranks: usize, near: bool) -> Result<Weighed> {
    let there = prepare(options, &[], bound, (false, ranks))?;
    compare((options, &[]), bound, &there, near)
}

fn compare(
    (options, outputs): (&Options, &[(String, String)]),
    bound: &Bound,
    there: &Prepared,
    near: bool,
) -> Result<Weighed> {
    // A program that is for more ranks cannot be had on one.
    let home = prepare(options, outputs, bound, (true, 1)).ok();
    let home = home.as_ref().map(|home| &home.executable);
    let travel = (gate::given(&there.executable), fetched(&there.executable, &there.outputs));
    gate::weigh(home, &there.executable, travel, near)
}

/// Bytes of results that are fetched.
fn fetched(executable: &Executable, outputs: &Outputs) -> u128 {
    let wanted = |(at, rank): (usize, usize)| {
        let (slot, _) = executable.results[at];
        let owned =
            executable.local_owned(slot, rank).map_or(0, |(shape, _)| shape.iter().product());
        match outputs.wants(executable, at, rank) {
            true => owned * executable.slots[slot.index()].dtype.bytes(),
            false => 0,
        }
    };
    let results = 0..executable.results.len();
    let pairs = results.flat_map(|at| (0..executable.ranks).map(move |rank| (at, rank)));
    pairs.map(|pair| wanted(pair) as u128).sum()
}

/// Gives the workers everything, lets them run, and fetches what is wanted.
fn ship(
    cluster: Cluster,
    prepared: Prepared,
    files: &[Source],
    threads: usize,
) -> Result<(Done, Meter)> {
    let Prepared { executable, outputs, program, setting } = prepared;
    let (ranks, meter) = (cluster.ranks(), cluster.meter());
    let mut crew = cluster.into_crew();
    crew.set_threads(threads)?;
    for (at, file) in files.iter().enumerate() {
        let tiles = (0..ranks).map(|rank| argument(&executable, (at, file), rank));
        let mut tiles = tiles.collect::<Result<Vec<Tile>>>()?;
        let nothing = || Tile::zeroed(file.dtype(), 0);
        crew.put(ArrayId(at as u64), |rank| std::mem::replace(&mut tiles[rank], nothing()))?;
    }
    let results = executable.results.len();
    let executable = Arc::new(executable);
    let recipe = Recipe::Program(Arc::new(program), Box::new(setting));
    let ids = |from: usize, count: usize| (from..from + count).map(|id| ArrayId(id as u64));
    let job = pantile_engine::Job {
        key: Fingerprint::of(&recipe.to_string()).0,
        executable: Arc::clone(&executable),
        recipe: Arc::new(recipe),
        numbers: Vec::new(),
        arguments: ids(0, files.len()).collect(),
        results: ids(files.len(), results).collect(),
        forget: Vec::new(),
        light: false,
    };
    let (before, start) = (crew.counters(), Instant::now());
    crew.run(&Arc::new(job))?;
    let took = start.elapsed();
    let after = crew.counters();
    let messages = after.messages.saturating_sub(before.messages);
    let bytes = after.bytes.saturating_sub(before.bytes);
    let names: Vec<ArrayId> = ids(files.len(), results).collect();
    let tiles = fetch(&mut crew, &executable, &outputs, &names)?;
    // Sessions are not kept longer than they are needed.
    drop(crew);
    let text = finish(&executable, &outputs, &tiles)?;
    Ok((Done { text, messages, bytes, took }, meter))
}

/// What is wanted of results, for every rank.
fn fetch(
    crew: &mut Crew,
    executable: &Executable,
    outputs: &Outputs,
    names: &[ArrayId],
) -> Result<Vec<Vec<Tile>>> {
    let mut tiles: Vec<Vec<Tile>> = (0..executable.ranks).map(|_| Vec::new()).collect();
    for (at, id) in names.iter().enumerate() {
        let (slot, _) = executable.results[at];
        let dtype = executable.slots[slot.index()].dtype;
        for own in &mut tiles {
            own.push(Tile::zeroed(dtype, 0));
        }
        let wanted: Vec<usize> =
            (0..executable.ranks).filter(|rank| outputs.wants(executable, at, *rank)).collect();
        for (rank, tile) in crew.get(*id, &wanted)? {
            let owned = executable.local_owned(slot, rank);
            let expected = owned.map_or(0, |(shape, _)| shape.iter().product());
            if (tile.dtype(), tile.len()) != (dtype, expected) {
                bail!(
                    "rank {rank} gave {} elements of {} for result {at}, expected {expected} of \
                     {dtype}",
                    tile.len(),
                    tile.dtype()
                );
            }
            tiles[rank][at] = Arc::try_unwrap(tile).unwrap_or_else(|tile| Tile::clone(&tile));
        }
    }
    Ok(tiles)
}

/// Writes and prints what was fetched as if it had been computed by so many threads.
fn finish(executable: &Executable, outputs: &Outputs, tiles: &[Vec<Tile>]) -> Result<String> {
    let results = threads::run(executable.ranks, &World::default(), |communicator| {
        let mut engine = Engine::new(communicator);
        let rank = engine.rank();
        let text = outputs.finish(&mut engine, executable, &tiles[rank])?;
        Ok::<_, anyhow::Error>((rank == 0).then_some(text))
    });
    launch::first(results)?.ok_or_else(|| anyhow!("rank 0 has nothing to say"))
}
