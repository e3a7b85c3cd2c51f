//! From arrays that change to values: every assignment makes the next version of its array.
//!
//! A view is its base and a slice; it reads the version that is current where it is read. Arrays
//! that a loop changes are carried by it. What a loop carries already, and the arguments of a
//! function, are arrays of their own.

use std::collections::{BTreeMap, BTreeSet};

use pantile_ir::{Block, Function, Op, Operation, Program, Type, Value};

/// Turns every `insert_slice` into an `immutable_insert_slice`.
pub fn values(program: &mut Program) {
    for function in &mut program.functions {
        let body = std::mem::take(&mut function.body);
        let mut pass = Pass {
            function,
            views: BTreeMap::new(),
            current: BTreeMap::new(),
            versions: BTreeMap::new(),
            seen: BTreeMap::new(),
        };
        let body = pass.block(body, &[]);
        function.body = body;
    }
}

/// A view of another value.
#[derive(Clone)]
struct ValueView {
    of: Value,
    op: Op,
    /// The values in its slice.
    operands: Vec<Value>,
    ty: Type,
}

struct Pass<'a> {
    function: &'a mut Function,
    views: BTreeMap<Value, ValueView>,
    /// The current version of an array that has been assigned to.
    current: BTreeMap<Value, Value>,
    /// How often an array has been assigned to.
    versions: BTreeMap<Value, usize>,
    /// The version of its array that a view was made for, and the value that reads it.
    seen: BTreeMap<Value, (usize, Value)>,
}

