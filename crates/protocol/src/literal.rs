//! Python literals: the text of the headers of `.npy` and `.dnpy` files.
//!
//! Reads what `ast.literal_eval` reads of numbers, strings, tuples, lists, dicts, `True`, `False`
//! and `None`, plus the forms that Python 2 left in old files (`7L`, `u'x'`). Writes what `ascii()`
//! writes.

use crate::{Error, Kind, Object};
use pantile_text::{Cursor, Fault, Syntax};

/// Tuples, lists and dicts may be nested this deep.
const DEPTH_MAX: usize = 64;

/// Reads one literal that is the whole of `text`, apart from white space.
///
/// # Errors
/// A fault that names the place.
pub fn parse(text: &str) -> Result<Object, Fault> {
    let mut parser = Parser { cursor: Cursor::of(text) };
    let object = parser.object(0)?;
    let end = parser.cursor.at_end();
    if end { Ok(object) } else { Err(parser.cursor.expected_here("the end of the literal")) }
}

struct Python;

impl Syntax for Python {
    const END: &'static str = "the end";

    fn is_space(c: char) -> bool {
        matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
    }

    fn found(rest: &str) -> String {
        rest.chars().take(1).flat_map(char::escape_debug).collect()
    }
}

struct Parser<'a> {
    cursor: Cursor<'a, Python>,
}

impl Parser<'_> {
    fn object(&mut self, depth: usize) -> Result<Object, Fault> {
        let start = self.cursor.offset();
        if depth > DEPTH_MAX {
            return Err(self.cursor.fault_at(start, format!("nested deeper than {DEPTH_MAX}")));
        }
        let rest = self.cursor.here();
        let kind = match rest.chars().next() {
            Some('(') => self.parenthesis(depth)?,
            Some('[') => {
                self.cursor.at += 1;
                Kind::List(self.items("]", depth)?.0)
            }
            Some('{') => self.dict(depth)?,
            Some('\'' | '"') => Kind::Text(self.string()?),
            Some('u') if rest[1..].starts_with(['\'', '"']) => {
                self.cursor.at += 1;
                Kind::Text(self.string()?)
            }
            Some('-' | '0'..='9' | '.') => self.number()?,
            _ => self.word()?,
        };
        Ok(Object::at(start, kind))
    }

    fn word(&mut self) -> Result<Kind, Fault> {
        let word = Cursor::<Python>::word_at(self.cursor.here());
        let kind = match word {
            "True" => Kind::Bool(true),
            "False" => Kind::Bool(false),
            "None" => Kind::None,
            "" => return Err(self.cursor.expected_here("a literal")),
            _ => {
                let message = format!("expected a literal, found the name `{word}`");
                return Err(self.cursor.fault_at(self.cursor.at, message));
            }
        };
        self.cursor.at += word.len();
        Ok(kind)
    }

    /// The items up to `close`, and whether a comma stood before it.
    fn items(&mut self, close: &str, depth: usize) -> Result<(Vec<Object>, bool), Fault> {
        let mut items = Vec::new();
        let mut comma = true;
        loop {
            if self.cursor.eat(close) {
                return Ok((items, comma));
            }
            if !comma {
                return Err(self.cursor.expected_here(&format!("`,` or `{close}`")));
            }
            items.push(self.object(depth + 1)?);
            comma = self.cursor.eat(",");
        }
    }

    /// `()` and `(x,)` are tuples, `(x)` is x.
    fn parenthesis(&mut self, depth: usize) -> Result<Kind, Fault> {
        self.cursor.at += 1;
        let (items, comma) = self.items(")", depth)?;
        match items.as_slice() {
            [only] if !comma => Ok(only.kind().clone()),
            _ => Ok(Kind::Tuple(items)),
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Kind, Fault> {
        self.cursor.at += 1;
        let mut entries: Vec<(Object, Object)> = Vec::new();
        let mut comma = true;
        loop {
            if self.cursor.eat("}") {
                return self.without_repeats(entries);
            }
            if !comma {
                return Err(self.cursor.expected_here("`,` or `}`"));
            }
            let key = self.object(depth + 1)?;
            if !self.cursor.eat(":") {
                return Err(self.cursor.expected_here("`:`"));
            }
            entries.push((key, self.object(depth + 1)?));
            comma = self.cursor.eat(",");
        }
    }

    /// Python would let the last of two equal keys win; in a header that is a fault.
    fn without_repeats(&self, entries: Vec<(Object, Object)>) -> Result<Kind, Fault> {
        let mut seen = std::collections::BTreeSet::new();
        for (key, _) in &entries {
            let text = write(key).unwrap_or_default();
            if !seen.insert(text.clone()) {
                let offset = key.offset().unwrap_or(0);
                return Err(self.cursor.fault_at(offset, format!("the key {text} occurs twice")));
            }
        }
        Ok(Kind::Dict(entries))
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let rest = self.cursor.here();
        let sign = usize::from(rest.starts_with('-'));
        let body = &rest[sign..];
        let digits = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
        let fraction = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
        let end = body.find(|c: char| !fraction(c)).unwrap_or(body.len());
        let kind = if end == digits {
            let text = &rest[..sign + end];
            let zeros = end > 1 && body.starts_with('0') && body[..end].bytes().any(|b| b != b'0');
            text.parse().ok().filter(|_| !zeros).map(Kind::Int)
        } else {
            let text = &rest[..sign + end];
            text.parse::<f64>().ok().map(|_| Kind::Number(text.to_owned()))
        };
        let Some(kind) = kind else {
            return Err(self.cursor.expected_here("a number of at most 128 bits"));
        };
        self.cursor.at += sign + end;
        if matches!(kind, Kind::Int(_)) && self.cursor.here().starts_with('L') {
            self.cursor.at += 1;
        }
        Ok(kind)
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.cursor.at;
        let unclosed = || self.cursor.fault_at(start, "a string that is never closed");
        let quote = self.cursor.here().chars().next().ok_or_else(unclosed)?;
        let mut out = String::new();
        let mut chars = self.cursor.text()[start + 1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    let escaped = chars.next().ok_or_else(unclosed)?.1;
                    let digits = match escaped {
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        _ => 0,
                    };
                    let code: String = chars.by_ref().take(digits).map(|(_, c)| c).collect();
                    out.push(unescaped(escaped, &code).ok_or_else(|| {
                        self.cursor.fault_at(start + 1 + at, "an escape that is not known")
                    })?);
                }
                '\n' => return Err(unclosed()),
                c if c == quote => {
                    self.cursor.at = start + 1 + at + 1;
                    return Ok(out);
                }
                c => out.push(c),
            }
        }
        Err(unclosed())
    }
}

