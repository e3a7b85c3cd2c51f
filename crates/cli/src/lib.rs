//! The `pantile` command as a library: arguments to calls, results to text, JSON or SVG.
//!
//! The binary `pantile` and the command of the Python package are both nothing but [`main`]. Each
//! subcommand is a module with its arguments and a `run` that returns a `Report`; only this file
//! writes to the standard streams and decides the exit code.
//!
//! Must never contain what other programs might want: whatever is more than reading arguments and
//! writing answers belongs into a crate on its left.
//!
//! ```
//! use std::ffi::OsString;
//!
//! let words = ["pantile", "halo", "--size", "10", "--ranks", "3", "--kernel", "3"];
//! assert_eq!(pantile_cli::main(words.map(OsString::from)), 0);
//! assert_eq!(pantile_cli::main(["pantile", "no such thing"].map(OsString::from)), 2);
//! ```

mod bench;
mod check;
mod cluster;
mod draw;
mod explain;
mod halo;
mod input;
mod numbers;
mod opt;
mod pass_sizes;
mod plan;
mod program;
mod report;
mod run;
mod table;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};

use clap::{Parser, Subcommand};

use report::Report;

const EXAMPLES: &str = "\
Examples:
  # A program on as many ranks as there are cores.
  pantile run examples/heat.dist

  # What it does and costs on 64 ranks, without running it.
  pantile explain examples/heat.dist -n 64

  # Who sends what to whom when 8x6 elements on a 2x2 mesh get a halo of one?
  pantile plan \"8x6 on x=2, y=2: block(x), block(y)\" \\
               \"8x6 on x=2, y=2: block(x) halo 1, block(y) halo 1\"

  # One rank of a million.
  pantile plan \"65536x65536 on x=1024, y=1024: block(x), block(y)\" \\
               \"65536x65536 on x=1024, y=1024: block(x) halo 1, block(y) halo 1\" --rank 524800

  # A picture of where everything lives.
  pantile draw \"8x6 on x=2, y=2: block(x) halo 1, block(y)\" -o tiles.svg

  # What each worker of a strided convolution needs from its neighbours.
  pantile halo --size 10 --ranks 3 --kernel 3 --stride 2

  # Is a program right, or what another library says about its array?
  pantile check examples/heat.dist description.json

  # How fast is all that here, beside loops by hand?
  pantile bench --scale 0.1

  # A coordinator and four workers on this machine, and a program on them.
  pantile cluster -n 4
  pantile run examples/heat.dist --cluster 127.0.0.1:7420

A distribution is `SHAPE on MESH: one map per array axis`, for example
  8x6 on x=2, y=3: block(x) halo 1, cyclic(y, 1)     blocks with a halo, dealt columns
  8x6 on r=4: whole, whole                           a copy on each of 4 ranks
  8x6 on r=4: whole, whole; sum(r)                   4 terms of a sum
  8x6 on rank 0: whole, whole                        all on one rank
Wherever a distribution is asked for, a file (`@FILE` or its name), `-` for standard input, or a
protocol description in JSON will do.

Exit codes: 0 fine, 1 refused or invalid, 2 wrong usage.";

/// Distributed n-d arrays: programs, where every element lives, and what has to move.
#[derive(Parser)]
#[command(name = "pantile", version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program on ranks: threads, simulated ones, processes of an MPI job, workers of a cluster
    Run(run::Arguments),
    /// Show what a program does and what it costs, before it runs
    Explain(explain::Arguments),
    /// Show a program after rewriting and lowering it
    Opt(opt::Arguments),
    /// Show who sends what to whom between two distributions, and what it costs
    Plan(plan::Arguments),
    /// Draw a distribution, a movement, a halo or the groups of worker teams as SVG
    Draw(draw::Arguments),
    /// Show the halos that a sliding window needs on every worker
    Halo(halo::Arguments),
    /// Check programs, protocol descriptions, plans and distributions; list all that is wrong
    Check(check::Arguments),
    /// Measure how fast programs are here, beside loops by hand
    Bench(bench::Arguments),
    /// Start a coordinator and workers on this machine; make keys, list workers
    Cluster(cluster::site::Arguments),
    /// Start a coordinator: clients and workers come to it
    Coordinator(cluster::coordinator::Arguments),
    /// Start a worker: hosts ranks of the clients of a coordinator
    Worker(cluster::worker::Arguments),
}

/// Does what the arguments say, the name of the command first, and gives the exit code: 0 if all is
/// fine, 1 if something was refused or is invalid, 2 if it was used wrongly.
///
/// A rank of an MPI job that fails ends the process instead.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to stdout and are fine; a closed pipe is nobody's fault. Whoever
            // is not written in Rust does not write out what is left when the process ends.
            let _ = error.print();
            let _ = std::io::stdout().flush();
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    let result = match &arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Opt(arguments) => opt::run(arguments),
        Command::Plan(arguments) => plan::run(arguments),
        Command::Draw(arguments) => draw::run(arguments),
        Command::Halo(arguments) => halo::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Cluster(arguments) => cluster::site::run(arguments),
        Command::Coordinator(arguments) => cluster::coordinator::run(arguments),
        Command::Worker(arguments) => cluster::worker::run(arguments),
    };
    match result.and_then(|report| show(&report)) {
        Ok(code) => code,
        Err(error) => {
            // Every process of a job finds the same; one of them says it.
            if pantile::launch::Environment::of_process().is_first_process() {
                let _ = writeln!(std::io::stderr(), "error: {error}");
            }
            1
        }
    }
}

/// Writes a report; a reader that has seen enough (`pantile ... | head`) is no error.
fn show(report: &Report) -> anyhow::Result<u8> {
    let mut out = std::io::stdout().lock();
    match out.write_all(report.text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        written => written.map_err(|error| anyhow::anyhow!("cannot write the output: {error}"))?,
    }
    for note in &report.notes {
        let _ = writeln!(std::io::stderr(), "note: {note}");
    }
    Ok(u8::from(report.refused))
}
