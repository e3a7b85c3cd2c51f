//! Random operations: all variants.

use pantile_ir::{
    Arith, ArrayType, Boundary, Index, Named, Op, Operation, Predicate, Random, Reduction, Slice,
    Spelling, Type, Value,
};
use pantile_lanes::{Binary, Complex, DType, Scalar, Unary};

use super::generate::Maker;

/// A number for each variant; a new one must be added here and to `Maker::op`.
pub(crate) fn variant(op: &Op) -> usize {
    match op {
        Op::Return => 0,
        Op::For => 1,
        Op::While => 2,
        Op::Condition => 3,
        Op::Yield => 4,
        Op::Region(_) => 5,
        Op::RegionYield => 6,
        Op::Constant(_) => 7,
        Op::Arith(_) => 8,
        Op::Compare(_) => 9,
        Op::SelectScalar => 10,
        Op::Convert => 11,
        Op::Create { .. } => 12,
        Op::Linspace { .. } => 13,
        Op::Arange => 14,
        Op::Eye { .. } => 15,
        Op::Random { .. } => 16,
        Op::IndexAlong { .. } => 17,
        Op::Subview(_) => 18,
        Op::ExtractSlice(_) => 19,
        Op::InsertSlice(_) => 20,
        Op::ImmutableInsertSlice(_) => 21,
        Op::Reshape { .. } => 22,
        Op::Permute(_) => 23,
        Op::Broadcast => 24,
        Op::Cast => 25,
        Op::Copy => 26,
        Op::Delete => 27,
        Op::Dim => 28,
        Op::Load => 29,
        Op::FromMemRef => 30,
        Op::ToTensor => 31,
        Op::Unary(_) => 32,
        Op::Binary(_) => 33,
        Op::Where => 34,
        Op::Clip => 35,
        Op::CastElement { .. } => 36,
        Op::Reduce { .. } => 37,
        Op::Stencil { .. } => 38,
        Op::MapBlocks { .. } => 39,
        Op::Redistribute => 40,
        Op::Replicate => 41,
        Op::Halo { .. } => 42,
        Op::InitDist => 43,
        Op::LocalOffsetsOf => 44,
        Op::PartsOf => 45,
        Op::DefaultPartition => 46,
        Op::LocalTarget => 47,
        Op::BoundingBox { .. } => 48,
        Op::LocalCore { .. } => 49,
        Op::Repartition { .. } => 50,
        Op::DistSubview { .. } => 51,
        Op::DistUnary(_) => 52,
        Op::DistBinary(_) => 53,
        Op::TeamSize(_) => 54,
        Op::TeamMember(_) => 55,
        Op::AllReduce { .. } => 56,
        Op::GetHalo { .. } => 57,
        Op::CopyReshape { .. } => 58,
        Op::CopyPermute { .. } => 59,
        Op::Wait => 60,
        Op::MatMul => 61,
    }
}

pub(crate) const VARIANTS: usize = 62;

const ARITH: [Arith; 24] = [
    Arith::AddI,
    Arith::SubI,
    Arith::MulI,
    Arith::DivSI,
    Arith::CeilDivSI,
    Arith::FloorDivSI,
    Arith::RemSI,
    Arith::MinSI,
    Arith::MaxSI,
    Arith::AndI,
    Arith::OrI,
    Arith::XOrI,
    Arith::DivUI,
    Arith::CeilDivUI,
    Arith::RemUI,
    Arith::MinUI,
    Arith::MaxUI,
    Arith::ShLI,
    Arith::ShRSI,
    Arith::ShRUI,
    Arith::AddF,
    Arith::SubF,
    Arith::MulF,
    Arith::DivF,
];

const PREDICATES: [Predicate; 10] = [
    Predicate::Eq,
    Predicate::Ne,
    Predicate::Lt,
    Predicate::Le,
    Predicate::Gt,
    Predicate::Ge,
    Predicate::ULt,
    Predicate::ULe,
    Predicate::UGt,
    Predicate::UGe,
];

/// What an operation does, takes and gives.
type Made = (Op, Vec<Value>, Vec<Type>);

