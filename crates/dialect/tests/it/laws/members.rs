//! Runs the programs of all members side by side, naively: views are lists of places in shared
//! cells, an exchange happens once all members have come to it, and halos are filled by the wait.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use pantile_ir::reference::Array;
use pantile_ir::{
    Arith, Binary, Index, Op, Operation, Predicate, Program, Reduction, Scalar, Slice, Type, Unary,
    Value,
};

#[derive(Clone)]
struct Shown {
    cells: Rc<RefCell<Vec<i64>>>,
    shape: Vec<usize>,
    places: Vec<usize>,
}

impl Shown {
    fn new(shape: &[usize], data: Vec<i64>) -> Self {
        let places = (0..data.len()).collect();
        Self { cells: Rc::new(RefCell::new(data)), shape: shape.to_vec(), places }
    }

    fn read(&self) -> Vec<i64> {
        let cells = self.cells.borrow();
        self.places.iter().map(|place| cells[*place]).collect()
    }

    /// A slice; `open` are the numbers in it that were not known.
    fn slice(&self, slice: &Slice, open: &[i64]) -> Self {
        let mut open = open.iter();
        let mut numbers = |list: &[Index]| -> Vec<usize> {
            let number = |entry: &Index| match entry {
                Index::Known(number) => usize::try_from(*number).unwrap(),
                Index::Operand => usize::try_from(*open.next().unwrap()).unwrap(),
            };
            list.iter().map(number).collect()
        };
        let (o, s, t) = (numbers(&slice.offsets), numbers(&slice.sizes), numbers(&slice.strides));
        let places = indices(&s).into_iter().map(|index| {
            let at = index.iter().enumerate().fold(0, |at, (axis, i)| {
                let i = o[axis] + i * t[axis];
                assert!(i < self.shape[axis], "beyond the array");
                at * self.shape[axis] + i
            });
            self.places[at]
        });
        Self { places: places.collect(), cells: self.cells.clone(), shape: s }
    }
}

fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |all, length| {
        let longer = |index: &Vec<usize>| {
            let index = index.clone();
            (0..*length).map(move |i| index.iter().copied().chain([i]).collect::<Vec<_>>())
        };
        all.iter().flat_map(longer).collect()
    })
}

struct Machine<'p> {
    program: &'p Program,
    values: BTreeMap<Value, Shown>,
    at: usize,
    /// Halos that travel: their values, by handle.
    travelling: BTreeMap<Value, Vec<(Value, Vec<i64>)>>,
}

/// The results of all members, one after the other.
pub(crate) fn run(programs: &[Program], arguments: &[Array], shape: &[usize]) -> Vec<Vec<Scalar>> {
    let per_row: usize = shape[1..].iter().product();
    let mut given_rows = vec![0; arguments.len()];
    let mut machines: Vec<Machine<'_>> = Vec::new();
    for program in programs {
        let function = &program.functions[0];
        let mut values = BTreeMap::new();
        for (number, argument) in function.body.arguments.iter().enumerate() {
            if let Type::MemRef(dims, _) = function.ty(*argument) {
                let shape: Vec<usize> = dims.iter().map(|dim| dim.unwrap()).collect();
                let count = shape.iter().product();
                values.insert(*argument, Shown::new(&shape, vec![i64::MIN / 3; count]));
                continue;
            }
            let data: Vec<i64> = arguments[number].to_vec().unwrap();
            let local: Vec<usize> =
                function.ty(*argument).shape().iter().map(|dim| dim.unwrap()).collect();
            let shown = match local.first() {
                None => Shown::new(&[], data),
                Some(rows) => {
                    let first = given_rows[number] * per_row;
                    given_rows[number] += rows;
                    Shown::new(&local, data[first..first + rows * per_row].to_vec())
                }
            };
            values.insert(*argument, shown);
        }
        machines.push(Machine { program, values, at: 0, travelling: BTreeMap::new() });
    }
    loop {
        let stopped: Vec<Operation> = machines.iter_mut().map(Machine::go).collect();
        if stopped.iter().all(|operation| operation.op == Op::Return) {
            return gather(&machines, &stopped);
        }
        match &stopped[0].op {
            Op::AllReduce { reduction, .. } => {
                all_reduce(&machines, &stopped, reduction.function);
            }
            _ => exchange(&mut machines, &stopped),
        }
    }
}

