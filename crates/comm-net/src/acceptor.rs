//! Accepts connections: those that have not shown a handshake yet.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pantile_comm::Rank;

use crate::connection::Connection;
use crate::error::Refusal;
use crate::handshake::{HANDSHAKE_BYTES, Handshake, WORLD, decode_ranks, encode_answer};
use crate::join::PendingJoin;
use crate::listener::{KindHandler, ListenerShared, lock};
use crate::wire::{Halt, Wire};

/// How long a rank that connects is kept waiting for one that has not joined yet. Then it has to
/// connect again, so that ranks that never join cannot use up the pending connections.
const EARLY_TIMEOUT: Duration = Duration::from_millis(250);

/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// What a connection is for.
enum Accepted {
    Rank(Rank, Arc<PendingJoin>),
    Other(Handshake, Arc<KindHandler>),
}

/// A connection has come: a thread reads its handshake.
pub(crate) fn accept(
    shared: &Arc<ListenerShared>,
    socket: TcpStream,
    peer: SocketAddr,
    number: u64,
) {
    // Kept here a second time, so that it can be cut from outside.
    let Ok(handle) = socket.try_clone().and_then(Wire::plain) else {
        return shared.refuse(peer, &Refusal::NoHandshake);
    };
    evict_oldest(shared, number, handle);
    let inside = Arc::clone(shared);
    let thread = std::thread::Builder::new().name("pantile accept".to_owned());
    let spawned = thread.spawn(move || {
        let accepted = shake_hands(&inside, socket, number);
        lock(&inside.pending).remove(&number);
        match accepted {
            Ok((Accepted::Rank(from, joining), wire)) => joining.fill(from, wire),
            Ok((Accepted::Other(handshake, handler), wire)) => {
                (handler.on_connection)(handshake, Connection::new(wire));
            }
            // A rank that is early connects again: that is not worth a report.
            Err(Refusal::Unknown) => {}
            Err(refusal) => inside.refuse(peer, &refusal),
        }
    });
    if spawned.is_err() {
        lock(&shared.pending).remove(&number);
        shared.refuse(peer, &Refusal::Slow);
    }
}

/// The oldest pending connection makes room for the newest: honest peers send their handshake at
/// once.
fn evict_oldest(shared: &ListenerShared, number: u64, handle: Wire) {
    let mut pending = lock(&shared.pending);
    pending.insert(number, Arc::new(handle));
    while pending.len() > shared.options.pending_max {
        let Some((_, oldest)) = pending.pop_first() else { return };
        oldest.cut();
    }
}

/// Reads a handshake and answers it.
fn shake_hands(
    shared: &ListenerShared,
    socket: TcpStream,
    number: u64,
) -> Result<(Accepted, Wire), Refusal> {
    let until = Instant::now() + shared.options.handshake;
    let wire = Wire::plain(socket).map_err(|_| Refusal::Slow)?;
    let wire = shared.security.secure_incoming(wire, until).map_err(|halt| match halt {
        Halt::Late => Refusal::Slow,
        Halt::Io(error) => Refusal::Protection { reason: error.to_string() },
        Halt::Closed | Halt::Cut(_) => Refusal::NoHandshake,
    })?;
    let accepted =
        read_handshake(&wire, until).and_then(|handshake| admit(shared, handshake, until));
    // From now on it is not evicted; a peer that was just evicted is told to connect again.
    let kept = lock(&shared.pending).remove(&number).is_some();
    let accepted =
        accepted.and_then(|accepted| if kept { Ok(accepted) } else { Err(release(accepted)) });
    let answer = encode_answer(accepted.as_ref().map(|_| ()));
    let answered = wire.write_all(&[&answer], Instant::now() + ANSWER_TIMEOUT);
    if accepted.is_err() {
        wire.finish();
    }
    match (accepted?, answered) {
        (accepted, Ok(())) => Ok((accepted, wire)),
        (accepted, Err(_)) => Err(release(accepted)),
    }
}

/// A connection that was admitted is lost before it was answered: a rank may connect again.
fn release(accepted: Accepted) -> Refusal {
    if let Accepted::Rank(from, joining) = accepted {
        joining.release(from);
    }
    Refusal::Slow
}

fn read_handshake(wire: &Wire, until: Instant) -> Result<Handshake, Refusal> {
    let wrong = |halt| match halt {
        Halt::Late => Refusal::Slow,
        Halt::Cut(_) if Instant::now() >= until => Refusal::Slow,
        _ => Refusal::NoHandshake,
    };
    let mut bytes = [0; HANDSHAKE_BYTES];
    // A peer of another protocol may send less: then its first bytes tell.
    let read = wire.read_exact(&mut bytes, until).map_err(wrong);
    let (mut handshake, length) = match read {
        Err(Refusal::NoHandshake) => Handshake::decode(&bytes)?,
        read => read.and_then(|()| Handshake::decode(&bytes))?,
    };
    handshake.payload = vec![0; length];
    wire.read_exact(&mut handshake.payload, until).map_err(wrong)?;
    Ok(handshake)
}

fn admit(
    shared: &ListenerShared,
    handshake: Handshake,
    until: Instant,
) -> Result<Accepted, Refusal> {
    if handshake.kind != WORLD {
        let handler = lock(&shared.handlers).get(&handshake.kind).cloned();
        let handler = handler.ok_or(Refusal::Kind)?;
        return match (handler.admits)(&handshake) {
            true => Ok(Accepted::Other(handshake, handler)),
            false => Err(Refusal::Secret),
        };
    }
    let (from, to, size) = decode_ranks(&handshake.payload).ok_or(Refusal::NoHandshake)?;
    let joining = find_join(shared, (handshake.id, to), until).ok_or(Refusal::Unknown)?;
    if !joining.secret.matches(&handshake.secret) {
        return Err(Refusal::Secret);
    }
    match joining.size == size && joining.reserve(from) {
        true => Ok(Accepted::Rank(from, joining)),
        false => Err(Refusal::Taken),
    }
}

/// The rank that is asked for; waits a little for it.
fn find_join(
    shared: &ListenerShared,
    key: (u128, Rank),
    until: Instant,
) -> Option<Arc<PendingJoin>> {
    let until = until.min(Instant::now() + EARLY_TIMEOUT);
    let mut joins = lock(&shared.joins);
    loop {
        if let Some(joining) = joins.get(&key) {
            return Some(Arc::clone(joining));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || shared.is_closed() {
            return None;
        }
        let waited = shared.opened.wait_timeout(joins, left);
        joins = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
    }
}
