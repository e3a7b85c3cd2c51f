//! Dialling: to a connection on which both sides have greeted each other.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::connection::{Connection, refused};
use crate::error::Refusal;
use crate::greeting::{ANSWER_BYTES, Greeting, NOTE_MAX, decode_answer};
use crate::security::Security;
use crate::wire::{Halt, Wire};
use crate::{FrameError, NetError};

/// Connects to a hub at `HOST:PORT` and greets it; all of it within `deadline`.
///
/// # Errors
/// [`NetError::Address`], [`NetError::Unprotected`], [`NetError::System`], [`NetError::Late`], or
/// [`NetError::Refused`] with what the other side has against it.
pub fn dial(
    address: &str,
    security: &Security,
    greeting: &Greeting,
    deadline: Duration,
) -> Result<Connection, NetError> {
    let until = Instant::now() + deadline;
    dial_wire(address, security, greeting, until).map(Connection::new)
}

/// The same, as a wire.
pub(crate) fn dial_wire(
    address: &str,
    security: &Security,
    greeting: &Greeting,
    until: Instant,
) -> Result<Wire, NetError> {
    if greeting.note.len() > NOTE_MAX {
        let (got, most) = (greeting.note.len() as u64, NOTE_MAX as u64);
        let error = FrameError::TooLong { part: "note", got, most };
        return Err(NetError::Frame { address: address.to_owned(), error });
    }
    let started = Instant::now();
    let late =
        |what| NetError::Late { what, address: address.to_owned(), waited: started.elapsed() };
    let (host, found) = resolve(address)?;
    let socket = connect(address, &found, security, until)?;
    let protected = security.dialled(socket, host, until);
    let wire = protected.map_err(|halt| match halt {
        Halt::Late => late("protection"),
        Halt::Io(error) => unprotected(address, error.to_string()),
        _ => unprotected(address, "the connection was closed".to_owned()),
    })?;
    let sent = wire.write_all(&[&greeting.encode()], until);
    sent.map_err(|halt| refused(halt, &wire, "space for a greeting", started.elapsed()))?;
    let mut answer = [0; ANSWER_BYTES];
    let read = wire.read_exact(&mut answer, until);
    read.map_err(|halt| match halt {
        Halt::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            unprotected(address, error.to_string())
        }
        halt => refused(halt, &wire, "an answer to the greeting", started.elapsed()),
    })?;
    let told = |refusal| NetError::Refused { address: address.to_owned(), refusal };
    decode_answer(&answer).map_err(told)?;
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

fn connect(
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
