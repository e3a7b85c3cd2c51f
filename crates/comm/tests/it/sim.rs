//! Laws of the simulator: runs can be repeated, and all ranks name the one that is lost or stuck.
#![allow(unsafe_code, reason = "changes a body too early, on purpose")]

use std::sync::Mutex;
use std::time::Duration;

use pantile_comm::sim::{InjectedFault, Sim, SimOutcome};
use pantile_comm::{
    CollectiveSignature, CommError, Communicator, MemoryBlock, MemorySlice, RankError,
};

type SimRun = SimOutcome<Vec<u8>, CommError>;

/// Each rank sends every rank a few bytes.
fn all_to_all(world: &mut Communicator, round: u64) -> Result<Vec<u8>, CommError> {
    let (rank, size) = (world.rank(), world.size());
    world.operation(&CollectiveSignature::here("all to all", round), |operation| {
        let rooms: Vec<MemorySlice> =
            (0..size).map(|from| MemoryBlock::zeroed(from + 1).whole()).collect();
        let mut tickets = Vec::new();
        for (from, room) in rooms.iter().enumerate() {
            tickets.push(operation.receive(from, room)?);
        }
        let body = MemorySlice::copied_from(&vec![u8::try_from(rank).unwrap(); rank + 1]);
        for to in 0..size {
            operation.send(to, &body)?;
        }
        tickets.into_iter().rev().try_for_each(|ticket| operation.wait(ticket))?;
        // SAFETY: every receive has been waited for.
        Ok(rooms.iter().flat_map(|room| unsafe { room.as_slice() }.to_vec()).collect())
    })
}

/// Two exchanges with a barrier in between; `last`: and one behind them.
fn program(mut world: Communicator, last: bool) -> Result<Vec<u8>, CommError> {
    let mut bytes = all_to_all(&mut world, 1)?;
    world.barrier(&CollectiveSignature::here("barrier", 0))?;
    bytes.extend(all_to_all(&mut world, 2)?);
    if last {
        world.barrier(&CollectiveSignature::here("last barrier", 0))?;
    }
    Ok(bytes)
}

fn simulate(seed: u64, size: usize, faults: Vec<InjectedFault>) -> SimRun {
    let sim = Sim { seed, faults, ..Sim::default() };
    sim.run(size, |world| program(world, true))
}

fn expected(size: usize) -> Vec<u8> {
    let once = (0..size).flat_map(|rank| vec![u8::try_from(rank).unwrap(); rank + 1]);
    once.clone().chain(once).collect()
}

/// The rank that an error blames.
fn blamed(error: &CommError) -> Option<usize> {
    match error {
        CommError::Failed { failure, .. } => Some(failure.culprit),
        CommError::Gone { peer, .. } | CommError::Late { peer, .. } => Some(*peer),
        _ => None,
    }
}

#[test]
fn runs_can_be_repeated() {
    let mut traces = Vec::new();
    for seed in 0..200 {
        let size = 1 + usize::try_from(seed % 7).unwrap();
        let first = simulate(seed, size, Vec::new());
        assert_eq!(first, simulate(seed, size, Vec::new()), "seed {seed}");
        for result in &first.results {
            assert_eq!(result.as_ref().unwrap(), &expected(size), "seed {seed}");
        }
        traces.push(first.trace);
    }
    traces.sort_unstable();
    traces.dedup();
    assert_eq!(traces.len(), 200);
}

#[test]
fn seeds_give_different_orders_and_one_rank_runs_at_a_time() {
    let order = |seed| {
        let order = Mutex::new(Vec::new());
        let sim = Sim { seed, ..Sim::default() };
        let outcome = sim.run(4, |mut world| {
            for round in 0..3 {
                order.try_lock().expect("one rank runs at a time").push(world.rank());
                all_to_all(&mut world, round)?;
            }
            Ok::<_, CommError>(())
        });
        assert!(outcome.results.iter().all(Result::is_ok), "seed {seed}");
        order.into_inner().unwrap()
    };
    let mut orders: Vec<Vec<usize>> = (0..100).map(order).collect();
    assert_eq!(orders[..20], (0..20).map(order).collect::<Vec<_>>());
    orders.sort();
    orders.dedup();
    assert!(orders.len() > 90, "{} orders of 100", orders.len());
}

