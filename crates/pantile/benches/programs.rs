//! Array programs against hand-written loops with as many threads, in turns within one run.
//!
//! Every figure is the median of interleaved runs; the ratio is loop / program, so 1 is as fast as
//! the loop. Only ratios mean anything on a busy machine.
#![allow(clippy::print_stdout, reason = "prints a table")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

mod turns;

use std::sync::Arc;
use std::time::Instant;

use pantile::Options;
use pantile::ir::lower::{self, Setting};
use pantile_engine::{ArrayId, Crew, Job, Tile};
use pantile_testkit::timing::median;

const REPEATS: usize = 9;

/// A loop by hand: all inputs, the rows of the output that it computes, which rows they are, columns.
type ByHand = fn(&[&[f64]], &mut [f64], (usize, usize), usize);

/// A program of arrays `a`, `b`, ... of one shape, as text of its body, and the loop that does the
/// same to rows `rows` of an array of `columns`.
struct Case {
    name: &'static str,
    shape: [usize; 2],
    inputs: usize,
    body: &'static str,
    by_hand: ByHand,
}

fn text(case: &Case) -> String {
    let [rows, columns] = case.shape;
    let inputs: Vec<String> = ["a", "b", "c", "d", "e", "f"][..case.inputs]
        .iter()
        .map(|name| format!("%{name}: !g"))
        .collect();
    format!(
        "!g = !ndarray.ndarray<{rows}x{columns}xf64, #pantile.dist<\"block(r), whole\">>\n\
         !i = !ndarray.ndarray<{}x{}xf64>\n!s = !ndarray.ndarray<f64>\n\
         func.func @main({}) -> RESULT {{\n{}\n}}\n",
        rows - 4,
        columns - 4,
        inputs.join(", "),
        case.body
    )
    .replace("RESULT", if case.body.contains("return %sum") { "!s" } else { "!g" })
    .replace("SIZES", &format!("[{}, {}][1, 1]", rows - 4, columns - 4))
}

fn main() {
    println!("{:44} {:>6} {:>11} {:>11} {:>6}", "program", "ranks", "program", "by hand", "ratio");
    for case in cases() {
        for ranks in [1, 2] {
            run(&case, ranks);
        }
    }
    for case in turns::cases() {
        for ranks in [1, 2] {
            turns::run(&case, ranks);
        }
    }
}

fn run(case: &Case, ranks: usize) {
    let program = pantile::ir::text::parse(&text(case), case.name).unwrap();
    let setting = Setting { ranks, ..Setting::default() };
    let executable = Arc::new(lower::compile(&program, &setting).unwrap());
    let mut crew = Crew::threads(ranks, &Options::default());
    let [rows, columns] = case.shape;
    let size = rows * columns;
    let arrays: Vec<Vec<f64>> = (0..case.inputs)
        .map(|array| {
            (0..size).map(|at| ((at * 7 + array * 3) % 1001) as f64 / 500.0 + 0.1).collect()
        })
        .collect();
    let part = |rank: usize| (rank * rows / ranks, (rank + 1) * rows / ranks);
    for (number, array) in arrays.iter().enumerate() {
        crew.put(ArrayId(number as u64), |rank| {
            let (from, to) = part(rank);
            Tile::from_vec(array[from * columns..to * columns].to_vec())
        });
    }
    let job = Arc::new(Job {
        executable,
        key: 0,
        arguments: (0..case.inputs as u64).map(ArrayId).collect(),
        results: vec![ArrayId(99)],
        forget: Vec::new(),
        light: false,
        numbers: Vec::new(),
    });
    let inputs: Vec<&[f64]> = arrays.iter().map(Vec::as_slice).collect();
    let mut output = vec![0.0; size];
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for repeat in 0..REPEATS + 2 {
        let start = Instant::now();
        crew.run(&job).unwrap();
        let program = start.elapsed().as_secs_f64();
        let start = Instant::now();
        std::thread::scope(|scope| {
            let mut rest = output.as_mut_slice();
            for rank in 0..ranks {
                let (from, to) = part(rank);
                let (mine, others) = rest.split_at_mut((to - from) * columns);
                rest = others;
                let inputs = &inputs;
                scope.spawn(move || (case.by_hand)(inputs, mine, (from, to), columns));
            }
        });
        if repeat >= 2 {
            ours.push(program);
            theirs.push(start.elapsed().as_secs_f64());
        }
    }
    let ratio = median(theirs.iter().zip(&ours).map(|(loops, program)| loops / program).collect());
    let (ours, theirs) = (median(ours) * 1e3, median(theirs) * 1e3);
    println!("{:44} {ranks:>6} {ours:>8.2} ms {theirs:>8.2} ms {ratio:>6.2}", case.name);
}

