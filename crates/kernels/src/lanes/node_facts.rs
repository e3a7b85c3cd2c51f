//! What is known of the nodes of a body: which nodes need them, and what need not be computed.

use pantile_lanes::{BinaryOp, DType, LaneNode, LaneOp, LoopBody};

use super::cast;

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeFacts {
    pub(super) dtype: DType,
    /// The node whose bits it has: itself, or an earlier one.
    pub(super) same_as: usize,
    /// How many operands of needed nodes it is.
    pub(super) uses: usize,
    /// The first output that it is.
    pub(super) output: Option<usize>,
    /// Computed by its only user, from inputs and constants.
    pub(super) term: bool,
    /// The predicate under which alone it is needed.
    pub(super) predicate: Option<BlockPredicate>,
}

/// A predicate: the lanes of which a choice takes one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockPredicate {
    /// The node that says which side is taken.
    pub(super) mask: usize,
    /// The side that is taken where the mask is true, or the other one.
    pub(super) yes: bool,
}

/// The nodes of a body.
#[derive(Debug)]
pub(super) struct Nodes<'a> {
    pub(super) body: &'a LoopBody,
    pub(super) facts: Vec<NodeFacts>,
}

/// Predicating fewer nodes than this does not pay, unless one of them is slow: what is computed
/// before and after a predicate is written and read again.
const FEW: usize = 40;

impl<'a> Nodes<'a> {
    pub(super) fn of(body: &'a LoopBody) -> Self {
        let mut facts: Vec<NodeFacts> = Vec::with_capacity(body.nodes().len());
        for (index, op) in body.nodes().iter().enumerate() {
            let same_as = match *op {
                LaneOp::Bits(of, _) => facts[of.index()].same_as,
                LaneOp::Cast(of, to) if cast::keeps_bits(body.dtype(of), to) => {
                    facts[of.index()].same_as
                }
                _ => index,
            };
            let dtype = type_of(body, op);
            facts.push(NodeFacts {
                dtype,
                same_as,
                uses: 0,
                output: None,
                term: false,
                predicate: None,
            });
        }
        let mut nodes = Self { body, facts };
        for (output, node) in body.outputs().iter().enumerate() {
            let origin = nodes.origin(*node);
            let first = &mut nodes.facts[origin].output;
            *first = first.or(Some(output));
        }
        nodes.count_uses();
        nodes
    }

    /// The operation of a node.
    pub(super) fn op(&self, index: usize) -> LaneOp {
        self.body.nodes()[index]
    }

    /// The node that has the bits of this one.
    pub(super) fn origin(&self, node: LaneNode) -> usize {
        self.facts[node.index()].same_as
    }

    /// True for inputs and constants.
    pub(super) fn fixed(&self, index: usize) -> bool {
        matches!(self.op(index), LaneOp::Input(_) | LaneOp::Const(_))
    }

    pub(super) fn needed(&self, index: usize) -> bool {
        self.facts[index].uses > 0 || self.facts[index].output.is_some()
    }

    /// The nodes that a node reads, by their origins; those of a term in its place.
    pub(super) fn operands(&self, index: usize) -> impl Iterator<Item = usize> {
        let direct = self.op(index).operands().map(|node| self.origin(node));
        direct.flat_map(|origin| {
            let facts = self.facts[origin];
            let (own, inner) = match self.op(origin) {
                LaneOp::Binary(_, one, other) if facts.term => {
                    (None, [Some(self.origin(one)), Some(self.origin(other))])
                }
                _ => (Some(origin), [None; 2]),
            };
            own.into_iter().chain(inner.into_iter().flatten())
        })
    }

    /// Finds what is needed, from the outputs back to the inputs.
    fn count_uses(&mut self) {
        for index in (0..self.facts.len()).rev() {
            if self.facts[index].same_as == index && self.needed(index) {
                for operand in self.op(index).operands() {
                    let origin = self.origin(operand);
                    self.facts[origin].uses += 1;
                }
            }
        }
    }

