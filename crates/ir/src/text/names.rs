//! The names of operations, functions, comparisons and conversions.

use pantile_lanes::{Binary, DType, Unary};

use crate::{Arith, Op, Predicate, Reduction, Spelling, Type};

const ARITH: [(Arith, &str); 25] = [
    (Arith::AddI, "arith.addi"),
    (Arith::SubI, "arith.subi"),
    (Arith::MulI, "arith.muli"),
    (Arith::DivSI, "arith.divsi"),
    (Arith::CeilDivSI, "arith.ceildivsi"),
    (Arith::FloorDivSI, "arith.floordivsi"),
    (Arith::RemSI, "arith.remsi"),
    (Arith::MinSI, "arith.minsi"),
    (Arith::MaxSI, "arith.maxsi"),
    (Arith::AndI, "arith.andi"),
    (Arith::OrI, "arith.ori"),
    (Arith::XOrI, "arith.xori"),
    (Arith::DivUI, "arith.divui"),
    (Arith::CeilDivUI, "arith.ceildivui"),
    (Arith::RemUI, "arith.remui"),
    (Arith::MinUI, "arith.minui"),
    (Arith::MaxUI, "arith.maxui"),
    (Arith::ShLI, "arith.shli"),
    (Arith::ShRSI, "arith.shrsi"),
    (Arith::ShRUI, "arith.shrui"),
    (Arith::AddF, "arith.addf"),
    (Arith::SubF, "arith.subf"),
    (Arith::MulF, "arith.mulf"),
    (Arith::DivF, "arith.divf"),
    (Arith::NegF, "arith.negf"),
];

/// Comparisons: of whole numbers, of floating-point numbers, and their numbers in quoted forms.
const PREDICATES: [(Predicate, &str, &str, [Option<i64>; 2]); 10] = [
    (Predicate::Eq, "eq", "oeq", [Some(0), Some(1)]),
    (Predicate::Ne, "ne", "une", [Some(1), Some(13)]),
    (Predicate::Lt, "slt", "olt", [Some(2), Some(4)]),
    (Predicate::Le, "sle", "ole", [Some(3), Some(5)]),
    (Predicate::Gt, "sgt", "ogt", [Some(4), Some(2)]),
    (Predicate::Ge, "sge", "oge", [Some(5), Some(3)]),
    (Predicate::ULt, "ult", "", [Some(6), None]),
    (Predicate::ULe, "ule", "", [Some(7), None]),
    (Predicate::UGt, "ugt", "", [Some(8), None]),
    (Predicate::UGe, "uge", "", [Some(9), None]),
];

/// Short names of functions of two elements.
const SHORT: [(&str, Binary); 24] = [
    ("sub", Binary::Subtract),
    ("mul", Binary::Multiply),
    ("div", Binary::Divide),
    ("mod", Binary::Remainder),
    ("floordiv", Binary::FloorDivide),
    ("eq", Binary::Equal),
    ("ne", Binary::NotEqual),
    ("lt", Binary::Less),
    ("le", Binary::LessEqual),
    ("gt", Binary::Greater),
    ("ge", Binary::GreaterEqual),
    ("and", Binary::BitwiseAnd),
    ("or", Binary::BitwiseOr),
    ("xor", Binary::BitwiseXor),
    ("shl", Binary::BitwiseLeftShift),
    ("shr", Binary::BitwiseRightShift),
    ("land", Binary::LogicalAnd),
    ("lor", Binary::LogicalOr),
    ("lxor", Binary::LogicalXor),
    ("max", Binary::Maximum),
    ("min", Binary::Minimum),
    ("arctan2", Binary::Atan2),
    ("power", Binary::Pow),
    ("true_divide", Binary::Divide),
];

/// Functions as attributes name them: by number, by name, by a short name.
pub(super) trait Function: Copy {
    const WHAT: &'static str;
    fn from_number(id: i64) -> Option<Self>;
    fn from_text(name: &str) -> Option<Self>;
    fn number(self) -> Option<i64>;
    fn text(self) -> &'static str;
}

impl Function for Binary {
    const WHAT: &'static str = "function of two elements";

