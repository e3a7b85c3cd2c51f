//! Elementwise expressions: what the elements of an array are, before anybody computes them.

use std::collections::BTreeMap;

use pantile_lanes::{
    Binary, DType, LaneNode, LaneOp, LoopBody, Scalar, SumTerms, Unary, UnaryOp, expand,
    expand::ElementLanes,
};

use super::{IndexMap, Part, Read, SlotId};
use pantile_ir::Random;

/// An expression: its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExprId(u32);

/// What an element is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// The same number everywhere.
    Const(Scalar),
    /// An element of a slot.
    Read(SlotId, Vec<IndexMap>),
    /// `offset + sum(strides * index)`, an `I64`.
    Index { offset: i64, strides: Vec<i64> },
    /// A function of an element in its compute type.
    Unary(Unary, ExprId),
    /// A function of two elements in their compute type.
    Binary(Binary, ExprId, ExprId),
    /// The second where the first is true, else the third.
    Select(ExprId, ExprId, ExprId),
    /// The value in another type.
    Cast(ExprId),
    /// The exact sum of a few floats, rounded once.
    Sum(Vec<ExprId>),
    /// A random number: seed and index as `U64`.
    Random(Random, u64, ExprId, ExprId),
}

/// An expression with its type and shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
}

/// All expressions of a program; equal ones are one.
#[derive(Default)]
pub(crate) struct Exprs {
    list: Vec<Expr>,
    depths: Vec<u32>,
    known: BTreeMap<Expr, ExprId>,
}

impl std::ops::Index<ExprId> for Exprs {
    type Output = Expr;

    fn index(&self, id: ExprId) -> &Expr {
        &self.list[id.0 as usize]
    }
}

impl Exprs {
    /// The expression of this kind; constants are folded.
    pub(crate) fn add(&mut self, kind: Kind, dtype: DType, shape: &[usize]) -> ExprId {
        let kind = self.folded(&kind, dtype).map_or(kind, Kind::Const);
        let expr = Expr { kind, dtype, shape: shape.to_vec() };
        if let Some(id) = self.known.get(&expr) {
            return *id;
        }
        let id = ExprId(u32::try_from(self.list.len()).expect("fewer than 2^32 expressions"));
        self.known.insert(expr.clone(), id);
        self.list.push(expr);
        let below = self.operands(id).into_iter().map(|of| self.depth(of)).max();
        self.depths.push(below.map_or(0, |depth| depth + 1));
        id
    }

    /// How many operations lie above one another.
    pub(crate) fn depth(&self, id: ExprId) -> u32 {
        self.depths[id.0 as usize]
    }

    /// A constant everywhere.
    pub(crate) fn constant(&mut self, value: Scalar, shape: &[usize]) -> ExprId {
        self.add(Kind::Const(value), value.dtype(), shape)
    }

    /// All elements of a slot.
    pub(crate) fn slot(&mut self, slot: SlotId, dtype: DType, shape: &[usize]) -> ExprId {
        self.add(Kind::Read(slot, identity(shape.len())), dtype, shape)
    }

    /// The value in another type.
    pub(crate) fn cast(&mut self, of: ExprId, dtype: DType) -> ExprId {
        if self[of].dtype == dtype {
            return of;
        }
        let shape = self[of].shape.clone();
        self.add(Kind::Cast(of), dtype, &shape)
    }

