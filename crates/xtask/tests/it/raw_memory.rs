//! Unsafe code: every module that has some is a row of `docs/unsafe.md`, and every row is such a module.

use pantile_xtask::{TextFile, root, rust_files};
use std::collections::BTreeSet;
use std::fs;

/// Without comments, and without the tests at the end of a file.
fn shipped_code(text: &str) -> String {
    let text = &text[..text.find("#[cfg(test)]\nmod ").unwrap_or(text.len())];
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// True if the code has unsafe blocks, functions, traits or implementations, or allows them.
fn is_raw(text: &str) -> bool {
    let code = shipped_code(text);
    let forms = ["{", "fn ", "impl", "trait ", "extern "].map(|form| format!("unsafe {form}"));
    forms.iter().any(|form| code.contains(form)) || code.contains(concat!("allow(", "unsafe_code"))
}

/// The files of crates that ship unsafe code; tests and benches may have it without a row.
fn modules() -> BTreeSet<String> {
    let raw = |file: &TextFile| {
        let test = file.path.ends_with("/tests.rs") || file.path.starts_with("crates/xtask/");
        file.path.contains("/src/") && !test && is_raw(&file.text)
    };
    rust_files().into_iter().filter(raw).map(|file| file.path).collect()
}

/// The first column of all tables of the document.
fn rows() -> BTreeSet<String> {
    let document = fs::read_to_string(root().join("docs/unsafe.md")).unwrap();
    let row = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    document.lines().filter_map(row).collect()
}

#[test]
fn the_table_has_every_module_with_unsafe_code_and_no_other() {
    let (modules, rows) = (modules(), rows());
    assert!(modules.len() > 50, "only {} modules were found", modules.len());
    let missing: Vec<&String> = modules.difference(&rows).collect();
    assert!(missing.is_empty(), "modules without a row in docs/unsafe.md: {missing:#?}");
    let gone: Vec<&String> = rows.difference(&modules).collect();
    assert!(gone.is_empty(), "rows of docs/unsafe.md without unsafe code: {gone:#?}");
}

/// Pure crates do without: what they compute is a function of what they are given.
#[test]
fn pure_crates_touch_nothing_outside() {
    const PURE: [&str; 7] = ["text", "geometry", "plan", "draw", "protocol", "lanes", "ir"];
    const OUTSIDE: [&str; 6] =
        ["std::fs", "std::net", "std::thread", "std::time", "std::process", "std::env"];
    let mut wrong = Vec::new();
    for file in rust_files() {
        if !PURE.iter().any(|name| file.path.starts_with(&format!("crates/{name}/src/"))) {
            continue;
        }
        let code = shipped_code(&file.text);
        let used = OUTSIDE.iter().filter(|module| code.contains(**module));
        wrong.extend(used.map(|module| format!("{}: {module}", file.path)));
        if is_raw(&file.text) {
            wrong.push(format!("{}: unsafe code", file.path));
        }
    }
    assert!(wrong.is_empty(), "pure crates that reach outside:\n{}", wrong.join("\n"));
}

#[test]
fn unsafe_code_is_found() {
    assert!(is_raw("fn f() { unsafe { g() } }\n"));
    assert!(is_raw("pub unsafe trait T {}\n"));
    assert!(!is_raw("// unsafe { g() }\nfn f() {}\n#[cfg(test)]\nmod tests { unsafe {} }\n"));
}
