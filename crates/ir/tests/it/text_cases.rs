//! The text by examples: types that are read or refused, spellings that mean the same, faults.

use pantile_ir::text::{canonical, parse, parse_type};
use pantile_ir::{Attribute, Env, Op, Program, Type};
use pantile_lanes::{Binary, Scalar, Unary};

/// A type is read and printed as `expected`.
fn same_type(text: &str, expected: &str) -> Type {
    let ty = parse_type(text).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(ty.to_string(), expected);
    assert_eq!(parse_type(expected).unwrap(), ty);
    ty
}

fn refused_type(text: &str, message: &str) {
    let fault = parse_type(text).unwrap_err();
    assert_eq!(fault.message(), message, "{fault}");
}

#[test]
fn distributed_types() {
    let nd = |inside: &str| format!("!ndarray.ndarray<{inside}>");
    let dist = |shape: &str, inside: &str| nd(&format!("{shape}, #dist.dist_env<{inside}>"));
    let both = |shape: &str, given: &str, printed: &str| {
        same_type(&dist(shape, given), &dist(shape, printed))
    };
    let text = "team = 37416 loffs = 22 lparts = 0,11,0";
    let typed = "team = 37416 : i64 loffs = 22 lparts = 0,11,0";
    assert_eq!(both("44xi64", text, typed), both("44xi64", typed, typed));
    let ty = both(
        "44xi64",
        "team = 37416 loffs = ? lparts = ?,?,?",
        "team = 37416 : i64 loffs = ? lparts = ?,?,?",
    );
    let local = ty.as_array().unwrap().dist_env().unwrap().local.clone().unwrap();
    assert_eq!((local.offsets, local.parts), (vec![None], vec![vec![None]; 3]));
    both(
        "44x55xi64",
        "team = 1 loffs = 22,0 lparts = 0x0,11x55,0x0",
        "team = 1 : i64 loffs = 22,0 lparts = 0x0,11x55,0x0",
    );
    both("f64", "team = 1", "team = 1 : i64");
    both("33xi64", "team = 1", "team = 1 : i64");
    // One part: read here, refused by the verifier.
    both(
        "6x6xi32",
        "team = 22 loffs = 3,0 lparts = 3x6",
        "team = 22 : i64 loffs = 3,0 lparts = 3x6",
    );
    both(
        "16xf32",
        "team = 22 loffs = 5 lparts = 1,4,0",
        "team = 22 : i64 loffs = 5 lparts = 1,4,0",
    );

    refused_type(
        &dist("44xi64", "team = 1 loffs = 22 lparts = 0,11"),
        "got 2 local parts, expected 1 or 3",
    );
    refused_type(
        &dist("44x55xi64", "team = 1 loffs = 22 lparts = 0x0,11x55,0x0"),
        "got 1 local offsets for 2 axes",
    );
    refused_type(
        &dist("44xi64", "team = 1 loffs = 22 lparts = 0x0,11x55,0x0"),
        "a local part has 2 axes, the offsets have 1",
    );
    refused_type(
        &dist("44xi64", "loffs = 22 lparts = 0,11,0"),
        "expected `team`: a distributed array names its team, found `loffs`",
    );
    refused_type(
        &dist("44xi64", "team = 1 loffs = 22"),
        "expected `lparts`: local offsets are followed by local parts, found `>`",
    );
}

#[test]
fn other_types() {
    for text in [
        "index",
        "i1",
        "si16",
        "ui64",
        "complex<f32>",
        "memref<3x?xf64>",
        "tensor<f32>",
        "!distruntime.asynchandle",
        "!ndarray.ndarray<?x0xindex>",
        "!ndarray.ndarray<2xcomplex<f64> : \"rows\">",
        "!ndarray.ndarray<2xf64, #pantile.dist<\"block(r), whole\">>",
        "!ndarray.ndarray<2xf64, #a.b<\"x>\", {c = [1]}>, unit>",
    ] {
        same_type(text, text);
    }
    // The exclamation mark is sometimes left out.
    same_type("ndarray.ndarray<2xf64>", "!ndarray.ndarray<2xf64>");
    refused_type("f16", "expected a type, found `f16`");
    refused_type("!grid", "there is no type `!grid`");
    refused_type("!ndarray.ndarray<4 x f64>", "expected `x` and an element type, found `x`");
    refused_type("!ndarray.ndarray<4xf64> 3", "expected the end of the text, found `3`");
    refused_type(
        "!ndarray.ndarray<999999999999999999xf64>",
        "expected a length or `?` up to 2^48, found 999999999999999999",
    );
    let many = format!("memref<{}f64>", "2x".repeat(33));
    refused_type(&many, "more than 32 axes");
}

