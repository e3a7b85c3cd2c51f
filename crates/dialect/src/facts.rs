//! What is known of values before anything runs: constants, and where the parts of one member lie.

use std::collections::BTreeMap;
use std::ops::Range;

use pantile_geometry::slices::{self, Parts, Slice};
use pantile_lanes::Scalar;

use super::Member;
use super::distribute::is_for_all_rows;
use super::rewrite::entries;
use pantile_ir::{
    ArrayType, Dim, DistEnv, Env, Function, Index, LocalParts, Op, Operation, Type, Value,
};

/// Which rows of all members together are the array, each of them once. A member that knows
/// nothing refuses what needs it; where no member refuses, it is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    /// The owned ones, and no member has halos.
    Rows,
    /// The owned ones; there may be halos.
    Owned,
    /// All that are stored.
    Stored,
    /// Some rows were requested: not known.
    Unknown,
}

/// Where the parts of one member lie: rows of the first axis, columns of the others.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    /// The first stored row.
    pub(super) offset: usize,
    /// Rows of left halo, owned part, right halo.
    pub(super) rows: [usize; 3],
    /// Stored columns along the other axes.
    pub(super) columns: Vec<Range<usize>>,
    /// True if nothing made the halos, which are then `0x0`.
    pub(super) invented: bool,
    /// True if every member has all of it: one element that was given to everybody.
    pub(super) everywhere: bool,
    /// Which rows are the array.
    pub(super) cover: Cover,
}

impl Local {
    /// What a type says, if it says all.
    pub(crate) fn of_type(array: &ArrayType) -> Option<Self> {
        let local = array.dist_env()?.local.as_ref()?;
        let offsets: Vec<usize> =
            local.offsets.iter().map(|o| usize::try_from((*o)?).ok()).collect::<Option<_>>()?;
        let parts: Vec<Vec<usize>> =
            local.parts.iter().map(|part| part.iter().copied().collect()).collect::<Option<_>>()?;
        Self::of_parts(&offsets, &parts, array)
    }

    /// Parts of these shapes from these offsets on.
    pub(crate) fn of_parts(
        offsets: &[usize],
        parts: &[Vec<usize>],
        array: &ArrayType,
    ) -> Option<Self> {
        let ndim = array.ndim();
        let fits = offsets.len() == ndim && parts.iter().all(|part| part.len() == ndim);
        if ndim == 0 || !fits {
            return None;
        }
        let rows = match parts {
            [owned] => [0, owned[0], 0],
            [left, owned, right] => [left[0], owned[0], right[0]],
            _ => return None,
        };
        let empty = rows.iter().sum::<usize>() == 0;
        let mut columns = Vec::new();
        for axis in 1..ndim {
            // The shape of an empty part says nothing.
            let stored = parts.iter().filter(|part| part[0] > 0).map(|part| part[axis]).max();
            let size = match (empty, array.shape[axis]) {
                (true, Some(length)) => length.checked_sub(offsets[axis])?,
                _ => stored.unwrap_or(0),
            };
            columns.push(offsets[axis]..offsets[axis] + size);
        }
        Some(Self {
            offset: offsets[0],
            rows,
            columns,
            invented: parts.len() == 1,
            everywhere: false,
            cover: Cover::Owned,
        })
    }

    /// The default partition of an array of this shape over the team of `array`.
    pub(crate) fn default_of(shape: &[usize], array: &ArrayType, member: &Member) -> Option<Self> {
        let (ranks, rank) = member.of_array(array).known()?;
        let region = slices::default_partition(shape, ranks, rank).ok()?;
        let (rows, columns) = region.split_first()?;
        Some(Self {
            offset: rows.start,
            rows: [0, rows.len(), 0],
            columns: columns.to_vec(),
            invented: true,
            everywhere: false,
            cover: Cover::Rows,
        })
    }

    /// The owned rows.
    pub(crate) fn owned_rows(&self) -> Range<usize> {
        let start = self.offset + self.rows[0];
        start..start + self.rows[1]
    }

    /// The owned box.
    pub(crate) fn owned(&self) -> Vec<Range<usize>> {
        std::iter::once(self.owned_rows()).chain(self.columns.iter().cloned()).collect()
    }

    /// All stored rows.
    pub(crate) fn all_rows(&self) -> usize {
        self.rows.iter().sum()
    }

    /// As a view sees it.
    pub(crate) fn parts(&self) -> Parts {
        let [left, owned, right] = self.rows;
        Parts { offset: self.offset, left, owned, right }
    }

