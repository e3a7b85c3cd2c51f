//! Loops, regions, functions of blocks.

use pantile_ir::{Attribute, Op, Operation, Predicate, Slice, Type, Value};
use pantile_lanes::{Binary, DType, Scalar};

use super::maker::{Counter, Known, Maker};

impl Maker<'_> {
    /// Arrays that a loop carries.
    fn carried(&mut self) -> Vec<Known> {
        (0..self.rng.below(3)).map(|_| self.any()).collect()
    }

    /// Values of the same types as those carried, as arguments of a block.
    fn taken(&mut self, carried: &[Known]) -> Vec<Value> {
        let mut values = Vec::new();
        for known in carried {
            let ty = self.ty(known.value);
            let value = self.function.value(ty);
            self.arrays.push(Known { value, ..known.clone() });
            values.push(value);
        }
        values
    }

    /// What a turn hands on: something made of what came in, of the same type.
    fn handed(&mut self, carried: &[Known], current: &[Value]) -> Vec<Value> {
        let mut values = Vec::new();
        for (known, current) in carried.iter().zip(current) {
            let ty = self.ty(*current);
            let same: Vec<Value> = self
                .arrays
                .iter()
                .map(|other| other.value)
                .filter(|other| *self.function.ty(*other) == ty)
                .collect();
            let add = Binary::Add.types(known.dtype, known.dtype);
            values.push(match self.rng.below(4) {
                0 => *current,
                1 => *self.rng.pick(&same),
                _ => {
                    let function = match add {
                        Ok(_) => Binary::Add,
                        Err(_) => Binary::LogicalXor,
                    };
                    let other = *self.rng.pick(&same);
                    self.push(Op::Binary(function.into()), vec![*current, other], ty)
                }
            });
        }
        values
    }

    fn body(&mut self, most: usize) {
        for _ in 0..1 + self.rng.below(most) {
            self.operation();
        }
    }

    pub(super) fn repeat(&mut self) {
        let low = self.rng.range(0, 3);
        let step = 1 + self.rng.range(0, 2);
        let turns = self.rng.range(0, 5);
        let bounds = [low, low + turns * step - self.rng.range(0, step), step];
        let mut operands: Vec<Value> = bounds.iter().map(|bound| self.index(*bound)).collect();
        let found = self.rng.chance(1, 4).then(|| self.found_bound()).flatten();
        if let Some(bound) = found {
            operands[1] = bound;
        }
        let carried = self.carried();
        operands.extend(carried.iter().map(|known| known.value));
        let scope = self.scope();
        let counter = self.function.value(Type::Index);
        let high = low + (turns - 1).max(0) * step;
        // Slices ask for counters that are known before the program runs.
        if found.is_none() {
            self.counters.push(Counter { value: counter, low, high });
        }
        let taken = self.taken(&carried);
        let mut arguments = vec![counter];
        arguments.extend(&taken);
        self.depth += 1;
        let block = self.block(arguments, |maker| {
            maker.body(4);
            let values = maker.handed(&carried, &taken);
            maker.operations.push(Operation::new(Op::Yield, values, Vec::new()));
        });
        self.depth -= 1;
        self.leave(scope);
        self.finish(Op::For, operands, vec![block], (&[], &carried));
    }

    /// A bound of 0 to 4 that only the run knows.
    fn found_bound(&mut self) -> Option<Value> {
        let of = self.any_that(|known| !known.shape.contains(&0))?;
        let mut operands = vec![of.value];
        for length in &of.shape {
            let at = i64::try_from(self.rng.below(*length)).unwrap_or(0);
            operands.push(self.index(at));
        }
        let element = self.push(Op::Load, operands, Type::scalar(of.dtype));
        let number = self.push(Op::Convert, vec![element], Type::scalar(DType::I64));
        let number = self.push(Op::Convert, vec![number], Type::Index);
        let (least, most) = (self.index(0), self.index(4));
        let low = Op::Arith(pantile_ir::Arith::MaxSI);
        let number = self.push(low, vec![number, least], Type::Index);
        Some(self.push(Op::Arith(pantile_ir::Arith::MinSI), vec![number, most], Type::Index))
    }

    /// The results of a loop.
    pub(super) fn finish(
        &mut self,
        op: Op,
        operands: Vec<Value>,
        blocks: Vec<pantile_ir::Block>,
        (first, carried): (&[Value], &[Known]),
    ) {
        let mut results = first.to_vec();
        for known in carried {
            let ty = self.ty(known.value);
            let value = self.function.value(ty);
            results.push(value);
            self.arrays.push(Known { value, ..known.clone() });
        }
        let mut operation = Operation::new(op, operands, results);
        operation.blocks = blocks;
        self.operations.push(operation);
    }

    /// A loop that counts to a number, and perhaps stops before because of an element.
    pub(super) fn repeat_while(&mut self) {
        let (start, limit) = (self.index(0), self.rng.range(0, 4));
        let limit = self.index(limit);
        let carried = self.carried();
        let mut operands = vec![start];
        operands.extend(carried.iter().map(|known| known.value));
        let scope = self.scope();
        let (count, again) = (self.function.value(Type::Index), self.function.value(Type::Index));
        let taken = self.taken(&carried);
        let mut arguments = vec![count];
        arguments.extend(&taken);
        self.depth += 1;
        let before = self.block(arguments.clone(), |maker| {
            if maker.rng.chance(1, 3) {
                maker.body(2);
            }
            let condition = maker.condition(count, limit);
            let mut values = vec![condition];
            values.extend(&arguments);
            maker.operations.push(Operation::new(Op::Condition, values, Vec::new()));
        });
        self.leave(scope);
        let scope = self.scope();
        let passed = self.taken(&carried);
        let mut arguments = vec![again];
        arguments.extend(&passed);
        let after = self.block(arguments, |maker| {
            maker.body(3);
            let one = maker.index(1);
            let next =
                maker.push(Op::Arith(pantile_ir::Arith::AddI), vec![again, one], Type::Index);
            let mut values = vec![next];
            values.extend(maker.handed(&carried, &passed));
            maker.operations.push(Operation::new(Op::Yield, values, Vec::new()));
        });
        self.depth -= 1;
        self.leave(scope);
        let last = self.function.value(Type::Index);
        self.finish(Op::While, operands, vec![before, after], (&[last], &carried));
    }

    fn condition(&mut self, count: Value, limit: Value) -> Value {
        let truth = Type::scalar(DType::Bool);
        let less = Op::Compare(Predicate::Lt);
        let counted = self.push(less, vec![count, limit], truth.clone());
        let full = |known: &Known| !known.shape.contains(&0);
        let Some(of) = self.any_that(full).filter(|_| self.rng.chance(1, 2)) else {
            return counted;
        };
        let mut operands = vec![of.value];
        for length in &of.shape {
            let at = i64::try_from(self.rng.below(*length)).unwrap_or(0);
            operands.push(self.index(at));
        }
        let element = self.push(Op::Load, operands, Type::scalar(of.dtype));
        let small = self.constant(Scalar::of(3.0));
        let number = self.push(Op::Convert, vec![element], Type::scalar(DType::F64));
        let other = self.push(Op::Compare(Predicate::Le), vec![number, small], truth.clone());
        self.push(Op::Arith(pantile_ir::Arith::AndI), vec![counted, other], truth)
    }

    pub(super) fn region(&mut self) {
        let scope = self.scope();
        let mut handed = self.any();
        self.depth += 1;
        let block = self.block(Vec::new(), |maker| {
            maker.body(3);
            handed = maker.any();
            let values = vec![handed.value];
            maker.operations.push(Operation::new(Op::RegionYield, values, Vec::new()));
        });
        self.depth -= 1;
        self.leave(scope);
        let op = Op::Region(Attribute::String("here".to_owned()));
        self.finish(op, Vec::new(), vec![block], (&[], &[handed]));
    }

    /// A function applied to blocks.
    pub(super) fn map_blocks(&mut self) {
        let of = self.any();
        if self.depth > 0 || of.shape.is_empty() || self.team {
            return self.unary();
        }
        let block: Vec<usize> = of.shape.iter().map(|_| 1 + self.rng.below(5)).collect();
        let name = format!("block{}", self.others.len());
        let mut inner = Maker::new(self.rng, self.ranks, &name);
        let open = pantile_ir::ArrayType {
            shape: vec![None; of.shape.len()],
            ..pantile_ir::ArrayType::new(&of.shape, of.dtype)
        };
        let ty = Type::Array(open);
        let argument = inner.function.value(ty.clone());
        inner.function.body.arguments.push(argument);
        let function = if inner.rng.chance(1, 2) { Binary::Add } else { Binary::Multiply };
        let mut made = inner.push(Op::Binary(function.into()), vec![argument; 2], ty.clone());
        if inner.rng.chance(1, 2) {
            made = inner.push(Op::Binary(Binary::Add.into()), vec![made, argument], ty.clone());
        }
        if inner.rng.chance(1, 2) && of.dtype != DType::Bool {
            let axes = (0..of.shape.len()).collect();
            let reduce = Op::Reduce {
                reduction: pantile_ir::Reduction::Sum.into(),
                axes: Some(axes),
                keepdims: false,
                correction: 0,
            };
            let sum = inner.push(reduce, vec![made], Type::array(&[], of.dtype));
            made = inner.push(Op::Binary(function.into()), vec![argument, sum], ty.clone());
        }
        if inner.rng.chance(1, 3) {
            // Arguments are arrays of their own: nobody outside sees this.
            let value = inner.scalar(of.dtype);
            let one = vec![pantile_ir::Index::Known(1); of.shape.len()];
            let offsets = vec![pantile_ir::Index::Known(0); of.shape.len()];
            let slice = Slice { offsets, sizes: one.clone(), strides: one };
            let target = if inner.rng.chance(1, 2) { argument } else { made };
            let insert = Operation::new(Op::InsertSlice(slice), vec![value, target], Vec::new());
            inner.operations.push(insert);
            made = inner.push(Op::Binary(Binary::Add.into()), vec![made, argument], ty.clone());
        }
        inner.operations.push(Operation::new(Op::Return, vec![made], Vec::new()));
        let mut function = inner.function;
        function.body.operations = inner.operations;
        function.results = vec![ty];
        self.others.push(function);
        self.array(Op::MapBlocks { function: name, block }, vec![of.value], of.dtype, &of.shape);
    }
}
