//! Golden faults and findings: `filetests/verify/*.dist`.
//!
//! A file is a program that is at fault. What is wrong is listed behind it, a line for each:
//! `// error: LINE:COLUMN message`. `BLESS=1` rewrites these lines; look at the difference before
//! you keep it.

use std::fs;
use std::path::{Path, PathBuf};

use pantile_ir::text::{Fault, parse};
use pantile_ir::verify::verify;

fn folder(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests").join(name);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.iter().all(|file| file.extension().is_some_and(|end| end == "dist")));
    files
}

/// What is wrong with a text: faults if it cannot be read, else findings.
fn wrong(text: &str) -> Vec<String> {
    let line = |line: usize, column: usize, message: &str| {
        format!("// error: {line}:{column} {message}\n")
    };
    let at = |fault: &Fault| line(fault.line(), fault.column(), fault.message());
    match parse(text, "") {
        Err(faults) => faults.iter().map(at).collect(),
        Ok(program) => match verify(&program) {
            Ok(()) => Vec::new(),
            Err(all) => all
                .iter()
                .map(|finding| {
                    let message = match finding.op.as_str() {
                        "" => finding.message.clone(),
                        op => format!("`{op}`: {}", finding.message),
                    };
                    line(finding.place.line as usize, finding.place.column as usize, &message)
                })
                .collect(),
        },
    }
}

/// `filetests/verify`.
#[test]
fn faults_and_findings_are_as_listed() {
    let mut bad = Vec::new();
    for file in folder("verify") {
        let given = fs::read_to_string(&file).unwrap();
        let end = given.find("// error: ").unwrap_or(given.len());
        let (text, listed) = given.split_at(end);
        let found: String = wrong(text).concat();
        assert!(!found.is_empty(), "{}: nothing is wrong", file.display());
        if found != listed {
            if std::env::var_os("BLESS").is_some() {
                fs::write(&file, format!("{text}{found}")).unwrap();
            } else {
                bad.push(format!("{}\n--- listed\n{listed}--- found\n{found}", file.display()));
            }
        }
    }
    assert!(bad.is_empty(), "{}\n`BLESS=1` rewrites these files", bad.join("\n"));
}

#[test]
fn golden_programs_are_sound() {
    for file in folder("programs") {
        let found = wrong(&fs::read_to_string(&file).unwrap()).concat();
        assert!(found.is_empty(), "{}\n{found}", file.display());
    }
}
