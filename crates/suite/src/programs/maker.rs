//! A program while it grows: values in scope, operations so far.

use pantile_ir::{ArrayType, Attribute, Block, DistEnv, Env, Function, Op, Operation, Type, Value};
use pantile_lanes::{DType, Scalar};
use pantile_testkit::Rng;

use super::data;

/// An array in scope.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) value: Value,
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
}

/// The counter of a loop in scope, and the values it takes.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    pub(super) value: Value,
    pub(super) low: i64,
    /// The largest.
    pub(super) high: i64,
}

/// A function on its way.
pub(super) struct Maker<'r> {
    pub(super) rng: &'r mut Rng,
    pub(super) ranks: usize,
    pub(super) function: Function,
    pub(super) operations: Vec<Operation>,
    pub(super) arrays: Vec<Known>,
    pub(super) scalars: Vec<(Value, DType)>,
    pub(super) counters: Vec<Counter>,
    /// How many loops are around.
    pub(super) depth: usize,
    /// Functions for blocks.
    pub(super) others: Vec<Function>,
    /// All arrays live in one team, as the dialect has it; else where each of them says.
    pub(super) team: bool,
}

/// What is in scope.
pub(super) struct Scope(usize, usize, usize);

impl<'r> Maker<'r> {
    pub(super) fn new(rng: &'r mut Rng, ranks: usize, name: &str) -> Self {
        Self {
            rng,
            ranks,
            function: Function::new(name),
            operations: Vec::new(),
            arrays: Vec::new(),
            scalars: Vec::new(),
            counters: Vec::new(),
            depth: 0,
            others: Vec::new(),
            team: false,
        }
    }

    /// An operation with one result of this type.
    pub(super) fn push(&mut self, op: Op, operands: Vec<Value>, ty: Type) -> Value {
        let result = self.function.value(ty);
        self.operations.push(Operation::new(op, operands, vec![result]));
        result
    }

    /// An operation whose result is an array that says nothing about where it lives.
    pub(super) fn array(&mut self, op: Op, operands: Vec<Value>, dtype: DType, shape: &[usize]) {
        let ty = self.plain(shape, dtype);
        self.array_of(op, operands, ty, shape);
    }

    /// An array type that says no more than it has to about where it lives.
    pub(super) fn plain(&self, shape: &[usize], dtype: DType) -> Type {
        let env = DistEnv { team: Attribute::int(1), local: None };
        let array = ArrayType::new(shape, dtype);
        Type::Array(if self.team { array.placed(Some(Env::Dist(env))) } else { array })
    }

    /// An operation whose result is an array of this type.
    pub(super) fn array_of(&mut self, op: Op, operands: Vec<Value>, ty: Type, shape: &[usize]) {
        let dtype = ty.dtype().unwrap_or(DType::Bool);
        let value = self.push(op, operands, ty);
        self.arrays.push(Known { value, dtype, shape: shape.to_vec() });
    }

    /// An array type that says where it lives.
    pub(super) fn placed(&mut self, shape: &[usize], dtype: DType) -> Type {
        if self.team {
            return self.plain(shape, dtype);
        }
        let text = data::spread(self.rng, shape, self.ranks);
        Type::Array(ArrayType::new(shape, dtype).placed(Some(Env::Placement(text.into()))))
    }

    /// An array type that perhaps says where it lives.
    pub(super) fn perhaps_placed(&mut self, shape: &[usize], dtype: DType) -> Type {
        if self.rng.chance(1, 2) { self.placed(shape, dtype) } else { self.plain(shape, dtype) }
    }

    pub(super) fn constant(&mut self, value: Scalar) -> Value {
        self.push(Op::Constant(value), Vec::new(), Type::scalar(value.dtype()))
    }

    pub(super) fn index(&mut self, value: i64) -> Value {
        self.push(Op::Constant(Scalar::of(value)), Vec::new(), Type::Index)
    }

    /// Any element as a scalar: a constant, or one in scope.
    pub(super) fn scalar(&mut self, dtype: DType) -> Value {
        let known: Vec<Value> = self
            .scalars
            .iter()
            .filter(|(_, other)| *other == dtype)
            .map(|(value, _)| *value)
            .collect();
        if !known.is_empty() && self.rng.chance(2, 3) {
            return *self.rng.pick(&known);
        }
        let value = data::element(self.rng, dtype);
        self.constant(value)
    }

    pub(super) fn dtype(&mut self) -> DType {
        // Floats more often: they have more ways to go wrong.
        if self.rng.chance(1, 3) {
            *self.rng.pick(&[DType::F64, DType::F32])
        } else {
            *self.rng.pick(&DType::ALL)
        }
    }

    pub(super) fn shape(&mut self) -> Vec<usize> {
        let ndim = *self.rng.pick(&[0, 1, 1, 1, 2, 2, 2, 3]);
        let mut length = || match self.rng.below(12) {
            0 => 0,
            1 => 1,
            2 if ndim == 1 || self.rng.chance(1, 3) => 10 + self.rng.below(60),
            4 if ndim == 1 && self.rng.chance(1, 6) => 250 + self.rng.below(600),
            3 if ndim < 3 => 9,
            _ if ndim == 3 => 1 + self.rng.below(4),
            _ => 1 + self.rng.below(8),
        };
        (0..ndim).map(|_| length()).collect()
    }

    /// An array in scope, late ones more often.
    pub(super) fn any(&mut self) -> Known {
        let count = self.arrays.len();
        let at = self.rng.below(count).max(self.rng.below(count));
        self.arrays[at].clone()
    }

    /// An array in scope that a test accepts.
    pub(super) fn any_that(&mut self, accepts: impl Fn(&Known) -> bool) -> Option<Known> {
        let found: Vec<Known> =
            self.arrays.iter().filter(|known| accepts(known)).cloned().collect();
        if found.is_empty() { None } else { Some(self.rng.pick(&found).clone()) }
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.function.ty(value).clone()
    }

    pub(super) fn scope(&self) -> Scope {
        Scope(self.arrays.len(), self.scalars.len(), self.counters.len())
    }

    pub(super) fn leave(&mut self, Scope(arrays, scalars, counters): Scope) {
        self.arrays.truncate(arrays);
        self.scalars.truncate(scalars);
        self.counters.truncate(counters);
    }

    /// The operations that `fill` makes, as a block of their own.
    pub(super) fn block(&mut self, arguments: Vec<Value>, fill: impl FnOnce(&mut Self)) -> Block {
        let outer = std::mem::take(&mut self.operations);
        fill(self);
        let operations = std::mem::replace(&mut self.operations, outer);
        Block { arguments, operations }
    }
}
