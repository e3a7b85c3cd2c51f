//! Words, symbols, numbers and strings of a text, each with its place.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use pantile_text::{Cursor, Fault, Syntax};

use super::scope::Known;
use crate::{Place, Type, ValueData};

/// Deepest nesting of regions, types and attributes.
pub(super) const DEPTH_LIMIT: usize = 64;

/// Why reading stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// Something is wrong here.
    Fault(Box<Fault>),
    /// Something needs a value whose own operation was at fault: that was said already.
    Silent,
}

/// What was read, or why not.
pub(super) type Parsed<T> = Result<T, Stop>;

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

/// Array programs: comments begin with `//`, words may have `$` and `.` inside.
pub(super) struct Programs;

impl Syntax for Programs {
    const COMMENT: Option<&'static str> = Some("//");

    fn is_space(c: char) -> bool {
        c.is_ascii_whitespace()
    }

    fn is_word(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
    }

    fn found(rest: &str) -> String {
        let shown = token(rest).chars().take(24);
        shown.map(|c| if c.is_control() { ' ' } else { c }).collect()
    }

    fn length(rest: &str) -> usize {
        token(rest).chars().count()
    }
}

/// A place in a text, and what was learned on the way there.
pub(super) struct Reader<'a> {
    cursor: Cursor<'a, Programs>,
    file: Arc<str>,
    depth: usize,
    pub(super) faults: Vec<Fault>,
    pub(super) aliases: BTreeMap<&'a str, Type>,
    /// Where the attributes are written that have names of their own.
    pub(super) attributes: BTreeMap<&'a str, usize>,
    pub(super) functions: BTreeSet<String>,
    /// The values of the function that is read.
    pub(super) values: Vec<ValueData>,
    /// What names mean, one map for each open region.
    pub(super) scopes: Vec<BTreeMap<&'a str, Known>>,
}

impl<'a> Deref for Reader<'a> {
    type Target = Cursor<'a, Programs>;

    fn deref(&self) -> &Self::Target {
        &self.cursor
    }
}

