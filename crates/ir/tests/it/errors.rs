//! What errors say, by their variants.

use std::fmt::Display;

use pantile_ir::infer::{
    InferError, ShapeError, TypeError, binary_types, broadcast, matmul_dtype, matmul_shape,
    reduced_dtype, unary_types,
};
use pantile_ir::reference::{EvaluationError, OperandError, SliceFault, StructureError};
use pantile_ir::{Arith, Binary, DType, Reduction, Unary};

fn check(error: impl Display, text: &str) {
    assert_eq!(error.to_string(), text);
}

#[test]
fn types_that_do_not_fit_are_variants() {
    let error = matmul_dtype(DType::Bool, DType::Bool).unwrap_err();
    assert_eq!(error, TypeError::NotDefined { what: "matmul", of: DType::Bool });
    let error = reduced_dtype(Reduction::Max, DType::C64).unwrap_err();
    assert_eq!(error, TypeError::NotDefined { what: "max", of: DType::C64 });
    check(error, "max is not defined for elements of type c64");
    let error = unary_types(Unary::Sqrt, DType::F64, Some(DType::I32)).unwrap_err();
    let (function, wanted) = (Unary::Sqrt, DType::I32);
    assert_eq!(error, TypeError::Unary { function, of: DType::F64, gives: DType::F64, wanted });
    let of = (DType::F64, DType::F64);
    let error = binary_types(Binary::Add, of, Some(wanted)).unwrap_err();
    let function = Binary::Add;
    assert_eq!(error, TypeError::Binary { function, of, gives: DType::F64, wanted });
    check(error, "add of f64 and f64 gives f64, got the result type i32");
    check(TypeError::Condition { got: DType::F32 }, "condition has type f32, expected i1");
    check(
        TypeError::Stencil { got: DType::I8 },
        "stencil of elements of type i8, expected f32 or f64",
    );
    let (what, natural) = ("where", DType::F64);
    check(
        TypeError::Choice { what, natural, wanted },
        "where of f64 gives f64, got the result type i32",
    );
}

#[test]
fn shapes_that_do_not_fit_are_variants() {
    let error = broadcast(&[&[Some(2)], &[Some(3)]]).unwrap_err();
    assert_eq!(error, ShapeError::Lengths { axis: 0, one: 2, other: 3 });
    check(error, "lengths 2 and 3 of axis 0 do not go together, expected equal ones or 1");
    let error = matmul_shape(&[], &[Some(3)]).unwrap_err();
    assert_eq!(error, ShapeError::MatMulAxes { left: 0, right: 1 });
    let (left, right) = (vec![Some(2), Some(3)], vec![Some(4), None]);
    let error = matmul_shape(&left, &right).unwrap_err();
    assert_eq!(error, ShapeError::Contracted { left, right, axes: [1, 0], lengths: [3, 4] });
    check(
        error,
        "got shapes 2x3 and 4x?: axis 1 of the left has 3 elements, axis 0 of the right 4, expected equally many",
    );
    let (source, slice) = (vec![Some(2)], vec![Some(3), None]);
    check(
        ShapeError::Inserted { source, slice },
        "got a source of shape 2, expected one that broadcasts to the slice's 3x?",
    );
    check(
        ShapeError::Permutation { axes: vec![0, 0], ndim: 2 },
        "got axes [0, 0], expected a permutation of the 2 axes",
    );
    check(
        ShapeError::ReducedAxis { axis: 3, ndim: 2 },
        "got axis 3, expected different axes below 2",
    );
    check(
        ShapeError::Point { point: vec![1], ndim: 2 },
        "got point [1], expected one offset per axis: 2",
    );
    check(
        ShapeError::SliceEntries { got: 1, ndim: 2 },
        "got 1 offsets, sizes or strides, expected one per axis: 2",
    );
    check(
        ShapeError::SliceStride { axis: 0, size: -1, stride: 0 },
        "axis 0: got size -1 and stride 0, expected a size of at least 0 and a stride other than 0",
    );
}

#[test]
fn operations_without_types_say_why() {
    check(InferError::Operands { got: 1, number: 1 }, "got 1 operands, expected more than 1");
    check(InferError::Handle { number: 0 }, "operand 0 is a handle, expected elements");
    check(InferError::NoArrayResult { op: "cast" }, "cast has no array as result");
    let error: InferError = TypeError::Condition { got: DType::F32 }.into();
    check(error, "condition has type f32, expected i1");
}

#[test]
fn operands_without_a_result_say_why() {
    use OperandError as E;
    let shape = vec![2];
    check(
        E::TooManyElements { shape: shape.clone() },
        "an array of shape [2] has too many elements",
    );
    let own = vec![3];
    check(
        E::Broadcast { own, shape: shape.clone() },
        "an array of shape [3] does not spread to shape [2]",
    );
    let declared = vec![None];
    check(E::UnknownLengths { declared }, "got shape ?, expected known lengths");
    let axes = vec![0, 0];
    check(
        E::ReducedAxes { axes: axes.clone(), ndim: 2 },
        "got axes [0, 0], expected different ones below 2",
    );
    check(E::Permutation { axes, ndim: 2 }, "got axes [0, 0], expected each of 2 once");
    let at = vec![-1];
    check(E::Index { at, shape: shape.clone() }, "got [-1] for an array of shape [2]");
    check(E::NoSeed, "random numbers without a seed");
    check(E::Condition { got: DType::F32 }, "a condition has type f32, expected bool");
    check(E::LoopCondition, "the condition of the loop is no truth value");
    check(E::Arith { arith: Arith::AddI, got: 1 }, "AddI got 1 operands");
    let dtype = DType::I8;
    check(
        E::Stencil { points: 1, weights: 2, ndim: 3, dtype },
        "a stencil of 1 points and 2 weights on 3 axes of i8",
    );
    let got = [DType::F32, DType::F64];
    check(E::NotIntegers { got }, "got f32 and f64, expected integers");
    check(E::NotScalars, "got arrays, expected scalars");
    check(E::Mixed { function: Binary::Add, of: got }, "add of f32 and f64");
    check(E::NoValue, "a function gives nothing");
    check(E::Empty { function: Binary::Maximum }, "maximum of no elements is not defined");
    check(E::NoExtreme, "no element is the extreme one");
    check(E::Magnitude, "a magnitude is no real number");
    check(E::NoBlocks, "map_blocks of no array");
    check(
        E::Blocks { block: vec![0], shape },
        "blocks of shape [0] of arrays of shape [2], expected arrays of one shape and lengths of at least 1",
    );
    let fault = SliceFault::Step { axis: 0, size: -1, step: 1 };
    check(
        E::Slice(fault),
        "axis 0: got size -1 and step 1, expected a size of at least 0 and a step other than 0",
    );
}

#[test]
fn programs_that_are_not_sound_say_why() {
    use StructureError as E;
    let function = "f".to_owned();
    check(E::UnknownValue { value: 3, function }, "value 3 is none of @f");
    check(E::Values { got: 1, expected: 2 }, "got 1 values, expected 2");
    check(E::NoResult, "the operation has no result");
    check(E::MissingOperands, "operands are missing");
    check(E::ResultOfMember, "a result differs from member to member");
    check(E::LoopWithoutBlock, "a loop without a block");
    check(E::RegionWithoutBlock, "a region without a block");
    check(E::LoopBlocks { got: 1 }, "a loop of 1 blocks, expected 2");
    check(EvaluationError::from(E::NoCondition), "the loop has no condition");
}
