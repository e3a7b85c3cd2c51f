//! The operations, each with the order of its operands.

use pantile_lanes::{Binary, Scalar, Unary};

use crate::Attribute;

/// An entry of a list that mixes constants and values, such as `[0, %n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Index {
    /// A constant.
    Known(i64),
    /// The next operand.
    Operand,
}

/// Offsets, sizes and steps of a slice, one of each per axis. The values among them are operands
/// in this order: offsets, sizes, steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The first index.
    pub offsets: Vec<Index>,
    /// The number of indices.
    pub sizes: Vec<Index>,
    /// The distance between indices; any but 0.
    pub strides: Vec<Index>,
}

/// A function as the text names it: by the dialect's number, or by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Named<F> {
    /// The function.
    pub function: F,
    /// True if the text has the number.
    pub by_id: bool,
}

impl<F> From<F> for Named<F> {
    fn from(function: F) -> Self {
        Self { function, by_id: false }
    }
}

/// Integer and floating-point arithmetic on scalars (`arith.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arith {
    /// `addi`
    AddI,
    /// `subi`
    SubI,
    /// `muli`
    MulI,
    /// `divsi`: towards zero
    DivSI,
    /// `ceildivsi`
    CeilDivSI,
    /// `floordivsi`
    FloorDivSI,
    /// `remsi`: has the sign of the first
    RemSI,
    /// `minsi`
    MinSI,
    /// `maxsi`
    MaxSI,
    /// `andi`
    AndI,
    /// `ori`
    OrI,
    /// `xori`
    XOrI,
    /// `divui`: of the bits as unsigned numbers, as all whose name ends in `ui`
    DivUI,
    /// `ceildivui`
    CeilDivUI,
    /// `remui`
    RemUI,
    /// `minui`
    MinUI,
    /// `maxui`
    MaxUI,
    /// `shli`
    ShLI,
    /// `shrsi`: the sign moves in
    ShRSI,
    /// `shrui`: zeros move in
    ShRUI,
    /// `addf`
    AddF,
    /// `subf`
    SubF,
    /// `mulf`
    MulF,
    /// `divf`
    DivF,
    /// `negf`: one operand
    NegF,
}

impl Arith {
    /// For what is done with the bits as unsigned numbers: what is done with those numbers.
    #[must_use]
    pub fn of_unsigned(self) -> Option<Self> {
        Some(match self {
            Self::DivUI => Self::DivSI,
            Self::CeilDivUI => Self::CeilDivSI,
            Self::RemUI => Self::RemSI,
            Self::MinUI => Self::MinSI,
            Self::MaxUI => Self::MaxSI,
            Self::ShRUI => Self::ShRSI,
            _ => return None,
        })
    }
}

/// The comparison of `arith.cmpi` and `arith.cmpf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Predicate {
    /// `eq`, `oeq`
    Eq,
    /// `ne`, `une`
    Ne,
    /// `slt`, `olt`
    Lt,
    /// `sle`, `ole`
    Le,
    /// `sgt`, `ogt`
    Gt,
    /// `sge`, `oge`
    Ge,
    /// `ult`: of the bits of whole numbers as unsigned ones, as the next three
    ULt,
    /// `ule`
    ULe,
    /// `ugt`
    UGt,
    /// `uge`
    UGe,
}

impl Predicate {
    /// For a comparison of the bits as unsigned numbers: the comparison of those numbers.
    #[must_use]
    pub fn of_unsigned(self) -> Option<Self> {
        Some(match self {
            Self::ULt => Self::Lt,
            Self::ULe => Self::Le,
            Self::UGt => Self::Gt,
            Self::UGe => Self::Ge,
            _ => return None,
        })
    }
}

