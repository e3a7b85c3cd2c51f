//! The memory of messages, as bytes.

use std::io::{self, IoSlice, IoSliceMut};
use std::ops::Range;

use pantile_comm::{IoVec, MemoryBlock, MemorySlice};

use crate::raw::{body, body_slices, room, room_slices};
use crate::wire::Wire;

/// Slices that are given to the system at once: with ranges of a few KiB that is as much as a
/// socket has space for.
const SLICES_MAX: usize = 64;

/// The memory of one message that was posted and whose wait is not over: a body, or a room.
pub(crate) enum MessageBuffer {
    Contiguous(MemorySlice),
    Vectored(IoVec),
}

impl MessageBuffer {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Contiguous(piece) => piece.len(),
            Self::Vectored(scattered) => scattered.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds bytes of a body to a vector.
    pub(crate) fn append_to(&self, range: Range<usize>, vector: &mut Vec<u8>) {
        match self {
            Self::Contiguous(piece) => vector.extend_from_slice(body(piece, range)),
            Self::Vectored(scattered) => {
                body_slices(scattered, range).for_each(|slice| vector.extend_from_slice(slice));
            }
        }
    }

    /// Puts bytes into a room, from byte `at` of it on.
    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) {
        let (range, mut left) = (at..at + bytes.len(), bytes);
        match self {
            Self::Contiguous(piece) => room(piece, range).copy_from_slice(bytes),
            Self::Vectored(scattered) => room_slices(scattered, range).for_each(|slice| {
                let (these, others) = left.split_at(slice.len());
                slice.copy_from_slice(these);
                left = others;
            }),
        }
    }

    /// Writes what there is space for of a preamble and of bytes of a body.
    pub(crate) fn write(
        &self,
        wire: &Wire,
        preamble: &[u8],
        range: Range<usize>,
    ) -> io::Result<usize> {
        match self {
            Self::Contiguous(piece) => {
                wire.try_write(&[IoSlice::new(preamble), IoSlice::new(body(piece, range))])
            }
            Self::Vectored(scattered) => {
                let mut slices = [IoSlice::new(preamble); SLICES_MAX];
                let mut count = 1;
                for (slot, slice) in slices[1..].iter_mut().zip(body_slices(scattered, range)) {
                    *slot = IoSlice::new(slice);
                    count += 1;
                }
                wire.try_write(&slices[..count])
            }
        }
    }

    /// Reads what has come into bytes of a room: how much, and whether that is all there was place
    /// for.
    pub(crate) fn read(&mut self, wire: &Wire, range: Range<usize>) -> io::Result<(usize, bool)> {
        match self {
            Self::Contiguous(piece) => {
                let room = room(piece, range);
                wire.try_read(room).map(|count| (count, count == room.len()))
            }
            Self::Vectored(scattered) => {
                let mut slices: [IoSliceMut<'_>; SLICES_MAX] =
                    std::array::from_fn(|_| IoSliceMut::new(&mut []));
                let (mut count, mut most) = (0, 0);
                for (slot, slice) in slices.iter_mut().zip(room_slices(scattered, range)) {
                    most += slice.len();
                    *slot = IoSliceMut::new(slice);
                    count += 1;
                }
                wire.try_read_vectored(&mut slices[..count]).map(|count| (count, count == most))
            }
        }
    }
}

/// Room for a message of any length, which becomes a vector; nothing if there is not so much
/// memory.
pub(crate) fn vector_buffer(bytes: usize) -> Option<MessageBuffer> {
    let mut vector: Vec<u8> = Vec::new();
    vector.try_reserve_exact(bytes).ok()?;
    vector.resize(bytes, 0);
    Some(MessageBuffer::Contiguous(MemoryBlock::from_vec(vector).whole()))
}

/// The vector that [`vector_buffer`] made room of.
pub(crate) fn into_vector(buffer: MessageBuffer) -> Vec<u8> {
    let memory = match &buffer {
        MessageBuffer::Contiguous(piece) => piece.memory().clone(),
        MessageBuffer::Vectored(scattered) => scattered.memory().clone(),
    };
    drop(buffer);
    let owner = memory.into_owner().ok().and_then(|owner| owner.downcast::<Vec<u8>>().ok());
    *owner.expect("the room of one message was made of a vector, and is referred to once")
}

#[cfg(test)]
mod tests {
    use pantile_comm::Ranges;

    use super::*;

    #[test]
    fn a_vector_is_written_as_a_room_and_comes_back() {
        let mut buffer = vector_buffer(5).unwrap();
        buffer.put(1, &[7, 8]);
        let mut copy = vec![1];
        buffer.append_to(0..5, &mut copy);
        assert_eq!(copy, [1, 0, 7, 8, 0, 0]);
        assert_eq!(into_vector(buffer), [0, 7, 8, 0, 0]);
        assert!(into_vector(vector_buffer(0).unwrap()).is_empty());
        assert!(vector_buffer(usize::MAX).is_none());
    }

    #[test]
    fn bytes_are_put_into_ranges_and_taken_out_of_them() {
        let (memory, ranges) = (MemoryBlock::zeroed(9), Ranges::ascending([1..3, 4..7]).unwrap());
        let mut buffer = MessageBuffer::Vectored(memory.io_vec(&ranges));
        buffer.put(1, &[1, 2, 3]);
        let mut copy = Vec::new();
        buffer.append_to(0..5, &mut copy);
        buffer.append_to(2..3, &mut copy);
        assert_eq!((buffer.len(), copy), (5, vec![0, 1, 2, 3, 0, 2]));
        assert_eq!(body(&memory.whole(), 0..9), [0, 0, 1, 0, 2, 3, 0, 0, 0]);
    }
}