    /// The constant that an expression is.
    pub(crate) fn known(&self, id: ExprId) -> Option<Scalar> {
        match self[id].kind {
            Kind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// Operands of an expression.
    pub(crate) fn operands(&self, id: ExprId) -> Vec<ExprId> {
        match &self[id].kind {
            Kind::Const(_) | Kind::Read(..) | Kind::Index { .. } => Vec::new(),
            Kind::Unary(_, a) | Kind::Cast(a) => vec![*a],
            Kind::Binary(_, a, b) | Kind::Random(_, _, a, b) => vec![*a, *b],
            Kind::Select(a, b, c) => vec![*a, *b, *c],
            Kind::Sum(terms) => terms.clone(),
        }
    }

    /// The expression seen through `map`: along each of its axes where it is read, by the axes of
    /// an array of `shape`.
    pub(crate) fn view(&mut self, id: ExprId, map: &[IndexMap], shape: &[usize]) -> ExprId {
        if self[id].shape == shape && map == identity(shape.len()) {
            return id;
        }
        self.view_with(id, map, shape, &mut BTreeMap::new())
    }

    fn view_with(
        &mut self,
        id: ExprId,
        map: &[IndexMap],
        shape: &[usize],
        seen: &mut BTreeMap<ExprId, ExprId>,
    ) -> ExprId {
        if let Some(done) = seen.get(&id) {
            return *done;
        }
        let dtype = self[id].dtype;
        let mut go = |exprs: &mut Self, of: ExprId| exprs.view_with(of, map, shape, seen);
        let kind = match self[id].kind.clone() {
            Kind::Const(value) => Kind::Const(value),
            Kind::Read(slot, access) => {
                Kind::Read(slot, access.iter().map(|index_map| through(*index_map, map)).collect())
            }
            Kind::Index { offset, strides } => index_through(offset, &strides, map, shape.len()),
            Kind::Unary(function, a) => Kind::Unary(function, go(self, a)),
            Kind::Binary(function, a, b) => Kind::Binary(function, go(self, a), go(self, b)),
            Kind::Select(a, b, c) => Kind::Select(go(self, a), go(self, b), go(self, c)),
            Kind::Cast(a) => Kind::Cast(go(self, a)),
            Kind::Sum(terms) => Kind::Sum(terms.into_iter().map(|of| go(self, of)).collect()),
            Kind::Random(which, stream, a, b) => {
                Kind::Random(which, stream, go(self, a), go(self, b))
            }
        };
        let new = self.add(kind, dtype, shape);
        seen.insert(id, new);
        new
    }

    /// The value of an operation on constants.
    fn folded(&self, kind: &Kind, dtype: DType) -> Option<Scalar> {
        let operands: Vec<ExprId> = match kind {
            Kind::Unary(_, a) | Kind::Cast(a) => vec![*a],
            Kind::Binary(_, a, b) => vec![*a, *b],
            Kind::Select(a, b, c) => vec![*a, *b, *c],
            _ => return None,
        };
        let values: Vec<Scalar> =
            operands.iter().map(|id| self.known(*id)).collect::<Option<_>>()?;
        let mut compiler = Compiler::new(self);
        let lanes: Vec<ElementLanes> =
            values.iter().map(|value| compiler.constant(*value)).collect();
        let pairs: Vec<Made> = lanes.into_iter().map(|lane| Made { lane, raw: false }).collect();
        let made = compiler.apply(kind, &pairs, dtype);
        let made = compiler.exact(made);
        let nodes = match made.lane {
            ElementLanes::Real(node) => vec![node],
            ElementLanes::Complex(re, im) => vec![re, im],
        };
        nodes.iter().for_each(|node| compiler.body.output(*node));
        let parts = pantile_lanes::evaluate(&compiler.body, &[]).ok()?;
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.as_bytes().to_vec()).collect();
        Scalar::from_bytes(dtype, &bytes)
    }
}

/// Every axis by itself.
pub(crate) fn identity(ndim: usize) -> Vec<IndexMap> {
    (0..ndim).map(|axis| IndexMap::Moves { axis, offset: 0, step: 1 }).collect()
}

/// How an axis is read through another map.
fn through(index_map: IndexMap, map: &[IndexMap]) -> IndexMap {
    let IndexMap::Moves { axis, offset, step } = index_map else { return index_map };
    match map[axis] {
        IndexMap::Fixed(index) => IndexMap::Fixed(offset + step * index),
        IndexMap::Moves { axis, offset: o, step: s } => {
            IndexMap::Moves { axis, offset: offset + step * o, step: step * s }
        }
    }
}

fn index_through(offset: i64, strides: &[i64], map: &[IndexMap], ndim: usize) -> Kind {
    let (mut offset, mut new) = (offset, vec![0; ndim]);
    for (stride, index_map) in strides.iter().zip(map) {
        match index_map {
            IndexMap::Fixed(index) => offset += stride * index,
            IndexMap::Moves { axis, offset: o, step } => {
                offset += stride * o;
                new[*axis] += stride * step;
            }
        }
    }
    Kind::Index { offset, strides: new }
}

/// A lane, and whether its NaNs may have any bits.
#[derive(Clone, Copy)]
struct Made {
    lane: ElementLanes,
    raw: bool,
}

/// Expressions on their way into a loop body.
pub(crate) struct Compiler<'a> {
    exprs: &'a Exprs,
    pub(crate) body: LoopBody,
    pub(crate) reads: Vec<Read>,
    /// Slots that are read from a copy instead.
    pub(crate) replaced: BTreeMap<(SlotId, Vec<IndexMap>), (SlotId, Vec<IndexMap>)>,
    done: BTreeMap<ExprId, Made>,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(exprs: &'a Exprs) -> Self {
        Self {
            exprs,
            body: LoopBody::new(),
            reads: Vec::new(),
            replaced: BTreeMap::new(),
            done: BTreeMap::new(),
        }
    }

