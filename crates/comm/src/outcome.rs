//! What becomes of the program of one rank.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pantile_memory::OutOfMemory;

use crate::{Failure, Rank};

/// What became of one rank of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankError<E> {
    /// Its program returned an error.
    Returned(E),
    /// Its program panicked.
    Panicked(String),
    /// The system gave its program no memory.
    OutOfMemory(OutOfMemory),
}

impl<E: fmt::Display> RankError<E> {
    /// Runs the program of one rank; a panic ends it like an error.
    ///
    /// # Errors
    /// What the program returned, or the text of its panic.
    pub fn catch<T>(program: impl FnOnce() -> Result<T, E>) -> Result<T, Self> {
        match catch_unwind(AssertUnwindSafe(program)) {
            Ok(returned) => returned.map_err(Self::Returned),
            Err(panic) => Err(match panic.downcast_ref::<OutOfMemory>() {
                Some(error) => Self::OutOfMemory(*error),
                None => Self::Panicked(panic_message(&*panic)),
            }),
        }
    }

    /// What this means for the other ranks.
    #[must_use]
    pub fn to_failure(&self, rank: Rank) -> Failure {
        let reason = match self {
            Self::Returned(error) => format!("its program returned an error: {error}"),
            Self::Panicked(message) => format!("its program panicked: {message}"),
            Self::OutOfMemory(error) => format!("its program cannot go on: {error}"),
        };
        Failure { culprit: rank, call: None, reason }
    }
}

impl<E: fmt::Display> fmt::Display for RankError<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned(error) => error.fmt(out),
            Self::Panicked(message) => write!(out, "panicked: {message}"),
            Self::OutOfMemory(error) => error.fmt(out),
        }
    }
}

impl<E: std::error::Error> std::error::Error for RankError<E> {}

/// The text of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .or_else(|| panic.downcast_ref::<OutOfMemory>().map(OutOfMemory::to_string))
        .unwrap_or_else(|| "a panic without a text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_has_its_text() {
        let message = |panic: Box<dyn Any + Send>| panic_message(&*panic);
        assert_eq!(message(Box::new("a")), "a");
        assert_eq!(message(Box::new("b".to_owned())), "b");
        assert_eq!(message(Box::new(3)), "a panic without a text");
    }

    #[test]
    fn memory_that_is_not_there_is_an_error_of_its_own() {
        let bytes = 1 << 60;
        let error =
            RankError::<String>::catch(|| Ok(crate::MemoryBlock::zeroed(bytes))).unwrap_err();
        assert_eq!(error, RankError::OutOfMemory(OutOfMemory { bytes }));
        assert_eq!(error.to_string(), format!("the system gave no memory of {bytes} bytes"));
        let failure = error.to_failure(1).to_string();
        assert!(failure.starts_with("rank 1 failed: its program cannot go on: "), "{failure}");
        assert_eq!(crate::MemoryBlock::try_zeroed(bytes).err(), Some(OutOfMemory { bytes }));
    }

    #[test]
    fn an_error_is_told_to_the_others() {
        let error = RankError::catch(|| Err::<(), _>("no more data")).expect_err("it returned one");
        let failure = error.to_failure(3).to_string();
        assert_eq!(failure, "rank 3 failed: its program returned an error: no more data");
    }
}
