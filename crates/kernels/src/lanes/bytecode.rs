//! The bytecode of a node: how the interpreter computes it from its accumulator.

use pantile_lanes::{BinaryOp, DType, LaneNode, LaneOp, UnaryOp};

use super::interpreter::{BytecodeOp, NONE, Opcode, OperandKind, interpreter};
use super::node_facts::Nodes;
use crate::simd::Vectors;

/// Bytes of the lanes of a node that the interpreter computes; none if it needs a loop of its own.
pub(super) fn lanes(nodes: &Nodes<'_>, index: usize, vectors: Vectors) -> Option<usize> {
    let dtype_of = |node: LaneNode| nodes.body.dtype(node);
    let facts = nodes.facts[index];
    let (fits, bytes) = match nodes.op(index) {
        LaneOp::Unary(one, of) => {
            (alone(one).is_some() && is_float(dtype_of(of)), facts.dtype.bytes())
        }
        LaneOp::Binary(two, left, _) => {
            // Whole chunks of bools are written, so they must be our own.
            let own = !two.compares() || facts.output.is_none();
            (own && with(two, dtype_of(left)).is_some(), dtype_of(left).bytes())
        }
        LaneOp::MulAdd(..) => (true, facts.dtype.bytes()),
        LaneOp::Select(mask, ..) => {
            let own = nodes.facts[nodes.origin(mask)].output.is_none();
            (own && facts.dtype != DType::Bool, facts.dtype.bytes())
        }
        LaneOp::Table(..) => (true, 8),
        _ => (false, 0),
    };
    (fits && interpreter(bytes, vectors).is_some()).then_some(bytes)
}

/// The operand that is in the accumulator before the first operation that is not a load: the one that
/// is there, if the node can go on with it.
pub(super) fn first(nodes: &Nodes<'_>, index: usize, accumulator: Option<usize>) -> usize {
    let candidates = candidates(nodes, index);
    let there = candidates.iter().flatten().find(|node| Some(**node) == accumulator);
    there.or_else(|| candidates.iter().flatten().next()).copied().unwrap_or(index)
}

/// The operands that a node can go on with, best first.
fn candidates(nodes: &Nodes<'_>, index: usize) -> [Option<usize>; 3] {
    let origin = |node: LaneNode| Some(nodes.origin(node)).filter(|at| !nodes.facts[*at].term);
    match nodes.op(index) {
        LaneOp::Unary(_, of) | LaneOp::Table(_, of) => [origin(of), None, None],
        LaneOp::Binary(_, left, right) => [origin(left), origin(right), None],
        LaneOp::MulAdd(a, b, c) => [origin(a), origin(b), origin(c)],
        LaneOp::Select(_, yes, no) => [origin(yes), origin(no), None],
        _ => [None; 3],
    }
}

/// The bytecode operation of a node. `slots` are those of its operands; `bools` are where a
/// comparison writes.
pub(super) fn operation(
    nodes: &Nodes<'_>,
    index: usize,
    accumulator: Option<usize>,
    (slots, bools): (&dyn Fn(usize) -> u32, Option<u32>),
) -> BytecodeOp {
    let first = first(nodes, index, accumulator);
    let origin = |node: LaneNode| nodes.origin(node);
    let slot = |node: LaneNode| slots(nodes.origin(node));
    let constant = |node: LaneNode| matches!(nodes.op(origin(node)), LaneOp::Const(_));
    let mut table: &[u64] = &[];
    let (code, x, y, invariant) = match nodes.op(index) {
        LaneOp::Unary(one, _) => (alone(one).unwrap_or(Opcode::Canonical), 0, 0, false),
        LaneOp::Table(lookup, _) => {
            table = lookup.entries;
            (Opcode::LookUp, 0, 0, false)
        }
        LaneOp::MulAdd(a, b, c) if origin(a) == first || origin(b) == first => {
            let factor = if origin(a) == first { b } else { a };
            (Opcode::TimesPlus, slot(factor), slot(c), constant(c))
        }
        LaneOp::MulAdd(a, b, _) => {
            let [x, y] = if constant(a) { [b, a] } else { [a, b] };
            (Opcode::PlusFused, slot(x), slot(y), constant(y))
        }
        LaneOp::Select(mask, yes, no) if origin(yes) == first => {
            (Opcode::Keep, slot(mask), slot(no), false)
        }
        LaneOp::Select(mask, yes, _) => (Opcode::Replace, slot(mask), slot(yes), false),
        LaneOp::Binary(two, left, right) => {
            let is_left = origin(left) == first;
            let other = if is_left { right } else { left };
            let inner = nodes.op(origin(other));
            if let (LaneOp::Binary(inner, x, y), true) = (inner, nodes.facts[origin(other)].term) {
                let swapped = constant(x) && matches!(inner, BinaryOp::Add | BinaryOp::Mul);
                let [x, y] = if swapped { [y, x] } else { [x, y] };
                (term(two, inner, is_left), slot(x), slot(y), constant(y))
            } else if two == BinaryOp::Mul
                && is_float(nodes.body.dtype(left))
                && origin(left) == origin(right)
            {
                (Opcode::Square, 0, 0, false)
            } else {
                let codes = with(two, nodes.body.dtype(left)).unwrap_or([Opcode::Add; 2]);
                let code = match codes[usize::from(!is_left)] {
                    Opcode::Min if is_bound(inner) => Opcode::AtMost,
                    Opcode::Max if is_bound(inner) => Opcode::AtLeast,
                    code => code,
                };
                (code, slot(other), bools.unwrap_or(0), constant(other))
            }
        }
        // The interpreter has no lanes for others.
        _ => (Opcode::Abs, 0, 0, false),
    };
    let first = if accumulator == Some(first) { NONE } else { slots(first) };
    BytecodeOp {
        code,
        invariant,
        first,
        x,
        y,
        canonical: false,
        target: NONE,
        table,
        more: Vec::new(),
    }
}

