//! What is recorded: operations that wait until their result is asked for.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use pantile_engine::{ArrayId, DType, Tile};
use pantile_geometry::{Distribution, Rank};
use pantile_ir::{Function, Op, Place, Scalar, Type};

use super::deferred_free::DeferredFrees;
use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::open::OpeningOfNode;

/// Homes of one version of an array that are remembered at most.
const HOMES_MAX: usize = 16;

/// An operation, recorded or done.
pub(crate) struct Node {
    /// What it is made of; nothing once it is stored.
    pub(crate) made: Mutex<Option<Made>>,
    pub(crate) ty: Type,
    pub(crate) place: Place,
    /// Where its elements are, once they are.
    pub(crate) stored: Mutex<Option<Stored>>,
    /// What is wrong with it: an error of the caller that asks for its elements.
    pub(crate) fault: Option<Fault>,
    /// The memory that it shares with others.
    pub(crate) open: Mutex<OpeningOfNode>,
    /// True once it has shared its memory: others may have written to it at any time.
    pub(crate) was_open: AtomicBool,
    /// The same elements living elsewhere, by the fingerprints of where, as long as they are referred to.
    elsewhere: Mutex<Vec<(u128, Weak<Self>)>>,
    /// True once the world refers to it, as to an element read.
    pinned: AtomicBool,
    /// Names the world whose ranks have its elements; unset for constants that no array holds yet.
    world: OnceLock<Arc<DeferredFrees>>,
    /// A number for walks through the graph.
    mark: AtomicU64,
    /// Its own number in the last walk.
    number: AtomicU64,
    /// No rank that it or its operands name is as high as this.
    ranks: AtomicUsize,
}

/// An operation with its operands.
pub(crate) struct Made {
    pub(crate) op: Op,
    pub(crate) operands: Vec<Arc<Node>>,
    /// The function that it applies to blocks, and those which that one applies; most apply none.
    pub(crate) functions: Option<Arc<[Function]>>,
}

/// An array that the ranks keep as long as it is referred to.
pub(crate) struct Stored {
    pub(crate) id: ArrayId,
    pub(crate) home: Arc<Home>,
    /// The tiles of the ranks that this process hosts, once they were fetched.
    pub(crate) tiles: Option<HostedTiles>,
    /// Where to say that it was dropped.
    pub(crate) deferred_frees: Arc<DeferredFrees>,
}

/// Where a stored array lives.
pub(crate) struct Home {
    /// Which rank owns what, and nothing else.
    pub(crate) plain: Distribution,
    /// How it lies in memory, with the room around what is owned.
    pub(crate) room: Distribution,
    /// Equal homes have equal ones.
    pub(crate) fingerprint: u128,
}

impl Home {
    pub(crate) fn new(plain: Distribution, room: Distribution) -> Arc<Self> {
        let fingerprint = room.fingerprint().0;
        Arc::new(Self { plain, room, fingerprint })
    }

    /// True if every rank of its mesh has all of it.
    pub(crate) fn is_copy(&self) -> bool {
        self.plain.axes().is_some_and(|maps| maps.iter().all(|map| map.parts() == 1))
    }
}

/// Tiles by rank.
pub(crate) type HostedTiles = Arc<Vec<(Rank, Arc<Tile>)>>;

impl Drop for Stored {
    fn drop(&mut self) {
        // Dropping never talks to ranks: they hear of it later.
        self.deferred_frees.defer(self.id);
    }
}

impl Node {
    pub(crate) fn new(op: Op, operands: Vec<Arc<Self>>, ty: Type, place: Place) -> Arc<Self> {
        Self::with(Some(Made { op, operands, functions: None }), ty, place, None)
    }

    /// An operation that applies a function to blocks: the first of these.
    pub(crate) fn mapped(
        functions: Arc<[Function]>,
        block: &[usize],
        operands: Vec<Arc<Self>>,
        ty: Type,
        place: Place,
    ) -> Arc<Self> {
        let function = functions.first().map_or_else(String::new, |first| first.name.clone());
        let op = Op::MapBlocks { function, block: block.to_vec() };
        let functions = Some(functions);
        Self::with(Some(Made { op, operands, functions }), ty, place, None)
    }

    /// A node whose elements the ranks keep already.
    pub(crate) fn kept(ty: Type, place: Place, stored: Stored) -> Arc<Self> {
        let node = Self::with(None, ty, place, None);
        node.need_ranks(stored.home.room.mesh().ranks_needed());
        *lock(&node.stored) = Some(stored);
        node
    }

    /// A node that stands for a mistake.
    pub(crate) fn faulty(fault: Fault, ty: Type) -> Arc<Self> {
        let place = fault.place.clone();
        Self::with(None, ty, place, Some(fault))
    }

    /// A node that stands for any block, while a function of blocks is recorded.
    pub(crate) fn block(ty: Type, place: Place) -> Arc<Self> {
        Self::with(None, ty, place, None)
    }

    /// The node for a world that has it in hand. A node belongs to one world for good, and what is
    /// made of nodes of two worlds is a mistake.
    pub(crate) fn in_world(self: Arc<Self>, world: &Arc<DeferredFrees>) -> Arc<Self> {
        match self.fault.is_some()
            || Arc::ptr_eq(self.world.get_or_init(|| Arc::clone(world)), world)
        {
            true => self,
            false => Self::faulty(two_worlds(self.place.clone()), self.ty.clone()),
        }
    }

