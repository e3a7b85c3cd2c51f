//! What a coordinator knows, and what it does about what happens: no network in here.
//!
//! Everything that happens is a [`CoordinatorEvent`]; one task handles them one after the other, so
//! nothing is locked and nothing is decided twice. Loss of a worker has one path, however it was
//! noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pantile_comm_net::{Secret, random_id};
use pantile_engine::BoundedCache;
use tokio::sync::mpsc;
use tonic::Status;

use super::credit::{self, RequestCredit, WINDOW};
use super::placement::{assign_hosts, distinct};
use super::shares;
use crate::refusals::Refusals;
use crate::wire::{
    self, ClientReply, ClientRequest, Counts, Done, FaultCause, FaultKind, Heartbeat, OrderKind,
    PROGRAM_MAX, Registration, ReplyKind, ReportKind, RequestKind, VERSION, WireFault, WorkerOrder,
    WorkerReport,
};

/// A worker without a heartbeat for so long is lost.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

/// Grace period after the first fault of joining: another worker may report a better reason.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// Longest name and address of a worker, in bytes.
const NAME_MAX: usize = 256;

/// Most clients at a time.
const CLIENTS_MAX: usize = 1024;

/// Where messages to a worker or client go.
pub(super) type Out<T> = mpsc::Sender<Result<T, Status>>;

/// Something that happened.
pub(super) enum CoordinatorEvent {
    /// A worker has come; it is known by this number.
    WorkerConnected(u64, Out<WorkerOrder>),
    WorkerReported(u64, WorkerReport),
    WorkerGone(u64, String),
    /// A client has come, from this address.
    ClientConnected(u64, String, (Out<ClientReply>, RequestCredit)),
    ClientRequested(u64, ClientRequest),
    ClientGone(u64),
    /// Time has passed.
    Tick(Instant),
}

struct WorkerEntry {
    out: Out<WorkerOrder>,
    /// Nothing until it has registered.
    registration: Option<Registration>,
    /// Bytes that it may use: what it said, or its share of it.
    memory: u64,
    seen: Instant,
    heartbeat: Heartbeat,
}

struct ClientEntry {
    out: Out<ClientReply>,
    credit: RequestCredit,
    address: String,
    session: Option<ClientSession>,
}

/// A client's world.
struct ClientSession {
    /// The worker of each rank.
    hosts: Vec<u64>,
    opened: wire::SessionOpened,
    /// Hashes of the programs that were sent lately.
    programs: BoundedCache<Vec<u8>, ()>,
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
    /// The client has requested them.
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
    faults: Vec<WireFault>,
    /// When the first fault came.
    faulty: Option<Instant>,
}

impl Waiting {
    fn new(number: u64, spent: u64, left: BTreeSet<u64>) -> Self {
        Self { number, spent, left, faults: Vec::new(), faulty: None }
    }

    /// True if no more reports are needed. Joining fails with the first rank that cannot reach
    /// another; the report of a rank that was not reached waits a little for one that knows why.
    fn is_over(&self, now: Instant) -> bool {
        let waits = |fault: &WireFault| fault.cause() == FaultCause::NotConnected;
        let late = |since: Instant| now.saturating_duration_since(since) > GRACE_PERIOD;
        let failed = !self.faults.iter().all(waits) || self.faulty.is_some_and(late);
        self.left.is_empty() || (self.number == 0 && failed)
    }
}

/// All workers and clients.
pub(super) struct CoordinatorState {
    workers: BTreeMap<u64, WorkerEntry>,
    clients: BTreeMap<u64, ClientEntry>,
    now: Instant,
    refusals: Arc<Refusals>,
}

impl CoordinatorState {
    pub(super) fn new(now: Instant, refusals: Arc<Refusals>) -> Self {
        Self { workers: BTreeMap::new(), clients: BTreeMap::new(), now, refusals }
    }

    /// Handles an event, and sends what follows from it.
    pub(super) fn handle(&mut self, event: CoordinatorEvent) {
        match event {
            CoordinatorEvent::WorkerConnected(id, out) => {
                let (seen, heartbeat) = (self.now, Heartbeat::default());
                self.workers.insert(
                    id,
                    WorkerEntry { out, registration: None, memory: 0, seen, heartbeat },
                );
            }
            CoordinatorEvent::WorkerReported(id, WorkerReport { kind: Some(kind) }) => {
                self.worker_reported(id, kind)
            }
            CoordinatorEvent::WorkerGone(id, reason) => self.lose(id, &reason),
            CoordinatorEvent::ClientConnected(id, address, (out, credit)) => {
                if self.clients.len() >= CLIENTS_MAX {
                    let text = format!("this coordinator has {CLIENTS_MAX} clients already");
                    self.refusals.note(&address, &text);
                    let _ = out.try_send(Err(Status::resource_exhausted(text)));
                    return;
                }
                self.clients.insert(id, ClientEntry { out, credit, address, session: None });
            }
            CoordinatorEvent::ClientRequested(id, ask) => {
                let cost = u64::from(credit::cost(&ask));
                let Some(kind) = ask.kind else { return self.give_back(id, cost) };
                if let Err(fault) = self.client_requested(id, kind, cost) {
                    let address =
                        self.clients.get(&id).map_or("an unknown client", |one| &one.address);
                    self.refusals.note(&address, &fault.reason);
                    self.answer(id, ReplyKind::Over(fault));
                    self.leave(id);
                }
            }
            CoordinatorEvent::ClientGone(id) => {
                self.leave(id);
                self.clients.remove(&id);
            }
            CoordinatorEvent::Tick(now) => self.tick(now),
            CoordinatorEvent::WorkerReported(_, WorkerReport { kind: None }) => {}
        }
    }