/// Fuses an operation with the one before it, if there is an opcode for both: decoding one takes
/// about as long as computing two.
pub(super) fn join(before: &mut BytecodeOp, operation: &BytecodeOp) -> bool {
    if operation.first != NONE || before.target != NONE || before.canonical {
        return false;
    }
    let is_compare = matches!(before.code.kind(), OperandKind::Compare);
    if operation.code == Opcode::Canonical && !is_compare {
        (before.canonical, before.target) = (true, operation.target);
        return true;
    }
    let code = match (before.code, operation.code) {
        (Opcode::TimesPlus, Opcode::TimesPlus)
            if before.invariant && operation.invariant && before.x == operation.x =>
        {
            before.more.push(before.y);
            Opcode::Horner
        }
        (Opcode::Horner, Opcode::TimesPlus) if operation.invariant && before.x == operation.x => {
            Opcode::Horner
        }
        (Opcode::AddProduct, Opcode::AddProduct) if before.invariant && operation.invariant => {
            before.more.extend([before.x, before.y, operation.x, operation.y]);
            (before.x, before.y) = (NONE, NONE);
            Opcode::AddProducts
        }
        (Opcode::Mul, Opcode::AddProduct) if before.invariant && operation.invariant => {
            before.more.extend([operation.x, operation.y]);
            before.y = NONE;
            Opcode::AddProducts
        }
        (Opcode::AddProducts, Opcode::AddProduct) if operation.invariant && before.y == NONE => {
            before.more.extend([operation.x, operation.y]);
            Opcode::AddProducts
        }
        (Opcode::AddProducts, Opcode::Add) if !operation.invariant && before.y == NONE => {
            before.y = operation.x;
            Opcode::AddProducts
        }
        (Opcode::Neg, Opcode::TimesPlus) => Opcode::NegTimesPlus,
        (Opcode::Neg, Opcode::PlusFused) => Opcode::FusedMinus,
        // A constant is best read once for all vectors.
        _ if before.invariant => return false,
        (Opcode::Add, Opcode::Add) => Opcode::AddThenAdd,
        (Opcode::Mul, Opcode::Add) => Opcode::MulThenAdd,
        (Opcode::Mul, Opcode::Mul) => Opcode::MulThenMul,
        (Opcode::Sub, Opcode::SubFrom) => Opcode::SubThenSubFrom,
        _ => return false,
    };
    match code {
        Opcode::Horner => before.more.push(operation.y),
        Opcode::AddProducts => {}
        Opcode::NegTimesPlus | Opcode::FusedMinus => {
            (before.x, before.y, before.invariant) =
                (operation.x, operation.y, operation.invariant);
        }
        _ => (before.y, before.invariant) = (operation.x, operation.invariant),
    }
    (before.code, before.target) = (code, operation.target);
    true
}

fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// True for a constant that is neither NaN nor zero: comparing with it is all that a minimum or a
/// maximum takes.
fn is_bound(op: LaneOp) -> bool {
    let LaneOp::Const(value) = op else { return false };
    let magnitude = value.get::<f64>().or_else(|| value.get::<f32>().map(f64::from));
    magnitude.is_some_and(|value| value.abs() > 0.0)
}

/// The opcode of an operation on floats.
fn alone(one: UnaryOp) -> Option<Opcode> {
    Some(match one {
        UnaryOp::Neg => Opcode::Neg,
        UnaryOp::Abs => Opcode::Abs,
        UnaryOp::Sqrt => Opcode::Sqrt,
        UnaryOp::Floor => Opcode::Floor,
        UnaryOp::Ceil => Opcode::Ceil,
        UnaryOp::Trunc => Opcode::Trunc,
        UnaryOp::RoundEven => Opcode::RoundEven,
        UnaryOp::Canonical => Opcode::Canonical,
        UnaryOp::Not => return None,
    })
}

/// The opcodes of an operation whose left operand is in the accumulator, or whose right one is.
fn with(two: BinaryOp, dtype: DType) -> Option<[Opcode; 2]> {
    let unsigned = matches!(dtype, DType::U64 | DType::U32);
    let integer = unsigned || matches!(dtype, DType::I64 | DType::I32);
    let float = is_float(dtype);
    Some(match two {
        BinaryOp::Add if float => [Opcode::Add; 2],
        BinaryOp::Sub if float => [Opcode::Sub, Opcode::SubFrom],
        BinaryOp::Mul if float => [Opcode::Mul; 2],
        BinaryOp::Div if float => [Opcode::Div, Opcode::DivInto],
        BinaryOp::Min if float => [Opcode::Min; 2],
        BinaryOp::Max if float => [Opcode::Max; 2],
        BinaryOp::Eq if float => [Opcode::Eq; 2],
        BinaryOp::Ne if float => [Opcode::Ne; 2],
        BinaryOp::Lt if float => [Opcode::Lt, Opcode::Gt],
        BinaryOp::Le if float => [Opcode::Le, Opcode::Ge],
        BinaryOp::Add if integer => [Opcode::Plus; 2],
        BinaryOp::Sub if integer => [Opcode::Minus, Opcode::MinusFrom],
        BinaryOp::And if integer => [Opcode::And; 2],
        BinaryOp::Or if integer => [Opcode::Or; 2],
        BinaryOp::Xor if integer => [Opcode::Xor; 2],
        BinaryOp::Shl if integer => [Opcode::Shl, Opcode::ShlBy],
        BinaryOp::Shr if unsigned => [Opcode::Shr, Opcode::ShrBy],
        BinaryOp::Eq if integer => [Opcode::Same; 2],
        _ => return None,
    })
}

/// The opcode of an operation on the accumulator, its left operand or its right one, and a term.
fn term(outer: BinaryOp, inner: BinaryOp, is_left: bool) -> Opcode {
    match (outer, inner, is_left) {
        (BinaryOp::Add, BinaryOp::Add, _) => Opcode::AddSum,
        (BinaryOp::Add, BinaryOp::Sub, _) => Opcode::AddDifference,
        (BinaryOp::Add, BinaryOp::Mul, _) => Opcode::AddProduct,
        (BinaryOp::Add, _, _) => Opcode::AddQuotient,
        (BinaryOp::Sub, BinaryOp::Add, true) => Opcode::SubSum,
        (BinaryOp::Sub, BinaryOp::Sub, true) => Opcode::SubDifference,
        (BinaryOp::Sub, BinaryOp::Mul, true) => Opcode::SubProduct,
        (BinaryOp::Sub, _, true) => Opcode::SubQuotient,
        (BinaryOp::Sub, BinaryOp::Add, false) => Opcode::SubFromSum,
        (BinaryOp::Sub, BinaryOp::Sub, false) => Opcode::SubFromDifference,
        (BinaryOp::Sub, BinaryOp::Mul, false) => Opcode::SubFromProduct,
        (BinaryOp::Sub, _, false) => Opcode::SubFromQuotient,
        (_, BinaryOp::Add, _) => Opcode::MulSum,
        (_, BinaryOp::Sub, _) => Opcode::MulDifference,
        (_, BinaryOp::Mul, _) => Opcode::MulProduct,
        _ => Opcode::MulQuotient,
    }
}
