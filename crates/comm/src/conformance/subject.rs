//! The end that a case works with: every error says at which line of the case it came.

use std::panic::Location;

use super::error::{CaseError, Claim};
use crate::sim::generator::{Generator, mix};
use crate::{
    CollectiveSignature, CommError, IoVec, MemoryBlock, MemorySlice, Rank, Tag, Ticket, Transport,
    Windows, raw,
};

/// What a case reports about one rank.
pub(super) type CaseVerdict = Result<(), CaseError>;

/// Lengths of bodies around everything that a transport may treat in its own way: nothing, a byte,
/// a packet with and without its envelope, a page, more than fits into any buffer.
pub(super) const LENGTHS: [usize; 8] = [0, 1, 895, 896, 897, 1024, 64 << 10, (1 << 20) + 3];

/// One rank's end, with the sends that were not yet waited for.
pub(super) struct Subject<'a> {
    pub(super) transport: &'a mut dyn Transport,
    sends: Vec<Ticket>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(transport: &'a mut dyn Transport) -> Self {
        Self { transport, sends: Vec::new() }
    }

    pub(super) fn rank(&self) -> Rank {
        self.transport.rank()
    }

    pub(super) fn size(&self) -> usize {
        self.transport.size()
    }

    /// The rank after this one, around the ring.
    pub(super) fn right(&self) -> Rank {
        (self.rank() + 1) % self.size()
    }

    /// The rank before this one, around the ring.
    pub(super) fn left(&self) -> Rank {
        (self.rank() + self.size() - 1) % self.size()
    }

    /// All ranks but this one, each rank starting with its right neighbour.
    pub(super) fn others(&self) -> Vec<Rank> {
        (1..self.size()).map(|distance| (self.rank() + distance) % self.size()).collect()
    }

    #[track_caller]
    pub(super) fn enter(&mut self, call: &CollectiveSignature) -> CaseVerdict {
        told(self.transport.enter(call))
    }

    /// Waits for all sends, and leaves the call.
    #[track_caller]
    pub(super) fn leave(&mut self) -> CaseVerdict {
        self.sent()?;
        self.transport.leave();
        Ok(())
    }

    #[track_caller]
    pub(super) fn send(&mut self, to: Rank, tag: u16, body: &[u8]) -> CaseVerdict {
        self.send_slice(to, tag, &MemorySlice::copied_from(body))
    }

    #[track_caller]
    pub(super) fn send_slice(&mut self, to: Rank, tag: u16, body: &MemorySlice) -> CaseVerdict {
        let ticket = told(self.transport.post_send(to, Tag(tag), body))?;
        self.sends.push(ticket);
        Ok(())
    }

    #[track_caller]
    pub(super) fn send_vectored(&mut self, to: Rank, tag: u16, body: &IoVec) -> CaseVerdict {
        let ticket = told(self.transport.post_send_vectored(to, Tag(tag), body))?;
        self.sends.push(ticket);
        Ok(())
    }

    /// Waits for all sends so far.
    #[track_caller]
    pub(super) fn sent(&mut self) -> CaseVerdict {
        while let Some(ticket) = self.sends.pop() {
            told(self.transport.wait(ticket))?;
        }
        Ok(())
    }

    /// The ticket of the last send, which is then not waited for by [`Subject::sent`].
    pub(super) fn last_send(&mut self) -> Ticket {
        self.sends.pop().expect("something was sent")
    }

    /// Makes room for a message.
    #[track_caller]
    pub(super) fn room(
        &mut self,
        from: Rank,
        tag: u16,
        bytes: usize,
    ) -> Result<ReceiveBuffer, CaseError> {
        self.post_receive_into(from, tag, &MemoryBlock::zeroed(bytes).whole())
    }

    /// Makes room in a slice.
    #[track_caller]
    pub(super) fn post_receive_into(
        &mut self,
        from: Rank,
        tag: u16,
        room: &MemorySlice,
    ) -> Result<ReceiveBuffer, CaseError> {
        let ticket = told(self.transport.post_receive(from, Tag(tag), room))?;
        Ok(ReceiveBuffer { ticket, slice: room.clone() })
    }

    /// Waits for a message, which must have these bytes.
    #[track_caller]
    pub(super) fn wait(&mut self, room: &ReceiveBuffer, expected: &[u8]) -> CaseVerdict {
        told(self.transport.wait(room.ticket))?;
        same(&read(&room.slice), expected)
    }

    #[track_caller]
    pub(super) fn is_done(&mut self, ticket: Ticket) -> Result<bool, CaseError> {
        told(self.transport.is_done(ticket))
    }

    /// Makes room and waits.
    #[track_caller]
    pub(super) fn take(&mut self, from: Rank, tag: u16, expected: &[u8]) -> CaseVerdict {
        let room = self.room(from, tag, expected.len())?;
        self.wait(&room, expected)
    }

    /// Takes a message of any length, which must have these bytes.
    #[track_caller]
    pub(super) fn take_any(&mut self, from: Rank, tag: u16, expected: &[u8]) -> CaseVerdict {
        same(&told(self.transport.receive_any(from, Tag(tag)))?, expected)
    }

    pub(super) fn windows(&mut self) -> Option<&mut dyn Windows> {
        self.transport.windows()
    }
}

/// A buffer for a message that is on its way.
pub(super) struct ReceiveBuffer {
    pub(super) ticket: Ticket,
    slice: MemorySlice,
}

/// What a call returned, or where it failed.
#[track_caller]
pub(super) fn told<T>(result: Result<T, CommError>) -> Result<T, CaseError> {
    let place = Location::caller();
    result.map_err(|error| CaseError::CallAt { line: place.line(), file: place.file(), error })
}

/// A claim about what was seen.
#[track_caller]
pub(super) fn claim(holds: bool, what: impl Into<Claim>) -> CaseVerdict {
    if holds { Ok(()) } else { Err(refuted(what)) }
}

/// A claim that does not hold.
#[track_caller]
pub(super) fn refuted(what: impl Into<Claim>) -> CaseError {
    let place = Location::caller();
    CaseError::Claim { line: place.line(), file: place.file(), claim: Box::new(what.into()) }
}

/// Compares bytes, and says where they differ.
#[track_caller]
pub(super) fn same(got: &[u8], expected: &[u8]) -> CaseVerdict {
    if got.len() != expected.len() {
        return claim(false, Claim::Length { got: got.len(), expected: expected.len() });
    }
    let differs = got.iter().zip(expected).position(|(got, expected)| got != expected);
    match differs {
        Some(at) => {
            let (got, bytes, expected) = (got[at], got.len(), expected[at]);
            claim(false, Claim::Byte { at, bytes, got, expected })
        }
        None => Ok(()),
    }
}

/// The bytes that `from` sends `to` as message number `index` of a case.
pub(super) fn text(from: Rank, to: Rank, index: usize, bytes: usize) -> Vec<u8> {
    let seed = [from, to, index].iter().fold(7, |seed, &part| mix(seed ^ mix(part as u64)));
    let mut generator = Generator::new(seed);
    let mut text = Vec::with_capacity(bytes + 8);
    while text.len() < bytes {
        text.extend_from_slice(&generator.next().to_le_bytes());
    }
    text.truncate(bytes);
    text
}

/// A copy of a slice that no message is filling any more: of a room after its wait, of shown memory
/// between look and done.
pub(super) fn read(slice: &MemorySlice) -> Vec<u8> {
    raw::copied(slice)
}

/// Changes all of a slice that no message and no window uses.
pub(super) fn write(slice: &MemorySlice, bytes: &[u8]) {
    raw::fill(slice, bytes);
}
