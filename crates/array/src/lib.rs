//! Arrays that read like NumPy's: lazy, distributed, the same bits on any number of ranks.
//!
//! An [`Array`] is a cheap handle. Operations on it are recorded; they run, fused and with the least
//! data moved, when elements are asked for: [`Array::to_vec`], [`Array::item`], [`Array::compute`], printing.
//! A slice is a view: what is assigned through it is seen by all views of the same array.
//!
//! Mistakes never panic: an array that cannot be, such as the sum of arrays whose shapes do not fit,
//! is a [`Fault`] that names the line where it was written, given to the caller that asks for elements.
//!
//! Must never contain how ranks are started, or loops over elements.
//!
//! ```
//! use pantile::prelude::*;
//!
//! let world = Session::threads(3)?;
//! let u = world.zeros(&[6, 6]);
//! u.set(s![0, ..], 1.0);
//! for _ in 0..2 {
//!     let sum = u.get(s![..-2, 1..-1]) + u.get(s![2.., 1..-1]) + u.get(s![1..-1, ..-2]) + u.get(s![1..-1, 2..]);
//!     u.set(s![1..-1, 1..-1], 0.25 * sum);
//! }
//! assert_eq!(u.get(s![1, 1..-1]).to_vec::<f64>()?, [0.3125, 0.375, 0.375, 0.3125]);
//! assert_eq!(u.sum().item::<f64>()?, 7.625);
//! # Ok::<(), Fault>(())
//! ```

mod blocks;
mod call;
mod compile_cache;
mod create;
mod deferred_free;
mod error;
mod evaluate;
mod fault;
mod fault_kind;
mod functions;
mod given;
mod graph;
mod held;
mod host_read;
mod memory;
mod node;
mod open;
mod operators;
mod pipeline;
mod pipeline_error;
mod places;
mod products;
mod program;
mod reads;
mod reductions;
mod scalar;
mod sections;
mod session;
mod shapes;
mod show;
mod slice;
mod views;

use std::cell::RefCell;
use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

use pantile_engine::DType;
use pantile_ir::{Index, Op, Slice, Type};
use smallvec::smallvec;

pub use error::ArrayError;
pub use evaluate::Evaluation;
pub use fault::Fault;
pub use fault_kind::{FaultKind, TileSize};
pub use open::{Brought, Note, OpenPiece, Opening};
pub use pantile_ir::{Binary, Boundary, Place, Random, Reduction, Unary};
pub use pipeline::{Combine, Split};
pub use pipeline_error::{PipelineError, ResultFault};
pub use scalar::Number;
pub use sections::{Section, part_of, runs_of};
pub use session::Session;
pub use slice::{SliceItem, by};
pub use views::{Seen, SeenAxes};

use node::{Node, Operands, lock};
use views::{ViewStep, dense_strides};

/// Operations that are recorded at most before they run by themselves.
const MOST_PENDING: usize = 4096;

/// An array on all ranks: a handle that is cheap to clone. A clone is the same array; see
/// [`Array::copy`].
#[derive(Clone)]
pub struct Array {
    world: Session,
    base: Arc<Base>,
    /// Views of views, from the base on.
    view: ViewChain,
    /// What was last seen through a view that brings elements into another order: computed once, as
    /// long as the base stays as it is.
    seen: Option<Arc<Mutex<SeenVersion>>>,
}

/// Views of views; most arrays are none.
#[derive(Clone, PartialEq)]
struct ViewChain(Option<Arc<[ViewStep]>>);

impl Deref for ViewChain {
    type Target = [ViewStep];

    fn deref(&self) -> &[ViewStep] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// What handles of one array, and views of it, have in common.
struct Base {
    /// The node that has its elements now.
    node: Mutex<Arc<Node>>,
    /// The type of its elements, which no assignment changes.
    dtype: DType,
    /// True if something was wrong with it when it was recorded.
    is_faulty: bool,
}

impl Deref for Base {
    type Target = Mutex<Arc<Node>>;

