//! From recorded operations to a program, and from there to elements.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use pantile_comm::{CollectiveSignature, CommError};
use pantile_engine::{ArrayId, Error, Job};
use pantile_ir::Place;
use pantile_lower::Executable;
use pantile_plan::{Machine, Terrain};

use super::compile_cache::CachedProgram;
use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::graph::{Graph, Keys, Liveness, NodeList};
use super::here;
use super::node::{Made, Node, Stored, lock, two_worlds};
use super::session::Session;

/// Whether a walk through the graph ends at a node, which is made of this.
pub(crate) type Ends<'a> = &'a dyn Fn(&Node, Option<&Made>) -> Result<bool, Fault>;

/// A walk through the graph, valid until the next walk.
pub(crate) struct Walk {
    graph: Graph,
    liveness: Liveness,
    keys: Keys,
}

/// The rest of an evaluation that is not quick: it lowers a program, or waits for ranks.
#[must_use]
pub struct Evaluation {
    world: Session,
    targets: NodeList,
    walk: Option<Box<Walk>>,
}

impl Evaluation {
    /// Does what is left, however long that takes.
    ///
    /// # Errors
    /// As [`Array::compute`](super::Array::compute).
    #[track_caller]
    pub fn finish(self) -> Result<(), Fault> {
        self.finish_at(&here())
    }

    /// The same; `place` is the line that asks for elements.
    fn finish_at(self, place: &Place) -> Result<(), Fault> {
        let world = &self.world;
        world.check_process()?;
        let evaluation_lock = lock(&world.inner.evaluation_lock);
        world.settle()?;
        // Nodes know their numbers in the last walk. What had no user then has none now.
        let last = world.inner.marks.load(Ordering::Relaxed);
        let walk = match self.walk.filter(|walk| walk.graph.mark == last) {
            Some(walk) => Some(walk),
            None => world.walk(&self.targets, Some(place))?.map(Box::new),
        };
        let Some(walk) = walk else { return Ok(()) };
        let cached = world.cached(&walk.graph, &walk.liveness, walk.keys)?;
        world.check_memory(&cached.1, place)?;
        world.run(&evaluation_lock, &walk, cached)
    }
}

impl Session {
    /// Computes what these nodes stand for, and what others refer to on the way. `place` is the line
    /// that asks for elements.
    pub(crate) fn evaluate(&self, targets: &[Arc<Node>], place: &Place) -> Result<(), Fault> {
        match self.begin(targets.into())? {
            None => Ok(()),
            Some(rest) => rest.finish_at(place),
        }
    }

    /// The same if that is quick: nothing has to be lowered, and no rank or caller to be waited for.
    /// Else what is left to do.
    pub(crate) fn begin(&self, targets: NodeList) -> Result<Option<Evaluation>, Fault> {
        let rest = |targets, walk| Ok(Some(Evaluation { world: self.clone(), targets, walk }));
        let Some(evaluation_lock) = self.try_evaluation_lock() else { return rest(targets, None) };
        // This process has all ranks: no other process is asked, or told this line.
        let Some(walk) = self.walk(&targets, None)? else { return Ok(None) };
        let found =
            lock(&self.inner.compile_cache).find(walk.keys).filter(|(_, cached)| cached.inline);
        match found {
            None => rest(targets, Some(Box::new(walk))),
            Some(cached) => self.run(&evaluation_lock, &walk, cached).map(|()| None),
        }
    }

    /// What these targets need, and the key of the program that computes it; nothing if all of it is
    /// there.
    #[inline(always)]
    fn walk(&self, targets: &[Arc<Node>], place: Option<&Place>) -> Result<Option<Walk>, Fault> {
        let graph = self.graph_with_reads(targets)?;
        if graph.order.is_empty() {
            return Ok(None);
        }
        let liveness = self.agreed(&graph, targets, place)?;
        let keys = graph.keys(self.keyed_setting(graph.ranks), &liveness);
        Ok(Some(Walk { graph, liveness, keys }))
    }

