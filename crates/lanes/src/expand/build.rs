//! Writing formulas: short names for the primitive operations, and sums of two floats.
//!
//! A formula is written once, for whatever its nodes are: those of a body that it is written to
//! ([`NodeWriter`]), or numbers that are computed at once ([`PlainEvaluator`](super::plain)).

use std::collections::BTreeMap;

use crate::{BinaryOp, DType, Element, LaneNode, LaneOp, LookupTable, LoopBody, Scalar, UnaryOp};

/// A number as the unevaluated sum of two floats, the second below half a unit of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatPair<N = LaneNode> {
    pub(super) hi: N,
    pub(super) lo: N,
}

/// 2^exponent, from -1022 to 1023: the same bits on every machine.
pub(super) const fn two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Declares methods that each are one operation.
macro_rules! nodes {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $method:ident($($given:expr),*);)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        fn $name(&mut self, $($arg: Self::Node),*) -> Self::Node {
            self.$method($($given),*)
        }
    )*};
}

/// What formulas are made of. Everything else is written in terms of the first operations.
pub(super) trait FormulaBuilder {
    /// A lane.
    type Node: Copy;

    /// The type of a lane.
    fn dtype(&self, x: Self::Node) -> DType;

    /// A constant `F64`.
    fn f(&mut self, value: f64) -> Self::Node;

    /// A constant `U64`.
    fn u(&mut self, value: u64) -> Self::Node;

    /// An operation on one lane.
    fn one(&mut self, op: UnaryOp, x: Self::Node) -> Self::Node;

    /// An operation on two lanes of a type.
    fn two(&mut self, op: BinaryOp, x: Self::Node, y: Self::Node) -> Self::Node;

    /// x * y + z, rounded once.
    fn fma(&mut self, x: Self::Node, y: Self::Node, z: Self::Node) -> Self::Node;

    /// The second where the first is true, else the third.
    fn select(&mut self, which: Self::Node, yes: Self::Node, no: Self::Node) -> Self::Node;

    /// The value in another type.
    fn cast(&mut self, x: Self::Node, to: DType) -> Self::Node;

    /// The bits as another type of the same width.
    fn reinterpret(&mut self, x: Self::Node, to: DType) -> Self::Node;

    /// The entry of a lookup table.
    fn word(&mut self, table: LookupTable, place: Self::Node) -> Self::Node;

    nodes! {
        add(x, y) = two(BinaryOp::Add, x, y);
        sub(x, y) = two(BinaryOp::Sub, x, y);
        mul(x, y) = two(BinaryOp::Mul, x, y);
        div(x, y) = two(BinaryOp::Div, x, y);
        rem(x, y) = two(BinaryOp::Rem, x, y);
        min(x, y) = two(BinaryOp::Min, x, y);
        max(x, y) = two(BinaryOp::Max, x, y);
        and(x, y) = two(BinaryOp::And, x, y);
        or(x, y) = two(BinaryOp::Or, x, y);
        xor(x, y) = two(BinaryOp::Xor, x, y);
        shl(x, y) = two(BinaryOp::Shl, x, y);
        shr(x, y) = two(BinaryOp::Shr, x, y);
        mul_high(x, y) = two(BinaryOp::MulHigh, x, y);
        eq(x, y) = two(BinaryOp::Eq, x, y);
        ne(x, y) = two(BinaryOp::Ne, x, y);
        lt(x, y) = two(BinaryOp::Lt, x, y);
        le(x, y) = two(BinaryOp::Le, x, y);
        neg(x) = one(UnaryOp::Neg, x);
        abs(x) = one(UnaryOp::Abs, x);
        not(x) = one(UnaryOp::Not, x);
        sqrt(x) = one(UnaryOp::Sqrt, x);
        floor(x) = one(UnaryOp::Floor, x);
        round_even(x) = one(UnaryOp::RoundEven, x);
        /// The bits of an `F64` as `U64`.
        bits(x) = reinterpret(x, DType::U64);
        /// The `F64` with these bits.
        float(x) = reinterpret(x, DType::F64);
    }

    /// The entry of a lookup table as `F64`.
    #[inline(always)]
    fn lookup(&mut self, table: LookupTable, place: Self::Node) -> Self::Node {
        let word = self.word(table, place);
        self.float(word)
    }