    fn tick(&mut self, now: Instant) {
        self.now = now;
        let silent = |worker: &WorkerEntry| now.saturating_duration_since(worker.seen) > SILENCE;
        let lost: Vec<u64> =
            self.workers.iter().filter(|(_, one)| silent(one)).map(|(id, _)| *id).collect();
        for id in lost {
            self.lose(id, &format!("it has been silent for {} s", SILENCE.as_secs()));
        }
        let ended = |client: &ClientEntry| {
            let waiting = client.session.as_ref().and_then(|session| session.waiting.as_ref());
            waiting.is_some_and(|waiting| waiting.is_over(now))
        };
        let ended: Vec<u64> =
            self.clients.iter().filter(|(_, one)| ended(one)).map(|(id, _)| *id).collect();
        ended.into_iter().for_each(|id| self.finish(id));
    }

    // ---- workers

    fn worker_reported(&mut self, id: u64, kind: ReportKind) {
        let now = self.now;
        let Some(worker) = self.workers.get_mut(&id) else { return };
        worker.seen = now;
        match kind {
            ReportKind::Register(registration) => self.register(id, registration),
            ReportKind::Heartbeat(heartbeat) => worker.heartbeat = heartbeat,
            ReportKind::Done(done) => self.done(id, done),
            ReportKind::Counts(counts) => self.counted(id, counts),
        }
    }

