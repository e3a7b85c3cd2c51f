//! The types of values: arrays with their distribution, scalars, indices, handles.

use pantile_lanes::DType;

use crate::{Attribute, Placement};

/// A length that is known, or `?`.
pub type Dim = Option<usize>;

/// How the type of an element was written; it means the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spelling {
    /// `i64`, `ui64`, `f64`, `complex<f64>`, `i1`.
    #[default]
    Plain,
    /// `si64`.
    Signed,
    /// `index` as the element of an array: `I64`.
    Index,
}

/// The type of an element together with how it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Element {
    /// The type.
    pub dtype: DType,
    /// How it was written.
    pub spelling: Spelling,
}

impl From<DType> for Element {
    fn from(dtype: DType) -> Self {
        Self { dtype, spelling: Spelling::Plain }
    }
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A whole number that counts elements.
    Index,
    /// One element.
    Scalar(Element),
    /// An array.
    Array(ArrayType),
    /// Local memory: `memref<3x4xf64>`.
    MemRef(Vec<Dim>, Element),
    /// A local value: `tensor<3x4xf64>`.
    Tensor(Vec<Dim>, Element),
    /// What an asynchronous operation gives and `wait` takes.
    Handle,
}

/// The type of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayType {
    /// The length of each axis.
    pub shape: Vec<Dim>,
    /// The type of an element.
    pub element: Element,
    /// A word that is carried along.
    pub layout: Option<String>,
    /// Where it lives and on what device, sorted by their text.
    pub envs: Vec<Env>,
}

/// What the type of an array says besides shape and elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Env {
    /// `#dist.dist_env<...>`.
    Dist(DistEnv),
    /// `#pantile.dist<"...">`.
    Placement(Placement),
    /// `#region.gpu_env<device = "...">`.
    Gpu(String),
    /// Any other attribute.
    Other(Attribute),
}

/// `#dist.dist_env`: a team, and for one member where its parts lie.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DistEnv {
    /// The name of the team.
    pub team: Attribute,
    /// The parts of one member; absent while an array is not yet partitioned, and for 0-d arrays.
    pub local: Option<LocalParts>,
}

/// The parts of an array that one member has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocalParts {
    /// Offset of the first stored part along each axis.
    pub offsets: Vec<Option<i64>>,
    /// Left halo, owned, right halo (or a single part).
    pub parts: Vec<Vec<Dim>>,
}

impl ArrayType {
    /// An array of known lengths that says nothing about where it lives.
    #[must_use]
    pub fn new(shape: &[usize], dtype: DType) -> Self {
        Self {
            shape: shape.iter().copied().map(Some).collect(),
            element: dtype.into(),
            layout: None,
            envs: Vec::new(),
        }
    }

    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.element.dtype
    }

    /// Number of axes.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// The lengths, if all are known.
    #[must_use]
    pub fn known_shape(&self) -> Option<Vec<usize>> {
        self.shape.iter().copied().collect()
    }

    /// True if every axis has length 1 (0-d arrays too).
    #[must_use]
    pub fn is_unit(&self) -> bool {
        self.shape.iter().all(|dim| *dim == Some(1))
    }

    /// True if some axis has length 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&Some(0))
    }

    /// The first `dist_env`; others are carried along only.
    #[must_use]
    pub fn dist_env(&self) -> Option<&DistEnv> {
        self.envs.iter().find_map(|env| match env {
            Env::Dist(dist) => Some(dist),
            _ => None,
        })
    }

    /// The same array with this instead of what it says about where it lives.
    #[must_use]
    pub fn placed(&self, env: Option<Env>) -> Self {
        let keep = |env: &&Env| !matches!(env, Env::Dist(_) | Env::Placement(_));
        let mut envs: Vec<Env> = self.envs.iter().filter(keep).cloned().collect();
        envs.extend(env);
        crate::text::sort_envs(&mut envs);
        Self { envs, ..self.clone() }
    }
}

impl Type {
    /// An array type of known lengths.
    #[must_use]
    pub fn array(shape: &[usize], dtype: DType) -> Self {
        Self::Array(ArrayType::new(shape, dtype))
    }

    /// The scalar type of these elements.
    #[must_use]
    pub fn scalar(dtype: DType) -> Self {
        Self::Scalar(dtype.into())
    }

    /// The array type, if it is one.
    #[must_use]
    pub fn as_array(&self) -> Option<&ArrayType> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The type of its elements: of an index `I64`, of a handle none.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Self::Index => Some(DType::I64),
            Self::Scalar(element) | Self::MemRef(_, element) | Self::Tensor(_, element) => {
                Some(element.dtype)
            }
            Self::Array(array) => Some(array.dtype()),
            Self::Handle => None,
        }
    }

    /// Its lengths: none for scalars and indices.
    #[must_use]
    pub fn shape(&self) -> &[Dim] {
        match self {
            Self::Array(array) => &array.shape,
            Self::MemRef(shape, _) | Self::Tensor(shape, _) => shape,
            _ => &[],
        }
    }
}
