//! Worlds of processes: this program starts itself again once per rank, and checks what comes out.
//!
//! `cargo test -p pantile-comm-net --test processes -- killed '3 ranks'` runs what has one of these
//! texts in its name.
#![allow(clippy::print_stdout, reason = "ranks tell their launcher what they saw")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod launch;
mod programs;
mod suite;

use std::process::ExitCode;
use std::time::Instant;

/// One launch, and what is wrong with what came out.
struct ProcessTest {
    name: String,
    run: Box<dyn Fn() -> Result<(), String>>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rank", "keeps"] => suite::keeps(),
        ["rank", "ends", name] => suite::ends(name),
        ["rank", "program", name] => programs::run(name),
        _ => return judge(&args),
    }
    ExitCode::SUCCESS
}

/// This process starts ranks.
fn judge(args: &[String]) -> ExitCode {
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let mut tests = suite::tests();
    tests.extend(programs::tests());
    tests.retain(|test| filters.is_empty() || filters.iter().any(|text| test.name.contains(*text)));
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
