//! Connections outside of worlds: frames, sent and received by ordinary threads.

use std::fmt;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::NetError;
use crate::frame::{BODY_MAX, FrameError, FramePrefix, HEADER_MAX, PREFIX_BYTES};
use crate::wire::{Halt, Wire};

/// How long one frame may take, unless a connection is told otherwise.
const DEADLINE: Duration = Duration::from_secs(30);

/// A received frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFrame {
    /// What it means to the two sides.
    pub kind: u16,
    /// Small things.
    pub header: Vec<u8>,
    /// Large things.
    pub body: Vec<u8>,
}

/// A connection whose handshake is done.
///
/// Every call has an end: the deadline. After [`NetError::Late`] before the first byte of a frame
/// one may go on waiting; after any other error the connection is over. Dropping it, or both of its
/// halves, closes it.
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
}

/// The half of a connection that sends.
pub struct Sender {
    wire: Arc<Wire>,
    deadline: Duration,
    body_max: usize,
    broken: bool,
}

/// The half of a connection that receives.
pub struct Receiver {
    wire: Arc<Wire>,
    deadline: Duration,
    body_max: usize,
    /// Bytes of a body that were not received yet.
    left: usize,
    broken: bool,
}

impl Connection {
    pub(crate) fn new(wire: Wire) -> Self {
        let wire = Arc::new(wire);
        let (deadline, body_max) = (DEADLINE, BODY_MAX);
        let sender = Sender { wire: Arc::clone(&wire), deadline, body_max, broken: false };
        Self { sender, receiver: Receiver { wire, deadline, body_max, left: 0, broken: false } }
    }

    /// The same connection, on which one frame may take so long.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.sender.set_deadline(deadline);
        self.receiver.set_deadline(deadline);
        self
    }

    /// The same connection with another bound on bodies; must be the same on both sides.
    #[must_use]
    pub fn with_body_max(mut self, bytes: usize) -> Self {
        (self.sender.body_max, self.receiver.body_max) = (bytes, bytes);
        self
    }

    /// Address of the other side.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.sender.wire.peer()
    }

    /// Sends a frame; see [`Sender::send`].
    ///
    /// # Errors
    /// As there.
    pub fn send(&mut self, kind: u16, header: &[u8], body: &[&[u8]]) -> Result<(), NetError> {
        self.sender.send(kind, header, body)
    }

    /// Receives a frame; see [`Receiver::receive`].
    ///
    /// # Errors
    /// As there.
    pub fn receive(&mut self) -> Result<ReceivedFrame, NetError> {
        self.receiver.receive()
    }

    /// The halves, for two threads.
    #[must_use]
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }

    /// The half that sends.
    pub fn sender(&mut self) -> &mut Sender {
        &mut self.sender
    }

    /// The half that receives.
    pub fn receiver(&mut self) -> &mut Receiver {
        &mut self.receiver
    }

    /// Something with which another thread can end the connection.
    #[must_use]
    pub fn closer(&self) -> Closer {
        Closer { wire: Arc::clone(&self.sender.wire) }
    }
}

impl Sender {
    /// Sends a frame, its body straight from the parts that it is made of, in order.
    ///
    /// # Errors
    /// [`NetError::Frame`] if header or body are too long, in which case nothing was sent;
    /// [`NetError::Late`], [`NetError::Closed`] or [`NetError::System`] if they did not go.
    pub fn send(&mut self, kind: u16, header: &[u8], body: &[&[u8]]) -> Result<(), NetError> {
        let bytes = body.iter().map(|part| part.len()).sum();
        let long = |part, got: usize, most: usize| {
            let error = FrameError::TooLong { part, got: got as u64, most: most as u64 };
            Err(NetError::Frame { address: self.wire.peer().to_string(), error })
        };
        if self.broken {
            return Err(NetError::Closed { address: self.wire.peer().to_string() });
        }
        if header.len() > HEADER_MAX {
            return long("header", header.len(), HEADER_MAX);
        }
        if bytes > self.body_max {
            return long("body", bytes, self.body_max);
        }
        let prefix = FramePrefix { kind, header: header.len(), body: bytes }.encode();
        let mut parts: Vec<&[u8]> = Vec::with_capacity(2 + body.len());
        parts.extend([&prefix[..], header]);
        parts.extend_from_slice(body);
        parts.retain(|part| !part.is_empty());
        let sent = self.wire.write_all(&parts, Instant::now() + self.deadline);
        self.broken = sent.is_err();
        sent.map_err(|halt| refused(halt, &self.wire, "space for a frame", self.deadline))
    }

    /// From now on one frame may take so long.
    pub fn set_deadline(&mut self, deadline: Duration) {
        self.deadline = deadline;
    }

