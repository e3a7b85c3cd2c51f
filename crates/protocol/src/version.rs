//! Versions of the protocol and which of them are read.
//!
//! A version is `major.minor.patch`, three plain numbers. 0.10.0 and whatever is newer with the same
//! major number is accepted: the protocol promises that a minor version only adds. Older ones mean
//! other things, because the step from 0.9 to 0.10 did not keep that promise, and are upgraded first.
//! Another major number is refused.

use std::fmt;

/// A version number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
}

/// What a reader of 0.10 does with a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionVerdict {
    /// From 0.10.0 on, below 1.0.0.
    Accepted,
    /// Before 0.10: needs [`crate::upgrade`].
    Old,
    /// Of another major number.
    Unknown,
}

impl Version {
    /// The version that is written.
    pub const CURRENT: Self = Self { major: 0, minor: 10, patch: 0 };

    /// Reads `major.minor.patch`; anything else (two numbers, leading zeros, suffixes, signs) is
    /// not a version.
    ///
    /// ```
    /// use pantile_protocol::Version;
    /// assert_eq!(Version::parse("0.10.0"), Some(Version::CURRENT));
    /// assert_eq!(Version::parse("0.10"), None);
    /// assert_eq!(Version::parse("00.10.00"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(|part| {
            let plain = part.bytes().all(|b| b.is_ascii_digit());
            let canonical = part == "0" || !part.starts_with('0');
            if plain && canonical { part.parse().ok() } else { None }
        });
        let (major, minor, patch) = (numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(Self { major, minor, patch })
    }

    /// What a reader of 0.10 does with it.
    #[must_use]
    pub fn verdict(self) -> VersionVerdict {
        match (self.major, self.minor) {
            (0, 0..10) => VersionVerdict::Old,
            (0, _) => VersionVerdict::Accepted,
            _ => VersionVerdict::Unknown,
        }
    }

    /// True if its meaning is that of 0.9.
    ///
    /// That includes exactly 1.0.0: the text of December 2013 carried that number, was renamed to
    /// 0.9.0 a month later, and the validator of 0.9.0 accepts both. No later 1.0.0 exists.
    #[must_use]
    pub fn is_dialect_0_9(self) -> bool {
        (self.major, self.minor) == (0, 9) || self == Self { major: 1, minor: 0, patch: 0 }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_plain_numbers() {
        for text in ["", ".", "0.10", "0.10.0a1", "0.10.0-dev", "v0.10.0", "0.10.0.0", "0..0"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        for text in ["0.010.0", "+0.10.0", " 0.10.0", "0.10.99999999999", "0.1٠.0"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        assert_eq!(Version::parse("0.10.17").unwrap().to_string(), "0.10.17");
    }

    #[test]
    fn verdicts() {
        let verdict = |text| Version::parse(text).unwrap().verdict();
        assert_eq!(verdict("0.10.1"), VersionVerdict::Accepted);
        assert_eq!(verdict("0.9.0"), VersionVerdict::Old);
        assert_eq!(verdict("0.0.1"), VersionVerdict::Old);
        assert_eq!(verdict("0.10.4294967295"), VersionVerdict::Accepted);
        assert_eq!(verdict("0.11.0"), VersionVerdict::Accepted);
        assert_eq!(verdict("0.4294967295.0"), VersionVerdict::Accepted);
        assert_eq!(verdict("0.9.99"), VersionVerdict::Old);
        assert_eq!(verdict("1.10.0"), VersionVerdict::Unknown);
        assert_eq!(verdict("1.0.0"), VersionVerdict::Unknown);
        assert!(Version::parse("1.0.0").unwrap().is_dialect_0_9());
        assert!(!Version::parse("1.0.1").unwrap().is_dialect_0_9());
    }
}
