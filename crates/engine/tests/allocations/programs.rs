//! Programs on ranks: what they refuse, what they send, what the hundredth turn costs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::counting::ALLOCATIONS;
use pantile_comm::sim::{InjectedFault, Sim};
use pantile_comm::{RankError, threads};
use pantile_engine::{DType, Engine, Error, Runner, Tile};
use pantile_lower::{Cost, Executable, Setting};
use pantile_plan::{Machine, Terrain};

/// Three arrays that read each other's neighbours, and a sum, for `turns` turns.
const TURNS: &str = r#"
!row = !ndarray.ndarray<40x6xf64, #pantile.dist<"block(r), whole">>
!in = !ndarray.ndarray<38x6xf64>
!sum = !ndarray.ndarray<f64>
func.func @main(%turns: index) -> (!row, !row, !sum) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %half = arith.constant 0.5 : f64
  %seed = arith.constant 7 : i64
  %u0 = ndarray.random %seed {kind = "uniform", stream = 0} : (i64) -> !row
  %v0 = ndarray.random %seed {kind = "uniform", stream = 1} : (i64) -> !row
  %s0 = ndarray.create value %half : (f64) -> !sum
  %u, %v, %s = scf.for %i = %zero to %turns step %one iter_args(%a = %u0, %b = %v0, %c = %s0) -> (!row, !row, !sum) {
    %al = ndarray.subview %a[0, 0][38, 6][1, 1] : !row to !in
    %ar = ndarray.subview %a[2, 0][38, 6][1, 1] : !row to !in
    %bl = ndarray.subview %b[0, 0][38, 6][1, 1] : !row to !in
    %br = ndarray.subview %b[2, 0][38, 6][1, 1] : !row to !in
    %p = ndarray.ewbin %al, %br {op = "add"} : (!in, !in) -> !in
    %q = ndarray.ewbin %ar, %bl {op = "add"} : (!in, !in) -> !in
    %ph = ndarray.ewbin %p, %half {op = "mul"} : (!in, f64) -> !in
    %qh = ndarray.ewbin %q, %half {op = "mul"} : (!in, f64) -> !in
    %x = ndarray.immutable_insert_slice %ph into %a[1, 0][38, 6][1, 1] : !in into !row
    %y = ndarray.immutable_insert_slice %qh into %b[1, 0][38, 6][1, 1] : !in into !row
    %t = ndarray.reduction %x {op = 4 : i32} : !row -> !sum
    scf.yield %x, %y, %t : !row, !row, !sum
  }
  return %u, %v, %s : !row, !row, !sum
}
"#;

fn compiled(text: &str, ranks: usize) -> Arc<Executable> {
    let program = pantile_ir::text::parse(text, "test").unwrap();
    let setting = Setting { ranks, ..Setting::default() };
    Arc::new(pantile_lower::compile(&program, &setting).unwrap())
}

fn turns(count: i64) -> Vec<Tile> {
    vec![Tile::from_vec(vec![count])]
}

/// Allocations of all ranks, each with so many threads that share all work, for so many turns: the
/// fewest of some runs, because a thread that works for the first time needs a few of its own.
fn allocations(executable: &Arc<Executable>, threads_each: usize, count: i64) -> u64 {
    let results = threads::run(executable.ranks, &Default::default(), |communicator| {
        let mut engine = Engine::new(communicator);
        engine.set_threads(threads_each).unwrap();
        engine.set_cut_bytes(0);
        let mut runner = Runner::new(&mut engine, Arc::clone(executable))?;
        runner.run(&mut engine, &turns(3))?;
        let mut fewest = u64::MAX;
        for _ in 0..5 {
            engine.barrier()?;
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            runner.run(&mut engine, &turns(count))?;
            engine.barrier()?;
            fewest = fewest.min(ALLOCATIONS.load(Ordering::Relaxed) - before);
        }
        Ok::<_, Error>(fewest)
    });
    results.into_iter().map(Result::unwrap).max().unwrap()
}

pub(crate) fn programs_run_and_refuse() {
    for (ranks, threads) in [(1, 1), (2, 1), (3, 1), (1, 2), (2, 3)] {
        let executable = compiled(TURNS, ranks);
        let [few, many] = [10, 110].map(|count| allocations(&executable, threads, count));
        // Ranks that arrive at the barrier while others count add a few; turns would add hundreds.
        assert!(many < few + 20, "{few} and {many} on {ranks}x{threads} threads");
    }
    the_numbers_do_not_depend_on_the_ranks();
    products_move_what_was_predicted();
    halos_of_two_arrays_are_one_message();
    wrong_arguments_are_told_to_all();
    a_rank_that_is_lost_is_an_error_of_all();
}

