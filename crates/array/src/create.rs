//! New arrays.

use std::sync::Arc;

use pantile_engine::DType;
use pantile_ir::{Op, Place, Random, Scalar, Type};
use smallvec::smallvec;

use super::error::ArrayError;
use super::fault::Fault;
use super::fault_kind::FaultKind;
use super::node::{Node, Operands, lock};
use super::{Array, Number, Session, here};

impl Session {
    fn constant(value: Scalar, place: &Place) -> Arc<Node> {
        let ty = Type::scalar(value.dtype());
        Node::new(Op::Constant(value), Operands::new(), ty, place.clone())
    }

    fn make(
        &self,
        op: Op,
        operands: Operands,
        (shape, dtype): (&[usize], DType),
        place: Place,
    ) -> Array {
        let named = self.named_ranks();
        let ranks = *named.as_ref().unwrap_or(&0);
        let ty = named.and_then(|ranks| self.made_type(shape, dtype, ranks));
        let array = Array::record(self, op, operands, ty, place);
        lock(&array.base).need_ranks(ranks);
        array
    }

    /// The same number everywhere, with elements of a type.
    #[track_caller]
    #[must_use]
    pub fn full_of(&self, shape: &[usize], value: impl Into<Number>, dtype: DType) -> Array {
        let place = here();
        let value = Self::constant(value.into().scalar(), &place);
        self.make(Op::Create { value: true }, smallvec![value], (shape, dtype), place)
    }

    /// The same number everywhere: whole numbers as `i64`, others as `f64` or `c128`.
    #[track_caller]
    #[must_use]
    pub fn full(&self, shape: &[usize], value: impl Into<Number>) -> Array {
        let value = value.into();
        self.full_of(shape, value, value.scalar().dtype())
    }

    /// Zeros of type `f64`.
    #[track_caller]
    #[must_use]
    pub fn zeros(&self, shape: &[usize]) -> Array {
        self.full(shape, 0.0)
    }

    /// Ones of type `f64`.
    #[track_caller]
    #[must_use]
    pub fn ones(&self, shape: &[usize]) -> Array {
        self.full(shape, 1.0)
    }

    /// Uninitialised elements of type `f64`, for callers that set all of them anyway.
    #[track_caller]
    #[must_use]
    pub fn empty(&self, shape: &[usize]) -> Array {
        self.empty_of(shape, DType::F64)
    }

    /// Any elements of a type; see [`Session::empty`].
    #[track_caller]
    #[must_use]
    pub fn empty_of(&self, shape: &[usize], dtype: DType) -> Array {
        let ty = (shape, dtype);
        self.make(Op::Create { value: false }, Operands::new(), ty, here())
    }

    /// `start`, `start + step`, ... up to and without `stop`: `i64` if all three are whole numbers,
    /// else `f64`.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// assert_eq!(world.arange(7, 0, -3).to_vec::<i64>()?, [7, 4, 1]);
    /// assert_eq!(world.arange(0, 1, 0.25).to_vec::<f64>()?, [0.0, 0.25, 0.5, 0.75]);
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn arange(
        &self,
        start: impl Into<Number>,
        stop: impl Into<Number>,
        step: impl Into<Number>,
    ) -> Array {
        let place = here();
        let (start, stop, step) = (start.into(), stop.into(), step.into());
        match count(start, stop, step) {
            Ok((count, dtype)) => {
                let operands = [start, step].map(|value| Self::constant(value.scalar(), &place));
                self.make(Op::Arange, operands.into(), (&[count], dtype), place)
            }
            Err(error) => {
                let ty = Type::array(&[0], DType::F64);
                Array::of(self, Node::faulty(Fault::new(error, place), ty))
            }
        }
    }

    /// `count` numbers from `start` to `stop`, both included.
    #[track_caller]
    #[must_use]
    pub fn linspace(&self, start: f64, stop: f64, count: usize) -> Array {
        self.spaced((start, stop), count, true, here())
    }

    /// `count` numbers from `start` on, evenly up to `stop`, which is left out.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// assert_eq!(world.linspace_open(0.0, 1.0, 4).to_vec::<f64>()?, [0.0, 0.25, 0.5, 0.75]);
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn linspace_open(&self, start: f64, stop: f64, count: usize) -> Array {
        self.spaced((start, stop), count, false, here())
    }

