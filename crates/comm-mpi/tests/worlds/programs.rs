//! The programs of ranks.

use std::time::{Duration, Instant};

use pantile_comm::{
    CollectiveSignature, CommError, Communicator, Failure, MemoryBlock, MemorySlice, Options, Tag,
    Transport,
};
use pantile_comm_mpi::{Mpi, run};

use super::bytes::{body, differs, differs_in};

const TAG: Tag = Tag(3);

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

fn within(deadline: u64) -> Options {
    Options::default().with_deadline(milliseconds(deadline))
}

fn init(options: &Options) -> Mpi {
    Mpi::init(options).expect("MPI")
}

fn meet(world: &mut Communicator) -> Result<(), CommError> {
    world.barrier(&CollectiveSignature::here("meet", 1))
}

/// Every rank of a raw transport is in the same call.
fn enter(transport: &mut Mpi) {
    transport.enter(&CollectiveSignature::here("program", 1)).expect("a healthy world");
}

pub(super) fn large() {
    // More than 2 GiB, and no multiple of anything.
    let bytes = (9 << 28) + 12_345;
    let mut transport = init(&within(100_000));
    enter(&mut transport);
    if transport.rank() == 0 {
        let body = body(1, bytes);
        for _ in 0..2 {
            let ticket = transport.post_send(1, TAG, &body).expect("posted");
            transport.wait(ticket).expect("sent");
        }
        return;
    }
    let room = MemoryBlock::zeroed(bytes).whole();
    let ticket = transport.post_receive(0, TAG, &room).expect("posted");
    transport.wait(ticket).expect("received");
    assert_eq!(differs(&room, 1), None);
    drop(room);
    let vector = transport.receive_any(0, TAG).expect("received");
    assert_eq!((vector.len(), differs_in(&vector, 1)), (bytes, None));
    println!("rank 1: all bytes came twice");
}

