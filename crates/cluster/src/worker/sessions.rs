//! What a worker does for clients: each has ranks of its own here, and nothing of others.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pantile_comm::{Options, RankError};
use pantile_comm_net::{Greeting, Hub, NetError, Seat as NetSeat, Secret};
use pantile_engine::{ArrayId, Job, Scheme};
use pantile_ir::Scalar;
use tokio::sync::mpsc;

use super::account::{Account, Purse};
use super::rank::{self, Means};
use super::seat::{Seat, Task};
use super::shelf::{Prepared, Shelf};
use crate::recent::Recent;
use crate::refusals::Refusals;
use crate::wire::{self, Fault, Say, order, say};

/// Most clients that a worker serves at a time.
const SESSIONS_MAX: usize = 1024;

/// Most bytes of texts of programs that a session names at a time.
const TEXTS_MAX: usize = 64 << 20;

/// Most ranks at a worker, those that are about to end included: each is a thread.
const RANKS_MAX: usize = 2048;

/// Most orders of a client that wait for a program to be lowered; then everybody waits. The
/// coordinator lets no client come so far.
const LATER_MAX: usize = 1024;

/// Most connections for elements that a session has at a worker, beside two for every rank there:
/// each is a thread.
const VISITS_MAX: usize = 64;

/// Where a worker says what it has to say.
pub(crate) type Says = mpsc::Sender<Say>;

/// All clients of a worker.
pub(crate) struct Sessions {
    hub: Arc<Hub>,
    options: Options,
    scheme: Scheme,
    shelf: Shelf,
    open: Mutex<BTreeMap<u64, Arc<Session>>>,
    /// The memory of all clients together, and how much it is unless a coordinator says less.
    purse: Arc<Purse>,
    memory: u64,
    /// What the coordinator calls this worker.
    name: Mutex<Arc<str>>,
    pub(crate) refusals: Arc<Refusals>,
}

/// What one client has here.
pub(crate) struct Session {
    world: u128,
    secret: Secret,
    pub(crate) seats: BTreeMap<u64, Seat>,
    ranks: usize,
    /// Bytes that each rank may use.
    memory: u64,
    /// Programs by their hashes, or why they were refused.
    programs: Mutex<Recent<u128, Result<Arc<Prepared>, String>>>,
    /// Orders that wait for a program that is being lowered; nothing if none is.
    later: Mutex<Option<VecDeque<order::What>>>,
    /// One for everybody who is connected.
    visits: Arc<()>,
}

impl Sessions {
    /// Nobody yet; all together may use so many bytes.
    pub(crate) fn new(
        hub: Arc<Hub>,
        (options, scheme): (Options, Scheme),
        memory: u64,
        refusals: Arc<Refusals>,
    ) -> Arc<Self> {
        let (shelf, open, purse) = (Shelf::default(), Mutex::default(), Purse::new(memory));
        let name = Mutex::new(Arc::from(""));
        Arc::new(Self { hub, options, scheme, shelf, open, purse, memory, name, refusals })
    }

    /// The session that a dialler may speak to.
    pub(crate) fn admitted(&self, greeting: &Greeting) -> Option<Arc<Session>> {
        let open = lock(&self.open);
        let known = open.values().find(|session| session.world == greeting.id)?;
        known.secret.matches(&greeting.secret).then(|| Arc::clone(known))
    }

    /// A sign of life with what there is here.
    pub(crate) fn beat(&self) -> Say {
        let open = lock(&self.open);
        let seats = open.values().flat_map(|session| session.seats.values());
        let (stored, sessions) =
            (seats.map(|seat| seat.account().stored()).sum(), open.len() as u64);
        let lowered = self.shelf.lowered();
        let refused = self.refusals.count();
        said(say::What::Beat(wire::Beat { stored, sessions, lowered, refused }))
    }

    /// Ends everything, because nobody gives orders any more.
    pub(crate) fn end(&self) {
        let open = std::mem::take(&mut *lock(&self.open));
        open.values().for_each(|session| session.end());
    }

