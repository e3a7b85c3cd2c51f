//! How elements travel between a client and the worker that hosts a rank: frames of a few MiB, one
//! array of one rank at a time, asked for and answered in turn.
//!
//! ```text
//! client                                  worker
//! PUT  rank, array, type, elements ────►
//! BODY … BODY                      ────►
//!                                  ◄────  DONE | FAULT text
//! GET  rank, array                 ────►
//!                                  ◄────  SIZE type, elements | FAULT text
//!                                  ◄────  BODY … BODY
//! ```

use std::fmt;

use pantile_comm_net::{Connection, NetError};
use pantile_engine::{DType, Pool, Tile};

use crate::worker::{MemoryShortage, PutError};

/// The kind of these connections.
pub(crate) const KIND: u16 = 1;

pub(crate) const PUT: u16 = 1;
pub(crate) const GET: u16 = 2;
pub(crate) const SIZE: u16 = 3;
pub(crate) const BODY: u16 = 4;
pub(crate) const DONE: u16 = 5;
pub(crate) const FAULT: u16 = 6;

/// Bytes of a frame unless told otherwise.
pub(crate) const FRAME: usize = 4 << 20;

/// Why elements did not arrive.
#[derive(Debug)]
pub(crate) enum DataError {
    /// The connection is over.
    Net(NetError),
    /// The other side says what is wrong; the connection goes on.
    Refused(String),
    /// What is announced is no type and number of elements.
    Size(SizeError),
    /// A frame of so many bytes that are not the next elements.
    Frame { bytes: usize },
    /// A frame of another kind than the protocol allows here.
    Kind(u16),
    /// Bytes that are no elements of the type bool.
    NotBool,
    /// The rank has ended.
    RankGone,
    /// There is not so much memory.
    Shortage(MemoryShortage),
    /// The rank does not keep what came.
    Put(PutError),
    /// A thread of the client panicked.
    Panicked,
}

/// Why bytes do not say the type and number of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SizeError {
    /// There is no number.
    Short,
    /// The type is no UTF-8.
    NotText,
    /// No element type has this name.
    UnknownType { name: String },
    /// There are more bytes than there may be.
    TooMany { elements: u64, dtype: DType, bytes_max: u64 },
}

impl fmt::Display for SizeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => out.write_str("a size of less than 8 bytes"),
            Self::NotText => out.write_str("a type that is no text"),
            Self::UnknownType { name } => write!(out, "got a type `{name}`"),
            Self::TooMany { elements, dtype, bytes_max } => {
                write!(
                    out,
                    "got {elements} elements of {dtype}, expected at most {bytes_max} bytes"
                )
            }
        }
    }
}

impl From<NetError> for DataError {
    fn from(error: NetError) -> Self {
        Self::Net(error)
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Net(error) => error.fmt(out),
            Self::Refused(reason) => out.write_str(reason),
            Self::Size(error) => error.fmt(out),
            Self::Frame { bytes } => write!(out, "got a frame of {bytes} bytes, expected elements"),
            Self::Kind(kind) => write!(out, "got a frame of kind {kind}"),
            Self::NotBool => out.write_str("got bytes that are no truth values"),
            Self::RankGone => out.write_str("the rank is not there any more"),
            Self::Shortage(shortage) => write!(out, "an upload {shortage}"),
            Self::Put(error) => error.fmt(out),
            Self::Panicked => out.write_str("a panic while elements travelled"),
        }
    }
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayKey {
    pub(crate) rank: u64,
    pub(crate) array: u64,
}

impl ArrayKey {
    pub(crate) fn encode(self) -> Vec<u8> {
        [self.rank.to_le_bytes(), self.array.to_le_bytes()].concat()
    }

    /// What it is about, and the rest; nothing if it is too short.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (rank, rest) = bytes.split_first_chunk()?;
        let (array, rest) = rest.split_first_chunk()?;
        Some((Self { rank: u64::from_le_bytes(*rank), array: u64::from_le_bytes(*array) }, rest))
    }
}

