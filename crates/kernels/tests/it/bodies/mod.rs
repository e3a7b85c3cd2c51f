//! Random loop bodies, values and views, and what they mean element by element.

use pantile_kernels::{DType, Scalar};
use pantile_lanes::{
    BinaryOp, LaneNode, LaneOp, LookupTable, LoopBody, SumTerms, UnaryOp, evaluate,
};
use pantile_testkit::Rng;

/// The types that lanes have.
pub(crate) const LANES: [DType; 11] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F32,
    DType::F64,
];

pub(crate) const ONES: [UnaryOp; 9] = [
    UnaryOp::Neg,
    UnaryOp::Abs,
    UnaryOp::Not,
    UnaryOp::Sqrt,
    UnaryOp::Floor,
    UnaryOp::Ceil,
    UnaryOp::Trunc,
    UnaryOp::RoundEven,
    UnaryOp::Canonical,
];

pub(crate) const TWOS: [BinaryOp; 17] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::MulHigh,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
];

pub(crate) static WORDS: [u64; 5] = [7, 1 << 63, 0, u64::MAX, 0x4000_0000_0000_0001];

pub(crate) const TABLE: LookupTable = LookupTable { name: "words", entries: &WORDS };

pub(crate) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// Numbers at which something changes, as `f64`.
const FLOATS: [f64; 27] = [
    0.0,
    1.0,
    0.5,
    1.5,
    2.5,
    0.499_999_999_999_999_94,
    127.5,
    255.9,
    32767.5,
    65536.0,
    2_147_483_647.5,
    4_294_967_296.0,
    9_223_372_036_854_775_808.0,
    18_446_744_073_709_551_616.0,
    4_503_599_627_370_495.5,
    9_007_199_254_740_993.0,
    1e300,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    1e-40,
    f64::INFINITY,
    f64::NAN,
    3.402_823_567_797_336_6e38,
    1e-45,
    16_777_217.0,
    std::f64::consts::PI,
];

/// Values of a type at which something changes.
pub(crate) fn edges(dtype: DType) -> Vec<Scalar> {
    match dtype {
        DType::Bool => vec![Scalar::of(false), Scalar::of(true)],
        #[allow(
            clippy::cast_possible_truncation,
            reason = "edges of one type, near those of another"
        )]
        DType::F32 => floats().map(|value| Scalar::of(value as f32)).collect(),
        DType::F64 => floats().map(Scalar::of).collect(),
        _ => {
            let near = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 63, 64, 65, 100];
            let powers = (0..8 * dtype.bytes()).map(|power| 1u64 << power);
            let near = near.into_iter().chain(powers);
            near.flat_map(|value| [value, value.wrapping_neg(), !value.wrapping_neg()])
                .map(|value| from_bits(dtype, value))
                .collect()
        }
    }
}

fn floats() -> impl Iterator<Item = f64> {
    FLOATS.into_iter().flat_map(|value| [value, -value])
}

/// The value with the lowest bits of a word.
pub(crate) fn from_bits(dtype: DType, bits: u64) -> Scalar {
    let bits = if dtype == DType::Bool { bits & 1 } else { bits };
    Scalar::from_bytes(dtype, &bits.to_ne_bytes()[..dtype.bytes()]).expect("a value")
}

/// A value of a type: an edge, any bits, or a small number.
pub(crate) fn value(rng: &mut Rng, dtype: DType) -> Scalar {
    match rng.below(4) {
        0 => *rng.pick(&edges(dtype)),
        1 => from_bits(dtype, rng.bits()),
        _ => match dtype {
            DType::F32 => Scalar::of(rng.range(-99, 99) as f32 / 8.0),
            DType::F64 => Scalar::of(rng.range(-99, 99) as f64 / 8.0),
            _ => from_bits(dtype, rng.range(-9, 99).cast_unsigned()),
        },
    }
}

/// A body, and for each of its nodes whether all its bits are fixed, those of NaN included.
#[derive(Debug)]
pub(crate) struct BodyCase {
    pub(crate) body: LoopBody,
    pub(crate) fixed: Vec<bool>,
    nodes: Vec<LaneNode>,
}

