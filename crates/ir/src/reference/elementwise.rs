//! Operations on every element: functions, choices, casts, stencils.

use pantile_lanes::{Binary, DType, Scalar, Unary};

use super::arrays::{indices, number, size, spread, together};
use super::machine::Machine;
use super::number::{cast, write};
use super::{Array, EvaluationError, OperandError};
use crate::infer;
use crate::{Arith, Boundary, Predicate};

impl Machine<'_> {
    /// An array in another type.
    pub(super) fn cast(&mut self, of: &Array, dtype: DType) -> Result<Array, EvaluationError> {
        self.spend(of.data.len())?;
        let data = of.data.iter().map(|value| cast(*value, dtype)).collect();
        Ok(Array { dtype, shape: of.shape.clone(), data })
    }

    pub(super) fn unary(
        &mut self,
        function: Unary,
        of: &Array,
        wanted: Option<DType>,
    ) -> Result<Array, EvaluationError> {
        let (compute, dtype) = infer::unary_types(function, of.dtype, wanted)?;
        let of = self.cast(of, compute)?;
        let one = |value: &Scalar| self.functions.unary(function, *value, dtype);
        let data = of.data.iter().map(one).collect::<Result<_, _>>()?;
        Ok(Array { dtype, shape: of.shape, data })
    }

    pub(super) fn binary(
        &mut self,
        function: Binary,
        one: &Array,
        other: &Array,
        wanted: Option<DType>,
    ) -> Result<Array, EvaluationError> {
        let pair = (one.dtype, other.dtype);
        let (compute, dtype) = infer::binary_types(function, pair, wanted)?;
        let shape = together(&[&one.shape, &other.shape])?;
        self.spend(size(&shape)?)?;
        let (one, other) = (self.cast(one, compute)?, self.cast(other, compute)?);
        let pairs = spread(&one, &shape)?.into_iter().zip(spread(&other, &shape)?);
        let found = pairs.map(|(x, y)| self.functions.binary(function, x, y, dtype));
        let data = found.collect::<Result<_, _>>()?;
        Ok(Array { dtype, shape, data })
    }

    /// The second where the first is true, else the third.
    pub(super) fn choose(
        &mut self,
        [which, yes, no]: [&Array; 3],
        wanted: Option<DType>,
    ) -> Result<Array, EvaluationError> {
        if which.dtype != DType::Bool {
            return Err(OperandError::Condition { got: which.dtype }.into());
        }
        let dtype = wanted.unwrap_or_else(|| pantile_lanes::promote(yes.dtype, no.dtype));
        let shape = together(&[&which.shape, &yes.shape, &no.shape])?;
        self.spend(size(&shape)?)?;
        let (yes, no) = (self.cast(yes, dtype)?, self.cast(no, dtype)?);
        let (yes, no) = (spread(&yes, &shape)?, spread(&no, &shape)?);
        let which = spread(which, &shape)?;
        let pick = |at: usize| if which[at].get() == Some(true) { yes[at] } else { no[at] };
        let data = (0..which.len()).map(pick).collect();
        Ok(Array { dtype, shape, data })
    }

    /// The larger of each element and the low, then the smaller of that and the high.
    pub(super) fn clip(
        &mut self,
        [of, low, high]: [&Array; 3],
        wanted: Option<DType>,
    ) -> Result<Array, EvaluationError> {
        let natural = pantile_lanes::promote(of.dtype, low.dtype);
        let dtype = wanted.unwrap_or_else(|| pantile_lanes::promote(natural, high.dtype));
        let [of, low, high] = [of, low, high].map(|array| self.cast(array, dtype));
        let above = self.binary(Binary::Maximum, &of?, &low?, None)?;
        self.binary(Binary::Minimum, &above, &high?, None)
    }

    pub(super) fn arith(&mut self, arith: Arith, of: &[Array]) -> Result<Array, EvaluationError> {
        let wrong = || OperandError::Arith { arith, got: of.len() };
        let dtype = Some(of.first().ok_or_else(wrong)?.dtype);
        if let Some(plain) = arith.of_unsigned() {
            let bits = |array: &Array| self.cast(array, infer::unsigned(array.dtype));
            let bits = of.iter().map(bits).collect::<Result<Vec<_>, _>>()?;
            let made = self.arith(plain, &bits)?;
            return self.cast(&made, of[0].dtype);
        }
        let function = match arith {
            Arith::NegF => return self.unary(Unary::Negative, &of[0], dtype),
            Arith::AddI | Arith::AddF => Binary::Add,
            Arith::SubI | Arith::SubF => Binary::Subtract,
            Arith::MulI | Arith::MulF => Binary::Multiply,
            Arith::DivSI | Arith::DivUI | Arith::DivF => Binary::Divide,
            Arith::FloorDivSI | Arith::CeilDivSI | Arith::RemSI => Binary::FloorDivide,
            Arith::CeilDivUI | Arith::RemUI => Binary::FloorDivide,
            Arith::MinSI | Arith::MinUI => Binary::Minimum,
            Arith::MaxSI | Arith::MaxUI => Binary::Maximum,
            Arith::ShLI => Binary::BitwiseLeftShift,
            Arith::ShRSI | Arith::ShRUI => Binary::BitwiseRightShift,
            Arith::AndI => Binary::BitwiseAnd,
            Arith::OrI => Binary::BitwiseOr,
            Arith::XOrI => Binary::BitwiseXor,
        };
        let other = of.get(1).ok_or_else(wrong)?;
        match arith {
            Arith::CeilDivSI => whole_quotient(&of[0], other, |x, y| {
                if y == 0 { 0 } else { -super::functions::floor_quotient(-x, y) }
            }),
            // What the quotient towards zero leaves; of a division by 0 everything.
            Arith::RemSI => whole_quotient(&of[0], other, |x, y| if y == 0 { x } else { x % y }),
            _ => self.binary(function, &of[0], other, dtype),
        }
    }

    pub(super) fn compare(
        &mut self,
        predicate: Predicate,
        one: &Array,
        other: &Array,
    ) -> Result<Array, EvaluationError> {
        if let Some(plain) = predicate.of_unsigned() {
            let one = self.cast(one, infer::unsigned(one.dtype))?;
            let other = self.cast(other, infer::unsigned(other.dtype))?;
            return self.compare(plain, &one, &other);
        }
        let function = match predicate {
            Predicate::Eq => Binary::Equal,
            Predicate::Ne => Binary::NotEqual,
            Predicate::Lt | Predicate::ULt => Binary::Less,
            Predicate::Le | Predicate::ULe => Binary::LessEqual,
            Predicate::Gt | Predicate::UGt => Binary::Greater,
            Predicate::Ge | Predicate::UGe => Binary::GreaterEqual,
        };
        self.binary(function, one, other, None)
    }

    /// Weights times shifted elements, summed in the order of the points.
    pub(super) fn stencil(
        &mut self,
        of: &Array,
        points: &[Vec<i64>],
        weights: &[u64],
        boundary: Boundary,
    ) -> Result<Array, EvaluationError> {
        let (dtype, shape) = (of.dtype, &of.shape);
        let float = matches!(dtype, DType::F32 | DType::F64);
        if !float || points.len() != weights.len() || points.iter().any(|p| p.len() != shape.len())
        {
            let (points, weights, ndim) = (points.len(), weights.len(), shape.len());
            return Err(OperandError::Stencil { points, weights, ndim, dtype }.into());
        }
        let nothing = write(super::number::Number::Real(0.0), dtype);
        let mut sum = vec![nothing; of.data.len()];
        for (count, (point, weight)) in points.iter().zip(weights).enumerate() {
            self.spend(of.data.len())?;
            let weight = cast(Scalar::of(f64::from_bits(*weight)), dtype);
            for (place, index) in indices(shape).iter().enumerate() {
                let at = shifted(shape, index, point, boundary);
                let value = at.map_or(nothing, |at| of.data[number(shape, &at)]);
                let term = self.functions.binary(Binary::Multiply, weight, value, dtype)?;
                sum[place] = match count {
                    0 => term,
                    _ => self.functions.binary(Binary::Add, sum[place], term, dtype)?,
                };
            }
        }
        Ok(Array { dtype, shape: shape.clone(), data: sum })
    }
}

