//! What is known of the nodes of a body: who needs them, and what need not be computed.

use pantile_lanes::{Body, DType, Node, Op, Two};

use super::cast;

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) dtype: DType,
    /// The node whose bits it has: itself, or an earlier one.
    pub(super) same_as: usize,
    /// How many operands of needed nodes it is.
    pub(super) uses: usize,
    /// The first output that it is.
    pub(super) output: Option<usize>,
    /// Computed by its only user, from inputs and constants.
    pub(super) term: bool,
    /// Where alone it matters.
    pub(super) guard: Option<Guard>,
}

/// The lanes of which a choice takes one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Guard {
    /// The node that says which side is taken.
    pub(super) mask: usize,
    /// The side that is taken where the mask is true, or the other one.
    pub(super) yes: bool,
}

/// The nodes of a body.
#[derive(Debug)]
pub(super) struct Nodes<'a> {
    pub(super) body: &'a Body,
    pub(super) known: Vec<Known>,
}

/// Guarding fewer nodes than this does not pay, unless one of them is slow: what is computed
/// before and after a guard is written and read again.
const FEW: usize = 40;

impl<'a> Nodes<'a> {
    pub(super) fn of(body: &'a Body) -> Self {
        let mut known: Vec<Known> = Vec::with_capacity(body.nodes().len());
        for (index, op) in body.nodes().iter().enumerate() {
            let same_as = match *op {
                Op::Bits(of, _) => known[of.index()].same_as,
                Op::Cast(of, to) if cast::keeps_bits(body.dtype(of), to) => {
                    known[of.index()].same_as
                }
                _ => index,
            };
            let dtype = type_of(body, op);
            known.push(Known { dtype, same_as, uses: 0, output: None, term: false, guard: None });
        }
        let mut nodes = Self { body, known };
        for (output, node) in body.outputs().iter().enumerate() {
            let origin = nodes.origin(*node);
            let first = &mut nodes.known[origin].output;
            *first = first.or(Some(output));
        }
        nodes.count_uses();
        nodes
    }

    /// The operation of a node.
    pub(super) fn op(&self, index: usize) -> Op {
        self.body.nodes()[index]
    }

    /// The node that has the bits of this one.
    pub(super) fn origin(&self, node: Node) -> usize {
        self.known[node.index()].same_as
    }

    /// True for inputs and constants.
    pub(super) fn fixed(&self, index: usize) -> bool {
        matches!(self.op(index), Op::Input(_) | Op::Const(_))
    }

    pub(super) fn needed(&self, index: usize) -> bool {
        self.known[index].uses > 0 || self.known[index].output.is_some()
    }

    /// The nodes that a node reads, by their origins; those of a term in its place.
    pub(super) fn operands(&self, index: usize) -> impl Iterator<Item = usize> {
        let direct = self.op(index).operands().map(|node| self.origin(node));
        direct.flat_map(|origin| {
            let known = self.known[origin];
            let (own, inner) = match self.op(origin) {
                Op::Two(_, one, other) if known.term => {
                    (None, [Some(self.origin(one)), Some(self.origin(other))])
                }
                _ => (Some(origin), [None; 2]),
            };
            own.into_iter().chain(inner.into_iter().flatten())
        })
    }

    /// Finds what is needed, from the outputs back to the inputs.
    fn count_uses(&mut self) {
        for index in (0..self.known.len()).rev() {
            if self.known[index].same_as == index && self.needed(index) {
                for operand in self.op(index).operands() {
                    let origin = self.origin(operand);
                    self.known[origin].uses += 1;
                }
            }
        }
    }

    /// Finds sums, differences, products and quotients of inputs and constants that only a sum,
    /// difference or product needs.
    pub(super) fn find_terms(&mut self) {
        for index in 0..self.known.len() {
            let Op::Two(outer, left, right) = self.op(index) else { continue };
            let takes = matches!(outer, Two::Add | Two::Sub | Two::Mul);
            if !takes || self.known[index].same_as != index || !self.needed(index) {
                continue;
            }
            // One of the operands is the accumulator.
            let sides = [self.origin(right), self.origin(left)];
            if let Some(term) = sides.into_iter().find(|side| self.is_term(*side, index)) {
                self.known[term].term = true;
            }
        }
    }

    fn is_term(&self, index: usize, user: usize) -> bool {
        let known = self.known[index];
        let Op::Two(inner, one, other) = self.op(index) else { return false };
        matches!(inner, Two::Add | Two::Sub | Two::Mul | Two::Div)
            && matches!(known.dtype, DType::F32 | DType::F64)
            && known.dtype == self.known[user].dtype
            && known.uses == 1
            && known.output.is_none()
            && [one, other].into_iter().all(|node| self.fixed(self.origin(node)))
    }

    /// Finds nodes that matter for one side of a choice alone: where no element of a block takes
    /// that side, they need not be computed.
    pub(super) fn find_guards(&mut self) {
        let mut met = vec![false; self.known.len()];
        for index in (0..self.known.len()).rev() {
            let known = self.known[index];
            if known.same_as != index || !self.needed(index) {
                continue;
            }
            if known.output.is_some() || self.fixed(index) {
                self.known[index].guard = None;
            }
            let own = self.known[index].guard;
            let (op, mut sides) = (self.op(index), [None; 2]);
            if let (Op::Select(mask, yes, no), None) = (op, own) {
                let [mask, yes, no] = [mask, yes, no].map(|node| self.origin(node));
                if yes != no && yes != mask && no != mask {
                    sides = [(yes, true), (no, false)].map(|(node, yes)| Some((node, mask, yes)));
                }
            }
            for operand in op.operands() {
                let operand = self.origin(operand);
                let side = sides.iter().flatten().find(|side| side.0 == operand);
                let guard = side.map_or(own, |&(_, mask, yes)| Some(Guard { mask, yes }));
                let same = !met[operand] || self.known[operand].guard == guard;
                self.known[operand].guard = if same { guard } else { None };
                met[operand] = true;
            }
        }
        self.drop_small_guards();
    }

    /// Looking at a mask and going through memory costs about as much as some nodes.
    fn drop_small_guards(&mut self) {
        let guards: std::collections::BTreeSet<Guard> =
            self.known.iter().filter_map(|known| known.guard).collect();
        for guard in guards {
            let own = |known: &Known| known.guard == Some(guard);
            let of: Vec<usize> = (0..self.known.len())
                .filter(|index| own(&self.known[*index]) && self.needed(*index))
                .collect();
            let slow = of.iter().any(|index| match self.op(*index) {
                Op::Call(..) | Op::Table(..) | Op::Two(Two::Div | Two::Rem | Two::MulHigh, ..) => {
                    true
                }
                op => matches!(op, Op::One(pantile_lanes::One::Sqrt, _)),
            });
            if of.len() < FEW && !slow {
                self.known.iter_mut().filter(|known| own(known)).for_each(|k| k.guard = None);
            }
        }
    }
}

fn type_of(body: &Body, op: &Op) -> DType {
    match *op {
        Op::Input(number) => body.inputs()[number as usize],
        Op::Const(value) => value.dtype(),
        Op::Two(two, ..) if two.compares() => DType::Bool,
        Op::One(_, of) | Op::Two(_, of, _) | Op::MulAdd(of, ..) | Op::Select(_, of, _) => {
            body.dtype(of)
        }
        Op::Cast(_, to) | Op::Bits(_, to) => to,
        Op::Table(..) => DType::U64,
        Op::Sum(terms) => body.dtype(terms.nodes()[0]),
        Op::Call(..) => DType::F64,
    }
}
