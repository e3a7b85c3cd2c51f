//! Loop bodies as data: what is computed for one element, without branches.

use crate::expand::expansion;
use crate::{DType, Error, LaneFunction, Scalar};

/// A node of a body: its place in the list of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneNode(u32);

impl LaneNode {
    /// Its place in the list of nodes.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A primitive operation on one lane. Floats follow IEEE 754, integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// Floats: the sign bit flipped. Integers: wrapping.
    Neg,
    /// Floats: the sign bit cleared. Signed integers: wrapping. Unsigned: itself.
    Abs,
    /// Every bit flipped; of a bool the other one. No floats.
    Not,
    /// Correctly rounded square root. Floats only, as the four roundings below.
    Sqrt,
    /// The next whole number below.
    Floor,
    /// The next whole number above.
    Ceil,
    /// The whole number towards zero.
    Trunc,
    /// The nearest whole number, halves to even.
    RoundEven,
    /// Floats: a NaN becomes the one positive quiet NaN without payload.
    Canonical,
}

/// A primitive operation on two lanes of the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// Sum; of bools *or*.
    Add,
    /// Difference. No bools.
    Sub,
    /// Product; of bools *and*.
    Mul,
    /// Floats: quotient. Integers: towards zero, 0 if the divisor is 0, wrapping.
    Div,
    /// What `Div` of integers leaves, 0 if the divisor is 0. Floats: the exact remainder of the
    /// division towards zero (`fmod`).
    Rem,
    /// Floats: NaN if one is NaN, -0.0 below +0.0.
    Min,
    /// Floats: NaN if one is NaN, -0.0 below +0.0.
    Max,
    /// Bits of both. Integers and bools, as the next two.
    And,
    /// Bits of either.
    Or,
    /// Bits of one of them.
    Xor,
    /// Bits moved up. The amount is read as unsigned; from the width on the result is 0.
    Shl,
    /// Bits moved down; signed integers keep the sign. The amount is read as unsigned; from the
    /// width on nothing but the sign is left.
    Shr,
    /// The upper half of the double-width product. `U64` only.
    MulHigh,
    /// Equal, a bool; so are the next three.
    Eq,
    /// Not equal (true if one is NaN).
    Ne,
    /// Below.
    Lt,
    /// Not above.
    Le,
}

impl BinaryOp {
    /// True if the result is a bool.
    #[must_use]
    pub fn compares(self) -> bool {
        matches!(self, Self::Eq | Self::Ne | Self::Lt | Self::Le)
    }
}

/// A lookup table: a fixed list of 64-bit words that a body may look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LookupTable {
    /// Its name in listings.
    pub name: &'static str,
    /// Its entries; a place beyond the end reads the last one.
    pub entries: &'static [u64],
}

/// What a node computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneOp {
    /// The lane of an input.
    Input(u32),
    /// A constant.
    Const(Scalar),
    /// An operation on one lane.
    Unary(UnaryOp, LaneNode),
    /// An operation on two lanes.
    Binary(BinaryOp, LaneNode, LaneNode),
    /// The first times the second plus the third, rounded once. Floats only.
    MulAdd(LaneNode, LaneNode, LaneNode),
    /// The second where the first is true, else the third.
    Select(LaneNode, LaneNode, LaneNode),
    /// The value in another type. Floats to integers: towards zero, NaN is 0, too large is the
    /// largest. Integers: wrapping. To `bool`: not zero. `F64` to `F32`: to nearest, ties to even.
    Cast(LaneNode, DType),
    /// The bits as another type of the same width, not `bool`.
    Bits(LaneNode, DType),
    /// An entry of a lookup table at a place given as `U64`.
    Table(LookupTable, LaneNode),
    /// The exact sum of lanes of one type, rounded once; a sum of zero is +0.0. Floats only.
    Sum(SumTerms),
    /// A function of so many of the lanes as it takes. Its meaning is its expansion.
    Call(LaneFunction, [LaneNode; 3]),
}

