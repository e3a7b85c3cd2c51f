//! What a worker does for clients: each has ranks of its own here, and nothing of others.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pantile_comm::{Options, RankError};
use pantile_comm_net::{Handshake, JoinConfig, Listener, NetError, Secret};
use pantile_engine::{ArrayId, BoundedCache, Job, Scheme};
use pantile_ir::Scalar;
use tokio::sync::mpsc;

use super::error::{JobError, JoinError, ProgramError};
use super::hosted_rank::{self, RankResources};
use super::program_cache::{LoweredProgram, ProgramCache};
use super::quota::{MemoryBudget, MemoryQuota};
use super::rank_thread::{RankTask, RankThread};
use crate::refusals::Refusals;
use crate::wire::{self, FaultCause, OrderKind, ReportKind, WireFault, WorkerReport};

/// Most clients that a worker serves at a time.
const SESSIONS_MAX: usize = 1024;

/// Most bytes of texts of programs that a session names at a time.
const TEXTS_MAX: usize = 64 << 20;

/// Most ranks at a worker, those that are about to end included: each is a thread.
const RANKS_MAX: usize = 2048;

/// Most orders of a client that wait for a program to be lowered; then all clients wait. The
/// coordinator lets no client come so far.
const DEFERRED_MAX: usize = 1024;

/// Most connections for elements that a session has at a worker, beside two for every rank there:
/// each is a thread.
const CONNECTIONS_MAX: usize = 64;

/// Where the reports of a worker go.
pub(crate) type ReportSender = mpsc::Sender<WorkerReport>;

/// A program, or why it was refused.
type PreparedProgram = Result<Arc<LoweredProgram>, RankError<ProgramError>>;

/// All clients of a worker.
pub(crate) struct Sessions {
    data_listener: Arc<Listener>,
    options: Options,
    scheme: Scheme,
    program_cache: ProgramCache,
    open: Mutex<BTreeMap<u64, Arc<HostedSession>>>,
    /// The memory of all clients together, and how much it is unless a coordinator says less.
    budget: Arc<MemoryBudget>,
    memory: u64,
    /// What the coordinator calls this worker.
    name: Mutex<Arc<str>>,
    pub(crate) refusals: Arc<Refusals>,
}

/// What one client has here.
pub(crate) struct HostedSession {
    world: u128,
    secret: Secret,
    pub(crate) rank_threads: BTreeMap<u64, RankThread>,
    ranks: usize,
    /// Bytes that each rank may use.
    memory: u64,
    /// Programs by their hashes, or why they were refused.
    programs: Mutex<BoundedCache<u128, PreparedProgram>>,
    /// Orders that wait for a program that is being lowered; nothing if none is.
    deferred: Mutex<Option<VecDeque<OrderKind>>>,
    /// One reference for each connection.
    connections: Arc<()>,
}

impl Sessions {
    /// No client yet; all together may use so many bytes.
    pub(crate) fn new(
        data_listener: Arc<Listener>,
        (options, scheme): (Options, Scheme),
        memory: u64,
        refusals: Arc<Refusals>,
    ) -> Arc<Self> {
        let (program_cache, open, budget) =
            (ProgramCache::default(), Mutex::default(), MemoryBudget::new(memory));
        let name = Mutex::new(Arc::from(""));
        Arc::new(Self {
            data_listener,
            options,
            scheme,
            program_cache,
            open,
            budget,
            memory,
            name,
            refusals,
        })
    }

    /// The session that a handshake admits to.
    pub(crate) fn admitted(&self, handshake: &Handshake) -> Option<Arc<HostedSession>> {
        let open = lock(&self.open);
        let known = open.values().find(|session| session.world == handshake.id)?;
        known.secret.matches(&handshake.secret).then(|| Arc::clone(known))
    }

    /// A heartbeat with what there is here.
    pub(crate) fn heartbeat(&self) -> WorkerReport {
        let open = lock(&self.open);
        let rank_threads = open.values().flat_map(|session| session.rank_threads.values());
        let (stored, sessions) =
            (rank_threads.map(|rank_thread| rank_thread.quota().stored()).sum(), open.len() as u64);
        let lowered = self.program_cache.lowered();
        let refused = self.refusals.count();
        report(ReportKind::Heartbeat(wire::Heartbeat { stored, sessions, lowered, refused }))
    }

