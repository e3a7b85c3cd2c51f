//! How many threads a rank has.

use std::fmt;

/// Threads that a rank has at most.
pub const THREADS_MAX: usize = 256;

/// Threads of each rank as a text says, as in the variable `PANTILE_THREADS`; one if there is none.
///
/// # Errors
/// If the text is no number from 1 to [`THREADS_MAX`].
pub fn threads_from_text(text: Option<&str>) -> Result<usize, ThreadsError> {
    let Some(text) = text else { return Ok(1) };
    let wrong = || ThreadsError { got: Got::Variable(text.to_owned()) };
    let threads = text.trim().parse().map_err(|_| wrong())?;
    check_threads(threads).map_err(|_| wrong())
}

/// The same number, if a rank can have so many threads.
///
/// # Errors
/// If these are none, or more than [`THREADS_MAX`].
pub fn check_threads(threads: usize) -> Result<usize, ThreadsError> {
    match (1..=THREADS_MAX).contains(&threads) {
        true => Ok(threads),
        false => Err(ThreadsError { got: Got::Number(threads) }),
    }
}

/// A number of threads that a rank cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadsError {
    got: Got,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Got {
    Number(usize),
    Variable(String),
}

impl fmt::Display for ThreadsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.got {
            Got::Number(threads) => {
                write!(out, "got {threads} threads of each rank, expected 1 to {THREADS_MAX}")
            }
            Got::Variable(text) => write!(
                out,
                "PANTILE_THREADS is `{text}`, expected 1 to {THREADS_MAX} threads of each rank"
            ),
        }
    }
}

impl std::error::Error for ThreadsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_has_at_least_one_thread_and_not_too_many() {
        assert_eq!(threads_from_text(None), Ok(1));
        assert_eq!(threads_from_text(Some(" 256 ")), Ok(256));
        for wrong in ["", "0", "257", "-1", "two", "1.5"] {
            let error = threads_from_text(Some(wrong)).expect_err(wrong).to_string();
            let expected =
                format!("PANTILE_THREADS is `{wrong}`, expected 1 to 256 threads of each rank");
            assert_eq!(error, expected);
        }
        let error = check_threads(0).expect_err("none").to_string();
        assert_eq!(error, "got 0 threads of each rank, expected 1 to 256");
        assert!(check_threads(257).is_err());
    }
}
