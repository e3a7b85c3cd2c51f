//! Every variant of every public error is met by some test.
//!
//! Best effort, by text: a variant counts as met if test code or a doc example names it
//! (`Error::Variant`), or if a golden file shows the words of its message.

use pantile_xtask::{TextFile, rust_files, test_code, text_files};

/// A variant of a public error, and the words of its message.
struct Variant {
    file: String,
    error: String,
    name: String,
    words: Option<String>,
}

/// The lines between the brace that a line opens and the one that closes it.
fn body<'a>(lines: &[&'a str], start: usize) -> Vec<&'a str> {
    let indent = lines[start].len() - lines[start].trim_start().len();
    let close = format!("{}}}", " ".repeat(indent));
    lines[start + 1..].iter().take_while(|line| **line != close).copied().collect()
}

/// Variants are the lines of an enum, indented once, that start with a capital.
fn names(lines: &[&str]) -> Vec<String> {
    let own = lines.iter().filter_map(|line| line.strip_prefix("    "));
    let own = own.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    own.map(|line| line.split([' ', '(', '{', ',']).next().unwrap_or_default().to_owned()).collect()
}

/// The longest piece without placeholders of the first text behind `Self::Variant` in the file's
/// `Display`.
fn words(text: &str, variant: &str) -> Option<String> {
    let display = &text[text.find("fmt::Display for")?..];
    let ends = [" ", "(", "{", "\n"];
    let arm = ends.iter().find_map(|end| display.find(&format!("Self::{variant}{end}")))?;
    let rest = &display[arm + 6..];
    let arm = &rest[..rest.find("Self::").unwrap_or(rest.len())];
    let literal = arm.split('"').nth(1)?;
    // A backslash joins the next line of the text; what is before it is enough.
    let literal = literal.split('\\').next().unwrap_or_default();
    let pieces = literal.split(['{', '}']).step_by(2).map(str::trim);
    pieces.max_by_key(|piece| piece.len()).filter(|piece| piece.len() >= 6).map(str::to_owned)
}

fn variants(file: &TextFile) -> Vec<Variant> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut variants = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = line.strip_prefix("pub enum ") else { continue };
        let name = name.trim_end_matches(" {").to_owned();
        if !name.ends_with("Error") {
            continue;
        }
        for variant in names(&body(&lines, at)) {
            let words = words(&file.text, &variant);
            variants.push(Variant {
                file: file.path.clone(),
                error: name.clone(),
                name: variant,
                words,
            });
        }
    }
    variants
}

#[test]
fn every_error_is_met() {
    let files = rust_files();
    let tests: String = files.iter().map(test_code).collect();
    let golden: String = text_files()
        .into_iter()
        .filter(|file| file.path.starts_with("filetests/"))
        .map(|file| file.text)
        .collect();
    let all: Vec<Variant> = files.iter().flat_map(variants).collect();
    assert!(all.len() > 30, "only {} variants were found", all.len());
    let met = |variant: &Variant| {
        let named = format!("{}::{}", variant.error, variant.name);
        let delegates = variant.words.is_none();
        delegates
            || tests.contains(&named)
            || variant.words.as_ref().is_some_and(|words| {
                golden.contains(words.as_str()) || tests.contains(words.as_str())
            })
    };
    let wrong: Vec<String> = all
        .iter()
        .filter(|variant| !met(variant))
        .map(|v| format!("{}: {}::{} ({:?})", v.file, v.error, v.name, v.words))
        .collect();
    assert!(wrong.is_empty(), "errors that no test meets:\n{}", wrong.join("\n"));
}

#[test]
fn variants_and_their_words_are_found() {
    let text = "pub enum Error {\n    /// A.\n    TooLong {\n        /// B.\n        got: usize,\n    },\n    Text(Fault),\n}\n\nimpl fmt::Display for Error {\n  match self {\n    Self::Text(fault) => fault.fmt(f),\n    Self::TooLong { got } => write!(f, \"got {got}, expected fewer\"),\n  }\n}\n";
    let file = TextFile { path: "crates/x/src/error.rs".to_owned(), text: text.to_owned() };
    let found = variants(&file);
    assert_eq!(found.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["TooLong", "Text"]);
    assert_eq!(found[0].words.as_deref(), Some(", expected fewer"));
    assert_eq!(found[1].words, None);
}
