//! What a program becomes: steps over slots, the same on every rank.

use std::collections::BTreeSet;

use pantile_geometry::Distribution;
use pantile_lanes::{DType, LoopBody};

use super::busy::Busy;
use super::{Contract, Lent};
use pantile_ir::{Place, Type};

/// A place where an array lives while a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub(crate) u32);

impl SlotId {
    /// Its place in the list of slots.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One array (or scalar, as an array without axes) that a program makes.
///
/// Every slot is written by one step only (and by loops, once per turn); which slots share memory
/// is decided at the end.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The type of its elements.
    pub dtype: DType,
    /// Where its elements live. Held is owned; room includes every halo that is asked for.
    pub home: Distribution,
    /// The memory it lives in: slots with the same number share it, one after the other.
    pub buffer: usize,
    /// What it is in listings.
    pub name: String,
}

/// A program ready to run.
#[derive(Clone, Debug)]
pub struct Executable {
    /// Number of ranks it was made for.
    pub ranks: usize,
    /// Its arrays.
    pub slots: Vec<Slot>,
    /// Number of memories that the slots live in.
    pub buffers: usize,
    /// Where its arguments are put, and their types.
    pub arguments: Vec<(SlotId, Type)>,
    /// Where its results are found, and their types.
    pub results: Vec<(SlotId, Type)>,
    /// How arguments lie in the memory that callers lend, if they do: then results are given with
    /// the room around them, else without, and arguments are copied in.
    pub lent: Option<Vec<Lent>>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// Slots that movements fill and the loop right behind them alone reads: ranks that see each
    /// other's memory need not fill them.
    pub remote_reads: BTreeSet<SlotId>,
    /// Who has something to do; not to be asked before all is lowered.
    pub(super) busy: Busy,
}

impl Executable {
    /// The program that does nothing but move an array that is lent, as it lies in `source`, to
    /// `target`, halos included.
    #[must_use]
    pub fn moving(
        ranks: usize,
        ty: (DType, Type),
        (source, target): (&Distribution, &Distribution),
        (name, place): (&'static str, Place),
    ) -> Self {
        let (dtype, ty) = ty;
        let slot = |home: &Distribution, buffer: usize| Slot {
            dtype,
            home: home.clone(),
            buffer,
            name: format!("%{buffer}"),
        };
        let (from, to) = (SlotId(0), SlotId(1));
        let step = Move { name, from, to, source: source.clone(), target: target.clone(), place };
        Self {
            ranks,
            slots: vec![slot(source, 0), slot(target, 1)],
            buffers: 2,
            arguments: vec![(from, ty.clone())],
            results: vec![(to, ty)],
            lent: Some(vec![Lent { home: source.clone(), spent: false }]),
            steps: vec![Step::Move(Box::new(step))],
            remote_reads: BTreeSet::new(),
            busy: Busy::default(),
        }
    }
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// A fused loop.
    Compute(Box<Compute>),
    /// Elements move to another slot.
    Move(Box<Move>),
    /// Halos are filled in place.
    Exchange(Box<Exchange>),
    /// Sums in long form become numbers.
    Finish(Finish),
    /// The product along axes in a fixed order.
    Product(Product),
    /// The product of two arrays of matrices.
    Contract(Box<Contract>),
    /// The same elements in row-major order in another shape; no rank sends anything.
    Reshape {
        /// From here.
        from: SlotId,
        /// To here.
        to: SlotId,
    },
    /// Steps that are done again and again.
    Repeat(Box<Repeat>),
}

/// How one axis of an array is read or written, by the indices of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexMap {
    /// Always this index.
    Fixed(i64),
    /// `offset + step * k`, where `k` counts along an axis of the loop.
    Moves {
        /// The axis of the loop.
        axis: usize,
        /// The index for `k = 0`.
        offset: i64,
        /// The distance between indices.
        step: i64,
    },
}

/// Which lane of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A real element.
    Whole,
    /// The real part.
    Real,
    /// The imaginary part.
    Imaginary,
}

/// Where an input of a loop body comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Read {
    /// Elements of a slot, one [`IndexMap`] per axis of the slot.
    Slot(SlotId, Part, Vec<IndexMap>),
    /// `offset + sum(strides * k)` as an `I64`.
    Index {
        /// The number for the first element of the loop.
        offset: i64,
        /// By axis of the loop.
        strides: Vec<i64>,
    },
}

/// What happens to an output of a loop body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Write {
    /// It becomes a lane of the elements of a slot that lives where the loop runs.
    Slot(SlotId, Part),
    /// It is combined along the reduced axes into a slot: into one element of it, if a loop over
    /// the reduced axes alone makes several of them, else along the other axes.
    Fold(Fold, SlotId, Option<Vec<usize>>),
}

