//! The index functions of the dist dialect: which part of a strided slice a member answers for,
//! what it has to fetch for that, and which rows it can compute before anything has arrived.
//!
//! A *member* is a position in the team; rows are indices of the first axis. For `a[o : : t]` on
//! one member, in the order in which a program needs them:
//!
//! ```text
//!   default_partition   rows this member owns
//!   local_target        the elements of the assigned slice it owns            (positions in the slice)
//!   bounding_box        the rows of the base it reads for that target         (indices of the base)
//!   repartition         how box = left halo | view of the owned rows | right halo
//!   halo_plan           who sends which rows
//!   subview             the part of each of the three that the view shows
//!   local_core          the rows of the target that read owned rows only      (relative to the target)
//!   segments            loops over rows between part borders, the core first
//! ```
//!
//! Everything is half-open and row-major; strides are positive. The one-axis functions apply to
//! each cut axis by itself; the `_nd` forms do that for all axes.

mod bounds;
mod core;
mod error;
mod partition;
mod plan;
mod repartition;
mod segments;
mod signs;
mod slice;
mod subview;
mod target;

pub use bounds::{bounding_box, bounding_box_nd, inner_box};
pub use core::{local_core, local_core_nd};
pub use error::SliceError;
pub use partition::{GatherPiece, default_bounds, default_partition, default_rows, gather_pieces};
pub use plan::{Delivery, HaloSide, halo_plan};
pub use repartition::{Repartition, RepartitionNd, repartition, repartition_nd, repartition_unit};
pub use segments::{PartRows, RowParts, RowSegment, segments, segments_nd};
pub use signs::{GridDelivery, SignedPart, grid_halo_plan, parts_by_sign, requests_of_radius};
pub use slice::{MAX_INDEX, MAX_MEMBERS, Overlap, Slice, overlap};
pub use subview::{PartView, Subview, SubviewNd, subview, subview_nd};
pub use target::{
    Parts, local_target, local_target_nd, local_target_of_all_parts, sharded_offsets,
};