fn gather(machines: &[Machine<'_>], ends: &[Operation]) -> Vec<Vec<Scalar>> {
    let mut results: Vec<Vec<Scalar>> = Vec::new();
    // The arrays come first. A third result may have halos somewhere: then it has three parts
    // there, and is left out.
    let plain = ends.iter().all(|end| end.operands.len() == 3);
    let shapes = |machine: &Machine<'_>, end: &Operation| -> Vec<usize> {
        end.operands.iter().map(|value| machine.values[value].shape.len()).collect()
    };
    for (machine, end) in machines.iter().zip(ends) {
        let compared = if plain { 3 } else { 2 };
        results.resize(compared, Vec::new());
        let axes = shapes(machine, end);
        for (number, (result, value)) in results.iter_mut().zip(&end.operands).enumerate() {
            let own = machine.values[value].read().into_iter().map(Scalar::of);
            if axes[number] > 0 {
                result.extend(own);
                continue;
            }
            // What has no axes every member has.
            let own: Vec<Scalar> = own.collect();
            assert!(result.is_empty() || *result == own, "members have different numbers");
            *result = own;
        }
    }
    results
}

/// Everybody gets what is left of the memory of all.
fn all_reduce(machines: &[Machine<'_>], stopped: &[Operation], reduction: Reduction) {
    let memory: Vec<&Shown> = machines
        .iter()
        .zip(stopped)
        .map(|(machine, operation)| {
            let same = matches!(&operation.op, Op::AllReduce { reduction: own, .. } if own.function == reduction);
            assert!(same, "members do different things");
            &machine.values[&operation.operands[0]]
        })
        .collect();
    let all: Vec<Vec<i64>> = memory.iter().map(|shown| shown.read()).collect();
    for place in 0..all[0].len() {
        let left = left_of(reduction, &all.iter().map(|own| own[place]).collect::<Vec<_>>());
        for shown in &memory {
            shown.cells.borrow_mut()[shown.places[place]] = left;
        }
    }
}

/// What is left of some numbers.
fn left_of(reduction: Reduction, numbers: &[i64]) -> i64 {
    let numbers = numbers.iter().copied();
    match reduction {
        Reduction::Sum => numbers.fold(0, i64::wrapping_add),
        Reduction::Prod => numbers.fold(1, i64::wrapping_mul),
        Reduction::Max => numbers.max().unwrap(),
        Reduction::Min => numbers.min().unwrap(),
        _ => panic!("{} is not in these programs", reduction.name()),
    }
}

/// A reduction of a local array.
fn reduce(of: &Shown, reduction: Reduction, axes: Option<&[usize]>, keepdims: bool) -> Shown {
    let goes = |axis: usize| axes.is_none_or(|axes| axes.contains(&axis));
    let data = of.read();
    let unit: Vec<usize> =
        of.shape.iter().enumerate().map(|(axis, n)| if goes(axis) { 1 } else { *n }).collect();
    let all = indices(&of.shape);
    let left = indices(&unit).into_iter().map(|kept| {
        let same = |index: &Vec<usize>| {
            index.iter().zip(&kept).enumerate().all(|(axis, (i, k))| goes(axis) || i == k)
        };
        let numbers = all.iter().zip(&data).filter(|(index, _)| same(index));
        left_of(reduction, &numbers.map(|(_, number)| *number).collect::<Vec<_>>())
    });
    let left = left.collect();
    let shape: Vec<usize> =
        (0..unit.len()).filter(|axis| keepdims || !goes(*axis)).map(|axis| unit[axis]).collect();
    Shown::new(&shape, left)
}

fn exchange(machines: &mut [Machine<'_>], stopped: &[Operation]) {
    let request = |machine: &Machine<'_>, operation: &Operation| {
        let Op::GetHalo { .. } = operation.op else { panic!("members do different things") };
        let local = machine.values[&operation.operands[0]].clone();
        let numbers: Vec<usize> = operation.operands[1..]
            .iter()
            .map(|value| usize::try_from(machine.values[value].read()[0]).unwrap())
            .collect();
        (local, numbers)
    };
    let all: Vec<(Shown, Vec<usize>)> = machines
        .iter()
        .zip(stopped)
        .map(|(machine, operation)| request(machine, operation))
        .collect();
    let ndim = all[0].0.shape.len();
    for (member, operation) in stopped.iter().enumerate() {
        let (_, wanted) = &all[member];
        let (offsets, sizes) = (&wanted[2 * ndim..3 * ndim], &wanted[3 * ndim..]);
        let mut sides = [Vec::new(), Vec::new()];
        for row in offsets[0]..offsets[0] + sizes[0] {
            let owner = all.iter().position(|(local, numbers)| {
                (numbers[ndim]..numbers[ndim] + local.shape[0]).contains(&row)
            });
            let owner = owner.expect("somebody owns the row");
            if owner == member {
                continue;
            }
            let (local, numbers) = &all[owner];
            let data = local.read();
            for column in indices(&sizes[1..]) {
                let at = column.iter().enumerate().fold(row - numbers[ndim], |at, (axis, i)| {
                    let i = offsets[axis + 1] + i - numbers[ndim + axis + 1];
                    at * local.shape[axis + 1] + i
                });
                sides[usize::from(owner > member)].push(data[at]);
            }
        }
        let machine = &mut machines[member];
        let function = &machine.program.functions[0];
        let mut halos = Vec::new();
        for (side, data) in sides.into_iter().enumerate() {
            let value = operation.results[1 + side];
            let shape: Vec<usize> =
                function.ty(value).shape().iter().map(|dim| dim.unwrap()).collect();
            let count = shape.iter().product();
            assert_eq!(data.len(), count, "the halo has the length that its type says");
            machine.values.insert(value, Shown::new(&shape, vec![i64::MIN / 7; count]));
            halos.push((value, data));
        }
        machine.travelling.insert(operation.results[0], halos);
    }
}

impl Machine<'_> {
    /// Runs up to the next exchange, or the end.
    fn go(&mut self) -> Operation {
        loop {
            let operation = self.program.functions[0].body.operations[self.at].clone();
            self.at += 1;
            match operation.op {
                Op::GetHalo { .. } | Op::AllReduce { .. } | Op::Return => return operation,
                _ => self.step(&operation),
            }
        }
    }

    fn step(&mut self, operation: &Operation) {
        let of = |number: usize| self.values[&operation.operands[number]].clone();
        let numbers = |first: usize| -> Vec<i64> {
            operation.operands[first..].iter().map(|value| self.values[value].read()[0]).collect()
        };
        let made = match &operation.op {
            Op::Constant(scalar) => Shown::new(&[], vec![scalar.get::<i64>().unwrap()]),
            Op::Create { value } => {
                let ty = self.program.functions[0].ty(operation.results[0]);
                let shape: Vec<usize> = ty.shape().iter().map(|dim| dim.unwrap()).collect();
                let value = if *value { of(0).read()[0] } else { i64::MIN / 5 };
                Shown::new(&shape, vec![value; shape.iter().product()])
            }
            Op::Subview(slice) => of(0).slice(slice, &numbers(1)),
            Op::ExtractSlice(slice) => {
                let shown = of(0).slice(slice, &numbers(1));
                Shown::new(&shown.shape.clone(), shown.read())
            }
            Op::Cast | Op::FromMemRef => of(0),
            Op::Copy => Shown::new(&of(0).shape, of(0).read()),
            Op::Reduce { reduction, axes, keepdims, .. } => {
                reduce(&of(0), reduction.function, axes.as_deref(), *keepdims)
            }
            Op::Load => {
                let (shown, at) = (of(0), numbers(1));
                let place = at.iter().zip(&shown.shape).fold(0, |place, (i, length)| {
                    let i = usize::try_from(*i).unwrap();
                    assert!(i < *length, "beyond the array");
                    place * length + i
                });
                Shown::new(&[], vec![shown.read()[place]])
            }
            Op::Convert => of(0),
            Op::Arith(_) | Op::Compare(_) | Op::SelectScalar => {
                Shown::new(&[], vec![number(&operation.op, &numbers(0))])
            }
            Op::InsertSlice(slice) => {
                let (source, target) = (of(0).read(), of(1).slice(slice, &numbers(2)));
                let mut cells = target.cells.borrow_mut();
                for (number, place) in target.places.iter().enumerate() {
                    cells[*place] = source[if source.len() == 1 { 0 } else { number }];
                }
                return;
            }
            Op::Wait => {
                for (value, data) in self.travelling.remove(&operation.operands[0]).unwrap() {
                    self.values[&value].cells.borrow_mut().copy_from_slice(&data);
                }
                return;
            }
            Op::Unary(named) => {
                assert_eq!(named.function, Unary::Negative);
                let x = of(0);
                Shown::new(&x.shape.clone(), x.read().iter().map(|x| x.wrapping_neg()).collect())
            }
            Op::Binary(named) => binary(named.function, &of(0), &of(1)),
            other => panic!("{} is nothing that a member does alone", other.name()),
        };
        self.values.insert(operation.results[0], made);
    }
}