fn results_on(ranks: usize, count: i64, simulated: bool) -> Vec<f64> {
    let executable = compiled(TURNS, ranks);
    let body = |communicator| {
        let mut engine = Engine::new(communicator);
        let mut runner = Runner::new(&mut engine, Arc::clone(&executable))?;
        let results = runner.run(&mut engine, &turns(count))?;
        Ok::<_, Error>(results.iter().map(Tile::to_vec::<f64>).collect::<Vec<_>>())
    };
    let results = match simulated {
        true => Sim { seed: 5, ..Sim::default() }.run(ranks, body).results,
        false => threads::run(ranks, &Default::default(), body),
    };
    let results: Vec<Vec<Vec<f64>>> = results.into_iter().map(Result::unwrap).collect();
    let mut all: Vec<f64> = results.iter().flat_map(|rank| rank[0].clone()).collect();
    all.extend(results.iter().flat_map(|rank| rank[1].clone()));
    all.push(results[0][2][0]);
    all
}

fn the_numbers_do_not_depend_on_the_ranks() {
    let bits = |list: Vec<f64>| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let alone = bits(results_on(1, 5, false));
    for ranks in (2..=16).chain([50]) {
        assert_eq!(bits(results_on(ranks, 5, false)), alone, "{ranks} ranks, threads");
        assert_eq!(
            bits(results_on(ranks, 2, true)),
            bits(results_on(1, 2, false)),
            "{ranks} ranks, simulator"
        );
    }
}

/// What a program costs, which is what its ranks then send: as threads, or on the simulator.
fn predicted(executable: &Arc<Executable>, windows: bool, arguments: &[Tile]) -> Cost {
    let body = |communicator| {
        let mut engine = Engine::new(communicator);
        let mut runner = Runner::new(&mut engine, Arc::clone(executable))?;
        runner.run(&mut engine, arguments)?;
        Ok::<_, Error>(engine.counters())
    };
    let counters = if windows {
        threads::run(executable.ranks, &Default::default(), body)
    } else {
        Sim { seed: 1, ..Sim::default() }.run(executable.ranks, body).results
    };
    let counters: Vec<_> = counters.into_iter().map(|one| one.unwrap()).collect();
    let cost = executable.cost(&Machine::default(), Terrain::new(windows)).unwrap();
    let bytes: u64 = counters.iter().map(|one| one.bytes).sum();
    let messages: u64 = counters.iter().map(|one| one.messages).sum();
    assert_eq!((cost.bytes, cost.messages), (Some(bytes.into()), Some(messages.into())));
    cost
}

/// What moves before products of matrices is what was predicted, however the factors live.
fn products_move_what_was_predicted() {
    let text = |one: &str, other: &str| {
        format!(
            "!a = !ndarray.ndarray<30x70xf64, #pantile.dist<\"{one}\">>\n\
             !b = !ndarray.ndarray<70x20xf64, #pantile.dist<\"{other}\">>\n\
             !t = !ndarray.ndarray<70x30xf64>\n\
             !c = !ndarray.ndarray<30x20xf64>\n\
             !s = !ndarray.ndarray<70x70xf64>\n\
             !long = !ndarray.ndarray<900x5xf64, #pantile.dist<\"{one}\">>\n\
             !wide = !ndarray.ndarray<5x900xf64>\n\
             !gram = !ndarray.ndarray<5x5xf64>\n\
             func.func @main() -> (!c, !s, !gram) {{\n\
             %seed = arith.constant 7 : i64\n\
             %a = ndarray.random %seed {{kind = \"normal\", stream = 0}} : (i64) -> !a\n\
             %b = ndarray.random %seed {{kind = \"normal\", stream = 1}} : (i64) -> !b\n\
             %c = ndarray.matmul %a, %b : (!a, !b) -> !c\n\
             %t = ndarray.permute_dims %a [1, 0] : !a -> !t\n\
             %s = ndarray.matmul %t, %a : (!t, !a) -> !s\n\
             %l = ndarray.random %seed {{kind = \"normal\", stream = 2}} : (i64) -> !long\n\
             %w = ndarray.permute_dims %l [1, 0] : !long -> !wide\n\
             %g = ndarray.matmul %w, %l : (!wide, !long) -> !gram\n\
             return %c, %s, %g : !c, !s, !gram\n}}"
        )
    };
    let homes = ["block(r), whole", "whole, block(r)", "cyclic(r, 3), whole", "copies"];
    for (one, other) in homes.iter().flat_map(|one| homes.iter().map(move |other| (one, other))) {
        for (windows, ranks) in [(false, 1), (false, 4), (true, 3)] {
            let executable = compiled(&text(one, other), ranks);
            let cost = predicted(&executable, windows, &[]);
            assert_eq!(cost.steps.iter().filter(|step| step.what == "contract").count(), 3);
            // Panels travel instead of rows, of which there are far more.
            let panels = cost.steps.iter().find(|step| step.what == "reduce");
            let rows = *one == "block(r), whole" && ranks > 1;
            assert_eq!(panels.is_some(), rows, "{one} on {ranks}");
            assert!(panels.is_none_or(|step| step.bytes < 900 * 5 * 8 / 4));
        }
    }
}