    /// The smaller of a number and a bound that is not zero.
    #[inline(always)]
    fn at_most(&mut self, x: Self::Node, bound: f64) -> Self::Node {
        let bound = self.f(bound);
        self.min(x, bound)
    }

    /// The larger of a number and a bound that is not zero.
    #[inline(always)]
    fn at_least(&mut self, x: Self::Node, bound: f64) -> Self::Node {
        let bound = self.f(bound);
        self.max(x, bound)
    }

    /// A polynomial, its coefficients from the lowest on.
    #[inline(always)]
    fn poly(&mut self, x: Self::Node, coefficients: &[f64]) -> Self::Node {
        let (last, others) = coefficients.split_last().expect("polynomials have coefficients");
        let mut sum = self.f(*last);
        for coefficient in others.iter().rev() {
            let coefficient = self.f(*coefficient);
            sum = self.fma(sum, x, coefficient);
        }
        sum
    }

    /// Addition of a constant.
    #[inline(always)]
    fn add_f(&mut self, x: Self::Node, value: f64) -> Self::Node {
        let value = self.f(value);
        self.add(x, value)
    }

    /// Multiplication with a constant.
    #[inline(always)]
    fn mul_f(&mut self, x: Self::Node, value: f64) -> Self::Node {
        let value = self.f(value);
        self.mul(x, value)
    }

    /// Below a constant.
    #[inline(always)]
    fn lt_f(&mut self, x: Self::Node, value: f64) -> Self::Node {
        let value = self.f(value);
        self.lt(x, value)
    }

    /// Neither infinity nor a NaN: not above the largest number. Compilers turn a comparison with
    /// infinity into another one, for which valgrind has wrong results.
    #[inline(always)]
    fn is_below_infinity(&mut self, x: Self::Node) -> Self::Node {
        let most = self.f(f64::MAX);
        self.le(x, most)
    }

    /// Above a constant.
    #[inline(always)]
    fn gt_f(&mut self, x: Self::Node, value: f64) -> Self::Node {
        let value = self.f(value);
        self.lt(value, x)
    }

    /// Equal to a constant.
    #[inline(always)]
    fn eq_f(&mut self, x: Self::Node, value: f64) -> Self::Node {
        let value = self.f(value);
        self.eq(x, value)
    }

    /// A constant where a condition is true.
    #[inline(always)]
    fn select_f(&mut self, which: Self::Node, yes: f64, no: Self::Node) -> Self::Node {
        let yes = self.f(yes);
        self.select(which, yes, no)
    }

    /// One of two constants.
    #[inline(always)]
    fn either_f(&mut self, which: Self::Node, yes: f64, no: f64) -> Self::Node {
        let no = self.f(no);
        self.select_f(which, yes, no)
    }

    /// Shifts up by a constant.
    #[inline(always)]
    fn shl_u(&mut self, x: Self::Node, amount: u64) -> Self::Node {
        let amount = self.u(amount);
        self.shl(x, amount)
    }

    /// Shifts down by a constant.
    #[inline(always)]
    fn shr_u(&mut self, x: Self::Node, amount: u64) -> Self::Node {
        let amount = self.u(amount);
        self.shr(x, amount)
    }

    /// Bits of both, one of them constant.
    #[inline(always)]
    fn and_u(&mut self, x: Self::Node, mask: u64) -> Self::Node {
        let mask = self.u(mask);
        self.and(x, mask)
    }

    /// The sign bit of an `F64`, as `U64`.
    #[inline(always)]
    fn sign_of(&mut self, x: Self::Node) -> Self::Node {
        let bits = self.bits(x);
        self.and_u(bits, 1 << 63)
    }

    /// x with its sign flipped where a bit pattern has its sign bit set.
    #[inline(always)]
    fn xor_sign(&mut self, x: Self::Node, sign: Self::Node) -> Self::Node {
        let bits = self.bits(x);
        let bits = self.xor(bits, sign);
        self.float(bits)
    }

    /// The magnitude of an `F64` with the sign of another.
    #[inline(always)]
    fn copysign(&mut self, x: Self::Node, y: Self::Node) -> Self::Node {
        let (magnitude, sign) = (self.abs(x), self.sign_of(y));
        let magnitude = self.bits(magnitude);
        let bits = self.or(magnitude, sign);
        self.float(bits)
    }

