//! Why a cluster does not do what it should.

use std::fmt;

use pantile_comm_net::NetError;

/// Why a cluster does not do what it should.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClusterError {
    /// No process answers there, or not in the way that is expected.
    Connect {
        /// Where.
        address: String,
        /// What happened.
        reason: String,
    },
    /// The connection to the coordinator broke.
    Lost {
        /// Where it was.
        address: String,
        /// What happened.
        reason: String,
    },
    /// Listening there without certificates would admit any client.
    Unprotected {
        /// Where.
        address: String,
    },
    /// Keys or certificates cannot be used.
    Keys {
        /// Why.
        reason: String,
    },
    /// The address cannot be listened at.
    Listen {
        /// Where.
        address: String,
        /// Why.
        reason: String,
    },
    /// The other side refuses.
    Refused {
        /// Why.
        reason: String,
    },
    /// The connection between processes is over, or was never there.
    Net(NetError),
    /// Ranks could not do what was asked.
    Engine(pantile_engine::Error),
}

impl fmt::Display for ClusterError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { address, reason } => {
                write!(out, "no coordinator or worker at {address}: {reason}")
            }
            Self::Lost { address, reason } => {
                write!(out, "the coordinator at {address} is gone: {reason}")
            }
            Self::Unprotected { address } => write!(
                out,
                "{address} is not of this machine: give a folder of keys (`pantile cluster keys` \
                 makes them), or say --insecure"
            ),
            Self::Keys { reason } => write!(out, "keys cannot be used: {reason}"),
            Self::Listen { address, reason } => write!(out, "cannot listen at {address}: {reason}"),
            Self::Refused { reason } => write!(out, "refused: {reason}"),
            Self::Net(error) => error.fmt(out),
            Self::Engine(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for ClusterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Net(error) => Some(error),
            _ => None,
        }
    }
}

impl From<NetError> for ClusterError {
    fn from(error: NetError) -> Self {
        Self::Net(error)
    }
}

impl From<pantile_engine::Error> for ClusterError {
    fn from(error: pantile_engine::Error) -> Self {
        Self::Engine(error)
    }
}
