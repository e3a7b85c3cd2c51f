//! Nodes as a program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pantile_ir::{Env, Function, Op, Operation, PlacedAt, Placement, Type, Value};

use super::node::{Node, lock};
use super::reads::is_element_read;

/// The functions that these nodes apply to blocks, each once.
pub(crate) fn called(order: &[Arc<Node>]) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for node in order {
        let made = lock(&node.made);
        for function in
            made.iter().filter_map(|made| made.functions.as_ref()).flat_map(|all| all.iter())
        {
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
    let given: BTreeSet<*const Node> = arguments.iter().map(Arc::as_ptr).collect();
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
                let value = function.value(at_home(&node.ty, &stored.home.plain));
                function.body.arguments.push(value);
                value
            }
            None => function.value(node.ty.clone()),
        };
        values.insert(Arc::as_ptr(node), value);
        value
    };
    let mut operations = Vec::new();
    for node in order.iter().filter(|node| !given.contains(&Arc::as_ptr(node))) {
        let made = lock(&node.made);
        let Some(made) = made.as_ref() else { continue };
        let operands = made.operands.iter().map(|of| value_of(of, &mut function)).collect();
        let result = value_of(node, &mut function);
        let mut add = |op: Op, operands, result| {
            let operation = Operation::new(op, operands, vec![result]);
            operations.push(operation.at(node.place.clone()));
        };
        if is_element_read(made, &node.ty) {
            // A copy is made before the array changes.
            let element = function.value(node.ty.clone());
            add(made.op.clone(), operands, element);
            add(Op::Copy, vec![element], result);
        } else {
            add(made.op.clone(), operands, result);
        }
    }
    let returned: Vec<Value> = results.iter().map(|node| value_of(node, &mut function)).collect();
    function.results = returned.iter().map(|value| function.ty(*value).clone()).collect();
    operations.push(Operation::new(Op::Return, returned, Vec::new()));
    function.body.operations = operations;
    (function, arguments)
}

/// The type of an array that lives somewhere already.
fn at_home(ty: &Type, home: &Arc<PlacedAt>) -> Type {
    let Type::Array(array) = ty else { return ty.clone() };
    let home = Placement::At(Arc::clone(home));
    Type::Array(array.placed(Some(Env::Placement(home))))
}