#[test]
fn the_order_of_environments_does_not_matter() {
    let gpu = "#region.gpu_env<device = \"sycl:gpu:0\">";
    let dist = "#dist.dist_env<team = 1 : i64>";
    let one = parse_type(&format!("!ndarray.ndarray<22xi64, {gpu}, {dist}>")).unwrap();
    let other = parse_type(&format!("!ndarray.ndarray<22xi64, {dist}, {gpu}>")).unwrap();
    assert_eq!(one, other);
    assert_eq!(one.to_string(), other.to_string());
    // Nor when an array is placed anew.
    let spread = Env::Placement("copies".into());
    let placed = Type::Array(one.as_array().unwrap().placed(Some(spread)));
    assert_eq!(parse_type(&placed.to_string()).unwrap(), placed);
}

fn read(text: &str) -> Program {
    let program = parse(text, "t").unwrap_or_else(|faults| {
        panic!("{}\n{text}", faults.iter().map(ToString::to_string).collect::<String>())
    });
    canonical(&program)
}

/// The body of a function with some arguments.
fn body(lines: &str) -> String {
    format!(
        "func.func @f(%a: !ndarray.ndarray<16xf64>, %i: index, %x: f64, %b: i1) {{\n{lines}\n  return\n}}\n"
    )
}

fn same(one: &str, other: &str) {
    assert_eq!(read(&body(one)), read(&body(other)));
}

#[test]
fn spellings_that_mean_the_same() {
    let t = "!ndarray.ndarray<16xf64>";
    // Clauses come in any order.
    same(
        &format!(
            "%o, %s = dist.local_core %a sstrides %i ssizes %i soffs %i tsizes %i toffs %i : {t} to index, index"
        ),
        &format!(
            "%o, %s = dist.local_core %a toffs %i tsizes %i soffs %i ssizes %i sstrides %i : {t} to index, index"
        ),
    );
    // With and without quotes.
    same(
        &format!("%p:3 = dist.parts_of(%a) : ({t}) -> ({t}, {t}, {t})"),
        &format!("%p:3 = \"dist.parts_of\"(%a) : ({t}) -> ({t}, {t}, {t})"),
    );
    same(
        &format!("%c = \"ndarray.ewbin\"(%a, %x) {{op = \"mul\"}} : ({t}, f64) -> {t}"),
        &format!("%c = ndarray.ewbin %a, %x {{op = \"multiply\"}} : ({t}, f64) -> ({t})"),
    );
    same(
        &format!(
            "%c = \"ndarray.create\"(%i, %x) <{{operandSegmentSizes = array<i32: 1, 1>}}> : (index, f64) -> {t}"
        ),
        &format!("%c = ndarray.create %i value %x : (index, f64) -> {t}"),
    );
    same(
        &format!(
            "%c = \"ndarray.subview\"(%a, %i) <{{static_offsets = array<i64: -9223372036854775808>, static_sizes = [2], static_strides = [1]}}> : ({t}, index) -> {t}"
        ),
        &format!("%c = ndarray.subview %a [%i][2][1] : {t} to {t}"),
    );
    same(
        &format!("%c = \"dist.repartition\"(%a, %i, %i) : ({t}, index, index) -> {t}"),
        &format!("%c = dist.repartition %a lsizes %i loffs %i : {t}, index, index to {t}"),
    );
    same(
        &format!("%c = ndarray.linspace %x, %x, %i true : (f64, f64, index) -> {t}"),
        &format!("%c = \"ndarray.linspace\"(%x, %x, %i) {{endpoint}} : (f64, f64, index) -> {t}"),
    );
}

