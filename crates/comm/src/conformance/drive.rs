//! Runs the suite on threads, one per end.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::error::CaseError;
use super::subject::Subject;
use super::{CaseBody, ConformanceCase, SHORT, cases};
use crate::outcome::panic_message;
use crate::{CollectiveSignature, Failure, Options, Rank, Transport};

/// The deadline of worlds for cases that keep them healthy.
const ORDINARY: Duration = Duration::from_secs(30);

/// A case in which no rank comes forward for this long hangs.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// The tag of messages between two cases.
const BETWEEN: u16 = u16::MAX;

/// A case that a transport does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConformanceFailure {
    /// Its name.
    pub case: &'static str,
    /// Number of ranks.
    pub size: usize,
    /// The rank that found it; all ranks that did not end, if it hangs.
    pub ranks: Vec<Rank>,
    /// What happened.
    pub reason: CaseError,
}

impl fmt::Display for ConformanceFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` on {} ranks, rank {:?}: ", self.case, self.size, self.ranks)?;
        write!(out, "{}", self.reason)
    }
}

/// Waits until every rank has come here; between two cases of one world.
///
/// # Errors
/// If the world is not healthy.
pub fn synchronise(transport: &mut dyn Transport) -> Result<(), CaseError> {
    let mut subject = Subject::new(transport);
    let (rank, size) = (subject.rank(), subject.size());
    subject.enter(&CollectiveSignature::here("between two cases", 0))?;
    let mut distance = 1;
    while distance < size {
        let incoming = subject.room((rank + size - distance) % size, BETWEEN, 0)?;
        subject.send((rank + distance) % size, BETWEEN, &[])?;
        subject.wait(&incoming, &[])?;
        distance *= 2;
    }
    subject.leave()
}

/// Runs all cases for worlds of all `sizes`, each rank on a thread of its own, and returns all
/// faults. `world` makes the ends of a world. A case that hangs is a fault; its threads stay.
///
/// # Panics
/// If there is no thread for a rank.
pub fn check(
    sizes: &[usize],
    world: impl Fn(usize, &Options) -> Vec<Box<dyn Transport>>,
) -> Vec<ConformanceFailure> {
    let mut found = Vec::new();
    for &size in sizes {
        let here: Vec<ConformanceCase> =
            cases().into_iter().filter(|case| case.ranks.contains(&size)).collect();
        let (keeps, ends): (Vec<ConformanceCase>, Vec<ConformanceCase>) =
            here.into_iter().partition(|case| matches!(case.body, CaseBody::Keeps(_)));
        let mut first = 0;
        while first < keeps.len() {
            let options = Options::default().with_deadline(ORDINARY);
            first += run(&keeps[first..], world(size, &options), &mut found);
        }
        for case in &ends {
            let options = Options::default().with_deadline(SHORT);
            run(std::slice::from_ref(case), world(size, &options), &mut found);
        }
    }
    found
}

/// What one rank reports about one case.
struct CaseResult {
    rank: Rank,
    index: usize,
    verdict: Result<(), CaseError>,
}

/// Runs cases in one world up to the first that fails; how many were run.
fn run(
    cases: &[ConformanceCase],
    ends: Vec<Box<dyn Transport>>,
    found: &mut Vec<ConformanceFailure>,
) -> usize {
    let size = ends.len();
    let (sender, reports) = channel();
    for end in ends {
        let (cases, sender) = (cases.to_vec(), sender.clone());
        let name = format!("rank {}", end.rank());
        let thread = std::thread::Builder::new().name(name);
        thread.spawn(move || run_rank(&cases, end, &sender)).expect("a thread per rank");
    }
    drop(sender);
    judge(cases, size, &reports, found)
}

/// One rank's way through the cases.
fn run_rank(cases: &[ConformanceCase], end: Box<dyn Transport>, reports: &Sender<CaseResult>) {
    let rank = end.rank();
    let mut kept = Some(end);
    for (index, case) in cases.iter().enumerate() {
        let body = || match (case.body, &mut kept) {
            (CaseBody::Keeps(body), Some(end)) => keep(body, &mut **end),
            (CaseBody::Ends(body), end) => body(end.take().expect("an ending case is alone")),
            (CaseBody::Keeps(_), None) => Err(CaseError::WorldEnded),
        };
        let verdict = catch_unwind(AssertUnwindSafe(body))
            .unwrap_or_else(|panic| Err(CaseError::Panicked { message: panic_message(&*panic) }));
        if let (Err(reason), Some(end)) = (&verdict, &mut kept) {
            let reason = format!("case `{}` failed: {reason}", case.name);
            end.abort(Failure { culprit: rank, call: None, reason });
        }
        let broken = verdict.is_err();
        // The judge has gone if another rank hangs.
        let _ = reports.send(CaseResult { rank, index, verdict });
        if broken {
            return;
        }
    }
}

fn keep(
    body: fn(&mut dyn Transport) -> Result<(), CaseError>,
    end: &mut dyn Transport,
) -> Result<(), CaseError> {
    synchronise(end)?;
    body(end)?;
    match end.failure() {
        Some(failure) => Err(CaseError::Unhealthy(failure)),
        None => Ok(()),
    }
}

/// Collects the reports of all ranks; how many cases need not be run again.
fn judge(
    cases: &[ConformanceCase],
    size: usize,
    reports: &Receiver<CaseResult>,
    found: &mut Vec<ConformanceFailure>,
) -> usize {
    // How many cases each rank has behind it, and which ranks are through.
    let mut passed = vec![0; size];
    let mut active = vec![true; size];
    let mut broken: Vec<CaseResult> = Vec::new();
    while active.contains(&true) {
        let Ok(report) = reports.recv_timeout(HANG_TIMEOUT) else {
            let ranks: Vec<Rank> = (0..size).filter(|&rank| active[rank]).collect();
            let index = ranks.iter().map(|&rank| passed[rank]).min().unwrap_or(0);
            let reason = CaseError::Silent { waited: HANG_TIMEOUT };
            found.push(ConformanceFailure { case: cases[index].name, size, ranks, reason });
            return index + 1;
        };
        let CaseResult { rank, index, verdict } = &report;
        passed[*rank] = index + 1;
        active[*rank] = verdict.is_ok() && index + 1 < cases.len();
        if verdict.is_err() {
            broken.push(report);
        }
    }
    let Some(first) = broken.iter().map(|report| report.index).min() else { return cases.len() };
    // Later cases fail because this one did.
    broken.retain(|report| report.index == first);
    broken.sort_by_key(|report| report.rank);
    for CaseResult { rank, index, verdict } in broken {
        let Err(reason) = verdict else { continue };
        found.push(ConformanceFailure { case: cases[index].name, size, ranks: vec![rank], reason });
    }
    first + 1
}
