//! Which crate may know which, and why an outside one is there at all.

use pantile_xtask::{dependencies, root, section};
use std::fs;

/// Crate, crates of ours that it may use, and crates of others. Pure crates take none but a
/// small vector; nothing may use `python`, `suite` or `xtask`, and only `python` the command.
const ALLOWED: [(&str, &[&str], &[&str]); 23] = [
    ("text", &[], &[]),
    ("geometry", &["text"], &["smallvec"]),
    ("plan", &["geometry", "text"], &["smallvec"]),
    ("draw", &["geometry", "plan"], &[]),
    ("protocol", &["geometry", "text"], &[]),
    ("lanes", &[], &["bytemuck", "num-complex"]),
    ("ir", &["geometry", "lanes", "plan"], &[]),
    ("kernels", &["geometry", "lanes", "memory"], &["bytemuck", "libc", "num-complex", "smallvec"]),
    ("memory", &[], &["libc"]),
    ("comm", &["memory"], &["shuttle"]),
    ("comm-mpi", &["comm"], &["mpi"]),
    ("comm-net", &["comm"], &["rcgen", "rustix", "rustls"]),
    ("engine", &["comm", "geometry", "ir", "kernels", "lanes", "memory", "plan"], &["smallvec"]),
    ("spmd", &["comm", "engine", "geometry", "plan"], &[]),
    (
        "cluster",
        &["comm", "comm-net", "engine", "geometry", "ir"],
        &["prost", "tokio", "tokio-rustls", "tokio-stream", "tonic", "tonic-build", "tonic-prost"],
    ),
    ("array", &["comm", "engine", "geometry", "ir", "plan"], &[]),
    (
        "pantile",
        &[
            "array", "cluster", "comm", "comm-mpi", "draw", "engine", "geometry", "ir", "plan",
            "protocol", "spmd", "text",
        ],
        &[],
    ),
    // Loops by hand, for figures alone.
    ("bounds", &["kernels", "lanes"], &[]),
    // The crate that users name is the one of ours without a prefix. Of the transport over TCP the
    // command needs keys and tokens alone.
    (
        "cli",
        &[
            "bounds", "comm", "comm-net", "draw", "engine", "geometry", "ir", "kernels", "lanes",
            "plan", "protocol", "text",
        ],
        &["anyhow", "clap", "pantile"],
    ),
    ("python", &["cli", "comm", "comm-mpi", "engine", "protocol"], &["pantile", "pyo3"]),
    ("testkit", &[], &[]),
    (
        "suite",
        &["comm", "comm-mpi", "engine", "geometry", "ir", "lanes", "spmd", "testkit"],
        &["num-complex"],
    ),
    ("xtask", &[], &[]),
];

/// What tests may use besides: the random cases, in benches the loops by hand, in transports the
/// cases for all of them, and the transport over TCP.
const FOR_TESTS: [&str; 10] = [
    "pantile",
    "pantile-bounds",
    "pantile-comm-net",
    "pantile-testkit",
    "pantile-suite",
    "pantile-plan",
    "pantile-spmd",
    "pantile-engine",
    "pantile-geometry",
    "libc",
];

fn manifests() -> Vec<(String, String)> {
    let mut manifests = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        manifests.push((name, fs::read_to_string(path.join("Cargo.toml")).unwrap()));
    }
    manifests.sort();
    manifests
}

#[test]
fn left_never_sees_right() {
    let mut wrong = Vec::new();
    for (name, manifest) in manifests() {
        let Some((_, ours, outside)) = ALLOWED.iter().find(|(known, ..)| *known == name) else {
            wrong.push(format!("crate {name} has no line in the table of allowed edges"));
            continue;
        };
        for dependency in dependencies(&manifest, "dependencies") {
            let allowed = match dependency.strip_prefix("pantile-") {
                Some(own) => ours.contains(&own),
                None => outside.contains(&dependency.as_str()),
            };
            if !allowed {
                wrong.push(format!("{name} may not depend on {dependency}"));
            }
        }
        for dependency in dependencies(&manifest, "dev-dependencies") {
            if !FOR_TESTS.contains(&dependency.as_str()) {
                wrong.push(format!("the tests of {name} may not depend on {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn packages_are_named_after_their_folders() {
    for (name, manifest) in manifests() {
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
    for (name, manifest) in manifests() {
        for kind in ["dependencies", "dev-dependencies"] {
            for line in section(&manifest, kind) {
                let stated = line.is_empty() || line.starts_with('#') || line.contains("workspace");
                assert!(stated, "{name}: `{line}` belongs into the workspace's manifest");
            }
        }
    }
}
