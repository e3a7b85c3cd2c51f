//! The figures of the Python package, measured by its own script.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, anyhow, bail};
use pantile_text::json::{self, Value};

use super::Arguments;
use pantile_bench::FigureGroup;
use pantile_bench::{Aim, Figure};

/// The script, and the loops in C that it compiles.
const FILES: [(&str, &str); 2] = [
    ("figures.py", include_str!("../../../../python/benches/figures.py")),
    ("loops.c", include_str!("../../../../python/benches/loops.c")),
];

/// What has to be there before anything is measured.
const PROBE: &str = "\
import shutil, sys
import numpy, pantile
sys.exit(None if shutil.which('cc') or shutil.which('gcc') else 'a C compiler is missing: cc')";

/// At most so many times as long as by hand.
const TIMES: [(&str, f64); 6] = [
    ("sum(a * b + c * 2)", 1.3),
    ("Jacobi", 1.3),
    ("row blocks to column blocks", 1.3),
    ("(x - mean) / std", 1.5),
    ("a step of k-means", 3.0),
    ("transpose", 1.2),
];

/// A small program, computed: seconds on one rank, and on more.
const SMALL: (&str, [f64; 2]) = ("a + 1, 1,000 elements, computed", [5e-6, 30e-6]);

/// Refuses an interpreter that cannot measure.
///
/// # Errors
/// One sentence that says what is missing.
pub(super) fn probe(python: &Path) -> Result<()> {
    checked(python, Command::new(python).args(["-c", PROBE]).output()).map(|_| ())
}

/// Measures on so many ranks.
///
/// # Errors
/// One sentence that says what went wrong.
pub(super) fn measured(python: &Path, ranks: usize, arguments: &Arguments) -> Result<Vec<Figure>> {
    let folder = Folder::new(ranks)?;
    for (name, text) in FILES {
        std::fs::write(folder.0.join(name), text)?;
    }
    let result = folder.0.join("figures.json");
    let mut command = Command::new(python);
    command.arg(folder.0.join(FILES[0].0)).arg(arguments.scale.to_string());
    command.arg("--turns").arg(arguments.turns.to_string()).arg("--json").arg(&result);
    if let Some(word) = arguments.only.as_deref().filter(|word| !is_heading(word)) {
        command.arg("--only").arg(word);
    }
    let ran = command.env("PANTILE_RANKS", ranks.to_string()).output();
    checked(python, ran)?;
    let text = std::fs::read_to_string(&result)?;
    let value = json::parse(&text).map_err(|fault| anyhow!("figures of Python: {fault}"))?;
    let rows = value.get("figures").and_then(Value::as_array);
    let rows = rows.context("the script of the Python package wrote no figures")?;
    rows.iter().map(|row| figure(row, ranks)).collect()
}

/// True if a word is part of the heading: all figures are wanted.
fn is_heading(word: &str) -> bool {
    FigureGroup::Python.title().to_lowercase().contains(&word.to_lowercase())
}

/// What a run of the interpreter printed; whatever went wrong is one sentence.
fn checked(python: &Path, ran: std::io::Result<Output>) -> Result<Output> {
    let name = python.display();
    let output = ran.map_err(|error| anyhow!("--python {name}: it cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // A traceback ends with what is wrong.
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    match last.strip_prefix("ModuleNotFoundError: No module named ") {
        Some(module) => {
            let module = module.trim_matches('\'');
            bail!("--python {name}: it has no module `{module}`; install it there first")
        }
        None => bail!("--python {name}: {}", last.trim()),
    }
}

/// One row of the script's figures.
fn figure(row: &Value, ranks: usize) -> Result<Figure> {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    let missing = || anyhow!("a figure of the Python package is incomplete: {}", row.to_indented());
    let name = row.get("name").and_then(Value::as_str).ok_or_else(missing)?;
    let (key, bound_is) = match number("by_hand") {
        Some(_) => ("by_hand", "loop in C with OpenMP"),
        None => ("numpy", "call of NumPy"),
    };
    let (ours, bound) = (number("ours"), number(key));
    let ratio = number(&format!("{key}_ratio"));
    Ok(Figure {
        group: FigureGroup::Python,
        name: name.to_owned(),
        size: String::new(),
        ranks,
        ours: ours.ok_or_else(missing)?,
        bound: bound.ok_or_else(missing)?,
        bound_is: bound_is.to_owned(),
        ratio: ratio.ok_or_else(missing)?,
        aim: aim(name, ranks),
    })
}

/// What we aim at.
fn aim(name: &str, ranks: usize) -> Option<Aim> {
    if name == SMALL.0 {
        return Some(Aim::Within(SMALL.1[usize::from(ranks > 1)]));
    }
    let times = TIMES.iter().find(|(start, _)| name.starts_with(start));
    times.map(|(_, times)| Aim::Ratio(1.0 / times))
}

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new(ranks: usize) -> Result<Self> {
        let name = format!("pantile-bench-{}-{ranks}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)
            .with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_has_every_figure_with_an_aim() {
        for (start, _) in TIMES {
            assert!(FILES[0].1.contains(&format!("\"{start}")), "{start}");
        }
        assert!(FILES[0].1.contains(&format!("\"{}\"", SMALL.0)));
        assert_eq!(aim(SMALL.0, 1), Some(Aim::Within(5e-6)));
        assert_eq!(aim(SMALL.0, 4), Some(Aim::Within(30e-6)));
        assert_eq!(aim("transpose, 64x64", 2), Some(Aim::Ratio(1.0 / 1.2)));
        assert_eq!(aim("float(a[i])", 2), None);
    }

    #[test]
    fn rows_become_figures() {
        let row = r#"{"name": "Jacobi", "ours": 2.0, "numpy": 6.0, "numpy_ratio": 3.0"#;
        let with = |more: &str| json::parse(&format!("{row}{more}}}")).map(|row| figure(&row, 2));
        let by_hand = with(r#", "by_hand": 1.0, "by_hand_ratio": 0.5"#);
        let Ok(Ok(by_hand)) = by_hand else { panic!("a complete row") };
        assert_eq!((by_hand.bound, by_hand.ratio, by_hand.met()), (1.0, 0.5, Some(false)));
        let Ok(Ok(numpy)) = with("") else { panic!("a complete row") };
        assert_eq!((numpy.ratio, numpy.bound_is.as_str()), (3.0, "call of NumPy"));
        let half = json::parse(r#"{"name": "Jacobi", "ours": 2.0}"#).map(|row| figure(&row, 1));
        assert!(half.is_ok_and(|half| half.is_err()), "no bound");
    }
}
