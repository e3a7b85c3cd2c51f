//! `pantile bench`, with arrays so small that the figures mean nothing: all of them are there.

use crate::common::{Ran, pantile, root, words};
use pantile_text::json::{self, Value};
use std::path::PathBuf;

fn run(line: &str) -> Ran {
    pantile(&words(line), &root(), "")
}

/// A file of this test that does not exist.
fn fresh(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("pantile-bench-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn figures(json: &str) -> Vec<Value> {
    let value = json::parse(json).unwrap();
    assert_eq!(value.get("version").unwrap().as_str(), Some(env!("CARGO_PKG_VERSION")));
    let machine = value.get("machine").unwrap();
    assert!(machine.get("cores").unwrap().as_usize().unwrap() > 0);
    assert!(!machine.get("vectors").unwrap().as_str().unwrap().is_empty());
    value.get("figures").unwrap().as_array().unwrap().to_vec()
}

fn text<'a>(figure: &'a Value, key: &str) -> &'a str {
    figure.get(key).unwrap().as_str().unwrap()
}

/// Names on one rank, and on more; those in memory are measured in the caches, too.
const NAMES: [(&str, [usize; 2]); 14] = [
    ("copy a", [2, 2]),
    ("triad a + 3 b", [2, 2]),
    ("a b + c d - e / f", [2, 2]),
    ("exp(-x^2) sin(y) + sqrt |z|", [2, 2]),
    ("option prices", [2, 2]),
    ("exact sum(a)", [2, 2]),
    ("exact sum(a b)", [2, 2]),
    ("stencil of 5 points", [2, 2]),
    ("star of radius 2, added up", [2, 2]),
    ("PRK stencil", [1, 1]),
    ("PRK transpose", [1, 1]),
    ("transpose", [1, 1]),
    ("row blocks to column blocks", [0, 1]),
    ("a step in time, stencil of 5 points", [1, 1]),
];

#[test]
fn every_figure_is_there() {
    let page = fresh("all.md");
    let line = "bench --scale 0.001 --turns 1 --ranks 1,3 --json - --page";
    let ran = run(&format!("{line} {}", page.display()));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let figures = figures(&ran.stdout);
    for figure in &figures {
        for key in ["ours", "bound", "ratio"] {
            let value = figure.get(key).unwrap().as_f64().unwrap();
            assert!(value.is_finite() && value > 0.0, "{key} of {}", figure.to_indented());
        }
        assert!(!text(figure, "bound_is").is_empty() && !text(figure, "size").is_empty());
    }
    let count = |name: &str, ranks: usize| {
        let own = |f: &&Value| f.get("ranks").unwrap().as_usize() == Some(ranks);
        figures.iter().filter(own).filter(|figure| text(figure, "name") == name).count()
    };
    let mut all = 1;
    assert_eq!([1, 3].map(|ranks| count("a + 1, a known program", ranks)), [1, 0]);
    for (name, expected) in NAMES {
        assert_eq!([1, 3].map(|ranks| count(name, ranks)), expected, "{name}");
        all += expected.iter().sum::<usize>();
    }
    assert_eq!(figures.len(), all);
    let written = std::fs::read_to_string(&page).unwrap();
    std::fs::remove_file(&page).unwrap();
    for figure in &figures {
        let name = text(figure, "name").replace('|', "\\|");
        let start = format!("| {name} | {} | ", text(figure, "size"));
        assert!(written.contains(&start), "{start}\n{written}");
        assert!(written.contains(&format!("## {}\n", text(figure, "group"))));
    }
    assert!(written.starts_with("# Figures\n") && written.contains("\n## How this is measured\n"));
}

