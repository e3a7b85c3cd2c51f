//! How the ranks of a world come together.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pantile_comm::{Options, Rank};

use crate::NetError;
use crate::dial::dial_wire;
use crate::error::Refusal;
use crate::greeting::{Greeting, WORLD, encode_ranks};
use crate::hub::{Lobby, lock};
use crate::net::Net;
use crate::secret::Secret;
use crate::wire::Wire;

/// First and longest pause between two attempts to reach a rank that is not there yet.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Most ranks of a world: each of them holds a connection with every other one.
pub const RANKS_MAX: usize = 4096;

/// One rank's place in a world: the same on every rank, but for the rank.
#[derive(Clone)]
pub struct Seat {
    /// Names the world; a number that nobody guesses.
    pub world: u128,
    /// What all of its ranks know, and nobody else.
    pub secret: Secret,
    /// Whose seat it is.
    pub rank: Rank,
    /// Where the hub of every rank listens, as `HOST:PORT`.
    pub addresses: Vec<String>,
}

impl fmt::Debug for Seat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Seat(rank {} of {:?})", self.rank, self.addresses)
    }
}

/// A rank that waits for those above it.
pub(crate) struct Place {
    pub(crate) secret: Secret,
    pub(crate) size: usize,
    /// Who has greeted, and how: nothing while the answer is on its way.
    came: Mutex<BTreeMap<Rank, Option<Wire>>>,
    changed: Condvar,
}

impl Place {
    /// A rank greets: false if it has done so before.
    pub(crate) fn reserve(&self, from: Rank) -> bool {
        let mut came = lock(&self.came);
        let fresh = !came.contains_key(&from);
        came.entry(from).or_default();
        fresh
    }

    /// A rank that has greeted was lost before it heard the answer.
    pub(crate) fn release(&self, from: Rank) {
        lock(&self.came).remove(&from);
    }

    /// A rank that has greeted is connected.
    pub(crate) fn fill(&self, from: Rank, wire: Wire) {
        lock(&self.came).insert(from, Some(wire));
        self.changed.notify_all();
    }

    /// Wakes who waits.
    pub(crate) fn wake(&self) {
        drop(lock(&self.came));
        self.changed.notify_all();
    }
}

/// Takes a seat.
pub(crate) fn join(lobby: &Lobby, seat: &Seat, options: &Options) -> Result<Net, NetError> {
    let (rank, size) = (seat.rank, seat.addresses.len());
    let wrong = |reason| Err(NetError::Seat { rank, size, reason });
    if size > RANKS_MAX {
        return wrong("a world has at most 4096 ranks");
    }
    if rank >= size {
        return wrong("the rank has no address");
    }
    let place = Arc::new(Place {
        secret: seat.secret.clone(),
        size,
        came: Mutex::default(),
        changed: Condvar::new(),
    });
    let key = (seat.world, rank);
    let mut places = lock(&lobby.places);
    if places.contains_key(&key) {
        return wrong("somebody sits there already");
    }
    places.insert(key, Arc::clone(&place));
    drop(places);
    lobby.opened.notify_all();
    let wait = lobby.options.join.min(options.deadline);
    let wires = meet(lobby, seat, &place, wait);
    lock(&lobby.places).remove(&key);
    let net = Net::new(rank, wires?, options, lobby.options.silence);
    net.map_err(|error| NetError::System {
        what: "starting the world at",
        address: lobby.address.to_string(),
        reason: error.to_string(),
    })
}

/// The connections with all other ranks.
fn meet(
    lobby: &Lobby,
    seat: &Seat,
    place: &Place,
    wait: Duration,
) -> Result<Vec<Option<Wire>>, NetError> {
    let until = Instant::now() + wait;
    let mut wires = Vec::with_capacity(place.size);
    for to in 0..seat.rank {
        wires.push(Some(reach(lobby, seat, to, (until, wait))?));
    }
    wires.push(None);
    for from in seat.rank + 1..place.size {
        wires.push(Some(expect(lobby, seat, place, (from, until, wait))?));
    }
    Ok(wires)
}

/// Dials a rank below, again and again until it is there.
fn reach(
    lobby: &Lobby,
    seat: &Seat,
    to: Rank,
    (until, wait): (Instant, Duration),
) -> Result<Wire, NetError> {
    let (address, size) = (&seat.addresses[to], seat.addresses.len());
    let note = encode_ranks(seat.rank, to, size);
    let greeting = Greeting { kind: WORLD, id: seat.world, secret: seat.secret.clone(), note };
    let mut pause = PAUSES.0;
    loop {
        let error = match dial_wire(address, &lobby.security, &greeting, until) {
            Ok(wire) => return Ok(wire),
            Err(error) => error,
        };
        // It may not listen yet, not sit yet, or have had to make room at its door.
        let early = matches!(
            error,
            NetError::System { .. }
                | NetError::Late { .. }
                | NetError::Closed { .. }
                | NetError::Refused { refusal: Refusal::Unknown | Refusal::Slow, .. }
        );
        if lobby.is_closed() {
            return Err(closed(lobby));
        }
        if !early {
            return Err(error);
        }
        if Instant::now() + pause >= until {
            let (address, reason) = (address.clone(), error.to_string());
            return Err(NetError::Absent {
                rank: to,
                address,
                waited: wait,
                reason,
                dialled: true,
            });
        }
        std::thread::sleep(pause);
        pause = PAUSES.1.min(pause * 2);
    }
}

/// Waits for a rank above to come.
fn expect(
    lobby: &Lobby,
    seat: &Seat,
    place: &Place,
    (from, until, wait): (Rank, Instant, Duration),
) -> Result<Wire, NetError> {
    let mut came = lock(&place.came);
    loop {
        if let Some(wire) = came.get_mut(&from).and_then(Option::take) {
            return Ok(wire);
        }
        if lobby.is_closed() {
            return Err(closed(lobby));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let address = seat.addresses[from].clone();
            let reason = "it has not dialled".to_owned();
            return Err(NetError::Absent {
                rank: from,
                address,
                waited: wait,
                reason,
                dialled: false,
            });
        }
        let waited = place.changed.wait_timeout(came, left);
        came = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn closed(lobby: &Lobby) -> NetError {
    NetError::Closed { address: lobby.address.to_string() }
}
