//! From recorded operations to a program, and from there to elements.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pantile_comm::Call;
use pantile_engine::{Job, available_memory};
use pantile_geometry::{Distribution, Fingerprint};
use pantile_ir::lower::{self, Executable};
use pantile_ir::{Env, Function, Op, Operation, Place, Program, Type, Value};
use pantile_plan::{Machine, Terrain};

use super::fault::Fault;
use super::node::{Node, Stored, Tiles, lock};
use super::world::World;

impl World {
    /// Computes what these nodes stand for, and what others refer to on the way. `place` is the line
    /// that looks.
    pub(crate) fn evaluate(&self, targets: &[Arc<Node>], place: &Place) -> Result<(), Fault> {
        let _turn = lock(&self.inner.turn);
        let order = self.order(targets, &ends)?;
        if order.is_empty() {
            return Ok(());
        }
        let kept = self.agreed(&order, targets, place)?;
        let (program, arguments) = self.program(&order, &kept);
        let key = key(&program, self.ranks());
        let executable = self.executable(&program, key)?;
        self.check_forbidden(&executable)?;
        let ids: Vec<_> = kept.iter().map(|_| self.inner.new_id()).collect();
        let job = Arc::new(Job {
            key,
            arguments: arguments
                .iter()
                .map(|node| lock(&node.stored).as_ref().map(|stored| stored.id))
                .collect::<Option<_>>()
                .unwrap_or_default(),
            results: ids.clone(),
            forget: lock(&self.inner.garbage).drain(..).collect(),
            executable: Arc::clone(&executable),
        });
        let ran = lock(&self.inner.crew).run(&job);
        if let Err(error) = ran {
            // Of a program that still runs nobody will ask for the results.
            lock(&self.inner.garbage).extend(ids);
            return Err(error.into());
        }
        for ((node, id), (slot, _)) in kept.iter().zip(ids).zip(&executable.results) {
            let home = executable.plain_home(*slot);
            let garbage = Arc::clone(&self.inner.garbage);
            *lock(&node.stored) = Some(Stored { id, home, tiles: Tiles::default(), garbage });
        }
        // What they were made of is not needed any more.
        for node in &kept {
            let made = lock(&node.made).take();
            drop(made);
        }
        self.inner.pending.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses a program that needs more memory than there is: asking for it would end the process.
    fn check_memory(&self, executable: &Executable) -> Result<(), Fault> {
        let ranks = self.inner.hosted.iter();
        let needed =
            ranks.fold(0usize, |all, rank| all.saturating_add(executable.needed_bytes(*rank)));
        match available_memory() {
            Some(free) if needed > free => {
                let message = format!(
                    "computing this needs {needed} bytes of memory here, but {free} are free"
                );
                Err(Fault::new(message, Place::default()))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a program that moves something, if that is forbidden.
    fn check_forbidden(&self, executable: &Executable) -> Result<(), Fault> {
        if !self.inner.forbidden.load(Ordering::Relaxed) {
            return Ok(());
        }
        let terrain = Terrain::new(lock(&self.inner.crew).has_windows());
        let cost = executable
            .cost(&Machine::default(), terrain)
            .map_err(|error| Fault::new(error.to_string(), Place::default()))?;
        match cost.steps.iter().find(|step| step.messages > 0) {
            None => Ok(()),
            Some(step) => Err(Fault::new(
                format!(
                    "a {} would move {} bytes between ranks, and nothing may move here",
                    step.what, step.bytes
                ),
                step.place.clone(),
            )),
        }
    }

    /// The nodes whose elements are kept: those that are asked for, and those that somebody refers
    /// to. Where every process is a rank, what one of them refers to is kept by all, because
    /// handles need not end on all of them at the same time.
    fn agreed(
        &self,
        order: &[Arc<Node>],
        targets: &[Arc<Node>],
        place: &Place,
    ) -> Result<Vec<Arc<Node>>, Fault> {
        let mut flags = kept(order, targets);
        if self.ranks() > self.inner.hosted.len() {
            let (program, _) = self.program(order, targets);
            #[allow(clippy::cast_possible_truncation, reason = "half of the key tells them apart")]
            let fingerprint = key(&program, self.ranks()) as u64;
            let (file, line) = (place.file.to_string().into(), place.line);
            // Who refuses to move anything must not leave the others waiting.
            let name = match self.inner.forbidden.load(Ordering::Relaxed) {
                true => "compute where nothing may move",
                false => "compute",
            };
            let call = Call { name: name.into(), fingerprint, file, line };
            lock(&self.inner.crew).agree(&call, &mut flags)?;
        }
        let flagged = order.iter().zip(flags).filter(|(_, flag)| *flag);
        Ok(flagged.map(|(node, _)| Arc::clone(node)).collect())
    }

    /// The program that computes these nodes, without running it.
    pub(crate) fn plan(&self, targets: &[Arc<Node>]) -> Result<Arc<Executable>, Fault> {
        let _turn = lock(&self.inner.turn);
        let order = self.order(targets, &ends)?;
        let (program, _) = self.program(&order, targets);
        self.executable(&program, key(&program, self.ranks()))
    }

    /// Nodes up to those where the way ends, operands before users.
    pub(crate) fn order(
        &self,
        targets: &[Arc<Node>],
        ends: &dyn Fn(&Node) -> Result<bool, Fault>,
    ) -> Result<Vec<Arc<Node>>, Fault> {
        let (entered, left) = (self.inner.new_mark(), self.inner.new_mark());
        let mut order = Vec::new();
        let mut stack: Vec<Arc<Node>> = targets.iter().rev().cloned().collect();
        while let Some(node) = stack.last().cloned() {
            if let Some(fault) = &node.fault {
                return Err(fault.clone());
            }
            if ends(&node)? || node.mark() == left {
                stack.pop();
            } else if node.mark() == entered {
                node.set_mark(left);
                order.push(node);
                stack.pop();
            } else {
                node.set_mark(entered);
                stack.extend(node.operands().into_iter().rev());
            }
        }
        Ok(order)
    }

    fn program(&self, order: &[Arc<Node>], results: &[Arc<Node>]) -> (Program, Vec<Arc<Node>>) {
        let (function, arguments) = function("main", Vec::new(), order, results);
        let mut functions = vec![function];
        functions.extend(called(order));
        (Program { functions, aliases: Vec::new() }, arguments)
    }

    /// The program ready to run; `key` is its own.
    fn executable(&self, program: &Program, key: u128) -> Result<Arc<Executable>, Fault> {
        if let Some(known) = lock(&self.inner.executables).get(&key) {
            return Ok(Arc::clone(known));
        }
        let executable = Arc::new(lower::compile(program, &self.setting())?);
        self.check_memory(&executable)?;
        self.inner.lowered.fetch_add(1, Ordering::Relaxed);
        let mut all = lock(&self.inner.executables);
        // A program that never repeats itself must not fill memory.
        if all.len() >= 256 {
            all.clear();
        }
        all.insert(key, Arc::clone(&executable));
        Ok(executable)
    }
}

/// Programs start from arrays that are stored.
fn ends(node: &Node) -> Result<bool, Fault> {
    if node.is_block() {
        let message = "this is any block, not one of them: it has no elements to look at, and no \
                       meaning outside of the function that got it";
        return Err(Fault::new(message, node.place.clone()));
    }
    Ok(node.is_stored())
}

/// The functions that these nodes apply to blocks, each once.
pub(crate) fn called(order: &[Arc<Node>]) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for node in order {
        let made = lock(&node.made);
        for function in made.iter().flat_map(|made| made.functions.iter()) {
            // Names are made of what functions do: equal ones are equal.
            if functions.iter().all(|known| known.name != function.name) {
                functions.push(function.clone());
            }
        }
    }
    functions
}

/// The function that computes results by these nodes, and its arguments: those that are given,
/// then all stored ones.
pub(crate) fn function(
    name: &str,
    mut arguments: Vec<Arc<Node>>,
    order: &[Arc<Node>],
    results: &[Arc<Node>],
) -> (Function, Vec<Arc<Node>>) {
    let mut function = Function::new(name);
    let mut values: BTreeMap<*const Node, Value> = BTreeMap::new();
    for node in &arguments {
        let value = function.value(node.ty.clone());
        function.body.arguments.push(value);
        values.insert(Arc::as_ptr(node), value);
    }
    let mut value_of = |node: &Arc<Node>, function: &mut Function| -> Value {
        if let Some(value) = values.get(&Arc::as_ptr(node)) {
            return *value;
        }
        let value = match &*lock(&node.stored) {
            Some(stored) => {
                arguments.push(Arc::clone(node));
                let value = function.value(at_home(&node.ty, &stored.home));
                function.body.arguments.push(value);
                value
            }
            None => function.value(node.ty.clone()),
        };
        values.insert(Arc::as_ptr(node), value);
        value
    };
    let mut operations = Vec::new();
    for node in order {
        let made = lock(&node.made);
        let Some(made) = made.as_ref() else { continue };
        let operands = made.operands.iter().map(|of| value_of(of, &mut function)).collect();
        let result = value_of(node, &mut function);
        let operation = Operation::new(made.op.clone(), operands, vec![result]);
        operations.push(operation.at(node.place.clone()));
    }
    let returned: Vec<Value> = results.iter().map(|node| value_of(node, &mut function)).collect();
    function.results = returned.iter().map(|value| function.ty(*value).clone()).collect();
    operations.push(Operation::new(Op::Return, returned, Vec::new()));
    function.body.operations = operations;
    (function, arguments)
}

/// Equal programs have equal keys.
fn key(program: &Program, ranks: usize) -> u128 {
    Fingerprint::of(&format!("{ranks} {program}")).0
}

/// Flags the targets, and nodes on the way that somebody outside refers to.
fn kept(order: &[Arc<Node>], targets: &[Arc<Node>]) -> Vec<bool> {
    let mut inside: BTreeMap<*const Node, usize> = BTreeMap::new();
    for node in order {
        for of in node.operands() {
            *inside.entry(Arc::as_ptr(&of)).or_insert(0) += 1;
        }
    }
    let flag = |node: &Arc<Node>| {
        let pointer = Arc::as_ptr(node);
        let wanted = targets.iter().filter(|target| Arc::as_ptr(target) == pointer).count();
        // One reference is the list's own.
        let known = 1 + wanted + inside.get(&pointer).copied().unwrap_or(0);
        let cheap = lock(&node.made).as_ref().is_some_and(|made| made.operands.is_empty());
        wanted > 0 || (Arc::strong_count(node) > known && !cheap)
    };
    order.iter().map(flag).collect()
}

/// The type of an array that lives somewhere already.
fn at_home(ty: &Type, home: &Distribution) -> Type {
    let Type::Array(array) = ty else { return ty.clone() };
    let text = home.to_string();
    let place = text.split_once(" on ").map_or("auto", |(_, place)| place);
    Type::Array(array.placed(Some(Env::Spread(place.to_owned()))))
}
