//! Ranks that wait for programs: one caller, and all ranks that this process hosts.
//!
//! Ranks are threads of this process ([`RankThreads`]), or this process is one of them: then the caller
//! is the rank, and every process gives the same programs. Or they are elsewhere ([`Afar`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pantile_comm::{Call, Communicator, Options, Rank};
use pantile_ir::Scalar;
use pantile_ir::lower::{Executable, Recipe};

use crate::afar::Afar;
use crate::hand::Hand;
use crate::rank_threads::RankThreads;
use crate::{Counters, Error, Pool, Scheme, ThreadsError, Tile};

/// How long a caller waits before it is asked whether it still wants to.
const LISTEN: Duration = Duration::from_millis(50);

/// The name of an array that the ranks keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayId(pub u64);

/// A program to run on arrays that the ranks keep.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program, lowered for arguments that are lent.
    pub executable: Arc<Executable>,
    /// What it was lowered from, for ranks that have to do that themselves.
    pub recipe: Arc<Recipe>,
    /// Equal keys mean equal programs: they are prepared once.
    pub key: u128,
    /// Its first arguments: numbers that everybody knows.
    pub numbers: Vec<Scalar>,
    /// Its other arguments; those that are spent are gone then.
    pub arguments: Vec<ArrayId>,
    /// The names of its results.
    pub results: Vec<ArrayId>,
    /// Arrays that nobody needs any more, forgotten before it runs.
    pub forget: Vec<ArrayId>,
    /// True if ranks need nothing of each other for it, and it is soon done.
    pub light: bool,
}

/// Ranks that wait for programs.
pub struct Crew {
    size: usize,
    hands: Hands,
    failure: Option<Error>,
    /// The process that has the ranks: a fork of it has their memory, but neither their threads nor
    /// the right to use their connections.
    process: u64,
    /// Asked now and then while the caller waits: true if it wants to wait no longer.
    stop: Option<Box<dyn Fn() -> bool + Send>>,
}

enum Hands {
    Threads(RankThreads),
    Alone(Box<Hand>),
    Afar {
        hands: Box<dyn Afar>,
        /// A program runs.
        busy: bool,
    },
}

impl Crew {
    /// So many ranks of this process, each a thread from its first work on.
    #[must_use]
    pub fn threads(ranks: usize, options: &Options) -> Self {
        let hands = Hands::Threads(RankThreads::new(ranks, options));
        Self { size: ranks, hands, failure: None, process: pantile_memory::process(), stop: None }
    }

