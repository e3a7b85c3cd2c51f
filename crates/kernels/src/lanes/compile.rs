//! From a body to a program: what is needed, in which slot, by which loop.

use pantile_lanes::{Body, DType, Node, Op, Scalar, Two};

use super::kernel::Kernel;
use super::program::{Instruction, Program};
use super::{cast, choose};
use crate::Error;
use crate::simd::Vectors;

/// Compiles a body whose outputs are nodes of it.
pub(super) fn compile(body: &Body, vectors: Vectors) -> Result<Program, Error> {
    let mut compiler = Compiler::new(body, vectors);
    compiler.find_outputs();
    compiler.find_uses();
    compiler.find_chains();
    compiler.find_uses();
    compiler.place_fixed();
    for index in 0..body.nodes().len() {
        compiler.node(index)?;
    }
    compiler.copy_outputs()?;
    Ok(compiler.program)
}

/// What is known of a node.
#[derive(Clone, Copy)]
struct Known {
    dtype: DType,
    /// The node whose bits it has: itself, or an earlier one.
    same_as: usize,
    /// The last node that reads its bits; none if nobody does.
    last_use: Option<usize>,
    /// How many operands of nodes it is.
    uses: usize,
    /// What it computes together with one of its operands, which is then not computed alone.
    chain: Option<Chain>,
    /// The first output that it is.
    output: Option<usize>,
    slot: Option<usize>,
}

/// Two operations in one loop.
#[derive(Clone, Copy)]
struct Chain {
    kernel: Kernel,
    operands: [Option<Node>; 3],
}

struct Compiler<'a> {
    body: &'a Body,
    program: Program,
    known: Vec<Known>,
    /// Registers that nobody needs any more.
    free: Vec<usize>,
}

impl<'a> Compiler<'a> {
    fn new(body: &'a Body, vectors: Vectors) -> Self {
        let mut known: Vec<Known> = Vec::with_capacity(body.nodes().len());
        for (index, op) in body.nodes().iter().enumerate() {
            let dtype = type_of(body, op);
            let same_as = match *op {
                Op::Bits(of, _) => known[of.index()].same_as,
                Op::Cast(of, to) if cast::keeps_bits(body.dtype(of), to) => {
                    known[of.index()].same_as
                }
                _ => index,
            };
            known.push(Known {
                dtype,
                same_as,
                last_use: None,
                uses: 0,
                chain: None,
                output: None,
                slot: None,
            });
        }
        let program = Program {
            inputs: body.inputs().to_vec(),
            outputs: body.outputs().iter().map(|node| known[node.index()].dtype).collect(),
            constants: Vec::new(),
            registers: 0,
            instructions: Vec::new(),
            copies: Vec::new(),
            origins: Vec::new(),
            vectors,
            widest: 1,
        };
        Self { body, program, known, free: Vec::new() }
    }

    /// The node that has the bits of this one.
    fn origin(&self, node: Node) -> usize {
        self.known[node.index()].same_as
    }

    fn find_outputs(&mut self) {
        for (output, node) in self.body.outputs().iter().enumerate() {
            let origin = self.origin(*node);
            let first = &mut self.known[origin].output;
            *first = first.or(Some(output));
        }
    }

    /// Finds what is needed, from the outputs back to the inputs.
    fn find_uses(&mut self) {
        self.known.iter_mut().for_each(|known| (known.last_use, known.uses) = (None, 0));
        for index in (0..self.known.len()).rev() {
            if self.known[index].same_as != index || !self.needed(index) {
                continue;
            }
            for operand in self.operands(index).into_iter().flatten() {
                let origin = self.origin(operand);
                let known = &mut self.known[origin];
                known.last_use = known.last_use.or(Some(index));
                known.uses += 1;
            }
        }
    }

    /// Finds pairs of operations that one loop does: the first is needed by the second alone.
    fn find_chains(&mut self) {
        for index in 0..self.known.len() {
            let Op::Two(second, left, right) = self.body.nodes()[index] else { continue };
            if self.known[index].same_as == index && self.needed(index) {
                let chain = self.chain(second, left, right, false);
                self.known[index].chain = chain.or_else(|| self.chain(second, right, left, true));
            }
        }
    }

    /// The chain of a node and the one before it, which is its right operand or its left one.
    fn chain(&self, second: Two, inner: Node, other: Node, right: bool) -> Option<Chain> {
        let origin = self.origin(inner);
        let known = self.known[origin];
        let Op::Two(first, a, b) = self.body.nodes()[origin] else { return None };
        // A chain has two links: a third operation starts anew.
        if known.uses != 1 || known.output.is_some() || known.chain.is_some() {
            return None;
        }
        let dtype = self.body.dtype(other);
        if dtype != known.dtype {
            return None;
        }
        let kernel = choose::chain([first, second], right, dtype, self.program.vectors)?;
        Some(Chain { kernel, operands: [Some(a), Some(b), Some(other)] })
    }

