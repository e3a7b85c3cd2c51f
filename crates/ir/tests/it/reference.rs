//! The naive evaluator against numbers that were found by hand.

use pantile_ir::reference::{
    Array, EvaluationError, Fault, OperandError, StructureError, run, run_within,
};
use pantile_ir::text::parse;
use pantile_lanes::{DType, Element, Scalar};

/// The results of a program whose body is `text`.
fn results(signature: &str, text: &str, arguments: &[Array]) -> Result<Vec<Array>, Fault> {
    let text = format!("func.func @main{signature} {{\n{text}\n}}\n");
    let program = parse(&text, "t").unwrap_or_else(|faults| panic!("{}\n{text}", faults[0]));
    run(&program, arguments)
}

/// The one result of a program without arguments, which is `%r`.
fn value<T: Element>(ty: &str, text: &str) -> Vec<T> {
    let text = format!("{text}\nreturn %r : {ty}");
    results(&format!("() -> {ty}"), &text, &[]).unwrap()[0].to_vec().unwrap()
}

fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{got} is not {expected}");
}

#[test]
fn evenly_spaced_numbers() {
    let line = |start: &str, stop: &str, count: usize, endpoint: bool| -> Vec<f64> {
        let ty = format!("!ndarray.ndarray<{count}xf64>");
        value(
            &ty,
            &format!(
                "%a = arith.constant {start} : f64\n%b = arith.constant {stop} : f64\n\
                 %n = arith.constant {count} : index\n\
                 %r = ndarray.linspace %a %b %n {endpoint} : (f64, f64, index) -> {ty}"
            ),
        )
    };
    assert_eq!(line("0.0", "10.0", 10, false), (0..10).map(f64::from).collect::<Vec<_>>());
    assert_eq!(line("0.0", "4.0", 9, true), (0..9).map(|i| f64::from(i) / 2.0).collect::<Vec<_>>());
    assert_eq!(line("0.0", "1.0", 3, false), [0.0, 1.0 / 3.0, 2.0 / 3.0]);
    assert_eq!(line("10.0", "0.0", 5, false), [10.0, 8.0, 6.0, 4.0, 2.0]);
    assert_eq!(line("3.0", "7.0", 1, true), [3.0]);
    assert_eq!(line("3.0", "7.0", 0, true), [0.0; 0]);
    // The end is the end, whatever 0.1 * 10 / 10 rounds to.
    assert_eq!(line("0.1", "0.7", 7, true)[6], 0.7);
    let whole: Vec<i32> = value(
        "!ndarray.ndarray<5xi32>",
        "%a = arith.constant 0 : i32\n%b = arith.constant 10 : i32\n%n = arith.constant 5 : index\n\
         %r = ndarray.linspace %a %b %n false : (i32, i32, index) -> !ndarray.ndarray<5xi32>",
    );
    assert_eq!(whole, [0, 2, 4, 6, 8]);
}