    /// Says that nothing more will be sent; the other side receives [`NetError::Closed`].
    pub fn finish(mut self) {
        self.broken = true;
        self.wire.finish();
    }
}

impl Receiver {
    /// Receives a frame with all of its body.
    ///
    /// # Errors
    /// [`NetError::Late`] if none began in time; [`NetError::Closed`] if the other side has closed;
    /// [`NetError::Frame`] if what came is none, is too long or was cut; [`NetError::System`].
    pub fn receive(&mut self) -> Result<ReceivedFrame, NetError> {
        let (prefix, header) = self.receive_header()?;
        let mut body = Vec::new();
        body.try_reserve_exact(prefix.body).map_err(|_| NetError::System {
            what: "room for a frame from",
            address: self.wire.peer().to_string(),
            reason: format!("there is no memory of {} bytes", prefix.body),
        })?;
        body.resize(prefix.body, 0);
        self.receive_body(&mut body)?;
        Ok(ReceivedFrame { kind: prefix.kind, header, body })
    }

    /// Receives the header of the next frame. What was left of the body before is skipped.
    ///
    /// # Errors
    /// As [`Receiver::receive`].
    pub fn receive_header(&mut self) -> Result<(FramePrefix, Vec<u8>), NetError> {
        let until = Instant::now() + self.deadline;
        let mut skipped = [0; 4096];
        while self.left > 0 {
            let part = self.left.min(skipped.len());
            self.receive_body(&mut skipped[..part])?;
        }
        if self.broken {
            return Err(NetError::Closed { address: self.wire.peer().to_string() });
        }
        let mut prefix = [0; PREFIX_BYTES];
        match self.wire.read_exact(&mut prefix, until) {
            Err(Halt::Late) => return Err(self.refuse(Halt::Late)),
            got => got.map_err(|halt| self.spoil(halt))?,
        }
        let prefix = FramePrefix::decode(&prefix, self.body_max)
            .and_then(|prefix| prefix.ok_or(FrameError::Cut { missing: PREFIX_BYTES }));
        let prefix = prefix.map_err(|error| {
            self.broken = true;
            NetError::Frame { address: self.wire.peer().to_string(), error }
        })?;
        let mut header = vec![0; prefix.header];
        self.read_rest(&mut header, until)?;
        self.left = prefix.body;
        Ok((prefix, header))
    }

    /// Receives the next bytes of the body, straight into their place.
    ///
    /// # Errors
    /// As [`Receiver::receive`]; also if there are not so many left, in which case none was taken.
    pub fn receive_body(&mut self, room: &mut [u8]) -> Result<(), NetError> {
        if room.len() > self.left {
            let (got, most) = (room.len() as u64, self.left as u64);
            let error = FrameError::TooLong { part: "body", got, most };
            return Err(NetError::Frame { address: self.wire.peer().to_string(), error });
        }
        self.read_rest(room, Instant::now() + self.deadline)?;
        self.left -= room.len();
        Ok(())
    }

    /// From now on one frame may take so long.
    pub fn set_deadline(&mut self, deadline: Duration) {
        self.deadline = deadline;
    }

    /// Reads what has to follow what was read before.
    fn read_rest(&mut self, room: &mut [u8], until: Instant) -> Result<(), NetError> {
        let missing = room.len();
        let read = self.wire.read_exact(room, until);
        read.map_err(|halt| match halt {
            Halt::Late | Halt::Closed => self.spoil(Halt::Cut(missing)),
            halt => self.spoil(halt),
        })
    }

    fn spoil(&mut self, halt: Halt) -> NetError {
        self.broken = true;
        self.left = 0;
        self.refuse(halt)
    }

    fn refuse(&self, halt: Halt) -> NetError {
        refused(halt, &self.wire, "a frame", self.deadline)
    }
}

/// Ends a connection from another thread.
#[derive(Clone)]
pub struct Closer {
    wire: Arc<Wire>,
}

impl Closer {
    /// Ends the connection; both of its sides are told.
    pub fn close(&self) {
        self.wire.cut();
    }
}

/// What became of a wait, in words.
pub(crate) fn refused(halt: Halt, wire: &Wire, what: &'static str, waited: Duration) -> NetError {
    let address = wire.peer().to_string();
    match halt {
        Halt::Late => NetError::Late { what, address, waited },
        Halt::Closed => NetError::Closed { address },
        Halt::Cut(missing) => NetError::Frame { address, error: FrameError::Cut { missing } },
        Halt::Io(error) => match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
                NetError::Closed { address }
            }
            _ => NetError::System { what, address, reason: error.to_string() },
        },
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Connection({})", self.peer())
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Sender({})", self.wire.peer())
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Receiver({})", self.wire.peer())
    }
}
