//! Which operation a rank is in, and where its program asked for it.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

/// One collective operation as one rank sees it.
///
/// Two ranks mean the same operation if name and fingerprint are equal; the place in the program
/// may differ (two branches of one `if` are allowed to meet) and is there to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CollectiveSignature {
    /// What the user asked for, in a word or two: `halo exchange`.
    pub name: Cow<'static, str>,
    /// Everything that all ranks have to agree on, as one number.
    pub fingerprint: u64,
    /// File of the program that asked for it.
    pub file: Cow<'static, str>,
    /// Line in that file.
    pub line: u32,
}

impl CollectiveSignature {
    /// The operation called `name`, asked for at the line that calls this function.
    #[track_caller]
    #[must_use]
    pub fn here(name: &'static str, fingerprint: u64) -> Self {
        Self::at(name, fingerprint, Location::caller())
    }

    /// The operation called `name`, asked for at `place`.
    #[must_use]
    pub fn at(name: &'static str, fingerprint: u64, place: &'static Location<'static>) -> Self {
        let file = Cow::Borrowed(place.file());
        Self { name: Cow::Borrowed(name), fingerprint, file, line: place.line() }
    }

    /// True if both mean the same operation.
    #[must_use]
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint && self.name == other.name
    }
}

impl fmt::Display for CollectiveSignature {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({}:{})", self.name, self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_knows_its_line_but_agrees_across_lines() {
        let (first, second) =
            (CollectiveSignature::here("barrier", 1), CollectiveSignature::here("barrier", 1));
        assert_eq!(first.to_string(), format!("barrier ({}:{})", file!(), line!() - 1));
        let later = CollectiveSignature::here("barrier", 1);
        assert!(first.agrees_with(&second) && first.agrees_with(&later));
        assert!(!first.agrees_with(&CollectiveSignature::here("barrier", 2)));
        assert!(!first.agrees_with(&CollectiveSignature::here("broadcast", 1)));
    }
}
