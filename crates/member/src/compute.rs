//! Single operations on tiles: compiled as a program of one operation, and kept.
//!
//! What an operation computes is said in one place only, the lowering. A member that computes on
//! local arrays lowers the operation for a world of one rank; an operation of all members is
//! lowered for their world.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pantile_comm::{Communicator, Options, Rank, threads};
use pantile_engine::{Engine, Runner, Tile};
use pantile_ir::{Block, Function, Op, Operation, Place, Program, Scalar, Type, infer};
use pantile_lower::{self as lower, Setting};

use crate::error::OperationFault;

/// So many programs are kept.
const KEPT: usize = 4096;

/// What is given for an operand.
pub(crate) enum Given {
    /// Elements.
    Tile(std::rc::Rc<Tile>),
    /// A number that has to be known when the operation is compiled.
    Constant(Scalar),
}

/// One operation with what it is applied to.
pub(crate) struct Task<'a> {
    pub(crate) op: &'a Op,
    pub(crate) operands: Vec<(Type, Given)>,
    /// The types of the results; lengths may be open.
    pub(crate) results: Vec<Type>,
    /// Where functions are that it calls.
    pub(crate) program: &'a Program,
    pub(crate) place: &'a Place,
}

/// What makes two tasks the same program.
#[derive(PartialEq, Eq, Hash)]
struct TaskKey {
    op: Op,
    operands: Vec<(Type, Option<Scalar>)>,
    results: Vec<Type>,
}

/// A program of one operation that was compiled.
struct Kept {
    key: TaskKey,
    runner: Runner,
    results: Vec<Type>,
}

/// Programs of one operation, for one world.
pub(crate) struct TaskRunner {
    setting: Setting,
    /// By the hash of what they are; those of equal hashes are compared.
    kept: BTreeMap<u64, Vec<Kept>>,
    count: usize,
}

impl TaskRunner {
    /// For so many ranks.
    pub(crate) fn new(ranks: usize, teams: &BTreeMap<String, Vec<Rank>>, looks: bool) -> Self {
        let setting =
            Setting { ranks, teams: teams.clone(), remote_reads: looks, ..Setting::default() };
        Self { setting, kept: BTreeMap::new(), count: 0 }
    }

    /// The results: their types, with all lengths, and their elements.
    pub(crate) fn run(
        &mut self,
        engine: &mut Engine,
        task: &Task<'_>,
    ) -> Result<Vec<(Type, Tile)>, OperationFault> {
        let key = task.key();
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let hash = hasher.finish();
        let known = |all: &Vec<Kept>| all.iter().position(|one| one.key == key);
        let at = match self.kept.get(&hash).and_then(known) {
            Some(at) => at,
            None => {
                let made = self.compiled(engine, task, key)?;
                if self.count >= KEPT {
                    (self.kept, self.count) = (BTreeMap::new(), 0);
                }
                self.count += 1;
                let all = self.kept.entry(hash).or_default();
                all.push(made);
                all.len() - 1
            }
        };
        let kept = self.kept.get_mut(&hash).and_then(|all| all.get_mut(at));
        let Some(kept) = kept else { return Err(OperationFault::NoRule) };
        let tiles: Vec<&Tile> = task
            .operands
            .iter()
            .filter_map(|(_, given)| match given {
                Given::Tile(tile) => Some(&**tile),
                Given::Constant(_) => None,
            })
            .collect();
        let made = kept.runner.run_on(engine, &tiles)?;
        Ok(kept.results.iter().cloned().zip(made).collect())
    }

    fn compiled(
        &self,
        engine: &mut Engine,
        task: &Task<'_>,
        key: TaskKey,
    ) -> Result<Kept, OperationFault> {
        let program = task.program_of_one()?;
        let results = program.functions[0].results.clone();
        let executable = lower::compile(&program, &self.setting)?;
        let runner = Runner::new(engine, Arc::new(executable))?;
        Ok(Kept { key, runner, results })
    }
}

impl Task<'_> {
    fn key(&self) -> TaskKey {
        let operands = self.operands.iter().map(|(ty, given)| match given {
            Given::Tile(_) => (ty.clone(), None),
            Given::Constant(scalar) => (ty.clone(), Some(*scalar)),
        });
        let (operands, results) = (operands.collect(), self.results.clone());
        TaskKey { op: self.op.clone(), operands, results }
    }

    fn program_of_one(&self) -> Result<Program, OperationFault> {
        let name = self.program.entry().map_or("main", |entry| &entry.name);
        let mut function = Function::new(name);
        let (mut operands, mut operations) = (Vec::new(), Vec::new());
        for (ty, given) in &self.operands {
            let value = function.value(ty.clone());
            operands.push(value);
            match given {
                Given::Tile(_) => function.body.arguments.push(value),
                Given::Constant(scalar) => {
                    operations.push(Operation::new(Op::Constant(*scalar), Vec::new(), vec![value]))
                }
            }
        }
        let results = self.results.iter().map(|ty| function.value(ty.clone())).collect();
        let operation = Operation::new(self.op.clone(), operands, results).at(self.place.clone());
        let others = self.program.functions.iter().filter(|one| one.name != name).cloned();
        let mut functions = vec![function];
        functions.extend(others);
        let mut program = Program { functions, aliases: Vec::new() };
        let found = infer::result_types(&program.functions[0], &operation, &program);
        let function = &mut program.functions[0];
        for (value, found) in operation.results.iter().zip(found.into_iter().flatten()) {
            let ty = with_lengths(function.ty(*value), &found);
            function.values[value.index()].ty = ty;
        }
        let ends = operation.results.clone();
        function.results = ends.iter().map(|value| function.ty(*value).clone()).collect();
        operations.push(operation);
        operations.push(Operation::new(Op::Return, ends, Vec::new()));
        let arguments = std::mem::take(&mut function.body.arguments);
        function.body = Block { arguments, operations };
        Ok(program)
    }
}

/// A type with the lengths that another one knows.
fn with_lengths(ty: &Type, found: &Type) -> Type {
    let mut ty = ty.clone();
    if let Type::Array(array) = &mut ty
        && array.shape.len() == found.shape().len()
    {
        for (dim, found) in array.shape.iter_mut().zip(found.shape()) {
            *dim = dim.or(*found);
        }
    }
    ty
}

/// A world of one rank for what a member computes by itself.
pub(crate) fn own_world() -> Engine {
    let mut world = threads::Threads::world(1, &Options::default());
    let end = world.pop().map(|end| Communicator::new(Box::new(end)));
    Engine::new(end.expect("a world of one rank has one end"))
}
