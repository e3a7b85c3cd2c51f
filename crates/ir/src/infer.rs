//! The types of results: what the text may leave to be found, and what the verifier compares.

mod error;
mod matmul;
mod shape_error;
mod type_error;

pub use error::InferError;
pub use matmul::{matmul_dtype, matmul_shape};
pub use shape_error::ShapeError;
pub use type_error::TypeError;

use pantile_lanes::{Binary, DType, Unary, promote};

use crate::{
    ArrayType, Dim, Function, Index, Op, Operation, Program, Reduction, Slice, Type, Value,
};

/// The type in which an elementwise function computes, and the type of its result.
pub type Types = (DType, DType);

/// The types that the results of an operation have, as far as its operands and attributes say.
/// Lengths that depend on values are `?`; distributions are left out. `Ok(vec![])` for operations
/// without results.
///
/// # Errors
/// If the operands do not fit.
#[allow(clippy::too_many_lines, reason = "one arm per operation")]
pub fn result_types(
    function: &Function,
    operation: &Operation,
    program: &Program,
) -> Result<Vec<Type>, InferError> {
    let known = OperationTypes { function, operation };
    let one = |ty: Type| Ok(vec![ty]);
    match &operation.op {
        Op::Constant(value) => one(match known.declared(0) {
            Some(Type::Index) => Type::Index,
            _ => Type::scalar(value.dtype()),
        }),
        Op::Arith(_) => one(known.ty(0)?.clone()),
        Op::Compare(_) => one(Type::scalar(DType::Bool)),
        Op::SelectScalar => one(known.ty(1)?.clone()),
        Op::Subview(slice) | Op::ExtractSlice(slice) | Op::DistSubview { slice, .. } => {
            one(known.sliced(slice)?)
        }
        Op::ImmutableInsertSlice(slice) => {
            known.insertable(slice)?;
            one(known.ty(1)?.clone())
        }
        Op::InsertSlice(slice) => known.insertable(slice).map(|()| Vec::new()),
        Op::Permute(axes) => one(known.permuted(axes)?),
        Op::Copy | Op::Redistribute | Op::Replicate | Op::Repartition { .. } => {
            one(plain(known.array(0)?))
        }
        Op::Halo { low, high } => {
            let array = known.array(0)?;
            if low.len() != array.ndim() || high.len() != array.ndim() {
                let got = [low.len(), high.len()];
                return Err(ShapeError::HaloWidths { got, ndim: array.ndim() }.into());
            }
            one(plain(array))
        }
        Op::Unary(named) | Op::DistUnary(named) => {
            let (_, result) = unary_types(named.function, known.dtype(0)?, known.wanted())?;
            one(known.like(known.ty(0)?.shape(), result))
        }
        Op::Binary(named) | Op::DistBinary(named) => {
            let pair = (known.dtype(0)?, known.dtype(1)?);
            let (_, result) = binary_types(named.function, pair, known.wanted())?;
            let shape = broadcast(&[known.ty(0)?.shape(), known.ty(1)?.shape()])?;
            one(known.like(&shape, result))
        }
        Op::Where => {
            let shapes = [known.ty(0)?.shape(), known.ty(1)?.shape(), known.ty(2)?.shape()];
            if known.dtype(0)? != DType::Bool {
                return Err(TypeError::Condition { got: known.dtype(0)? }.into());
            }
            let of = [known.dtype(1)?, known.dtype(2)?];
            one(known.like(&broadcast(&shapes)?, chosen("where", &of, known.wanted())?))
        }
        Op::Clip => {
            let shapes = [known.ty(0)?.shape(), known.ty(1)?.shape(), known.ty(2)?.shape()];
            let of = [known.dtype(0)?, known.dtype(1)?, known.dtype(2)?];
            let dtype = chosen("clip", &of, known.wanted())?;
            if matches!(dtype, DType::C64 | DType::C128) {
                return Err(TypeError::NotDefined { what: "clip", of: dtype }.into());
            }
            one(known.like(&broadcast(&shapes)?, dtype))
        }
        Op::Broadcast => one(known.broadcast_to()?),
        Op::Reduce { reduction, axes, keepdims, .. } => {
            one(known.reduced(reduction.function, axes.as_deref(), *keepdims)?)
        }
        Op::MatMul => {
            let dtype = matmul_dtype(known.array(0)?.dtype(), known.array(1)?.dtype())?;
            one(array(matmul_shape(&known.array(0)?.shape, &known.array(1)?.shape)?, dtype))
        }
        Op::Stencil { points, weights, .. } => one(known.stencil(points, weights.len())?),
        Op::Reshape { .. } => one(known.reshaped()?),
        Op::Cast => one(known.cast()?),
        Op::Dim => one(Type::Index),
        Op::Load => one(Type::scalar(known.array(0)?.dtype())),
        Op::MapBlocks { function: name, block } => {
            let callee = program
                .function(name)
                .ok_or_else(|| InferError::UnknownFunction { name: name.clone() })?;
            known.mapped(callee, block)
        }
        // The text says what these give.
        _ => Ok(operation.results.iter().map(|value| function.ty(*value).clone()).collect()),
    }
}