impl Maker<'_> {
    pub(crate) fn operation(&mut self, depth: usize) -> Operation {
        let number = self.rng.below(VARIANTS);
        let nested = [1, 2, 5].contains(&number);
        let number = if nested && depth >= 3 { 7 } else { number };
        let mut operation = if nested && depth < 3 {
            self.nested(number, depth)
        } else {
            let (op, operands, types) = self.made(number);
            let results = self.results(types);
            Operation::new(op, operands, results)
        };
        if self.rng.chance(1, 6) {
            operation.attributes = self.entries();
        }
        let results = operation.results.clone();
        self.see(&results);
        operation
    }

    fn made(&mut self, number: usize) -> Made {
        match number {
            0..12 => self.scalars(number),
            12..32 => self.arrays(number),
            32..43 | 61 => self.arithmetic(number),
            43..54 => self.dist(number),
            _ => self.runtime(number),
        }
    }

    fn nested(&mut self, number: usize, depth: usize) -> Operation {
        let types: Vec<Type> = (0..self.rng.below(3)).map(|_| self.ty()).collect();
        let carried: Vec<Value> = types.iter().map(|ty| self.operand(ty)).collect();
        // Sometimes what the own form cannot say: results of other types.
        let odd = self.rng.chance(1, 6);
        let given = if odd { vec![self.ty()] } else { types.clone() };
        let (op, operands, blocks) = match number {
            1 => {
                let mut operands = self.indices(3);
                operands.extend(carried);
                let inside: Vec<Type> = [Type::Index].into_iter().chain(types).collect();
                let mut block = self.block(&inside, depth);
                block.operations.push(Operation::new(Op::Yield, vec![], vec![]));
                (Op::For, operands, vec![block])
            }
            2 => {
                let before = self.block(&types, depth);
                let inside: Vec<Type> = (0..self.rng.below(3)).map(|_| self.ty()).collect();
                let mut after = self.block(&inside, depth);
                after.operations.push(Operation::new(Op::Yield, vec![], vec![]));
                (Op::While, carried, vec![before, after])
            }
            _ => {
                let mut block = self.block(&[], depth);
                block.operations.push(Operation::new(Op::RegionYield, vec![], vec![]));
                (Op::Region(self.attribute(2)), carried, vec![block])
            }
        };
        let results = self.results(given);
        Operation { blocks, ..Operation::new(op, operands, results) }
    }

    fn some(&mut self, most: usize) -> Vec<Value> {
        (0..self.rng.below(most + 1)).map(|_| self.some_operand()).collect()
    }

    fn scalars(&mut self, number: usize) -> Made {
        let truth = Type::scalar(DType::Bool);
        match number {
            0 => (Op::Return, self.some(3), vec![]),
            3 => {
                let odd = self.rng.chance(1, 8);
                let truth = if odd { self.ty() } else { truth };
                let mut operands = vec![self.operand(&truth)];
                operands.extend(self.some(3));
                (Op::Condition, operands, vec![])
            }
            4 => (Op::Yield, self.some(3), vec![]),
            6 => (Op::RegionYield, self.some(3), vec![]),
            7 => {
                let ty = self.scalar_type();
                (Op::Constant(self.scalar(ty.dtype().unwrap())), vec![], vec![ty])
            }
            8 => {
                let ty = self.scalar_type();
                let one = self.operand(&ty);
                if self.rng.chance(1, 8) {
                    return (Op::Arith(Arith::NegF), vec![one], vec![ty]);
                }
                let other =
                    if self.rng.chance(1, 8) { self.some_operand() } else { self.operand(&ty) };
                (Op::Arith(*self.rng.pick(&ARITH)), vec![one, other], vec![ty])
            }
            9 => {
                let ty = if self.rng.chance(1, 8) { self.ty() } else { self.scalar_type() };
                let operands = vec![self.operand(&ty), self.operand(&ty)];
                (Op::Compare(*self.rng.pick(&PREDICATES)), operands, vec![truth])
            }
            10 => {
                let ty = self.ty();
                let operands = vec![self.operand(&truth), self.operand(&ty), self.operand(&ty)];
                (Op::SelectScalar, operands, vec![ty])
            }
            _ => {
                let ty = self.scalar_type();
                (Op::Convert, vec![self.operand(&ty)], vec![self.scalar_type()])
            }
        }
    }

    fn scalar(&mut self, dtype: DType) -> Scalar {
        let bytes: Vec<u8> = (0..2).flat_map(|_| self.rng.bits().to_ne_bytes()).collect();
        match dtype {
            DType::Bool => Scalar::of(self.rng.chance(1, 2)),
            DType::F64 => Scalar::of(self.float()),
            DType::C128 => Scalar::of(Complex::new(self.float(), self.float())),
            other => Scalar::from_bytes(other, &bytes[..other.bytes()]).unwrap(),
        }
    }

    /// A slice and the values in it.
    fn slice(&mut self) -> (Slice, Vec<Value>) {
        let ndim = self.rng.below(4);
        let mut list = || {
            (0..ndim)
                .map(|_| match self.rng.below(3) {
                    0 => Index::Operand,
                    _ => Index::Known(self.rng.range(-9, 99)),
                })
                .collect::<Vec<Index>>()
        };
        let slice = Slice { offsets: list(), sizes: list(), strides: list() };
        let all = [&slice.offsets, &slice.sizes, &slice.strides];
        let count = all.into_iter().flatten().filter(|entry| **entry == Index::Operand).count();
        let values = self.indices(count);
        (slice, values)
    }

    fn arrays(&mut self, number: usize) -> Made {
        let ty = Type::Array(self.array());
        let one = self.some_operand();
        let result = vec![self.ty()];
        match number {
            12 => {
                let value = self.rng.chance(1, 2);
                let count = self.rng.below(4);
                let mut operands = self.indices(count);
                operands.extend(value.then_some(one));
                (Op::Create { value }, operands, result)
            }
            13 => {
                let operands = vec![one, self.some_operand(), self.operand(&Type::Index)];
                (Op::Linspace { endpoint: self.rng.chance(1, 2) }, operands, result)
            }
            14 => (Op::Arange, vec![one, self.some_operand()], result),
            15 => (Op::Eye { k: self.rng.range(-9, 9) }, vec![], result),
            16 => {
                let kind = *self.rng.pick(&[Random::Uniform, Random::Normal]);
                (Op::Random { kind, stream: self.rng.bits() }, vec![one], result)
            }
            17 => (Op::IndexAlong { axis: self.rng.below(4) }, vec![], result),
            18..=21 => {
                let (slice, values) = self.slice();
                let mut operands = vec![one];
                let (op, results) = match number {
                    18 => (Op::Subview(slice), result),
                    19 => (Op::ExtractSlice(slice), result),
                    20 => (Op::InsertSlice(slice), vec![]),
                    _ => (Op::ImmutableInsertSlice(slice), vec![ty.clone()]),
                };
                if number >= 20 {
                    operands.push(self.operand(&ty));
                }
                operands.extend(values);
                (op, operands, results)
            }
            22 => {
                let count = self.rng.below(4);
                let operands = [one].into_iter().chain(self.indices(count)).collect();
                (
                    Op::Reshape { copy: *self.rng.pick(&[None, Some(true), Some(false)]) },
                    operands,
                    result,
                )
            }
            23 => (Op::Permute((0..self.rng.below(4)).rev().collect()), vec![one], result),
            24 => (Op::Broadcast, vec![one], result),
            25 => (Op::Cast, vec![one], result),
            26 => (Op::Copy, vec![one], result),
            27 => (Op::Delete, vec![one], vec![]),
            28 => (Op::Dim, vec![one, self.operand(&Type::Index)], vec![Type::Index]),
            29 => {
                let array = self.array();
                let index = array.element.spelling == Spelling::Index;
                let given = if index { Type::Index } else { Type::Scalar(array.element) };
                let given = if self.rng.chance(1, 8) { self.ty() } else { given };
                let mut operands = vec![self.operand(&Type::Array(array.clone()))];
                operands.extend(self.indices(array.ndim()));
                (Op::Load, operands, vec![given])
            }
            30 => (Op::FromMemRef, vec![one], result),
            _ => (Op::ToTensor, vec![one], result),
        }
    }

    fn unary(&mut self) -> Named<Unary> {
        let function = *self.rng.pick(Unary::ALL);
        Named { function, by_id: function.id().is_some() && self.rng.chance(1, 2) }
    }

    fn binary(&mut self) -> Named<Binary> {
        let function = *self.rng.pick(Binary::ALL);
        Named { function, by_id: function.id().is_some() && self.rng.chance(1, 2) }
    }

    fn reduction(&mut self) -> Named<Reduction> {
        let function = *self.rng.pick(&Reduction::ALL);
        Named { function, by_id: function.id().is_some() && self.rng.chance(1, 2) }
    }

    fn numbers(&mut self) -> Vec<usize> {
        (0..self.rng.below(4)).map(|_| self.rng.below(99)).collect()
    }

    fn arithmetic(&mut self, number: usize) -> Made {
        let one = self.some_operand();
        let result = vec![self.ty()];
        let op = match number {
            32 => Op::Unary(self.unary()),
            33 => return (Op::Binary(self.binary()), vec![one, self.some_operand()], result),
            61 => return (Op::MatMul, vec![one, self.some_operand()], result),
            34 | 35 => {
                let op = if number == 34 { Op::Where } else { Op::Clip };
                return (op, vec![one, self.some_operand(), self.some_operand()], result);
            }
            36 => Op::CastElement { copy: *self.rng.pick(&[None, Some(true), Some(false)]) },
            37 => Op::Reduce {
                reduction: self.reduction(),
                axes: self.rng.chance(1, 2).then(|| self.numbers()),
                keepdims: self.rng.chance(1, 3),
                correction: if self.rng.chance(1, 2) { 0 } else { self.float().to_bits() },
            },
            38 => Op::Stencil {
                points: (0..self.rng.below(3))
                    .map(|_| (0..2).map(|_| self.rng.range(-9, 9)).collect())
                    .collect(),
                weights: (0..self.rng.below(3)).map(|_| self.float().to_bits()).collect(),
                boundary: *self.rng.pick(&[Boundary::Zero, Boundary::Periodic]),
            },
            39 => {
                let op = Op::MapBlocks { function: self.string() + "f", block: self.numbers() };
                let results = (0..self.rng.below(3)).map(|_| self.ty()).collect();
                return (op, self.some(3), results);
            }
            40 => Op::Redistribute,
            41 => Op::Replicate,
            _ => Op::Halo { low: self.numbers(), high: self.numbers() },
        };
        (op, vec![one], result)
    }

    /// An array with at least one axis.
    fn axes(&mut self) -> (ArrayType, Value) {
        let mut shape = self.shape();
        shape.push(Some(7));
        let array = self.array_of(shape);
        let value = self.operand(&Type::Array(array.clone()));
        (array, value)
    }

    fn dist(&mut self, number: usize) -> Made {
        let (array, one) = self.axes();
        let n = array.ndim();
        let result = vec![self.ty()];
        let with = |mut operands: Vec<Value>, more: Vec<Value>| {
            operands.extend(more);
            operands
        };
        let pairs = vec![Type::Index; 2 * n];
        let flag = self.rng.chance(1, 2);
        match number {
            43 => {
                let offsets = self.indices(n);
                let parts = (0..*self.rng.pick(&[1, 3]))
                    .map(|_| {
                        let array = self.array();
                        self.operand(&Type::Array(array))
                    })
                    .collect();
                (Op::InitDist, with(offsets, parts), result)
            }
            44 => (Op::LocalOffsetsOf, vec![one], vec![Type::Index; n]),
            45 => (Op::PartsOf, vec![one], vec![Type::Array(array); 3]),
            46 => (Op::DefaultPartition, self.indices(2 + n), pairs),
            47 => (Op::LocalTarget, with(vec![one], self.indices(3 * n)), pairs),
            48 => {
                let count = if flag { 7 * n } else { 5 * n };
                let op = Op::BoundingBox { inner: self.rng.chance(1, 2), previous: flag };
                (op, self.indices(count), pairs)
            }
            49 => {
                let count = if flag { 7 * n } else { 5 * n };
                (Op::LocalCore { previous: flag }, with(vec![one], self.indices(count)), pairs)
            }
            50 => {
                let more = if flag { self.indices(2 * n) } else { vec![] };
                (Op::Repartition { request: flag }, with(vec![one], more), result)
            }
            51 => {
                let (slice, values) = self.slice();
                let target = flag && !slice.offsets.is_empty();
                let count = if target { 2 * slice.offsets.len() } else { 0 };
                let operands = with(with(vec![one], values), self.indices(count));
                (Op::DistSubview { slice, target }, operands, result)
            }
            52 => {
                let more = if flag { self.indices(3 * n) } else { vec![] };
                (Op::DistUnary(self.unary()), with(vec![one], more), result)
            }
            _ => {
                let more = if flag { self.indices(3 * n) } else { vec![] };
                let operands = with(vec![one, self.some_operand()], more);
                (Op::DistBinary(self.binary()), operands, result)
            }
        }
    }

    fn runtime(&mut self, number: usize) -> Made {
        let (array, one) = self.axes();
        let n = array.ndim();
        let team = self.attribute(1);
        let ty = Type::Array(array);
        match number {
            54 => (Op::TeamSize(team), vec![], vec![Type::Index]),
            55 => (Op::TeamMember(team), vec![], vec![Type::Index]),
            56 => {
                let team = self.rng.chance(1, 2).then_some(team);
                let memref = Type::MemRef(self.shape(), self.element());
                let operands = vec![self.operand(&memref)];
                (Op::AllReduce { reduction: self.reduction(), team }, operands, vec![])
            }
            57 => {
                let operands = [one].into_iter().chain(self.indices(4 * n)).collect();
                let op = Op::GetHalo { team, key: self.rng.range(-1, 9) };
                (op, operands, vec![Type::Handle, ty.clone(), ty])
            }
            58 => {
                let (other, _) = self.axes();
                let count = 2 * n + 3 * other.ndim();
                let operands = [one].into_iter().chain(self.indices(count)).collect();
                (Op::CopyReshape { team }, operands, vec![Type::Handle, Type::Array(other)])
            }
            59 => {
                let operands = [one].into_iter().chain(self.indices(4 * n)).collect();
                let op = Op::CopyPermute { team, axes: (0..n).rev().collect() };
                (op, operands, vec![Type::Handle, ty])
            }
            _ => (Op::Wait, vec![self.operand(&Type::Handle)], vec![]),
        }
    }
}
