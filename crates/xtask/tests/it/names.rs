//! Names of types: one name means one thing, or two at most.
//!
//! `shared_names.txt` lists the names that are defined in more crates, each with their number. The list
//! only shrinks: `BLESS=1` lowers numbers and removes lines, and never adds or raises one.

use pantile_xtask::{root, rust_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Most crates that may define a type of one name.
const CRATES_MAX: usize = 2;

/// The number of names when this rule was made. Never raise it: find another name.
const NAMES_MAX: usize = 12;

const LIST: &str = "crates/xtask/tests/it/shared_names.txt";

/// The type that a line defines, whoever may see it. Associated types of traits are none, and neither
/// are generated ones.
fn defined(line: &str) -> Option<&str> {
    let indented = line.starts_with(' ');
    let line = line.trim_start();
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    let line = line.strip_prefix("unsafe ").unwrap_or(line);
    let (kind, rest) = line.split_once(' ')?;
    let is_type =
        ["struct", "enum", "trait", "union"].contains(&kind) || kind == "type" && !indented;
    let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    let name = &rest[..end];
    (is_type && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
}

/// Names that too many crates define, with these crates. `Error` is a convention: one for each crate.
fn shared() -> BTreeMap<String, BTreeSet<String>> {
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in rust_files().iter().filter(|file| file.path.contains("/src/")) {
        let own = file.path.split('/').nth(1).unwrap_or_default();
        for name in file.text.lines().filter_map(defined).filter(|name| *name != "Error") {
            names.entry(name.to_owned()).or_default().insert(own.to_owned());
        }
    }
    names.retain(|_, crates| crates.len() > CRATES_MAX);
    names
}

fn listed() -> BTreeMap<String, usize> {
    let text = fs::read_to_string(root().join(LIST)).unwrap();
    let line = |line: &str| {
        let (name, count) = line.split_once(' ').unwrap();
        (name.to_owned(), count.parse().unwrap())
    };
    text.lines().map(line).collect()
}

#[test]
fn a_name_of_a_type_belongs_to_two_crates_at_most() {
    let (shared, mut listed) = (shared(), listed());
    let known = |name: &str| listed.get(name).copied().unwrap_or(CRATES_MAX);
    let new: Vec<String> = (shared.iter())
        .filter(|(name, crates)| crates.len() > known(name))
        .map(|(name, crates)| format!("{name}: {crates:?}"))
        .collect();
    assert!(new.is_empty(), "names of types in too many crates, find others:\n{}", new.join("\n"));
    let now = |name: &str| shared.get(name).map_or(0, BTreeSet::len);
    if std::env::var_os("BLESS").is_some() {
        listed.retain(|name, count| {
            *count = now(name);
            *count > 0
        });
        let lines = listed.iter().map(|(name, count)| format!("{name} {count}\n"));
        fs::write(root().join(LIST), lines.collect::<String>()).unwrap();
    }
    let rare: Vec<&String> =
        listed.iter().filter(|(name, count)| now(name) < **count).map(|(name, _)| name).collect();
    assert!(rare.is_empty(), "rarer than {LIST} says, BLESS=1 writes it: {rare:?}");
    assert!(listed.len() <= NAMES_MAX, "{} names, at most {NAMES_MAX} were shared", listed.len());
}

#[test]
fn definitions_are_found() {
    let lines =
        ["pub(super) struct A<T>(T);", "    enum B {", "unsafe trait C: D {", "pub type E = F;"];
    assert_eq!(lines.map(defined), [Some("A"), Some("B"), Some("C"), Some("E")]);
    assert_eq!(
        ["    type Item = u8;", "// struct A", "struct", "fn f() {"].map(defined),
        [None; 4]
    );
}
