//! Where plan, transport and memory meet: movements are compiled for one rank and run.
//!
//! A [`Movement`] is one rank's share of a plan, compiled to loops over its own memory and a list
//! of peers. An [`Engine`] keeps compiled movements and message buffers, so that repeating a
//! movement plans nothing and allocates nothing. Memory is a [`Tile`]: elements of one type.
//!
//! Must never contain decisions of geometry (which rank holds what), or policy of users.
//!
//! Read [`Movement`] first, then [`Engine::run`].
//!
//! ```
//! use pantile_comm::threads;
//! use pantile_engine::{DType, Engine, Tile};
//!
//! // Six numbers in blocks on three ranks -> all six on every rank.
//! let (blocks, copies) = ("6 on r=3: block(r)".parse().unwrap(), "6 on r=3: whole".parse().unwrap());
//! let results = threads::run(3, &Default::default(), |communicator| {
//!     let mut engine = Engine::new(communicator);
//!     let me = engine.rank() as i32;
//!     let movement = engine.movement("gather", &blocks, &copies, DType::I32)?;
//!     let source = Tile::from_vec(vec![2 * me, 2 * me + 1]);
//!     let mut target = Tile::zeroed(DType::I32, 6);
//!     engine.run(&movement, &source, &mut target)?;
//!     Ok::<_, pantile_engine::Error>(target.to_vec::<i32>())
//! });
//! for result in results {
//!     assert_eq!(result.unwrap(), [0, 1, 2, 3, 4, 5]);
//! }
//! ```
mod accumulate;
mod aggregation;
mod bounded_cache;
mod cells;
mod compile;
mod cover;
mod engine;
mod error;
mod execute;
mod executor;
mod gather;
mod loop_cache;
mod movement;
mod places;
mod pool;
mod program;
mod raw;
mod remote_read;
mod scheme;
mod thread_count;
mod thread_pool;
mod thresholds;
mod tile;

pub use bounded_cache::BoundedCache;
pub use cells::Cells;
pub use engine::{Counters, Engine};
pub use error::Error;
pub use executor::{
    ArrayId, ArrayIds, Executor, ExecutorHandle, Job, RankRuntime, RankTiles, RemoteTraffic,
    SingleRank, Started, ThreadExecutor,
};
pub use movement::Movement;
pub use pantile_kernels::{Combination, DType, Element, bytes_of, dispatch};
pub use pantile_memory::process;
pub use pantile_memory::{OutOfMemory, available_memory, limit};
pub use places::Frame;
pub use pool::Pool;
pub use program::{Event, Input, Output, Overlap, Runner};
pub use raw::{ExternalBuffer, Pick, TilePlaces};
pub use scheme::{Scheme, SchemeError};
pub use thread_count::{THREADS_MAX, ThreadsError, check_threads, threads_from_text};
#[doc(hidden)]
pub use thresholds::thresholds;
pub use tile::Tile;
