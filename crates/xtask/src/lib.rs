//! House rules as tests: what reviewers would otherwise have to look for.
//!
//! The rules are in `tests/`; here is only what they share: finding and reading the files of the
//! repository. Nothing depends on this crate, and it depends on nothing.
//!
//! Must never be used by another crate, or use one.

use std::fs;
use std::path::{Path, PathBuf};

/// What tools make: folders, and `.git`, which is a file where one repository has several folders.
const MADE: [&str; 6] = ["target", ".git", ".venv", "corpus", "artifacts", "__pycache__"];

/// A text file of the repository.
#[derive(Clone, Debug)]
pub struct TextFile {
    /// Path from the root, with `/` between.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl TextFile {
    /// True if the name ends with `.` and `extension`.
    #[must_use]
    pub fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All text files of the repository, sorted by path; what tools make and what is no text is left
/// out.
///
/// # Panics
/// If a folder cannot be read: then no rule can be checked.
#[must_use]
pub fn text_files() -> Vec<TextFile> {
    let mut files = Vec::new();
    collect(&root(), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<TextFile>) {
    let entries = fs::read_dir(folder).expect("the repository can be read");
    for entry in entries {
        let entry = entry.expect("the repository can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if MADE.contains(&name.as_str()) {
            continue;
        }
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            files.push(TextFile { path, text });
        }
    }
}

/// All Rust files below `crates`.
#[must_use]
pub fn rust_files() -> Vec<TextFile> {
    let ours = |file: &TextFile| file.path.starts_with("crates/") && file.has_extension("rs");
    text_files().into_iter().filter(ours).collect()
}

/// Lines of a section of a manifest, from `[section]` to the next `[`.
#[must_use]
pub fn section<'a>(manifest: &'a str, section: &str) -> Vec<&'a str> {
    let head = format!("[{section}]");
    let lines = manifest.lines().skip_while(|line| line.trim() != head).skip(1);
    lines.take_while(|line| !line.starts_with('[')).collect()
}

/// Names of the dependencies in a section of a manifest.
#[must_use]
pub fn dependencies(manifest: &str, name: &str) -> Vec<String> {
    let lines = section(manifest, name).into_iter().map(str::trim);
    let entries = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let key = |line: &str| line.split(['=', '.', ' ']).next().unwrap_or_default().to_owned();
    entries.map(key).collect()
}

/// A crate of ours.
#[derive(Clone, Debug)]
pub struct Crate {
    /// The name of its folder.
    pub name: String,
    /// The text of its manifest.
    pub manifest: String,
    /// The text of its `lib.rs`.
    pub library: String,
}

impl Crate {
    /// The crates of ours that it uses, by the names of their folders, sorted.
    #[must_use]
    pub fn used(&self) -> Vec<String> {
        let mut used: Vec<String> = dependencies(&self.manifest, "dependencies")
            .iter()
            .filter_map(|one| own(one))
            .collect();
        used.sort();
        used
    }

    /// The crates of others that it uses.
    #[must_use]
    pub fn used_outside(&self) -> Vec<String> {
        let all = dependencies(&self.manifest, "dependencies");
        all.into_iter().filter(|one| own(one).is_none()).collect()
    }
}

/// The folder of a package of ours; that users name has the plain name.
fn own(package: &str) -> Option<String> {
    let folder = if package == "pantile" { package } else { package.strip_prefix("pantile-")? };
    Some(folder.to_owned())
}

/// All crates, sorted by name.
///
/// # Panics
/// If a crate cannot be read.
#[must_use]
pub fn crates() -> Vec<Crate> {
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("the repository can be read").path();
        let text = |file: &str| fs::read_to_string(path.join(file)).expect("a crate can be read");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Crate { name, manifest: text("Cargo.toml"), library: text("src/lib.rs") }
    };
    let entries = fs::read_dir(root().join("crates")).expect("the repository can be read");
    let mut crates: Vec<Crate> = entries.map(read).collect();
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    crates
}

/// Compares the part of a document between `<!-- NAME` and `<!-- end of NAME` with what was
/// generated, or writes it if `BLESS` is set.
///
/// # Panics
/// If there is no such part, or it is not up to date.
pub fn compare_block(path: &str, name: &str, generated: &str) {
    let file = root().join(path);
    let text = fs::read_to_string(&file).expect("the document can be read");
    let start = text.find(&format!("<!-- {name}")).expect("the part begins with a comment");
    let start = start + text[start..].find('\n').expect("the comment is a line") + 1;
    let end = text.find(&format!("<!-- end of {name}")).expect("the part ends with a comment");
    if std::env::var_os("BLESS").is_some() {
        let written = format!("{}{generated}{}", &text[..start], &text[end..]);
        fs::write(&file, written).expect("the document can be written");
    } else {
        assert!(text[start..end] == *generated, "{path}: BLESS=1 writes:\n{generated}");
    }
}

/// The test code of a Rust file: all of it below `tests` and in suites that tests run, else from
/// `#[cfg(test)]` on, and doc examples.
#[must_use]
pub fn test_code(file: &TextFile) -> String {
    let suites = ["/tests/", "crates/suite/", "/conformance/"];
    if suites.iter().any(|suite| file.path.contains(suite)) {
        return file.text.clone();
    }
    let doc =
        |line: &&str| line.trim_start().starts_with("//!") || line.trim_start().starts_with("///");
    let examples: Vec<&str> = file.text.lines().filter(doc).collect();
    let tests = file.text.find("#[cfg(test)]").map_or("", |at| &file.text[at..]);
    format!("{}\n{tests}", examples.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read() {
        let manifest =
            "[a]\nx = 1\n\n[dependencies]\n# why\nclap.workspace = true\nb = \"1\"\n[c]\nd = 2\n";
        assert_eq!(dependencies(manifest, "dependencies"), ["clap", "b"]);
        assert_eq!(dependencies(manifest, "dev-dependencies"), [""; 0]);
    }

    #[test]
    fn this_file_is_found() {
        let own = rust_files().into_iter().find(|file| file.path == "crates/xtask/src/lib.rs");
        assert!(own.is_some_and(|file| test_code(&file).contains("this_file_is_found")));
    }
}
