//! The verifier by programs that no text can say, and by damage that it must see.

use std::fs;
use std::path::Path;

use pantile_ir::text::parse;
use pantile_ir::verify::{Finding, verify};
use pantile_ir::{Block, Function, Op, Operation, Program, Type, Value};
use pantile_lanes::{DType, Scalar};
use pantile_testkit::{Rng, cases};

fn read(text: &str) -> Program {
    parse(text, "").unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn messages(program: &Program) -> Vec<String> {
    let findings: Vec<Finding> = verify(program).err().unwrap_or_default();
    findings.into_iter().map(|finding| finding.message).collect()
}

fn function() -> (Program, Value) {
    let program = read("func.func @f(%x: f64) -> f64 {\n  return %x : f64\n}\n");
    let value = program.functions[0].body.arguments[0];
    (program, value)
}

fn add(one: Value, other: Value, result: Value) -> Operation {
    Operation::new(Op::Arith(pantile_ir::Arith::AddF), vec![one, other], vec![result])
}

#[test]
fn values_are_defined_before_they_are_used() {
    let (mut program, x) = function();
    let f = &mut program.functions[0];
    let (a, b) = (f.value(Type::scalar(DType::F64)), f.value(Type::scalar(DType::F64)));
    f.body.operations.insert(0, add(x, b, a));
    f.body.operations.insert(1, add(x, x, b));
    assert_eq!(messages(&program), ["value 2 is used before it is defined"]);
    program.functions[0].body.operations.swap(0, 1);
    assert_eq!(verify(&program), Ok(()));
}

#[test]
fn values_are_defined_once() {
    let (mut program, x) = function();
    let f = &mut program.functions[0];
    let a = f.value(Type::scalar(DType::F64));
    f.body.operations.insert(0, add(x, x, a));
    f.body.operations.insert(1, add(x, x, a));
    assert_eq!(messages(&program), ["result value 1 is defined twice"]);
    let f = &mut program.functions[0];
    f.body.operations[1].results = vec![x];
    assert_eq!(messages(&program), ["result %x is defined twice"]);
    let f = &mut program.functions[0];
    f.body.operations.remove(1);
    f.body.arguments.push(x);
    assert_eq!(messages(&program), ["argument %x is defined twice"]);
}

#[test]
fn values_belong_to_the_function() {
    let (mut program, x) = function();
    let mut other = Function::new("other");
    let far = (0..9).map(|_| other.value(Type::Index)).last().unwrap();
    program.functions[0].body.operations[0].operands = vec![far];
    assert_eq!(messages(&program), ["value 8 does not exist"]);
    let (mut program, _) = function();
    program.functions[0].body.operations.insert(0, add(x, x, far));
    assert_eq!(messages(&program), ["result value 8 does not exist"]);
    let (mut program, _) = function();
    program.functions[0].body.arguments.push(far);
    assert_eq!(messages(&program), ["argument value 8 does not exist"]);
}

#[test]
fn values_are_seen_in_their_block_only() {
    let mut program = read(
        "func.func @f(%x: f64, %n: index) -> f64 {
  scf.for %i = %n to %n step %n {
    %y = arith.addf %x, %x : f64
    scf.yield
  }
  return %x : f64
}
",
    );
    let f = &mut program.functions[0];
    let inner = f.body.operations[0].blocks[0].operations[0].results[0];
    f.body.operations[1].operands = vec![inner];
    assert_eq!(messages(&program), ["%y is used outside of the block that defines it"]);
    let f = &mut program.functions[0];
    f.body.operations[1].operands = f.body.arguments[..1].to_vec();
    let argument = f.body.arguments[0];
    f.body.operations[0].blocks[0].arguments[0] = argument;
    assert_eq!(messages(&program), ["block argument %x is defined twice"]);
}

#[test]
fn names_are_unique_and_there_is_something_to_run() {
    assert_eq!(
        messages(&Program::default()),
        ["the program has no functions, expected one to run"]
    );
    let (mut program, _) = function();
    program.functions.push(program.functions[0].clone());
    program.aliases = vec![("t".to_owned(), Type::Index), ("t".to_owned(), Type::Handle)];
    let findings = verify(&program).unwrap_err();
    let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "the type `!t` is defined twice",
            "line 1, column 11: @f: there is another function with this name",
        ]
    );
}