/// An index moved by a point; `None` beyond the ends.
fn shifted(
    shape: &[usize],
    index: &[usize],
    point: &[i64],
    boundary: Boundary,
) -> Option<Vec<usize>> {
    let along = |axis: usize| {
        let length = i128::try_from(shape[axis]).ok()?;
        let at = i128::try_from(index[axis]).ok()? + i128::from(point[axis]);
        let at = match boundary {
            Boundary::Periodic => at.rem_euclid(length),
            Boundary::Zero => at,
        };
        usize::try_from(at).ok().filter(|at| *at < shape[axis])
    };
    (0..shape.len()).map(along).collect()
}

/// A function of two integers of the same type.
fn whole_quotient(
    one: &Array,
    other: &Array,
    function: impl Fn(i128, i128) -> i128,
) -> Result<Array, EvaluationError> {
    use super::number::{Number, read};
    match (&one.data[..], &other.data[..]) {
        ([x], [y]) => match (read(*x), read(*y)) {
            (Number::Whole(x), Number::Whole(y)) => {
                let data = vec![write(Number::Whole(function(x, y)), one.dtype)];
                Ok(Array { dtype: one.dtype, shape: Vec::new(), data })
            }
            _ => Err(OperandError::NotIntegers { got: [one.dtype, other.dtype] }.into()),
        },
        _ => Err(OperandError::NotScalars.into()),
    }
}
