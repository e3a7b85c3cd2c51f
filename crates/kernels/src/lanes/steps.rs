//! The steps of a node: how a machine computes it from its accumulator.

use pantile_lanes::{DType, Node, One, Op, Two};

use super::known::Nodes;
use super::machine::{Code, Kind, NONE, Step, machine};
use crate::simd::Vectors;

/// Bytes of the lanes of a node that a machine computes; none if it needs a loop of its own.
pub(super) fn lanes(nodes: &Nodes<'_>, index: usize, vectors: Vectors) -> Option<usize> {
    let dtype_of = |node: Node| nodes.body.dtype(node);
    let known = nodes.known[index];
    let (fits, bytes) = match nodes.op(index) {
        Op::One(one, of) => (alone(one).is_some() && is_float(dtype_of(of)), known.dtype.bytes()),
        Op::Two(two, left, _) => {
            // Whole chunks of truth values are written, so they must be our own.
            let own = !two.compares() || known.output.is_none();
            (own && with(two, dtype_of(left)).is_some(), dtype_of(left).bytes())
        }
        Op::MulAdd(..) => (true, known.dtype.bytes()),
        Op::Select(mask, ..) => {
            let own = nodes.known[nodes.origin(mask)].output.is_none();
            (own && known.dtype != DType::Bool, known.dtype.bytes())
        }
        Op::Table(..) => (true, 8),
        _ => (false, 0),
    };
    (fits && machine(bytes, vectors).is_some()).then_some(bytes)
}

/// The operand that is in the accumulator before the first step that is not a load: the one that
/// is there, if the node can go on with it.
pub(super) fn first(nodes: &Nodes<'_>, index: usize, accumulator: Option<usize>) -> usize {
    let candidates = candidates(nodes, index);
    let there = candidates.iter().flatten().find(|node| Some(**node) == accumulator);
    there.or_else(|| candidates.iter().flatten().next()).copied().unwrap_or(index)
}

/// The operands that a node can go on with, best first.
fn candidates(nodes: &Nodes<'_>, index: usize) -> [Option<usize>; 3] {
    let origin = |node: Node| Some(nodes.origin(node)).filter(|at| !nodes.known[*at].term);
    match nodes.op(index) {
        Op::One(_, of) | Op::Table(_, of) => [origin(of), None, None],
        Op::Two(_, left, right) => [origin(left), origin(right), None],
        Op::MulAdd(a, b, c) => [origin(a), origin(b), origin(c)],
        Op::Select(_, yes, no) => [origin(yes), origin(no), None],
        _ => [None; 3],
    }
}

/// The step of a node. `slots` are those of its operands; `truths` are where a comparison writes.
pub(super) fn step(
    nodes: &Nodes<'_>,
    index: usize,
    accumulator: Option<usize>,
    (slots, truths): (&dyn Fn(usize) -> u32, Option<u32>),
) -> Step {
    let first = first(nodes, index, accumulator);
    let origin = |node: Node| nodes.origin(node);
    let slot = |node: Node| slots(nodes.origin(node));
    let constant = |node: Node| matches!(nodes.op(origin(node)), Op::Const(_));
    let mut words: &[u64] = &[];
    let (code, x, y, flat) = match nodes.op(index) {
        Op::One(one, _) => (alone(one).unwrap_or(Code::Canonical), 0, 0, false),
        Op::Table(table, _) => {
            words = table.words;
            (Code::LookUp, 0, 0, false)
        }
        Op::MulAdd(a, b, c) if origin(a) == first || origin(b) == first => {
            let factor = if origin(a) == first { b } else { a };
            (Code::TimesPlus, slot(factor), slot(c), constant(c))
        }
        Op::MulAdd(a, b, _) => {
            let [x, y] = if constant(a) { [b, a] } else { [a, b] };
            (Code::PlusFused, slot(x), slot(y), constant(y))
        }
        Op::Select(mask, yes, no) if origin(yes) == first => {
            (Code::Keep, slot(mask), slot(no), false)
        }
        Op::Select(mask, yes, _) => (Code::Replace, slot(mask), slot(yes), false),
        Op::Two(two, left, right) => {
            let is_left = origin(left) == first;
            let other = if is_left { right } else { left };
            let inner = nodes.op(origin(other));
            if let (Op::Two(inner, x, y), true) = (inner, nodes.known[origin(other)].term) {
                let turned = constant(x) && matches!(inner, Two::Add | Two::Mul);
                let [x, y] = if turned { [y, x] } else { [x, y] };
                (term(two, inner, is_left), slot(x), slot(y), constant(y))
            } else if two == Two::Mul
                && is_float(nodes.body.dtype(left))
                && origin(left) == origin(right)
            {
                (Code::Square, 0, 0, false)
            } else {
                let codes = with(two, nodes.body.dtype(left)).unwrap_or([Code::Add; 2]);
                let code = match codes[usize::from(!is_left)] {
                    Code::Min if is_bound(inner) => Code::AtMost,
                    Code::Max if is_bound(inner) => Code::AtLeast,
                    code => code,
                };
                (code, slot(other), truths.unwrap_or(0), constant(other))
            }
        }
        // Others have no lanes of a machine.
        _ => (Code::Abs, 0, 0, false),
    };
    let first = if accumulator == Some(first) { NONE } else { slots(first) };
    Step { code, flat, first, x, y, canonical: false, target: NONE, words, more: Vec::new() }
}

