//! Where plan, transport and memory meet: movements are compiled for one rank and run.
//!
//! A [`Movement`] is one rank's share of a plan, compiled to loops over its own memory and a list
//! of peers. An [`Engine`] keeps compiled movements and message buffers, so that repeating a
//! movement plans nothing and allocates nothing. Memory is a [`Tile`]: elements of one type.
//!
//! Must never contain decisions of geometry (who holds what) or policy of users; it asks `plan` and
//! does what it says.
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
mod afar;
mod cells;
mod compile;
mod cover;
mod crew;
mod engine;
mod error;
mod execute;
mod foreign;
mod gather;
mod hand;
mod helpers;
mod joint;
mod look;
mod loop_cache;
mod movement;
mod orders;
mod places;
mod pool;
mod program;
mod rank_threads;
mod scheme;
mod span;
mod threads;
mod thresholds;
mod tile;

pub use afar::Afar;
pub use cells::Cells;
pub use crew::{ArrayId, Crew, Job};
pub use engine::{Counters, Engine};
pub use error::Error;
pub use foreign::{Foreign, Pick, TilePlaces};
pub use movement::Movement;
pub use pantile_kernels::{Combination, DType, Element};
pub use pantile_memory::process;
pub use pantile_memory::{OutOfMemory, available_memory, limit};
pub use places::Frame;
pub use pool::Pool;
pub use program::{Event, Given, Made, Overlap, Runner};
pub use scheme::{Scheme, SchemeError};
pub use threads::{THREADS_MAX, ThreadsError, check_threads, threads_from_text};
#[doc(hidden)]
pub use thresholds::thresholds;
pub use tile::Tile;