    /// Ends everything, because the coordinator is gone.
    pub(crate) fn end(&self) {
        let open = std::mem::take(&mut *lock(&self.open));
        open.values().for_each(|session| session.end());
    }

    /// Does what is ordered, or starts it; gives what has to be said at once, the rest follows. A
    /// program that is new is lowered beside, and what its client orders meanwhile waits for that;
    /// other clients do not. Never blocks: an order too many of a client that waits is given back.
    pub(crate) fn execute_order(
        self: &Arc<Self>,
        kind: OrderKind,
        reports: &ReportSender,
    ) -> Result<Vec<WorkerReport>, Box<OrderKind>> {
        let session = session_of(&kind).and_then(|number| self.session(number));
        let Some(session) = session else { return Ok(self.execute(kind, reports)) };
        let mut deferred = lock(&session.deferred);
        match &mut *deferred {
            Some(queue) if queue.len() >= DEFERRED_MAX => return Err(Box::new(kind)),
            Some(queue) => queue.push_back(kind),
            None if self.is_known(&kind) => {
                drop(deferred);
                return Ok(self.execute(kind, reports));
            }
            None => {
                *deferred = Some(VecDeque::from([kind]));
                drop(deferred);
                let (own, same, out) = (Arc::clone(self), Arc::clone(&session), reports.clone());
                let work =
                    move || own.run_deferred(&same, &out, |report| send_report(&out, report));
                let thread = std::thread::Builder::new().name("lowering".to_owned()).spawn(work);
                if thread.is_err() {
                    // The system gives no thread: all clients wait.
                    let mut reports_now = Vec::new();
                    self.run_deferred(&session, reports, |report| reports_now.push(report));
                    return Ok(reports_now);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Does what waits, in order, until nothing does.
    fn run_deferred(
        &self,
        session: &HostedSession,
        reports: &ReportSender,
        mut answer: impl FnMut(WorkerReport),
    ) {
        loop {
            let mut deferred = lock(&session.deferred);
            let Some(kind) = deferred.as_mut().and_then(VecDeque::pop_front) else {
                *deferred = None;
                return;
            };
            drop(deferred);
            self.execute(kind, reports).into_iter().for_each(&mut answer);
        }
    }

    /// False for a program that has to be lowered.
    fn is_known(&self, kind: &OrderKind) -> bool {
        match kind {
            OrderKind::Program(program) => {
                self.program_cache.find(hash_of(&program.hash), &program.text).is_some()
            }
            _ => true,
        }
    }

    fn execute(&self, kind: OrderKind, reports: &ReportSender) -> Vec<WorkerReport> {
        match kind {
            OrderKind::Welcome(name) => {
                *lock(&self.name) = name.into();
                self.budget.set_limit(self.memory);
            }
            OrderKind::Memory(bytes) => self.budget.set_limit(bytes),
            OrderKind::Join(join) => return self.join(join, reports),
            OrderKind::Program(program) => self.program(&program),
            OrderKind::Run(run) => return self.run(&run, reports),
            OrderKind::Free(free) => self.each(free.session, |_, rank_thread| {
                rank_thread.give(RankTask::Free(ids(&free.arrays)));
            }),
            OrderKind::Threads(one) => self.each(one.session, |_, rank_thread| {
                let threads = usize::try_from(one.threads).unwrap_or(usize::MAX);
                rank_thread.give(RankTask::Threads(threads));
            }),
            OrderKind::Counts(of) => self.counts(of.session, reports),
            OrderKind::Leave(of) => {
                let gone = lock(&self.open).remove(&of.session);
                gone.iter().for_each(|session| session.end());
            }
        }
        Vec::new()
    }

    fn session(&self, number: u64) -> Option<Arc<HostedSession>> {
        lock(&self.open).get(&number).cloned()
    }

    fn each(&self, number: u64, f: impl Fn(u64, &RankThread)) {
        if let Some(session) = self.session(number) {
            session.rank_threads.iter().for_each(|(rank, rank_thread)| f(*rank, rank_thread));
        }
    }

    fn join(&self, join: wire::Join, reports: &ReportSender) -> Vec<WorkerReport> {
        let own = join.own.clone();
        let number = join.session;
        let Err(error) = self.try_join(join, reports) else { return Vec::new() };
        let fault = || Some(WireFault::execution("", error.to_string()));
        own.into_iter().map(|rank| done(number, 0, rank, fault())).collect()
    }

    fn try_join(&self, join: wire::Join, reports: &ReportSender) -> Result<(), JoinError> {
        let secret = <[u8; 32]>::try_from(&join.secret[..]).map_err(|_| JoinError::Secret)?;
        let world = <[u8; 16]>::try_from(&join.world[..]).map_err(|_| JoinError::World)?;
        let (secret, world) = (Secret::from_bytes(secret), u128::from_le_bytes(world));
        let addresses: Vec<String> =
            join.hosts.iter().map(|host| host.data_address.clone()).collect();
        let names: Arc<[String]> = join.hosts.iter().map(|host| host.worker.clone()).collect();
        if lock(&self.open).len() >= SESSIONS_MAX {
            return Err(JoinError::TooManyClients { limit: SESSIONS_MAX });
        }
        if self.budget.quotas() + join.own.len() > RANKS_MAX {
            return Err(JoinError::TooManyRanks { limit: RANKS_MAX });
        }
        let mut rank_threads = BTreeMap::new();
        for rank in &join.own {
            let place = usize::try_from(*rank).ok().filter(|rank| *rank < addresses.len());
            let place = place.ok_or(JoinError::NoSuchRank)?;
            let (addresses, secret) = (addresses.clone(), secret.clone());
            let config = JoinConfig { world, secret, rank: place, addresses };
            let (reports, session, rank) = (reports.clone(), join.session, *rank);
            let names = Arc::clone(&names);
            let joined = move |fault: Option<NetError>| {
                let fault = fault.map(|error| join_fault(&error, &names));
                send_report(&reports, done(session, 0, rank, fault));
            };
            let data_listener = Arc::clone(&self.data_listener);
            let how = (self.options.clone(), self.scheme);
            let resources = self.resources(join.memory)?;
            rank_threads
                .insert(rank, RankThread::start(data_listener, config, how, resources, joined)?);
        }
        let (ranks, memory) = (addresses.len(), join.memory);
        let programs = Mutex::new(BoundedCache::new(wire::PROGRAMS_MAX, TEXTS_MAX));
        let (deferred, connections) = (Mutex::default(), Arc::default());
        let session = HostedSession {
            world,
            secret,
            rank_threads,
            ranks,
            memory,
            programs,
            deferred,
            connections,
        };
        lock(&self.open).insert(join.session, Arc::new(session));
        Ok(())
    }

    /// The memory of a new rank, if there is some.
    fn resources(&self, memory: u64) -> Result<RankResources, JoinError> {
        let quota = MemoryQuota::new(&self.budget, memory);
        let reserve = quota.reserve(hosted_rank::reserve_bytes(memory));
        let reserve = reserve.map_err(JoinError::Shortage)?;
        Ok(RankResources { quota, reserve, worker: Arc::clone(&lock(&self.name)) })
    }

    fn program(&self, program: &wire::ProgramText) {
        let Some(session) = self.session(program.session) else { return };
        let hash = hash_of(&program.hash);
        let limits = (session.ranks, session.memory);
        // Whatever a client's text does to the compiler, the worker goes on.
        let prepared = RankError::catch(|| self.program_cache.prepare(hash, &program.text, limits));
        if let Err(error) = &prepared {
            let whom = format!("a program of client {}", program.session);
            self.refusals.note(&whom, error);
        }
        lock(&session.programs).insert(hash, prepared, program.text.len());
    }

    /// Has a program run; says which ranks will not.
    fn run(&self, run: &wire::RunRequest, reports: &ReportSender) -> Vec<WorkerReport> {
        let Some(session) = self.session(run.session) else { return Vec::new() };
        let (of, number) = (run.session, run.number);
        let job = session.job(hash_of(&run.program), run);
        let start = |(rank, rank_thread): (&u64, &RankThread)| {
            let (reports, rank) = (reports.clone(), *rank);
            let fault = match &job {
                Err(error) => {
                    // It will not run, but what was thrown away before is not needed either.
                    rank_thread.give(RankTask::Free(ids(&run.forget)));
                    WireFault::refused(error.to_string())
                }
                Ok((job, most)) => {
                    let answer = move |fault| send_report(&reports, done(of, number, rank, fault));
                    if rank_thread.give(RankTask::Run(Arc::clone(job), *most, Box::new(answer))) {
                        return None;
                    }
                    WireFault::execution("", "the rank is not there any more")
                }
            };
            Some(done(of, number, rank, Some(fault)))
        };
        session.rank_threads.iter().filter_map(start).collect()
    }

    fn counts(&self, number: u64, reports: &ReportSender) {
        self.each(number, |rank, rank_thread| {
            let reports = reports.clone();
            rank_thread.give(RankTask::Counts(Box::new(move |counters, stored| {
                let counts = wire::Counts {
                    session: number,
                    rank,
                    compiled: counters.compiled,
                    runs: counters.runs,
                    messages: counters.messages,
                    bytes: counters.bytes,
                    programs: counters.programs,
                    stored,
                };
                send_report(&reports, report(ReportKind::Counts(counts)));
            })));
        });
    }
}

impl HostedSession {
    /// Lets one more connection in, as long as what it gets is there; nothing if there are too
    /// many.
    pub(crate) fn enter(&self) -> Option<Arc<()>> {
        let connection = Arc::clone(&self.connections);
        let connections = Arc::strong_count(&connection) - 1;
        (connections <= CONNECTIONS_MAX + 2 * self.rank_threads.len()).then_some(connection)
    }

    /// Ends all ranks, also if requests still wait for one of them.
    fn end(&self) {
        self.rank_threads.values().for_each(RankThread::end);
    }

    /// The job of a run and the most bytes that it needs on any rank, or why there is none: every
    /// worker decides the same.
    fn job(&self, key: u128, run: &wire::RunRequest) -> Result<(Arc<Job>, u64), JobError> {
        let known = lock(&self.programs).get(&key).cloned();
        let prepared = known.ok_or(JobError::UnknownProgram)?.map_err(JobError::Program)?;
        let numbers: Option<Vec<Scalar>> = run
            .numbers
            .iter()
            .map(|number| Scalar::from_bytes(number.dtype.parse().ok()?, &number.bytes))
            .collect();
        let (got, takes) =
            (run.numbers.len() + run.arguments.len(), prepared.executable.arguments.len());
        let (named, made) = (run.results.len(), prepared.executable.results.len());
        if got != takes || named != made {
            return Err(JobError::Counts { got, takes, named, made });
        }
        let job = Job {
            executable: Arc::clone(&prepared.executable),
            unit: Arc::clone(&prepared.unit),
            key,
            parameters: numbers.ok_or(JobError::Number)?,
            arguments: ids(&run.arguments).into(),
            results: ids(&run.results).into(),
            forget: ids(&run.forget).into(),
            inline: false,
        };
        Ok((Arc::new(job), prepared.most))
    }
}

/// The client whose orders come one after the other.
fn session_of(kind: &OrderKind) -> Option<u64> {
    match kind {
        OrderKind::Program(program) => Some(program.session),
        OrderKind::Run(run) => Some(run.session),
        OrderKind::Free(free) => Some(free.session),
        OrderKind::Threads(one) => Some(one.session),
        OrderKind::Counts(of) => Some(of.session),
        OrderKind::Welcome(_) | OrderKind::Memory(_) | OrderKind::Join(_) | OrderKind::Leave(_) => {
            None
        }
    }
}

/// Why a rank did not come together with the others of its world, in the names of workers.
fn join_fault(error: &NetError, names: &[String]) -> WireFault {
    let NetError::Absent { rank, address, waited, reason, outgoing } = error else {
        return WireFault::execution("", error.to_string());
    };
    let (name, seconds) = (names.get(*rank).map_or("", String::as_str), waited.as_secs());
    match outgoing {
        true => WireFault::execution(
            "",
            format!(
                "cannot reach worker `{name}` (rank {rank}) at {address} within {seconds} s: {reason}"
            ),
        ),
        false => {
            let text =
                format!("was not dialled by worker `{name}` (rank {rank}) within {seconds} s");
            WireFault::execution("", text).caused(FaultCause::NotConnected)
        }
    }
}

fn ids(list: &[u64]) -> Vec<ArrayId> {
    list.iter().copied().map(ArrayId).collect()
}

/// The number of a hash; what is no hash has number 0.
fn hash_of(bytes: &[u8]) -> u128 {
    <[u8; 16]>::try_from(bytes).map_or(0, u128::from_le_bytes)
}

fn done(session: u64, number: u64, rank: u64, fault: Option<WireFault>) -> WorkerReport {
    report(ReportKind::Done(wire::Done { session, number, rank, fault }))
}

fn report(kind: ReportKind) -> WorkerReport {
    WorkerReport { kind: Some(kind) }
}

/// Sends a report from a thread that may wait; a coordinator that is gone does not need it.
fn send_report(reports: &ReportSender, report: WorkerReport) {
    let _ = reports.blocking_send(report);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use pantile_testkit::timing::soon;

    use pantile_comm_net::{ListenerOptions, Security};
    use pantile_geometry::Fingerprint;

    use super::*;

    #[test]
    fn orders_wait_for_programs_of_their_own_client_only() {
        let data_listener =
            Listener::listen("127.0.0.1:0", Security::Plain, ListenerOptions::default()).unwrap();
        let how = (Options::default(), Scheme::default());
        let sessions = Sessions::new(data_listener, how, 1 << 20, Refusals::new(None));
        let (reports, _said) = mpsc::channel(8);
        let session = || {
            Arc::new(HostedSession {
                world: 1,
                secret: Secret::random().unwrap(),
                rank_threads: BTreeMap::new(),
                ranks: 2,
                memory: 1 << 20,
                programs: Mutex::new(BoundedCache::new(9, 1 << 20)),
                deferred: Mutex::default(),
                connections: Arc::default(),
            })
        };
        let (one, other) = (session(), session());
        lock(&sessions.open).extend([(1, Arc::clone(&one)), (2, Arc::clone(&other))]);
        let order = |session: u64, length: usize| {
            let text = format!(
                "move f64 on 2 ranks\nfrom {length} on r=2: block(r)\nto {length} on r=2: whole\n"
            );
            let hash = Fingerprint::of(&text).0.to_le_bytes().to_vec();
            let program = OrderKind::Program(wire::ProgramText { session, hash, text });
            sessions.execute_order(program, &reports).is_ok()
        };
        let known = |session: &HostedSession| lock(&session.programs).len();
        // The first client has a program that takes for ever.
        *lock(&one.deferred) = Some(VecDeque::new());
        assert!(order(1, 8) && order(1, 9) && order(2, 8));
        let ended = || known(&other) > 0 && lock(&other.deferred).is_none();
        soon("the second client", || ended().then_some(()));
        assert_eq!((known(&one), known(&other)), (0, 1));
        // So many may wait and no more; the stream of orders is never blocked.
        let taken = (2..DEFERRED_MAX + 5).filter(|_| order(1, 9)).count();
        assert_eq!(taken, DEFERRED_MAX - 2);
        // It has come to its end.
        sessions.run_deferred(&one, &reports, |_| {});
        assert_eq!((known(&one), lock(&one.deferred).is_some()), (2, false));
        // What was lowered before is taken at once.
        assert!(order(2, 9));
        assert_eq!(known(&other), 2);
        assert_eq!(sessions.program_cache.lowered(), 2);
    }
}