/// What is left of the elements along reduced axes. The dialect's numbers are those of
/// [`Reduction::id`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reduction {
    /// The largest.
    Max,
    /// The exact sum divided by the count, rounded once.
    Mean,
    /// The smallest.
    Min,
    /// The product, over a fixed tree.
    Prod,
    /// The exact sum, rounded once.
    Sum,
    /// The square root of `Var`.
    Std,
    /// The mean of the squared distances from the mean; `correction` is taken off the count.
    Var,
    /// True if one is not zero.
    Any,
    /// True if none is zero.
    All,
    /// The first place of the smallest, counted row-major over the reduced axes.
    ArgMin,
    /// The first place of the largest.
    ArgMax,
    /// How many are not zero.
    CountNonZero,
    /// The sum of the magnitudes.
    Norm1,
    /// The square root of the sum of the squared magnitudes.
    Norm2,
    /// The largest magnitude.
    NormInf,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Max,
        Self::Mean,
        Self::Min,
        Self::Prod,
        Self::Sum,
        Self::Std,
        Self::Var,
        Self::Any,
        Self::All,
        Self::ArgMin,
        Self::ArgMax,
        Self::CountNonZero,
        Self::Norm1,
        Self::Norm2,
        Self::NormInf,
    ];

    /// Its name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Prod => "prod",
            Self::Sum => "sum",
            Self::Std => "std",
            Self::Var => "var",
            Self::Any => "any",
            Self::All => "all",
            Self::ArgMin => "argmin",
            Self::ArgMax => "argmax",
            Self::CountNonZero => "count_nonzero",
            Self::Norm1 => "norm1",
            Self::Norm2 => "norm2",
            Self::NormInf => "norminf",
        }
    }

    /// Its number in the dialect, if that knows it.
    #[must_use]
    pub fn id(self) -> Option<i64> {
        let place = Self::ALL.iter().position(|reduction| *reduction == self)?;
        i64::try_from(place).ok().filter(|id| *id < 7)
    }
}

/// Which random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Random {
    /// Even in `[0, 1)`.
    Uniform,
    /// Normal with mean 0 and variance 1.
    Normal,
}

/// What a stencil reads beyond the ends of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Boundary {
    /// Zeros.
    Zero,
    /// The other end.
    Periodic,
}

