//! One operation after the other: what each becomes.

use std::collections::BTreeMap;

use pantile_lanes::{Binary, DType, Scalar, Unary, promote};

use super::expr::{ExprId, identity};
use super::place;
use super::{IndexMap, LowerErrorKind, Lowering, OperationError, StridedRangeError, Uses};
use pantile_ir::{Arith, Block, Op, Operation, Predicate, Value, infer};

/// Expressions deeper than this are computed before they grow further.
const DEEP: u32 = 96;

/// How many pointwise users may each compute a value again; fused loops do so only once.
const AGAIN: usize = 4;

impl<'a> Lowering<'a> {
    /// Counts how values are used; `homes` says in which block a value is made.
    pub(crate) fn count_uses(
        &mut self,
        block: &Block,
        depth: usize,
        homes: &mut BTreeMap<Value, usize>,
    ) {
        block.arguments.iter().for_each(|value| {
            homes.insert(*value, depth);
        });
        for operation in &block.operations {
            let mut seen: Vec<Value> = Vec::new();
            for value in &operation.operands {
                if seen.contains(value) {
                    continue;
                }
                seen.push(*value);
                let own = self.function.ty(*value).shape();
                let result = operation.results.first().map(|result| self.function.ty(*result));
                let same = result.is_some_and(|ty| ty.shape() == own);
                let uses = self.uses.entry(*value).or_insert(Uses {
                    count: 0,
                    pointwise: true,
                    deeper: false,
                });
                uses.count += 1;
                uses.pointwise &= same && is_pointwise(&operation.op);
                uses.deeper |= homes.get(value).is_some_and(|home| *home < depth);
            }
            operation.results.iter().for_each(|value| {
                homes.insert(*value, depth);
            });
            for inner in &operation.blocks {
                self.count_uses(inner, depth + 1, homes);
            }
        }
    }

    /// Lowers one operation; gives what it passes on if it ends the block.
    pub(crate) fn operation(
        &mut self,
        operation: &'a Operation,
    ) -> Result<Option<Vec<ExprId>>, LowerErrorKind> {
        let op = &operation.op;
        match op {
            Op::Return | Op::Yield | Op::RegionYield | Op::Condition => {
                return operation
                    .operands
                    .iter()
                    .map(|value| Ok(self.value(*value)?))
                    .collect::<Result<_, _>>()
                    .map(Some);
            }
            Op::For => self.repeat_count(operation)?,
            Op::While => self.repeat_while(operation)?,
            Op::Region(_) => {
                let values = self.block(&operation.blocks[0])?;
                for (result, expr) in operation.results.iter().zip(values) {
                    self.env.insert(*result, expr);
                }
            }
            // What one member does is only a hint; the lowering finds it again.
            Op::DefaultPartition
            | Op::LocalTarget
            | Op::BoundingBox { .. }
            | Op::LocalCore { .. }
            | Op::TeamMember(_)
            | Op::Delete => {}
            Op::InsertSlice(_) => {
                return Err(OperationError::InPlace.into());
            }
            Op::InitDist
            | Op::LocalOffsetsOf
            | Op::PartsOf
            | Op::AllReduce { .. }
            | Op::GetHalo { .. }
            | Op::CopyReshape { .. }
            | Op::CopyPermute { .. }
            | Op::Wait => {
                return Err(OperationError::OfMember.into());
            }
            Op::MapBlocks { function, block } => self.map_blocks(operation, function, block)?,
            _ => {
                let expr = self.expression(operation)?;
                let result = operation.results[0];
                let expr = self.materialise_value(result, expr)?;
                self.env.insert(result, expr);
            }
        }
        Ok(None)
    }

    /// The expression of a value.
    pub(crate) fn value(&self, value: Value) -> Result<ExprId, OperationError> {
        let known = self.env.get(&value).copied();
        known.ok_or(OperationError::ValueOfMember)
    }

    /// Puts an expression into memory if it would be computed again and again.
    fn materialise_value(&mut self, value: Value, expr: ExprId) -> Result<ExprId, LowerErrorKind> {
        let depth = self.exprs.depth(expr);
        let uses = self.uses.get(&value).copied().unwrap_or_default();
        let often = uses.count > 1 && !(uses.pointwise && uses.count <= AGAIN);
        let often = often && !self.is_spread(expr);
        let wanted = depth > 0 && uses.count > 0 && (uses.deeper || often) || depth > DEEP;
        if wanted { self.stored(expr) } else { Ok(expr) }
    }

