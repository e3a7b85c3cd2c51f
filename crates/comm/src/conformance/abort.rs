//! Abort: one rank gives up, and no rank is left waiting.

use std::sync::Arc;

use super::error::Claim;
use super::subject::{CaseVerdict, Subject, claim};
use super::{ANY, CaseBody, ConformanceCase, MANY, expect};
use crate::{
    CollectiveSignature, CommError, Failure, MemoryBlock, MemorySlice, Tag, Ticket, Transport,
};

pub(super) const CASES: &[ConformanceCase] = &[
    ConformanceCase { name: "abort ends receives", ranks: MANY, body: CaseBody::Ends(in_receive) },
    ConformanceCase {
        name: "abort ends receives of others",
        ranks: MANY,
        body: CaseBody::Ends(in_ring),
    },
    ConformanceCase { name: "abort ends looks", ranks: MANY, body: CaseBody::Ends(in_look) },
    ConformanceCase { name: "abort ends closes", ranks: MANY, body: CaseBody::Ends(in_close) },
    ConformanceCase { name: "abort ends asking", ranks: MANY, body: CaseBody::Ends(in_polling) },
    ConformanceCase {
        name: "abort before others enter",
        ranks: MANY,
        body: CaseBody::Ends(before_enter),
    },
    ConformanceCase {
        name: "abort while no rank waits for it",
        ranks: MANY,
        body: CaseBody::Ends(in_no_call),
    },
    ConformanceCase {
        name: "after abort nothing works",
        ranks: ANY,
        body: CaseBody::Ends(nothing_works),
    },
    ConformanceCase {
        name: "the first failure wins",
        ranks: MANY,
        body: CaseBody::Ends(first_wins),
    },
];

/// The failure that rank 0 aborts with.
fn failure(call: &CollectiveSignature) -> Failure {
    let reason = "the disk is full".to_owned();
    Failure { culprit: 0, call: Some(call.clone()), reason }
}

/// The error tells of the failure of rank 0, as it was given.
#[track_caller]
fn told(error: &CommError, rank: usize, call: &CollectiveSignature) -> CaseVerdict {
    expect::failed(error, rank, 0)?;
    let holds = matches!(error, CommError::Failed { failure, .. } if same(failure, call));
    claim(holds, Claim::Answer(Some(error.clone())))
}

fn same(failure: &Failure, call: &CollectiveSignature) -> bool {
    let known = failure.call.as_ref().is_some_and(|told| expect::is(told, call));
    failure.culprit == 0 && known && failure.reason == "the disk is full"
}

/// Rank 0 hears that all others are about to wait, and aborts; they `wait` in vain.
fn while_waiting(
    mut transport: Box<dyn Transport>,
    call: &CollectiveSignature,
    wait: fn(&mut dyn Transport) -> Result<(), CommError>,
) -> CaseVerdict {
    let mut subject = Subject::new(&mut *transport);
    subject.enter(call)?;
    if subject.rank() == 0 {
        for from in subject.others() {
            subject.take(from, 9, b"ready")?;
        }
        transport.abort(failure(call));
        let known = transport.failure();
        return claim(known.is_some_and(|known| same(&known, call)), "aborting is not known");
    }
    subject.send(0, 9, b"ready")?;
    let error = expect::error(wait(&mut *transport))?;
    told(&error, transport.rank(), call)?;
    if let Some(windows) = transport.windows() {
        windows.withdraw();
    }
    let known = transport.failure();
    claim(known.is_some_and(|known| same(&known, call)), "the failure is not known")
}

fn in_receive(transport: Box<dyn Transport>) -> CaseVerdict {
    let call = CollectiveSignature::here("waits for rank 0", 1);
    while_waiting(transport, &call, |transport| transport.receive_any(0, Tag(0)).map(drop))
}

fn in_ring(transport: Box<dyn Transport>) -> CaseVerdict {
    // All others wait for each other.
    while_waiting(transport, &CollectiveSignature::here("waits in a ring", 1), |transport| {
        let next = 1 + transport.rank() % (transport.size() - 1);
        let next = if transport.size() == 2 { 0 } else { next };
        let room = MemoryBlock::zeroed(100).whole();
        let ticket = transport.post_receive(next, Tag(0), &room)?;
        transport.wait(ticket)
    })
}

fn in_look(transport: Box<dyn Transport>) -> CaseVerdict {
    while_waiting(transport, &CollectiveSignature::here("looks at rank 0", 1), |transport| {
        match transport.windows() {
            Some(windows) => windows.acquire(0).map(drop),
            None => transport.receive_any(0, Tag(0)).map(drop),
        }
    })
}

