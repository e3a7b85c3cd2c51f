//! Collective calls: entering and leaving, rank and size, and ranks that do not exist.

use super::error::{CaseError, Claim};
use super::subject::{CaseVerdict, Subject, claim, text};
use super::{ANY, CaseBody, ConformanceCase};
use crate::{
    CollectiveSignature, CommError, Communicator, MemoryBlock, MemorySlice, Tag, Transport,
};

pub(super) const CASES: &[ConformanceCase] = &[
    ConformanceCase {
        name: "a world knows its size and ranks",
        ranks: ANY,
        body: CaseBody::Keeps(known),
    },
    ConformanceCase {
        name: "calls follow each other",
        ranks: ANY,
        body: CaseBody::Keeps(many_calls),
    },
    ConformanceCase {
        name: "calls agree across lines",
        ranks: ANY,
        body: CaseBody::Keeps(across_lines),
    },
    ConformanceCase {
        name: "there is no such rank",
        ranks: ANY,
        body: CaseBody::Keeps(no_such_rank),
    },
    ConformanceCase { name: "a good end", ranks: ANY, body: CaseBody::Ends(good_end) },
];

fn known(transport: &mut dyn Transport) -> CaseVerdict {
    let (rank, size) = (transport.rank(), transport.size());
    claim(rank < size, "a rank outside of its world")?;
    claim(!transport.name().is_empty(), "a transport without a name")?;
    claim(transport.failure().is_none(), "a failure before anything was done")?;
    let mut subject = Subject::new(transport);
    subject.enter(&CollectiveSignature::here("known", 0))?;
    // Each rank tells all others which rank it thinks to be, among how many.
    for to in 0..size {
        subject.send(to, 1, &[rank.to_le_bytes(), size.to_le_bytes()].concat())?;
    }
    for from in 0..size {
        subject.take(from, 1, &[from.to_le_bytes(), size.to_le_bytes()].concat())?;
    }
    subject.leave()
}

fn many_calls(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    for number in 0..200 {
        // A rank that is ahead sends in calls that its neighbour has not entered yet.
        let name = ["first", "second", "third"][number % 3];
        subject.enter(&CollectiveSignature::here(name, number as u64))?;
        subject.send(right, 0, &text(rank, right, number, number))?;
        subject.take(left, 0, &text(left, rank, number, number))?;
        subject.leave()?;
        // In calls without messages ranks do not meet.
        subject.enter(&CollectiveSignature::here("alone", rank as u64))?;
        subject.leave()?;
    }
    Ok(())
}

fn across_lines(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    let long = "größer als alles, was in den Kopf einer Nachricht passt: größer, viel größer";
    for name in ["", "short", long] {
        let call = match rank % 2 {
            0 => CollectiveSignature::here(name, u64::MAX),
            _ => CollectiveSignature::here(name, u64::MAX),
        };
        subject.enter(&call)?;
        subject.send(right, 0, b"hello")?;
        subject.take(left, 0, b"hello")?;
        subject.leave()?;
    }
    Ok(())
}

fn no_such_rank(transport: &mut dyn Transport) -> CaseVerdict {
    let (rank, size) = (transport.rank(), transport.size());
    transport.enter(&CollectiveSignature::here("no such rank", 0))?;
    let slice = MemorySlice::copied_from(b"nobody");
    for peer in [size, size + 1, usize::MAX] {
        let expected = CommError::NoSuchRank { rank, peer, size };
        let refused = [
            transport.post_send(peer, Tag(0), &slice).err(),
            transport.post_receive(peer, Tag(0), &slice).err(),
            transport.receive_any(peer, Tag(0)).err(),
        ];
        for error in refused {
            claim(error.as_ref() == Some(&expected), Claim::Answer(error))?;
        }
        let Some(windows) = transport.windows() else { continue };
        claim(!windows.is_exposed(peer), "a window of no rank")?;
        let refused =
            [windows.expose(peer, &MemoryBlock::zeroed(1)).err(), windows.acquire(peer).err()];
        for error in refused {
            claim(error.as_ref() == Some(&expected), Claim::Answer(error))?;
        }
    }
    transport.leave();
    many_calls(transport)
}

/// Operations of the communicator, and ranks that leave as soon as they are through.
fn good_end(transport: Box<dyn Transport>) -> CaseVerdict {
    let mut world = Communicator::new(transport);
    let (rank, size) = (world.rank(), world.size());
    for round in 0..20 {
        let told = |error: CommError| CaseError::Round { round, error };
        world.barrier(&CollectiveSignature::here("barrier", round)).map_err(told)?;
        let call = CollectiveSignature::here("all to all", round);
        let bodies = world.operation(&call, |operation| {
            for to in 0..size {
                operation.send(to, &MemorySlice::copied_from(&text(rank, to, 0, 5 * to)))?;
            }
            (0..size).map(|from| operation.receive_any(from)).collect::<Result<Vec<_>, _>>()
        });
        for (from, body) in bodies.map_err(told)?.iter().enumerate() {
            claim(*body == text(from, rank, 0, 5 * rank), "another body")?;
        }
    }
    world.barrier(&CollectiveSignature::here("last barrier", 0))?;
    claim(world.failure().is_none(), "a failure at a good end")
}