impl Pass<'_> {
    /// The array that a value is, or is a view of.
    fn root(&self, mut value: Value) -> Value {
        while let Some(view) = self.views.get(&value) {
            value = view.of;
        }
        value
    }

    fn block(&mut self, block: Block, carried: &[Value]) -> Block {
        // What is taken again inside of a block is not known outside of it.
        let seen = self.seen.clone();
        let mut operations = Vec::new();
        for operation in block.operations {
            self.operation(operation, &mut operations, carried);
        }
        self.seen = seen;
        Block { arguments: block.arguments, operations }
    }

    fn operation(&mut self, mut operation: Operation, out: &mut Vec<Operation>, carried: &[Value]) {
        match &operation.op {
            Op::InsertSlice(_) => self.assign(operation, out),
            Op::Delete => {}
            Op::For | Op::While => self.repeat(operation, out),
            Op::Region(_) => self.region(operation, out),
            _ => {
                let base = operation.operands.first().copied();
                self.read_operands(&mut operation, out);
                if let Op::Yield | Op::Condition | Op::RegionYield = operation.op {
                    operation.operands.extend(carried.iter().map(|root| self.now(*root)));
                }
                if let (Op::Subview(_) | Op::DistSubview { .. } | Op::Cast, Some(base)) =
                    (&operation.op, base)
                {
                    self.note_view(&operation, base);
                }
                out.push(operation);
            }
        }
    }

    fn note_view(&mut self, operation: &Operation, base: Value) {
        let result = operation.results[0];
        let view = ValueView {
            of: base,
            op: operation.op.clone(),
            operands: operation.operands[1..].to_vec(),
            ty: self.function.ty(result).clone(),
        };
        let version = self.version(self.root(base));
        self.views.insert(result, view);
        self.seen.insert(result, (version, result));
    }

    fn version(&self, root: Value) -> usize {
        self.versions.get(&root).copied().unwrap_or(0)
    }

    /// The value of an array that is current.
    fn now(&self, root: Value) -> Value {
        self.current.get(&root).copied().unwrap_or(root)
    }

    fn read_operands(&mut self, operation: &mut Operation, out: &mut Vec<Operation>) {
        for at in 0..operation.operands.len() {
            let value = operation.operands[at];
            operation.operands[at] = self.read(value, &operation.place, out);
        }
    }

    /// A value as it is now; a view of an array that changed is taken again.
    fn read(&mut self, value: Value, place: &pantile_ir::Place, out: &mut Vec<Operation>) -> Value {
        let Some(view) = self.views.get(&value).cloned() else { return self.now(value) };
        let version = self.version(self.root(value));
        if let Some((seen, known)) = self.seen.get(&value)
            && *seen == version
        {
            return *known;
        }
        let base = self.read(view.of, place, out);
        let again = self.function.value(view.ty.clone());
        let mut operands = vec![base];
        operands.extend(&view.operands);
        out.push(Operation::new(view.op, operands, vec![again]).at(place.clone()));
        self.seen.insert(value, (version, again));
        again
    }

    /// `insert_slice`: the next version of the array, through all views.
    fn assign(&mut self, mut operation: Operation, out: &mut Vec<Operation>) {
        let Op::InsertSlice(slice) = operation.op.clone() else { return };
        let place = operation.place.clone();
        let target = operation.operands[1];
        let source = operation.operands[0];
        operation.operands[0] = self.read(source, &place, out);
        operation.operands[1] = self.read(target, &place, out);
        let mut changed = self.function.value(self.function.ty(operation.operands[1]).clone());
        operation.op = Op::ImmutableInsertSlice(slice);
        operation.results = vec![changed];
        out.push(operation);
        let mut at = target;
        while let Some(view) = self.views.get(&at).cloned() {
            let base = self.read(view.of, &place, out);
            let ty = self.function.ty(base).clone();
            let next = match &view.op {
                Op::Subview(slice) | Op::DistSubview { slice, .. } => {
                    let full = self.with_units(changed, slice, &place, out);
                    let next = self.function.value(ty);
                    let mut operands = vec![full, base];
                    let slots = [&slice.offsets, &slice.sizes, &slice.strides];
                    let dynamic = slots.iter().flat_map(|list| list.iter());
                    let count =
                        dynamic.filter(|entry| **entry == pantile_ir::Index::Operand).count();
                    operands.extend(&view.operands[..count]);
                    let op = Op::ImmutableInsertSlice(slice.clone());
                    out.push(Operation::new(op, operands, vec![next]).at(place.clone()));
                    next
                }
                _ => {
                    let next = self.function.value(ty);
                    out.push(Operation::new(Op::Cast, vec![changed], vec![next]).at(place.clone()));
                    next
                }
            };
            changed = next;
            at = view.of;
        }
        self.current.insert(at, changed);
        *self.versions.entry(at).or_insert(0) += 1;
    }

    /// A view that dropped axes, with all axes of its slice.
    fn with_units(
        &mut self,
        value: Value,
        slice: &pantile_ir::Slice,
        place: &pantile_ir::Place,
        out: &mut Vec<Operation>,
    ) -> Value {
        let Type::Array(array) = self.function.ty(value).clone() else { return value };
        if array.ndim() == slice.sizes.len() {
            return value;
        }
        let sizes = slice.sizes.iter().map(|size| match size {
            pantile_ir::Index::Known(size) => usize::try_from(*size).ok(),
            pantile_ir::Index::Operand => None,
        });
        let ty = Type::Array(pantile_ir::ArrayType { shape: sizes.collect(), ..array });
        let full = self.function.value(ty);
        let op = Op::Reshape { copy: None };
        out.push(Operation::new(op, vec![value], vec![full]).at(place.clone()));
        full
    }

    /// Loops carry the arrays that they change.
    fn repeat(&mut self, mut operation: Operation, out: &mut Vec<Operation>) {
        self.read_operands(&mut operation, out);
        let changed = self.changed(&operation);
        operation.operands.extend(changed.iter().map(|root| self.now(*root)));
        let types: Vec<Type> = changed.iter().map(|root| self.function.ty(*root).clone()).collect();
        let before = self.current.clone();
        let blocks = std::mem::take(&mut operation.blocks);
        for mut block in blocks {
            for (root, ty) in changed.iter().zip(&types) {
                let argument = self.function.value(ty.clone());
                block.arguments.push(argument);
                self.current.insert(*root, argument);
                *self.versions.entry(*root).or_insert(0) += 1;
            }
            let block = self.block(block, &changed);
            operation.blocks.push(block);
        }
        self.current = before;
        self.hand_out(&mut operation, &changed);
        out.push(operation);
    }

    /// Regions hand out the arrays that they change.
    fn region(&mut self, mut operation: Operation, out: &mut Vec<Operation>) {
        self.read_operands(&mut operation, out);
        let changed = self.changed(&operation);
        let blocks = std::mem::take(&mut operation.blocks);
        operation.blocks = blocks.into_iter().map(|block| self.block(block, &changed)).collect();
        self.hand_out(&mut operation, &changed);
        out.push(operation);
    }

    /// Adds the new versions of arrays to the results of the operation that changed them.
    fn hand_out(&mut self, operation: &mut Operation, changed: &[Value]) {
        for root in changed {
            let result = self.function.value(self.function.ty(*root).clone());
            operation.results.push(result);
            self.current.insert(*root, result);
            *self.versions.entry(*root).or_insert(0) += 1;
        }
    }

    /// The arrays from outside that a loop or a region assigns to, in order.
    fn changed(&self, operation: &Operation) -> Vec<Value> {
        let mut inside: BTreeSet<Value> = BTreeSet::new();
        let mut views: BTreeMap<Value, Value> = BTreeMap::new();
        let mut roots: Vec<Value> = Vec::new();
        operation.walk(&mut |inner| {
            inside.extend(&inner.results);
            inner.blocks.iter().for_each(|block| inside.extend(&block.arguments));
            match (&inner.op, inner.operands.first(), inner.results.first()) {
                (Op::Subview(_) | Op::DistSubview { .. } | Op::Cast, Some(of), Some(view)) => {
                    views.insert(*view, *of);
                }
                (Op::InsertSlice(_), ..) => {
                    let mut root = inner.operands[1];
                    while let Some(of) = views.get(&root) {
                        root = *of;
                    }
                    if !inside.contains(&root) {
                        let root = self.root(root);
                        if !roots.contains(&root) {
                            roots.push(root);
                        }
                    }
                }
                _ => {}
            }
        });
        roots
    }
}