    /// The shape of a part.
    pub(crate) fn part_shape(&self, part: usize) -> Vec<usize> {
        let columns = self.columns.iter().map(ExactSizeIterator::len);
        std::iter::once(self.rows[part]).chain(columns).collect()
    }

    /// As types write it.
    pub(crate) fn to_type(&self) -> LocalParts {
        let offsets = std::iter::once(self.offset).chain(self.columns.iter().map(|c| c.start));
        let part = |part: usize| {
            let shape = self.part_shape(part);
            let none = self.invented && part != 1;
            shape.into_iter().map(|length| Some(if none { 0 } else { length })).collect()
        };
        LocalParts {
            offsets: offsets.map(|offset| i64::try_from(offset).ok()).collect(),
            parts: (0..3).map(part).collect(),
        }
    }

    /// True if all columns are stored of an array of these lengths.
    pub(crate) fn has_columns(&self, shape: &[Dim]) -> bool {
        let columns = self.columns.iter().zip(shape.iter().skip(1));
        columns.into_iter().all(|(stored, length)| Some(stored) == length.map(|n| 0..n).as_ref())
    }

    /// True if both have the same rows and columns, and none in halos.
    pub(crate) fn is_plain_like(&self, other: &Self) -> bool {
        self.offset == other.offset
            && self.rows == other.rows
            && self.rows[0] + self.rows[2] == 0
            && self.columns == other.columns
    }
}

/// A slice in numbers. What is open counts from 0.
pub(crate) struct Numbers {
    /// One for each axis.
    pub(crate) axes: Vec<Slice>,
    /// Where an offset is not known: the value that it is.
    pub(crate) open: Vec<Option<Value>>,
}

/// Facts about the values of one function, as its operations are read in order.
pub(super) struct Facts {
    pub(super) member: Member,
    known: BTreeMap<Value, Scalar>,
    locals: BTreeMap<Value, Local>,
}

impl Facts {
    pub(crate) fn new(member: &Member) -> Self {
        Self { member: member.clone(), known: BTreeMap::new(), locals: BTreeMap::new() }
    }

    /// The constant that a value is.
    pub(crate) fn scalar(&self, value: Value) -> Option<Scalar> {
        self.known.get(&value).copied()
    }

    /// The whole number that a value is.
    pub(crate) fn index(&self, value: Value) -> Option<i64> {
        self.scalar(value)?.get::<i64>()
    }

    /// The length or offset that a value is.
    pub(crate) fn count(&self, value: Value) -> Option<usize> {
        usize::try_from(self.index(value)?).ok()
    }

    /// The counts that values are.
    pub(crate) fn counts(&self, values: &[Value]) -> Option<Vec<usize>> {
        values.iter().map(|value| self.count(*value)).collect()
    }

    /// Ranges from offsets and as many sizes after them.
    pub(crate) fn ranges(&self, values: &[Value]) -> Option<Vec<Range<usize>>> {
        let numbers = self.counts(values)?;
        let (offsets, sizes) = numbers.split_at(numbers.len() / 2);
        offsets.iter().zip(sizes).map(|(o, s)| Some(*o..o.checked_add(*s)?)).collect()
    }

    /// Slices from offsets, sizes and strides.
    pub(crate) fn slices(&self, values: &[Value]) -> Option<Vec<Slice>> {
        made_slices(&self.counts(values)?)
    }

    /// Where the parts of an array lie.
    pub(crate) fn local(&self, value: Value) -> Option<&Local> {
        self.locals.get(&value)
    }

    /// The slice of an operation in numbers; `dynamic` are its operands from the slice's on.
    /// Offsets may be open along axes that the member has whole: all but the first, if `whole`.
    pub(crate) fn numbers(
        &self,
        slice: &pantile_ir::Slice,
        dynamic: &[Value],
        whole: bool,
    ) -> Option<Numbers> {
        let (mut dynamic, ndim) = (dynamic.iter(), slice.sizes.len());
        let (mut numbers, mut open) = (Vec::new(), vec![None; ndim]);
        for (at, entry) in entries(slice).enumerate() {
            let known = match entry {
                Index::Known(number) => usize::try_from(*number).ok(),
                Index::Operand => {
                    let value = *dynamic.next()?;
                    match self.count(value) {
                        None if whole
                            && (1..ndim).contains(&at)
                            && self.scalar(value).is_none() =>
                        {
                            open[at] = Some(value);
                            Some(0)
                        }
                        known => known,
                    }
                }
            };
            numbers.push(known?);
        }
        Some(Numbers { axes: made_slices(&numbers)?, open })
    }

