//! Figures for people: a table for the terminal, a page for the documentation.

use super::{BenchRun, ranks_text};
use crate::numbers::seconds;
use crate::table::{Align, aligned};
use pantile_bench::FigureGroup;
use pantile_bench::{Aim, Figure};

/// How to read all that, in two lines.
const READING: [&str; 2] = [
    "ratio = time of the bound / ours: 1 is as fast as the loop by hand, 0.5 takes twice as long.",
    "Medians of turns in which both alternate (below 50 ms: the best of five tries in each turn).",
];

/// Columns of the table.
const HEADS: [&str; 9] =
    ["", "size", "ranks", "ours", "bound", "ratio", "aim", "", "the bound is a"];

/// The cells of a figure.
fn cells(figure: &Figure) -> Vec<String> {
    let mark = match figure.met() {
        Some(true) => "met",
        Some(false) => "missed",
        None => "",
    };
    vec![
        figure.name.clone(),
        figure.size.clone(),
        figure.ranks.to_string(),
        seconds(figure.ours),
        seconds(figure.bound),
        format!("{:.2}", figure.ratio),
        figure.aim.map_or_else(String::new, Aim::text),
        mark.to_owned(),
        figure.bound_is.clone(),
    ]
}

/// Headings with their figures, those that have some.
fn groups(run: &BenchRun) -> impl Iterator<Item = (FigureGroup, Vec<&Figure>)> {
    let of = |group: FigureGroup| {
        let figures = run.figures.iter().filter(move |figure| figure.group == group);
        (group, figures.collect::<Vec<_>>())
    };
    FigureGroup::ALL.into_iter().map(of).filter(|(_, figures)| !figures.is_empty())
}

/// The version, how it was measured, and how many aims are met.
fn summary(run: &BenchRun) -> String {
    let turns = crate::numbers::plural(run.turns, "turn");
    format!("pantile {}, {}, {turns}, scale {}", env!("CARGO_PKG_VERSION"), run.date, run.scale)
}

/// How many aims are met, and what speaks against it.
fn outcome(run: &BenchRun) -> String {
    let mut text = match run.met() {
        (_, 0) => "No figure here has an aim.".to_owned(),
        (met, all) => format!("{met} of {all} aims are met."),
    };
    if run.scale < 1.0 {
        text.push_str(" Aims are for scale 1: smaller arrays may fit into caches.");
    }
    if run.machine.is_busy() {
        text.push_str(" The machine was busy: these figures say little.");
    }
    text
}

/// All figures as text.
pub(super) fn table(run: &BenchRun) -> String {
    const ALIGN: [Align; 9] = [
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Left,
        Align::Left,
        Align::Left,
    ];
    // One table, so that all columns line up; headings are put in between afterwards.
    let mut rows = vec![HEADS.map(str::to_owned).to_vec()];
    for (_, figures) in groups(run) {
        rows.extend(figures.into_iter().map(cells));
    }
    let lines = aligned(&rows, &ALIGN, 2);
    let mut lines = lines.lines();
    let mut out = format!("{}\n{}\n\n", summary(run), run.machine.text());
    out.push_str(&format!("{}\n{}\n\n", READING[0], READING[1]));
    out.push_str(lines.next().unwrap_or_default());
    out.push('\n');
    for (group, figures) in groups(run) {
        out.push_str(&format!("{}\n", group.title()));
        for line in lines.by_ref().take(figures.len()) {
            out.push_str(&format!("{line}\n"));
        }
    }
    out.push_str(&format!("\n{}\n", outcome(run)));
    out
}

/// All figures as a page in Markdown.
pub(super) fn markdown(run: &BenchRun) -> String {
    let ranks: Vec<usize> = run.figures.iter().map(|figure| figure.ranks).collect();
    let most = ranks_text(ranks.iter().copied().max().unwrap_or(1));
    let mut out = format!(
        "# Figures\n\n\
         How fast array programs are, beside loops by hand. This page is written by\n\
         `pantile bench --page docs/figures.md`.\n\n\
         - {}, up to {most}\n- {}\n- {}\n\n\
         {}\n{}\n\n",
        summary(run),
        run.machine.text(),
        outcome(run),
        READING[0],
        READING[1],
    );
    for (group, figures) in groups(run) {
        out.push_str(&format!("## {}\n\n", group.title()));
        out.push_str("| what | size | ranks | ours | bound | ratio | aim | | the bound is a |\n");
        out.push_str("|---|--:|--:|--:|--:|--:|---|---|---|\n");
        for figure in figures {
            let cells: Vec<String> =
                cells(figure).iter().map(|cell| cell.replace('|', "\\|")).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        out.push('\n');
    }
    out.push_str(NOTES);
    out
}

/// How it is measured.
const NOTES: &str = "\
## How this is measured

Every figure of ours is a whole program: its text is parsed and lowered once, its arrays lie on the
ranks (threads) as an earlier program would have left them, and then it is run again and again. Of a
result that nobody looks at any more the memory is used again.

The bound is a loop by hand in Rust with as many threads as there are ranks, compiled for the same
instruction sets, on arrays with the same numbers in memory of the same kind. Where there are several
ways (streaming stores, `memcpy`) all are tried, and the fastest is the bound. Threads by hand look
at each other's rows, are awake before the clock starts, and wait for each other without sleeping.

Before anything is timed the results are compared, bit by bit; only sums by hand, which round at
every step, may differ from the exact ones of ours by a little. Then both take turns, and who is
first changes. Within a turn, calls of less than 2 ms are repeated, and what takes less than 50 ms is
tried five times in alternation: the best counts.

- `exp`, `sin` and `log` by hand are the same polynomials as ours, without the reduction of huge
  angles.
- Research kernels and steps in time are loops within one program; times are for one iteration.
- \"bound + 10 us\" is what may be spent around the arithmetic of a step.
- The Python package is measured against C with OpenMP (`python/benches`), or against NumPy where
  there is no loop by hand.
- Ranks that have to share cores have no aims. Other programs on the machine spoil times first,
  ratios less; measure when nothing else runs, with more turns (`--turns 15`).
- `PANTILE_VECTORS=avx2` (or `portable`) measures both with other instructions.
";

#[cfg(test)]
mod tests {
    use super::*;
    use pantile_bench::BenchMachine;

    #[test]
    fn bars_do_not_break_the_page() {
        let figure = Figure {
            group: FigureGroup::Memory,
            name: "sqrt |z|".to_owned(),
            size: "8x8".to_owned(),
            ranks: 2,
            ours: 2e-3,
            bound: 1e-3,
            bound_is: "loop".to_owned(),
            ratio: 0.5,
            aim: Some(Aim::Ratio(0.9)),
        };
        let run = BenchRun {
            date: "2026-11-19".to_owned(),
            machine: BenchMachine::here(),
            scale: 1.0,
            turns: 3,
            figures: vec![figure],
        };
        let page = markdown(&run);
        let row = "| sqrt \\|z\\| | 8x8 | 2 | 2 ms | 1 ms | 0.50 | >= 0.90 | missed | loop |";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("0 of 1 aims are met.") && table(&run).contains("missed"));
        let small = BenchRun { scale: 0.1, ..run };
        assert!(
            !page.contains("Aims are for scale 1") && markdown(&small).contains("Aims are for")
        );
    }
}
