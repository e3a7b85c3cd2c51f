//! What rewrites have in common: a new list of operations, and values that stand for others.

use std::collections::BTreeMap;

use pantile_lanes::Scalar;

use pantile_ir::{Block, Function, Index, Op, Operation, Place, Slice, Type, Value};

/// A function while its operations are written anew.
pub(super) struct Rewriter<'f> {
    pub(super) function: &'f mut Function,
    /// The operations of the block that is being written.
    pub(super) out: Vec<Operation>,
    /// What stands for a value from now on.
    same: BTreeMap<Value, Value>,
    /// What was cast to a value.
    casts: BTreeMap<Value, Value>,
    /// Where the operation was written that is being rewritten.
    pub(super) place: Place,
}

impl<'f> Rewriter<'f> {
    pub(super) fn new(function: &'f mut Function) -> Self {
        let (same, casts) = (BTreeMap::new(), BTreeMap::new());
        Self { function, out: Vec::new(), same, casts, place: Place::default() }
    }

    /// Writes an operation as it is.
    pub(super) fn push(&mut self, operation: Operation) {
        if let (Op::Cast, [from], [to]) =
            (&operation.op, &operation.operands[..], &operation.results[..])
        {
            self.casts.insert(*to, *from);
        }
        self.out.push(operation);
    }

    /// The value that was cast to this one.
    pub(super) fn cast_from(&self, value: Value) -> Option<Value> {
        self.casts.get(&value).copied()
    }

    /// What stands for a value.
    pub(super) fn now(&self, mut value: Value) -> Value {
        while let Some(next) = self.same.get(&value) {
            value = *next;
        }
        value
    }

    /// From now on `new` stands for `old`.
    pub(super) fn replace(&mut self, old: Value, new: Value) {
        let new = self.now(new);
        if old != new {
            self.same.insert(old, new);
        }
    }

    /// Puts what stands for them in the place of operands.
    pub(super) fn resolve(&mut self, operation: &mut Operation) {
        for operand in &mut operation.operands {
            let mut value = *operand;
            while let Some(next) = self.same.get(&value) {
                value = *next;
            }
            *operand = value;
        }
        self.place = operation.place.clone();
    }

    /// An operation with new results of these types.
    pub(super) fn emit(&mut self, op: Op, operands: Vec<Value>, types: Vec<Type>) -> Vec<Value> {
        let results: Vec<Value> = types.into_iter().map(|ty| self.function.value(ty)).collect();
        let operation = Operation::new(op, operands, results.clone()).at(self.place.clone());
        self.out.push(operation);
        results
    }

    /// An operation with one new result.
    pub(super) fn one(&mut self, op: Op, operands: Vec<Value>, ty: Type) -> Value {
        let result = self.function.value(ty);
        self.out.push(Operation::new(op, operands, vec![result]).at(self.place.clone()));
        result
    }

    /// A constant index.
    pub(super) fn index(&mut self, value: i64) -> Value {
        self.one(Op::Constant(Scalar::of(value)), Vec::new(), Type::Index)
    }

    /// Writes a block with `each`, which is given every operation of it in order.
    pub(super) fn block<E>(
        &mut self,
        block: Block,
        each: &mut dyn FnMut(&mut Self, Operation) -> Result<(), E>,
    ) -> Result<Block, E> {
        let outer = std::mem::take(&mut self.out);
        for operation in block.operations {
            each(self, operation)?;
        }
        let operations = std::mem::replace(&mut self.out, outer);
        Ok(Block { arguments: block.arguments, operations })
    }

    /// The entries of a slice as values; constants are written for known ones.
    pub(super) fn slice_values(&mut self, slice: &Slice, dynamic: &[Value]) -> Vec<Value> {
        let mut dynamic = dynamic.iter();
        let entries: Vec<Index> = entries(slice).copied().collect();
        let mut values = Vec::new();
        for entry in entries {
            values.push(match (entry, dynamic.next_if_operand(entry)) {
                (Index::Operand, Some(value)) => value,
                (Index::Known(number), _) => self.index(number),
                (Index::Operand, None) => self.index(0),
            });
        }
        values
    }
}

trait NextIfOperand {
    fn next_if_operand(&mut self, entry: Index) -> Option<Value>;
}

impl NextIfOperand for std::slice::Iter<'_, Value> {
    fn next_if_operand(&mut self, entry: Index) -> Option<Value> {
        if entry == Index::Operand { self.next().copied() } else { None }
    }
}

/// Offsets, sizes and strides in this order.
pub(super) fn entries(slice: &Slice) -> impl Iterator<Item = &Index> {
    [&slice.offsets, &slice.sizes, &slice.strides].into_iter().flatten()
}

/// How many entries of a slice are operands.
pub(super) fn dynamic_count(slice: &Slice) -> usize {
    entries(slice).filter(|entry| **entry == Index::Operand).count()
}

/// The slice of an operation, and the number of operands before those in the slice.
pub(super) fn slice_of(op: &Op) -> Option<(&Slice, usize)> {
    match op {
        Op::Subview(slice) | Op::ExtractSlice(slice) | Op::DistSubview { slice, .. } => {
            Some((slice, 1))
        }
        Op::InsertSlice(slice) | Op::ImmutableInsertSlice(slice) => Some((slice, 2)),
        _ => None,
    }
}

/// The numbers of a slice, axis by axis, if all are known: offset, size, stride.
pub(super) fn known_slice(slice: &Slice) -> Option<Vec<(i64, i64, i64)>> {
    let known = |entry: &Index| match entry {
        Index::Known(number) => Some(*number),
        Index::Operand => None,
    };
    let axes = slice.offsets.iter().zip(&slice.sizes).zip(&slice.strides);
    axes.map(|((offset, size), stride)| Some((known(offset)?, known(size)?, known(stride)?)))
        .collect()
}

/// How often each value is an operand, nested blocks included.
pub(super) fn uses(block: &Block) -> BTreeMap<Value, usize> {
    let mut uses = BTreeMap::new();
    block.walk(&mut |operation| {
        for operand in &operation.operands {
            *uses.entry(*operand).or_insert(0) += 1;
        }
    });
    uses
}

/// Calls a pass over functions for each of them, the body taken out.
pub(super) fn each_function(
    program: &mut pantile_ir::Program,
    mut pass: impl FnMut(&mut Function, Block) -> Result<Block, super::PassError>,
) -> Result<(), super::PassError> {
    for function in &mut program.functions {
        let body = std::mem::take(&mut function.body);
        // A pass that fails leaves the function as it was.
        let kept = body.clone();
        match pass(function, body) {
            Ok(body) => function.body = body,
            Err(error) => {
                function.body = kept;
                return Err(error);
            }
        }
    }
    Ok(())
}
