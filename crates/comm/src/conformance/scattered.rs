//! Bodies in several ranges of memory, where a transport takes them.

use std::ops::Range;

use super::subject::{LENGTHS, Subject, Verdict, claim, read, same, text, told, write};
use super::{ANY, Body, Case, MANY, expect};
use crate::{Call, CommError, Communicator, Memory, Piece, Ranges, Scattered, Tag, Transport};

pub(super) const CASES: &[Case] = &[
    Case { name: "scattered to one piece", ranks: ANY, body: Body::Keeps(gathered) },
    Case { name: "one piece to scattered", ranks: ANY, body: Body::Keeps(spread) },
    Case { name: "scattered to other ranges", ranks: ANY, body: Body::Keeps(other_ranges) },
    Case { name: "scattered bodies keep their order", ranks: ANY, body: Body::Keeps(order) },
    Case { name: "a scattered body may be changed later", ranks: ANY, body: Body::Keeps(changed) },
    Case { name: "a scattered body of any length", ranks: ANY, body: Body::Keeps(any_length) },
    Case { name: "a scattered room is too short", ranks: MANY, body: Body::Ends(room_too_short) },
    Case { name: "a scattered body is too short", ranks: MANY, body: Body::Ends(body_too_short) },
    Case { name: "scattered bodies that are not taken", ranks: ANY, body: Body::Keeps(refused) },
];

/// What lies between ranges.
const GAP: u8 = 0xa5;

/// A body of so many bytes in ranges of about `run`, no two of the same length, with gaps from byte
/// `first` on.
fn ranges(bytes: usize, run: usize, first: usize) -> Ranges {
    let (mut list, mut at, mut left): (Vec<Range<usize>>, _, _) = (Vec::new(), first, bytes);
    while left > 0 {
        let length = (run + list.len() % 7).min(left);
        list.push(at..at + length);
        at += length + 1 + list.len() % 5;
        left -= length;
    }
    Ranges::ascending(list).expect("they ascend")
}

/// Memory with gaps around a body of these ranges.
fn place(ranges: &Ranges) -> Scattered {
    let memory = Memory::zeroed(ranges.span() + 11);
    write(&memory.whole(), &vec![GAP; memory.bytes()]);
    memory.scattered(ranges)
}

/// A place with a body in it.
fn filled(ranges: &Ranges, body: &[u8]) -> Scattered {
    let (scattered, mut at) = (place(ranges), 0);
    for range in ranges.places(0..body.len()) {
        write(&scattered.memory().piece(range.start, range.len()), &body[at..at + range.len()]);
        at += range.len();
    }
    scattered
}

/// The body lies in its ranges, and everything around it is as it was.
fn holds(scattered: &Scattered, body: &[u8]) -> Verdict {
    let expected = filled(scattered.ranges(), body);
    same(&read(&scattered.memory().whole()), &read(&expected.memory().whole()))
}

/// Lengths of ranges: the shortest ones, some that fit many to a packet, and long ones.
const RUNS: [usize; 3] = [1, 700, 40_000];

/// All lengths of bodies with all lengths of ranges that are not too many.
fn sizes() -> impl Iterator<Item = (usize, usize)> {
    let all = LENGTHS.iter().flat_map(|bytes| RUNS.map(|run| (*bytes, run)));
    all.filter(|(bytes, run)| *bytes <= 100_000 * run)
}

/// Runs a case once per length, around the ring.
fn ring(
    transport: &mut dyn Transport,
    case: impl Fn(&mut Subject<'_>, [Vec<u8>; 2], usize) -> Verdict,
) -> Verdict {
    if transport.run_bytes().is_none() {
        return Ok(());
    }
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    for (index, (bytes, run)) in sizes().enumerate() {
        subject.enter(&Call::here("scattered", index as u64))?;
        let bodies = [text(rank, right, index, bytes), text(left, rank, index, bytes)];
        case(&mut subject, bodies, run)?;
        subject.leave()?;
    }
    Ok(())
}

fn gathered(transport: &mut dyn Transport) -> Verdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        let room = subject.room(left, 1, theirs.len())?;
        subject.send_scattered(right, 1, &filled(&ranges(mine.len(), run, 3), &mine))?;
        subject.wait(&room, &theirs)
    })
}

fn spread(transport: &mut dyn Transport) -> Verdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        let room = place(&ranges(theirs.len(), run, 5));
        let ticket = told(subject.transport.post_receive_scattered(left, Tag(1), &room))?;
        subject.send(right, 1, &mine)?;
        told(subject.transport.wait(ticket))?;
        holds(&room, &theirs)
    })
}