    /// True for a NaN.
    #[inline(always)]
    fn is_nan(&mut self, x: Self::Node) -> Self::Node {
        self.ne(x, x)
    }

    /// True for an infinity.
    #[inline(always)]
    fn is_inf(&mut self, x: Self::Node) -> Self::Node {
        let magnitude = self.abs(x);
        self.eq_f(magnitude, f64::INFINITY)
    }

    /// True for a number that is not infinite.
    #[inline(always)]
    fn is_finite(&mut self, x: Self::Node) -> Self::Node {
        let magnitude = self.abs(x);
        self.is_below_infinity(magnitude)
    }

    /// The exact sum of two floats.
    #[inline(always)]
    fn two_sum(&mut self, x: Self::Node, y: Self::Node) -> FloatPair<Self::Node> {
        let hi = self.add(x, y);
        let part = self.sub(hi, x);
        let rest = self.sub(hi, part);
        let (x, y) = (self.sub(x, rest), self.sub(y, part));
        FloatPair { hi, lo: self.add(x, y) }
    }

    /// The exact sum of two floats, the first not smaller than the second, or zero.
    #[inline(always)]
    fn quick_sum(&mut self, x: Self::Node, y: Self::Node) -> FloatPair<Self::Node> {
        let hi = self.add(x, y);
        let part = self.sub(hi, x);
        FloatPair { hi, lo: self.sub(y, part) }
    }

    /// The exact product of two floats.
    #[inline(always)]
    fn two_product(&mut self, x: Self::Node, y: Self::Node) -> FloatPair<Self::Node> {
        let hi = self.mul(x, y);
        let minus = self.neg(hi);
        FloatPair { hi, lo: self.fma(x, y, minus) }
    }

    /// A pair of constants.
    #[inline(always)]
    fn pair(&mut self, (hi, lo): (f64, f64)) -> FloatPair<Self::Node> {
        FloatPair { hi: self.f(hi), lo: self.f(lo) }
    }

    /// The product of two pairs.
    #[inline(always)]
    fn mul_pair(
        &mut self,
        x: FloatPair<Self::Node>,
        y: FloatPair<Self::Node>,
    ) -> FloatPair<Self::Node> {
        let product = self.two_product(x.hi, y.hi);
        let lo = self.fma(x.hi, y.lo, product.lo);
        let lo = self.fma(x.lo, y.hi, lo);
        self.quick_sum(product.hi, lo)
    }

    /// The sum of two pairs.
    #[inline(always)]
    fn add_pair(
        &mut self,
        x: FloatPair<Self::Node>,
        y: FloatPair<Self::Node>,
    ) -> FloatPair<Self::Node> {
        let sum = self.two_sum(x.hi, y.hi);
        let lo = self.add(x.lo, y.lo);
        let lo = self.add(lo, sum.lo);
        self.quick_sum(sum.hi, lo)
    }

    /// The sum of a pair and a float.
    #[inline(always)]
    fn add_to_pair(&mut self, x: FloatPair<Self::Node>, y: Self::Node) -> FloatPair<Self::Node> {
        let sum = self.two_sum(x.hi, y);
        let lo = self.add(x.lo, sum.lo);
        self.quick_sum(sum.hi, lo)
    }

    /// The quotient of two pairs.
    #[inline(always)]
    fn div_pair(
        &mut self,
        x: FloatPair<Self::Node>,
        y: FloatPair<Self::Node>,
    ) -> FloatPair<Self::Node> {
        let hi = self.div(x.hi, y.hi);
        let minus = self.neg(hi);
        let rest = self.fma(minus, y.hi, x.hi);
        let rest = self.add(rest, x.lo);
        let rest = self.fma(minus, y.lo, rest);
        let lo = self.div(rest, y.hi);
        self.quick_sum(hi, lo)
    }

    /// The square root of a pair.
    #[inline(always)]
    fn sqrt_pair(&mut self, x: FloatPair<Self::Node>) -> FloatPair<Self::Node> {
        let hi = self.sqrt(x.hi);
        let minus = self.neg(hi);
        let rest = self.fma(minus, hi, x.hi);
        let rest = self.add(rest, x.lo);
        let twice = self.add(hi, hi);
        let lo = self.div(rest, twice);
        FloatPair { hi, lo }
    }

