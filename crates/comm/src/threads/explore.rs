//! Explores the interleavings of windows, wakeups and waits.
//!
//! Locks and atomics are those of the explorer, which runs one thread at a time and decides at each
//! of them who goes on. It finds threads that sleep for ever, because no thread sleeps for a
//! limited time here, and it finds what the payloads assert. It takes all atomics for sequentially
//! consistent, so it says nothing about orderings that are too weak.

use std::sync::Arc;
use std::time::Duration;

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use shuttle::thread::{JoinHandle, spawn, yield_now};
use shuttle::{Config, Runner};

use super::endpoint::Threads;
use super::wakeup::{Spin, Wakeup};
use super::window::{ExposedMemory, SharedWindow};
use super::world::ThreadWorld;
use crate::{
    ActiveOperation, CollectiveSignature, CommError, Communicator, Failure, MemoryBlock, Options,
    Rank, Tag, Transport, Windows,
};

/// As long as it takes: no thread looks at a clock here.
const LONG: Duration = Duration::from_secs(3600);

fn explore(scheduler: impl Scheduler + 'static, body: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(body);
}

/// `count` interleavings, scaled by `PANTILE_CASES`.
fn scaled(count: usize) -> usize {
    usize::try_from(pantile_testkit::scaled(count)).unwrap_or(count)
}

/// Random interleavings, and those with few changes of the thread that runs; others with every seed
/// of the run.
fn sample(count: usize, body: impl Fn() + Send + Sync + 'static) {
    let body = Arc::new(body);
    let again = Arc::clone(&body);
    let (seed, count) = (pantile_testkit::run_seed(), scaled(count));
    explore(RandomScheduler::new_from_seed(seed ^ 1, count), move || body());
    explore(PctScheduler::new_from_seed(seed ^ 2, 3, count), move || again());
}

/// All interleavings, or the first hundred thousand.
fn all(body: impl Fn() + Send + Sync + 'static) {
    explore(DfsScheduler::new(Some(scaled(100_000)), false), body);
}

fn join(threads: Vec<JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
}

/// What a window shows: read by any number of viewers, written by the owner while no viewer reads.
#[derive(Default)]
struct Payload {
    readers: AtomicU32,
    written: AtomicBool,
    value: AtomicU32,
}

impl Payload {
    fn read(&self) -> u32 {
        self.readers.fetch_add(1, SeqCst);
        assert!(!self.written.load(SeqCst), "read while it is written");
        let value = self.value.load(SeqCst);
        assert!(!self.written.load(SeqCst), "written while it is read");
        self.readers.fetch_sub(1, SeqCst);
        value
    }

    fn write(&self, value: u32) {
        assert!(!self.written.swap(true, SeqCst), "written twice");
        assert_eq!(self.readers.load(SeqCst), 0, "written while it is read");
        self.value.store(value, SeqCst);
        assert_eq!(self.readers.load(SeqCst), 0, "read while it is written");
        self.written.store(false, SeqCst);
    }
}

fn exposed(round: u32) -> ExposedMemory {
    ExposedMemory {
        call: CollectiveSignature::here("round", u64::from(round)),
        memory: MemoryBlock::zeroed(0),
    }
}

/// A window and what it shows.
#[derive(Default)]
struct WindowScene {
    window: SharedWindow,
    payload: Payload,
}

impl WindowScene {
    fn try_look(&self) -> bool {
        let Some(exposed) = self.window.acquire() else { return false };
        assert_eq!(u64::from(self.payload.read()), exposed.call.fingerprint, "another value");
        self.window.release();
        true
    }
}

fn close_two_windows() {
    let scene = Arc::new(WindowScene::default());
    let viewed = Arc::clone(&scene);
    let viewer = spawn(move || {
        for _ in 0..2 {
            while !viewed.try_look() {
                yield_now();
            }
        }
    });
    for round in 1..=2 {
        scene.payload.write(round);
        assert!(scene.window.expose(exposed(round)), "the window is empty again");
        while !scene.window.close() {
            yield_now();
        }
    }
    join(vec![viewer]);
}

/// The owner closes or revokes, the viewer comes at any time, also to release what it never
/// acquired.
fn revoke_a_window(tries: usize) {
    let scene = Arc::new(WindowScene::default());
    let viewed = Arc::clone(&scene);
    let viewer = spawn(move || {
        viewed.window.release();
        let _ = (0..tries).any(|_| viewed.try_look());
        viewed.window.release();
    });
    scene.payload.write(1);
    assert!(scene.window.expose(exposed(1)), "a new window is empty");
    if scene.window.close() || (0..tries).any(|_| scene.window.revoke()) {
        scene.payload.write(2);
        assert!(scene.window.expose(exposed(2)), "the window is empty again");
    }
    join(vec![viewer]);
}

