//! The sizes at which movements and programs change their way: tests draw sizes around them.

use crate::{compile, execute, executor, pool, program, thread_pool};

/// Of this module; those of programs and messages have tables of their own.
const OWN: &[(&str, usize)] = &[
    ("engine::SHARED_BYTES_MIN", thread_pool::LEAST),
    ("engine::SHARED_PIECE", thread_pool::PIECE),
    ("engine::STREAM_BYTES", compile::STREAM_BYTES),
    ("engine::POOL_SMALL", pool::SMALL),
    ("engine::POOL_LARGE", pool::LARGE),
    ("engine::POOL_GRAIN", pool::GRAIN),
    ("engine::INLINE_WORK", executor::INLINE_WORK),
];

/// Every such size, by module and name, with those of the loops and of lowering.
#[doc(hidden)]
pub fn thresholds() -> impl Iterator<Item = (&'static str, usize)> {
    let tables = [OWN, program::THRESHOLDS, execute::THRESHOLDS, pantile_lower::THRESHOLDS];
    let pages = ("memory::LARGE", pantile_comm::LARGE_PAGE);
    tables.into_iter().flatten().copied().chain([pages]).chain(pantile_kernels::thresholds())
}
