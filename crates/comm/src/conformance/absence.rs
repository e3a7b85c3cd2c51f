//! Absence: peers that have left, and peers that are busy with something else.

use super::error::{Claim, ExpectedError};
use super::subject::{CaseVerdict, Subject, claim};
use super::{CaseBody, ConformanceCase, FEW, MANY, SHORT, expect};
use crate::{
    ActiveOperation, CollectiveSignature, CommError, Communicator, MemoryBlock, MemorySlice, Tag,
    Transport,
};

pub(super) const CASES: &[ConformanceCase] = &[
    ConformanceCase {
        name: "a rank leaves at once",
        ranks: MANY,
        body: CaseBody::Ends(leaves_at_once),
    },
    ConformanceCase {
        name: "what was sent before leaving comes",
        ranks: MANY,
        body: CaseBody::Ends(last_words),
    },
    ConformanceCase {
        name: "asking a rank that left",
        ranks: MANY,
        body: CaseBody::Ends(no_answer),
    },
    ConformanceCase {
        name: "no rank reads the window of a rank that left",
        ranks: MANY,
        body: CaseBody::Ends(no_look),
    },
    ConformanceCase {
        name: "a window to a rank that left closes",
        ranks: MANY,
        body: CaseBody::Ends(no_viewer),
    },
    ConformanceCase {
        name: "a rank leaves in the middle of a chain",
        ranks: MANY,
        body: CaseBody::Ends(chain),
    },
    ConformanceCase {
        name: "ranks wait in different calls",
        ranks: FEW,
        body: CaseBody::Ends(late),
    },
    ConformanceCase {
        name: "ranks look in different calls",
        ranks: FEW,
        body: CaseBody::Ends(late_window),
    },
];

fn leaves_at_once(transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, last) = (transport.rank(), transport.size() - 1);
    if rank == last {
        return Ok(());
    }
    let mut world = Communicator::new(transport);
    let call = CollectiveSignature::here("waits for the last rank", 0);
    let result = world.operation(&call, |operation| operation.receive_any(last));
    expect::gone(&expect::error(result)?, rank, &call, last)?;
    expect::ended(&mut world, last)
}

fn last_words(mut transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, last) = (transport.rank(), transport.size() - 1);
    let call = CollectiveSignature::here("last words", 0);
    if rank == last {
        let mut subject = Subject::new(&mut *transport);
        subject.enter(&call)?;
        for to in 0..last {
            subject.send(to, 1, b"farewell")?;
            subject.send(to, 1, &[7; 100_000])?;
        }
        return subject.leave();
    }
    let mut subject = Subject::new(&mut *transport);
    subject.enter(&call)?;
    let long = subject.room(last, 2, 5)?;
    subject.take(last, 1, b"farewell")?;
    subject.take_any(last, 1, &[7; 100_000])?;
    let error = expect::error(transport.receive_any(last, Tag(1)))?;
    // No rank aborts here, so every rank finds out by itself, and again.
    let holds = |error: &CommError| match error {
        CommError::Gone { rank: teller, call: told, peer } => {
            (*teller, *peer) == (rank, last) && expect::is(told, &call)
        }
        _ => false,
    };
    claim(holds(&error), Claim::Error { expected: ExpectedError::Gone(last), got: error.clone() })?;
    let error = expect::error(transport.wait(long.ticket))?;
    claim(holds(&error), Claim::Error { expected: ExpectedError::Gone(last), got: error.clone() })
}

fn no_answer(mut transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, last) = (transport.rank(), transport.size() - 1);
    let call = CollectiveSignature::here("asks the last rank", 0);
    if rank == last {
        return Ok(());
    }
    transport.enter(&call)?;
    let room = MemoryBlock::zeroed(1).whole();
    let ticket = transport.post_receive(last, Tag(0), &room)?;
    // The runner of the case ends it if the answer is always no.
    let error = loop {
        match transport.is_done(ticket) {
            Ok(done) => claim(!done, "a message that no rank sent")?,
            Err(error) => break error,
        }
        std::thread::yield_now();
    };
    expect::gone(&error, rank, &call, last)
}

