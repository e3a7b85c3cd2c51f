//! JSON values that know where they came from.
//!
//! A [`Value`] read from a text keeps the byte offset of every value and key, so that a fault found
//! long after parsing can still point at its place ([`Value::fault`]). Integers are kept exactly,
//! other numbers as they were written, objects in the order of their keys: printing what was parsed
//! and parsing what was printed lose nothing.
//!
//! ```
//! use pantile_text::json::{parse, Value};
//! let value = parse(r#"{"shape": [5, 9], "periodic": false}"#).unwrap();
//! assert_eq!(value.get("shape").unwrap().as_array().unwrap()[1].as_i64(), Some(9));
//! assert_eq!(value.to_string(), r#"{"shape":[5,9],"periodic":false}"#);
//! let built = Value::object([("shape", Value::from(vec![5_i64, 9])), ("periodic", false.into())]);
//! assert_eq!(value, built);
//! ```

mod parse;
mod value;
mod write;

pub use parse::{DEPTH_MAX, parse};
pub use value::{Kind, Member, Value};
