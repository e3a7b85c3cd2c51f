//! Operations on distributed arrays say what one member does.
//!
//! Views become `dist.subview`, elementwise operations `dist.ewuny` and `dist.ewbin` of operands
//! in their default partition, and what is inserted comes to the member that owns its place.
//! Where an operand is repeated for all rows, the operation stays as it is: every member gets all
//! of that operand. So do reductions that keep the first axis, of operands in their default
//! partition.
//! Only where all arrays are distributed over one team.

use std::collections::BTreeSet;

use super::rewrite::{Rewriter, each_function};
use super::{Member, PassError};
use pantile_ir::{
    ArrayType, Dim, DistEnv, Env, LocalParts, Op, Operation, Program, Slice, Spelling, Type, Value,
};

pub(super) fn run(program: &mut Program, _: &Member) -> Result<(), PassError> {
    each_function(program, |function, body| {
        let mut moved = BTreeSet::new();
        let mut rewriter = Rewriter::new(function);
        rewriter.block(body, &mut |to, operation| {
            one(to, operation, &mut moved);
            Ok(())
        })
    })
}

/// Rewrites an operation; `moved` are the results of repartitions.
fn one(to: &mut Rewriter<'_>, mut operation: Operation, moved: &mut BTreeSet<Value>) {
    to.resolve(&mut operation);
    let blocks = std::mem::take(&mut operation.blocks);
    for block in blocks {
        let made = to.block::<PassError>(block, &mut |to, inner| {
            one(to, inner, moved);
            Ok(())
        });
        operation.blocks.extend(made);
    }
    if let Op::Repartition { .. } = operation.op {
        moved.extend(&operation.results);
    }
    if !in_one_team(to, &operation) {
        to.push(operation);
        return;
    }
    match operation.op.clone() {
        Op::Subview(slice) => operation.op = Op::DistSubview { slice, target: false },
        Op::Unary(function) => operation.op = Op::DistUnary(function),
        Op::Binary(function) if is_covered(to, &operation) => {
            operation.op = Op::DistBinary(function);
            let [left, right] = operation.operands[..] else { return to.push(operation) };
            let first = operand(to, left, &operation);
            let second = if left == right { first } else { operand(to, right, &operation) };
            operation.operands = vec![first, second];
        }
        Op::Binary(_) | Op::Where | Op::Clip if are_known(to, &operation) => {
            for number in 0..operation.operands.len() {
                let made = row_operand(to, operation.operands[number], &operation);
                operation.operands[number] = made;
            }
        }
        Op::Reduce { axes: Some(axes), .. } if !axes.contains(&0) => {
            let made = operand(to, operation.operands[0], &operation);
            operation.operands[0] = made;
        }
        Op::InsertSlice(slice) if !moved.contains(&operation.operands[0]) => {
            let source = inserted(to, &operation, &slice);
            operation.operands[0] = source;
        }
        _ => {}
    }
    to.push(operation);
}

/// True if there are arrays and all are distributed over one team.
fn in_one_team(to: &Rewriter<'_>, operation: &Operation) -> bool {
    let values = operation.operands.iter().chain(&operation.results);
    let arrays: Vec<&ArrayType> =
        values.filter_map(|value| to.function.ty(*value).as_array()).collect();
    let team = |array: &ArrayType| array.dist_env().map(|env| env.team.clone());
    let Some(first) = arrays.first().and_then(|array| team(array)) else { return false };
    arrays.iter().all(|array| team(array).as_ref() == Some(&first))
}

/// True if operands are as long as the result, or one element for all of it.
fn is_covered(to: &Rewriter<'_>, operation: &Operation) -> bool {
    let shape = to.function.ty(operation.results[0]).shape();
    let unit = shape.iter().all(|length| *length == Some(1));
    operation.operands.iter().all(|value| match to.function.ty(*value) {
        Type::Array(array) if array.shape == shape || array.ndim() == 0 => true,
        // Where one element is the result, it has to have as many axes.
        Type::Array(array) => array.is_unit() && !unit,
        ty => matches!(ty, Type::Index | Type::Scalar(_)),
    })
}

/// True if all lengths are known.
fn are_known(to: &Rewriter<'_>, operation: &Operation) -> bool {
    let mut values = operation.operands.iter().chain(&operation.results);
    values.all(|value| !to.function.ty(*value).shape().contains(&None))
}

