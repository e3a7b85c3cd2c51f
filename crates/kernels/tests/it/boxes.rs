//! Copies of boxes between two memories, against a loop over all indices.
#![allow(unsafe_code, reason = "the raw loop is what is tested")]

use pantile_kernels::pack::{self, Spread, copy_box_bytes, worth_streaming};
use pantile_kernels::{Error, bytes_of, bytes_of_mut};
use pantile_testkit::{Rng, cases};

/// One side of a box: where its elements lie in a memory of so many.
#[derive(Clone, Debug)]
struct BoxSide {
    offset: isize,
    strides: Vec<isize>,
    elements: usize,
}

impl BoxSide {
    /// Axes in the order of `order`, outermost first, with room between them; `steps` are the
    /// distances along the innermost one, and `reversed` axes go backwards.
    fn new(shape: &[usize], order: &[usize], rooms: &[usize], reversed: &[bool]) -> Self {
        let mut strides = vec![0; shape.len()];
        let (mut stride, mut offset) = (1, 0);
        for axis in order.iter().rev() {
            stride *= rooms[*axis].max(1) as isize;
            strides[*axis] = stride;
            if reversed[*axis] {
                strides[*axis] = -stride;
                offset += stride * (shape[*axis] as isize - 1).max(0);
            }
            stride *= shape[*axis].max(1) as isize;
            // Room behind the axis, so that rows do not touch.
            stride += (rooms[*axis] / 3) as isize;
        }
        Self { offset: offset + 1, strides, elements: stride as usize + 2 }
    }

    fn spread(&self) -> Spread<'_> {
        Spread { offset: self.offset, strides: &self.strides }
    }

    /// The place of an index.
    fn place(&self, index: &[usize]) -> usize {
        let along = index.iter().zip(&self.strides).map(|(at, stride)| *at as isize * stride);
        (self.offset + along.sum::<isize>()) as usize
    }
}

fn random_side(rng: &mut Rng, shape: &[usize], plain: bool) -> BoxSide {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, rng.below(place + 1));
    }
    let rooms: Vec<usize> =
        shape.iter().map(|_| if plain || rng.below(3) > 0 { 1 } else { rng.below(5) }).collect();
    let reversed: Vec<bool> = shape.iter().map(|_| !plain && rng.below(4) == 0).collect();
    BoxSide::new(shape, &order, &rooms, &reversed)
}

fn bytes(rng: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| rng.bits().to_le_bytes()[3]).collect()
}

/// Copies with and without streaming, and looks at every byte of the target.
fn check(rng: &mut Rng, shape: &[usize], size: usize, [from, into]: [&BoxSide; 2]) {
    let skew = [rng.below(64), if rng.below(3) == 0 { 0 } else { rng.below(64) }];
    let source = bytes(rng, from.elements * size + skew[0]);
    let before = bytes(rng, into.elements * size + skew[1]);
    let mut want = before.clone();
    let count: usize = shape.iter().product();
    let mut index = vec![0; shape.len()];
    for number in 0..count {
        let mut rest = number;
        for (at, length) in index.iter_mut().zip(shape).rev() {
            (*at, rest) = (rest % length, rest / length);
        }
        let (a, b) = (from.place(&index) * size + skew[0], into.place(&index) * size + skew[1]);
        want[b..b + size].copy_from_slice(&source[a..a + size]);
    }
    for streaming in [false, true] {
        let mut target = before.clone();
        let start = target.as_mut_ptr().wrapping_add(skew[1]);
        let first = source.as_ptr().wrapping_add(skew[0]);
        // SAFETY: both memories have all elements of the box, and they are not the same.
        unsafe {
            pack::copy_box(shape, size, (first, from.spread()), (start, into.spread()), streaming);
        }
        assert!(target == want, "{shape:?} of {size} bytes, {from:?} to {into:?}, {streaming}");
    }
    let mut target = before.clone();
    let to = (&mut target[skew[1]..], into.spread());
    copy_box_bytes(shape, size, (&source[skew[0]..], from.spread()), to).unwrap();
    assert!(target == want, "{shape:?} of {size} bytes, {from:?} to {into:?}");
}

const SIZES: [usize; 5] = [1, 2, 4, 8, 16];

