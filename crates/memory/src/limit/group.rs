//! Limits of control groups, of both versions.
//!
//! A limit holds for a group and all groups below it, so every folder counts from that of the
//! process up to the root of the mounted tree.

use std::path::{Component, Path, PathBuf};

use super::{LimitKind, MemoryLimit, read, scope};

/// Larger numbers of the first version mean that there is no limit.
const UNLIMITED: u64 = 1 << 62;

/// The files of one version.
struct Files {
    limits: &'static [&'static str],
    usage: &'static str,
    /// The line of `memory.stat` with the pages of files that are given up before anything else.
    reclaimable: &'static str,
}

const FIRST: Files = Files {
    limits: &["memory.limit_in_bytes"],
    usage: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

const SECOND: Files = Files {
    limits: &["memory.max", "memory.high"],
    usage: "memory.current",
    reclaimable: "inactive_file",
};

/// A mounted tree of control groups that limits memory.
struct Mount {
    /// The group that is the root of what is mounted.
    root: PathBuf,
    /// Where it is mounted.
    point: PathBuf,
    second: bool,
}

/// The limits of all groups that the process is in.
pub(super) fn limits(root: &Path, boot: &str) -> Vec<MemoryLimit> {
    let mounts = read(&root.join("proc/self/mountinfo")).unwrap_or_default();
    let groups = read(&root.join("proc/self/cgroup")).unwrap_or_default();
    let mut limits = Vec::new();
    for mount in mounts.lines().filter_map(mount) {
        let group = groups.lines().find_map(|line| group(line, mount.second));
        let Some(group) = group else { continue };
        let files = if mount.second { SECOND } else { FIRST };
        for folder in folders(root, &mount, group) {
            limits.extend(limits_in(root, &folder, &files, boot));
        }
    }
    limits
}

/// A line of `mountinfo`: `31 23 0:28 ROOT POINT options... - TYPE source options`.
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut places = before.split(' ').skip(3);
    let (root, point) = (unescaped(places.next()?), unescaped(places.next()?));
    let mut words = after.split(' ');
    let (kind, options) = (words.next()?, words.nth(1)?);
    let second = match kind {
        "cgroup2" => true,
        "cgroup" if options.split(',').any(|option| option == "memory") => false,
        _ => return None,
    };
    Some(Mount { root: root.into(), point: point.into(), second })
}

/// Spaces and other signs are octal numbers there.
fn unescaped(text: &str) -> String {
    let signs = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    signs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The group that a line of `/proc/self/cgroup` names, if it is about memory in this version.
fn group(line: &str, second: bool) -> Option<&Path> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = match second {
        true => number == "0" && controllers.is_empty(),
        false => controllers.split(',').any(|one| one == "memory"),
    };
    fits.then(|| Path::new(group))
}

/// The folders of a group and of those around it. In a container the name may be that of the
/// machine outside, which is not mounted: then what is mounted is the group.
fn folders(root: &Path, mount: &Mount, group: &Path) -> Vec<PathBuf> {
    let plain = |path: &Path| !path.components().any(|part| part == Component::ParentDir);
    let point = below(root, &mount.point);
    let inside = group.strip_prefix(&mount.root).ok().filter(|inside| plain(inside));
    let folder = inside.map_or_else(|| point.clone(), |inside| point.join(inside));
    let folder = if folder.is_dir() { folder } else { point.clone() };
    let up = folder.ancestors().take_while(|folder| folder.starts_with(&point));
    up.map(Path::to_path_buf).collect()
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn limits_in(root: &Path, folder: &Path, files: &Files, boot: &str) -> Vec<MemoryLimit> {
    let number = |file: &str| read(&folder.join(file))?.trim().parse::<u64>().ok();
    let stated = files.limits.iter().filter_map(|file| Some((*file, number(file)?)));
    let stated: Vec<_> = stated.filter(|(_, total)| *total < UNLIMITED).collect();
    if stated.is_empty() {
        return Vec::new();
    }
    let statistics = read(&folder.join("memory.stat")).unwrap_or_default();
    let reclaimable = statistics.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        (name == files.reclaimable).then(|| value.trim().parse::<u64>().ok())?
    });
    let used = number(files.usage).unwrap_or(0).saturating_sub(reclaimable.unwrap_or(0));
    let (scope, shown) = (Some(scope(&[boot, &identity(folder)])), folder.strip_prefix(root));
    let shown = Path::new("/").join(shown.unwrap_or(folder));
    let one = |(file, total): (&'static str, u64)| {
        let kind = LimitKind::Group { file, folder: shown.clone() };
        MemoryLimit { kind, total, left: total.saturating_sub(used), scope }
    };
    stated.into_iter().map(one).collect()
}

/// What tells a group from all others of the machine, whatever it is called where it is seen from.
#[cfg(unix)]
fn identity(folder: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    folder.metadata().map_or_else(|_| String::new(), |found| found.ino().to_string())
}

/// Other systems have no control groups.
#[cfg(not(unix))]
fn identity(folder: &Path) -> String {
    folder.display().to_string()
}
