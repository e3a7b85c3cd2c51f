//! Vectored messages (scatter/gather): bodies in several ranges of memory, where a transport takes
//! them.

use std::ops::Range;

use super::error::{Claim, ExpectedError};
use super::subject::{CaseVerdict, LENGTHS, Subject, claim, read, same, text, told, write};
use super::{ANY, CaseBody, ConformanceCase, MANY, expect};
use crate::{
    CollectiveSignature, CommError, Communicator, IoVec, MemoryBlock, MemorySlice, Ranges, Tag,
    Transport,
};

pub(super) const CASES: &[ConformanceCase] = &[
    ConformanceCase { name: "vectored to contiguous", ranks: ANY, body: CaseBody::Keeps(gathered) },
    ConformanceCase { name: "contiguous to vectored", ranks: ANY, body: CaseBody::Keeps(spread) },
    ConformanceCase {
        name: "vectored to other ranges",
        ranks: ANY,
        body: CaseBody::Keeps(other_ranges),
    },
    ConformanceCase {
        name: "vectored bodies keep their order",
        ranks: ANY,
        body: CaseBody::Keeps(order),
    },
    ConformanceCase {
        name: "a vectored body may be changed later",
        ranks: ANY,
        body: CaseBody::Keeps(changed),
    },
    ConformanceCase {
        name: "a vectored body of any length",
        ranks: ANY,
        body: CaseBody::Keeps(any_length),
    },
    ConformanceCase {
        name: "a vectored room is too short",
        ranks: MANY,
        body: CaseBody::Ends(room_too_short),
    },
    ConformanceCase {
        name: "a vectored body is too short",
        ranks: MANY,
        body: CaseBody::Ends(body_too_short),
    },
    ConformanceCase {
        name: "vectored bodies that are not taken",
        ranks: ANY,
        body: CaseBody::Keeps(refused),
    },
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
fn place(ranges: &Ranges) -> IoVec {
    let memory = MemoryBlock::zeroed(ranges.span() + 11);
    write(&memory.whole(), &vec![GAP; memory.bytes()]);
    memory.io_vec(ranges)
}

/// A place with a body in it.
fn filled(ranges: &Ranges, body: &[u8]) -> IoVec {
    let (io_vec, mut at) = (place(ranges), 0);
    for range in ranges.places(0..body.len()) {
        write(&io_vec.memory().slice(range.start, range.len()), &body[at..at + range.len()]);
        at += range.len();
    }
    io_vec
}

/// The body lies in its ranges, and everything around it is as it was.
fn holds(io_vec: &IoVec, body: &[u8]) -> CaseVerdict {
    let expected = filled(io_vec.ranges(), body);
    same(&read(&io_vec.memory().whole()), &read(&expected.memory().whole()))
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
    case: impl Fn(&mut Subject<'_>, [Vec<u8>; 2], usize) -> CaseVerdict,
) -> CaseVerdict {
    if transport.run_bytes().is_none() {
        return Ok(());
    }
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    for (index, (bytes, run)) in sizes().enumerate() {
        subject.enter(&CollectiveSignature::here("vectored", index as u64))?;
        let bodies = [text(rank, right, index, bytes), text(left, rank, index, bytes)];
        case(&mut subject, bodies, run)?;
        subject.leave()?;
    }
    Ok(())
}

fn gathered(transport: &mut dyn Transport) -> CaseVerdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        let room = subject.room(left, 1, theirs.len())?;
        subject.send_vectored(right, 1, &filled(&ranges(mine.len(), run, 3), &mine))?;
        subject.wait(&room, &theirs)
    })
}

fn spread(transport: &mut dyn Transport) -> CaseVerdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        let room = place(&ranges(theirs.len(), run, 5));
        let ticket = told(subject.transport.post_receive_vectored(left, Tag(1), &room))?;
        subject.send(right, 1, &mine)?;
        told(subject.transport.wait(ticket))?;
        holds(&room, &theirs)
    })
}

/// Once with the room made before the message comes, once after.
fn other_ranges(transport: &mut dyn Transport) -> CaseVerdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        let body = filled(&ranges(mine.len(), run, 3), &mine);
        let rooms = [(run + 3, 0), (2 * run, 9)]
            .map(|(run, first)| place(&ranges(theirs.len(), run, first)));
        let early = told(subject.transport.post_receive_vectored(left, Tag(1), &rooms[0]))?;
        subject.send_vectored(right, 1, &body)?;
        subject.send_vectored(right, 1, &body)?;
        told(subject.transport.wait(early))?;
        holds(&rooms[0], &theirs)?;
        let late = told(subject.transport.post_receive_vectored(left, Tag(1), &rooms[1]))?;
        told(subject.transport.wait(late))?;
        holds(&rooms[1], &theirs)
    })
}