#[test]
fn other_creations() {
    let counted: Vec<u8> = value(
        "!ndarray.ndarray<4xui8>",
        "%a = arith.constant 250 : ui8\n%b = arith.constant 3 : ui8\n\
         %r = ndarray.arange %a, %b : (ui8, ui8) -> !ndarray.ndarray<4xui8>",
    );
    assert_eq!(counted, [250, 253, 0, 3]);
    let eye: Vec<f32> = value(
        "!ndarray.ndarray<2x3xf32>",
        "%r = ndarray.eye {k = 1} : () -> !ndarray.ndarray<2x3xf32>",
    );
    assert_eq!(eye, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let index: Vec<i16> = value(
        "!ndarray.ndarray<2x3xi16>",
        "%r = ndarray.index {axis = 1} : () -> !ndarray.ndarray<2x3xi16>",
    );
    assert_eq!(index, [0, 1, 2, 0, 1, 2]);
    let empty: Vec<i64> =
        value("!ndarray.ndarray<2xi64>", "%r = ndarray.create : () -> !ndarray.ndarray<2xi64>");
    assert_eq!(empty, [0, 0]);
    let random = |kind: &str| -> Vec<f64> {
        value(
            "!ndarray.ndarray<200xf64>",
            &format!(
                "%s = arith.constant 7 : i64\n%r = ndarray.random %s {{kind = \"{kind}\", stream = 3}} : \
                 (i64) -> !ndarray.ndarray<200xf64>"
            ),
        )
    };
    assert!(random("uniform").iter().all(|x| (0.0..1.0).contains(x)));
    let normal = random("normal");
    assert!(normal.iter().sum::<f64>().abs() < 60.0 && normal.iter().any(|x| *x < -1.0));
}

#[test]
fn assignments_to_slices() {
    let small: Vec<i64> = value(
        "!ndarray.ndarray<5xi64>",
        "%zero = arith.constant 0 : i64\n%two = arith.constant 2 : i64\n%one = arith.constant 1 : i64\n\
         %r = ndarray.arange %zero, %two : (i64, i64) -> !ndarray.ndarray<5xi64>\n\
         %s = ndarray.arange %zero, %one : (i64, i64) -> !ndarray.ndarray<2xi64>\n\
         ndarray.insert_slice %s into %r[1] [2] [2] : !ndarray.ndarray<2xi64> into !ndarray.ndarray<5xi64>",
    );
    assert_eq!(small, [0, 0, 4, 1, 8]);
    let rows = |offset: usize, count: usize, step: usize| -> Vec<usize> {
        let line: Vec<i64> = value(
            "!ndarray.ndarray<16xi64>",
            &format!(
                "%one = arith.constant 1 : i64\n%r = ndarray.create : () -> !ndarray.ndarray<16xi64>\n\
                 ndarray.insert_slice %one into %r[{offset}] [{count}] [{step}] : i64 into !ndarray.ndarray<16xi64>"
            ),
        );
        (0..16).filter(|row| line[*row] == 1).collect()
    };
    assert_eq!(rows(7, 3, 3), [7, 10, 13]);
    assert_eq!(rows(3, 10, 1), (3..13).collect::<Vec<_>>());
    assert_eq!(rows(3, 0, 1), [0; 0]);
}

#[test]
fn a_statement_reads_before_it_writes() {
    let line: Vec<f64> = value(
        "!ndarray.ndarray<10xf64>",
        "%zero = arith.constant 0.0 : f64\n%one = arith.constant 1.0 : f64\n\
         %r = ndarray.arange %zero, %one : (f64, f64) -> !ndarray.ndarray<10xf64>\n\
         %a = ndarray.subview %r[0] [8] [1] : !ndarray.ndarray<10xf64> to !ndarray.ndarray<8xf64>\n\
         %b = ndarray.subview %r[2] [8] [1] : !ndarray.ndarray<10xf64> to !ndarray.ndarray<8xf64>\n\
         %c = ndarray.ewbin %a, %b {op = 0 : i32} : (!ndarray.ndarray<8xf64>, !ndarray.ndarray<8xf64>) -> !ndarray.ndarray<8xf64>\n\
         ndarray.insert_slice %c into %r[1] [8] [1] : !ndarray.ndarray<8xf64> into !ndarray.ndarray<10xf64>",
    );
    assert_eq!(line, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 9.0]);
    // Shifting an array over itself.
    let line: Vec<i64> = value(
        "!ndarray.ndarray<4xi64>",
        "%r = ndarray.index {axis = 0} : () -> !ndarray.ndarray<4xi64>\n\
         %a = ndarray.subview %r[3] [4] [-1] : !ndarray.ndarray<4xi64> to !ndarray.ndarray<4xi64>\n\
         ndarray.insert_slice %a into %r[0] [4] [1] : !ndarray.ndarray<4xi64> into !ndarray.ndarray<4xi64>",
    );
    assert_eq!(line, [3, 2, 1, 0]);
}

