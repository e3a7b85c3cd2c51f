//! The program of one member: local arrays, and calls of the runtime.
//!
//! A distributed array becomes its left halo, its owned part and its right halo, with offsets that
//! are known. Arguments and results without halos are the owned part, others are all three. What
//! an elementwise operation computes stays in pieces, cut where the parts of its operands and the
//! core end, as long as only elementwise operations and inserts read it; the core comes first.
//! Reductions over rows get memory for the runtime as arguments behind the others.
//!
//! Everything about shapes and places has to be known: `fold` is done first for the member.

mod control;
mod elementwise;
mod error;
mod held;
mod moves;
mod reduce;

use std::collections::{BTreeMap, BTreeSet};

pub use self::error::MemberError;
use self::held::{Held, copied};
use super::alias::Aliases;
use super::facts::Facts;
use super::rewrite::Rewriter;
use super::{Member, PassError, dce, fold};
use pantile_ir::{ArrayType, Block, Function, Op, Operation, Program, Type, Value};

const PASS: &str = "member";

pub(super) fn run(program: &mut Program, member: &Member) -> Result<(), PassError> {
    member.check(PASS, program)?;
    fold::run(program, member)?;
    for function in &mut program.functions {
        let kept = function.clone();
        let body = std::mem::take(&mut function.body);
        match lowered(function, body, member) {
            Ok(body) => function.body = body,
            Err(error) => {
                *function = kept;
                return Err(error);
            }
        }
        dce::unused(&mut function.body);
    }
    Ok(())
}

fn lowered(function: &mut Function, body: Block, member: &Member) -> Result<Block, PassError> {
    let aliases = Aliases::new(function, &body);
    let mut copied_ones = BTreeSet::new();
    copied(function, &aliases, &body, &mut copied_ones);
    let whole = whole(function, &aliases, &body);
    let mut lower = Lower {
        to: Rewriter::new(function),
        facts: Facts::new(member),
        held: BTreeMap::new(),
        copied: copied_ones,
        whole,
        memory: Vec::new(),
        read: read(&body),
        results: None,
    };
    let arguments = lower.arguments(&body.arguments)?;
    let body = Block { arguments, operations: body.operations };
    let mut made = lower.block(body)?;
    made.arguments.append(&mut lower.memory);
    if let Some(results) = lower.results {
        function.results = results;
    }
    Ok(made)
}

/// Values that may not stay in pieces: something else than arithmetic and inserts uses them.
fn whole(function: &Function, aliases: &Aliases, body: &Block) -> BTreeSet<Value> {
    let mut whole: BTreeSet<Value> = BTreeSet::new();
    body.walk(&mut |operation| {
        let first = match operation.op {
            ref op if elementwise::is_elementwise(op) => operation.operands.len(),
            Op::InsertSlice(_) => 1,
            _ => 0,
        };
        whole.extend(&operation.operands[first..]);
        whole.extend(operation.results.iter().filter(|value| aliases.is_written(**value)));
    });
    whole.retain(|value| function.ty(*value).as_array().is_some());
    whole
}

/// Values that something else reads than what is done with boxes and cores.
fn read(body: &Block) -> BTreeSet<Value> {
    let mut read = BTreeSet::new();
    body.walk(&mut |operation| {
        let asks = matches!(
            operation.op,
            Op::BoundingBox { .. }
                | Op::LocalCore { .. }
                | Op::Repartition { .. }
                | Op::DistBinary(_)
                | Op::DistUnary(_)
        );
        if !asks {
            read.extend(&operation.operands);
        }
    });
    read
}

struct Lower<'f> {
    to: Rewriter<'f>,
    facts: Facts,
    /// The parts of distributed arrays with axes.
    held: BTreeMap<Value, Held>,
    /// Repartitions whose owned part must not change with its base.
    copied: BTreeSet<Value>,
    /// Arrays that may not stay in pieces.
    whole: BTreeSet<Value>,
    /// Arguments that the function gets for reductions over the team.
    memory: Vec<Value>,
    /// Values that something else reads than what is done with boxes and cores.
    read: BTreeSet<Value>,
    /// The types that the function returns.
    results: Option<Vec<Type>>,
}