/// True if elements may be taken for elements of the type that a text declares: what a cast would
/// cut off (fractions, imaginary parts, all but the truth of a number) is never cut off silently.
#[must_use]
pub fn may_become(of: DType, wanted: DType) -> bool {
    let kind = |dtype| match dtype {
        DType::Bool => 0,
        DType::F32 | DType::F64 => 2,
        DType::C64 | DType::C128 => 3,
        _ => 1,
    };
    kind(of) <= kind(wanted)
}

/// The type of the elements of a choice between operands of these types: the one that the text
/// declares, if they may become that.
fn chosen(what: &'static str, of: &[DType], wanted: Option<DType>) -> Result<DType, TypeError> {
    let natural = of.iter().copied().reduce(promote).unwrap_or(DType::F64);
    match wanted {
        Some(wanted) if !may_become(natural, wanted) => {
            Err(TypeError::Choice { what, natural, wanted })
        }
        Some(wanted) => Ok(wanted),
        None => Ok(natural),
    }
}

/// Types of a function of one operand; `wanted` is the declared type of the result. Where it is
/// not the one that promotion gives, the operand is cast to it first.
///
/// # Errors
/// If the function is not defined for the type.
pub fn unary_types(function: Unary, of: DType, wanted: Option<DType>) -> Result<Types, TypeError> {
    let natural = function.types(of).map_err(TypeError::Function);
    if let (Ok(types), Some(wanted)) = (&natural, wanted)
        && types.1 != wanted
    {
        match function.types(wanted) {
            Ok(forced) if forced.1 == wanted && may_become(of, wanted) => return Ok(forced),
            _ => return Err(TypeError::Unary { function, of, gives: types.1, wanted }),
        }
    }
    natural
}

/// Types of a function of two operands; `wanted` as in [`unary_types`]. An integer quotient that
/// the text asks for is one towards zero.
///
/// # Errors
/// If the function is not defined for the types.
pub fn binary_types(
    function: Binary,
    of: (DType, DType),
    wanted: Option<DType>,
) -> Result<Types, TypeError> {
    let natural = function.types(of.0, of.1).map_err(TypeError::Function);
    let Some(wanted) = wanted else { return natural };
    if natural.as_ref().is_ok_and(|types| types.1 == wanted) {
        return natural;
    }
    let fits = may_become(promote(of.0, of.1), wanted);
    if function == Binary::Divide && is_integer(wanted) && fits {
        return Ok((wanted, wanted));
    }
    match (function.types(wanted, wanted), natural) {
        (Ok(forced), _) if forced.1 == wanted && fits => Ok(forced),
        (_, Err(error)) => Err(error),
        (_, Ok(types)) => Err(TypeError::Binary { function, of, gives: types.1, wanted }),
    }
}

/// The unsigned type of as many bits; what is not a signed whole number is left as it is.
#[must_use]
pub fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        other => other,
    }
}

/// True for `I8` to `U64`.
#[must_use]
pub fn is_integer(dtype: DType) -> bool {
    !matches!(dtype, DType::Bool | DType::F32 | DType::F64 | DType::C64 | DType::C128)
}

