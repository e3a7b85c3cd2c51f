//! Random numbers as a function of their place: Philox4x32-10.
//!
//! The counter is (index, stream) and the key the seed, each 64 bits as two words, the lower
//! first. A place has the same number whoever computes it, and in whatever order.

use super::build::{Build, two};
use super::{logarithm, trigonometry};
use crate::{Body, DType, Error, Node};

/// The multipliers of the even words, and what the keys grow by in each round.
const MULTIPLIERS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
const STEPS: [u64; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: usize = 10;
const LOW: u64 = 0xffff_ffff;

/// The four words of 32 bits at a place, each as `U64`.
///
/// # Errors
/// If the index or the seed is not `U64`.
pub fn words(body: &mut Body, index: Node, seed: Node, stream: u64) -> Result<[Node; 4], Error> {
    for node in [index, seed] {
        let dtype = body.dtype(node);
        if dtype != DType::U64 {
            return Err(Error::WrongLane { op: "random".to_owned(), dtype });
        }
    }
    Ok(words_of(&mut Build::new(body), index, seed, stream))
}

fn words_of(b: &mut Build<'_>, index: Node, seed: Node, stream: u64) -> [Node; 4] {
    let mut counter =
        [b.and_u(index, LOW), b.shr_u(index, 32), b.u(stream & LOW), b.u(stream >> 32)];
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

/// The upper word of a product, with bits turned by a word of the counter and one of the key.
fn mixed(b: &mut Build<'_>, product: Node, word: Node, key: Node) -> Node {
    let high = b.shr_u(product, 32);
    let high = b.xor(high, word);
    b.xor(high, key)
}

/// 53 bits of two words, as a whole number.
fn whole(b: &mut Build<'_>, first: Node, second: Node) -> Node {
    let (first, second) = (b.shr_u(first, 5), b.shr_u(second, 6));
    let first = b.shl_u(first, 26);
    b.or(first, second)
}

/// A number in [0, 1) at a place, uniform on the multiples of 2^-53.
///
/// # Errors
/// If the index or the seed is not `U64`.
pub fn uniform(body: &mut Body, index: Node, seed: Node, stream: u64) -> Result<Node, Error> {
    let [first, second, ..] = words(body, index, seed, stream)?;
    let mut b = Build::new(body);
    let bits = whole(&mut b, first, second);
    let number = b.cast(bits, DType::F64);
    Ok(b.mul_f(number, two(-53)))
}

/// A number of the normal distribution around 0 with variance 1 at a place.
///
/// Box and Muller: sqrt(-2 ln u) cos(2 pi v), with u in (0, 1] from the first two words and v in
/// [0, 1) from the others.
///
/// # Errors
/// If the index or the seed is not `U64`.
pub fn normal(body: &mut Body, index: Node, seed: Node, stream: u64) -> Result<Node, Error> {
    let words = words(body, index, seed, stream)?;
    let mut b = Build::new(body);
    let bits = whole(&mut b, words[0], words[1]);
    let one = b.u(1);
    let bits = b.add(bits, one);
    let u = b.cast(bits, DType::F64);
    let u = b.mul_f(u, two(-53));
    let bits = whole(&mut b, words[2], words[3]);
    let v = b.cast(bits, DType::F64);
    let angle = b.mul_f(v, std::f64::consts::TAU * two(-53));
    let log = logarithm::log(&mut b, u);
    let squared = b.mul_f(log, -2.0);
    let radius = b.sqrt(squared);
    let cos = trigonometry::cos_small(&mut b, angle);
    Ok(b.mul(radius, cos))
}
