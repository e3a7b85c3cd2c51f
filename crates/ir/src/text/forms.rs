//! How each operation is written: one table for the reader and the printer.
//!
//! An operation that is not in the table is written in the quoted form, or (loops, regions,
//! constants, comparisons) has functions of its own in the reader and the printer.

use crate::{ArrayType, Index, Op, Slice, Type};

/// A piece of what stands between the name of an operation and its attributes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    /// `%a`
    One,
    /// `%a, %b`, maybe none.
    Many,
    /// `,`
    Comma,
    /// A word of the form itself.
    Word(&'static str),
    /// `@f`, an attribute.
    Symbol(&'static str),
    /// `true` or `false`, an attribute.
    Flag(&'static str),
    /// `[%a, %b]`
    Bracket,
    /// `[0, %a] [3, 3] [1, 1]`: offsets, sizes and strides.
    Slice,
    /// `[1, 0]`, an attribute.
    Numbers(&'static str),
    /// Words, each followed by values, in any order. From the given one on there are all or none,
    /// and the attribute says which.
    Clauses(&'static [&'static str], usize, &'static str),
}

/// How the types behind the colon are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signature {
    /// `(T, index) -> T`: all of them.
    Function,
    /// `T -> T`: the first operand, the others are indices; one result.
    Arrow,
    /// `T to T`: the first operand, the others are indices; one result.
    To,
    /// `T to index, index`: the first operand, the others are indices; all results.
    ToMany,
    /// `index, T to T`: all operands, one result.
    ManyTo,
    /// `T into T`: the first two operands, the others are indices; no result.
    Into,
    /// As `Into`, with a result that has the second type.
    IntoSame,
    /// `T`: the first operand, the others are indices; no result.
    Only,
    /// As `Only`, with one element as result.
    Element,
    /// `index, index`: all results; the operands are indices.
    Results,
    /// `T`: of all operands and of the result.
    Same,
    /// `T`: as `Same`, except that the first operand is an `i1`.
    Select,
}

/// How an operation is written.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) pieces: &'static [Piece],
    pub(super) signature: Signature,
}

use Piece::{Bracket, Clauses, Comma, Flag, Many, Numbers, One, Symbol, Word};
use Signature::{Arrow, Element, Function, Into, IntoSame, ManyTo, Only, Results, Same, Select};
use Signature::{To, ToMany};

const fn form(name: &'static str, pieces: &'static [Piece], signature: Signature) -> Form {
    Form { name, pieces, signature }
}

const TWO: &[Piece] = &[One, Comma, One];
const THREE: &[Piece] = &[One, Comma, One, Comma, One];
const CORE: &[&str] = &["toffs", "tsizes", "soffs", "ssizes", "sstrides", "coffs", "csizes"];

/// All forms.
pub(super) static FORMS: &[Form] = &[
    form("ndarray.create", &[Many, Clauses(&["value"], 0, "value")], Function),
    form("ndarray.linspace", &[One, One, One, Flag("endpoint")], Function),
    form("ndarray.arange", TWO, Function),
    form("ndarray.eye", &[], Function),
    form("ndarray.random", &[One], Function),
    form("ndarray.index", &[], Function),
    form("ndarray.subview", &[One, Piece::Slice], To),
    form("ndarray.extract_slice", &[One, Piece::Slice], To),
    form("ndarray.insert_slice", &[One, Word("into"), One, Piece::Slice], Into),
    form("ndarray.immutable_insert_slice", &[One, Word("into"), One, Piece::Slice], IntoSame),
    form("ndarray.reshape", &[One, Many], Arrow),
    form("ndarray.permute_dims", &[One, Numbers("axes")], Arrow),
    form("ndarray.broadcast", &[One], Arrow),
    form("ndarray.cast", &[One], To),
    form("ndarray.copy", &[One], Arrow),
    form("ndarray.delete", &[One], Only),
    form("ndarray.dim", &[One, One], Arrow),
    form("ndarray.load", &[One, Bracket], Element),
    form("ndarray.from_memref", &[One], Arrow),
    form("ndarray.to_tensor", &[One], Arrow),
    form("ndarray.ewuny", &[One], Arrow),
    form("ndarray.ewbin", TWO, Function),
    form("ndarray.where", THREE, Function),
    form("ndarray.clip", THREE, Function),
    form("ndarray.matmul", TWO, Function),
    form("ndarray.cast_elemtype", &[One], To),
    form("ndarray.reduction", &[One], Arrow),
    form("ndarray.reduce", &[One], Arrow),
    form("ndarray.stencil", &[One], Arrow),
    form("ndarray.map_blocks", &[Symbol("function"), Many], Function),
    form("ndarray.redistribute", &[One], Arrow),
    form("ndarray.replicate", &[One], Arrow),
    form("ndarray.halo", &[One], Arrow),
    form("dist.init_dist_array", &[Clauses(&["l_offset", "parts"], 2, "")], ManyTo),
    form("dist.local_target_of_slice", &[One, Bracket, Bracket, Bracket], ToMany),
    form(
        "dist.local_bounding_box",
        &[
            Flag("inner"),
            Bracket,
            Bracket,
            Bracket,
            Bracket,
            Bracket,
            Clauses(&["bboffs", "bb_sizes"], 0, "previous"),
        ],
        Results,
    ),
    form("dist.local_core", &[One, Clauses(CORE, 5, "previous")], ToMany),
    form("dist.repartition", &[One, Clauses(&["loffs", "lsizes"], 0, "request")], ManyTo),
    form("dist.subview", &[One, Piece::Slice, Clauses(&["toffs", "tsizes"], 0, "target")], To),
    form(
        "distruntime.copy_reshape",
        &[
            One,
            Clauses(&["g_shape", "l_offs"], 2, ""),
            Word("to"),
            Clauses(&["n_g_shape", "n_offs", "n_shape"], 3, ""),
        ],
        Function,
    ),
    form(
        "distruntime.copy_permute",
        &[
            One,
            Clauses(&["g_shape", "l_offs"], 2, ""),
            Word("to"),
            Clauses(&["n_offs", "n_shape"], 2, ""),
            Word("axes"),
            Numbers("axes"),
        ],
        Function,
    ),
    form("arith.addi", TWO, Same),
    form("arith.subi", TWO, Same),
    form("arith.muli", TWO, Same),
    form("arith.divsi", TWO, Same),
    form("arith.ceildivsi", TWO, Same),
    form("arith.floordivsi", TWO, Same),
    form("arith.remsi", TWO, Same),
    form("arith.minsi", TWO, Same),
    form("arith.maxsi", TWO, Same),
    form("arith.andi", TWO, Same),
    form("arith.ori", TWO, Same),
    form("arith.xori", TWO, Same),
    form("arith.divui", TWO, Same),
    form("arith.ceildivui", TWO, Same),
    form("arith.remui", TWO, Same),
    form("arith.minui", TWO, Same),
    form("arith.maxui", TWO, Same),
    form("arith.shli", TWO, Same),
    form("arith.shrsi", TWO, Same),
    form("arith.shrui", TWO, Same),
    form("arith.addf", TWO, Same),
    form("arith.subf", TWO, Same),
    form("arith.mulf", TWO, Same),
    form("arith.divf", TWO, Same),
    form("arith.negf", &[One], Same),
    form("arith.select", THREE, Select),
    form("arith.convert", &[One], To),
    form("arith.index_cast", &[One], To),
    form("arith.sitofp", &[One], To),
    form("arith.fptosi", &[One], To),
    form("arith.extf", &[One], To),
    form("arith.truncf", &[One], To),
    form("arith.extsi", &[One], To),
    form("arith.trunci", &[One], To),
    form("arith.extui", &[One], To),
    form("arith.uitofp", &[One], To),
    form("arith.index_castui", &[One], To),
];

/// The form of the operation with this name.
pub(super) fn of(name: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.name == name)
}

