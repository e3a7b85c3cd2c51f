//! Unsafe code: every block names an invariant of its crate and the check that keeps it, and
//! `docs/unsafe.md` lists them all.
//!
//! A crate states its invariants in the documentation of one module, as a list: `- **R1** ...`. A block, or
//! an unsafe implementation, has a comment `// SAFETY: R1, R2; sentence of the check.` above it.

use pantile_xtask::{TextFile, compare_block, rust_files};
use std::collections::BTreeMap;

use crate::raw_memory::{is_raw, shipped};

/// Unsafe code outside of `raw` folders: vector kernels, the interpreter and machine code, with the file and
/// the name of the safe function that checks what they need.
const KERNELS: [(&str, &str, &str); 10] = [
    ("crates/kernels/src/simd.rs", "crates/kernels/src/simd.rs", "run"),
    ("crates/kernels/src/exact/flags/", "crates/kernels/src/exact/flags/mod.rs", "add"),
    ("crates/kernels/src/exact/binned_avx2.rs", "crates/kernels/src/exact/binned_avx2.rs", "add"),
    ("crates/kernels/src/lanes/choose.rs", "crates/kernels/src/raw/lanes/program.rs", "run"),
    ("crates/kernels/src/lanes/kernel.rs", "crates/kernels/src/raw/lanes/program.rs", "run"),
    ("crates/kernels/src/lanes/sum.rs", "crates/kernels/src/raw/lanes/program.rs", "run"),
    ("crates/kernels/src/lanes/interpreter/", "crates/kernels/src/raw/lanes/program.rs", "run"),
    ("crates/kernels/src/pack/simd.rs", "crates/kernels/src/pack/simd.rs", "dispatch"),
    ("crates/kernels/src/pack/stream.rs", "crates/kernels/src/raw/pack/ends.rs", "stream_bytes"),
    (
        "crates/kernels/src/pack/transpose_vectors.rs",
        "crates/kernels/src/pack/transpose_vectors.rs",
        "transpose_vectors",
    ),
];

/// Lines between a comment and its block at most: the statement may begin a few lines before.
const LINES_BETWEEN: usize = 10;

/// A block or an implementation that is unsafe.
#[derive(Debug, PartialEq, Eq)]
struct UnsafeBlock {
    line: usize,
    /// The function that it is in, or what is implemented.
    place: String,
    /// The text behind `SAFETY:`, on one line.
    comment: Option<String>,
}

/// Without the comment at its end.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The name behind `fn`.
fn function(line: &str) -> Option<&str> {
    let rest = line.split_once("fn ")?.1;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    let name = &rest[..end.unwrap_or(rest.len())];
    (!name.is_empty()).then_some(name)
}

/// The function or the implementation that a line is in.
fn place(lines: &[&str], line: usize) -> String {
    let own = code(lines[line]);
    if let Some((_, rest)) = own.split_once("unsafe impl") {
        return rest.split('{').next().unwrap_or_default().trim().to_owned();
    }
    // Only what encloses the line: each such line is indented less than the last one.
    let mut inner = indentation(lines[line]) + 1;
    for outer in lines[..=line].iter().rev().filter(|line| !line.trim().is_empty()) {
        if indentation(outer) < inner {
            if let Some(name) = function(code(outer)) {
                return name.to_owned();
            }
            // A signature of several lines ends where it begins.
            let ends = outer.trim_start().starts_with([')', '{']) || outer.trim() == "where";
            inner = indentation(outer) + usize::from(ends);
        }
    }
    String::new()
}

/// The comment that belongs to a line: the nearest one above it, if no other block is in between.
fn comment(lines: &[&str], line: usize) -> Option<String> {
    let lowest = line.saturating_sub(LINES_BETWEEN);
    let above = (lowest..line).rev().take_while(|at| !is_unsafe(lines[*at]));
    let start = above.into_iter().find(|at| lines[*at].trim_start().starts_with("// SAFETY:"))?;
    let words = lines[start..line].iter().map_while(|line| line.trim_start().strip_prefix("//"));
    let text = words.map(str::trim).collect::<Vec<_>>().join(" ");
    Some(text.strip_prefix("SAFETY:")?.trim().to_owned())
}

