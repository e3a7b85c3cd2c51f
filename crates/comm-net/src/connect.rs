//! Connecting: to a connection whose handshake is done on both sides.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::connection::{Connection, refused};
use crate::error::Refusal;
use crate::handshake::{ANSWER_BYTES, Handshake, PAYLOAD_MAX, decode_answer};
use crate::security::Security;
use crate::wire::{Halt, Wire};
use crate::{FrameError, NetError};

/// Connects to a listener at `HOST:PORT` and does the handshake; all of it within `deadline`.
///
/// # Errors
/// [`NetError::Address`], [`NetError::Unprotected`], [`NetError::System`], [`NetError::Late`], or
/// [`NetError::Refused`] with what the other side has against it.
pub fn connect(
    address: &str,
    security: &Security,
    handshake: &Handshake,
    deadline: Duration,
) -> Result<Connection, NetError> {
    let until = Instant::now() + deadline;
    connect_wire(address, security, handshake, until).map(Connection::new)
}

/// The same, as a wire.
pub(crate) fn connect_wire(
    address: &str,
    security: &Security,
    handshake: &Handshake,
    until: Instant,
) -> Result<Wire, NetError> {
    if handshake.payload.len() > PAYLOAD_MAX {
        let (got, most) = (handshake.payload.len() as u64, PAYLOAD_MAX as u64);
        let error = FrameError::TooLong { part: "payload", got, most };
        return Err(NetError::Frame { address: address.to_owned(), error });
    }
    let started = Instant::now();
    let late =
        |what| NetError::Late { what, address: address.to_owned(), waited: started.elapsed() };
    let (host, found) = resolve(address)?;
    let socket = connect_tcp(address, &found, security, until)?;
    let protected = security.secure_outgoing(socket, host, until);
    let wire = protected.map_err(|halt| match halt {
        Halt::Late => late("protection"),
        Halt::Io(error) => unprotected(address, error.to_string()),
        _ => unprotected(address, "the connection was closed".to_owned()),
    })?;
    let sent = wire.write_all(&[&handshake.encode()], until);
    sent.map_err(|halt| refused(halt, &wire, "space for a handshake", started.elapsed()))?;
    let mut answer = [0; ANSWER_BYTES];
    let read = wire.read_exact(&mut answer, until);
    read.map_err(|halt| match halt {
        Halt::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            unprotected(address, error.to_string())
        }
        halt => refused(halt, &wire, "an answer to the handshake", started.elapsed()),
    })?;
    let activity = |refusal| NetError::Refused { address: address.to_owned(), refusal };
    decode_answer(&answer).map_err(activity)?;
    Ok(wire)
}

fn unprotected(address: &str, reason: String) -> NetError {
    let refusal = Refusal::Protection { reason };
    NetError::Refused { address: address.to_owned(), refusal }
}

/// The host of an address as it may stand in a certificate, and what it means.
pub(crate) fn resolve(address: &str) -> Result<(&str, Vec<SocketAddr>), NetError> {
    let wrong =
        |reason: &str| NetError::Address { address: address.to_owned(), reason: reason.to_owned() };
    let (host, _) = address.rsplit_once(':').ok_or_else(|| wrong("there is no port"))?;
    let found = address.to_socket_addrs().map_err(|error| wrong(&error.to_string()))?;
    let found: Vec<SocketAddr> = found.collect();
    if found.is_empty() {
        return Err(wrong("nothing has this name"));
    }
    Ok((host.trim_start_matches('[').trim_end_matches(']'), found))
}

fn connect_tcp(
    address: &str,
    found: &[SocketAddr],
    security: &Security,
    until: Instant,
) -> Result<TcpStream, NetError> {
    let mut last = None;
    for place in found {
        security.check(*place)?;
        // Zero is not a time that the system takes.
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        match TcpStream::connect_timeout(place, left) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Some(error.to_string()),
        }
    }
    let (address, reason) = (address.to_owned(), last.unwrap_or_default());
    Err(NetError::System { what: "connecting to", address, reason })
}
