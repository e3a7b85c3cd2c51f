//! The parser: strict JSON, all faults with their place, no recursion beyond [`DEPTH_MAX`].

use super::{Kind, Member, Value};
use crate::syntax::leading;
use crate::{Cursor, Fault, Syntax};

/// Arrays and objects may be nested this deep; more is refused rather than risking the stack.
pub const DEPTH_MAX: usize = 128;

/// Reads one JSON value that is the whole of `text`.
///
/// # Errors
/// The text is not JSON, has a key twice in one object, or is nested deeper than [`DEPTH_MAX`].
pub fn parse(text: &str) -> Result<Value, Fault> {
    let mut parser = Parser { cursor: Cursor::of(text) };
    let value = parser.value(0)?;
    parser.cursor.finish()?;
    Ok(value)
}

struct Json;

impl Syntax for Json {
    fn is_space(c: char) -> bool {
        matches!(c, ' ' | '\t' | '\n' | '\r')
    }

    fn found(rest: &str) -> String {
        let first = || rest.chars().next().map(|c| c.escape_debug().to_string());
        leading(rest, char::is_alphanumeric).or_else(first).unwrap_or_default()
    }
}

struct Parser<'a> {
    cursor: Cursor<'a, Json>,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        let start = self.cursor.offset();
        if depth > DEPTH_MAX {
            return Err(self.cursor.fault_at(start, format!("nested deeper than {DEPTH_MAX}")));
        }
        let kind = match self.cursor.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Value::at(start, kind))
    }

    fn word(&mut self) -> Result<Kind, Fault> {
        let rest = self.cursor.here();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let kind = match &rest[..end] {
            "null" => Kind::Null,
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "NaN" | "Infinity" => {
                return Err(self.cursor.expected_here("a value (JSON has no NaN)"));
            }
            _ => return Err(self.cursor.expected_here("a value")),
        };
        self.cursor.at += end;
        Ok(kind)
    }

    fn array(&mut self, depth: usize) -> Result<Kind, Fault> {
        self.cursor.at += 1;
        let mut items = Vec::new();
        if self.cursor.eat("]") {
            return Ok(Kind::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.cursor.eat("]") {
                return Ok(Kind::Array(items));
            }
            if !self.cursor.eat(",") {
                return Err(self.cursor.expected_here("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Kind, Fault> {
        self.cursor.at += 1;
        let mut members = Vec::new();
        if self.cursor.eat("}") {
            return Ok(Kind::Object(members));
        }
        loop {
            let offset = self.cursor.offset();
            if self.cursor.peek() != Some(b'"') {
                return Err(self.cursor.expected_here("a key in double quotes"));
            }
            let key = self.string()?;
            if !self.cursor.eat(":") {
                return Err(self.cursor.expected_here("`:`"));
            }
            members.push(Member::new(key, offset, self.value(depth + 1)?));
            if self.cursor.eat("}") {
                return self.without_repeats(members);
            }
            if !self.cursor.eat(",") {
                return Err(self.cursor.expected_here("`,` or `}`"));
            }
        }
    }

    fn without_repeats(&self, members: Vec<Member>) -> Result<Kind, Fault> {
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|index| (members[*index].key(), *index));
        // Equal keys are neighbours now, and the later one of each pair is the repeat.
        let repeated = order.windows(2).filter(|w| members[w[0]].key() == members[w[1]].key());
        match repeated.map(|pair| pair[1]).min() {
            None => Ok(Kind::Object(members)),
            Some(index) => {
                let key = members[index].key();
                let message = format!("the key `{}` occurs twice", key.escape_debug());
                Err(self.cursor.fault_at(members[index].offset(), message))
            }
        }
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let none = self.cursor.digits().is_empty();
        if none { Err(self.cursor.expected_here("a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let start = self.cursor.at;
        self.cursor.at += usize::from(self.cursor.peek() == Some(b'-'));
        let first = self.cursor.at;
        self.digits()?;
        if self.cursor.at > first + 1 && self.cursor.text().as_bytes()[first] == b'0' {
            return Err(self.cursor.fault_at(first, "a number may not start with 0"));
        }
        let mut whole = true;
        if self.cursor.peek() == Some(b'.') {
            whole = false;
            self.cursor.at += 1;
            self.digits()?;
        }
        if matches!(self.cursor.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.cursor.at += 1;
            self.cursor.at += usize::from(matches!(self.cursor.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let text = &self.cursor.text()[start..self.cursor.at];
        let exact = if whole { text.parse().ok() } else { None };
        Ok(exact.map_or_else(|| Kind::Number(text.to_owned()), Kind::Integer))
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.cursor.here();
            let end = rest.find(|c: char| c == '"' || c == '\\' || c < ' ');
            let Some(end) = end else {
                return Err(self.cursor.fault_at(start, "a string that is never closed"));
            };
            out.push_str(&rest[..end]);
            self.cursor.at += end;
            match self.cursor.peek() {
                Some(b'"') => {
                    self.cursor.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return Err(self.cursor.expected_here("no control character in a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.cursor.at;
        self.cursor.at += 2;
        let plain = match self.cursor.text().as_bytes().get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            _ => return Err(self.cursor.fault_at(start, "an escape that JSON does not have")),
        };
        Ok(plain)
    }

    /// `\uXXXX`, or two of them that make one character outside the basic plane.
    fn unicode(&mut self, start: usize) -> Result<char, Fault> {
        let unit = self.hex4(start)?;
        let code = if (0xd800..0xdc00).contains(&unit) {
            let low = if self.cursor.here().starts_with("\\u") {
                self.cursor.at += 2;
                self.hex4(start)?
            } else {
                0
            };
            if !(0xdc00..0xe000).contains(&low) {
                return Err(self.cursor.fault_at(start, "half of a surrogate pair"));
            }
            0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
        } else {
            unit
        };
        char::from_u32(code).ok_or_else(|| self.cursor.fault_at(start, "half of a surrogate pair"))
    }

    fn hex4(&mut self, start: usize) -> Result<u32, Fault> {
        let digits = self.cursor.text().get(self.cursor.at..self.cursor.at + 4);
        let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
        self.cursor.at += 4;
        unit.ok_or_else(|| {
            self.cursor.fault_at(start, "expected four hexadecimal digits after `\\u`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(text: &str, column: usize, message: &str) {
        let fault = parse(text).unwrap_err();
        assert_eq!((fault.column(), fault.message()), (column, message), "{text}");
    }

    #[test]
    fn values_know_their_place() {
        let value = parse(" {\"a\": [1, -2.5e3, \"x\"]}\n").unwrap();
        let items = value.get("a").unwrap().as_array().unwrap();
        assert_eq!(items.iter().map(Value::offset).collect::<Vec<_>>(), [8, 11, 19]);
        assert_eq!(value.as_object().unwrap()[0].offset(), 2);
        assert_eq!(items[1].kind(), &Kind::Number("-2.5e3".to_owned()));
    }

    #[test]
    fn integers_are_exact() {
        let max = i128::MAX.to_string();
        assert_eq!(parse(&max).unwrap().as_i128(), Some(i128::MAX));
        assert_eq!(parse(&format!("{max}0")).unwrap().kind(), &Kind::Number(format!("{max}0")));
        assert_eq!(parse("1.0").unwrap().as_i64(), None);
        assert_eq!(parse("-0").unwrap().as_i64(), Some(0));
    }

    #[test]
    fn escapes() {
        let text = parse(r#""\u00e9\ud83d\ude00\n\/\"""#).unwrap();
        assert_eq!(text.as_str(), Some("é😀\n/\""));
        fails(r#""\ud83d""#, 2, "half of a surrogate pair");
        fails(r#""\ud83dA\u0041""#, 2, "half of a surrogate pair");
        fails(r#""\ude00""#, 2, "half of a surrogate pair");
        fails(r#""\u00g0""#, 2, "expected four hexadecimal digits after `\\u`");
        fails(r#""\u+123""#, 2, "expected four hexadecimal digits after `\\u`");
        fails(r#""\uéé""#, 2, "expected four hexadecimal digits after `\\u`");
        fails(r#""\x""#, 2, "an escape that JSON does not have");
        fails("\"a\tb\"", 3, "expected no control character in a string, found `\\t`");
        fails("[\"ab", 2, "a string that is never closed");
        fails("\"\\", 2, "an escape that JSON does not have");
    }

    #[test]
    fn only_json_is_read() {
        fails("[1, ]", 5, "expected a value, found `]`");
        fails("{\"a\": 1, }", 10, "expected a key in double quotes, found `}`");
        fails("NaN", 1, "expected a value (JSON has no NaN), found `NaN`");
        fails("-Infinity", 2, "expected a digit, found `Infinity`");
        fails("01", 1, "a number may not start with 0");
        fails("1.", 3, "expected a digit, found the end of the text");
        fails("+1", 1, "expected a value, found `+`");
        fails("1 2", 3, "expected the end of the text, found `2`");
        fails("nulls", 1, "expected a value, found `nulls`");
        fails("", 1, "expected a value, found the end of the text");
        fails("{1: 2}", 2, "expected a key in double quotes, found `1`");
        fails("[1 2]", 4, "expected `,` or `]`, found `2`");
        fails(r#"{"a" 1}"#, 6, "expected `:`, found `1`");
        fails("\u{feff}1", 1, "expected a value, found `\\u{feff}`");
    }

    #[test]
    fn a_key_occurs_once() {
        fails(r#"{"a": 1, "b": 2, "a": 3, "b": 4}"#, 18, "the key `a` occurs twice");
        fails(r#"{"a": {"x": 1, "\u0078": 2}}"#, 16, "the key `x` occurs twice");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(parse(&deep(DEPTH_MAX + 1)).is_ok());
        assert!(parse(&deep(DEPTH_MAX + 2)).is_err());
        assert!(parse(&"[".repeat(1_000_000)).is_err());
        assert!(parse(&"{\"a\":".repeat(1_000_000)).is_err());
    }
}
