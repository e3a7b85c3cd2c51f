//! What can be wrong with an array, and where that was written.

use std::fmt;

use pantile_engine::Error as EngineError;
use pantile_ir::Place;
use pantile_lower::LowerError;

use super::fault_kind::FaultKind;

/// Why an array has no elements: what is wrong, and the line of the program that asked for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What is wrong.
    pub kind: Box<FaultKind>,
    /// Where it was written.
    pub place: Place,
}

impl Fault {
    /// Something that is wrong at a place.
    pub fn new(kind: impl Into<FaultKind>, place: Place) -> Self {
        Self { kind: Box::new(kind.into()), place }
    }

    /// The same at another place.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// What a rank said, if the program ran.
    #[must_use]
    pub fn rank(&self) -> Option<&EngineError> {
        self.kind.rank()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.is_in_a_file() {
            false => self.kind.fmt(f),
            true => write!(f, "{}: {}", self.place, self.kind),
        }
    }
}

impl std::error::Error for Fault {}

impl From<LowerError> for Fault {
    fn from(error: LowerError) -> Self {
        Self::new(*error.kind, error.place)
    }
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        Self::new(error, Place::default())
    }
}
