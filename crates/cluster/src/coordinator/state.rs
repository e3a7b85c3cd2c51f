//! What a coordinator knows, and what it does about what happens: no network in here.
//!
//! Everything that happens is an [`Event`]; one task handles them one after the other, so nothing is
//! locked and nothing is decided twice. Loss of a worker has one path, however it was noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pantile_comm_net::{Secret, random_id};
use tokio::sync::mpsc;
use tonic::Status;

use super::credit::{self, Credit, WINDOW};
use super::shares;
use crate::recent::Recent;
use crate::refusals::Refusals;
use crate::wire::{
    self, Answer, Ask, Beat, Counts, Done, Fault, FaultKind, Hello, Order, PROGRAM_MAX, Say,
    VERSION, answer, ask, order, say,
};

/// A worker that says nothing for so long is lost.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

/// How long after the first fault others are heard who may know more of why ranks did not join.
const PARDON: Duration = Duration::from_secs(1);

/// Most ranks of a world.
const RANKS_MAX: u64 = 1024;

/// Longest name and address of a worker, in bytes.
const NAME_MAX: usize = 256;

/// Most clients at a time.
const CLIENTS_MAX: usize = 1024;

/// Where messages to somebody go.
pub(super) type Out<T> = mpsc::Sender<Result<T, Status>>;

/// Something that happened.
pub(super) enum Event {
    /// A worker has come; it is known by this number.
    WorkerCame(u64, Out<Order>),
    WorkerSaid(u64, Say),
    WorkerGone(u64, String),
    /// A client has come, from this address.
    ClientCame(u64, String, (Out<Answer>, Credit)),
    ClientAsked(u64, Ask),
    ClientGone(u64),
    /// Time has passed.
    Tick(Instant),
}

struct WorkerAt {
    out: Out<Order>,
    /// Nothing until it has said who it is.
    hello: Option<Hello>,
    /// Bytes that it may use: what it said, or its share of it.
    memory: u64,
    seen: Instant,
    beat: Beat,
}

struct ClientAt {
    out: Out<Answer>,
    credit: Credit,
    address: String,
    session: Option<Session>,
}

/// A client's world.
struct Session {
    /// The worker of each rank.
    seats: Vec<u64>,
    opened: wire::Opened,
    /// Hashes of the programs that were sent lately.
    programs: Recent<Vec<u8>, ()>,
    /// What all ranks are doing.
    waiting: Option<Waiting>,
    tally: Option<Tally>,
    /// What was asked so far, and how much of that all ranks have taken, as it was paid for.
    spent: u64,
    taken: u64,
}

/// Counts that are being collected. They also show what ranks have taken.
struct Tally {
    /// Ranks that did not say theirs yet.
    left: BTreeSet<u64>,
    sum: Counts,
    /// What was asked before.
    spent: u64,
    /// The client wants to know.
    asked: bool,
    /// The client has asked meanwhile.
    again: bool,
}

/// A run, or joining, that ranks have not all answered.
struct Waiting {
    number: u64,
    /// What was asked before.
    spent: u64,
    left: BTreeSet<u64>,
    faults: Vec<Fault>,
    /// When the first fault came.
    faulty: Option<Instant>,
}

impl Waiting {
    fn new(number: u64, spent: u64, left: BTreeSet<u64>) -> Self {
        Self { number, spent, left, faults: Vec::new(), faulty: None }
    }

    /// True if nothing more has to be heard. Joining fails with the first who cannot reach another;
    /// who was not reached waits a little for somebody who knows why.
    fn is_over(&self, now: Instant) -> bool {
        let waits = |fault: &Fault| fault.reason.contains(crate::worker::NOT_DIALLED);
        let late = |since: Instant| now.saturating_duration_since(since) > PARDON;
        let failed = !self.faults.iter().all(waits) || self.faulty.is_some_and(late);
        self.left.is_empty() || (self.number == 0 && failed)
    }
}

/// All workers and clients.
pub(super) struct State {
    workers: BTreeMap<u64, WorkerAt>,
    clients: BTreeMap<u64, ClientAt>,
    now: Instant,
    refusals: Arc<Refusals>,
}

impl State {
    pub(super) fn new(now: Instant, refusals: Arc<Refusals>) -> Self {
        Self { workers: BTreeMap::new(), clients: BTreeMap::new(), now, refusals }
    }