#[test]
fn explore_windows_that_close() {
    sample(3000, close_two_windows);
}

#[test]
fn explore_windows_that_are_revoked() {
    all(|| revoke_a_window(1));
    sample(5000, || revoke_a_window(3));
}

/// One rank sleeps until all of `wakers` have woken it.
fn wake_a_thread(wakers: u32, rounds: u32) {
    let wakeup = Arc::new(Wakeup::default());
    let count = Arc::new(AtomicU32::new(0));
    let waker = |_| {
        let (wakeup, count) = (Arc::clone(&wakeup), Arc::clone(&count));
        spawn(move || {
            for _ in 0..rounds {
                count.fetch_add(1, SeqCst);
                wakeup.wake();
            }
        })
    };
    let threads = (0..wakers).map(waker).collect();
    for next in 1..=wakers * rounds {
        let ready = || (count.load(SeqCst) >= next).then_some(());
        wakeup.wait(&Spin::short(false), LONG, ready);
    }
    join(threads);
}

#[test]
fn explore_wakeups() {
    all(|| wake_a_thread(1, 1));
    all(|| wake_a_thread(2, 1));
    sample(2000, || wake_a_thread(2, 2));
    sample(2000, || wake_a_thread(1, 4));
}

/// What the last rank of a chain does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Answer,
    Abort,
    Leave,
    AnswerAndLeave,
    AbortAndLeave,
}

const ACTS: [Act; 5] =
    [Act::Answer, Act::Abort, Act::Leave, Act::AnswerAndLeave, Act::AbortAndLeave];

fn give_up(culprit: Rank) -> Failure {
    Failure { culprit, call: None, reason: "gives up".to_owned() }
}

/// Each rank waits for the next one and then answers the one before; the last one acts.
fn wait_in_a_chain(size: usize, act: Act) {
    let world = ThreadWorld::new(size, &Options::default());
    let answers: Arc<Vec<AtomicBool>> =
        Arc::new((0..size).map(|_| AtomicBool::new(false)).collect());
    let answer = |world: &ThreadWorld, answers: &[AtomicBool], rank: Rank| {
        answers[rank].store(true, SeqCst);
        if rank > 0 {
            world.inbox(rank - 1).wakeup.wake();
        }
    };
    let waiter = |rank: Rank| {
        let (world, answers) = (Arc::clone(&world), Arc::clone(&answers));
        spawn(move || {
            let (call, last) = (CollectiveSignature::here("chain", 0), size - 1);
            let ready = || answers[rank + 1].load(SeqCst).then_some(());
            match world.wait((rank, rank + 1), &call, ready) {
                Ok(()) => answer(&world, &answers, rank),
                Err(error) => {
                    assert!(!matches!(act, Act::Answer | Act::AnswerAndLeave), "{error}");
                    let failure = error.to_failure(rank, Some(&call));
                    assert_eq!(failure.culprit, last, "{error}");
                    world.abort(failure);
                }
            }
            world.leave(rank);
        })
    };
    let threads = (0..size - 1).map(waiter).collect();
    let last = size - 1;
    if matches!(act, Act::Answer | Act::AnswerAndLeave) {
        answer(&world, &answers, last);
    }
    if matches!(act, Act::Abort | Act::AbortAndLeave) {
        world.abort(give_up(last));
    }
    if matches!(act, Act::Leave | Act::AnswerAndLeave | Act::AbortAndLeave) {
        world.leave(last);
    }
    join(threads);
}

#[test]
fn explore_waits() {
    for act in ACTS {
        all(move || wait_in_a_chain(2, act));
        sample(1000, move || wait_in_a_chain(3, act));
    }
}

/// Rank 0 shows its memory to all others and withdraws, after an abort or not, while they look.
fn withdraw_while_others_look(size: usize, aborts: bool) {
    let mut ends = Threads::world(size, &Options::default());
    let payload = Arc::new(Payload::default());
    let viewer = |mut end: Threads| {
        let payload = Arc::clone(&payload);
        spawn(move || match end.acquire(0) {
            Ok(_) => {
                assert_eq!(payload.read(), 1, "the value that was exposed");
                end.release(0);
            }
            Err(CommError::Gone { peer, .. }) => assert_eq!(peer, 0),
            Err(CommError::Failed { failure, .. }) => assert_eq!(failure.culprit, 0),
            Err(error) => panic!("{error}"),
        })
    };
    let threads = ends.drain(1..).map(viewer).collect();
    let mut end = ends.remove(0);
    payload.write(1);
    (1..size).for_each(|to| end.expose(to, &MemoryBlock::zeroed(0)).expect("the world is healthy"));
    if aborts {
        end.abort(give_up(0));
    }
    end.withdraw();
    payload.write(2);
    drop(end);
    payload.write(3);
    join(threads);
}