impl DerefMut for Reader<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, file: &str) -> Self {
        let file: Arc<str> = file.into();
        Self {
            cursor: Cursor::of(text).in_file(&file),
            file,
            depth: 0,
            faults: Vec::new(),
            aliases: BTreeMap::new(),
            attributes: BTreeMap::new(),
            functions: BTreeSet::new(),
            values: Vec::new(),
            scopes: Vec::new(),
        }
    }

    /// The next byte, without skipping anything; 0 at the end.
    pub(super) fn byte(&self) -> u8 {
        self.peek().unwrap_or(0)
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        Ok(self.cursor.expect(symbol)?)
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        Ok(self.cursor.expect_word(word)?)
    }

    /// Consumes any word.
    pub(super) fn word(&mut self, what: &str) -> Parsed<&'a str> {
        Ok(self.cursor.word(what)?)
    }

    /// Consumes what follows `%`, `!` or `@`: a word that may start with a digit.
    pub(super) fn suffix(&mut self, what: &str) -> Parsed<&'a str> {
        let rest = self.here();
        let bytes = rest.as_bytes();
        let inside = |at: usize| {
            let dash =
                bytes[at] == b'-' && bytes.get(at + 1).is_some_and(|b| Programs::is_word(*b));
            Programs::is_word(bytes[at]) || dash
        };
        let end = (0..bytes.len()).find(|at| !inside(*at)).unwrap_or(bytes.len());
        if end == 0 {
            return Err(self.expected(what));
        }
        self.at += end;
        Ok(&rest[..end])
    }

    /// Consumes a number as it is written: whole, with point or exponent, or hexadecimal.
    pub(super) fn number(&mut self, what: &str) -> Parsed<&'a str> {
        if !self.looks_at_number() {
            return Err(self.expected(what));
        }
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| {
            bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count() + from
        };
        let sign = usize::from(bytes[0] == b'-');
        let mut end = digits(sign);
        if bytes[sign..].starts_with(b"0x") {
            let hex = bytes[sign + 2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            end = if hex > 0 { sign + 2 + hex } else { end };
        } else {
            if bytes.get(end) == Some(&b'.') {
                end = digits(end + 1);
            }
            let signed = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
            let exponent = matches!(bytes.get(end), Some(b'e' | b'E'))
                && bytes.get(end + 1 + signed).is_some_and(u8::is_ascii_digit);
            if exponent {
                end = digits(end + 1 + signed);
            }
        }
        self.at += end;
        Ok(&rest[..end])
    }

    /// Consumes digits directly at the place: a length in a shape.
    pub(super) fn digits(&mut self, what: &str) -> Parsed<usize> {
        let start = self.at;
        let digits = self.cursor.digits();
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        let limit = 1_usize << 48;
        let value = digits.parse().ok().filter(|value| *value <= limit);
        value
            .ok_or_else(|| self.fault(start, format!("expected {what} up to 2^48, found {digits}")))
    }

    /// Consumes a quoted string and gives what it means.
    pub(super) fn string(&mut self, what: &str) -> Parsed<String> {
        let start = self.offset();
        if !self.eat("\"") {
            return Err(self.expected(what));
        }
        let mut bytes = Vec::new();
        loop {
            match self.byte() {
                b'"' => break self.at += 1,
                b'\\' => {
                    self.at += 1;
                    bytes.push(self.escape()?);
                }
                0 | b'\n' => return Err(self.fault(start, "this string does not end")),
                byte => {
                    bytes.push(byte);
                    self.at += 1;
                }
            }
        }
        String::from_utf8(bytes).map_err(|_| self.fault(start, "this string is not UTF-8"))
    }

    fn escape(&mut self) -> Parsed<u8> {
        let rest = self.here();
        let one = match self.byte() {
            b'n' => Some(b'\n'),
            b't' => Some(b'\t'),
            byte @ (b'"' | b'\\') => Some(byte),
            _ => None,
        };
        if let Some(byte) = one {
            self.at += 1;
            return Ok(byte);
        }
        let code = rest.get(..2).filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit()));
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        let at = self.at;
        self.at += if byte.is_some() { 2 } else { 0 };
        byte.ok_or_else(|| {
            self.fault(at, "expected `n`, `t`, `\"`, `\\` or two hexadecimal digits after `\\`")
        })
    }

    /// One level deeper, for what may be nested.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_LIMIT {
            let at = self.offset();
            return Err(self.fault(at, format!("nested more than {DEPTH_LIMIT} deep")));
        }
        self.depth += 1;
        let made = read(self);
        self.depth -= 1;
        made
    }

    /// Items between commas; at least one.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Items between commas up to `close`, which is consumed; maybe none.
    pub(super) fn list_until<T>(
        &mut self,
        close: &str,
        item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        if self.eat(close) {
            return Ok(Vec::new());
        }
        let items = self.list(item)?;
        if self.eat(close) { Ok(items) } else { Err(self.expected(&format!("`,` or `{close}`"))) }
    }

    /// The place of an offset.
    pub(super) fn place(&self, offset: usize) -> Place {
        let (line, column) = self.cursor.place(offset.min(self.text().len()));
        let [line, column] = [line, column].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
        Place { file: Arc::clone(&self.file), line, column }
    }

    /// A fault at an offset; the token there is marked.
    pub(super) fn fault(&self, offset: usize, message: impl Into<String>) -> Stop {
        self.cursor.fault_at(offset, message).into()
    }

    /// A fault at the next token: "expected `what`, found ...".
    pub(super) fn expected(&mut self, what: &str) -> Stop {
        self.cursor.expected(what).into()
    }
}

/// The token at the start of a text: a word with its first symbol, or one character.
fn token(rest: &str) -> &str {
    let Some(first) = rest.chars().next() else { return "" };
    let sigil = matches!(first, '%' | '!' | '@' | '#' | '^' | '-');
    let start = if sigil || !first.is_ascii() { first.len_utf8() } else { 0 };
    let word = Cursor::<Programs>::word_at(&rest[start..]);
    let end = start + word.len();
    if end == 0 { &rest[..first.len_utf8()] } else { &rest[..end] }
}