    /// Does what is ordered, or starts it; gives what has to be said at once, the rest follows. A
    /// program that is new is lowered beside, and what its client orders meanwhile waits for that;
    /// other clients do not. Never blocks: an order too many of a client that waits is given back.
    pub(crate) fn obey(
        self: &Arc<Self>,
        what: order::What,
        says: &Says,
    ) -> Result<Vec<Say>, Box<order::What>> {
        let session = session_of(&what).and_then(|number| self.session(number));
        let Some(session) = session else { return Ok(self.act(what, says)) };
        let mut later = lock(&session.later);
        match &mut *later {
            Some(queue) if queue.len() >= LATER_MAX => return Err(Box::new(what)),
            Some(queue) => queue.push_back(what),
            None if self.is_known(&what) => {
                drop(later);
                return Ok(self.act(what, says));
            }
            None => {
                *later = Some(VecDeque::from([what]));
                drop(later);
                let (own, same, out) = (Arc::clone(self), Arc::clone(&session), says.clone());
                let work = move || own.catch_up(&same, &out, |say| tell(&out, say));
                let thread = std::thread::Builder::new().name("lowering".to_owned()).spawn(work);
                if thread.is_err() {
                    // No thread is to be had: everybody waits.
                    let mut answers = Vec::new();
                    self.catch_up(&session, says, |say| answers.push(say));
                    return Ok(answers);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Does what waits, in order, until nothing does.
    fn catch_up(&self, session: &Session, says: &Says, mut answer: impl FnMut(Say)) {
        loop {
            let mut later = lock(&session.later);
            let Some(what) = later.as_mut().and_then(VecDeque::pop_front) else {
                *later = None;
                return;
            };
            drop(later);
            self.act(what, says).into_iter().for_each(&mut answer);
        }
    }

    /// False for a program that has to be lowered.
    fn is_known(&self, what: &order::What) -> bool {
        match what {
            order::What::Program(program) => {
                self.shelf.find(hash_of(&program.hash), &program.text).is_some()
            }
            _ => true,
        }
    }

    fn act(&self, what: order::What, says: &Says) -> Vec<Say> {
        match what {
            order::What::Welcome(name) => {
                *lock(&self.name) = name.into();
                self.purse.set_limit(self.memory);
            }
            order::What::Memory(bytes) => self.purse.set_limit(bytes),
            order::What::Join(join) => return self.join(join, says),
            order::What::Program(program) => self.program(&program),
            order::What::Run(run) => return self.run(&run, says),
            order::What::Free(free) => self.each(free.session, |_, seat| {
                seat.give(Task::Free(ids(&free.arrays)));
            }),
            order::What::Threads(one) => self.each(one.session, |_, seat| {
                let threads = usize::try_from(one.threads).unwrap_or(usize::MAX);
                seat.give(Task::Threads(threads));
            }),
            order::What::Counts(of) => self.counts(of.session, says),
            order::What::Leave(of) => {
                let gone = lock(&self.open).remove(&of.session);
                gone.iter().for_each(|session| session.end());
            }
        }
        Vec::new()
    }

    fn session(&self, number: u64) -> Option<Arc<Session>> {
        lock(&self.open).get(&number).cloned()
    }

    fn each(&self, number: u64, f: impl Fn(u64, &Seat)) {
        if let Some(session) = self.session(number) {
            session.seats.iter().for_each(|(rank, seat)| f(*rank, seat));
        }
    }

    fn join(&self, join: wire::Join, says: &Says) -> Vec<Say> {
        let own = join.own.clone();
        let number = join.session;
        let Err(reason) = self.try_join(join, says) else { return Vec::new() };
        let fault = || Some(Fault::execution("", reason.clone()));
        own.into_iter().map(|rank| done(number, 0, rank, fault())).collect()
    }

    fn try_join(&self, join: wire::Join, says: &Says) -> Result<(), String> {
        let secret = <[u8; 32]>::try_from(&join.secret[..]).map_err(|_| "a secret of 32 bytes")?;
        let world = <[u8; 16]>::try_from(&join.world[..]).map_err(|_| "a world of 16 bytes")?;
        let (secret, world) = (Secret::from_bytes(secret), u128::from_le_bytes(world));
        let addresses: Vec<String> =
            join.seats.iter().map(|seat| seat.data_address.clone()).collect();
        let names: Arc<[String]> = join.seats.iter().map(|seat| seat.worker.clone()).collect();
        if lock(&self.open).len() >= SESSIONS_MAX {
            return Err(format!("this worker has {SESSIONS_MAX} clients already"));
        }
        if self.purse.accounts() + join.own.len() > RANKS_MAX {
            return Err(format!("this worker can have {RANKS_MAX} ranks at a time"));
        }
        let mut seats = BTreeMap::new();
        for rank in &join.own {
            let place = usize::try_from(*rank).ok().filter(|rank| *rank < addresses.len());
            let place = place.ok_or("a rank that the world does not have")?;
            let (addresses, secret) = (addresses.clone(), secret.clone());
            let seat = NetSeat { world, secret, rank: place, addresses };
            let (says, session, rank) = (says.clone(), join.session, *rank);
            let names = Arc::clone(&names);
            let joined = move |fault: Option<NetError>| {
                let fault = fault.map(|error| Fault::execution("", apart(&error, &names)));
                tell(&says, done(session, 0, rank, fault));
            };
            let hub = Arc::clone(&self.hub);
            let how = (self.options.clone(), self.scheme);
            let means = self.means(join.memory)?;
            seats.insert(rank, Seat::start(hub, seat, how, means, joined)?);
        }
        let (ranks, memory) = (addresses.len(), join.memory);
        let programs = Mutex::new(Recent::new(wire::PROGRAMS_MAX, TEXTS_MAX));
        let (later, visits) = (Mutex::default(), Arc::default());
        let session = Session { world, secret, seats, ranks, memory, programs, later, visits };
        lock(&self.open).insert(join.session, Arc::new(session));
        Ok(())
    }

    /// The memory of a new rank, if there is some.
    fn means(&self, memory: u64) -> Result<Means, String> {
        let account = Account::new(&self.purse, memory);
        let window = account.promise(rank::window(memory));
        let window = window.map_err(|short| format!("a new session {short}"))?;
        Ok(Means { account, window, worker: Arc::clone(&lock(&self.name)) })
    }

    fn program(&self, program: &wire::Program) {
        let Some(session) = self.session(program.session) else { return };
        let hash = hash_of(&program.hash);
        let limits = (session.ranks, session.memory);
        // Whatever a stranger's text does to the compiler, the worker goes on.
        let prepared = RankError::catch(|| self.shelf.prepare(hash, &program.text, limits));
        let prepared = prepared.map_err(|error| error.to_string());
        if let Err(reason) = &prepared {
            let whom = format!("a program of client {}", program.session);
            self.refusals.note(&whom, reason);
        }
        lock(&session.programs).insert(hash, prepared, program.text.len());
    }

    /// Has a program run; says which ranks will not.
    fn run(&self, run: &wire::Run, says: &Says) -> Vec<Say> {
        let Some(session) = self.session(run.session) else { return Vec::new() };
        let (of, number) = (run.session, run.number);
        let job = session.job(hash_of(&run.program), run);
        let start = |(rank, seat): (&u64, &Seat)| {
            let (says, rank) = (says.clone(), *rank);
            let fault = match &job {
                Err(reason) => {
                    // It will not run, but what was thrown away before is not needed either.
                    seat.give(Task::Free(ids(&run.forget)));
                    Fault::refused(reason.clone())
                }
                Ok((job, most)) => {
                    let answer = move |fault| tell(&says, done(of, number, rank, fault));
                    if seat.give(Task::Run(Arc::clone(job), *most, Box::new(answer))) {
                        return None;
                    }
                    Fault::execution("", "the rank is not there any more")
                }
            };
            Some(done(of, number, rank, Some(fault)))
        };
        session.seats.iter().filter_map(start).collect()
    }

    fn counts(&self, number: u64, says: &Says) {
        self.each(number, |rank, seat| {
            let says = says.clone();
            seat.give(Task::Counts(Box::new(move |counters, stored| {
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
                tell(&says, said(say::What::Counts(counts)));
            })));
        });
    }
}

impl Session {
    /// Lets one more connection in, as long as what it gets is there; nothing if there are too many.
    pub(crate) fn enter(&self) -> Option<Arc<()>> {
        let visit = Arc::clone(&self.visits);
        let visits = Arc::strong_count(&visit) - 1;
        (visits <= VISITS_MAX + 2 * self.seats.len()).then_some(visit)
    }

    /// Ends all ranks, whoever still waits for one of them.
    fn end(&self) {
        self.seats.values().for_each(Seat::end);
    }

    /// The job of a run and the most bytes that it needs on any rank, or why there is none: every
    /// worker decides the same.
    fn job(&self, key: u128, run: &wire::Run) -> Result<(Arc<Job>, u64), String> {
        let known = lock(&self.programs).get(&key).cloned();
        let prepared = known.ok_or("a program that was not sent")??;
        let numbers: Option<Vec<Scalar>> = run
            .numbers
            .iter()
            .map(|number| Scalar::from_bytes(number.dtype.parse().ok()?, &number.bytes))
            .collect();
        let (got, takes) =
            (run.numbers.len() + run.arguments.len(), prepared.executable.arguments.len());
        let (named, made) = (run.results.len(), prepared.executable.results.len());
        if got != takes || named != made {
            return Err(format!(
                "got {got} arguments and {named} results, expected {takes} and {made}"
            ));
        }
        let job = Job {
            executable: Arc::clone(&prepared.executable),
            recipe: Arc::clone(&prepared.recipe),
            key,
            parameters: numbers.ok_or("a number that is none")?,
            arguments: ids(&run.arguments),
            results: ids(&run.results),
            forget: ids(&run.forget),
            inline: false,
        };
        Ok((Arc::new(job), prepared.most))
    }
}

/// The client whose orders come one after the other.
fn session_of(what: &order::What) -> Option<u64> {
    match what {
        order::What::Program(program) => Some(program.session),
        order::What::Run(run) => Some(run.session),
        order::What::Free(free) => Some(free.session),
        order::What::Threads(one) => Some(one.session),
        order::What::Counts(of) => Some(of.session),
        order::What::Welcome(_)
        | order::What::Memory(_)
        | order::What::Join(_)
        | order::What::Leave(_) => None,
    }
}

/// What the side that waits to be dialled says: it knows less than the side that dials.
pub(crate) const NOT_DIALLED: &str = "was not dialled by";

/// Why a rank did not come together with the others of its world, in the names of workers.
fn apart(error: &NetError, names: &[String]) -> String {
    let NetError::Absent { rank, address, waited, reason, dialled } = error else {
        return error.to_string();
    };
    let (name, seconds) = (names.get(*rank).map_or("", String::as_str), waited.as_secs());
    match dialled {
        true => format!(
            "cannot reach worker `{name}` (rank {rank}) at {address} within {seconds} s: {reason}"
        ),
        false => format!("{NOT_DIALLED} worker `{name}` (rank {rank}) within {seconds} s"),
    }
}

fn ids(list: &[u64]) -> Vec<ArrayId> {
    list.iter().copied().map(ArrayId).collect()
}

/// The number of a hash; what is no hash is nobody's.
fn hash_of(bytes: &[u8]) -> u128 {
    <[u8; 16]>::try_from(bytes).map_or(0, u128::from_le_bytes)
}

fn done(session: u64, number: u64, rank: u64, fault: Option<Fault>) -> Say {
    said(say::What::Done(wire::Done { session, number, rank, fault }))
}

fn said(what: say::What) -> Say {
    Say { what: Some(what) }
}

/// Says something from a thread that may wait; if nobody listens any more, nobody wants to know.
fn tell(says: &Says, say: Say) {
    let _ = says.blocking_send(say);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use pantile_testkit::timing::soon;

    use pantile_comm_net::{HubOptions, Security};
    use pantile_geometry::Fingerprint;

    use super::*;

    #[test]
    fn orders_wait_for_programs_of_their_own_client_only() {
        let hub = Hub::listen("127.0.0.1:0", Security::Plain, HubOptions::default()).unwrap();
        let how = (Options::default(), Scheme::default());
        let sessions = Sessions::new(hub, how, 1 << 20, Refusals::new(None));
        let (says, _said) = mpsc::channel(8);
        let session = || {
            Arc::new(Session {
                world: 1,
                secret: Secret::random().unwrap(),
                seats: BTreeMap::new(),
                ranks: 2,
                memory: 1 << 20,
                programs: Mutex::new(Recent::new(9, 1 << 20)),
                later: Mutex::default(),
                visits: Arc::default(),
            })
        };
        let (one, other) = (session(), session());
        lock(&sessions.open).extend([(1, Arc::clone(&one)), (2, Arc::clone(&other))]);
        let order = |session: u64, length: usize| {
            let text = format!(
                "move f64 on 2 ranks\nfrom {length} on r=2: block(r)\nto {length} on r=2: whole\n"
            );
            let hash = Fingerprint::of(&text).0.to_le_bytes().to_vec();
            let program = order::What::Program(wire::Program { session, hash, text });
            sessions.obey(program, &says).is_ok()
        };
        let known = |session: &Session| lock(&session.programs).len();
        // The first client has a program that takes for ever.
        *lock(&one.later) = Some(VecDeque::new());
        assert!(order(1, 8) && order(1, 9) && order(2, 8));
        let over = || known(&other) > 0 && lock(&other.later).is_none();
        soon("the second client", || over().then_some(()));
        assert_eq!((known(&one), known(&other)), (0, 1));
        // So many may wait and no more; who gives orders is never blocked.
        let taken = (2..LATER_MAX + 5).filter(|_| order(1, 9)).count();
        assert_eq!(taken, LATER_MAX - 2);
        // It has come to its end.
        sessions.catch_up(&one, &says, |_| {});
        assert_eq!((known(&one), lock(&one.later).is_some()), (2, false));
        // What was lowered before is taken at once.
        assert!(order(2, 9));
        assert_eq!(known(&other), 2);
        assert_eq!(sessions.shelf.lowered(), 2);
    }
}
