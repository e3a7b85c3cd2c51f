//! Distributed n-d arrays: the same array code on 1 worker and on 1,000.
//!
//! Write a function of a [`RankContext`](spmd::RankContext); [`run`] calls it once per rank. Or write
//! array code as if for one machine, with the [`Array`]s of a [`session`]. Started plainly, the ranks are
//! threads of the process. Started by `mpirun` or `srun` (and built with the feature `mpi`), each
//! process is a rank. The results have the same bits.
//!
//! Must never contain what array operations mean, or an algorithm longer than a screen.
//!
//! Read [`DistArray`] first, then [`Broadcast`] and its siblings.
//!
//! ```
//! use pantile::prelude::*;
//!
//! // 6x4 numbers, rows cut over two ranks; then the columns are.
//! let rows: Distribution = "6x4 on r=2: block(r), whole".parse()?;
//! let columns: Distribution = "6x4 on r=2: whole, block(r)".parse()?;
//! let results = pantile::Launch::threads(2).run(|world| {
//!     let array = DistArray::from_fn(world, &rows, |index| (10 * index[0] + index[1]) as f64);
//!     let turned = array.redistribute(&columns)?;
//!     Ok::<_, Error>((turned.local_shape(), turned.local()[0]))
//! })?;
//! assert_eq!(results[1], (Some(vec![6, 2]), 2.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
pub mod launch;
pub mod npy;
pub mod program;

#[cfg(feature = "cluster")]
pub use launch::cluster_session;
pub use launch::{Backend, Launch, LaunchError, run, session};
pub use pantile_array as array;
pub use pantile_array::{Array, Session, s};
#[cfg(feature = "cluster")]
pub use pantile_cluster as cluster;
pub use pantile_comm::{CommError, Failure, Options, RankError, sim, threads};
pub use pantile_draw as draw;
pub use pantile_engine::Scheme;
pub use pantile_geometry as geometry;
pub use pantile_geometry::{Axis, Cuts, Direction, Distribution, Extent, Kind, Mesh, Operator};
pub use pantile_ir as ir;
pub use pantile_lower as lower;
pub use pantile_plan as plan;
pub use pantile_plan::{Plan, Schedule};
pub use pantile_spmd as spmd;
pub use pantile_spmd::{
    AllGather, AllSumReduce, AxisChoice, Broadcast, CartesianPartition, DistArray, Error,
    HaloExchange, LayerExchange, Partition, ReduceScatter, Repartition, SumReduce, Tensor, Widths,
};
pub use pantile_text as text;

/// What most programs need.
pub mod prelude {
    pub use crate::array::{Array, Boundary, Combine, Fault, Reduction, Split, by};
    pub use crate::{
        AllGather, AllSumReduce, Axis, AxisChoice, Broadcast, CartesianPartition, DistArray,
        Distribution, Error, HaloExchange, LayerExchange, Mesh, Operator, Partition, ReduceScatter,
        Repartition, Session, SumReduce, Tensor, Widths,
    };
    pub use pantile_array::s;
    pub use pantile_engine::DType;
}
