//! Errors as the laws promise them.

use super::subject::{CaseVerdict, claim};
use crate::{CollectiveSignature, CommError, Communicator, Rank};

/// What an operation returned where it had to fail.
#[track_caller]
pub(super) fn error<T>(result: Result<T, CommError>) -> Result<CommError, String> {
    claim(result.is_err(), "this should have failed")?;
    result.err().ok_or_else(String::new)
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
    claim(holds, &format!("expected a failure of rank {culprit}, got {error:?}"))
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
            claim(holds, &format!("expected that rank {peer} has left, got {error:?}"))
        }
        _ => failed(error, rank, peer),
    }
}

/// The communicator knows that the world has failed because of `culprit`, and refuses to go on.
#[track_caller]
pub(super) fn ended(world: &mut Communicator, culprit: Rank) -> CaseVerdict {
    let known = world.failure();
    let holds = known.as_ref().is_some_and(|failure| failure.culprit == culprit);
    claim(holds, &format!("expected a failure of rank {culprit}, got {known:?}"))?;
    let rank = world.rank();
    let next = error(world.barrier(&CollectiveSignature::here("after the end", 0)))?;
    failed(&next, rank, culprit)
}
