//! Element reads: `a[i]` with an index for every axis, the value of that moment.
//!
//! A read is recorded like every operation, and refers to the version of the array that it reads. The
//! next program that touches this version computes the read too, before the version is written over;
//! so the version dies, and a loop that keeps `u[i]` of every step keeps numbers, not arrays.
//!
//! Where several processes run the same program, handles need not end on all of them at the same time.
//! There the world refers to a read until a program has computed it, so that all processes record the
//! same programs.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use pantile_ir::{Index, Op, Type};

use super::fault::Fault;
use super::graph::Graph;
use super::node::{Made, Node, lock};
use super::session::Session;
use super::views::ViewStep;
use super::{Array, MOST_PENDING, here};

/// Reads that are not computed yet, in the order in which they were recorded.
#[derive(Default)]
pub(crate) struct Reads {
    pending: Vec<Weak<Node>>,
    /// The same, where the world refers to them; see [`Node::is_pinned`].
    pinned: Vec<Arc<Node>>,
    /// Once there are so many, those whose handles are gone are left out.
    limit: usize,
}

impl Reads {
    fn add(&mut self, read: &Arc<Node>, pin: bool) {
        if self.pending.len() >= self.limit {
            self.pending.retain(|one| one.strong_count() > 0);
            self.limit = (2 * self.pending.len()).max(64);
        }
        self.pending.push(Arc::downgrade(read));
        if pin {
            read.pin();
            self.pinned.push(Arc::clone(read));
        }
    }

    fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.pinned.is_empty()
    }

    /// Forgets the reads that a walk met: their program has run.
    fn computed(&mut self, mark: u64) {
        self.pending.retain(|one| one.upgrade().is_some_and(|read| read.mark() != mark));
        self.pinned.retain(|read| read.mark() != mark);
    }
}

impl Array {
    /// The only element of a view, as it is now.
    #[track_caller]
    pub(crate) fn element(&self, view: ViewStep) -> Self {
        let base = Arc::clone(&lock(&self.base));
        let view = match self.view.is_empty() {
            true => view,
            false => {
                let chain = self.view.iter().rev();
                let index = chain.fold(view.through(&[]), |index, view| view.through(&index));
                ViewStep::element(&base.shape(), &index)
            }
        };
        let array = Self::of(&self.world, view.of(&base, &here()));
        let inner = &self.world.inner;
        if inner.recording.load(Ordering::Relaxed) == 0 {
            let pin = inner.is_spread;
            let mut reads = lock(&inner.reads);
            reads.add(&lock(&array.base), pin);
            inner.has_reads.store(true, Ordering::Relaxed);
            drop(reads);
            // Others may write to open memory at any time.
            if base.opening().is_some() && !pin {
                // The caller who looks at it gets to know what went wrong.
                let _ = array.compute();
            }
        }
        array
    }
}

impl Session {
    /// What these targets need, and the reads of what is needed for them: first, so that each comes
    /// before the next version of what it reads.
    #[inline(always)]
    pub(crate) fn graph_with_reads(&self, targets: &[Arc<Node>]) -> Result<Graph, Fault> {
        let graph = self.graph(targets, &super::evaluate::ends)?;
        if !self.inner.has_reads.load(Ordering::Relaxed) {
            return Ok(graph);
        }
        let reads: Vec<Arc<Node>> = {
            let reads = lock(&self.inner.reads);
            let pending = reads.pending.iter().filter_map(Weak::upgrade);
            pending.filter(|read| graph.touches(read)).collect()
        };
        // A read that is the only target is in place already.
        if reads.iter().all(|read| targets.iter().any(|target| Arc::ptr_eq(target, read))) {
            return Ok(graph);
        }
        drop(graph);
        let all: Vec<Arc<Node>> = reads.iter().chain(targets).cloned().collect();
        self.graph(&all, &super::evaluate::ends)
    }

    /// Forgets the reads that a program has computed.
    pub(crate) fn reads_computed(&self, graph: &Graph) {
        if !self.inner.has_reads.load(Ordering::Relaxed) {
            return;
        }
        let mut reads = lock(&self.inner.reads);
        reads.computed(graph.mark);
        self.inner.has_reads.store(!reads.is_empty(), Ordering::Relaxed);
    }

    /// Computes the reads that the world refers to, if they are too many.
    pub(crate) fn limit_reads(&self) {
        let pinned = lock(&self.inner.reads).pinned.clone();
        if pinned.len() >= MOST_PENDING {
            let _ = self.evaluate(&pinned, &here());
        }
    }
}

impl Graph {
    /// True if a read, or what it reads, belongs to this graph.
    fn touches(&self, read: &Node) -> bool {
        read.mark() == self.mark || source(read).is_some_and(|(base, _)| base.mark() == self.mark)
    }
}

/// True if an operation reads one element: a slice without axes.
pub(crate) fn is_element_read(made: &Made, ty: &Type) -> bool {
    matches!(made.op, Op::ExtractSlice(_)) && ty.shape().is_empty()
}

/// The array that an element read looks at, and the element's index.
fn source(read: &Node) -> Option<(Arc<Node>, Vec<usize>)> {
    let made = lock(&read.made);
    let made = made.as_ref().filter(|made| is_element_read(made, &read.ty))?;
    let Op::ExtractSlice(slice) = &made.op else { return None };
    let at = |index: &Index| match index {
        Index::Known(at) => usize::try_from(*at).ok(),
        Index::Operand => None,
    };
    let index = slice.offsets.iter().map(at).collect::<Option<Vec<usize>>>()?;
    Some((Arc::clone(made.operands.first()?), index))
}

/// The same, if that array is stored: then the element is there.
pub(crate) fn stored_element(node: &Node) -> Option<(Arc<Node>, Vec<usize>)> {
    source(node).filter(|(base, _)| base.is_stored())
}
