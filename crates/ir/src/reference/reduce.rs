//! Reductions: the elements that go together, and what is left of them.

use pantile_lanes::{Binary, DType, Scalar, Unary};

use super::arrays::{indices, number, size};
use super::exact::{DOUBLE, SINGLE, Sum};
use super::functions::one;
use super::machine::Machine;
use super::number::{
    Number, cast, is_complex, is_inexact, is_true, joined, part, parts, read, write,
};
use super::{Array, EvaluationError, OperandError};
use crate::Reduction;
use crate::infer::reduced_dtype;

/// Factors that are multiplied one after the other.
const LEAF: usize = 256;

/// What is asked for.
pub(super) struct Request<'a> {
    pub(super) reduction: Reduction,
    pub(super) axes: Option<&'a [usize]>,
    pub(super) keepdims: bool,
    pub(super) correction: f64,
    pub(super) wanted: Option<DType>,
}

impl Machine<'_> {
    pub(super) fn reduce(
        &mut self,
        of: &Array,
        request: &Request<'_>,
    ) -> Result<Array, EvaluationError> {
        let Request { reduction, axes, keepdims, .. } = *request;
        let ndim = of.shape.len();
        let all: Vec<usize> = (0..ndim).collect();
        let axes = axes.unwrap_or(&all);
        let twice = |axis: &usize| axes.iter().filter(|other| *other == axis).count() > 1;
        if axes.iter().any(|axis| *axis >= ndim || twice(axis)) {
            return Err(OperandError::ReducedAxes { axes: axes.to_vec(), ndim }.into());
        }
        let natural = reduced_dtype(reduction, of.dtype)?;
        let dtype = match reduction {
            Reduction::Sum | Reduction::Prod => request.wanted.unwrap_or(natural),
            _ => natural,
        };
        let kept: Vec<usize> = all.iter().copied().filter(|axis| !axes.contains(axis)).collect();
        let pick = |index: &[usize]| -> Vec<usize> { kept.iter().map(|at| index[*at]).collect() };
        let left = pick(&of.shape);
        self.spend(of.data.len())?;
        self.spend(size(&left)?)?;
        let mut groups: Vec<Vec<Scalar>> = vec![Vec::new(); size(&left)?];
        for (index, value) in indices(&of.shape).iter().zip(&of.data) {
            groups[number(&left, &pick(index))].push(*value);
        }
        let done = groups.iter().map(|group| self.reduced(request, group, of.dtype, dtype));
        let data = done.collect::<Result<_, _>>()?;
        let unit = |axis: usize| match axes.contains(&axis) {
            true => keepdims.then_some(1),
            false => Some(of.shape[axis]),
        };
        Ok(Array { dtype, shape: (0..ndim).filter_map(unit).collect(), data })
    }

    /// What is left of the elements of one group, in row-major order.
    fn reduced(
        &mut self,
        request: &Request<'_>,
        group: &[Scalar],
        of: DType,
        dtype: DType,
    ) -> Result<Scalar, EvaluationError> {
        use Reduction as R;
        let truths = group.iter().map(|value| is_true(read(*value)));
        match request.reduction {
            R::Any => Ok(Scalar::of(truths.into_iter().any(|truth| truth))),
            R::All => Ok(Scalar::of(truths.into_iter().all(|truth| truth))),
            R::CountNonZero => {
                let count = truths.filter(|truth| *truth).count();
                Ok(Scalar::of(i64::try_from(count)?))
            }
            R::Sum => Ok(total(group, dtype, 1)),
            R::Mean => Ok(total(group, dtype, group.len() as u64)),
            R::Prod => self.product(group, dtype),
            R::Max => self.extreme(group, Binary::Maximum),
            R::Min => self.extreme(group, Binary::Minimum),
            R::ArgMax => self.first(group, Binary::Maximum),
            R::ArgMin => self.first(group, Binary::Minimum),
            R::Var => self.variance(group, of, dtype, request.correction),
            R::Std => {
                let variance = self.variance(group, of, dtype, request.correction)?;
                self.functions.unary(Unary::Sqrt, variance, dtype)
            }
            R::Norm1 => Ok(total(&self.magnitudes(group, dtype)?, dtype, 1)),
            R::NormInf if group.is_empty() => Ok(total(&[], dtype, 1)),
            R::NormInf => {
                let magnitudes = self.magnitudes(group, dtype)?;
                self.extreme(&magnitudes, Binary::Maximum)
            }
            R::Norm2 => self.length(group, dtype),
        }
    }

    fn extreme(&mut self, group: &[Scalar], function: Binary) -> Result<Scalar, EvaluationError> {
        let Some(first) = group.first() else {
            return Err(OperandError::Empty { function }.into());
        };
        // With itself first: a NaN is then the one that arithmetic gives.
        let dtype = first.dtype();
        group.iter().try_fold(*first, |best, x| self.functions.binary(function, best, *x, dtype))
    }

    /// The place of the first NaN, else of the first one that is equal to the extreme.
    fn first(&mut self, group: &[Scalar], function: Binary) -> Result<Scalar, EvaluationError> {
        let best = read(self.extreme(group, function)?);
        let nan = |value: &Scalar| matches!(read(*value), Number::Real(x) if x.is_nan());
        let place = group.iter().position(nan);
        let place = place.or_else(|| group.iter().position(|value| read(*value) == best));
        let place = place.ok_or(OperandError::NoExtreme)?;
        Ok(Scalar::of(i64::try_from(place)?))
    }

    fn product(&mut self, group: &[Scalar], dtype: DType) -> Result<Scalar, EvaluationError> {
        let factors: Vec<Scalar> = group.iter().map(|value| cast(*value, dtype)).collect();
        let mut times = |all: &[Scalar]| -> Result<Scalar, EvaluationError> {
            let Some((first, rest)) = all.split_first() else { return Ok(one(dtype)) };
            let mut product = *first;
            for factor in rest {
                product = self.functions.binary(Binary::Multiply, product, *factor, dtype)?;
            }
            Ok(product)
        };
        let mut level: Vec<Scalar> =
            factors.chunks(LEAF).map(&mut times).collect::<Result<_, _>>()?;
        while level.len() > 1 {
            level = level.chunks(2).map(&mut times).collect::<Result<_, _>>()?;
        }
        // A single factor that is NaN is the NaN that arithmetic gives, too.
        Ok(write(read(level.first().copied().unwrap_or_else(|| one(dtype))), dtype))
    }

    /// The mean of the squared distances from the mean.
    fn variance(
        &mut self,
        group: &[Scalar],
        of: DType,
        dtype: DType,
        correction: f64,
    ) -> Result<Scalar, EvaluationError> {
        let float = reduced_dtype(Reduction::Mean, of)?;
        let group: Vec<Scalar> = group.iter().map(|value| cast(*value, float)).collect();
        let mean = total(&group, float, group.len() as u64);
        let mut squares = Vec::new();
        for value in &group {
            let away = self.functions.binary(Binary::Subtract, *value, mean, float)?;
            let (re, im) = parts(away);
            let square = self.functions.binary(Binary::Multiply, re, re, dtype)?;
            squares.push(match is_complex(float) {
                false => square,
                true => {
                    let other = self.functions.binary(Binary::Multiply, im, im, dtype)?;
                    self.functions.binary(Binary::Add, square, other, dtype)?
                }
            });
        }
        #[allow(clippy::cast_precision_loss, reason = "groups are small")]
        let rest = group.len() as f64 - correction;
        if rest >= 1.0 && rest.fract() == 0.0 {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number from 1 on"
            )]
            return Ok(total(&squares, dtype, rest as u64));
        }
        let rest = cast(Scalar::of(rest.max(0.0)), dtype);
        self.functions.binary(Binary::Divide, total(&squares, dtype, 1), rest, dtype)
    }

    fn magnitudes(
        &mut self,
        group: &[Scalar],
        dtype: DType,
    ) -> Result<Vec<Scalar>, EvaluationError> {
        let mut magnitude = |value: &Scalar| {
            let value = if is_complex(value.dtype()) { *value } else { cast(*value, dtype) };
            self.functions.unary(Unary::Abs, value, dtype)
        };
        group.iter().map(&mut magnitude).collect()
    }

    /// The square root of the sum of squares; scaled by a power of two where squares would leave
    /// the range of floats.
    fn length(&mut self, group: &[Scalar], dtype: DType) -> Result<Scalar, EvaluationError> {
        let magnitudes = self.magnitudes(group, dtype)?;
        if magnitudes.is_empty() {
            return Ok(total(&[], dtype, 1));
        }
        let Number::Real(largest) = read(self.extreme(&magnitudes, Binary::Maximum)?) else {
            return Err(OperandError::Magnitude.into());
        };
        let (edge, far) = if dtype == DType::F32 { (50, 100) } else { (480, 600) };
        let exponent = match largest {
            large if large > 2f64.powi(edge) => -far,
            small if small < 2f64.powi(-edge) => far,
            _ => 0,
        };
        let power = |exponent: i32| cast(Scalar::of(2f64.powi(exponent)), dtype);
        let mut squares = Vec::new();
        for value in magnitudes {
            let scaled = self.functions.binary(Binary::Multiply, value, power(exponent), dtype)?;
            squares.push(self.functions.binary(Binary::Multiply, scaled, scaled, dtype)?);
        }
        let root = self.functions.unary(Unary::Sqrt, total(&squares, dtype, 1), dtype)?;
        self.functions.binary(Binary::Multiply, root, power(-exponent), dtype)
    }
}

/// The sum in a type divided by a count; floats are rounded once, integers wrap.
fn total(group: &[Scalar], dtype: DType, count: u64) -> Scalar {
    let group: Vec<Scalar> = group.iter().map(|value| cast(*value, dtype)).collect();
    if !is_inexact(dtype) {
        let sum = group.iter().fold(0i128, |sum, value| match read(*value) {
            Number::Whole(value) => sum.wrapping_add(value),
            _ => sum,
        });
        return write(Number::Whole(sum), dtype);
    }
    let format = if part(dtype) == DType::F32 { SINGLE } else { DOUBLE };
    let (mut re, mut im) = (Sum::new(), Sum::new());
    for value in &group {
        match read(*value) {
            Number::Complex(x, y) => {
                re.add(x);
                im.add(y);
            }
            Number::Real(x) => re.add(x),
            Number::Whole(_) => {}
        }
    }
    let real = write(Number::Real(re.rounded(count, format)), part(dtype));
    if !is_complex(dtype) {
        return real;
    }
    joined(real, write(Number::Real(im.rounded(count, format)), part(dtype)))
}
