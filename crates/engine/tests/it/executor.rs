//! Ranks that wait for programs.

use std::sync::Arc;

use pantile_comm::{Options, threads};
use pantile_engine::{ArrayId, ArrayIds, Error, ExecutorHandle, Job, Tile};
use pantile_lower::{CompileUnit, Setting};

const DOUBLE: &str = r#"
!v = !ndarray.ndarray<5xi64, #pantile.dist<"block(r)">>
func.func @main(%a: !v) -> !v {
  %b = ndarray.ewbin %a, %a {op = "add"} : (!v, !v) -> !v
  return %b : !v
}
"#;

fn job(ranks: usize, arguments: &[u64], result: u64) -> Arc<Job> {
    job_of((DOUBLE, 1), ranks, arguments, result)
}

/// A program with its key as a job.
fn job_of((text, key): (&str, u128), ranks: usize, arguments: &[u64], result: u64) -> Arc<Job> {
    let program = pantile_ir::text::parse(text, "test").unwrap();
    let setting = Setting { ranks, ..Setting::default() };
    let unit = CompileUnit::Program(Arc::new(program), Box::new(setting));
    Arc::new(Job {
        executable: Arc::new(unit.compile().unwrap()),
        unit: Arc::new(unit),
        key,
        arguments: arguments.iter().copied().map(ArrayId).collect(),
        results: [ArrayId(result)].into_iter().collect(),
        forget: ArrayIds::new(),
        inline: false,
        parameters: Vec::new(),
    })
}

/// The elements of a row that a rank of two owns: three, then two.
fn share(rank: usize) -> Tile {
    Tile::from_vec(if rank == 0 { vec![0i64, 1, 2] } else { vec![3, 4] })
}

#[test]
fn arrays_stay_with_the_ranks() {
    let mut executor = ExecutorHandle::threads(2, &Options::default());
    assert_eq!((executor.size(), executor.hosted()), (2, vec![0, 1]));
    assert!(executor.has_windows());
    executor.put(ArrayId(1), share).unwrap();
    for turn in 1..4 {
        executor.run(&job(2, &[turn], turn + 1)).unwrap();
    }
    let tiles: Vec<Vec<i64>> =
        executor.get(ArrayId(4), &[0, 1]).unwrap().iter().map(|(_, tile)| tile.to_vec()).collect();
    assert_eq!(tiles, [vec![0, 8, 16], vec![24, 32]]);
    let mut last = (*job(2, &[4], 5)).clone();
    last.forget = [ArrayId(1), ArrayId(2)].into_iter().collect();
    executor.run(&Arc::new(last)).unwrap();
    assert!(executor.get(ArrayId(1), &[0, 1]).unwrap().is_empty(), "forgotten");
    assert_eq!(executor.counters().bytes, 0);
}

#[test]
fn an_executor_that_failed_says_so_from_then_on() {
    let mut executor = ExecutorHandle::threads(2, &Options::default());
    let error = executor.run(&job(2, &[7], 8)).unwrap_err();
    assert!(matches!(error, Error::UnknownArray { id: 7, .. }), "{error}");
    assert!(error.to_string().contains("got array 7, which it does not have"));
    executor.put(ArrayId(7), share).unwrap();
    assert_eq!(executor.run(&job(2, &[7], 8)).unwrap_err(), error);
    let panicked = Error::Panicked { rank: 1, message: "no".to_owned() };
    assert_eq!(panicked.to_string(), "rank 1 panicked: no");
}

/// An array that no machine has memory for, on the last of the ranks.
fn vast(ranks: usize, result: u64) -> Arc<Job> {
    let text = r#"
!v = !ndarray.ndarray<140737488355328xf64, #pantile.dist<"rank LAST: whole">>
func.func @main() -> !v {
  %c = arith.constant 1.0 : f64
  %n = arith.constant 140737488355328 : index
  %a = ndarray.create %n value %c : (index, f64) -> !v
  return %a : !v
}
"#;
    job_of((&text.replace("LAST", &(ranks - 1).to_string()), 9), ranks, &[], result)
}

