//! Random programs on threads and on the simulator, against the naive evaluator, byte for byte.
//!
//! A failure prints a smaller program that fails, too, with the number of ranks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use pantile_comm::sim::Sim;
use pantile_comm::{Communicator, Options, threads};
use pantile_engine::{Engine, Scheme};
use pantile_ir::reference::Array;
use pantile_lower::Executable;
use pantile_suite::programs::{Trial, execute, generate, shrink};
use pantile_testkit::{Rng, cases};

/// Ranks on which a program runs, and how.
#[derive(Clone, Copy, Debug)]
struct How {
    ranks: usize,
    /// With everything that makes programs fast.
    fast: bool,
    /// With arguments that are read where they are.
    lent: bool,
    /// The seed of the simulator; else threads.
    simulated: Option<u64>,
    /// Threads of each rank, which then do everything together that can be cut.
    threads: usize,
    /// How these cut what they share.
    scheme: Scheme,
}

/// A rank with its threads.
fn engine(communicator: Communicator, how: How) -> Engine {
    let mut engine = Engine::new(communicator);
    engine.set_threads(how.threads).expect("a few threads");
    engine.set_scheme(how.scheme);
    engine.set_cut_bytes(0);
    engine
}

fn on_threads(
    how: How,
    executable: &Arc<Executable>,
    trial: &Trial,
    expected: &[Array],
) -> Result<(), String> {
    let options = Options::default().with_deadline(Duration::from_secs(20));
    let results = threads::run(how.ranks, &options, |communicator| {
        execute::on_rank(&mut engine(communicator, how), executable, trial, expected)
    });
    first_error(results.into_iter().map(|result| result.map_err(|error| error.to_string())))
}

fn simulated(
    how: How,
    seed: u64,
    executable: &Arc<Executable>,
    trial: &Trial,
    expected: &[Array],
) -> Result<(), String> {
    let outcome = Sim { seed, ..Sim::default() }.run(how.ranks, |communicator| {
        execute::on_rank(&mut engine(communicator, how), executable, trial, expected)
    });
    first_error(outcome.results.into_iter().map(|result| result.map_err(|error| error.to_string())))
}

/// The most telling error: ranks that only say that another one failed come last.
fn first_error(results: impl Iterator<Item = Result<(), String>>) -> Result<(), String> {
    let mut errors: Vec<String> = results.filter_map(Result::err).collect();
    errors.sort_by_key(|error| !error.contains("expected"));
    errors.into_iter().next().map_or(Ok(()), Err)
}

fn check(trial: &Trial, how: How) -> Result<(), String> {
    let expected = trial.expected()?;
    trial.check_text(&expected)?;
    let executable = match how.lent {
        true => execute::compile_lent(trial, how.ranks)?,
        false => execute::compile(trial, how.ranks, how.fast)?,
    };
    if !how.fast {
        execute::check_placed(trial, how.ranks)?;
    }
    match how.simulated {
        Some(seed) => simulated(how, seed, &executable, trial, &expected),
        None => on_threads(how, &executable, trial, &expected),
    }
}

/// The same, with panics as errors.
fn caught(trial: &Trial, how: How) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| check(trial, how))).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        let text = text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

fn law(rng: &mut Rng, simulate: bool, threads: usize) {
    let ranks = 1 + rng.below(7);
    let trial = generate::trial(rng, ranks);
    law_of(trial, rng, ranks, (simulate, threads));
}

fn law_of(trial: Trial, rng: &mut Rng, ranks: usize, (simulate, threads): (bool, usize)) {
    if trial.expected().is_err_and(|fault| fault.contains("more elements than it may")) {
        return;
    }
    let simulated = simulate.then(|| rng.bits());
    let scheme = rng.pick(&Scheme::ALL).1;
    for (fast, lent) in [(true, false), (false, false), (true, true)] {
        let how = How { ranks, fast, lent, simulated, threads, scheme };
        let Err(fault) = caught(&trial, how) else { continue };
        let small =
            shrink::shrink(trial, &|one| caught(one, how).is_err_and(|new| alike(&new, &fault)));
        let now = caught(&small, how).err().unwrap_or_default();
        let given: Vec<String> = small.arguments.iter().map(|one| format!("{one:?}")).collect();
        panic!("{how:?}\n{fault}\nsmaller:\n{}{}\n{now}", small.program, given.join("\n"));
    }
}