    /// The nodes of an expression whose NaNs have their one pattern: one, or two for its parts.
    pub(crate) fn nodes(&mut self, id: ExprId) -> Vec<LaneNode> {
        let made = self.make(id);
        let made = self.exact(made);
        self.done.insert(id, made);
        self.raw_nodes(id)
    }

    /// The nodes of an expression whose NaNs may have any bits.
    pub(crate) fn raw_nodes(&mut self, id: ExprId) -> Vec<LaneNode> {
        match self.make(id).lane {
            ElementLanes::Real(node) => vec![node],
            ElementLanes::Complex(re, im) => vec![re, im],
        }
    }

    fn make(&mut self, id: ExprId) -> Made {
        // Chains can be long: operands first, without going deep into the stack.
        let mut stack = vec![id];
        while let Some(top) = stack.last().copied() {
            if self.done.contains_key(&top) {
                stack.pop();
                continue;
            }
            let operands = self.exprs.operands(top);
            let open: Vec<ExprId> =
                operands.iter().copied().filter(|of| !self.done.contains_key(of)).collect();
            if !open.is_empty() {
                stack.extend(open);
                continue;
            }
            let made = self.leaf_or_apply(top, &operands);
            self.done.insert(top, made);
            stack.pop();
        }
        self.done[&id]
    }

    fn leaf_or_apply(&mut self, id: ExprId, operands: &[ExprId]) -> Made {
        let exprs = self.exprs;
        let expr = &exprs[id];
        let leaf = |lane| Made { lane, raw: false };
        match &expr.kind {
            Kind::Const(value) => leaf(self.constant(*value)),
            Kind::Read(slot, access) => leaf(self.read(*slot, access, expr.dtype)),
            Kind::Index { offset, strides } => {
                let read = Read::Index { offset: *offset, strides: strides.clone() };
                leaf(ElementLanes::Real(self.input(read, DType::I64)))
            }
            kind => {
                let mut made: Vec<Made> = operands.iter().map(|of| self.done[of]).collect();
                let complex =
                    made.iter().any(|made| matches!(made.lane, ElementLanes::Complex(..)));
                if looks_at_bits(kind) || (complex && looks_at_signs(kind)) {
                    for (of, made) in operands.iter().zip(&mut made) {
                        *made = self.exact(*made);
                        self.done.insert(*of, *made);
                    }
                }
                self.apply(kind, &made, expr.dtype)
            }
        }
    }

    fn apply(&mut self, kind: &Kind, of: &[Made], dtype: DType) -> Made {
        let lanes: Vec<ElementLanes> = of.iter().map(|made| made.lane).collect();
        let body = &mut self.body;
        let lane = match kind {
            Kind::Unary(function, _) => expand::unary(body, *function, lanes[0]),
            Kind::Binary(function, ..) => expand::binary(body, *function, lanes[0], lanes[1]),
            Kind::Cast(_) => expand::cast(body, lanes[0], dtype),
            Kind::Select(..) => match lanes[0] {
                ElementLanes::Real(which) => expand::select(body, which, lanes[1], lanes[2]),
                ElementLanes::Complex(..) => unreachable!("conditions are truth values"),
            },
            Kind::Random(which, stream, ..) => match (lanes[0], lanes[1]) {
                (ElementLanes::Real(seed), ElementLanes::Real(index)) => {
                    let node = match which {
                        Random::Uniform => expand::uniform(body, index, seed, *stream),
                        Random::Normal => expand::normal(body, index, seed, *stream),
                    };
                    node.map(ElementLanes::Real)
                }
                _ => unreachable!("seeds and indices are real"),
            },
            Kind::Sum(_) => {
                let nodes = lanes.iter().map(|lane| match lane {
                    ElementLanes::Real(node) => *node,
                    ElementLanes::Complex(..) => unreachable!("sums of a few are real"),
                });
                let terms =
                    SumTerms::new(&nodes.collect::<Vec<_>>()).expect("sums of a few are short");
                body.push(LaneOp::Sum(terms)).map(ElementLanes::Real)
            }
            Kind::Const(_) | Kind::Read(..) | Kind::Index { .. } => {
                unreachable!("leaves are made elsewhere")
            }
        };
        // Types were checked where the expression was made.
        let lane = lane.expect("an expression has the types of its function");
        let float = !matches!(kind_of(dtype), Class::Whole);
        // The magnitude of a complex number is arithmetic, that of a real one is not.
        let magnitude = matches!(kind, Kind::Unary(Unary::Abs, _))
            && matches!(lanes[0], ElementLanes::Complex(..));
        Made { lane, raw: float && (magnitude || !looks_at_bits(kind)) }
    }