/// The shape of arrays of these shapes taken together, aligned at the last axes.
///
/// # Errors
/// If two lengths are unequal and none is 1.
pub fn broadcast(shapes: &[&[Dim]]) -> Result<Vec<Dim>, ShapeError> {
    let ndim = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![Some(1); ndim];
    for shape in shapes {
        for (axis, dim) in shape.iter().enumerate() {
            let at = ndim - shape.len() + axis;
            result[at] = match (result[at], *dim) {
                (Some(1), dim) => dim,
                (kept, Some(1)) => kept,
                (None, dim) => dim,
                (kept, None) => kept,
                (Some(one), Some(other)) if one == other => Some(one),
                (Some(one), Some(other)) => {
                    return Err(ShapeError::Lengths { axis: at, one, other });
                }
            };
        }
    }
    Ok(result)
}

/// The type of a reduction's result.
///
/// # Errors
/// If the reduction is not defined for the type.
pub fn reduced_dtype(reduction: Reduction, of: DType) -> Result<DType, TypeError> {
    use Reduction as R;
    let complex = matches!(of, DType::C64 | DType::C128);
    let refused = || Err(TypeError::NotDefined { what: reduction.name(), of });
    Ok(match reduction {
        R::Max | R::Min | R::ArgMin | R::ArgMax if complex => return refused(),
        R::Max | R::Min if of == DType::Bool => return refused(),
        R::Max | R::Min => of,
        R::Any | R::All => DType::Bool,
        R::ArgMin | R::ArgMax | R::CountNonZero => DType::I64,
        R::Sum | R::Prod => match of {
            DType::Bool | DType::I8 | DType::I16 | DType::I32 | DType::I64 => DType::I64,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => DType::U64,
            float => float,
        },
        R::Mean => floating(of),
        R::Var | R::Std | R::Norm1 | R::Norm2 | R::NormInf => match floating(of) {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            real => real,
        },
    })
}

/// The type itself if it is a float or complex, else `F64`.
fn floating(of: DType) -> DType {
    match of {
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => of,
        _ => DType::F64,
    }
}

fn plain(array: &ArrayType) -> Type {
    Type::Array(ArrayType {
        shape: array.shape.clone(),
        element: array.element,
        layout: None,
        envs: Vec::new(),
    })
}

fn array(shape: Vec<Dim>, dtype: DType) -> Type {
    Type::Array(ArrayType { shape, element: dtype.into(), layout: None, envs: Vec::new() })
}

/// An operation with what is known of its operands.
struct OperationTypes<'a> {
    function: &'a Function,
    operation: &'a Operation,
}

impl<'a> OperationTypes<'a> {
    fn operand(&self, number: usize) -> Result<Value, InferError> {
        let got = self.operation.operands.len();
        let operand = self.operation.operands.get(number).copied();
        operand.ok_or(InferError::Operands { got, number })
    }