/// The character of an escape; `code` are its hexadecimal digits, if it has any.
fn unescaped(letter: char, code: &str) -> Option<char> {
    match letter {
        '\\' | '\'' | '"' => Some(letter),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'a' => Some('\u{7}'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'v' => Some('\u{b}'),
        'x' | 'u' | 'U' => {
            let digits = code.bytes().all(|b| b.is_ascii_hexdigit()) && !code.is_empty();
            let value = u32::from_str_radix(code, 16).ok().filter(|_| digits)?;
            let complete = code.len()
                == if letter == 'x' {
                    2
                } else if letter == 'u' {
                    4
                } else {
                    8
                };
            char::from_u32(value).filter(|_| complete)
        }
        _ => None,
    }
}

/// The literal of an object, in ASCII, on one line.
///
/// # Errors
/// A buffer or a living object has no literal.
pub fn write(object: &Object) -> Result<String, Error> {
    let mut out = String::new();
    write_to(&mut out, object)?;
    Ok(out)
}

fn write_to(out: &mut String, object: &Object) -> Result<(), Error> {
    match object.kind() {
        Kind::None => out.push_str("None"),
        Kind::Bool(value) => out.push_str(if *value { "True" } else { "False" }),
        Kind::Int(value) => out.push_str(&value.to_string()),
        Kind::Number(text) => out.push_str(text),
        Kind::Text(text) => write_text(out, text),
        Kind::Tuple(items) => {
            write_items(out, '(', items)?;
            out.push_str(if items.len() == 1 { ",)" } else { ")" });
        }
        Kind::List(items) => {
            write_items(out, '[', items)?;
            out.push(']');
        }
        Kind::Dict(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                write_to(out, key)?;
                out.push_str(": ");
                write_to(out, value)?;
            }
            out.push('}');
        }
        Kind::Indices(_) | Kind::Other(_) => {
            return Err(Error::inexpressible("a Python literal", None, object.to_string()));
        }
    }
    Ok(())
}