    fn register(&mut self, id: u64, mut registration: Registration) {
        if let Some(text) = rejection(&registration) {
            let address: String = registration.data_address.chars().take(NAME_MAX).collect();
            self.refusals.note(&format!("worker {address}"), &text);
            if let Some(worker) = self.workers.remove(&id) {
                let _ = worker.out.try_send(Err(Status::failed_precondition(text)));
            }
            return;
        }
        if registration.name.is_empty() {
            registration.name = format!("worker {}", registration.data_address);
        }
        // Errors call workers by their names. One that comes again may still be known from before,
        // so it gets a number instead of a refusal.
        let name = self.unused(id, &registration.name);
        registration.name.clone_from(&name);
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.memory = registration.memory;
            worker.registration = Some(registration);
        }
        self.order(id, OrderKind::Welcome(name));
        self.share_memory();
    }

    /// Tells workers what they may use, when workers come or go that draw from the same memory.
    fn share_memory(&mut self) {
        let all: Vec<&Registration> =
            self.workers.values().filter_map(|one| one.registration.as_ref()).collect();
        let of =
            |worker: &WorkerEntry| worker.registration.as_ref().map(|own| shares::share(own, &all));
        let changed: Vec<(u64, u64)> = (self.workers.iter())
            .filter_map(|(id, worker)| Some((*id, of(worker)?)))
            .filter(|(id, share)| self.workers[id].memory != *share)
            .collect();
        for (id, share) in changed {
            if let Some(worker) = self.workers.get_mut(&id) {
                worker.memory = share;
            }
            self.order(id, OrderKind::Memory(share));
        }
    }

    /// A name, with a number behind it if another worker has it already.
    fn unused(&self, id: u64, name: &str) -> String {
        let others = || self.workers.iter().filter(|(other, _)| **other != id);
        let taken = |name: &str| {
            others().any(|(_, other)| {
                other.registration.as_ref().is_some_and(|registration| registration.name == name)
            })
        };
        let numbered = (2_u64..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| !taken(name)).unwrap_or_default()
    }

    fn name_of(&self, worker: u64) -> String {
        let registration =
            self.workers.get(&worker).and_then(|worker| worker.registration.as_ref());
        registration.map_or_else(String::new, |registration| registration.name.clone())
    }

    /// The one path of all losses.
    fn lose(&mut self, id: u64, reason: &str) {
        let name = self.name_of(id);
        if self.workers.remove(&id).is_none() {
            return;
        }
        let has = |client: &ClientEntry| {
            client.session.as_ref().is_some_and(|session| session.hosts.contains(&id))
        };
        let hit: Vec<u64> =
            self.clients.iter().filter(|(_, one)| has(one)).map(|(client, _)| *client).collect();
        for client in hit {
            self.answer(client, ReplyKind::Over(WireFault::lost(&name, reason)));
            self.leave(client);
        }
        self.share_memory();
    }

    /// Orders something; a worker that does not take orders any more is lost.
    fn order(&mut self, worker: u64, kind: OrderKind) {
        let Some(at) = self.workers.get(&worker) else { return };
        if at.out.try_send(Ok(WorkerOrder { kind: Some(kind) })).is_err() {
            self.lose(worker, "it does not take orders any more");
        }
    }

    fn done(&mut self, worker: u64, done: Done) {
        let name = self.name_of(worker);
        let Some(client) = self.clients.get_mut(&done.session) else { return };
        let Some(session) = client.session.as_mut() else { return };
        let Ok(rank) = usize::try_from(done.rank) else { return };
        // Only the rank's own worker speaks for it.
        if session.hosts.get(rank) != Some(&worker) {
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
            waiting.faults.push(WireFault { worker: name, ..fault });
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
        let (fault, opened) = (main_fault(faults), session.opened.clone());
        self.has_taken(id, spent);
        match (number, fault) {
            (0, None) => self.answer(id, ReplyKind::Opened(opened)),
            (0, Some(fault)) => {
                self.answer(id, ReplyKind::Over(fault));
                self.leave(id);
            }
            (number, fault) => {
                let done = Done { session: id, number, rank: 0, fault };
                self.answer(id, ReplyKind::Done(done));
            }
        }
    }

    fn counted(&mut self, worker: u64, counts: Counts) {
        let Some(client) = self.clients.get_mut(&counts.session) else { return };
        let Some(session) = client.session.as_mut() else { return };
        let own = usize::try_from(counts.rank).ok().and_then(|rank| session.hosts.get(rank));
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
                self.answer(counts.session, ReplyKind::Counts(tally.sum));
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
        let left = (0..session.hosts.len() as u64).collect();
        let sum = Counts { session: id, ..Counts::default() };
        session.tally = Some(Tally { left, sum, spent: session.spent, asked, again: false });
        for worker in distinct(&session.hosts) {
            self.order(worker, OrderKind::Counts(wire::SessionRef { session: id }));
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

    /// Replies to a client; one that does not listen any more hears of it by its stream.
    fn answer(&self, client: u64, kind: ReplyKind) {
        if let Some(at) = self.clients.get(&client) {
            let _ = at.out.try_send(Ok(ClientReply { kind: Some(kind) }));
        }
    }

    /// Ends a client's session: its ranks are freed.
    fn leave(&mut self, client: u64) {
        let Some(session) = self.clients.get_mut(&client).and_then(|one| one.session.take()) else {
            return;
        };
        for worker in distinct(&session.hosts) {
            self.order(worker, OrderKind::Leave(wire::SessionRef { session: client }));
        }
    }

    /// Does what a client asks for, at this cost. What was spent on a session that ends is gone:
    /// a client that is refused again and again has to connect again.
    fn client_requested(&mut self, id: u64, kind: RequestKind, cost: u64) -> Result<(), WireFault> {
        let kind = match kind {
            RequestKind::Open(open) => return self.open(id, &open, cost),
            RequestKind::Status(_) => {
                self.answer(id, ReplyKind::Status(self.status()));
                self.give_back(id, cost);
                return Ok(());
            }
            other => other,
        };
        let client = self.clients.get_mut(&id);
        let Some(session) = client.and_then(|client| client.session.as_mut()) else {
            return Err(WireFault::refused("there is no session: open one first"));
        };
        session.spent += cost;
        let order = match kind {
            RequestKind::Program(program) => {
                if program.text.len() > PROGRAM_MAX || program.hash.len() != 16 {
                    return Err(WireFault::refused(format!(
                        "got a program of {} bytes, expected at most {PROGRAM_MAX}",
                        program.text.len()
                    )));
                }
                session.programs.insert(program.hash.clone(), (), 0);
                OrderKind::Program(wire::ProgramText { session: id, ..program })
            }
            RequestKind::Run(run) => {
                if session.waiting.is_some() || run.number == 0 {
                    return Err(WireFault::refused("one program after the other, counted from 1"));
                }
                if session.programs.get(&run.program).is_none() {
                    return Err(WireFault::refused("got the hash of a program that was not sent"));
                }
                let ranks = (0..session.hosts.len() as u64).collect();
                session.waiting = Some(Waiting::new(run.number, session.spent, ranks));
                OrderKind::Run(wire::RunRequest { session: id, ..run })
            }
            RequestKind::Free(free) => OrderKind::Free(wire::FreeArrays { session: id, ..free }),
            RequestKind::Threads(one) => {
                OrderKind::Threads(wire::SetThreads { session: id, ..one })
            }
            RequestKind::Counts(_) => {
                self.count(id, true);
                return Ok(());
            }
            RequestKind::Open(_) | RequestKind::Status(_) => return Ok(()),
        };
        let much = session.spent - session.taken > u64::from(WINDOW / 2);
        for worker in distinct(&session.hosts.clone()) {
            self.order(worker, order.clone());
        }
        if much {
            self.count(id, false);
        }
        Ok(())
    }

    fn open(&mut self, id: u64, open: &wire::OpenSession, cost: u64) -> Result<(), WireFault> {
        if open.version != VERSION {
            let got = open.version;
            let text = format!("got a client of version {got}, expected version {VERSION}");
            return Err(WireFault::refused(text));
        }
        if self.clients.get(&id).is_none_or(|client| client.session.is_some()) {
            return Err(WireFault::refused("the session is open already"));
        }
        let ready =
            self.workers.iter().filter_map(|(id, one)| Some((*id, one.registration.as_ref()?)));
        let ready: Vec<(u64, &Registration)> = ready.collect();
        let hosts = assign_hosts(&ready, open.ranks)?;
        let of = |worker: &u64| {
            ready.iter().find(|(id, _)| id == worker).map(|(_, registration)| *registration)
        };
        let places: Vec<wire::RankHost> = hosts
            .iter()
            .filter_map(of)
            .map(|registration| wire::RankHost {
                worker: registration.name.clone(),
                data_address: registration.data_address.clone(),
            })
            .collect();
        // Every rank has what the poorest has: all ranks have to refuse the same programs.
        let share = |worker: &u64| {
            let beside = hosts.iter().filter(|other| *other == worker).count() as u64;
            self.workers.get(worker).map_or(0, |one| one.memory / beside.max(1))
        };
        let memory = hosts.iter().map(share).min().unwrap_or(0);
        let random = |error: pantile_comm_net::NetError| WireFault::refused(error.to_string());
        let world = random_id().map_err(random)?.to_le_bytes().to_vec();
        let secret = Secret::random().map_err(random)?.as_bytes().to_vec();
        let joins: Vec<(u64, wire::Join)> = distinct(&hosts)
            .into_iter()
            .map(|worker| {
                let own = (0..).zip(&hosts).filter(|(_, host)| **host == worker);
                let own = own.map(|(rank, _)| rank).collect();
                let (world, secret, hosts) = (world.clone(), secret.clone(), places.clone());
                (worker, wire::Join { session: id, world, secret, own, hosts, memory })
            })
            .collect();
        let opened = wire::SessionOpened { session: id, world, secret, hosts: places };
        let left = (0..hosts.len() as u64).collect();
        let waiting = Some(Waiting::new(0, cost, left));
        let (programs, tally) = (BoundedCache::new(wire::PROGRAMS_MAX, usize::MAX), None);
        let (spent, taken) = (cost, 0);
        if let Some(client) = self.clients.get_mut(&id) {
            let session = ClientSession { hosts, opened, programs, waiting, tally, spent, taken };
            client.session = Some(session);
        }
        for (worker, join) in joins {
            self.order(worker, OrderKind::Join(join));
        }
        Ok(())
    }

    fn status(&self) -> wire::ClusterStatus {
        let workers = self.workers.values().filter_map(|worker| {
            let registration = worker.registration.as_ref()?;
            Some(wire::WorkerStatus {
                name: registration.name.clone(),
                data_address: registration.data_address.clone(),
                memory: worker.memory,
                stored: worker.heartbeat.stored,
                sessions: worker.heartbeat.sessions,
                lowered: worker.heartbeat.lowered,
                refused: worker.heartbeat.refused,
            })
        });
        let sessions = self.clients.values().filter(|client| client.session.is_some()).count();
        let (workers, refused) = (workers.collect(), self.refusals.count());
        wire::ClusterStatus { workers, sessions: sessions as u64, refused }
    }
}

/// Why a worker is not wanted, if it is not.
fn rejection(registration: &Registration) -> Option<String> {
    let (version, name, address) =
        (registration.version, registration.name.len(), registration.data_address.len());
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

/// The fault that says most: refusals of all, then a rank that failed by itself, then those that
/// were told.
fn main_fault(faults: Vec<WireFault>) -> Option<WireFault> {
    let weight = |fault: &WireFault| match (fault.kind(), fault.cause()) {
        (FaultKind::Refused, _) => 0,
        (_, FaultCause::Own) => 1,
        (_, FaultCause::NotConnected) => 2,
        (_, FaultCause::Other) => 3,
    };
    faults.into_iter().min_by_key(weight)
}

#[cfg(test)]
mod tests;