    /// Takes note of something that happened, and says what follows to whom it concerns.
    pub(super) fn handle(&mut self, event: Event) {
        match event {
            Event::WorkerCame(id, out) => {
                let (seen, beat) = (self.now, Beat::default());
                self.workers.insert(id, WorkerAt { out, hello: None, memory: 0, seen, beat });
            }
            Event::WorkerSaid(id, Say { what: Some(what) }) => self.worker_said(id, what),
            Event::WorkerGone(id, reason) => self.lose(id, &reason),
            Event::ClientCame(id, address, (out, credit)) => {
                if self.clients.len() >= CLIENTS_MAX {
                    let text = format!("this coordinator has {CLIENTS_MAX} clients already");
                    self.refusals.note(&address, &text);
                    let _ = out.try_send(Err(Status::resource_exhausted(text)));
                    return;
                }
                self.clients.insert(id, ClientAt { out, credit, address, session: None });
            }
            Event::ClientAsked(id, ask) => {
                let cost = u64::from(credit::cost(&ask));
                let Some(what) = ask.what else { return self.give_back(id, cost) };
                if let Err(fault) = self.client_asked(id, what, cost) {
                    let address = self.clients.get(&id).map_or("somebody", |one| &one.address);
                    self.refusals.note(&address, &fault.reason);
                    self.answer(id, answer::What::Over(fault));
                    self.leave(id);
                }
            }
            Event::ClientGone(id) => {
                self.leave(id);
                self.clients.remove(&id);
            }
            Event::Tick(now) => self.tick(now),
            Event::WorkerSaid(_, Say { what: None }) => {}
        }
    }

    fn tick(&mut self, now: Instant) {
        self.now = now;
        let silent = |worker: &WorkerAt| now.saturating_duration_since(worker.seen) > SILENCE;
        let lost: Vec<u64> =
            self.workers.iter().filter(|(_, one)| silent(one)).map(|(id, _)| *id).collect();
        for id in lost {
            self.lose(id, &format!("it has been silent for {} s", SILENCE.as_secs()));
        }
        let over = |client: &ClientAt| {
            let waiting = client.session.as_ref().and_then(|session| session.waiting.as_ref());
            waiting.is_some_and(|waiting| waiting.is_over(now))
        };
        let over: Vec<u64> =
            self.clients.iter().filter(|(_, one)| over(one)).map(|(id, _)| *id).collect();
        over.into_iter().for_each(|id| self.finish(id));
    }

    // ---- workers

    fn worker_said(&mut self, id: u64, what: say::What) {
        let now = self.now;
        let Some(worker) = self.workers.get_mut(&id) else { return };
        worker.seen = now;
        match what {
            say::What::Hello(hello) => self.hello(id, hello),
            say::What::Beat(beat) => worker.beat = beat,
            say::What::Done(done) => self.done(id, done),
            say::What::Counts(counts) => self.counted(id, counts),
        }
    }

