//! The value type, its accessors and its builders.

use crate::Fault;

/// One JSON value with the byte offset it was read from (0 if it was built).
///
/// Two values are equal if they say the same; offsets do not count, the order of keys does.
#[derive(Clone, Debug)]
pub struct Value {
    kind: Kind,
    offset: usize,
}

/// What a [`Value`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent that fits 128 bits, exactly.
    Integer(i128),
    /// Any other number, as it was written.
    Number(String),
    /// A string, with its escapes resolved.
    Text(String),
    /// A list of values.
    Array(Vec<Value>),
    /// Keys and values in the order of the text; no key occurs twice in a parsed object.
    Object(Vec<Member>),
}

/// One key of an object with its value.
#[derive(Clone, Debug)]
pub struct Member {
    key: String,
    offset: usize,
    value: Value,
}

impl Member {
    /// A key with its value; `offset` is where the key starts in its text.
    #[must_use]
    pub fn new(key: impl Into<String>, offset: usize, value: Value) -> Self {
        Self { key: key.into(), offset, value }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The byte offset of the key in its text.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The value under the key.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value
    }
}

impl Eq for Member {}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Value {}

impl Value {
    /// A value that was read at byte offset `offset`.
    #[must_use]
    pub fn at(offset: usize, kind: Kind) -> Self {
        Self { kind, offset }
    }

    /// The value `null`.
    #[must_use]
    pub fn null() -> Self {
        Kind::Null.into()
    }

    /// A number with a fraction; `None` for NaN and infinities, which JSON cannot say.
    #[must_use]
    pub fn float(value: f64) -> Option<Self> {
        value.is_finite().then(|| Kind::Number(format!("{value:?}")).into())
    }

    /// A list.
    pub fn array(values: impl IntoIterator<Item = Self>) -> Self {
        Kind::Array(values.into_iter().collect()).into()
    }

    /// An object with its keys in the given order. The caller sees to it that no key is repeated.
    pub fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        let members = members.into_iter().map(|(key, value)| Member::new(key, 0, value));
        Kind::Object(members.collect()).into()
    }

    /// What the value is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The byte offset of the value in its text.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What kind of value it is, as words for a message: "an array", "`true`".
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "`null`".to_owned(),
            Kind::Bool(value) => format!("`{value}`"),
            Kind::Integer(value) => value.to_string(),
            Kind::Number(text) => shortened(text),
            Kind::Text(text) => format!("\"{}\"", shortened(text)),
            Kind::Array(items) => format!("an array of {}", items.len()),
            Kind::Object(members) if members.len() == 1 => "an object with 1 key".to_owned(),
            Kind::Object(members) => format!("an object with {} keys", members.len()),
        }
    }

    /// True if it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Kind::Bool(value) = self.kind { Some(value) } else { None }
    }

    /// The integer, if it is one that fits 64 bits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_i128().and_then(|value| i64::try_from(value).ok())
    }

    /// The integer, if it is one that fits 128 bits.
    #[must_use]
    pub fn as_i128(&self) -> Option<i128> {
        if let Kind::Integer(value) = self.kind { Some(value) } else { None }
    }

    /// The integer, if it is one that is not negative and fits the machine.
    #[must_use]
    pub fn as_usize(&self) -> Option<usize> {
        self.as_i128().and_then(|value| usize::try_from(value).ok())
    }

    /// The nearest floating-point number, if it is a number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match &self.kind {
            Kind::Integer(value) => value.to_string().parse().ok(),
            Kind::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// The elements, if it is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Kind::Array(items) = &self.kind { Some(items) } else { None }
    }

    /// The members, if it is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&[Member]> {
        if let Kind::Object(members) = &self.kind { Some(members) } else { None }
    }

    /// The value under `key`, if it is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.iter().find(|member| member.key == key).map(Member::value)
    }

    /// The integers of an array of integers that all fit 64 bits.
    #[must_use]
    pub fn as_i64_array(&self) -> Option<Vec<i64>> {
        self.as_array()?.iter().map(Self::as_i64).collect()
    }

    /// A fault at this value of `text`, which must be the text it was parsed from.
    #[must_use]
    pub fn fault(&self, text: &str, message: impl Into<String>) -> Fault {
        Fault::at(text, self.offset, message)
    }
}

/// At most 24 characters of `text`, so that messages stay one line.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(24).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

impl From<Kind> for Value {
    fn from(kind: Kind) -> Self {
        Self { kind, offset: 0 }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Kind::Bool(value).into()
    }
}

/// Every integer type of at most 64 bits is exact in 128.
macro_rules! from_integers {
    ($($integer:ty),*) => {
        $(impl From<$integer> for Value {
            fn from(value: $integer) -> Self {
                Kind::Integer(i128::from(value)).into()
            }
        })*
    };
}
from_integers!(i32, i64, u32, u64, i128);

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Kind::Integer(i128::try_from(value).expect("usize has at most 64 bits")).into()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Kind::Text(text.to_owned()).into()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Kind::Text(text).into()
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::array(items.into_iter().map(Into::into))
    }
}

impl<T: Into<Value> + Clone> From<&[T]> for Value {
    fn from(items: &[T]) -> Self {
        Self::array(items.iter().cloned().map(Into::into))
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accessors_refuse_other_kinds() {
        let value = Value::object([("a", Value::from(vec![1_i64, -2])), ("b", Value::null())]);
        assert_eq!(value.get("a").unwrap().as_i64_array(), Some(vec![1, -2]));
        assert!(value.get("b").unwrap().is_null());
        assert_eq!(value.get("c"), None);
        assert_eq!(value.as_i64(), None);
        assert_eq!(Value::from(i128::MAX).as_i64(), None);
        assert_eq!(Value::from(-1_i64).as_usize(), None);
        assert_eq!(Value::from(7_i64).as_f64(), Some(7.0));
    }

    #[test]
    fn offsets_do_not_count_in_equality() {
        assert_eq!(Value::at(7, Kind::Null), Value::null());
        assert_ne!(Value::from(1_i64), Value::float(1.0).unwrap());
        assert_eq!(Value::float(f64::NAN), None);
    }

    #[test]
    fn descriptions_are_short() {
        assert_eq!(Value::from("x".repeat(99)).describe().len(), 29);
        assert_eq!(Value::from(vec![1_i64]).describe(), "an array of 1");
    }
}
