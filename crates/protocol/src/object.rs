//! The Python objects that descriptions are made of, as far as they matter here.
//!
//! A description may come from JSON, from the header of a file or from living objects; all three
//! become [`Object`]s, so the rules are written once. Tuples and lists are kept apart, because the
//! protocol asks for tuples.

use std::fmt;

/// One object, with the byte offset it was read from if it came from a text.
///
/// Two objects are equal if they say the same; offsets do not count.
#[derive(Clone, Debug)]
pub struct Object {
    kind: Kind,
    offset: Option<usize>,
}

/// What an [`Object`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An `int` of at most 128 bits.
    Int(i128),
    /// Any other number, as it was written.
    Number(String),
    /// A `str`.
    Text(String),
    /// A `tuple`.
    Tuple(Vec<Object>),
    /// A `list`.
    List(Vec<Object>),
    /// A `dict` in insertion order.
    Dict(Vec<(Object, Object)>),
    /// A one-dimensional buffer of integers.
    Indices(Vec<i64>),
    /// Anything else, by the name of its type.
    Other(String),
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Object {}

impl From<Kind> for Object {
    fn from(kind: Kind) -> Self {
        Self { kind, offset: None }
    }
}

impl From<i64> for Object {
    fn from(value: i64) -> Self {
        Kind::Int(value.into()).into()
    }
}

impl From<bool> for Object {
    fn from(value: bool) -> Self {
        Kind::Bool(value).into()
    }
}

impl From<&str> for Object {
    fn from(text: &str) -> Self {
        Kind::Text(text.to_owned()).into()
    }
}

impl Object {
    /// An object read at byte offset `offset`.
    #[must_use]
    pub fn at(offset: usize, kind: Kind) -> Self {
        Self { kind, offset: Some(offset) }
    }

    /// A tuple.
    pub fn tuple(items: impl IntoIterator<Item = Self>) -> Self {
        Kind::Tuple(items.into_iter().collect()).into()
    }

    /// A dict with text keys in the given order.
    pub fn dict<'a>(entries: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (Self::from(key), value));
        Kind::Dict(entries.collect()).into()
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Where it was read.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }

    /// The same object of another kind, at the same place.
    pub(crate) fn with_kind(&self, kind: Kind) -> Self {
        Self { kind, offset: self.offset }
    }

    /// The integer, if it is one that fits 64 bits. `True` is not an integer here.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Kind::Int(value) = self.kind { i64::try_from(value).ok() } else { None }
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Kind::Bool(value) = self.kind { Some(value) } else { None }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// The items, if it is a tuple.
    #[must_use]
    pub fn as_tuple(&self) -> Option<&[Self]> {
        if let Kind::Tuple(items) = &self.kind { Some(items) } else { None }
    }

    /// The items, if it is a tuple or a list.
    #[must_use]
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::Tuple(items) | Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if it is a dict.
    #[must_use]
    pub fn as_dict(&self) -> Option<&[(Self, Self)]> {
        if let Kind::Dict(entries) = &self.kind { Some(entries) } else { None }
    }

    /// The value under the text key `key`, if it is a dict that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let found = self.as_dict()?.iter().find(|(name, _)| name.as_str() == Some(key));
        found.map(|(_, value)| value)
    }

    /// Puts `value` under `key` of a dict: in its old place if the key is there, else at the end.
    pub(crate) fn set(&mut self, key: &str, value: Self) {
        if let Kind::Dict(entries) = &mut self.kind {
            match entries.iter_mut().find(|(name, _)| name.as_str() == Some(key)) {
                Some(entry) => entry.1 = value,
                None => entries.push((key.into(), value)),
            }
        }
    }

    /// Takes `key` out of a dict.
    pub(crate) fn remove(&mut self, key: &str) {
        if let Kind::Dict(entries) = &mut self.kind {
            entries.retain(|(name, _)| name.as_str() != Some(key));
        }
    }
}

/// Short words for messages: `3`, `"x"`, `a list of 2`, `a dict with 4 keys`.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |text: &str| text.chars().take(24).collect::<String>();
        match &self.kind {
            Kind::None => f.write_str("None"),
            Kind::Bool(true) => f.write_str("True"),
            Kind::Bool(false) => f.write_str("False"),
            Kind::Int(value) => write!(f, "{value}"),
            Kind::Number(text) => f.write_str(&short(text)),
            Kind::Text(text) => write!(f, "{:?}", short(text)),
            Kind::Tuple(items) => write!(f, "a tuple of {}", items.len()),
            Kind::List(items) => write!(f, "a list of {}", items.len()),
            Kind::Dict(entries) => write!(f, "a dict with {} keys", entries.len()),
            Kind::Indices(labels) => write!(f, "a buffer of {} integers", labels.len()),
            Kind::Other(name) => write!(f, "an object of type {}", short(name)),
        }
    }
}
