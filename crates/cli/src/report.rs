//! What a subcommand has to say.

use pantile_text::json::Value;

/// The outcome of a subcommand: what goes to stdout, what to stderr, and whether it is a refusal.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// For stdout.
    pub(crate) text: String,
    /// For stderr, one line each.
    pub(crate) notes: Vec<String>,
    /// True if something was looked at and refused: exit code 1.
    pub(crate) refused: bool,
}

impl Report {
    /// A text that ends with a line break.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let mut text = text.into();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Self { text, ..Self::default() }
    }

    /// An indented JSON value.
    pub(crate) fn json(value: &Value) -> Self {
        Self::text(value.to_indented())
    }

    /// The same with notes.
    pub(crate) fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }
}