/// How many of a slice's entries are values.
pub(super) fn values_in(slice: &Slice) -> usize {
    let lists = [&slice.offsets, &slice.sizes, &slice.strides];
    lists.into_iter().flatten().filter(|entry| **entry == Index::Operand).count()
}

/// How many operands each piece has that may have any number: `Many`, `Bracket`, `Slice` and every
/// word of `Clauses`. None if the operands cannot be told apart.
pub(super) fn segments(op: &Op, operands: &[&Type], results: &[&Type]) -> Option<Vec<usize>> {
    let count = operands.len();
    let of = |extra: usize, parts: usize, each: usize| {
        (count == extra + parts * each).then(|| vec![each; parts])
    };
    let ndim = |ty: Option<&&Type>| ty.and_then(|ty| ty.as_array()).map(ArrayType::ndim);
    let half = results.len().is_multiple_of(2).then_some(results.len() / 2);
    Some(match op {
        Op::Create { value } => {
            let value = usize::from(*value);
            vec![count.checked_sub(value)?, value]
        }
        Op::MapBlocks { .. } => vec![count],
        Op::Reshape { .. } | Op::Load => vec![count.checked_sub(1)?],
        Op::Subview(slice) | Op::ExtractSlice(slice) => of(1, 1, values_in(slice))?,
        Op::InsertSlice(slice) | Op::ImmutableInsertSlice(slice) => of(2, 1, values_in(slice))?,
        Op::InitDist => {
            let offsets = operands.iter().take_while(|ty| ***ty == Type::Index).count();
            vec![offsets, count - offsets]
        }
        Op::LocalTarget => of(1, 3, half?)?,
        Op::BoundingBox { previous, .. } => {
            of(0, if *previous { 7 } else { 5 }, half?).map(|each| padded(each, 7))?
        }
        Op::LocalCore { previous } => {
            of(1, if *previous { 7 } else { 5 }, half?).map(|each| padded(each, 7))?
        }
        Op::Repartition { request: false } => of(1, 0, 0).map(|each| padded(each, 2))?,
        Op::Repartition { request: true } => of(1, 2, ndim(operands.first())?)?,
        Op::DistSubview { slice, target } => {
            let values = values_in(slice);
            let each = if *target { slice.offsets.len() } else { 0 };
            (count == 1 + values + 2 * each).then(|| vec![values, each, each])?
        }
        Op::CopyReshape { .. } => {
            let (old, new) = (ndim(operands.first())?, ndim(results.get(1))?);
            (count == 1 + 2 * old + 3 * new).then(|| vec![old, old, new, new, new])?
        }
        Op::CopyPermute { .. } => of(1, 4, ndim(operands.first())?)?,
        _ => Vec::new(),
    })
}

fn padded(mut each: Vec<usize>, parts: usize) -> Vec<usize> {
    each.resize(parts, 0);
    each
}
