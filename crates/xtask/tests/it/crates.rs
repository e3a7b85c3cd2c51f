//! Which crate may know which, and why an outside one is there at all.

use pantile_xtask::{Crate, compare_block, crates, dependencies, root, section};
use std::fs;

/// Crates from left to right: each may use those before it. With them the crates of others that it may
/// use; pure crates take none but a small vector.
const ORDER: [(&str, &[&str]); 26] = [
    ("memory", &["libc"]),
    ("comm", &["shuttle"]),
    ("comm-mpi", &["mpi"]),
    ("comm-net", &["rcgen", "rustix", "rustls"]),
    ("text", &[]),
    ("lanes", &["bytemuck", "num-complex"]),
    ("geometry", &["smallvec"]),
    ("protocol", &[]),
    ("kernels", &["bytemuck", "libc", "num-complex", "smallvec"]),
    ("plan", &["smallvec"]),
    ("draw", &[]),
    ("ir", &[]),
    ("lower", &[]),
    ("dialect", &[]),
    ("engine", &["smallvec"]),
    ("member", &[]),
    ("bench", &["anyhow"]),
    (
        "cluster",
        &["prost", "tokio", "tokio-rustls", "tokio-stream", "tonic", "tonic-build", "tonic-prost"],
    ),
    ("spmd", &[]),
    ("array", &["smallvec"]),
    ("pantile", &[]),
    ("cli", &["anyhow", "clap"]),
    ("python", &["pyo3"]),
    ("testkit", &[]),
    ("suite", &["num-complex"]),
    ("xtask", &[]),
];

/// What travels, and what is said and computed: neither knows the other. They meet in `engine`.
const APART: [&[&str]; 2] = [
    &["comm", "comm-mpi", "comm-net"],
    &["text", "lanes", "geometry", "protocol", "kernels", "plan", "draw", "ir", "lower", "dialect"],
];

/// Crates that only these may use.
const ONLY_FOR: [(&str, &[&str]); 12] = [
    // The processes of a job, and connections with keys and tokens.
    ("comm-mpi", &["pantile", "python", "suite"]),
    ("comm-net", &["cli", "cluster"]),
    // Loops by hand, for figures alone.
    ("bench", &["cli"]),
    ("draw", &["cli", "pantile"]),
    ("member", &["cli", "suite"]),
    // What runs takes the way of `lower`.
    ("dialect", &["cli", "member"]),
    ("cluster", &["pantile"]),
    ("cli", &["python"]),
    ("python", &[]),
    ("testkit", &["suite"]),
    ("suite", &[]),
    ("xtask", &[]),
];

/// What tests may use besides: the random cases, in benches the loops by hand, in transports the
/// cases for all of them, and the transport over TCP.
const FOR_TESTS: [&str; 10] = [
    "pantile",
    "pantile-bench",
    "pantile-comm-net",
    "pantile-testkit",
    "pantile-suite",
    "pantile-plan",
    "pantile-spmd",
    "pantile-engine",
    "pantile-geometry",
    "libc",
];

/// Why a crate may not use another one of ours; nothing if it may.
fn refusal(name: &str, used: &str) -> Option<String> {
    let place = |wanted: &str| ORDER.iter().position(|(known, _)| *known == wanted);
    let family = |wanted: &str| APART.iter().position(|family| family.contains(&wanted));
    let reserved = ONLY_FOR.iter().find(|(only, users)| *only == used && !users.contains(&name));
    if place(used) >= place(name) {
        Some(format!("{name} may not use {used}, which is not on its left"))
    } else if family(name).zip(family(used)).is_some_and(|(own, other)| own != other) {
        Some(format!("{name} may not use {used}: they meet in `engine`"))
    } else {
        reserved.map(|(_, users)| format!("{name} may not use {used}, which is for {users:?}"))
    }
}

#[test]
fn left_never_sees_right() {
    let mut wrong = Vec::new();
    for own in crates() {
        let Some((_, outside)) = ORDER.iter().find(|(known, _)| *known == own.name) else {
            wrong.push(format!("crate {} has no place in the order", own.name));
            continue;
        };
        wrong.extend(own.used().iter().filter_map(|used| refusal(&own.name, used)));
        for dependency in own.used_outside() {
            if !outside.contains(&dependency.as_str()) {
                wrong.push(format!("{} may not use {dependency}", own.name));
            }
        }
        for dependency in dependencies(&own.manifest, "dev-dependencies") {
            if !FOR_TESTS.contains(&dependency.as_str()) {
                wrong.push(format!("the tests of {} may not use {dependency}", own.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn edges_to_the_right_and_across_are_refused() {
    assert_eq!(refusal("plan", "geometry"), None);
    assert!(refusal("geometry", "plan").unwrap().contains("left"));
    assert!(refusal("geometry", "comm").unwrap().contains("engine"));
    assert!(refusal("spmd", "bench").unwrap().contains("cli"));
    assert!(refusal("plan", "unknown").is_none(), "no such crate: cargo refuses it");
}

/// The list under the picture of `ARCHITECTURE.md` says what manifests say.
#[test]
fn the_map_lists_every_edge() {
    let all = crates();
    let mut lines = Vec::new();
    for (name, _) in ORDER {
        let own = all.iter().find(|own| own.name == name).expect("a crate of the order exists");
        let used = own.used().join(", ");
        lines.push(format!("{name:10} {used}").trim_end().to_owned());
    }
    let list = format!("```text\n{}\n```\n", lines.join("\n"));
    compare_block("ARCHITECTURE.md", "edges", &list);
}

#[test]
fn packages_are_named_after_their_folders() {
    for Crate { name, manifest, .. } in crates() {
        // The crate that users name has the plain name.
        let package = if name == "pantile" { name.clone() } else { format!("pantile-{name}") };
        let expected = format!("name = \"{package}\"");
        assert!(section(&manifest, "package").contains(&expected.as_str()), "{name}");
        assert_eq!(section(&manifest, "lints")[0], "workspace = true", "{name}");
    }
}

#[test]
fn every_outside_crate_says_what_it_saves() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut before = "";
    for line in section(&manifest, "workspace.dependencies") {
        let outside = !line.is_empty() && !line.starts_with('#') && !line.starts_with("pantile");
        assert!(!outside || before.starts_with("# "), "no comment above `{line}`");
        before = line;
    }
    for Crate { name, manifest, .. } in crates() {
        for kind in ["dependencies", "dev-dependencies"] {
            for line in section(&manifest, kind) {
                let stated = line.is_empty() || line.starts_with('#') || line.contains("workspace");
                assert!(stated, "{name}: `{line}` belongs into the workspace's manifest");
            }
        }
    }
}
