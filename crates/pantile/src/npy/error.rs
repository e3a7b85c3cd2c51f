//! Why an array file cannot be read or written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use pantile_array::Fault;
use pantile_protocol::Error as HeaderError;

/// Why an array file cannot be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum NpyError {
    /// A folder is not a file.
    Folder(PathBuf),
    /// The system does not let it be read.
    Read(PathBuf, io::Error),
    /// The system does not let it be written.
    Write(PathBuf, io::Error),
    /// Its header is none of an array file.
    Header(PathBuf, HeaderError),
    /// It ends before its elements do.
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes of elements by its header; nothing if they are 2^64 or more.
        promised: Option<u64>,
        /// Bytes of elements that it has.
        there: u64,
    },
    /// It has elements of a type, or lengths, that no array has.
    Elements {
        /// The file.
        path: PathBuf,
        /// What it has.
        found: String,
    },
    /// Bytes that should be 0 or 1 are something else.
    Bools(PathBuf),
    /// The file would have 2^64 bytes or more.
    TooLong(PathBuf),
    /// The array cannot be had.
    Array(Fault),
}

impl NpyError {
    pub(super) fn read(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |error| Self::Read(path.to_owned(), error)
    }

    pub(super) fn write(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |error| Self::Write(path.to_owned(), error)
    }
}

impl fmt::Display for NpyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => {
                write!(out, "{} is a folder, expected a .npy file", path.display())
            }
            Self::Read(path, error) => write!(out, "{} cannot be read: {error}", path.display()),
            Self::Write(path, error) => {
                write!(out, "{} cannot be written: {error}", path.display())
            }
            Self::Header(path, error) => write!(out, "{}: {error}", path.display()),
            Self::Truncated { path, promised, there } => {
                let promised =
                    promised.map_or("more than 2^64".to_owned(), |count| count.to_string());
                write!(
                    out,
                    "{}: the header promises {promised} bytes of elements, {there} are there",
                    path.display()
                )
            }
            Self::Elements { path, found } => {
                write!(out, "{}: has {found}, too large", path.display())
            }
            Self::Bools(path) => {
                write!(
                    out,
                    "{}: has bytes that are no truth values, expected 0 or 1",
                    path.display()
                )
            }
            Self::TooLong(path) => {
                write!(out, "{}: would have 2^64 bytes or more", path.display())
            }
            Self::Array(fault) => fault.fmt(out),
        }
    }
}

impl std::error::Error for NpyError {}

impl From<Fault> for NpyError {
    fn from(fault: Fault) -> Self {
        Self::Array(fault)
    }
}