fn in_close(transport: Box<dyn Transport>) -> CaseVerdict {
    while_waiting(transport, &CollectiveSignature::here("shows to rank 0", 1), |transport| {
        let Some(windows) = transport.windows() else {
            return transport.receive_any(0, Tag(0)).map(drop);
        };
        windows.expose(0, &MemoryBlock::zeroed(10))?;
        windows.close(0)
    })
}

fn in_polling(transport: Box<dyn Transport>) -> CaseVerdict {
    while_waiting(transport, &CollectiveSignature::here("asks for a message", 1), |transport| {
        let ticket = transport.post_receive(0, Tag(0), &MemoryBlock::zeroed(1).whole())?;
        while !transport.is_done(ticket)? {
            std::thread::yield_now();
        }
        Ok(())
    })
}

fn before_enter(mut transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, call) = (transport.rank(), CollectiveSignature::here("gives up", 1));
    if rank == 0 {
        transport.abort(failure(&call));
        return Ok(());
    }
    let mut one = || {
        transport.enter(&call)?;
        transport.receive_any(0, Tag(0)).map(drop)
    };
    told(&expect::error(one())?, rank, &call)
}

fn in_no_call(mut transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, call) = (transport.rank(), CollectiveSignature::here("gives up", 1));
    if rank == 0 {
        transport.abort(failure(&call));
        return Ok(());
    }
    // Sooner or later entering calls fails, though no rank waits for a message. A transport that
    // learns of failures by messages looks for them here, too.
    while transport.enter(&call).is_ok() {
        transport.leave();
        std::thread::yield_now();
    }
    told(&expect::error(transport.enter(&call))?, rank, &call)
}

fn nothing_works(mut transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, call) = (transport.rank(), CollectiveSignature::here("gives up", 1));
    let (body, right) = (MemorySlice::copied_from(b"hello"), (rank + 1) % transport.size());
    let mut post = || {
        transport.enter(&call)?;
        // To itself, so that it has come, and to a peer, and one that never comes.
        let (here, there) = (MemoryBlock::zeroed(5).whole(), MemoryBlock::zeroed(5).whole());
        Ok::<_, CommError>([
            transport.post_receive(rank, Tag(1), &here)?,
            transport.post_send(rank, Tag(1), &body)?,
            transport.post_send(right, Tag(3), &body)?,
            transport.post_receive(rank, Tag(2), &there)?,
        ])
    };
    let tickets = post();
    if rank == 0 {
        let tickets = tickets?;
        transport.abort(failure(&call));
        return refuses_all(&mut *transport, &tickets, &call);
    }
    // The others may hear of it in the middle of posting.
    let Ok(tickets) = tickets else { return refuses_all(&mut *transport, &[], &call) };
    let heard = expect::error(transport.receive_any(0, Tag(7)))?;
    told(&heard, rank, &call)?;
    refuses_all(&mut *transport, &tickets, &call)
}

fn refuses_all(
    transport: &mut dyn Transport,
    tickets: &[Ticket],
    call: &CollectiveSignature,
) -> CaseVerdict {
    let (rank, slice) = (transport.rank(), MemoryBlock::zeroed(1).whole());
    for &ticket in tickets {
        told(&expect::error(transport.is_done(ticket))?, rank, call)?;
        told(&expect::error(transport.wait(ticket))?, rank, call)?;
    }
    for peer in 0..transport.size() {
        told(&expect::error(transport.post_send(peer, Tag(0), &slice))?, rank, call)?;
        told(&expect::error(transport.post_receive(peer, Tag(0), &slice))?, rank, call)?;
        told(&expect::error(transport.receive_any(peer, Tag(0)))?, rank, call)?;
        if let Some(windows) = transport.windows() {
            told(&expect::error(windows.expose(peer, slice.memory()))?, rank, call)?;
            told(&expect::error(windows.acquire(peer))?, rank, call)?;
        }
    }
    transport.leave();
    told(&expect::error(transport.enter(call))?, rank, call)
}

fn first_wins(mut transport: Box<dyn Transport>) -> CaseVerdict {
    let (rank, call) = (transport.rank(), CollectiveSignature::here("gives up", 1));
    if rank == 0 {
        transport.abort(failure(&call));
    } else {
        let mut heard = || {
            transport.enter(&call)?;
            transport.receive_any(0, Tag(0)).map(drop)
        };
        told(&expect::error(heard())?, rank, &call)?;
    }
    let later = Failure { culprit: rank, call: None, reason: "because of rank 0".to_owned() };
    transport.abort(later);
    let known: Option<Arc<Failure>> = transport.failure();
    claim(known.is_some_and(|known| same(&known, &call)), "a later failure counts")?;
    told(&expect::error(transport.enter(&call))?, rank, &call)
}
