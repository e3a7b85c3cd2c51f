//! Where texts come from: an argument, a file, or standard input.

use std::io::Read;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use pantile_geometry::Distribution;
use pantile_protocol::convert::{import, import_partitioned};
use pantile_protocol::json::{self, Document};

/// More than this is not read: a description of an array is never so long.
const BYTES_MAX: u64 = 1 << 28;

/// A text and the name under which messages speak of it.
#[derive(Debug)]
pub(crate) struct NamedText {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl NamedText {
    /// Reads a file, or standard input if the path is `-`.
    pub(crate) fn from_path(path: &str) -> Result<Self> {
        let name = if path == "-" { "standard input" } else { path }.to_owned();
        let bytes = read(path).map_err(|why| anyhow!("{name}: {why}"))?;
        Ok(Self { name, bytes })
    }

    /// What an argument stands for: `-`, `@FILE`, the name of a file, or the text itself.
    fn from_argument(argument: &str, place: &str) -> Result<Self> {
        if argument == "-" {
            return Self::from_path("-");
        }
        if let Some(path) = argument.strip_prefix('@') {
            return Self::from_path(path);
        }
        if Path::new(argument).is_file() {
            return Self::from_path(argument);
        }
        if looks_like_path(argument) {
            bail!("{place}: there is no file `{argument}`");
        }
        Ok(Self { name: place.to_owned(), bytes: argument.as_bytes().to_vec() })
    }

    /// The bytes as text, without the line break at the end: a fault there is then shown behind
    /// the last word.
    pub(crate) fn text(&self) -> Result<&str> {
        let text = std::str::from_utf8(&self.bytes).map_err(|error| {
            anyhow!("{}: is not text: byte {} is not UTF-8", self.name, error.valid_up_to())
        })?;
        Ok(text.trim_end())
    }

    /// True if the text is JSON, to judge by its first character.
    pub(crate) fn is_json(text: &str) -> bool {
        text.trim_start().starts_with(['{', '['])
    }
}

/// A distribution always has spaces and a colon; a name with a dot or a slash and neither is a
/// mistyped file.
fn looks_like_path(argument: &str) -> bool {
    !argument.contains([' ', ':', '{', '[', '\n']) && argument.contains(['.', '/'])
}

/// All bytes of a file, or of standard input if the path is `-`.
fn read(path: &str) -> Result<Vec<u8>, String> {
    if Path::new(path).is_dir() {
        return Err("is a folder, expected a file".to_owned());
    }
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let from: Box<dyn Read> = if path == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(unreadable)?)
    };
    let mut bytes = Vec::new();
    let count = from.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if count as u64 > BYTES_MAX {
        return Err(format!("is longer than {BYTES_MAX} bytes"));
    }
    Ok(bytes)
}

/// A distribution that was asked for, and what had to be assumed to read it.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) distribution: Distribution,
    /// The same after an exchange, if a protocol description was read: all padding is held.
    pub(crate) exchanged: Option<Distribution>,
    pub(crate) notes: Vec<String>,
}

/// Reads the distribution that an argument gives; `place` is the argument's name.
pub(crate) fn distribution(argument: &str, place: &str) -> Result<Given> {
    let input = NamedText::from_argument(argument, place)?;
    let (name, text) = (&input.name, input.text()?);
    if NamedText::is_json(text) {
        return from_json(text, name);
    }
    let parsed = text.parse::<Distribution>();
    let distribution = parsed.map_err(|error| anyhow!("{name}: {error}"))?;
    Ok(Given { distribution, exchanged: None, notes: Vec::new() })
}

fn from_json(text: &str, name: &str) -> Result<Given> {
    let document = json::read(text).map_err(|fault| anyhow!("{name}: {fault}"))?;
    let mut notes: Vec<String> = document.notes().iter().map(|n| format!("{name}: {n}")).collect();
    let mut exchanged = None;
    let distribution = match &document {
        Document::Sections { sections, .. } => {
            let imported = import(sections).map_err(|error| anyhow!("{name}: {error}"))?;
            notes.extend(imported.notes.iter().map(|note| format!("{name}: {note}")));
            exchanged = Some(imported.exchanged.normal());
            imported.distribution.normal()
        }
        Document::Partitioned { partitioned, findings, .. } => {
            let (Some(partitioned), []) = (partitioned, findings.as_slice()) else {
                let list = pantile_protocol::report(findings, Some(text));
                bail!("{name}: the description breaks rules\n{}", list.trim_end());
            };
            import_partitioned(partitioned).map_err(|error| anyhow!("{name}: {error}"))?.normal()
        }
        _ => bail!("{name}: describes no array that can be distributed here"),
    };
    Ok(Given { distribution, exchanged, notes })
}
