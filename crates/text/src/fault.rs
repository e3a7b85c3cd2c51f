//! A fault in a text: line, column, what was expected, and carets under the place.

use std::fmt;
use std::sync::Arc;

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
    file: Option<Arc<str>>,
    message: Box<str>,
    excerpt: Box<str>,
    line: u32,
    column: u32,
    before: u32,
    length: u32,
}

/// Lines longer than this are shown as an excerpt around the fault.
const EXCERPT: usize = 100;

impl Fault {
    /// A fault at byte offset `offset` of `text` (clamped to its end).
    #[must_use]
    pub fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let offset = boundary(text, offset);
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[start..].chars().count() + 1;
        Self::placed(text, offset, (line, column), message)
    }

    /// A fault at an offset between characters whose line and column are known.
    pub(crate) fn placed(
        text: &str,
        offset: usize,
        (line, column): (usize, usize),
        message: impl Into<String>,
    ) -> Self {
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let whole = text[start..].split('\n').next().unwrap_or_default();
        let count = whole.chars().take(column + EXCERPT).count();
        let first = if count <= EXCERPT { 0 } else { column.saturating_sub(EXCERPT / 2 + 1) };
        let shown = whole.chars().skip(first).take(EXCERPT);
        let excerpt: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
        let before = column.saturating_sub(1 + first);
        let [line, column, before] = [line, column, before].map(narrow);
        let (message, excerpt) = (message.into().into(), excerpt.into());
        Self { file: None, message, excerpt, line, column, before, length: 1 }
    }

    /// The same fault in a text that has a name; an empty one counts for nothing.
    #[must_use]
    pub fn in_file(self, file: &Arc<str>) -> Self {
        Self { file: Some(Arc::clone(file)).filter(|file| !file.is_empty()), ..self }
    }

    /// The same fault with carets under `length` characters, as far as they are shown; at least one.
    #[must_use]
    pub fn over(self, length: usize) -> Self {
        let shown = self.excerpt.chars().count().saturating_sub(self.before as usize);
        Self { length: narrow(length.min(shown).max(1)), ..self }
    }

    /// The name of the text, if it has one.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Line of the fault, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line as usize
    }

    /// Column of the fault in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column as usize
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// Errors stay small; a text has fewer lines than that.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The last place between characters that is not beyond `offset`.
pub(crate) fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}:{}:{}: ", self.line, self.column)?,
            None => write!(f, "line {}, column {}: ", self.line, self.column)?,
        }
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  | {}", self.excerpt)?;
        write!(f, "  | {}{}", " ".repeat(self.before as usize), "^".repeat(self.length as usize))
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_lengths_are_shown() {
        let fault = Fault::at("a\nbad line", 2, "what?").in_file(&"x.dist".into()).over(3);
        assert_eq!(fault.to_string(), "x.dist:2:1: what?\n  | bad line\n  | ^^^");
        assert_eq!(Fault::at("a", 9, "b").in_file(&"".into()), Fault::at("a", 1, "b"));
        assert_eq!(Fault::at("ab", 0, "b").over(9), Fault::at("ab", 0, "b").over(2));
        assert_eq!(Fault::at("", 0, "b").over(0), Fault::at("", 0, "b"));
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}x{}", "a".repeat(200), "b".repeat(200));
        let shown = Fault::at(&text, 200, "here").to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].len(), "  | ".len() + EXCERPT);
        assert_eq!(lines[1].find('x'), lines[2].find('^'));
    }
}
