//! Running expansions on scalars, and reading vectors.

use std::path::Path;

use pantile_lanes::expand::{self, ElementLanes};
use pantile_lanes::{Binary, DType, Element, LoopBody, Scalar, Unary, evaluate};

/// The type of the lanes of an element, and how many it has.
pub(crate) fn parts(dtype: DType) -> (DType, usize) {
    match dtype {
        DType::C64 => (DType::F32, 2),
        DType::C128 => (DType::F64, 2),
        real => (real, 1),
    }
}

fn input(body: &mut LoopBody, dtype: DType) -> ElementLanes {
    match parts(dtype) {
        (part, 2) => ElementLanes::Complex(body.input(part).unwrap(), body.input(part).unwrap()),
        (part, _) => ElementLanes::Real(body.input(part).unwrap()),
    }
}

fn output(body: &mut LoopBody, lane: ElementLanes) {
    match lane {
        ElementLanes::Real(x) => body.output(x),
        ElementLanes::Complex(re, im) => {
            body.output(re);
            body.output(im);
        }
    }
}

/// A body with a function of one element.
pub(crate) fn unary(function: Unary, dtype: DType) -> LoopBody {
    let mut body = LoopBody::new();
    let x = input(&mut body, dtype);
    let y = expand::unary(&mut body, function, x).unwrap();
    output(&mut body, y);
    body
}

/// A body with a function of two elements.
pub(crate) fn binary(function: Binary, dtype: DType) -> LoopBody {
    let mut body = LoopBody::new();
    let (x, y) = (input(&mut body, dtype), input(&mut body, dtype));
    let z = expand::binary(&mut body, function, x, y).unwrap();
    output(&mut body, z);
    body
}

/// A body with the function of this name, and its number of operands.
pub(crate) fn named(name: &str, dtype: DType) -> (LoopBody, usize) {
    match Unary::from_name(name) {
        Some(function) => (unary(function, dtype), 1),
        None => (binary(Binary::from_name(name).unwrap(), dtype), 2),
    }
}

/// Runs a body on values of one type.
pub(crate) fn run<T: Element, U: Element>(body: &LoopBody, inputs: &[T]) -> Vec<U> {
    let inputs: Vec<Scalar> = inputs.iter().map(|x| Scalar::of(*x)).collect();
    let outputs = evaluate(body, &inputs).unwrap();
    outputs.iter().map(|y| y.get().unwrap()).collect()
}

/// One function of one `f64`.
pub(crate) fn at(function: Unary, x: f64) -> f64 {
    run(&unary(function, DType::F64), &[x])[0]
}

/// One function of two `f64`.
pub(crate) fn at2(function: Binary, x: f64, y: f64) -> f64 {
    run(&binary(function, DType::F64), &[x, y])[0]
}

/// The lines of a vector file, as words.
pub(crate) fn vectors(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// The float with these bits, given in hexadecimal.
pub(crate) fn float(bits: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(bits, 16).unwrap())
}

/// The `f32` with these bits, given in hexadecimal.
pub(crate) fn float32(bits: &str) -> f32 {
    f32::from_bits(u32::from_str_radix(bits, 16).unwrap())
}

/// How many floats apart two numbers are; NaN is 0 from NaN.
pub(crate) fn steps(x: f64, y: f64) -> u64 {
    if x.is_nan() || y.is_nan() {
        return if x.is_nan() && y.is_nan() { 0 } else { u64::MAX };
    }
    let place = |x: f64| {
        let magnitude = i128::from(x.abs().to_bits());
        if x.is_sign_negative() { -magnitude } else { magnitude }
    };
    u64::try_from((place(x) - place(y)).abs()).unwrap()
}

/// The same for `f32`.
pub(crate) fn steps32(x: f32, y: f32) -> u64 {
    if x.is_nan() || y.is_nan() {
        return if x.is_nan() && y.is_nan() { 0 } else { u64::MAX };
    }
    let place = |x: f32| {
        let magnitude = i64::from(x.abs().to_bits());
        if x.is_sign_negative() { -magnitude } else { magnitude }
    };
    (place(x) - place(y)).unsigned_abs()
}

/// The same number, the sign of zeros too; NaN is NaN.
pub(crate) fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
}
