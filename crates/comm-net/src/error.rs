//! What can go wrong between processes.

use std::fmt;
use std::time::Duration;

use pantile_comm::Rank;

use crate::frame::FrameError;

/// Why processes could not be brought together, or a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetError {
    /// A text is no address, or its name is not known.
    Address {
        /// The text.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The system refused.
    System {
        /// What it was asked for.
        what: &'static str,
        /// The address it was about.
        address: String,
        /// What it answered.
        reason: String,
    },
    /// Connections without protection are for this machine only, unless they are asked for.
    Unprotected {
        /// The address of another machine, or of all.
        address: String,
    },
    /// The other side refuses this connection.
    Refused {
        /// Its address.
        address: String,
        /// Why.
        refusal: Refusal,
    },
    /// The other side did not answer in time.
    Late {
        /// What was waited for.
        what: &'static str,
        /// Its address.
        address: String,
        /// How long.
        waited: Duration,
    },
    /// The other side has closed the connection.
    Closed {
        /// Its address.
        address: String,
    },
    /// What came is no frame, or none that is allowed here.
    Frame {
        /// Where it came from.
        address: String,
        /// What is wrong with it.
        error: FrameError,
    },
    /// A rank of a world did not come.
    Absent {
        /// Which.
        rank: Rank,
        /// Where it should have been.
        address: String,
        /// How long it was waited for.
        waited: Duration,
        /// What the last attempt to reach it met.
        reason: String,
        /// True if this rank connects to it, false if it should have connected itself.
        outgoing: bool,
    },
    /// A join configuration does not fit its world.
    Join {
        /// The rank that it names.
        rank: Rank,
        /// How many addresses it has.
        size: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// Certificates or keys cannot be made, read or used.
    Keys {
        /// Which.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// A text is no token.
    Token {
        /// How many characters it has.
        characters: usize,
    },
}

impl fmt::Display for NetError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { address, reason } => {
                write!(out, "`{address}` is no address, expected HOST:PORT: {reason}")
            }
            Self::System { what, address, reason } => write!(out, "{what} {address}: {reason}"),
            Self::Unprotected { address } => write!(
                out,
                "{address} is not of this machine alone: expected certificates, or an explicit \
                 wish to go without"
            ),
            Self::Refused { address, refusal } => {
                write!(out, "{address} refused the connection: {refusal}")
            }
            Self::Late { what, address, waited } => {
                write!(out, "waited {waited:?} for {what} of {address}")
            }
            Self::Closed { address } => write!(out, "{address} has closed the connection"),
            Self::Frame { address, error } => write!(out, "from {address} came {error}"),
            Self::Absent { rank, address, waited, reason, .. } => write!(
                out,
                "rank {rank}, expected at {address}, did not come within {waited:?}: {reason}"
            ),
            Self::Join { rank, size, reason } => {
                write!(out, "rank {rank} cannot join a world of {size} addresses: {reason}")
            }
            Self::Keys { what, reason } => write!(out, "cannot use the {what}: {reason}"),
            Self::Token { characters } => write!(
                out,
                "a token has 64 hexadecimal digits, this text of {characters} characters has not"
            ),
        }
    }
}

impl std::error::Error for NetError {}

/// Why a connection is not wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not begin with a handshake.
    NoHandshake,
    /// It speaks another version of the protocol.
    Version {
        /// The version of the side that is told.
        ours: u16,
        /// The version of the other side.
        theirs: u16,
    },
    /// This process takes no connections of this kind.
    Kind,
    /// The rank that it asks for is not here, or not yet.
    Unknown,
    /// It does not know the secret.
    Secret,
    /// The place in the world does not exist, or is taken.
    Taken,
    /// It is not protected as it should be.
    Protection {
        /// What TLS says.
        reason: String,
    },
    /// Its handshake did not come in time, or it was evicted for others.
    Slow,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHandshake => write!(out, "no handshake"),
            Self::Version { ours, theirs } => {
                write!(out, "version {theirs} of the protocol, expected {ours}")
            }
            Self::Kind => write!(out, "no handler for connections of this kind"),
            Self::Unknown => write!(out, "the rank that was asked for is not here"),
            Self::Secret => write!(out, "a wrong token"),
            Self::Taken => write!(out, "no such place, or it is taken"),
            Self::Protection { reason } => write!(out, "not protected as it should be: {reason}"),
            Self::Slow => write!(out, "no handshake in time"),
        }
    }
}