/// True if an operand of these lengths has the same elements for all rows of the result.
pub(super) fn is_for_all_rows(of: &[Dim], result: &[Dim]) -> bool {
    let one = of.iter().all(|length| *length == Some(1));
    of.len() < result.len()
        || (of.first() == Some(&Some(1)) && result[0] != Some(1))
        || (one && result.iter().any(|length| *length != Some(1)))
}

/// An operand where it is needed: rows in the default partition, what all rows need everywhere.
fn row_operand(to: &mut Rewriter<'_>, value: Value, operation: &Operation) -> Value {
    let shape = to.function.ty(operation.results[0]).shape();
    let Type::Array(array) = to.function.ty(value) else { return value };
    if array.is_unit() || !is_for_all_rows(&array.shape, shape) {
        return operand(to, value, operation);
    }
    let ty = Type::Array(moving(array));
    let lengths = array.known_shape().unwrap_or_default();
    let lengths = lengths.into_iter().map(|length| i64::try_from(length).unwrap_or(i64::MAX));
    let request: Vec<i64> = vec![0; array.ndim()].into_iter().chain(lengths).collect();
    let request = request.into_iter().map(|number| to.index(number)).collect::<Vec<_>>();
    let operands = std::iter::once(value).chain(request).collect();
    to.one(Op::Repartition { request: true }, operands, ty)
}

/// An operand of an elementwise operation where it is needed.
fn operand(to: &mut Rewriter<'_>, value: Value, operation: &Operation) -> Value {
    match to.function.ty(value).clone() {
        Type::Array(array) if array.ndim() == 0 => value,
        Type::Array(array) => {
            let ty = Type::Array(moving(&array));
            to.one(Op::Repartition { request: false }, vec![value], ty)
        }
        scalar => {
            // A scalar is an array without axes that every member has.
            let Type::Array(result) = to.function.ty(operation.results[0]).clone() else {
                return value;
            };
            let Some(dtype) = scalar.dtype() else { return value };
            let mut element: pantile_ir::Element = dtype.into();
            if let Type::Scalar(written) = scalar {
                element = written;
            } else {
                element.spelling = Spelling::Plain;
            }
            let team = result.dist_env().map(|env| env.team.clone());
            let env = team.map(|team| Env::Dist(DistEnv { team, local: None }));
            let ty = ArrayType { shape: Vec::new(), element, ..result }.placed(env);
            to.one(Op::Create { value: true }, vec![value], Type::Array(ty))
        }
    }
}

/// What is inserted, at the members that own its places.
fn inserted(to: &mut Rewriter<'_>, operation: &Operation, slice: &Slice) -> Value {
    let (source, target) = (operation.operands[0], operation.operands[1]);
    let Type::Array(array) = to.function.ty(source).clone() else { return source };
    let ndim = slice.sizes.len();
    if array.ndim() == 0 {
        return source;
    }
    let ty = Type::Array(moving(&array));
    let sizes = slice.sizes.iter().map(|size| match size {
        pantile_ir::Index::Known(size) => usize::try_from(*size).ok(),
        pantile_ir::Index::Operand => None,
    });
    let whole = sizes.clone().eq(array.shape.iter().copied());
    if !whole && array.is_unit() && !sizes.clone().all(|size| size == Some(1)) {
        // One element for all places: everybody gets it.
        return to.one(Op::Repartition { request: false }, vec![source], ty);
    }
    let differs =
        sizes.zip(&array.shape).any(|(size, dim)| size.is_some() && dim.is_some() && size != *dim);
    if array.ndim() != ndim || differs {
        return source;
    }
    let values = to.slice_values(slice, &operation.operands[2..]);
    let operands = std::iter::once(target).chain(values).collect();
    let place = to.emit(Op::LocalTarget, operands, vec![Type::Index; 2 * ndim]);
    let operands = std::iter::once(source).chain(place).collect();
    to.one(Op::Repartition { request: true }, operands, ty)
}

/// The type of an array whose parts are somewhere else on every member.
pub(super) fn moving(array: &ArrayType) -> ArrayType {
    let Some(env) = array.dist_env() else { return array.clone() };
    let local = env.local.as_ref().map(|_| LocalParts {
        offsets: vec![None; array.ndim()],
        parts: vec![vec![None; array.ndim()]; 3],
    });
    array.placed(Some(Env::Dist(DistEnv { team: env.team.clone(), local })))
}