/// The lanes of a sum: at least one, at most [`MOST`](SumTerms::MOST).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SumTerms {
    nodes: [LaneNode; Self::MOST],
    count: u8,
}

impl SumTerms {
    /// The longest sum.
    pub const MOST: usize = 8;

    /// These lanes; none if they are none or too many.
    #[must_use]
    pub fn new(nodes: &[LaneNode]) -> Option<Self> {
        let mut all = [*nodes.first()?; Self::MOST];
        all.get_mut(..nodes.len())?.copy_from_slice(nodes);
        Some(Self { nodes: all, count: u8::try_from(nodes.len()).ok()? })
    }

    /// The lanes.
    #[must_use]
    pub fn nodes(&self) -> &[LaneNode] {
        &self.nodes[..usize::from(self.count)]
    }
}

impl LaneOp {
    /// The nodes that it takes.
    pub fn operands(self) -> impl Iterator<Item = LaneNode> {
        let mut list = [None; SumTerms::MOST];
        match self {
            Self::Input(_) | Self::Const(_) => {}
            Self::Unary(_, a) | Self::Cast(a, _) | Self::Bits(a, _) | Self::Table(_, a) => {
                list[0] = Some(a);
            }
            Self::Binary(_, a, b) => list[..2].copy_from_slice(&[a, b].map(Some)),
            Self::MulAdd(a, b, c) | Self::Select(a, b, c) => {
                list[..3].copy_from_slice(&[a, b, c].map(Some));
            }
            Self::Sum(terms) => {
                list.iter_mut().zip(terms.nodes()).for_each(|(list, node)| *list = Some(*node));
            }
            Self::Call(function, lanes) => {
                let lanes = lanes.iter().take(function.arity());
                list.iter_mut().zip(lanes).for_each(|(list, node)| *list = Some(*node));
            }
        }
        list.into_iter().flatten()
    }

    /// The same operation on other nodes.
    #[must_use]
    pub fn with_operands(self, node: impl Fn(LaneNode) -> LaneNode) -> Self {
        match self {
            Self::Input(_) | Self::Const(_) => self,
            Self::Unary(one, a) => Self::Unary(one, node(a)),
            Self::Binary(two, a, b) => Self::Binary(two, node(a), node(b)),
            Self::MulAdd(a, b, c) => Self::MulAdd(node(a), node(b), node(c)),
            Self::Select(a, b, c) => Self::Select(node(a), node(b), node(c)),
            Self::Cast(a, to) => Self::Cast(node(a), to),
            Self::Bits(a, to) => Self::Bits(node(a), to),
            Self::Table(table, a) => Self::Table(table, node(a)),
            Self::Sum(terms) => Self::Sum(SumTerms { nodes: terms.nodes.map(node), ..terms }),
            Self::Call(function, lanes) => Self::Call(function, lanes.map(node)),
        }
    }
}

/// A loop body: a branch-free program for one element, in which every node names earlier ones.
///
/// Lanes are real: a complex element is two lanes, its parts.
///
/// Invariants:
/// 1. Every node names earlier nodes only, with the types that its operation asks for.
/// 2. No node is `C64` or `C128`.
/// 3. `types` has one entry per node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopBody {
    inputs: Vec<DType>,
    nodes: Vec<LaneOp>,
    types: Vec<DType>,
    outputs: Vec<LaneNode>,
}

impl LoopBody {
    /// A body with no nodes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an input lane and gives its node.
    ///
    /// # Errors
    /// If the type is complex.
    pub fn input(&mut self, dtype: DType) -> Result<LaneNode, Error> {
        if matches!(dtype, DType::C64 | DType::C128) {
            return Err(Error::NotALane { dtype });
        }
        let number = number(self.inputs.len());
        self.inputs.push(dtype);
        self.push(LaneOp::Input(number))
    }

    /// A constant.
    ///
    /// # Errors
    /// If the type is complex.
    pub fn constant(&mut self, value: Scalar) -> Result<LaneNode, Error> {
        self.push(LaneOp::Const(value))
    }