#[test]
fn views_share_and_copies_do_not() {
    let text = "%r = ndarray.index {axis = 1} : () -> !ndarray.ndarray<2x3xi64>
        %row = ndarray.subview %r[1, 0] [1, 3] [1, 1] : !ndarray.ndarray<2x3xi64> to !ndarray.ndarray<3xi64>
        %back = ndarray.subview %row[2] [2] [-2] : !ndarray.ndarray<3xi64> to !ndarray.ndarray<2xi64>
        %cast = ndarray.cast %back : !ndarray.ndarray<2xi64> to !ndarray.ndarray<?xi64>
        %copy = ndarray.extract_slice %row[0] [3] [1] : !ndarray.ndarray<3xi64> to !ndarray.ndarray<3xi64>
        %seven = arith.constant 7 : i64
        ndarray.insert_slice %seven into %cast[0] [1] [1] : i64 into !ndarray.ndarray<?xi64>
        ndarray.insert_slice %seven into %copy[0] [2] [1] : i64 into !ndarray.ndarray<3xi64>
        %new = ndarray.immutable_insert_slice %seven into %r[0, 0] [2, 1] [1, 1] : i64 into !ndarray.ndarray<2x3xi64>
        return %r, %back, %copy, %new : !ndarray.ndarray<2x3xi64>, !ndarray.ndarray<2xi64>, !ndarray.ndarray<3xi64>, !ndarray.ndarray<2x3xi64>";
    let types = "!ndarray.ndarray<2x3xi64>, !ndarray.ndarray<2xi64>, !ndarray.ndarray<3xi64>, !ndarray.ndarray<2x3xi64>";
    let got = results(&format!("() -> ({types})"), text, &[]).unwrap();
    assert_eq!(got[0], Array::of(&[2, 3], &[0i64, 1, 2, 0, 1, 7]));
    assert_eq!(got[1], Array::of(&[2], &[7i64, 0]));
    assert_eq!(got[2], Array::of(&[3], &[7i64, 7, 2]));
    assert_eq!(got[3], Array::of(&[2, 3], &[7i64, 1, 2, 7, 1, 7]));
}

#[test]
fn values_of_slices_of_values() {
    let square = "!ndarray.ndarray<16x16xi64>";
    let small = "!ndarray.ndarray<3x3xi64>";
    let at = |column: usize| -> Vec<i64> {
        value(
            small,
            &format!(
                "%d = ndarray.create : () -> {square}\n%one = arith.constant 1 : i64\n\
                 %two = arith.constant 2 : i64\n\
                 %s0 = ndarray.create value %one : (i64) -> {small}\n\
                 %s1 = ndarray.create value %two : (i64) -> {small}\n\
                 %a = ndarray.immutable_insert_slice %s0 into %d[0, 0] [3, 3] [1, 1] : {small} into {square}\n\
                 %b = ndarray.immutable_insert_slice %s1 into %a[0, {column}] [3, 3] [1, 1] : {small} into {square}\n\
                 %r = ndarray.extract_slice %b[0, 0] [3, 3] [1, 1] : {square} to {small}"
            ),
        )
    };
    assert_eq!(at(3), [1; 9]);
    assert_eq!(at(1), [1, 2, 2, 1, 2, 2, 1, 2, 2]);
    let permuted: Vec<i64> = value(
        "!ndarray.ndarray<3x2xi64>",
        "%zero = arith.constant 0 : i64\n%one = arith.constant 1 : i64\n\
         %a = ndarray.arange %zero, %one : (i64, i64) -> !ndarray.ndarray<6xi64>\n\
         %b = ndarray.reshape %a : !ndarray.ndarray<6xi64> -> !ndarray.ndarray<2x3xi64>\n\
         %r = ndarray.permute_dims %b [1, 0] : !ndarray.ndarray<2x3xi64> -> !ndarray.ndarray<3x2xi64>",
    );
    assert_eq!(permuted, [0, 3, 1, 4, 2, 5]);
}