#[test]
fn loops_numbers_and_names_that_mean_the_same() {
    let t = "!ndarray.ndarray<16xf64>";
    // Loops whose end is implied, or quoted.
    same(
        "scf.for %k = %i to %i step %i {\n}",
        "\"scf.for\"(%i, %i, %i) ({\n^bb0(%k: index):\n  scf.yield\n}) : (index, index, index) -> ()",
    );
    same(
        "scf.for %k = %i to %i step %i {\n  %l = arith.addi %k, %k : index\n}",
        "scf.for %k = %i to %i step %i {\n  %l = arith.addi %k, %k : index\n  scf.yield\n}",
    );
    same("region.env_region unit { }", "region.env_region unit { region.env_region_yield }");
    same(
        "scf.while : () -> () { scf.condition(%b) } do { }",
        "scf.while () : () -> () { scf.condition(%b) } do { scf.yield }",
    );
    // Numbers.
    same("%c = arith.constant 0x10 : i64", "%c = arith.constant 16 : i64");
    same("%c = arith.constant 2 : f64", "%c = arith.constant 2.0 : f64");
    same("%c = arith.constant 0x4000000000000000 : f64", "%c = arith.constant 2.0 : f64");
    same("%c = arith.constant 0x40000000 : f32", "%c = arith.constant 2.0e0 : f32");
    same("%c = arith.constant true : i1", "%c = arith.constant -1 : i1");
    same(
        "%c = \"arith.constant\"() <{value = 5 : index}> : () -> index",
        "%c = arith.constant 5 : index",
    );
    same(
        "%c = \"complex.constant\"() <{value = [1.0, 2.0]}> : () -> complex<f64>",
        "%c = complex.constant [1.0, 2.0] : complex<f64>",
    );
    same(
        "%c = \"arith.cmpf\"(%x, %x) <{predicate = \"olt\"}> : (f64, f64) -> i1",
        "%c = arith.cmpf olt, %x, %x : f64",
    );
    same(
        "%c = \"arith.cmpi\"(%i, %i) <{predicate = 6 : i64}> : (index, index) -> i1",
        "%c = arith.cmpi ult, %i, %i : index",
    );
    same(
        "%c = \"arith.cmpf\"(%x, %x) <{predicate = 13 : i64}> : (f64, f64) -> i1",
        "%c = arith.cmpf une, %x, %x : f64",
    );
    same("%c = arith.constant 5", "%c = arith.constant 5 : i64");
    same("%c = arith.constant -2.5e1", "%c = arith.constant -25.0 : f64");
    same("%c = arith.extui %b : i1 to i64", "%c = arith.convert %b : i1 to i64");
    same("%c = arith.uitofp %b : i1 to f64", "%c = arith.convert %b : i1 to f64");
    same("%c = arith.index_castui %b : i1 to index", "%c = arith.convert %b : i1 to index");
    let fault = parse(&body("%c = arith.extui %d : i8 to i64").replace("%b: i1", "%d: i8"), "t");
    let fault = fault.unwrap_err()[0].message().to_owned();
    assert_eq!(fault, "from i8 to i64 converts `arith.extsi`, not `arith.extui`");
    // Names of groups.
    same(
        "%o:2 = \"dist.default_partition\"(%i, %i, %i) : (index, index, index) -> (index, index)\n%c = arith.addi %o, %o#1 : index",
        &format!(
            "%o:2 = \"dist.default_partition\"(%i, %i, %i) : (index, index, index) -> (index, index)\n%c = arith.addi %o#0, %o#1 : index // {t}"
        ),
    );
    let module = format!("module @m {{\n{}}}\n", body(""));
    assert_eq!(read(&module), read(&body("")));
    assert_eq!(read(&body("").replace("return", "func.return")), read(&body("")));
}

