//! Golden rewrites: `filetests/passes/*.dist`.
//!
//! The first line of a file says what is done: `// passes: fold dce` and, for one member,
//! `// passes: member, rank 1 of 3`. What comes out stands in the file of the same name that ends
//! in `.out`; if a pass refuses, the refusal stands there. `BLESS=1` rewrites the `.out` files; look
//! at the difference before you keep it.

use std::fs;
use std::path::{Path, PathBuf};

use pantile_dialect::{self as passes, Member};
use pantile_ir::text::parse;
use pantile_ir::verify::verify;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/passes");
    let all: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut files: Vec<PathBuf> =
        all.iter().filter(|file| ends_in(file, "dist")).cloned().collect();
    for file in &all {
        let asked = ends_in(file, "dist") || files.contains(&file.with_extension("dist"));
        assert!(asked, "{}: nothing makes this", file.display());
    }
    files.sort();
    files
}

fn ends_in(file: &Path, end: &str) -> bool {
    file.extension().is_some_and(|found| found == end)
}

/// The names of the passes, and the member.
fn wanted(line: &str) -> (Vec<&str>, Member) {
    let line = line.strip_prefix("// passes: ").expect("the first line names the passes");
    let (names, member) = match line.split_once(", rank ") {
        None => (line, Member::default()),
        Some((names, member)) => {
            let (rank, ranks) = member.split_once(" of ").expect("rank R of P");
            (names, Member::new(ranks.parse().unwrap(), rank.parse().unwrap()))
        }
    };
    (names.split(' ').collect(), member)
}

fn rewritten(text: &str, name: &str) -> String {
    let (names, member) = wanted(text.lines().next().unwrap());
    let mut program = match parse(text, name) {
        Ok(program) => program,
        Err(faults) => panic!("{}", faults[0]),
    };
    if let Err(findings) = verify(&program) {
        panic!("{}", findings[0]);
    }
    for pass in names {
        let pass = passes::find(pass).unwrap_or_else(|| panic!("{name}: no pass `{pass}`"));
        if let Err(error) = pass.run(&mut program, &member) {
            return format!("{error}\n");
        }
        if let Err(findings) = verify(&program) {
            panic!("after {}: {}\n{program}", pass.name, findings[0]);
        }
        let printed = program.to_string();
        let again = parse(&printed, name).unwrap_or_else(|f| panic!("{}\n{printed}", f[0]));
        assert_eq!(again.to_string(), printed, "{name}");
    }
    program.to_string()
}

#[test]
fn passes_rewrite_as_written_down() {
    let mut wrong = Vec::new();
    for file in files() {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let found = rewritten(&fs::read_to_string(&file).unwrap(), &name);
        let out = file.with_extension("out");
        let expected = fs::read_to_string(&out).unwrap_or_default();
        if found == expected {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            fs::write(&out, found).unwrap();
            continue;
        }
        let lines = found.lines().zip(expected.lines()).filter(|(got, want)| got != want);
        let lines: Vec<String> =
            lines.take(5).map(|(got, want)| format!("  want {want}\n  got  {got}")).collect();
        wrong.push(format!("{name}\n{}", lines.join("\n")));
    }
    assert!(wrong.is_empty(), "{}\n`BLESS=1` rewrites these files", wrong.join("\n"));
}