    /// The same elements, read from memory.
    pub(crate) fn stored(&mut self, expr: ExprId) -> Result<ExprId, LowerErrorKind> {
        let (dtype, shape) = (self.exprs[expr].dtype, self.exprs[expr].shape.clone());
        let slot = self.materialise(expr, None)?;
        Ok(self.exprs.slot(slot, dtype, &shape))
    }

    /// The elements of an operation's result.
    #[allow(clippy::too_many_lines, reason = "one arm per operation")]
    fn expression(&mut self, operation: &'a Operation) -> Result<ExprId, LowerErrorKind> {
        let wanted = self.wanted(operation);
        match &operation.op {
            Op::Constant(value) => Ok(self.exprs.constant(*value, &[])),
            Op::TeamSize(team) => {
                let size = i64::try_from(self.team(team).len())?;
                Ok(self.exprs.constant(Scalar::of(size), &[]))
            }
            Op::Arith(arith) => self.arith(*arith, operation),
            Op::Compare(predicate) => {
                let mut pair = vec![self.operand(operation, 0)?, self.operand(operation, 1)?];
                if predicate.of_unsigned().is_some() {
                    pair = self.unsigned(&pair);
                }
                self.binary(comparison(*predicate), pair[0], pair[1], None)
            }
            Op::SelectScalar | Op::Where => {
                let [which, yes, no] = [0, 1, 2].map(|number| self.operand(operation, number));
                let (which, yes, no) = (which?, yes?, no?);
                let natural = promote(self.exprs[yes].dtype, self.exprs[no].dtype);
                self.choose(which, yes, no, wanted.unwrap_or(natural))
            }
            Op::Convert | Op::CastElement { .. } => {
                let of = self.operand(operation, 0)?;
                let dtype = wanted.ok_or(OperationError::NoElements)?;
                Ok(self.exprs.cast(of, dtype))
            }
            Op::Copy => {
                let of = self.operand(operation, 0)?;
                self.element_read(of)
            }
            Op::Cast | Op::Halo { .. } | Op::Repartition { .. } | Op::FromMemRef | Op::ToTensor => {
                Ok(self.operand(operation, 0)?)
            }
            Op::Unary(named) | Op::DistUnary(named) => {
                let of = self.operand(operation, 0)?;
                self.unary(named.function, of, wanted)
            }
            Op::Binary(named) | Op::DistBinary(named) => {
                let (one, other) = (self.operand(operation, 0)?, self.operand(operation, 1)?);
                self.binary(named.function, one, other, wanted)
            }
            Op::Clip => self.clip(operation, wanted),
            Op::Create { .. }
            | Op::Linspace { .. }
            | Op::Arange
            | Op::Eye { .. }
            | Op::Random { .. }
            | Op::IndexAlong { .. } => self.creation(operation),
            Op::Subview(slice) | Op::ExtractSlice(slice) | Op::DistSubview { slice, .. } => {
                self.slice(operation, slice)
            }
            Op::ImmutableInsertSlice(slice) => self.update(operation, slice),
            Op::Permute(axes) => {
                let of = self.operand(operation, 0)?;
                let shape: Vec<usize> =
                    axes.iter().map(|axis| self.exprs[of].shape[*axis]).collect();
                let mut map = identity(axes.len());
                for (new, old) in axes.iter().enumerate() {
                    map[*old] = IndexMap::Moves { axis: new, offset: 0, step: 1 };
                }
                Ok(self.exprs.view(of, &map, &shape))
            }
            Op::Broadcast => {
                let of = self.operand(operation, 0)?;
                let shape = self.declared_shape(operation)?;
                self.broadcast_to(of, &shape)
            }
            Op::Reshape { .. } => {
                let of = self.operand(operation, 0)?;
                let shape = self.lengths(operation, &operation.operands[1..])?;
                let home = self.declared_home(self.function.ty(operation.results[0]), &shape)?;
                self.reshape(of, &shape, home.as_ref())
            }
            Op::Dim => {
                let (of, axis) = (self.operand(operation, 0)?, self.index(operation.operands[1])?);
                let shape = &self.exprs[of].shape;
                let length = usize::try_from(axis).ok().and_then(|axis| shape.get(axis));
                let none = OperationError::Axis { axis, ndim: shape.len() };
                let length = i64::try_from(*length.ok_or(none)?)?;
                Ok(self.exprs.constant(Scalar::of(length), &[]))
            }
            Op::Load => self.load(operation),
            Op::Reduce { reduction, axes, keepdims, correction } => {
                let of = self.operand(operation, 0)?;
                let axes =
                    axes.clone().unwrap_or_else(|| (0..self.exprs[of].shape.len()).collect());
                let correction = f64::from_bits(*correction);
                self.reduce(reduction.function, of, (&axes, *keepdims), (correction, wanted))
            }
            Op::MatMul => {
                let (one, other) = (self.operand(operation, 0)?, self.operand(operation, 1)?);
                self.matmul(one, other)
            }
            Op::Stencil { points, weights, boundary } => {
                let of = self.operand(operation, 0)?;
                self.stencil(of, points, weights, *boundary)
            }
            Op::Redistribute => {
                let of = self.operand(operation, 0)?;
                let shape = self.exprs[of].shape.clone();
                let ty = self.function.ty(operation.results[0]);
                let home = self.declared_home(ty, &shape)?.map_or_else(|| self.auto(&shape), Ok)?;
                self.at(of, &home)
            }
            Op::Replicate => {
                let of = self.operand(operation, 0)?;
                let home = place::everywhere(&self.exprs[of].shape.clone(), self.ranks)?;
                self.at(of, &home)
            }
            other => Err(OperationError::NotLowered(Box::new(other.clone())).into()),
        }
    }

