//! One rank's end of a world, as Python needs it: it can be shared and given up, and it knows the
//! user's lines.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pantile::array::Place;
use pantile_comm::{
    CollectiveSignature, CommError, Failure, MemoryBlock, MemorySlice, Rank, Tag, Ticket,
    Transport, Windows,
};

/// The transport underneath, until the rank leaves.
pub(crate) type Inner = Arc<Mutex<Option<Box<dyn Transport>>>>;

/// Where the user's program is; nothing where calls know it themselves.
pub(crate) type UserLine = Arc<Mutex<Option<Place>>>;

/// A transport around another one.
///
/// Several may be around the same one, as those of arrays and of partitions on the one MPI of a
/// process: operations do not overlap, because all of them are called by one thread.
pub(crate) struct SharedEnd {
    inner: Inner,
    line: UserLine,
    rank: Rank,
    size: usize,
    has_windows: bool,
}

impl SharedEnd {
    /// The end of `rank` among `size`, around `inner`.
    pub(crate) fn new(inner: &Inner, line: &UserLine, (rank, size): (Rank, usize)) -> Self {
        let has_windows = held(inner).as_mut().is_some_and(|end| end.windows().is_some());
        Self { inner: Arc::clone(inner), line: Arc::clone(line), rank, size, has_windows }
    }

    /// What the transport underneath says; an error once the rank has left.
    fn with<T>(
        &self,
        f: impl FnOnce(&mut dyn Transport) -> Result<T, CommError>,
    ) -> Result<T, CommError> {
        match held(&self.inner).as_mut() {
            Some(inner) => f(&mut **inner),
            None => Err(CommError::Backend {
                rank: self.rank,
                call: "a movement".to_owned(),
                reason: "the part of this rank in pt.spmd has ended".to_owned(),
            }),
        }
    }

    /// What windows underneath say; nothing once the rank has left.
    fn with_windows<T>(&self, f: impl FnOnce(&mut dyn Windows) -> T) -> Option<T> {
        held(&self.inner).as_mut()?.windows().map(f)
    }

    /// The call with the line of the user's program.
    fn at_user(&self, call: &CollectiveSignature) -> CollectiveSignature {
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        match &*line {
            None => call.clone(),
            Some(place) => CollectiveSignature {
                file: Cow::Owned(place.file.to_string()),
                line: place.line,
                ..call.clone()
            },
        }
    }
}

/// Whatever is there, also after a panic.
pub(crate) fn held(inner: &Inner) -> MutexGuard<'_, Option<Box<dyn Transport>>> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Transport for SharedEnd {
    fn name(&self) -> &'static str {
        held(&self.inner).as_ref().map_or("none", |inner| inner.name())
    }

    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn enter(&mut self, call: &CollectiveSignature) -> Result<(), CommError> {
        let call = self.at_user(call);
        self.with(|inner| inner.enter(&call))
    }

    fn leave(&mut self) {
        if let Some(inner) = held(&self.inner).as_mut() {
            inner.leave();
        }
    }

    fn post_send(&mut self, to: Rank, tag: Tag, body: &MemorySlice) -> Result<Ticket, CommError> {
        self.with(|inner| inner.post_send(to, tag, body))
    }

    fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        self.with(|inner| inner.post_receive(from, tag, room))
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(), CommError> {
        self.with(|inner| inner.wait(ticket))
    }

    fn is_done(&mut self, ticket: Ticket) -> Result<bool, CommError> {
        self.with(|inner| inner.is_done(ticket))
    }

    fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        self.with(|inner| inner.receive_any(from, tag))
    }

    fn windows(&mut self) -> Option<&mut dyn Windows> {
        match self.has_windows {
            true => Some(self),
            false => None,
        }
    }

    fn abort(&mut self, failure: Failure) {
        let call = failure.call.as_ref().map(|call| self.at_user(call));
        if let Some(inner) = held(&self.inner).as_mut() {
            inner.abort(Failure { call, ..failure });
        }
    }

    fn failure(&self) -> Option<Arc<Failure>> {
        held(&self.inner).as_ref()?.failure()
    }
}

impl Windows for SharedEnd {
    fn expose(&mut self, to: Rank, memory: &MemoryBlock) -> Result<(), CommError> {
        self.with_windows(|windows| windows.expose(to, memory))
            .unwrap_or_else(|| self.with(|_| Ok(())))
    }

    fn is_exposed(&mut self, from: Rank) -> bool {
        self.with_windows(|windows| windows.is_exposed(from)).unwrap_or(false)
    }

    fn acquire(&mut self, from: Rank) -> Result<MemoryBlock, CommError> {
        let look = self.with_windows(|windows| windows.acquire(from));
        look.unwrap_or_else(|| self.with(|_| Ok(MemoryBlock::zeroed(0))))
    }

    fn release(&mut self, from: Rank) {
        self.with_windows(|windows| windows.release(from));
    }

    fn close(&mut self, to: Rank) -> Result<(), CommError> {
        self.with_windows(|windows| windows.close(to)).unwrap_or_else(|| self.with(|_| Ok(())))
    }

    fn withdraw(&mut self) {
        self.with_windows(|windows| windows.withdraw());
    }
}
