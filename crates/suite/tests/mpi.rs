//! All cases under MPI, and movements in which a rank fails: this program starts itself again
//! under the launcher of its MPI.
//!
//! `cargo test -p pantile-suite --features mpi --test mpi -- broadcast` runs what has this text in
//! its name.
#![allow(clippy::print_stdout, reason = "ranks tell their launcher what they saw")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use pantile_comm::{Communicator, Options};
use pantile_comm_mpi::relaunch::{LaunchOutput, is_open_mpi, relaunch, usable_sizes};
use pantile_comm_mpi::{Mpi, run};
use pantile_spmd::RankContext;
use pantile_suite::faults::{Failing, How, judge, trials};

/// Longer than any launch should take on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// How long ranks wait for one that is silent.
const DEADLINE: Duration = Duration::from_secs(1);

/// The rank that fails.
const CULPRIT: usize = 1;

const HOWS: [(&str, How); 3] = [
    ("error", How::Error),
    ("panic", How::Panic),
    ("silence", How::Silence(Duration::from_secs(4))),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rank", "cases"] => cases(),
        ["rank", "fault", name, how, at_step] => fault(name, how, at_step.parse().unwrap()),
        _ => return launch(&args),
    }
    ExitCode::SUCCESS
}

/// This process is a rank, and runs all cases.
fn cases() {
    let result = run(&Options::default(), |communicator| {
        pantile_suite::run_all(&RankContext::new(communicator))
    });
    println!("{} cases", result.unwrap());
}

/// This process is a rank of a world in which one fails.
fn fault(name: &str, how: &str, at_step: u64) {
    let trial = trials().into_iter().find(|trial| trial.name == name).unwrap();
    let (_, how) = HOWS.into_iter().find(|(word, _)| *word == how).unwrap();
    let mpi = Mpi::init(&Options::default().with_deadline(DEADLINE)).unwrap();
    let inner = Box::new(mpi);
    let rank = pantile_comm::Transport::rank(&*inner);
    let at_step = if rank == CULPRIT { at_step } else { 0 };
    let world = RankContext::new(Communicator::new(Box::new(Failing::new(inner, at_step, how))));
    let result = catch_unwind(AssertUnwindSafe(|| (trial.body)(&world)));
    let silent = |error: &String| how != How::Error && error.contains("did not answer");
    match result.map(|result| result.map_err(|error| error.to_string())) {
        // Nobody knows who lives: one may wait for a rank that waits for the silent one itself.
        Ok(Err(error)) if silent(&error) => println!("rank {rank} was told"),
        Ok(result) => match judge(&result, CULPRIT) {
            Ok(()) => println!("rank {rank} was told"),
            Err(wrong) => println!("rank {rank}: {wrong}"),
        },
        Err(_) => println!("rank {rank} panicked"),
    }
    // Dropping a world that failed ends the process.
    drop(world);
}

/// This process starts ranks.
fn launch(filters: &[String]) -> ExitCode {
    let wanted = |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(f));
    let (mut run, mut failed) = (0, 0);
    let mut report = |name: String, started: Instant, verdict: Result<(), String>| {
        run += 1;
        failed += usize::from(verdict.is_err());
        let word = if verdict.is_ok() { "ok" } else { "FAILED" };
        println!("{name} ... {word} ({:.1} s)", started.elapsed().as_secs_f64());
        if let Err(reason) = verdict {
            println!("{reason}");
        }
    };
    for size in usable_sizes() {
        let name = format!("all cases, {size} ranks");
        if wanted(&name) {
            let started = Instant::now();
            report(name, started, healthy(&relaunched(*size, &["rank", "cases"])));
        }
    }
    let size = if is_open_mpi() { 3 } else { 2 };
    for (number, trial) in trials().into_iter().enumerate() {
        for (word, _) in HOWS {
            let name = format!("{} with a rank that fails: {word}", trial.name);
            let at_step = (2 + 3 * number % 11).to_string();
            if wanted(&name) {
                let started = Instant::now();
                let args = ["rank", "fault", trial.name, word, &at_step];
                report(name, started, all_were_told(&relaunched(size, &args), word));
            }
        }
    }
    println!("{run} tests, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn relaunched(size: usize, args: &[&str]) -> LaunchOutput {
    relaunch(&[size], args, LIMIT).unwrap().remove(0)
}

fn healthy(output: &LaunchOutput) -> Result<(), String> {
    let finished = output.stdout.lines().filter(|line| line.ends_with(" cases")).count();
    if output.code == Some(0) && finished == output.ranks {
        Ok(())
    } else {
        Err(output.to_string())
    }
}

/// Every living rank got an error that names the culprit, and the job failed.
fn all_were_told(output: &LaunchOutput, word: &str) -> Result<(), String> {
    // One that panics has nothing to say; one that is silent is ended with the job.
    let living = (0..output.ranks).filter(|rank| word == "error" || *rank != CULPRIT);
    let told = |rank: usize| output.stdout.contains(&format!("rank {rank} was told"));
    let failed = !output.late && output.code.is_none_or(|code| code != 0);
    if failed && living.into_iter().all(told) { Ok(()) } else { Err(output.to_string()) }
}
