//! Loop bodies over large and small domains.

use std::hint::black_box;

use pantile_bench::bounds::{self as bounds, CURVE, MARKET, STAR, write};
use pantile_bench::bounds::{Copied, Five, Prices, Six, Triad, Waves};
use pantile_kernels::lanes::{LoopProgram, OutputTarget, OutputTargets, Scratch, Source, map};
use pantile_kernels::{DType, Scalar, bytes_of, bytes_of_mut};
use pantile_lanes::expand::{self, ElementLanes};
use pantile_lanes::{BinaryOp, LaneNode, LaneOp, LoopBody, Unary, UnaryOp};

use crate::numbers;
use crate::rounds::{BenchSetting, Contender, compare};

/// Elements of big cases, and of those in the cache.
const COUNTS: (usize, usize) = (16 << 20, 16 << 10);

/// A body under construction.
pub(crate) struct BuildBody(LoopBody);

impl BuildBody {
    pub(crate) fn two(&mut self, two: BinaryOp, one: LaneNode, other: LaneNode) -> LaneNode {
        self.0.push(LaneOp::Binary(two, one, other)).expect("floats")
    }

    fn one(&mut self, one: UnaryOp, of: LaneNode) -> LaneNode {
        self.0.push(LaneOp::Unary(one, of)).expect("floats")
    }

    fn number(&mut self, value: f64) -> LaneNode {
        self.0.constant(Scalar::of(value)).expect("a lane")
    }

    fn times(&mut self, value: f64, of: LaneNode) -> LaneNode {
        let value = self.number(value);
        self.two(BinaryOp::Mul, value, of)
    }

    fn function(&mut self, function: Unary, of: LaneNode) -> LaneNode {
        match expand::unary(&mut self.0, function, ElementLanes::Real(of)).expect("a float") {
            ElementLanes::Real(node) => node,
            ElementLanes::Complex(..) => unreachable!("functions of real numbers"),
        }
    }
}

/// A program of some inputs.
pub(crate) fn program(
    dtype: DType,
    inputs: usize,
    build: impl FnOnce(&mut BuildBody, &[LaneNode]) -> LaneNode,
) -> LoopProgram {
    let mut body = BuildBody(LoopBody::new());
    let inputs: Vec<LaneNode> = (0..inputs).map(|_| body.0.input(dtype).expect("a lane")).collect();
    let output = build(&mut body, &inputs);
    body.0.output(output);
    LoopProgram::compile(&body.0).expect("its own node")
}

/// Runs a program over arrays that lie side by side.
fn run(
    program: &LoopProgram,
    count: usize,
    into: &mut [u8],
    from: &[&[u8]],
    scratch: &mut Scratch,
) {
    let sources: Vec<Source<'_>> =
        from.iter().map(|bytes| Source::Memory { bytes, offset: 0, strides: &[1] }).collect();
    let places = [OutputTarget { buffer: 0, offset: 0, strides: &[1] }];
    let mut targets = OutputTargets { buffers: &mut [into], places: &places };
    map(program, &[count], &sources, &mut targets, scratch).expect("it fits");
}

/// A hand-written loop over arrays, with streaming stores or without.
type BoundLoop<'a, const N: usize> = &'a (dyn Fn(&mut [f64], [&[f64]; N], bool) + Sync);

/// An elementwise case: a program and a formula over the same arrays.
fn elementwise<const N: usize>(
    what: &str,
    setting: BenchSetting,
    program: &LoopProgram,
    bound: BoundLoop<'_, N>,
) {
    let count = setting.share(COUNTS.0, COUNTS.1);
    compare(what, setting, count, &|go| {
        let inputs: [Vec<f64>; N] = std::array::from_fn(|seed| positive(count, seed as u64));
        let inputs = inputs.each_ref().map(Vec::as_slice);
        let bytes = inputs.map(bytes_of);
        let (mut ours, mut plain) = (vec![0.0_f64; count], vec![0.0_f64; count]);
        let mut streamed = vec![0.0_f64; count];
        let mut copied = vec![0.0_f64; if what == "copy" { count } else { 0 }];
        let mut scratch = Scratch::new();
        let mut contenders: Vec<Contender<'_>> = vec![
            (
                "ours",
                Box::new(|| run(program, count, bytes_of_mut(&mut ours), &bytes, &mut scratch)),
            ),
            ("plain", Box::new(|| bound(black_box(&mut plain), inputs, false))),
            ("streaming", Box::new(|| bound(black_box(&mut streamed), inputs, true))),
        ];
        if what == "copy" {
            contenders
                .push(("memcpy", Box::new(|| black_box(&mut copied).copy_from_slice(inputs[0]))));
        }
        go(contenders);
        assert!(ours.iter().zip(&plain).all(|(one, other)| one.to_bits() == other.to_bits()));
        assert!(ours.iter().zip(&streamed).all(|(one, other)| one.to_bits() == other.to_bits()));
    });
}