/// What is computed from numbers.
fn number(op: &Op, of: &[i64]) -> i64 {
    match (op, of) {
        (Op::Arith(Arith::SubI), [x, y]) => x - y,
        (Op::Arith(Arith::MaxSI), [x, y]) => *x.max(y),
        (Op::Arith(Arith::MinSI), [x, y]) => *x.min(y),
        (Op::Arith(Arith::AndI), [x, y]) => x & y,
        (Op::Arith(Arith::RemSI), [x, y]) => x % y,
        (Op::Compare(Predicate::Ge), [x, y]) => i64::from(x >= y),
        (Op::Compare(Predicate::Lt), [x, y]) => i64::from(x < y),
        (Op::SelectScalar, [truth, yes, no]) => *if *truth == 0 { no } else { yes },
        _ => panic!("{} is not in these programs", op.name()),
    }
}

/// Elements at equal places; axes of length 1 and missing ones are repeated.
fn binary(function: Binary, x: &Shown, y: &Shown) -> Shown {
    let ndim = x.shape.len().max(y.shape.len());
    let length = |of: &Shown, axis: usize| {
        (axis + of.shape.len()).checked_sub(ndim).map_or(1, |axis| of.shape[axis])
    };
    let both = |axis| match (length(x, axis), length(y, axis)) {
        (1, other) => other,
        (own, _) => own,
    };
    let shape: Vec<usize> = (0..ndim).map(both).collect();
    let (one, other) = (x.read(), y.read());
    let at = |of: &Shown, index: &[usize]| {
        index[ndim - of.shape.len()..]
            .iter()
            .zip(&of.shape)
            .fold(0, |place, (i, length)| place * length + if *length == 1 { 0 } else { *i })
    };
    let element = |index: &Vec<usize>| {
        let (x, y) = (one[at(x, index)], other[at(y, index)]);
        match function {
            Binary::Add => x.wrapping_add(y),
            Binary::Subtract => x.wrapping_sub(y),
            Binary::Multiply => x.wrapping_mul(y),
            _ => panic!("{function} is not in these programs"),
        }
    };
    Shown::new(&shape, indices(&shape).iter().map(element).collect())
}
