//! Programs that were lowered before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pantile_ir::lower::{self, Executable, Lent, Recipe, Setting};
use pantile_ir::{Program, Scalar};

use super::fault::Fault;
use super::graph::{Fates, Graph, Keys};
use super::node::{Home, Node, lock};
use super::program::{called, function};
use super::world::World;

/// A program that is known.
pub(crate) struct Known {
    pub(crate) executable: Arc<Executable>,
    /// What it was lowered from.
    pub(crate) recipe: Arc<Recipe>,
    /// Where its results live.
    pub(crate) homes: Vec<Arc<Home>>,
    /// True if ranks need nothing of each other, and it is soon done.
    pub(crate) light: bool,
    /// True if its numbers are arguments, before all others.
    pub(crate) open: bool,
    /// Bytes that the ranks of this process need for it.
    pub(crate) needed: usize,
    /// Bytes of its arrays on all ranks together.
    pub(crate) total: usize,
}

impl World {
    /// The program ready to run, and its key.
    ///
    /// A program that comes again with other numbers, as in a loop over time, is lowered once more
    /// with its numbers as arguments, and never again.
    pub(crate) fn known(
        &self,
        graph: &Graph,
        fates: &Fates,
        keys: Keys,
    ) -> Result<(u128, Arc<Known>), Fault> {
        let mut book = lock(&self.inner.book);
        if let Some(found) = book.find(keys) {
            return Ok(found);
        }
        let open = match book.has_seen(keys.open) {
            true => self.lowered_now(graph, fates, &graph.numbers()).ok(),
            false => None,
        };
        let (key, known) = match open {
            Some(known) if known.open => (keys.open, known),
            _ => (keys.whole, self.lowered_now(graph, fates, &[])?),
        };
        self.inner.lowered.fetch_add(1, Ordering::Relaxed);
        Ok((key, book.enter(key, known)))
    }

    /// The program with these numbers as arguments.
    pub(crate) fn lowered_now(
        &self,
        graph: &Graph,
        fates: &Fates,
        numbers: &[(Arc<Node>, Scalar)],
    ) -> Result<Known, Fault> {
        let kept = graph.order.iter().zip(&fates.kept).filter(|(_, kept)| **kept);
        let results: Vec<Arc<Node>> = kept.map(|(node, _)| Arc::clone(node)).collect();
        let given: Vec<Arc<Node>> = numbers.iter().map(|(node, _)| Arc::clone(node)).collect();
        let (function, arguments) = function("main", given, &graph.order, &results);
        let leaves = arguments[numbers.len()..].iter();
        debug_assert!(
            leaves.map(Arc::as_ptr).eq(graph.leaves.iter().map(Arc::as_ptr)),
            "leaves are the arguments"
        );
        let mut functions = vec![function];
        functions.extend(called(&graph.order));
        let program = Program { functions, aliases: Vec::new() };
        let mut lent = Vec::new();
        for (node, _) in numbers {
            let home = lower::home_of(&node.ty, &self.setting())?;
            lent.push(Lent { home, spent: false });
        }
        lent.extend(graph.leaves.iter().zip(&fates.spent).filter_map(|(leaf, spent)| {
            let stored = lock(&leaf.stored);
            Some(Lent { home: stored.as_ref()?.home.room.clone(), spent: *spent })
        }));
        let setting = Setting { lent: Some(lent), ..self.setting() };
        self.made_of(Recipe::Program(Arc::new(program), Box::new(setting)), !numbers.is_empty())
    }

    /// The program of a recipe; `open` if its first arguments are numbers.
    pub(crate) fn made_of(&self, recipe: Recipe, open: bool) -> Result<Known, Fault> {
        // Whoever gets it as text has to understand it.
        if cfg!(debug_assertions)
            && let Err(error) = recipe.to_string().parse::<Recipe>()
        {
            panic!("a recorded program does not read back: {error}");
        }
        let executable = Arc::new(recipe.compile()?);
        let homes = executable.results.iter().map(|(slot, _)| {
            Home::new(executable.plain_home(*slot), executable.slots[slot.index()].home.clone())
        });
        let homes = homes.collect();
        let light = executable.is_light();
        let ranks = self.inner.hosted.iter().filter(|_| self.inner.near);
        let needed = ranks.map(|rank| executable.needed_bytes(*rank));
        let needed = needed.fold(0usize, usize::saturating_add);
        let total = executable.total_bytes();
        Ok(Known { executable, recipe: Arc::new(recipe), homes, light, open, needed, total })
    }
}

/// Programs by their keys.
#[derive(Default)]
pub(crate) struct Book {
    known: BTreeMap<u128, Arc<Known>>,
    /// Programs that have been met, whatever their numbers.
    seen: BTreeSet<u128>,
}

impl Book {
    pub(crate) fn find(&self, keys: Keys) -> Option<(u128, Arc<Known>)> {
        let by = |key: u128| self.known.get(&key).map(|known| (key, Arc::clone(known)));
        by(keys.whole).or_else(|| by(keys.open))
    }

    /// True if a program has been met before; it has then.
    fn has_seen(&mut self, open: u128) -> bool {
        !self.seen.insert(open)
    }

    pub(crate) fn enter(&mut self, key: u128, known: Known) -> Arc<Known> {
        // A program that never repeats itself must not fill memory.
        if self.known.len() >= 256 {
            self.known.clear();
            self.seen.clear();
        }
        let known = Arc::new(known);
        self.known.insert(key, Arc::clone(&known));
        known
    }
}