/// Makes a step part of the one before it, if there is a code for both: every step takes about as
/// long as two operations.
pub(super) fn join(before: &mut Step, step: &Step) -> bool {
    if step.first != NONE || before.target != NONE || before.canonical {
        return false;
    }
    let is_truth = matches!(before.code.kind(), Kind::Truth);
    if step.code == Code::Canonical && !is_truth {
        (before.canonical, before.target) = (true, step.target);
        return true;
    }
    let code = match (before.code, step.code) {
        (Code::TimesPlus, Code::TimesPlus) if before.flat && step.flat && before.x == step.x => {
            before.more.push(before.y);
            Code::Horner
        }
        (Code::Horner, Code::TimesPlus) if step.flat && before.x == step.x => Code::Horner,
        (Code::AddProduct, Code::AddProduct) if before.flat && step.flat => {
            before.more.extend([before.x, before.y, step.x, step.y]);
            (before.x, before.y) = (NONE, NONE);
            Code::AddProducts
        }
        (Code::Mul, Code::AddProduct) if before.flat && step.flat => {
            before.more.extend([step.x, step.y]);
            before.y = NONE;
            Code::AddProducts
        }
        (Code::AddProducts, Code::AddProduct) if step.flat && before.y == NONE => {
            before.more.extend([step.x, step.y]);
            Code::AddProducts
        }
        (Code::AddProducts, Code::Add) if !step.flat && before.y == NONE => {
            before.y = step.x;
            Code::AddProducts
        }
        (Code::Neg, Code::TimesPlus) => Code::NegTimesPlus,
        (Code::Neg, Code::PlusFused) => Code::FusedMinus,
        // A constant is best read once for all vectors.
        _ if before.flat => return false,
        (Code::Add, Code::Add) => Code::AddThenAdd,
        (Code::Mul, Code::Add) => Code::MulThenAdd,
        (Code::Mul, Code::Mul) => Code::MulThenMul,
        (Code::Sub, Code::SubFrom) => Code::SubThenSubFrom,
        _ => return false,
    };
    match code {
        Code::Horner => before.more.push(step.y),
        Code::AddProducts => {}
        Code::NegTimesPlus | Code::FusedMinus => {
            (before.x, before.y, before.flat) = (step.x, step.y, step.flat);
        }
        _ => (before.y, before.flat) = (step.x, step.flat),
    }
    (before.code, before.target) = (code, step.target);
    true
}

fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// True for a constant that is neither NaN nor zero: comparing with it is all that a minimum or a
/// maximum takes.
fn is_bound(op: Op) -> bool {
    let Op::Const(value) = op else { return false };
    let magnitude = value.get::<f64>().or_else(|| value.get::<f32>().map(f64::from));
    magnitude.is_some_and(|value| value.abs() > 0.0)
}

/// The code of an operation on floats.
fn alone(one: One) -> Option<Code> {
    Some(match one {
        One::Neg => Code::Neg,
        One::Abs => Code::Abs,
        One::Sqrt => Code::Sqrt,
        One::Floor => Code::Floor,
        One::Ceil => Code::Ceil,
        One::Trunc => Code::Trunc,
        One::RoundEven => Code::RoundEven,
        One::Canonical => Code::Canonical,
        One::Not => return None,
    })
}

/// The codes of an operation whose left operand is in the accumulator, or whose right one is.
fn with(two: Two, dtype: DType) -> Option<[Code; 2]> {
    let unsigned = matches!(dtype, DType::U64 | DType::U32);
    let integer = unsigned || matches!(dtype, DType::I64 | DType::I32);
    let float = is_float(dtype);
    Some(match two {
        Two::Add if float => [Code::Add; 2],
        Two::Sub if float => [Code::Sub, Code::SubFrom],
        Two::Mul if float => [Code::Mul; 2],
        Two::Div if float => [Code::Div, Code::DivInto],
        Two::Min if float => [Code::Min; 2],
        Two::Max if float => [Code::Max; 2],
        Two::Eq if float => [Code::Eq; 2],
        Two::Ne if float => [Code::Ne; 2],
        Two::Lt if float => [Code::Lt, Code::Gt],
        Two::Le if float => [Code::Le, Code::Ge],
        Two::Add if integer => [Code::Plus; 2],
        Two::Sub if integer => [Code::Minus, Code::MinusFrom],
        Two::And if integer => [Code::And; 2],
        Two::Or if integer => [Code::Or; 2],
        Two::Xor if integer => [Code::Xor; 2],
        Two::Shl if integer => [Code::Shl, Code::ShlBy],
        Two::Shr if unsigned => [Code::Shr, Code::ShrBy],
        Two::Eq if integer => [Code::Same; 2],
        _ => return None,
    })
}

/// The code of an operation on the accumulator, its left operand or its right one, and a term.
fn term(outer: Two, inner: Two, is_left: bool) -> Code {
    match (outer, inner, is_left) {
        (Two::Add, Two::Add, _) => Code::AddSum,
        (Two::Add, Two::Sub, _) => Code::AddDifference,
        (Two::Add, Two::Mul, _) => Code::AddProduct,
        (Two::Add, _, _) => Code::AddQuotient,
        (Two::Sub, Two::Add, true) => Code::SubSum,
        (Two::Sub, Two::Sub, true) => Code::SubDifference,
        (Two::Sub, Two::Mul, true) => Code::SubProduct,
        (Two::Sub, _, true) => Code::SubQuotient,
        (Two::Sub, Two::Add, false) => Code::SubFromSum,
        (Two::Sub, Two::Sub, false) => Code::SubFromDifference,
        (Two::Sub, Two::Mul, false) => Code::SubFromProduct,
        (Two::Sub, _, false) => Code::SubFromQuotient,
        (_, Two::Add, _) => Code::MulSum,
        (_, Two::Sub, _) => Code::MulDifference,
        (_, Two::Mul, _) => Code::MulProduct,
        _ => Code::MulQuotient,
    }
}
