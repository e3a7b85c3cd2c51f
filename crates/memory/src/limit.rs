//! How much memory this process may still take: what the machine has left, what the control groups
//! of the process allow (containers, batch systems), and what `ulimit` says.
//!
//! Everything is read from files below a root, so that tests have made-up ones. A file that is
//! missing or says something else sets no limit.

mod budget;
mod group;
mod shares;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

pub use budget::{Budget, Shortage};
pub use shares::Shares;

/// Address space that is kept for small allocations: these end the process when they fail.
const RESERVE: u64 = 32 << 20;

/// What sets a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// The memory of the machine.
    Machine,
    /// A control group of the process.
    Group {
        /// The file that says so, such as `memory.max`.
        file: &'static str,
        /// The folder that it is in.
        folder: PathBuf,
    },
    /// The address space of the process: `ulimit -v`.
    AddressSpace,
    /// The writable memory of the process: `ulimit -d`.
    Data,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => write!(out, "this machine"),
            Self::Group { file, folder } => {
                write!(out, "this process's control group ({file} in {})", folder.display())
            }
            Self::AddressSpace => write!(out, "this process's address space (ulimit -v)"),
            Self::Data => write!(out, "this process's data (ulimit -d)"),
        }
    }
}

/// One limit of the memory of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// What sets it.
    pub kind: LimitKind,
    /// Bytes that there are in all.
    pub total: u64,
    /// Bytes that can still be taken.
    pub left: u64,
    /// The same number for all processes that draw from it; none if it is this process's alone.
    pub scope: Option<u64>,
}

/// All limits of this process, as of now.
#[must_use]
pub fn limits() -> Vec<MemoryLimit> {
    limits_below(Path::new("/"))
}

/// All limits that the files below a root tell of.
#[must_use]
pub fn limits_below(root: &Path) -> Vec<MemoryLimit> {
    let boot = read(&root.join("proc/sys/kernel/random/boot_id")).unwrap_or_default();
    let mut limits: Vec<MemoryLimit> = machine(root, &boot).into_iter().collect();
    limits.extend(group::limits(root, &boot));
    limits.extend(own(root));
    limits
}

/// The limit that leaves least to this process, if those that others draw from are shared.
#[must_use]
pub fn narrowest(limits: Vec<MemoryLimit>, shares: &Shares) -> Option<MemoryLimit> {
    let share = |mut limit: MemoryLimit| {
        limit.left /= shares.of(limit.scope);
        limit
    };
    limits.into_iter().map(share).min_by_key(|limit| limit.left)
}

/// Bytes that this process may still take, if the system tells.
#[must_use]
pub fn available_memory() -> Option<usize> {
    let limit = narrowest(limits(), &Shares::default())?;
    Some(usize::try_from(limit.left).unwrap_or(usize::MAX))
}

fn machine(root: &Path, boot: &str) -> Option<MemoryLimit> {
    let text = read(&root.join("proc/meminfo"))?;
    let left = kilobytes(&text, "MemAvailable:")?;
    let total = kilobytes(&text, "MemTotal:").unwrap_or(left);
    Some(MemoryLimit { kind: LimitKind::Machine, total, left, scope: Some(scope(&[boot])) })
}

/// What `ulimit` sets for this process alone.
fn own(root: &Path) -> Vec<MemoryLimit> {
    let files = (read(&root.join("proc/self/limits")), read(&root.join("proc/self/status")));
    let (Some(limits), Some(status)) = files else { return Vec::new() };
    let one = |name: &str, used: &str, kind: LimitKind| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        let total = line.split_whitespace().next()?.parse::<u64>().ok()?;
        let left = total.saturating_sub(kilobytes(&status, used)?).saturating_sub(RESERVE);
        Some(MemoryLimit { kind, total, left, scope: None })
    };
    let space = one("Max address space", "VmSize:", LimitKind::AddressSpace);
    space.into_iter().chain(one("Max data size", "VmData:", LimitKind::Data)).collect()
}

/// A number of a file with lines such as `MemAvailable:  123 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// A number for what several processes draw from, made of what tells it apart.
fn scope(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.trim().bytes().chain([0]));
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests;
