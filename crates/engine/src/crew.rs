//! Ranks that wait for programs: one caller, and all ranks that this process hosts.
//!
//! With threads the caller is nobody's rank: it gives every rank the same order and waits for all
//! answers. Alone, as one process of a job, the caller is the rank, and every process gives the
//! same orders.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use pantile_comm::threads::Threads;
use pantile_comm::{Call, Communicator, Options, Rank, RankError};
use pantile_ir::lower::Executable;

use crate::{Counters, Engine, Error, Runner, Tile};

/// How long a caller waits before it is asked whether it still wants to.
const LISTEN: Duration = Duration::from_millis(50);

/// Programs that a rank keeps prepared; the oldest go first.
const KEPT: usize = 256;

/// The name of an array that the ranks keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub u64);

/// A program to run on arrays that the ranks keep.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program.
    pub executable: Arc<Executable>,
    /// Equal keys mean equal programs: they are prepared once.
    pub key: u128,
    /// Its arguments.
    pub arguments: Vec<ArrayId>,
    /// The names of its results.
    pub results: Vec<ArrayId>,
    /// Arrays that nobody needs any more, forgotten before it runs.
    pub forget: Vec<ArrayId>,
}

/// Ranks that wait for programs.
pub struct Crew {
    size: usize,
    hands: Hands,
    failure: Option<Error>,
    /// Asked now and then while the caller waits: true if it wants to wait no longer.
    stop: Option<Box<dyn Fn() -> bool + Send>>,
}

enum Hands {
    Threads {
        orders: Vec<Sender<Order>>,
        answers: Receiver<(Rank, Answer)>,
        threads: Vec<JoinHandle<()>>,
        /// Answers that a caller did not wait for.
        owed: usize,
    },
    Alone(Box<Hand>),
}

/// What a rank is asked to do.
enum Order {
    Run(Arc<Job>),
    Put(ArrayId, Arc<Tile>),
    Get(ArrayId),
    Count,
}

/// What a rank says.
enum Answer {
    Done(Result<(), Error>),
    Tile(Option<Arc<Tile>>),
    Counters(Counters),
}

/// One rank at work.
struct Hand {
    engine: Engine,
    store: BTreeMap<ArrayId, Arc<Tile>>,
    runners: Vec<(u128, Runner)>,
    /// The answer to the last order, where the caller is this rank.
    said: Option<Answer>,
}

impl Crew {
    /// So many ranks, each a thread of this process.
    ///
    /// # Panics
    /// If the system has no more threads.
    #[must_use]
    pub fn threads(ranks: usize, options: &Options) -> Self {
        let (said, answers) = channel();
        let (mut orders, mut threads) = (Vec::new(), Vec::new());
        for (rank, transport) in Threads::world(ranks, options).into_iter().enumerate() {
            let (order, ordered) = channel();
            let said = said.clone();
            let work = move || {
                let mut hand = Hand::new(Communicator::new(Box::new(transport)));
                for order in ordered {
                    if said.send((rank, hand.obey(order))).is_err() {
                        return;
                    }
                }
            };
            let thread = std::thread::Builder::new().name(format!("rank {rank}")).spawn(work);
            threads.push(thread.expect("the system has threads"));
            orders.push(order);
        }
        let hands = Hands::Threads { orders, answers, threads, owed: 0 };
        Self { size: ranks, hands, failure: None, stop: None }
    }

    /// The rank that this process is.
    #[must_use]
    pub fn alone(communicator: Communicator) -> Self {
        let size = communicator.size();
        let hands = Hands::Alone(Box::new(Hand::new(communicator)));
        Self { size, hands, failure: None, stop: None }
    }

    /// Asks `stop` about every 50 ms while a program runs on threads: if it says true, the caller
    /// gets [`Error::Interrupted`]. The ranks go on to the end of the program; whoever comes next
    /// waits for that first, so nothing is lost.
    pub fn stop_waiting_if(&mut self, stop: impl Fn() -> bool + Send + 'static) {
        self.stop = Some(Box::new(stop));
    }

