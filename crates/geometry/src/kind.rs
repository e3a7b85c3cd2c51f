//! What it means that several ranks hold the same element.

use std::fmt;

/// What several holders of one element mean, along one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Each has the element's value.
    #[default]
    Copies,
    /// The element's value is their combination under the operator.
    Terms,
}

impl Kind {
    /// Copies for terms and terms for copies.
    #[must_use]
    pub fn dual(self) -> Self {
        match self {
            Self::Copies => Self::Terms,
            Self::Terms => Self::Copies,
        }
    }
}

/// How terms are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// Addition; the only operator whose terms have a dual.
    #[default]
    Sum,
    /// Multiplication.
    Prod,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Logical or bitwise conjunction.
    And,
    /// Logical or bitwise disjunction.
    Or,
}

impl Operator {
    /// All operators.
    pub const ALL: [Self; 6] = [Self::Sum, Self::Prod, Self::Min, Self::Max, Self::And, Self::Or];

    /// The operator of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.name() == name)
    }

    /// Its name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
