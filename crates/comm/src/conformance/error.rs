//! Why a case does not pass on one rank.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{CommError, Failure, Rank};

/// Why a case does not pass on one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseError {
    /// A call failed that has to succeed.
    Call(CommError),
    /// A call at this line of a case failed that has to succeed.
    CallAt {
        /// The line.
        line: u32,
        /// The file of the line.
        file: &'static str,
        /// What the call returned.
        error: CommError,
    },
    /// A call failed in one of several equal rounds.
    Round {
        /// The round.
        round: u64,
        /// What the call returned.
        error: CommError,
    },
    /// A claim of a case does not hold.
    Claim {
        /// The line that claims it.
        line: u32,
        /// The file of the line.
        file: &'static str,
        /// What was claimed and what was seen.
        claim: Box<Claim>,
    },
    /// The world failed in a case that keeps it.
    Unhealthy(Arc<Failure>),
    /// A case needs the world that an earlier one has ended.
    WorldEnded,
    /// The case panicked.
    Panicked {
        /// The text of the panic.
        message: String,
    },
    /// No rank came forward.
    Silent {
        /// For how long.
        waited: Duration,
    },
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => error.fmt(f),
            Self::CallAt { line, file, error } => write!(f, "line {line} of {file}: {error}"),
            Self::Round { round, error } => write!(f, "round {round}: {error}"),
            Self::Claim { line, file, claim } => write!(f, "line {line} of {file}: {claim}"),
            Self::Unhealthy(failure) => write!(f, "the world should be healthy, but {failure}"),
            Self::WorldEnded => f.write_str("the world has ended"),
            Self::Panicked { message } => write!(f, "panicked: {message}"),
            Self::Silent { waited } => write!(f, "nothing happened for {waited:?}"),
        }
    }
}

impl std::error::Error for CaseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Call(error) | Self::CallAt { error, .. } | Self::Round { error, .. } => {
                Some(error)
            }
            _ => None,
        }
    }
}

impl From<CommError> for CaseError {
    fn from(error: CommError) -> Self {
        Self::Call(error)
    }
}

/// A claim of a case that does not hold, with what was seen instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// Something that is false or true, in words.
    Plain(&'static str),
    /// A message of another length.
    Length {
        /// Its bytes.
        got: usize,
        /// Bytes that were sent.
        expected: usize,
    },
    /// A message with another byte.
    Byte {
        /// The place of the first such byte.
        at: usize,
        /// Bytes of the message.
        bytes: usize,
        /// The byte that came.
        got: u8,
        /// The byte that was sent.
        expected: u8,
    },
    /// A call has to give another error.
    Answer(Option<CommError>),
    /// A call has to give a certain error.
    Error {
        /// What has to be reported.
        expected: ExpectedError,
        /// What was.
        got: CommError,
    },
    /// The world has to know the failure of a rank.
    KnownFailure {
        /// The rank.
        culprit: Rank,
        /// What it knows.
        known: Option<Arc<Failure>>,
    },
    /// The failure of a rank has to give the reason.
    Reason {
        /// The rank.
        culprit: Rank,
        /// What the world knows.
        known: Option<Arc<Failure>>,
    },
    /// A call has to be refused.
    Refusal(Result<(), CommError>),
    /// A call gave up before its deadline.
    Impatient {
        /// How long it waited.
        waited: Duration,
        /// The deadline.
        deadline: Duration,
    },
}

/// The error that a call has to give.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpectedError {
    /// A failure of this rank.
    Failure(Rank),
    /// This rank has left.
    Gone(Rank),
    /// This rank is late.
    Late(Rank),
    /// Two calls, as printed, that disagree.
    Disagreement([String; 2]),
    /// A message that is longer or shorter than its room.
    Length {
        /// Bytes of the message.
        body: usize,
        /// Bytes of the room.
        room: usize,
    },
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(what) => f.write_str(what),
            Self::Length { got, expected } => write!(f, "got {got} bytes, expected {expected}"),
            Self::Byte { at, bytes, got, expected } => {
                write!(f, "byte {at} of {bytes} is {got}, not {expected}")
            }
            Self::Answer(Some(got)) => write!(f, "got {got:?}"),
            Self::Answer(None) => f.write_str("got no error"),
            Self::Error { expected, got } => write!(f, "expected {expected}, got {got:?}"),
            Self::KnownFailure { culprit, known } => {
                write!(f, "expected a failure of rank {culprit}, got {known:?}")
            }
            Self::Reason { culprit, known } => {
                write!(f, "rank {culprit} failed, but why? {known:?}")
            }
            Self::Refusal(got) => write!(f, "expected a refusal, got {got:?}"),
            Self::Impatient { waited, deadline } => {
                write!(f, "waited only {waited:?} of {deadline:?}")
            }
        }
    }
}

impl fmt::Display for ExpectedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failure(rank) => write!(f, "a failure of rank {rank}"),
            Self::Gone(rank) => write!(f, "that rank {rank} has left"),
            Self::Late(rank) => write!(f, "that rank {rank} is late"),
            Self::Disagreement([one, other]) => write!(f, "a disagreement of {one} and {other}"),
            Self::Length { body, room } => write!(f, "{body} bytes in a room of {room}"),
        }
    }
}

impl From<&'static str> for Claim {
    fn from(what: &'static str) -> Self {
        Self::Plain(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_errors_say_where_and_what() {
        let check = |error: CaseError, expected: &str| assert_eq!(error.to_string(), expected);
        let error = CommError::NoSuchRank { rank: 0, peer: 3, size: 2 };
        let text = "rank 0: there is no rank 3 among 2";
        let file = "order.rs";
        check(CaseError::from(error.clone()), text);
        check(
            CaseError::CallAt { line: 7, file, error: error.clone() },
            &format!("line 7 of order.rs: {text}"),
        );
        check(CaseError::Round { round: 4, error: error.clone() }, &format!("round 4: {text}"));
        let claim = Claim::Byte { at: 2, bytes: 9, got: 1, expected: 0 };
        let of_claim = CaseError::Claim { line: 7, file, claim: claim.into() };
        check(of_claim, "line 7 of order.rs: byte 2 of 9 is 1, not 0");
        check(CaseError::WorldEnded, "the world has ended");
        check(CaseError::Panicked { message: "no".to_owned() }, "panicked: no");
        check(CaseError::Silent { waited: Duration::from_secs(60) }, "nothing happened for 60s");
        let failure = Failure { culprit: 1, call: None, reason: "the disk is full".to_owned() };
        check(
            CaseError::Unhealthy(failure.into()),
            "the world should be healthy, but rank 1 failed: the disk is full",
        );
        let claim = Claim::Error { expected: ExpectedError::Gone(3), got: error.clone() };
        let expected = format!("expected that rank 3 has left, got {error:?}");
        assert_eq!(claim.to_string(), expected);
    }
}
