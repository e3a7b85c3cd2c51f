//! Ranks that fail at every step of every movement, on threads and on the simulator.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

use pantile_comm::sim::{InjectedFault, Sim};
use pantile_comm::threads::Threads;
use pantile_comm::{Communicator, Options};
use pantile_spmd::RankContext;
use pantile_suite::faults::{Failing, How, Trial, judge, trials};

const RANKS: usize = 3;

/// What one rank said; `None` if it panicked.
type Said = Option<Result<(), String>>;

/// Runs a trial on threads with one rank that fails. A hang is a failure of the test.
fn on_threads(trial: Trial, culprit: usize, at_step: u64, how: How) -> Vec<Said> {
    let options = Options::default().with_deadline(Duration::from_secs(20));
    let (sender, receiver) = mpsc::channel();
    for (rank, end) in Threads::world(RANKS, &options).into_iter().enumerate() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let at_step = if rank == culprit { at_step } else { 0 };
            let transport = Box::new(Failing::new(Box::new(end), at_step, how));
            let body = || (trial.body)(&RankContext::new(Communicator::new(transport)));
            let said = catch_unwind(AssertUnwindSafe(body)).ok();
            let said = said.map(|result| result.map_err(|error| error.to_string()));
            sender.send((rank, said)).unwrap();
        });
    }
    let mut said = vec![None; RANKS];
    for _ in 0..RANKS {
        let waited = receiver.recv_timeout(Duration::from_secs(60));
        let (rank, words) = waited.unwrap_or_else(|_| {
            panic!("{}: a rank hangs when rank {culprit} fails at {at_step}: {how:?}", trial.name)
        });
        said[rank] = words;
    }
    said
}

/// Fails at step 1, 2, 3 ... until the trial is over before that.
fn every_step(trial: Trial, culprit: usize, how: How) {
    for at_step in 1.. {
        let said = on_threads(trial, culprit, at_step, how);
        if said.iter().all(|said| *said == Some(Ok(()))) {
            assert!(at_step > 4, "{}: only {at_step} steps", trial.name);
            return;
        }
        let finished = said[culprit] == Some(Ok(()));
        assert!(!finished, "{}: rank {culprit} failed and did not notice", trial.name);
        for (rank, said) in said.iter().enumerate().filter(|(rank, _)| *rank != culprit) {
            // A rank that had nothing more to do with it may be through already.
            let Some(Err(_)) = said else { continue };
            let verdict = judge(said.as_ref().unwrap(), culprit);
            assert_eq!(verdict, Ok(()), "{} at {at_step}, rank {rank}, {how:?}", trial.name);
        }
    }
}

#[test]
fn threads_that_fail_at_every_step_are_named() {
    // These panics are on purpose, and there are thousands.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.payload_as_str().is_some_and(|text| text.contains("told to panic")) {
            usual(panic);
        }
    }));
    for trial in trials() {
        for how in [How::Error, How::Panic, How::Leave] {
            for culprit in 0..RANKS {
                every_step(trial, culprit, how);
            }
        }
    }
}

#[test]
fn simulated_ranks_lost_or_stuck_at_every_step_are_named() {
    for (number, trial) in trials().into_iter().enumerate() {
        let body = |communicator| (trial.body)(&RankContext::new(communicator));
        let healthy = Sim { seed: number as u64, ..Sim::default() }.run(RANKS, body);
        assert!(healthy.results.iter().all(Result::is_ok), "{}: {healthy:?}", trial.name);
        for rank in 0..RANKS {
            let mut noticed = 0;
            for at_step in 1..=healthy.steps[rank] {
                for fault in
                    [InjectedFault::Lose { rank, at_step }, InjectedFault::Stick { rank, at_step }]
                {
                    noticed += simulated(trial, rank, fault, number as u64);
                }
            }
            // Only the very last call of a rank may go wrong without anybody noticing.
            assert!(noticed + 2 >= 2 * healthy.steps[rank], "{}: {noticed}", trial.name);
        }
    }
}

/// 1 if the rank that goes wrong gets an error.
fn simulated(trial: Trial, culprit: usize, fault: InjectedFault, seed: u64) -> u64 {
    let sim = Sim { seed, faults: vec![fault], ..Sim::default() };
    let outcome = sim.run(RANKS, |communicator| (trial.body)(&RankContext::new(communicator)));
    for (rank, result) in outcome.results.iter().enumerate().filter(|(rank, _)| *rank != culprit) {
        let Err(error) = result else { continue };
        let said = Err(error.to_string());
        assert_eq!(judge(&said, culprit), Ok(()), "{} {fault:?}, rank {rank}", trial.name);
    }
    let longest = sim.options.deadline * 2;
    assert!(outcome.time < longest, "{} {fault:?}: {:?}", trial.name, outcome.time);
    u64::from(outcome.results[culprit].is_err())
}
