//! In what languages differ, as far as a cursor knows them.

/// What is skipped, what a word is, and how faults show what they found.
pub trait Syntax {
    /// What begins a comment that goes to the end of its line.
    const COMMENT: Option<&'static str> = None;

    /// How faults call the end of the text.
    const END: &'static str = "the end of the text";

    /// True for white space between tokens.
    fn is_space(c: char) -> bool;

    /// True inside words.
    fn is_word(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || byte == b'_'
    }

    /// What faults show of the text at their place, which is not its end.
    fn found(rest: &str) -> String;

    /// How many characters there get a caret.
    fn length(_rest: &str) -> usize {
        1
    }
}

/// The usual one, of distributions and plans: comments begin with `#`.
#[derive(Clone, Copy, Debug)]
pub struct HashComments;

impl Syntax for HashComments {
    const COMMENT: Option<&'static str> = Some("#");

    fn is_space(c: char) -> bool {
        c.is_whitespace()
    }

    fn found(rest: &str) -> String {
        leading(rest, |c| c.is_alphanumeric() || "_-.".contains(c))
            .unwrap_or_else(|| rest.chars().take(1).collect())
    }
}

/// The first characters of a kind, at most 24; nothing if there are none.
pub(crate) fn leading(rest: &str, kind: impl Fn(char) -> bool) -> Option<String> {
    let word: String = rest.chars().take_while(|c| kind(*c)).take(24).collect();
    Some(word).filter(|word| !word.is_empty())
}
