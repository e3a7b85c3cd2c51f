//! A transport that logs every message of another one.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use pantile_comm::{
    CollectiveSignature, CommError, Failure, IoVec, MemorySlice, Rank, Tag, Ticket, Transport,
    Windows,
};

/// What a rank did with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It posted a send.
    Send,
    /// It posted a receive.
    Receive,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The rank that logs.
    pub rank: Rank,
    /// What it did.
    pub action: Action,
    /// The other rank.
    pub peer: Rank,
    /// The channel of the message.
    pub tag: Tag,
    /// The length of its body, if it was known when it was posted.
    pub bytes: Option<usize>,
    /// The call that the rank was in.
    pub call: String,
}

impl fmt::Display for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, peer, tag, call) = (self.rank, self.peer, self.tag.0, &self.call);
        let arrow = if self.action == Action::Send { "->" } else { "<-" };
        let bytes = self.bytes.map_or("?".to_owned(), |bytes| bytes.to_string());
        write!(out, "rank {rank} {arrow} {peer}: {bytes} bytes, tag {tag}, in {call}")
    }
}

/// The messages of all ranks of this process, in the order in which they were posted.
pub(crate) type Log = Arc<Mutex<Vec<Entry>>>;

/// Another transport, with a log of its messages.
pub(crate) struct Logging<T> {
    inner: T,
    log: Log,
    call: String,
}

impl<T: Transport> Logging<T> {
    /// Logs the messages of a transport.
    pub(crate) fn new(inner: T, log: &Log) -> Self {
        Self { inner, log: Arc::clone(log), call: "no call".to_owned() }
    }

    fn note(&self, action: Action, peer: Rank, tag: Tag, bytes: Option<usize>) {
        let (rank, call) = (self.inner.rank(), self.call.clone());
        let entry = Entry { rank, action, peer, tag, bytes, call };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }
}

impl<T: Transport> Transport for Logging<T> {
    fn name(&self) -> &'static str {
        "logging"
    }

    fn rank(&self) -> Rank {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    // What a transport says of itself decides how the engine uses it, so the answers are passed on.
    fn part_bytes(&self) -> usize {
        self.inner.part_bytes()
    }

    fn run_bytes(&self) -> Option<usize> {
        self.inner.run_bytes()
    }

    fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        self.call = call.to_string();
        self.inner.enter(call)
    }

    fn leave(&mut self) {
        self.call = "no call".to_owned();
        self.inner.leave();
    }

    fn post_send(&mut self, to: Rank, tag: Tag, body: &MemorySlice) -> Result<Ticket, CommError> {
        self.note(Action::Send, to, tag, Some(body.len()));
        self.inner.post_send(to, tag, body)
    }

    fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        self.note(Action::Receive, from, tag, Some(room.len()));
        self.inner.post_receive(from, tag, room)
    }

    fn post_send_vectored(
        &mut self,
        to: Rank,
        tag: Tag,
        body: &IoVec,
    ) -> Result<Ticket, CommError> {
        self.note(Action::Send, to, tag, Some(body.len()));
        self.inner.post_send_vectored(to, tag, body)
    }

    fn post_receive_vectored(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &IoVec,
    ) -> Result<Ticket, CommError> {
        self.note(Action::Receive, from, tag, Some(room.len()));
        self.inner.post_receive_vectored(from, tag, room)
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.inner.wait(ticket)
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        self.inner.is_done(ticket)
    }

    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        self.note(Action::Receive, from, tag, None);
        self.inner.receive_any(from, tag)
    }

    // Ranks that read each other's memory would send nothing: without windows everything is a
    // message, and is logged.
    fn windows(&mut self) -> Option<&mut dyn Windows> {
        None
    }

    fn abort(&mut self, failure: Failure) {
        self.inner.abort(failure);
    }

    fn failure(&self) -> Option<Arc<Failure>> {
        self.inner.failure()
    }
}
