//! One process's end of the world.
//!
//! [`post`] starts messages, [`take`] looks at those that have come, [`wait`] waits for them.

mod post;
mod take;
mod wait;

use std::sync::Arc;
use std::time::Duration;

use mpi::Threading;
use mpi::environment::Universe;
use mpi::traits::Communicator as _;
use pantile_comm::{CollectiveSignature, CommError, Failure, Options, Rank, Tag};

use crate::control::{Control, PeerCounts};
use crate::cores;
use crate::library::mismatch;
use crate::raw::{Address, Comm, MpiError, int};
use crate::records::Records;
use crate::signature_cache::SignatureCache;
use crate::tag_queues::TagQueues;
use crate::{launched, library};

/// Largest part of a body in one MPI message: MPI counts in 32 bits.
pub(crate) const CHUNK_BYTES: usize = 1 << 30;

/// Calls that do not wait between two polls for control messages.
const CALLS_PER_CONTROL_POLL: u32 = 64;

/// Everything that one process has in an MPI job.
pub(crate) struct MpiWorld {
    pub(crate) universe: Universe,
    pub(crate) data: Comm,
    pub(crate) control: Control,
    pub(crate) rank: Rank,
    pub(crate) peers: Vec<PeerCounts>,
    pub(crate) deadline: Duration,
    pub(crate) chunk: usize,
    tag_max: i32,
    oversubscribed: bool,
    calls: SignatureCache,
    pub(crate) records: Records,
    queues: TagQueues,
    /// Why the world ended.
    pub(crate) failure: Option<Arc<Failure>>,
    /// The first error after which messages do not match any more.
    broken: Option<CommError>,
    entered: u32,
}

impl MpiWorld {
    /// Initialises MPI.
    pub(crate) fn init(options: &Options) -> Result<Self, CommError> {
        // Until MPI answers, the launcher knows best which rank this is.
        let launched = launched(|name| std::env::var(name).ok());
        let rank = launched.and_then(|launched| launched.rank).unwrap_or(0);
        let refused = |call: &str, reason: String| {
            let call = call.to_owned();
            CommError::Backend { rank, call, reason }
        };
        let Some((universe, level)) = mpi::initialize_with_threading(Threading::Serialized) else {
            let reason = "MPI was initialised before in this process".to_owned();
            return Err(refused("MPI_Init_thread", reason));
        };
        if level < Threading::Serialized {
            let reason = format!("thread level {level:?}, expected at least Serialized");
            return Err(refused("MPI_Init_thread", reason));
        }
        let size = usize::try_from(universe.world().size()).unwrap_or(0);
        if let Some(reason) = mismatch(launched, size, &library().unwrap_or_default()) {
            return Err(refused("joining the other processes", reason));
        }
        Self::over(universe, options).map_err(|fault| refused("starting", fault.text()))
    }

    fn over(universe: Universe, options: &Options) -> Result<Self, MpiError> {
        let (data, control) = (Comm::duplicate_of_world()?, Comm::duplicate_of_world()?);
        let (rank, size) = data.rank_and_size()?;
        Ok(Self {
            universe,
            control: Control::new(control),
            rank,
            peers: (0..size).map(|_| PeerCounts::default()).collect(),
            deadline: options.deadline,
            chunk: CHUNK_BYTES,
            tag_max: data.tag_max()?,
            oversubscribed: cores::are_oversubscribed(&data)?,
            data,
            calls: SignatureCache::new(),
            records: Records::default(),
            queues: TagQueues::new(size),
            failure: None,
            broken: None,
            entered: 0,
        })
    }

    pub(crate) fn size(&self) -> usize {
        self.peers.len()
    }

    pub(crate) fn call(&self) -> &CollectiveSignature {
        self.calls.current().1
    }

    fn boxed_call(&self) -> Box<CollectiveSignature> {
        Box::new(self.call().clone())
    }

    /// An error if the world has failed, or this rank's end of it has.
    pub(crate) fn check(&self) -> Result<(), CommError> {
        match (&self.failure, &self.broken) {
            (Some(failure), _) => {
                Err(CommError::Failed { rank: self.rank, failure: Arc::clone(failure) })
            }
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Ok(()),
        }
    }

    pub(crate) fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        self.poll_control_sometimes()?;
        self.calls.enter(call);
        Ok(())
    }

    pub(crate) fn leave_call(&mut self) {
        self.calls.leave();
    }

    /// Polls for control messages on some of the calls that do not wait, so that a rank which never
    /// waits hears of the end, too.
    fn poll_control_sometimes(&mut self) -> Result<(), CommError> {
        self.entered = self.entered.wrapping_add(1);
        if self.entered.is_multiple_of(CALLS_PER_CONTROL_POLL) {
            self.poll_control()?;
        }
        self.check()
    }

    fn address(&self, peer: Rank, tag: Tag) -> Result<Address, CommError> {
        let (rank, size) = (self.rank, self.size());
        if peer >= size {
            return Err(CommError::NoSuchRank { rank, peer, size });
        }
        self.check()?;
        let tag = i32::from(tag.0);
        if tag > self.tag_max {
            let reason = format!("this MPI has tags up to {}", self.tag_max);
            return Err(CommError::Backend { rank, call: format!("tag {tag}"), reason });
        }
        Ok(Address { rank: int(peer), tag })
    }

    /// After this error messages do not match any more, so later waits get it, too.
    fn spoil(&mut self, error: CommError) -> CommError {
        self.broken.get_or_insert_with(|| error.clone());
        error
    }

    /// What MPI refused to do for a message from or to a peer.
    pub(crate) fn backend(&self, call: &str, peer: Rank, fault: MpiError) -> CommError {
        let call = format!("{call} rank {peer} in {}", self.call());
        CommError::Backend { rank: self.rank, call, reason: fault.text() }
    }

    fn refused(&mut self, call: &str, peer: Rank, fault: MpiError) -> CommError {
        let error = self.backend(call, peer, fault);
        self.spoil(error)
    }
}