/// The result of a function of two constants by its number.
fn two<T: Element>(element: &str, one: &str, other: &str, id: i64) -> T {
    let ty = format!("!ndarray.ndarray<{element}>");
    value::<T>(
        &ty,
        &format!(
            "%a = arith.constant {one} : {element}\n%b = arith.constant {other} : {element}\n\
             %x = ndarray.create value %a : ({element}) -> {ty}\n%y = ndarray.create value %b : ({element}) -> {ty}\n\
             %r = ndarray.ewbin %x, %y {{op = {id} : i32}} : ({ty}, {ty}) -> {ty}"
        ),
    )[0]
}

#[test]
fn functions_by_number() {
    let of_13_and_3 = [
        (0, 16),
        (2, 1),
        (4, 15),
        (6, 14),
        (8, 4),
        (18, 13),
        (19, 3),
        (20, 1),
        (21, 39),
        (23, 2197),
        (24, 10),
        (25, 4),
    ];
    for (id, expected) in of_13_and_3 {
        assert_eq!(two::<i64>("i64", "13", "3", id), expected, "{id}");
    }
    let of_floats = [
        (0, 15.3),
        (1, 1.40441),
        (18, 13.1),
        (19, 2.2),
        (20, 2.1),
        (21, 28.82),
        (23, 287.076),
        (24, 10.9),
        (25, 5.95455),
    ];
    for (id, expected) in of_floats {
        near(two::<f64>("f64", "13.1", "2.2", id), expected);
    }
    let of_one = [
        (0, "-2.2", 2.2),
        (5, "2.2", 1.14417),
        (7, "2.2", 3.0),
        (8, "2.2", -0.588_501),
        (10, "2.2", 0.998_137),
        (11, "2.2", 9.02501),
        (12, "2.2", 8.02501),
        (13, "2.2", 2.0),
        (17, "2.2", 0.788_457),
        (18, "2.2", 1.16315),
        (19, "2.2", 1.1375),
        (20, "2.2", 0.342_423),
        (21, "2.2", 2.0),
        (23, "2.2", 0.808_496),
        (25, "2.2", 4.84),
        (26, "2.2", 1.48324),
        (27, "2.2", -1.37382),
        (28, "2.2", 0.975_743),
        (29, "2.2", 2.0),
        (30, "2.2", -2.2),
        (31, "2.2", 2.2),
    ];
    for (id, of, expected) in of_one {
        let ty = "!ndarray.ndarray<f64>";
        let got: Vec<f64> = value(
            ty,
            &format!(
                "%a = arith.constant {of} : f64\n%x = ndarray.create value %a : (f64) -> {ty}\n\
                 %r = ndarray.ewuny %x {{op = {id} : i32}} : {ty} -> {ty}"
            ),
        );
        near(got[0], expected);
    }
}

#[test]
fn reductions() {
    let line = "!ndarray.ndarray<3xi64>";
    let of = |op: &str| -> i64 {
        let text = format!(
            "%r = ndarray.reduction %a {{op = \"{op}\"}} : {line} -> !ndarray.ndarray<i64>\n\
             return %r : !ndarray.ndarray<i64>"
        );
        let given = Array::of(&[3], &[-3i64, -7, -1]);
        let got = results(&format!("(%a: {line}) -> !ndarray.ndarray<i64>"), &text, &[given]);
        got.unwrap()[0].to_vec().unwrap()[0]
    };
    let found = ["sum", "prod", "max", "min", "argmin", "argmax", "count_nonzero"].map(of);
    assert_eq!(found, [-11, -21, -1, -7, 1, 2, 3]);
    let sum: Vec<i32> = value(
        "!ndarray.ndarray<i32>",
        "%c = arith.constant 10 : i32\n%a = ndarray.create value %c : (i32) -> !ndarray.ndarray<2x2x2xi32>\n\
         %r = ndarray.reduction %a {op = 4 : i32} : !ndarray.ndarray<2x2x2xi32> -> !ndarray.ndarray<i32>",
    );
    assert_eq!(sum, [80]);
}