/// Numbers around 1 that look random.
fn positive(count: usize, seed: u64) -> Vec<f64> {
    let mut all = numbers(count, seed);
    all.iter_mut().for_each(|value| *value = 1.0 + 0.4 * *value);
    all
}

fn copy() -> LoopProgram {
    program(DType::F64, 1, |_, inputs| inputs[0])
}

fn triad(dtype: DType) -> LoopProgram {
    program(dtype, 2, |b, inputs| {
        let three = match dtype {
            DType::F32 => b.0.constant(Scalar::of(3.0f32)).expect("a lane"),
            _ => b.number(3.0),
        };
        let product = b.two(BinaryOp::Mul, inputs[1], three);
        b.two(BinaryOp::Add, inputs[0], product)
    })
}

fn six() -> LoopProgram {
    program(DType::F64, 6, |b, inputs| {
        let [ab, cd] = [0, 2].map(|at| b.two(BinaryOp::Mul, inputs[at], inputs[at + 1]));
        let ef = b.two(BinaryOp::Div, inputs[4], inputs[5]);
        let sum = b.two(BinaryOp::Add, ab, cd);
        b.two(BinaryOp::Sub, sum, ef)
    })
}

fn waves() -> LoopProgram {
    program(DType::F64, 3, |b, inputs| {
        let square = b.two(BinaryOp::Mul, inputs[0], inputs[0]);
        let minus = b.one(UnaryOp::Neg, square);
        let bell = b.function(Unary::Exp, minus);
        let wave = b.function(Unary::Sin, inputs[1]);
        let product = b.two(BinaryOp::Mul, bell, wave);
        let size = b.one(UnaryOp::Abs, inputs[2]);
        let root = b.one(UnaryOp::Sqrt, size);
        b.two(BinaryOp::Add, product, root)
    })
}

fn option() -> LoopProgram {
    program(DType::F64, 3, |b, inputs| {
        let &[s, k, t] = inputs else { unreachable!("three inputs") };
        let root = b.one(UnaryOp::Sqrt, t);
        let spread = b.times(MARKET[2], root);
        let ratio = b.two(BinaryOp::Div, s, k);
        let log = b.function(Unary::Log, ratio);
        let drift = b.times(MARKET[1], t);
        let above = b.two(BinaryOp::Add, log, drift);
        let d1 = b.two(BinaryOp::Div, above, spread);
        let d2 = b.two(BinaryOp::Sub, d1, spread);
        let [n1, n2] = [d1, d2].map(|d| {
            let square = b.two(BinaryOp::Mul, d, d);
            let bend = b.times(CURVE[1], square);
            let slope = b.number(CURVE[0]);
            let slope = b.two(BinaryOp::Add, slope, bend);
            let x = b.two(BinaryOp::Mul, d, slope);
            let up = b.function(Unary::Exp, x);
            let one = b.number(1.0);
            let below = b.two(BinaryOp::Add, one, up);
            b.two(BinaryOp::Div, one, below)
        });
        let interest = b.times(-MARKET[0], t);
        let now = b.function(Unary::Exp, interest);
        let left = b.two(BinaryOp::Mul, s, n1);
        let right = b.two(BinaryOp::Mul, k, now);
        let right = b.two(BinaryOp::Mul, right, n2);
        let price = b.two(BinaryOp::Sub, left, right);
        let zero = b.number(0.0);
        let gain = b.two(BinaryOp::Lt, zero, price);
        b.0.push(LaneOp::Select(gain, price, zero)).expect("floats")
    })
}

fn five_points() -> LoopProgram {
    program(DType::F64, 5, |b, inputs| {
        let sum = b.two(BinaryOp::Add, inputs[0], inputs[1]);
        let sum = b.two(BinaryOp::Add, sum, inputs[2]);
        let sum = b.two(BinaryOp::Add, sum, inputs[3]);
        let quarter = b.number(0.25);
        let mean = b.two(BinaryOp::Mul, sum, quarter);
        b.two(BinaryOp::Sub, mean, inputs[4])
    })
}

fn star() -> LoopProgram {
    program(DType::F64, 9, |b, inputs| {
        let terms: Vec<LaneNode> =
            STAR.iter().zip(&inputs[1..]).map(|(weight, of)| b.times(*weight, *of)).collect();
        let star = terms.into_iter().reduce(|sum, term| b.two(BinaryOp::Add, sum, term));
        b.two(BinaryOp::Add, inputs[0], star.expect("eight terms"))
    })
}

/// Rows and columns of a stencil: every thread has part of the rows.
fn grid(setting: BenchSetting) -> (usize, usize) {
    let n = if setting.big { 8192 } else { 256 };
    (n / setting.threads, n)
}