    fn ty(&self, number: usize) -> Result<&'a Type, InferError> {
        Ok(self.function.ty(self.operand(number)?))
    }

    fn array(&self, number: usize) -> Result<&'a ArrayType, InferError> {
        let ty = self.ty(number)?;
        ty.as_array().ok_or(InferError::NotArray { number })
    }

    fn dtype(&self, number: usize) -> Result<DType, InferError> {
        let ty = self.ty(number)?;
        ty.dtype().ok_or(InferError::Handle { number })
    }

    fn declared(&self, number: usize) -> Option<&'a Type> {
        Some(self.function.ty(*self.operation.results.get(number)?))
    }

    /// The declared type of the result's elements.
    fn wanted(&self) -> Option<DType> {
        self.declared(0)?.dtype()
    }

    /// A scalar if all operands are scalars and the text does not say otherwise, else an array.
    fn like(&self, shape: &[Dim], dtype: DType) -> Type {
        let arrays = self
            .operation
            .operands
            .iter()
            .any(|value| self.function.ty(*value).as_array().is_some());
        match self.declared(0) {
            Some(Type::Scalar(_)) if !arrays => Type::scalar(dtype),
            Some(Type::Index) if !arrays && dtype == DType::I64 => Type::Index,
            None if !arrays => Type::scalar(dtype),
            _ => array(shape.to_vec(), dtype),
        }
    }

    fn sliced(&self, slice: &Slice) -> Result<Type, InferError> {
        let source = self.array(0)?;
        check_slice(slice, source)?;
        let sizes: Vec<Dim> = slice.sizes.iter().map(known_length).collect();
        // A view may drop axes of size 1; then the text says which shape is meant.
        if let Some(Type::Array(declared)) = self.declared(0)
            && declared.ndim() < sizes.len()
            && drops_units(&sizes, &declared.shape)
        {
            return Ok(array(declared.shape.clone(), source.dtype()));
        }
        Ok(array(sizes, source.dtype()))
    }

    fn insertable(&self, slice: &Slice) -> Result<(), InferError> {
        let (source, target) = (self.ty(0)?, self.array(1)?);
        check_slice(slice, target)?;
        let sizes: Vec<Dim> = slice.sizes.iter().map(known_length).collect();
        let together = broadcast(&[source.shape(), &sizes])?;
        let equal = |(one, other): (&Dim, &Dim)| one == other || one.is_none() || other.is_none();
        if together.len() != sizes.len() || !together.iter().zip(&sizes).all(equal) {
            return Err(
                ShapeError::Inserted { source: source.shape().to_vec(), slice: sizes }.into()
            );
        }
        Ok(())
    }

    fn permuted(&self, axes: &[usize]) -> Result<Type, InferError> {
        let source = self.array(0)?;
        let mut seen = axes.to_vec();
        seen.sort_unstable();
        if !seen.into_iter().eq(0..source.ndim()) {
            let (axes, ndim) = (axes.to_vec(), source.ndim());
            return Err(ShapeError::Permutation { axes, ndim }.into());
        }
        Ok(array(axes.iter().map(|axis| source.shape[*axis]).collect(), source.dtype()))
    }

    fn broadcast_to(&self) -> Result<Type, InferError> {
        let source = self.ty(0)?;
        let Some(Type::Array(wanted)) = self.declared(0) else {
            return Err(InferError::NoArrayResult { op: "broadcast" });
        };
        let together = broadcast(&[source.shape(), &wanted.shape])?;
        if together.len() != wanted.ndim() {
            let (got, expected) = (source.shape().len(), wanted.ndim());
            return Err(ShapeError::BroadcastAxes { got, expected }.into());
        }
        Ok(array(wanted.shape.clone(), self.dtype(0)?))
    }

    fn reduced(
        &self,
        reduction: Reduction,
        axes: Option<&[usize]>,
        keepdims: bool,
    ) -> Result<Type, InferError> {
        let source = self.array(0)?;
        let all: Vec<usize> = (0..source.ndim()).collect();
        let axes = axes.unwrap_or(&all);
        let wrong = axes.iter().find(|axis| {
            **axis >= source.ndim() || axes.iter().filter(|other| other == axis).count() > 1
        });
        if let Some(axis) = wrong {
            return Err(ShapeError::ReducedAxis { axis: *axis, ndim: source.ndim() }.into());
        }
        let natural = reduced_dtype(reduction, source.dtype())?;
        // The dialect keeps the type of the elements, so the text may ask for it.
        let keeps = matches!(reduction, Reduction::Sum | Reduction::Prod);
        let fits = |wanted: &DType| keeps && may_become(source.dtype(), *wanted);
        let dtype = self.wanted().filter(fits).unwrap_or(natural);
        let kept = |(axis, dim): (usize, &Dim)| match axes.contains(&axis) {
            true if keepdims => Some(Some(1)),
            true => None,
            false => Some(*dim),
        };
        Ok(array(source.shape.iter().enumerate().filter_map(kept).collect(), dtype))
    }

    fn stencil(&self, points: &[Vec<i64>], weights: usize) -> Result<Type, InferError> {
        let source = self.array(0)?;
        if points.len() != weights {
            return Err(ShapeError::Weights { points: points.len(), weights }.into());
        }
        if let Some(point) = points.iter().find(|point| point.len() != source.ndim()) {
            return Err(ShapeError::Point { point: point.clone(), ndim: source.ndim() }.into());
        }
        if !matches!(source.dtype(), DType::F32 | DType::F64) {
            return Err(TypeError::Stencil { got: source.dtype() }.into());
        }
        Ok(plain(source))
    }

    fn reshaped(&self) -> Result<Type, InferError> {
        let source = self.array(0)?;
        let Some(Type::Array(wanted)) = self.declared(0) else {
            return Err(InferError::NoArrayResult { op: "reshape" });
        };
        let count = |shape: &[Dim]| shape.iter().copied().product::<Option<usize>>();
        if let (Some(got), Some(expected)) = (count(&wanted.shape), count(&source.shape))
            && got != expected
        {
            return Err(ShapeError::Elements { got, expected }.into());
        }
        Ok(array(wanted.shape.clone(), source.dtype()))
    }

    fn cast(&self) -> Result<Type, InferError> {
        let source = self.array(0)?;
        let Some(Type::Array(wanted)) = self.declared(0) else {
            return Err(InferError::NoArrayResult { op: "cast" });
        };
        let compatible =
            |(one, other): (&Dim, &Dim)| one.is_none() || other.is_none() || one == other;
        let same = wanted.ndim() == source.ndim()
            && wanted.shape.iter().zip(&source.shape).all(compatible)
            && wanted.dtype() == source.dtype();
        if !same {
            let (from, to) = (source.shape.clone(), wanted.shape.clone());
            return Err(ShapeError::Cast { from, to }.into());
        }
        Ok(array(wanted.shape.clone(), source.dtype()))
    }

    fn mapped(&self, callee: &Function, block: &[usize]) -> Result<Vec<Type>, InferError> {
        let source = self.array(0)?;
        if block.len() != source.ndim() || block.contains(&0) {
            let (block, ndim) = (block.to_vec(), source.ndim());
            return Err(ShapeError::Blocks { block, ndim }.into());
        }
        let (got, expected) = (self.operation.operands.len(), callee.body.arguments.len());
        if got != expected {
            return Err(InferError::Arguments { function: callee.name.clone(), got, expected });
        }
        let handle = || InferError::HandleResult { function: callee.name.clone() };
        let dtype = |ty: &Type| ty.dtype().ok_or_else(handle);
        let give = |ty: &Type| Ok(array(source.shape.clone(), dtype(ty)?));
        callee.results.iter().map(give).collect()
    }
}