/// A reduction of floats over axis 0.
fn reduced(op: &str, correction: &str, data: &[f64]) -> f64 {
    let n = data.len();
    let text = format!(
        "%r = ndarray.reduce %a {{op = \"{op}\", axes = [0], keepdims = true, correction = {correction}}} : \
         !ndarray.ndarray<{n}xf64> -> !ndarray.ndarray<1xf64>\nreturn %r : !ndarray.ndarray<1xf64>"
    );
    let signature = format!("(%a: !ndarray.ndarray<{n}xf64>) -> !ndarray.ndarray<1xf64>");
    let got = results(&signature, &text, &[Array::of(&[n], data)]).unwrap();
    assert_eq!(got[0].shape, [1]);
    got[0].to_vec().unwrap()[0]
}

#[test]
fn reductions_of_floats() {
    let data = [3.0, -4.0, 0.0, 1.0];
    for (op, correction, expected) in [
        ("mean", "0.0", 0.0),
        ("var", "0.0", 6.5),
        ("var", "1.0", 26.0 / 3.0),
        ("var", "0.5", 26.0 / 3.5),
        ("var", "4.0", f64::INFINITY),
        ("std", "0.0", 6.5f64.sqrt()),
        ("norm1", "0.0", 8.0),
        ("norm2", "0.0", 26f64.sqrt()),
        ("norminf", "0.0", 4.0),
        ("prod", "0.0", -0.0),
    ] {
        assert_eq!(
            reduced(op, correction, &data).to_bits(),
            expected.to_bits(),
            "{op} {correction}"
        );
    }
    let huge = 2f64.powi(700);
    assert_eq!(reduced("norm2", "0.0", &[3.0 * huge, 4.0 * huge]), 5.0 * huge);
    assert_eq!(reduced("norm2", "0.0", &[3.0 / huge, 4.0 / huge]), 5.0 / huge);
    assert_eq!(reduced("norm2", "0.0", &[]).to_bits(), 0);
    assert_eq!(reduced("mean", "0.0", &[]).to_bits(), 0x7ff8_0000_0000_0000);
    assert_eq!(reduced("prod", "0.0", &[]), 1.0);
    // One factor after the other in leaves of 256, then the two leaves.
    let mut factors = [1.0; 300];
    (factors[0], factors[255], factors[256], factors[299]) = (1e-200, 1e-200, 1e200, 1e200);
    assert!(reduced("prod", "0.0", &factors).is_nan());
    assert_eq!(reduced("prod", "0.0", &factors[..256]), 0.0);
}

#[test]
fn loops_carry_arrays_of_their_own() {
    let text = "%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %a = ndarray.create : () -> !ndarray.ndarray<4xi64>
        %b = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a) -> (!ndarray.ndarray<4xi64>) {
          %k = arith.index_cast %i : index to i64
          ndarray.insert_slice %k into %x[%i] [1] [1] : i64 into !ndarray.ndarray<4xi64>
          scf.yield %x : !ndarray.ndarray<4xi64>
        }
        %n = scf.while (%k = %c1) : (index) -> (index) {
          %t = arith.cmpi slt, %k, %c4 : index
          scf.condition(%t) %k : index
        } do {
        ^bb0(%k: index):
          %l = arith.addi %k, %k : index
          ndarray.insert_slice %l into %a[%k] [1] [1] : index into !ndarray.ndarray<4xi64>
          scf.yield %l : index
        }
        return %a, %b, %n : !ndarray.ndarray<4xi64>, !ndarray.ndarray<4xi64>, index";
    let types = "(!ndarray.ndarray<4xi64>, !ndarray.ndarray<4xi64>, index)";
    let got = results(&format!("() -> {types}"), text, &[]).unwrap();
    assert_eq!(got[0], Array::of(&[4], &[0i64, 2, 4, 0]));
    assert_eq!(got[1], Array::of(&[4], &[0i64, 1, 2, 3]));
    assert_eq!(got[2], Array::of(&[], &[4i64]));
}

