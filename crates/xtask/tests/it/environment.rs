//! The environment is read in one place, and what it says is listed there.

use pantile_xtask::{rust_files, text_files};

/// Who may read variables: the launch, and crates that it does not see before they need theirs. The
/// file of Python's launcher passes the environment on, and `slow` is a test in a process of its own.
const READERS: [&str; 9] = [
    "crates/pantile/src/launch/variables.rs",
    "crates/comm-mpi/src/relaunch.rs",
    "crates/comm-mpi/src/world/mod.rs",
    "crates/kernels/src/simd.rs",
    "crates/memory/src/guard.rs",
    "crates/testkit/src/rng.rs",
    "crates/xtask/src/lib.rs",
    "crates/cluster/src/client/slow.rs",
    "python/pantile/_launch.py",
];

#[test]
fn the_environment_is_read_in_one_place() {
    let reads = ["env::var(", "env::var_os(", "os.environ", "os.getenv"];
    let mut wrong = Vec::new();
    for file in text_files() {
        let code = file.path.starts_with("crates/") && file.path.contains("/src/");
        let code = code || file.path.starts_with("python/pantile/");
        if !code || READERS.contains(&file.path.as_str()) {
            continue;
        }
        // Tests at the end of a file run programs again, with variables of their own.
        let text = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let found = code.filter(|line| reads.iter().any(|read| line.contains(read)));
        wrong.extend(found.map(|line| format!("{}: {}", file.path, line.trim())));
    }
    let where_to = "ask `pantile::launch::Environment` instead";
    assert!(wrong.is_empty(), "{where_to}:\n{}", wrong.join("\n"));
}

#[test]
fn every_variable_is_in_the_table() {
    let files = rust_files();
    let table = files.iter().find(|file| file.path == READERS[0]).expect("the table is there");
    let mut missing = Vec::new();
    for file in files.iter().filter(|file| READERS.contains(&file.path.as_str())) {
        if file.path.contains("testkit")
            || file.path.contains("xtask")
            || file.path.ends_with("slow.rs")
        {
            continue;
        }
        let named = file.text.split('"').filter(|word| {
            let letters = |c: char| c.is_ascii_uppercase() || c == '_';
            word.strip_prefix("PANTILE_").is_some_and(|rest| rest.chars().all(letters))
        });
        let unknown = named.filter(|name| !table.text.contains(&format!("\"{name}\"")));
        missing.extend(unknown.map(|name| format!("{}: {name}", file.path)));
    }
    assert!(missing.is_empty(), "variables without a line in the table:\n{}", missing.join("\n"));
}
