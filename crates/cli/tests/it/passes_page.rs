//! Every pass has a sentence on the page of passes, and golden files.

use crate::common::root;
use std::fs;
use std::path::Path;

fn passes() -> Vec<(&'static str, &'static str)> {
    let dialect = pantile_dialect::all().iter().map(|pass| (pass.name, pass.about));
    let lowering = pantile_lower::PASSES.iter().map(|pass| (pass.name, pass.about));
    dialect.chain(lowering).collect()
}

/// The sentence under the heading of a pass.
fn sentence(page: &str, name: &str) -> Option<String> {
    let heading = format!("\n### `{name}`\n\n");
    let rest = &page[page.find(&heading)? + heading.len()..];
    Some(rest.split("\n\n").next()?.trim_end().replace('\n', " "))
}

#[test]
fn every_pass_has_its_sentence_on_the_page() {
    let page = fs::read_to_string(root().join("docs/passes.md")).unwrap();
    for (name, about) in passes() {
        let (first, rest) = about.split_at(1);
        let expected = format!("{}{rest}.", first.to_uppercase());
        assert_eq!(sentence(&page, name).as_deref(), Some(expected.as_str()), "{name}");
    }
    let known = passes();
    let headings = page.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    for heading in headings {
        assert!(known.iter().any(|(name, _)| *name == heading), "there is no pass {heading}");
    }
}

/// True if a file of the folder takes the pass.
fn is_taken(folder: &Path, name: &str) -> bool {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).any(|path| {
        let text = fs::read_to_string(path).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        words.windows(2).any(|pair| pair == ["--pass", name])
            || text.lines().any(|line| {
                line.strip_prefix("// passes:")
                    .is_some_and(|rest| rest.split_whitespace().any(|word| word == name))
            })
    })
}

#[test]
fn every_pass_has_a_golden_file() {
    let folders = ["opt", "passes"].map(|name| root().join("filetests").join(name));
    for (name, _) in passes() {
        assert!(folders.iter().any(|folder| is_taken(folder, name)), "no golden file takes {name}");
    }
}
