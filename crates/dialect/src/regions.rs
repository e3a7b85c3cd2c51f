//! Regions of operations on a device: around each of them, or none.

use std::collections::BTreeSet;

use super::alias::Aliases;
use super::rewrite::{Rewriter, each_function};
use super::{Member, PassError};
use pantile_ir::{Attribute, Block, Env, Function, Op, Operation, Program, Type, Value};

/// Puts every operation on arrays of a device into a region of that device.
pub(super) fn add(program: &mut Program, _: &Member) -> Result<(), PassError> {
    each_function(program, |function, body| {
        let aliases = Aliases::new(function, &body);
        Ok(wrapped(function, &aliases, body, None))
    })
}

fn wrapped(
    function: &mut Function,
    aliases: &Aliases,
    block: Block,
    around: Option<&Attribute>,
) -> Block {
    let mut operations = Vec::new();
    for mut operation in block.operations {
        let inside = match &operation.op {
            Op::Region(device) => Some(device.clone()),
            _ => None,
        };
        let blocks = std::mem::take(&mut operation.blocks);
        operation.blocks = blocks
            .into_iter()
            .map(|inner| wrapped(function, aliases, inner, inside.as_ref()))
            .collect();
        match device_of(function, &operation) {
            Some(device) if around != Some(&device) && may_wrap(aliases, &operation) => {
                operations.push(wrap(function, operation, device));
            }
            _ => operations.push(operation),
        }
    }
    Block { arguments: block.arguments, operations }
}

/// The device of an operation's results, else of its operands; a copy goes where its result is.
fn device_of(function: &Function, operation: &Operation) -> Option<Attribute> {
    let structure = matches!(
        operation.op,
        Op::Return
            | Op::For
            | Op::While
            | Op::Condition
            | Op::Yield
            | Op::Region(_)
            | Op::RegionYield
    );
    if structure {
        return None;
    }
    let device = |value: &Value| {
        let Type::Array(array) = function.ty(*value) else { return None };
        array.envs.iter().find_map(|env| match env {
            Env::Gpu(device) => Some(device.clone()),
            _ => None,
        })
    };
    let made = operation.results.iter().find_map(device);
    let read = || match operation.op {
        Op::Copy => None,
        _ => operation.operands.iter().find_map(device),
    };
    let name = made.or_else(read)?;
    Some(Attribute::Opaque(format!("#region.gpu_env<device = {}>", quoted(&name))))
}

/// A device as the text of an attribute writes it.
fn quoted(name: &str) -> String {
    Attribute::String(name.to_owned()).to_string()
}

/// What leaves a region is an array of its own: a view that is written through cannot.
fn may_wrap(aliases: &Aliases, operation: &Operation) -> bool {
    !is_view(&operation.op) || !operation.results.iter().any(|value| aliases.is_written(*value))
}

fn is_view(op: &Op) -> bool {
    matches!(op, Op::Subview(_) | Op::DistSubview { .. } | Op::Cast | Op::InitDist | Op::PartsOf)
}

fn wrap(function: &mut Function, mut operation: Operation, device: Attribute) -> Operation {
    let outside = operation.results.clone();
    let place = operation.place.clone();
    let inside: Vec<Value> = outside
        .iter()
        .map(|value| {
            let data = function.values[value.index()].clone();
            let made = function.value(data.ty);
            function.values[made.index()].name = data.name;
            made
        })
        .collect();
    operation.results.clone_from(&inside);
    let end = Operation::new(Op::RegionYield, inside, Vec::new()).at(place.clone());
    let body = Block { arguments: Vec::new(), operations: vec![operation, end] };
    let mut region = Operation::new(Op::Region(device), Vec::new(), outside).at(place);
    region.blocks = vec![body];
    region
}

/// Takes the operations out of their regions.
pub(super) fn drop(program: &mut Program, _: &Member) -> Result<(), PassError> {
    each_function(program, |function, body| {
        let aliases = Aliases::new(function, &body);
        let mut to = Rewriter::new(function);
        to.block(body, &mut |to, operation| {
            flat(to, &aliases, operation, &Left::default());
            Ok(())
        })
    })
}

/// What leaves the region around an operation.
#[derive(Default)]
struct Left {
    /// The results of the region.
    results: Vec<Value>,
    /// Arrays that are made in it and nowhere seen but there.
    own: BTreeSet<Value>,
}

fn flat(to: &mut Rewriter<'_>, aliases: &Aliases, mut operation: Operation, left: &Left) {
    to.resolve(&mut operation);
    if let Op::RegionYield = operation.op {
        for (inside, outside) in operation.operands.iter().zip(&left.results) {
            // What left the region was an array of its own; that matters if one is written.
            let shared = aliases.is_written(*inside) || aliases.is_written(*outside);
            if shared && !left.own.contains(inside) && to.function.ty(*outside).as_array().is_some()
            {
                let copy = Operation::new(Op::Copy, vec![*inside], vec![*outside]);
                to.push(copy.at(to.place.clone()));
            } else {
                to.replace(*outside, *inside);
            }
        }
        return;
    }
    let blocks = std::mem::take(&mut operation.blocks);
    if let Op::Region(_) = operation.op {
        let inside: Vec<Operation> =
            blocks.into_iter().flat_map(|block| block.operations).collect();
        let fresh = inside.iter().filter(|inner| inner.blocks.is_empty() && !is_view(&inner.op));
        let own = fresh.flat_map(|inner| inner.results.iter().copied()).collect();
        let left = Left { results: operation.results, own };
        for inner in inside {
            flat(to, aliases, inner, &left);
        }
        return;
    }
    for block in blocks {
        let made = to.block::<PassError>(block, &mut |to, inner| {
            flat(to, aliases, inner, &Left::default());
            Ok(())
        });
        operation.blocks.extend(made);
    }
    to.push(operation);
}