/// Type and number of elements.
pub(crate) fn encode_size(dtype: DType, elements: usize) -> Vec<u8> {
    let mut bytes = (elements as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(dtype.to_string().as_bytes());
    bytes
}

/// Type and number of elements, if they are said and fit into this many bytes.
pub(crate) fn decode_size(bytes: &[u8], bytes_max: u64) -> Result<(DType, usize), SizeError> {
    let parts = bytes.split_first_chunk();
    let (elements, name) = parts.ok_or(SizeError::Short)?;
    let name = std::str::from_utf8(name).map_err(|_| SizeError::NotText)?;
    let unknown = |_| SizeError::UnknownType { name: name.chars().take(20).collect() };
    let dtype: DType = name.parse().map_err(unknown)?;
    let elements = u64::from_le_bytes(*elements);
    let all = elements.checked_mul(dtype.bytes() as u64).filter(|all| *all <= bytes_max);
    match (all, usize::try_from(elements)) {
        (Some(_), Ok(elements)) => Ok((dtype, elements)),
        _ => Err(SizeError::TooMany { elements, dtype, bytes_max }),
    }
}

/// Sends the elements of a tile, in frames of so many bytes.
pub(crate) fn send_body(
    connection: &mut Connection,
    tile: &Tile,
    frame: usize,
) -> Result<(), NetError> {
    for part in tile.as_bytes().chunks(frame.max(1)) {
        connection.send(BODY, &[], &[part])?;
    }
    Ok(())
}

/// Receives elements straight into a tile of a pool.
pub(crate) fn receive_body(
    connection: &mut Connection,
    pool: &Pool,
    (dtype, elements): (DType, usize),
) -> Result<Tile, DataError> {
    let receiver = connection.receiver();
    let tile = pool.filled(dtype, elements, |mut room| {
        while !room.is_empty() {
            let (prefix, _) = receiver.receive_header()?;
            if prefix.kind != BODY || prefix.body == 0 || prefix.body > room.len() {
                return Err(DataError::Frame { bytes: prefix.body });
            }
            let (part, rest) = room.split_at_mut(prefix.body);
            receiver.receive_body(part)?;
            room = rest;
        }
        Ok(())
    })?;
    tile.ok_or(DataError::NotBool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_they_were_written_and_others_refused() {
        let key = ArrayKey { rank: 3, array: u64::MAX };
        assert_eq!(ArrayKey::decode(&key.encode()), Some((key, &[][..])));
        assert_eq!(ArrayKey::decode(&key.encode()[..15]), None);
        let size = encode_size(DType::C64, 5);
        assert_eq!(decode_size(&size, 40), Ok((DType::C64, 5)));
        let many = SizeError::TooMany { elements: 5, dtype: DType::C64, bytes_max: 39 };
        assert_eq!(many.to_string(), "got 5 elements of c64, expected at most 39 bytes");
        assert_eq!(decode_size(&size, 39), Err(many));
        assert_eq!(decode_size(&size[..7], 40), Err(SizeError::Short));
        assert_eq!(decode_size(b"12345678\xff", 1 << 62), Err(SizeError::NotText));
        let unknown = SizeError::UnknownType { name: "f99".to_owned() };
        assert_eq!(unknown.to_string(), "got a type `f99`");
        assert_eq!(decode_size(b"\0\0\0\0\0\0\0\0f99", 1), Err(unknown));
        assert!(decode_size(&encode_size(DType::F64, usize::MAX), u64::MAX).is_err());
    }

    #[test]
    fn sizes_beyond_32_bits_are_sizes() {
        for elements in [u32::MAX as usize, (1 << 32) + 1, 5 << 30, 1 << 40] {
            let size = encode_size(DType::C128, elements);
            assert_eq!(decode_size(&size, u64::MAX), Ok((DType::C128, elements)));
            let bytes = 16 * elements as u64;
            assert_eq!(decode_size(&size, bytes), Ok((DType::C128, elements)));
            assert!(decode_size(&size, bytes - 1).is_err());
            // A bound that was cut to 32 bits would let it in, or keep it out.
            assert!(decode_size(&size, bytes & u64::from(u32::MAX)).is_err());
        }
    }
}
