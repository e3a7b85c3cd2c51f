//! What processes add to the suite: deaths, silence, long computations, last words.

use std::process::Command;
use std::time::{Duration, Instant};

use pantile_comm::{
    CollectiveSignature, Communicator, MemoryBlock, MemorySlice, Options, Tag, Transport,
};
use pantile_comm_net::{ListenerOptions, Net};
use pantile_testkit::timing::SOON;

use super::ProcessTest;
use super::launch::{join, launch};

/// A program that every rank runs, and what has to come out of it.
struct TestProgram {
    name: &'static str,
    size: usize,
    run: fn(Net),
    deadline: Duration,
    silence: Duration,
    /// What each rank that lives prints.
    says: &'static [&'static str],
}

const LONG: Duration = Duration::from_secs(600);
const SECOND: Duration = Duration::from_secs(1);

const PROGRAMS: &[TestProgram] = &[
    TestProgram {
        name: "a rank is killed",
        size: 3,
        run: killed,
        deadline: LONG,
        silence: LONG,
        says: &["in time: rank 2"],
    },
    TestProgram {
        name: "a rank is killed in the middle of a message",
        size: 2,
        run: killed_sending,
        deadline: LONG,
        silence: LONG,
        says: &["in time: rank 1"],
    },
    TestProgram {
        name: "a rank is stopped",
        size: 3,
        run: stopped,
        deadline: LONG,
        silence: SECOND,
        says: &["in time: rank 2", "which did not answer"],
    },
    TestProgram {
        name: "a rank computes for longer than the deadline and the silence",
        size: 2,
        run: computes,
        deadline: SECOND,
        silence: SECOND,
        says: &["all is well"],
    },
    TestProgram {
        name: "a rank computes within the same call",
        size: 3,
        run: computes_inside,
        deadline: SECOND,
        silence: SECOND,
        says: &["all is well"],
    },
    TestProgram {
        name: "ranks wait in a circle",
        size: 3,
        run: cycle,
        deadline: SECOND,
        silence: LONG,
        says: &["late"],
    },
    TestProgram {
        name: "what was posted before leaving comes",
        size: 2,
        run: last_words,
        deadline: LONG,
        silence: LONG,
        says: &["all is well"],
    },
    TestProgram {
        name: "a rank panics",
        size: 2,
        run: panics,
        deadline: LONG,
        silence: LONG,
        says: &["because rank 1 failed: its program panicked"],
    },
];

pub(super) fn tests() -> Vec<ProcessTest> {
    let test = |program: &'static TestProgram| ProcessTest {
        name: format!("{}, {} ranks", program.name, program.size),
        run: Box::new(move || judge(program)),
    };
    PROGRAMS.iter().map(test).collect()
}

fn judge(program: &TestProgram) -> Result<(), String> {
    let ranks = launch(program.size, &["program", program.name])?;
    let living: Vec<_> = ranks.iter().filter(|rank| rank.code == Some(0)).collect();
    if living.len() + 1 < program.size {
        return Err(format!("more than one did not live: {ranks:?}"));
    }
    for words in program.says {
        if let Some(silent) = living.iter().find(|rank| !rank.printed.contains(words)) {
            return Err(format!("no rank printed `{words}`: {silent:?} of {ranks:?}"));
        }
    }
    Ok(())
}

/// The program of a rank.
pub(super) fn run(name: &str) {
    let program = PROGRAMS.iter().find(|program| program.name == name);
    let program = program.expect("a program of that name");
    let options = Options::default().with_deadline(program.deadline);
    (program.run)(join(&options, ListenerOptions::default().with_silence(program.silence)));
}

/// Waits in vain for the last rank, and says whom the error blames.
fn wait_for_last(net: Net) {
    let (last, started) = (net.size() - 1, Instant::now());
    let mut world = Communicator::new(Box::new(net));
    let reads = world
        .operation(&CollectiveSignature::here("wait", 0), |operation| operation.receive_any(last));
    assert!(reads.is_err());
    let in_time = if started.elapsed() < SOON { "in time" } else { "too late" };
    let failure = world.failure().unwrap();
    println!("{in_time}: rank {}: {}", failure.culprit, failure.reason);
}

fn killed(net: Net) {
    if net.rank() + 1 == net.size() {
        std::thread::sleep(Duration::from_millis(200));
        std::process::abort();
    }
    wait_for_last(net);
}

fn killed_sending(mut net: Net) {
    if net.rank() == 0 {
        return wait_for_last(net);
    }
    net.enter(&CollectiveSignature::here("wait", 0)).unwrap();
    let _ = net.post_send(0, Tag(0), &MemoryBlock::zeroed(256 << 20).whole()).unwrap();
    // Long enough for the first bytes, too short for all of them.
    std::thread::sleep(Duration::from_millis(5));
    std::process::abort();
}

fn stopped(net: Net) {
    if net.rank() + 1 == net.size() {
        let id = std::process::id().to_string();
        Command::new("sh")
            .args(["-c", &format!("kill -STOP {id}; sleep 8; kill -KILL {id}")])
            .status()
            .unwrap();
        return;
    }
    wait_for_last(net);
}

fn barrier(world: &mut Communicator) {
    world.barrier(&CollectiveSignature::here("barrier", 0)).unwrap();
}

fn computes(net: Net) {
    let mut world = Communicator::new(Box::new(net));
    barrier(&mut world);
    if world.rank() == 1 {
        std::thread::sleep(4 * SECOND);
    }
    barrier(&mut world);
    println!("all is well");
}

/// Rank 0 waits for rank 1, which waits for rank 2, which takes its time: none is late.
fn computes_inside(net: Net) {
    let mut world = Communicator::new(Box::new(net));
    let (rank, size) = (world.rank(), world.size());
    let done = world.operation(&CollectiveSignature::here("chain", 0), |operation| {
        match rank + 1 == size {
            true => std::thread::sleep(4 * SECOND),
            false => drop(operation.receive_any(rank + 1)?),
        }
        match rank {
            0 => Ok(()),
            _ => operation.send(rank - 1, &MemorySlice::copied_from(b"go")),
        }
    });
    done.unwrap();
    println!("all is well");
}

/// All in the same call, each waits for the next: none is in another call, and none will ever send.
fn cycle(net: Net) {
    let mut world = Communicator::new(Box::new(net));
    let next = (world.rank() + 1) % world.size();
    let reads = world.operation(&CollectiveSignature::here("circle", 0), |operation| {
        operation.receive_any(next)
    });
    println!("late: {}", reads.unwrap_err());
}

fn last_words(mut net: Net) {
    net.enter(&CollectiveSignature::here("last words", 0)).unwrap();
    let large = vec![7; 32 << 20];
    if net.rank() == 0 {
        for _ in 0..3 {
            let _ = net.post_send(1, Tag(0), &MemorySlice::copied_from(&large)).unwrap();
            let _ = net.post_send(1, Tag(0), &MemorySlice::copied_from(b"small")).unwrap();
        }
    } else {
        for _ in 0..3 {
            assert_eq!(net.receive_any(0, Tag(0)).unwrap(), large);
            assert_eq!(net.receive_any(0, Tag(0)).unwrap(), b"small");
        }
    }
    drop(net);
    println!("all is well");
}

fn panics(net: Net) {
    let mut world = Communicator::new(Box::new(net));
    assert_eq!(world.rank(), 0, "rank 1 does not like this");
    let reads = world
        .operation(&CollectiveSignature::here("wait", 0), |operation| operation.receive_any(1));
    println!("{}", reads.unwrap_err());
}
