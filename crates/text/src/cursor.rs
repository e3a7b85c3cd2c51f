//! A cursor over a text: words, numbers and symbols, skipping spaces and comments.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::fault::boundary;
use crate::{Fault, HashComments, Syntax};

/// A place in a text of some language. Methods skip white space and comments unless they say that
/// they read directly at the place.
#[derive(Clone, Debug)]
pub struct Cursor<'a, S = HashComments> {
    text: &'a str,
    /// The byte offset of the place, which lies between characters.
    pub at: usize,
    file: Option<Arc<str>>,
    /// The last offset asked for with its line and column, so that asking in order is cheap.
    mark: Cell<(usize, usize, usize)>,
    syntax: PhantomData<S>,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `text`.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self::of(text)
    }
}

impl<'a, S: Syntax> Cursor<'a, S> {
    /// A cursor at the start of a text of any language.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self { text, at: 0, file: None, mark: Cell::new((0, 1, 1)), syntax: PhantomData }
    }

    /// The same place in a text that has a name, which faults show.
    #[must_use]
    pub fn in_file(self, file: &Arc<str>) -> Self {
        Self { file: Some(Arc::clone(file)), ..self }
    }

    /// Everything that is read.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Skips white space and comments.
    #[inline]
    pub fn skip(&mut self) {
        while let Some(byte) = self.peek() {
            if byte.is_ascii() && S::is_space(char::from(byte)) {
                self.at += 1;
            } else if !self.skips_further(byte) {
                return;
            }
        }
    }

    /// Skips a comment, or white space outside of ASCII, that begins with this byte.
    #[inline]
    fn skips_further(&mut self, byte: u8) -> bool {
        let start = self.at;
        if !byte.is_ascii() {
            let wide = self.here().chars().next().filter(|c| S::is_space(*c));
            self.at += wide.map_or(0, char::len_utf8);
        } else if S::COMMENT.is_some_and(|comment| comment.as_bytes()[0] == byte) {
            let rest = self.here();
            if S::COMMENT.is_some_and(|comment| rest.starts_with(comment)) {
                self.at += rest.find('\n').unwrap_or(rest.len());
            }
        }
        self.at > start
    }

    /// The byte offset of the next token.
    #[inline]
    pub fn offset(&mut self) -> usize {
        self.skip();
        self.at
    }

    /// What is left from the next token on.
    #[inline]
    pub fn rest(&mut self) -> &'a str {
        self.skip();
        self.here()
    }

    /// What is left, directly at the place.
    #[must_use]
    #[inline]
    pub fn here(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The byte directly at the place.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Consumes digits directly at the place, maybe none.
    #[inline]
    pub fn digits(&mut self) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// True if nothing is left.
    pub fn at_end(&mut self) -> bool {
        self.rest().is_empty()
    }

    /// True if the next characters are `symbol`; nothing is consumed.
    #[inline]
    pub fn looks_at(&mut self, symbol: &str) -> bool {
        self.skip();
        match symbol.as_bytes() {
            [only] => self.peek() == Some(*only),
            _ => self.here().starts_with(symbol),
        }
    }

    /// Consumes `symbol` if it is next.
    #[inline]
    pub fn eat(&mut self, symbol: &str) -> bool {
        let found = self.looks_at(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    /// Consumes `symbol` or says what is there instead.
    ///
    /// # Errors
    /// The next token is not `symbol`.
    pub fn expect(&mut self, symbol: &str) -> Result<(), Fault> {
        if self.eat(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    /// The next word, not consumed: a letter or `_` and what the language has in words; empty if none.
    pub fn peek_word(&mut self) -> &'a str {
        let rest = self.rest();
        let starts = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if starts { Self::word_at(rest) } else { "" }
    }

    /// The word at the start of `rest`, which may begin like the inside of one.
    #[must_use]
    pub fn word_at(rest: &str) -> &str {
        let end = rest.bytes().position(|byte| !S::is_word(byte));
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Consumes the word `word` if it is next, as a whole word.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    /// Consumes any word; `what` names it in the fault.
    ///
    /// # Errors
    /// The next token is not a word.
    pub fn word(&mut self, what: &str) -> Result<&'a str, Fault> {
        let word = self.peek_word();
        if word.is_empty() {
            return Err(self.expected(what));
        }
        self.at += word.len();
        Ok(word)
    }

    /// Consumes a whole word that must be `word`.
    ///
    /// # Errors
    /// The next token is another one.
    pub fn expect_word(&mut self, word: &str) -> Result<(), Fault> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// True if a number (with an optional minus sign) is next.
    pub fn looks_at_number(&mut self) -> bool {
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        digits.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Consumes a signed whole number.
    ///
    /// # Errors
    /// No number is next, or it does not fit 64 bits.
    pub fn signed(&mut self, what: &str) -> Result<i64, Fault> {
        if !self.looks_at_number() {
            return Err(self.expected(what));
        }
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let end = rest[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - sign);
        let number = &rest[..sign + end];
        let value = number
            .parse()
            .map_err(|_| self.fault_at(self.at, format!("{number} does not fit in 64 bits")))?;
        self.at += number.len();
        Ok(value)
    }

    /// Consumes a number that is not negative.
    ///
    /// # Errors
    /// No number is next, it is negative, or it does not fit 63 bits.
    pub fn number(&mut self, what: &str) -> Result<usize, Fault> {
        let start = self.offset();
        let value = self.signed(what)?;
        usize::try_from(value).map_err(|_| {
            self.fault_at(start, format!("expected {what} of at least 0, found {value}"))
        })
    }

    /// Line and column of an offset between characters, both from 1; cheap for offsets asked in order.
    #[must_use]
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let (mut from, mut line, mut column) = self.mark.get();
        if from > offset {
            (from, line, column) = (0, 1, 1);
        }
        for c in self.text[from..offset].chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        self.mark.set((offset, line, column));
        (line, column)
    }

    /// A fault with a message of its own at byte offset `offset`; the token there is marked.
    #[must_use]
    pub fn fault_at(&self, offset: usize, message: impl Into<String>) -> Fault {
        let offset = boundary(self.text, offset);
        let fault = Fault::placed(self.text, offset, self.place(offset), message);
        let fault = fault.over(S::length(&self.text[offset..]));
        match &self.file {
            Some(file) => fault.in_file(file),
            None => fault,
        }
    }

    /// A fault at the next token: "expected `what`, found ...".
    pub fn expected(&mut self, what: &str) -> Fault {
        self.skip();
        self.expected_here(what)
    }

    /// The same, directly at the place.
    #[must_use]
    pub fn expected_here(&self, what: &str) -> Fault {
        let found = match self.here() {
            "" => S::END.to_owned(),
            rest => format!("`{}`", S::found(rest)),
        };
        self.fault_at(self.at, format!("expected {what}, found {found}"))
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// Something is left.
    pub fn finish(&mut self) -> Result<(), Fault> {
        if self.at_end() { Ok(()) } else { Err(self.expected(S::END)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_symbols() {
        let mut cursor = Cursor::new(" block2 -17 # a comment\n -> halo");
        assert_eq!(cursor.word("a cut").unwrap(), "block2");
        assert_eq!(cursor.signed("a number").unwrap(), -17);
        assert!(cursor.eat("->"));
        assert!(!cursor.eat_word("hal"));
        assert!(cursor.eat_word("halo"));
        cursor.finish().unwrap();
    }

    #[test]
    fn faults_name_the_place() {
        let mut cursor = Cursor::new("a\n  99999999999999999999");
        cursor.word("a word").unwrap();
        let fault = cursor.number("a length").unwrap_err();
        assert_eq!((fault.line(), fault.column()), (2, 3));
        assert_eq!(fault.message(), "99999999999999999999 does not fit in 64 bits");
        let fault = Cursor::new("é\u{7}").number("a length").unwrap_err();
        assert_eq!(fault.message(), "expected a length, found `é`");
        assert!(Cursor::new("-1").number("a length").is_err());
    }
}
