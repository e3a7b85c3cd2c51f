//! A fault in a text: the place, what was expected, and a caret under it.

use std::fmt;

use crate::Place;

/// What is wrong in a text, and where. Displayed with the line and carets under the place.
///
/// ```
/// let faults = pantile_ir::text::parse("func.func @f() {\n  retrun\n}\n", "f.dist").unwrap_err();
/// assert_eq!(
///     faults[0].to_string(),
///     "f.dist:2:3: there is no operation `retrun`; did you mean `return`?\n  |   retrun\n  |   ^^^^^^"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// What was got and what was expected.
    pub message: String,
    /// The line; of a long one the part around the place.
    pub line: String,
    /// How many characters of `line` are before the place.
    pub before: usize,
    /// How many characters are wrong, at least 1.
    pub length: usize,
}

/// Lines longer than this are shown as an excerpt around the fault.
const EXCERPT: usize = 100;

impl Fault {
    /// A fault in this line of a text; `length` characters from the place's column are wrong.
    pub(super) fn new(place: Place, message: String, line: &str, length: usize) -> Self {
        let column = place.column as usize;
        let count = line.chars().take(column + EXCERPT).count();
        let first = if count <= EXCERPT { 0 } else { column.saturating_sub(EXCERPT / 2 + 1) };
        let shown = line.chars().skip(first).take(EXCERPT);
        let line: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
        let before = column.saturating_sub(1 + first);
        let length = length.min(line.chars().count().saturating_sub(before)).max(1);
        Self { place, message, line, before, length }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.place, self.message)?;
        writeln!(f, "  | {}", self.line)?;
        write!(f, "  | {}{}", " ".repeat(self.before), "^".repeat(self.length))
    }
}

impl std::error::Error for Fault {}