/// What an operation does. `T` stands for arrays, `s` for scalars, `i` for indices; `*` for any
/// number of operands. Text forms are those of the documentation of the module `text`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // ---- structure ----
    /// `return`: results*.
    Return,
    /// `scf.for`: lower i, upper i, step i, carried*. One block: counter, carried*. Results: carried*.
    For,
    /// `scf.while`: carried*. Two blocks: carried* up to `scf.condition`, then what that passes on.
    While,
    /// `scf.condition`: truth s, passed on*.
    Condition,
    /// `scf.yield`: values*.
    Yield,
    /// `region.env_region`: values*. One block without arguments.
    Region(Attribute),
    /// `region.env_region_yield`: values*.
    RegionYield,

    // ---- scalars ----
    /// `arith.constant` (of an index: `I64`), `complex.constant`.
    Constant(Scalar),
    /// Two scalars of the same type (one for `negf`).
    Arith(Arith),
    /// `arith.cmpi`, `arith.cmpf`: two scalars of the same type; gives an `i1`.
    Compare(Predicate),
    /// `arith.select`: truth, yes, no.
    SelectScalar,
    /// `arith.index_cast`, `arith.sitofp`, `arith.fptosi`, `arith.extf`, `arith.truncf`: one
    /// scalar in another type. All print as `arith.convert`.
    Convert,

    // ---- arrays: creation ----
    /// `ndarray.create`: lengths i*, then the value if there is one. Without: any values (zeros).
    Create {
        /// True if the last operand is the value.
        value: bool,
    },
    /// `ndarray.linspace`: start s, stop s, number i.
    Linspace {
        /// True if the last element is `stop`.
        endpoint: bool,
    },
    /// `ndarray.arange`: start s, step s. Element i is `start + i * step`.
    Arange,
    /// `ndarray.eye`: ones where column = row + k.
    Eye {
        /// The diagonal.
        k: i64,
    },
    /// `ndarray.random`: seed s (an integer). Element numbers are row-major global ones.
    Random {
        /// Which numbers.
        kind: Random,
        /// Independent numbers for the same seed.
        stream: u64,
    },
    /// `ndarray.index`: the global index along an axis.
    IndexAlong {
        /// The axis.
        axis: usize,
    },

    // ---- arrays: views and updates ----
    /// `ndarray.subview`: T, slice i*. A view; axes of size 1 may be dropped.
    Subview(Slice),
    /// `ndarray.extract_slice`: T, slice i*. A copy.
    ExtractSlice(Slice),
    /// `ndarray.insert_slice`: source T or s, destination T, slice i*. In place, no result.
    InsertSlice(Slice),
    /// `ndarray.immutable_insert_slice`: as `insert_slice`, with the changed copy as result.
    ImmutableInsertSlice(Slice),
    /// `ndarray.reshape`: T, lengths i*.
    Reshape {
        /// What the text says about copying.
        copy: Option<bool>,
    },
    /// `ndarray.permute_dims`: T.
    Permute(Vec<usize>),
    /// `ndarray.broadcast`: T; aligned at the last axes.
    Broadcast,
    /// `ndarray.cast`: T; changes what is known of the shape only.
    Cast,
    /// `ndarray.copy`: T.
    Copy,
    /// `ndarray.delete`: T.
    Delete,
    /// `ndarray.dim`: T, axis i; gives an index.
    Dim,
    /// `ndarray.load`: T, one i per axis; gives a scalar.
    Load,
    /// `ndarray.from_memref`: memref.
    FromMemRef,
    /// `ndarray.to_tensor`: T.
    ToTensor,

    // ---- arrays: arithmetic ----
    /// `ndarray.ewuny`: T or s.
    Unary(Named<Unary>),
    /// `ndarray.ewbin`: two of T or s.
    Binary(Named<Binary>),
    /// `ndarray.where`: truth T or s, yes T or s, no T or s.
    Where,
    /// `ndarray.clip`: T, low T or s, high T or s.
    Clip,
    /// `ndarray.cast_elemtype`: T.
    CastElement {
        /// What the text says about copying.
        copy: Option<bool>,
    },
    /// `ndarray.reduction` (all axes, no attributes but `op`) and `ndarray.reduce`: T.
    Reduce {
        /// What is computed.
        reduction: Named<Reduction>,
        /// The axes; `None` for all.
        axes: Option<Vec<usize>>,
        /// True if reduced axes stay with length 1.
        keepdims: bool,
        /// What is taken off the count (`Var`, `Std`): the bits of an `f64`.
        correction: u64,
    },
    /// `ndarray.matmul`: two T. Rows of the one times columns of the other, over the last two axes;
    /// the axes before them are broadcast. An operand with one axis is a row on the left, a column on
    /// the right; two such give the sum of the products.
    MatMul,
    /// `ndarray.stencil`: T. Sum of weights times shifted elements, in the order of the points.
    Stencil {
        /// Offsets, one per axis.
        points: Vec<Vec<i64>>,
        /// The bits of an `f64` for each point.
        weights: Vec<u64>,
        /// What lies beyond the ends.
        boundary: Boundary,
    },
    /// `ndarray.map_blocks`: T*. A function applied to every block of a fixed grid.
    MapBlocks {
        /// The function; takes and gives arrays of a block's shape.
        function: String,
        /// The shape of a block; the last ones along an axis may be smaller.
        block: Vec<usize>,
    },

    // ---- arrays: where they live ----
    /// `ndarray.redistribute`: T; the result's type says where to. Ownership moves.
    Redistribute,
    /// `ndarray.replicate`: T; copies on every rank.
    Replicate,
    /// `ndarray.halo`: T; the same array whose tiles know their neighbours' edges.
    Halo {
        /// Widths below, one per axis.
        low: Vec<usize>,
        /// Widths above, one per axis.
        high: Vec<usize>,
    },

    // ---- dist: what one member does ----
    /// `dist.init_dist_array`: offsets i*, parts T*.
    InitDist,
    /// `dist.local_offsets_of`: T; gives one i per axis.
    LocalOffsetsOf,
    /// `dist.parts_of`: T; gives 1 or 3 arrays.
    PartsOf,
    /// `dist.default_partition`: members i, member i, lengths i*; gives offsets i*, sizes i*.
    DefaultPartition,
    /// `dist.local_target_of_slice`: T, offsets i*, sizes i*, strides i*; gives offsets, sizes.
    LocalTarget,
    /// `dist.local_bounding_box`: view offsets, sizes, strides, target offsets, sizes, and the
    /// offsets and sizes of a previous box if there is one; gives offsets, sizes.
    BoundingBox {
        /// The intersection instead of the hull.
        inner: bool,
        /// True if there is a previous box.
        previous: bool,
    },
    /// `dist.local_core`: T, target offsets, sizes, slice offsets, sizes, strides, and a previous
    /// core's offsets and sizes if there is one; gives offsets, sizes.
    LocalCore {
        /// True if there is a previous core.
        previous: bool,
    },
    /// `dist.repartition`: T, and offsets and sizes if something else than the default is wanted.
    Repartition {
        /// True if there are offsets and sizes.
        request: bool,
    },
    /// `dist.subview`: T, slice i*, and target offsets and sizes if there is a target.
    DistSubview {
        /// The slice.
        slice: Slice,
        /// True if there are target offsets and sizes.
        target: bool,
    },
    /// `dist.ewuny`: T, and core offsets, core sizes, target offsets if there is a core.
    DistUnary(Named<Unary>),
    /// `dist.ewbin`: two T, and core offsets, core sizes, target offsets if there is a core.
    DistBinary(Named<Binary>),

    // ---- distruntime: what the runtime does for one member ----
    /// `distruntime.team_size`: gives an index.
    TeamSize(Attribute),
    /// `distruntime.team_member`: gives an index.
    TeamMember(Attribute),
    /// `distruntime.allreduce`: memref, in place. Sums and products of floats are rounded once where
    /// the memory holds a reduction of rows. A mean divides the sum of rows by `count` elements, with
    /// one rounding for both.
    AllReduce {
        /// What is computed.
        reduction: Named<Reduction>,
        /// The team, if the text names one.
        team: Option<Attribute>,
    },
    /// `distruntime.get_halo`: local T, global shape, local offsets, box offsets, box sizes (i*
    /// each); gives a handle, the left and the right halo.
    GetHalo {
        /// The team.
        team: Attribute,
        /// What a cache knows it by; -1 if nobody numbered it.
        key: i64,
    },
    /// `distruntime.copy_reshape`: local T, global shape, offsets, new shape, new offsets, new
    /// local shape (i* each); gives a handle and the new local array.
    CopyReshape {
        /// The team.
        team: Attribute,
    },
    /// `distruntime.copy_permute`: local T, global shape, offsets, new offsets, new local shape
    /// (i* each); gives a handle and the new local array.
    CopyPermute {
        /// The team.
        team: Attribute,
        /// The permutation.
        axes: Vec<usize>,
    },
    /// `distruntime.wait`: handle.
    Wait,
}

impl Op {
    /// True if all members have to do it together, so that no pass may remove or reorder it by
    /// looking at one member only.
    #[must_use]
    pub fn is_collective(&self) -> bool {
        matches!(
            self,
            Self::Redistribute
                | Self::Replicate
                | Self::Halo { .. }
                | Self::Repartition { .. }
                | Self::AllReduce { .. }
                | Self::GetHalo { .. }
                | Self::CopyReshape { .. }
                | Self::CopyPermute { .. }
                | Self::Wait
        )
    }
}