    /// Notes what an argument of a block says about itself.
    pub(crate) fn argument(&mut self, function: &Function, value: Value) {
        if let Some(local) = self.declared(function, value) {
            self.locals.insert(value, local);
        }
    }

    fn declared(&self, function: &Function, value: Value) -> Option<Local> {
        let array = function.ty(value).as_array()?;
        match array.dist_env()? {
            DistEnv { local: None, .. } => {
                Local::default_of(&array.known_shape()?, array, &self.member)
            }
            _ => Local::of_type(array),
        }
    }

    /// Notes what an operation says about its results.
    pub(crate) fn note(&mut self, function: &Function, operation: &Operation) {
        if let (Op::Constant(scalar), [result]) = (&operation.op, &operation.results[..]) {
            self.known.insert(*result, *scalar);
        }
        for result in &operation.results {
            let Type::Array(array) = function.ty(*result) else { continue };
            if array.dist_env().is_none() {
                continue;
            }
            let made = self.made(function, operation, array);
            // The type says where the parts lie; only the operation what they are together.
            let cover = made.as_ref().map_or(Cover::Unknown, |made| made.cover);
            let said = Local::of_type(array).map(|local| Local { cover, ..local });
            if let Some(local) = said.or(made) {
                self.locals.insert(*result, local);
            }
        }
    }

    /// Where the result of an operation lies.
    pub(crate) fn made(
        &self,
        function: &Function,
        operation: &Operation,
        to: &ArrayType,
    ) -> Option<Local> {
        let operands = &operation.operands;
        match &operation.op {
            Op::Subview(slice) => self.viewed(function, operands, (slice, false), to),
            Op::DistSubview { slice, target } => {
                self.viewed(function, operands, (slice, *target), to)
            }
            Op::Repartition { request } => self.moved(operands, *request, to),
            Op::DistUnary(_) | Op::Unary(_) | Op::Cast | Op::Copy | Op::CastElement { .. } => {
                self.local(*operands.first()?).cloned()
            }
            Op::DistBinary(_) => {
                let mut made = self.combined(function, &operands[..2], to)?;
                // Behind a core there is the place of the target.
                let target = operands.get(2 + 2 * to.ndim()).and_then(|value| self.count(*value));
                made.offset = target.unwrap_or(made.offset);
                Some(made)
            }
            // One element may be on every member.
            Op::Binary(_) | Op::Where | Op::Clip if to.is_unit() && to.ndim() > 0 => {
                let found = self.combined(function, operands, to);
                found.or_else(|| Local::default_of(&to.known_shape()?, to, &self.member))
            }
            Op::InitDist => {
                let offsets = self.counts(&operands[..to.ndim()])?;
                let part = |value: &Value| function.ty(*value).as_array()?.known_shape();
                let parts: Vec<Vec<usize>> =
                    operands[to.ndim()..].iter().map(part).collect::<Option<_>>()?;
                Local::of_parts(&offsets, &parts, to)
            }
            // Who makes a new array makes its default partition; of the others only the type could
            // say more.
            op if creates(op) || to.dist_env()?.local.is_none() => {
                Local::default_of(&to.known_shape()?, to, &self.member)
            }
            _ => None,
        }
    }

    fn viewed(
        &self,
        function: &Function,
        operands: &[Value],
        (slice, target): (&pantile_ir::Slice, bool),
        to: &ArrayType,
    ) -> Option<Local> {
        let base = self.local(*operands.first()?)?;
        let ndim = slice.sizes.len();
        if to.ndim() != ndim || base.columns.len() + 1 != ndim {
            return None;
        }
        let whole = base.has_columns(function.ty(operands[0]).shape());
        let numbers = self.numbers(slice, &operands[1..], whole)?.axes;
        let dynamic = super::rewrite::dynamic_count(slice);
        let targets = match target {
            true => Some(self.ranges(&operands[1 + dynamic..])?),
            false => None,
        };
        let view =
            slices::subview_nd(&base.parts(), &base.columns, &numbers, targets.as_deref()).ok()?;
        let columns = view.offset[1..].iter().zip(&view.trailing);
        Some(Local {
            offset: view.offset[0],
            rows: view.rows.map(|part| part.count),
            columns: columns.map(|(offset, part)| *offset..offset + part.count).collect(),
            invented: false,
            everywhere: base.everywhere && !target,
            cover: match targets {
                Some(targets) => self.asked(&targets[0], Some(numbers[0].size()), to),
                None => base.cover,
            },
        })
    }

