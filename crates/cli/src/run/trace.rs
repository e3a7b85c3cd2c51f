//! What ranks did when: for `--progress` and `--trace`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use pantile_comm::CollectiveSignature;
use pantile_engine::{Engine, Event};
use pantile_ir::Place;
use pantile_lower::{Executable, Step, TripCount};

/// A trace has no more events of one rank than this.
const EVENTS_MAX: usize = 1_000_000;

/// Progress is told no more often than this.
const PAUSE: Duration = Duration::from_secs(1);

/// A step of the executable, in the order in which the engine numbers them.
pub(crate) struct Info {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    /// True if it is the first step of every turn of an outermost loop, with the number of turns.
    turns: Option<Option<u64>>,
}

/// The steps of an executable, a loop before the steps in it.
pub(crate) fn steps(executable: &Executable) -> Vec<Info> {
    let mut list = Vec::new();
    add(&executable.steps, 0, &mut list);
    list
}

fn add(steps: &[Step], depth: usize, list: &mut Vec<Info>) {
    for step in steps {
        let (name, place) = match step {
            Step::Compute(step) => ("loop", step.place.clone()),
            Step::Move(step) => (step.name, step.place.clone()),
            Step::Exchange(step) => match step.during {
                None => ("exchange", step.place.clone()),
                Some(_) => ("exchange and loop", step.place.clone()),
            },
            Step::Finish(step) => ("finish", step.place.clone()),
            Step::Product(step) => ("product", step.place.clone()),
            Step::Contract(step) => ("contract", step.place.clone()),
            Step::Reshape { .. } => ("reshape", Place::default()),
            Step::Repeat(step) => ("repeat", step.place.clone()),
        };
        list.push(Info { name, place, turns: None });
        if let Step::Repeat(repeat) = step {
            let turns = match &repeat.turns {
                TripCount::Count { turns, .. } => *turns,
                TripCount::While { before, .. } => {
                    add(before, depth + 1, list);
                    None
                }
            };
            let first = list.len();
            add(&repeat.body, depth + 1, list);
            if let Some(info) = list.get_mut(first).filter(|_| depth == 0) {
                info.turns = Some(turns);
            }
        }
    }
}

/// Sees the steps of one rank.
pub(super) struct Watcher {
    steps: Vec<Info>,
    start: Instant,
    events: Vec<Event>,
    /// The turns of loops that were seen, if somebody wants to know.
    turns: Option<Vec<u64>>,
    told: Option<Instant>,
}

impl Watcher {
    pub(super) fn new(executable: &Executable, start: Instant, progress: bool) -> Self {
        let steps = steps(executable);
        let turns = progress.then(|| vec![0; steps.len()]);
        Self { steps, start, events: Vec::new(), turns, told: None }
    }

    /// A step has ended.
    pub(super) fn see(&mut self, event: &Event) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(*event);
        }
        let (Some(turns), Some(info)) = (&mut self.turns, self.steps.get(event.step)) else {
            return;
        };
        let Some(all) = info.turns else { return };
        turns[event.step] += 1;
        if self.told.is_some_and(|told| event.end.duration_since(told) < PAUSE) {
            return;
        }
        self.told = Some(event.end);
        let all = all.map_or(String::new(), |all| format!(" of {all}"));
        let line = format!("progress: {}: turn {}{all}", info.place, turns[event.step]);
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// The events of a rank as the members of a JSON list.
    pub(super) fn text(&self, rank: usize, wanted: bool) -> String {
        let mut out = String::new();
        if !wanted {
            return out;
        }
        let _ = write!(
            out,
            "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":{rank},\
             \"args\":{{\"name\":\"rank {rank}\"}}}}"
        );
        let micros = |from: Instant, to: Instant| to.duration_since(from).as_secs_f64() * 1e6;
        for event in &self.events {
            let Some(info) = self.steps.get(event.step) else { continue };
            let _ = write!(
                out,
                ",\n{{\"name\":\"{}\",\"cat\":\"{}\",\"ph\":\"X\",\"pid\":0,\"tid\":{rank},\
                 \"ts\":{:.3},\"dur\":{:.3},\"args\":{{\"step\":{},\"line\":{},\"bytes\":{},\
                 \"messages\":{}}}}}",
                info.name,
                if event.messages > 0 { "movement" } else { "local" },
                micros(self.start, event.start),
                micros(event.start, event.end),
                event.step,
                info.place.line,
                event.bytes,
                event.messages
            );
            // Viewers show what lies inside of the time of a step below it.
            for (name, from, to) in phases(event) {
                let _ = write!(
                    out,
                    ",\n{{\"name\":\"{name}\",\"cat\":\"phase\",\"ph\":\"X\",\"pid\":0,\
                     \"tid\":{rank},\"ts\":{:.3},\"dur\":{:.3},\"args\":{{\"step\":{}}}}}",
                    micros(self.start, from),
                    micros(from, to),
                    event.step
                );
            }
        }
        out
    }
}

/// The parts of an exchange with a loop in it: halos travel from the end of the first to that of
/// the third.
fn phases(event: &Event) -> Vec<(&'static str, Instant, Instant)> {
    let Some(overlap) = event.overlap else { return Vec::new() };
    vec![
        ("post halos", event.start, overlap.posted),
        ("interior while halos travel", overlap.posted, overlap.interior),
        ("wait for halos", overlap.interior, overlap.arrived),
        ("edges", overlap.arrived, event.end),
    ]
}

/// Writes the events of all ranks; rank 0 does it. Collective.
pub(super) fn write(engine: &mut Engine, path: &Path, own: &str) -> Result<()> {
    let team: Vec<usize> = (0..engine.size()).collect();
    let all = engine.gather(&CollectiveSignature::here("trace", 0), &team, own.as_bytes())?;
    if engine.rank() != 0 {
        return Ok(());
    }
    let lists: Vec<String> =
        all.iter().map(|one| String::from_utf8_lossy(one).into_owned()).collect();
    let text = format!("{{\"traceEvents\":[\n{}\n]}}\n", lists.join(",\n"));
    std::fs::write(path, text)
        .map_err(|error| anyhow!("{} cannot be written: {error}", path.display()))
}
