//! Types that get to know more, and reading through casts that forget.

use pantile_geometry::slices;

use super::facts::{Facts, placed_at};
use super::rewrite::Rewriter;
use pantile_ir::{ArrayType, Dim, Env, Op, Operation, Program, Type, Value, infer};

/// Lets an operation read what was cast to a type that knows less.
pub(super) fn through_casts(to: &Rewriter<'_>, operation: &mut Operation) {
    // These hand arrays on: the types on both sides are the same.
    let hands_on = matches!(
        operation.op,
        Op::Return
            | Op::Yield
            | Op::Condition
            | Op::RegionYield
            | Op::For
            | Op::While
            | Op::Region(_)
            | Op::Delete
            | Op::MapBlocks { .. }
    );
    if hands_on {
        return;
    }
    for operand in &mut operation.operands {
        while let Some(from) = to.cast_from(*operand)
            && knows_more(to.function.ty(from), to.function.ty(*operand))
        {
            *operand = from;
        }
    }
}

/// True if a type says all that the other says.
pub(super) fn knows_more(one: &Type, other: &Type) -> bool {
    let (Type::Array(one), Type::Array(other)) = (one, other) else { return one == other };
    let same = one.element == other.element
        && one.layout == other.layout
        && one.ndim() == other.ndim()
        && one.envs.len() == other.envs.len();
    let dims =
        |one: &[Dim], other: &[Dim]| one.iter().zip(other).all(|(a, b)| b.is_none() || a == b);
    let env = |(one, other): (&Env, &Env)| match (one, other) {
        (Env::Dist(one), Env::Dist(other)) if one.team == other.team => {
            match (&one.local, &other.local) {
                (_, None) => true,
                (Some(one), Some(other)) => {
                    let offsets = one.offsets.iter().zip(&other.offsets);
                    offsets.into_iter().all(|(a, b)| b.is_none() || a == b)
                        && one.parts.len() == other.parts.len()
                        && one.parts.iter().zip(&other.parts).all(|(a, b)| dims(a, b))
                }
                (None, Some(_)) => false,
            }
        }
        _ => one == other,
    };
    same && dims(&one.shape, &other.shape) && one.envs.iter().zip(&other.envs).all(env)
}

/// Writes an operation; results of which more is known are made with that type, and cast.
pub(super) fn results(to: &mut Rewriter<'_>, mut operation: Operation, facts: &Facts) {
    let shapes = shapes(to, &operation, facts);
    let mut casts = Vec::new();
    for (number, shape) in shapes.into_iter().enumerate() {
        let old = operation.results[number];
        let Type::Array(array) = to.function.ty(old).clone() else { continue };
        let mut made = array.clone();
        if let Some(shape) = shape.filter(|shape| shape.len() == array.ndim()) {
            let pairs = array.shape.iter().zip(shape);
            made.shape = pairs.map(|(old, new)| old.or(new)).collect();
        }
        let open = array.dist_env().and_then(|env| env.local.as_ref()).is_some();
        if open && let Some(local) = facts.made(to.function, &operation, &made) {
            let placed = placed_at(&made, &local);
            // What the program says stays as it was written.
            let known = (Type::Array(placed), Type::Array(made.clone()));
            if knows_more(&known.0, &known.1)
                && let Type::Array(placed) = known.0
            {
                made = placed;
            }
        }
        if made != array {
            drop_lengths(&mut operation, &array, &made, facts);
            let new = to.function.value(Type::Array(made));
            operation.results[number] = new;
            casts.push((new, old));
        }
    }
    to.push(operation);
    for (new, old) in casts {
        let cast = Operation::new(Op::Cast, vec![new], vec![old]).at(to.place.clone());
        to.push(cast);
    }
}

/// The shapes of the results as far as they are known.
fn shapes(to: &Rewriter<'_>, operation: &Operation, facts: &Facts) -> Vec<Option<Vec<Dim>>> {
    let operands = &operation.operands;
    let nothing = vec![None; operation.results.len()];
    let array = |value: &Value| to.function.ty(*value).as_array();
    match &operation.op {
        Op::Cast | Op::Broadcast | Op::MapBlocks { .. } | Op::CastElement { .. } => nothing,
        Op::Create { value } => {
            let lengths = &operands[..operands.len() - usize::from(*value)];
            vec![array(&operation.results[0]).map(|made| given(lengths, made, facts))]
        }
        Op::Reshape { .. } => {
            vec![array(&operation.results[0]).map(|made| given(&operands[1..], made, facts))]
        }
        Op::Linspace { .. } => vec![Some(vec![facts.count(operands[2])])],
        Op::GetHalo { .. } => halos(to, operation, facts),
        Op::CopyReshape { .. } | Op::CopyPermute { .. } => {
            let ndim = to.function.ty(operation.results[1]).shape().len();
            let lengths = &operands[operands.len() - ndim..];
            vec![None, Some(lengths.iter().map(|value| facts.count(*value)).collect())]
        }
        _ => match infer::result_types(to.function, operation, &Program::default()) {
            Ok(types) if types.len() == operation.results.len() => {
                types.iter().map(|ty| Some(ty.shape().to_vec())).collect()
            }
            _ => nothing,
        },
    }
}

/// Lengths that are operands: one for each axis, or one for each `?`.
fn given(lengths: &[Value], made: &ArrayType, facts: &Facts) -> Vec<Dim> {
    let mut open = lengths.iter();
    let all = lengths.len() == made.ndim();
    let length = |(axis, dim): (usize, &Dim)| match (all, dim) {
        (true, _) => facts.count(lengths[axis]),
        (false, None) => facts.count(*open.next()?),
        (false, known) => *known,
    };
    made.shape.iter().enumerate().map(length).collect()
}

/// Takes out lengths that the type now says, where only those of `?` are given.
fn drop_lengths(operation: &mut Operation, old: &ArrayType, new: &ArrayType, facts: &Facts) {
    let (first, last) = match operation.op {
        Op::Create { value } => (0, operation.operands.len() - usize::from(value)),
        Op::Reshape { .. } => (1, operation.operands.len()),
        _ => return,
    };
    let open = old.shape.iter().filter(|dim| dim.is_none()).count();
    if last - first == old.ndim() && open != old.ndim() {
        return;
    }
    let left = new.shape.iter().filter(|dim| dim.is_none()).count();
    if last - first == open && left < open {
        let mut number = 0;
        operation.operands.retain(|value| {
            let at = number;
            number += 1;
            at < first || at >= last || facts.count(*value).is_none()
        });
    }
}

/// The shapes of halos: rows around what is owned, columns as asked for.
fn halos(to: &Rewriter<'_>, operation: &Operation, facts: &Facts) -> Vec<Option<Vec<Dim>>> {
    let local = to.function.ty(operation.operands[0]).shape();
    let ndim = local.len();
    let at = |list: usize, axis: usize| operation.operands[1 + list * ndim + axis];
    let rows = || {
        let start = facts.count(at(1, 0))?;
        let owned = start..start.checked_add(local[0]?)?;
        let wanted = facts.ranges(&[at(2, 0), at(3, 0)])?.remove(0);
        slices::repartition(&owned, &wanted).ok()
    };
    if ndim == 0 {
        return vec![None; 3];
    }
    let found = rows();
    let columns = (1..ndim).map(|axis| facts.count(at(3, axis)));
    let shape = |rows: Dim| std::iter::once(rows).chain(columns.clone()).collect::<Vec<Dim>>();
    let left = found.as_ref().map(|found| found.left);
    let right = found.as_ref().map(|found| found.right);
    vec![None, Some(shape(left)), Some(shape(right))]
}
