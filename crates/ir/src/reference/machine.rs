//! One operation after the other.

use pantile_lanes::Scalar;

use super::arrays::{View, size};
use super::functions::Functions;
use super::number::zero;
use super::reduce::Request;
use super::{Array, EvaluationError, OperandError, StructureError};
use crate::{Block, Function, Op, Operation, Place, Program, Type, Value};

/// Functions that call functions: this deep at most.
const MOST_CALLS: usize = 16;

/// What a value is.
#[derive(Clone)]
pub(super) enum Held {
    Array(View),
    /// A number that differs from member to member; it changes no array.
    OfMember,
}

/// A function while it runs.
pub(super) struct Frame<'p> {
    function: &'p Function,
    values: Vec<Option<Held>>,
}

/// A program while it runs.
pub(super) struct Machine<'p> {
    program: &'p Program,
    pub(super) functions: Functions,
    /// How many elements may still be computed.
    left: u64,
    calls: usize,
    place: Place,
}

impl<'p> Frame<'p> {
    fn new(function: &'p Function) -> Self {
        Self { function, values: vec![None; function.values.len()] }
    }

    fn ty(&self, value: Value) -> Result<&'p Type, StructureError> {
        let known = self.function.values.get(value.index()).map(|data| &data.ty);
        known.ok_or_else(|| StructureError::UnknownValue {
            value: value.index(),
            function: self.function.name.clone(),
        })
    }

    /// The declared type of the first result.
    pub(super) fn result_type(&self, operation: &Operation) -> Result<&'p Type, StructureError> {
        self.ty(*operation.results.first().ok_or(StructureError::NoResult)?)
    }

    /// Gives a value what it is; an array has to be what its type says.
    fn set(&mut self, value: Value, held: Held) -> Result<(), StructureError> {
        let ty = self.ty(value)?;
        if let Held::Array(view) = &held {
            let fits = view.shape.len() == ty.shape().len()
                && view
                    .shape
                    .iter()
                    .zip(ty.shape())
                    .all(|(is, dim)| dim.is_none_or(|dim| dim == *is));
            if !fits || ty.dtype() != Some(view.dtype()) {
                return Err(StructureError::WrongValue {
                    got: view.dtype(),
                    shape: view.shape.clone(),
                    expected: ty.dtype(),
                    declared: ty.shape().to_vec(),
                });
            }
        }
        self.values[value.index()] = Some(held);
        Ok(())
    }

    pub(super) fn set_all(
        &mut self,
        values: &[Value],
        held: Vec<Held>,
    ) -> Result<(), EvaluationError> {
        if values.len() != held.len() {
            let (got, expected) = (held.len(), values.len());
            return Err(StructureError::Values { got, expected }.into());
        }
        values.iter().zip(held).try_for_each(|(value, held)| self.set(*value, held))?;
        Ok(())
    }

    fn get(&self, value: Value) -> Result<&Held, StructureError> {
        let held = self.values.get(value.index()).and_then(Option::as_ref);
        held.ok_or(StructureError::Unset { value: value.index() })
    }
}

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program, left: u64) -> Self {
        let functions = Functions::default();
        Self { program, functions, left, calls: 0, place: Place::default() }
    }

    /// Where the program is.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Counts elements that are computed.
    pub(super) fn spend(&mut self, elements: usize) -> Result<(), EvaluationError> {
        let left = self.left.checked_sub(elements as u64);
        self.left = left.ok_or(EvaluationError::Budget)?;
        Ok(())
    }

    /// Runs the entry function.
    pub(super) fn entry(&mut self, arguments: &[Array]) -> Result<Vec<Array>, EvaluationError> {
        let function = self.program.entry().ok_or(StructureError::NoFunction)?;
        self.place = function.place.clone();
        for (number, array) in arguments.iter().enumerate() {
            let typed = array.data.iter().all(|value| value.dtype() == array.dtype);
            if size(&array.shape)? != array.data.len() || !typed {
                let (shape, elements) = (array.shape.clone(), array.data.len());
                let dtype = array.dtype;
                return Err(StructureError::Argument { number, shape, elements, dtype }.into());
            }
        }
        let held = arguments.iter().map(|array| Held::Array(View::new(array.clone()))).collect();
        self.call(function, held)
    }

    /// The results of a function. The arguments are arrays of their own.
    pub(super) fn call(
        &mut self,
        function: &'p Function,
        arguments: Vec<Held>,
    ) -> Result<Vec<Array>, EvaluationError> {
        if self.calls >= MOST_CALLS {
            let function = function.name.clone();
            return Err(EvaluationError::CallDepth { function, limit: MOST_CALLS });
        }
        let mut frame = Frame::new(function);
        let (got, expected) = (arguments.len(), function.body.arguments.len());
        if got != expected {
            let function = function.name.clone();
            return Err(StructureError::Arguments { function, got, expected }.into());
        }
        frame.set_all(&function.body.arguments, arguments)?;
        self.calls += 1;
        let results = self.block(&mut frame, &function.body)?;
        self.calls -= 1;
        let array = |held: &Held| match held {
            Held::Array(view) => Ok(view.read()),
            Held::OfMember => Err(StructureError::ResultOfMember.into()),
        };
        results.iter().map(array).collect()
    }

    /// What the end of a block hands on.
    pub(super) fn block(
        &mut self,
        frame: &mut Frame<'p>,
        block: &'p Block,
    ) -> Result<Vec<Held>, EvaluationError> {
        for operation in &block.operations {
            self.place = operation.place.clone();
            self.spend(1)?;
            if let Op::Return | Op::Yield | Op::RegionYield | Op::Condition = operation.op {
                // Handed on as arrays of their own.
                let copy = |value: &Value| match frame.get(*value)? {
                    Held::Array(view) => Ok(Held::Array(view.copy())),
                    Held::OfMember => Ok(Held::OfMember),
                };
                let values: Vec<Held> =
                    operation.operands.iter().map(copy).collect::<Result<_, EvaluationError>>()?;
                let elements = values.iter().map(|held| match held {
                    Held::Array(view) => view.size(),
                    Held::OfMember => 0,
                });
                self.spend(elements.sum())?;
                return Ok(values);
            }
            self.operation(frame, operation)?;
        }
        Ok(Vec::new())
    }

    pub(super) fn held(
        &self,
        frame: &Frame<'p>,
        operation: &Operation,
        at: usize,
    ) -> Result<Held, EvaluationError> {
        let value = operation.operands.get(at).ok_or(StructureError::MissingOperand { at })?;
        Ok(frame.get(*value)?.clone())
    }

    /// The array that an operand is.
    pub(super) fn view(
        &self,
        frame: &Frame<'p>,
        operation: &Operation,
        at: usize,
    ) -> Result<View, EvaluationError> {
        match self.held(frame, operation, at)? {
            Held::Array(view) => Ok(view),
            Held::OfMember => Err(StructureError::OperandOfMember { at }.into()),
        }
    }

    /// The elements of an operand as they are now.
    pub(super) fn array(
        &self,
        frame: &Frame<'p>,
        operation: &Operation,
        at: usize,
    ) -> Result<Array, EvaluationError> {
        Ok(self.view(frame, operation, at)?.read())
    }

    pub(super) fn arrays<const N: usize>(
        &self,
        frame: &Frame<'p>,
        operation: &Operation,
    ) -> Result<[Array; N], EvaluationError> {
        let all: Vec<Array> =
            (0..N).map(|at| self.array(frame, operation, at)).collect::<Result<_, _>>()?;
        all.try_into().map_err(|_| StructureError::MissingOperands.into())
    }

    /// The whole number that an operand is.
    pub(super) fn index(
        &self,
        frame: &Frame<'p>,
        operation: &Operation,
        at: usize,
    ) -> Result<i64, EvaluationError> {
        let array = self.array(frame, operation, at)?;
        let index = array.data.first().and_then(Scalar::get::<i64>);
        Ok(index.ok_or(OperandError::NotIndex { at, dtype: array.dtype })?)
    }

    /// The lengths of the result: operands, or those of its type.
    pub(super) fn lengths(
        &self,
        frame: &Frame<'p>,
        operation: &Operation,
        (first, last): (usize, usize),
    ) -> Result<Vec<usize>, EvaluationError> {
        let declared = frame.result_type(operation)?.shape();
        if last.saturating_sub(first) < declared.len() {
            let known: Option<Vec<usize>> = declared.iter().copied().collect();
            let unknown = || OperandError::UnknownLengths { declared: declared.to_vec() };
            return Ok(known.ok_or_else(unknown)?);
        }
        let length = |at: usize| {
            let length = self.index(frame, operation, at)?;
            usize::try_from(length).map_err(|_| OperandError::Length { got: length }.into())
        };
        (first..first + declared.len()).map(length).collect()
    }

    fn operation(
        &mut self,
        frame: &mut Frame<'p>,
        operation: &'p Operation,
    ) -> Result<(), EvaluationError> {
        match &operation.op {
            Op::For => self.repeat(frame, operation),
            Op::While => self.repeat_while(frame, operation),
            Op::Region(_) => {
                let block = operation.blocks.first().ok_or(StructureError::RegionWithoutBlock)?;
                let values = self.block(frame, block)?;
                frame.set_all(&operation.results, values)
            }
            Op::Delete => Ok(()),
            Op::InsertSlice(slice) => {
                let target = self.view(frame, operation, 1)?;
                self.insert(frame, operation, slice, &target)
            }
            Op::MapBlocks { function, block } => {
                let callee = self.program.function(function);
                let unknown = || StructureError::UnknownFunction { name: function.clone() };
                let callee = callee.ok_or_else(unknown)?;
                let of = (0..operation.operands.len()).map(|at| self.array(frame, operation, at));
                let of: Vec<Array> = of.collect::<Result<_, _>>()?;
                let mut results = Vec::new();
                for result in &operation.results {
                    let dtype = frame.ty(*result)?.dtype();
                    let dtype = dtype.ok_or(StructureError::BlockNoElements)?;
                    let shape = of.first().map(|array| array.shape.clone()).unwrap_or_default();
                    let data = vec![zero(dtype); size(&shape)?];
                    results.push(Array { dtype, shape, data });
                }
                self.map_blocks(callee, block, &of, &mut results)?;
                let held = results.into_iter().map(|array| Held::Array(View::new(array)));
                frame.set_all(&operation.results, held.collect())
            }
            // What one member has to know; the arrays are the same without it.
            Op::DefaultPartition
            | Op::LocalOffsetsOf
            | Op::LocalTarget
            | Op::BoundingBox { .. }
            | Op::LocalCore { .. }
            | Op::TeamSize(_)
            | Op::TeamMember(_) => {
                let held = vec![Held::OfMember; operation.results.len()];
                frame.set_all(&operation.results, held)
            }
            // Numbers made of those are such numbers, too.
            Op::Arith(_) | Op::Compare(_) | Op::SelectScalar | Op::Convert
                if self.of_member(frame, operation)? =>
            {
                frame.set_all(&operation.results, vec![Held::OfMember])
            }
            _ => {
                let view = self.result(frame, operation)?;
                frame.set_all(&operation.results, vec![Held::Array(view)])
            }
        }
    }

    fn of_member(&self, frame: &Frame<'p>, operation: &Operation) -> Result<bool, EvaluationError> {
        let mut found = false;
        for value in &operation.operands {
            found |= matches!(frame.get(*value)?, Held::OfMember);
        }
        Ok(found)
    }

    /// The one result of an operation.
    fn result(
        &mut self,
        frame: &Frame<'p>,
        operation: &'p Operation,
    ) -> Result<View, EvaluationError> {
        match &operation.op {
            Op::Subview(slice) | Op::DistSubview { slice, .. } => {
                self.subview(frame, operation, slice)
            }
            // Another type of the same array.
            Op::Cast => self.view(frame, operation, 0),
            Op::ExtractSlice(slice) => Ok(self.subview(frame, operation, slice)?.copy()),
            Op::ImmutableInsertSlice(slice) => {
                let target = self.view(frame, operation, 1)?.copy();
                self.spend(target.size())?;
                self.insert(frame, operation, slice, &target)?;
                Ok(target)
            }
            Op::Copy
            | Op::Halo { .. }
            | Op::Redistribute
            | Op::Replicate
            | Op::Repartition { .. }
            | Op::FromMemRef
            | Op::ToTensor => {
                let view = self.view(frame, operation, 0)?.copy();
                self.spend(view.size())?;
                Ok(view)
            }
            _ => self.computed(frame, operation).map(View::new),
        }
    }

    /// The elements of a result that is an array of its own.
    fn computed(
        &mut self,
        frame: &Frame<'p>,
        operation: &'p Operation,
    ) -> Result<Array, EvaluationError> {
        let wanted = frame.result_type(operation)?.dtype();
        let dtype = wanted.ok_or(StructureError::NoElements)?;
        match &operation.op {
            Op::Constant(value) => Ok(Array { dtype, shape: Vec::new(), data: vec![*value] }),
            Op::Arith(arith) => {
                let of = (0..operation.operands.len()).map(|at| self.array(frame, operation, at));
                let of: Vec<Array> = of.collect::<Result<_, _>>()?;
                self.arith(*arith, &of)
            }
            Op::Compare(predicate) => {
                let [one, other] = self.arrays(frame, operation)?;
                self.compare(*predicate, &one, &other)
            }
            Op::SelectScalar | Op::Where => {
                let [which, yes, no] = self.arrays(frame, operation)?;
                self.choose([&which, &yes, &no], wanted)
            }
            Op::Clip => {
                let [of, low, high] = self.arrays(frame, operation)?;
                self.clip([&of, &low, &high], wanted)
            }
            Op::Convert | Op::CastElement { .. } => {
                let [of] = self.arrays(frame, operation)?;
                self.cast(&of, dtype)
            }
            Op::Unary(named) | Op::DistUnary(named) => {
                let [of] = self.arrays(frame, operation)?;
                self.unary(named.function, &of, wanted)
            }
            Op::Binary(named) | Op::DistBinary(named) => {
                let [one, other] = self.arrays(frame, operation)?;
                self.binary(named.function, &one, &other, wanted)
            }
            Op::Reduce { reduction, axes, keepdims, correction } => {
                let [of] = self.arrays(frame, operation)?;
                let request = Request {
                    reduction: reduction.function,
                    axes: axes.as_deref(),
                    keepdims: *keepdims,
                    correction: f64::from_bits(*correction),
                    wanted,
                };
                self.reduce(&of, &request)
            }
            Op::MatMul => {
                let [one, other] = self.arrays(frame, operation)?;
                self.matmul(&one, &other)
            }
            Op::Stencil { points, weights, boundary } => {
                let [of] = self.arrays(frame, operation)?;
                self.stencil(&of, points, weights, *boundary)
            }
            Op::Permute(axes) => {
                let [of] = self.arrays(frame, operation)?;
                self.permute(&of, axes)
            }
            Op::Broadcast => {
                let [of] = self.arrays(frame, operation)?;
                let shape = self.lengths(frame, operation, (0, 0))?;
                self.broadcast(&of, &shape)
            }
            Op::Reshape { .. } => {
                let [of] = self.arrays(frame, operation)?;
                let shape = self.lengths(frame, operation, (1, operation.operands.len()))?;
                self.spend(of.data.len())?;
                self.reshape(of, &shape)
            }
            Op::Dim | Op::Load => self.element(frame, operation),
            _ => self.created(frame, operation, dtype),
        }
    }
}
