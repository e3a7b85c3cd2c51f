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

use pantile_comm_net::{Connection, NetError};
use pantile_engine::{DType, Pool, Tile};

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
    Rejected(String),
}

impl From<NetError> for DataError {
    fn from(error: NetError) -> Self {
        Self::Net(error)
    }
}

impl std::fmt::Display for DataError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Net(error) => error.fmt(out),
            Self::Rejected(reason) => out.write_str(reason),
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
pub(crate) fn decode_size(bytes: &[u8], bytes_max: u64) -> Result<(DType, usize), String> {
    let parts = bytes.split_first_chunk();
    let (elements, name) = parts.ok_or("a size of less than 8 bytes")?;
    let name = std::str::from_utf8(name).map_err(|_| "a type that is no text")?;
    let dtype: DType = name.parse().map_err(|_| format!("got a type `{name:.20}`"))?;
    let elements = u64::from_le_bytes(*elements);
    let all = elements.checked_mul(dtype.bytes() as u64).filter(|all| *all <= bytes_max);
    match (all, usize::try_from(elements)) {
        (Some(_), Ok(elements)) => Ok((dtype, elements)),
        _ => Err(format!("got {elements} elements of {dtype}, expected at most {bytes_max} bytes")),
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
                let text = format!("got a frame of {} bytes, expected elements", prefix.body);
                return Err(DataError::Rejected(text));
            }
            let (part, rest) = room.split_at_mut(prefix.body);
            receiver.receive_body(part)?;
            room = rest;
        }
        Ok(())
    })?;
    tile.ok_or_else(|| DataError::Rejected("got bytes that are no truth values".to_owned()))
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
        assert!(decode_size(&size, 39).unwrap_err().contains("at most 39 bytes"));
        assert!(decode_size(&size[..7], 40).is_err());
        assert!(decode_size(b"12345678\xff", 1 << 62).unwrap_err().contains("no text"));
        assert!(decode_size(b"\0\0\0\0\0\0\0\0f99", 1).unwrap_err().contains("`f99`"));
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
