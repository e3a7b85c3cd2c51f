//! Files: length, first lines, words that may not stay, folders of golden files.

use pantile_xtask::{TextFile, root, rust_files, text_files};
use std::fs;

/// The hard stop.
const LINES_MAX: usize = 600;

/// Files above this are named, so that somebody thinks about them.
const LINES_NOTED: usize = 300;

fn refuse(what: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

#[test]
fn files_are_short() {
    let lines = |file: &TextFile| file.text.lines().count();
    let mut long: Vec<(usize, String)> =
        rust_files().iter().map(|file| (lines(file), file.path.clone())).collect();
    long.retain(|(count, _)| *count > LINES_NOTED);
    long.sort_by(|a, b| b.cmp(a));
    println!("files of more than {LINES_NOTED} lines:");
    long.iter().for_each(|(count, path)| println!("  {count:4}  {path}"));
    let wrong: Vec<String> = long
        .iter()
        .filter(|(count, _)| *count > LINES_MAX)
        .map(|(count, path)| format!("{path} has {count}"))
        .collect();
    refuse(&format!("files of more than {LINES_MAX} lines"), &wrong);
}

#[test]
fn every_file_says_what_it_is() {
    let silent = |file: &TextFile| !file.text.starts_with("//! ");
    let wrong: Vec<String> =
        rust_files().into_iter().filter(silent).map(|file| file.path).collect();
    refuse("files that do not start with `//!`", &wrong);
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here, or this file would break its own rule.
    let banned = [
        concat!("to", "do!("),
        concat!("un", "implemented!("),
        concat!("d", "bg!("),
        concat!("#[", "ignore"),
        concat!("FIX", "ME"),
    ];
    let mut wrong = Vec::new();
    for file in rust_files() {
        for (number, line) in file.text.lines().enumerate() {
            let found = banned.iter().filter(|word| line.contains(**word));
            wrong.extend(found.map(|word| format!("{}:{}: {word}", file.path, number + 1)));
        }
    }
    refuse("words that may not stay", &wrong);
}

#[test]
fn no_path_of_a_machine() {
    let banned = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
        concat!("/Us", "ers/"),
        concat!("C:", "\\"),
    ];
    let mut wrong = Vec::new();
    for file in text_files() {
        for (number, line) in file.text.lines().enumerate() {
            let found = banned.iter().filter(|word| line.contains(**word));
            wrong.extend(found.map(|word| format!("{}:{}: {word}", file.path, number + 1)));
        }
    }
    refuse("paths of a machine", &wrong);
}

#[test]
fn every_golden_folder_is_run() {
    let tests: Vec<TextFile> =
        rust_files().into_iter().filter(|file| file.path.contains("/tests/")).collect();
    let mut wrong = Vec::new();
    for entry in fs::read_dir(root().join("filetests")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_str().unwrap().to_owned();
        assert!(entry.path().is_dir(), "filetests/{name}: only folders belong here");
        let spelled = [format!("check(\"{name}\")"), format!("filetests/{name}")];
        let run = |file: &TextFile| spelled.iter().any(|text| file.text.contains(text));
        if !tests.iter().any(run) {
            wrong.push(format!("filetests/{name}"));
        }
    }
    refuse("golden folders without a runner", &wrong);
}

/// Where raw memory is touched; tests and benches may, too.
const UNSAFE: [&str; 24] = [
    "crates/memory/src/",
    "crates/bounds/src/",
    "crates/comm/src/memory",
    "crates/comm/src/threads/endpoint.rs",
    "crates/comm/src/sim/channel.rs",
    "crates/comm/src/conformance/subject.rs",
    "crates/comm-mpi/src/ffi.rs",
    "crates/comm-net/src/net/message_buffer.rs",
    "crates/kernels/src/pack/",
    "crates/kernels/src/lanes/",
    "crates/kernels/src/reduce/",
    "crates/kernels/src/contract/",
    "crates/kernels/src/exact/flags/",
    "crates/kernels/src/exact/pairs.rs",
    "crates/kernels/src/simd.rs",
    "crates/engine/src/span.rs",
    "crates/engine/src/tile.rs",
    "crates/engine/src/execute.rs",
    "crates/engine/src/external_buffer.rs",
    "crates/engine/src/thread_pool.rs",
    "crates/engine/src/program/contract.rs",
    "crates/engine/src/program/folding.rs",
    "crates/engine/src/program/loops.rs",
    "crates/python/src/buffer.rs",
];

#[test]
fn raw_memory_is_touched_in_few_places() {
    let allowance = concat!("allow(", "unsafe_code");
    let elsewhere = |file: &TextFile| {
        let test = file.path.contains("/tests/") || file.path.contains("/benches/");
        let known = UNSAFE.iter().any(|place| file.path.starts_with(place));
        file.text.contains(allowance) && !test && !known
    };
    let wrong: Vec<String> =
        rust_files().into_iter().filter(elsewhere).map(|file| file.path).collect();
    refuse("files that touch raw memory", &wrong);
}

/// The table of promises names every module with unsafe code, and no other.
#[test]
fn every_module_with_unsafe_code_has_a_row() {
    let table = fs::read_to_string(root().join("docs/unsafe.md")).unwrap();
    let rows: Vec<&str> = (table.lines())
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(path, _)| path))
        .collect();
    let allowance = concat!("allow(", "unsafe_code");
    let raw = |file: &TextFile| {
        let test = file.path.contains("/tests/") || file.path.contains("/benches/");
        !test && file.text.contains(allowance) && !file.path.starts_with("crates/xtask/")
    };
    let raw: Vec<String> = rust_files().into_iter().filter(raw).map(|file| file.path).collect();
    let missing = raw.iter().filter(|path| !rows.contains(&path.as_str())).cloned();
    refuse("modules without a row in docs/unsafe.md", &missing.collect::<Vec<_>>());
    let gone = rows.iter().filter(|row| !raw.iter().any(|path| path == *row));
    let gone: Vec<String> = gone.map(|row| (*row).to_owned()).collect();
    refuse("rows of docs/unsafe.md without a module", &gone);
}