fn write_items(out: &mut String, open: char, items: &[Object]) -> Result<(), Error> {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        write_to(out, item)?;
    }
    Ok(())
}

/// As `ascii()` does: single quotes unless only those occur inside.
fn write_text(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match (c, u32::from(c)) {
            ('\n', _) => out.push_str("\\n"),
            ('\r', _) => out.push_str("\\r"),
            ('\t', _) => out.push_str("\\t"),
            ('\\', _) => out.push_str("\\\\"),
            (c, _) if c == quote => out.extend(['\\', c]),
            (c, 0x20..0x7f) => out.push(c),
            (_, code @ ..0x100) => out.push_str(&format!("\\x{code:02x}")),
            (_, code @ ..0x1_0000) => out.push_str(&format!("\\u{code:04x}")),
            (_, code) => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_testkit::{Rng, cases};

    fn check(text: &str, written: &str) {
        let object = parse(text).unwrap();
        assert_eq!(write(&object).unwrap(), written);
        assert_eq!(parse(written).unwrap(), object);
    }

    #[test]
    fn literals_are_written_as_python_writes_them() {
        check("{'a': (1,), \"b\" : [ ] , }", "{'a': (1,), 'b': []}");
        check("((1), (2,), ())", "(1, (2,), ())");
        check(r#"'it\'s' "#, r#""it's""#);
        check(r#"'"\'\x41\u00e9\n'"#, r#"'"\'A\xe9\n'"#);
        check("(7L, -3, 1.5e3, True, False, None, u'x')", "(7, -3, 1.5e3, True, False, None, 'x')");
    }

    #[test]
    fn what_is_not_a_literal_is_refused() {
        let texts =
            ["", "(", "(1 2)", "{1}", "{'a': 1, 'a': 2}", "'ab", "'\\q'", "'\\x4'", "array([1])"];
        for text in texts.iter().chain(&["1 2", "--1", "01", "'a\nb'", "1e", "(1,,)", "[1}"]) {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"(".repeat(1_000_000)).is_err());
        assert!(write(&Kind::Indices(vec![1]).into()).is_err());
        let fault = parse("{'indices': array([1, 2])}").unwrap_err();
        assert_eq!(fault.message(), "expected a literal, found the name `array`");
    }

    fn random(rng: &mut Rng, depth: usize) -> Object {
        let text = |rng: &mut Rng| {
            let pool = ['a', '\'', '"', '\\', '\n', '\u{1}', 'é', '\u{ffff}', '😀'];
            let text: String = (0..rng.below(5)).map(|_| *rng.pick(&pool)).collect();
            Object::from(text.as_str())
        };
        let count = rng.below(4);
        match rng.below(if depth > 3 { 4 } else { 7 }) {
            0 => Kind::None.into(),
            1 => rng.chance(1, 2).into(),
            2 => Kind::Int(i128::from(rng.bits()) - (1 << 63)).into(),
            3 => text(rng),
            4 => Object::tuple((0..count).map(|_| random(rng, depth + 1))),
            5 => Kind::List((0..count).map(|_| random(rng, depth + 1)).collect()).into(),
            _ => {
                let keys = ["a", "b'", "c\"", "é"];
                Object::dict(keys.into_iter().take(count).map(|k| (k, random(rng, depth + 1))))
            }
        }
    }

    #[test]
    fn reading_what_was_written_gives_the_object_back() {
        cases("literal round trip", 10_000, |rng| {
            let object = random(rng, 0);
            let text = write(&object).unwrap();
            assert!(text.is_ascii());
            assert_eq!(parse(&text).unwrap(), object, "{text}");
        });
    }

    #[test]
    fn changed_bytes_never_panic() {
        cases("literal bytes", 20_000, |rng| {
            let mut bytes = write(&random(rng, 0)).unwrap().into_bytes();
            for _ in 0..=rng.below(3) {
                let at = rng.below(bytes.len());
                bytes[at] = *rng.pick(b"(){}[]'\",:\\xuUL-.0e \xc3\xa9");
            }
            let _ = parse(&String::from_utf8_lossy(&bytes));
        });
    }
}
