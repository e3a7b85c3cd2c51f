//! The programs in `examples/`: the same output on any number of ranks and on every backend, and
//! the cost that was predicted.
//!
//! `filetests/run/NAME.out` is what `pantile run examples/NAME.dist` prints; `BLESS=1` rewrites it.
//! On the simulator, and to compare costs, programs with many steps in time are cut to a few.

use crate::common::{Ran, pantile, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pantile_comm::sim::Sim;
use pantile_comm::{Communicator, threads};
use pantile_engine::{Engine, Runner, Tile};
use pantile_lower::Setting;
use pantile_plan::{Machine, Terrain};

/// Steps in time of long programs, and what they are cut to.
const LONG: [(&str, &str); 2] = [("451 : index", "4 : index"), ("500 : index", "20 : index")];

fn examples() -> Vec<(String, PathBuf)> {
    let mut list: Vec<(String, PathBuf)> = fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "dist"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    list.sort();
    assert!(list.len() >= 8, "{list:?}");
    list
}

/// The text of an example with few steps in time.
fn short(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    LONG.iter().fold(text, |text, (long, few)| text.replace(long, few))
}

fn run(path: &str, more: &[&str], input: &str) -> Ran {
    let words = [&["run", path][..], more].concat();
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let ran = pantile(&words, &root(), input);
    assert_eq!(ran.code, 0, "{path} {more:?}: {}", ran.stderr);
    ran
}

#[test]
fn every_example_prints_the_same_on_any_number_of_ranks() {
    for (name, _) in examples() {
        let path = root().join("filetests/run").join(format!("{name}.out"));
        for ranks in ["1", "2", "3", "4"] {
            let ran = run(&format!("examples/{name}.dist"), &["-n", ranks], "");
            if std::env::var_os("BLESS").is_some() && ranks == "1" {
                fs::write(&path, &ran.stdout).unwrap();
            }
            let expected = fs::read_to_string(&path).unwrap_or_default();
            let how = "`BLESS=1` rewrites it";
            assert_eq!(ran.stdout, expected, "{} on {ranks} ranks; {how}", path.display());
            let plural = if ranks == "1" { "" } else { "s" };
            let note = format!("note: {ranks} rank{plural} (threads), ");
            assert!(ran.stderr.starts_with(&note), "{}", ran.stderr);
        }
    }
}

#[test]
fn every_example_prints_the_same_on_the_simulator() {
    for (name, path) in examples() {
        let text = short(&path);
        let threads = run("-", &["-n", "2"], &text).stdout;
        for ranks in ["1", "3", "4"] {
            let simulated = run("-", &["-n", ranks, "--backend", "sim"], &text).stdout;
            assert_eq!(simulated, threads, "{name} on {ranks} ranks");
        }
    }
}

#[test]
fn known_numbers_come_out() {
    let known = [
        ("shallow_water", "error", 4.315799035627906e-05, 1e-7),
        ("wave", "error", 7.224068445111e-03, 1e-12),
        ("black_scholes", "call", 16.976097804669887, 0.0),
        ("black_scholes", "put", 0.34645174725098116, 0.0),
        ("star", "norm", 22.0, 0.0),
        ("transpose", "error", 0.0, 0.0),
    ];
    for (example, name, expected, within) in known {
        let text = fs::read_to_string(root().join(format!("filetests/run/{example}.out"))).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
        let value: f64 = line.unwrap().parse().unwrap();
        assert!((value - expected).abs() <= within * expected, "{example}: {name} is {value}");
    }
}

/// Messages and bytes that all ranks sent, and how often every step was run by rank 0.
type Seen = (u64, u64, BTreeMap<usize, u64>);

#[test]
fn costs_are_those_of_the_run() {
    for (name, path) in examples() {
        let text = short(&path);
        let program = pantile_ir::text::parse(&text, &name).unwrap();
        for ranks in [1, 2, 3, 4] {
            let setting = Setting { ranks, ..Setting::default() };
            let executable = Arc::new(pantile_lower::compile(&program, &setting).unwrap());
            for windows in [true, false] {
                let seen = Mutex::new(Seen::default());
                let body = |communicator: Communicator| {
                    let mut engine = Engine::new(communicator);
                    let mut runner = Runner::new(&mut engine, Arc::clone(&executable))?;
                    let before = engine.counters();
                    let mut steps = BTreeMap::new();
                    let nothing: [&Tile; 0] = [];
                    runner.run_profiled(&mut engine, &nothing, &mut |event| {
                        *steps.entry(event.step).or_insert(0) += 1;
                    })?;
                    let after = engine.counters();
                    let mut seen = seen.lock().unwrap();
                    seen.0 += after.messages - before.messages;
                    seen.1 += after.bytes - before.bytes;
                    if engine.rank() == 0 {
                        seen.2 = steps;
                    }
                    Ok::<(), pantile_engine::Error>(())
                };
                let results = match windows {
                    true => threads::run(ranks, &pantile_comm::Options::default(), body),
                    false => Sim::default().run(ranks, body).results,
                };
                assert!(results.iter().all(Result::is_ok), "{name}: {results:?}");
                let cost = executable.cost(&Machine::default(), Terrain::new(windows)).unwrap();
                let (messages, bytes, steps) = seen.into_inner().unwrap();
                // Loops that end by a condition: as often as they were seen to turn. The steps
                // before a turn move nothing in these programs.
                let turns = *steps.values().max().unwrap();
                let predicted = |one: &dyn Fn(&pantile_lower::StepCost) -> u128| -> u128 {
                    let times = |step: &pantile_lower::StepCost| {
                        u128::from(step.times.unwrap_or(turns - 1))
                    };
                    cost.steps.iter().map(|step| one(step) * times(step)).sum()
                };
                let expected = (predicted(&|step| step.messages), predicted(&|step| step.bytes));
                let context = format!("{name} on {ranks} ranks, windows {windows}");
                assert_eq!((u128::from(messages), u128::from(bytes)), expected, "{context}");
                if let (Some(messages), Some(bytes)) = (cost.messages, cost.bytes) {
                    assert_eq!((messages, bytes), expected, "{context}");
                }
            }
        }
    }
}
