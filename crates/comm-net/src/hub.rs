//! Where the connections of a process come in.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pantile_comm::{Options, Rank};
use rustix::event::{PollFd, PollFlags};

use crate::connection::Connection;
use crate::dial::resolve;
use crate::error::Refusal;
use crate::greeting::{Greeting, WORLD};
use crate::join::{Place, Seat};
use crate::net::Net;
use crate::options::HubOptions;
use crate::poll::{self, Bell};
use crate::security::Security;
use crate::wire::Wire;
use crate::{NetError, door, join};

/// Longest sleep of the thread that listens; it is rung for.
const SLEEP: Duration = Duration::from_secs(60);

/// After an error of the system (too many open files) it is not asked again at once.
const PAUSE: Duration = Duration::from_millis(20);

/// Listens for the connections of a process, and hands them to whom they are for.
///
/// Nothing comes in without a greeting in time, of this version, with the right secret. What is
/// refused is counted and reported, and disturbs nobody.
pub struct Hub {
    lobby: Arc<Lobby>,
    listener: Mutex<Option<JoinHandle<()>>>,
}

/// Who takes connections of one kind.
pub(crate) struct Taker {
    pub(crate) admits: Box<dyn Fn(&Greeting) -> bool + Send + Sync>,
    pub(crate) takes: Box<dyn Fn(Greeting, Connection) + Send + Sync>,
}

/// What the threads of a hub share.
pub(crate) struct Lobby {
    pub(crate) address: SocketAddr,
    pub(crate) security: Security,
    pub(crate) options: HubOptions,
    /// Ranks of this process that wait for others of their world.
    pub(crate) places: Mutex<BTreeMap<(u128, Rank), Arc<Place>>>,
    /// Somebody has come to wait.
    pub(crate) opened: Condvar,
    pub(crate) takers: Mutex<BTreeMap<u16, Arc<Taker>>>,
    /// Connections that have not greeted yet, oldest first.
    pub(crate) ungreeted: Mutex<BTreeMap<u64, Arc<Wire>>>,
    refused: AtomicU64,
    closed: AtomicBool,
    bell: Bell,
}

/// Locks, whatever happened to the last holder: everything behind our locks is whole between any
/// two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lobby {
    /// A connection was refused.
    pub(crate) fn refuse(&self, peer: SocketAddr, refusal: &Refusal) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        if let Some(report) = &self.options.report {
            report(peer, refusal);
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
}

impl Hub {
    /// Listens at `HOST:PORT`; port 0 is any that is free.
    ///
    /// # Errors
    /// [`NetError::Address`], [`NetError::Unprotected`], or [`NetError::System`] if the address is
    /// taken or not ours.
    pub fn listen(
        address: &str,
        security: Security,
        options: HubOptions,
    ) -> Result<Arc<Self>, NetError> {
        let (_, found) = resolve(address)?;
        found.iter().try_for_each(|place| security.check(*place))?;
        let failed = |error: std::io::Error| NetError::System {
            what: "listening at",
            address: address.to_owned(),
            reason: error.to_string(),
        };
        let listener = TcpListener::bind(&found[..]).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let lobby = Arc::new(Lobby {
            address: listener.local_addr().map_err(failed)?,
            security,
            options,
            places: Mutex::default(),
            opened: Condvar::new(),
            takers: Mutex::default(),
            ungreeted: Mutex::default(),
            refused: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            bell: Bell::new().map_err(failed)?,
        });
        let inside = Arc::clone(&lobby);
        let thread = std::thread::Builder::new().name("pantile hub".to_owned());
        let thread = thread.spawn(move || listen(&listener, &inside)).map_err(failed)?;
        Ok(Arc::new(Self { lobby, listener: Mutex::new(Some(thread)) }))
    }

    /// Where this hub listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.lobby.address
    }

    /// How many connections were refused so far.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.lobby.refused.load(Ordering::Relaxed)
    }

    /// One rank's end of a world: dials the ranks below it, and is dialled by those above. Several
    /// ranks of one world may join through one hub, each on a thread of its own.
    ///
    /// # Errors
    /// [`NetError::Seat`] if the seat does not fit; [`NetError::Absent`] if a rank does not come in
    /// time; [`NetError::Refused`] if one does not want this rank; [`NetError::Closed`] if the hub
    /// was closed.
    pub fn join(&self, seat: &Seat, options: &Options) -> Result<Net, NetError> {
        join::join(&self.lobby, seat, options)
    }

    /// From now on connections of this kind go to `takes`, each on a thread of its own, if `admits`
    /// says yes to their greeting (compare secrets with [`Secret::matches`](crate::Secret::matches)).
    ///
    /// # Panics
    /// If the kind is zero, which is kept for the ranks of a world.
    pub fn on_connect(
        &self,
        kind: u16,
        admits: impl Fn(&Greeting) -> bool + Send + Sync + 'static,
        takes: impl Fn(Greeting, Connection) + Send + Sync + 'static,
    ) {
        assert_ne!(kind, WORLD, "kind {WORLD} is kept for the ranks of a world");
        let taker = Taker { admits: Box::new(admits), takes: Box::new(takes) };
        lock(&self.lobby.takers).insert(kind, Arc::new(taker));
    }

    /// Stops listening. Worlds and connections that stand are not touched; ranks that still wait
    /// for others of their world stop waiting.
    pub fn close(&self) {
        self.lobby.closed.store(true, Ordering::SeqCst);
        self.lobby.bell.ring();
        for wire in lock(&self.lobby.ungreeted).values() {
            wire.cut();
        }
        for place in lock(&self.lobby.places).values() {
            place.wake();
        }
        let thread = lock(&self.listener).take();
        // A handler may close the hub from a thread of its own; the listening thread never does.
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Hub({})", self.address())
    }
}

/// The thread that listens.
fn listen(listener: &TcpListener, lobby: &Arc<Lobby>) {
    let mut number = 0;
    while !lobby.is_closed() {
        match listener.accept() {
            Ok((socket, peer)) => {
                number += 1;
                door::open(lobby, socket, peer, number);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let door = PollFd::new(listener, PollFlags::IN);
                poll::poll(&mut [door, poll::watch_bell(&lobby.bell)], SLEEP);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}