    fn deref(&self) -> &Self::Target {
        &self.node
    }
}

/// What was seen, and of which version of the base.
type SeenVersion = Option<(Weak<Node>, Arc<Node>)>;

thread_local! {
    /// The line that stands for those of this program; see [`written_at`].
    static WRITTEN: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// Calls `f`; whatever it records was written at `place`. For doors to other languages, whose users
/// want to hear of their own lines.
pub fn written_at<T>(place: Place, f: impl FnOnce() -> T) -> T {
    struct Back(Option<Place>);
    impl Drop for Back {
        fn drop(&mut self) {
            WRITTEN.set(self.0.take());
        }
    }
    let _back = Back(WRITTEN.replace(Some(place)));
    f()
}

/// The line that calls a function of the user's.
#[track_caller]
fn here() -> Place {
    if let Some(place) = WRITTEN.with_borrow(Clone::clone) {
        return place;
    }
    let caller = Location::caller();
    Place { file: caller.file().into(), line: caller.line(), column: caller.column() }
}

impl Array {
    pub(crate) fn of(world: &Session, node: Arc<Node>) -> Self {
        let node = node.in_world(world.inner.number);
        let (dtype, is_faulty) = (node.dtype(), node.fault.is_some());
        let base = Base { node: Mutex::new(node), dtype, is_faulty };
        let array =
            Self { world: world.clone(), base: Arc::new(base), view: ViewChain(None), seen: None };
        array.count();
        array
    }

    /// Counts an operation; runs when too many wait.
    fn count(&self) {
        let inner = &self.world.inner;
        let pending = inner.pending.fetch_add(1, Ordering::Relaxed);
        if pending >= MOST_PENDING && inner.recording.load(Ordering::Relaxed) == 0 {
            // The caller that asks for elements later is told what went wrong.
            let _ = self.compute();
            self.world.limit_reads();
        }
    }

    /// The node that has its elements now.
    pub(crate) fn node(&self, place: &Place) -> Arc<Node> {
        let base = Arc::clone(&lock(&self.base));
        let see = || self.view.iter().fold(Arc::clone(&base), |node, view| view.of(&node, place));
        let Some(seen) = &self.seen else { return see() };
        // Others may have written since.
        if base.opening().is_some() {
            return see();
        }
        let mut seen = lock(seen);
        match &*seen {
            Some((of, node)) if std::ptr::eq(of.as_ptr(), Arc::as_ptr(&base)) => Arc::clone(node),
            _ => {
                let node = see();
                *seen = Some((Arc::downgrade(&base), Arc::clone(&node)));
                node
            }
        }
    }

    /// The result of an operation, or the first thing that is wrong with it.
    pub(crate) fn record(
        world: &Session,
        op: Op,
        operands: Operands,
        ty: Result<Type, ArrayError>,
        place: Place,
    ) -> Self {
        let fault = operands.iter().find_map(|node| node.fault.clone());
        let ty = ty.and_then(|ty| {
            let mut lengths = ty.shape().iter().flatten();
            let count = lengths.try_fold(1isize, |count, length| {
                count.checked_mul(isize::try_from(*length).ok()?)
            });
            // Only what does not fit is looked at closely.
            if count.is_none() {
                elements(&ty.shape().iter().flatten().copied().collect::<Vec<_>>())?;
            }
            Ok(ty)
        });
        let node = match (fault, ty) {
            (Some(fault), ty) => Node::faulty(fault, ty.unwrap_or(Type::array(&[], DType::F64))),
            (None, Ok(ty)) => Node::new(op, operands, ty, place),
            (None, Err(error)) => {
                Node::faulty(Fault::new(error, place), Type::array(&[], DType::F64))
            }
        };
        Self::of(world, node)
    }

    /// The session that it belongs to.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.world
    }

    /// The length of each axis.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        self.view.last().map_or_else(|| lock(&self.base).shape(), |view| view.shape.clone())
    }