    /// Both parts negated.
    #[inline(always)]
    fn neg_pair(&mut self, x: FloatPair<Self::Node>) -> FloatPair<Self::Node> {
        FloatPair { hi: self.neg(x.hi), lo: self.neg(x.lo) }
    }

    /// One of two pairs.
    #[inline(always)]
    fn select_pair(
        &mut self,
        which: Self::Node,
        yes: FloatPair<Self::Node>,
        no: FloatPair<Self::Node>,
    ) -> FloatPair<Self::Node> {
        FloatPair { hi: self.select(which, yes.hi, no.hi), lo: self.select(which, yes.lo, no.lo) }
    }

    /// A pair as one float.
    #[inline(always)]
    fn rounded(&mut self, x: FloatPair<Self::Node>) -> Self::Node {
        self.add(x.hi, x.lo)
    }
}

/// Adds nodes to a body; constants are shared within one expansion.
pub(super) struct NodeWriter<'b> {
    body: &'b mut LoopBody,
    constants: BTreeMap<(DType, u64), LaneNode>,
}

impl<'b> NodeWriter<'b> {
    pub(super) fn new(body: &'b mut LoopBody) -> Self {
        Self { body, constants: BTreeMap::new() }
    }

    /// Adds a node.
    pub(super) fn push(&mut self, op: LaneOp) -> LaneNode {
        // The entrances of `expand` check the types of the lanes; what follows is fixed.
        self.body.push(op).expect("an expansion keeps the types of its lanes")
    }

    fn constant<T: Element>(&mut self, value: T, bits: u64) -> LaneNode {
        if let Some(known) = self.constants.get(&(T::DTYPE, bits)) {
            return *known;
        }
        let node = self.push(LaneOp::Const(Scalar::of(value)));
        self.constants.insert((T::DTYPE, bits), node);
        node
    }

    /// A constant `Bool`.
    pub(super) fn boolean(&mut self, value: bool) -> LaneNode {
        self.constant(value, u64::from(value))
    }

    /// A small whole number in a type.
    pub(super) fn small(&mut self, value: i8, dtype: DType) -> LaneNode {
        match dtype {
            DType::F64 => self.f(f64::from(value)),
            DType::F32 => self.constant(f32::from(value), u64::from(f32::from(value).to_bits())),
            DType::I8 => self.constant(value, u64::from(value.cast_unsigned())),
            dtype => {
                let value = self.small(value, DType::I8);
                self.cast(value, dtype)
            }
        }
    }
}

impl FormulaBuilder for NodeWriter<'_> {
    type Node = LaneNode;

    fn dtype(&self, x: LaneNode) -> DType {
        self.body.dtype(x)
    }

    fn f(&mut self, value: f64) -> LaneNode {
        self.constant(value, value.to_bits())
    }

    fn u(&mut self, value: u64) -> LaneNode {
        self.constant(value, value)
    }

    fn one(&mut self, op: UnaryOp, x: LaneNode) -> LaneNode {
        self.push(LaneOp::Unary(op, x))
    }

    fn two(&mut self, op: BinaryOp, x: LaneNode, y: LaneNode) -> LaneNode {
        self.push(LaneOp::Binary(op, x, y))
    }

    fn fma(&mut self, x: LaneNode, y: LaneNode, z: LaneNode) -> LaneNode {
        self.push(LaneOp::MulAdd(x, y, z))
    }

    fn select(&mut self, which: LaneNode, yes: LaneNode, no: LaneNode) -> LaneNode {
        self.push(LaneOp::Select(which, yes, no))
    }

    fn cast(&mut self, x: LaneNode, to: DType) -> LaneNode {
        if self.dtype(x) == to { x } else { self.push(LaneOp::Cast(x, to)) }
    }

    fn reinterpret(&mut self, x: LaneNode, to: DType) -> LaneNode {
        self.push(LaneOp::Bits(x, to))
    }

    fn word(&mut self, table: LookupTable, place: LaneNode) -> LaneNode {
        self.push(LaneOp::Table(table, place))
    }
}