/// Bodies of both kinds in turns, waited for from the last one on.
fn order(transport: &mut dyn Transport) -> CaseVerdict {
    if transport.run_bytes().is_none() {
        return Ok(());
    }
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&CollectiveSignature::here("vectored order", 0))?;
    let bytes = |index: usize| LENGTHS[index % LENGTHS.len()];
    let mut rooms = Vec::new();
    for index in 0..24 {
        let room = place(&ranges(bytes(index), 900 + index, index));
        let ticket = told(subject.transport.post_receive_vectored(left, Tag(1), &room))?;
        rooms.push((ticket, room));
    }
    for index in 0..24 {
        let body = text(rank, right, index, bytes(index));
        match index % 3 {
            0 => subject.send(right, 1, &body)?,
            _ => subject.send_vectored(right, 1, &filled(&ranges(body.len(), 800, 2), &body))?,
        }
    }
    for (index, (ticket, room)) in rooms.iter().enumerate().rev() {
        told(subject.transport.wait(*ticket))?;
        holds(room, &text(left, rank, index, bytes(index)))?;
    }
    subject.leave()
}

fn changed(transport: &mut dyn Transport) -> CaseVerdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        let room = subject.room(left, 1, theirs.len())?;
        let body = filled(&ranges(mine.len(), run, 3), &mine);
        subject.send_vectored(right, 1, &body)?;
        subject.sent()?;
        write(&body.memory().whole(), &vec![0xff; body.memory().bytes()]);
        subject.wait(&room, &theirs)
    })
}

fn any_length(transport: &mut dyn Transport) -> CaseVerdict {
    ring(transport, |subject, [mine, theirs], run| {
        let (left, right) = (subject.left(), subject.right());
        subject.send_vectored(right, 1, &filled(&ranges(mine.len(), run, 3), &mine))?;
        subject.take_any(left, 1, &theirs)
    })
}

fn room_too_short(transport: Box<dyn Transport>) -> CaseVerdict {
    misfits(transport, 99_999, 100_000)
}

fn body_too_short(transport: Box<dyn Transport>) -> CaseVerdict {
    misfits(transport, 1000, 999)
}

/// Rank 0 sends a vectored body; rank 1 has room for another length, and finds out.
fn misfits(transport: Box<dyn Transport>, room: usize, body: usize) -> CaseVerdict {
    if transport.run_bytes().is_none() {
        return Ok(());
    }
    let mut world = Communicator::new(transport);
    let (rank, call) = (world.rank(), CollectiveSignature::here("vectored length", 1));
    let result = world.operation(&call, |operation| {
        if rank == 0 {
            operation.send_vectored(1, &place(&ranges(body, 100, 1)))?;
        }
        let room = place(&ranges(room, 90, 1));
        let ticket = operation.receive_vectored(usize::from(rank != 1), &room)?;
        operation.wait(ticket)
    });
    let error = expect::error(result)?;
    if rank == 1 {
        let holds = matches!(&error, CommError::Length { rank: 1, peer: 0, expected, got, .. }
            if (*expected, *got) == (room, body));
        claim(
            holds,
            Claim::Error { expected: ExpectedError::Length { body, room }, got: error.clone() },
        )?;
    } else {
        expect::failed(&error, rank, 1)?;
    }
    expect::ended(&mut world, 1)
}

/// A transport that does not take vectored bodies refuses them, and goes on.
fn refused(transport: &mut dyn Transport) -> CaseVerdict {
    if transport.run_bytes().is_some() {
        return Ok(());
    }
    let mut subject = Subject::new(transport);
    let right = subject.right();
    subject.enter(&CollectiveSignature::here("not vectored", 0))?;
    let body = place(&ranges(10, 4, 0));
    let sent = subject.transport.post_send_vectored(right, Tag(1), &body);
    let room = subject.transport.post_receive_vectored(right, Tag(1), &body);
    for answer in [sent, room] {
        let told = matches!(&answer, Err(CommError::Backend { .. }));
        claim(told, Claim::Refusal(answer.map(drop)))?;
    }
    subject.send_slice(right, 1, &MemorySlice::copied_from(b"on"))?;
    let left = subject.left();
    subject.take(left, 1, b"on")?;
    subject.leave()
}
