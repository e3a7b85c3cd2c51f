//! Runs the programs of all members side by side, naively: views are lists of places in shared
//! cells, an exchange happens once all members have come to it, and halos are filled by the wait.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use pantile_ir::reference::Array;
use pantile_ir::{Binary, Index, Op, Operation, Program, Scalar, Slice, Unary, Value};

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

    fn slice(&self, slice: &Slice) -> Self {
        let numbers = |list: &[Index]| -> Vec<usize> {
            let number = |entry: &Index| match entry {
                Index::Known(number) => usize::try_from(*number).unwrap(),
                Index::Operand => panic!("a slice that is not known"),
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
        exchange(&mut machines, &stopped);
    }
}

fn gather(machines: &[Machine<'_>], ends: &[Operation]) -> Vec<Vec<Scalar>> {
    let mut results: Vec<Vec<Scalar>> = Vec::new();
    // The arrays come first. A third result may have halos somewhere: then it has three parts
    // there, and is left out.
    let plain = ends.iter().all(|end| end.operands.len() == 3);
    for (machine, end) in machines.iter().zip(ends) {
        let compared = if plain { 3 } else { 2 };
        results.resize(compared, Vec::new());
        for (result, value) in results.iter_mut().zip(&end.operands) {
            result.extend(machine.values[value].read().into_iter().map(Scalar::of));
        }
    }
    results
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
                Op::GetHalo { .. } | Op::Return => return operation,
                _ => self.step(&operation),
            }
        }
    }

    fn step(&mut self, operation: &Operation) {
        let of = |number: usize| self.values[&operation.operands[number]].clone();
        let made = match &operation.op {
            Op::Constant(scalar) => Shown::new(&[], vec![scalar.get::<i64>().unwrap()]),
            Op::Create { value } => {
                let ty = self.program.functions[0].ty(operation.results[0]);
                let shape: Vec<usize> = ty.shape().iter().map(|dim| dim.unwrap()).collect();
                let value = if *value { of(0).read()[0] } else { i64::MIN / 5 };
                Shown::new(&shape, vec![value; shape.iter().product()])
            }
            Op::Subview(slice) => of(0).slice(slice),
            Op::ExtractSlice(slice) => {
                let shown = of(0).slice(slice);
                Shown::new(&shown.shape.clone(), shown.read())
            }
            Op::Cast => of(0),
            Op::InsertSlice(slice) => {
                let (source, target) = (of(0).read(), of(1).slice(slice));
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

fn binary(function: Binary, x: &Shown, y: &Shown) -> Shown {
    let shape = if x.shape.len() < y.shape.len() { &y.shape } else { &x.shape };
    let shape = if x.shape.iter().product::<usize>() == 1 && !y.shape.is_empty() {
        &y.shape
    } else {
        shape
    };
    let (one, other) = (x.read(), y.read());
    let at = |data: &[i64], number: usize| data[if data.len() == 1 { 0 } else { number }];
    let element = |number: usize| {
        let (x, y) = (at(&one, number), at(&other, number));
        match function {
            Binary::Add => x.wrapping_add(y),
            Binary::Subtract => x.wrapping_sub(y),
            Binary::Multiply => x.wrapping_mul(y),
            _ => panic!("{function} is not in these programs"),
        }
    };
    Shown::new(shape, (0..shape.iter().product()).map(element).collect())
}