    /// The elements of an expression, at another home.
    pub(crate) fn at(
        &mut self,
        of: ExprId,
        home: &pantile_geometry::Distribution,
    ) -> Result<ExprId, LowerErrorKind> {
        let (dtype, shape) = (self.exprs[of].dtype, self.exprs[of].shape.clone());
        let slot = match self.leaves(&[of]).is_empty() {
            // Made from nothing: made there.
            true => self.materialise(of, Some(home))?,
            false => {
                let slot = self.materialise(of, None)?;
                self.moved(slot, home, "redistribute")?
            }
        };
        Ok(self.exprs.slot(slot, dtype, &shape))
    }

    fn arith(&mut self, arith: Arith, operation: &Operation) -> Result<ExprId, LowerErrorKind> {
        let exprs = self.operands(operation)?;
        let Some(plain) = arith.of_unsigned() else { return self.arith_of(arith, &exprs) };
        let dtype = self.exprs[exprs[0]].dtype;
        let exprs = self.unsigned(&exprs);
        let made = self.arith_of(plain, &exprs)?;
        Ok(self.exprs.cast(made, dtype))
    }

    /// The same bits as unsigned numbers.
    fn unsigned(&mut self, exprs: &[ExprId]) -> Vec<ExprId> {
        let mut cast = |expr: &ExprId| {
            let dtype = infer::unsigned(self.exprs[*expr].dtype);
            self.exprs.cast(*expr, dtype)
        };
        exprs.iter().map(&mut cast).collect()
    }