impl BodyCase {
    /// A body of so many random operations.
    pub(crate) fn random(rng: &mut Rng, inputs: usize, ops: usize) -> Self {
        let mut case = Self { body: LoopBody::new(), fixed: Vec::new(), nodes: Vec::new() };
        let usual = *rng.pick(&LANES);
        for _ in 0..inputs {
            let dtype = if rng.chance(1, 2) { usual } else { *rng.pick(&LANES) };
            let node = case.body.input(dtype).expect("a lane");
            case.nodes.push(node);
            case.fixed.push(true);
        }
        let mut left = ops;
        while left > 0 || case.nodes.is_empty() {
            left = left.saturating_sub(usize::from(case.push(rng)));
        }
        case
    }

    /// A body whose outputs are its inputs and, the first, a constant.
    pub(crate) fn constants(rng: &mut Rng, inputs: usize, outputs: usize) -> Self {
        let mut case = Self::random(rng, inputs, usize::from(inputs == 0));
        let dtype = *rng.pick(&LANES);
        case.add(LaneOp::Const(value(rng, dtype)), true);
        for node in case.nodes.iter().rev().take(outputs) {
            case.body.output(*node);
        }
        case
    }

    /// Tries to add a random node.
    fn push(&mut self, rng: &mut Rng) -> bool {
        if self.nodes.is_empty() || rng.chance(1, 8) {
            let dtype = *rng.pick(&LANES);
            return self.add(LaneOp::Const(value(rng, dtype)), true);
        }
        // Late nodes more often, so that chains become long.
        let count = self.nodes.len();
        let mut node = || {
            let back = if rng.chance(1, 2) { rng.below(count.min(4)) } else { rng.below(count) };
            self.nodes[count - 1 - back]
        };
        let (a, b, c) = (node(), node(), node());
        let fixed = |node: LaneNode| self.fixed[node.index()];
        let exact = !is_float(self.body.dtype(a));
        match rng.below(9) {
            0 | 1 => {
                let one = *rng.pick(&ONES);
                let kept = matches!(one, UnaryOp::Neg | UnaryOp::Abs) && fixed(a);
                self.add(LaneOp::Unary(one, a), exact || kept || one == UnaryOp::Canonical)
            }
            2..=4 => {
                let two = *rng.pick(&TWOS);
                self.add(LaneOp::Binary(two, a, b), exact || two.compares())
            }
            5 => self.add(LaneOp::MulAdd(a, b, c), false),
            6 => self.add(LaneOp::Select(a, b, c), fixed(b) && fixed(c)),
            7 => {
                let to = *rng.pick(&LANES);
                let kept = fixed(a) && to == self.body.dtype(a);
                self.add(LaneOp::Cast(a, to), !is_float(to) || exact || kept)
            }
            _ if rng.chance(1, 3) => self.add(LaneOp::Table(TABLE, a), true),
            _ if rng.chance(1, 2) => {
                let some: Vec<LaneNode> = self
                    .nodes
                    .iter()
                    .copied()
                    .filter(|node| self.body.dtype(*node) == self.body.dtype(a))
                    .collect();
                let terms: Vec<LaneNode> = (0..=rng.below(8)).map(|_| *rng.pick(&some)).collect();
                self.add(LaneOp::Sum(SumTerms::new(&terms).expect("up to eight")), false)
            }
            _ => fixed(a) && self.add(LaneOp::Bits(a, *rng.pick(&LANES)), true),
        }
    }

    fn add(&mut self, op: LaneOp, fixed: bool) -> bool {
        let Ok(node) = self.body.push(op) else { return false };
        self.nodes.push(node);
        self.fixed.push(fixed);
        true
    }

    /// Makes random nodes outputs.
    pub(crate) fn outputs(mut self, rng: &mut Rng, count: usize) -> Self {
        for _ in 0..count {
            let late = self.nodes.len() - 1 - rng.below(self.nodes.len().min(3));
            let node = if rng.chance(1, 4) { *rng.pick(&self.nodes) } else { self.nodes[late] };
            self.body.output(node);
        }
        self
    }

    /// A body of one operation on inputs of these types, if there is one.
    pub(crate) fn single(
        inputs: &[DType],
        op: impl Fn(&[LaneNode]) -> LaneOp,
        fixed: bool,
    ) -> Option<Self> {
        let mut body = LoopBody::new();
        let nodes: Vec<LaneNode> =
            inputs.iter().map(|dtype| body.input(*dtype).expect("a lane")).collect();
        let node = body.push(op(&nodes)).ok()?;
        body.output(node);
        let mut all = vec![true; inputs.len()];
        all.push(fixed);
        Some(Self { body, fixed: all, nodes })
    }