pub(super) fn chunks() {
    let lengths = [0, 1, 896, 897, 999, 1000, 1001, 2000, 4999, 100_000];
    let mut transport = init(&within(20_000)).with_chunk(1000);
    let (rank, size) = (transport.rank(), transport.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    enter(&mut transport);
    let rooms: Vec<MemorySlice> =
        lengths.iter().map(|bytes| MemoryBlock::zeroed(*bytes).whole()).collect();
    let receives: Vec<_> =
        rooms.iter().map(|room| transport.post_receive(left, TAG, room)).collect();
    let mut sends = Vec::new();
    for round in 0..2 {
        for (message, bytes) in lengths.iter().enumerate() {
            let body = body((100 * round + message) as u64, *bytes);
            sends.push(transport.post_send(right, TAG, &body).expect("posted"));
        }
    }
    for (message, (ticket, room)) in receives.into_iter().zip(&rooms).enumerate().rev() {
        transport.wait(ticket.expect("posted")).expect("received");
        assert_eq!(differs(room, message as u64), None, "message {message}");
    }
    for (message, bytes) in lengths.iter().enumerate() {
        let vector = transport.receive_any(left, TAG).expect("received");
        let message = 100 + message as u64;
        assert_eq!((vector.len(), differs_in(&vector, message)), (*bytes, None), "{message}");
    }
    sends.into_iter().for_each(|ticket| transport.wait(ticket).expect("sent"));
    println!("rank {rank}: all chunks came");
}

/// Rank 0 sends 2000 bytes in chunks of one size, rank 1 expects them in chunks of another.
fn uneven(chunks: [usize; 2]) {
    let transport = init(&within(5_000));
    let rank = transport.rank();
    let mut world = Communicator::new(Box::new(transport.with_chunk(chunks[rank])));
    let room = MemoryBlock::zeroed(2000).whole();
    let result = world.operation(&CollectiveSignature::here("uneven", 1), |operation| {
        if rank == 0 {
            return operation.send(1, &body(1, 2000));
        }
        let ticket = operation.receive(0, &room)?;
        operation.wait(ticket)
    });
    match (rank, result) {
        (1, Err(error @ CommError::Backend { .. })) => println!("got a backend error: {error}"),
        (1, Err(error @ CommError::Length { .. })) => println!("got a wrong length: {error}"),
        (1, result) => println!("got {result:?}"),
        _ => {}
    }
}

pub(super) fn longer_chunks() {
    uneven([2000, 1000]);
}

pub(super) fn shorter_chunks() {
    uneven([1000, 2000]);
}

pub(super) fn returns_error() {
    let result = run(&within(20_000), |mut world| {
        meet(&mut world).map_err(|error| error.to_string())?;
        if world.rank() == 1 {
            return Err("no more data".to_owned());
        }
        meet(&mut world).map_err(|error| error.to_string())
    });
    println!("run returned {result:?}");
}

pub(super) fn panics() {
    let result = run(&within(20_000), |mut world| {
        meet(&mut world)?;
        assert!(world.rank() != 1, "boom {}", 7);
        meet(&mut world)
    });
    println!("run returned {result:?}");
}

pub(super) fn panics_alone() {
    let mut world = Communicator::new(Box::new(init(&within(20_000))));
    assert!(world.rank() != 1, "boom");
    let error = meet(&mut world).expect_err("rank 1 has gone");
    println!("rank 0 heard: {error}");
}

pub(super) fn fails_late() {
    let result = run(&within(20_000), |mut world| {
        meet(&mut world).map_err(|error| error.to_string())?;
        if world.rank() < 2 {
            return Ok(());
        }
        std::thread::sleep(milliseconds(300));
        Err("oh".to_owned())
    });
    println!("run returned {result:?}");
}

pub(super) fn sleeps() {
    let result = run(&within(1_000), |mut world| {
        meet(&mut world)?;
        if world.rank() == 1 {
            std::thread::sleep(milliseconds(2500));
        }
        meet(&mut world)
    });
    println!("run returned {result:?}");
}

pub(super) fn leaves_later() {
    let transport = init(&within(20_000));
    if transport.rank() == 1 {
        std::thread::sleep(milliseconds(1500));
        println!("rank 1 leaves");
    }
}

pub(super) fn leaves_too_late() {
    let transport = init(&within(400));
    if transport.rank() == 1 {
        std::thread::sleep(milliseconds(1500));
    }
}

pub(super) fn aborts_and_stays() {
    let mut transport = init(&within(20_000));
    enter(&mut transport);
    if transport.rank() == 0 {
        transport.abort(Failure { culprit: 0, call: None, reason: "enough".to_owned() });
        return std::thread::sleep(milliseconds(10_000));
    }
    let started = Instant::now();
    let error = transport.receive_any(0, TAG).expect_err("rank 0 aborts");
    let in_time = if started.elapsed() < milliseconds(9_000) { "in time" } else { "too late" };
    println!("rank 1 heard {in_time}: {error}");
}

pub(super) fn wrong_length() {
    let mut transport = init(&within(5_000));
    enter(&mut transport);
    if transport.rank() == 0 {
        for bytes in [5, 10] {
            let ticket = transport.post_send(1, TAG, &body(1, bytes)).expect("posted");
            transport.wait(ticket).expect("sent");
        }
        return;
    }
    let rooms = [4, 10].map(|bytes| MemoryBlock::zeroed(bytes).whole());
    let tickets = rooms.each_ref().map(|room| transport.post_receive(0, TAG, room));
    let [first, second] = tickets.map(|ticket| ticket.expect("posted"));
    // Waiting for the second one finds what is wrong with the first.
    for ticket in [second, first, second] {
        let error = transport.wait(ticket).expect_err("wrong");
        assert!(matches!(error, CommError::Length { expected: 4, got: 5, peer: 0, .. }), "{error}");
    }
    assert!(transport.is_done(second).is_err() && transport.receive_any(0, TAG).is_err());
    assert!(transport.enter(&CollectiveSignature::here("program", 1)).is_err());
    println!("rank 1 took nothing more");
}

pub(super) fn killed() {
    let result = run(&within(20_000), |mut world| {
        meet(&mut world)?;
        if world.rank() == 1 {
            println!("rank 1 dies");
            let pid = std::process::id().to_string();
            let _ = std::process::Command::new("kill").args(["-9", &pid]).status();
            std::thread::sleep(Duration::from_secs(20));
        }
        meet(&mut world)
    });
    println!("run returned {result:?}");
}

pub(super) fn second_init() {
    let options = within(5_000);
    let first = init(&options);
    println!("{}", Mpi::init(&options).err().expect("a second one"));
    drop(first);
    println!("{}", Mpi::init(&options).err().expect("a third one"));
    assert!(run(&options, |_| Ok::<_, CommError>(())).is_err());
}

/// Starts and ends, or says why it cannot.
pub(super) fn starts() {
    if let Err(error) = run(&within(5_000), |_| Ok::<_, CommError>(())) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Waits until something comes, however often it is late.
fn retry_late<T>(mut wait: impl FnMut() -> Result<T, CommError>) -> T {
    loop {
        match wait() {
            Err(CommError::Late { .. }) => {}
            result => return result.expect("it comes at last"),
        }
    }
}

pub(super) fn late_then_taken() {
    let mut transport = init(&within(1_000));
    enter(&mut transport);
    let (go, done) = (Tag(1), Tag(2));
    if transport.rank() == 0 {
        retry_late(|| transport.receive_any(1, go));
        let sends = [(1, 5000), (2, 5000), (3, 10), (4, 10)]
            .map(|(message, bytes)| transport.post_send(1, TAG, &body(message, bytes)))
            .map(|ticket| ticket.expect("posted"));
        sends.into_iter().for_each(|ticket| retry_late(|| transport.wait(ticket)));
        return drop(retry_late(|| transport.receive_any(1, done)));
    }
    let room = MemoryBlock::zeroed(5000).whole();
    let ticket = transport.post_receive(0, TAG, &room).expect("posted");
    assert!(matches!(transport.wait(ticket), Err(CommError::Late { peer: 0, .. })));
    assert!(matches!(transport.receive_any(0, TAG), Err(CommError::Late { peer: 0, .. })));
    let _ = transport.post_send(0, go, &body(0, 0)).expect("posted");
    // The room that a receive in vain has left is used by the next one.
    let other = MemoryBlock::zeroed(5000).whole();
    let next = transport.post_receive(0, TAG, &other).expect("posted");
    retry_late(|| transport.wait(next));
    retry_late(|| transport.wait(ticket));
    assert_eq!((differs(&room, 1), differs(&other, 2)), (None, None));
    for message in [3, 4] {
        let vector = retry_late(|| transport.receive_any(0, TAG));
        assert_eq!((vector.len(), differs_in(&vector, message)), (10, None));
    }
    println!("rank 1: late, then taken");
    let _ = transport.post_send(0, done, &body(0, 0)).expect("posted");
}

pub(super) fn own_late() {
    let mut transport = init(&within(200));
    enter(&mut transport);
    println!("{}", transport.receive_any(0, TAG).expect_err("nothing was sent"));
    let ticket = transport.post_send(0, TAG, &body(1, 2000)).expect("posted");
    transport.wait(ticket).expect("sent");
    assert_eq!(differs_in(&transport.receive_any(0, TAG).expect("sent before"), 1), None);
}

pub(super) fn leftovers() {
    let mut transport = init(&within(5_000));
    let (rank, peer) = (transport.rank(), 1 - transport.rank());
    enter(&mut transport);
    let _ = transport.post_send(peer, Tag(1), &body(1, 800)).expect("posted");
    for bytes in [10, 3000] {
        let room = MemoryBlock::zeroed(bytes).whole();
        let _ = transport.post_receive(peer, Tag(2), &room).expect("posted");
        let _ = transport.post_receive(rank, Tag(2), &room).expect("posted");
    }
    println!("rank {rank} leaves");
}

pub(super) fn untaken() {
    let mut transport = init(&within(5_000));
    enter(&mut transport);
    if transport.rank() == 0 {
        let _ = transport.post_send(1, TAG, &body(1, 50_000_000)).expect("posted");
    }
}

pub(super) fn posted_then_left() {
    let mut transport = init(&within(20_000));
    enter(&mut transport);
    if transport.rank() == 0 {
        for bytes in [3, 40_000_000] {
            let _ = transport.post_send(1, TAG, &body(1, bytes)).expect("posted");
        }
        return;
    }
    // Long after the other one has left, and longer than the time of grace.
    std::thread::sleep(milliseconds(1000));
    let room = MemoryBlock::zeroed(3).whole();
    let ticket = transport.post_receive(0, TAG, &room).expect("posted");
    assert!(matches!(transport.receive_any(0, Tag(9)), Err(CommError::Gone { peer: 0, .. })));
    transport.wait(ticket).expect("sent before");
    let vector = transport.receive_any(0, TAG).expect("sent before");
    assert_eq!((differs(&room, 1), differs_in(&vector, 1)), (None, None));
    assert!(matches!(transport.receive_any(0, TAG), Err(CommError::Gone { peer: 0, .. })));
    println!("rank 1 has it");
}

pub(super) fn outlives() {
    let world = run(&within(5_000), Ok::<Communicator, CommError>);
    let mut world = world.expect("it was given away");
    meet(&mut world).expect("still there");
    println!("rank {} has met", world.rank());
    assert_eq!(world.failure(), None);
}