impl Lower<'_> {
    fn refuse<T>(&self, operation: &Operation, reason: MemberError) -> Result<T, PassError> {
        Err(PassError::NotCovered {
            pass: PASS,
            op: operation.op.name(),
            reason: Box::new(reason),
            place: operation.place.clone(),
        })
    }

    fn block(&mut self, block: Block) -> Result<Block, PassError> {
        let outer = std::mem::take(&mut self.to.out);
        for operation in block.operations {
            self.operation(operation)?;
        }
        let operations = std::mem::replace(&mut self.to.out, outer);
        Ok(Block { arguments: block.arguments, operations })
    }

    /// The type of a value if it is a distributed array.
    fn spread(&self, value: Value) -> Option<ArrayType> {
        let array = self.to.function.ty(value).as_array()?;
        array.dist_env().is_some().then(|| array.clone())
    }

    fn operation(&mut self, mut operation: Operation) -> Result<(), PassError> {
        self.to.place = operation.place.clone();
        if !operation.blocks.is_empty() {
            return self.nested(operation);
        }
        self.facts.note(self.to.function, &operation);
        if let Op::Return | Op::Yield | Op::Condition | Op::RegionYield = operation.op {
            return self.end(operation);
        }
        let values = operation.operands.iter().chain(&operation.results);
        let spread = values.clone().any(|value| self.spread(*value).is_some());
        if !spread && !is_of_member(&operation.op) {
            self.to.resolve(&mut operation);
            self.to.push(operation);
            return Ok(());
        }
        match operation.op.clone() {
            Op::Create { .. } => self.create(&operation),
            Op::Linspace { .. }
            | Op::Arange
            | Op::Eye { .. }
            | Op::Random { .. }
            | Op::IndexAlong { .. } => self.create_all(operation),
            Op::Subview(slice) => self.subview(&operation, &slice, false),
            Op::DistSubview { slice, target } => self.subview(&operation, &slice, target),
            Op::InsertSlice(slice) => self.insert(&operation, &slice),
            Op::Repartition { request } => self.repartition(&operation, request),
            Op::InitDist => self.bind(&operation),
            Op::PartsOf => self.parts_of(&operation),
            Op::Cast => self.same(&operation),
            Op::Copy | Op::CastElement { .. } | Op::Unary(_) | Op::DistUnary(_) => {
                self.each_piece(&operation)
            }
            Op::Delete => self.delete(&operation),
            Op::Reshape { .. } | Op::Permute(_) => self.rearrange(&operation),
            Op::ToTensor => self.tensor(operation),
            Op::Reduce { .. } => self.reduce(&operation),
            Op::Load => self.load(&operation),
            ref op if elementwise::is_elementwise(op) => self.elementwise(&operation),
            // Whoever reads these asks for what is known of them, or says what is missing.
            Op::BoundingBox { .. } | Op::LocalCore { .. }
                if operation.results.iter().all(|value| !self.read.contains(value)) =>
            {
                Ok(())
            }
            ref op if is_of_member(op) => self.refuse(&operation, MemberError::UnknownNumbers),
            _ => self.refuse(&operation, MemberError::NoForm),
        }
    }

    /// Another name for an array.
    fn same(&mut self, operation: &Operation) -> Result<(), PassError> {
        let (from, to) = (operation.operands[0], operation.results[0]);
        match self.held.get(&from) {
            Some(held) => {
                let held = held.clone();
                self.held.insert(to, held);
            }
            None => self.to.replace(to, from),
        }
        Ok(())
    }
}

/// True for what is asked about members only, and is a constant once it is known.
fn is_of_member(op: &Op) -> bool {
    matches!(
        op,
        Op::DefaultPartition
            | Op::LocalTarget
            | Op::BoundingBox { .. }
            | Op::LocalCore { .. }
            | Op::LocalOffsetsOf
    )
}

/// The type of a local array of these elements.
fn local_type(array: &ArrayType, shape: &[usize]) -> Type {
    let shape = shape.iter().copied().map(Some).collect();
    Type::Array(ArrayType { shape, ..array.placed(None) })
}
