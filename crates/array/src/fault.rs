//! What can be wrong with an array.

use std::fmt;

use pantile_engine::Error as EngineError;
use pantile_ir::Place;
use pantile_ir::lower::LowerError;

/// Why an array has no elements: what is wrong, and the line of the program that asked for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// Where it was written.
    pub place: Place,
    /// What a rank said, if the program ran.
    pub rank: Option<Box<EngineError>>,
}

impl Fault {
    pub(crate) fn new(message: impl fmt::Display, place: Place) -> Self {
        Self { message: message.to_string(), place, rank: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.is_in_a_file() {
            false => f.write_str(&self.message),
            true => write!(f, "{}: {}", self.place, self.message),
        }
    }
}

impl std::error::Error for Fault {}

impl From<LowerError> for Fault {
    fn from(error: LowerError) -> Self {
        Self::new(error.kind, error.place)
    }
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        Self { message: error.to_string(), place: Place::default(), rank: Some(Box::new(error)) }
    }
}
