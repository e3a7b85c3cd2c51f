//! Running one function on this rank.

use std::fmt::Display;
use std::sync::{Arc, PoisonError};

use pantile_comm::{CommError, Communicator, Options, RankError};

use crate::control::{exit_failed, print_line};
use crate::endpoint::{Mpi, ReturnSlot};
use crate::world::MpiWorld;

/// Initialises MPI, runs `body` on this rank, and leaves the world together with all other ranks.
///
/// Returns what the body returned if every rank was well. Otherwise it does not return: a rank
/// whose body returns an error or panics ends the world, every rank prints its own error as
/// `rank R: …`, and the process ends with exit code 1.
///
/// ```no_run
/// use pantile_comm::{CollectiveSignature, Options};
///
/// let size = pantile_comm_mpi::run(&Options::default(), |mut world| {
///     world.barrier(&CollectiveSignature::here("start", 0))?;
///     Ok::<_, pantile_comm::CommError>(world.size())
/// })?;
/// assert!(size > 0);
/// # Ok::<(), pantile_comm::CommError>(())
/// ```
///
/// # Errors
/// As [`Mpi::init`]; `body` was not run then.
pub fn run<T, E: Display>(
    options: &Options,
    body: impl FnOnce(Communicator) -> Result<T, E>,
) -> Result<T, CommError> {
    let world = MpiWorld::init(options)?;
    let (rank, return_slot) = (world.rank, Arc::new(ReturnSlot::default()));
    let communicator = Communicator::new(Box::new(Mpi::with_return_slot(world, &return_slot)));
    let result = RankError::catch(|| body(communicator));
    let world = return_slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    // A communicator that the body gave away leaves when it is dropped.
    drop(return_slot);
    let error = match result {
        Ok(value) => {
            if let Some(world) = world {
                world.leave(false);
            }
            return Ok(value);
        }
        Err(error) => error,
    };
    let words = words(rank, &error);
    if let Some(mut world) = world {
        world.abort(error.to_failure(rank));
        print_line(&words);
        world.leave(true);
    }
    exit_failed(&words)
}

/// The error of a rank, named once.
fn words(rank: usize, error: &impl Display) -> String {
    let (name, text) = (format!("rank {rank}: "), error.to_string());
    if text.starts_with(&name) { text } else { name + &text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_named_once() {
        assert_eq!(words(3, &"no more data"), "rank 3: no more data");
        assert_eq!(words(3, &"rank 3: no more data"), "rank 3: no more data");
        assert_eq!(words(3, &"rank 30: no more data"), "rank 3: rank 30: no more data");
    }
}