/// True if two faults are of one sort, so that shrinking does not wander off.
fn alike(one: &str, other: &str) -> bool {
    let sort = |fault: &str| {
        let words = [
            "verify", "parse", "printed", "placed", "place", "panic", "lower", "differ", "at ",
            "nobody",
        ];
        words
            .iter()
            .position(|word| fault.starts_with(word) || fault.contains(&format!(": {word}")))
    };
    sort(one) == sort(other)
}

/// Programs that once gave something else, or nothing.
const FOUND: [&str; 13] = [
    // The value was taken for the length.
    "func.func @main() -> !ndarray.ndarray<2xf64> {
       %c = arith.constant 10 : i64
       %r = ndarray.create value %c : (i64) -> !ndarray.ndarray<2xf64>
       return %r : !ndarray.ndarray<2xf64>
     }",
    // One rank that has everything, in a list: slices began at its first element.
    "func.func @main() -> !ndarray.ndarray<3xi64> {
       %a = ndarray.index {axis = 0} : () -> !ndarray.ndarray<6xi64, #pantile.dist<\"x=1, y=*: indexed(x, [0 1 2 3 4 5])\">>
       %r = ndarray.subview %a[3] [3] [1] : !ndarray.ndarray<6xi64, #pantile.dist<\"x=1, y=*: indexed(x, [0 1 2 3 4 5])\">> to !ndarray.ndarray<3xi64>
       return %r : !ndarray.ndarray<3xi64>
     }",
    // Which axis of length 1 a view drops is what its type says.
    "func.func @main() -> !ndarray.ndarray<1x2xi64> {
       %a = ndarray.index {axis = 1} : () -> !ndarray.ndarray<2x3x2xi64>
       %r = ndarray.subview %a[1, 1, 1] [1, 2, 1] [1, 1, 1] : !ndarray.ndarray<2x3x2xi64> to !ndarray.ndarray<1x2xi64>
       return %r : !ndarray.ndarray<1x2xi64>
     }",
    // The parts of a complex number keep the bits of a NaN.
    "func.func @main() -> !ndarray.ndarray<2xf64> {
       %c = complex.constant [1.0, 0xFFF8000000000001] : complex<f64>
       %a = ndarray.create value %c : (complex<f64>) -> !ndarray.ndarray<2xcomplex<f64>, #pantile.dist<\"block\">>
       %r = ndarray.ewuny %a {op = \"imag\"} : !ndarray.ndarray<2xcomplex<f64>, #pantile.dist<\"block\">> -> !ndarray.ndarray<2xf64>
       return %r : !ndarray.ndarray<2xf64>
     }",
    // In one loop, the sign of a NaN that the first function leaves open came through the second.
    "func.func @main() -> !ndarray.ndarray<2xcomplex<f32>> {
       %c = complex.constant [0x7F800000, 0xFFEC2EF9] : complex<f32>
       %a = ndarray.create value %c : (complex<f32>) -> !ndarray.ndarray<2xcomplex<f32>, #pantile.dist<\"block\">>
       %b = ndarray.ewuny %a {op = \"log\"} : !ndarray.ndarray<2xcomplex<f32>, #pantile.dist<\"block\">> -> !ndarray.ndarray<2xcomplex<f32>>
       %r = ndarray.ewuny %b {op = \"tanh\"} : !ndarray.ndarray<2xcomplex<f32>> -> !ndarray.ndarray<2xcomplex<f32>>
       return %r : !ndarray.ndarray<2xcomplex<f32>>
     }",
    // The whole number above the quotient of the smallest number.
    "func.func @main() -> !ndarray.ndarray<2xi8> {
       %a = arith.constant -128 : i8
       %b = arith.constant 3 : i8
       %c = arith.ceildivsi %a, %b : i8
       %r = ndarray.create value %c : (i8) -> !ndarray.ndarray<2xi8>
       return %r : !ndarray.ndarray<2xi8>
     }",
    // An array that arrives from elsewhere and has room for halos.
    "func.func @main() -> !ndarray.ndarray<6xf64> {
       %a = ndarray.index {axis = 0} : () -> !ndarray.ndarray<6xf64, #pantile.dist<\"cyclic(r, 1)\">>
       %b = ndarray.redistribute %a : !ndarray.ndarray<6xf64, #pantile.dist<\"cyclic(r, 1)\">> -> !ndarray.ndarray<6xf64, #pantile.dist<\"block\">>
       %l = ndarray.subview %b[0] [5] [1] : !ndarray.ndarray<6xf64, #pantile.dist<\"block\">> to !ndarray.ndarray<5xf64>
       %m = ndarray.subview %b[1] [5] [1] : !ndarray.ndarray<6xf64, #pantile.dist<\"block\">> to !ndarray.ndarray<5xf64>
       %s = ndarray.ewbin %l, %m {op = \"add\"} : (!ndarray.ndarray<5xf64>, !ndarray.ndarray<5xf64>) -> !ndarray.ndarray<5xf64>
       ndarray.insert_slice %s into %b[1] [5] [1] : !ndarray.ndarray<5xf64> into !ndarray.ndarray<6xf64, #pantile.dist<\"block\">>
       %r = ndarray.copy %b : !ndarray.ndarray<6xf64, #pantile.dist<\"block\">> -> !ndarray.ndarray<6xf64>
       return %r : !ndarray.ndarray<6xf64>
     }",
    // A loop around a loop that hands on what came in.
    "func.func @main() -> !ndarray.ndarray<6xf64> {
       %a = ndarray.index {axis = 0} : () -> !ndarray.ndarray<6xf64, #pantile.dist<\"cyclic(r, 1)\">>
       %b = ndarray.redistribute %a : !ndarray.ndarray<6xf64, #pantile.dist<\"cyclic(r, 1)\">> -> !ndarray.ndarray<6xf64>
       %c0 = arith.constant 0 : index
       %c1 = arith.constant 1 : index
       %c3 = arith.constant 3 : index
       %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %b) -> (!ndarray.ndarray<6xf64>) {
         %s = ndarray.stencil %x {points = [[-2], [1]], weights = [1.0, 2.0], boundary = \"periodic\"} : !ndarray.ndarray<6xf64> -> !ndarray.ndarray<6xf64>
         %y = scf.for %j = %c0 to %i step %c1 iter_args(%z = %s) -> (!ndarray.ndarray<6xf64>) {
           scf.yield %x : !ndarray.ndarray<6xf64>
         }
         scf.yield %y : !ndarray.ndarray<6xf64>
       }
       return %r : !ndarray.ndarray<6xf64>
     }",
    // Neighbours as far away as numbers go.
    "func.func @main() -> (!ndarray.ndarray<5xf64>, !ndarray.ndarray<5xf64>) {
       %a = ndarray.index {axis = 0} : () -> !ndarray.ndarray<5xf64, #pantile.dist<\"block\">>
       %r = ndarray.stencil %a {points = [[-9223372036854775808], [9223372036854775807], [-7], [3]], weights = [1.0, 2.0, 3.0, 0.5], boundary = \"periodic\"} : !ndarray.ndarray<5xf64, #pantile.dist<\"block\">> -> !ndarray.ndarray<5xf64>
       %s = ndarray.stencil %a {points = [[-9223372036854775808], [9223372036854775807], [-7], [-3]], weights = [1.0, 2.0, 3.0, 0.5], boundary = \"zero\"} : !ndarray.ndarray<5xf64, #pantile.dist<\"block\">> -> !ndarray.ndarray<5xf64>
       return %r, %s : !ndarray.ndarray<5xf64>, !ndarray.ndarray<5xf64>
     }",
    // Assigned to a part of blocks, read from an axis of length 1 that is dealt out.
    "func.func @main() -> !ndarray.ndarray<1x8xi64> {
       %a = ndarray.index {axis = 1} : () -> !ndarray.ndarray<1x8xi64, #pantile.dist<\"x=*, y=1: cyclic(x, 1), block(y, cuts 0 8)\">>
       %l = ndarray.subview %a[0, 5] [1, 2] [-2, 2] : !ndarray.ndarray<1x8xi64, #pantile.dist<\"x=*, y=1: cyclic(x, 1), block(y, cuts 0 8)\">> to !ndarray.ndarray<1x2xi64>
       ndarray.insert_slice %l into %a[0, 1] [1, 2] [2, 3] : !ndarray.ndarray<1x2xi64> into !ndarray.ndarray<1x8xi64, #pantile.dist<\"x=*, y=1: cyclic(x, 1), block(y, cuts 0 8)\">>
       %r = ndarray.copy %a : !ndarray.ndarray<1x8xi64, #pantile.dist<\"x=*, y=1: cyclic(x, 1), block(y, cuts 0 8)\">> -> !ndarray.ndarray<1x8xi64>
       return %r : !ndarray.ndarray<1x8xi64>
     }",
    // Two arrays of one constant, of which only one says where it lives.
    "func.func @main() -> !ndarray.ndarray<6xi64> {
       %i = ndarray.index {axis = 0} : () -> !ndarray.ndarray<6xi64, #pantile.dist<\"block\">>
       %c = arith.constant 11 : i64
       %a = ndarray.create value %c : (i64) -> !ndarray.ndarray<1xi64, #pantile.dist<\"block\">>
       %s = ndarray.ewbin %i, %a {op = \"add\"} : (!ndarray.ndarray<6xi64, #pantile.dist<\"block\">>, !ndarray.ndarray<1xi64, #pantile.dist<\"block\">>) -> !ndarray.ndarray<6xi64>
       %b = ndarray.create value %c : (i64) -> !ndarray.ndarray<1xi64>
       %r = ndarray.ewbin %s, %b {op = \"multiply\"} : (!ndarray.ndarray<6xi64>, !ndarray.ndarray<1xi64>) -> !ndarray.ndarray<6xi64>
       return %r : !ndarray.ndarray<6xi64>
     }",
    // A region that assigns to an array from outside.
    "func.func @main() -> (!ndarray.ndarray<6xf64>, i64) {
       %a = ndarray.index {axis = 0} : () -> !ndarray.ndarray<6xf64, #pantile.dist<\"block\">>
       %n = region.env_region \"here\" -> i64 {
         %x = arith.constant 7 : i64
         ndarray.insert_slice %x into %a[1] [2] [3] : i64 into !ndarray.ndarray<6xf64, #pantile.dist<\"block\">>
         region.env_region_yield %x : i64
       }
       %r = ndarray.copy %a : !ndarray.ndarray<6xf64, #pantile.dist<\"block\">> -> !ndarray.ndarray<6xf64>
       return %r, %n : !ndarray.ndarray<6xf64>, i64
     }",
    // A loop that ends after the steps before its condition, which make what its next turn would have.
    "func.func @main() -> !ndarray.ndarray<6xf64> {
       %a = ndarray.index {axis = 0} : () -> !ndarray.ndarray<6xf64>
       %z = arith.constant 0 : index
       %r:2 = scf.while (%i = %z, %x = %a) : (index, !ndarray.ndarray<6xf64>) -> (index, !ndarray.ndarray<6xf64>) {
         %v = arith.constant 7.0 : f64
         ndarray.insert_slice %v into %a[1] [2] [3] : f64 into !ndarray.ndarray<6xf64>
         %c = arith.cmpi slt, %i, %z : index
         scf.condition(%c) %i, %x : index, !ndarray.ndarray<6xf64>
       } do {
       ^bb0(%j: index, %y: !ndarray.ndarray<6xf64>):
         %one = arith.constant 1 : index
         %n = arith.addi %j, %one : index
         scf.yield %n, %a : index, !ndarray.ndarray<6xf64>
       }
       return %r#1 : !ndarray.ndarray<6xf64>
     }",
];

