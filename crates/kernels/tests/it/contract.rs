//! Products of matrices against the rule, one element after the other.
#![allow(clippy::cast_possible_truncation, reason = "integers wrap")]
#![allow(clippy::cast_sign_loss, reason = "integers wrap")]

use pantile_kernels::contract::{MatrixLayout, Packed, contract, contract_with};
use pantile_kernels::{Complex, DType, Element, Error, Vectors, bytes_of, bytes_of_mut};
use pantile_testkit::{Rng, cases};

/// An element type, and the product of rows by the rule.
trait ExactNumber: Element + bytemuck::Pod + PartialEq + std::fmt::Debug {
    fn random(rng: &mut Rng) -> Self;

    fn rule(pairs: &[(Self, Self)]) -> Self;

    /// Equal to the last bit.
    fn same(self, other: Self) -> bool {
        bytes_of(&[self]) == bytes_of(&[other])
    }
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl ExactNumber for $type {
            fn random(rng: &mut Rng) -> Self {
                if rng.chance(1, 2) { rng.below(7) as $type } else { rng.bits() as $type }
            }

            /// In 128 bits, then the lowest ones.
            fn rule(pairs: &[(Self, Self)]) -> Self {
                let exact = pairs.iter().map(|(a, b)| i128::from(*a).wrapping_mul(i128::from(*b)));
                exact.fold(0i128, i128::wrapping_add) as $type
            }
        }
    )*};
}

integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl ExactNumber for $type {
            fn random(rng: &mut Rng) -> Self {
                match rng.below(400) {
                    0 => -0.0,
                    1 => $type::MAX,
                    2 => $type::MIN_POSITIVE / 8.0,
                    3 => $type::INFINITY,
                    4 => -$type::NAN,
                    _ => rng.range(-(1 << 24), 1 << 24) as $type * $type::powi(2.0, rng.range(-30, 3) as i32),
                }
            }

            fn rule(pairs: &[(Self, Self)]) -> Self {
                let mut all: Option<$type> = None;
                for panel in pairs.chunks(256) {
                    let sum = panel.iter().fold(0.0, |sum, (a, b)| $type::mul_add(*a, *b, sum));
                    all = Some(all.map_or(sum, |all| all + sum));
                }
                let all = all.unwrap_or(0.0);
                if all.is_nan() { $type::NAN.abs() } else { all }
            }
        }

        impl ExactNumber for Complex<$type> {
            fn random(rng: &mut Rng) -> Self {
                Complex { re: $type::random(rng), im: $type::random(rng) }
            }

            /// Panels of 256 elements are panels of 512 terms.
            fn rule(pairs: &[(Self, Self)]) -> Self {
                let part = |terms: &dyn Fn(&(Self, Self)) -> [($type, $type); 2]| {
                    let mut all: Option<$type> = None;
                    for panel in pairs.chunks(256) {
                        let terms = panel.iter().flat_map(terms);
                        let sum = terms.fold(0.0, |sum, (a, b)| $type::mul_add(a, b, sum));
                        all = Some(all.map_or(sum, |all| all + sum));
                    }
                    let all = all.unwrap_or(0.0);
                    if all.is_nan() { $type::NAN.abs() } else { all }
                };
                Complex {
                    re: part(&|(a, b)| [(a.re, b.re), (-a.im, b.im)]),
                    im: part(&|(a, b)| [(a.re, b.im), (a.im, b.re)]),
                }
            }
        }
    )*};
}

floats! { f32 f64 }

/// An operand with random strides: memory, where position 0 lies, and strides by axis.
struct TestOperand<T> {
    memory: Vec<T>,
    offset: isize,
    strides: Vec<isize>,
}

