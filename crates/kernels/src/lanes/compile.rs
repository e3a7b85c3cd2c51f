//! From a body to a program: what is needed, in which slot, by which loop.

use pantile_lanes::{Body, DType, Node, Op, Scalar, Two};

use super::kernel::Kernel;
use super::known::Nodes;
use super::machine::{Native, Step, machine};
use super::order::{Item, order};
use super::program::{Instruction, Program};
use super::{cast, choose, functions, steps, sum};
use crate::Error;
use crate::simd::Vectors;

/// Compiles a body whose outputs are nodes of it.
pub(super) fn compile(body: &Body, vectors: Vectors) -> Result<Program, Error> {
    let mut nodes = Nodes::of(body);
    if machine(8, vectors).is_some() {
        nodes.find_terms();
    }
    nodes.find_guards();
    let items = order(&nodes);
    let mut compiler = Compiler::new(&nodes, &items, vectors);
    compiler.place_fixed();
    compiler.all()?;
    compiler.copy_outputs()?;
    compiler.program.find_local();
    compiler.program.find_streams();
    compiler.program.find_last();
    compiler.program.check_slots();
    Ok(compiler.program)
}

struct Compiler<'a> {
    nodes: &'a Nodes<'a>,
    items: &'a [Item],
    program: Program,
    /// Where the lanes of a node are.
    slots: Vec<Option<usize>>,
    /// The last item that reads a node.
    last_use: Vec<usize>,
    /// Registers that nobody needs any more, and bytes of their lanes. Steps write a chunk of a
    /// register before others have read theirs, so lanes of a register are all of one width.
    free: Vec<(usize, usize)>,
    /// Steps that are not yet an instruction: bytes of their lanes, and the node that is in the
    /// accumulator.
    open: Option<(usize, Option<usize>)>,
    steps: Vec<Step>,
}

impl<'a> Compiler<'a> {
    fn new(nodes: &'a Nodes<'a>, items: &'a [Item], vectors: Vectors) -> Self {
        let body = nodes.body;
        let program = Program {
            inputs: body.inputs().to_vec(),
            outputs: body.outputs().iter().map(|node| nodes.known[node.index()].dtype).collect(),
            constants: Vec::new(),
            registers: 0,
            local: Vec::new(),
            streams: Vec::new(),
            last: None,
            instructions: Vec::new(),
            copies: Vec::new(),
            origins: Vec::new(),
            product: product(nodes),
            vectors,
            widest: 1,
        };
        let mut last_use = vec![0; nodes.known.len()];
        for (place, item) in items.iter().enumerate() {
            match item {
                Item::Node(index) => nodes.operands(*index).for_each(|of| last_use[of] = place),
                Item::Guard(guard, _) => last_use[guard.mask] = place,
            }
        }
        let slots = vec![None; nodes.known.len()];
        Self {
            nodes,
            items,
            program,
            slots,
            last_use,
            free: Vec::new(),
            open: None,
            steps: Vec::new(),
        }
    }

    /// Gives inputs and constants, and what is an output, their slots.
    fn place_fixed(&mut self) {
        let (inputs, outputs) = (self.program.inputs.len(), self.program.outputs.len());
        for (index, known) in self.nodes.known.iter().enumerate() {
            if known.same_as != index || !self.nodes.needed(index) {
                continue;
            }
            self.slots[index] = match self.nodes.op(index) {
                Op::Input(number) => Some(number as usize),
                Op::Const(value) => Some(inputs + outputs + self.constant(value)),
                _ => known.output.map(|output| inputs + output),
            };
        }
        let types = self.program.inputs.iter().chain(&self.program.outputs).copied();
        let types = types.chain(self.program.constants.iter().map(Scalar::dtype));
        self.program.widest = types.map(DType::bytes).max().unwrap_or(1);
    }

    fn constant(&mut self, value: Scalar) -> usize {
        let constants = &mut self.program.constants;
        constants.iter().position(|known| *known == value).unwrap_or_else(|| {
            constants.push(value);
            constants.len() - 1
        })
    }