fn is_unsafe(line: &str) -> bool {
    let code = code(line);
    code.contains("unsafe {") || code.contains("unsafe impl")
}

fn blocks(text: &str) -> Vec<UnsafeBlock> {
    let lines: Vec<&str> = shipped(text).lines().collect();
    let found = (0..lines.len()).filter(|line| is_unsafe(lines[*line]));
    let block = |line: usize| UnsafeBlock {
        line: line + 1,
        place: place(&lines, line),
        comment: comment(&lines, line),
    };
    found.map(block).collect()
}

/// The numbers and the sentence of a comment.
fn parts(comment: &str) -> Option<(Vec<&str>, &str)> {
    let (numbers, check) = comment.split_once("; ")?;
    let numbers: Vec<&str> = numbers.split(", ").collect();
    let number = |name: &&str| {
        let digits = name.strip_prefix('R').unwrap_or_default();
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
    };
    let sentence = check.split_whitespace().count() > 2 && check.ends_with('.');
    (numbers.iter().all(number) && sentence).then_some((numbers, check))
}

/// The invariants that the documentation of a module lists.
fn invariants(text: &str) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    for line in text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim_end) {
        let item = line.strip_prefix(" - **R").and_then(|rest| rest.split_once("** "));
        match (item, list.last_mut()) {
            (Some((number, text)), _) => list.push((format!("R{number}"), text.to_owned())),
            (None, Some((_, text))) if line.starts_with("   ") => {
                text.push(' ');
                text.push_str(line.trim());
            }
            _ => {}
        }
    }
    list
}

/// Without links, which lead somewhere from the sources alone.
fn plain(text: &str) -> String {
    let mut parts = text.split("[`");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("`]").unwrap_or((part, ""));
        let target = rest.starts_with('(').then(|| rest.split_once(')')).flatten();
        plain.push_str(&format!("`{name}`{}", target.map_or(rest, |(_, rest)| rest)));
    }
    plain
}

/// The crate that a file belongs to.
fn owner(file: &TextFile) -> &str {
    file.path.split('/').nth(1).unwrap_or_default()
}

/// The files that ship unsafe code, or list invariants, by crate.
fn crates(files: &[TextFile]) -> BTreeMap<&str, Vec<&TextFile>> {
    let mut crates: BTreeMap<&str, Vec<&TextFile>> = BTreeMap::new();
    for file in files {
        let test = file.path.ends_with("/tests.rs") || file.path.starts_with("crates/xtask/");
        if file.path.contains("/src/") && !test && is_raw(&file.text) {
            crates.entry(owner(file)).or_default().push(file);
        }
    }
    crates
}

/// What is wrong with the blocks of a crate's files, and its part of the document.
fn listed(name: &str, files: &[&TextFile]) -> (Vec<String>, String) {
    let mut wrong = Vec::new();
    let stated: Vec<(String, String)> =
        files.iter().flat_map(|file| invariants(&file.text)).collect();
    let mut text = format!("## `crates/{name}`\n\n");
    for (number, what) in &stated {
        text.push_str(&format!("- **{number}** {}\n", plain(what)));
    }
    text.push_str("\n| file | function | relies on | check |\n|---|---|---|---|\n");
    let mut used: Vec<String> = Vec::new();
    let mut last = String::new();
    for file in files {
        for block in blocks(&file.text) {
            let own = format!("{}:{}: ", file.path, block.line);
            let Some(comment) = block.comment else {
                wrong.push(format!("{own}no comment `// SAFETY: R1; check.`"));
                continue;
            };
            let Some((numbers, check)) = parts(&comment) else {
                wrong.push(format!("{own}no invariant and check in {comment:?}"));
                continue;
            };
            let unknown = numbers.iter().filter(|own| stated.iter().all(|(one, _)| one != *own));
            wrong.extend(unknown.map(|number| format!("{own}crate {name} states no {number}")));
            used.extend(numbers.iter().map(|number| (*number).to_owned()));
            let inner = file.path.split_once("/src/").map_or("", |(_, inner)| inner);
            let row =
                format!("| `{inner}` | `{}` | {} | {check} |\n", block.place, numbers.join(", "));
            if row != last {
                text.push_str(&row);
            }
            last = row;
        }
    }
    let idle = stated.iter().filter(|(number, _)| !used.contains(number));
    wrong.extend(idle.map(|(number, _)| format!("crate {name}: no block relies on {number}")));
    (wrong, text + "\n")
}

