//! From a program to that of one member, by the passes.
//!
//! Everything of the crate that knows the passes is here.

use std::collections::BTreeMap;

use pantile_comm::Rank;
use pantile_dialect::{self as dialect, Member, MemberError};
use pantile_ir::{
    ArrayType, Attribute, Block, DistEnv, Env, Function, Index, Op, Operation, Program, Slice,
    Type, Value,
};

pub use pantile_dialect::PassError;

/// The passes that make the program of a member, in their order.
pub const PASSES: [&str; 5] = ["distribute", "coalesce", "cores", "member", "overlap"];

/// The same for a program in which repartitions and views are for one member already.
const PASSES_OF_REQUESTS: [&str; 3] = ["distribute", "member", "overlap"];

/// The passes for a program: what asks for rows itself is not coalesced again.
pub(crate) fn passes_for(program: &Program) -> &'static [&'static str] {
    let mut asks = false;
    for function in &program.functions {
        function.body.walk(&mut |operation| {
            asks |= matches!(
                operation.op,
                Op::Repartition { request: true } | Op::DistSubview { target: true, .. }
            );
        });
    }
    if asks { &PASSES_OF_REQUESTS } else { &PASSES }
}

/// The team of arrays that name none.
const TEAM: i64 = 0;

/// The program of one member, by the passes.
///
/// # Errors
/// What a pass has no rule for.
pub fn member_program(
    program: &Program,
    passes: &[&str],
    (ranks, rank): (usize, Rank),
    teams: &BTreeMap<String, Vec<Rank>>,
) -> Result<Program, PassError> {
    let member = Member { ranks: Some(ranks), rank: Some(rank), teams: teams.clone() };
    let mut made = program.clone();
    for pass in passes {
        if let Some(pass) = dialect::find(pass) {
            pass.run(&mut made, &member)?;
        }
    }
    Ok(made)
}

/// True if operands have other rows on a member: that is wrong, however the program is executed.
pub(crate) fn is_misaligned(error: &PassError) -> bool {
    let PassError::NotCovered { reason, .. } = error else { return false };
    matches!(**reason, MemberError::LocalRows { .. } | MemberError::LocalOffsets { .. })
}

/// True if the lengths of all distributed results are known.
pub(crate) fn has_known_results(function: &Function) -> bool {
    let open = |ty: &&Type| {
        ty.as_array().is_some_and(|array| array.dist_env().is_some() && array.shape.contains(&None))
    };
    !function.results.iter().any(|ty| open(&ty))
}

/// The program with assignments that make the next version of an array.
pub(crate) fn versions(program: &Program) -> Program {
    let mut made = program.clone();
    pantile_lower::values(&mut made);
    made
}

/// The program whose arguments have the lengths of these types, as far as that makes more known.
pub(crate) fn known_lengths(program: &mut Program, types: &[Type]) {
    let Some(name) = program.entry().map(|entry| entry.name.clone()) else { return };
    for function in program.functions.iter_mut().filter(|function| function.name == name) {
        for (value, given) in function.body.arguments.clone().into_iter().zip(types) {
            if let (Type::Array(array), Type::Array(given)) =
                (&mut function.values[value.index()].ty, given)
            {
                array.shape.clone_from(&given.shape);
            }
        }
    }
}

/// The program with all its arrays in one team, and with results in their default partition. Where
/// some array names a team already, the others stay local.
#[must_use]
pub fn in_teams(program: &Program) -> Program {
    let mut made = program.clone();
    let Some(name) = made.entry().map(|entry| entry.name.clone()) else { return made };
    let named = |function: &Function| {
        let says = |ty: &Type| ty.as_array().is_some_and(|array| array.dist_env().is_some());
        function.values.iter().any(|value| says(&value.ty))
    };
    let plain = !made.functions.iter().any(named);
    // Lengths that follow from others become known; there is nothing that it refuses.
    if let Some(fold) = dialect::find("fold") {
        let _ = fold.run(&mut made, &Member::default());
    }
    for function in made.functions.iter_mut().filter(|function| function.name == name) {
        if plain {
            place(function);
        }
        let body = std::mem::take(&mut function.body);
        function.body = simpler(function, body);
        bring_results(function);
    }
    made.aliases.clear();
    made
}