    /// Number of axes.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.view.last().map_or_else(|| lock(&self.base).ty.shape().len(), |view| view.shape.len())
    }

    /// Number of elements.
    #[must_use]
    pub fn size(&self) -> usize {
        let product = |count: usize, length: usize| count.saturating_mul(length);
        match self.view.last() {
            Some(view) => elements(&view.shape).unwrap_or(usize::MAX),
            // Recorded only if numbers go so far.
            None => lock(&self.base).ty.shape().iter().map(|dim| dim.unwrap_or(0)).fold(1, product),
        }
    }

    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.base.dtype
    }

    /// True if something was wrong with it when it was recorded; [`Array::fault`] says what.
    #[must_use]
    pub fn is_faulty(&self) -> bool {
        self.base.is_faulty
    }

    /// What is wrong with it, if something is.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        lock(&self.base).fault.clone()
    }

    /// A view of a slice: it shares its elements with this array. An index for every axis gives the
    /// element as a value of this moment instead, as in NumPy: later assignments do not change it.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let a = world.arange(0.0, 4.0, 1.0);
    /// let (first, front) = (a.get(s![0]), a.get(s![..1]));
    /// a.set(s![0], 7.0);
    /// assert_eq!((first.item::<f64>()?, front.item::<f64>()?), (0.0, 7.0));
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn get(&self, slice: impl AsRef<[SliceItem]>) -> Self {
        let slice = slice.as_ref();
        let indices = slice.iter().filter(|item| matches!(item, SliceItem::At(_))).count();
        let is_element = indices == slice.len() && indices == self.ndim();
        match self.slice(slice, &here()) {
            Ok(view) if is_element => self.element(view),
            Ok(view) => self.viewed(view),
            Err(fault) => self.faulty(fault),
        }
    }

    /// A view of a slice, also where every axis has an index: assigning to it changes this array.
    #[track_caller]
    #[must_use]
    pub fn view(&self, slice: impl AsRef<[SliceItem]>) -> Self {
        match self.slice(slice.as_ref(), &here()) {
            Ok(view) => self.viewed(view),
            Err(fault) => self.faulty(fault),
        }
    }

    fn slice(&self, slice: &[SliceItem], place: &Place) -> Result<ViewStep, Fault> {
        ViewStep::slice(&self.shape(), slice).map_err(|error| Fault::new(error, place.clone()))
    }

    /// What stands for a part that is not there.
    fn faulty(&self, fault: Fault) -> Self {
        Self::of(&self.world, Node::faulty(fault, Type::array(&[], self.dtype())))
    }

    /// This, seen through one more view.
    pub(crate) fn viewed(&self, view: ViewStep) -> Self {
        if view.is_all() {
            return self.clone();
        }
        let mut views = self.view.to_vec();
        match views.last().and_then(|last| last.then(&view)) {
            Some(both) => {
                views.pop();
                views.push(both);
            }
            None => views.push(view),
        }
        let ordered = views.last().is_none_or(ViewStep::is_slice);
        let view = ViewChain(Some(views.into()));
        let seen = (!ordered).then(|| Arc::new(Mutex::new(None)));
        Self { world: self.world.clone(), base: Arc::clone(&self.base), view, seen }
    }

    /// How far neighbours along the axes would be apart in the memory of the base, if one machine had
    /// it all.
    pub(crate) fn strides(&self) -> Option<Vec<isize>> {
        let dense = dense_strides(&lock(&self.base).shape());
        self.view.iter().try_fold(dense, |strides, view| view.strides(&strides))
    }

    /// The axes of this as parts of the axes of the array that it is a view of; `None` if elements
    /// are in another shape.
    #[must_use]
    pub fn seen_axes(&self) -> Option<SeenAxes> {
        views::seen_axes(&lock(&self.base).shape(), &self.view)
    }

    /// True if it is a view of another array.
    #[must_use]
    pub fn is_view(&self) -> bool {
        !self.view.is_empty()
    }

    /// True if its elements are computed, or those of the array that it is a view of.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        lock(&self.base).is_stored()
    }

    /// Assigns to a slice; every view of the same elements sees it. The value is broadcast. An
    /// assignment that cannot be makes the array a fault; see [`Array::try_set`].
    #[track_caller]
    pub fn set(&self, slice: impl AsRef<[SliceItem]>, value: impl Into<Operand>) {
        let refused = self.try_set(slice, value);
        self.spoil(refused);
    }

    /// Assigns to all elements; every view of them sees it. The value is broadcast. An assignment
    /// that cannot be makes the array a fault; see [`Array::try_assign`].
    #[track_caller]
    pub fn assign(&self, value: impl Into<Operand>) {
        let refused = self.try_assign(value);
        self.spoil(refused);
    }

    /// Assigns to a slice as [`Array::set`] does, or changes nothing.
    ///
    /// # Errors
    /// There is no such slice, the value has another shape or is a fault itself.
    #[track_caller]
    pub fn try_set(
        &self,
        slice: impl AsRef<[SliceItem]>,
        value: impl Into<Operand>,
    ) -> Result<(), Fault> {
        let place = here();
        self.viewed(self.slice(slice.as_ref(), &place)?).assign_at(value.into(), &place)
    }

    /// Assigns to all elements as [`Array::assign`] does, or changes nothing.
    ///
    /// # Errors
    /// The value has another shape or is a fault itself.
    #[track_caller]
    pub fn try_assign(&self, value: impl Into<Operand>) -> Result<(), Fault> {
        self.assign_at(value.into(), &here())
    }

    /// Leaves an assignment that was refused to the next caller that asks for elements.
    fn spoil(&self, assigned: Result<(), Fault>) {
        if let Err(fault) = assigned {
            let mut base = lock(&self.base);
            *base = Node::faulty(fault, base.ty.clone());
        }
    }

    fn assign_at(&self, value: Operand, place: &Place) -> Result<(), Fault> {
        let value = value.array(&self.world, self.dtype(), place);
        if !Arc::ptr_eq(&self.world.inner, &value.world.inner) {
            return Err(node::two_worlds(place.clone()));
        }
        // `a[1:3] += 1` of Python ends by assigning a view to itself.
        if Arc::ptr_eq(&self.base, &value.base) && self.view == value.view {
            return Ok(());
        }
        let changed = self.followed(self.changed(&value, place)?, place);
        *lock(&self.base) = changed;
        self.count();
        Ok(())
    }

    /// The next version of the base, with `value` at this view.
    fn changed(&self, value: &Self, place: &Place) -> Result<Arc<Node>, Fault> {
        let source = value.node(place);
        let base = Arc::clone(&lock(&self.base));
        if let Some(fault) = base.fault.clone().or_else(|| source.fault.clone()) {
            return Err(fault);
        }
        let shape = self.shape();
        let dims =
            |shape: &[usize]| -> Vec<Option<usize>> { shape.iter().copied().map(Some).collect() };
        let together = pantile_ir::infer::broadcast(&[&dims(&source.shape()), &dims(&shape)]);
        if together != Ok(dims(&shape)) {
            let (got, expected) = (source.shape(), shape);
            return Err(Fault::new(FaultKind::Assignment { got, expected }, place.clone()));
        }
        // All versions on the way from the base to this view.
        let mut bases = vec![base];
        for view in self.view.iter() {
            let next = view.of(&bases[bases.len() - 1], place);
            bases.push(next);
        }
        let whole = Slice {
            offsets: vec![Index::Known(0); shape.len()],
            sizes: shape.iter().map(|size| known(*size)).collect(),
            strides: vec![Index::Known(1); shape.len()],
        };
        let last = Arc::clone(&bases[bases.len() - 1]);
        let ty = last.ty.clone();
        // A single view is written at once, through its own slice.
        let mut changed = match self.view.len() {
            0 => Node::new(
                Op::ImmutableInsertSlice(whole),
                smallvec![source, last],
                ty,
                place.clone(),
            ),
            _ => spread(source, &shape, place),
        };
        for (view, base) in self.view.iter().zip(&bases).rev() {
            changed = view.put(changed, base, place);
        }
        Ok(changed)
    }

    /// Its elements in memory of their own: later assignments are not seen.
    #[track_caller]
    #[must_use]
    pub fn copy(&self) -> Self {
        let place = here();
        let node = self.node(&place);
        let ty = Type::array(&node.shape(), self.dtype());
        Self::record(&self.world, Op::Copy, smallvec![node], Ok(ty), place)
    }
}

