//! One process' description, as it was given.

use crate::{Dim, Object, Version};

/// What is known about the buffer of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Not stated: extents are taken from the description and not compared.
    Unknown,
    /// The structure has no buffer, though it must.
    Missing,
    /// There is something that is not a buffer, or a buffer whose shape makes no sense.
    Other(String),
    /// A buffer.
    Known {
        /// Its extents, padding included.
        shape: Vec<i64>,
        /// Its element type, as it was given.
        format: Option<String>,
    },
}

/// The structure that one process exports: version, buffer and one dictionary per dimension.
///
/// Nothing is checked here; wrong types stay as they are, so that the judgement can name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The value of `__version__`, if it is there.
    pub version: Option<Object>,
    /// The buffer.
    pub buffer: Buffer,
    /// The value of `dim_data`, if it is there: a tuple of dicts if all is well.
    pub dim_data: Option<Object>,
    /// Keys of the structure that do not belong there.
    pub extra_keys: Vec<String>,
}

impl Section {
    /// A strict section of the current version: the dictionaries of `dims`, extents from them.
    #[must_use]
    pub fn from_dims(dims: &[Dim], format: Option<String>) -> Self {
        let shape = dims.iter().map(Dim::extent).collect();
        Self {
            version: Some(Version::CURRENT.to_string().as_str().into()),
            buffer: Buffer::Known { shape, format },
            dim_data: Some(Object::tuple(dims.iter().map(Dim::to_object))),
            extra_keys: Vec::new(),
        }
    }

    /// The dimension dictionaries; empty if `dim_data` is not a sequence.
    #[must_use]
    pub fn dicts(&self) -> &[Object] {
        self.dim_data.as_ref().and_then(Object::as_sequence).unwrap_or_default()
    }

    /// The typed dimensions; `None` where the dictionary breaks the rules about types and signs.
    ///
    /// Whether they fit each other is what [`crate::validate`] and [`crate::check`] say.
    #[must_use]
    pub fn dims(&self) -> Vec<Option<Dim>> {
        crate::validate::read(self).0
    }

    /// The version, if it is there and is one.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.version.as_ref().and_then(Object::as_str).and_then(Version::parse)
    }

    /// The shape of the buffer, if it is known.
    #[must_use]
    pub fn shape(&self) -> Option<&[i64]> {
        if let Buffer::Known { shape, .. } = &self.buffer { Some(shape) } else { None }
    }

    /// The element type of the buffer, if it is known.
    #[must_use]
    pub fn format(&self) -> Option<&str> {
        if let Buffer::Known { format, .. } = &self.buffer { format.as_deref() } else { None }
    }
}
