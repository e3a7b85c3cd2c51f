//! From a body to a program: what is needed, in which slot, by which loop.

use pantile_lanes::{BinaryOp, DType, LaneNode, LaneOp, LoopBody, Scalar};

use super::interpreter::{BytecodeOp, JitCode, interpreter};
use super::kernel::Kernel;
use super::node_facts::Nodes;
use super::order::{OrderItem, order};
use super::program::{Instruction, LoopProgram};
use super::{bytecode, cast, choose, functions, sum};
use crate::Error;
use crate::simd::Vectors;

/// Compiles a body whose outputs are nodes of it.
pub(super) fn compile(body: &LoopBody, vectors: Vectors) -> Result<LoopProgram, Error> {
    let mut nodes = Nodes::of(body);
    if interpreter(8, vectors).is_some() {
        nodes.find_terms();
    }
    nodes.find_predicates();
    let items = order(&nodes);
    let mut compiler = BodyCompiler::new(&nodes, &items, vectors);
    compiler.place_fixed();
    compiler.all()?;
    compiler.copy_outputs()?;
    compiler.program.find_local();
    compiler.program.find_streamable();
    compiler.program.find_last();
    compiler.program.check_slots();
    Ok(compiler.program)
}

struct BodyCompiler<'a> {
    nodes: &'a Nodes<'a>,
    items: &'a [OrderItem],
    program: LoopProgram,
    /// Where the lanes of a node are.
    slots: Vec<Option<usize>>,
    /// The last item that reads a node.
    last_use: Vec<usize>,
    /// Registers that no later node needs, and bytes of their lanes. Bytecode writes a chunk of a
    /// register before others have read theirs, so lanes of a register are all of one width.
    free: Vec<(usize, usize)>,
    /// Bytecode that is not yet an instruction: bytes of their lanes, and the node that is in the
    /// accumulator.
    open: Option<(usize, Option<usize>)>,
    bytecode: Vec<BytecodeOp>,
}

impl<'a> BodyCompiler<'a> {
    fn new(nodes: &'a Nodes<'a>, items: &'a [OrderItem], vectors: Vectors) -> Self {
        let body = nodes.body;
        let program = LoopProgram {
            inputs: body.inputs().to_vec(),
            outputs: body.outputs().iter().map(|node| nodes.facts[node.index()].dtype).collect(),
            constants: Vec::new(),
            registers: 0,
            local: Vec::new(),
            streamable: Vec::new(),
            last: None,
            instructions: Vec::new(),
            copies: Vec::new(),
            origins: Vec::new(),
            product: product(nodes),
            vectors,
            widest: 1,
        };
        let mut last_use = vec![0; nodes.facts.len()];
        for (place, item) in items.iter().enumerate() {
            match item {
                OrderItem::Node(index) => {
                    nodes.operands(*index).for_each(|of| last_use[of] = place)
                }
                OrderItem::Predicated(predicate, _) => last_use[predicate.mask] = place,
            }
        }
        let slots = vec![None; nodes.facts.len()];
        Self {
            nodes,
            items,
            program,
            slots,
            last_use,
            free: Vec::new(),
            open: None,
            bytecode: Vec::new(),
        }
    }

    /// Gives inputs and constants, and what is an output, their slots.
    fn place_fixed(&mut self) {
        let (inputs, outputs) = (self.program.inputs.len(), self.program.outputs.len());
        for (index, facts) in self.nodes.facts.iter().enumerate() {
            if facts.same_as != index || !self.nodes.needed(index) {
                continue;
            }
            self.slots[index] = match self.nodes.op(index) {
                LaneOp::Input(number) => Some(number as usize),
                LaneOp::Const(value) => Some(inputs + outputs + self.constant(value)),
                _ => facts.output.map(|output| inputs + output),
            };
        }
        let types = self.program.inputs.iter().chain(&self.program.outputs).copied();
        let types = types.chain(self.program.constants.iter().map(Scalar::dtype));
        self.program.widest = types.map(DType::bytes).max().unwrap_or(1);
    }

    fn constant(&mut self, value: Scalar) -> usize {
        let constants = &mut self.program.constants;
        constants.iter().position(|facts| *facts == value).unwrap_or_else(|| {
            constants.push(value);
            constants.len() - 1
        })
    }

    /// The instructions of all items.
    fn all(&mut self) -> Result<(), Error> {
        let mut place = 0;
        while place < self.items.len() {
            match self.items[place] {
                OrderItem::Node(_) => {
                    self.node(place)?;
                    place += 1;
                }
                OrderItem::Predicated(predicate, count) => {
                    self.close();
                    let start = self.program.instructions.len();
                    let mask = self.slots[predicate.mask].expect("masks come before their guards");
                    self.program.instructions.push(Instruction::Predicated {
                        mask,
                        yes: predicate.yes,
                        skip: 0,
                    });
                    self.release(predicate.mask, place);
                    for inner in place + 1..=place + count {
                        self.node(inner)?;
                    }
                    self.close();
                    let inside = self.program.instructions.len() - start - 1;
                    if let Instruction::Predicated { skip, .. } =
                        &mut self.program.instructions[start]
                    {
                        *skip = inside;
                    }
                    place += count + 1;
                }
            }
        }
        self.close();
        Ok(())
    }

