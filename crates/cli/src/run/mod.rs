//! `pantile run`: a program on ranks.
//!
//! ```text
//! file -> program -> bound to what is given -> executable -> (job) on every rank
//!      -> results: to files, each rank its part, or to standard output
//! ```
//!
//! Standard output is the same for every number of ranks, backend and machine; what is not goes to
//! standard error.

mod device;
mod failures;
mod job;
mod member;
mod memory;
mod remote;
mod results;
mod trace;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use pantile::launch::{Choice, Environment};
use pantile::program::CompiledProgram;
use pantile::{Backend, Launch, Scheme};
use pantile_ir::Program;

use crate::cluster::target::ClusterTarget;
use crate::numbers;
use crate::program::{self, Bound, Options};
use crate::report::Report;
use job::Job;
use results::Outputs;

pub(crate) use remote::weigh;

#[derive(Args)]
#[command(after_help = "\
Arguments and results of the program are named as in its text, without `%`, or by position.
Results without --out are printed: single elements and arrays of up to 1,000 elements as they are,
larger ones by their ends and their sum. What is printed does not depend on the number of ranks.

Started by mpirun or srun (and built with the feature `mpi`), each process is a rank. The command of
the Python package also takes a file of Python: `pantile run X.py -n 4` launches it on MPI.

With --cluster, or PANTILE_CLUSTER=HOST:PORT in the environment, ranks are on the workers of a
coordinator. What is predicted to be done sooner here than there runs here, and is said to.

Examples:
  pantile run examples/heat.dist
  pantile run examples/heat.dist -n 4 --out u=heat.npy
  pantile run scale.dist --arg x=data.npy --arg factor=2.5 --out y=scaled.npy
  pantile run examples/heat.dist --cluster 127.0.0.1:7420
  mpirun -n 4 pantile run examples/heat.dist")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Threads of each rank, which share its large loops, with the same results [default:
    /// PANTILE_THREADS, else 1]
    #[arg(long, value_name = "N", value_parser = numbers::up_to(256),
          allow_negative_numbers = true)]
    threads: Option<u32>,
    /// How the threads of a rank cut the loops that they share: EVEN, STATIC, SS, GSS, TSS, FAC2,
    /// TFSS, FISS, VISS, PLS, PSS, MSTATIC, MFSC or AUTO, with the same results [default:
    /// PANTILE_SCHEME, else EVEN]
    #[arg(long, value_name = "NAME")]
    scheme: Option<Scheme>,
    /// What ranks are [default: threads; mpi if started by mpirun or srun]
    #[arg(long, value_enum)]
    backend: Option<BackendArgument>,
    /// Write a result into a file: y=result.npy, or by position, 0=result.npy
    #[arg(long = "out", value_name = "NAME=FILE", value_parser = program::parse_pair)]
    outputs: Vec<(String, String)>,
    /// Each rank makes a program of its own by the passes `distribute`, `coalesce`, `cores`, `member` and
    /// `overlap`, and executes that; with the same results
    #[arg(long, conflicts_with_all = ["cluster", "progress", "trace", "fast", "steps_per_exchange"])]
    member: bool,
    /// Refuse programs that ask for a device other than the CPU
    #[arg(long)]
    strict_device: bool,
    /// Say now and then how far loops are
    #[arg(long)]
    progress: bool,
    /// Write what every rank did when into this file (Chrome trace events)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Memory that each rank may use, for example 16G [default: what is free, divided]
    #[arg(long, value_name = "BYTES", value_parser = numbers::parse_bytes)]
    memory: Option<usize>,
    #[command(flatten)]
    target: ClusterTarget,
    /// Run on the cluster also what is cheaper here
    #[arg(long)]
    always_ship: bool,
}

/// What ranks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendArgument {
    /// Threads of this process
    Threads,
    /// Simulated: one after the other, messages delayed at random
    Sim,
    /// Processes of an MPI job
    Mpi,
}

impl From<BackendArgument> for Backend {
    fn from(argument: BackendArgument) -> Self {
        match argument {
            BackendArgument::Threads => Self::Threads,
            BackendArgument::Sim => Self::Sim,
            BackendArgument::Mpi => Self::Mpi,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let program = program::read(&arguments.options.path)?;
    let notes = device::check(&program, arguments.strict_device)?;
    // Members are ranks of this process, or of its job.
    let here_only = arguments.backend.is_some() || arguments.member;
    if let Some(address) = arguments.target.address(here_only) {
        return remote::run(arguments, &program, &address, notes);
    }
    let launch =
        arguments.launch(arguments.backend.map(Backend::from), arguments.options.asked_ranks())?;
    let bound = bind(arguments, &program)?;
    if arguments.member {
        return member::here(arguments, bound, &launch, notes);
    }
    here(arguments, bound, &launch, notes)
}

impl Arguments {
    /// How ranks are started in this process, or in those of its job.
    fn launch(&self, backend: Option<Backend>, ranks: Option<usize>) -> Result<Launch> {
        let threads = self.threads.map(|threads| usize::try_from(threads).unwrap_or(usize::MAX));
        Ok(Launch::choose(Choice { backend, ranks, threads, scheme: self.scheme })?)
    }
}

/// The program with everything that it asks for.
fn bind(arguments: &Arguments, program: &Program) -> Result<Bound> {
    let bound = program::bind(program, &arguments.options.arguments)?;
    if !bound.missing.is_empty() {
        bail!("nothing is given for {}: say --arg NAME=VALUE", bound.missing.join(", "));
    }
    Ok(bound)
}

/// Runs a program on ranks that this process hosts, or is one of.
fn here(
    arguments: &Arguments,
    bound: Bound,
    launch: &Launch,
    mut notes: Vec<String>,
) -> Result<Report> {
    let Some(ranks) = launch.ranks() else {
        bail!("the launcher does not say how many processes there are: say -n");
    };
    let backend = launch.backend();
    let how = (backend.has_windows(), ranks);
    let (program, outputs) = compile(&arguments.options, &arguments.outputs, &bound, how)?;
    memory::check(program.executable(), arguments.memory)?;
    if Environment::of_process().is_first_process() {
        outputs.try_files()?;
    }
    let job = Job {
        program,
        files: bound.files.into_iter().flatten().collect(),
        outputs,
        progress: arguments.progress,
        trace: arguments.trace.clone(),
    };
    let done = failures::first(launch.run_ranks(|rank| job.run(rank))?)?;
    if let Some((text, cost)) = done {
        notes.push(job::note(&cost, ranks, backend.name()));
        return Ok(Report::text(text).with_notes(notes));
    }
    Ok(Report::default())
}

/// Compiles the program; results that are only shown by their ends get a sum, too. `looks` if ranks
/// look at each other's memory.
fn compile(
    options: &Options,
    outputs: &[(String, String)],
    bound: &Bound,
    (looks, ranks): (bool, usize),
) -> Result<(CompiledProgram, Outputs)> {
    let mut setting = options.setting(ranks, Some(bound.types.clone()))?;
    setting.remote_reads = looks;
    let mut program = CompiledProgram::compile(bound.program.clone(), setting.clone())?;
    let executable = program.executable();
    let shapes = executable.results.iter().map(|(slot, _)| {
        let slot = &executable.slots[slot.index()];
        (slot.home.shape().to_vec(), slot.dtype)
    });
    let mut outputs = Outputs::new(&bound.program, shapes, outputs)?;
    if let Some(more) = outputs.with_sums(&bound.program) {
        program = CompiledProgram::compile(more, setting)?;
    }
    Ok((program, outputs))
}
