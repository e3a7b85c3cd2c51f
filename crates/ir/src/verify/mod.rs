//! Is a program sound? All findings, each with its place; nothing runs.
//!
//! | what | where |
//! |---|---|
//! | values are defined once, before they are used, where they are seen; operations have the operands, results and blocks that belong to them | `structure` |
//! | blocks end as they should; loops, regions and functions hand on what they declare | `blocks` |
//! | types keep the rules of distributed arrays; distributions in quotes can be read | `types`, `spread` |
//! | operands have the right sort; results have the types that follow from the operands; axes, slices, teams and devices fit | `operations` |
//! | what differs from member to member decides neither loops nor who takes part in a collective operation | `members` |
//! | handles are waited for once, and what they protect is left alone until then | `waits` |
//! | functions have names of their own, those that are applied to blocks exist and do not call themselves | `calls` |
//!
//! ```
//! use pantile_ir::{text::parse, verify::verify};
//! let text = "func.func @f(%x: f64) -> f64 {\n  return\n}\n";
//! let findings = verify(&parse(text, "f.dist").unwrap()).unwrap_err();
//! assert_eq!(
//!     findings[0].to_string(),
//!     "f.dist:2:3: `return` in @f: hands on (), expected (f64)"
//! );
//! ```

mod blocks;
mod calls;
mod counts;
mod members;
mod operations;
mod placement;
mod sorts;
mod structure;
mod types;
mod waits;

use std::fmt;

use crate::{Function, Operation, Place, Program, Type, Value};

/// Something that is wrong in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where it was written.
    pub place: Place,
    /// The function, without `@`; empty if it is about the program.
    pub function: String,
    /// The name of the operation; empty if it is about the function or the program.
    pub op: String,
    /// What was got and what was expected.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.function.as_str(), self.op.as_str()) {
            ("", _) => write!(f, "{}", self.message),
            (function, "") => write!(f, "{}: @{function}: {}", self.place, self.message),
            (function, op) => {
                write!(f, "{}: `{op}` in @{function}: {}", self.place, self.message)
            }
        }
    }
}

impl std::error::Error for Finding {}

/// Checks a program.
///
/// # Errors
/// Everything that is wrong, function by function in the order of the text. What can only be
/// asked of a sound structure (types, members, handles) is asked of functions that have one.
pub fn verify(program: &Program) -> Result<(), Vec<Finding>> {
    let mut calls = calls::check(program);
    let mut of = |number: Option<usize>| -> Vec<Finding> {
        let own = calls.extract_if(.., |(function, _)| *function == number);
        own.map(|(_, finding)| finding).collect()
    };
    let mut findings = of(None);
    for (number, function) in program.functions.iter().enumerate() {
        let mut checker = Checker { program, function, findings: Vec::new() };
        checker.structure();
        if checker.findings.is_empty() {
            checker.blocks();
            checker.types();
            checker.operations();
            checker.members();
            checker.waits();
        }
        checker.findings.extend(of(Some(number)));
        checker.findings.sort_by_key(|finding| (finding.place.line, finding.place.column));
        findings.extend(checker.findings);
    }
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}

/// A function while it is checked.
struct Checker<'p> {
    program: &'p Program,
    function: &'p Function,
    findings: Vec<Finding>,
}

impl<'p> Checker<'p> {
    /// Something is wrong with an operation.
    fn report(&mut self, operation: &Operation, message: impl Into<String>) {
        self.findings.push(Finding {
            place: operation.place.clone(),
            function: self.function.name.clone(),
            op: operation.op.name().to_owned(),
            message: message.into(),
        });
    }

    /// Something is wrong with the function.
    fn report_function(&mut self, message: impl Into<String>) {
        self.findings.push(Finding {
            place: self.function.place.clone(),
            function: self.function.name.clone(),
            op: String::new(),
            message: message.into(),
        });
    }

    fn ty(&self, value: Value) -> &'p Type {
        self.function.ty(value)
    }

    fn types_of(&self, values: &[Value]) -> Vec<&'p Type> {
        values.iter().map(|value| self.ty(*value)).collect()
    }

    /// What a value is called in messages.
    fn show(&self, value: Value) -> String {
        match self.function.values.get(value.index()).and_then(|data| data.name.as_deref()) {
            Some(name) => format!("%{name}"),
            None => format!("value {}", value.index()),
        }
    }
}

/// Types in brackets.
fn list<'t>(types: impl IntoIterator<Item = &'t Type>) -> String {
    let types: Vec<String> = types.into_iter().map(Type::to_string).collect();
    format!("({})", types.join(", "))
}