#[test]
fn short_names_of_functions() {
    let names = [
        ("add", Binary::Add),
        ("sub", Binary::Subtract),
        ("mul", Binary::Multiply),
        ("div", Binary::Divide),
        ("mod", Binary::Remainder),
        ("pow", Binary::Pow),
        ("eq", Binary::Equal),
        ("ne", Binary::NotEqual),
        ("lt", Binary::Less),
        ("le", Binary::LessEqual),
        ("gt", Binary::Greater),
        ("ge", Binary::GreaterEqual),
        ("and", Binary::BitwiseAnd),
        ("or", Binary::BitwiseOr),
        ("xor", Binary::BitwiseXor),
        ("shl", Binary::BitwiseLeftShift),
        ("shr", Binary::BitwiseRightShift),
        ("max", Binary::Maximum),
        ("min", Binary::Minimum),
        ("floordiv", Binary::FloorDivide),
        ("land", Binary::LogicalAnd),
        ("lor", Binary::LogicalOr),
        ("lxor", Binary::LogicalXor),
    ];
    for (name, function) in names {
        let program = read(&body(&format!(
            "%c = ndarray.ewbin %x, %x {{op = \"{name}\"}} : (f64, f64) -> f64"
        )));
        let Op::Binary(named) = program.functions[0].body.operations[0].op else { panic!() };
        assert_eq!((named.function, named.by_id), (function, false));
    }
    for (name, function) in
        [("neg", Unary::Negative), ("not", Unary::BitwiseInvert), ("lnot", Unary::LogicalNot)]
    {
        let program =
            read(&body(&format!("%c = ndarray.ewuny %x {{op = \"{name}\"}} : f64 -> f64")));
        let Op::Unary(named) = program.functions[0].body.operations[0].op else { panic!() };
        assert_eq!(named.function, function);
    }
}

#[test]
fn numbers_keep_their_bits() {
    for (text, value) in [
        ("0x7FF8000000000001", f64::from_bits(0x7FF8_0000_0000_0001)),
        ("0xFFF0000000000000", f64::NEG_INFINITY),
        ("0x8000000000000000", -0.0),
        ("0.1", 0.1),
        ("1.0e-300", 1e-300),
        ("5.0e-324", 5e-324),
        ("1.7976931348623157e308", f64::MAX),
    ] {
        let text = format!("func.func @f() {{\n  %c = arith.constant {text} : f64\n  return\n}}\n");
        let program = read(&text);
        let Op::Constant(scalar) = &program.functions[0].body.operations[0].op else { panic!() };
        assert_eq!(scalar.get::<f64>().unwrap().to_bits(), value.to_bits());
        assert_eq!(program.to_string(), text);
        assert_eq!(*scalar, Scalar::of(value));
    }
}

#[test]
fn values_are_numbered_around_names() {
    let text = "func.func @f(%0: index, %n: index) {
  %1 = arith.addi %0, %n : index
  %7, %x = \"dist.default_partition\"(%0, %1, %n) : (index, index, index) -> (index, index)
  %9:2 = \"dist.default_partition\"(%7, %x, %n) : (index, index, index) -> (index, index)
  %3 = arith.addi %9#0, %9#1 : index
  return
}
";
    let printed = text.replace("%7", "%2").replace("%3 ", "%4 ").replace("%9", "%3");
    assert_eq!(read(text).to_string(), printed);
}

#[test]
fn aliases_are_used_where_types_are_equal() {
    let text = "!a = !ndarray.ndarray<2xf64>
!b = !a
!s = f64

func.func @f(%x: !a) -> !a {
  %c = arith.constant 1.0 : !s
  return %x : !a
}
";
    let program = read(text);
    assert_eq!(program.to_string(), text);
    assert_eq!(program.aliases[0].1, program.aliases[1].1);
    assert_eq!(program.functions[0].results[0], program.aliases[0].1);
}

#[test]
fn printing_does_not_need_a_sound_program() {
    let mut program = read(&body("%c = arith.addf %x, %x : f64"));
    let other = read(&body("%c = arith.addf %x, %x : f64\n%d = arith.addf %x, %c : f64"));
    let stray = other.functions[0].body.operations[1].clone();
    let function = &mut program.functions[0];
    let uses = stray.results.clone();
    function.body.operations.push(pantile_ir::Operation::new(Op::Return, uses, vec![]));
    function.body.operations.push(stray.clone());
    function.body.operations.push(pantile_ir::Operation { op: Op::For, ..stray });
    function.values[2].name = Some("a".into());
    function.values[3].name = Some("no name!".into());
    let printed = program.to_string();
    assert!(printed.contains("%a_1: f64, %no_name_: i1"), "{printed}");
    assert!(printed.contains("%undefined_5"), "{printed}");
}

