//! What the arguments and results of a program are called.

use pantile_ir::{Function, Op, Value};

/// The names of the arguments of a function: as the text has them, else their position.
pub(crate) fn argument_names(function: &Function) -> Vec<String> {
    let own = |value: &Value| function.values[value.index()].name.as_deref();
    let arguments = function.body.arguments.iter().enumerate();
    arguments.map(|(at, value)| own(value).map_or_else(|| at.to_string(), str::to_owned)).collect()
}

/// The names of the results of a function: those of the values that it returns, else their
/// position.
pub(crate) fn result_names(function: &Function) -> Vec<String> {
    let last = function.body.operations.iter().rev().find(|operation| operation.op == Op::Return);
    let returned = last.map_or(&[][..], |operation| &operation.operands);
    let names = returned.iter().enumerate();
    names
        .map(|(at, value)| value_name(function, *value).unwrap_or_else(|| at.to_string()))
        .collect()
}

/// The name of a value; `name#1` if several results of one operation share it.
fn value_name(function: &Function, value: Value) -> Option<String> {
    let name = |value: Value| function.values[value.index()].name.as_deref();
    let own = name(value)?;
    let mut shown = own.to_owned();
    function.body.walk(&mut |operation| {
        let group = operation.results.iter().filter(|other| name(**other) == Some(own));
        let place = group.clone().position(|other| *other == value);
        if let (Some(place), true) = (place, group.count() > 1) {
            shown = format!("{own}#{place}");
        }
    });
    Some(shown)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_text() {
        let text = "func.func @f(%x: f64, %0: f64) -> (f64, f64, f64, f64) {
  %c = arith.constant 1 : index
  %a:2 = scf.for %i = %c to %c step %c iter_args(%p = %x, %q = %x) -> (f64, f64) {
    scf.yield %q, %p : f64, f64
  }
  %1 = arith.addf %x, %x : f64
  return %a#1, %x, %1, %a#0 : f64, f64, f64, f64
}
";
        let program = pantile_ir::text::parse(text, "").unwrap();
        let function = program.entry().unwrap();
        assert_eq!(argument_names(function), ["x", "1"]);
        assert_eq!(result_names(function), ["a#1", "x", "2", "a#0"]);
    }
}