#[test]
fn findings_show_their_place() {
    let (mut program, x) = function();
    let f = &mut program.functions[0];
    let a = f.value(Type::scalar(DType::F64));
    f.body.operations.insert(0, Operation::new(Op::Convert, vec![x, x], vec![a]));
    let findings = verify(&program).unwrap_err();
    assert_eq!(
        findings[0].to_string(),
        "made by a pass: `arith.convert` in @f: has 2 operands, expected 1"
    );
}

fn sound_programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/programs");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| read(&fs::read_to_string(file).unwrap())).collect()
}

/// The operation with this number, counted through all blocks.
fn nth<'b>(block: &'b mut Block, number: &mut usize) -> Option<&'b mut Operation> {
    for operation in &mut block.operations {
        if *number == 0 {
            return Some(operation);
        }
        *number -= 1;
        for block in &mut operation.blocks {
            if let Some(found) = nth(block, number) {
                return Some(found);
            }
        }
    }
    None
}

/// Any damage: the verifier may find it or not, but it answers.
fn damage(rng: &mut Rng, function: &mut Function) {
    let mut count = 0;
    function.body.walk(&mut |_| count += 1);
    let values = function.values.len();
    if count == 0 || values == 0 {
        return;
    }
    let mut spare = function.clone();
    let any: Vec<Value> = (0..values + 2).map(|_| spare.value(Type::Index)).collect::<Vec<_>>();
    // Values of the function have small numbers: take them from a function of that size.
    let mut own = Function::new("own");
    let own: Vec<Value> = (0..values).map(|_| own.value(Type::Index)).collect();
    let mut number = rng.below(count);
    let other = function.values[rng.below(values)].ty.clone();
    let retyped = rng.below(values);
    let Some(operation) = nth(&mut function.body, &mut number) else { return };
    match rng.below(8) {
        0 => drop(operation.operands.pop()),
        1 => operation.operands.push(*rng.pick(&own)),
        2 => drop(operation.results.pop()),
        3 => operation.results.push(*rng.pick(&any)),
        4 => drop(operation.blocks.pop()),
        5 => {
            let place = rng.below(operation.operands.len().max(1));
            if let Some(operand) = operation.operands.get_mut(place) {
                *operand = *rng.pick(&own);
            }
        }
        6 => operation.op = Op::Constant(Scalar::of(true)),
        _ => function.values[retyped].ty = other,
    }
}

#[test]
fn damaged_programs_get_an_answer() {
    let programs = sound_programs();
    let mut found = 0;
    let mut tried = 0;
    cases("damaged_programs_get_an_answer", 5000, |rng| {
        let mut program = rng.pick(&programs).clone();
        let number = rng.below(program.functions.len());
        for _ in 0..1 + rng.below(3) {
            damage(rng, &mut program.functions[number]);
        }
        tried += 1;
        found += usize::from(verify(&program).is_err());
        let _ = program.to_string();
    });
    assert!(found * 10 > tried * 5, "{found} of {tried}");
}

#[test]
fn operations_that_are_left_out_are_noticed() {
    // Whatever defines a value that is used, and whatever ends a block, is needed.
    let programs = sound_programs();
    cases("operations_that_are_left_out_are_noticed", 1000, |rng| {
        let mut program = rng.pick(&programs).clone();
        let number = rng.below(program.functions.len());
        let function = &mut program.functions[number];
        let mut used = vec![false; function.values.len()];
        function.body.walk(&mut |operation| {
            operation.operands.iter().for_each(|value| used[value.index()] = true);
        });
        let place = rng.below(function.body.operations.len());
        let operation = function.body.operations.remove(place);
        let needed = operation.results.iter().any(|value| used[value.index()])
            || matches!(operation.op, Op::Return | Op::Wait);
        assert_eq!(verify(&program).is_err(), needed, "{operation:?}");
    });
}
