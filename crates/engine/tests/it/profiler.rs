//! Steps as the profiler sees them: their numbers, how often, and what they sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use pantile_comm::threads;
use pantile_engine::{Engine, Error, Runner, Tile};
use pantile_lower::{Executable, Setting, Step, TripCount};

/// Loops in loops, one without turns, and one that ends by a condition.
const LOOPS: &str = r#"
!v = !ndarray.ndarray<8xf64, #pantile.dist<"block(r)">>
!n = !ndarray.ndarray<f64>
func.func @main() -> (!v, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f64
  %ten = arith.constant 10.0 : f64
  %a = ndarray.create value %one : (f64) -> !v
  %u = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %a) -> (!v) {
    %w = scf.for %j = %c0 to %c3 step %c1 iter_args(%y = %x) -> (!v) {
      %s = ndarray.stencil %y {points = [[-1], [1]], weights = [0.5, 0.5], boundary = "periodic"} : !v -> !v
      scf.yield %s : !v
    }
    %never = scf.for %j = %c3 to %c3 step %c1 iter_args(%y = %w) -> (!v) {
      %s = ndarray.stencil %y {points = [[-2], [2]], weights = [0.5, 0.5], boundary = "periodic"} : !v -> !v
      scf.yield %s : !v
    }
    scf.yield %never : !v
  }
  %m = scf.while (%p = %one) : (f64) -> (f64) {
    %go = arith.cmpf olt, %p, %ten : f64
    scf.condition(%go) %p : f64
  } do {
  ^bb0(%q: f64):
    %t = arith.addf %q, %q : f64
    scf.yield %t : f64
  }
  %z = ndarray.ewbin %u, %m {op = "multiply"} : (!v, f64) -> !v
  return %z, %m : !v, f64
}
"#;

/// How often every step is run, in the order of the text. `times` is that of the steps around.
fn expected(steps: &[Step], times: u64, list: &mut Vec<u64>) {
    for step in steps {
        list.push(times);
        if let Step::Repeat(repeat) = step {
            match &repeat.turns {
                TripCount::Count { turns, .. } => {
                    expected(&repeat.body, times * turns.unwrap(), list)
                }
                // 1, 2, 4, 8 go on, 16 does not.
                TripCount::While { before, .. } => {
                    expected(before, 5 * times, list);
                    expected(&repeat.body, 4 * times, list);
                }
            }
        }
    }
}

fn executable(ranks: usize) -> Arc<Executable> {
    let program = pantile_ir::text::parse(LOOPS, "loops").unwrap();
    let setting = Setting { ranks, ..Setting::default() };
    Arc::new(pantile_lower::compile(&program, &setting).unwrap())
}

#[test]
fn every_step_is_told_by_its_number() {
    for ranks in [1, 2, 3] {
        let executable = executable(ranks);
        let mut times = Vec::new();
        expected(&executable.steps, 1, &mut times);
        let results = threads::run(ranks, &pantile_comm::Options::default(), |communicator| {
            let mut engine = Engine::new(communicator);
            let mut runner = Runner::new(&mut engine, Arc::clone(&executable))?;
            let quiet = runner.run(&mut engine, &[])?;
            let before = engine.counters();
            let mut seen: BTreeMap<usize, u64> = BTreeMap::new();
            let (mut messages, mut bytes) = (0, 0);
            let none: [&Tile; 0] = [];
            let told = runner.run_profiled(&mut engine, &none, &mut |event| {
                *seen.entry(event.step).or_insert(0) += 1;
                assert!(event.start <= event.end);
                let step = flat(&executable.steps)[event.step];
                let during = matches!(step, Step::Exchange(step) if step.during.is_some());
                assert_eq!(event.overlap.is_some(), during);
                if let Some(overlap) = event.overlap {
                    let times = [event.start, overlap.posted, overlap.interior, overlap.arrived];
                    assert!(times.is_sorted() && overlap.arrived <= event.end);
                }
                // What a loop sent was sent by its steps.
                let of_loop = matches!(step, Step::Repeat(_));
                messages += if of_loop { 0 } else { event.messages };
                bytes += if of_loop { 0 } else { event.bytes };
            })?;
            let after = engine.counters();
            assert_eq!(
                (messages, bytes),
                (after.messages - before.messages, after.bytes - before.bytes)
            );
            let same = quiet.iter().zip(&told).all(|(a, b)| a.as_bytes() == b.as_bytes());
            Ok::<_, Error>((seen, same))
        });
        for result in results {
            let (seen, same) = result.unwrap();
            let listed: Vec<u64> =
                (0..times.len()).map(|step| seen.get(&step).copied().unwrap_or(0)).collect();
            assert_eq!(listed, times, "{ranks} ranks\n{executable}");
            assert!(same && seen.keys().all(|step| *step < times.len()));
        }
    }
}

/// All steps in the order of their numbers.
fn flat(steps: &[Step]) -> Vec<&Step> {
    fn add<'a>(steps: &'a [Step], list: &mut Vec<&'a Step>) {
        for step in steps {
            list.push(step);
            if let Step::Repeat(repeat) = step {
                if let TripCount::While { before, .. } = &repeat.turns {
                    add(before, list);
                }
                add(&repeat.body, list);
            }
        }
    }
    let mut list = Vec::new();
    add(steps, &mut list);
    list
}