    /// How many ranks have a thread of this process: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn started_threads(&self) -> usize {
        match &self.hands {
            Hands::Threads(ranks) => ranks.started(),
            Hands::Alone(_) | Hands::Afar { .. } => 0,
        }
    }

    /// The rank that this process is.
    #[must_use]
    pub fn alone(communicator: Communicator) -> Self {
        let size = communicator.size();
        let hands = Hands::Alone(Box::new(Hand::new(communicator)));
        Self { size, hands, failure: None, process: pantile_memory::process(), stop: None }
    }

    /// Ends programs of the ranks whose memory is here once `stop` is true; see
    /// [`Engine::stop_if`](crate::Engine::stop_if).
    pub fn stop_if(&mut self, stop: &Arc<AtomicBool>) {
        self.each(|hand| hand.engine.stop_if(Arc::clone(stop)));
    }

    /// From now on the memory of new arrays comes from this pool, for the rank that this process is.
    pub fn set_pool(&mut self, pool: &Pool) {
        if let Hands::Alone(hand) = &mut self.hands {
            hand.engine.set_pool(pool);
        }
    }

    /// Ranks that are elsewhere.
    #[must_use]
    pub fn afar(hands: Box<dyn Afar>) -> Self {
        let size = hands.size();
        Self {
            size,
            hands: Hands::Afar { hands, busy: false },
            failure: None,
            process: pantile_memory::process(),
            stop: None,
        }
    }

    /// True if this process has the memory of the ranks that it hosts.
    #[must_use]
    pub fn is_near(&self) -> bool {
        !matches!(self.hands, Hands::Afar { .. })
    }

    /// Asks `stop` about every 50 ms while a program runs on threads: if it says true, the caller
    /// gets [`Error::Interrupted`]. The ranks go on to the end of the program; whoever comes next
    /// waits for that first, so nothing is lost.
    pub fn stop_waiting_if(&mut self, stop: impl Fn() -> bool + Send + 'static) {
        self.stop = Some(Box::new(stop));
    }

    /// True if this process was forked from the one that has the ranks.
    #[must_use]
    pub fn is_forked(&self) -> bool {
        pantile_memory::process() != self.process
    }

    /// True if the ranks do nothing.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        match &self.hands {
            Hands::Threads(ranks) => ranks.orders().all_answered(),
            Hands::Alone(_) => true,
            Hands::Afar { busy, .. } => !busy,
        }
    }

    /// Number of ranks of the world.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The ranks that this process hosts, or speaks for.
    #[must_use]
    pub fn hosted(&self) -> Vec<Rank> {
        match &self.hands {
            Hands::Afar { .. } => (0..self.size).collect(),
            Hands::Threads(ranks) => (0..ranks.len()).collect(),
            Hands::Alone(hand) => vec![hand.engine.rank()],
        }
    }

    /// True if ranks look at each other's memory.
    #[must_use]
    pub fn has_windows(&self) -> bool {
        match &self.hands {
            Hands::Threads(_) => true,
            Hands::Alone(hand) => hand.engine.has_windows(),
            Hands::Afar { .. } => false,
        }
    }

    /// Runs a program on all ranks. Collective among processes.
    ///
    /// # Errors
    /// What the first rank that failed has to say; the crew does not work any more then. A caller
    /// who stops waiting gets [`Error::Interrupted`]: the program still comes to its end.
    pub fn run(&mut self, job: &Arc<Job>) -> Result<(), Error> {
        self.settle_if(true)?;
        match &mut self.hands {
            Hands::Alone(hand) => {
                let done = hand.run(job);
                self.note(done.err())
            }
            Hands::Threads(ranks) if job.light => {
                let fault = ranks.run_inline(job);
                self.note(fault)
            }
            Hands::Threads(ranks) => {
                ranks.give(job)?;
                self.settle_if(true)
            }
            Hands::Afar { hands, busy } => match hands.start(job) {
                Ok(()) => {
                    *busy = true;
                    self.settle_if(true)
                }
                Err(error) => self.note(Some(error)),
            },
        }
    }

    /// Remembers what ended the crew.
    fn note(&mut self, fault: Option<Error>) -> Result<(), Error> {
        match fault {
            None => Ok(()),
            Some(error) => {
                if !goes_on(&error) {
                    self.failure = Some(error.clone());
                }
                Err(error)
            }
        }
    }

    /// Waits for what ranks still do for a caller who stopped waiting.
    ///
    /// # Errors
    /// As [`Crew::run`].
    pub fn settle(&mut self) -> Result<(), Error> {
        self.settle_if(true)
    }

    /// Waits for what ranks still do; what went wrong there is an error from then on.
    fn settle_if(&mut self, may_stop: bool) -> Result<(), Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        let mut faults = Vec::new();
        let waited = self.wait(may_stop, &mut faults);
        if let Some(refused) = faults.iter().find(|fault| goes_on(fault)) {
            return Err(refused.clone());
        }
        if self.failure.is_none() {
            self.failure = weightiest(faults.into_iter());
        }
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None => waited,
        }
    }

    /// Waits for all answers that are owed.
    fn wait(&mut self, may_stop: bool, faults: &mut Vec<Error>) -> Result<(), Error> {
        let stop = || may_stop && self.stop.as_ref().is_some_and(|stop| stop());
        match &mut self.hands {
            Hands::Alone(_) => {}
            Hands::Threads(ranks) => {
                let orders = ranks.orders();
                while !orders.all_answered() && !orders.sleep_for_answers(LISTEN) {
                    if stop() {
                        return Err(Error::Interrupted);
                    }
                }
                faults.extend(orders.take_faults());
            }
            Hands::Afar { hands, busy } => {
                while *busy {
                    match hands.wait(LISTEN) {
                        None if stop() => return Err(Error::Interrupted),
                        None => {}
                        Some(done) => {
                            *busy = false;
                            faults.extend(done.err());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Brings the callers of all processes together before a program: an error that names ranks and
    /// lines if they are about to run different ones. Whatever one of them flags is then flagged for
    /// all. Collective among processes; a single caller agrees with itself.
    ///
    /// # Errors
    /// The callers disagree, or one of them is not there any more; the crew does not work any more
    /// then.
    pub fn agree(&mut self, call: &Call, flags: &mut [bool]) -> Result<(), Error> {
        if !matches!(self.hands, Hands::Alone(_)) {
            return Ok(());
        }
        let record: Vec<u8> = flags.iter().map(|flag| u8::from(*flag)).collect();
        for record in self.gather(call, &record)? {
            for (flag, other) in flags.iter_mut().zip(record) {
                *flag |= other != 0;
            }
        }
        Ok(())
    }

    /// Gives every hosted rank its elements of an array.
    ///
    /// # Errors
    /// If ranks are elsewhere and do not get them; the crew does not work any more then.
    pub fn put(&mut self, id: ArrayId, mut tile: impl FnMut(Rank) -> Tile) -> Result<(), Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        if !self.is_near() {
            let tiles: Vec<(Rank, Arc<Tile>)> =
                (0..self.size).map(|rank| (rank, Arc::new(tile(rank)))).collect();
            return self.afar_then(|hands| hands.put(id, &tiles));
        }
        self.each(|hand| {
            let tile = tile(hand.engine.rank());
            hand.store.insert(id, Arc::new(tile));
        });
        Ok(())
    }

    /// Does something with ranks that are elsewhere, once they do nothing else.
    fn afar_then<T>(
        &mut self,
        f: impl FnOnce(&mut dyn Afar) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.settle_if(false)?;
        let Hands::Afar { hands, .. } = &mut self.hands else {
            unreachable!("only asked of ranks that are elsewhere")
        };
        f(&mut **hands).inspect_err(|error| {
            if !goes_on(error) {
                self.failure = Some(error.clone());
            }
        })
    }

    /// Gives hosted ranks other elements of an array that they have.
    pub fn replace(&mut self, id: ArrayId, tiles: &[(Rank, Arc<Tile>)]) {
        let tiles: BTreeMap<Rank, &Arc<Tile>> =
            tiles.iter().map(|(rank, tile)| (*rank, tile)).collect();
        self.each(|hand| {
            if let Some(tile) = tiles.get(&hand.engine.rank()) {
                hand.store.insert(id, Arc::clone(tile));
            }
        });
    }

    /// Forgets arrays at once.
    pub fn forget(&mut self, ids: &[ArrayId]) {
        if self.is_forked() {
            return;
        }
        if let Hands::Afar { hands, .. } = &mut self.hands {
            return hands.forget(ids);
        }
        self.each(|hand| ids.iter().for_each(|id| drop(hand.store.remove(id))));
    }

    /// True if some hosted rank has the elements of an array under another name, too.
    pub fn is_shared(&mut self, id: ArrayId) -> bool {
        let mut shared = false;
        self.each(|hand| {
            let Some(own) = hand.store.get(&id) else { return };
            let same = |(name, tile): (&ArrayId, &Arc<Tile>)| *name != id && Arc::ptr_eq(own, tile);
            shared |= hand.store.iter().any(same);
        });
        shared
    }

    /// What the callers of all processes have to say, by rank. Collective among processes; a single
    /// caller hears itself.
    ///
    /// # Errors
    /// As [`Crew::agree`].
    pub fn gather(&mut self, call: &Call, record: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        let Hands::Alone(hand) = &mut self.hands else { return Ok(vec![record.to_vec()]) };
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let team: Vec<Rank> = (0..self.size).collect();
        hand.engine.gather(call, &team, record).inspect_err(|error| {
            self.failure = Some(error.clone());
        })
    }

    /// The elements that every hosted rank has of an array, by rank. They never change: a program
    /// makes new arrays. Only the room around them may, with every program that needs it. Of ranks
    /// that are elsewhere it takes only those that are `wanted`.
    ///
    /// # Errors
    /// If ranks are elsewhere and elements do not arrive.
    pub fn get(&mut self, id: ArrayId, wanted: &[Rank]) -> Result<Vec<(Rank, Arc<Tile>)>, Error> {
        if self.is_forked() {
            return Err(Error::Forked);
        }
        if !self.is_near() {
            return self.afar_then(|hands| hands.get(id, wanted));
        }
        let mut tiles = Vec::new();
        self.each(|hand| {
            let tile = hand.store.get(&id);
            tiles.extend(tile.map(|tile| (hand.engine.rank(), Arc::clone(tile))));
        });
        Ok(tiles)
    }

    /// What the hosted ranks have done so far, together.
    pub fn counters(&mut self) -> Counters {
        // What went wrong in a program is told to whoever runs the next one.
        if self.settle_if(false) == Err(Error::Forked) {
            return Counters::default();
        }
        if let Hands::Afar { hands, .. } = &mut self.hands {
            return hands.counters();
        }
        let mut sum = Counters::default();
        self.each(|hand| {
            let one = hand.engine.counters();
            sum.compiled += one.compiled;
            sum.runs += one.runs;
            sum.messages += one.messages;
            sum.bytes += one.bytes;
            // All ranks run all programs.
            sum.programs = sum.programs.max(one.programs);
        });
        sum
    }

    /// From now on every hosted rank has so many threads; see
    /// [`Engine::set_threads`](crate::Engine::set_threads). Gives how many
    /// it had before.
    ///
    /// # Errors
    /// As [`Engine::set_threads`](crate::Engine::set_threads); then nothing has changed.
    pub fn set_threads(&mut self, threads: usize) -> Result<usize, ThreadsError> {
        if let Hands::Afar { hands, .. } = &mut self.hands {
            return hands.set_threads(threads);
        }
        let mut before = Ok(1);
        self.each(|hand| {
            let had = hand.engine.threads();
            before = hand.engine.set_threads(threads).map(|()| had);
        });
        before
    }

    /// From now on loops that several threads of a hosted rank share are cut in this way; see
    /// [`Engine::set_scheme`](crate::Engine::set_scheme). Gives how it was before; nothing if the
    /// ranks are elsewhere: how they
    /// do it is said where they are.
    pub fn set_scheme(&mut self, scheme: Scheme) -> Option<Scheme> {
        if let Hands::Afar { .. } = &self.hands {
            return None;
        }
        let mut before = None;
        self.each(|hand| {
            before = Some(hand.engine.scheme());
            hand.engine.set_scheme(scheme);
        });
        before
    }

    /// Bytes of the arrays that the hosted ranks keep.
    pub fn stored_bytes(&mut self) -> usize {
        let mut sum = 0;
        self.each(|hand| {
            sum += hand.store.values().map(|tile| tile.as_bytes().len()).sum::<usize>()
        });
        sum
    }

    /// Bytes that the hosted ranks keep for what they send and receive.
    pub fn staging_bytes(&mut self) -> usize {
        let mut sum = 0;
        self.each(|hand| sum += hand.engine.staging_bytes());
        sum
    }

    /// While memory is scarce, the hosted ranks hold no more than they have now where they can.
    pub fn set_scarce(&mut self, scarce: bool) {
        self.each(|hand| hand.engine.pool().set_scarce(scarce));
    }

    /// Bytes that the hosted ranks keep for arrays to come.
    pub fn spare_bytes(&mut self) -> usize {
        let mut sum = 0;
        self.each(|hand| sum += hand.engine.pool().free_bytes());
        sum
    }

    /// Calls `f` with every rank whose memory is here, once they do nothing else.
    fn each(&mut self, mut f: impl FnMut(&mut Hand)) {
        // What went wrong in a program is told to whoever runs the next one.
        if self.settle_if(false) == Err(Error::Forked) {
            return;
        }
        match &mut self.hands {
            Hands::Alone(hand) => f(hand),
            Hands::Threads(ranks) => ranks.each(f),
            Hands::Afar { .. } => {}
        }
    }
}

/// True for what was refused before anything was done.
fn goes_on(error: &Error) -> bool {
    matches!(error, Error::Refused { .. } | Error::OutOfMemory { ended: false, .. })
}

/// Whoever failed by itself says more than those who heard of it.
pub(crate) fn weightiest(faults: impl Iterator<Item = Error>) -> Option<Error> {
    let heard =
        |error: &Error| matches!(error, Error::Comm(pantile_comm::CommError::Failed { .. }));
    faults.min_by_key(heard)
}

impl Drop for Crew {
    fn drop(&mut self) {
        if self.is_forked() {
            // The threads are not here, and the connections are the parent's: nothing is ended.
            let none = Hands::Threads(RankThreads::new(0, &Options::default()));
            return std::mem::forget(std::mem::replace(&mut self.hands, none));
        }
        if let Hands::Threads(ranks) = &mut self.hands {
            ranks.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_process_uses_and_ends_nothing() {
        for ranks in [1, 3] {
            let mut crew = Crew::threads(ranks, &Options::default());
            // As a child sees it: another process started the ranks.
            crew.process = pantile_memory::process().wrapping_add(1);
            let call = Call::here("test", 0);
            let tile = |_| Tile::zeroed(pantile_ir::DType::F64, 1);
            assert_eq!(crew.put(ArrayId(1), tile), Err(Error::Forked));
            assert!(matches!(crew.get(ArrayId(1), &[0]), Err(Error::Forked)));
            assert_eq!(crew.settle(), Err(Error::Forked));
            assert!(matches!(crew.gather(&call, &[]), Err(Error::Forked)));
            assert_eq!(crew.counters().programs, 0);
            crew.forget(&[ArrayId(1)]);
            // The ranks still wait for orders: ending the crew must not touch them.
            let Hands::Threads(ranks) = &crew.hands else { unreachable!("threads") };
            let orders = Arc::clone(ranks.orders());
            drop(crew);
            assert!(!orders.is_over());
            orders.end();
        }
    }
}
