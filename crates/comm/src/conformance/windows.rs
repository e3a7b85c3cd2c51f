//! Windows: peers see what is shown, and nothing of what comes after closing.

use super::error::CaseError;
use super::subject::{CaseVerdict, Subject, claim, read, same, text, told, write};
use super::{CaseBody, ConformanceCase, MANY};
use crate::{CollectiveSignature, MemoryBlock, Transport};

pub(super) const CASES: &[ConformanceCase] = &[
    ConformanceCase { name: "windows in a ring", ranks: MANY, body: CaseBody::Keeps(ring) },
    ConformanceCase {
        name: "windows of all to all",
        ranks: MANY,
        body: CaseBody::Keeps(all_to_all),
    },
    ConformanceCase {
        name: "a window that is open can be seen",
        ranks: MANY,
        body: CaseBody::Keeps(is_open),
    },
    ConformanceCase {
        name: "windows and messages do not mix",
        ranks: MANY,
        body: CaseBody::Keeps(mixed),
    },
    ConformanceCase {
        name: "withdrawing nothing changes nothing",
        ranks: MANY,
        body: CaseBody::Keeps(withdraw),
    },
];

const ROUNDS: usize = 200;

fn ring(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    // The same memory is shown again and again, with other values each time.
    let memory = MemoryBlock::zeroed(4099);
    for round in 0..ROUNDS {
        subject.enter(&CollectiveSignature::here("window ring", round as u64))?;
        write(&memory.whole(), &text(rank, right, round, memory.bytes()));
        let Some(windows) = subject.windows() else { return subject.leave() };
        told(windows.expose(right, &memory))?;
        let seen = told(windows.acquire(left))?;
        let copy = read(&seen.slice(0, seen.bytes()));
        windows.release(left);
        drop(seen);
        told(windows.close(right))?;
        same(&copy, &text(left, rank, round, memory.bytes()))?;
        subject.leave()?;
    }
    Ok(())
}

fn all_to_all(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, size, others) = (subject.rank(), subject.size(), subject.others());
    let memory = MemoryBlock::zeroed(size * 100);
    for round in 0..ROUNDS {
        subject.enter(&CollectiveSignature::here("window all to all", round as u64))?;
        write(&memory.whole(), &text(rank, 0, round, memory.bytes()));
        let Some(windows) = subject.windows() else { return subject.leave() };
        for &to in &others {
            told(windows.expose(to, &memory))?;
        }
        // All reads at once: every window is independent of the others.
        let seen: Result<Vec<MemoryBlock>, CaseError> =
            others.iter().map(|&from| told(windows.acquire(from))).collect();
        for (&from, seen) in others.iter().zip(&seen?) {
            let copy = read(&seen.slice(rank * 100, 100));
            windows.release(from);
            same(&copy, &text(from, 0, round, memory.bytes())[rank * 100..][..100])?;
        }
        for &to in others.iter().rev() {
            told(windows.close(to))?;
        }
        subject.leave()?;
    }
    Ok(())
}

fn is_open(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (left, right) = (subject.left(), subject.right());
    let memory = MemoryBlock::zeroed(8);
    for round in 0..20 {
        subject.enter(&CollectiveSignature::here("open windows", round))?;
        let Some(windows) = subject.windows() else { return subject.leave() };
        claim(!windows.is_exposed(left), "a window is open before it was opened")?;
        // Tells the left neighbour that this rank has asked.
        subject.send(left, 0, &[])?;
        subject.take(right, 0, &[])?;
        let windows = subject.windows().expect("as above");
        told(windows.expose(right, &memory))?;
        while !windows.is_exposed(left) {
            std::thread::yield_now();
        }
        told(windows.acquire(left))?;
        windows.release(left);
        claim(!windows.is_exposed(left), "a window that was seen is open")?;
        told(windows.close(right))?;
        subject.leave()?;
    }
    Ok(())
}

fn mixed(transport: &mut dyn Transport) -> CaseVerdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    for round in 0..ROUNDS {
        subject.enter(&CollectiveSignature::here("windows and messages", round as u64))?;
        let memory = MemoryBlock::zeroed(64);
        write(&memory.whole(), &text(rank, right, round, 64));
        let Some(windows) = subject.windows() else { return subject.leave() };
        told(windows.expose(right, &memory))?;
        let room = subject.room(left, 0, 2000)?;
        subject.send(right, 0, &text(rank, right, round, 2000))?;
        let windows = subject.windows().expect("as above");
        let seen = told(windows.acquire(left))?;
        let copy = read(&seen.whole());
        // A message may be taken while a window is read.
        subject.wait(&room, &text(left, rank, round, 2000))?;
        let windows = subject.windows().expect("as above");
        windows.release(left);
        told(windows.close(right))?;
        same(&copy, &text(left, rank, round, 64))?;
        subject.leave()?;
    }
    Ok(())
}

fn withdraw(transport: &mut dyn Transport) -> CaseVerdict {
    if let Some(windows) = transport.windows() {
        windows.withdraw();
        windows.withdraw();
    }
    ring(transport)
}