    /// The nodes that a node reads.
    fn operands(&self, index: usize) -> [Option<Node>; 3] {
        let chain = self.known[index].chain;
        chain.map_or_else(|| operands(&self.body.nodes()[index]), |chain| chain.operands)
    }

    fn needed(&self, index: usize) -> bool {
        self.known[index].last_use.is_some() || self.known[index].output.is_some()
    }

    /// Gives inputs and constants, and what is an output, their slots.
    fn place_fixed(&mut self) {
        let (inputs, outputs) = (self.program.inputs.len(), self.program.outputs.len());
        for (index, op) in self.body.nodes().iter().enumerate() {
            if self.known[index].same_as != index || !self.needed(index) {
                continue;
            }
            self.known[index].slot = match *op {
                Op::Input(number) => Some(number as usize),
                Op::Const(value) => Some(inputs + outputs + self.constant(value)),
                _ => self.known[index].output.map(|output| inputs + output),
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

    /// The instruction of a node, if it needs one.
    fn node(&mut self, index: usize) -> Result<(), Error> {
        let op = &self.body.nodes()[index];
        let fixed = matches!(op, Op::Input(_) | Op::Const(_));
        if fixed || self.known[index].same_as != index || !self.needed(index) {
            return Ok(());
        }
        let kernel = self.known[index].chain.map(|chain| chain.kernel);
        let kernel = kernel.or_else(|| self.kernel(op)).ok_or_else(|| self.no_loop(index))?;
        // The target is taken before operands are given back: it is none of them.
        let target = self.known[index].slot.unwrap_or_else(|| self.register());
        self.known[index].slot = Some(target);
        self.program.widest = self.program.widest.max(self.known[index].dtype.bytes());
        let mut slots = [target; 3];
        let operands = self.operands(index);
        for (slot, operand) in slots.iter_mut().zip(operands) {
            *slot = operand.map_or(target, |operand| self.slot(operand));
        }
        for operand in operands.into_iter().flatten() {
            self.release(self.origin(operand), index);
        }
        let words = if let Op::Table(table, _) = op { table.words } else { &[] };
        self.program.instructions.push(Instruction { kernel, target, operands: slots, words });
        Ok(())
    }

    fn slot(&self, node: Node) -> usize {
        let slot = self.known[self.origin(node)].slot;
        slot.expect("operands come before their users and are needed")
    }

    fn register(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.program.registers += 1;
            self.program.slots() - 1
        })
    }

    /// Gives a register back after its last use.
    fn release(&mut self, origin: usize, index: usize) {
        let first = self.program.slots() - self.program.registers;
        let known = self.known[origin];
        if let Some(slot) = known.slot
            && slot >= first
            && known.last_use == Some(index)
            && !self.free.contains(&slot)
        {
            self.free.push(slot);
        }
    }

    /// Outputs that are inputs or constants, or were outputs already.
    fn copy_outputs(&mut self) -> Result<(), Error> {
        for (output, node) in self.body.outputs().iter().enumerate() {
            let (target, from) = (self.program.inputs.len() + output, self.slot(*node));
            self.program.origins.push(from);
            if from == target {
                continue;
            }
            let kernel = choose::copy(self.program.outputs[output], self.program.vectors);
            let kernel = kernel.ok_or_else(|| self.no_loop(node.index()))?;
            let operands = [from; 3];
            self.program.copies.push(Instruction { kernel, target, operands, words: &[] });
        }
        Ok(())
    }

    fn kernel(&self, op: &Op) -> Option<Kernel> {
        let (body, vectors) = (self.body, self.program.vectors);
        match *op {
            Op::One(one, of) => choose::one(one, body.dtype(of), vectors),
            Op::Two(two, left, _) => choose::two(two, body.dtype(left), vectors),
            Op::MulAdd(a, _, _) => choose::mul_add(body.dtype(a), vectors),
            Op::Select(_, yes, _) => choose::select(body.dtype(yes), vectors),
            Op::Cast(of, to) => cast::cast(body.dtype(of), to, vectors),
            Op::Table(..) => Some(choose::look_up),
            Op::Input(_) | Op::Const(_) | Op::Bits(..) => None,
        }
    }

    /// Bodies check the types of their nodes, so every node has a loop.
    fn no_loop(&self, index: usize) -> Error {
        let op = format!("{:?}", self.body.nodes()[index]);
        pantile_lanes::Error::WrongLane { op, dtype: self.known[index].dtype }.into()
    }
}

/// The nodes that an operation reads.
fn operands(op: &Op) -> [Option<Node>; 3] {
    match *op {
        Op::Input(_) | Op::Const(_) => [None; 3],
        Op::One(_, a) | Op::Cast(a, _) | Op::Bits(a, _) | Op::Table(_, a) => [Some(a), None, None],
        Op::Two(_, a, b) => [Some(a), Some(b), None],
        Op::MulAdd(a, b, c) | Op::Select(a, b, c) => [Some(a), Some(b), Some(c)],
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
    }
}
