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

use crate::connect::resolve;
use crate::connection::Connection;
use crate::error::Refusal;
use crate::handshake::{Handshake, WORLD};
use crate::join::{JoinConfig, PendingJoin};
use crate::net::Net;
use crate::options::ListenerOptions;
use crate::poll::{self, SelfPipe};
use crate::security::Security;
use crate::wire::Wire;
use crate::{NetError, acceptor, join};

/// Longest sleep of the thread that listens; a notification ends it earlier.
const SLEEP: Duration = Duration::from_secs(60);

/// After an error of the system (too many open files) it is not asked again at once.
const PAUSE: Duration = Duration::from_millis(20);

/// Listens for the connections of a process, and hands them to what they are for.
///
/// Nothing comes in without a handshake in time, of this version, with the right secret. What is
/// refused is counted and reported, and disturbs no other connection.
pub struct Listener {
    shared: Arc<ListenerShared>,
    accept_thread: Mutex<Option<JoinHandle<()>>>,
}

/// What takes connections of one kind.
pub(crate) struct KindHandler {
    pub(crate) admits: Box<dyn Fn(&Handshake) -> bool + Send + Sync>,
    pub(crate) on_connection: Box<dyn Fn(Handshake, Connection) + Send + Sync>,
}

/// What the threads of a listener share.
pub(crate) struct ListenerShared {
    pub(crate) address: SocketAddr,
    pub(crate) security: Security,
    pub(crate) options: ListenerOptions,
    /// Ranks of this process that wait for others of their world.
    pub(crate) joins: Mutex<BTreeMap<(u128, Rank), Arc<PendingJoin>>>,
    /// A rank has begun to wait.
    pub(crate) opened: Condvar,
    pub(crate) handlers: Mutex<BTreeMap<u16, Arc<KindHandler>>>,
    /// Connections whose handshake has not come yet, oldest first.
    pub(crate) pending: Mutex<BTreeMap<u64, Arc<Wire>>>,
    refused: AtomicU64,
    closed: AtomicBool,
    pipe: SelfPipe,
}

/// Locks, whatever happened to the last holder: everything behind our locks is whole between any
/// two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ListenerShared {
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

impl Listener {
    /// Listens at `HOST:PORT`; port 0 is any that is free.
    ///
    /// # Errors
    /// [`NetError::Address`], [`NetError::Unprotected`], or [`NetError::System`] if the address is
    /// taken or not ours.
    pub fn listen(
        address: &str,
        security: Security,
        options: ListenerOptions,
    ) -> Result<Arc<Self>, NetError> {
        let (_, found) = resolve(address)?;
        found.iter().try_for_each(|address| security.check(*address))?;
        let failed = |error: std::io::Error| NetError::System {
            what: "listening at",
            address: address.to_owned(),
            reason: error.to_string(),
        };
        let tcp_listener = TcpListener::bind(&found[..]).map_err(failed)?;
        tcp_listener.set_nonblocking(true).map_err(failed)?;
        let shared = Arc::new(ListenerShared {
            address: tcp_listener.local_addr().map_err(failed)?,
            security,
            options,
            joins: Mutex::default(),
            opened: Condvar::new(),
            handlers: Mutex::default(),
            pending: Mutex::default(),
            refused: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            pipe: SelfPipe::new().map_err(failed)?,
        });
        let inside = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("pantile listener".to_owned());
        let thread = thread.spawn(move || listen(&tcp_listener, &inside)).map_err(failed)?;
        Ok(Arc::new(Self { shared, accept_thread: Mutex::new(Some(thread)) }))
    }

    /// Where this listener listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// How many connections were refused so far.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// One rank's end of a world: connects to the ranks below it; those above connect to it.
    /// Several ranks of one world may join through one listener, each on a thread of its own.
    ///
    /// # Errors
    /// [`NetError::Join`] if the join configuration does not fit; [`NetError::Absent`] if a rank
    /// does not come in time; [`NetError::Refused`] if one refuses this rank; [`NetError::Closed`]
    /// if the listener was closed.
    pub fn join(&self, config: &JoinConfig, options: &Options) -> Result<Net, NetError> {
        join::join(&self.shared, config, options)
    }

    /// From now on connections of this kind go to `on_connection`, each on a thread of its own, if
    /// `admits` says yes to their handshake (compare secrets with
    /// [`Secret::matches`](crate::Secret::matches)).
    ///
    /// # Panics
    /// If the kind is zero, which is kept for the ranks of a world.
    pub fn on_connect(
        &self,
        kind: u16,
        admits: impl Fn(&Handshake) -> bool + Send + Sync + 'static,
        on_connection: impl Fn(Handshake, Connection) + Send + Sync + 'static,
    ) {
        assert_ne!(kind, WORLD, "kind {WORLD} is kept for the ranks of a world");
        let handler =
            KindHandler { admits: Box::new(admits), on_connection: Box::new(on_connection) };
        lock(&self.shared.handlers).insert(kind, Arc::new(handler));
    }

    /// Stops listening. Worlds and connections that stand are not touched; ranks that still wait
    /// for others of their world stop waiting.
    pub fn close(&self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.shared.pipe.notify();
        for wire in lock(&self.shared.pending).values() {
            wire.cut();
        }
        for joining in lock(&self.shared.joins).values() {
            joining.wake();
        }
        let thread = lock(&self.accept_thread).take();
        // A handler may close the listener from a thread of its own; the listening thread never
        // does.
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Listener({})", self.address())
    }
}

/// The thread that listens.
fn listen(tcp_listener: &TcpListener, shared: &Arc<ListenerShared>) {
    let mut number = 0;
    while !shared.is_closed() {
        match tcp_listener.accept() {
            Ok((socket, peer)) => {
                number += 1;
                acceptor::accept(shared, socket, peer, number);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let readable = PollFd::new(tcp_listener, PollFlags::IN);
                poll::poll(&mut [readable, poll::watch_pipe(&shared.pipe)], SLEEP);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}
