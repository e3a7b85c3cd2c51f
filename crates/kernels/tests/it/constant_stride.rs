//! Maps with a constant stride from row to row: matrices with room around them, transposed or not,
//! shifted views of one matrix, renewed in place or elsewhere, on every instruction set.
#![allow(unsafe_code, reason = "only maps through pointers renew a matrix in place")]

use pantile_kernels::lanes::{LoopProgram, RawSource, RawTarget, Scratch, map_raw};
use pantile_kernels::{DType, Element, Scalar, Vectors};
use pantile_lanes::{BinaryOp, LaneOp, LoopBody};
use pantile_testkit::{Rng, cases};

/// A matrix in memory with room around it.
struct TestMatrix<T> {
    elements: Vec<T>,
    offset: isize,
    strides: [isize; 2],
}

impl<T: Copy> TestMatrix<T> {
    fn random(
        rng: &mut Rng,
        [rows, columns]: [usize; 2],
        transposed: bool,
        number: fn(u64) -> T,
    ) -> Self {
        let (outer, inner) = if transposed { (columns, rows) } else { (rows, columns) };
        // Some begin with a line and keep to lines.
        let (room, offset) = match rng.below(3) {
            0 => (inner.next_multiple_of(16), 0),
            _ => (inner + rng.below(9), rng.below(9)),
        };
        let elements = (0..offset + outer * room).map(|_| number(rng.bits())).collect();
        let (far, near) = (room.cast_signed(), 1);
        let strides = if transposed { [near, far] } else { [far, near] };
        Self { elements, offset: offset.cast_signed(), strides }
    }

    fn place(&self, row: usize, column: usize) -> usize {
        let [down, along] = self.strides;
        (self.offset + row.cast_signed() * down + column.cast_signed() * along).cast_unsigned()
    }

    fn source(&self) -> RawSource<'_> {
        let bytes = size_of_val(self.elements.as_slice());
        let start = self.elements.as_ptr().cast();
        RawSource::Memory { start, bytes, offset: self.offset, strides: &self.strides }
    }
}

/// `b + 3 x + y`, with x and y transposed or not; into b, or elsewhere.
fn check<T: Element + std::ops::Add<Output = T> + std::ops::Mul<Output = T> + PartialEq>(
    rng: &mut Rng,
    vectors: Vectors,
    three: T,
    number: fn(u64) -> T,
) {
    let most = *rng.pick(&[6, 50, 300]);
    let shape = [1 + rng.below(most), 1 + rng.below(most)];
    let mut body = LoopBody::new();
    let [b, x, y] = [0, 1, 2].map(|_| body.input(T::DTYPE).unwrap());
    let factor = body.constant(Scalar::of(three)).unwrap();
    let product = body.push(LaneOp::Binary(BinaryOp::Mul, x, factor)).unwrap();
    let sum = body.push(LaneOp::Binary(BinaryOp::Add, b, product)).unwrap();
    let all = body.push(LaneOp::Binary(BinaryOp::Add, sum, y)).unwrap();
    body.output(all);
    let program = LoopProgram::compile_for(&body, vectors).unwrap();
    let transposed = [rng.below(2) == 1, rng.below(3) == 0];
    let [x, y] = transposed.map(|transposed| TestMatrix::random(rng, shape, transposed, number));
    let mut b = TestMatrix::random(rng, shape, false, number);
    let mut elsewhere = TestMatrix::random(rng, shape, false, number);
    let in_place = rng.below(2) == 0;
    let mut expected = if in_place { b.elements.clone() } else { elsewhere.elements.clone() };
    for row in 0..shape[0] {
        for column in 0..shape[1] {
            let at = |matrix: &TestMatrix<T>| matrix.elements[matrix.place(row, column)];
            let into = if in_place { &b } else { &elsewhere };
            expected[into.place(row, column)] = at(&b) + at(&x) * three + at(&y);
        }
    }
    let into = if in_place { &mut b } else { &mut elsewhere };
    let target = RawTarget {
        start: into.elements.as_mut_ptr().cast(),
        bytes: size_of_val(into.elements.as_slice()),
        offset: into.offset,
        strides: &into.strides.clone(),
    };
    let sources = [b.source(), x.source(), y.source()];
    // SAFETY: the matrices live, and no other code uses them; what is read and written is so at the
    // same places.
    unsafe { map_raw(&program, &shape, &sources, &[target], &mut Scratch::new()).unwrap() };
    let got = if in_place { &b.elements } else { &elsewhere.elements };
    assert!(
        *got == expected,
        "{shape:?}, transposed {transposed:?}, in place {in_place}, {vectors:?}"
    );
}

#[test]
fn matrices_are_renewed() {
    let sets: Vec<Vectors> = Vectors::all().collect();
    cases("even rows", 400, |rng| {
        let vectors = *rng.pick(&sets);
        match rng.below(2) {
            0 => check::<f64>(rng, vectors, 3.0, |bits| (bits % 1009) as f64),
            _ => check::<f32>(rng, vectors, 3.0, |bits| (bits % 1009) as f32),
        }
    });
}

/// A sum of nine shifted views of one cube, plane by plane: rows of a plane have a constant stride,
/// planes begin anywhere.
#[test]
fn stencils_in_cubes() {
    let mut body = LoopBody::new();
    let inputs = [(); 9].map(|()| body.input(DType::F64).unwrap());
    let mut sum = inputs[0];
    for input in &inputs[1..] {
        sum = body.push(LaneOp::Binary(BinaryOp::Add, sum, *input)).unwrap();
    }
    body.output(sum);
    let sets: Vec<Vectors> = Vectors::all().collect();
    cases("stencils in cubes", 100, |rng| {
        let inner = [1 + rng.below(4), 1 + rng.below(20), 1 + rng.below(90)];
        let sides = inner.map(|side| side + 2);
        let strides = [sides[1] * sides[2] + rng.below(5), sides[2], 1];
        let cube: Vec<f64> = (0..strides[0] * sides[0]).map(|_| rng.below(999) as f64).collect();
        let shifts: Vec<[usize; 3]> = (0..9).map(|_| [0; 3].map(|_| rng.below(3))).collect();
        let place = |at: [usize; 3]| at[0] * strides[0] + at[1] * strides[1] + at[2];
        let signed = strides.map(usize::cast_signed);
        let bytes = size_of_val(cube.as_slice());
        let source = |shift: &[usize; 3]| RawSource::Memory {
            start: cube.as_ptr().cast(),
            bytes,
            offset: place(*shift).cast_signed(),
            strides: &signed,
        };
        let sources: Vec<RawSource<'_>> = shifts.iter().map(source).collect();
        let mut got = vec![-1.0_f64; cube.len()];
        let mut expected = got.clone();
        for i in 0..inner[0] {
            for j in 0..inner[1] {
                for k in 0..inner[2] {
                    let here = |shift: &[usize; 3]| {
                        cube[place([i + shift[0], j + shift[1], k + shift[2]])]
                    };
                    expected[place([i, j, k])] = shifts.iter().map(here).sum();
                }
            }
        }
        let start = got.as_mut_ptr().cast();
        let target = RawTarget { start, bytes, offset: 0, strides: &signed };
        let program = LoopProgram::compile_for(&body, *rng.pick(&sets)).unwrap();
        // SAFETY: the cubes live, they are two, and no other code uses them.
        unsafe { map_raw(&program, &inner, &sources, &[target], &mut Scratch::new()).unwrap() };
        assert!(got == expected, "{inner:?} of {strides:?}, {shifts:?}");
    });
}
