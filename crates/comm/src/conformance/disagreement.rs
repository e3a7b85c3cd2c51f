//! Disagreement: ranks that meet in different calls, or with different lengths.

use super::error::{Claim, ExpectedError};
use super::subject::{CaseVerdict, claim};
use super::{CaseBody, ConformanceCase, MANY, expect};
use crate::{
    ActiveOperation, CollectiveSignature, CommError, Communicator, MemoryBlock, MemorySlice,
    Transport,
};

pub(super) const CASES: &[ConformanceCase] = &[
    ConformanceCase {
        name: "messages of different calls",
        ranks: MANY,
        body: CaseBody::Ends(other_name),
    },
    ConformanceCase {
        name: "messages of one call with other arguments",
        ranks: MANY,
        body: CaseBody::Ends(other_fingerprint),
    },
    ConformanceCase {
        name: "calls that differ in both directions",
        ranks: MANY,
        body: CaseBody::Ends(both_ways),
    },
    ConformanceCase {
        name: "windows of different calls",
        ranks: MANY,
        body: CaseBody::Ends(window_name),
    },
    ConformanceCase {
        name: "windows of one call with other arguments",
        ranks: MANY,
        body: CaseBody::Ends(window_fingerprint),
    },
    ConformanceCase { name: "a message is too long", ranks: MANY, body: CaseBody::Ends(too_long) },
    ConformanceCase {
        name: "a message is too short",
        ranks: MANY,
        body: CaseBody::Ends(too_short),
    },
];

fn other_name(transport: Box<dyn Transport>) -> CaseVerdict {
    by_message(
        transport,
        &CollectiveSignature::here("broadcast", 1),
        &CollectiveSignature::here("reduce", 1),
    )
}

fn other_fingerprint(transport: Box<dyn Transport>) -> CaseVerdict {
    by_message(
        transport,
        &CollectiveSignature::here("broadcast", 1),
        &CollectiveSignature::here("broadcast", 2),
    )
}

/// Rank 0 sends in one call, rank 1 receives in another and finds out; all others wait for it.
fn by_message(
    transport: Box<dyn Transport>,
    zero: &CollectiveSignature,
    one: &CollectiveSignature,
) -> CaseVerdict {
    let mut world = Communicator::new(transport);
    let call = if world.rank() == 0 { zero } else { one };
    let result = world.operation(call, |operation| {
        if operation.rank() == 0 {
            operation.send(1, &MemorySlice::copied_from(b"hello"))?;
        }
        let from = usize::from(operation.rank() != 1);
        operation.receive_any(from)
    });
    found_by_one(&mut world, &expect::error(result)?, zero, one)
}

fn window_name(transport: Box<dyn Transport>) -> CaseVerdict {
    by_window(
        transport,
        &CollectiveSignature::here("broadcast", 1),
        &CollectiveSignature::here("reduce", 1),
    )
}

fn window_fingerprint(transport: Box<dyn Transport>) -> CaseVerdict {
    by_window(
        transport,
        &CollectiveSignature::here("broadcast", 1),
        &CollectiveSignature::here("broadcast", 2),
    )
}

/// Rank 0 shows memory in one call, rank 1 reads in another and finds out; all others read its
/// memory.
fn by_window(
    transport: Box<dyn Transport>,
    zero: &CollectiveSignature,
    one: &CollectiveSignature,
) -> CaseVerdict {
    let mut world = Communicator::new(transport);
    if !world.has_windows() {
        return Ok(());
    }
    let (rank, memory) = (world.rank(), MemoryBlock::zeroed(100));
    let call = if rank == 0 { zero } else { one };
    let result = world.operation(call, |operation| {
        let windows = operation.windows().expect("asked before");
        if rank == 0 {
            windows.expose(1, &memory)?;
            return windows.close(1);
        }
        windows.acquire(usize::from(rank != 1)).map(drop)
    });
    found_by_one(&mut world, &expect::error(result)?, zero, one)?;
    claim(memory.is_alone() || rank != 0, "a peer still sees the memory of a closed window")
}

