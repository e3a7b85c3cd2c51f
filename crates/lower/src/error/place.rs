//! Arrays that cannot live where they have to.

use std::fmt;

/// Why an array cannot live where its type, or an operation, says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceError {
    /// There is no such distribution.
    Distribution(pantile_geometry::Error),
    /// Elements cannot move there.
    Movement(pantile_plan::Error),
    /// The distribution that a type spells out is none.
    Text {
        /// The distribution, with the shape of the array.
        text: String,
        /// What is wrong with it.
        error: Box<pantile_geometry::Error>,
    },
    /// The distribution is no product of axes.
    NotProduct {
        /// What the type says.
        text: String,
    },
    /// The distribution is one of arrays of another shape.
    Shape {
        /// The distribution.
        home: String,
        /// The shape of the array.
        shape: Vec<usize>,
    },
    /// A type has the parts of one member.
    MemberParts,
    /// A rank that the world does not have.
    NoSuchRank {
        /// The rank.
        rank: usize,
        /// Ranks of the world.
        ranks: usize,
    },
    /// The mesh of a type is no list of names with sizes.
    Mesh {
        /// The mesh.
        mesh: String,
    },
    /// The size of a mesh axis is no number.
    MeshSize {
        /// The size.
        size: String,
        /// The mesh.
        mesh: String,
    },
    /// More ranks than can be counted.
    MeshTooLarge {
        /// The mesh.
        mesh: String,
    },
    /// Several mesh axes take the ranks that are left.
    MeshRest {
        /// The mesh.
        mesh: String,
    },
    /// There are fewer ranks than the mesh needs.
    TooFewRanks {
        /// The mesh.
        mesh: String,
        /// Ranks that it needs.
        needed: usize,
        /// Ranks of the world.
        ranks: usize,
    },
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Distribution(error) => error.fmt(f),
            Self::Movement(error) => error.fmt(f),
            Self::Text { text, error } => write!(f, "{error} in {text:?}"),
            Self::NotProduct { text } => {
                write!(f, "{text:?} has terms or boxes, expected a product of axes")
            }
            Self::Shape { home, shape } => {
                write!(f, "{home:?} is no distribution of an array of shape {shape:?}")
            }
            Self::MemberParts => f.write_str(
                "the type has the parts of one member (loffs, lparts), expected one for all of \
                 them: a team only",
            ),
            Self::NoSuchRank { rank, ranks } => {
                write!(f, "got rank {rank}, expected ranks below {ranks}")
            }
            Self::Mesh { mesh } => write!(f, "got the mesh {mesh:?}, expected NAME=SIZE, NAME=*"),
            Self::MeshSize { size, mesh } => write!(f, "got the size {size:?} in {mesh:?}"),
            Self::MeshTooLarge { mesh } => write!(f, "{mesh:?} is too large"),
            Self::MeshRest { mesh } => {
                write!(f, "got the mesh {mesh:?}, expected at most one size *")
            }
            Self::TooFewRanks { mesh, needed, ranks } => {
                write!(f, "{mesh:?} needs at least {needed} ranks, got {ranks}")
            }
        }
    }
}

impl std::error::Error for PlaceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Distribution(error) => Some(error),
            Self::Movement(error) => Some(error),
            Self::Text { error, .. } => Some(&**error),
            _ => None,
        }
    }
}

impl From<pantile_geometry::Error> for PlaceError {
    fn from(error: pantile_geometry::Error) -> Self {
        Self::Distribution(error)
    }
}

impl From<pantile_plan::Error> for PlaceError {
    fn from(error: pantile_plan::Error) -> Self {
        Self::Movement(error)
    }
}
