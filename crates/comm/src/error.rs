//! What can go wrong between ranks, and which rank is to blame.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{CollectiveSignature, Rank};

/// Why the ranks of a world stopped working together. The first failure is the one that counts;
/// every rank gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The rank that failed, was lost or disagreed.
    pub culprit: Rank,
    /// What it was doing, if that is known.
    pub call: Option<CollectiveSignature>,
    /// What happened.
    pub reason: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "rank {} failed", self.culprit)?;
        if let Some(call) = &self.call {
            write!(out, " in {call}")?;
        }
        write!(out, ": {}", self.reason)
    }
}

/// Why an operation between ranks could not be finished. Says which rank waited for which, and in
/// which call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommError {
    /// A rank failed, and took the communicator with it: nothing can be sent any more.
    Failed {
        /// The rank that reports.
        rank: Rank,
        /// Which rank failed, where, and why.
        failure: Arc<Failure>,
    },
    /// Two ranks that met wanted different operations.
    Disagreement {
        /// The rank that found it.
        rank: Rank,
        /// What this rank called.
        here: Box<CollectiveSignature>,
        /// The rank that it met.
        peer: Rank,
        /// What that rank called.
        there: Box<CollectiveSignature>,
    },
    /// The peer has left the world (its part of the program ended), and will never answer.
    Gone {
        /// The rank that waited.
        rank: Rank,
        /// In which call.
        call: Box<CollectiveSignature>,
        /// The rank that it waited for.
        peer: Rank,
    },
    /// The peer did not answer before the deadline.
    Late {
        /// The rank that waited.
        rank: Rank,
        /// In which call.
        call: Box<CollectiveSignature>,
        /// The rank that it waited for.
        peer: Rank,
        /// What the peer is busy with instead, if that is known.
        busy: Option<Box<CollectiveSignature>>,
        /// How long the wait was.
        waited: Duration,
    },
    /// A message is longer or shorter than the operation says.
    Length {
        /// The rank that received it.
        rank: Rank,
        /// In which call.
        call: Box<CollectiveSignature>,
        /// The sender.
        peer: Rank,
        /// How many bytes there should be.
        expected: usize,
        /// How many bytes there are.
        got: usize,
    },
    /// There is no such rank.
    NoSuchRank {
        /// The rank that asked.
        rank: Rank,
        /// The rank that does not exist.
        peer: Rank,
        /// How many ranks there are.
        size: usize,
    },
    /// The library underneath refused.
    Backend {
        /// On which rank.
        rank: Rank,
        /// What it was asked for.
        call: String,
        /// What it answered.
        reason: String,
    },
}

impl CommError {
    /// The failure that this error means for the others: whom to name, and what to say.
    #[must_use]
    pub fn to_failure(&self, reporter: Rank, call: Option<&CollectiveSignature>) -> Failure {
        match self {
            Self::Failed { failure, .. } => (**failure).clone(),
            Self::Gone { peer, .. } | Self::Late { peer, .. } => {
                Failure { culprit: *peer, call: None, reason: self.to_string() }
            }
            _ => Failure { culprit: reporter, call: call.cloned(), reason: self.to_string() },
        }
    }
}

impl fmt::Display for CommError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { rank, failure } => {
                write!(out, "rank {rank}: cannot go on, because {failure}")
            }
            Self::Disagreement { rank, here, peer, there } => write!(
                out,
                "ranks disagree: rank {rank} called {here}, but rank {peer} called {there}{}",
                if here.name == there.name { " with other arguments" } else { "" }
            ),
            Self::Gone { rank, call, peer } => {
                write!(out, "rank {rank}: {call} waits for rank {peer}, which has left")
            }
            Self::Late { rank, call, peer, busy, waited } => {
                write!(out, "rank {rank}: {call} waited {waited:?} for rank {peer}, which ")?;
                match busy {
                    Some(busy) => write!(out, "is in {busy}"),
                    None => write!(out, "did not answer"),
                }
            }
            Self::Length { rank, call, peer, expected, got } => write!(
                out,
                "rank {rank}: {call} expected {expected} bytes from rank {peer}, got {got}"
            ),
            Self::NoSuchRank { rank, peer, size } => {
                write!(out, "rank {rank}: there is no rank {peer} among {size}")
            }
            Self::Backend { rank, call, reason } => {
                write!(out, "rank {rank}: {call} failed: {reason}")
            }
        }
    }
}

impl std::error::Error for CommError {}
