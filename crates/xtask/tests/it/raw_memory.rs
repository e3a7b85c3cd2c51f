//! Crates that reach nothing outside, and hold no unsafe code.

use pantile_xtask::rust_files;

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
    const PURE: [&str; 7] = ["text", "geometry", "plan", "draw", "protocol", "lanes", "ir"];
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

#[test]
fn unsafe_code_is_found() {
    assert!(is_raw("fn f() { unsafe { g() } }\n"));
    assert!(is_raw("pub unsafe trait T {}\n"));
    assert!(!is_raw("// unsafe { g() }\nfn f() {}\n#[cfg(test)]\nmod tests { unsafe {} }\n"));
}
