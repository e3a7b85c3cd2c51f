//! Who holds index i, and where: meshes, index maps, halos, strided slabs.
//!
//! A [`Distribution`] says where every element of an array lives: global shape, a [`Mesh`] of
//! ranks, one [`AxisMap`] per array axis and one [`Kind`] per direction. Everything here is a
//! pure function of such descriptions; closed formulas are kept as formulas, so a mesh of a
//! million ranks costs nothing to describe.
//!
//! Must never contain element types, bytes, I/O, threads or clocks.
//!
//! Conventions, said once: ranges are half-open, arrays and meshes are row-major, *rank* is a
//! worker's number in the world, *held* includes the halo, *owned* does not.
//!
//! ```
//! use pantile_geometry::{Axis, Distribution, Mesh};
//!
//! // 8x6 elements, rows in blocks over x with a halo of one row, columns dealt over y.
//! let mesh = Mesh::new(&[("x", 2), ("y", 3)])?;
//! let axes = vec![Axis::block(&["x"]).halo(1, 1), Axis::cyclic(&["y"], 1)];
//! let tiles = Distribution::new(&[8, 6], mesh, axes)?;
//! assert_eq!(tiles.to_string(), "8x6 on x=2, y=3: block(x) halo 1, cyclic(y, 1)");
//! assert_eq!(tiles.local_shape(0), Some(vec![5, 2]));
//! assert_eq!(tiles.owner(&[4, 1]).map(|holder| holder.rank), Some(4));
//! assert_eq!(tiles.holders(&[4, 1]).len(), 2);
//! # Ok::<(), pantile_geometry::Error>(())
//! ```

mod axis;
mod distribution;
mod error;
mod fingerprint;
pub mod grid;
pub mod halo;
mod index;
mod kind;
mod mesh;
mod number;
mod region;
pub mod slices;
pub mod teams;
pub mod text;

pub use axis::{Axis, AxisMap, Cut, Cuts, Extent, Holder, Holding, LABEL_LIMIT, Labels, View};
pub use distribution::{
    BOXES_LIMIT, Boxes, Direction, Distribution, ElementHolder, OwnedElements, OwnedRun, OwnedRuns,
};
pub use error::Error;
pub use fingerprint::Fingerprint;
pub use index::{IndexSet, Indices, Segment, Segments};
pub use kind::{Kind, Operator};
pub use mesh::{Mesh, Rank};
pub use region::{Region, Slab};
