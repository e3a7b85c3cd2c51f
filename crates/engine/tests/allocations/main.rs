//! What allocates nothing, in a program of its own: the allocator counts for the whole process.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod counting;
mod movements;
mod programs;

// One test, because the count is that of the whole process.
#[test]
fn what_is_repeated_allocates_nothing() {
    movements::repeating_a_movement_allocates_nothing();
    programs::programs_run_and_refuse();
}
