//! The vectors, and short ways to read them.

pub(crate) mod arrays;

use pantile_protocol::{Dim, Object, Section, json};
use pantile_text::json::{Value, parse};

/// All vectors.
pub(crate) fn vectors() -> Value {
    parse(include_str!("../data/dap_vectors.json")).unwrap()
}

/// The cases of one category; there is at least one.
pub(crate) fn category(name: &str) -> Vec<Value> {
    let cases = vectors().get(name).unwrap().as_array().unwrap().to_vec();
    assert!(!cases.is_empty());
    cases
}

/// The text under a key.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("no text `{key}`"))
}

/// The array under a key.
pub(crate) fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).unwrap_or_else(|| panic!("no array `{key}`"))
}

/// The integers under a key.
pub(crate) fn numbers(value: &Value, key: &str) -> Vec<i64> {
    value.get(key).and_then(Value::as_i64_array).unwrap_or_else(|| panic!("no numbers `{key}`"))
}

/// The strings under a key, in order.
pub(crate) fn texts(value: &Value, key: &str) -> Vec<String> {
    array(value, key).iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// All numbers of nested arrays, in row-major order.
pub(crate) fn flat(value: &Value) -> Vec<i64> {
    match value.as_array() {
        Some(items) => items.iter().flat_map(flat).collect(),
        None => vec![value.as_i64().unwrap()],
    }
}

/// The sections that a value describes.
pub(crate) fn sections(value: &Value) -> Vec<Section> {
    json::from_value(value).unwrap().sections().unwrap().to_vec()
}

/// The typed dimensions of a section.
pub(crate) fn dims(section: &Section) -> Vec<Dim> {
    section.dims().into_iter().map(Option::unwrap).collect()
}

/// Dictionaries as sorted key-value texts, so that the order of keys does not count.
pub(crate) fn sorted(object: &Object) -> Vec<(String, String)> {
    let entries = object.as_dict().unwrap().iter();
    let mut entries: Vec<_> = entries
        .map(|(key, value)| (key.as_str().unwrap().to_owned(), json::to_value(value).to_string()))
        .collect();
    entries.sort();
    entries
}
