//! The conformance suite of transports, with processes as ranks.

use std::time::Duration;

use pantile_comm::conformance::{self, CaseBody, CaseError, ConformanceCase, cases};
use pantile_comm::{Failure, Options, Transport};
use pantile_comm_net::ListenerOptions;

use super::ProcessTest;
use super::launch::{join, launch};

const SIZES: [usize; 4] = [1, 2, 3, 5];

/// Launches that judge the suite.
pub(super) fn tests() -> Vec<ProcessTest> {
    let mut tests = Vec::new();
    for size in SIZES {
        let name = format!("suite: cases that keep their world, {size} ranks");
        let run = Box::new(move || judge(size, &["keeps"], &kept(size)));
        tests.push(ProcessTest { name, run });
        for case in cases() {
            if case.ranks.contains(&size) && matches!(case.body, CaseBody::Ends(_)) {
                let name = format!("suite: {}, {size} ranks", case.name);
                let run = Box::new(move || judge(size, &["ends", case.name], &[case]));
                tests.push(ProcessTest { name, run });
            }
        }
    }
    tests
}

fn kept(size: usize) -> Vec<ConformanceCase> {
    let mut cases = cases();
    cases.retain(|case| case.ranks.contains(&size) && matches!(case.body, CaseBody::Keeps(_)));
    cases
}

/// Every rank passes every case, and ends well.
fn judge(size: usize, args: &[&str], cases: &[ConformanceCase]) -> Result<(), String> {
    for (rank, ended) in launch(size, args)?.iter().enumerate() {
        for case in cases {
            let expected = format!("ok {}", case.name);
            if ended.printed.lines().filter(|line| *line == expected).count() != 1 {
                return Err(format!("rank {rank} does not pass `{}`: {ended:?}", case.name));
            }
        }
        if ended.code != Some(0) {
            return Err(format!("rank {rank} did not end well: {ended:?}"));
        }
    }
    Ok(())
}

/// A rank that runs all cases that keep their world, up to the first that fails.
pub(super) fn keeps() {
    let options = Options::default().with_deadline(Duration::from_secs(30));
    let mut net = join(&options, ListenerOptions::default());
    for case in kept(net.size()) {
        let CaseBody::Keeps(body) = case.body else { continue };
        let verdict = conformance::synchronise(&mut net).and_then(|()| body(&mut net));
        say(case.name, &verdict);
        if let Err(error) = verdict {
            let reason = error.to_string();
            net.abort(Failure { culprit: net.rank(), call: None, reason });
            return;
        }
    }
}

/// A rank that runs one case that may end its world.
pub(super) fn ends(name: &str) {
    let options = Options::default().with_deadline(conformance::SHORT);
    let net = join(&options, ListenerOptions::default());
    let case = cases().into_iter().find(|case| case.name == name).expect("a case of that name");
    let CaseBody::Ends(body) = case.body else { panic!("`{name}` keeps its world") };
    say(name, &body(Box::new(net)));
}

fn say(name: &str, verdict: &Result<(), CaseError>) {
    match verdict {
        Ok(()) => println!("ok {name}"),
        Err(reason) => println!("wrong {name}: {reason}"),
    }
}