    fn spaced(&self, ends: (f64, f64), count: usize, endpoint: bool, place: Place) -> Array {
        let number = Scalar::of(i64::try_from(count).unwrap_or(i64::MAX));
        let ends = [Scalar::of(ends.0), Scalar::of(ends.1)];
        let mut operands = Operands::from(ends.map(|value| Self::constant(value, &place)));
        operands.push(Node::new(Op::Constant(number), Operands::new(), Type::Index, place.clone()));
        let ty = (&[count][..], DType::F64);
        self.make(Op::Linspace { endpoint }, operands, ty, place)
    }

    /// Ones on the diagonal, zeros elsewhere.
    #[track_caller]
    #[must_use]
    pub fn eye(&self, rows: usize, columns: usize) -> Array {
        self.eye_at(rows, columns, 0)
    }

    /// Ones where the column is the row plus `k`, zeros elsewhere.
    ///
    /// ```
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// assert_eq!(world.eye_at(2, 3, 1).to_string(), "[[0.0, 1.0, 0.0],\n [0.0, 0.0, 1.0]]");
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn eye_at(&self, rows: usize, columns: usize, k: i64) -> Array {
        let ty = (&[rows, columns][..], DType::F64);
        self.make(Op::Eye { k }, Operands::new(), ty, here())
    }

    /// The global index along an axis, as `i64`.
    #[track_caller]
    #[must_use]
    pub fn index(&self, shape: &[usize], axis: usize) -> Array {
        let place = here();
        if axis >= shape.len() {
            let kind = FaultKind::IndexAxis { axis, shape: shape.to_vec() };
            let fault = Fault::new(kind, place);
            return Array::of(self, Node::faulty(fault, Type::array(shape, DType::I64)));
        }
        self.make(Op::IndexAlong { axis }, Operands::new(), (shape, DType::I64), place)
    }

    /// Random numbers, even in `[0, 1)`: the same for the same seed on any number of ranks.
    #[track_caller]
    #[must_use]
    pub fn uniform(&self, seed: i64, shape: &[usize]) -> Array {
        self.random(Random::Uniform, (seed, 0), shape)
    }

    /// Normal random numbers with mean 0 and variance 1; see [`Session::uniform`].
    #[track_caller]
    #[must_use]
    pub fn normal(&self, seed: i64, shape: &[usize]) -> Array {
        self.random(Random::Normal, (seed, 0), shape)
    }

    /// Random numbers of a kind from a seed and a stream; the numbers of other streams have nothing
    /// to do with these.
    ///
    /// ```
    /// use pantile::array::Random;
    /// use pantile::prelude::*;
    /// let world = Session::threads(2)?;
    /// let (a, b) = (world.uniform(7, &[4]), world.random(Random::Uniform, (7, 1), &[4]));
    /// assert!(a.not_equal(b).all().item::<bool>()?);
    /// # Ok::<(), Fault>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn random(&self, kind: Random, (seed, stream): (i64, u64), shape: &[usize]) -> Array {
        let place = here();
        let seed = Self::constant(Scalar::of(seed), &place);
        let ty = (shape, DType::F64);
        self.make(Op::Random { kind, stream }, smallvec![seed], ty, place)
    }
}

/// How many numbers there are from `start` to `stop`, and their type.
fn count(start: Number, stop: Number, step: Number) -> Result<(usize, DType), ArrayError> {
    let wrong = || ArrayError::Arange { start, stop, step };
    if let (Number::Int(start), Number::Int(stop), Number::Int(step)) = (start, stop, step) {
        let (span, step) = (i128::from(stop) - i128::from(start), i128::from(step));
        let count = match step {
            0 => return Err(wrong()),
            1.. => (span + step - 1).div_euclid(step),
            _ => (-span - step - 1).div_euclid(-step),
        };
        return usize::try_from(count.max(0)).map(|count| (count, DType::I64)).map_err(|_| wrong());
    }
    let [start, stop, step] = [start, stop, step].map(|number| number.real().ok_or_else(wrong));
    let count = ((stop? - start?) / step?).ceil();
    if !count.is_finite() || count > 9e15 {
        return Err(wrong());
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let count = count.max(0.0) as usize;
    Ok((count, DType::F64))
}
