//! Random numbers as a function of their place: Philox4x32-10.
//!
//! The counter is (index, stream) and the key the seed, each 64 bits as two words, the lower first.
//! A place has the same number whichever rank computes it, and in whatever order.

use super::build::{FormulaBuilder, NodeWriter, two};
use super::{logarithm, trigonometry};
use crate::{DType, Error, LaneFunction, LaneNode, LaneOp, LoopBody, Scalar};

/// The multipliers of the even words, and what the keys grow by in each round.
const MULTIPLIERS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
const STEPS: [u64; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: usize = 10;
const LOW: u64 = 0xffff_ffff;

/// The four words of 32 bits at a place, each as `U64`.
///
/// # Errors
/// If the index or the seed is not `U64`.
pub fn words(
    body: &mut LoopBody,
    index: LaneNode,
    seed: LaneNode,
    stream: u64,
) -> Result<[LaneNode; 4], Error> {
    check(body, index, seed)?;
    let mut b = NodeWriter::new(body);
    let stream = b.u(stream);
    Ok(words_of(&mut b, index, seed, stream))
}

fn check(body: &LoopBody, index: LaneNode, seed: LaneNode) -> Result<(), Error> {
    for node in [index, seed] {
        let dtype = body.dtype(node);
        if dtype != DType::U64 {
            return Err(Error::WrongLane { op: "random".to_owned(), dtype });
        }
    }
    Ok(())
}

#[inline(always)]
fn words_of<B: FormulaBuilder>(
    b: &mut B,
    index: B::Node,
    seed: B::Node,
    stream: B::Node,
) -> [B::Node; 4] {
    let mut counter =
        [b.and_u(index, LOW), b.shr_u(index, 32), b.and_u(stream, LOW), b.shr_u(stream, 32)];
    let mut key = [b.and_u(seed, LOW), b.shr_u(seed, 32)];
    for round in 0..ROUNDS {
        if round > 0 {
            for (key, step) in key.iter_mut().zip(STEPS) {
                let step = b.u(step);
                let sum = b.add(*key, step);
                *key = b.and_u(sum, LOW);
            }
        }
        let [x, y, z, w] = counter;
        let (first, second) = (b.u(MULTIPLIERS[0]), b.u(MULTIPLIERS[1]));
        let (first, second) = (b.mul(first, x), b.mul(second, z));
        counter = [
            mixed(b, second, y, key[0]),
            b.and_u(second, LOW),
            mixed(b, first, w, key[1]),
            b.and_u(first, LOW),
        ];
    }
    counter
}

/// The upper word of a product, with bits flipped by a word of the counter and one of the key.
#[inline(always)]
fn mixed<B: FormulaBuilder>(b: &mut B, product: B::Node, word: B::Node, key: B::Node) -> B::Node {
    let high = b.shr_u(product, 32);
    let high = b.xor(high, word);
    b.xor(high, key)
}

/// 53 bits of two words, as a whole number.
#[inline(always)]
fn whole<B: FormulaBuilder>(b: &mut B, first: B::Node, second: B::Node) -> B::Node {
    let (first, second) = (b.shr_u(first, 5), b.shr_u(second, 6));
    let first = b.shl_u(first, 26);
    b.or(first, second)
}

/// A number in [0, 1) at a place, uniform on the multiples of 2^-53.
#[inline(always)]
pub(super) fn uniform_of<B: FormulaBuilder>(
    b: &mut B,
    index: B::Node,
    seed: B::Node,
    stream: B::Node,
) -> B::Node {
    let [first, second, ..] = words_of(b, index, seed, stream);
    let bits = whole(b, first, second);
    let number = b.cast(bits, DType::F64);
    b.mul_f(number, two(-53))
}

/// A number of the normal distribution around 0 with variance 1 at a place.
///
/// Box and Muller: sqrt(-2 ln u) cos(2 pi v), with u in (0, 1] from the first two words and v in
/// [0, 1) from the others.
#[inline(always)]
pub(super) fn normal_of<B: FormulaBuilder>(
    b: &mut B,
    index: B::Node,
    seed: B::Node,
    stream: B::Node,
) -> B::Node {
    let words = words_of(b, index, seed, stream);
    let bits = whole(b, words[0], words[1]);
    let one = b.u(1);
    let bits = b.add(bits, one);
    let u = b.cast(bits, DType::F64);
    let u = b.mul_f(u, two(-53));
    let bits = whole(b, words[2], words[3]);
    let v = b.cast(bits, DType::F64);
    let angle = b.mul_f(v, std::f64::consts::TAU * two(-53));
    let log = logarithm::log(b, u);
    let squared = b.mul_f(log, -2.0);
    let radius = b.sqrt(squared);
    let cos = trigonometry::cos_of_small(b, angle);
    b.mul(radius, cos)
}

/// A number in [0, 1) at a place, uniform on the multiples of 2^-53.
///
/// # Errors
/// If the index or the seed is not `U64`.
pub fn uniform(
    body: &mut LoopBody,
    index: LaneNode,
    seed: LaneNode,
    stream: u64,
) -> Result<LaneNode, Error> {
    let stream = body.constant(Scalar::of(stream))?;
    body.push(LaneOp::Call(LaneFunction::Uniform, [index, seed, stream]))
}

/// A number of the normal distribution around 0 with variance 1 at a place.
///
/// # Errors
/// If the index or the seed is not `U64`.
pub fn normal(
    body: &mut LoopBody,
    index: LaneNode,
    seed: LaneNode,
    stream: u64,
) -> Result<LaneNode, Error> {
    let stream = body.constant(Scalar::of(stream))?;
    body.push(LaneOp::Call(LaneFunction::Normal, [index, seed, stream]))
}