/// Memory for the axes of a shape that an operand has, in any order, with gaps and backwards.
fn operand<T: ExactNumber>(rng: &mut Rng, shape: &[usize], has: &[bool]) -> TestOperand<T> {
    let mut axes: Vec<usize> = (0..shape.len()).filter(|axis| has[*axis]).collect();
    if rng.chance(1, 2) {
        rng.shuffle(&mut axes);
    }
    let (mut strides, mut size, mut offset) = (vec![0; shape.len()], 1usize, 0isize);
    for axis in axes.into_iter().rev() {
        let step = size * if rng.chance(1, 5) { 2 } else { 1 };
        strides[axis] = step.cast_signed();
        if shape[axis] > 0 && rng.chance(1, 5) {
            offset += (shape[axis] - 1).cast_signed() * strides[axis];
            strides[axis] = -strides[axis];
        }
        size = step * shape[axis].max(1);
    }
    let memory = (0..size).map(|_| T::random(rng)).collect();
    TestOperand { memory, offset, strides }
}

impl<T: ExactNumber> TestOperand<T> {
    fn at(&self, position: &[usize]) -> usize {
        let steps = position.iter().zip(&self.strides).map(|(at, step)| at.cast_signed() * step);
        (self.offset + steps.sum::<isize>()).cast_unsigned()
    }

    fn place(&self) -> MatrixLayout<'_> {
        MatrixLayout { offset: self.offset, strides: &self.strides }
    }
}

/// One random product with all sets of vectors.
fn product<T: ExactNumber>(rng: &mut Rng, packed: &mut Packed) {
    let length = |rng: &mut Rng| {
        let most = *rng.pick(&[3, 10, 30, 140]);
        rng.below(most)
    };
    let terms = *rng.pick(&[0, 1, 2, 7, 31, 255, 256, 257, 511, 600]);
    let mut shape = vec![length(rng), length(rng), terms];
    for _ in 0..rng.below(3) {
        shape.insert(0, rng.below(4));
    }
    if terms > 100 {
        shape.iter_mut().rev().skip(1).for_each(|length| *length = (*length).min(40));
    }
    let outer = shape.len() - 3;
    let has = |rng: &mut Rng, last: [bool; 3]| -> Vec<bool> {
        let outer = (0..outer).map(|_| !last[2] || rng.chance(3, 4));
        outer.chain(last).collect::<Vec<_>>()
    };
    let (one, other) = (has(rng, [true, false, true]), has(rng, [false, true, true]));
    let result = has(rng, [true, true, false]);
    let left: TestOperand<T> = operand(rng, &shape, &one);
    let right: TestOperand<T> = operand(rng, &shape, &other);
    let to: TestOperand<T> = operand(rng, &shape, &result);
    for vectors in Vectors::all() {
        let mut got = to.memory.clone();
        contract_with(
            vectors,
            (T::DTYPE, &shape),
            [(bytes_of(&left.memory), left.place()), (bytes_of(&right.memory), right.place())],
            (bytes_of_mut(&mut got), to.place()),
            packed,
        )
        .unwrap();
        let mut expected = to.memory.clone();
        let outputs: usize = shape[..shape.len() - 1].iter().product();
        for output in 0..outputs {
            let (mut position, mut rest) = (vec![0; shape.len()], output);
            for axis in (0..shape.len() - 1).rev() {
                position[axis] = rest % shape[axis];
                rest /= shape[axis];
            }
            let place = to.at(&position);
            let pair = |term: usize| {
                let mut position = position.clone();
                position[shape.len() - 1] = term;
                (left.memory[left.at(&position)], right.memory[right.at(&position)])
            };
            expected[place] = T::rule(&(0..terms).map(pair).collect::<Vec<_>>());
        }
        let wrong = got.iter().zip(&expected).position(|(got, expected)| !got.same(*expected));
        assert_eq!(wrong, None, "{:?} {shape:?} {vectors:?}: wrong place", T::DTYPE);
    }
}

#[test]
fn products_are_those_of_the_rule() {
    let mut packed = Packed::default();
    cases("products_are_those_of_the_rule", 25, |rng| {
        product::<f64>(rng, &mut packed);
        product::<f32>(rng, &mut packed);
        product::<Complex<f64>>(rng, &mut packed);
        product::<Complex<f32>>(rng, &mut packed);
        product::<i8>(rng, &mut packed);
        product::<i16>(rng, &mut packed);
        product::<i32>(rng, &mut packed);
        product::<i64>(rng, &mut packed);
        product::<u8>(rng, &mut packed);
        product::<u16>(rng, &mut packed);
        product::<u32>(rng, &mut packed);
        product::<u64>(rng, &mut packed);
    });
}

