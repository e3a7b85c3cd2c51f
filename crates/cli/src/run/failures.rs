//! What ranks have to say that failed.

use std::collections::BTreeSet;

use anyhow::{Error, Result, anyhow};
use pantile::{CommError, RankError};
use pantile_engine::Error as EngineError;

/// What the first rank has to say that says something.
///
/// # Errors
/// What every rank that failed has to say; if any began, what those have to say that did.
pub(super) fn first<T>(results: Vec<Result<Option<T>, RankError<Error>>>) -> Result<Option<T>> {
    let (mut done, mut faults) = (None, Vec::new());
    for (rank, result) in results.into_iter().enumerate() {
        match result {
            Ok(value) => done = done.or(value),
            Err(error) => faults.push((rank, error)),
        }
    }
    // The one that began says why; the others only that they cannot go on.
    if faults.iter().any(|(_, error)| !follows(error)) {
        faults.retain(|(_, error)| !follows(error));
    }
    // What all ranks say of the same one is said once.
    let mut said = BTreeSet::new();
    faults.retain(|(_, error)| {
        let words = error.to_string();
        !words.starts_with("rank ") || said.insert(words)
    });
    let words = faults.iter().map(|(rank, error)| named(*rank, &error.to_string()));
    if faults.is_empty() { Ok(done) } else { Err(anyhow!(words.collect::<Vec<_>>().join("\n"))) }
}

/// True if a rank failed only because another one had.
fn follows(error: &RankError<Error>) -> bool {
    let RankError::Returned(error) = error else { return false };
    let comm = match error.downcast_ref() {
        Some(EngineError::Comm(error)) => Some(error),
        _ => error.downcast_ref(),
    };
    matches!(comm, Some(CommError::Failed { .. }))
}

/// What a rank has to say, with its name once.
fn named(rank: usize, words: &str) -> String {
    let name = format!("rank {rank}: ");
    if words.starts_with(&name) { words.to_owned() } else { name + words }
}
