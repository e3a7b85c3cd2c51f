//! A cursor over a text: words, numbers and punctuation, skipping spaces and `#` comments.

use crate::Fault;

/// A place in a text. Every method skips white space and comments (`#` to the end of the line).
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `text`.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte offset of the next token.
    pub fn offset(&mut self) -> usize {
        self.skip();
        self.at
    }

    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with('#') {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn rest(&mut self) -> &'a str {
        self.skip();
        &self.text[self.at..]
    }

    /// True if nothing is left.
    pub fn at_end(&mut self) -> bool {
        self.rest().is_empty()
    }

    /// True if the next characters are `symbol`; nothing is consumed.
    pub fn looks_at(&mut self, symbol: &str) -> bool {
        self.rest().starts_with(symbol)
    }

    /// Consumes `symbol` if it is next.
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

    /// The next word (letter or `_`, then letters, digits, `_`), not consumed; empty if none.
    pub fn peek_word(&mut self) -> &'a str {
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return "";
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
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
        let value = number.parse().map_err(|_| {
            Fault::at(self.text, self.at, format!("{number} does not fit in 64 bits"))
        })?;
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
            Fault::at(self.text, start, format!("expected {what} of at least 0, found {value}"))
        })
    }

    /// A fault at the next token: "expected `what`, found ...".
    pub fn expected(&mut self, what: &str) -> Fault {
        let rest = self.rest();
        let found = match rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some(first) => {
                let word: String = rest
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || "_-.".contains(*c))
                    .take(24)
                    .collect();
                format!("`{}`", if word.is_empty() { first.to_string() } else { word })
            }
        };
        Fault::at(self.text, self.at, format!("expected {what}, found {found}"))
    }

    /// A fault with a message of its own at byte offset `offset`.
    #[must_use]
    pub fn fault_at(&self, offset: usize, message: impl Into<String>) -> Fault {
        Fault::at(self.text, offset, message)
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// Something is left.
    pub fn finish(&mut self) -> Result<(), Fault> {
        if self.at_end() { Ok(()) } else { Err(self.expected("the end of the text")) }
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