    /// Number of ranks of the world.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The ranks that this process hosts.
    #[must_use]
    pub fn hosted(&self) -> Vec<Rank> {
        match &self.hands {
            Hands::Threads { orders, .. } => (0..orders.len()).collect(),
            Hands::Alone(hand) => vec![hand.engine.rank()],
        }
    }

    /// True if ranks look at each other's memory.
    #[must_use]
    pub fn has_windows(&self) -> bool {
        match &self.hands {
            Hands::Threads { .. } => true,
            Hands::Alone(hand) => hand.engine.has_windows(),
        }
    }

    /// Runs a program on all ranks. Collective among processes.
    ///
    /// # Errors
    /// What the first rank that failed has to say; the crew does not work any more then.
    pub fn run(&mut self, job: &Arc<Job>) -> Result<(), Error> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        self.settle()?;
        self.order(|_| Order::Run(Arc::clone(job)));
        let answers = self.answers(true)?;
        let faults = answers.into_iter().filter_map(|answer| match answer {
            Answer::Done(Err(error)) => Some(error),
            _ => None,
        });
        // Whoever failed by itself says more than those who heard of it.
        let heard =
            |error: &Error| matches!(error, Error::Comm(pantile_comm::CommError::Failed { .. }));
        match faults.min_by_key(heard) {
            None => Ok(()),
            Some(error) => {
                self.failure = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Brings the callers of all processes together before a program: an error that names ranks and
    /// lines if they are about to run different ones. Whatever one of them flags is then flagged for
    /// all. Collective among processes; a single caller agrees with itself.
    ///
    /// # Errors
    /// The callers disagree, or one of them is not there any more; the crew does not work any more
    /// then.
    pub fn agree(&mut self, call: &Call, flags: &mut [bool]) -> Result<(), Error> {
        let Hands::Alone(hand) = &mut self.hands else { return Ok(()) };
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let record: Vec<u8> = flags.iter().map(|flag| u8::from(*flag)).collect();
        let team: Vec<Rank> = (0..self.size).collect();
        let records = hand.engine.gather(call, &team, &record).inspect_err(|error| {
            self.failure = Some(error.clone());
        })?;
        for record in records {
            for (flag, other) in flags.iter_mut().zip(record) {
                *flag |= other != 0;
            }
        }
        Ok(())
    }

    /// Gives every hosted rank its elements of an array.
    pub fn put(&mut self, id: ArrayId, mut tile: impl FnMut(Rank) -> Tile) {
        self.all(|rank| Order::Put(id, Arc::new(tile(rank))));
    }

    /// The elements that every hosted rank has of an array, by rank. They never change: a program
    /// makes new arrays.
    pub fn get(&mut self, id: ArrayId) -> Vec<(Rank, Arc<Tile>)> {
        let ranks = self.hosted();
        let answers = self.all(|_| Order::Get(id));
        let tiles = ranks.into_iter().zip(answers).filter_map(|(rank, answer)| match answer {
            Answer::Tile(tile) => Some((rank, tile?)),
            _ => None,
        });
        tiles.collect()
    }

    /// What the hosted ranks have done so far, together.
    pub fn counters(&mut self) -> Counters {
        let mut sum = Counters::default();
        for answer in self.all(|_| Order::Count) {
            if let Answer::Counters(one) = answer {
                sum.compiled += one.compiled;
                sum.runs += one.runs;
                sum.messages += one.messages;
                sum.bytes += one.bytes;
            }
        }
        sum
    }

    /// Gives an order to every hosted rank and waits for all answers, by rank.
    fn all(&mut self, order: impl FnMut(Rank) -> Order) -> Vec<Answer> {
        // Nobody asks whether to go on waiting.
        let _ = self.answers(false);
        self.order(order);
        self.answers(false).unwrap_or_default()
    }

    /// Waits for what ranks still do for a caller who did not.
    fn settle(&mut self) -> Result<(), Error> {
        self.answers(true).map(|_| ())
    }

    /// Gives an order to every hosted rank.
    fn order(&mut self, mut order: impl FnMut(Rank) -> Order) {
        match &mut self.hands {
            Hands::Alone(hand) => {
                let order = order(hand.engine.rank());
                let answer = hand.obey(order);
                hand.said = Some(answer);
            }
            Hands::Threads { orders, owed, .. } => {
                for (rank, to) in orders.iter().enumerate() {
                    // A rank that is not there any more does not answer either.
                    let _ = to.send(order(rank));
                }
                *owed += orders.len();
            }
        }
    }

    /// The answers that are still owed, by rank.
    fn answers(&mut self, may_stop: bool) -> Result<Vec<Answer>, Error> {
        let stop = self.stop.as_ref().filter(|_| may_stop);
        match &mut self.hands {
            Hands::Alone(hand) => Ok(hand.said.take().into_iter().collect()),
            Hands::Threads { answers, owed, .. } => {
                let mut said: Vec<(Rank, Answer)> = Vec::new();
                while *owed > 0 {
                    match answers.recv_timeout(LISTEN) {
                        Ok(answer) => said.push(answer),
                        Err(RecvTimeoutError::Timeout) => {
                            if stop.is_some_and(|stop| stop()) {
                                return Err(Error::Interrupted);
                            }
                            continue;
                        }
                        Err(RecvTimeoutError::Disconnected) => *owed = 1,
                    }
                    *owed -= 1;
                }
                said.sort_by_key(|(rank, _)| *rank);
                Ok(said.into_iter().map(|(_, answer)| answer).collect())
            }
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if let Hands::Threads { orders, threads, .. } = &mut self.hands {
            orders.clear();
            for thread in threads.drain(..) {
                // A rank that panicked has said so already.
                let _ = thread.join();
            }
        }
    }
}

impl Hand {
    fn new(communicator: Communicator) -> Self {
        let (store, runners) = (BTreeMap::new(), Vec::new());
        Self { engine: Engine::new(communicator), store, runners, said: None }
    }

    fn obey(&mut self, order: Order) -> Answer {
        match order {
            Order::Run(job) => Answer::Done(self.run(&job)),
            Order::Put(id, tile) => {
                self.store.insert(id, tile);
                Answer::Done(Ok(()))
            }
            Order::Get(id) => Answer::Tile(self.store.get(&id).cloned()),
            Order::Count => Answer::Counters(self.engine.counters()),
        }
    }

    /// Runs a program; whatever goes wrong here ends the world, so that nobody waits.
    fn run(&mut self, job: &Job) -> Result<(), Error> {
        let result = RankError::catch(|| self.try_run(job));
        result.map_err(|error| {
            let failure = error.to_failure(self.engine.rank());
            self.engine.communicator().abort(failure);
            match error {
                RankError::Returned(error) => error,
                other => Error::Panicked { rank: self.engine.rank(), message: other.to_string() },
            }
        })
    }

    fn try_run(&mut self, job: &Job) -> Result<(), Error> {
        for id in &job.forget {
            self.store.remove(id);
        }
        let at = self.runners.iter().position(|(key, _)| *key == job.key);
        let at = match at {
            Some(at) => at,
            None => {
                if self.runners.len() >= KEPT {
                    self.runners.remove(0);
                }
                let runner = Runner::new(&mut self.engine, Arc::clone(&job.executable))?;
                self.runners.push((job.key, runner));
                self.runners.len() - 1
            }
        };
        let rank = self.engine.rank();
        let mut arguments: Vec<&Tile> = Vec::with_capacity(job.arguments.len());
        for id in &job.arguments {
            let tile = self.store.get(id).ok_or(Error::UnknownArray { rank, id: id.0 })?.as_ref();
            arguments.push(tile);
        }
        let results = self.runners[at].1.run_on(&mut self.engine, &arguments)?;
        self.store.extend(job.results.iter().copied().zip(results.into_iter().map(Arc::new)));
        Ok(())
    }
}