    /// The instructions of all items.
    fn all(&mut self) -> Result<(), Error> {
        let mut place = 0;
        while place < self.items.len() {
            match self.items[place] {
                Item::Node(_) => {
                    self.node(place)?;
                    place += 1;
                }
                Item::Guard(guard, count) => {
                    self.close();
                    let start = self.program.instructions.len();
                    let mask = self.slots[guard.mask].expect("masks come before their guards");
                    self.program.instructions.push(Instruction::Guard {
                        mask,
                        yes: guard.yes,
                        skip: 0,
                    });
                    self.release(guard.mask, place);
                    for inner in place + 1..=place + count {
                        self.node(inner)?;
                    }
                    self.close();
                    let inside = self.program.instructions.len() - start - 1;
                    if let Instruction::Guard { skip, .. } = &mut self.program.instructions[start] {
                        *skip = inside;
                    }
                    place += count + 1;
                }
            }
        }
        self.close();
        Ok(())
    }

    /// The instruction of a node, or its steps.
    fn node(&mut self, place: usize) -> Result<(), Error> {
        let Item::Node(index) = self.items[place] else { return Ok(()) };
        let known = self.nodes.known[index];
        self.program.widest = self.program.widest.max(known.dtype.bytes());
        if let Some(bytes) = steps::lanes(self.nodes, index, self.program.vectors) {
            self.add_steps(place, index, bytes);
        } else if let Op::Sum(terms) = self.nodes.op(index) {
            self.close();
            let slot = |node: &Node| self.slot(self.nodes.origin(*node));
            let operands: Vec<usize> = terms.nodes().iter().map(slot).collect();
            let adds = sum::adds(known.dtype, operands.len());
            let adds = adds.ok_or_else(|| self.no_loop(index))?;
            let (target, vectors) = (self.target(index), self.program.vectors);
            let operands = operands.into();
            let sum = Instruction::Sum { adds, target, operands, vectors };
            self.program.instructions.push(sum);
        } else {
            self.close();
            let op = self.nodes.op(index);
            let kernel = self.kernel(&op).ok_or_else(|| self.no_loop(index))?;
            // The target is taken before operands are given back: it is none of them.
            let target = self.target(index);
            let mut operands = [target; 3];
            for (slot, operand) in operands.iter_mut().zip(op.operands()) {
                *slot = self.slot(self.nodes.origin(operand));
            }
            let words = if let Op::Table(table, _) = op { table.words } else { &[] };
            self.program.instructions.push(Instruction::Loop { kernel, target, operands, words });
        }
        let operands: Vec<usize> = self.nodes.operands(index).collect();
        operands.into_iter().for_each(|operand| self.release(operand, place));
        Ok(())
    }

    /// Adds the steps of a node, and writes what they give if somebody reads it later.
    fn add_steps(&mut self, place: usize, index: usize, bytes: usize) {
        if self.open.is_none_or(|(open, _)| open != bytes) {
            self.close();
            self.open = Some((bytes, None));
        }
        let accumulator = self.open.and_then(|(_, node)| node);
        let truth = self.nodes.known[index].dtype == DType::Bool;
        let truths = truth.then(|| number(self.target(index)));
        // What is in the accumulator may have no slot, and needs none.
        let slots = |node: usize| self.slots[node].map_or(0, number);
        let mut step = steps::step(self.nodes, index, accumulator, (&slots, truths));
        if !truth && !self.goes_on(place, index, bytes) {
            step.target = number(self.target(index));
        }
        let joined = self.steps.last_mut().is_some_and(|before| steps::join(before, &step));
        if !joined {
            self.steps.push(step);
        }
        // Comparing leaves the accumulator as it is, or as it was loaded.
        let held = if truth { steps::first(self.nodes, index, accumulator) } else { index };
        self.open = Some((bytes, Some(held)));
    }

    /// True if the next item alone needs a node, and finds it in the accumulator.
    fn goes_on(&self, place: usize, index: usize, bytes: usize) -> bool {
        let known = self.nodes.known[index];
        let Some(Item::Node(next)) = self.items.get(place + 1).copied() else { return false };
        known.output.is_none()
            && known.uses == 1
            // The end of a guarded group is the end of its steps.
            && self.nodes.known[next].guard == known.guard
            && steps::lanes(self.nodes, next, self.program.vectors) == Some(bytes)
            && steps::first(self.nodes, next, Some(index)) == index
    }