fn no_look(transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, last) = (transport.rank(), transport.size() - 1);
    let mut world = Communicator::new(transport);
    if !world.has_windows() || rank == last {
        return Ok(());
    }
    let call = CollectiveSignature::here("looks at the last rank", 0);
    let result = world.operation(&call, |operation| {
        operation.windows().expect("asked before").acquire(last).map(drop)
    });
    expect::gone(&expect::error(result)?, rank, &call, last)?;
    expect::ended(&mut world, last)
}

fn no_viewer(transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, last) = (transport.rank(), transport.size() - 1);
    let mut world = Communicator::new(transport);
    if !world.has_windows() || rank == last {
        return Ok(());
    }
    let (call, memory) =
        (CollectiveSignature::here("shows to the last rank", 0), MemoryBlock::zeroed(10));
    let result = world.operation(&call, |operation| {
        let windows = operation.windows().expect("asked before");
        windows.expose(last, &memory)?;
        windows.close(last)
    });
    expect::gone(&expect::error(result)?, rank, &call, last)?;
    claim(memory.is_alone(), "a peer still sees the memory of a closed window")?;
    expect::ended(&mut world, last)
}

/// Each rank waits for its right neighbour; the last one is not there any more.
fn chain(transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, last) = (transport.rank(), transport.size() - 1);
    let mut world = Communicator::new(transport);
    let before = CollectiveSignature::here("barrier before the chain", 0);
    let barrier = world.barrier(&before);
    if rank == last {
        return Ok(barrier?);
    }
    if let Err(error) = barrier {
        // Others found out before this rank was through.
        return expect::failed(&error, rank, last);
    }
    let call = CollectiveSignature::here("chain", 0);
    let result = world.operation(&call, |operation| {
        let body = operation.receive_any(rank + 1)?;
        if rank > 0 {
            operation.send(rank - 1, &MemorySlice::copied_from(&body))?;
        }
        Ok(())
    });
    expect::gone(&expect::error(result)?, rank, &call, last)?;
    expect::ended(&mut world, last)
}

fn late(transport: Box<dyn Transport>) -> CaseVerdict {
    let calls = [
        CollectiveSignature::here("waits for rank 1", 1),
        CollectiveSignature::here("waits for rank 0", 1),
    ];
    busy(transport, &calls, |operation, from| operation.receive_any(from).map(drop))
}

fn late_window(transport: Box<dyn Transport>) -> CaseVerdict {
    let calls = [
        CollectiveSignature::here("looks at rank 1", 1),
        CollectiveSignature::here("looks at rank 0", 1),
    ];
    busy(transport, &calls, |operation, from| match operation.windows() {
        Some(windows) => windows.acquire(from).map(drop),
        None => operation.receive_any(from).map(drop),
    })
}

/// Ranks 0 and 1 wait for each other in different calls; all others wait for rank 0 in its call.
fn busy(
    transport: Box<dyn Transport>,
    calls: &[CollectiveSignature; 2],
    wait: fn(&mut ActiveOperation<'_>, usize) -> Result<(), CommError>,
) -> CaseVerdict {
    let mut world = Communicator::new(transport);
    let rank = world.rank();
    let (mine, peer) = (usize::from(rank == 1), usize::from(rank == 0));
    let result = world.operation(&calls[mine], |operation| wait(operation, peer));
    let error = expect::error(result)?;
    match &error {
        CommError::Late { rank: teller, call, peer: late, busy, waited } => {
            let named = *teller == rank && *late == peer && expect::is(call, &calls[mine]);
            let elsewhere = if peer == 1 { &calls[1] } else { &calls[0] };
            let known = busy.as_ref().is_none_or(|busy| expect::is(busy, elsewhere));
            claim(named && known, Claim::Answer(Some(error.clone())))?;
            claim(*waited >= SHORT, Claim::Impatient { waited: *waited, deadline: SHORT })?;
        }
        CommError::Failed { rank: teller, failure } => {
            // Ranks 0 and 1 are blamed by each other, and rank 0 by all others.
            let blamed = failure.culprit < 2;
            let holds = *teller == rank && blamed && failure.reason.contains("waited");
            claim(holds, Claim::Answer(Some(error.clone())))?;
        }
        _ => {
            claim(false, Claim::Error { expected: ExpectedError::Late(peer), got: error.clone() })?
        }
    }
    let culprit = world.failure().map_or(usize::MAX, |failure| failure.culprit);
    claim(culprit < 2, "the world has not failed")?;
    expect::ended(&mut world, culprit)
}
