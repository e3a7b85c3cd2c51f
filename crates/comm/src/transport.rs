//! What a transport can do.

use std::sync::Arc;

use crate::{CollectiveSignature, CommError, Failure, IoVec, MemoryBlock, MemorySlice};

/// A worker's number in the world.
pub type Rank = usize;

/// A channel between two ranks; messages keep their order per (peer, tag).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u16);

/// A send or receive that was posted and not yet waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use]
pub struct Ticket(pub u64);

/// One rank's end of a world of ranks.
///
/// A message has an envelope, made of the sender's current [`CollectiveSignature`] and the length
/// of the body, and a body of opaque bytes. The receiver compares the envelope with its own call
/// before it takes the body.
///
/// Laws, checked by the [conformance suite](crate::conformance):
/// 1. Messages from one rank to another with one tag arrive in the order in which they were
///    posted, and fill receives in the order in which those were posted, whatever the order of
///    waiting. Messages with different tags or of different peers do not wait for each other.
/// 2. Posting never waits for the peer; waiting for a send may, until the peer has made room. A
///    rank may send to itself.
/// 3. A body is taken only if it has exactly the length of its room; otherwise the wait fails. What
///    becomes of later messages of that peer and tag is then not said.
/// 4. No wait lasts longer than the deadline. If the peer has left, or any rank has failed, the
///    wait ends with an error that names that rank.
/// 5. After [`Transport::abort`] by any rank every wait of every rank fails, and entering a call
///    does too.
/// 6. From posting to the end of waiting the poster leaves the body alone, and does not look at a
///    room. Memory of messages that never end is kept alive.
/// 7. Where a transport takes vectored bodies (scatter/gather), a body is its bytes in order,
///    wherever they lie: the other side may have it contiguous, or in other ranges. What lies
///    between the ranges is neither read nor written.
///
/// Dropping a transport leaves the world: peers that wait for this rank are told.
pub trait Transport: Send {
    /// `threads`, `sim`, `mpi` ...
    fn name(&self) -> &'static str;

    /// This rank.
    fn rank(&self) -> Rank;

    /// Number of ranks in the world.
    fn size(&self) -> usize;

    /// Bodies of more bytes travel better in parts of so many, because the sender can go on packing
    /// while they travel. The same on every rank of a world; by default nothing is gained by that.
    fn part_bytes(&self) -> usize {
        usize::MAX
    }

    /// Bodies whose ranges have at least so many bytes each are better left where they lie than
    /// packed; nothing if vectored bodies are not taken at all, as by default.
    fn run_bytes(&self) -> Option<usize> {
        None
    }

    /// From now on this rank is in `call`.
    ///
    /// # Errors
    /// If the world has failed.
    fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError>;

    /// From now on this rank computes and is in no call.
    fn leave(&mut self);

    /// Sends a body; the ticket is done when the body may be changed again.
    ///
    /// # Errors
    /// If there is no such rank, or the world has failed.
    fn post_send(&mut self, to: Rank, tag: Tag, body: &MemorySlice) -> Result<Ticket, CommError>;

    /// Makes room for the next message from `from`.
    ///
    /// # Errors
    /// If there is no such rank, or the world has failed.
    fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError>;

    /// As [`Transport::post_send`], from several ranges of memory.
    ///
    /// # Errors
    /// The same, and always where vectored bodies are not taken.
    fn post_send_vectored(
        &mut self,
        _to: Rank,
        _tag: Tag,
        _body: &IoVec,
    ) -> Result<Ticket, CommError> {
        Err(no_vectored_io(self.rank(), self.name()))
    }

    /// As [`Transport::post_receive`], into several ranges of memory.
    ///
    /// # Errors
    /// The same, and always where vectored bodies are not taken.
    fn post_receive_vectored(
        &mut self,
        _from: Rank,
        _tag: Tag,
        _room: &IoVec,
    ) -> Result<Ticket, CommError> {
        Err(no_vectored_io(self.rank(), self.name()))
    }

    /// Waits for a ticket, which is used up.
    ///
    /// # Errors
    /// All of [`CommError`]: whatever keeps the message from coming.
    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError>;

    /// True if waiting for the ticket would return at once.
    ///
    /// # Errors
    /// As [`Transport::wait`].
    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError>;

    /// Waits for a message whose length is not known before.
    ///
    /// # Errors
    /// As [`Transport::wait`].
    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError>;

    /// Windows onto peers' memory, where ranks share it.
    fn windows(&mut self) -> Option<&mut dyn Windows>;

    /// Ends the world for every rank; the first failure is the one that all of them report.
    fn abort(&mut self, failure: Failure);

    /// Why the world ended, if it did.
    fn failure(&self) -> Option<Arc<Failure>>;
}

/// What a transport answers that does not take vectored bodies.
fn no_vectored_io(rank: Rank, name: &str) -> CommError {
    let (call, reason) = (format!("a vectored body over {name}"), "bodies have to be contiguous");
    CommError::Backend { rank, call, reason: reason.to_owned() }
}

/// One-sided reads of a peer's memory for the duration of one call.
///
/// Between two ranks a window is open in one direction at most once at a time:
///
/// ```text
/// owner:   expose ───────────────────────────────── close (waits for release)
/// viewer:           acquire (waits for expose) … copy … release
/// ```
///
/// Whatever happens, `close` and `withdraw` return only when no peer is reading any more, so the
/// memory may then be changed.
pub trait Windows {
    /// Shows `memory` to `to` in the current call.
    ///
    /// # Errors
    /// If there is no such rank, or the world has failed.
    fn expose(&mut self, to: Rank, memory: &MemoryBlock) -> Result<(), CommError>;

    /// True if acquiring the window of `from` would not wait.
    fn is_exposed(&mut self, from: Rank) -> bool;

    /// Waits until `from` shows its memory in the same call.
    ///
    /// # Errors
    /// As [`Transport::wait`].
    fn acquire(&mut self, from: Rank) -> Result<MemoryBlock, CommError>;

    /// This rank does not read the memory of `from` any more.
    fn release(&mut self, from: Rank);

    /// Waits until `to` does not read any more, and closes the window.
    ///
    /// # Errors
    /// As [`Transport::wait`]; the window is closed then, too.
    fn close(&mut self, to: Rank) -> Result<(), CommError>;

    /// Ends every read and closes every window of this rank, after an error.
    fn withdraw(&mut self);
}
