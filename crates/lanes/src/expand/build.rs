//! Writing expansions: short names for the primitive operations, and sums of two floats.

use std::collections::BTreeMap;

use crate::{Body, DType, Element, Node, One, Op, Scalar, Table, Two};

/// A number as the unevaluated sum of two floats, the second below half a unit of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) hi: Node,
    pub(super) lo: Node,
}

/// 2^exponent, from -1022 to 1023: the same bits on every machine.
pub(super) const fn two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Adds nodes to a body; constants are shared within one expansion.
pub(super) struct Build<'b> {
    body: &'b mut Body,
    constants: BTreeMap<(DType, u64), Node>,
}

/// Declares methods that each add one node.
macro_rules! nodes {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $op:expr;)*) => {$(
        $(#[$doc])*
        pub(super) fn $name(&mut self, $($arg: Node),*) -> Node {
            self.push($op)
        }
    )*};
}

impl<'b> Build<'b> {
    pub(super) fn new(body: &'b mut Body) -> Self {
        Self { body, constants: BTreeMap::new() }
    }

    /// Adds a node.
    pub(super) fn push(&mut self, op: Op) -> Node {
        // The entrances of `expand` check the types of the lanes; what follows is fixed.
        self.body.push(op).expect("an expansion keeps the types of its lanes")
    }

    pub(super) fn dtype(&self, x: Node) -> DType {
        self.body.dtype(x)
    }

    fn constant<T: Element>(&mut self, value: T, bits: u64) -> Node {
        if let Some(known) = self.constants.get(&(T::DTYPE, bits)) {
            return *known;
        }
        let node = self.push(Op::Const(Scalar::of(value)));
        self.constants.insert((T::DTYPE, bits), node);
        node
    }

    /// A constant `F64`.
    pub(super) fn f(&mut self, value: f64) -> Node {
        self.constant(value, value.to_bits())
    }

    /// A constant `U64`.
    pub(super) fn u(&mut self, value: u64) -> Node {
        self.constant(value, value)
    }

    /// A constant `Bool`.
    pub(super) fn truth(&mut self, value: bool) -> Node {
        self.constant(value, u64::from(value))
    }

