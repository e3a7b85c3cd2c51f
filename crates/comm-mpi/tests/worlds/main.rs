//! Worlds of MPI processes: this program starts itself again under the launcher of its MPI, with
//! several numbers of ranks, and looks at what comes out.
//!
//! `cargo test -p pantile-comm-mpi --features mpi --test worlds -- chunks '3 ranks'` runs what has
//! one of these texts in its name, and `--skip=GiB` leaves out what has that one.
#![allow(clippy::print_stdout, reason = "ranks tell their launcher what they saw")]

mod bytes;
mod programs;
mod returned;
mod scenarios;
mod suite;

use std::process::ExitCode;
use std::time::Instant;

/// One launch, or several that belong together, and what is wrong with what came out.
struct MpiTest {
    name: String,
    run: Box<dyn Fn() -> Result<(), String>>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("rank") => {
            rank(&args[1..]);
            ExitCode::SUCCESS
        }
        _ => launch(&args),
    }
}

/// This process is a rank.
fn rank(args: &[String]) {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["keeps"] => suite::keeps(),
        ["ends", name] => suite::ends(name),
        ["program", name] => scenarios::program(name),
        _ => panic!("unknown arguments {args:?}"),
    }
}

/// This process starts ranks.
fn launch(args: &[String]) -> ExitCode {
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let mut tests = suite::tests();
    tests.extend(scenarios::tests());
    tests.retain(|test| {
        let wanted = filters.iter().any(|filter| test.name.contains(*filter));
        let mut skips = args.iter().filter_map(|arg| arg.strip_prefix("--skip="));
        (wanted || filters.is_empty()) && !skips.any(|skip| test.name.contains(skip))
    });
    let mut failed = Vec::new();
    for test in &tests {
        let started = Instant::now();
        let verdict = (test.run)();
        let word = if verdict.is_ok() { "ok" } else { "FAILED" };
        println!("{} ... {word} ({:.1} s)", test.name, started.elapsed().as_secs_f64());
        if let Err(reason) = verdict {
            failed.push(format!("---- {}\n{reason}\n", test.name));
        }
    }
    failed.iter().for_each(|text| println!("{text}"));
    println!("{} tests, {} failed", tests.len(), failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
