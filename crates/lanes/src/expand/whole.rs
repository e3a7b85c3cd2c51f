//! Functions that a body calls as one operation, and what they mean.

use std::sync::OnceLock;

use super::build::Writer;
use super::{arc, exponential, logarithm, power, random, trigonometry};
use crate::{Body, Function, Node};

/// What a function means: its formula, written out as a body with the function's inputs.
#[must_use]
pub fn expansion(function: Function) -> &'static Body {
    static ALL: [OnceLock<Body>; Function::ALL.len()] =
        [const { OnceLock::new() }; Function::ALL.len()];
    ALL[function as usize].get_or_init(|| written(function))
}

fn written(function: Function) -> Body {
    let mut body = Body::new();
    let mut input = |_| body.input(function.takes()).expect("floats and words are lanes");
    let nodes: Vec<Node> = (0..function.arity()).map(&mut input).collect();
    let (x, y) = (nodes[0], nodes[nodes.len() - 1]);
    let b = &mut Writer::new(&mut body);
    let result = match function {
        Function::Acos => arc::acos(b, x),
        Function::Acosh => logarithm::acosh(b, x),
        Function::Asin => arc::asin(b, x),
        Function::Asinh => logarithm::asinh(b, x),
        Function::Atan => arc::atan(b, x),
        Function::Atan2 => arc::atan2(b, x, y),
        Function::Atanh => logarithm::atanh(b, x),
        Function::Cos => trigonometry::cos(b, x),
        Function::Cosh => exponential::cosh(b, x),
        Function::Erf => power::erf(b, x),
        Function::Exp => exponential::exp(b, x),
        Function::Expm1 => exponential::expm1(b, x),
        Function::Hypot => power::hypot(b, x, y),
        Function::Log => logarithm::log(b, x),
        Function::Log1p => logarithm::log1p(b, x),
        Function::Log2 => logarithm::log2(b, x),
        Function::Log10 => logarithm::log10(b, x),
        Function::LogAddExp => logarithm::logaddexp(b, x, y),
        Function::Normal => random::normal_of(b, x, nodes[1], y),
        Function::Pow => power::pow(b, x, y),
        Function::Sin => trigonometry::sin(b, x),
        Function::Sinh => exponential::sinh(b, x),
        Function::Tan => trigonometry::tan(b, x),
        Function::Tanh => exponential::tanh(b, x),
        Function::Uniform => random::uniform_of(b, x, nodes[1], y),
    };
    body.output(result);
    body
}
