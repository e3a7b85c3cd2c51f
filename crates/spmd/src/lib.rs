//! Partitions of workers, movements of tensors between them, and distributed arrays.
//!
//! A [`RankContext`] is what one rank knows of all ranks. From it come [`Partition`]s (teams of workers,
//! with a Cartesian shape or without), and between partitions move whole tensors ([`Broadcast`],
//! [`SumReduce`], [`AllSumReduce`]) and cut ones ([`Repartition`], [`AllGather`],
//! [`ReduceScatter`], [`HaloExchange`], [`LayerExchange`]). Each of these has a `forward` and its
//! `adjoint`; no adjoint is written by hand, all are the movement between the duals.
//! [`DistArray`] is an array with its distribution.
//!
//! Must never contain kernels or transports.
//!
//! Read [`Partition`] first, then [`Broadcast`].
//!
//! ```
//! use pantile_spmd::{Broadcast, Error, Tensor, RankContext};
//! use pantile_comm::threads;
//!
//! let results = threads::run(4, &Default::default(), |communicator| {
//!     let world = RankContext::new(communicator);
//!     let all = world.partition();
//!     let one = all.create_partition_inclusive(&[2])?.create_cartesian_topology_partition(&[1])?;
//!     let line = all.create_cartesian_topology_partition(&[4])?;
//!     let broadcast = Broadcast::new(&one, &line)?;
//!     // Only rank 2 has something to say; the others need not know its size.
//!     let mine = if one.active() { Tensor::from_vec(&[2], vec![7, 8])? } else { Tensor::empty() };
//!     let everywhere = broadcast.forward(&mine)?;
//!     let back = broadcast.adjoint(&everywhere)?;
//!     Ok::<_, Error>((everywhere.to_vec(), back.to_vec()))
//! });
//! assert_eq!(results[0].as_ref().unwrap(), &(vec![7, 8], vec![]));
//! assert_eq!(results[2].as_ref().unwrap(), &(vec![7, 8], vec![28, 32]));
//! ```
mod array;
mod blocks;
mod concat;
mod data;
mod error;
mod halo;
mod layer;
mod partition;
mod rank_context;
mod repartition;
mod structure;
mod tensor;
mod whole;

pub use array::{DistArray, LocalView};
pub use concat::{AllGather, ReduceScatter};
pub use error::Error;
pub use halo::{HaloExchange, Widths};
pub use layer::LayerExchange;
pub use pantile_engine::{Counters, DType, Element};
pub use pantile_geometry::Operator;
pub use pantile_geometry::teams::{AxisChoice, Transpose};
pub use partition::{CartesianPartition, Partition};
pub use rank_context::RankContext;
pub use repartition::Repartition;
pub use tensor::Tensor;
pub use whole::{AllSumReduce, Broadcast, SumReduce};