    /// Makes an instruction of the open steps.
    fn close(&mut self) {
        let Some((bytes, _)) = self.open.take() else { return };
        let vectors = self.program.vectors;
        let machine = machine(bytes, vectors).expect("steps were made for a machine");
        let steps: Box<[Step]> = std::mem::take(&mut self.steps).into();
        let native = vectors.native().then(|| Native::new(&steps, bytes, vectors)).flatten();
        self.program.instructions.push(Instruction::Steps { machine, steps, native });
    }

    /// The slot that a node is written to.
    fn target(&mut self, index: usize) -> usize {
        let bytes = self.nodes.known[index].dtype.bytes();
        let target = self.slots[index].unwrap_or_else(|| self.register(bytes));
        self.slots[index] = Some(target);
        target
    }

    fn slot(&self, index: usize) -> usize {
        self.slots[index].expect("operands come before their users and are needed")
    }

    fn register(&mut self, bytes: usize) -> usize {
        if let Some(place) = self.free.iter().rposition(|free| free.1 == bytes) {
            return self.free.remove(place).0;
        }
        self.program.registers += 1;
        self.program.slots() - 1
    }

    /// Gives a register back after its last use.
    fn release(&mut self, index: usize, place: usize) {
        let first = self.program.slots() - self.program.registers;
        if let Some(slot) = self.slots[index]
            && slot >= first
            && self.last_use[index] == place
            && self.free.iter().all(|free| free.0 != slot)
        {
            self.free.push((slot, self.nodes.known[index].dtype.bytes()));
        }
    }

    /// Outputs that are inputs or constants, or were outputs already.
    fn copy_outputs(&mut self) -> Result<(), Error> {
        for (output, node) in self.nodes.body.outputs().iter().enumerate() {
            let target = self.program.inputs.len() + output;
            let from = self.slot(self.nodes.origin(*node));
            self.program.origins.push(from);
            if from == target {
                continue;
            }
            let kernel = choose::copy(self.program.outputs[output]);
            let kernel = kernel.ok_or_else(|| self.no_loop(node.index()))?;
            let operands = [from; 3];
            let copy = Instruction::Loop { kernel, target, operands, words: &[] };
            self.program.copies.push((output, copy));
        }
        Ok(())
    }

    fn kernel(&self, op: &Op) -> Option<Kernel> {
        let (body, vectors) = (self.nodes.body, self.program.vectors);
        match *op {
            Op::One(one, of) => choose::one(one, body.dtype(of), vectors),
            Op::Two(two, left, _) => choose::two(two, body.dtype(left), vectors),
            Op::MulAdd(a, _, _) => choose::mul_add(body.dtype(a), vectors),
            Op::Select(_, yes, _) => choose::select(body.dtype(yes), vectors),
            Op::Cast(of, to) => cast::cast(body.dtype(of), to, vectors),
            Op::Table(..) => Some(choose::look_up),
            Op::Call(function, _) => Some(functions::function(function, vectors)),
            Op::Input(_) | Op::Const(_) | Op::Bits(..) | Op::Sum(_) => None,
        }
    }

    /// Bodies check the types of their nodes, so every node has a loop.
    fn no_loop(&self, index: usize) -> Error {
        let op = format!("{:?}", self.nodes.op(index));
        pantile_lanes::Error::WrongLane { op, dtype: self.nodes.known[index].dtype }.into()
    }
}

/// Bodies have fewer than 2^32 nodes.
fn number(slot: usize) -> u32 {
    u32::try_from(slot).expect("fewer than 2^32 slots")
}

/// The inputs of a body that is their product.
fn product(nodes: &Nodes<'_>) -> Option<[usize; 2]> {
    let [output] = nodes.body.outputs() else { return None };
    let Op::Two(Two::Mul, one, other) = nodes.op(output.index()) else { return None };
    let input = |node: Node| match nodes.op(node.index()) {
        Op::Input(number) => Some(number as usize),
        _ => None,
    };
    let float = nodes.body.dtype(*output) == DType::F64;
    if float { Some([input(one)?, input(other)?]) } else { None }
}