    /// Finds sums, differences, products and quotients of inputs and constants that only a sum,
    /// difference or product needs.
    pub(super) fn find_terms(&mut self) {
        for index in 0..self.facts.len() {
            let LaneOp::Binary(outer, left, right) = self.op(index) else { continue };
            let takes = matches!(outer, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
            if !takes || self.facts[index].same_as != index || !self.needed(index) {
                continue;
            }
            // One of the operands is the accumulator.
            let sides = [self.origin(right), self.origin(left)];
            if let Some(term) = sides.into_iter().find(|side| self.is_term(*side, index)) {
                self.facts[term].term = true;
            }
        }
    }

    fn is_term(&self, index: usize, user: usize) -> bool {
        let facts = self.facts[index];
        let LaneOp::Binary(inner, one, other) = self.op(index) else { return false };
        matches!(inner, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
            && matches!(facts.dtype, DType::F32 | DType::F64)
            && facts.dtype == self.facts[user].dtype
            && facts.uses == 1
            && facts.output.is_none()
            && [one, other].into_iter().all(|node| self.fixed(self.origin(node)))
    }

    /// Finds nodes that matter for one side of a choice alone: where no element of a block takes
    /// that side, they need not be computed.
    pub(super) fn find_predicates(&mut self) {
        let mut met = vec![false; self.facts.len()];
        for index in (0..self.facts.len()).rev() {
            let facts = self.facts[index];
            if facts.same_as != index || !self.needed(index) {
                continue;
            }
            if facts.output.is_some() || self.fixed(index) {
                self.facts[index].predicate = None;
            }
            let own = self.facts[index].predicate;
            let (op, mut sides) = (self.op(index), [None; 2]);
            if let (LaneOp::Select(mask, yes, no), None) = (op, own) {
                let [mask, yes, no] = [mask, yes, no].map(|node| self.origin(node));
                if yes != no && yes != mask && no != mask {
                    sides = [(yes, true), (no, false)].map(|(node, yes)| Some((node, mask, yes)));
                }
            }
            for operand in op.operands() {
                let operand = self.origin(operand);
                let side = sides.iter().flatten().find(|side| side.0 == operand);
                let predicate =
                    side.map_or(own, |&(_, mask, yes)| Some(BlockPredicate { mask, yes }));
                let same = !met[operand] || self.facts[operand].predicate == predicate;
                self.facts[operand].predicate = if same { predicate } else { None };
                met[operand] = true;
            }
        }
        self.drop_small_predicates();
    }

    /// Testing a mask and going through memory costs about as much as some nodes.
    fn drop_small_predicates(&mut self) {
        let predicates: std::collections::BTreeSet<BlockPredicate> =
            self.facts.iter().filter_map(|facts| facts.predicate).collect();
        for predicate in predicates {
            let own = |facts: &NodeFacts| facts.predicate == Some(predicate);
            let of: Vec<usize> = (0..self.facts.len())
                .filter(|index| own(&self.facts[*index]) && self.needed(*index))
                .collect();
            let slow = of.iter().any(|index| match self.op(*index) {
                LaneOp::Call(..)
                | LaneOp::Table(..)
                | LaneOp::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::MulHigh, ..) => true,
                op => matches!(op, LaneOp::Unary(pantile_lanes::UnaryOp::Sqrt, _)),
            });
            if of.len() < FEW && !slow {
                self.facts.iter_mut().filter(|facts| own(facts)).for_each(|k| k.predicate = None);
            }
        }
    }
}

fn type_of(body: &LoopBody, op: &LaneOp) -> DType {
    match *op {
        LaneOp::Input(number) => body.inputs()[number as usize],
        LaneOp::Const(value) => value.dtype(),
        LaneOp::Binary(two, ..) if two.compares() => DType::Bool,
        LaneOp::Unary(_, of)
        | LaneOp::Binary(_, of, _)
        | LaneOp::MulAdd(of, ..)
        | LaneOp::Select(_, of, _) => body.dtype(of),
        LaneOp::Cast(_, to) | LaneOp::Bits(_, to) => to,
        LaneOp::Table(..) => DType::U64,
        LaneOp::Sum(terms) => body.dtype(terms.nodes()[0]),
        LaneOp::Call(..) => DType::F64,
    }
}
