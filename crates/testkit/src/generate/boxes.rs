//! Random boxes, one per mesh position.

use crate::rng::Rng;

/// Any boxes: overlapping, empty, with gaps; now and then the same box twice.
pub(super) fn boxes(rng: &mut Rng, shape: &[usize], positions: usize) -> Vec<Vec<(usize, usize)>> {
    let mut boxes: Vec<Vec<(usize, usize)>> = Vec::new();
    for _ in 0..positions {
        let one = if rng.chance(1, 5) && !boxes.is_empty() {
            rng.pick(&boxes).clone()
        } else {
            shape.iter().map(|&length| range(rng, length)).collect()
        };
        boxes.push(one);
    }
    boxes
}

/// A half-open range in `0..length`, all of it in one of four cases.
fn range(rng: &mut Rng, length: usize) -> (usize, usize) {
    if rng.chance(1, 4) {
        return (0, length);
    }
    let (a, b) = (rng.below(length + 1), rng.below(length + 1));
    (a.min(b), a.max(b))
}