    fn from_number(id: i64) -> Option<Self> {
        Self::from_id(id)
    }

    fn from_text(name: &str) -> Option<Self> {
        let short = SHORT.iter().find(|(short, _)| *short == name).map(|(_, function)| *function);
        Self::from_name(name).or(short)
    }

    fn number(self) -> Option<i64> {
        self.id()
    }

    fn text(self) -> &'static str {
        self.name()
    }
}

impl Function for Unary {
    const WHAT: &'static str = "function of one element";

    fn from_number(id: i64) -> Option<Self> {
        Self::from_id(id)
    }

    fn from_text(name: &str) -> Option<Self> {
        let short = match name {
            "neg" => Some(Self::Negative),
            "pos" => Some(Self::Positive),
            "not" => Some(Self::BitwiseInvert),
            "lnot" => Some(Self::LogicalNot),
            _ => None,
        };
        Self::from_name(name).or(short)
    }

    fn number(self) -> Option<i64> {
        self.id()
    }

    fn text(self) -> &'static str {
        self.name()
    }
}

impl Function for Reduction {
    const WHAT: &'static str = "reduction";

    fn from_number(id: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|reduction| reduction.id() == Some(id))
    }

    fn from_text(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reduction| reduction.name() == name)
    }

    fn number(self) -> Option<i64> {
        self.id()
    }

    fn text(self) -> &'static str {
        self.name()
    }
}

/// The arithmetic with this name.
pub(super) fn arith(name: &str) -> Option<Arith> {
    ARITH.iter().find(|(_, known)| *known == name).map(|(arith, _)| *arith)
}

/// The comparison with this name, of whole or of floating-point numbers.
pub(super) fn predicate(name: &str, float: bool) -> Option<Predicate> {
    let mut known = PREDICATES
        .iter()
        .map(|(predicate, whole, decimal, _)| (*predicate, if float { *decimal } else { *whole }));
    known.find(|(_, word)| !word.is_empty() && *word == name).map(|(predicate, _)| predicate)
}

/// The comparison with this number in the quoted form, of whole or of floating-point numbers.
pub(super) fn numbered_predicate(number: i64, float: bool) -> Option<Predicate> {
    let known = PREDICATES.iter().find(|(.., numbers)| numbers[usize::from(float)] == Some(number));
    known.map(|(predicate, ..)| *predicate)
}

/// The name of a comparison.
pub(super) fn predicate_name(predicate: Predicate, float: bool) -> &'static str {
    let known = PREDICATES.iter().find(|(known, ..)| *known == predicate);
    known.map_or("eq", |(_, whole, decimal, _)| match float {
        true if !decimal.is_empty() => decimal,
        _ => whole,
    })
}

/// True if comparisons of this type are those of floating-point numbers.
pub(super) fn is_float(ty: &Type) -> bool {
    matches!(ty.dtype(), Some(DType::F32 | DType::F64))
}

/// The name of the conversion from one scalar type to another; `arith.convert` does all of them.
pub(super) fn conversion(from: &Type, to: &Type) -> &'static str {
    // Signs and truth values are where the dialect's conversions differ from ours.
    let whole = |ty: &Type| match ty {
        Type::Scalar(element) if element.spelling == Spelling::Plain => match element.dtype {
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Some(element.dtype.bytes()),
            _ => None,
        },
        _ => None,
    };
    let float = |ty: &Type| match ty {
        Type::Scalar(element) => {
            matches!(element.dtype, DType::F32 | DType::F64).then(|| element.dtype.bytes())
        }
        _ => None,
    };
    match (whole(from), whole(to), float(from), float(to)) {
        (Some(_), None, _, _) if *to == Type::Index => "arith.index_cast",
        (None, Some(_), _, _) if *from == Type::Index => "arith.index_cast",
        (Some(from), Some(to), _, _) if from < to => "arith.extsi",
        (Some(from), Some(to), _, _) if from > to => "arith.trunci",
        (Some(_), _, _, Some(_)) => "arith.sitofp",
        (_, Some(_), Some(_), _) => "arith.fptosi",
        (_, _, Some(from), Some(to)) if from < to => "arith.extf",
        (_, _, Some(from), Some(to)) if from > to => "arith.truncf",
        _ => "arith.convert",
    }
}

