//! Types that say where the parts of one member lie.

use super::facts::{Facts, placed_at};
use super::{Member, PassError};
use pantile_ir::{Block, Function, Program, Type, Value};

/// Writes where the parts of a member lie into every distributed type for which that is known.
///
/// # Errors
/// If it is not said which member.
pub fn member_types(program: &mut Program, member: &Member) -> Result<(), PassError> {
    if member.known().is_none() {
        return Err(PassError::NeedsMember { pass: "print-member" });
    }
    for function in &mut program.functions {
        let body = std::mem::take(&mut function.body);
        let mut facts = Facts::new(member);
        let mut values = Vec::new();
        collect(function, &body, &mut facts, &mut values);
        for value in values {
            let Some(local) = facts.local(value) else { continue };
            let Type::Array(array) = function.ty(value) else { continue };
            let ty = Type::Array(placed_at(array, local));
            function.values[value.index()].ty = ty;
        }
        if let Some(end) = body.operations.last() {
            let types = end.operands.iter().map(|value| function.ty(*value).clone());
            function.results = types.collect();
        }
        function.body = body;
    }
    program.aliases.clear();
    Ok(())
}

/// All values of a block, with what is known of them.
fn collect(function: &Function, block: &Block, facts: &mut Facts, values: &mut Vec<Value>) {
    for argument in &block.arguments {
        facts.argument(function, *argument);
        values.push(*argument);
    }
    for operation in &block.operations {
        for inner in &operation.blocks {
            collect(function, inner, facts, values);
        }
        facts.note(function, operation);
        values.extend(&operation.results);
    }
}