    fn hello(&mut self, id: u64, mut hello: Hello) {
        if let Some(text) = unwanted(&hello) {
            let address: String = hello.data_address.chars().take(NAME_MAX).collect();
            self.refusals.note(&format!("worker {address}"), &text);
            if let Some(worker) = self.workers.remove(&id) {
                let _ = worker.out.try_send(Err(Status::failed_precondition(text)));
            }
            return;
        }
        if hello.name.is_empty() {
            hello.name = format!("worker {}", hello.data_address);
        }
        // Errors call workers by their names. One that comes again may still be known from before, so
        // it gets a number instead of a refusal.
        let name = self.unused(id, &hello.name);
        hello.name.clone_from(&name);
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.memory = hello.memory;
            worker.hello = Some(hello);
        }
        self.order(id, order::What::Welcome(name));
        self.share_memory();
    }

    /// Tells workers what they may use, where workers came or went that draw from the same memory.
    fn share_memory(&mut self) {
        let all: Vec<&Hello> = self.workers.values().filter_map(|one| one.hello.as_ref()).collect();
        let of = |worker: &WorkerAt| worker.hello.as_ref().map(|own| shares::share(own, &all));
        let changed: Vec<(u64, u64)> = (self.workers.iter())
            .filter_map(|(id, worker)| Some((*id, of(worker)?)))
            .filter(|(id, share)| self.workers[id].memory != *share)
            .collect();
        for (id, share) in changed {
            if let Some(worker) = self.workers.get_mut(&id) {
                worker.memory = share;
            }
            self.order(id, order::What::Memory(share));
        }
    }

    /// A name, with a number behind it if another worker has it already.
    fn unused(&self, id: u64, name: &str) -> String {
        let others = || self.workers.iter().filter(|(other, _)| **other != id);
        let taken = |name: &str| {
            others().any(|(_, other)| other.hello.as_ref().is_some_and(|hello| hello.name == name))
        };
        let numbered = (2_u64..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| !taken(name)).unwrap_or_default()
    }

    fn name_of(&self, worker: u64) -> String {
        let hello = self.workers.get(&worker).and_then(|worker| worker.hello.as_ref());
        hello.map_or_else(String::new, |hello| hello.name.clone())
    }

    /// The one path of all losses.
    fn lose(&mut self, id: u64, reason: &str) {
        let name = self.name_of(id);
        if self.workers.remove(&id).is_none() {
            return;
        }
        let has = |client: &ClientAt| {
            client.session.as_ref().is_some_and(|session| session.seats.contains(&id))
        };
        let hit: Vec<u64> =
            self.clients.iter().filter(|(_, one)| has(one)).map(|(client, _)| *client).collect();
        for client in hit {
            self.answer(client, answer::What::Over(Fault::lost(&name, reason)));
            self.leave(client);
        }
        self.share_memory();
    }

    /// Orders something; a worker that does not take orders any more is lost.
    fn order(&mut self, worker: u64, what: order::What) {
        let Some(at) = self.workers.get(&worker) else { return };
        if at.out.try_send(Ok(Order { what: Some(what) })).is_err() {
            self.lose(worker, "it does not take orders any more");
        }
    }

    fn done(&mut self, worker: u64, done: Done) {
        let name = self.name_of(worker);
        let Some(client) = self.clients.get_mut(&done.session) else { return };
        let Some(session) = client.session.as_mut() else { return };
        let Ok(rank) = usize::try_from(done.rank) else { return };
        // Only the rank's own worker speaks for it.
        if session.seats.get(rank) != Some(&worker) {
            let text = format!("it speaks for rank {rank} of a client that has others");
            self.refusals.note(&format!("worker `{name}`"), &text);
            return;
        }
        let Some(waiting) = session.waiting.as_mut().filter(|one| one.number == done.number) else {
            return;
        };
        if !waiting.left.remove(&done.rank) {
            return;
        }
        if let Some(fault) = done.fault {
            waiting.faults.push(Fault { worker: name, ..fault });
            waiting.faulty.get_or_insert(self.now);
        }
        if waiting.is_over(self.now) {
            self.finish(done.session);
        }
    }

    /// All ranks have done what was asked, or will not.
    fn finish(&mut self, id: u64) {
        let session = self.clients.get_mut(&id).and_then(|client| client.session.as_mut());
        let Some(session) = session else { return };
        let Some(Waiting { number, spent, faults, .. }) = session.waiting.take() else { return };
        let (fault, opened) = (weightiest(faults), session.opened.clone());
        self.has_taken(id, spent);
        match (number, fault) {
            (0, None) => self.answer(id, answer::What::Opened(opened)),
            (0, Some(fault)) => {
                self.answer(id, answer::What::Over(fault));
                self.leave(id);
            }
            (number, fault) => {
                let done = Done { session: id, number, rank: 0, fault };
                self.answer(id, answer::What::Done(done));
            }
        }
    }

    fn counted(&mut self, worker: u64, counts: Counts) {
        let Some(client) = self.clients.get_mut(&counts.session) else { return };
        let Some(session) = client.session.as_mut() else { return };
        let own = usize::try_from(counts.rank).ok().and_then(|rank| session.seats.get(rank));
        let Some(tally) = session.tally.as_mut().filter(|_| own == Some(&worker)) else { return };
        if !tally.left.remove(&counts.rank) {
            return;
        }
        tally.sum.compiled += counts.compiled;
        tally.sum.runs += counts.runs;
        tally.sum.messages += counts.messages;
        tally.sum.bytes += counts.bytes;
        tally.sum.stored += counts.stored;
        tally.sum.programs = tally.sum.programs.max(counts.programs);
        if tally.left.is_empty()
            && let Some(tally) = session.tally.take()
        {
            self.has_taken(counts.session, tally.spent);
            if tally.asked {
                self.answer(counts.session, answer::What::Counts(tally.sum));
            }
            if tally.again {
                self.count(counts.session, true);
            }
        }
    }

    /// Asks all ranks for their counts, once they have done what was ordered before.
    fn count(&mut self, id: u64, asked: bool) {
        let client = self.clients.get_mut(&id);
        let Some(session) = client.and_then(|client| client.session.as_mut()) else { return };
        if let Some(tally) = &mut session.tally {
            tally.again |= asked;
            return;
        }
        let left = (0..session.seats.len() as u64).collect();
        let sum = Counts { session: id, ..Counts::default() };
        session.tally = Some(Tally { left, sum, spent: session.spent, asked, again: false });
        for worker in distinct(&session.seats) {
            self.order(worker, order::What::Counts(wire::Session { session: id }));
        }
    }

    /// All ranks have taken what a client had asked when so much was spent.
    fn has_taken(&mut self, id: u64, spent: u64) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        let Some(session) = client.session.as_mut() else { return };
        client.credit.give_back(spent.saturating_sub(session.taken));
        session.taken = session.taken.max(spent);
    }

    fn give_back(&self, id: u64, cost: u64) {
        if let Some(client) = self.clients.get(&id) {
            client.credit.give_back(cost);
        }
    }

    // ---- clients

    /// Says something to a client; one that does not listen any more hears of it by its stream.
    fn answer(&self, client: u64, what: answer::What) {
        if let Some(at) = self.clients.get(&client) {
            let _ = at.out.try_send(Ok(Answer { what: Some(what) }));
        }
    }

    /// Ends a client's session: its ranks are freed.
    fn leave(&mut self, client: u64) {
        let Some(session) = self.clients.get_mut(&client).and_then(|one| one.session.take()) else {
            return;
        };
        for worker in distinct(&session.seats) {
            self.order(worker, order::What::Leave(wire::Session { session: client }));
        }
    }

    /// Does what a client asks for, at this cost. What was spent on a session that ends is gone: who
    /// is refused again and again has to come anew.
    fn client_asked(&mut self, id: u64, what: ask::What, cost: u64) -> Result<(), Fault> {
        let what = match what {
            ask::What::Open(open) => return self.open(id, &open, cost),
            ask::What::Status(_) => {
                self.answer(id, answer::What::Status(self.status()));
                self.give_back(id, cost);
                return Ok(());
            }
            other => other,
        };
        let client = self.clients.get_mut(&id);
        let Some(session) = client.and_then(|client| client.session.as_mut()) else {
            return Err(Fault::refused("there is no session: open one first"));
        };
        session.spent += cost;
        let order = match what {
            ask::What::Program(program) => {
                if program.text.len() > PROGRAM_MAX || program.hash.len() != 16 {
                    return Err(Fault::refused(format!(
                        "got a program of {} bytes, expected at most {PROGRAM_MAX}",
                        program.text.len()
                    )));
                }
                session.programs.insert(program.hash.clone(), (), 0);
                order::What::Program(wire::Program { session: id, ..program })
            }
            ask::What::Run(run) => {
                if session.waiting.is_some() || run.number == 0 {
                    return Err(Fault::refused("one program after the other, counted from 1"));
                }
                if session.programs.get(&run.program).is_none() {
                    return Err(Fault::refused("got the hash of a program that was not sent"));
                }
                let ranks = (0..session.seats.len() as u64).collect();
                session.waiting = Some(Waiting::new(run.number, session.spent, ranks));
                order::What::Run(wire::Run { session: id, ..run })
            }
            ask::What::Free(free) => order::What::Free(wire::Free { session: id, ..free }),
            ask::What::Threads(one) => order::What::Threads(wire::Threads { session: id, ..one }),
            ask::What::Counts(_) => {
                self.count(id, true);
                return Ok(());
            }
            ask::What::Open(_) | ask::What::Status(_) => return Ok(()),
        };
        let much = session.spent - session.taken > u64::from(WINDOW / 2);
        for worker in distinct(&session.seats.clone()) {
            self.order(worker, order.clone());
        }
        if much {
            self.count(id, false);
        }
        Ok(())
    }

    fn open(&mut self, id: u64, open: &wire::Open, cost: u64) -> Result<(), Fault> {
        if open.version != VERSION {
            let got = open.version;
            let text = format!("got a client of version {got}, expected version {VERSION}");
            return Err(Fault::refused(text));
        }
        if self.clients.get(&id).is_none_or(|client| client.session.is_some()) {
            return Err(Fault::refused("the session is open already"));
        }
        let ready = self.workers.iter().filter_map(|(id, one)| Some((*id, one.hello.as_ref()?)));
        let ready: Vec<(u64, &Hello)> = ready.collect();
        let seats = seats(&ready, open.ranks)?;
        let of = |worker: &u64| ready.iter().find(|(id, _)| id == worker).map(|(_, hello)| *hello);
        let places: Vec<wire::Seat> = seats
            .iter()
            .filter_map(of)
            .map(|hello| wire::Seat {
                worker: hello.name.clone(),
                data_address: hello.data_address.clone(),
            })
            .collect();
        // Every rank has what the poorest has: a refusal must be everybody's.
        let share = |worker: &u64| {
            let beside = seats.iter().filter(|other| *other == worker).count() as u64;
            self.workers.get(worker).map_or(0, |one| one.memory / beside.max(1))
        };
        let memory = seats.iter().map(share).min().unwrap_or(0);
        let random = |error: pantile_comm_net::NetError| Fault::refused(error.to_string());
        let world = random_id().map_err(random)?.to_le_bytes().to_vec();
        let secret = Secret::random().map_err(random)?.as_bytes().to_vec();
        let joins: Vec<(u64, wire::Join)> = distinct(&seats)
            .into_iter()
            .map(|worker| {
                let own = (0..).zip(&seats).filter(|(_, seat)| **seat == worker);
                let own = own.map(|(rank, _)| rank).collect();
                let (world, secret, seats) = (world.clone(), secret.clone(), places.clone());
                (worker, wire::Join { session: id, world, secret, own, seats, memory })
            })
            .collect();
        let opened = wire::Opened { session: id, world, secret, seats: places };
        let left = (0..seats.len() as u64).collect();
        let waiting = Some(Waiting::new(0, cost, left));
        let (programs, tally) = (Recent::new(wire::PROGRAMS_MAX, usize::MAX), None);
        let (spent, taken) = (cost, 0);
        if let Some(client) = self.clients.get_mut(&id) {
            let session = Session { seats, opened, programs, waiting, tally, spent, taken };
            client.session = Some(session);
        }
        for (worker, join) in joins {
            self.order(worker, order::What::Join(join));
        }
        Ok(())
    }

    fn status(&self) -> wire::Status {
        let workers = self.workers.values().filter_map(|worker| {
            let hello = worker.hello.as_ref()?;
            Some(wire::WorkerStatus {
                name: hello.name.clone(),
                data_address: hello.data_address.clone(),
                memory: worker.memory,
                stored: worker.beat.stored,
                sessions: worker.beat.sessions,
                lowered: worker.beat.lowered,
                refused: worker.beat.refused,
            })
        });
        let sessions = self.clients.values().filter(|client| client.session.is_some()).count();
        let (workers, refused) = (workers.collect(), self.refusals.count());
        wire::Status { workers, sessions: sessions as u64, refused }
    }
}

