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
mod job;
mod launch;
mod memory;
mod results;
mod trace;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use pantile_ir::Program;
use pantile_ir::lower::{self, Executable};

use crate::numbers;
use crate::program::{self, Bound, Options};
use crate::report::Report;
use job::Job;
use results::Outputs;

pub(crate) use launch::is_first_process;

#[derive(Args)]
#[command(after_help = "\
Arguments and results of the program are named as in its text, without `%`, or by position.
Results without --out are printed: single elements and arrays of up to 1,000 elements as they are,
larger ones by their ends and their sum. What is printed does not depend on the number of ranks.

Started by mpirun or srun (and built with the feature `mpi`), each process is a rank. The command of
the Python package also takes a file of Python: `pantile run X.py -n 4` launches it on MPI.

Examples:
  pantile run examples/heat.dist
  pantile run examples/heat.dist -n 4 --out u=heat.npy
  pantile run scale.dist --arg x=data.npy --arg factor=2.5 --out y=scaled.npy
  mpirun -n 4 pantile run examples/heat.dist")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,
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
    let mut notes = device::check(&program, arguments.strict_device)?;
    let (backend, ranks) = launch::place(arguments.backend, &arguments.options)?;
    let bound = program::bind(&program, &arguments.options.arguments)?;
    if !bound.missing.is_empty() {
        bail!("nothing is given for {}: say --arg NAME=VALUE", bound.missing.join(", "));
    }
    let (executable, outputs) = prepare(arguments, bound.program.clone(), &bound, ranks)?;
    memory::check(&executable, arguments.memory)?;
    if is_first_process() {
        outputs.try_files()?;
    }
    let job = Job {
        executable: Arc::new(executable),
        files: bound.files.into_iter().flatten().collect(),
        outputs,
        progress: arguments.progress,
        trace: arguments.trace.clone(),
    };
    let done = launch::launch(backend, ranks, &job)?;
    if let Some(done) = done {
        notes.push(done.note(ranks, backend));
        return Ok(Report::text(done.text).with_notes(notes));
    }
    Ok(Report::default())
}

/// Lowers the program; results that are only shown by their ends get a sum, too.
fn prepare(
    arguments: &Arguments,
    program: Program,
    bound: &Bound,
    ranks: usize,
) -> Result<(Executable, Outputs)> {
    let setting = arguments.options.setting(ranks, Some(bound.types.clone()))?;
    let executable = lower::compile(&program, &setting)?;
    let mut outputs = Outputs::new(&program, &executable, &arguments.outputs)?;
    match outputs.with_sums(&program) {
        None => Ok((executable, outputs)),
        Some(program) => Ok((lower::compile(&program, &setting)?, outputs)),
    }
}