    /// Compares an output with what the body means.
    pub(crate) fn check(&self, inputs: &[Scalar], got: &[Scalar], about: &dyn std::fmt::Debug) {
        let expected = evaluate(&self.body, inputs).expect("inputs fit");
        for ((output, got), expected) in self.body.outputs().iter().zip(got).zip(&expected) {
            let open = !self.fixed[output.index()] && is_nan(got) && is_nan(expected);
            assert!(
                open || got == expected,
                "{got:?}, expected {expected:?} of {inputs:?} for output {output:?} of {:#?}; {about:?}",
                self.body
            );
        }
    }
}

fn is_nan(value: &Scalar) -> bool {
    value.get::<f64>().is_some_and(f64::is_nan) || value.get::<f32>().is_some_and(f32::is_nan)
}

/// A view of some memory: the place of position 0, strides, and elements that it needs.
#[derive(Clone, Debug)]
pub(crate) struct BodyView {
    pub(crate) offset: isize,
    pub(crate) strides: Vec<isize>,
    pub(crate) elements: usize,
}

/// A random view of a domain; elements are apart unless it may `repeat` some.
pub(crate) fn view(rng: &mut Rng, shape: &[usize], repeat: bool, every: usize) -> BodyView {
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    if rng.chance(1, 3) {
        rng.shuffle(&mut axes);
    }
    let (mut strides, mut offset) = (vec![0; shape.len()], 0);
    let mut room = every;
    for axis in axes.into_iter().rev() {
        if repeat && rng.chance(1, 6) {
            continue;
        }
        let stride = room + if rng.chance(1, 4) { every * rng.below(3) } else { 0 };
        room = stride * shape[axis].max(1);
        strides[axis] = stride.cast_signed();
        if rng.chance(1, 6) {
            strides[axis] = -strides[axis];
            offset += stride * shape[axis].saturating_sub(1);
        }
    }
    let before = if rng.chance(1, 2) { every * rng.below(3) } else { 0 };
    let elements = before + room + rng.below(2);
    BodyView { offset: (before + offset).cast_signed(), strides, elements }
}

impl BodyView {
    /// Where a position lies.
    pub(crate) fn place(&self, position: &[usize]) -> usize {
        let along = position.iter().zip(&self.strides);
        let moved: isize = along.map(|(at, stride)| at.cast_signed() * stride).sum();
        usize::try_from(self.offset + moved).expect("inside of the memory")
    }
}

/// All positions of a domain.
pub(crate) fn positions(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for extent in shape {
        let longer = all.iter().flat_map(|position: &Vec<usize>| {
            (0..*extent).map(move |at| [&position[..], &[at]].concat())
        });
        all = longer.collect();
    }
    all
}

/// A shape of up to four axes: often short ones, now and then a long row, empty, or no axis.
pub(crate) fn shape(rng: &mut Rng) -> Vec<usize> {
    match rng.below(10) {
        0 => vec![],
        1 => vec![rng.below(1400)],
        2 => vec![1 + rng.below(4), 250 + rng.below(300)],
        3 => vec![40 + rng.below(40), 1 + rng.below(5)],
        _ => (0..1 + rng.below(4))
            .map(|_| if rng.chance(1, 25) { 0 } else { 1 + rng.below(7) })
            .collect(),
    }
}

/// Memory of random values of a type; bytes of bools are sometimes more than 1.
pub(crate) fn memory(rng: &mut Rng, dtype: DType, elements: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(elements * dtype.bytes());
    let few: Vec<Scalar> = (0..1 + rng.below(64)).map(|_| value(rng, dtype)).collect();
    for _ in 0..elements {
        bytes.extend_from_slice(rng.pick(&few).as_bytes());
    }
    if dtype == DType::Bool && rng.chance(1, 4) {
        bytes.iter_mut().for_each(|byte| *byte *= 3);
    }
    bytes
}

/// The element at a place of memory.
pub(crate) fn element(dtype: DType, bytes: &[u8], place: usize) -> Scalar {
    let bytes = &bytes[place * dtype.bytes()..][..dtype.bytes()];
    if dtype == DType::Bool {
        return Scalar::of(bytes[0] != 0);
    }
    Scalar::from_bytes(dtype, bytes).expect("a value")
}