fn stencil(setting: BenchSetting) {
    let ((rows, n), program) = (grid(setting), five_points());
    compare("5-point stencil", setting, rows * n, &|go| {
        let u = numbers(rows * n, 1);
        let mut all: [Vec<f64>; 3] = std::array::from_fn(|_| vec![0.0; rows * n]);
        let [ours, plain, streamed] = &mut all;
        let (mut scratch, row) = (Scratch::new(), n.cast_signed());
        let steps = [row, 1];
        let by_hand = |into: &mut [f64], streaming: bool| {
            for y in 1..rows - 1 {
                let [up, at, down] = [y - 1, y, y + 1].map(|y| &u[y * n..][..n]);
                let five = Five([&up[1..], &down[1..], at, &at[2..], &at[1..]]);
                write(&mut into[y * n + 1..][..n - 2], five, streaming);
            }
        };
        go(vec![
            (
                "ours",
                Box::new(|| {
                    let sources = [-row, row, -1, 1, 0].map(|by| Source::Memory {
                        bytes: bytes_of(&u),
                        offset: row + 1 + by,
                        strides: &steps,
                    });
                    let places = [OutputTarget { buffer: 0, offset: row + 1, strides: &steps }];
                    let mut targets =
                        OutputTargets { buffers: &mut [bytes_of_mut(ours)], places: &places };
                    map(&program, &[rows - 2, n - 2], &sources, &mut targets, &mut scratch)
                        .expect("it fits");
                }),
            ),
            ("plain", Box::new(|| by_hand(black_box(plain), false))),
            ("streaming", Box::new(|| by_hand(black_box(streamed), true))),
        ]);
        assert!(all[0] == all[1] && all[1] == all[2]);
    });
}

fn radius_two(setting: BenchSetting) {
    let ((rows, n), program) = (grid(setting), star());
    compare("radius-2 star", setting, rows * n, &|go| {
        let u = numbers(rows * n, 1);
        let (mut ours, mut plain) = (vec![0.0; rows * n], vec![0.0; rows * n]);
        let (mut scratch, row) = (Scratch::new(), n.cast_signed());
        let steps = [row, 1];
        go(vec![
            (
                "ours",
                Box::new(|| {
                    let near = [1, -1, row, -row, 2, -2, 2 * row, -2 * row];
                    let start = 2 * row + 2;
                    let mut sources =
                        vec![Source::Buffer { buffer: 0, offset: start, strides: &steps }];
                    sources.extend(near.map(|by| Source::Memory {
                        bytes: bytes_of(&u),
                        offset: start + by,
                        strides: &steps,
                    }));
                    let places = [OutputTarget { buffer: 0, offset: start, strides: &steps }];
                    let mut targets =
                        OutputTargets { buffers: &mut [bytes_of_mut(&mut ours)], places: &places };
                    map(&program, &[rows - 4, n - 4], &sources, &mut targets, &mut scratch)
                        .expect("it fits");
                }),
            ),
            (
                "plain",
                Box::new(|| {
                    for y in 2..rows - 2 {
                        let rows = [y - 2, y - 1, y, y + 1, y + 2].map(|y| &u[y * n..][..n]);
                        bounds::add_star(black_box(&mut plain[y * n..][..n]), rows);
                    }
                }),
            ),
        ]);
        assert_eq!(ours, plain);
    });
}

fn triad_f32(setting: BenchSetting) {
    let (program, count) = (triad(DType::F32), setting.share(2 * COUNTS.0, 2 * COUNTS.1));
    compare("f32 triad", setting, count, &|go| {
        let [b, c] = [1, 2].map(|seed| {
            let wide = numbers(count, seed);
            #[allow(clippy::cast_possible_truncation, reason = "any numbers will do")]
            wide.into_iter().map(|value| value as f32).collect::<Vec<f32>>()
        });
        let (mut ours, mut plain) = (vec![0.0f32; count], vec![0.0f32; count]);
        let mut scratch = Scratch::new();
        go(vec![
            (
                "ours",
                Box::new(|| {
                    let inputs = [bytes_of(&b), bytes_of(&c)];
                    run(&program, count, bytes_of_mut(&mut ours), &inputs, &mut scratch);
                }),
            ),
            ("plain", Box::new(|| bounds::triad_f32(black_box(&mut plain), &b, &c))),
        ]);
        assert_eq!(ours, plain);
    });
}

/// All cases whose names contain a word.
pub(crate) fn all(setting: BenchSetting, wanted: &dyn Fn(&str) -> bool) {
    if wanted("copy") {
        elementwise("copy", setting, &copy(), &|a, of, s| write(a, Copied(of), s));
    }
    if wanted("triad") {
        let ours = triad(DType::F64);
        elementwise("triad", setting, &ours, &|a, of, s| write(a, Triad(of), s));
    }
    if wanted("ab+cd-e/f") {
        elementwise("ab+cd-e/f", setting, &six(), &|a, of, s| write(a, Six(of), s));
    }
    if wanted("stencil") {
        stencil(setting);
    }
    if wanted("star") {
        radius_two(setting);
    }
    if wanted("exp, sin, sqrt") {
        elementwise("exp, sin, sqrt", setting, &waves(), &|a, of, s| write(a, Waves(of), s));
    }
    if wanted("option prices") {
        elementwise("option prices", setting, &option(), &|a, of, s| write(a, Prices::new(of), s));
    }
    if wanted("f32 triad") {
        triad_f32(setting);
    }
}
