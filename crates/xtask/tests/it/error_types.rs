//! Errors of library crates are enums: a caller matches on what happened, not on words.

use pantile_xtask::{TextFile, rust_files};

/// Crates whose errors end at a person, or in a test.
const FREE: [&str; 4] = ["bench", "cli", "suite", "xtask"];

/// The library code of a file: neither comments nor what stands below `#[cfg(test)]`.
fn library_code(file: &TextFile) -> Option<String> {
    let path = file.path.strip_prefix("crates/")?;
    let (name, inside) = path.split_once('/')?;
    if FREE.contains(&name) || !inside.starts_with("src/") || inside.ends_with("/tests.rs") {
        return None;
    }
    let code = file.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    Some(lines.collect::<Vec<_>>().join(" "))
}

/// What stands between an angle bracket that was just opened and the one that closes it, and the
/// place of the last comma that is inside of no other bracket.
fn arguments(text: &str) -> Option<(&str, Option<usize>)> {
    let (mut depth, mut comma, mut before) = (1, None, ' ');
    for (at, letter) in text.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 1 && !text[at + 1..].trim_start().starts_with('>') => comma = Some(at),
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], comma));
        }
        before = letter;
    }
    None
}

/// True for types that hold a sentence and nothing else.
fn is_text(ty: &str) -> bool {
    let ty = ty.trim().trim_end_matches(',').trim();
    let ty = ty.trim_start_matches("std::").trim_start_matches("string::");
    let shared = ["Box<", "Arc<", "Rc<", "Cow<"].iter().any(|head| ty.starts_with(head));
    let dynamic = ty.split_once("dyn ").is_some_and(|(head, path)| {
        let path = path.split(['+', '>', '(']).next().unwrap_or_default();
        matches!(head, "Box<" | "Arc<" | "&" | "&'static ") && path.trim().ends_with("Error")
    });
    ty == "String"
        || (ty.starts_with('&') && ty.ends_with("str"))
        || dynamic
        || (shared && ty.ends_with("str>"))
}

/// The results, names of types and wrappers in some code whose error is a sentence.
fn text_errors(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, head) in code.match_indices("Result<") {
        let Some((inside, Some(comma))) = arguments(&code[at + head.len()..]) else { continue };
        if is_text(&inside[comma + 1..]) {
            found.push(format!("Result<{inside}>"));
        }
    }
    for (at, _) in code.match_indices("type ") {
        let line = code[at..].split(';').next().unwrap_or_default();
        if line.split_once(" = ").is_some_and(|(_, ty)| is_text(ty)) {
            found.push(line.to_owned());
        }
    }
    for (at, _) in code.match_indices("struct ") {
        let line = code[at..].split([';', '{']).next().unwrap_or_default();
        let wrapped = line.split_once('(').map(|(name, ty)| (name, ty.trim_end_matches(')')));
        let of = |(name, ty): (&str, &str)| {
            name.ends_with("Error") && is_text(ty.trim_start_matches("pub "))
        };
        if wrapped.is_some_and(of) {
            found.push(line.to_owned());
        }
    }
    found
}

#[test]
fn errors_of_libraries_are_no_sentences() {
    let files = rust_files();
    let codes: Vec<(&str, String)> =
        files.iter().filter_map(|file| Some((file.path.as_str(), library_code(file)?))).collect();
    assert!(codes.len() > 300, "only {} files of library crates were found", codes.len());
    let wrong: Vec<String> = codes
        .iter()
        .flat_map(|(path, code)| {
            text_errors(code).into_iter().map(move |one| format!("{path}: {one}"))
        })
        .collect();
    assert!(wrong.is_empty(), "errors that are sentences, expected enums:\n{}", wrong.join("\n"));
}

#[test]
fn sentences_as_errors_are_found() {
    let check = |code: &str, expected: usize| {
        let found = text_errors(code);
        assert_eq!(found.len(), expected, "{code}: {found:?}");
    };
    check("fn f() -> Result<(), String> {", 1);
    check("fn f() -> Result< Vec<(usize, u8)>, String, > {", 1);
    check("fn f(g: fn(u8) -> Result<u8, &'static str>) -> Result<(), Error> {", 1);
    check("fn f() -> Result<u8, Box<dyn std::error::Error + Send>> {", 1);
    check("ranks: Result<usize, Arc<str>>,", 1);
    check("pub(crate) type Problem = String;", 1);
    check("pub struct CompileUnitError(String);", 1);
    check("fn f() -> Result<String, Error> { let names: Vec<String>;", 0);
    check("type Sides = dyn Fn(u8) -> Result<u8, Error> + Send;", 0);
    check("type Names = Vec<String>; struct Name(String);", 0);
    check("fn f() -> Result<Vec<String>, FormatError> {", 0);
    check("fn f() -> fmt::Result { a < b }", 0);
}