impl Op {
    /// Its name in texts. Comparisons and conversions have names that depend on types: those are
    /// `arith.cmp` and `arith.convert` here.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Return => "return",
            Self::For => "scf.for",
            Self::While => "scf.while",
            Self::Condition => "scf.condition",
            Self::Yield => "scf.yield",
            Self::Region(_) => "region.env_region",
            Self::RegionYield => "region.env_region_yield",
            Self::Constant(value) if matches!(value.dtype(), DType::C64 | DType::C128) => {
                "complex.constant"
            }
            Self::Constant(_) => "arith.constant",
            Self::Arith(arith) => {
                ARITH.iter().find(|(known, _)| known == arith).map_or("arith", |(_, name)| name)
            }
            Self::Compare(_) => "arith.cmp",
            Self::SelectScalar => "arith.select",
            Self::Convert => "arith.convert",
            Self::DistUnary(_) => "dist.ewuny",
            Self::DistBinary(_) => "dist.ewbin",
            other => other.array_name().or(other.dist_name()).unwrap_or("unknown"),
        }
    }

    fn array_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Create { .. } => "ndarray.create",
            Self::Linspace { .. } => "ndarray.linspace",
            Self::Arange => "ndarray.arange",
            Self::Eye { .. } => "ndarray.eye",
            Self::Random { .. } => "ndarray.random",
            Self::IndexAlong { .. } => "ndarray.index",
            Self::Subview(_) => "ndarray.subview",
            Self::ExtractSlice(_) => "ndarray.extract_slice",
            Self::InsertSlice(_) => "ndarray.insert_slice",
            Self::ImmutableInsertSlice(_) => "ndarray.immutable_insert_slice",
            Self::Reshape { .. } => "ndarray.reshape",
            Self::Permute(_) => "ndarray.permute_dims",
            Self::Broadcast => "ndarray.broadcast",
            Self::Cast => "ndarray.cast",
            Self::Copy => "ndarray.copy",
            Self::Delete => "ndarray.delete",
            Self::Dim => "ndarray.dim",
            Self::Load => "ndarray.load",
            Self::FromMemRef => "ndarray.from_memref",
            Self::ToTensor => "ndarray.to_tensor",
            Self::Unary(_) => "ndarray.ewuny",
            Self::Binary(_) => "ndarray.ewbin",
            Self::Where => "ndarray.where",
            Self::Clip => "ndarray.clip",
            Self::MatMul => "ndarray.matmul",
            Self::CastElement { .. } => "ndarray.cast_elemtype",
            Self::Reduce { axes: None, keepdims: false, correction: 0, .. } => "ndarray.reduction",
            Self::Reduce { .. } => "ndarray.reduce",
            Self::Stencil { .. } => "ndarray.stencil",
            Self::MapBlocks { .. } => "ndarray.map_blocks",
            Self::Redistribute => "ndarray.redistribute",
            Self::Replicate => "ndarray.replicate",
            Self::Halo { .. } => "ndarray.halo",
            _ => return None,
        })
    }

    fn dist_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::InitDist => "dist.init_dist_array",
            Self::LocalOffsetsOf => "dist.local_offsets_of",
            Self::PartsOf => "dist.parts_of",
            Self::DefaultPartition => "dist.default_partition",
            Self::LocalTarget => "dist.local_target_of_slice",
            Self::BoundingBox { .. } => "dist.local_bounding_box",
            Self::LocalCore { .. } => "dist.local_core",
            Self::Repartition { .. } => "dist.repartition",
            Self::DistSubview { .. } => "dist.subview",
            Self::TeamSize(_) => "distruntime.team_size",
            Self::TeamMember(_) => "distruntime.team_member",
            Self::AllReduce { .. } => "distruntime.allreduce",
            Self::GetHalo { .. } => "distruntime.get_halo",
            Self::CopyReshape { .. } => "distruntime.copy_reshape",
            Self::CopyPermute { .. } => "distruntime.copy_permute",
            Self::Wait => "distruntime.wait",
            _ => return None,
        })
    }
}
