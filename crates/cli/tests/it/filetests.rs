//! Golden files: `filetests/FOLDER/*.txt`.
//!
//! ```text
//! # What this is about; may be left out.
//! test plan "8 on r=2: block(r)" "8 on r=2: whole"
//! the input, if there is any
//! ----
//! what the command prints
//! ---- stderr
//! what it complains about, if it does
//! ---- exit 1
//! ```
//!
//! A `test` line that ends with a backslash goes on in the next line. The command runs in the
//! folder of the file, so that it can name files in `data` there. `BLESS=1` rewrites everything
//! from the first `----` on; look at the difference before you keep it.

use crate::common::{joined, pantile, root, words};
use std::fs;
use std::path::{Path, PathBuf};

fn run(path: &Path) -> Option<String> {
    let given = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = given.lines().collect();
    let head = lines.iter().take_while(|line| line.starts_with('#') || line.is_empty()).count();
    let (line, taken) = joined(&lines[head..]);
    let command = line.strip_prefix("test ").unwrap_or_else(|| {
        panic!("{}: expected a line `test COMMAND ...`, found `{line}`", path.display())
    });
    let body = &lines[head + taken..];
    let split = body.iter().position(|line| *line == "----").unwrap_or(body.len());
    let input: String = body[..split].iter().map(|line| format!("{line}\n")).collect();
    let ran = pantile(&words(command), path.parent().unwrap(), &input);
    let mut expected = format!("----\n{}", ran.stdout);
    if !ran.stderr.is_empty() {
        expected.push_str(&format!("---- stderr\n{}", ran.stderr));
    }
    if ran.code != 0 {
        expected.push_str(&format!("---- exit {}\n", ran.code));
    }
    let kept: String =
        lines[..head + taken + split].iter().map(|line| format!("{line}\n")).collect();
    let whole = kept + &expected;
    if whole == given {
        return None;
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, whole).unwrap();
        return None;
    }
    let was: String = body[split..].iter().map(|line| format!("{line}\n")).collect();
    Some(format!("{}\n--- expected\n{was}--- got\n{expected}", path.display()))
}

fn check(folder: &str) {
    let folder: PathBuf = root().join("filetests").join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap() != "data")
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} has no files", folder.display());
    // What whole programs print is compared elsewhere.
    paths.retain(|path| path.extension().is_none_or(|end| end != "out"));
    let strange = paths.iter().find(|path| path.extension().is_none_or(|end| end != "txt"));
    assert_eq!(strange, None, "only .txt files are run");
    let wrong: Vec<String> = paths.iter().filter_map(|path| run(path)).collect();
    assert!(wrong.is_empty(), "{}\n`BLESS=1` rewrites these files", wrong.join("\n"));
}

#[test]
fn plan_files() {
    check("plan");
}

#[test]
fn check_files() {
    check("check");
}

#[test]
fn cluster_files() {
    check("cluster");
}

#[test]
fn halo_files() {
    check("halo");
}

#[test]
fn run_files() {
    check("run");
}

#[test]
fn opt_files() {
    check("opt");
}

#[test]
fn explain_files() {
    check("explain");
}

#[test]
fn text_files() {
    check("text");
}

#[test]
fn usage_files() {
    check("usage");
}