    /// The evaluation lock, if it is free, and this process has all ranks, and they run nothing: as long
    /// as the caller holds it, it waits for no other thread.
    pub(crate) fn try_evaluation_lock(&self) -> Option<MutexGuard<'_, ()>> {
        if self.inner.is_forked() {
            return None;
        }
        let evaluation_lock = self.inner.evaluation_lock.try_lock().ok()?;
        if !self.inner.in_process {
            return None;
        }
        let idle = || self.inner.executor.try_lock().is_ok_and(|executor| executor.is_idle());
        (!self.inner.is_spread && idle()).then_some(evaluation_lock)
    }

    /// Waits for a program that still runs because its caller stopped waiting, and says so.
    pub(crate) fn settle(&self) -> Result<(), Fault> {
        let mut executor = lock(&self.inner.executor);
        if !self.inner.is_interrupted.load(Ordering::Relaxed) {
            return Ok(executor.settle()?);
        }
        let earlier = lock(&self.inner.interrupted).clone();
        if let (Some(place), false) = (earlier, executor.is_idle()) {
            let at = if place.line == 0 { String::new() } else { format!(" (written at {place})") };
            let words = format!(
                "waiting for the end of the computation that was interrupted before{at}; interrupt \
                 again to stop waiting"
            );
            if let Some(report) = lock(&self.inner.report).as_ref() {
                report(&words);
            }
        }
        executor.settle()?;
        *lock(&self.inner.interrupted) = None;
        self.inner.is_interrupted.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Waits until ranks no longer run a program whose caller was interrupted, and says so as
    /// [`Session::report_waiting`] asked. What went wrong in it is told to the caller of the next one.
    ///
    /// # Errors
    /// If this caller is interrupted, too.
    pub fn wait_for_ranks(&self) -> Result<(), Fault> {
        if !self.inner.is_interrupted.load(Ordering::Relaxed) || self.inner.is_forked() {
            return Ok(());
        }
        match self.settle() {
            Err(fault) if fault.rank() == Some(&Error::Interrupted) => Err(fault),
            _ => Ok(()),
        }
    }

    /// Runs a program, and remembers where its results are. The caller holds the evaluation lock.
    fn run(
        &self,
        _: &MutexGuard<'_, ()>,
        Walk { graph, liveness, .. }: &Walk,
        (key, cached): (u128, Arc<CachedProgram>),
    ) -> Result<(), Fault> {
        self.check_no_comm(&cached.executable)?;
        graph.leaves.iter().for_each(|leaf| self.stage(leaf));
        let results = cached.homes.iter().map(|_| self.inner.new_id()).collect();
        let job = Arc::new(Job {
            key,
            parameters: if cached.open { graph.numbers() } else { Vec::new() },
            arguments: graph.leaves.iter().zip(&liveness.donated).map(argument).collect(),
            results,
            forget: self.inner.deferred_frees.take(),
            executable: Arc::clone(&cached.executable),
            unit: Arc::clone(&cached.unit),
            inline: cached.inline,
        });
        let ran = lock(&self.inner.executor).run(&job);
        let interrupted = ran == Err(Error::Interrupted);
        match ran {
            Ok(()) | Err(Error::Interrupted) => {}
            Err(error) => return Err(error.into()),
        }
        // Also if the caller did not wait: the ranks come to the end of it.
        let outputs = graph.order.iter().zip(&liveness.outputs).filter(|(_, outputs)| **outputs);
        for (((node, _), id), home) in outputs.zip(&job.results).zip(&cached.homes) {
            let (deferred_frees, home) = (Arc::clone(&self.inner.deferred_frees), Arc::clone(home));
            // Copies are on all ranks of the program, also on those that only other arrays name.
            node.need_ranks(home.ranks);
            *lock(&node.stored) = Some(Stored { id: *id, home, tiles: None, deferred_frees });
            // What it was made of is not needed any more.
            let made = lock(&node.made).take();
            drop(made);
            self.write_through(node)?;
        }
        self.reads_computed(graph);
        self.inner.pending.store(0, Ordering::Relaxed);
        if interrupted {
            let place = graph.order.last().map(|node| node.place.clone());
            *lock(&self.inner.interrupted) = place;
            self.inner.is_interrupted.store(true, Ordering::Relaxed);
            return Err(Error::Interrupted.into());
        }
        Ok(())
    }

    /// Refuses a program that moves something, if that is forbidden.
    pub(crate) fn check_no_comm(&self, executable: &Executable) -> Result<(), Fault> {
        if !self.inner.no_comm.load(Ordering::Relaxed) {
            return Ok(());
        }
        let terrain = Terrain::new(self.inner.windows);
        let cost = executable
            .cost(&Machine::default(), terrain)
            .map_err(|error| Fault::new(FaultKind::Cost(error), Place::default()))?;
        match cost.steps.iter().find(|step| step.messages > 0) {
            None => Ok(()),
            Some(step) => Err(Fault::new(
                FaultKind::Movement { what: step.what, bytes: step.bytes },
                step.place.clone(),
            )),
        }
    }

    /// What becomes of nodes. Where every process is a rank, what one of them refers to is kept by
    /// all, because handles need not end on all of them at the same time.
    fn agreed(
        &self,
        graph: &Graph,
        targets: &[Arc<Node>],
        place: Option<&Place>,
    ) -> Result<Liveness, Fault> {
        let mut liveness = graph.liveness(targets);
        if self.inner.is_spread {
            let plain = graph.target_liveness(targets);
            #[allow(clippy::cast_possible_truncation, reason = "half of the key tells them apart")]
            let fingerprint = graph.keys(self.keyed_setting(graph.ranks), &plain).whole as u64;
            let place = place.cloned().unwrap_or_default();
            let (file, line) = (place.file.to_string().into(), place.line);
            // A process in no-comm mode must not leave the others waiting.
            let name = match self.inner.no_comm.load(Ordering::Relaxed) {
                true => "compute where nothing may move",
                false => "compute",
            };
            let given = lock(&self.inner.given).take();
            let name = match &given {
                Some((hash, _)) => format!("{name}, data {hash:016x}"),
                None => name.to_owned(),
            };
            let call = CollectiveSignature { name: name.into(), fingerprint, file, line };
            let needed = liveness.donated.iter().map(|donated| !donated);
            let mut flags: Vec<bool> = liveness.outputs.iter().copied().chain(needed).collect();
            let agreed = lock(&self.inner.executor).agree(&call, &mut flags);
            agreed.map_err(|error| with_data(error, given))?;
            let needed = flags.split_off(liveness.outputs.len());
            liveness = Liveness {
                outputs: flags.into(),
                donated: needed.into_iter().map(|flag| !flag).collect(),
            };
        }
        Ok(liveness)
    }

    /// The program that computes these nodes, without running it.
    pub(crate) fn plan(&self, targets: &[Arc<Node>]) -> Result<Arc<Executable>, Fault> {
        self.check_process()?;
        let _turn = lock(&self.inner.evaluation_lock);
        let graph = self.graph(targets, &ends)?;
        let liveness = graph.target_liveness(targets);
        // Nothing is remembered: processes that look ahead must not differ from others later.
        Ok(self.lower_now(&graph, &liveness, &[])?.executable)
    }

    /// Nodes up to those where the way ends, operands before users.
    pub(crate) fn order(&self, targets: &[Arc<Node>], ends: Ends<'_>) -> Result<NodeList, Fault> {
        let left = self.inner.new_marks(2);
        let entered = left - 1;
        let mut order = NodeList::new();
        let mut stack: NodeList = targets.iter().rev().cloned().collect();
        while let Some(node) = stack.pop() {
            let mark = node.mark();
            if mark == entered {
                node.set_mark(left);
                order.push(node);
                continue;
            }
            if mark == left {
                continue;
            }
            if let Some(fault) = &node.fault {
                return Err(fault.clone());
            }
            if node.is_stranger(self.inner.number) {
                return Err(two_worlds(node.place.clone()));
            }
            let made = lock(&node.made);
            if ends(&node, made.as_ref())? {
                continue;
            }
            let operands: NodeList =
                made.iter().flat_map(|made| made.operands.iter().rev().cloned()).collect();
            drop(made);
            // It is met again when its operands are in order.
            node.set_mark(entered);
            stack.push(node);
            stack.extend(operands);
        }
        Ok(order)
    }
}

/// What ranks disagree about may be the elements that processes gave, last at this line.
fn with_data(error: Error, given: Option<(u64, Place)>) -> Fault {
    let disagree = matches!(error, Error::Comm(CommError::Disagreement { .. }));
    match given.filter(|_| disagree) {
        Some((_, at)) => Fault::new(FaultKind::GivenData { error, at }, Place::default()),
        None => error.into(),
    }
}

/// The name of a leaf; what is donated is not read any more.
fn argument((leaf, donated): (&Arc<Node>, &bool)) -> ArrayId {
    let mut stored = lock(&leaf.stored);
    let Some(stored) = stored.as_mut() else { return ArrayId(0) };
    if *donated {
        stored.tiles = None;
    }
    stored.id
}

/// Programs start from arrays that are stored.
pub(crate) fn ends(node: &Node, made: Option<&Made>) -> Result<bool, Fault> {
    if made.is_some() {
        return Ok(false);
    }
    if node.is_stored() {
        return Ok(true);
    }
    Err(Fault::new(FaultKind::AnyBlock, node.place.clone()))
}
