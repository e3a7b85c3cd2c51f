//! A transport that is returned when it is dropped: on MPI the process ends when the transport of a
//! failed world is dropped, and a case has to say before that what it saw.

use std::sync::{Arc, Mutex};

use pantile_comm::{
    CollectiveSignature, CommError, Failure, MemorySlice, Rank, Tag, Ticket, Transport, Windows,
};

/// Where it is returned to.
pub(super) type TransportSlot = Arc<Mutex<Option<Box<dyn Transport>>>>;

/// A transport that is returned.
pub(super) struct ReturnedTransport {
    transport: Option<Box<dyn Transport>>,
    slot: TransportSlot,
}

impl ReturnedTransport {
    pub(super) fn new(transport: Box<dyn Transport>, slot: &TransportSlot) -> Self {
        Self { transport: Some(transport), slot: Arc::clone(slot) }
    }

    fn get(&self) -> &dyn Transport {
        &**self.transport.as_ref().expect("set until it is dropped")
    }

    fn get_mut(&mut self) -> &mut dyn Transport {
        &mut **self.transport.as_mut().expect("set until it is dropped")
    }
}

impl Drop for ReturnedTransport {
    fn drop(&mut self) {
        *self.slot.lock().expect("nobody panics with it") = self.transport.take();
    }
}

impl Transport for ReturnedTransport {
    fn name(&self) -> &'static str {
        self.get().name()
    }
    fn rank(&self) -> Rank {
        self.get().rank()
    }
    fn size(&self) -> usize {
        self.get().size()
    }
    fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        self.get_mut().enter(call)
    }
    fn leave(&mut self) {
        self.get_mut().leave();
    }
    fn post_send(&mut self, to: Rank, tag: Tag, body: &MemorySlice) -> Result<Ticket, CommError> {
        self.get_mut().post_send(to, tag, body)
    }
    fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        self.get_mut().post_receive(from, tag, room)
    }
    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.get_mut().wait(ticket)
    }
    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        self.get_mut().is_done(ticket)
    }
    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        self.get_mut().receive_any(from, tag)
    }
    fn windows(&mut self) -> Option<&mut dyn Windows> {
        self.get_mut().windows()
    }
    fn abort(&mut self, failure: Failure) {
        self.get_mut().abort(failure);
    }
    fn failure(&self) -> Option<Arc<Failure>> {
        self.get().failure()
    }
}
