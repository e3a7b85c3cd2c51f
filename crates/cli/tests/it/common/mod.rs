//! Running the built command, and words of a command line.

pub(crate) mod site;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run of the command left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs `pantile` with these arguments in `folder`, feeding it `input`.
pub(crate) fn pantile(arguments: &[String], folder: &Path, input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pantile"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes it early; that is fine.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().expect("the command was not killed"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The words of a line as a shell would see them: quotes and backslashes, nothing else.
pub(crate) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(characters.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    assert!(quote.is_none(), "a quote is never closed: {line}");
    words.extend(word);
    words
}

/// A line and those after it that continue it (each but the last ends with a backslash); returns
/// the joined line and how many lines it took.
pub(crate) fn joined(lines: &[&str]) -> (String, usize) {
    let mut line = String::new();
    for (at, part) in lines.iter().enumerate() {
        match part.strip_suffix('\\') {
            Some(part) => line.push_str(part),
            None => {
                line.push_str(part);
                return (line, at + 1);
            }
        }
    }
    (line, lines.len())
}