#[test]
fn attributes_have_names() {
    let full = "#dist.dist_env<team = 22 : i64 loffs = 0 lparts = 0,4,0>";
    let function =
        |env: &str| format!("func.func @f(%a: !ndarray.ndarray<4xf64, {env}>) {{\n  return\n}}\n");
    let named = format!("#env = {full}\n{}", function("#env"));
    assert_eq!(read(&named), read(&function(full)));
    let wrong = |text: &str| parse(text, "t").unwrap_err()[0].message().to_owned();
    assert_eq!(
        read("#t = [1, \"#t\"]\nfunc.func @f() attributes {x = #t, y = #t.b} {\n  return\n}")
            .to_string(),
        "func.func @f() attributes {x = [1, \"#t\"], y = #t.b} {\n  return\n}\n"
    );
    assert_eq!(wrong("#t = 1\n#t = 2\n"), "`#t` is defined twice");
    assert_eq!(wrong("#t = 1\n#u = [#t]\n"), "`#u` names `#t`, expected what that stands for");
    assert_eq!(wrong("#t\n"), "expected `=`, found the end of the text");
    // What is wrong with an attribute is wrong where it is written.
    let faults = parse(&format!("#env = {full}\n!a = !ndarray.ndarray<4x4xf64, #env>\n"), "t");
    let fault = &faults.unwrap_err()[0];
    assert_eq!((fault.line(), fault.message()), (1, "got 1 local offsets for 2 axes"));
}

#[test]
fn functions_say_who_sees_them() {
    let text = "func.func private @f() {\n  return\n}\n";
    let printed = "func.func @f() attributes {sym_visibility = \"private\"} {\n  return\n}\n";
    assert_eq!(read(text).to_string(), printed);
    assert_eq!(read(text), read(printed));
}

#[test]
fn teams_may_be_anything() {
    let ty = same_type(
        "!ndarray.ndarray<2xf64, #dist.dist_env<team = \"world\">>",
        "!ndarray.ndarray<2xf64, #dist.dist_env<team = \"world\">>",
    );
    let team = &ty.as_array().unwrap().dist_env().unwrap().team;
    assert_eq!(*team, Attribute::String("world".to_owned()));
}

/// Whatever is wrong with an operation that there is, it is not its name.
#[test]
fn no_operation_is_mistaken_for_itself() {
    let names = [
        "return",
        "scf.for",
        "scf.while",
        "scf.condition",
        "scf.yield",
        "region.env_region",
        "arith.constant",
        "arith.cmpi",
        "arith.addi",
        "ndarray.ewuny",
        "ndarray.ewbin",
        "ndarray.subview",
        "dist.subview",
        "dist.local_offsets_of",
        "dist.parts_of",
        "dist.default_partition",
        "dist.ewuny",
        "dist.ewbin",
        "distruntime.team_size",
        "distruntime.allreduce",
        "distruntime.get_halo",
        "distruntime.wait",
    ];
    let forms = ["NAME", "NAME %a", "NAME %a : f64", "NAME(%a) : (f64) -> f64", "\"NAME\"(%a)"];
    for name in names {
        for form in forms.iter().chain(&["\"NAME\"(%a) : (f64) -> f64", "\"NAME\"() : () -> ()"]) {
            let line = form.replace("NAME", name);
            for results in ["", "%b = "] {
                let text =
                    format!("func.func @main(%a: f64) {{\n  {results}{line}\n  return\n}}\n");
                for fault in pantile_ir::text::parse(&text, "").err().unwrap_or_default() {
                    let message = fault.to_string();
                    assert!(!message.contains("there is no operation"), "{text}{message}");
                }
            }
        }
    }
}
