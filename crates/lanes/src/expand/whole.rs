//! Functions that a body calls as one operation, and what they mean.

use std::sync::OnceLock;

use super::build::NodeWriter;
use super::{arc, exponential, logarithm, power, random, trigonometry};
use crate::{LaneFunction, LaneNode, LoopBody};

/// What a function means: its formula, written out as a body with the function's inputs.
#[must_use]
pub fn expansion(function: LaneFunction) -> &'static LoopBody {
    static ALL: [OnceLock<LoopBody>; LaneFunction::ALL.len()] =
        [const { OnceLock::new() }; LaneFunction::ALL.len()];
    ALL[function as usize].get_or_init(|| written(function))
}

fn written(function: LaneFunction) -> LoopBody {
    let mut body = LoopBody::new();
    let mut input = |_| body.input(function.takes()).expect("floats and words are lanes");
    let nodes: Vec<LaneNode> = (0..function.arity()).map(&mut input).collect();
    let (x, y) = (nodes[0], nodes[nodes.len() - 1]);
    let b = &mut NodeWriter::new(&mut body);
    let result = match function {
        LaneFunction::Acos => arc::acos(b, x),
        LaneFunction::Acosh => logarithm::acosh(b, x),
        LaneFunction::Asin => arc::asin(b, x),
        LaneFunction::Asinh => logarithm::asinh(b, x),
        LaneFunction::Atan => arc::atan(b, x),
        LaneFunction::Atan2 => arc::atan2(b, x, y),
        LaneFunction::Atanh => logarithm::atanh(b, x),
        LaneFunction::Cos => trigonometry::cos(b, x),
        LaneFunction::Cosh => exponential::cosh(b, x),
        LaneFunction::Erf => power::erf(b, x),
        LaneFunction::Exp => exponential::exp(b, x),
        LaneFunction::Expm1 => exponential::expm1(b, x),
        LaneFunction::Hypot => power::hypot(b, x, y),
        LaneFunction::Log => logarithm::log(b, x),
        LaneFunction::Log1p => logarithm::log1p(b, x),
        LaneFunction::Log2 => logarithm::log2(b, x),
        LaneFunction::Log10 => logarithm::log10(b, x),
        LaneFunction::LogAddExp => logarithm::logaddexp(b, x, y),
        LaneFunction::Normal => random::normal_of(b, x, nodes[1], y),
        LaneFunction::Pow => power::pow(b, x, y),
        LaneFunction::Sin => trigonometry::sin(b, x),
        LaneFunction::Sinh => exponential::sinh(b, x),
        LaneFunction::Tan => trigonometry::tan(b, x),
        LaneFunction::Tanh => exponential::tanh(b, x),
        LaneFunction::Uniform => random::uniform_of(b, x, nodes[1], y),
    };
    body.output(result);
    body
}