/// Why a worker is not wanted, if it is not.
fn unwanted(hello: &Hello) -> Option<String> {
    let (version, name, address) = (hello.version, hello.name.len(), hello.data_address.len());
    match name.max(address) {
        _ if version != VERSION => {
            Some(format!("got a worker of version {version}, expected version {VERSION}"))
        }
        // Every rank of every world is told them.
        got if got > NAME_MAX => {
            Some(format!("got a name or an address of {got} bytes, expected at most {NAME_MAX}"))
        }
        _ => None,
    }
}

/// The worker of every rank: neighbours are on one worker, and none has more than one more.
fn seats(ready: &[(u64, &Hello)], ranks: u64) -> Result<Vec<u64>, Fault> {
    if ready.is_empty() {
        return Err(Fault::refused("no worker has come to this coordinator yet"));
    }
    if ranks == 0 {
        let own = |(id, hello): &(u64, &Hello)| std::iter::repeat_n(*id, hello.ranks as usize);
        return Ok(ready.iter().flat_map(own).take(1024).collect());
    }
    if ranks > RANKS_MAX {
        return Err(Fault::refused(format!("got {ranks} ranks, expected at most {RANKS_MAX}")));
    }
    let workers = ready.len() as u64;
    let of = |rank: u64| ready[usize::try_from(rank * workers / ranks).unwrap_or(0)].0;
    Ok((0..ranks).map(of).collect())
}

fn distinct(seats: &[u64]) -> BTreeSet<u64> {
    seats.iter().copied().collect()
}

/// The fault that says most: refusals of all, then whoever failed by itself, then those who heard.
fn weightiest(faults: Vec<Fault>) -> Option<Fault> {
    let weight = |fault: &Fault| match FaultKind::try_from(fault.kind) {
        Ok(FaultKind::Refused) => 0,
        _ if fault.reason.contains("cannot go on, because") => 3,
        _ if fault.reason.contains(crate::worker::NOT_DIALLED) => 2,
        _ => 1,
    };
    faults.into_iter().min_by_key(weight)
}

#[cfg(test)]
mod tests;
