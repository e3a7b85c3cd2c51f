//! Order: messages of one channel follow each other, channels do not wait for each other.

use super::error::CaseError;
use super::subject::{CaseVerdict, LENGTHS, ReceiveBuffer, Subject, claim, text};
use super::{ANY, CaseBody, ConformanceCase, MANY};
use crate::sim::generator::Generator;
use crate::{CollectiveSignature, Transport};

pub(super) const CASES: &[ConformanceCase] = &[
    ConformanceCase {
        name: "messages fill rooms in order, whatever the order of waiting",
        ranks: ANY,
        body: CaseBody::Keeps(shuffled_waits),
    },
    ConformanceCase {
        name: "peers and tags have orders of their own",
        ranks: ANY,
        body: CaseBody::Keeps(own_orders),
    },
    ConformanceCase {
        name: "tags do not wait for each other",
        ranks: ANY,
        body: CaseBody::Keeps(tags),
    },
    ConformanceCase {
        name: "peers do not wait for each other",
        ranks: MANY,
        body: CaseBody::Keeps(peers),
    },
    ConformanceCase {
        name: "rooms may come before messages",
        ranks: ANY,
        body: CaseBody::Keeps(room_first),
    },
    ConformanceCase {
        name: "messages may come before rooms",
        ranks: ANY,
        body: CaseBody::Keeps(message_first),
    },
    ConformanceCase {
        name: "messages of unknown length come in order with others",
        ranks: ANY,
        body: CaseBody::Keeps(unknown_lengths),
    },
];

/// Lengths of the messages of a channel, the same for every rank that knows its sender.
fn lengths(from: usize, count: usize) -> Vec<usize> {
    let mut generator = Generator::new(from as u64);
    (0..count).map(|_| LENGTHS[generator.below(LENGTHS.len())]).collect()
}

fn shuffled_waits(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&CollectiveSignature::here("shuffled waits", 0))?;
    let mut rooms: Vec<(usize, ReceiveBuffer, usize)> = Vec::new();
    for (index, &bytes) in lengths(left, 48).iter().enumerate() {
        rooms.push((index, subject.room(left, 1, bytes)?, bytes));
    }
    for (index, &bytes) in lengths(rank, 48).iter().enumerate() {
        subject.send(right, 1, &text(rank, right, index, bytes))?;
    }
    Generator::new(rank as u64 + 100).shuffle(&mut rooms);
    for (index, room, bytes) in &rooms {
        subject.wait(room, &text(left, rank, *index, *bytes))?;
    }
    subject.leave()
}

fn own_orders(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, size) = (subject.rank(), subject.size());
    subject.enter(&CollectiveSignature::here("own orders", 0))?;
    let mut generator = Generator::new(rank as u64);
    let mut sends: Vec<(usize, u16)> = Vec::new();
    for peer in 0..size {
        for tag in [0, 1, 7, 1000] {
            sends.extend([(peer, tag); 12]);
        }
    }
    let mut takes = sends.clone();
    generator.shuffle(&mut sends);
    generator.shuffle(&mut takes);
    let mut counts = vec![[0; 1001]; size];
    for &(to, tag) in &sends {
        let count = &mut counts[to][usize::from(tag)];
        subject.send(to, tag, &text(rank, to, usize::from(tag) * 100 + *count, 24))?;
        *count += 1;
    }
    let mut counts = vec![[0; 1001]; size];
    for &(from, tag) in &takes {
        let count = &mut counts[from][usize::from(tag)];
        subject.take(from, tag, &text(from, rank, usize::from(tag) * 100 + *count, 24))?;
        *count += 1;
    }
    subject.leave()
}

fn tags(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&CollectiveSignature::here("tags", 0))?;
    for (round, &bytes) in LENGTHS.iter().enumerate() {
        let first = subject.room(left, 1, bytes)?;
        let second = subject.room(left, 2, bytes)?;
        subject.send(right, 2, &text(rank, right, round, bytes))?;
        subject.wait(&second, &text(left, rank, round, bytes))?;
        // Only now may the left neighbour send what was asked for first.
        subject.send(left, 3, &[])?;
        subject.take(right, 3, &[])?;
        subject.send(right, 1, &text(rank, right, 100 + round, bytes))?;
        subject.wait(&first, &text(left, rank, 100 + round, bytes))?;
    }
    subject.leave()
}

fn peers(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, size) = (subject.rank(), subject.size());
    subject.enter(&CollectiveSignature::here("peers", 0))?;
    let bytes = 5000;
    if rank == 0 {
        let rooms: Result<Vec<ReceiveBuffer>, CaseError> =
            (1..size).map(|from| subject.room(from, 1, bytes)).collect();
        // The last one asked for comes first.
        for (from, room) in (1..size).zip(&rooms?).rev() {
            subject.send(from, 2, &[])?;
            subject.wait(room, &text(from, 0, 0, bytes))?;
        }
    } else {
        subject.take(0, 2, &[])?;
        subject.send(0, 1, &text(rank, 0, 0, bytes))?;
    }
    subject.leave()
}

fn room_first(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&CollectiveSignature::here("room first", 0))?;
    for (index, &bytes) in LENGTHS.iter().enumerate() {
        let room = subject.room(left, 1, bytes)?;
        claim(!subject.is_done(room.ticket)?, "a message came before it was sent")?;
        // Tells the left neighbour that there is room.
        subject.send(left, 2, &[])?;
        subject.take(right, 2, &[])?;
        subject.send(right, 1, &text(rank, right, index, bytes))?;
        subject.wait(&room, &text(left, rank, index, bytes))?;
    }
    subject.leave()
}

fn message_first(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&CollectiveSignature::here("message first", 0))?;
    for (index, &bytes) in LENGTHS.iter().enumerate() {
        subject.send(right, 1, &text(rank, right, index, bytes))?;
        subject.send(right, 2, &[])?;
        // The message was sent before this one, so it comes before its room.
        subject.take(left, 2, &[])?;
        subject.take(left, 1, &text(left, rank, index, bytes))?;
    }
    subject.leave()
}

fn unknown_lengths(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    subject.enter(&CollectiveSignature::here("unknown lengths", 0))?;
    let (outgoing, incoming) = (lengths(rank, 30), lengths(left, 30));
    for (index, &bytes) in outgoing.iter().enumerate() {
        subject.send(right, 1, &text(rank, right, index, bytes))?;
    }
    let mut rooms = Vec::new();
    for (index, &bytes) in incoming.iter().enumerate() {
        let expected = text(left, rank, index, bytes);
        match index % 3 {
            // Rooms that were posted before come before, though their waits have not begun.
            2 => subject.take_any(left, 1, &expected)?,
            _ => rooms.push((subject.room(left, 1, bytes)?, expected)),
        }
    }
    for (room, expected) in rooms.iter().rev() {
        subject.wait(room, expected)?;
    }
    subject.leave()
}
