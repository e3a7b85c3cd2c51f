//! Attributes: constants that operations and types carry.

use crate::Type;

/// A constant of an operation or a type. Floats are compared by their bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// A whole number; with its type if one was written.
    Int(i128, Option<Type>),
    /// The bits of an `f64`; with its type if one was written.
    Float(u64, Option<Type>),
    /// `true` or `false`.
    Bool(bool),
    /// `"..."`.
    String(String),
    /// `@name`.
    Symbol(String),
    /// `[a, b]`.
    List(Vec<Attribute>),
    /// `{name = a}`.
    Dict(Vec<(String, Attribute)>),
    /// A type.
    Type(Box<Type>),
    /// `unit`: a name without a value.
    Unit,
    /// Anything else that starts with `#`, as it was written.
    Opaque(String),
}

impl Attribute {
    /// A whole number.
    #[must_use]
    pub fn int(value: i64) -> Self {
        Self::Int(i128::from(value), None)
    }

    /// A floating-point number.
    #[must_use]
    pub fn float(value: f64) -> Self {
        Self::Float(value.to_bits(), None)
    }

    /// What a team is called of which this is the attribute: numbers and words without quotes.
    #[must_use]
    pub fn team_name(&self) -> String {
        match self {
            Self::Int(number, _) => number.to_string(),
            Self::String(name) | Self::Symbol(name) | Self::Opaque(name) => name.clone(),
            Self::Bool(value) => value.to_string(),
            other => format!("{other:?}"),
        }
    }

    /// Its value, if it is a whole number that fits.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value, _) => i64::try_from(*value).ok(),
            _ => None,
        }
    }
}