/// Messages and bytes that the simulator's ranks sent, and what was predicted.
fn halos_of_two_arrays_are_one_message() {
    let text = TURNS.replace("to %turns", "to %ten").replace(
        "  %one = arith.constant 1 : index",
        "  %one = arith.constant 1 : index\n  %ten = arith.constant 10 : index",
    );
    for (windows, ranks) in [(false, 2), (false, 3), (true, 3)] {
        let executable = compiled(&text, ranks);
        let cost = predicted(&executable, windows, &turns(0));
        let exchange = cost.steps.iter().find(|step| step.what == "exchange").unwrap();
        let (arrays, neighbours) = (exchange.movements.len(), 2 * (ranks as u128 - 1));
        assert_eq!(arrays, 2, "both arrays travel at once");
        assert_eq!(exchange.messages, if windows { 2 * neighbours } else { neighbours });
    }
}

fn wrong_arguments_are_told_to_all() {
    let say = |arguments: fn(usize) -> Vec<Tile>, text: &str| -> Vec<String> {
        let executable = compiled(text, 2);
        let results = threads::run(2, &Default::default(), |communicator| {
            let mut engine = Engine::new(communicator);
            let mut runner = Runner::new(&mut engine, Arc::clone(&executable))?;
            let arguments = arguments(engine.rank());
            runner.run(&mut engine, &arguments).map(|_| ())
        });
        let text = |result: Result<(), RankError<Error>>| match result {
            Ok(()) => "fine".to_owned(),
            Err(error) => error.to_string(),
        };
        results.into_iter().map(text).collect()
    };
    let said = say(|rank| if rank == 1 { Vec::new() } else { turns(3) }, TURNS);
    assert!(said[1].contains("the program takes 1 arguments, got 0"), "{said:?}");
    assert!(said[0].contains("rank 1"), "{said:?}");
    let said = say(|_| vec![Tile::zeroed(DType::F64, 1)], TURNS);
    assert!(said[0].contains("1 elements of i64, got 1 of f64"), "{said:?}");
    // The step of a loop that is only known when it runs.
    let text = TURNS.replace("step %one", "step %turns");
    let said = say(|_| turns(0), &text);
    assert!(said.iter().all(|one| one.contains("grows by 0, expected 1 or more")), "{said:?}");
    let executable = compiled(TURNS, 3);
    let results = threads::run(2, &Default::default(), |communicator| {
        Runner::new(&mut Engine::new(communicator), Arc::clone(&executable)).map(|_| ())
    });
    for result in results {
        let RankError::Returned(error) = result.unwrap_err() else { unreachable!("it returned") };
        assert_eq!(error, Error::WrongWorld { made_for: 3, size: 2 });
        assert_eq!(error.to_string(), "the program was made for 3 ranks, the world has 2");
    }
    let error = Error::Arguments { rank: 0, got: 1, expected: 2 };
    assert_eq!(error.to_string(), "rank 0: the program takes 2 arguments, got 1");
    let error = Error::Step { rank: 0, got: -1 };
    assert!(error.to_string().contains("grows by -1"));
}

/// A rank is lost at some step of a program: all living ranks get an error, none waits.
fn a_rank_that_is_lost_is_an_error_of_all() {
    let executable = compiled(TURNS, 3);
    let body = |communicator| {
        let mut engine = Engine::new(communicator);
        let mut runner = Runner::new(&mut engine, Arc::clone(&executable))?;
        runner.run(&mut engine, &turns(6)).map(|_| ())
    };
    let steps = Sim::default().run(3, body).steps[1];
    assert!(steps > 40, "the program talks");
    for at_step in (2..steps - 10).step_by(9) {
        let faults = vec![InjectedFault::Lose { rank: 1, at_step }];
        let outcome = Sim { faults, ..Sim::default() }.run(3, body);
        for (rank, result) in outcome.results.iter().enumerate() {
            assert!(result.is_err(), "rank {rank} did not hear of step {at_step}");
        }
    }
}
