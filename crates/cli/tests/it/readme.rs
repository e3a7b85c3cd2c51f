//! What the documents show is what happens.
//!
//! In blocks marked `console`, lines that start with `$ pantile` (or `$ cargo run --release --`)
//! are run; what follows up to the next `$` is what they print, with `...` for lines left out.
//! `BLESS=1` rewrites outputs that have no `...`.

use crate::common::{joined, pantile, root, words};
use std::fs;

/// The blocks marked `console`: number of the first line inside, and the lines.
fn blocks<'a>(lines: &[&'a str]) -> Vec<(usize, Vec<&'a str>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, Vec<&str>)> = None;
    for (at, line) in lines.iter().enumerate() {
        match &mut open {
            Some(_) if line.starts_with("```") => blocks.extend(open.take()),
            Some((_, block)) => block.push(line),
            None if *line == "```console" => open = Some((at + 1, Vec::new())),
            None => {}
        }
    }
    assert!(open.is_none(), "a block is never closed");
    blocks
}

/// True if `shown` is `printed` with some lines replaced by `...`.
fn agrees(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line.trim() == "..." => {
            (0..=printed.len()).any(|skip| agrees(rest, &printed[skip..]))
        }
        Some((line, rest)) => printed.first() == Some(line) && agrees(rest, &printed[1..]),
    }
}

#[test]
fn commands_in_the_readme_print_what_it_says() {
    assert!(commands_of("README.md") >= 2);
}

#[test]
fn commands_in_the_tour_print_what_it_says() {
    assert!(commands_of("docs/command.md") >= 9);
}

#[test]
fn commands_on_the_page_of_passes_print_what_it_says() {
    assert!(commands_of("docs/passes.md") >= 1);
}

/// Runs the commands of a page; gives their number.
fn commands_of(page: &str) -> usize {
    let path = root().join(page);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let name = format!("pantile-{}-{}", page.replace('/', "-"), std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(folder.join("examples")).unwrap();
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, folder.join("examples").join(path.file_name().unwrap())).unwrap();
        }
    }
    let (mut blessed, mut copied, mut wrong, mut count) = (String::new(), 0, Vec::new(), 0);
    for (start, block) in blocks(&lines) {
        let mut at = 0;
        while at < block.len() {
            let (line, taken) = joined(&block[at..]);
            let shown: Vec<&str> =
                block[at + taken..].iter().take_while(|l| !l.starts_with("$ ")).copied().collect();
            let rest = ["$ pantile ", "$ cargo run --release -- "];
            let command = rest.iter().find_map(|prefix| line.strip_prefix(prefix));
            if let Some(command) = command {
                count += 1;
                let ran = pantile(&words(command), &folder, "");
                let printed = ran.stdout + &ran.stderr;
                if !agrees(&shown, &printed.lines().collect::<Vec<_>>()) {
                    let own = start + at + taken;
                    for line in &lines[copied..own] {
                        blessed.push_str(&format!("{line}\n"));
                    }
                    blessed.push_str(&printed);
                    copied = own + shown.len();
                    wrong.push(format!("line {}: {line}\n{printed}", start + at + 1));
                }
            }
            at += taken + shown.len();
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    if !wrong.is_empty() && std::env::var_os("BLESS").is_some() {
        lines[copied..].iter().for_each(|line| blessed.push_str(&format!("{line}\n")));
        fs::write(path, blessed).unwrap();
        return count;
    }
    assert!(wrong.is_empty(), "{page} shows other output than\n{}", wrong.join("\n"));
    count
}

#[test]
fn programs_in_the_documents_run() {
    let text = fs::read_to_string(root().join("docs/programs.md")).unwrap();
    let programs: Vec<&str> = (text.split("```dist\n").skip(1))
        .map(|rest| rest.split_once("```").expect("a block is never closed").0)
        .collect();
    assert!(!programs.is_empty(), "docs/programs.md shows no program");
    for program in programs {
        let ran = pantile(&words("run - -n 3 --arg factor=0.5"), &root(), program);
        assert_eq!(ran.code, 0, "{program}\n{}", ran.stderr);
        assert!(ran.stdout.contains("total = 499.5"), "{}", ran.stdout);
    }
}
