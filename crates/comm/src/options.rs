//! Settings of a world.

use std::fmt;
use std::time::Duration;

/// Settings of a world of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How long a rank waits for another one. Where ranks can see each other the clock runs only
    /// while the other is busy with another operation; otherwise it runs while one waits.
    pub deadline: Duration,
}

impl Default for Options {
    /// Ten minutes.
    fn default() -> Self {
        Self { deadline: Duration::from_secs(600) }
    }
}

impl Options {
    /// These options with another deadline.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline }
    }

    /// Options with the deadline that a text gives in seconds, as in the variable
    /// `PANTILE_DEADLINE`; the default if there is none.
    ///
    /// # Errors
    /// If the text is no positive number of seconds.
    pub fn from_text(deadline: Option<&str>) -> Result<Self, OptionsError> {
        let Some(text) = deadline else { return Ok(Self::default()) };
        let seconds: Option<f64> = text.trim().parse().ok().filter(|seconds| *seconds > 0.0);
        let deadline = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        deadline
            .map(|deadline| Self { deadline })
            .ok_or_else(|| OptionsError { text: text.to_owned() })
    }
}

/// A deadline that is no positive number of seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError {
    text: String,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PANTILE_DEADLINE is `{}`, expected a positive number of seconds", self.text)
    }
}

impl std::error::Error for OptionsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_a_positive_number_of_seconds() {
        assert_eq!(Options::from_text(None), Ok(Options::default()));
        assert_eq!(Options::from_text(Some(" 0.5 ")).map(|o| o.deadline.as_millis()), Ok(500));
        for wrong in ["", "soon", "-1", "0", "nan", "1e300"] {
            let error = Options::from_text(Some(wrong)).expect_err(wrong);
            assert!(error.to_string().contains(&format!("`{wrong}`")), "{error}");
        }
    }
}
