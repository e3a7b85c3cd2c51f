//! One rank of an MPI job, as a transport.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use pantile_comm::{
    CollectiveSignature, CommError, Failure, MemorySlice, Options, Rank, Tag, Ticket, Transport,
    Windows,
};

use crate::world::{CHUNK_BYTES, MpiWorld};

/// Where a world goes when its transport is dropped, while `run` waits for it there.
pub(crate) type ReturnSlot = Mutex<Option<MpiWorld>>;

/// A rank that is a process of an MPI job.
///
/// One process has at most one, once. On MPI a rank cannot see what another is busy with, so the
/// clock of the deadline runs while one waits.
///
/// Dropping it leaves the world, which takes until all other ranks leave as well (or the deadline
/// has passed), and finalises MPI. **If the world has failed, dropping it ends the process with
/// exit code 1**: see the [crate's documentation](crate#how-a-world-ends). Dropping it while the
/// thread panics makes the world fail.
///
/// Beside the laws of [`Transport`]: a ticket whose wait ended with [`CommError::Late`] or
/// [`CommError::Gone`] stays valid. A large body leaves only when its receiver has made room, so
/// wait for sends after the receives that belong to them.
pub struct Mpi {
    /// Set until it is dropped.
    world: Option<MpiWorld>,
    return_slot: Weak<ReturnSlot>,
}

impl Mpi {
    /// Initialises MPI, together with all other processes of the job. A process that no launcher
    /// started becomes a world of one rank.
    ///
    /// # Errors
    /// [`CommError::Backend`] if MPI was initialised in this process before, or refuses, or if the
    /// launcher belongs to another MPI, so that each process would be alone in a world of its own.
    pub fn init(options: &Options) -> Result<Self, CommError> {
        Ok(Self { world: Some(MpiWorld::init(options)?), return_slot: Weak::new() })
    }

    /// Bodies are cut into messages of at most this size, one byte to 1 GiB. Must be the same on
    /// every rank; for tests of what happens above 1 GiB.
    #[must_use]
    pub fn with_chunk(mut self, bytes: usize) -> Self {
        self.world_mut().chunk = bytes.clamp(1, CHUNK_BYTES);
        self
    }

    /// A transport that does not leave when it is dropped, but returns its world.
    pub(crate) fn with_return_slot(world: MpiWorld, return_slot: &Arc<ReturnSlot>) -> Self {
        Self { world: Some(world), return_slot: Arc::downgrade(return_slot) }
    }

    fn world(&self) -> &MpiWorld {
        self.world.as_ref().expect("set until it is dropped")
    }

    fn world_mut(&mut self) -> &mut MpiWorld {
        self.world.as_mut().expect("set until it is dropped")
    }
}

impl Transport for Mpi {
    fn name(&self) -> &'static str {
        "mpi"
    }

    fn rank(&self) -> Rank {
        self.world().rank
    }

    fn size(&self) -> usize {
        self.world().size()
    }

    fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        self.world_mut().enter(call)
    }

    fn leave(&mut self) {
        self.world_mut().leave_call();
    }

    fn post_send(&mut self, to: Rank, tag: Tag, body: &MemorySlice) -> Result<Ticket, CommError> {
        self.world_mut().post_send(to, tag, body)
    }

    fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        self.world_mut().post_receive(from, tag, room)
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.world_mut().wait(ticket)
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        self.world_mut().is_done(ticket)
    }

    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        self.world_mut().receive_any(from, tag)
    }

    fn windows(&mut self) -> Option<&mut dyn Windows> {
        None
    }

    fn abort(&mut self, failure: Failure) {
        self.world_mut().abort(failure);
    }

    fn failure(&self) -> Option<Arc<Failure>> {
        self.world().failure.clone()
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        let Some(mut world) = self.world.take() else { return };
        if let Some(return_slot) = self.return_slot.upgrade() {
            *return_slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(world);
            return;
        }
        if std::thread::panicking() {
            let reason = "its program panicked".to_owned();
            world.abort(Failure { culprit: world.rank, call: None, reason });
        }
        world.leave(true);
    }
}
