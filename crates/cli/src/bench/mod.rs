//! `pantile bench`: how fast programs are on this machine, beside loops by hand.
//!
//! ```text
//! cases ── pantile_bench::measured ── figures ── table, JSON, page
//! ```
//!
//! Nothing here fails because of a time: the figures say what is, the aims what shall be. A result
//! that differs from the one by hand is an error.

mod date;
mod page;
mod python;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use pantile_bench::{BenchMachine, Case, Figure, cases, measured, number};
use pantile_text::json::Value;

use crate::numbers::up_to;
use crate::report::Report;

/// Scales that are allowed: below, arrays are as small as they can be; above, memory ends.
const SCALES: [f64; 2] = [1e-4, 16.0];

/// Ranks that are measured at most.
const RANKS_MAX: usize = 256;

#[derive(Args)]
#[command(after_help = "\
Every program is measured beside a loop by hand with as many threads, in turns; `ratio` is the time
of the loop divided by ours: 1 is as fast, 0.5 takes twice as long. Their results are compared first.
Times are medians. On a busy machine only ratios mean anything, and the exit code never depends on
them: 0 if all figures were measured, 1 if something went wrong or a result differs.

Examples:
  pantile bench
  pantile bench --only stencil --ranks 1,2,4 --turns 15
  pantile bench --scale 0.1 --json figures.json --page figures.md
  pantile bench --python python3                 the figures of the Python package, too")]
pub(crate) struct Arguments {
    /// Only figures with this in their name or heading
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// Numbers of ranks, with `,` between
    #[arg(long, value_name = "LIST", default_value = "1,2", value_parser = parse_ranks,
          allow_negative_numbers = true)]
    ranks: Ranks,
    /// How often each is measured
    #[arg(long, value_name = "N", default_value_t = 7,
          value_parser = up_to(10_000), allow_negative_numbers = true)]
    turns: u32,
    /// Below 1: smaller arrays, where they shall not fit into caches
    #[arg(long, value_name = "X", default_value = "1", value_parser = parse_scale,
          allow_negative_numbers = true)]
    scale: f64,
    /// Write all figures to a file as JSON; `-` prints them instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write all figures to a file as a page in Markdown
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Measure the Python package of this interpreter, too; needs NumPy and a C compiler
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
}

/// Numbers of ranks, ascending.
#[derive(Clone, Debug)]
struct Ranks(Vec<usize>);

/// What was measured, on what, and how.
struct BenchRun {
    /// The day.
    date: String,
    machine: BenchMachine,
    scale: f64,
    turns: u32,
    figures: Vec<Figure>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let wanted = chosen(arguments)?;
    // What cannot be written is better known before minutes of measuring.
    for path in [&arguments.json, &arguments.page].into_iter().flatten() {
        if path != Path::new("-") {
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            file.map_err(|error| unwritable(path, &error))?;
        }
    }
    if let Some(python) = &arguments.python {
        python::probe(python)?;
    }
    // Before measuring, which is a load itself.
    let machine = BenchMachine::here();
    let mut figures = Vec::new();
    for case in &wanted {
        progress(&format!("{}, {}", case.name, ranks_text(case.ranks)));
        let turns = usize::try_from(arguments.turns)?;
        figures.push(measured(case, turns)?);
    }
    if let Some(python) = &arguments.python {
        for ranks in &arguments.ranks.0 {
            progress(&format!("the Python package, {}", ranks_text(*ranks)));
            figures.extend(python::measured(python, *ranks, arguments)?);
        }
    }
    progress("");
    if figures.is_empty() {
        bail!("no figure was measured: none of Python has the word of --only in its name");
    }
    let (scale, turns) = (arguments.scale, arguments.turns);
    let date = date::today();
    write(&BenchRun { date, machine, scale, turns, figures }, arguments)
}

/// The cases that are asked for.
///
/// # Errors
/// There are none.
fn chosen(arguments: &Arguments) -> Result<Vec<Case>> {
    let all = cases::all(&arguments.ranks.0, arguments.scale);
    let Some(word) = &arguments.only else { return Ok(all) };
    let mut names: Vec<String> = Vec::new();
    for case in &all {
        let name = format!("`{}`", case.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let lower = word.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&lower);
    let chosen: Vec<Case> =
        all.into_iter().filter(|case| has(case.name) || has(case.group.title())).collect();
    if chosen.is_empty() && arguments.python.is_none() {
        bail!("no figure has `{word}` in its name or heading; there are: {}", names.join(", "));
    }
    Ok(chosen)
}

/// Writes the files, and gives the table.
fn write(run: &BenchRun, arguments: &Arguments) -> Result<Report> {
    let save = |path: &Path, text: String| {
        std::fs::write(path, text).map_err(|error| unwritable(path, &error))
    };
    if let Some(path) = &arguments.page {
        save(path, page::markdown(run))?;
    }
    let report = match &arguments.json {
        Some(path) if path == Path::new("-") => Report::json(&run.json()),
        Some(path) => {
            save(path, format!("{}\n", run.json().to_indented()))?;
            Report::text(page::table(run))
        }
        None => Report::text(page::table(run)),
    };
    let mut notes = Vec::new();
    if cfg!(debug_assertions) {
        notes.push("this is a build without optimisation: its figures mean nothing".to_owned());
    }
    Ok(report.with_notes(notes))
}

fn unwritable(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!("{}: cannot be written: {error}", path.display())
}

impl BenchRun {
    fn json(&self) -> Value {
        Value::object([
            ("version", env!("CARGO_PKG_VERSION").into()),
            ("date", self.date.as_str().into()),
            ("machine", self.machine.json()),
            ("scale", number(self.scale)),
            ("turns", self.turns.into()),
            ("figures", Value::array(self.figures.iter().map(Figure::json))),
        ])
    }

    /// How many aims are met, and how many there are.
    fn met(&self) -> (usize, usize) {
        let aims: Vec<bool> = self.figures.iter().filter_map(Figure::met).collect();
        (aims.iter().filter(|met| **met).count(), aims.len())
    }
}

/// Says on a terminal what is measured now; nothing wipes it out.
fn progress(what: &str) {
    let mut out = std::io::stderr();
    if out.is_terminal() {
        let _ = write!(out, "\r\x1b[K{what}");
        let _ = out.flush();
    }
}

fn ranks_text(ranks: usize) -> String {
    crate::numbers::plural(ranks as u128, "rank")
}

fn parse_ranks(text: &str) -> Result<Ranks, String> {
    let expected =
        || format!("expected numbers of ranks from 1 to {RANKS_MAX} with `,` between, like 1,2,4");
    let one = |word: &str| {
        let ranks = word.trim().parse().ok();
        ranks.filter(|ranks| (1..=RANKS_MAX).contains(ranks)).ok_or_else(expected)
    };
    let mut ranks = text.split(',').map(one).collect::<Result<Vec<usize>, String>>()?;
    ranks.sort_unstable();
    ranks.dedup();
    Ok(Ranks(ranks))
}

fn parse_scale(text: &str) -> Result<f64, String> {
    let [low, high] = SCALES;
    let scale = text.trim().parse().ok().filter(|scale| (low..=high).contains(scale));
    scale.ok_or_else(|| format!("expected a number from {low} to {high}, like 0.1"))
}