    fn arith_of(&mut self, arith: Arith, exprs: &[ExprId]) -> Result<ExprId, LowerErrorKind> {
        let dtype = self.exprs[exprs[0]].dtype;
        let binary = match arith {
            Arith::NegF => return self.unary(Unary::Negative, exprs[0], Some(dtype)),
            Arith::AddI | Arith::AddF => Binary::Add,
            Arith::SubI | Arith::SubF => Binary::Subtract,
            Arith::MulI | Arith::MulF => Binary::Multiply,
            Arith::DivSI | Arith::DivUI | Arith::DivF => Binary::Divide,
            Arith::FloorDivSI => Binary::FloorDivide,
            Arith::MinSI | Arith::MinUI => Binary::Minimum,
            Arith::MaxSI | Arith::MaxUI => Binary::Maximum,
            Arith::AndI => Binary::BitwiseAnd,
            Arith::OrI => Binary::BitwiseOr,
            Arith::XOrI => Binary::BitwiseXor,
            Arith::ShLI => Binary::BitwiseLeftShift,
            Arith::ShRSI | Arith::ShRUI => Binary::BitwiseRightShift,
            Arith::CeilDivSI | Arith::CeilDivUI => {
                // One more than the number below where something is left.
                let below = self.binary(Binary::FloorDivide, exprs[0], exprs[1], Some(dtype))?;
                let rest = self.binary(Binary::Remainder, exprs[0], exprs[1], Some(dtype))?;
                let more = self.exprs.cast(rest, DType::Bool);
                let more = self.exprs.cast(more, dtype);
                return self.binary(Binary::Add, below, more, Some(dtype));
            }
            Arith::RemSI | Arith::RemUI => {
                // a - (a / b) * b, the quotient towards zero
                let quotient = self.binary(Binary::Divide, exprs[0], exprs[1], Some(dtype))?;
                let product = self.binary(Binary::Multiply, quotient, exprs[1], Some(dtype))?;
                return self.binary(Binary::Subtract, exprs[0], product, Some(dtype));
            }
        };
        self.binary(binary, exprs[0], exprs[1], Some(dtype))
    }

    fn clip(
        &mut self,
        operation: &Operation,
        wanted: Option<DType>,
    ) -> Result<ExprId, LowerErrorKind> {
        let exprs = self.operands(operation)?;
        let natural = exprs.iter().map(|expr| self.exprs[*expr].dtype).reduce(promote);
        let dtype = wanted.or(natural).ok_or(OperationError::ClipOperands)?;
        let exprs: Vec<ExprId> =
            exprs.into_iter().map(|expr| self.exprs.cast(expr, dtype)).collect();
        let low = self.binary(Binary::Maximum, exprs[0], exprs[1], None)?;
        self.binary(Binary::Minimum, low, exprs[2], None)
    }

    fn load(&mut self, operation: &Operation) -> Result<ExprId, LowerErrorKind> {
        let of = self.operand(operation, 0)?;
        let shape = self.exprs[of].shape.clone();
        let mut map = Vec::new();
        for (axis, value) in operation.operands[1..].iter().enumerate() {
            let index = self.index(*value)?;
            let length = shape.get(axis).copied().unwrap_or(0);
            if usize::try_from(index).is_ok_and(|index| index < length) {
                map.push(IndexMap::Fixed(index));
            } else {
                return Err(StridedRangeError::Index { axis, index, length }.into());
            }
        }
        let element = self.exprs.view(of, &map, &[]);
        if shape.is_empty() || self.exprs.known(element).is_some() {
            return Ok(element);
        }
        let home = place::everywhere(&[], self.ranks)?;
        let slot = self.materialise(element, Some(&home))?;
        Ok(self.exprs.slot(slot, self.exprs[element].dtype, &[]))
    }

    /// An index that is known before the program runs.
    pub(crate) fn index(&self, value: Value) -> Result<i64, StridedRangeError> {
        let known = self.value(value).ok().and_then(|expr| self.exprs.known(expr));
        let index = known.and_then(|value| value.get::<i64>());
        index.ok_or(StridedRangeError::UnknownIndex)
    }
}

fn comparison(predicate: Predicate) -> Binary {
    match predicate {
        Predicate::Eq => Binary::Equal,
        Predicate::Ne => Binary::NotEqual,
        Predicate::Lt | Predicate::ULt => Binary::Less,
        Predicate::Le | Predicate::ULe => Binary::LessEqual,
        Predicate::Gt | Predicate::UGt => Binary::Greater,
        Predicate::Ge | Predicate::UGe => Binary::GreaterEqual,
    }
}

/// True if each element of the result depends on the elements at its own place.
fn is_pointwise(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::DistUnary(_)
            | Op::DistBinary(_)
            | Op::Where
            | Op::Clip
            | Op::CastElement { .. }
            | Op::Cast
            | Op::Copy
            | Op::Repartition { .. }
            | Op::Arith(_)
            | Op::Compare(_)
            | Op::SelectScalar
            | Op::Convert
    )
}