    /// A small whole number in a type.
    pub(super) fn small(&mut self, value: i8, dtype: DType) -> Node {
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

    nodes! {
        add(x, y) = Op::Two(Two::Add, x, y);
        sub(x, y) = Op::Two(Two::Sub, x, y);
        mul(x, y) = Op::Two(Two::Mul, x, y);
        div(x, y) = Op::Two(Two::Div, x, y);
        rem(x, y) = Op::Two(Two::Rem, x, y);
        min(x, y) = Op::Two(Two::Min, x, y);
        max(x, y) = Op::Two(Two::Max, x, y);
        and(x, y) = Op::Two(Two::And, x, y);
        or(x, y) = Op::Two(Two::Or, x, y);
        xor(x, y) = Op::Two(Two::Xor, x, y);
        shl(x, y) = Op::Two(Two::Shl, x, y);
        shr(x, y) = Op::Two(Two::Shr, x, y);
        mul_high(x, y) = Op::Two(Two::MulHigh, x, y);
        eq(x, y) = Op::Two(Two::Eq, x, y);
        ne(x, y) = Op::Two(Two::Ne, x, y);
        lt(x, y) = Op::Two(Two::Lt, x, y);
        le(x, y) = Op::Two(Two::Le, x, y);
        neg(x) = Op::One(One::Neg, x);
        abs(x) = Op::One(One::Abs, x);
        not(x) = Op::One(One::Not, x);
        sqrt(x) = Op::One(One::Sqrt, x);
        floor(x) = Op::One(One::Floor, x);
        /// x * y + z, rounded once.
        fma(x, y, z) = Op::MulAdd(x, y, z);
        select(which, yes, no) = Op::Select(which, yes, no);
        /// The bits of an `F64` as `U64`.
        bits(x) = Op::Bits(x, DType::U64);
        /// The `F64` with these bits.
        float(x) = Op::Bits(x, DType::F64);
    }

    pub(super) fn cast(&mut self, x: Node, to: DType) -> Node {
        if self.dtype(x) == to { x } else { self.push(Op::Cast(x, to)) }
    }

    /// The word of a table as `F64`.
    pub(super) fn lookup(&mut self, table: &'static Table, place: Node) -> Node {
        let word = self.push(Op::Table(*table, place));
        self.float(word)
    }

    /// The word of a table.
    pub(super) fn word(&mut self, table: &'static Table, place: Node) -> Node {
        self.push(Op::Table(*table, place))
    }

    /// A polynomial, its coefficients from the lowest on.
    pub(super) fn poly(&mut self, x: Node, coefficients: &[f64]) -> Node {
        let (last, others) = coefficients.split_last().expect("polynomials have coefficients");
        let mut sum = self.f(*last);
        for coefficient in others.iter().rev() {
            let coefficient = self.f(*coefficient);
            sum = self.fma(sum, x, coefficient);
        }
        sum
    }

    /// Addition of a constant.
    pub(super) fn add_f(&mut self, x: Node, value: f64) -> Node {
        let value = self.f(value);
        self.add(x, value)
    }

    /// Multiplication with a constant.
    pub(super) fn mul_f(&mut self, x: Node, value: f64) -> Node {
        let value = self.f(value);
        self.mul(x, value)
    }

    /// Below a constant.
    pub(super) fn lt_f(&mut self, x: Node, value: f64) -> Node {
        let value = self.f(value);
        self.lt(x, value)
    }

    /// Above a constant.
    pub(super) fn gt_f(&mut self, x: Node, value: f64) -> Node {
        let value = self.f(value);
        self.lt(value, x)
    }

    /// Equal to a constant.
    pub(super) fn eq_f(&mut self, x: Node, value: f64) -> Node {
        let value = self.f(value);
        self.eq(x, value)
    }

    /// A constant where a condition is true.
    pub(super) fn select_f(&mut self, which: Node, yes: f64, no: Node) -> Node {
        let yes = self.f(yes);
        self.select(which, yes, no)
    }

    /// One of two constants.
    pub(super) fn either_f(&mut self, which: Node, yes: f64, no: f64) -> Node {
        let no = self.f(no);
        self.select_f(which, yes, no)
    }

    /// Shifts up by a constant.
    pub(super) fn shl_u(&mut self, x: Node, amount: u64) -> Node {
        let amount = self.u(amount);
        self.shl(x, amount)
    }

    /// Shifts down by a constant.
    pub(super) fn shr_u(&mut self, x: Node, amount: u64) -> Node {
        let amount = self.u(amount);
        self.shr(x, amount)
    }

    /// Bits of both, one of them constant.
    pub(super) fn and_u(&mut self, x: Node, mask: u64) -> Node {
        let mask = self.u(mask);
        self.and(x, mask)
    }

    /// The sign bit of an `F64`, as `U64`.
    pub(super) fn sign_of(&mut self, x: Node) -> Node {
        let bits = self.bits(x);
        self.and_u(bits, 1 << 63)
    }

    /// x with its sign turned where a bit pattern has its sign bit set.
    pub(super) fn xor_sign(&mut self, x: Node, sign: Node) -> Node {
        let bits = self.bits(x);
        let bits = self.xor(bits, sign);
        self.float(bits)
    }

    /// The magnitude of an `F64` with the sign of another.
    pub(super) fn copysign(&mut self, x: Node, y: Node) -> Node {
        let (magnitude, sign) = (self.abs(x), self.sign_of(y));
        let magnitude = self.bits(magnitude);
        let bits = self.or(magnitude, sign);
        self.float(bits)
    }

    /// True for a NaN.
    pub(super) fn is_nan(&mut self, x: Node) -> Node {
        self.ne(x, x)
    }

    /// True for an infinity.
    pub(super) fn is_inf(&mut self, x: Node) -> Node {
        let magnitude = self.abs(x);
        self.eq_f(magnitude, f64::INFINITY)
    }

    /// True for a number that is not infinite.
    pub(super) fn is_finite(&mut self, x: Node) -> Node {
        let magnitude = self.abs(x);
        self.lt_f(magnitude, f64::INFINITY)
    }

    /// The exact sum of two floats.
    pub(super) fn two_sum(&mut self, x: Node, y: Node) -> Pair {
        let hi = self.add(x, y);
        let part = self.sub(hi, x);
        let rest = self.sub(hi, part);
        let (x, y) = (self.sub(x, rest), self.sub(y, part));
        Pair { hi, lo: self.add(x, y) }
    }

    /// The exact sum of two floats, the first not smaller than the second, or zero.
    pub(super) fn quick_sum(&mut self, x: Node, y: Node) -> Pair {
        let hi = self.add(x, y);
        let part = self.sub(hi, x);
        Pair { hi, lo: self.sub(y, part) }
    }

    /// The exact product of two floats.
    pub(super) fn two_product(&mut self, x: Node, y: Node) -> Pair {
        let hi = self.mul(x, y);
        let minus = self.neg(hi);
        Pair { hi, lo: self.fma(x, y, minus) }
    }

    /// A pair of constants.
    pub(super) fn pair(&mut self, (hi, lo): (f64, f64)) -> Pair {
        Pair { hi: self.f(hi), lo: self.f(lo) }
    }

    /// The product of two pairs.
    pub(super) fn mul_pair(&mut self, x: Pair, y: Pair) -> Pair {
        let product = self.two_product(x.hi, y.hi);
        let lo = self.fma(x.hi, y.lo, product.lo);
        let lo = self.fma(x.lo, y.hi, lo);
        self.quick_sum(product.hi, lo)
    }

    /// The sum of two pairs.
    pub(super) fn add_pair(&mut self, x: Pair, y: Pair) -> Pair {
        let sum = self.two_sum(x.hi, y.hi);
        let lo = self.add(x.lo, y.lo);
        let lo = self.add(lo, sum.lo);
        self.quick_sum(sum.hi, lo)
    }

    /// The sum of a pair and a float.
    pub(super) fn add_to_pair(&mut self, x: Pair, y: Node) -> Pair {
        let sum = self.two_sum(x.hi, y);
        let lo = self.add(x.lo, sum.lo);
        self.quick_sum(sum.hi, lo)
    }

    /// The quotient of two pairs.
    pub(super) fn div_pair(&mut self, x: Pair, y: Pair) -> Pair {
        let hi = self.div(x.hi, y.hi);
        let minus = self.neg(hi);
        let rest = self.fma(minus, y.hi, x.hi);
        let rest = self.add(rest, x.lo);
        let rest = self.fma(minus, y.lo, rest);
        let lo = self.div(rest, y.hi);
        self.quick_sum(hi, lo)
    }

    /// The square root of a pair.
    pub(super) fn sqrt_pair(&mut self, x: Pair) -> Pair {
        let hi = self.sqrt(x.hi);
        let minus = self.neg(hi);
        let rest = self.fma(minus, hi, x.hi);
        let rest = self.add(rest, x.lo);
        let twice = self.add(hi, hi);
        let lo = self.div(rest, twice);
        Pair { hi, lo }
    }

    /// Both parts negated.
    pub(super) fn neg_pair(&mut self, x: Pair) -> Pair {
        Pair { hi: self.neg(x.hi), lo: self.neg(x.lo) }
    }

    /// One of two pairs.
    pub(super) fn select_pair(&mut self, which: Node, yes: Pair, no: Pair) -> Pair {
        Pair { hi: self.select(which, yes.hi, no.hi), lo: self.select(which, yes.lo, no.lo) }
    }

    /// A pair as one float.
    pub(super) fn rounded(&mut self, x: Pair) -> Node {
        self.add(x.hi, x.lo)
    }
}
