//! Golden programs: `filetests/programs/*.dist`.
//!
//! A file is read and printed; what is printed is the file again, without the comments at its
//! top. `BLESS=1` rewrites the files; look at the difference before you keep it.

use std::fs;
use std::path::{Path, PathBuf};

use pantile_ir::text::parse;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/programs");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.iter().all(|file| file.extension().is_some_and(|end| end == "dist")));
    files
}

#[test]
fn programs_print_as_they_are_written() {
    let mut wrong = Vec::new();
    for file in files() {
        let given = fs::read_to_string(&file).unwrap();
        let head: usize = given
            .split_inclusive('\n')
            .take_while(|line| line.starts_with("//"))
            .map(str::len)
            .sum();
        let name = file.file_name().unwrap().to_str().unwrap();
        let program = match parse(&given, name) {
            Ok(program) => program,
            Err(faults) => {
                wrong.extend(faults.iter().map(ToString::to_string));
                continue;
            }
        };
        let printed = program.to_string();
        if printed != given[head..] {
            if std::env::var_os("BLESS").is_some() {
                fs::write(&file, format!("{}{printed}", &given[..head])).unwrap();
                continue;
            }
            let pairs = printed.lines().zip(given[head..].lines());
            let lines = pairs.filter(|(got, expected)| got != expected);
            let lines: Vec<String> =
                lines.take(5).map(|(got, want)| format!("  want {want}\n  got  {got}")).collect();
            wrong.push(format!("{name}\n{}", lines.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}\n`BLESS=1` rewrites these files", wrong.join("\n"));
}