/// How the values of a loop are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fold {
    /// Exact sum of floats, in long form: the slot has a last axis of words.
    Exact,
    /// Exact sum of floats, divided by a number and rounded once: where one loop of one rank sees
    /// all of them.
    Rounded(u64),
    /// Sum of floats in any order, rounded at every step.
    Plain,
    /// Wrapping sum of integers.
    Sum,
    /// Wrapping product of integers.
    Prod,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Or.
    Any,
    /// And.
    All,
}

/// One axis of the part of an array that a loop goes over: `offset + step * k` for `k < size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StridedRange {
    /// The first index.
    pub offset: i64,
    /// The distance; at least 1.
    pub step: i64,
    /// The number of indices.
    pub size: usize,
}

/// A fused loop: a body applied to every element of a region of a distributed index space, each
/// rank doing what it owns.
#[derive(Clone, Debug)]
pub struct Compute {
    /// Who does what: the distribution of the array that the region is a part of.
    pub domain: Distribution,
    /// The region, one stretch per axis of the domain; the indices of the loop are its `k`s.
    pub region: Vec<StridedRange>,
    /// Where the inputs of the body come from.
    pub reads: Vec<Read>,
    /// What is computed for one element.
    pub body: LoopBody,
    /// What becomes of the outputs of the body.
    pub writes: Vec<Write>,
    /// The axes of the loop that folds reduce, ascending.
    pub reduced: Vec<usize>,
    /// Slots whose elements outside of the region are taken from another slot of the same home.
    pub pass_through: Vec<(SlotId, SlotId)>,
    /// Slots of which it reads more than ranks own.
    pub halos: Vec<SlotId>,
    /// Per axis of the domain, the indices that each coordinate computes although it owns fewer;
    /// empty if there are none such.
    pub overcompute: Vec<Option<Vec<(i64, i64)>>>,
    /// Where it was written.
    pub place: Place,
}

impl Compute {
    /// The slots that it writes, once for each lane.
    pub fn stored(&self) -> impl Iterator<Item = SlotId> {
        self.writes.iter().map(|write| match write {
            Write::Slot(slot, _) | Write::Fold(_, slot, _) => *slot,
        })
    }
}

/// A movement from one slot to another.
#[derive(Clone, Debug)]
pub struct Move {
    /// What it is called in messages.
    pub name: &'static str,
    /// From here.
    pub from: SlotId,
    /// To here.
    pub to: SlotId,
    /// How the source is looked at.
    pub source: Distribution,
    /// What arrives.
    pub target: Distribution,
    /// Where it was written.
    pub place: Place,
}

/// Halos filled in place, of one array or of several at once.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// What is filled: one message per neighbour carries all of it.
    pub parts: Vec<ExchangePart>,
    /// A loop that needs these halos. What it does without them is done while they travel.
    pub during: Option<Box<Compute>>,
    /// Where it was written.
    pub place: Place,
}

/// The halos of one array.
#[derive(Clone, Debug)]
pub struct ExchangePart {
    /// The slot.
    pub slot: SlotId,
    /// Before: held is owned.
    pub source: Distribution,
    /// After.
    pub target: Distribution,
}

/// Sums in long form become numbers.
#[derive(Clone, Debug)]
pub struct Finish {
    /// The sums: the last axis are the words.
    pub from: SlotId,
    /// The numbers.
    pub to: SlotId,
    /// Which lane of the numbers.
    pub part: Part,
    /// Divided by this before the one rounding.
    pub count: Option<u64>,
    /// Where it was written.
    pub place: Place,
}

/// The product of elements along uncut axes, over the fixed tree.
#[derive(Clone, Debug)]
pub struct Product {
    /// The elements; the reduced axes are cut nowhere.
    pub from: SlotId,
    /// The products; lives where `from` lives, without the reduced axes.
    pub to: SlotId,
    /// The reduced axes, ascending.
    pub axes: Vec<usize>,
    /// Where it was written.
    pub place: Place,
}

/// How often steps are done again.
#[derive(Clone, Debug)]
pub enum TripCount {
    /// From lower to upper by step, all scalars of type `I64`; the counter is a slot too.
    Count {
        /// The first value of the counter.
        lower: SlotId,
        /// It stays below this.
        upper: SlotId,
        /// It grows by this; at least 1.
        step: SlotId,
        /// The counter.
        counter: SlotId,
        /// How many turns that is, if it is known before the program runs.
        turns: Option<u64>,
    },
    /// As long as a truth value holds, computed before every turn.
    While {
        /// Steps that compute it.
        before: Vec<Step>,
        /// The truth value.
        condition: SlotId,
    },
}

/// Steps that are done again and again, with values carried from one turn to the next.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// How often.
    pub turns: TripCount,
    /// What is done in every turn.
    pub body: Vec<Step>,
    /// For every carried value: its slot before the loop, in the turn, and for the next turn.
    pub carried: Vec<Carried>,
    /// Where it was written.
    pub place: Place,
}

/// A value carried through the turns of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// Its value before the loop.
    pub initial: SlotId,
    /// Its value in a turn, and after the loop.
    pub current: SlotId,
    /// Its value for the next turn.
    pub next: SlotId,
}
