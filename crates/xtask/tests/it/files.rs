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