#[test]
fn stencils_and_blocks() {
    let line = "!ndarray.ndarray<5xf64>";
    let with = |boundary: &str| -> Vec<f64> {
        value(
            line,
            &format!(
                "%a = ndarray.index {{axis = 0}} : () -> {line}\n\
                 %r = ndarray.stencil %a {{points = [[-1], [1], [7]], weights = [1.0, 10.0, 100.0], \
                 boundary = \"{boundary}\"}} : {line} -> {line}"
            ),
        )
    };
    assert_eq!(with("zero"), [10.0, 20.0, 31.0, 42.0, 3.0]);
    assert_eq!(with("periodic"), [214.0, 320.0, 431.0, 42.0, 103.0]);
    let text = "func.func @main(%a: !ndarray.ndarray<5xi64>) -> !ndarray.ndarray<5xi64> {
          %r = ndarray.map_blocks @turn %a {block = [2]} : (!ndarray.ndarray<5xi64>) -> !ndarray.ndarray<5xi64>
          return %r : !ndarray.ndarray<5xi64>
        }
        func.func @turn(%b: !ndarray.ndarray<?xi64>) -> !ndarray.ndarray<?xi64> {
          %s = ndarray.reduce %b {op = \"sum\", axes = [0], keepdims = true} : !ndarray.ndarray<?xi64> -> !ndarray.ndarray<1xi64>
          %r = ndarray.ewbin %s, %b {op = \"subtract\"} : (!ndarray.ndarray<1xi64>, !ndarray.ndarray<?xi64>) -> !ndarray.ndarray<?xi64>
          return %r : !ndarray.ndarray<?xi64>
        }";
    let program = parse(text, "t").unwrap();
    let got = run(&program, &[Array::of(&[5], &[1i64, 2, 3, 4, 5])]).unwrap();
    assert_eq!(got, [Array::of(&[5], &[2i64, 1, 4, 3, 0])]);
}

#[test]
fn members_change_no_values() {
    let text = "%n = \"distruntime.team_size\"() <{team = 1 : i64}> : () -> index
        %m = \"distruntime.team_member\"() <{team = 1 : i64}> : () -> index
        %c = arith.constant 8 : index
        %o, %s = \"dist.default_partition\"(%n, %m, %c) : (index, index, index) -> (index, index)
        %p = dist.repartition %a loffs %o lsizes %s : T, index, index to T
        %v = dist.subview %p[1] [4] [2] toffs %o tsizes %s : T to H
        %w = \"dist.ewbin\"(%v, %v) <{op = 0 : i32}> : (H, H) -> H
        return %w : H";
    let (whole, half) = ("!ndarray.ndarray<8xf64>", "!ndarray.ndarray<4xf64>");
    let text = text.replace('T', whole).replace('H', half);
    let given = Array::of(&[8], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let got = results(&format!("(%a: {whole}) -> {half}"), &text, &[given]).unwrap();
    assert_eq!(got, [Array::of(&[4], &[2.0, 6.0, 10.0, 14.0])]);
}

#[test]
fn bits_that_pass_and_bits_that_do_not() {
    let odd = f64::from_bits(0xfff4_0000_0000_0001);
    let of = |op: &str| -> u64 {
        let text = format!(
            "%r = ndarray.ewuny %a {{op = \"{op}\"}} : !ndarray.ndarray<f64> -> !ndarray.ndarray<f64>\nreturn %r : !ndarray.ndarray<f64>"
        );
        let given = [Array::of(&[], &[odd])];
        let got = results("(%a: !ndarray.ndarray<f64>) -> !ndarray.ndarray<f64>", &text, &given);
        got.unwrap()[0].to_vec::<f64>().unwrap()[0].to_bits()
    };
    assert_eq!(of("positive"), odd.to_bits());
    assert_eq!(of("negative"), odd.to_bits() ^ 1 << 63);
    assert_eq!(of("abs"), odd.to_bits() & !(1 << 63));
    assert_eq!(of("floor"), 0x7ff8_0000_0000_0000);
    assert_eq!(of("sqrt"), 0x7ff8_0000_0000_0000);
}

#[test]
fn faults_say_what_and_where() {
    let line = "!ndarray.ndarray<4xf64>";
    let signature = format!("(%a: {line}) -> {line}");
    let fault = |text: &str| {
        let given = Array::of(&[4], &[1.0; 4]);
        results(&signature, text, &[given]).unwrap_err()
    };
    let text = format!(
        "%n = arith.constant 5 : index\n\
         %b = ndarray.subview %a[%n] [4] [1] : {line} to {line}\nreturn %b : {line}"
    );
    let expected = "t:3:6: axis 0: 4 indices from 5 by 1 leave the 4 of the array";
    assert_eq!(fault(&text).to_string(), expected);
    let text = format!(
        "%c0 = arith.constant 0 : index\nscf.for %i = %c0 to %c0 step %c0 {{\nscf.yield\n}}\nreturn %a : {line}"
    );
    assert_eq!(fault(&text).error, OperandError::Step { got: 0 }.into());
    let text = format!(
        "%p:3 = \"dist.parts_of\"(%a) : ({line}) -> ({line}, {line}, {line})\nreturn %a : {line}"
    );
    assert_eq!(fault(&text).error, StructureError::OfMember { op: "dist.parts_of" }.into());
    let text = format!("return %a : {line}");
    let wrong = results(&signature, &text, &[]).unwrap_err();
    let function = "main".to_owned();
    let expected = StructureError::Arguments { function, got: 0, expected: 1 };
    assert_eq!(wrong.error, expected.into());
    let wrong = results(&signature, &text, &[Array::of(&[3], &[1.0; 3])]).unwrap_err();
    let said = wrong.to_string();
    assert!(said.ends_with("got f64 of shape [3], the type says f64 of shape 4"));
    let odd = Array { dtype: DType::F64, shape: vec![4], data: vec![Scalar::of(1.0)] };
    let error = results(&signature, &text, &[odd]).unwrap_err().error;
    let (number, shape, elements, dtype) = (0, vec![4], 1, DType::F64);
    assert_eq!(error, StructureError::Argument { number, shape, elements, dtype }.into());
}

#[test]
fn programs_that_never_end_are_stopped() {
    let text = "func.func @main(%t: i1) {
          %c0 = arith.constant 0 : index
          %r = scf.while (%k = %c0) : (index) -> (index) {
            scf.condition(%t) %k : index
          } do {
          ^bb0(%k: index):
            scf.yield %k : index
          }
          return
        }";
    let program = parse(text, "t").unwrap();
    assert_eq!(run(&program, &[Array::of(&[], &[false])]), Ok(Vec::new()));
    let fault = run_within(&program, &[Array::of(&[], &[true])], 1000).unwrap_err();
    assert_eq!(fault.error, EvaluationError::Budget);
    let text = "func.func @main() {\n%a = ndarray.create : () -> !ndarray.ndarray<99999999x99999999xf64>\nreturn\n}";
    assert!(run(&parse(text, "t").unwrap(), &[]).is_err());
    let text = "func.func @main(%a: !ndarray.ndarray<2xf64>) -> !ndarray.ndarray<2xf64> {
          %r = ndarray.map_blocks @main %a {block = [2]} : (!ndarray.ndarray<2xf64>) -> !ndarray.ndarray<2xf64>
          return %r : !ndarray.ndarray<2xf64>
        }";
    let fault = run(&parse(text, "t").unwrap(), &[Array::of(&[2], &[1.0, 2.0])]).unwrap_err();
    let function = "main".to_owned();
    assert_eq!(fault.error, EvaluationError::CallDepth { function, limit: 16 });
    let fault = run(&pantile_ir::Program::default(), &[]).unwrap_err();
    assert_eq!(fault.error, StructureError::NoFunction.into());
}
