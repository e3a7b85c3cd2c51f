//! Errors as the laws promise them.

use super::error::{CaseError, Claim, ExpectedError};
use super::subject::{CaseVerdict, claim, refuted};
use crate::{CollectiveSignature, CommError, Communicator, Rank};

/// What an operation returned where it had to fail.
#[track_caller]
pub(super) fn error<T>(result: Result<T, CommError>) -> Result<CommError, CaseError> {
    match result {
        Err(error) => Ok(error),
        Ok(_) => Err(refuted("this should have failed")),
    }
}

/// True if a call came over the wire, or another way, as it was.
pub(super) fn is(got: &CollectiveSignature, expected: &CollectiveSignature) -> bool {
    let same_end = |got: &str, expected: &str| expected.ends_with(got) && !got.is_empty();
    got.fingerprint == expected.fingerprint
        && got.line == expected.line
        && same_end(&got.name, &expected.name)
        && same_end(&got.file, &expected.file)
}

/// The world has failed because of `culprit`.
#[track_caller]
pub(super) fn failed(error: &CommError, rank: Rank, culprit: Rank) -> CaseVerdict {
    let holds = matches!(error, CommError::Failed { rank: teller, failure }
        if *teller == rank && failure.culprit == culprit && !failure.reason.is_empty());
    claim(holds, Claim::Error { expected: ExpectedError::Failure(culprit), got: error.clone() })
}

/// `peer` has left: it was waited for in `call`, or another rank found out.
#[track_caller]
pub(super) fn gone(
    error: &CommError,
    rank: Rank,
    call: &CollectiveSignature,
    peer: Rank,
) -> CaseVerdict {
    match error {
        CommError::Gone { rank: teller, call: told, peer: left } => {
            let holds = (*teller, *left) == (rank, peer) && is(told, call);
            claim(holds, Claim::Error { expected: ExpectedError::Gone(peer), got: error.clone() })
        }
        _ => failed(error, rank, peer),
    }
}

/// The communicator knows that the world has failed because of `culprit`, and refuses to go on.
#[track_caller]
pub(super) fn ended(world: &mut Communicator, culprit: Rank) -> CaseVerdict {
    let known = world.failure();
    let holds = known.as_ref().is_some_and(|failure| failure.culprit == culprit);
    claim(holds, Claim::KnownFailure { culprit, known })?;
    let rank = world.rank();
    let next = error(world.barrier(&CollectiveSignature::here("after the end", 0)))?;
    failed(&next, rank, culprit)
}
