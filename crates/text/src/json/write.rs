//! The printers: compact (`Display`) and indented.

use super::{Kind, Value};
use std::fmt::{self, Write};

/// A list or object of plain values that is shorter than this stays on one line when indented.
const LINE: usize = 88;

impl fmt::Display for Value {
    /// On one line, without white space, keys in their order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    item.fmt(f)?;
                }
                f.write_char(']')
            }
            Kind::Object(members) => {
                f.write_char('{')?;
                for (index, member) in members.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    write_text(f, member.key())?;
                    f.write_char(':')?;
                    member.value().fmt(f)?;
                }
                f.write_char('}')
            }
            _ => write_plain(f, self),
        }
    }
}

impl Value {
    /// The value over several lines, indented by two spaces; short lists and objects of plain
    /// values stay on one line. Ends without a line break.
    #[must_use]
    pub fn to_indented(&self) -> String {
        let mut out = String::new();
        let written = write_indented(&mut out, self, 0);
        debug_assert!(written.is_ok(), "a string takes everything");
        out
    }
}

fn is_plain(value: &Value) -> bool {
    !matches!(value.kind(), Kind::Array(_) | Kind::Object(_))
}

fn write_plain(out: &mut impl Write, value: &Value) -> fmt::Result {
    match value.kind() {
        Kind::Null => out.write_str("null"),
        Kind::Bool(value) => write!(out, "{value}"),
        Kind::Integer(value) => write!(out, "{value}"),
        Kind::Number(text) => out.write_str(text),
        Kind::Text(text) => write_text(out, text),
        Kind::Array(_) | Kind::Object(_) => write!(out, "{value}"),
    }
}

fn write_text(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            c if c < ' ' => write!(out, "\\u{:04x}", u32::from(c))?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

/// The parts of a list or object: an optional key, and the value.
fn parts(value: &Value) -> Vec<(Option<&str>, &Value)> {
    match value.kind() {
        Kind::Array(items) => items.iter().map(|item| (None, item)).collect(),
        Kind::Object(members) => members.iter().map(|m| (Some(m.key()), m.value())).collect(),
        _ => Vec::new(),
    }
}

fn write_indented(out: &mut String, value: &Value, depth: usize) -> fmt::Result {
    if is_plain(value) {
        return write_plain(out, value);
    }
    let (open, close) = if value.as_array().is_some() { ('[', ']') } else { ('{', '}') };
    let parts = parts(value);
    // Long lists of numbers stay on one line too: one number per line helps nobody.
    let numbers = parts.iter().all(|(_, v)| v.as_i128().is_some());
    let plain = parts.iter().all(|(_, v)| is_plain(v) || parts_are_few_numbers(v));
    let short = plain && parts.len() < LINE && value.to_string().len() < LINE;
    let on_one_line = short || (numbers && open == '[');
    out.push(open);
    for (index, (key, item)) in parts.iter().enumerate() {
        match (on_one_line, index) {
            (true, 0) => {}
            (true, _) => out.push_str(", "),
            (false, _) => {
                let comma = if index == 0 { "" } else { "," };
                write!(out, "{comma}\n{:1$}", "", 2 * (depth + 1))?;
            }
        }
        if let Some(key) = key {
            write_text(out, key)?;
            out.push_str(": ");
        }
        write_indented(out, item, depth + 1)?;
    }
    if !on_one_line {
        write!(out, "\n{:1$}", "", 2 * depth)?;
    }
    out.push(close);
    Ok(())
}

/// A pair like `[1, 1]` inside an object does not make the object long.
fn parts_are_few_numbers(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.len() <= 8 && items.iter().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use pantile_testkit::{Rng, cases};

    #[test]
    fn compact_and_indented() {
        let text = r#"{"a":[1,2],"b":{"c":[{"d":"x\"\\\n\u0001é"}]},"e":[],"f":{}}"#;
        let value = parse(text).unwrap();
        assert_eq!(value.to_string(), text);
        let indented = value.to_indented();
        assert_eq!(
            indented,
            "{\n  \"a\": [1, 2],\n  \"b\": {\n    \"c\": [\n      {\"d\": \"x\\\"\\\\\\n\\u0001é\"}\n    ]\n  },\n  \"e\": [],\n  \"f\": {}\n}"
        );
        assert_eq!(parse(&indented).unwrap(), value);
    }

    fn random_text(random: &mut Rng) -> String {
        let pool = ['a', '"', '\\', '\n', '\u{0}', '\u{1f}', 'é', '😀', '/', '\u{2028}', ' '];
        (0..random.below(6)).map(|_| *random.pick(&pool)).collect()
    }

    fn random_value(random: &mut Rng, depth: usize) -> Value {
        match random.below(if depth > 4 { 5 } else { 7 }) {
            0 => Value::null(),
            1 => Value::from(random.chance(1, 2)),
            2 => Value::from(i128::from(random.bits()) << random.below(60)),
            3 => Value::float(f64::from_bits(random.bits())).unwrap_or_else(Value::null),
            4 => Value::from(random_text(random)),
            5 => Value::array((0..random.below(5)).map(|_| random_value(random, depth + 1))),
            _ => Value::object((0..random.below(5)).map(|index| {
                (format!("{index}{}", random_text(random)), random_value(random, depth + 1))
            })),
        }
    }

    #[test]
    fn parsing_what_was_printed_gives_the_value_back() {
        cases("json print", 20_000, |random| {
            let value = random_value(random, 0);
            assert_eq!(parse(&value.to_string()).unwrap(), value);
            assert_eq!(parse(&value.to_indented()).unwrap(), value);
        });
    }

    #[test]
    fn changed_bytes_never_panic() {
        cases("json bytes", 20_000, |random| {
            let mut bytes = random_value(random, 0).to_string().into_bytes();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = *random.pick(b"{}[]\",:\\u0-9e.tn\xc3\xa9");
            }
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(value) = parse(&text) {
                assert_eq!(parse(&value.to_string()).unwrap(), value);
            }
        });
    }
}
