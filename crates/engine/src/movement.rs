//! One rank's share of a movement, compiled.

use std::ops::Range;

use pantile_comm::{Ranges, Rank};
use pantile_geometry::Operator;
use pantile_kernels::pack::Twin;
use pantile_kernels::{DType, Nest};

/// Start of each message in the buffers: a cache line.
pub(crate) const LINE: usize = 64;

/// One rank's share of a movement for elements of one type: whom to talk to, and loops over local
/// memory. Made by an [`Engine`](crate::Engine) of any rank, it can be run by that rank as often as
/// one likes.
///
/// A movement along a path of distributions has one *hop* per step; between two hops the elements
/// lie in a *staging buffer* of the engine.
#[derive(Debug)]
#[must_use]
pub struct Movement {
    /// What users call it.
    pub(crate) name: &'static str,
    /// What all ranks have to agree on.
    pub(crate) fingerprint: u64,
    pub(crate) rank: Rank,
    pub(crate) dtype: DType,
    /// Elements in the source and in the target tile.
    pub(crate) lengths: (usize, usize),
    /// Elements of each staging buffer.
    pub(crate) staging: Vec<usize>,
    /// Bytes of message buffers.
    pub(crate) scratch: usize,
    pub(crate) parts: MessageParts,
    pub(crate) hops: Vec<Hop>,
    /// Source and target may be the same tile.
    pub(crate) in_place: bool,
}

impl Movement {
    /// Number of elements that the source tile of this rank has.
    #[must_use]
    pub fn source_len(&self) -> usize {
        self.lengths.0
    }

    /// Number of elements that the target tile of this rank has.
    #[must_use]
    pub fn target_len(&self) -> usize {
        self.lengths.1
    }

    /// Type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// True if source and target may be the same tile on this rank.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Bytes of one of the places of the buffers that take turns.
    pub(crate) fn place_bytes(&self) -> usize {
        (self.parts.elements * self.dtype.bytes()).next_multiple_of(LINE)
    }

    /// Messages that this rank sends to others, and their bytes; one that is cut is one.
    #[must_use]
    pub fn sends(&self) -> (usize, usize) {
        let sends = || self.hops.iter().flat_map(|hop| &hop.sends);
        (sends().count(), sends().map(|send| send.elements).sum::<usize>() * self.dtype.bytes())
    }
}

/// Where a hop reads from or writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HopPlace {
    Source,
    Staging(usize),
    Target,
}

/// One rank's share of one step.
#[derive(Debug)]
pub(crate) struct Hop {
    pub(crate) from: HopPlace,
    pub(crate) to: HopPlace,
    pub(crate) operator: Operator,
    /// Own cells that are kept before anything arrives: from memory to this byte of the buffers.
    pub(crate) save: Option<(usize, Nest)>,
    /// Filled before anything arrives.
    pub(crate) before: Option<Fill>,
    /// What others get; this rank itself is not among them.
    pub(crate) sends: Vec<Outgoing>,
    /// What arrives, this rank's own part included, in the order in which terms are combined.
    pub(crate) receives: Vec<Incoming>,
    /// Nothing is combined, so the order does not matter.
    pub(crate) any_order: bool,
    /// The first two arrivals in one pass, where they are terms of the same cells.
    pub(crate) twin: Option<Twin>,
    /// Filled with the identity when all messages have arrived.
    pub(crate) after: Option<Nest>,
    /// So much is written that it uses non-temporal (streaming) stores.
    pub(crate) streaming: bool,
}

impl Hop {
    /// What arrives where the order does not matter: the own part first, while the others get
    /// ready; then from the next rank on, so that not all ranks read from rank 0 first.
    pub(crate) fn by_turns(&self, me: Rank) -> impl Iterator<Item = &Incoming> {
        let own = self.receives.iter().filter(move |incoming| incoming.peer == me);
        let split = self.receives.partition_point(|incoming| incoming.peer <= me);
        let others = self.receives[split..].iter().chain(&self.receives[..split]);
        own.chain(others.filter(move |incoming| incoming.peer != me))
    }
}

/// Cells that are set to a value.
#[derive(Debug)]
pub(crate) struct Fill {
    pub(crate) nests: Vec<Nest>,
    /// The neutral start of combining, rather than the identity that readers see.
    pub(crate) start: bool,
}

/// What one peer gets.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) peer: Rank,
    pub(crate) elements: usize,
    /// The body of the message; where peers read the memory directly there is none.
    pub(crate) body: Option<MessageBody>,
}

/// Where the body of a message lies.
#[derive(Debug)]
pub(crate) enum MessageBody {
    /// Contiguous in the array's own memory, from this element on.
    InPlace(usize),
    /// Scattered in the array's own memory: the bytes of every part.
    Scattered(Vec<Ranges>),
    /// Packed into, or to be unpacked from, the message buffers at this byte.
    Packed { at: usize, nests: Vec<Nest> },
    /// Part by part through a few places of the message buffers that take turns, from this byte on:
    /// loops of every part. What was packed is still in the cache when it is sent, and what has
    /// arrived when it is unpacked.
    TripCount { at: usize, parts: Vec<Vec<Nest>> },
}

/// How long messages are cut.
///
/// All ranks cut alike, so that parts meet rooms of their size; which of them packs them by turns is
/// its own business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageParts {
    /// Elements of a part; a message of no more is not cut.
    pub(crate) elements: usize,
}

impl MessageParts {
    /// Places of the buffers that take turns.
    pub(crate) const TURNS: usize = 4;

    /// Parts of a message, at least one: an empty message is a message.
    pub(crate) fn count(self, elements: usize) -> usize {
        elements.div_ceil(self.elements).max(1)
    }

    /// The elements of one part of a message.
    pub(crate) fn range(self, part: usize, elements: usize) -> Range<usize> {
        let start = part.saturating_mul(self.elements).min(elements);
        start..start.saturating_add(self.elements).min(elements)
    }
}

/// What arrives from one peer.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) peer: Rank,
    pub(crate) elements: usize,
    pub(crate) parts: Vec<ArrivalPart>,
    /// Straight from the sender's memory, or by a message.
    pub(crate) body: Option<MessageBody>,
}

/// One piece of what arrives: loops from the sender's memory or from the message to this rank's.
#[derive(Debug)]
pub(crate) struct ArrivalPart {
    pub(crate) nest: Nest,
    /// The first term of its cells; later ones are combined with it.
    pub(crate) sets: bool,
    /// Comes from what was kept of the own cells.
    pub(crate) saved: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_tile_a_message_of_any_length() {
        for (part, elements) in [(3, 0), (3, 1), (3, 3), (3, 10), (1 << 15, (5 << 30) + 7)] {
            let parts = MessageParts { elements: part };
            let (mut at, count) = (0, parts.count(elements));
            for number in 0..count {
                let range = parts.range(number, elements);
                assert_eq!(range.start, at);
                assert!(range.len() == part || number + 1 == count);
                at = range.end;
            }
            assert_eq!(at, elements);
        }
        let whole = MessageParts { elements: usize::MAX };
        assert_eq!((whole.count(7), whole.range(0, 7)), (1, 0..7));
    }
}