#[test]
fn small_boxes_of_any_order() {
    cases("small boxes", 4000, |rng| {
        let ndim = rng.below(6);
        let shape: Vec<usize> = (0..ndim).map(|_| rng.below(6)).collect();
        let plain = rng.below(2) == 0;
        let (mut from, into) = (random_side(rng, &shape, plain), random_side(rng, &shape, plain));
        if ndim > 0 && rng.below(5) == 0 {
            // An axis along which everything is the same.
            let axis = rng.below(ndim);
            if from.strides[axis] >= 0 {
                from.strides[axis] = 0;
            }
        }
        let size = SIZES[rng.below(5)];
        check(rng, &shape, size, [&from, &into]);
    });
}

#[test]
fn long_boxes_of_any_order() {
    cases("long boxes", 150, |rng| {
        let ndim = 1 + rng.below(4);
        let long = rng.below(ndim);
        let other = rng.below(ndim);
        let shape: Vec<usize> = (0..ndim)
            .map(|axis| match () {
                () if axis == long => 1 + rng.below(700),
                () if axis == other => 1 + rng.below(80),
                () => 1 + rng.below(4),
            })
            .collect();
        let plain = rng.below(2) == 0;
        let (from, into) = (random_side(rng, &shape, plain), random_side(rng, &shape, plain));
        let size = SIZES[rng.below(5)];
        check(rng, &shape, size, [&from, &into]);
    });
}

/// Lengths around those of vectors, blocks and runs.
#[test]
fn matrices_are_transposed() {
    cases("matrices", 60, |rng| {
        let around = [1, 2, 4, 8, 16, 32, 64, 128, 256];
        let mut length = || around[rng.below(9)] + rng.below(3) - 1;
        let shape = [length(), length()].map(|length| length.max(1));
        let (room, back) = (1 + rng.below(2), [rng.below(2) == 0, rng.below(2) == 0]);
        let from = BoxSide::new(&shape, &[1, 0], &[1, room], &[false, back[0]]);
        let into = BoxSide::new(&shape, &[0, 1], &[1, 1], &[back[1], false]);
        let size = SIZES[rng.below(5)];
        check(rng, &shape, size, [&from, &into]);
    });
}

/// The sizes at which targets begin to be written with non-temporal stores, for a matrix and its rows.
#[test]
fn turning_is_the_same_around_the_size_that_is_streamed() {
    let large = (0..40).map(|power| 1usize << power).find(|bytes| worth_streaming(*bytes)).unwrap();
    let rows = 512;
    let columns = large / 8 / rows;
    for columns in [columns - 1, columns, columns + 1, columns + 8] {
        let source: Vec<u64> = (0..(rows * columns) as u64).collect();
        let mut target = vec![0u64; rows * columns];
        let from = Spread { offset: 0, strides: &[1, columns as isize] };
        let into = Spread { offset: 0, strides: &[rows as isize, 1] };
        let to = (bytes_of_mut(&mut target), into);
        copy_box_bytes(&[columns, rows], 8, (bytes_of(&source), from), to).unwrap();
        let place = |at: usize| (at % rows * columns + at / rows) as u64;
        assert!(target.iter().enumerate().all(|(at, value)| *value == place(at)), "{columns}");
    }
}

#[test]
fn misfits_are_refused() {
    let (source, mut target) = ([0u8; 12], [0u8; 12]);
    let mut copy = |shape: &[usize], size, from: (isize, &[isize]), into: (isize, &[isize])| {
        let from = Spread { offset: from.0, strides: from.1 };
        let into = Spread { offset: into.0, strides: into.1 };
        copy_box_bytes(shape, size, (&source, from), (&mut target, into))
    };
    let good = (0, &[1][..]);
    assert_eq!(copy(&[4], 3, good, good), Err(Error::ElementBytes { got: 3 }));
    let strides = Error::Counts { what: "strides", got: 2, expected: 1 };
    assert_eq!(copy(&[4], 1, (0, &[1, 1]), good), Err(strides.clone()));
    assert_eq!(copy(&[4], 1, good, (0, &[1, 1])), Err(strides));
    let reach = |lowest, highest, elements| Err(Error::Reach { lowest, highest, elements });
    assert_eq!(copy(&[4], 4, good, good), reach(0, 3, 3));
    assert_eq!(copy(&[4], 1, (2, &[-1]), good), reach(-1, 2, 12));
    assert_eq!(copy(&[4], 1, good, (3, &[3])), reach(3, 12, 12));
    let far = [isize::MAX, isize::MAX];
    assert!(copy(&[usize::MAX, usize::MAX], 1, (0, &far), (0, &far)).is_err());
    assert_eq!(copy(&[4, 0], 1, (99, &[1, 1]), (99, &[1, 1])), Ok(()));
    assert_eq!(copy(&[3], 4, good, (2, &[-1])), Ok(()));
}
