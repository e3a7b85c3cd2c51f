//! How the ranks of a world come together.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pantile_comm::{Options, Rank};

use crate::NetError;
use crate::connect::connect_wire;
use crate::error::Refusal;
use crate::handshake::{Handshake, WORLD, encode_ranks};
use crate::listener::{ListenerShared, lock};
use crate::net::Net;
use crate::secret::Secret;
use crate::wire::Wire;

/// First and longest pause between two attempts to reach a rank that is not there yet.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Most ranks of a world: each of them holds a connection with every other one.
pub const RANKS_MAX: usize = 4096;

/// One rank's place in a world: the same on every rank, but for the rank.
#[derive(Clone)]
pub struct JoinConfig {
    /// Names the world; a number that cannot be guessed.
    pub world: u128,
    /// What its ranks know, and no other process.
    pub secret: Secret,
    /// The rank that joins.
    pub rank: Rank,
    /// Where the listener of every rank listens, as `HOST:PORT`.
    pub addresses: Vec<String>,
}

impl fmt::Debug for JoinConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "JoinConfig(rank {} of {:?})", self.rank, self.addresses)
    }
}

/// A rank that waits for those above it.
pub(crate) struct PendingJoin {
    pub(crate) secret: Secret,
    pub(crate) size: usize,
    /// The ranks whose handshake has come, with their connections: nothing while the answer is on
    /// its way.
    came: Mutex<BTreeMap<Rank, Option<Wire>>>,
    changed: Condvar,
}

impl PendingJoin {
    /// The handshake of a rank has come: false if it has come before.
    pub(crate) fn reserve(&self, from: Rank) -> bool {
        let mut came = lock(&self.came);
        let fresh = !came.contains_key(&from);
        came.entry(from).or_default();
        fresh
    }

    /// A rank was lost between its handshake and the answer.
    pub(crate) fn release(&self, from: Rank) {
        lock(&self.came).remove(&from);
    }

    /// A rank is connected.
    pub(crate) fn fill(&self, from: Rank, wire: Wire) {
        lock(&self.came).insert(from, Some(wire));
        self.changed.notify_all();
    }

    /// Wakes the thread that waits.
    pub(crate) fn wake(&self) {
        drop(lock(&self.came));
        self.changed.notify_all();
    }
}

/// Joins a world.
pub(crate) fn join(
    shared: &ListenerShared,
    config: &JoinConfig,
    options: &Options,
) -> Result<Net, NetError> {
    let (rank, size) = (config.rank, config.addresses.len());
    let wrong = |reason| Err(NetError::Join { rank, size, reason });
    if size > RANKS_MAX {
        return wrong("a world has at most 4096 ranks");
    }
    if rank >= size {
        return wrong("the rank has no address");
    }
    let joining = Arc::new(PendingJoin {
        secret: config.secret.clone(),
        size,
        came: Mutex::default(),
        changed: Condvar::new(),
    });
    let key = (config.world, rank);
    let mut joins = lock(&shared.joins);
    if joins.contains_key(&key) {
        return wrong("this rank has joined already");
    }
    joins.insert(key, Arc::clone(&joining));
    drop(joins);
    shared.opened.notify_all();
    let wait = shared.options.join.min(options.deadline);
    let wires = meet(shared, config, &joining, wait);
    lock(&shared.joins).remove(&key);
    let net = Net::new(rank, wires?, options, shared.options.silence);
    net.map_err(|error| NetError::System {
        what: "starting the world at",
        address: shared.address.to_string(),
        reason: error.to_string(),
    })
}

/// The connections with all other ranks.
fn meet(
    shared: &ListenerShared,
    config: &JoinConfig,
    joining: &PendingJoin,
    wait: Duration,
) -> Result<Vec<Option<Wire>>, NetError> {
    let until = Instant::now() + wait;
    let mut wires = Vec::with_capacity(joining.size);
    for to in 0..config.rank {
        wires.push(Some(reach(shared, config, to, (until, wait))?));
    }
    wires.push(None);
    for from in config.rank + 1..joining.size {
        wires.push(Some(expect(shared, config, joining, (from, until, wait))?));
    }
    Ok(wires)
}

/// Connects to a rank below, again and again until it is there.
fn reach(
    shared: &ListenerShared,
    config: &JoinConfig,
    to: Rank,
    (until, wait): (Instant, Duration),
) -> Result<Wire, NetError> {
    let (address, size) = (&config.addresses[to], config.addresses.len());
    let payload = encode_ranks(config.rank, to, size);
    let handshake =
        Handshake { kind: WORLD, id: config.world, secret: config.secret.clone(), payload };
    let mut pause = PAUSES.0;
    loop {
        let error = match connect_wire(address, &shared.security, &handshake, until) {
            Ok(wire) => return Ok(wire),
            Err(error) => error,
        };
        // It may not listen yet, not have joined yet, or have evicted this connection.
        let early = matches!(
            error,
            NetError::System { .. }
                | NetError::Late { .. }
                | NetError::Closed { .. }
                | NetError::Refused { refusal: Refusal::Unknown | Refusal::Slow, .. }
        );
        if shared.is_closed() {
            return Err(closed(shared));
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
                outgoing: true,
            });
        }
        std::thread::sleep(pause);
        pause = PAUSES.1.min(pause * 2);
    }
}

/// Waits for a rank above to come.
fn expect(
    shared: &ListenerShared,
    config: &JoinConfig,
    joining: &PendingJoin,
    (from, until, wait): (Rank, Instant, Duration),
) -> Result<Wire, NetError> {
    let mut came = lock(&joining.came);
    loop {
        if let Some(wire) = came.get_mut(&from).and_then(Option::take) {
            return Ok(wire);
        }
        if shared.is_closed() {
            return Err(closed(shared));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let address = config.addresses[from].clone();
            let reason = "it has not connected".to_owned();
            return Err(NetError::Absent {
                rank: from,
                address,
                waited: wait,
                reason,
                outgoing: false,
            });
        }
        let waited = joining.changed.wait_timeout(came, left);
        came = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn closed(shared: &ListenerShared) -> NetError {
    NetError::Closed { address: shared.address.to_string() }
}
