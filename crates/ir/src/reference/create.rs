//! Arrays made from nothing.

use pantile_lanes::{Binary, DType, Scalar};

use super::arrays::{indices, size, spread};
use super::machine::Machine;
use super::number::{Number, cast, is_complex, write, zero};
use super::{Array, EvaluationError, OperandError};
use crate::Random;

impl Machine<'_> {
    /// An array with the same element everywhere; zeros if there is none.
    pub(super) fn filled(
        &mut self,
        shape: &[usize],
        value: Option<&Array>,
        dtype: DType,
    ) -> Result<Array, EvaluationError> {
        self.spend(size(shape)?)?;
        let data = match value {
            None => vec![zero(dtype); size(shape)?],
            Some(value) => spread(&self.cast(value, dtype)?, shape)?,
        };
        Ok(Array { dtype, shape: shape.to_vec(), data })
    }

    /// An array whose elements are a whole number of their index.
    fn counted(
        &mut self,
        shape: &[usize],
        dtype: DType,
        count: impl Fn(&[usize]) -> i128,
    ) -> Result<Array, EvaluationError> {
        self.spend(size(shape)?)?;
        let element =
            |index: &Vec<usize>| cast(write(Number::Whole(count(index)), DType::I64), dtype);
        let data = indices(shape).iter().map(element).collect();
        Ok(Array { dtype, shape: shape.to_vec(), data })
    }

    /// Evenly spaced numbers: the index times a step, computed in the largest type.
    pub(super) fn linspace(
        &mut self,
        (start, stop): (&Array, &Array),
        number: i64,
        endpoint: bool,
        dtype: DType,
    ) -> Result<Array, EvaluationError> {
        let length = usize::try_from(number).map_err(|_| OperandError::Count { got: number })?;
        let compute = if is_complex(dtype) { DType::C128 } else { DType::F64 };
        let (start, stop) = (self.cast(start, compute)?, self.cast(stop, compute)?);
        let parts = (number - i64::from(endpoint)).max(1);
        let parts = self.cast(&Array::of(&[], &[parts]), compute)?;
        let range = self.binary(Binary::Subtract, &stop, &start, None)?;
        let step = self.binary(Binary::Divide, &range, &parts, None)?;
        let count = self.counted(&[length], compute, |index| whole(index[0]))?;
        let way = self.binary(Binary::Multiply, &count, &step, None)?;
        let mut made = self.binary(Binary::Add, &start, &way, None)?;
        if endpoint && number > 1 {
            made.data[length - 1] = stop.data[0];
        }
        self.cast(&made, dtype)
    }

    /// `start + i * step`, all in the type of the result.
    pub(super) fn arange(
        &mut self,
        start: &Array,
        step: &Array,
        shape: &[usize],
        dtype: DType,
    ) -> Result<Array, EvaluationError> {
        if shape.len() != 1 {
            let got = shape.len();
            return Err(OperandError::Axes { op: "arange", got, expected: 1 }.into());
        }
        let (start, step) = (self.cast(start, dtype)?, self.cast(step, dtype)?);
        let count = self.counted(shape, dtype, |index| whole(index[0]))?;
        let way = self.binary(Binary::Multiply, &count, &step, Some(dtype))?;
        self.binary(Binary::Add, &start, &way, Some(dtype))
    }

    /// Ones where column = row + k.
    pub(super) fn eye(
        &mut self,
        shape: &[usize],
        k: i64,
        dtype: DType,
    ) -> Result<Array, EvaluationError> {
        if shape.len() != 2 {
            let got = shape.len();
            return Err(OperandError::Axes { op: "eye", got, expected: 2 }.into());
        }
        self.counted(shape, dtype, |index| {
            i128::from(whole(index[1]) == whole(index[0]) + i128::from(k))
        })
    }

    /// The index along an axis.
    pub(super) fn index_along(
        &mut self,
        shape: &[usize],
        axis: usize,
        dtype: DType,
    ) -> Result<Array, EvaluationError> {
        if axis >= shape.len() {
            return Err(OperandError::Axis { axis, ndim: shape.len() }.into());
        }
        self.counted(shape, dtype, |index| whole(index[axis]))
    }

    /// Random numbers by their row-major place.
    pub(super) fn random(
        &mut self,
        seed: &Array,
        shape: &[usize],
        (kind, stream): (Random, u64),
        dtype: DType,
    ) -> Result<Array, EvaluationError> {
        if !matches!(dtype, DType::F32 | DType::F64) {
            return Err(OperandError::RandomType { dtype }.into());
        }
        let seed = seed.data.first().and_then(|seed| cast(*seed, DType::U64).get::<u64>());
        let seed = seed.ok_or(OperandError::NoSeed)?;
        let count = size(shape)?;
        self.spend(count)?;
        let mut data: Vec<Scalar> = Vec::new();
        for index in 0..count as u64 {
            data.push(cast(self.functions.random(kind, stream, seed, index)?, dtype));
        }
        Ok(Array { dtype, shape: shape.to_vec(), data })
    }
}

fn whole(index: usize) -> i128 {
    index as i128
}
