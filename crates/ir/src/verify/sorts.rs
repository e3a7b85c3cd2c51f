//! What sort of value each operand and result has to be.

use pantile_lanes::DType;

use crate::{Arith, Op, Type};

/// A sort of value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Any,
    Index,
    Scalar,
    Whole,
    Float,
    Array,
    /// An array or a scalar.
    Elements,
    /// An array with a `dist_env`.
    Distributed,
    /// An array without one.
    Local,
    MemRef,
    Tensor,
    Handle,
}

use Sort::{Any, Array, Distributed, Elements, Float, Handle, Index, Local, Scalar, Whole};
use Sort::{MemRef, Tensor};

impl Sort {
    pub(super) fn fits(self, ty: &Type) -> bool {
        let dtype = ty.dtype();
        let scalar = matches!(ty, Type::Index | Type::Scalar(_));
        let float = matches!(dtype, Some(DType::F32 | DType::F64));
        let complex = matches!(dtype, Some(DType::C64 | DType::C128));
        match self {
            Any => true,
            Index => *ty == Type::Index,
            Scalar => scalar,
            Whole => scalar && !float && !complex,
            Float => scalar && (float || complex),
            Array => ty.as_array().is_some(),
            Elements => scalar || ty.as_array().is_some(),
            Distributed => ty.as_array().is_some_and(|array| array.dist_env().is_some()),
            Local => ty.as_array().is_some_and(|array| array.dist_env().is_none()),
            MemRef => matches!(ty, Type::MemRef(..)),
            Tensor => matches!(ty, Type::Tensor(..)),
            Handle => *ty == Type::Handle,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Any => "anything",
            Index => "an index",
            Scalar => "a scalar",
            Whole => "a whole number",
            Float => "a floating-point number",
            Array => "an array",
            Elements => "an array or a scalar",
            Distributed => "a distributed array",
            Local => "an array that is not distributed",
            MemRef => "a memref",
            Tensor => "a tensor",
            Handle => "a handle",
        }
    }
}

/// The sorts of the first operands, of all others, and of the results (the last one of all
/// others).
pub(super) type Sorts = (&'static [Sort], Sort, &'static [Sort]);

/// What sorts an operation takes and gives.
pub(super) fn of(op: &Op) -> Sorts {
    match op {
        Op::For => (&[Index, Index, Index], Any, &[Any]),
        Op::Constant(_) => (&[], Any, &[Scalar]),
        Op::Arith(Arith::AddF | Arith::SubF | Arith::MulF | Arith::DivF | Arith::NegF) => {
            (&[], Float, &[Float])
        }
        Op::Arith(_) => (&[], Whole, &[Whole]),
        Op::Compare(predicate) if predicate.of_unsigned().is_some() => (&[], Whole, &[Scalar]),
        Op::Compare(_) | Op::Convert => (&[], Scalar, &[Scalar]),
        Op::SelectScalar => (&[Whole], Scalar, &[Scalar]),
        Op::Create { value: false } => (&[], Index, &[Array]),
        Op::Create { value: true } => (&[], Elements, &[Array]),
        Op::Linspace { .. } => (&[Scalar, Scalar], Index, &[Array]),
        Op::Arange => (&[], Scalar, &[Array]),
        Op::Eye { .. } | Op::IndexAlong { .. } => (&[], Any, &[Array]),
        Op::Random { .. } => (&[], Whole, &[Array]),
        Op::Subview(_) | Op::ExtractSlice(_) | Op::Reshape { .. } => (&[Array], Index, &[Array]),
        Op::InsertSlice(_) | Op::ImmutableInsertSlice(_) => (&[Elements, Array], Index, &[Array]),
        Op::Permute(_) | Op::Cast | Op::Copy => (&[], Array, &[Array]),
        Op::Reduce { .. } | Op::MatMul | Op::Stencil { .. } | Op::MapBlocks { .. } => {
            (&[], Array, &[Array])
        }
        Op::Redistribute | Op::Replicate | Op::Halo { .. } => (&[], Array, &[Array]),
        Op::Broadcast | Op::CastElement { .. } => (&[], Elements, &[Array]),
        Op::Delete => (&[], Array, &[]),
        Op::Dim => (&[Array], Index, &[Index]),
        Op::Load => (&[Array], Index, &[Scalar]),
        Op::FromMemRef => (&[], MemRef, &[Array]),
        Op::ToTensor => (&[], Array, &[Tensor]),
        Op::Unary(_) | Op::Binary(_) | Op::Where | Op::Clip => (&[], Elements, &[Elements]),
        Op::InitDist => (&[], Any, &[Distributed]),
        Op::LocalOffsetsOf => (&[], Distributed, &[Index]),
        Op::PartsOf => (&[], Distributed, &[Local]),
        Op::DefaultPartition | Op::BoundingBox { .. } => (&[], Index, &[Index]),
        Op::LocalTarget | Op::LocalCore { .. } => (&[Distributed], Index, &[Index]),
        Op::Repartition { .. } | Op::DistSubview { .. } | Op::DistUnary(_) => {
            (&[Distributed], Index, &[Distributed])
        }
        Op::DistBinary(_) => (&[Distributed, Distributed], Index, &[Distributed]),
        Op::TeamSize(_) | Op::TeamMember(_) => (&[], Any, &[Index]),
        Op::AllReduce { .. } => (&[], MemRef, &[]),
        Op::GetHalo { .. } => (&[Local], Index, &[Handle, Local]),
        Op::CopyReshape { .. } | Op::CopyPermute { .. } => (&[Local], Index, &[Handle, Local]),
        Op::Wait => (&[], Handle, &[]),
        Op::Return | Op::While | Op::Condition | Op::Yield | Op::Region(_) | Op::RegionYield => {
            (&[], Any, &[Any])
        }
    }
}