/// Rank 1 names both calls; all others hear of it.
fn found_by_one(
    world: &mut Communicator,
    error: &CommError,
    zero: &CollectiveSignature,
    one: &CollectiveSignature,
) -> CaseVerdict {
    if world.rank() == 1 {
        let holds = matches!(error, CommError::Disagreement { rank: 1, here, peer: 0, there }
            if expect::is(here, one) && expect::is(there, zero));
        claim(
            holds,
            Claim::Error {
                expected: ExpectedError::Disagreement([one.to_string(), zero.to_string()]),
                got: error.clone(),
            },
        )?;
    } else {
        expect::failed(error, world.rank(), 1)?;
        let told = world.failure().is_some_and(|failure| {
            let known = failure.call.as_ref().is_none_or(|call| expect::is(call, one));
            known && failure.reason.contains("disagree")
        });
        claim(told, Claim::Reason { culprit: 1, known: world.failure() })?;
    }
    expect::ended(world, 1)
}

/// Ranks 0 and 1 both find out, or one hears of it from the other.
fn both_ways(transport: Box<dyn Transport>) -> CaseVerdict {
    let mut world = Communicator::new(transport);
    let (rank, size) = (world.rank(), world.size());
    let calls = [CollectiveSignature::here("gather", 1), CollectiveSignature::here("scatter", 1)];
    let result = world.operation(&calls[usize::from(rank != 0)], |operation| {
        for to in (0..size).filter(|to| *to != rank) {
            operation.send(to, &MemorySlice::copied_from(b"hello"))?;
        }
        let mut others = (0..size).filter(|from| *from != rank);
        others.try_for_each(|from| operation.receive_any(from).map(drop))
    });
    let error = expect::error(result)?;
    match &error {
        // Rank 0 is the odd one out, so every finder has met it, or is it.
        CommError::Disagreement { rank: finder, here, peer, there } => {
            let (mine, other) = (usize::from(rank != 0), usize::from(rank == 0));
            let holds = *finder == rank && (rank == 0) != (*peer == 0);
            let named = expect::is(here, &calls[mine]) && expect::is(there, &calls[other]);
            claim(holds && named, Claim::Answer(Some(error.clone())))?;
        }
        CommError::Failed { rank: teller, failure } => {
            let holds = *teller == rank && failure.reason.contains("disagree");
            claim(holds, Claim::Answer(Some(error.clone())))?;
        }
        _ => claim(false, Claim::Answer(Some(error.clone())))?,
    }
    let known = world.failure();
    let culprit = known.map_or(size, |failure| failure.culprit);
    claim(culprit < size, "the world has not failed")?;
    expect::ended(&mut world, culprit)
}

fn too_long(transport: Box<dyn Transport>) -> CaseVerdict {
    wrong_length(transport, 1000, 1001)
}

fn too_short(transport: Box<dyn Transport>) -> CaseVerdict {
    wrong_length(transport, 100_000, 99_999)
}

/// Rank 0 sends another length than rank 1 has room for; all others wait for rank 1.
fn wrong_length(transport: Box<dyn Transport>, room: usize, sent: usize) -> CaseVerdict {
    let mut world = Communicator::new(transport);
    let (rank, room) = (world.rank(), MemoryBlock::zeroed(room));
    let call = CollectiveSignature::here("wrong length", 5);
    let body = |operation: &mut ActiveOperation<'_>| match rank {
        0 => {
            operation.send(1, &MemoryBlock::zeroed(sent).whole())?;
            operation.receive_any(1).map(drop)
        }
        1 => {
            let ticket = operation.receive(0, &room.whole())?;
            operation.wait(ticket)
        }
        _ => operation.receive_any(1).map(drop),
    };
    let error = expect::error(world.operation(&call, body))?;
    if rank == 1 {
        let holds = matches!(&error, CommError::Length { rank: 1, call: told, peer: 0, expected, got }
            if expect::is(told, &call) && (*expected, *got) == (room.bytes(), sent));
        claim(
            holds,
            Claim::Error {
                expected: ExpectedError::Length { body: sent, room: room.bytes() },
                got: error.clone(),
            },
        )?;
    } else {
        expect::failed(&error, rank, 1)?;
    }
    expect::ended(&mut world, 1)
}
