//! Exchanges: rings, all to all, to oneself, much at once, and memory that stays as it was.

use super::error::CaseError;
use super::subject::{
    CaseVerdict, LENGTHS, ReceiveBuffer, Subject, claim, read, same, text, write,
};
use super::{ANY, CaseBody, ConformanceCase, MANY};
use crate::{CollectiveSignature, MemoryBlock, MemorySlice, Ticket, Transport};

pub(super) const CASES: &[ConformanceCase] = &[
    ConformanceCase { name: "ring of all lengths", ranks: ANY, body: CaseBody::Keeps(ring) },
    ConformanceCase {
        name: "all to all of all lengths",
        ranks: ANY,
        body: CaseBody::Keeps(all_to_all),
    },
    ConformanceCase {
        name: "a rank sends to itself",
        ranks: ANY,
        body: CaseBody::Keeps(to_oneself),
    },
    ConformanceCase {
        name: "a thousand messages are on their way",
        ranks: ANY,
        body: CaseBody::Keeps(many_tickets),
    },
    ConformanceCase {
        name: "posting much does not wait for the peer",
        ranks: MANY,
        body: CaseBody::Keeps(much_at_once),
    },
    ConformanceCase {
        name: "neighbours of a room stay",
        ranks: ANY,
        body: CaseBody::Keeps(neighbours),
    },
    ConformanceCase {
        name: "a body may be changed after its wait",
        ranks: ANY,
        body: CaseBody::Keeps(changed_later),
    },
    ConformanceCase {
        name: "asking whether it is done",
        ranks: MANY,
        body: CaseBody::Keeps(polling),
    },
];

fn ring(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    for round in 0..3 {
        for (index, &bytes) in LENGTHS.iter().enumerate() {
            subject.enter(&CollectiveSignature::here("ring", bytes as u64))?;
            let number = round * 10 + index;
            let room = subject.room(left, 0, bytes)?;
            subject.send(right, 0, &text(rank, right, number, bytes))?;
            subject.wait(&room, &text(left, rank, number, bytes))?;
            subject.leave()?;
        }
    }
    Ok(())
}

fn all_to_all(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, size) = (subject.rank(), subject.size());
    for (index, &bytes) in LENGTHS.iter().enumerate() {
        subject.enter(&CollectiveSignature::here("all to all", bytes as u64))?;
        let rooms: Result<Vec<ReceiveBuffer>, CaseError> =
            (0..size).map(|from| subject.room(from, 0, bytes)).collect();
        for to in 0..size {
            subject.send(to, 0, &text(rank, to, index, bytes))?;
        }
        for (from, room) in rooms?.iter().enumerate() {
            subject.wait(room, &text(from, rank, index, bytes))?;
        }
        subject.leave()?;
    }
    Ok(())
}

fn to_oneself(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let rank = subject.rank();
    subject.enter(&CollectiveSignature::here("to oneself", 0))?;
    for (index, &bytes) in LENGTHS.iter().enumerate() {
        let body = text(rank, rank, index, bytes);
        let room = subject.room(rank, 1, bytes)?;
        claim(!subject.is_done(room.ticket)?, "a message came before it was sent")?;
        subject.send(rank, 1, &body)?;
        subject.wait(&room, &body)?;
        subject.send(rank, 1, &body)?;
        subject.take(rank, 1, &body)?;
        subject.send(rank, 1, &body)?;
        subject.take_any(rank, 1, &body)?;
    }
    subject.leave()
}

fn many_tickets(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&CollectiveSignature::here("many tickets", 0))?;
    let mut rooms = Vec::new();
    for index in 0..1000 {
        rooms.push(subject.room(left, 1, index % 17)?);
    }
    for index in 0..1000 {
        subject.send(right, 1, &text(rank, right, index, index % 17))?;
    }
    for (index, room) in rooms.iter().enumerate().rev() {
        subject.wait(room, &text(left, rank, index, index % 17))?;
    }
    subject.leave()
}

fn much_at_once(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    let bytes = 4 << 20;
    subject.enter(&CollectiveSignature::here("much at once", 0))?;
    subject.send(right, 1, &text(rank, right, 1, bytes))?;
    subject.send(left, 2, &text(rank, left, 2, bytes))?;
    subject.take(left, 1, &text(left, rank, 1, bytes))?;
    subject.take(right, 2, &text(right, rank, 2, bytes))?;
    subject.leave()
}

fn neighbours(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    for (index, &bytes) in LENGTHS.iter().enumerate() {
        subject.enter(&CollectiveSignature::here("neighbours", bytes as u64))?;
        // Odd offsets: nothing about the place of a body or a room is special.
        let (before, after) = (13, 29);
        let bodies = MemoryBlock::zeroed(before + bytes + after);
        write(&bodies.slice(before, bytes), &text(rank, right, index, bytes));
        let rooms = MemoryBlock::zeroed(3 * before + 2 * bytes + after);
        write(&rooms.whole(), &vec![0xa5; rooms.bytes()]);
        let first = subject.post_receive_into(left, 1, &rooms.slice(before, bytes))?;
        let second = subject.post_receive_into(left, 1, &rooms.slice(2 * before + bytes, bytes))?;
        subject.send_slice(right, 1, &bodies.slice(before, bytes))?;
        subject.send_slice(right, 1, &bodies.slice(before, bytes))?;
        let body = text(left, rank, index, bytes);
        subject.wait(&second, &body)?;
        subject.wait(&first, &body)?;
        let gap = vec![0xa5; before];
        let expected = [&gap, &body, &gap, &body, &gap, &vec![0xa5; after]];
        same(&read(&rooms.whole()), &expected.map(Vec::as_slice).concat())?;
        subject.leave()?;
    }
    Ok(())
}

fn changed_later(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&CollectiveSignature::here("changed later", 0))?;
    for (index, &bytes) in LENGTHS.iter().enumerate() {
        let room = subject.room(left, 1, bytes)?;
        let body = MemorySlice::copied_from(&text(rank, right, index, bytes));
        subject.send_slice(right, 1, &body)?;
        subject.sent()?;
        write(&body, &vec![0xff; bytes]);
        subject.wait(&room, &text(left, rank, index, bytes))?;
    }
    subject.leave()
}

fn polling(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&CollectiveSignature::here("polling", 0))?;
    for (index, &bytes) in LENGTHS.iter().enumerate() {
        let first = subject.room(left, 1, bytes)?;
        let second = subject.room(left, 1, 3)?;
        for _ in 0..10 {
            claim(!subject.is_done(first.ticket)?, "a message came before it was sent")?;
            claim(!subject.is_done(second.ticket)?, "a message came before it was sent")?;
        }
        subject.send(left, 2, &[])?;
        subject.take(right, 2, &[])?;
        subject.send(right, 1, &text(rank, right, index, bytes))?;
        let sent = subject.last_send();
        subject.send(right, 1, b"end")?;
        until_done(&mut subject, second.ticket)?;
        until_done(&mut subject, first.ticket)?;
        until_done(&mut subject, sent)?;
        subject.wait(&first, &text(left, rank, index, bytes))?;
        subject.wait(&second, b"end")?;
    }
    subject.leave()
}

/// Asks until the answer is yes; the runner of the case ends it if that never comes.
fn until_done(subject: &mut Subject<'_>, ticket: Ticket) -> CaseVerdict {
    while !subject.is_done(ticket)? {
        std::thread::yield_now();
    }
    claim(subject.is_done(ticket)?, "what was done is not done any more")
}