#[test]
fn memory_that_one_rank_does_not_get_is_an_error_of_all_and_they_go_on() {
    let check = |error: &Error, last: usize| {
        let Error::OutOfMemory { rank, reason, ended: false } = error else { panic!("{error}") };
        assert_eq!(*rank, last);
        assert!(reason.contains("no memory of 1125899906842624 bytes"), "{reason}");
    };
    let mut executor = ExecutorHandle::threads(2, &Options::default());
    executor.put(ArrayId(1), share).unwrap();
    for turn in 0..3 {
        check(&executor.run(&vast(2, 100 + turn)).unwrap_err(), 1);
        executor.run(&job(2, &[1], 2 + turn)).unwrap();
    }
    let said = threads::run(2, &Options::default(), |communicator| {
        let mut executor = ExecutorHandle::single(communicator);
        executor.put(ArrayId(1), share).unwrap();
        check(&executor.run(&vast(2, 100)).unwrap_err(), 1);
        executor.run(&job(2, &[1], 2))
    });
    assert!(said.into_iter().all(|one| one.is_ok()));
    let ended = Error::OutOfMemory { rank: 3, reason: "no".to_owned(), ended: true };
    assert!(ended.to_string().contains("rank 3: no; this happened in a program"), "{ended}");
}

#[test]
fn alone_every_caller_is_a_rank() {
    let results = threads::run(2, &Options::default(), |communicator| {
        let mut executor = ExecutorHandle::single(communicator);
        let rank = executor.hosted()[0];
        executor.put(ArrayId(1), share).unwrap();
        executor.run(&job(2, &[1], 2))?;
        let tiles = executor.get(ArrayId(2), &[0, 1]).unwrap();
        assert_eq!(tiles[0].0, rank);
        Ok::<_, Error>(tiles[0].1.to_vec::<i64>())
    });
    let results: Vec<Vec<i64>> = results.into_iter().map(Result::unwrap).collect();
    assert_eq!(results, [vec![0, 2, 4], vec![6, 8]]);
}

/// A program that takes a while: so many turns of a loop.
fn long(turns: u64) -> String {
    LONG.replace("TURNS", &turns.to_string())
}

const LONG: &str = r#"
!v = !ndarray.ndarray<5xi64, #pantile.dist<"block(r)">>
func.func @main(%a: !v) -> !v {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant TURNS : index
  %r = scf.for %i = %c0 to %many step %c1 iter_args(%x = %a) -> (!v) {
    %b = ndarray.ewbin %x, %x {op = "bitwise_xor"} : (!v, !v) -> !v
    %y = ndarray.ewbin %b, %a {op = "add"} : (!v, !v) -> !v
    scf.yield %y : !v
  }
  return %r : !v
}
"#;

#[test]
fn a_caller_may_stop_waiting_and_nothing_is_lost() {
    let mut executor = ExecutorHandle::threads(2, &Options::default());
    executor.put(ArrayId(1), share).unwrap();
    // The first question is answered with yes, all others with no.
    let asked = std::sync::atomic::AtomicBool::new(false);
    executor.stop_waiting_if(move || !asked.swap(true, std::sync::atomic::Ordering::Relaxed));
    // A caller that gets no turn until the program is over is never asked: then a longer one is tried.
    let mut turns = 200_000;
    let outcome = loop {
        let outcome = executor.run(&job_of((&long(turns), turns.into()), 2, &[1], 2));
        if outcome.is_err() || turns > 1_000_000_000 {
            break outcome;
        }
        turns *= 4;
    };
    assert_eq!(outcome.unwrap_err(), Error::Interrupted);
    executor.run(&job(2, &[1], 3)).unwrap();
    let of = |executor: &mut ExecutorHandle, id| -> Vec<Vec<i64>> {
        executor.get(ArrayId(id), &[0, 1]).unwrap().iter().map(|(_, tile)| tile.to_vec()).collect()
    };
    assert_eq!(of(&mut executor, 3), [vec![0, 2, 4], vec![6, 8]]);
    assert_eq!(of(&mut executor, 2), [vec![0, 1, 2], vec![3, 4]], "it went on to its end");
}

#[test]
fn what_one_caller_flags_is_flagged_for_all() {
    let results = threads::run(3, &Options::default(), |communicator| {
        let rank = communicator.rank();
        let mut executor = ExecutorHandle::single(communicator);
        let mut flags = [rank == 0, false, rank == 2];
        executor.agree(&pantile_comm::CollectiveSignature::here("compute", 7), &mut flags)?;
        Ok::<_, Error>(flags)
    });
    for flags in results {
        assert_eq!(flags.unwrap(), [true, false, true]);
    }
}