/// Puts every array of a function into the team.
fn place(function: &mut Function) {
    let env = Env::Dist(DistEnv { team: Attribute::int(TEAM), local: None });
    let types = function.values.iter_mut().map(|value| &mut value.ty);
    for ty in types.chain(&mut function.results) {
        if let Type::Array(array) = ty {
            *array = array.placed(Some(env.clone()));
        }
    }
}

/// Operations on distributed arrays that the passes have no rule for, in terms of those that they
/// have. What moves arrays elsewhere moves them nowhere: all have the same place.
fn simpler(function: &mut Function, block: Block) -> Block {
    let mut operations = Vec::new();
    for mut operation in block.operations {
        let blocks = std::mem::take(&mut operation.blocks);
        operation.blocks = blocks.into_iter().map(|inner| simpler(function, inner)).collect();
        let arrays = operation.operands.iter().chain(&operation.results);
        let mut teams = arrays
            .filter_map(|value| function.ty(*value).as_array())
            .map(|array| array.dist_env().filter(|_| array.ndim() > 0).map(|env| env.team.clone()));
        let first = teams.next().flatten();
        let same = first.is_some() && teams.all(|team| team == first);
        if same {
            operations.extend(split(function, operation));
        } else {
            operations.push(operation);
        }
    }
    Block { arguments: block.arguments, operations }
}

/// One operation as one or two others.
fn split(function: &mut Function, mut operation: Operation) -> Vec<Operation> {
    let place = operation.place.clone();
    match operation.op.clone() {
        Op::Redistribute | Op::Replicate | Op::Halo { .. } => operation.op = Op::Copy,
        Op::ExtractSlice(slice) => {
            let result = operation.results[0];
            let view = function.value(function.ty(result).clone());
            let copy = Operation::new(Op::Copy, vec![view], vec![result]).at(place);
            (operation.op, operation.results) = (Op::Subview(slice), vec![view]);
            return vec![operation, copy];
        }
        Op::ImmutableInsertSlice(slice) => {
            let result = operation.results[0];
            let copy = Operation::new(Op::Copy, vec![operation.operands[1]], vec![result]);
            (operation.op, operation.results) = (Op::InsertSlice(slice), Vec::new());
            operation.operands[1] = result;
            return vec![copy.at(place), operation];
        }
        _ => {}
    }
    vec![operation]
}

/// Results are written into arrays in their default partition: views and halos are not handed on.
fn bring_results(function: &mut Function) {
    let Some(end) = function.body.operations.pop() else { return };
    let mut end = end;
    for at in 0..end.operands.len() {
        let value = end.operands[at];
        let Some(array) = function.ty(value).as_array().cloned() else { continue };
        let shape = array.known_shape().filter(|shape| !shape.is_empty());
        let (Some(shape), true) = (shape, array.dist_env().is_some()) else { continue };
        let made = brought(function, value, (array, &shape), &end);
        end.operands[at] = made;
        if let Some(ty) = function.results.get_mut(at) {
            *ty = function.values[made.index()].ty.clone();
        }
    }
    function.body.operations.push(end);
}

fn brought(
    function: &mut Function,
    value: Value,
    (array, shape): (ArrayType, &[usize]),
    end: &Operation,
) -> Value {
    let team = array.dist_env().map_or(Attribute::int(TEAM), |env| env.team.clone());
    let ty = array.placed(Some(Env::Dist(DistEnv { team, local: None })));
    let made = function.value(Type::Array(ty));
    let name = function.values[value.index()].name.clone();
    function.values[made.index()].name = name;
    let create = Operation::new(Op::Create { value: false }, Vec::new(), vec![made]);
    let length = |length: &usize| Index::Known(i64::try_from(*length).unwrap_or(i64::MAX));
    let slice = Slice {
        offsets: vec![Index::Known(0); shape.len()],
        sizes: shape.iter().map(length).collect(),
        strides: vec![Index::Known(1); shape.len()],
    };
    let insert = Operation::new(Op::InsertSlice(slice), vec![value, made], Vec::new());
    let place = &end.place;
    function.body.operations.extend([create.at(place.clone()), insert.at(place.clone())]);
    made
}