/// Every size around the edges of blocks, contiguous.
#[test]
fn blocks_of_every_size_fit_together() {
    let mut packed = Packed::default();
    for (rows, columns, terms) in [(250, 13, 300), (13, 1100, 260), (1, 1100, 513), (1100, 1, 513)]
    {
        let mut rng = Rng::new(7);
        let numbers = |rng: &mut Rng, count: usize| -> Vec<f64> {
            (0..count).map(|_| rng.range(-1000, 1000) as f64 / 7.0).collect()
        };
        let (left, right) = (numbers(&mut rng, rows * terms), numbers(&mut rng, terms * columns));
        let mut got = vec![0.0; rows * columns];
        let step = |length: usize| length.cast_signed();
        let matrix = |strides| MatrixLayout { offset: 0, strides };
        contract(
            (DType::F64, &[rows, columns, terms]),
            (bytes_of(&left), matrix(&[step(terms), 0, 1])),
            (bytes_of(&right), matrix(&[0, 1, step(columns)])),
            (bytes_of_mut(&mut got), matrix(&[step(columns), 1, 0])),
            &mut packed,
        )
        .unwrap();
        for (at, got) in got.iter().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let pair = |term: usize| (left[row * terms + term], right[term * columns + column]);
            let expected = f64::rule(&(0..terms).map(pair).collect::<Vec<_>>());
            assert_eq!(*got, expected, "{rows} x {columns} x {terms}: {row}, {column}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let call = |dtype, shape: &[usize], strides: [&[isize]; 3]| {
        let (left, right, mut to) = ([1.0; 4], [1.0; 4], [7.0; 4]);
        let matrix = |strides| MatrixLayout { offset: 0, strides };
        let done = contract(
            (dtype, shape),
            (bytes_of(&left), matrix(strides[0])),
            (bytes_of(&right), matrix(strides[1])),
            (bytes_of_mut(&mut to), matrix(strides[2])),
            &mut Packed::default(),
        );
        if done.is_err() {
            assert_eq!(to, [7.0; 4], "nothing was written");
        }
        done
    };
    let (f64, good): (_, [&[isize]; 3]) = (DType::F64, [&[2, 0, 1], &[0, 1, 2], &[2, 1, 0]]);
    assert_eq!(call(f64, &[2, 2, 2], good), Ok(()));
    let bool = call(DType::Bool, &[2, 2, 2], good);
    assert_eq!(bool, Err(Error::Product { dtype: DType::Bool }));
    assert_eq!(
        bool.unwrap_err().to_string(),
        "products of matrices of type bool are not defined, expected numbers"
    );
    let axes = Error::Counts { what: "axes of a product", got: 2, expected: 3 };
    assert_eq!(call(f64, &[2, 2], good), Err(axes));
    let strides = Error::Counts { what: "strides", got: 2, expected: 3 };
    assert_eq!(call(f64, &[2, 2, 2], [good[0], &[0, 1], good[2]]), Err(strides));
    let reach = |lowest, highest| Err(Error::Reach { lowest, highest, elements: 4 });
    assert_eq!(call(f64, &[2, 2, 3], good), reach(0, 4));
    assert_eq!(call(f64, &[2, 2, 2], [good[0], &[0, -1, 2], good[2]]), reach(-1, 2));
    assert_eq!(call(f64, &[2, 2, 2], [good[0], good[1], &[3, 1, 0]]), reach(0, 4));
    // Of no terms nothing is read, of no outputs nothing is written.
    assert_eq!(call(f64, &[2, 2, 0], [&[9, 0, 9], &[0, 9, 9], good[2]]), Ok(()));
    assert_eq!(call(f64, &[0, 2, 9], good), Ok(()));
}
