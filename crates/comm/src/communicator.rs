//! The value that the crates above hold: a transport that gives every operation its collective
//! signature.

use std::sync::Arc;

use crate::{
    CollectiveSignature, CommError, Failure, IoVec, MemoryBlock, MemorySlice, Rank, Tag, Ticket,
    Transport, Windows,
};

/// The one channel of operations. Ranks call operations in the same order, so messages between two
/// ranks match by order alone, and their envelopes tell when they do not.
const TAG: Tag = Tag(0);

/// One rank's way to its peers.
///
/// Everything happens inside an [`ActiveOperation`]. If that fails, the world fails: no rank is
/// left waiting for one that gave up.
pub struct Communicator {
    transport: Box<dyn Transport>,
    /// Tickets of the current operation's sends; kept to be used again.
    sends: Vec<Ticket>,
    /// The body of a message that says nothing.
    nothing: MemorySlice,
}

impl Communicator {
    /// A communicator over a transport.
    #[must_use]
    pub fn new(transport: Box<dyn Transport>) -> Self {
        Self { transport, sends: Vec::new(), nothing: MemoryBlock::zeroed(0).whole() }
    }

    /// This rank.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.transport.rank()
    }

    /// Number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    /// Name of the transport.
    #[must_use]
    pub fn transport_name(&self) -> &'static str {
        self.transport.name()
    }

    /// True if peers' memory can be looked at.
    #[must_use]
    pub fn has_windows(&mut self) -> bool {
        self.transport.windows().is_some()
    }

    /// Bodies of more bytes travel better in parts of so many.
    #[must_use]
    pub fn part_bytes(&self) -> usize {
        self.transport.part_bytes()
    }

    /// Bodies whose ranges have at least so many bytes each are better left where they lie than
    /// packed; nothing if the transport has no vectored (scatter/gather) messages.
    #[must_use]
    pub fn run_bytes(&self) -> Option<usize> {
        self.transport.run_bytes()
    }

    /// Why the world ended, if it did.
    #[must_use]
    pub fn failure(&self) -> Option<Arc<Failure>> {
        self.transport.failure()
    }

    /// Ends the world: every other rank gets `failure`.
    pub fn abort(&mut self, failure: Failure) {
        self.transport.abort(failure);
    }

    /// Runs one operation. When it returns, everything that was sent has left its memory; when it
    /// fails, the world fails with it.
    ///
    /// # Errors
    /// What the body returns, or what keeps its messages from going.
    pub fn operation<T>(
        &mut self,
        call: &CollectiveSignature,
        body: impl FnOnce(&mut ActiveOperation<'_>) -> Result<T, CommError>,
    ) -> Result<T, CommError> {
        self.transport.enter(call)?;
        self.sends.clear();
        let transport = &mut *self.transport;
        let mut operation = ActiveOperation { transport, sends: &mut self.sends, open: true };
        let result = body(&mut operation).and_then(|value| {
            operation.finish()?;
            Ok(value)
        });
        if let Err(error) = &result {
            let failure = error.to_failure(operation.rank(), Some(call));
            operation.transport.abort(failure);
        }
        result
    }

    /// Waits until every rank of the world has come here.
    ///
    /// # Errors
    /// As [`Transport::wait`].
    pub fn barrier(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        let nothing = self.nothing.clone();
        self.operation(call, |operation| {
            // Dissemination barrier: round by round each rank hears from twice as many: log2(size)
            // messages each.
            let mut distance = 1;
            while distance < size {
                let incoming = operation.receive((rank + size - distance) % size, &nothing)?;
                operation.send((rank + distance) % size, &nothing)?;
                operation.wait(incoming)?;
                distance *= 2;
            }
            Ok(())
        })
    }
}

/// What a rank can do inside one operation.
pub struct ActiveOperation<'a> {
    transport: &'a mut dyn Transport,
    sends: &'a mut Vec<Ticket>,
    /// False once everything ended in good order.
    open: bool,
}

impl ActiveOperation<'_> {
    /// This rank.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.transport.rank()
    }

    /// Number of ranks in the world.
    #[must_use]
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    /// Sends a body, which stays as it is until the operation ends or [`ActiveOperation::sent`]
    /// returns.
    ///
    /// # Errors
    /// As [`Transport::post_send`].
    pub fn send(&mut self, to: Rank, body: &MemorySlice) -> Result<(), CommError> {
        let ticket = self.transport.post_send(to, TAG, body)?;
        self.sends.push(ticket);
        Ok(())
    }

    /// Sends a body, which stays as it is until the ticket was waited for.
    ///
    /// # Errors
    /// As [`Transport::post_send`].
    pub fn begin_send(&mut self, to: Rank, body: &MemorySlice) -> Result<Ticket, CommError> {
        self.transport.post_send(to, TAG, body)
    }

    /// Makes room for the next message of `from`; to be waited for.
    ///
    /// # Errors
    /// As [`Transport::post_receive`].
    pub fn receive(&mut self, from: Rank, room: &MemorySlice) -> Result<Ticket, CommError> {
        self.transport.post_receive(from, TAG, room)
    }

    /// As [`ActiveOperation::send`], from several ranges of memory.
    ///
    /// # Errors
    /// As [`Transport::post_send_vectored`].
    pub fn send_vectored(&mut self, to: Rank, body: &IoVec) -> Result<(), CommError> {
        let ticket = self.transport.post_send_vectored(to, TAG, body)?;
        self.sends.push(ticket);
        Ok(())
    }

    /// As [`ActiveOperation::receive`], into several ranges of memory.
    ///
    /// # Errors
    /// As [`Transport::post_receive_vectored`].
    pub fn receive_vectored(&mut self, from: Rank, room: &IoVec) -> Result<Ticket, CommError> {
        self.transport.post_receive_vectored(from, TAG, room)
    }

    /// Waits for a message that room was made for, or that was begun to be sent.
    ///
    /// # Errors
    /// As [`Transport::wait`].
    pub fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.transport.wait(ticket)
    }

    /// True if waiting for the ticket would return at once.
    ///
    /// # Errors
    /// As [`Transport::wait`].
    pub fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        self.transport.is_done(ticket)
    }

    /// Waits for the next message of `from`, however long it is.
    ///
    /// # Errors
    /// As [`Transport::wait`].
    pub fn receive_any(&mut self, from: Rank) -> Result<Vec<u8>, CommError> {
        self.transport.receive_any(from, TAG)
    }

    /// Waits until everything sent so far has left its memory.
    ///
    /// # Errors
    /// As [`Transport::wait`].
    pub fn sent(&mut self) -> Result<(), CommError> {
        while let Some(ticket) = self.sends.pop() {
            self.transport.wait(ticket)?;
        }
        Ok(())
    }

    /// Windows onto peers' memory, where ranks share it. Every `acquire` must end with `release`,
    /// and every window with `close`, before the operation ends.
    pub fn windows(&mut self) -> Option<&mut dyn Windows> {
        self.transport.windows()
    }

    fn finish(&mut self) -> Result<(), CommError> {
        self.sent()?;
        self.transport.leave();
        self.open = false;
        Ok(())
    }
}

impl Drop for ActiveOperation<'_> {
    /// After an error or a panic no peer may go on reading this rank's memory.
    fn drop(&mut self) {
        if self.open {
            if let Some(windows) = self.transport.windows() {
                windows.withdraw();
            }
            self.transport.leave();
        }
    }
}
