//! What a check found: code, place and a sentence.

use crate::Code;
use std::fmt;

/// One broken rule, with the rank and axis it was found on.
///
/// Displayed as `rank 1, axis 0: ADJACENCY: ...`; parts that are not known are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub code: Code,
    /// The rank whose description breaks it, if it is one rank's.
    pub rank: Option<usize>,
    /// The array axis, if it is about one.
    pub axis: Option<usize>,
    /// What was got and what was expected.
    pub message: String,
    /// The byte offset of the offending value, if it came from a text.
    pub offset: Option<usize>,
}

impl Finding {
    /// A finding without a place.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, rank: None, axis: None, message: message.into(), offset: None }
    }

    /// The same on a rank.
    #[must_use]
    pub fn on_rank(self, rank: usize) -> Self {
        Self { rank: Some(rank), ..self }
    }

    /// The same on an axis.
    #[must_use]
    pub fn on_axis(self, axis: usize) -> Self {
        Self { axis: Some(axis), ..self }
    }

    /// The same at a byte offset of a text.
    #[must_use]
    pub fn at(self, offset: Option<usize>) -> Self {
        Self { offset, ..self }
    }
}

fn write_place(
    f: &mut fmt::Formatter<'_>,
    rank: Option<usize>,
    axis: Option<usize>,
) -> fmt::Result {
    match (rank, axis) {
        (Some(rank), Some(axis)) => write!(f, "rank {rank}, axis {axis}: "),
        (Some(rank), None) => write!(f, "rank {rank}: "),
        (None, Some(axis)) => write!(f, "axis {axis}: "),
        (None, None) => Ok(()),
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, self.rank, self.axis)?;
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// Something worth saying that breaks no rule: a repair, an assumption, an upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The rank it is about, if it is about one.
    pub rank: Option<usize>,
    /// The array axis, if it is about one.
    pub axis: Option<usize>,
    /// What was done or assumed.
    pub message: String,
}

impl Note {
    /// A note about everything.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { rank: None, axis: None, message: message.into() }
    }

    /// The same on an axis, and on a rank if there is one to name.
    #[must_use]
    pub fn on(self, rank: Option<usize>, axis: usize) -> Self {
        Self { rank, axis: Some(axis), ..self }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, self.rank, self.axis)?;
        f.write_str(&self.message)
    }
}

/// The findings as text, one line each, with line and column where they came from `text`.
///
/// ```
/// use pantile_protocol::{Code, Finding, report};
/// let finding = Finding::new(Code::Type, "`size` is \"x\", expected an integer").on_rank(2);
/// let text = "{\n \"size\": \"x\"}";
/// assert_eq!(
///     report(&[finding.at(Some(11))], Some(text)),
///     "rank 2: TYPE: `size` is \"x\", expected an integer (line 2, column 10)\n"
/// );
/// ```
#[must_use]
pub fn report(findings: &[Finding], text: Option<&str>) -> String {
    let breaks: Vec<usize> = text.unwrap_or_default().match_indices('\n').map(|m| m.0).collect();
    let mut out = String::new();
    for finding in findings {
        out.push_str(&finding.to_string());
        if let (Some(text), Some(offset)) = (text, finding.offset) {
            let line = breaks.partition_point(|at| *at < offset);
            let start = if line == 0 { 0 } else { breaks[line - 1] + 1 };
            let column = text.get(start..offset).map_or(0, |before| before.chars().count());
            out.push_str(&format!(" (line {}, column {})", line + 1, column + 1));
        }
        out.push('\n');
    }
    out
}