#[test]
fn callers_that_differ_hear_it_before_they_run() {
    let results = threads::run(3, &Options::default(), |communicator| {
        let rank = communicator.rank();
        let mut executor = ExecutorHandle::single(communicator);
        let call = pantile_comm::CollectiveSignature::here("compute", 8 + u64::from(rank == 1));
        let error = executor.agree(&call, &mut []).unwrap_err();
        assert_eq!(executor.agree(&call, &mut []).unwrap_err(), error, "from then on");
        Ok::<_, Error>(error.to_string())
    });
    for text in results {
        let text = text.unwrap();
        assert!(text.contains("disagree"), "{text}");
    }
}

#[test]
fn a_loop_that_nobody_wants_any_more_ends() {
    const FOREVER: &str = r#"
func.func @main(%a: i64) -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 9000000000000000000 : index
  %r = scf.for %i = %zero to %end step %one iter_args(%x = %a) -> (i64) {
    %y = arith.addi %x, %x : i64
    scf.yield %y : i64
  }
  return %r : i64
}
"#;
    let forever = job_of((FOREVER, 3), 2, &[1], 2);
    let mut executor = ExecutorHandle::threads(2, &Options::default());
    executor.put(ArrayId(1), |_| Tile::from_vec(vec![1i64])).unwrap();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    executor.stop_if(&stop);
    let other = Arc::clone(&stop);
    let waits = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        other.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let error = executor.run(&forever).unwrap_err();
    assert!(matches!(error, Error::Stopped { .. }), "{error}");
    waits.join().unwrap();
}

/// Neighbours change places: ranks need each other.
const TURNED: &str = r#"
!v = !ndarray.ndarray<5xi64, #pantile.dist<"block(r)">>
!c = !ndarray.ndarray<5xi64, #pantile.dist<"cyclic(r, 1)">>
func.func @main(%a: !v) -> !c {
  %b = ndarray.ewbin %a, %a {op = "add"} : (!v, !v) -> !v
  %c = ndarray.redistribute %b : !v -> !c
  return %c : !c
}
"#;

#[test]
fn a_known_program_that_is_soon_done_gives_the_same_on_any_thread() {
    // More ranks than most machines have cores, too.
    for ranks in [1, 2, 3, 9] {
        let mut executor = ExecutorHandle::threads(ranks, &Options::default());
        let owned = |rank: usize| {
            let (each, more) = (5 / ranks, 5 % ranks);
            let start = rank * each + rank.min(more);
            start..start + each + usize::from(rank < more)
        };
        executor
            .put(ArrayId(1), |rank| Tile::from_vec(owned(rank).map(|at| at as i64).collect()))
            .unwrap();
        let job = job_of((TURNED, 4), ranks, &[1], 2);
        for turn in 0..400 {
            executor.run(&job).unwrap();
            for (rank, tile) in executor.get(ArrayId(2), &[0, 1]).unwrap() {
                let expected: Vec<i64> = (rank..5).step_by(ranks).map(|at| 2 * at as i64).collect();
                assert_eq!(tile.to_vec::<i64>(), expected, "turn {turn} of rank {rank} of {ranks}");
            }
            // Ranks that have nothing to do fall asleep.
            if turn % 100 == 50 {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        }
        assert_eq!(executor.counters().programs, 400);
    }
}

#[test]
fn the_rank_that_failed_is_named_when_the_caller_is_another() {
    let mut executor = ExecutorHandle::threads(2, &Options::default());
    executor.put(ArrayId(1), share).unwrap();
    let job = job_of((TURNED, 4), 2, &[1], 2);
    executor.run(&job).unwrap();
    // The second time the caller is the first rank, and waits for the second.
    executor.replace(ArrayId(1), &[(1, Arc::new(Tile::from_vec(vec![0.5])))]);
    let error = executor.run(&job).unwrap_err();
    assert!(matches!(error, Error::WrongTile { rank: 1, .. }), "{error}");
    assert_eq!(executor.run(&job).unwrap_err(), error, "from then on");
}

#[test]
fn a_failure_of_the_callers_share_ends_the_executor() {
    let mut executor = ExecutorHandle::threads(2, &Options::default());
    executor.put(ArrayId(1), share).unwrap();
    let job = job_of((TURNED, 4), 2, &[1], 2);
    executor.run(&job).unwrap();
    executor.replace(ArrayId(1), &[(0, Arc::new(Tile::from_vec(vec![0.5])))]);
    let error = executor.run(&job).unwrap_err();
    assert!(matches!(error, Error::WrongTile { rank: 0, .. }), "{error}");
    assert_eq!(executor.run(&job).unwrap_err(), error, "from then on");
}

#[test]
fn a_caller_may_stop_waiting_for_a_known_program_that_takes_its_time() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let mut executor = ExecutorHandle::threads(2, &Options::default());
    executor.put(ArrayId(1), share).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    executor.stop_waiting_if(move || asked.load(Ordering::Relaxed));
    let mut turns = 200_000;
    let outcome = loop {
        let job = job_of((&long(turns), turns.into()), 2, &[1], 2);
        executor.run(&job).unwrap();
        stop.store(true, Ordering::Relaxed);
        let outcome = executor.run(&job);
        stop.store(false, Ordering::Relaxed);
        if outcome.is_err() || turns > 1_000_000_000 {
            break outcome;
        }
        turns *= 4;
    };
    assert_eq!(outcome.unwrap_err(), Error::Interrupted);
    executor.settle().unwrap();
}

