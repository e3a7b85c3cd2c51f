//! Abort: one rank gives up, and nobody is left waiting.

use std::sync::Arc;

use super::subject::{Subject, Verdict, claim};
use super::{ANY, Body, Case, MANY, expect};
use crate::{Call, CommError, Failure, Memory, Piece, Tag, Ticket, Transport};

pub(super) const CASES: &[Case] = &[
    Case { name: "abort ends receives", ranks: MANY, body: Body::Ends(in_receive) },
    Case { name: "abort ends receives of others", ranks: MANY, body: Body::Ends(in_ring) },
    Case { name: "abort ends looks", ranks: MANY, body: Body::Ends(in_look) },
    Case { name: "abort ends closes", ranks: MANY, body: Body::Ends(in_close) },
    Case { name: "abort ends asking", ranks: MANY, body: Body::Ends(in_polling) },
    Case { name: "abort before others enter", ranks: MANY, body: Body::Ends(before_enter) },
    Case { name: "abort while nobody waits for it", ranks: MANY, body: Body::Ends(in_no_call) },
    Case { name: "after abort nothing works", ranks: ANY, body: Body::Ends(nothing_works) },
    Case { name: "the first failure wins", ranks: MANY, body: Body::Ends(first_wins) },
];

/// The failure that rank 0 aborts with.
fn failure(call: &Call) -> Failure {
    let reason = "the disk is full".to_owned();
    Failure { culprit: 0, call: Some(call.clone()), reason }
}

/// The error tells of the failure of rank 0, as it was given.
#[track_caller]
fn told(error: &CommError, rank: usize, call: &Call) -> Verdict {
    expect::failed(error, rank, 0)?;
    let holds = matches!(error, CommError::Failed { failure, .. } if same(failure, call));
    claim(holds, &format!("got {error:?}"))
}

fn same(failure: &Failure, call: &Call) -> bool {
    let known = failure.call.as_ref().is_some_and(|told| expect::is(told, call));
    failure.culprit == 0 && known && failure.reason == "the disk is full"
}

/// Rank 0 hears that all others are about to wait, and aborts; they `wait` in vain.
fn while_waiting(
    mut transport: Box<dyn Transport>,
    call: &Call,
    wait: fn(&mut dyn Transport) -> Result<(), CommError>,
) -> Verdict {
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

fn in_receive(transport: Box<dyn Transport>) -> Verdict {
    let call = Call::here("waits for rank 0", 1);
    while_waiting(transport, &call, |transport| transport.receive_any(0, Tag(0)).map(drop))
}

fn in_ring(transport: Box<dyn Transport>) -> Verdict {
    // All others wait for each other.
    while_waiting(transport, &Call::here("waits in a ring", 1), |transport| {
        let next = 1 + transport.rank() % (transport.size() - 1);
        let next = if transport.size() == 2 { 0 } else { next };
        let room = Memory::zeroed(100).whole();
        let ticket = transport.post_receive(next, Tag(0), &room)?;
        transport.wait(ticket)
    })
}

fn in_look(transport: Box<dyn Transport>) -> Verdict {
    while_waiting(transport, &Call::here("looks at rank 0", 1), |transport| {
        match transport.windows() {
            Some(windows) => windows.look(0).map(drop),
            None => transport.receive_any(0, Tag(0)).map(drop),
        }
    })
}

fn in_close(transport: Box<dyn Transport>) -> Verdict {
    while_waiting(transport, &Call::here("shows to rank 0", 1), |transport| {
        let Some(windows) = transport.windows() else {
            return transport.receive_any(0, Tag(0)).map(drop);
        };
        windows.open(0, &Memory::zeroed(10))?;
        windows.close(0)
    })
}

fn in_polling(transport: Box<dyn Transport>) -> Verdict {
    while_waiting(transport, &Call::here("asks for a message", 1), |transport| {
        let ticket = transport.post_receive(0, Tag(0), &Memory::zeroed(1).whole())?;
        while !transport.is_done(ticket)? {
            std::thread::yield_now();
        }
        Ok(())
    })
}

fn before_enter(mut transport: Box<dyn Transport>) -> Verdict {
    let (rank, call) = (transport.rank(), Call::here("gives up", 1));
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

fn in_no_call(mut transport: Box<dyn Transport>) -> Verdict {
    let (rank, call) = (transport.rank(), Call::here("gives up", 1));
    if rank == 0 {
        transport.abort(failure(&call));
        return Ok(());
    }
    // Sooner or later entering calls fails, though nobody waits for a message. A transport that
    // learns of failures by messages looks for them here, too.
    while transport.enter(&call).is_ok() {
        transport.leave();
        std::thread::yield_now();
    }
    told(&expect::error(transport.enter(&call))?, rank, &call)
}

fn nothing_works(mut transport: Box<dyn Transport>) -> Verdict {
    let (rank, call) = (transport.rank(), Call::here("gives up", 1));
    let (body, right) = (Piece::copied_from(b"hello"), (rank + 1) % transport.size());
    let mut post = || {
        transport.enter(&call)?;
        // To itself, so that it has come, and to a peer, and one that never comes.
        let (here, there) = (Memory::zeroed(5).whole(), Memory::zeroed(5).whole());
        Ok([
            transport.post_receive(rank, Tag(1), &here)?,
            transport.post_send(rank, Tag(1), &body)?,
            transport.post_send(right, Tag(3), &body)?,
            transport.post_receive(rank, Tag(2), &there)?,
        ])
    };
    let tickets = post().map_err(|error: CommError| error.to_string());
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

fn refuses_all(transport: &mut dyn Transport, tickets: &[Ticket], call: &Call) -> Verdict {
    let (rank, piece) = (transport.rank(), Memory::zeroed(1).whole());
    for &ticket in tickets {
        told(&expect::error(transport.is_done(ticket))?, rank, call)?;
        told(&expect::error(transport.wait(ticket))?, rank, call)?;
    }
    for peer in 0..transport.size() {
        told(&expect::error(transport.post_send(peer, Tag(0), &piece))?, rank, call)?;
        told(&expect::error(transport.post_receive(peer, Tag(0), &piece))?, rank, call)?;
        told(&expect::error(transport.receive_any(peer, Tag(0)))?, rank, call)?;
        if let Some(windows) = transport.windows() {
            told(&expect::error(windows.open(peer, piece.memory()))?, rank, call)?;
            told(&expect::error(windows.look(peer))?, rank, call)?;
        }
    }
    transport.leave();
    told(&expect::error(transport.enter(call))?, rank, call)
}

fn first_wins(mut transport: Box<dyn Transport>) -> Verdict {
    let (rank, call) = (transport.rank(), Call::here("gives up", 1));
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
