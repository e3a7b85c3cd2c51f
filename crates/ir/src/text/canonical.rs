//! Programs that differ only in what the text does not say, made equal.

use crate::{Block, Function, Place, Program, Value, ValueData};

/// The same program as [`parse`](super::parse) would have made it from its text: values numbered
/// in the order of the text, without those that nothing defines, and without places.
///
/// Two programs that print alike are equal after this.
#[must_use]
pub fn canonical(program: &Program) -> Program {
    Program {
        functions: program.functions.iter().map(renumbered).collect(),
        aliases: program.aliases.clone(),
    }
}

fn renumbered(function: &Function) -> Function {
    let mut order = Vec::new();
    number(&function.body, &mut order);
    let mut places: Vec<Option<u32>> = vec![None; function.values.len()];
    let mut values: Vec<ValueData> = Vec::new();
    let mut see = |value: Value| {
        let Some(place) = places.get_mut(value.index()) else { return value };
        let next = u32::try_from(values.len()).unwrap_or(u32::MAX);
        Value(*place.get_or_insert_with(|| {
            values.push(function.values[value.index()].clone());
            next
        }))
    };
    for value in order {
        see(value);
    }
    let mut body = function.body.clone();
    rename(&mut body, &mut see);
    Function { body, values, place: Place::default(), ..function.clone() }
}

/// The values that a block defines, in the order of the text: what is in a region comes before
/// the results of its operation.
fn number(block: &Block, order: &mut Vec<Value>) {
    order.extend(&block.arguments);
    for operation in &block.operations {
        operation.blocks.iter().for_each(|block| number(block, order));
        order.extend(&operation.results);
    }
}

fn rename(block: &mut Block, see: &mut dyn FnMut(Value) -> Value) {
    let mut all =
        |values: &mut Vec<Value>| values.iter_mut().for_each(|value| *value = see(*value));
    all(&mut block.arguments);
    for operation in &mut block.operations {
        all(&mut operation.operands);
        all(&mut operation.results);
        operation.place = Place::default();
    }
    for operation in &mut block.operations {
        operation.blocks.iter_mut().for_each(|block| rename(block, see));
    }
}