    /// What rows are together that members ask for: all, if each asks for those of the default
    /// partition. A member that asks for others says so.
    fn asked(&self, rows: &Range<usize>, length: Dim, array: &ArrayType) -> Cover {
        let default = self
            .member
            .of_array(array)
            .known()
            .zip(length)
            .and_then(|((ranks, rank), length)| slices::default_rows(length, ranks, rank).ok());
        match default {
            Some(default) if default == *rows || (default.is_empty() && rows.is_empty()) => {
                Cover::Stored
            }
            _ => Cover::Unknown,
        }
    }

    /// The box that a repartition asks for. Along an axis that is not cut all is asked for where
    /// it is not known how much.
    pub(crate) fn requested(
        &self,
        operands: &[Value],
        request: bool,
        to: &ArrayType,
    ) -> Option<Vec<Range<usize>>> {
        if request {
            let asked = |axis: usize| {
                let pair = [operands[1 + axis], operands[1 + to.ndim() + axis]];
                let known = self.ranges(&pair).and_then(|mut ranges| ranges.pop());
                known.or_else(|| to.shape[axis].filter(|_| axis > 0).map(|length| 0..length))
            };
            return (0..to.ndim()).map(asked).collect();
        }
        if to.is_unit() {
            return Some(vec![0..1; to.ndim()]);
        }
        Some(Local::default_of(&to.known_shape()?, to, &self.member)?.owned())
    }

    fn moved(&self, operands: &[Value], request: bool, to: &ArrayType) -> Option<Local> {
        let base = self.local(*operands.first()?)?;
        let wanted = self.requested(operands, request, to)?;
        let everywhere = to.is_unit() && !request;
        let rows = if base.everywhere {
            [0, wanted[0].len(), 0]
        } else {
            let found = slices::repartition_nd(&base.owned(), &wanted).ok()?;
            [found.rows.left, found.rows.view.len(), found.rows.right]
        };
        let (offset, columns) = (wanted[0].start, wanted[1..].to_vec());
        let cover = self.asked(&wanted[0], to.shape[0], to);
        Some(Local { offset, rows, columns, invented: false, everywhere, cover })
    }

    /// Operands with as many rows each, in one part.
    fn combined(&self, function: &Function, of: &[Value], to: &ArrayType) -> Option<Local> {
        let mut made: Option<Local> = None;
        for value in of {
            let Some(array) = function.ty(*value).as_array() else { continue };
            if array.ndim() == 0 || is_for_all_rows(&array.shape, &to.shape) {
                continue;
            }
            let local = self.local(*value)?;
            let rows = local.all_rows();
            let cover = match local.cover {
                Cover::Rows | Cover::Stored => Cover::Rows,
                _ => Cover::Unknown,
            };
            match &mut made {
                Some(before) if before.rows[1] != rows => return None,
                Some(before) => {
                    before.everywhere &= local.everywhere;
                    before.cover = if before.cover == cover { cover } else { Cover::Unknown };
                }
                None => {
                    let rows = [0, rows, 0];
                    made = Some(Local { rows, invented: true, cover, ..local.clone() });
                }
            }
        }
        made
    }
}

fn creates(op: &Op) -> bool {
    matches!(
        op,
        Op::Create { .. }
            | Op::Linspace { .. }
            | Op::Arange
            | Op::Eye { .. }
            | Op::Random { .. }
            | Op::IndexAlong { .. }
            | Op::Reshape { .. }
            | Op::Permute(_)
            | Op::Binary(_)
            | Op::Where
            | Op::Clip
            | Op::MatMul
            | Op::Reduce { .. }
    )
}

fn made_slices(numbers: &[usize]) -> Option<Vec<Slice>> {
    let ndim = numbers.len() / 3;
    let slice = |axis: usize| {
        Slice::new(numbers[axis], numbers[ndim + axis], numbers[2 * ndim + axis]).ok()
    };
    (0..ndim).map(slice).collect()
}

/// The type with its parts where `local` says.
pub(crate) fn placed_at(array: &ArrayType, local: &Local) -> ArrayType {
    let Some(env) = array.dist_env() else { return array.clone() };
    let env = DistEnv { team: env.team.clone(), local: Some(local.to_type()) };
    array.placed(Some(Env::Dist(env)))
}