/// Once with the room made before the message comes, once after.
fn other_ranges(transport: &mut dyn Transport) -> Verdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        let body = filled(&ranges(mine.len(), run, 3), &mine);
        let rooms = [(run + 3, 0), (2 * run, 9)]
            .map(|(run, first)| place(&ranges(theirs.len(), run, first)));
        let early = told(subject.transport.post_receive_scattered(left, Tag(1), &rooms[0]))?;
        subject.send_scattered(right, 1, &body)?;
        subject.send_scattered(right, 1, &body)?;
        told(subject.transport.wait(early))?;
        holds(&rooms[0], &theirs)?;
        let late = told(subject.transport.post_receive_scattered(left, Tag(1), &rooms[1]))?;
        told(subject.transport.wait(late))?;
        holds(&rooms[1], &theirs)
    })
}

/// Bodies of both kinds in turns, waited for from the last one on.
fn order(transport: &mut dyn Transport) -> Verdict {
    if transport.run_bytes().is_none() {
        return Ok(());
    }
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&Call::here("scattered order", 0))?;
    let bytes = |index: usize| LENGTHS[index % LENGTHS.len()];
    let mut rooms = Vec::new();
    for index in 0..24 {
        let room = place(&ranges(bytes(index), 900 + index, index));
        let ticket = told(subject.transport.post_receive_scattered(left, Tag(1), &room))?;
        rooms.push((ticket, room));
    }
    for index in 0..24 {
        let body = text(rank, right, index, bytes(index));
        match index % 3 {
            0 => subject.send(right, 1, &body)?,
            _ => subject.send_scattered(right, 1, &filled(&ranges(body.len(), 800, 2), &body))?,
        }
    }
    for (index, (ticket, room)) in rooms.iter().enumerate().rev() {
        told(subject.transport.wait(*ticket))?;
        holds(room, &text(left, rank, index, bytes(index)))?;
    }
    subject.leave()
}

fn changed(transport: &mut dyn Transport) -> Verdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        let room = subject.room(left, 1, theirs.len())?;
        let body = filled(&ranges(mine.len(), run, 3), &mine);
        subject.send_scattered(right, 1, &body)?;
        subject.sent()?;
        write(&body.memory().whole(), &vec![0xff; body.memory().bytes()]);
        subject.wait(&room, &theirs)
    })
}

fn any_length(transport: &mut dyn Transport) -> Verdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        subject.send_scattered(right, 1, &filled(&ranges(mine.len(), run, 3), &mine))?;
        subject.take_any(left, 1, &theirs)
    })
}

fn room_too_short(transport: Box<dyn Transport>) -> Verdict {
    misfits(transport, 99_999, 100_000)
}

fn body_too_short(transport: Box<dyn Transport>) -> Verdict {
    misfits(transport, 1000, 999)
}

/// Rank 0 sends a scattered body; rank 1 has room for another length, and finds out.
fn misfits(transport: Box<dyn Transport>, room: usize, body: usize) -> Verdict {
    if transport.run_bytes().is_none() {
        return Ok(());
    }
    let mut world = Communicator::new(transport);
    let (rank, call) = (world.rank(), Call::here("scattered length", 1));
    let result = world.operation(&call, |operation| {
        if rank == 0 {
            operation.send_scattered(1, &place(&ranges(body, 100, 1)))?;
        }
        let room = place(&ranges(room, 90, 1));
        let ticket = operation.receive_scattered(usize::from(rank != 1), &room)?;
        operation.wait(ticket)
    });
    let error = expect::error(result)?;
    if rank == 1 {
        let holds = matches!(&error, CommError::Length { rank: 1, peer: 0, expected, got, .. }
            if (*expected, *got) == (room, body));
        claim(holds, &format!("expected {body} bytes in a room of {room}, got {error:?}"))?;
    } else {
        expect::failed(&error, rank, 1)?;
    }
    expect::ended(&mut world, 1)
}

/// Who does not take scattered bodies says so, and goes on.
fn refused(transport: &mut dyn Transport) -> Verdict {
    if transport.run_bytes().is_some() {
        return Ok(());
    }
    let mut subject = Subject::new(transport);
    let right = subject.right();
    subject.enter(&Call::here("not scattered", 0))?;
    let body = place(&ranges(10, 4, 0));
    let sent = subject.transport.post_send_scattered(right, Tag(1), &body);
    let room = subject.transport.post_receive_scattered(right, Tag(1), &body);
    for answer in [sent, room] {
        let told = matches!(&answer, Err(CommError::Backend { .. }));
        claim(told, &format!("expected a refusal, got {answer:?}"))?;
    }
    subject.send_piece(right, 1, &Piece::copied_from(b"on"))?;
    let left = subject.left();
    subject.take(left, 1, b"on")?;
    subject.leave()
}
