//! The parts of an array that one member has.

use std::collections::BTreeSet;

use super::super::alias::Aliases;
use super::super::coalesce::DefUse;
use super::super::facts::Local;
use super::{Lower, local_type};
use pantile_ir::{ArrayType, Block, Function, Index, Op, Operation, Slice, Value};

/// Consecutive rows in one local array.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldRows {
    pub(super) rows: usize,
    pub(super) value: Value,
}

/// Left halo, owned part and right halo, each in pieces; empty ones have none.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) local: Local,
    pub(super) parts: [Vec<HeldRows>; 3],
}

impl Held {
    /// An owned part and no halos.
    pub(super) fn plain(local: &Local, value: Value) -> Self {
        let rows = local.rows[1];
        let owned = if rows == 0 { Vec::new() } else { vec![HeldRows { rows, value }] };
        Self { local: local.clone(), parts: [Vec::new(), owned, Vec::new()] }
    }

    /// All pieces in the order of rows.
    pub(super) fn pieces(&self) -> Vec<HeldRows> {
        self.parts.iter().flatten().copied().collect()
    }

    /// True if there are rows in halos.
    pub(super) fn has_halos(&self) -> bool {
        self.local.rows[0] + self.local.rows[2] > 0
    }
}

impl Lower<'_> {
    /// A part as one local array.
    pub(super) fn part(&mut self, held: &Held, part: usize, array: &ArrayType) -> Value {
        self.joined(&held.parts[part], &held.local.part_shape(part), array)
    }

    /// All stored rows as one local array.
    pub(super) fn all_parts(&mut self, held: &Held, array: &ArrayType) -> Value {
        let mut shape = held.local.part_shape(1);
        shape[0] = held.local.all_rows();
        self.joined(&held.pieces(), &shape, array)
    }

    /// Pieces as one local array of this shape.
    fn joined(&mut self, pieces: &[HeldRows], shape: &[usize], array: &ArrayType) -> Value {
        if let [piece] = pieces {
            return piece.value;
        }
        let ty = local_type(array, shape);
        let whole = self.to.one(Op::Create { value: false }, Vec::new(), ty);
        let mut row = 0;
        for piece in pieces {
            let slice = rows_slice(row, piece.rows, shape);
            let operation =
                Operation::new(Op::InsertSlice(slice), vec![piece.value, whole], Vec::new());
            self.to.push(operation.at(self.to.place.clone()));
            row += piece.rows;
        }
        whole
    }

    /// Keeps an array that was computed, in one piece if something needs it so.
    pub(super) fn keep(&mut self, value: Value, mut held: Held, array: &ArrayType) {
        if self.whole.contains(&value) {
            for part in 0..3 {
                if held.parts[part].len() > 1 {
                    let (rows, whole) = (held.local.rows[part], self.part(&held, part, array));
                    held.parts[part] = vec![HeldRows { rows, value: whole }];
                }
            }
        }
        self.held.insert(value, held);
    }

    /// Some rows of a piece.
    pub(super) fn rows_of(&mut self, piece: HeldRows, first: usize, rows: usize) -> Value {
        if first == 0 && rows == piece.rows {
            return piece.value;
        }
        let Some(array) = self.to.function.ty(piece.value).as_array().cloned() else {
            return piece.value;
        };
        let mut shape: Vec<usize> = array.shape.iter().map(|dim| dim.unwrap_or(0)).collect();
        let slice = rows_slice(first, rows, &shape);
        shape[0] = rows;
        self.to.one(Op::Subview(slice), vec![piece.value], local_type(&array, &shape))
    }
}

/// All columns of some rows.
pub(super) fn rows_slice(first: usize, rows: usize, shape: &[usize]) -> Slice {
    let mut offsets = vec![known(0); shape.len()];
    let mut sizes: Vec<Index> = shape.iter().map(|length| known(*length)).collect();
    if !shape.is_empty() {
        (offsets[0], sizes[0]) = (known(first), known(rows));
    }
    Slice { offsets, sizes, strides: vec![known(1); shape.len()] }
}

/// A known entry of a slice.
pub(super) fn known(number: usize) -> Index {
    Index::Known(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Repartitions whose base is written before they are read for the last time: the owned part
/// would change with it, so it is copied.
pub(super) fn copied(
    function: &Function,
    aliases: &Aliases,
    block: &Block,
    found: &mut BTreeSet<Value>,
) {
    let known = DefUse::new(function, aliases, block);
    for (at, operation) in block.operations.iter().enumerate() {
        if let Op::Repartition { .. } = operation.op {
            let last = last_use(&known, operation.results[0], at);
            let class = aliases.class(operation.operands[0]);
            let written = block.operations[at..=last]
                .iter()
                .any(|inner| aliases.written_in(inner).contains(&class));
            let shown = aliases.is_written(operation.results[0]);
            if written || shown {
                found.insert(operation.results[0]);
            }
        }
        for inner in &operation.blocks {
            copied(function, aliases, inner, found);
        }
    }
}

/// The last operation that reads a value or a view of it.
fn last_use(known: &DefUse<'_>, value: Value, at: usize) -> usize {
    let mut last = at;
    for (user, _) in known.uses(value) {
        last = last.max(*user);
        let operation = &known.operations[*user];
        if let Op::DistSubview { .. } | Op::Subview(_) | Op::Cast = operation.op {
            last = last.max(last_use(known, operation.results[0], *user));
        }
    }
    last
}