/// The number of elements of a shape, if numbers go so far.
fn elements(shape: &[usize]) -> Result<usize, ArrayError> {
    let count = shape.iter().try_fold(1usize, |count, length| count.checked_mul(*length));
    let count = if shape.contains(&0) { Some(0) } else { count };
    count
        .filter(|count| isize::try_from(*count).is_ok())
        .ok_or_else(|| ArrayError::TooManyElements { shape: shape.to_vec() })
}

/// A node seen at a larger shape.
fn spread(node: Arc<Node>, shape: &[usize], place: &Place) -> Arc<Node> {
    if node.shape() == shape {
        return node;
    }
    let ty = Type::array(shape, node.ty.dtype().unwrap_or(DType::F64));
    Node::new(Op::Broadcast, smallvec![node], ty, place.clone())
}

fn known(size: usize) -> Index {
    Index::Known(i64::try_from(size).unwrap_or(i64::MAX))
}

/// What stands on one side of an operator: an array or a number.
#[derive(Clone)]
pub enum Operand {
    /// An array.
    Array(Array),
    /// A number; takes the type of the array that it meets, as far as it fits.
    Number(Number),
}

impl Operand {
    /// The operand as an array, for one of elements of type `other`.
    pub(crate) fn array(self, world: &Session, other: DType, place: &Place) -> Array {
        match self {
            Self::Array(array) => array,
            Self::Number(number) => number.array(world, other, place),
        }
    }

    /// The same, only what was recorded: for what needs no handle of it.
    pub(crate) fn node(self, other: DType, place: &Place) -> Arc<Node> {
        match self {
            Self::Array(array) => array.node(place),
            Self::Number(number) => number.node(other, place),
        }
    }
}

impl From<Array> for Operand {
    fn from(array: Array) -> Self {
        Self::Array(array)
    }
}

impl From<&Array> for Operand {
    fn from(array: &Array) -> Self {
        Self::Array(array.clone())
    }
}

impl<N: Into<Number>> From<N> for Operand {
    fn from(number: N) -> Self {
        Self::Number(number.into())
    }
}

// Handles may go from thread to thread.
const _: fn() = || {
    fn both<T: Send + Sync>() {}
    both::<Array>();
    both::<Session>();
};