    /// The same lane with one pattern for NaN.
    fn exact(&mut self, made: Made) -> Made {
        if !made.raw {
            return made;
        }
        let mut canonical = |node| {
            self.body.push(LaneOp::Unary(UnaryOp::Canonical, node)).expect("raw lanes are floats")
        };
        let lane = match made.lane {
            ElementLanes::Real(node) => ElementLanes::Real(canonical(node)),
            ElementLanes::Complex(re, im) => ElementLanes::Complex(canonical(re), canonical(im)),
        };
        Made { lane, raw: false }
    }

    fn constant(&mut self, value: Scalar) -> ElementLanes {
        let mut node =
            |value: Scalar| self.body.constant(value).expect("parts of constants are lanes");
        let parts = |value: &Scalar| {
            let bytes = value.as_bytes();
            let (re, im) = bytes.split_at(bytes.len() / 2);
            let part = if bytes.len() == 8 { DType::F32 } else { DType::F64 };
            [re, im].map(|bytes| Scalar::from_bytes(part, bytes).expect("a part is a float"))
        };
        match kind_of(value.dtype()) {
            Class::Complex => {
                let [re, im] = parts(&value);
                ElementLanes::Complex(node(re), node(im))
            }
            _ => ElementLanes::Real(node(value)),
        }
    }

    fn read(&mut self, slot: SlotId, access: &[IndexMap], dtype: DType) -> ElementLanes {
        let copy = self.replaced.get(&(slot, access.to_vec())).cloned();
        let (slot, access) = copy.unwrap_or_else(|| (slot, access.to_vec()));
        let access = access.as_slice();
        let part = match dtype {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            real => {
                let read = Read::Slot(slot, Part::Whole, access.to_vec());
                return ElementLanes::Real(self.input(read, real));
            }
        };
        let real = self.input(Read::Slot(slot, Part::Real, access.to_vec()), part);
        let imaginary = self.input(Read::Slot(slot, Part::Imaginary, access.to_vec()), part);
        ElementLanes::Complex(real, imaginary)
    }

    fn input(&mut self, read: Read, dtype: DType) -> LaneNode {
        self.reads.push(read);
        self.body.input(dtype).expect("inputs are real lanes")
    }
}

enum Class {
    Whole,
    Float,
    Complex,
}

fn kind_of(dtype: DType) -> Class {
    match dtype {
        DType::F32 | DType::F64 => Class::Float,
        DType::C64 | DType::C128 => Class::Complex,
        _ => Class::Whole,
    }
}

/// True for functions of complex numbers whose result may have the sign of a part that is NaN:
/// tanh of inf + NaN i is 1 + 0 i or 1 - 0 i.
fn looks_at_signs(kind: &Kind) -> bool {
    match kind {
        Kind::Unary(..) => true,
        Kind::Binary(function, ..) => {
            !matches!(function, Binary::Add | Binary::Subtract | Binary::Multiply)
        }
        _ => false,
    }
}

/// True for operations that pass the bits of their operands on, or look at their sign.
fn looks_at_bits(kind: &Kind) -> bool {
    match kind {
        Kind::Select(..) => true,
        Kind::Unary(function, _) => matches!(
            function,
            Unary::Negative
                | Unary::Positive
                | Unary::Abs
                | Unary::Conj
                | Unary::Real
                | Unary::Imag
                | Unary::SignBit
        ),
        Kind::Binary(function, ..) => *function == Binary::CopySign,
        _ => false,
    }
}
