//! What is recorded: operations that wait until their result is asked for.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pantile_engine::{ArrayId, DType, Tile};
use pantile_geometry::{Distribution, Rank};
use pantile_ir::{Function, Op, Place, PlacedAt, Scalar, Type};
use smallvec::SmallVec;

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
    /// The number of the world whose ranks have its elements; 0 for constants that no array holds yet.
    world: AtomicU64,
    /// A number for walks through the graph.
    mark: AtomicU64,
    /// Its own number in the last walk.
    number: AtomicU64,
    /// No rank that it or its operands name is as high as this.
    ranks: AtomicUsize,
}

/// Most operations have one or two.
pub(crate) type Operands = SmallVec<[Arc<Node>; 2]>;

/// An operation with its operands.
pub(crate) struct Made {
    pub(crate) op: Op,
    pub(crate) operands: Operands,
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
    pub(crate) plain: Arc<PlacedAt>,
    /// How it lies in memory, with the room around what is owned.
    pub(crate) room: Distribution,
    /// Equal homes have equal ones.
    pub(crate) fingerprint: u128,
    /// No rank of its mesh is as high as this.
    pub(crate) ranks: usize,
}

impl Home {
    pub(crate) fn new(plain: Distribution, room: Distribution) -> Arc<Self> {
        let fingerprint = room.fingerprint().0;
        let ranks = room.mesh().ranks_needed();
        Arc::new(Self { plain: PlacedAt::new(plain), room, fingerprint, ranks })
    }

    /// The same where there is no room around what is owned.
    pub(crate) fn without_room(plain: Arc<PlacedAt>) -> Arc<Self> {
        let (room, fingerprint) = (plain.home().clone(), plain.fingerprint());
        let ranks = room.mesh().ranks_needed();
        Arc::new(Self { plain, room, fingerprint, ranks })
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
    pub(crate) fn new(op: Op, operands: Operands, ty: Type, place: Place) -> Arc<Self> {
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
        let (operands, functions) = (operands.into(), Some(functions));
        Self::with(Some(Made { op, operands, functions }), ty, place, None)
    }

    /// A node whose elements the ranks keep already.
    pub(crate) fn kept(ty: Type, place: Place, stored: Stored) -> Arc<Self> {
        let node = Self::with(None, ty, place, None);
        node.need_ranks(stored.home.ranks);
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
    pub(crate) fn in_world(self: Arc<Self>, world: u64) -> Arc<Self> {
        let order = Ordering::Relaxed;
        if self.world() == 0 {
            // Another thread may take it into a world of its own: the first one has it.
            let _ = self.world.compare_exchange(0, world, order, order);
        }
        match self.fault.is_some() || !self.is_stranger(world) {
            true => self,
            false => Self::faulty(two_worlds(self.place.clone()), self.ty.clone()),
        }
    }

    fn world(&self) -> u64 {
        self.world.load(Ordering::Relaxed)
    }

    /// True if it belongs to another world than this one.
    pub(crate) fn is_stranger(&self, world: u64) -> bool {
        ![0, world].contains(&self.world())
    }

    fn with(made: Option<Made>, ty: Type, place: Place, fault: Option<Fault>) -> Arc<Self> {
        let operands = made.as_ref().map_or(&[][..], |made| &made.operands);
        let mut worlds = operands.iter().map(|node| node.world()).filter(|world| *world != 0);
        let world = worlds.next().unwrap_or(0);
        if worlds.any(|other| other != world) {
            return Self::faulty(two_worlds(place), ty);
        }
        let ranks = operands.iter().map(|node| node.ranks()).max().unwrap_or(0);
        // In place: what is moved about here is moved for every operation.
        Arc::new(Self {
            made: Mutex::new(made),
            ty,
            place,
            stored: Mutex::new(None),
            fault,
            open: Mutex::default(),
            was_open: AtomicBool::new(false),
            elsewhere: Mutex::default(),
            pinned: AtomicBool::new(false),
            world: AtomicU64::new(world),
            mark: AtomicU64::new(0),
            number: AtomicU64::new(0),
            ranks: AtomicUsize::new(ranks),
        })
    }

    /// No rank that it or its operands name is as high as this.
    pub(crate) fn ranks(&self) -> usize {
        self.ranks.load(Ordering::Relaxed)
    }

    /// Its elements live on ranks below this one.
    pub(crate) fn need_ranks(&self, ranks: usize) {
        if ranks > self.ranks() {
            self.ranks.fetch_max(ranks, Ordering::Relaxed);
        }
    }

    /// The number that it is, if it is one that is written in the program.
    pub(crate) fn number_value(&self) -> Option<Scalar> {
        match lock(&self.made).as_ref().map(|made| &made.op) {
            Some(Op::Constant(value)) => Some(*value),
            _ => None,
        }
    }

    /// Its operands; none once it is stored.
    pub(crate) fn operands(&self) -> Operands {
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
        let mut open = taken(&mut self.made).map(|made| made.operands).unwrap_or_default();
        while let Some(node) = open.pop() {
            if let Ok(mut last) = Arc::try_unwrap(node) {
                open.extend(taken(&mut last.made).into_iter().flat_map(|made| made.operands));
            }
        }
    }
}