fn known_length(index: &Index) -> Dim {
    match index {
        Index::Known(length) => usize::try_from(*length).ok(),
        Index::Operand => None,
    }
}

/// True if `shape` is `sizes` without some of its ones.
fn drops_units(sizes: &[Dim], shape: &[Dim]) -> bool {
    let mut wanted = shape.iter().peekable();
    for size in sizes {
        let fits = wanted.peek().is_some_and(|dim| **dim == *size || dim.is_none());
        if fits {
            wanted.next();
        } else if *size != Some(1) {
            return false;
        }
    }
    wanted.peek().is_none()
}

/// Refuses a slice that leaves the array, as far as constants say.
fn check_slice(slice: &Slice, array: &ArrayType) -> Result<(), ShapeError> {
    let lists = [&slice.offsets, &slice.sizes, &slice.strides];
    if let Some(wrong) = lists.iter().find(|list| list.len() != array.ndim()) {
        return Err(ShapeError::SliceEntries { got: wrong.len(), ndim: array.ndim() });
    }
    for axis in 0..array.ndim() {
        let (Index::Known(offset), Index::Known(size), Index::Known(stride)) =
            (slice.offsets[axis], slice.sizes[axis], slice.strides[axis])
        else {
            continue;
        };
        if stride == 0 || size < 0 {
            return Err(ShapeError::SliceStride { axis, size, stride });
        }
        let Some(length) = array.shape[axis] else { continue };
        let last = i128::from(offset) + i128::from(size - 1) * i128::from(stride);
        let inside = |index: i128| (0..length as i128).contains(&index);
        if size > 0 && !(inside(i128::from(offset)) && inside(last)) {
            return Err(ShapeError::SliceBounds { axis, first: offset, last, length });
        }
    }
    Ok(())
}

/// A shape as text: `3x?x4`.
#[must_use]
pub fn shape_text(shape: &[Dim]) -> String {
    let dims: Vec<String> = shape
        .iter()
        .map(|dim| dim.map_or_else(|| "?".to_owned(), |length| length.to_string()))
        .collect();
    if dims.is_empty() { "()".to_owned() } else { dims.join("x") }
}