    /// Adds a node.
    ///
    /// # Errors
    /// If it names a later node, or one of a type that the operation does not take.
    pub fn push(&mut self, op: LaneOp) -> Result<LaneNode, Error> {
        let dtype = self.type_of_op(op)?;
        self.nodes.push(op);
        self.types.push(dtype);
        Ok(LaneNode(number(self.nodes.len() - 1)))
    }

    /// Makes a node an output.
    pub fn output(&mut self, node: LaneNode) {
        debug_assert!(node.index() < self.nodes.len());
        self.outputs.push(node);
    }

    /// The types of the inputs.
    #[must_use]
    pub fn inputs(&self) -> &[DType] {
        &self.inputs
    }

    /// The nodes, operands before users.
    #[must_use]
    pub fn nodes(&self) -> &[LaneOp] {
        &self.nodes
    }

    /// The outputs, in order.
    #[must_use]
    pub fn outputs(&self) -> &[LaneNode] {
        &self.outputs
    }

    /// How much it computes: nodes that are no inputs, functions with all of their expansions.
    #[must_use]
    pub fn operations(&self) -> usize {
        let work = |op: &LaneOp| match op {
            LaneOp::Input(_) => 0,
            LaneOp::Call(function, _) => expansion(*function).operations(),
            _ => 1,
        };
        self.nodes.iter().map(work).sum()
    }

    /// The type of a node.
    #[must_use]
    pub fn dtype(&self, node: LaneNode) -> DType {
        self.types[node.index()]
    }

    fn type_of_op(&self, op: LaneOp) -> Result<DType, Error> {
        let known = |node: LaneNode| {
            let dtype = self.types.get(node.index()).copied();
            dtype.ok_or(Error::UnknownNode { node: node.index(), nodes: self.nodes.len() })
        };
        let refused = |dtype: DType| Error::WrongLane { op: format!("{op:?}"), dtype };
        let dtype = match op {
            LaneOp::Input(number) => {
                let dtype = self.inputs.get(number as usize).copied();
                dtype.ok_or(Error::UnknownInput { input: number, inputs: self.inputs.len() })?
            }
            LaneOp::Const(value) => value.dtype(),
            LaneOp::Unary(one, of) => {
                let dtype = known(of)?;
                let fits = match one {
                    UnaryOp::Neg | UnaryOp::Abs => dtype != DType::Bool,
                    UnaryOp::Not => !is_float(dtype),
                    _ => is_float(dtype),
                };
                fits.then_some(dtype).ok_or_else(|| refused(dtype))?
            }
            LaneOp::Binary(two, left, right) => {
                let (dtype, other) = (known(left)?, known(right)?);
                if dtype != other || !takes(two, dtype) {
                    return Err(refused(if dtype == other { dtype } else { other }));
                }
                if two.compares() { DType::Bool } else { dtype }
            }
            LaneOp::MulAdd(a, b, c) => {
                let (dtype, b, c) = (known(a)?, known(b)?, known(c)?);
                let fits = is_float(dtype) && dtype == b && dtype == c;
                fits.then_some(dtype).ok_or_else(|| refused(dtype))?
            }
            LaneOp::Select(which, yes, no) => {
                let (which, dtype, no) = (known(which)?, known(yes)?, known(no)?);
                let fits = which == DType::Bool && dtype == no;
                fits.then_some(dtype).ok_or_else(|| refused(which))?
            }
            LaneOp::Cast(of, to) => known(of).map(|_| to)?,
            LaneOp::Bits(of, to) => {
                let from = known(of)?;
                let fits = from.bytes() == to.bytes() && from != DType::Bool && to != DType::Bool;
                fits.then_some(to).ok_or_else(|| refused(from))?
            }
            LaneOp::Table(table, at) => {
                let place = known(at)?;
                let fits = place == DType::U64 && !table.entries.is_empty();
                fits.then_some(DType::U64).ok_or_else(|| refused(place))?
            }
            LaneOp::Sum(terms) => {
                let first = known(terms.nodes[0])?;
                let mut others = terms.nodes().iter().map(|node| known(*node));
                others.try_for_each(|dtype| {
                    let dtype = dtype?;
                    let fits = dtype == first && is_float(dtype);
                    if fits { Ok(()) } else { Err(refused(dtype)) }
                })?;
                first
            }
            LaneOp::Call(function, _) => {
                op.operands().map(known).try_for_each(|dtype| {
                    let dtype = dtype?;
                    if dtype == function.takes() { Ok(()) } else { Err(refused(dtype)) }
                })?;
                DType::F64
            }
        };
        match dtype {
            DType::C64 | DType::C128 => Err(Error::NotALane { dtype }),
            dtype => Ok(dtype),
        }
    }
}