    /// The instruction of a node, or its bytecode.
    fn node(&mut self, place: usize) -> Result<(), Error> {
        let OrderItem::Node(index) = self.items[place] else { return Ok(()) };
        let facts = self.nodes.facts[index];
        self.program.widest = self.program.widest.max(facts.dtype.bytes());
        if let Some(bytes) = bytecode::lanes(self.nodes, index, self.program.vectors) {
            self.add_bytecode(place, index, bytes);
        } else if let LaneOp::Sum(terms) = self.nodes.op(index) {
            self.close();
            let slot = |node: &LaneNode| self.slot(self.nodes.origin(*node));
            let operands: Vec<usize> = terms.nodes().iter().map(slot).collect();
            let adds = sum::adds(facts.dtype, operands.len());
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
            let table = if let LaneOp::Table(table, _) = op { table.entries } else { &[] };
            self.program.instructions.push(Instruction::Loop { kernel, target, operands, table });
        }
        let operands: Vec<usize> = self.nodes.operands(index).collect();
        operands.into_iter().for_each(|operand| self.release(operand, place));
        Ok(())
    }

    /// Adds the bytecode of a node, and writes its result if a later node reads it.
    fn add_bytecode(&mut self, place: usize, index: usize, bytes: usize) {
        if self.open.is_none_or(|(open, _)| open != bytes) {
            self.close();
            self.open = Some((bytes, None));
        }
        let accumulator = self.open.and_then(|(_, node)| node);
        let is_bool = self.nodes.facts[index].dtype == DType::Bool;
        let bools = is_bool.then(|| number(self.target(index)));
        // What is in the accumulator may have no slot, and needs none.
        let slots = |node: usize| self.slots[node].map_or(0, number);
        let mut operation = bytecode::operation(self.nodes, index, accumulator, (&slots, bools));
        if !is_bool && !self.goes_on(place, index, bytes) {
            operation.target = number(self.target(index));
        }
        let joined =
            self.bytecode.last_mut().is_some_and(|before| bytecode::join(before, &operation));
        if !joined {
            self.bytecode.push(operation);
        }
        // Comparing leaves the accumulator as it is, or as it was loaded.
        let held = if is_bool { bytecode::first(self.nodes, index, accumulator) } else { index };
        self.open = Some((bytes, Some(held)));
    }

    /// True if the next item alone needs a node, and finds it in the accumulator.
    fn goes_on(&self, place: usize, index: usize, bytes: usize) -> bool {
        let facts = self.nodes.facts[index];
        let Some(OrderItem::Node(next)) = self.items.get(place + 1).copied() else { return false };
        facts.output.is_none()
            && facts.uses == 1
            // The end of a predicated group is the end of its bytecode.
            && self.nodes.facts[next].predicate == facts.predicate
            && bytecode::lanes(self.nodes, next, self.program.vectors) == Some(bytes)
            && bytecode::first(self.nodes, next, Some(index)) == index
    }

    /// Makes an instruction of the open bytecode.
    fn close(&mut self) {
        let Some((bytes, _)) = self.open.take() else { return };
        let vectors = self.program.vectors;
        let interpreter =
            interpreter(bytes, vectors).expect("bytecode was made for an interpreter");
        let bytecode: Box<[BytecodeOp]> = std::mem::take(&mut self.bytecode).into();
        let jit = vectors.jit().then(|| JitCode::new(&bytecode, bytes, vectors)).flatten();
        self.program.instructions.push(Instruction::Bytecode { interpreter, bytecode, jit });
    }

    /// The slot that a node is written to.
    fn target(&mut self, index: usize) -> usize {
        let bytes = self.nodes.facts[index].dtype.bytes();
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
            self.free.push((slot, self.nodes.facts[index].dtype.bytes()));
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
            let copy = Instruction::Loop { kernel, target, operands, table: &[] };
            self.program.copies.push((output, copy));
        }
        Ok(())
    }

    fn kernel(&self, op: &LaneOp) -> Option<Kernel> {
        let (body, vectors) = (self.nodes.body, self.program.vectors);
        match *op {
            LaneOp::Unary(one, of) => choose::one(one, body.dtype(of), vectors),
            LaneOp::Binary(two, left, _) => choose::two(two, body.dtype(left), vectors),
            LaneOp::MulAdd(a, _, _) => choose::mul_add(body.dtype(a), vectors),
            LaneOp::Select(_, yes, _) => choose::select(body.dtype(yes), vectors),
            LaneOp::Cast(of, to) => cast::cast(body.dtype(of), to, vectors),
            LaneOp::Table(..) => Some(choose::look_up),
            LaneOp::Call(function, _) => Some(functions::function(function, vectors)),
            LaneOp::Input(_) | LaneOp::Const(_) | LaneOp::Bits(..) | LaneOp::Sum(_) => None,
        }
    }

    /// Bodies check the types of their nodes, so every node has a loop.
    fn no_loop(&self, index: usize) -> Error {
        let op = format!("{:?}", self.nodes.op(index));
        pantile_lanes::Error::WrongLane { op, dtype: self.nodes.facts[index].dtype }.into()
    }
}

/// Bodies have fewer than 2^32 nodes.
fn number(slot: usize) -> u32 {
    u32::try_from(slot).expect("fewer than 2^32 slots")
}

/// The inputs of a body that is their product.
fn product(nodes: &Nodes<'_>) -> Option<[usize; 2]> {
    let [output] = nodes.body.outputs() else { return None };
    let LaneOp::Binary(BinaryOp::Mul, one, other) = nodes.op(output.index()) else { return None };
    let input = |node: LaneNode| match nodes.op(node.index()) {
        LaneOp::Input(number) => Some(number as usize),
        _ => None,
    };
    let float = nodes.body.dtype(*output) == DType::F64;
    if float { Some([input(one)?, input(other)?]) } else { None }
}
