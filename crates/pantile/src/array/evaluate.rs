//! From recorded operations to a program, and from there to elements.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use pantile_engine::Job;
use pantile_geometry::{Distribution, Fingerprint};
use pantile_ir::lower::{self, Executable};
use pantile_ir::{Env, Function, Op, Operation, Program, Type, Value};

use super::fault::Fault;
use super::node::{Node, Stored};
use super::world::World;

impl World {
    /// Computes what these nodes stand for, and what others refer to on the way.
    pub(crate) fn evaluate(&self, targets: &[Rc<Node>]) -> Result<(), Fault> {
        let order = self.order(targets, &ends)?;
        if order.is_empty() {
            return Ok(());
        }
        let kept = kept(&order, targets);
        let (program, arguments) = self.program(&order, &kept);
        let executable = self.executable(&program)?;
        let ids: Vec<_> = kept.iter().map(|_| self.inner.new_id()).collect();
        let job = Arc::new(Job {
            key: key(&program, self.ranks()),
            arguments: arguments
                .iter()
                .map(|node| node.stored.borrow().as_ref().map(|stored| stored.id))
                .collect::<Option<_>>()
                .unwrap_or_default(),
            results: ids.clone(),
            forget: self.inner.garbage.borrow_mut().drain(..).collect(),
            executable: Arc::clone(&executable),
        });
        self.inner.crew.borrow_mut().run(&job)?;
        for ((node, id), (slot, _)) in kept.iter().zip(ids).zip(&executable.results) {
            let home = executable.plain_home(*slot);
            let garbage = Rc::clone(&self.inner.garbage);
            *node.stored.borrow_mut() = Some(Stored { id, home, garbage });
        }
        // What they were made of is not needed any more.
        for node in &kept {
            let made = node.made.borrow_mut().take();
            drop(made);
        }
        self.inner.pending.set(0);
        Ok(())
    }

    /// The program that computes these nodes, without running it.
    pub(crate) fn plan(&self, targets: &[Rc<Node>]) -> Result<Arc<Executable>, Fault> {
        let order = self.order(targets, &ends)?;
        let (program, _) = self.program(&order, targets);
        self.executable(&program)
    }

    /// Nodes up to those where the way ends, operands before users.
    pub(crate) fn order(
        &self,
        targets: &[Rc<Node>],
        ends: &dyn Fn(&Node) -> Result<bool, Fault>,
    ) -> Result<Vec<Rc<Node>>, Fault> {
        let (entered, left) = (self.inner.new_mark(), self.inner.new_mark());
        let mut order = Vec::new();
        let mut stack: Vec<Rc<Node>> = targets.iter().rev().cloned().collect();
        while let Some(node) = stack.last().cloned() {
            if let Some(fault) = &node.fault {
                return Err(fault.clone());
            }
            if ends(&node)? || node.mark.get() == left {
                stack.pop();
            } else if node.mark.get() == entered {
                node.mark.set(left);
                order.push(node);
                stack.pop();
            } else {
                node.mark.set(entered);
                stack.extend(node.operands().into_iter().rev());
            }
        }
        Ok(order)
    }

    fn program(&self, order: &[Rc<Node>], results: &[Rc<Node>]) -> (Program, Vec<Rc<Node>>) {
        let (function, arguments) = function("main", Vec::new(), order, results);
        let mut functions = vec![function];
        functions.extend(called(order));
        (Program { functions, aliases: Vec::new() }, arguments)
    }

    fn executable(&self, program: &Program) -> Result<Arc<Executable>, Fault> {
        let key = key(program, self.ranks());
        if let Some(known) = self.inner.executables.borrow().get(&key) {
            return Ok(Arc::clone(known));
        }
        let executable = Arc::new(lower::compile(program, &self.setting())?);
        self.inner.lowered.set(self.inner.lowered.get() + 1);
        let mut all = self.inner.executables.borrow_mut();
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
pub(crate) fn called(order: &[Rc<Node>]) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for node in order {
        let made = node.made.borrow();
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
    mut arguments: Vec<Rc<Node>>,
    order: &[Rc<Node>],
    results: &[Rc<Node>],
) -> (Function, Vec<Rc<Node>>) {
    let mut function = Function::new(name);
    let mut values: BTreeMap<*const Node, Value> = BTreeMap::new();
    for node in &arguments {
        let value = function.value(node.ty.clone());
        function.body.arguments.push(value);
        values.insert(Rc::as_ptr(node), value);
    }
    let mut value_of = |node: &Rc<Node>, function: &mut Function| -> Value {
        if let Some(value) = values.get(&Rc::as_ptr(node)) {
            return *value;
        }
        let value = match &*node.stored.borrow() {
            Some(stored) => {
                arguments.push(Rc::clone(node));
                let value = function.value(at_home(&node.ty, &stored.home));
                function.body.arguments.push(value);
                value
            }
            None => function.value(node.ty.clone()),
        };
        values.insert(Rc::as_ptr(node), value);
        value
    };
    let mut operations = Vec::new();
    for node in order {
        let made = node.made.borrow();
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

/// The targets, and nodes on the way that somebody outside refers to.
fn kept(order: &[Rc<Node>], targets: &[Rc<Node>]) -> Vec<Rc<Node>> {
    let mut inside: BTreeMap<*const Node, usize> = BTreeMap::new();
    for node in order {
        for of in node.operands() {
            *inside.entry(Rc::as_ptr(&of)).or_insert(0) += 1;
        }
    }
    let mut kept: Vec<Rc<Node>> = Vec::new();
    for node in order {
        let pointer = Rc::as_ptr(node);
        let wanted = targets.iter().filter(|target| Rc::as_ptr(target) == pointer).count();
        // One reference is the list's own.
        let known = 1 + wanted + inside.get(&pointer).copied().unwrap_or(0);
        let cheap = node.made.borrow().as_ref().is_some_and(|made| made.operands.is_empty());
        if wanted > 0 || (Rc::strong_count(node) > known && !cheap) {
            kept.push(Rc::clone(node));
        }
    }
    kept
}

/// The type of an array that lives somewhere already.
fn at_home(ty: &Type, home: &Distribution) -> Type {
    let Type::Array(array) = ty else { return ty.clone() };
    let text = home.to_string();
    let place = text.split_once(" on ").map_or("auto", |(_, place)| place);
    Type::Array(array.placed(Some(Env::Spread(place.to_owned()))))
}