    /// True if it belongs to another world than this one.
    pub(crate) fn is_stranger(&self, world: &Arc<DeferredFrees>) -> bool {
        self.world.get().is_some_and(|own| !Arc::ptr_eq(own, world))
    }

    fn with(made: Option<Made>, ty: Type, place: Place, fault: Option<Fault>) -> Arc<Self> {
        let world = OnceLock::new();
        let operands = made.iter().flat_map(|made| &made.operands);
        let strangers = operands
            .filter_map(|node| node.world.get())
            .any(|other| !Arc::ptr_eq(world.get_or_init(|| Arc::clone(other)), other));
        let ranks = operands_ranks(made.as_ref());
        let (made, fault) = match strangers {
            true => (None, Some(two_worlds(place.clone()))),
            false => (made, fault),
        };
        let (made, stored) = (Mutex::new(made), Mutex::new(None));
        let (mark, number) = (AtomicU64::new(0), AtomicU64::new(0));
        let (open, was_open) = (Mutex::default(), AtomicBool::new(false));
        let (elsewhere, pinned) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(Self {
            made,
            ty,
            place,
            stored,
            fault,
            open,
            was_open,
            elsewhere,
            pinned,
            world,
            mark,
            number,
            ranks,
        })
    }

    /// No rank that it or its operands name is as high as this.
    pub(crate) fn ranks(&self) -> usize {
        self.ranks.load(Ordering::Relaxed)
    }

    /// Its elements live on ranks below this one.
    pub(crate) fn need_ranks(&self, ranks: usize) {
        self.ranks.fetch_max(ranks, Ordering::Relaxed);
    }

    /// The number that it is, if it is one that is written in the program.
    pub(crate) fn number_value(&self) -> Option<Scalar> {
        match lock(&self.made).as_ref().map(|made| &made.op) {
            Some(Op::Constant(value)) => Some(*value),
            _ => None,
        }
    }

    /// Its operands; none once it is stored.
    pub(crate) fn operands(&self) -> Vec<Arc<Self>> {
        lock(&self.made).as_ref().map(|made| made.operands.clone()).unwrap_or_default()
    }

    pub(crate) fn is_stored(&self) -> bool {
        lock(&self.stored).is_some()
    }

    /// The array that has its elements at this home already, if it is still referred to.
    pub(crate) fn at_home(&self, home: u128) -> Option<Arc<Self>> {
        let known = |node: &Self| !node.was_open.load(Ordering::Relaxed);
        let elsewhere = lock(&self.elsewhere);
        let found =
            elsewhere.iter().find(|(at, _)| *at == home).and_then(|(_, node)| node.upgrade());
        found.filter(|node| known(self) && known(node))
    }

    /// Remembers what has its elements at a home.
    pub(crate) fn remember(&self, home: u128, node: &Arc<Self>) {
        let mut elsewhere = lock(&self.elsewhere);
        elsewhere.retain(|(at, node)| *at != home && node.strong_count() > 0);
        if elsewhere.len() == HOMES_MAX {
            elsewhere.remove(0);
        }
        elsewhere.push((home, Arc::downgrade(node)));
    }

    /// The world refers to it until a program has computed it.
    pub(crate) fn pin(&self) {
        self.pinned.store(true, Ordering::Relaxed);
    }

    /// True if the world refers to it.
    pub(crate) fn is_pinned(&self) -> bool {
        self.pinned.load(Ordering::Relaxed)
    }

    /// True if it stands for any block.
    pub(crate) fn is_block(&self) -> bool {
        lock(&self.made).is_none() && !self.is_stored() && self.fault.is_none()
    }

    /// The number of the last walk that came by.
    pub(crate) fn mark(&self) -> u64 {
        self.mark.load(Ordering::Relaxed)
    }

    pub(crate) fn set_mark(&self, mark: u64) {
        self.mark.store(mark, Ordering::Relaxed);
    }

    /// Gives it its number in a walk; false if it has one already.
    pub(crate) fn meet(&self, mark: u64, number: u64) -> bool {
        let new = self.mark() != mark;
        if new {
            self.set_mark(mark);
            self.number.store(number, Ordering::Relaxed);
        }
        new
    }

    /// Its number in the last walk.
    pub(crate) fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// The type of its elements.
    pub(crate) fn dtype(&self) -> DType {
        self.ty.dtype().unwrap_or(DType::F64)
    }

    /// Its lengths.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.ty.shape().iter().map(|dim| dim.unwrap_or(0)).collect()
    }
}

/// The ranks that operands name.
fn operands_ranks(made: Option<&Made>) -> AtomicUsize {
    let ranks = made.and_then(|made| made.operands.iter().map(|node| node.ranks()).max());
    AtomicUsize::new(ranks.unwrap_or(0))
}

/// The fault of an operation on arrays of two worlds.
pub(crate) fn two_worlds(place: Place) -> Fault {
    Fault::new(FaultKind::TwoWorlds, place)
}

/// What a lock guards. A thread that panicked leaves it as it was: every change is one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn taken<T>(mutex: &mut Mutex<Option<T>>) -> Option<T> {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner).take()
}

impl Drop for Node {
    fn drop(&mut self) {
        // Chains of operations can be long: no recursion.
        let mut open: Vec<Arc<Self>> =
            taken(&mut self.made).map(|made| made.operands).unwrap_or_default();
        while let Some(node) = open.pop() {
            if let Ok(mut last) = Arc::try_unwrap(node) {
                open.extend(taken(&mut last.made).into_iter().flat_map(|made| made.operands));
            }
        }
    }
}
