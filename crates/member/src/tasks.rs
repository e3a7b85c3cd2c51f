//! Operations by the lowering: on what a member has, or by all members together.

use pantile_engine::Tile;
use pantile_ir::{
    ArrayType, Attribute, DistEnv, Env, Index, Op, Operation, Placement, Reduction, Scalar, Slice,
    Type,
};

use crate::compute::{Given, Task};
use crate::error::OperationFault;
use crate::frame::{ValueFrame, number_array};
use crate::held::{MemberValue, PartLayout, PartedArray, Spread, team_of};
use crate::local::{LocalArray, Partial};
use crate::machine::MemberMachine;
use crate::number::is_number;

impl<'p> MemberMachine<'p, '_> {
    /// An operation without a rule of its own: by this member, or by all of them if arrays are
    /// distributed.
    pub(crate) fn computed(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &'p Operation,
    ) -> Result<Vec<MemberValue>, OperationFault> {
        let mut distributed = false;
        for at in 0..operation.operands.len() {
            distributed |= matches!(frame.operand(operation, at)?, MemberValue::Parts(_));
        }
        for at in 0..operation.results.len() {
            let ty = frame.result_type(operation, at)?;
            distributed |= team_of(ty).is_some() && !ty.shape().is_empty();
        }
        match distributed {
            true => self.together(frame, operation),
            false => self.alone(frame, operation),
        }
    }

    /// An operation on what this member has.
    pub(crate) fn alone(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &'p Operation,
    ) -> Result<Vec<MemberValue>, OperationFault> {
        if let Op::Permute(axes) = &operation.op {
            let array = frame.local(operation, 0)?;
            if axes.iter().all(|axis| *axis < array.shape().len()) {
                return Ok(vec![MemberValue::Local(array.permuted(axes).copy()?)]);
            }
        }
        if let Op::ImmutableInsertSlice(slice) = &operation.op {
            let target = frame.local(operation, 1)?.copy()?;
            self.write_local(frame, operation, slice, &target)?;
            return Ok(vec![MemberValue::Local(target)]);
        }
        let (op, arity) = match &operation.op {
            Op::DistUnary(named) => (Op::Unary(*named), 1),
            Op::DistBinary(named) => (Op::Binary(*named), 2),
            other => (other.clone(), operation.operands.len()),
        };
        let mut operands = Vec::new();
        for (at, value) in operation.operands.iter().take(arity).enumerate() {
            let ty = frame.ty(*value);
            operands.push(match frame.operand(operation, at)? {
                MemberValue::Number(scalar) => given_number(&op, ty, scalar)?,
                _ => given(&frame.local(operation, at)?),
            });
        }
        let mut results = Vec::new();
        for at in 0..operation.results.len() {
            results.push(plain(frame.result_type(operation, at)?));
        }
        let (program, place) = (self.program, &operation.place);
        let task = Task { op: &op, operands, results, program, place };
        let made = self.alone.run(&mut self.own, &task)?;
        let made =
            made.into_iter().map(|(ty, tile)| held(&ty, tile)).collect::<Result<Vec<_>, _>>()?;
        if let (Op::Reduce { reduction, .. }, [MemberValue::Local(result)]) =
            (&operation.op, &made[..])
            && needs_rows(reduction.function, result.dtype())
        {
            let rows = frame.local(operation, 0)?.copy()?;
            result.note_partial(Partial { op: operation.op.clone(), rows, dtype: result.dtype() });
        }
        Ok(made)
    }

    /// An elementwise operation on local arrays.
    pub(crate) fn apply(
        &mut self,
        op: &Op,
        of: &[&LocalArray],
        result: &Type,
    ) -> Result<LocalArray, OperationFault> {
        let operands = of.iter().map(|array| given(array)).collect();
        let place = self.at.1.clone();
        let shape = match of {
            [one] => one.shape().iter().copied().map(Some).collect(),
            // Found from all of them.
            _ => vec![None; of.iter().map(|array| array.shape().len()).max().unwrap_or(0)],
        };
        let dtype = result.dtype().ok_or(OperationFault::NoRule)?;
        let results = vec![Type::Array(ArrayType { shape, ..ArrayType::new(&[], dtype) })];
        let task = Task { op, operands, results, program: self.program, place: &place };
        let made = self.alone.run(&mut self.own, &task)?.pop();
        let (ty, tile) = made.ok_or(OperationFault::NoRule)?;
        array_of(&ty, tile)
    }

    /// An operation of all ranks, on arrays in their default partition. Collective.
    pub(crate) fn together(
        &mut self,
        frame: &ValueFrame<'p>,
        operation: &'p Operation,
    ) -> Result<Vec<MemberValue>, OperationFault> {
        let (op, arrays) = known_slice(frame, operation)?;
        let mut operands = Vec::new();
        for (at, value) in operation.operands.iter().take(arrays).enumerate() {
            let ty = frame.ty(*value);
            operands.push(match frame.operand(operation, at)? {
                MemberValue::Number(scalar) => given_number(&op, ty, scalar)?,
                MemberValue::Parts(array) => {
                    let rows = self.default_rows(array)?;
                    let ty = ArrayType::new(&array.shape, array.dtype);
                    (placed(ty, &array.team), Given::Tile(rows.tile()))
                }
                _ => {
                    let array = frame.local(operation, at)?;
                    let ty = ArrayType::new(array.shape(), array.dtype()).placed(copies_env());
                    (Type::Array(ty), Given::Tile(array.tile()))
                }
            });
        }
        let mut results = Vec::new();
        for at in 0..operation.results.len() {
            let ty = frame.result_type(operation, at)?;
            results.push(match (plain(ty), team_of(ty)) {
                (Type::Array(array), Some(team)) if array.ndim() > 0 => placed(array, &team),
                (Type::Array(array), _) => Type::Array(array.placed(copies_env())),
                (ty, _) => ty,
            });
        }
        self.run_together(&op, operands, (results, &operation.place))
    }

    /// An operation of all members, with results in their default partition or on every member.
    pub(crate) fn run_together(
        &mut self,
        op: &Op,
        operands: Vec<(Type, Given)>,
        (results, place): (Vec<Type>, &pantile_ir::Place),
    ) -> Result<Vec<MemberValue>, OperationFault> {
        let task = Task { op, operands, results, program: self.program, place };
        let made = self.together.run(self.engine, &task)?;
        let mut held_ones = Vec::new();
        for (ty, tile) in made {
            let shape: Option<Vec<usize>> = ty.shape().iter().copied().collect();
            held_ones.push(match (team_of(&ty), shape) {
                (Some(team), Some(shape)) if !shape.is_empty() => {
                    let layout = PartLayout::default_of(&shape, &self.team(&team))?;
                    let owned = LocalArray::new(&layout.part_shape(1), tile)?;
                    let array = (&shape[..], &team);
                    MemberValue::Parts(PartedArray::plain(array, layout, owned, Spread::Default)?)
                }
                _ => held(&ty, tile)?,
            });
        }
        Ok(held_ones)
    }
}

