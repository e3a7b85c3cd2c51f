//! Programs: read, checked, and given what they ask for.

mod given;
mod names;
mod options;
mod value;

use anyhow::{Result, bail};
use pantile_ir::text::{self, Fault};
use pantile_ir::verify::{self, Finding};
use pantile_ir::{Place, Program};

use crate::input::NamedText;

pub(crate) use given::{Bound, bind, no_such, position};
pub(crate) use names::{argument_names, result_names};
pub(crate) use options::{Options, hosted_ranks, own_ranks, parse_pair};
pub(crate) use value::show;

/// Reads a program and checks it.
///
/// # Errors
/// Everything that is wrong with it, with places and carets.
pub(crate) fn read(path: &str) -> Result<Program> {
    if path.ends_with(".py") {
        bail!(
            "{path}: got a file of Python, expected a program text; the command of the Python \
             package launches it (`pantile run {path} -n 4`), or mpirun does \
             (`mpirun -n 4 python {path}`)"
        );
    }
    let input = NamedText::from_path(path)?;
    match check(input.text()?, &input.name) {
        Ok(program) => Ok(program),
        Err(faults) => bail!("{}", faults.join("\n")),
    }
}

/// Parses a program and verifies it; `name` is what messages call the text.
///
/// # Errors
/// Everything that is wrong with it, each with the place and a caret under it.
pub(crate) fn check(text: &str, name: &str) -> Result<Program, Vec<String>> {
    let program = text::parse(text, name)
        .map_err(|faults| faults.iter().map(Fault::to_string).collect::<Vec<_>>())?;
    verify::verify(&program).map_err(|findings| {
        findings.iter().map(|finding| pointed(finding, text)).collect::<Vec<_>>()
    })?;
    Ok(program)
}

/// A finding with the line of the text that it is about.
fn pointed(finding: &Finding, text: &str) -> String {
    let excerpt = excerpt(&finding.place, text);
    format!("{finding}{}", excerpt.map(|lines| format!("\n{lines}")).unwrap_or_default())
}

/// The line of a place with carets under the word that begins there.
fn excerpt(place: &Place, text: &str) -> Option<String> {
    let line = text.lines().nth(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
    let before = usize::try_from(place.column).ok()?.saturating_sub(1);
    let word = line.chars().skip(before);
    let length = word.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '@' | '%'));
    let carets = "^".repeat(length.count().max(1));
    Some(format!("  | {line}\n  | {}{carets}", " ".repeat(before)))
}

/// True if a text is a program, to judge by its name and how it begins.
pub(crate) fn is_program(name: &str, text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    // Behind `#` stands the name of an attribute, or a comment of a distribution.
    let skipped = |line: &str| line.is_empty() || line.starts_with("//") || line.starts_with('#');
    let first = lines.find(|line| !skipped(line)).unwrap_or("");
    let begins = ["func.func", "module", "!", "\"func.func\""];
    name.ends_with(".dist") || begins.iter().any(|word| first.starts_with(word))
}

/// What a program is, in words.
pub(crate) fn summary(program: &Program) -> String {
    let Some(entry) = program.entry() else { return "a program without functions".to_owned() };
    let mut operations = 0_u128;
    entry.body.walk(&mut |_| operations += 1);
    let types = |types: Vec<String>| types.join(", ");
    let arguments = entry.body.arguments.iter().map(|value| {
        let name = entry.values[value.index()].name.as_deref().unwrap_or("_");
        format!("%{name}: {}", entry.ty(*value))
    });
    format!(
        "@{}({}) -> ({}), {}",
        entry.name,
        types(arguments.collect()),
        types(entry.results.iter().map(ToString::to_string).collect()),
        crate::numbers::plural(operations, "operation")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_point_at_the_operation() {
        let text = "func.func @f(%x: f64) -> f64 {\n  return\n}\n";
        let faults = check(text, "f.dist").unwrap_err();
        let expected =
            "f.dist:2:3: `return` in @f: hands on (), expected (f64)\n  |   return\n  |   ^^^^^^";
        assert_eq!(faults, [expected]);
    }

    #[test]
    fn programs_are_told_by_their_beginning() {
        assert!(is_program("a.dist", "nonsense"));
        assert!(is_program("-", "// note\n\n!a = f64\n"));
        assert!(is_program("-", "func.func @f() {\n"));
        assert!(is_program("-", "// Two.\n#t = 2\nmodule {\n"));
        assert!(!is_program("-", "8 on r=2: block(r)"));
    }
}