#[test]
fn every_block_names_an_invariant_and_a_check() {
    let files = rust_files();
    let mut generated = String::from("\n");
    let mut wrong = Vec::new();
    for (name, files) in crates(&files) {
        let (faults, text) = listed(name, &files);
        wrong.extend(faults);
        generated.push_str(&text);
    }
    assert!(wrong.is_empty(), "unsafe blocks:\n{}", wrong.join("\n"));
    assert!(generated.lines().count() > 150, "only {generated}");
    compare_block("docs/unsafe.md", "unsafe code", &generated);
}

#[test]
fn unsafe_code_is_in_raw_folders_or_behind_one_entry() {
    let files = rust_files();
    let mut wrong = Vec::new();
    for file in crates(&files).into_values().flatten() {
        let kernel = KERNELS.iter().any(|(own, ..)| file.path.starts_with(own));
        let bench = file.path.starts_with("crates/bench/src/bounds/");
        if !file.path.contains("/src/raw/") && !kernel && !bench {
            wrong.push(format!("{}: unsafe code belongs into `raw`", file.path));
        }
    }
    for (own, entry, name) in KERNELS {
        let file = files.iter().find(|file| file.path == entry);
        let declared = |line: &str| function(line) == Some(name) && !line.contains("unsafe");
        if !file.is_some_and(|file| shipped(&file.text).lines().any(|line| declared(code(line)))) {
            wrong.push(format!("{own}: there is no safe function `{name}` in {entry}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn blocks_comments_and_invariants_are_read() {
    let text = "//! M.\n//!\n//! - **R1** One\n//!   two.\n//! - **R2** Three.\n\n\
        fn f(\n    a: A,\n) {\n    // SAFETY: R1, R2; it is checked\n    // above.\n    let a =\n        unsafe { g() };\n\
        \x20   unsafe { h() };\n}\n\n// SAFETY: R2; it is so.\nunsafe impl Send for A {}\n\
        #[cfg(test)]\nmod tests { unsafe {} }\n";
    let invariant = |number: &str, text: &str| (number.to_owned(), text.to_owned());
    assert_eq!(invariants(text), [invariant("R1", "One two."), invariant("R2", "Three.")]);
    let block = |line, place: &str, comment: Option<&str>| UnsafeBlock {
        line,
        place: place.to_owned(),
        comment: comment.map(str::to_owned),
    };
    let expected = [
        block(13, "f", Some("R1, R2; it is checked above.")),
        block(14, "f", None),
        block(18, "Send for A", Some("R2; it is so.")),
    ];
    assert_eq!(blocks(text), expected);
    assert_eq!(parts("R1, R2; it is checked."), Some((vec!["R1", "R2"], "it is checked.")));
    assert_eq!(plain("A [`b`](c::d), [`e`] f."), "A `b`, `e` f.");
    for wrong in ["the caller's.", "R1", "R1; .", "R; it is checked.", "promise 1; it is checked."]
    {
        assert_eq!(parts(wrong), None, "{wrong}");
    }
}
