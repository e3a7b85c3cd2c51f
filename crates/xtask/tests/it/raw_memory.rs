//! Crates that reach nothing outside, and hold no unsafe and no async code (I1 and I8 of `ARCHITECTURE.md`).

use pantile_xtask::{crates, rust_files};

/// Without the tests at the end of a file.
pub(super) fn shipped(text: &str) -> &str {
    let tests = text.match_indices("#[cfg(test)]\nmod ").find(|(at, _)| {
        // Tests in a file of their own are declared anywhere.
        text[*at..].lines().nth(1).is_some_and(|line| !line.ends_with(';'))
    });
    &text[..tests.map_or(text.len(), |(at, _)| at)]
}

/// The same without comments.
fn shipped_code(text: &str) -> String {
    let lines = shipped(text).lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// True if the code has unsafe blocks, functions, traits or implementations, or allows them.
pub(super) fn is_raw(text: &str) -> bool {
    let code = shipped_code(text);
    let forms = ["{", "fn ", "impl", "trait ", "extern "].map(|form| format!("unsafe {form}"));
    forms.iter().any(|form| code.contains(form)) || code.contains(concat!("allow(", "unsafe_code"))
}

/// Pure crates do without: what they compute is a function of what they are given.
#[test]
fn pure_crates_touch_nothing_outside() {
    const PURE: [&str; 9] =
        ["text", "geometry", "plan", "draw", "protocol", "lanes", "ir", "lower", "dialect"];
    const OUTSIDE: [&str; 6] =
        ["std::fs", "std::net", "std::thread", "std::time", "std::process", "std::env"];
    let mut wrong = Vec::new();
    for file in rust_files() {
        if !PURE.iter().any(|name| file.path.starts_with(&format!("crates/{name}/src/"))) {
            continue;
        }
        let code = shipped_code(&file.text);
        let used = OUTSIDE.iter().filter(|module| code.contains(**module));
        wrong.extend(used.map(|module| format!("{}: {module}", file.path)));
        if is_raw(&file.text) {
            wrong.push(format!("{}: unsafe code", file.path));
        }
    }
    assert!(wrong.is_empty(), "pure crates that reach outside:\n{}", wrong.join("\n"));
}

/// True if the code has async functions or blocks, or awaits something.
fn is_async(text: &str) -> bool {
    let code = shipped_code(text);
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let waits = |(at, found): (usize, &str)| !code[at + found.len()..].starts_with(word);
    ["async fn ", "async move ", "async {"].iter().any(|form| code.contains(form))
        || code.match_indices(".await").any(waits)
}

/// The control plane of a cluster is the one place for it.
#[test]
fn async_code_is_in_one_crate() {
    const RUNTIMES: [&str; 4] = ["tokio", "tokio-stream", "tokio-rustls", "tonic"];
    let files = rust_files().into_iter().filter(|file| file.path.contains("/src/"));
    let mut wrong: Vec<String> = files
        .filter(|file| !file.path.starts_with("crates/cluster/") && is_async(&file.text))
        .map(|file| format!("{}: async code", file.path))
        .collect();
    for own in crates().iter().filter(|own| own.name != "cluster") {
        let used = own.used_outside().into_iter().filter(|one| RUNTIMES.contains(&one.as_str()));
        wrong.extend(used.map(|one| format!("crates/{}: uses {one}", own.name)));
    }
    assert!(wrong.is_empty(), "async code outside of `cluster`:\n{}", wrong.join("\n"));
}

#[test]
fn async_code_is_found() {
    assert!(is_async("async fn f() {}\n") && is_async("let a = g().await;\n"));
    assert!(!is_async("peer.awaiting(); // g().await\n"));
}

#[test]
fn unsafe_code_is_found() {
    assert!(is_raw("fn f() { unsafe { g() } }\n"));
    assert!(is_raw("pub unsafe trait T {}\n"));
    assert!(!is_raw("// unsafe { g() }\nfn f() {}\n#[cfg(test)]\nmod tests { unsafe {} }\n"));
}
