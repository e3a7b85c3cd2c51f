//! The `__partitioned__` dictionary: every partition of an array, and where it can be read.
//!
//! Positions of a grid map to partitions with start, shape and locations. Three drafts are met and
//! all are read: in the first `shape` is what is now `partition_tiling`; in the first two a
//! location is a rank, an address or a name; in the last it is an address with a process number
//! and perhaps a device.
//!
//! ```
//! use pantile_protocol::{json, json::Document};
//! let text = r#"{"shape": [5], "partition_tiling": [2], "partitions": {
//!     "0": {"start": [0], "shape": [3], "location": [0]},
//!     "1": {"start": [3], "shape": [2], "location": [["10.0.0.2", 77]]}}}"#;
//! let Document::Partitioned { partitioned, findings, .. } = json::read(text).unwrap() else {
//!     panic!("it has partitions");
//! };
//! assert!(findings.is_empty());
//! assert_eq!(partitioned.unwrap().partitions()[&vec![1]].start, [3]);
//! ```

mod check;
mod dims;
mod json;

pub use dims::{from_dims, per_rank};
pub use json::read;

use crate::{Error, Finding};
use std::collections::BTreeMap;
use std::fmt;

/// A place on the grid of partitions, one number per axis.
pub type Position = Vec<i64>;

/// Where a partition can be read without communication.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Location {
    /// The rank of a process.
    Rank(i64),
    /// The name or address of a worker or node.
    Name(String),
    /// A process on a node.
    Process {
        /// Address of the node.
        address: String,
        /// Process number on that node.
        pid: i64,
        /// Device, by its DLPack name; the CPU if absent.
        device: Option<String>,
    },
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank(rank) => write!(f, "rank {rank}"),
            Self::Name(name) => write!(f, "{name:?}"),
            Self::Process { address, pid, device } => {
                write!(f, "process {pid} on {address:?}")?;
                device.iter().try_for_each(|device| write!(f, " ({device})"))
            }
        }
    }
}

/// One partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Global index of its first element.
    pub start: Vec<i64>,
    /// Extents.
    pub shape: Vec<i64>,
    /// Where it is; several entries are replicas.
    pub location: Vec<Location>,
}

/// A whole dictionary. Extents, starts and tiling have one number of at least 0 per axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitioned {
    shape: Vec<i64>,
    tiling: Vec<i64>,
    partitions: BTreeMap<Position, Partition>,
    locals: Option<Vec<Position>>,
}

impl Partitioned {
    /// A dictionary.
    ///
    /// # Errors
    /// Everything that is wrong with it: missing or misplaced partitions, partitions that do not
    /// tile the array, no location, wrong `locals`.
    pub fn new(
        shape: Vec<i64>,
        tiling: Vec<i64>,
        partitions: BTreeMap<Position, Partition>,
        locals: Option<Vec<Position>>,
    ) -> Result<Self, Error> {
        let partitioned = Self { shape, tiling, partitions, locals };
        let findings = partitioned.check();
        if findings.is_empty() { Ok(partitioned) } else { Err(Error::Invalid(findings)) }
    }

    /// Global extents.
    #[must_use]
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// Number of partitions along each axis.
    #[must_use]
    pub fn tiling(&self) -> &[i64] {
        &self.tiling
    }

    /// The partitions by position.
    #[must_use]
    pub fn partitions(&self) -> &BTreeMap<Position, Partition> {
        &self.partitions
    }

    /// The positions that this process holds, if the dictionary says so.
    #[must_use]
    pub fn locals(&self) -> Option<&[Position]> {
        self.locals.as_deref()
    }

    /// The same dictionary as seen by the process at `location`: `locals` lists what is there.
    #[must_use]
    pub fn seen_from(&self, location: &Location) -> Self {
        let here = self.partitions.iter().filter(|(_, part)| part.location.contains(location));
        let locals = here.map(|(position, _)| position.clone()).collect();
        Self { locals: Some(locals), ..self.clone() }
    }

    /// Everything that is wrong, nothing if it is valid.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        check::check(self)
    }
}