#[test]
fn programs_that_once_failed() {
    for text in FOUND {
        let program = pantile_ir::text::parse(text, "found").expect("a text that can be read");
        let trial = Trial { program, arguments: Vec::new(), team: Vec::new() };
        for ranks in 1..=7 {
            for (fast, simulated, threads) in
                [(true, None, 1), (false, None, 2), (true, None, 3), (true, Some(1), 1)]
            {
                let scheme = Scheme::ALL[ranks].1;
                let how = How { ranks, fast, lent: false, simulated, threads, scheme };
                assert_eq!(caught(&trial, how), Ok(()), "{how:?}\n{text}");
            }
        }
    }
}

#[test]
fn random_programs_on_threads() {
    cases("random_programs_on_threads", 3000, |rng| law(rng, false, 1));
}

#[test]
fn random_programs_on_the_simulator() {
    cases("random_programs_on_the_simulator", 1500, |rng| law(rng, true, 1));
}

#[test]
fn random_programs_with_two_threads_of_each_rank() {
    cases("random_programs_with_two_threads_of_each_rank", 700, |rng| {
        let simulate = rng.below(4) == 0;
        law(rng, simulate, 2);
    });
}

#[test]
fn random_programs_with_three_threads_of_each_rank() {
    cases("random_programs_with_three_threads_of_each_rank", 700, |rng| law(rng, false, 3));
}

#[test]
fn steps_with_reductions_and_parts_that_change() {
    cases("steps_with_reductions_and_parts_that_change", 1500, |rng| {
        let (ranks, simulate) = (1 + rng.below(7), rng.chance(1, 4));
        let trial = generate::scenes(rng, ranks);
        law_of(trial, rng, ranks, (simulate, 1));
    });
}

#[test]
fn long_arrays_and_constants() {
    cases("long_arrays_and_constants", 40, |rng| {
        let (ranks, threads) = (1 + rng.below(4), *rng.pick(&[1, 1, 1, 2, 3]));
        let trial = generate::long_trial(rng, ranks);
        law_of(trial, rng, ranks, (false, threads));
    });
}