#[test]
fn a_word_chooses_figures() {
    let json = fresh("only.json");
    let line =
        format!("bench --only TRIAD --turns 2 --scale 0.001 --ranks 2 --json {}", json.display());
    let ran = run(&line);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let written = std::fs::read_to_string(&json).unwrap();
    std::fs::remove_file(&json).unwrap();
    let figures = figures(&written);
    let names: Vec<&str> = figures.iter().map(|figure| text(figure, "name")).collect();
    assert_eq!(names, ["triad a + 3 b"; 2]);
    assert!(ran.stdout.contains("ratio = time of the bound / ours"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Arrays in the caches\n  triad a + 3 b"), "{}", ran.stdout);
    // A heading is a word, too.
    let ran = run("bench --only small --turns 1 --ranks 1 --json -");
    assert_eq!(self::figures(&ran.stdout).len(), 2);
}

#[test]
fn wrong_words_get_a_hint() {
    for (line, code, hint) in [
        (
            "bench --only nonsense",
            1,
            "no figure has `nonsense` in its name or heading; there are: `copy a`, `triad",
        ),
        (
            "bench --ranks 0",
            2,
            "expected numbers of ranks from 1 to 256 with `,` between, like 1,2,4",
        ),
        ("bench --ranks 1,two", 2, "expected numbers of ranks"),
        ("bench --ranks 1,,2", 2, "expected numbers of ranks"),
        ("bench --scale 0", 2, "expected a number from 0.0001 to 16, like 0.1"),
        ("bench --scale nan", 2, "expected a number from"),
        ("bench --turns 0", 2, "expected a whole number from 1 to 10000"),
        ("bench --turns x", 2, "expected a whole number from 1 to 10000"),
        ("bench --turns -1", 2, "expected a whole number from 1 to 10000"),
        ("bench --turn 3", 2, "'--turns'"),
        ("bench --page no/such/folder.md", 1, "no/such/folder.md: cannot be written"),
        ("bench --json no/such/folder.json", 1, "no/such/folder.json: cannot be written"),
        ("bench --python no-such-python", 1, "--python no-such-python: it cannot be started"),
    ] {
        let ran = run(line);
        assert_eq!(ran.code, code, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(hint) && ran.stdout.is_empty(), "{line}: {}", ran.stderr);
    }
}

/// Interpreters that are none: what they say and leave behind is all that the command sees.
#[cfg(unix)]
mod interpreters {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn interpreter(name: &str, script: &str) -> PathBuf {
        let path = fresh(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn with(name: &str, script: &str, more: &str) -> Ran {
        let path = interpreter(name, script);
        let only = "--only \"row blocks\" --scale 0.001 --turns 1";
        let ran = run(&format!("bench {only} {more} --python {}", path.display()));
        std::fs::remove_file(&path).unwrap();
        ran
    }

    #[test]
    fn what_is_missing_is_said_in_a_sentence() {
        for (name, said, hint) in [
            (
                "no-module",
                "ModuleNotFoundError: No module named 'pantile'",
                "it has no module `pantile`",
            ),
            ("no-compiler", "a C compiler is missing: cc", ": a C compiler is missing: cc"),
        ] {
            let ran = with(name, &format!("echo Traceback >&2\necho \"{said}\" >&2\nexit 1"), "");
            assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1), "{}", ran.stderr);
            assert!(ran.stderr.contains(hint), "{}", ran.stderr);
        }
    }

    #[test]
    fn figures_of_python_stand_beside_the_others() {
        // Writes one figure to the file behind --json; its time is the number of ranks.
        let script = r#"[ "$1" = -c ] && exit 0
while [ "$1" != --json ]; do shift; done
echo "{\"figures\": [{\"name\": \"transpose, 9x9\", \"ours\": $PANTILE_RANKS.0, \"numpy\": 1.0,
\"numpy_ratio\": 1.0, \"by_hand\": 0.5, \"by_hand_ratio\": 0.25}]}" > "$2""#;
        let ran = with("full", script, "--ranks 2,3 --json -");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let figures = figures(&ran.stdout);
        let python: Vec<&Value> =
            figures.iter().filter(|f| text(f, "group") == "The Python package").collect();
        let times: Vec<f64> =
            python.iter().map(|figure| figure.get("ours").unwrap().as_f64().unwrap()).collect();
        assert_eq!((figures.len(), times), (4, vec![2.0, 3.0]));
        assert_eq!(python[0].get("met").unwrap().as_bool(), Some(false));
    }
}