/// True for `F32` and `F64`.
pub(crate) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

fn takes(two: BinaryOp, dtype: DType) -> bool {
    match two {
        BinaryOp::Sub | BinaryOp::Div | BinaryOp::Rem => dtype != DType::Bool,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !is_float(dtype),
        BinaryOp::Shl | BinaryOp::Shr => !is_float(dtype) && dtype != DType::Bool,
        BinaryOp::MulHigh => dtype == DType::U64,
        _ => true,
    }
}

/// Bodies are built by passes over programs of at most 2^32 operations.
fn number(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2^32 nodes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_take_the_types_that_their_operations_ask_for() {
        let mut body = LoopBody::new();
        let x = body.input(DType::F64).unwrap();
        let k = body.input(DType::I64).unwrap();
        let less = body.push(LaneOp::Binary(BinaryOp::Lt, x, x)).unwrap();
        assert_eq!(body.dtype(less), DType::Bool);
        assert_eq!(body.inputs(), [DType::F64, DType::I64]);
        let wrong = [
            LaneOp::Unary(UnaryOp::Sqrt, k),
            LaneOp::Unary(UnaryOp::Not, x),
            LaneOp::Binary(BinaryOp::Add, x, k),
            LaneOp::Binary(BinaryOp::And, x, x),
            LaneOp::Binary(BinaryOp::MulHigh, k, k),
            LaneOp::MulAdd(k, k, k),
            LaneOp::Select(x, x, x),
            LaneOp::Bits(x, DType::F32),
            LaneOp::Table(LookupTable { name: "t", entries: &[1] }, k),
            LaneOp::Sum(SumTerms::new(&[x, k]).unwrap()),
            LaneOp::Sum(SumTerms::new(&[k, k]).unwrap()),
            LaneOp::Call(LaneFunction::Exp, [k; 3]),
            LaneOp::Call(LaneFunction::Pow, [x, k, k]),
            LaneOp::Call(LaneFunction::Uniform, [x; 3]),
        ];
        for op in wrong {
            assert!(matches!(body.push(op), Err(Error::WrongLane { .. })), "{op:?}");
        }
        assert_eq!(
            body.push(LaneOp::Unary(UnaryOp::Neg, LaneNode(9))),
            Err(Error::UnknownNode { node: 9, nodes: 3 })
        );
        assert_eq!(body.push(LaneOp::Input(2)), Err(Error::UnknownInput { input: 2, inputs: 2 }));
        assert_eq!(body.input(DType::C64), Err(Error::NotALane { dtype: DType::C64 }));
        assert!(body.push(LaneOp::Cast(x, DType::C128)).is_err());
        assert_eq!((SumTerms::new(&[]), SumTerms::new(&[x; 9])), (None, None));
        body.output(less);
        assert_eq!((body.outputs(), body.nodes().len()), (&[less][..], 3));
        assert_eq!(body.operations(), 1);
        body.push(LaneOp::Call(LaneFunction::Exp, [x; 3])).unwrap();
        assert!(body.operations() > 20, "an exponential is more than one operation");
    }
}