/// What a type says of an array that every rank has.
pub(crate) fn copies_env() -> Option<Env> {
    Some(Env::Placement(Placement::Template("copies".into())))
}

/// True if the result cannot be put together from what members made of their rows.
pub(crate) fn needs_rows(reduction: Reduction, dtype: pantile_engine::DType) -> bool {
    use pantile_engine::DType as D;
    let inexact = matches!(dtype, D::F32 | D::F64 | D::C64 | D::C128);
    let rounds =
        matches!(reduction, Reduction::Sum | Reduction::Prod | Reduction::Mean | Reduction::Norm1);
    inexact && rounds
}

/// An operation without what it says about members, whose slice is in numbers, and how many operands
/// it has then.
fn known_slice(
    frame: &ValueFrame<'_>,
    operation: &Operation,
) -> Result<(Op, usize), OperationFault> {
    let (slice, first) = match &operation.op {
        Op::Subview(slice) | Op::ExtractSlice(slice) | Op::DistSubview { slice, .. } => (slice, 1),
        Op::ImmutableInsertSlice(slice) => (slice, 2),
        Op::DistUnary(named) => return Ok((Op::Unary(*named), 1)),
        Op::DistBinary(named) => return Ok((Op::Binary(*named), 2)),
        other => return Ok((other.clone(), operation.operands.len())),
    };
    let mut next = first;
    let mut list = |entries: &[Index]| -> Result<Vec<Index>, OperationFault> {
        let mut made = Vec::new();
        for entry in entries {
            made.push(match entry {
                Index::Known(_) => *entry,
                Index::Operand => {
                    next += 1;
                    Index::Known(frame.index(operation, next - 1)?)
                }
            });
        }
        Ok(made)
    };
    let slice = Slice {
        offsets: list(&slice.offsets)?,
        sizes: list(&slice.sizes)?,
        strides: list(&slice.strides)?,
    };
    let op = match &operation.op {
        Op::ImmutableInsertSlice(_) => Op::ImmutableInsertSlice(slice),
        _ => Op::ExtractSlice(slice),
    };
    Ok((op, first))
}

/// A distributed type in its default partition.
pub(crate) fn placed(array: ArrayType, team: &Attribute) -> Type {
    let env = Env::Dist(DistEnv { team: team.clone(), local: None });
    Type::Array(array.placed(Some(env)))
}

/// A type without what it says about where an array lives.
fn plain(ty: &Type) -> Type {
    match ty {
        Type::Array(array) => {
            Type::Array(ArrayType { layout: None, envs: Vec::new(), ..array.clone() })
        }
        other => other.clone(),
    }
}

/// A local array as an operand.
pub(crate) fn given(array: &LocalArray) -> (Type, Given) {
    (Type::array(array.shape(), array.dtype()), Given::Tile(array.tile()))
}

/// A number as an operand; one that decides about lengths has to be known.
fn given_number(op: &Op, ty: &Type, scalar: &Scalar) -> Result<(Type, Given), OperationFault> {
    let lengths = matches!(op, Op::Create { .. } | Op::Linspace { .. } | Op::Reshape { .. });
    if lengths && *ty == Type::Index {
        return Ok((ty.clone(), Given::Constant(*scalar)));
    }
    let ty = if is_number(ty) { ty.clone() } else { Type::scalar(scalar.dtype()) };
    Ok((ty, Given::Tile(number_array(scalar)?.tile())))
}

/// What a tile is by its type.
fn held(ty: &Type, tile: Tile) -> Result<MemberValue, OperationFault> {
    match ty {
        Type::Array(_) => Ok(MemberValue::Local(array_of(ty, tile)?)),
        _ => {
            let scalar = Scalar::from_bytes(tile.dtype(), tile.as_bytes());
            Ok(MemberValue::Number(scalar.ok_or(OperationFault::Unset)?))
        }
    }
}

fn array_of(ty: &Type, tile: Tile) -> Result<LocalArray, OperationFault> {
    let shape: Option<Vec<usize>> = ty.shape().iter().copied().collect();
    LocalArray::new(&shape.ok_or(OperationFault::NoRule)?, tile)
}
