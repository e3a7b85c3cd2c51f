//! Plans as text, lossless.
//!
//! ```text
//! plan    = step+
//! step    = "step" operator ["faces"] "source" distribution "target" distribution round*
//! round   = "round" { transfer }
//! transfer = rank ["lifts" turns] "->" rank ["lifts" turns] ":" region
//! turns   = "(" number { "," number } ")"
//! region  = "." | set { "," set }
//! set     = piece { "&" piece } | "{" { number } "}"
//! piece   = start ":" stop [ "/" step "*" count ]       (a run, or `count` runs every `step`)
//! ```

use std::fmt;
use std::str::FromStr;

use pantile_geometry::text::parse_distribution;
use pantile_geometry::{IndexSet, Indices, LABEL_LIMIT, Operator, Rank, Region, Segment};
use pantile_text::{Cursor, Fault};

use crate::plan::{Plan, Round, Step};
use crate::{Error, Lifts, Transfer};

/// Largest index or rank that a text may name: that of the largest axis.
pub(crate) const INDEX_LIMIT: usize = 1 << 48;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps().iter().enumerate() {
            let faces = if step.faces_only { " faces" } else { "" };
            writeln!(f, "{}step {}{faces}", if number > 0 { "\n" } else { "" }, step.operator)?;
            writeln!(f, "  source {}", step.source)?;
            write!(f, "  target {}", step.target)?;
            for round in &step.rounds {
                write!(f, "\n  round")?;
                round.transfers.iter().try_for_each(|transfer| write!(f, "\n    {transfer}"))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (Turned(&self.source_lifts), Turned(&self.target_lifts));
        write!(f, "{}{from} -> {}{to}: {}", self.from, self.to, RegionText(&self.region))
    }
}

/// Lifts behind a rank; nothing if there are none.
struct Turned<'a>(&'a Lifts);

impl fmt::Display for Turned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_zero() {
            return Ok(());
        }
        let turns: Vec<String> = self.0.as_slice().iter().map(i64::to_string).collect();
        write!(f, " lifts ({})", turns.join(", "))
    }
}

/// A region as texts write it.
pub(crate) struct RegionText<'a>(pub(crate) &'a Region);

impl fmt::Display for RegionText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.axes().is_empty() {
            return f.write_str(".");
        }
        let sets: Vec<String> = self.0.axes().iter().map(set_text).collect();
        f.write_str(&sets.join(", "))
    }
}

fn set_text(set: &IndexSet) -> String {
    match set.indices() {
        Indices::List(list) => {
            let list: Vec<String> = list.iter().map(usize::to_string).collect();
            format!("{{{}}}", list.join(" "))
        }
        Indices::Segments(segments) => {
            let piece = |s: &Segment| {
                let run = format!("{}:{}", s.start(), s.start() + s.length());
                if s.count() == 1 { run } else { format!("{run}/{}*{}", s.step(), s.count()) }
            };
            let pieces: Vec<String> = segments.iter().map(piece).collect();
            if pieces.is_empty() { "0:0".to_owned() } else { pieces.join("&") }
        }
    }
}

impl FromStr for Plan {
    type Err = Error;

    /// # Errors
    /// The text does not parse; with line, column and caret. Whether the plan is right is what
    /// [`Plan::check`] tells.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text);
        let mut steps = Vec::new();
        while !cursor.at_end() {
            steps.push(parse_step(&mut cursor)?);
        }
        Ok(Self::from_steps(steps))
    }
}

fn parse_step(cursor: &mut Cursor<'_>) -> Result<Step, Fault> {
    cursor.expect_word("step")?;
    let start = cursor.offset();
    let name = cursor.word("an operator")?;
    let operator = Operator::from_name(name).ok_or_else(|| {
        cursor.fault_at(start, format!("expected sum, prod, min, max, and, or, found `{name}`"))
    })?;
    let faces_only = cursor.eat_word("faces");
    cursor.expect_word("source")?;
    let source = parse_distribution(cursor)?;
    cursor.expect_word("target")?;
    let target = parse_distribution(cursor)?;
    let mut rounds = Vec::new();
    while cursor.eat_word("round") {
        let mut transfers = Vec::new();
        while cursor.looks_at_number() {
            transfers.push(parse_transfer(cursor)?);
        }
        rounds.push(Round { transfers });
    }
    Ok(Step { source, target, operator, rounds, faces_only })
}