#[allow(clippy::too_many_lines, reason = "a list")]
fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "a + 2.5 * b, 4096x2048",
            shape: [4096, 2048],
            inputs: 2,
            body: "%k = arith.constant 2.5 : f64\n\
                   %p = ndarray.ewbin %b, %k {op = \"mul\"} : (!g, f64) -> !g\n\
                   %r = ndarray.ewbin %a, %p {op = \"add\"} : (!g, !g) -> !g\nreturn %r : !g",
            by_hand: |inputs, out, (from, to), columns| {
                let range = from * columns..to * columns;
                let pairs = inputs[0][range.clone()].iter().zip(&inputs[1][range]);
                out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = a + 2.5 * b);
            },
        },
        Case {
            name: "a*b + c*d - e/f, 2048x1024",
            shape: [2048, 1024],
            inputs: 6,
            body: "%p = ndarray.ewbin %a, %b {op = \"mul\"} : (!g, !g) -> !g\n\
                   %q = ndarray.ewbin %c, %d {op = \"mul\"} : (!g, !g) -> !g\n\
                   %s = ndarray.ewbin %p, %q {op = \"add\"} : (!g, !g) -> !g\n\
                   %t = ndarray.ewbin %e, %f {op = \"div\"} : (!g, !g) -> !g\n\
                   %r = ndarray.ewbin %s, %t {op = \"sub\"} : (!g, !g) -> !g\nreturn %r : !g",
            by_hand: |inputs, out, (from, to), columns| {
                let [a, b, c, d, e, f] =
                    std::array::from_fn(|i| &inputs[i][from * columns..to * columns]);
                for at in 0..out.len() {
                    out[at] = a[at] * b[at] + c[at] * d[at] - e[at] / f[at];
                }
            },
        },
        Case {
            name: "5-point stencil, 4096x2048",
            shape: [4096, 2048],
            inputs: 1,
            body: "%q = arith.constant 0.25 : f64\n\
                   %n = ndarray.subview %a[1, 2]SIZES : !g to !i\n%s = ndarray.subview %a[3, 2]SIZES : !g to !i\n\
                   %w = ndarray.subview %a[2, 1]SIZES : !g to !i\n%e = ndarray.subview %a[2, 3]SIZES : !g to !i\n\
                   %x = ndarray.ewbin %n, %s {op = \"add\"} : (!i, !i) -> !i\n\
                   %y = ndarray.ewbin %x, %w {op = \"add\"} : (!i, !i) -> !i\n\
                   %z = ndarray.ewbin %y, %e {op = \"add\"} : (!i, !i) -> !i\n\
                   %v = ndarray.ewbin %z, %q {op = \"mul\"} : (!i, f64) -> !i\n\
                   %r = ndarray.immutable_insert_slice %v into %a[2, 2]SIZES : !i into !g\nreturn %r : !g",
            by_hand: |inputs, out, (from, to), columns| {
                let (a, rows) = (inputs[0], inputs[0].len() / columns);
                for row in from..to {
                    let line = &mut out[(row - from) * columns..][..columns];
                    let own = &a[row * columns..][..columns];
                    line.copy_from_slice(own);
                    if row < 2 || row >= rows - 2 {
                        continue;
                    }
                    let (up, down) = (
                        &a[(row - 1) * columns..][..columns],
                        &a[(row + 1) * columns..][..columns],
                    );
                    for at in 2..columns - 2 {
                        line[at] = 0.25 * (up[at] + down[at] + own[at - 1] + own[at + 1]);
                    }
                }
            },
        },
        Case {
            name: "exp(-a*a) * sin(b), 1024x1024",
            shape: [1024, 1024],
            inputs: 2,
            body: "%s = ndarray.ewbin %a, %a {op = \"mul\"} : (!g, !g) -> !g\n\
                   %n = ndarray.ewuny %s {op = \"negative\"} : !g -> !g\n%x = ndarray.ewuny %n {op = \"exp\"} : !g -> !g\n\
                   %y = ndarray.ewuny %b {op = \"sin\"} : !g -> !g\n\
                   %r = ndarray.ewbin %x, %y {op = \"mul\"} : (!g, !g) -> !g\nreturn %r : !g",
            by_hand: |inputs, out, (from, to), columns| {
                let range = from * columns..to * columns;
                let pairs = inputs[0][range.clone()].iter().zip(&inputs[1][range]);
                out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = (-a * a).exp() * b.sin());
            },
        },
        Case {
            name: "sum(a * b), exact against plain, 4096x2048",
            shape: [4096, 2048],
            inputs: 2,
            body: "%p = ndarray.ewbin %a, %b {op = \"mul\"} : (!g, !g) -> !g\n\
                   %sum = ndarray.reduction %p {op = 4 : i32} : !g -> !s\nreturn %sum : !s",
            by_hand: |inputs, out, (from, to), columns| {
                let range = from * columns..to * columns;
                let (a, b) = (&inputs[0][range.clone()], &inputs[1][range]);
                let mut lanes = [0.0; 16];
                for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
                    lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(lane, (a, b))| *lane += a * b);
                }
                out[0] = lanes.iter().sum();
            },
        },
    ]
}