/// The elements of a row of five that a rank owns.
fn row(ranks: usize, rank: usize) -> Vec<i64> {
    let (each, more) = (5 / ranks, 5 % ranks);
    let start = rank * each + rank.min(more);
    (start..start + each + usize::from(rank < more)).map(|at| at as i64).collect()
}

#[test]
fn ranks_that_have_nothing_to_do_have_no_thread() {
    for ranks in [1, 2, 3, 4095, 4096] {
        let mut executor = ExecutorHandle::threads(ranks, &Options::default());
        executor.put(ArrayId(1), |rank| Tile::from_vec(row(ranks, rank))).unwrap();
        executor.replace(ArrayId(1), &[(0, Arc::new(Tile::from_vec(row(ranks, 0))))]);
        assert_eq!(executor.started_threads(), 0, "a rank that only holds elements has none");
        for turn in 0..3 {
            let mut moved = (*job_of((TURNED, 4), ranks, &[1], 3 + turn)).clone();
            moved.forget = [ArrayId(2 + turn)].into_iter().collect();
            executor.run(&Arc::new(moved)).unwrap();
        }
        assert_eq!(executor.started_threads(), ranks.min(5), "{ranks} ranks");
        let all: Vec<usize> = (0..ranks).collect();
        let tiles = executor.get(ArrayId(5), &all).unwrap();
        assert_eq!(tiles.len(), ranks);
        for (rank, tile) in tiles {
            let expected: Vec<i64> = (rank..5).step_by(ranks).map(|at| 2 * at as i64).collect();
            assert_eq!(tile.to_vec::<i64>(), expected, "rank {rank} of {ranks}");
        }
        assert!(executor.get(ArrayId(4), &all).unwrap().is_empty(), "forgotten everywhere");
        assert_eq!(executor.counters().programs, 3);
    }
}

#[test]
fn a_rank_that_gets_work_later_starts_later() {
    let whole = TURNED.replace("cyclic(r, 1)", "whole");
    let mut executor = ExecutorHandle::threads(9, &Options::default());
    executor.put(ArrayId(1), |rank| Tile::from_vec(row(9, rank))).unwrap();
    executor.run(&job_of((TURNED, 4), 9, &[1], 2)).unwrap();
    assert_eq!(executor.started_threads(), 5);
    executor.run(&job_of((&whole, 5), 9, &[1], 3)).unwrap();
    assert_eq!(executor.started_threads(), 9);
    let tiles = executor.get(ArrayId(3), &(0..9).collect::<Vec<_>>()).unwrap();
    assert_eq!(tiles.len(), 9);
    for (_, tile) in tiles {
        assert_eq!(tile.to_vec::<i64>(), [0, 2, 4, 6, 8]);
    }
}

#[test]
fn a_failure_counts_for_ranks_that_never_started() {
    let whole = TURNED.replace("cyclic(r, 1)", "whole");
    let mut executor = ExecutorHandle::threads(9, &Options::default());
    executor.put(ArrayId(1), |rank| Tile::from_vec(row(9, rank))).unwrap();
    executor.replace(ArrayId(1), &[(1, Arc::new(Tile::from_vec(vec![0.5])))]);
    let error = executor.run(&job_of((TURNED, 4), 9, &[1], 2)).unwrap_err();
    assert!(matches!(error, Error::WrongTile { rank: 1, .. }), "{error}");
    assert_eq!(executor.run(&job_of((&whole, 5), 9, &[1], 3)).unwrap_err(), error);
    assert_eq!(executor.started_threads(), 5, "an executor that failed starts no thread");
}