#[test]
fn explore_withdrawing() {
    for aborts in [false, true] {
        sample(1500, move || withdraw_while_others_look(2, aborts));
        sample(1000, move || withdraw_while_others_look(3, aborts));
    }
}

/// Rank 0 shows its memory to rank 1, closes, changes it and says so; rank 2, if there is one,
/// gives up meanwhile.
fn close_and_tell(size: usize) {
    let mut ends = Threads::world(size, &Options::default());
    let payload = Arc::new(Payload::default());
    let refused = move |error: &CommError| {
        assert_eq!((size, error.to_failure(0, None).culprit), (3, 2), "{error}");
    };
    let mut threads = Vec::new();
    if let Some(mut end) = ends.drain(2..).next() {
        threads.push(spawn(move || end.abort(give_up(2))));
    }
    let (mut viewer, viewed) = (ends.remove(1), Arc::clone(&payload));
    threads.push(spawn(move || {
        let mut look = || {
            viewer.acquire(0)?;
            assert_eq!(viewed.read(), 1, "the value that was exposed");
            viewer.release(0);
            // Nothing but the release may wake the owner.
            viewer.receive_any(0, Tag(0))
        };
        look().map_or_else(|error| refused(&error), drop);
    }));
    let mut owner = ends.remove(0);
    payload.write(1);
    let closed = owner.expose(1, &MemoryBlock::zeroed(0)).and_then(|()| owner.close(1));
    payload.write(2);
    let told = closed.and_then(|()| owner.post_send(1, Tag(0), &MemoryBlock::zeroed(0).whole()));
    told.map_or_else(|error| refused(&error), |_| ());
    join(threads);
}

#[test]
fn explore_closing() {
    sample(1500, || close_and_tell(2));
    sample(1500, || close_and_tell(3));
}

/// Where the last rank gives up, counted over both rounds.
const POINTS: usize = 12;

/// All ranks read each other's memory in two rounds; the last one gives up at a point.
fn exchange_twice(mut world: Communicator, payloads: &[Payload], stop: usize) {
    let (rank, last) = (world.rank(), payloads.len() - 1);
    let mut point = 0;
    for round in 1..=2 {
        let result =
            world.operation(&CollectiveSignature::here("round", u64::from(round)), |operation| {
                exchange(operation, payloads, round, &mut || {
                    point += 1;
                    match rank == last && point == stop {
                        true => Err(CommError::NoSuchRank { rank, peer: rank, size: 0 }),
                        false => Ok(()),
                    }
                })
            });
        // Whatever came of it, no rank reads any more.
        payloads[rank].write(100);
        if let Err(error) = result {
            assert!(stop <= POINTS, "{error}");
            assert_eq!(error.to_failure(rank, None).culprit, last, "{error}");
            return;
        }
    }
    assert!(rank < last || stop > POINTS, "the last rank gives up");
}

fn exchange(
    operation: &mut ActiveOperation<'_>,
    payloads: &[Payload],
    round: u32,
    point: &mut dyn FnMut() -> Result<(), CommError>,
) -> Result<(), CommError> {
    let (rank, memory) = (operation.rank(), MemoryBlock::zeroed(0));
    let others = || (0..payloads.len()).filter(|other| *other != rank);
    payloads[rank].write(round);
    let windows = operation.windows().expect("threads have windows");
    point()?;
    others().try_for_each(|to| windows.expose(to, &memory))?;
    point()?;
    let mut first = true;
    for from in others() {
        windows.acquire(from)?;
        if std::mem::take(&mut first) {
            point()?;
        }
        assert_eq!(payloads[from].read(), round, "the value of this round");
        windows.release(from);
    }
    point()?;
    others().try_for_each(|to| windows.close(to))?;
    point()?;
    windows.withdraw();
    point()
}

fn exchange_on_all(size: usize, stop: usize) {
    let payloads: Arc<Vec<Payload>> = Arc::new((0..size).map(|_| Payload::default()).collect());
    let rank = |end: Threads| {
        let payloads = Arc::clone(&payloads);
        spawn(move || exchange_twice(Communicator::new(Box::new(end)), &payloads, stop))
    };
    join(Threads::world(size, &Options::default()).into_iter().map(rank).collect());
}

#[test]
fn explore_exchanges() {
    for stop in 1..=POINTS + 1 {
        sample(300, move || exchange_on_all(2, stop));
        sample(150, move || exchange_on_all(3, stop));
    }
}
