//! Windows: peers see what is shown, and nothing of what comes after closing.

use super::subject::{Subject, Verdict, claim, read, same, text, told, write};
use super::{Body, Case, MANY};
use crate::{Call, Memory, Transport};

pub(super) const CASES: &[Case] = &[
    Case { name: "windows in a ring", ranks: MANY, body: Body::Keeps(ring) },
    Case { name: "windows of all to all", ranks: MANY, body: Body::Keeps(all_to_all) },
    Case { name: "a window that is open can be seen", ranks: MANY, body: Body::Keeps(is_open) },
    Case { name: "windows and messages do not mix", ranks: MANY, body: Body::Keeps(mixed) },
    Case { name: "withdrawing nothing changes nothing", ranks: MANY, body: Body::Keeps(withdraw) },
];

const ROUNDS: usize = 200;

fn ring(transport: &mut dyn Transport) -> Verdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    // The same memory is shown again and again, with other values each time.
    let memory = Memory::zeroed(4099);
    for round in 0..ROUNDS {
        subject.enter(&Call::here("window ring", round as u64))?;
        write(&memory.whole(), &text(rank, right, round, memory.bytes()));
        let Some(windows) = subject.windows() else { return subject.leave() };
        told(windows.open(right, &memory))?;
        let seen = told(windows.look(left))?;
        let copy = read(&seen.piece(0, seen.bytes()));
        windows.done(left);
        drop(seen);
        told(windows.close(right))?;
        same(&copy, &text(left, rank, round, memory.bytes()))?;
        subject.leave()?;
    }
    Ok(())
}

fn all_to_all(transport: &mut dyn Transport) -> Verdict {
    let mut subject = Subject::new(transport);
    let (rank, size, others) = (subject.rank(), subject.size(), subject.others());
    let memory = Memory::zeroed(size * 100);
    for round in 0..ROUNDS {
        subject.enter(&Call::here("window all to all", round as u64))?;
        write(&memory.whole(), &text(rank, 0, round, memory.bytes()));
        let Some(windows) = subject.windows() else { return subject.leave() };
        for &to in &others {
            told(windows.open(to, &memory))?;
        }
        // All looks at once: every window is independent of the others.
        let seen: Result<Vec<Memory>, String> =
            others.iter().map(|&from| told(windows.look(from))).collect();
        for (&from, seen) in others.iter().zip(&seen?) {
            let copy = read(&seen.piece(rank * 100, 100));
            windows.done(from);
            same(&copy, &text(from, 0, round, memory.bytes())[rank * 100..][..100])?;
        }
        for &to in others.iter().rev() {
            told(windows.close(to))?;
        }
        subject.leave()?;
    }
    Ok(())
}

fn is_open(transport: &mut dyn Transport) -> Verdict {
    let mut subject = Subject::new(transport);
    let (left, right) = (subject.left(), subject.right());
    let memory = Memory::zeroed(8);
    for round in 0..20 {
        subject.enter(&Call::here("open windows", round))?;
        let Some(windows) = subject.windows() else { return subject.leave() };
        claim(!windows.is_open(left), "a window is open before it was opened")?;
        // Tells the left neighbour that this rank has asked.
        subject.send(left, 0, &[])?;
        subject.take(right, 0, &[])?;
        let windows = subject.windows().expect("as above");
        told(windows.open(right, &memory))?;
        while !windows.is_open(left) {
            std::thread::yield_now();
        }
        told(windows.look(left))?;
        windows.done(left);
        claim(!windows.is_open(left), "a window that was seen is open")?;
        told(windows.close(right))?;
        subject.leave()?;
    }
    Ok(())
}

fn mixed(transport: &mut dyn Transport) -> Verdict {
    let mut subject = Subject::new(transport);
    let (rank, left, right) = (subject.rank(), subject.left(), subject.right());
    for round in 0..ROUNDS {
        subject.enter(&Call::here("windows and messages", round as u64))?;
        let memory = Memory::zeroed(64);
        write(&memory.whole(), &text(rank, right, round, 64));
        let Some(windows) = subject.windows() else { return subject.leave() };
        told(windows.open(right, &memory))?;
        let room = subject.room(left, 0, 2000)?;
        subject.send(right, 0, &text(rank, right, round, 2000))?;
        let windows = subject.windows().expect("as above");
        let seen = told(windows.look(left))?;
        let copy = read(&seen.whole());
        // A message may be taken while one looks.
        subject.wait(&room, &text(left, rank, round, 2000))?;
        let windows = subject.windows().expect("as above");
        windows.done(left);
        told(windows.close(right))?;
        same(&copy, &text(left, rank, round, 64))?;
        subject.leave()?;
    }
    Ok(())
}

fn withdraw(transport: &mut dyn Transport) -> Verdict {
    if let Some(windows) = transport.windows() {
        windows.withdraw();
        windows.withdraw();
    }
    ring(transport)
}
