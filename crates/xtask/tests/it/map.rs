//! The map in `ARCHITECTURE.md` is true: charters and modules are those of the crates.

use pantile_xtask::{Crate, crates, root};
use std::fs;
use std::path::Path;

/// What the map says of a crate, from its heading to the next one.
fn part<'a>(map: &'a str, name: &str) -> Option<&'a str> {
    let heading = format!("### `crates/{name}`\n");
    let rest = &map[map.find(&heading)? + heading.len()..];
    Some(&rest[..rest.find("\n##").unwrap_or(rest.len())])
}

/// The sentence that says what a crate must never contain, on one line.
fn charter(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = &text[text.find("Must never ")?..];
    let end = rest.find(". ").map_or(rest.len(), |at| at + 1);
    Some(rest[..end].to_owned())
}

/// The paragraph of a library's documentation that has the charter.
fn documented(library: &str) -> Option<String> {
    let lines = library.lines().map_while(|line| line.strip_prefix("//!"));
    let text = lines.map(str::trim).collect::<Vec<_>>().join("\n");
    text.split("\n\n").find_map(charter)
}

/// The modules of a library that are files of their own, without tests and errors.
fn modules(library: &str) -> Vec<&str> {
    let mut modules = Vec::new();
    let mut before = "";
    for line in library.lines() {
        let name = ["mod ", "pub mod ", "pub(crate) mod "]
            .iter()
            .find_map(|start| line.strip_prefix(start).and_then(|rest| rest.strip_suffix(';')));
        let test = before.starts_with("#[cfg(test");
        modules.extend(name.filter(|name| *name != "error" && !test));
        before = line;
    }
    modules
}

/// The first column of a table of modules: what is between backticks.
fn listed(part: &str) -> Vec<&str> {
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

/// True if some folder of the crate has a module of this name.
fn exists(folder: &Path, module: &str) -> bool {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().any(|path| {
        path.file_stem().is_some_and(|stem| stem == module)
            || (path.is_dir() && exists(&path, module))
    })
}

fn each(wrong: impl Fn(&Crate, &str) -> Vec<String>) {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let of = |own: &Crate| match part(&map, &own.name) {
        Some(part) => wrong(own, part),
        None => vec!["is not in the map".to_owned()],
    };
    let all: Vec<String> = crates()
        .iter()
        .flat_map(|own| of(own).into_iter().map(|text| format!("crates/{}: {text}", own.name)))
        .collect();
    assert!(all.is_empty(), "ARCHITECTURE.md and the crates differ:\n{}", all.join("\n"));
}

#[test]
fn charters_are_those_of_the_crates() {
    each(|own, part| {
        let known = part.split("\n\n").find_map(charter);
        match (documented(&own.library), known) {
            (Some(own), Some(known)) if own == known => Vec::new(),
            (own, known) => vec![format!("its documentation says {own:?}, the map {known:?}")],
        }
    });
}

#[test]
fn tables_name_every_module_and_no_other() {
    each(|own, part| {
        let (modules, listed) = (modules(&own.library), listed(part));
        let missing = modules.iter().filter(|module| !listed.contains(module));
        let missing = missing.map(|module| format!("`{module}` is in no row"));
        let folder = root().join("crates").join(&own.name).join("src");
        let known = |module: &str| modules.contains(&module) || exists(&folder, module);
        let gone = listed.iter().filter(|module| !known(module));
        let gone = gone.map(|module| format!("there is no `{module}`"));
        missing.chain(gone).collect()
    });
}

#[test]
fn charters_modules_and_rows_are_found() {
    let text = "A crate. It must be. Must never contain a\nb `c`, or I/O. More.";
    assert_eq!(charter(text).as_deref(), Some("Must never contain a b `c`, or I/O."));
    assert_eq!(
        documented("//! A.\n//!\n//! Must never\n//! b.\n\nmod x;").unwrap(),
        "Must never b."
    );
    assert_eq!(
        modules("mod a;\npub mod b;\n#[cfg(test)]\nmod t;\nmod error;\nmod c {\n"),
        ["a", "b"]
    );
    assert_eq!(listed("| module | x |\n|---|---|\n| `a`, `b` | `c` |\n"), ["a", "b"]);
    assert_eq!(part("### `crates/a`\nx\n### `crates/b`\n", "a"), Some("x"));
}
