//! The door of a hub: connections that have not greeted yet.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pantile_comm::Rank;

use crate::connection::Connection;
use crate::error::Refusal;
use crate::greeting::{GREETING_BYTES, Greeting, WORLD, decode_ranks, encode_answer};
use crate::hub::{Lobby, Taker, lock};
use crate::join::Place;
use crate::wire::{Halt, Wire};

/// How long a rank that dials is kept waiting for one that has not come yet. Then it has to dial
/// again, so that nobody can fill the door with ranks that never come.
const NOT_YET: Duration = Duration::from_millis(250);

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(2);

/// Whom a connection is for.
enum Guest {
    Rank(Rank, Arc<Place>),
    Other(Greeting, Arc<Taker>),
}

/// Somebody is at the door: a thread hears the greeting.
pub(crate) fn open(lobby: &Arc<Lobby>, socket: TcpStream, peer: SocketAddr, number: u64) {
    // Kept here a second time, so that it can be cut from outside.
    let Ok(handle) = socket.try_clone().and_then(Wire::plain) else {
        return lobby.refuse(peer, &Refusal::NoGreeting);
    };
    make_room(lobby, number, handle);
    let inside = Arc::clone(lobby);
    let thread = std::thread::Builder::new().name("pantile door".to_owned());
    let spawned = thread.spawn(move || {
        let guest = greet(&inside, socket, number);
        lock(&inside.ungreeted).remove(&number);
        match guest {
            Ok((Guest::Rank(from, place), wire)) => place.fill(from, wire),
            Ok((Guest::Other(greeting, taker), wire)) => {
                (taker.takes)(greeting, Connection::new(wire));
            }
            // A rank that is early dials again: that is not worth a report.
            Err(Refusal::Unknown) => {}
            Err(refusal) => inside.refuse(peer, &refusal),
        }
    });
    if spawned.is_err() {
        lock(&lobby.ungreeted).remove(&number);
        lobby.refuse(peer, &Refusal::Slow);
    }
}

/// The oldest that has not greeted makes room for the newest: who means it greets at once.
fn make_room(lobby: &Lobby, number: u64, handle: Wire) {
    let mut ungreeted = lock(&lobby.ungreeted);
    ungreeted.insert(number, Arc::new(handle));
    while ungreeted.len() > lobby.options.ungreeted_max {
        let Some((_, oldest)) = ungreeted.pop_first() else { return };
        oldest.cut();
    }
}

/// Hears a greeting and answers it.
fn greet(lobby: &Lobby, socket: TcpStream, number: u64) -> Result<(Guest, Wire), Refusal> {
    let until = Instant::now() + lobby.options.greeting;
    let wire = Wire::plain(socket).map_err(|_| Refusal::Slow)?;
    let wire = lobby.security.accepted(wire, until).map_err(|halt| match halt {
        Halt::Late => Refusal::Slow,
        Halt::Io(error) => Refusal::Protection { reason: error.to_string() },
        Halt::Closed | Halt::Cut(_) => Refusal::NoGreeting,
    })?;
    let guest = hear(&wire, until).and_then(|greeting| admit(lobby, greeting, until));
    // From now on nobody cuts it to make room; who was just cut is told to dial again.
    let kept = lock(&lobby.ungreeted).remove(&number).is_some();
    let guest = guest.and_then(|guest| if kept { Ok(guest) } else { Err(release(guest)) });
    let answer = encode_answer(guest.as_ref().map(|_| ()));
    let answered = wire.write_all(&[&answer], Instant::now() + ANSWER);
    if guest.is_err() {
        wire.finish();
    }
    match (guest?, answered) {
        (guest, Ok(())) => Ok((guest, wire)),
        (guest, Err(_)) => Err(release(guest)),
    }
}

/// A guest that was admitted is lost before it was answered: a rank may dial again.
fn release(guest: Guest) -> Refusal {
    if let Guest::Rank(from, place) = guest {
        place.release(from);
    }
    Refusal::Slow
}

fn hear(wire: &Wire, until: Instant) -> Result<Greeting, Refusal> {
    let wrong = |halt| match halt {
        Halt::Late => Refusal::Slow,
        Halt::Cut(_) if Instant::now() >= until => Refusal::Slow,
        _ => Refusal::NoGreeting,
    };
    let mut bytes = [0; GREETING_BYTES];
    // Who speaks another language may say less: then it is told by its first words.
    let read = wire.read_exact(&mut bytes, until).map_err(wrong);
    let (mut greeting, length) = match read {
        Err(Refusal::NoGreeting) => Greeting::decode(&bytes)?,
        read => read.and_then(|()| Greeting::decode(&bytes))?,
    };
    greeting.note = vec![0; length];
    wire.read_exact(&mut greeting.note, until).map_err(wrong)?;
    Ok(greeting)
}

fn admit(lobby: &Lobby, greeting: Greeting, until: Instant) -> Result<Guest, Refusal> {
    if greeting.kind != WORLD {
        let taker = lock(&lobby.takers).get(&greeting.kind).cloned();
        let taker = taker.ok_or(Refusal::Kind)?;
        return match (taker.admits)(&greeting) {
            true => Ok(Guest::Other(greeting, taker)),
            false => Err(Refusal::Secret),
        };
    }
    let (from, to, size) = decode_ranks(&greeting.note).ok_or(Refusal::NoGreeting)?;
    let place = find(lobby, (greeting.id, to), until).ok_or(Refusal::Unknown)?;
    if !place.secret.matches(&greeting.secret) {
        return Err(Refusal::Secret);
    }
    match place.size == size && place.reserve(from) {
        true => Ok(Guest::Rank(from, place)),
        false => Err(Refusal::Taken),
    }
}

/// The rank that is asked for; waits a little for it.
fn find(lobby: &Lobby, key: (u128, Rank), until: Instant) -> Option<Arc<Place>> {
    let until = until.min(Instant::now() + NOT_YET);
    let mut places = lock(&lobby.places);
    loop {
        if let Some(place) = places.get(&key) {
            return Some(Arc::clone(place));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || lobby.is_closed() {
            return None;
        }
        let waited = lobby.opened.wait_timeout(places, left);
        places = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
    }
}
