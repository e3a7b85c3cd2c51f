//! The conformance suite of transports, with processes as ranks.

use std::time::Duration;

use pantile_comm::conformance::{self, CaseBody, CaseError, ConformanceCase, cases};
use pantile_comm::{Failure, Options, Transport};
use pantile_comm_mpi::Mpi;
use pantile_comm_mpi::relaunch::{LaunchOutput, relaunch, usable_sizes};

use super::MpiTest;
use super::returned::{ReturnedTransport, TransportSlot};

/// No launch takes longer, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Launches that judge the suite.
pub(super) fn tests() -> Vec<MpiTest> {
    let mut tests = Vec::new();
    for &size in usable_sizes() {
        let name = format!("suite: cases that keep their world, {size} ranks");
        let run = Box::new(move || judge(size, &["rank", "keeps"], &kept(size)));
        tests.push(MpiTest { name, run });
        for case in cases() {
            if case.ranks.contains(&size) && matches!(case.body, CaseBody::Ends(_)) {
                let name = format!("suite: {}, {size} ranks", case.name);
                let args = ["rank", "ends", case.name];
                tests.push(MpiTest { name, run: Box::new(move || judge(size, &args, &[case])) });
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

/// Every rank passes every case, and the launcher ends well if, and only if, the world did.
fn judge(size: usize, args: &[&str], cases: &[ConformanceCase]) -> Result<(), String> {
    let outputs = relaunch(&[size], args, LIMIT).map_err(|error| error.to_string())?;
    let output = &outputs[0];
    let count = |line: &str| output.stdout.lines().filter(|found| *found == line).count();
    let mut failed = false;
    for case in cases {
        for rank in 0..size {
            let well = count(&format!("ok {} {rank}", case.name));
            let ill = count(&format!("ok {} {rank}, the world failed", case.name));
            failed |= ill > 0;
            if well + ill != 1 {
                return Err(format!("rank {rank} does not pass `{}`\n{output}", case.name));
            }
        }
    }
    ended(output, failed)
}

/// The launcher ended in time, and with the exit code of a failure if there was one.
pub(super) fn ended(output: &LaunchOutput, failed: bool) -> Result<(), String> {
    match !output.late && (output.code != Some(0)) == failed {
        true => Ok(()),
        false => {
            Err(format!("should have {}\n{output}", if failed { "failed" } else { "ended well" }))
        }
    }
}

/// A rank that runs all cases that keep their world, up to the first that fails.
pub(super) fn keeps() {
    let options = Options::default().with_deadline(Duration::from_secs(30));
    let mut transport = Mpi::init(&options).expect("MPI");
    for case in kept(transport.size()) {
        let CaseBody::Keeps(body) = case.body else { continue };
        let verdict = conformance::synchronise(&mut transport).and_then(|()| body(&mut transport));
        say(case.name, &transport, &verdict);
        if let Err(error) = verdict {
            let reason = error.to_string();
            transport.abort(Failure { culprit: transport.rank(), call: None, reason });
            return;
        }
    }
}

/// A rank that runs one case that may end its world.
pub(super) fn ends(name: &str) {
    let options = Options::default().with_deadline(conformance::SHORT);
    let transport = Mpi::init(&options).expect("MPI");
    let case = cases().into_iter().find(|case| case.name == name).expect("a case of that name");
    let CaseBody::Ends(body) = case.body else { panic!("`{name}` keeps its world") };
    let slot = TransportSlot::default();
    let verdict = body(Box::new(ReturnedTransport::new(Box::new(transport), &slot)));
    let transport = slot.lock().expect("nobody panics with it").take();
    let mut transport = transport.expect("a case drops its transport");
    say(name, &*transport, &verdict);
    if let Err(error) = verdict {
        let reason = error.to_string();
        transport.abort(Failure { culprit: transport.rank(), call: None, reason });
    }
}

fn say(name: &str, transport: &dyn Transport, verdict: &Result<(), CaseError>) {
    let (rank, failed) = (transport.rank(), transport.failure().is_some());
    match verdict {
        Ok(()) => println!("ok {name} {rank}{}", if failed { ", the world failed" } else { "" }),
        Err(reason) => println!("wrong {name} {rank}: {reason}"),
    }
}
