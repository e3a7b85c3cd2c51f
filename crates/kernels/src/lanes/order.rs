//! The order in which the nodes of a body are computed.
//!
//! Every node comes right after the operand that it can go on with, if there is one: that operand
//! need not be written. Nodes that matter for one side of a choice alone come together behind a
//! look at who takes that side.

use pantile_lanes::Op;

use super::known::{Guard, Nodes};

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A node is computed.
    Node(usize),
    /// So many items are left out if no element takes this side.
    Guard(Guard, usize),
}

/// All nodes that need a computation, operands before users.
pub(super) fn order(nodes: &Nodes<'_>) -> Vec<Item> {
    let mut order = Order {
        nodes,
        done: (0..nodes.known.len()).map(|index| nodes.fixed(index)).collect(),
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
    /// Compute a guarded node and all that are guarded with it, as far as what they need is done.
    Group(Guard, usize),
}

struct Order<'a> {
    nodes: &'a Nodes<'a>,
    done: Vec<bool>,
    items: Vec<Item>,
    todo: Vec<Todo>,
}

impl Order<'_> {
    fn all(&mut self) {
        while let Some(todo) = self.todo.pop() {
            match todo {
                Todo::Enter(index) => self.enter(index),
                Todo::Emit(index) => self.emit(index),
                Todo::Group(guard, index) => self.group(guard, index),
            }
        }
    }

    fn enter(&mut self, index: usize) {
        if self.done[index] {
            return;
        }
        if let Some(guard) = self.nodes.known[index].guard {
            self.todo.push(Todo::Group(guard, index));
            for outside in self.outside(guard, &self.inside(guard, index)) {
                self.todo.push(Todo::Enter(outside));
            }
            self.todo.push(Todo::Enter(guard.mask));
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
            self.items.push(Item::Node(index));
        }
    }

    /// The operand whose value a node had best find in the accumulator.
    fn goes_on_with(&self, index: usize) -> Option<usize> {
        let mask = match self.nodes.op(index) {
            Op::Select(mask, ..) => Some(self.nodes.origin(mask)),
            _ => None,
        };
        let candidates = self.nodes.op(index).operands().map(|node| self.nodes.origin(node));
        let mut candidates = candidates.filter(|origin| {
            let known = self.nodes.known[*origin];
            !self.done[*origin] && !known.term && known.guard.is_none() && Some(*origin) != mask
        });
        candidates.next()
    }

    /// The nodes of a guard that a node of it needs, itself included, operands first.
    fn inside(&self, guard: Guard, root: usize) -> Vec<usize> {
        let (mut found, mut todo) = (Vec::new(), vec![(root, false)]);
        while let Some((index, entered)) = todo.pop() {
            let known = self.nodes.known[index];
            if self.done[index] || known.guard != Some(guard) || found.contains(&index) {
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

    /// What nodes of a guard need from outside and is not yet computed.
    fn outside(&self, guard: Guard, inside: &[usize]) -> Vec<usize> {
        let operands = inside.iter().flat_map(|index| self.nodes.operands(*index));
        operands
            .filter(|operand| {
                !self.done[*operand] && self.nodes.known[*operand].guard != Some(guard)
            })
            .collect()
    }

    fn group(&mut self, guard: Guard, index: usize) {
        let start = self.items.len();
        self.items.push(Item::Guard(guard, 0));
        let others = (0..self.done.len()).filter(|other| {
            let known = self.nodes.known[*other];
            known.guard == Some(guard) && known.same_as == *other && self.nodes.needed(*other)
        });
        for root in std::iter::once(index).chain(others.collect::<Vec<usize>>()) {
            let inside = self.inside(guard, root);
            if !self.nodes.known[root].term && self.outside(guard, &inside).is_empty() {
                inside.into_iter().for_each(|node| self.emit(node));
            }
        }
        self.items[start] = Item::Guard(guard, self.items.len() - start - 1);
    }
}
