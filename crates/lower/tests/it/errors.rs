//! What errors of the lowering say, by their variants.

use std::fmt::Display;

use pantile_ir::text::{parse, parse_type};
use pantile_ir::{ArrayType, DType, Env, Op, Placement, Type};
use pantile_lower::{
    LoopError, LowerErrorKind, OperationError, PassFault, PassNeeds, PlaceError, Setting, Stage,
    StridedRangeError, find, home_of,
};

fn check(error: impl Display, text: &str) {
    assert_eq!(error.to_string(), text);
}

#[test]
fn operations_that_cannot_be_lowered_say_why() {
    use OperationError as E;
    check(E::NotLowered(Box::new(Op::Wait)), "Wait cannot be lowered");
    check(E::NotCreation(Box::new(Op::Copy)), "Copy makes nothing");
    check(
        E::OfMember,
        "this operation is what one member does; a program for all members is needed to run it",
    );
    check(E::ValueOfMember, "a value differs from member to member and is used for all");
    check(E::ClipOperands, "clip takes three operands");
    check(E::NoElements, "the result has no elements");
    check(E::BlockNoElements, "a result has no elements");
    check(E::NoZero { dtype: DType::F64 }, "no zero");
    check(E::UnknownLength, "a length is not known");
    check(E::Length { got: -1 }, "got the length -1, expected 0 or more");
    check(E::Count { got: -1 }, "got -1 elements, expected 0 or more");
    check(E::RandomType { dtype: DType::I8 }, "random numbers of type i8, expected f32 or f64");
    check(E::BroadcastAxes, "more axes than the result has");
    check(E::ReducedAxes { axes: vec![2], ndim: 1 }, "got axes [2], expected axes below 1");
    check(E::NoPanels, "got no panels, expected at least 2");
    let kind = "Sum([])".to_owned();
    check(E::FactorNotStored { kind }, "a factor is Sum([]), expected an array in memory");
    check(E::NoProductPlace, "no place for a product");
    check(E::BlockShapes, "arrays and blocks of map_blocks have different shapes");
    check(
        E::TooManyBlocks { got: 9, limit: 8 },
        "got 9 blocks, expected at most 8, and calls at most 8 deep",
    );
    check(E::PaddedNotStored, "a padded array is in memory");
    check(E::MappedNotStored, "a mapped array is in memory");
}

/// Why an array of this type has no home on so many ranks.
fn homeless(ty: &str, ranks: usize) -> LowerErrorKind {
    let setting = Setting { ranks, ..Setting::default() };
    *home_of(&parse_type(ty).unwrap(), &setting).unwrap_err().kind
}

#[test]
fn arrays_without_a_home_say_why() {
    let on = |mesh: &str| format!("!ndarray.ndarray<8xf64, #pantile.dist<\"{mesh}\">>");
    let mesh = "r=2, c=*, d=*".to_owned();
    let error = homeless(&on("r=2, c=*, d=*: block(r)"), 4);
    assert_eq!(error, PlaceError::MeshRest { mesh }.into());
    check(error, "got the mesh \"r=2, c=*, d=*\", expected at most one size *");
    let mesh = "r=x, c=*".to_owned();
    let error = homeless(&on("r=x, c=*: block(r)"), 4);
    assert_eq!(error, PlaceError::MeshSize { size: "x".to_owned(), mesh }.into());
    let mesh = "r=3, c=*".to_owned();
    let error = homeless(&on("r=3, c=*: block(r)"), 2);
    assert_eq!(error, PlaceError::TooFewRanks { mesh, needed: 3, ranks: 2 }.into());
    check(error, "\"r=3, c=*\" needs at least 3 ranks, got 2");
    let error = homeless(&on("r=3: block(r)"), 2);
    assert_eq!(error, PlaceError::NoSuchRank { rank: 2, ranks: 2 }.into());
    let error = homeless("!ndarray.ndarray<?xf64>", 2);
    assert_eq!(error, OperationError::UnknownLength.into());
    check(
        PlaceError::Mesh { mesh: "*".to_owned() },
        "got the mesh \"*\", expected NAME=SIZE, NAME=*",
    );
    let text = "r=2: whole; sum(r)".to_owned();
    check(
        PlaceError::NotProduct { text },
        "\"r=2: whole; sum(r)\" has terms or boxes, expected a product of axes",
    );
    let (home, shape) = ("8 on r=2: block(r)".to_owned(), vec![9]);
    let at = Placement::at(home.parse().unwrap());
    let array = ArrayType::new(&shape, DType::F64).placed(Some(Env::Placement(at)));
    let setting = Setting { ranks: 2, ..Setting::default() };
    let error = *home_of(&Type::Array(array), &setting).unwrap_err().kind;
    assert_eq!(error, PlaceError::Shape { home, shape }.into());
    check(error, "\"8 on r=2: block(r)\" is no distribution of an array of shape [9]");
    check(
        PlaceError::MemberParts,
        "the type has the parts of one member (loffs, lparts), expected one for all of them: a team only",
    );
}

#[test]
fn loops_and_slices_that_cannot_be_lowered_say_why() {
    check(
        LoopError::UnknownBounds,
        "slices depend on the counter of a loop whose bounds are not known before the program runs",
    );
    check(
        LoopError::TooManyTurns { turns: 9, limit: 8 },
        "slices depend on the counter of a loop of 9 turns, expected at most 8",
    );
    check(LoopError::NoCondition, "the loop has no condition");
    check(LoopError::NotScalar, "got an array, expected a scalar");
    let (got, expected) = (1, 2);
    check(LoopError::Values { got, expected }, "got 1 values for the next turn, expected 2");
    let (before, after) = (vec![1], vec![2]);
    check(
        LoopError::Shape { before, after },
        "a carried value of shape [1] has shape [2] for the next turn",
    );
    check(StridedRangeError::MissingOperand, "a slice lacks an operand");
    let (sizes, declared) = (vec![1, 2], vec![None]);
    check(
        StridedRangeError::Shape { sizes, declared },
        "a slice of sizes [1, 2] is no array of shape ?",
    );
    check(StridedRangeError::UnknownIndex, "an index is not known before the program runs");
}

#[test]
fn passes_out_of_order_say_so() {
    let program = parse("func.func @main() {\n  return\n}\n", "empty").unwrap();
    let setting = Setting { ranks: 2, ..Setting::default() };
    let run = |name: &str, stage: Stage| find(name).unwrap().run(stage, &setting);
    let steps = run("lower", Stage::Program(program.clone())).unwrap();
    let fault = run("values", steps.clone()).unwrap_err();
    assert_eq!(fault, PassFault::Stage { pass: "values", needs: PassNeeds::Program });
    check(fault, "values works on programs: it has to come before `lower`");
    let fault = run("reuse", Stage::Program(program)).unwrap_err();
    assert_eq!(fault, PassFault::Stage { pass: "reuse", needs: PassNeeds::Steps });
    check(fault, "reuse works on steps: `lower` has to come before it");
    let fault = run("lower", steps).unwrap_err();
    assert_eq!(fault, PassFault::LoweredTwice);
    check(fault, "these are steps already");
    assert!(find("nothing").is_none());
}
