//! Executing a program on one rank, and telling the others of what is wrong.

use std::collections::BTreeMap;

use pantile_comm::Rank;
use pantile_engine::{Engine, Tile};
use pantile_ir::{Function, Program, Type};

use crate::error::{MemberRunError, OperationFault};
use crate::frame::{ValueFrame, number_array};
use crate::held::MemberValue;
use crate::local::LocalArray;
use crate::machine::MemberMachine;

/// The elements of the results of a program in their default partition, with the lengths of whole
/// arrays where the results say them.
#[allow(clippy::type_complexity, reason = "lengths beside elements")]
pub(crate) fn execute_with(
    engine: &mut Engine,
    program: &Program,
    teams: &BTreeMap<String, Vec<Rank>>,
    (arguments, pure): (Vec<MemberValue>, bool),
) -> Result<Vec<(Option<Vec<usize>>, Tile)>, MemberRunError> {
    executed(engine, program, teams, (arguments, pure), &mut |machine, values| {
        let mut tiles = Vec::new();
        for value in values {
            let (lengths, array) = match value {
                MemberValue::Local(array) => (None, array),
                MemberValue::Parts(array) => {
                    (Some(array.shape.clone()), machine.default_rows(&array)?)
                }
                MemberValue::Number(scalar) => (None, number_array(&scalar)?),
                MemberValue::Handle => return Err(OperationFault::Unset),
            };
            tiles.push((lengths, Tile::clone(&array.tile())));
        }
        Ok(tiles)
    })
}

/// Executes the entry function of a program as it stands, on this rank. Arguments that are memories
/// for the runtime are made. Collective in the teams that the program names.
///
/// # Errors
/// What is wrong with an operation, or what another rank says.
pub fn execute(
    engine: &mut Engine,
    program: &Program,
    teams: &BTreeMap<String, Vec<Rank>>,
    arguments: Vec<MemberValue>,
) -> Result<Vec<MemberValue>, MemberRunError> {
    executed(engine, program, teams, (arguments, false), &mut |_, values| Ok(values))
}

#[allow(clippy::type_complexity, reason = "what is done with the results, said in place")]
fn executed<T>(
    engine: &mut Engine,
    program: &Program,
    teams: &BTreeMap<String, Vec<Rank>>,
    (mut arguments, pure): (Vec<MemberValue>, bool),
    finish: &mut dyn FnMut(
        &mut MemberMachine<'_, '_>,
        Vec<MemberValue>,
    ) -> Result<T, OperationFault>,
) -> Result<T, MemberRunError> {
    let function = program.entry().ok_or(MemberRunError::NoFunction)?;
    for value in function.body.arguments.iter().skip(arguments.len()) {
        let Type::MemRef(dims, element) = function.ty(*value) else { break };
        let shape: Vec<usize> = dims.iter().map(|dim| dim.unwrap_or(0)).collect();
        let memory = LocalArray::zeroed(&shape, element.dtype);
        let memory = failing(engine, ("func.func", function), memory)?;
        arguments.push(MemberValue::Local(memory));
    }
    let (got, expected) = (arguments.len(), function.body.arguments.len());
    if got != expected {
        let error = MemberRunError::Arguments { got, expected };
        engine.fail(None, &error);
        return Err(error);
    }
    let mut machine = MemberMachine::new(program, engine, teams, (false, pure));
    let mut frame = ValueFrame::new(function);
    let made = (frame.set_all(&function.body.arguments, arguments))
        .and_then(|()| machine.block(&mut frame, &function.body))
        .and_then(|values| finish(&mut machine, values));
    let at = machine.at.clone();
    let engine = machine.engine;
    made.map_err(|fault| failed(engine, at, fault))
}

/// The error of an operation; every other rank hears of it.
fn failed(
    engine: &mut Engine,
    (op, place): (&'static str, pantile_ir::Place),
    fault: OperationFault,
) -> MemberRunError {
    if let OperationFault::Engine(error) = fault {
        return MemberRunError::Engine(error);
    }
    let error =
        MemberRunError::Operation { rank: engine.rank(), op, place, fault: Box::new(fault) };
    engine.fail(None, &error);
    error
}

pub(crate) fn failing<T>(
    engine: &mut Engine,
    (op, function): (&'static str, &Function),
    of: Result<T, OperationFault>,
) -> Result<T, MemberRunError> {
    of.map_err(|fault| failed(engine, (op, function.place.clone()), fault))
}
