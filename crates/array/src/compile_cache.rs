//! The compile cache: programs that were lowered before.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pantile_engine::BoundedCache;
use pantile_ir::{Program, Scalar};
use pantile_lower::{CompileUnit, Executable, Lent, Setting};

use super::fault::Fault;
use super::graph::{Graph, Keys, Liveness};
use super::node::{Home, Node, lock};
use super::program::{called, function};
use super::session::Session;

/// A cached program.
pub(crate) struct CachedProgram {
    pub(crate) executable: Arc<Executable>,
    /// What it was lowered from.
    pub(crate) unit: Arc<CompileUnit>,
    /// Where its results live.
    pub(crate) homes: Vec<Arc<Home>>,
    /// True if ranks need nothing of each other, and it is soon done.
    pub(crate) inline: bool,
    /// True if its scalar parameters are arguments, before all others.
    pub(crate) open: bool,
    /// Bytes that the ranks of this process need for it.
    pub(crate) needed: usize,
    /// Bytes of its arrays on all ranks together.
    pub(crate) total: usize,
}

impl Session {
    /// The program ready to run, and its key.
    ///
    /// A program that comes again with other numbers, as in a loop over time, is lowered once more
    /// with its numbers as arguments, and never again.
    pub(crate) fn cached(
        &self,
        graph: &Graph,
        liveness: &Liveness,
        keys: Keys,
    ) -> Result<(u128, Arc<CachedProgram>), Fault> {
        let mut compile_cache = lock(&self.inner.compile_cache);
        if let Some(found) = compile_cache.find(keys) {
            return Ok(found);
        }
        let open = match compile_cache.has_seen(keys.open) {
            true => self.lower_now(graph, liveness, &graph.parameters()).ok(),
            false => None,
        };
        let (key, cached) = match open {
            Some(cached) if cached.open => (keys.open, cached),
            _ => (keys.whole, self.lower_now(graph, liveness, &[])?),
        };
        self.inner.lowered.fetch_add(1, Ordering::Relaxed);
        Ok((key, compile_cache.enter(key, cached)))
    }

    /// The program with these numbers as arguments.
    pub(crate) fn lower_now(
        &self,
        graph: &Graph,
        liveness: &Liveness,
        parameters: &[(Arc<Node>, Scalar)],
    ) -> Result<CachedProgram, Fault> {
        let outputs = graph.order.iter().zip(&liveness.outputs).filter(|(_, outputs)| **outputs);
        let results: Vec<Arc<Node>> = outputs.map(|(node, _)| Arc::clone(node)).collect();
        let given: Vec<Arc<Node>> = parameters.iter().map(|(node, _)| Arc::clone(node)).collect();
        let (function, arguments) = function("main", given, &graph.order, &results);
        let leaves = arguments[parameters.len()..].iter();
        debug_assert!(
            leaves.map(Arc::as_ptr).eq(graph.leaves.iter().map(Arc::as_ptr)),
            "leaves are the arguments"
        );
        let mut functions = vec![function];
        functions.extend(called(&graph.order));
        let program = Program { functions, aliases: Vec::new() };
        let mut lent = Vec::new();
        for (node, _) in parameters {
            let home = pantile_lower::home_of(&node.ty, &self.setting_for(graph.ranks))?;
            lent.push(Lent { home, spent: false });
        }
        lent.extend(graph.leaves.iter().zip(&liveness.donated).filter_map(|(leaf, donated)| {
            let stored = lock(&leaf.stored);
            Some(Lent { home: stored.as_ref()?.home.room.clone(), spent: *donated })
        }));
        let setting = Setting { lent: Some(lent), ..self.setting_for(graph.ranks) };
        self.made_of(
            CompileUnit::Program(Arc::new(program), Box::new(setting)),
            !parameters.is_empty(),
        )
    }

    /// The program of a compile unit; `open` if its first arguments are numbers.
    pub(crate) fn made_of(&self, unit: CompileUnit, open: bool) -> Result<CachedProgram, Fault> {
        // Ranks that get it as text have to understand it.
        if cfg!(debug_assertions)
            && let Err(error) = unit.to_string().parse::<CompileUnit>()
        {
            panic!("a recorded program does not read back: {error}");
        }
        let executable = Arc::new(unit.compile()?);
        let homes = executable.results.iter().map(|(slot, _)| {
            Home::new(executable.plain_home(*slot), executable.slots[slot.index()].home.clone())
        });
        let homes = homes.collect();
        let inline = executable.runs_inline();
        let hosted = self.hosted_among(executable.ranks);
        let needed = hosted.iter().filter(|_| self.inner.in_process);
        let needed = needed.map(|rank| executable.needed_bytes(*rank));
        let needed = needed.fold(0usize, usize::saturating_add);
        let total = executable.total_bytes();
        Ok(CachedProgram { executable, unit: Arc::new(unit), homes, inline, open, needed, total })
    }
}

/// Programs that are kept, and keys of programs that have been met; the oldest go first.
const KEPT: usize = 256;

/// Programs by their keys.
pub(crate) struct CompileCache {
    cached: BoundedCache<u128, Arc<CachedProgram>>,
    /// Programs that have been met, whatever their numbers.
    seen: BoundedCache<u128, ()>,
}

impl Default for CompileCache {
    fn default() -> Self {
        Self { cached: BoundedCache::of_count(KEPT), seen: BoundedCache::of_count(KEPT) }
    }
}

impl CompileCache {
    pub(crate) fn find(&self, keys: Keys) -> Option<(u128, Arc<CachedProgram>)> {
        let by = |key: u128| self.cached.get(&key).map(|cached| (key, Arc::clone(cached)));
        by(keys.whole).or_else(|| by(keys.open))
    }

    /// True if a program has been met before; it has then.
    fn has_seen(&mut self, open: u128) -> bool {
        let seen = self.seen.get(&open).is_some();
        self.seen.insert(open, (), 0);
        seen
    }

    pub(crate) fn enter(&mut self, key: u128, cached: CachedProgram) -> Arc<CachedProgram> {
        let cached = Arc::new(cached);
        self.cached.insert(key, Arc::clone(&cached), 0);
        cached
    }
}