/// Checks one run in which one rank is lost or stuck. `needed`: its peers cannot do without it.
fn check_fault(seed: u64, size: usize, fault: InjectedFault, needed: bool) -> SimRun {
    let (culprit, stuck) = match fault {
        InjectedFault::Lose { rank, .. } => (rank, false),
        InjectedFault::Stick { rank, .. } => (rank, true),
    };
    let what = format!("seed {seed}, {size} ranks, {fault:?}");
    let outcome = simulate(seed, size, vec![fault]);
    for (rank, result) in outcome.results.iter().enumerate() {
        match result {
            Ok(bytes) => {
                assert!(!needed || rank == culprit, "{what}: rank {rank} did not notice");
                assert_eq!(*bytes, expected(size), "{what}");
            }
            Err(RankError::Returned(error)) => {
                assert_eq!(blamed(error), Some(culprit), "{what}: rank {rank}: {error}");
                let own = error.to_string().contains("by the simulator");
                assert!(!own || rank == culprit, "{what}: the lost cannot tell: {error}");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    let steps: u64 = outcome.steps.iter().sum();
    let delays = Duration::from_millis(2 * steps + 10);
    let deadline = if stuck { Duration::from_secs(600) } else { Duration::ZERO };
    assert!(outcome.time <= deadline + delays, "{what}: {:?}", outcome.time);
    assert!(!(stuck && needed) || size == 1 || outcome.time >= deadline, "{what}: too early");
    outcome
}

#[test]
fn whoever_is_lost_or_stuck_at_any_step_is_named_by_all() {
    for size in 1..=7 {
        let seed = size as u64;
        // Peers need a rank up to its last barrier; how many steps it makes does not depend on
        // their order.
        let sim = Sim { seed, ..Sim::default() };
        let before = sim.run(size, |world| program(world, false)).steps;
        let all = simulate(seed, size, Vec::new()).steps;
        for rank in 0..size {
            for at_step in 1..=all[rank] {
                let needed = at_step <= before[rank];
                check_fault(seed, size, InjectedFault::Lose { rank, at_step }, needed);
                check_fault(seed, size, InjectedFault::Stick { rank, at_step }, needed);
            }
        }
    }
}

#[test]
fn whoever_is_lost_or_stuck_is_named_under_many_seeds() {
    for seed in 1000..1400_u64 {
        let size = 1 + usize::try_from(seed % 7).unwrap();
        let rank = usize::try_from(seed / 7).unwrap() % size;
        let at_step = 1 + (seed / 3) % 30;
        let fault = match seed % 2 {
            0 => InjectedFault::Lose { rank, at_step },
            _ => InjectedFault::Stick { rank, at_step },
        };
        let first = check_fault(seed, size, fault, false);
        assert_eq!(first, check_fault(seed, size, fault, false), "seed {seed}");
    }
}

#[test]
fn messages_of_a_lost_rank_come_or_are_lost() {
    let mut got = [0, 0];
    for seed in 0..100 {
        // Steps of rank 1: enter, send, and the wait of which it never comes back.
        let faults = vec![InjectedFault::Lose { rank: 1, at_step: 3 }];
        let sim = Sim { seed, faults, ..Sim::default() };
        let outcome = sim.run(2, |mut world| {
            world.operation(
                &CollectiveSignature::here("last words", 0),
                |operation| match operation.rank() {
                    0 => operation.receive_any(1).map(|_| ()),
                    _ => operation.send(0, &MemorySlice::copied_from(b"farewell")),
                },
            )
        });
        got[usize::from(outcome.results[0].is_ok())] += 1;
    }
    assert!(got[0] > 10 && got[1] > 10, "{got:?}");
}

#[test]
fn ranks_that_wait_for_each_other_are_told_after_the_deadline() {
    for seed in 0..20 {
        let sim = Sim { seed, ..Sim::default() };
        // There may be a fourth rank that is busy all the time.
        let outcome = sim.run(3 + usize::from(seed % 2 == 0), |mut world| {
            while world.rank() == 3 && world.failure().is_none() {}
            let next = (world.rank() + 1) % 3;
            world.operation(&CollectiveSignature::here("circle", 0), |operation| {
                operation.receive_any(next)
            })
        });
        let late = |result: &&Result<_, _>| {
            matches!(result, Err(RankError::Returned(CommError::Late { rank, peer, busy: None, .. }))
                if *peer == (rank + 1) % 3)
        };
        assert_eq!(outcome.results.iter().filter(late).count(), 1, "seed {seed}");
        assert!(outcome.results.iter().all(Result::is_err), "seed {seed}");
        assert!(outcome.time >= Duration::from_secs(600) && outcome.time.as_secs() < 700);
    }
}

#[test]
fn asking_in_vain_takes_time_but_few_steps() {
    let sim = Sim { seed: 3, ..Sim::default() };
    let outcome = sim.run(2, |mut world| {
        let name = ["asks", "waits"][world.rank()];
        world.operation(&CollectiveSignature::here(name, 0), |operation| {
            let peer = 1 - operation.rank();
            let ticket = operation.receive(peer, &MemoryBlock::zeroed(1).whole())?;
            while operation.rank() == 0 && !operation.is_done(ticket)? {}
            operation.wait(ticket)
        })
    });
    let got = outcome.results[1].as_ref().unwrap_err();
    let RankError::Returned(CommError::Late { rank, peer, busy: Some(busy), .. }) = got else {
        panic!("{got}")
    };
    assert_eq!((*rank, *peer, &*busy.name), (1, 0, "asks"));
    assert!(outcome.results[0].is_err() && outcome.steps[0] < 200, "{:?}", outcome.steps);
}

#[test]
fn errors_and_panics_end_the_world() {
    for seed in 0..50 {
        let sim = Sim { seed, ..Sim::default() };
        let outcome = sim.run(3, |mut world| {
            world
                .barrier(&CollectiveSignature::here("first", 0))
                .map_err(|error| error.to_string())?;
            match world.rank() {
                0 if seed % 2 == 0 => panic!("no more paper"),
                0 => Err("no more paper".to_owned()),
                _ => world
                    .barrier(&CollectiveSignature::here("second", 0))
                    .map_err(|error| error.to_string()),
            }
        });
        let word = if seed % 2 == 0 { "panicked: no more" } else { "an error: no more" };
        for result in &outcome.results[1..] {
            let error = result.as_ref().unwrap_err().to_string();
            assert!(error.contains("rank 0 failed") && error.contains(word), "{error}");
        }
        assert!(outcome.results[0].is_err());
    }
}

#[test]
fn a_body_that_is_changed_too_early_is_found_out() {
    let changed = |seed| {
        let sim = Sim { seed, ..Sim::default() };
        let outcome = sim.run(2, |mut world| {
            world.operation(&CollectiveSignature::here("careless", 0), |operation| {
                if operation.rank() == 1 {
                    return operation.receive_any(0);
                }
                let body = MemorySlice::copied_from(b"true");
                operation.send(1, &body)?;
                // SAFETY: against law 6, but no other rank runs now.
                unsafe { body.as_mut_slice() }.copy_from_slice(b"liar");
                Ok(Vec::new())
            })
        });
        outcome.results[1].as_ref().unwrap() == b"liar"
    };
    let count = (0..50).filter(|seed| changed(*seed)).count();
    assert!((10..40).contains(&count), "{count} of 50");
}

#[test]
fn waiting_for_sends_without_making_room_is_found_out() {
    let stuck = |seed| {
        let sim = Sim { seed, ..Sim::default() };
        let outcome = sim.run(2, |mut world| {
            world.operation(&CollectiveSignature::here("careless", 0), |operation| {
                let peer = 1 - operation.rank();
                operation.send(peer, &MemoryBlock::zeroed(100).whole())?;
                operation.sent()?;
                operation.receive_any(peer).map(drop)
            })
        });
        outcome.results.iter().any(Result::is_err)
    };
    let count = (0..60).filter(|seed| stuck(*seed)).count();
    assert!((5..55).contains(&count), "{count} of 60");
}
