//! Documents: links lead somewhere, and nothing but the project is spoken of.

use pantile_xtask::{TextFile, root, text_files};
use std::path::Path;

fn documents() -> Vec<TextFile> {
    text_files().into_iter().filter(|file| file.has_extension("md")).collect()
}

/// Targets of `[text](target)` and `![text](target)` outside of code blocks.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let targets = line.split("](").skip(1);
        links.extend(targets.filter_map(|rest| rest.split_once(')')).map(|(to, _)| to.to_owned()));
    }
    links
}

/// The anchor of a heading as pages show it: lower case, `-` for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

#[test]
fn links_resolve() {
    let mut wrong = Vec::new();
    let documents = documents();
    for document in &documents {
        for link in links(&document.text) {
            if link.contains("://") {
                continue;
            }
            let (path, fragment) = link.split_once('#').unwrap_or((&link, ""));
            let folder = Path::new(&document.path).parent().unwrap();
            let target = if path.is_empty() {
                root().join(&document.path)
            } else {
                root().join(folder).join(path)
            };
            if !target.exists() {
                wrong.push(format!("{}: {link}", document.path));
            } else if !fragment.is_empty() {
                let text = std::fs::read_to_string(&target).unwrap_or_default();
                if !anchors(&text).iter().any(|known| known == fragment) {
                    wrong.push(format!("{}: {link}: no such heading", document.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

#[test]
fn no_addresses_of_registries() {
    let banned = [concat!("crates", ".io"), concat!("docs", ".rs"), concat!("pypi", ".org")];
    for document in documents() {
        for word in banned {
            assert!(!document.text.contains(word), "{}: {word}", document.path);
        }
    }
}

#[test]
fn anchors_are_those_of_headings() {
    assert_eq!(anchor(" Invariants, as absences"), "invariants-as-absences");
    assert_eq!(links("a [b](c.md#d) ![e](f.svg)\n```\n[x](y)\n```\n"), ["c.md#d", "f.svg"]);
}
