//! A fault in a text: line, column, what was expected, and a caret under the place.

use std::fmt;

/// What is wrong in a text, and where. Displayed with the offending line and a caret.
///
/// ```
/// use pantile_text::Fault;
/// let fault = Fault::at("8 on r=x", 7, "expected a number, found `x`");
/// assert_eq!(
///     fault.to_string(),
///     "line 1, column 8: expected a number, found `x`\n  | 8 on r=x\n  |        ^"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    line: usize,
    column: usize,
    message: String,
    excerpt: String,
    caret: usize,
}

/// Lines longer than this are shown as an excerpt around the fault.
const EXCERPT: usize = 100;

impl Fault {
    /// A fault at byte offset `offset` of `text` (clamped to its end).
    #[must_use]
    pub fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[start..].chars().count() + 1;
        let whole: Vec<char> = text[start..].chars().take_while(|c| *c != '\n').collect();
        let first = if whole.len() <= EXCERPT { 0 } else { column.saturating_sub(EXCERPT / 2 + 1) };
        let shown = whole.iter().skip(first).take(EXCERPT);
        let excerpt = shown.map(|c| if c.is_control() { ' ' } else { *c }).collect();
        Self { line, column, message: message.into(), excerpt, caret: column - 1 - first }
    }

    /// Line of the fault, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Column of the fault in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        writeln!(f, "  | {}", self.excerpt)?;
        write!(f, "  | {}^", " ".repeat(self.caret))
    }
}

impl std::error::Error for Fault {}