fn parse_transfer(cursor: &mut Cursor<'_>) -> Result<Transfer, Fault> {
    let (from, source_lifts) = parse_end(cursor)?;
    cursor.expect("->")?;
    let (to, target_lifts) = parse_end(cursor)?;
    cursor.expect(":")?;
    let mut axes = Vec::new();
    if !cursor.eat(".") {
        axes.push(parse_set(cursor)?);
        while cursor.eat(",") {
            axes.push(parse_set(cursor)?);
        }
    }
    Ok(Transfer { from, to, source_lifts, target_lifts, region: Region::new(axes) })
}

fn parse_end(cursor: &mut Cursor<'_>) -> Result<(Rank, Lifts), Fault> {
    let rank = parse_index(cursor, "a rank")?;
    let mut turns = Vec::new();
    if cursor.eat_word("lifts") {
        cursor.expect("(")?;
        loop {
            turns.push(cursor.signed("a number of turns")?);
            if !cursor.eat(",") {
                break;
            }
        }
        cursor.expect(")")?;
    }
    Ok((rank, Lifts::new(turns)))
}

/// A number as large as an index may be.
fn parse_index(cursor: &mut Cursor<'_>, what: &str) -> Result<usize, Fault> {
    let at = cursor.offset();
    let number = cursor.number(what)?;
    if number > INDEX_LIMIT {
        return Err(cursor.fault_at(at, format!("expected {what} up to 2^48, found {number}")));
    }
    Ok(number)
}

fn parse_set(cursor: &mut Cursor<'_>) -> Result<IndexSet, Fault> {
    let start = cursor.offset();
    if cursor.eat("{") {
        let mut list = Vec::new();
        while !cursor.eat("}") {
            list.push(parse_index(cursor, "an index or `}`")?);
        }
        if list.windows(2).any(|pair| pair[0] >= pair[1]) || list.len() > LABEL_LIMIT {
            return Err(cursor.fault_at(start, "expected an ascending list of indices"));
        }
        return Ok(IndexSet::from_list(list));
    }
    let mut segments = Vec::new();
    loop {
        segments.extend(parse_piece(cursor)?);
        if !cursor.eat("&") {
            break;
        }
    }
    // Disjointness of interleaved segments is decided by looking at all pairs of them.
    let meets =
        |a: &Segment, b: &Segment| a.start() < b.stop() && b.start() < a.stop() && overlap(a, b);
    let disjoint =
        segments.iter().enumerate().all(|(at, a)| segments[at + 1..].iter().all(|b| !meets(a, b)));
    if segments.len() > 4096 || !disjoint {
        return Err(cursor.fault_at(start, "expected disjoint pieces, at most 4096"));
    }
    Ok(IndexSet::from_segments(segments))
}

/// True if two segments share an index; walks the runs of the one with fewer.
fn overlap(a: &Segment, b: &Segment) -> bool {
    let (few, many) = if a.count() <= b.count() { (a, b) } else { (b, a) };
    (0..few.count()).any(|run| {
        let start = few.start() + run * few.step();
        many.clip(start, start + few.length()).next().is_some()
    })
}

fn parse_piece(cursor: &mut Cursor<'_>) -> Result<Option<Segment>, Fault> {
    let at = cursor.offset();
    let start = parse_index(cursor, "the start of a run")?;
    cursor.expect(":")?;
    let stop = parse_index(cursor, "the end of a run")?;
    if !cursor.eat("/") {
        return Ok(Segment::run(start, stop));
    }
    let step = cursor.number("the distance of runs")?;
    cursor.expect("*")?;
    let count = cursor.number("a number of runs")?;
    let segment = segment(start, stop.saturating_sub(start), step, count);
    segment.map(Some).ok_or_else(|| cursor.fault_at(at, BAD_RUNS))
}

/// What is wrong with runs that make no segment.
pub(crate) const BAD_RUNS: &str = "expected runs that are not empty and do not overlap";

/// The segment of these runs, if they are not empty, do not overlap and end in time.
pub(crate) fn segment(start: usize, length: usize, step: usize, count: usize) -> Option<Segment> {
    let gaps = count.checked_sub(1)?.checked_mul(step)?;
    let stop = start.checked_add(gaps)?.checked_add(length)?;
    let fits = stop <= INDEX_LIMIT && (count == 1 || step >= length);
    if fits { Segment::strided(start, length, step, count) } else { None }
}
