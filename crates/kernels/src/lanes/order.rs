//! The order in which the nodes of a body are computed.
//!
//! Every node comes right after the operand that it can go on with, if there is one: that operand
//! need not be written. Nodes that matter for one side of a choice alone come together as a
//! predicated block, behind a test whether any element takes that side.

use pantile_lanes::LaneOp;

use super::node_facts::{BlockPredicate, Nodes};

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderItem {
    /// A node is computed.
    Node(usize),
    /// A predicated block: so many items are skipped if no element takes this side.
    Predicated(BlockPredicate, usize),
}

/// All nodes that need a computation, operands before users.
pub(super) fn order(nodes: &Nodes<'_>) -> Vec<OrderItem> {
    let mut order = NodeOrder {
        nodes,
        done: (0..nodes.facts.len()).map(|index| nodes.fixed(index)).collect(),
        items: Vec::new(),
        todo: Vec::new(),
    };
    for output in nodes.body.outputs() {
        order.todo.push(Todo::Enter(nodes.origin(*output)));
        order.all();
    }
    order.items
}

enum Todo {
    /// Compute a node and what it needs.
    Enter(usize),
    /// Compute a node; what it needs is done.
    Emit(usize),
    /// Compute a predicated node and all that are predicated with it, as far as what they need is done.
    Group(BlockPredicate, usize),
}

struct NodeOrder<'a> {
    nodes: &'a Nodes<'a>,
    done: Vec<bool>,
    items: Vec<OrderItem>,
    todo: Vec<Todo>,
}

impl NodeOrder<'_> {
    fn all(&mut self) {
        while let Some(todo) = self.todo.pop() {
            match todo {
                Todo::Enter(index) => self.enter(index),
                Todo::Emit(index) => self.emit(index),
                Todo::Group(predicate, index) => self.group(predicate, index),
            }
        }
    }

    fn enter(&mut self, index: usize) {
        if self.done[index] {
            return;
        }
        if let Some(predicate) = self.nodes.facts[index].predicate {
            self.todo.push(Todo::Group(predicate, index));
            for outside in self.outside(predicate, &self.inside(predicate, index)) {
                self.todo.push(Todo::Enter(outside));
            }
            self.todo.push(Todo::Enter(predicate.mask));
            return;
        }
        self.todo.push(Todo::Emit(index));
        self.enter_operands(index);
    }

    /// The operand that the node goes on with comes last.
    fn enter_operands(&mut self, index: usize) {
        let last = self.goes_on_with(index);
        self.todo.extend(last.map(Todo::Enter));
        for operand in self.nodes.operands(index).filter(|operand| Some(*operand) != last) {
            self.todo.push(Todo::Enter(operand));
        }
    }

    fn emit(&mut self, index: usize) {
        if !self.done[index] {
            self.done[index] = true;
            self.items.push(OrderItem::Node(index));
        }
    }

    /// The operand whose value a node had best find in the accumulator.
    fn goes_on_with(&self, index: usize) -> Option<usize> {
        let mask = match self.nodes.op(index) {
            LaneOp::Select(mask, ..) => Some(self.nodes.origin(mask)),
            _ => None,
        };
        let candidates = self.nodes.op(index).operands().map(|node| self.nodes.origin(node));
        let mut candidates = candidates.filter(|origin| {
            let facts = self.nodes.facts[*origin];
            !self.done[*origin] && !facts.term && facts.predicate.is_none() && Some(*origin) != mask
        });
        candidates.next()
    }

    /// The nodes of a predicate that a node of it needs, itself included, operands first.
    fn inside(&self, predicate: BlockPredicate, root: usize) -> Vec<usize> {
        let (mut found, mut todo) = (Vec::new(), vec![(root, false)]);
        while let Some((index, entered)) = todo.pop() {
            let facts = self.nodes.facts[index];
            if self.done[index] || facts.predicate != Some(predicate) || found.contains(&index) {
                continue;
            }
            if entered {
                found.push(index);
                continue;
            }
            todo.push((index, true));
            let operands: Vec<usize> = self.nodes.operands(index).collect();
            todo.extend(operands.into_iter().map(|operand| (operand, false)));
        }
        found
    }

    /// What nodes of a predicate need from outside and is not yet computed.
    fn outside(&self, predicate: BlockPredicate, inside: &[usize]) -> Vec<usize> {
        let operands = inside.iter().flat_map(|index| self.nodes.operands(*index));
        operands
            .filter(|operand| {
                !self.done[*operand] && self.nodes.facts[*operand].predicate != Some(predicate)
            })
            .collect()
    }

    fn group(&mut self, predicate: BlockPredicate, index: usize) {
        let start = self.items.len();
        self.items.push(OrderItem::Predicated(predicate, 0));
        let others = (0..self.done.len()).filter(|other| {
            let facts = self.nodes.facts[*other];
            facts.predicate == Some(predicate)
                && facts.same_as == *other
                && self.nodes.needed(*other)
        });
        for root in std::iter::once(index).chain(others.collect::<Vec<usize>>()) {
            let inside = self.inside(predicate, root);
            if !self.nodes.facts[root].term && self.outside(predicate, &inside).is_empty() {
                inside.into_iter().for_each(|node| self.emit(node));
            }
        }
        self.items[start] = OrderItem::Predicated(predicate, self.items.len() - start - 1);
    }
}
