//! Limits of made-up machines.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A made-up tree of files, which ends with the test.
struct Tree(PathBuf);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pantile-limit-{}-{number}", std::process::id());
        let tree = Self(std::env::temp_dir().join(name));
        tree.with(files)
    }

    fn with(self, files: &[(&str, &str)]) -> Self {
        for (path, text) in files {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        self
    }

    /// Who sets a limit, what it allows and what is left of that.
    fn check(&self, expected: &[(&str, u64, u64)]) {
        let name = |kind: &LimitKind| match kind {
            LimitKind::Group { file, folder } => folder.join(file).display().to_string(),
            LimitKind::Machine => "machine".to_owned(),
            LimitKind::AddressSpace => "space".to_owned(),
            LimitKind::Data => "data".to_owned(),
        };
        let got: Vec<_> = limits_below(&self.0)
            .into_iter()
            .map(|limit| (name(&limit.kind), limit.total, limit.left))
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(who, total, left)| ((*who).to_owned(), *total, *left)).collect();
        assert_eq!(got, expected);
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const SECOND_MOUNT: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
const FIRST_MOUNT: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
const HYBRID_MOUNT: &str = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

#[test]
fn nothing_is_known_without_files_or_with_garbage() {
    Tree::new(&[]).check(&[]);
    Tree::new(&[
        ("proc/meminfo", "MemAvailable: much kB\nMemTotal"),
        ("proc/self/limits", "Max address space  \nMax data size x y"),
        ("proc/self/status", "VmSize:"),
        ("proc/self/mountinfo", "cgroup2\n1 2 3 - cgroup2\n\u{1}\n - - - -\n"),
        ("proc/self/cgroup", "0\n::\n0::"),
        ("sys/fs/cgroup/memory.max", "12"),
    ])
    .check(&[]);
}

#[test]
fn a_machine_without_groups_has_what_it_has() {
    Tree::new(&[("proc/meminfo", "MemTotal:  16 kB\nMemFree: 1 kB\nMemAvailable:   12 kB\n")])
        .check(&[("machine", 16 << 10, 12 << 10)]);
}

#[test]
fn groups_of_the_second_version_count_up_to_the_root() {
    let (slice, job) = ("sys/fs/cgroup/slice", "sys/fs/cgroup/slice/job");
    Tree::new(&[
        ("proc/self/mountinfo", SECOND_MOUNT),
        ("proc/self/cgroup", "0::/slice/job\n"),
        (&format!("{job}/memory.max"), "max\n"),
        (&format!("{job}/memory.high"), "5000\n"),
        (&format!("{job}/memory.current"), "1500\n"),
        (&format!("{job}/memory.stat"), "anon 1\ninactive_file 500\nactive_file 7\n"),
        (&format!("{slice}/memory.max"), "6000\n"),
        (&format!("{slice}/memory.high"), "max\n"),
        (&format!("{slice}/memory.current"), "5900\n"),
        // No limit of others.
        ("sys/fs/cgroup/other/memory.max", "1\n"),
    ])
    .check(&[
        ("/sys/fs/cgroup/slice/job/memory.high", 5000, 4000),
        ("/sys/fs/cgroup/slice/memory.max", 6000, 100),
    ]);
}

#[test]
fn groups_of_the_first_version_count_up_to_the_root() {
    let (top, job) = ("sys/fs/cgroup/memory", "sys/fs/cgroup/memory/a/b");
    let tree = Tree::new(&[
        ("proc/self/mountinfo", FIRST_MOUNT),
        ("proc/self/cgroup", "5:cpu:/x\n4:cpuset,memory:/a/b\n0::/\n"),
        (&format!("{top}/memory.limit_in_bytes"), "9223372036854771712\n"),
        (&format!("{top}/a/memory.limit_in_bytes"), "9000\n"),
        (&format!("{top}/a/memory.usage_in_bytes"), "20000\n"),
        (&format!("{top}/a/memory.stat"), "inactive_file 1\ntotal_inactive_file 11500\n"),
        (&format!("{job}/memory.limit_in_bytes"), "3000\n"),
        (&format!("{job}/memory.usage_in_bytes"), "3500\n"),
    ]);
    tree.check(&[
        ("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", 3000, 0),
        ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", 9000, 500),
    ]);
}

#[test]
fn both_versions_at_once() {
    let both = format!("{FIRST_MOUNT}{HYBRID_MOUNT}");
    Tree::new(&[
        ("proc/meminfo", "MemAvailable: 50 kB\n"),
        ("proc/self/mountinfo", &both),
        ("proc/self/cgroup", "4:memory:/j\n0::/u\n"),
        ("sys/fs/cgroup/memory/j/memory.limit_in_bytes", "70"),
        ("sys/fs/cgroup/unified/u/memory.max", "80"),
        ("sys/fs/cgroup/unified/u/memory.current", "10"),
    ])
    .check(&[
        ("machine", 50 << 10, 50 << 10),
        ("/sys/fs/cgroup/memory/j/memory.limit_in_bytes", 70, 70),
        ("/sys/fs/cgroup/unified/u/memory.max", 80, 70),
    ]);
}

/// The group is named as the machine outside calls it, or lies outside of what is seen here.
#[test]
fn in_a_container_what_is_mounted_is_the_group() {
    for group in ["0::/docker/0123\n", "0::/../../elsewhere\n", "0::/\n"] {
        Tree::new(&[
            ("proc/self/mountinfo", SECOND_MOUNT),
            ("proc/self/cgroup", group),
            ("sys/fs/cgroup/memory.max", "1500\n"),
            ("sys/fs/cgroup/memory.current", "400\n"),
        ])
        .check(&[("/sys/fs/cgroup/memory.max", 1500, 1100)]);
    }
}

#[test]
fn a_part_of_a_tree_may_be_mounted_anywhere() {
    let line = "30 23 0:26 /docker/7 /mnt/my\\040groups rw - cgroup2 none rw,nsdelegate\n";
    Tree::new(&[
        ("proc/self/mountinfo", line),
        ("proc/self/cgroup", "0::/docker/7/inner\n"),
        ("mnt/my groups/inner/memory.max", "10"),
        ("mnt/my groups/memory.max", "20"),
    ])
    .check(&[("/mnt/my groups/inner/memory.max", 10, 10), ("/mnt/my groups/memory.max", 20, 20)]);
}

#[test]
fn what_ulimit_says_is_this_process_alone() {
    let limits = "MemoryLimit                     Soft MemoryLimit           Hard MemoryLimit           Units\n\
                  Max data size             unlimited            unlimited            bytes\n\
                  Max address space         1073741824           unlimited            bytes\n";
    let status = "Name:\tx\nVmPeak:\t 9 kB\nVmSize:\t  524288 kB\nVmData:\t 1024 kB\n";
    let tree = Tree::new(&[("proc/self/limits", limits), ("proc/self/status", status)]);
    tree.check(&[("space", 1 << 30, (1 << 29) - RESERVE)]);
    assert!(limits_below(&tree.0).iter().all(|limit| limit.scope.is_none()));
    let data = limits.replace("size             unlimited", "size             2097152");
    Tree::new(&[("proc/self/limits", &data), ("proc/self/status", status)])
        .check(&[("space", 1 << 30, (1 << 29) - RESERVE), ("data", 2 << 20, 0)]);
}

#[test]
fn two_machines_are_told_apart() {
    let files = |boot: &'static str| {
        [("proc/sys/kernel/random/boot_id", boot), ("proc/meminfo", "MemAvailable: 1 kB\n")]
    };
    let scopes = |tree: &Tree| limits_below(&tree.0)[0].scope;
    let (one, same, other) =
        (Tree::new(&files("a-1\n")), Tree::new(&files("a-1")), Tree::new(&files("b-2\n")));
    assert_eq!(scopes(&one), scopes(&same));
    assert_ne!(scopes(&one), scopes(&other));
}

#[cfg(target_os = "linux")]
#[test]
fn this_machine_says_something() {
    let found = limits();
    assert_eq!(found[0].kind, LimitKind::Machine);
    assert!(found[0].left > 0 && found[0].left <= found[0].total && found[0].scope.is_some());
    assert!(available_memory().is_some_and(|left| left as u64 <= found[0].total));
}
