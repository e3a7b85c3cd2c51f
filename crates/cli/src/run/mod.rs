//! `pantile run`: a program on ranks.
//!
//! ```text
//! file -> program -> bound to what is given -> executable -> (job) on every rank
//!      -> results: to files, each rank its part, or to standard output
//! ```
//!
//! Standard output is the same for every number of ranks, backend and machine; what is not goes to
//! standard error.

mod afar;
mod device;
mod job;
mod launch;
mod memory;
mod results;
mod trace;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use pantile_engine::Scheme;
use pantile_ir::Program;
use pantile_ir::lower::{self, Executable, Setting};

use crate::cluster::target::Target;
use crate::numbers;
use crate::program::{self, Bound, Options};
use crate::report::Report;
use job::Job;
use results::Outputs;

pub(crate) use afar::weigh;
pub(crate) use launch::{is_first_process, scheme};

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
    backend: Option<Backend>,
    /// Write a result into a file: y=result.npy, or by position, 0=result.npy
    #[arg(long = "out", value_name = "NAME=FILE", value_parser = program::parse_pair)]
    outputs: Vec<(String, String)>,
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
    target: Target,
    /// Run on the cluster also what is cheaper here
    #[arg(long)]
    always_ship: bool,
}

/// What ranks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// Threads of this process
    Threads,
    /// Simulated: one after the other, messages delayed at random
    Sim,
    /// Processes of an MPI job
    Mpi,
}

impl Backend {
    /// Its name in texts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Sim => "sim",
            Self::Mpi => "mpi",
        }
    }

    /// True if ranks look at each other's memory.
    pub(crate) fn has_windows(self) -> bool {
        self == Self::Threads
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let program = program::read(&arguments.options.path)?;
    let notes = device::check(&program, arguments.strict_device)?;
    if let Some(address) = arguments.target.address(arguments.backend.is_some()) {
        return afar::run(arguments, &program, &address, notes);
    }
    let place = launch::place(arguments.backend, &arguments.options)?;
    let threads = launch::threads(arguments.threads)?;
    let bound = bind(arguments, &program)?;
    here(arguments, bound, place, (threads, notes))
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
    (backend, ranks): (Backend, usize),
    (threads, mut notes): (usize, Vec<String>),
) -> Result<Report> {
    let how = (backend.has_windows(), ranks);
    let prepared = prepare(&arguments.options, &arguments.outputs, &bound, how)?;
    let Prepared { executable, outputs, .. } = prepared;
    memory::check(&executable, arguments.memory)?;
    if is_first_process() {
        outputs.try_files()?;
    }
    let job = Job {
        executable: Arc::new(executable),
        threads,
        scheme: launch::scheme(arguments.scheme)?,
        files: bound.files.into_iter().flatten().collect(),
        outputs,
        progress: arguments.progress,
        trace: arguments.trace.clone(),
    };
    let done = launch::launch(backend, ranks, &job)?;
    if let Some(done) = done {
        notes.push(done.note(ranks, backend.name()));
        return Ok(Report::text(done.text).with_notes(notes));
    }
    Ok(Report::default())
}

/// A program, lowered, with what it was lowered from.
struct Prepared {
    executable: Executable,
    outputs: Outputs,
    program: Program,
    setting: Setting,
}

/// Lowers the program; results that are only shown by their ends get a sum, too. `looks` if ranks
/// look at each other's memory.
fn prepare(
    options: &Options,
    outputs: &[(String, String)],
    bound: &Bound,
    (looks, ranks): (bool, usize),
) -> Result<Prepared> {
    let mut program = bound.program.clone();
    let mut setting = options.setting(ranks, Some(bound.types.clone()))?;
    setting.looks = looks;
    let mut executable = lower::compile(&program, &setting)?;
    let mut outputs = Outputs::new(&program, &executable, outputs)?;
    if let Some(more) = outputs.with_sums(&program) {
        executable = lower::compile(&more, &setting)?;
        program = more;
    }
    Ok(Prepared { executable, outputs, program, setting })
}
