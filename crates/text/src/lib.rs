//! Reading text: a cursor that knows where it is, faults that show the place, and JSON.
//!
//! Must never contain what a text means: grammars belong to the crates whose values they spell.
//!
//! Read [`Cursor`] and [`Fault`] first, then [`json`].
//!
//! ```
//! use pantile_text::Cursor;
//!
//! let mut cursor = Cursor::new("8 on r=x");
//! assert_eq!(cursor.number("a length")?, 8);
//! cursor.expect_word("on")?;
//! assert_eq!(cursor.word("an axis")?, "r");
//! cursor.expect("=")?;
//! let fault = cursor.number("a number of ranks").unwrap_err();
//! assert_eq!(fault.message(), "expected a number of ranks, found `x`");
//! # Ok::<(), pantile_text::Fault>(())
//! ```

mod cursor;
mod fault;
pub mod json;
pub mod numbers;
mod syntax;

pub use cursor::Cursor;
pub use fault::Fault;
pub use syntax::{HashComments, Syntax};
