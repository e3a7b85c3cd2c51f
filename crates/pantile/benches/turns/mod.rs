//! Programs that go on for some turns, against loops by hand whose threads exchange blocks: a
//! transposed matrix that is added to another one, and a star of eight points.

use std::sync::{Arc, Barrier, Mutex};
use std::time::Instant;

use pantile::Options;
use pantile::ir::lower::{self, Lent, Setting};
use pantile_engine::{ArrayId, Crew, Job, Tile};
use pantile_testkit::timing::median;

/// Length of a side of both matrices.
const SIDE: usize = 4096;

/// Turns of a run.
const TURNS: usize = 4;

/// Runs of each.
const REPEATS: usize = 7;

/// A program of matrices `x` and `y` that gives new ones, and what a thread does meanwhile.
pub(crate) struct Case {
    name: &'static str,
    body: String,
    by_hand: fn(&mut Share<'_>),
}

/// What one thread has: its rows of both matrices, and where it meets the others.
pub(crate) struct Share<'a> {
    rank: usize,
    ranks: usize,
    rows: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    /// What each thread has for the others.
    boxes: &'a [Mutex<Vec<f64>>],
    barrier: &'a Barrier,
}

pub(crate) fn cases() -> Vec<Case> {
    let turned = "%t = ndarray.permute_dims %x [1, 0] : !g -> !g\n\
                  %v = ndarray.ewbin %y, %t {op = \"add\"} : (!g, !g) -> !g\n\
                  %u = ndarray.ewbin %x, %one {op = \"add\"} : (!g, f64) -> !g\n"
        .to_string();
    vec![
        Case { name: "b += a.T, a += 1, 4096x4096", body: turned, by_hand: turn_by_hand },
        Case { name: "b += star of a, a += 1, 4096x4096", body: star(), by_hand: star_by_hand },
    ]
}

/// The eight points of the star: rows, columns, weight.
const POINTS: [(isize, isize, f64); 8] = [
    (-2, 0, -0.125),
    (-1, 0, -0.25),
    (0, -2, -0.125),
    (0, -1, -0.25),
    (0, 1, 0.25),
    (0, 2, 0.125),
    (1, 0, 0.25),
    (2, 0, 0.125),
];

fn star() -> String {
    let size = SIDE - 4;
    let mut text = String::new();
    for (number, (row, column, weight)) in POINTS.iter().enumerate() {
        let (row, column) = (row + 2, column + 2);
        text += &format!(
            "%p{number} = ndarray.subview %x[{row}, {column}][{size}, {size}][1, 1] : !g to !i\n\
             %w{number} = arith.constant {weight} : f64\n\
             %q{number} = ndarray.ewbin %p{number}, %w{number} {{op = \"mul\"}} : (!i, f64) -> !i\n"
        );
        if number > 0 {
            let before = if number == 1 { "q0".into() } else { format!("s{}", number - 1) };
            text += &format!(
                "%s{number} = ndarray.ewbin %{before}, %q{number} {{op = \"add\"}} : (!i, !i) -> !i\n"
            );
        }
    }
    let inner = format!("[2, 2][{size}, {size}][1, 1]");
    text += &format!(
        "%o = ndarray.subview %y{inner} : !g to !i\n\
         %n = ndarray.ewbin %o, %s7 {{op = \"add\"}} : (!i, !i) -> !i\n\
         %v = ndarray.immutable_insert_slice %n into %y{inner} : !i into !g\n\
         %u = ndarray.ewbin %x, %one {{op = \"add\"}} : (!g, f64) -> !g\n"
    );
    text
}

fn text(case: &Case) -> String {
    format!(
        "!g = !ndarray.ndarray<{SIDE}x{SIDE}xf64, #pantile.dist<\"block(r), whole\">>\n\
         !i = !ndarray.ndarray<{inner}x{inner}xf64>\n\
         func.func @main(%a: !g, %b: !g) -> (!g, !g) {{\n\
         %one = arith.constant 1.0 : f64\n\
         %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n\
         %turns = arith.constant {TURNS} : index\n\
         %r:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%x = %a, %y = %b) -> (!g, !g) {{\n\
         {body}scf.yield %u, %v : !g, !g\n}}\nreturn %r#0, %r#1 : !g, !g\n}}\n",
        inner = SIDE - 4,
        body = case.body
    )
}

fn matrix(number: usize) -> Vec<f64> {
    (0..SIDE * SIDE).map(|at| ((at * 7 + number * 3) % 1001) as f64 / 500.0 + 0.1).collect()
}

/// Measures a case, and compares the results.
pub(crate) fn run(case: &Case, ranks: usize) {
    let program = pantile::ir::text::parse(&text(case), case.name).unwrap();
    let mut setting = Setting { ranks, ..Setting::default() };
    let placed = lower::compile(&program, &setting).unwrap();
    // The results take the places of the arguments: nobody needs those any more.
    let home = placed.slots[placed.arguments[0].0.index()].home.clone();
    setting.lent = Some(vec![Lent { home, spent: true }; 2]);
    let executable = Arc::new(lower::compile(&program, &setting).unwrap());
    let mut crew = Crew::threads(ranks, &Options::default());
    let arrays = [matrix(0), matrix(1)];
    let share = SIDE / ranks * SIDE;
    for (number, array) in arrays.iter().enumerate() {
        crew.put(ArrayId(number as u64), |rank| {
            Tile::from_vec(array[rank * share..(rank + 1) * share].to_vec())
        });
    }
    let job = Arc::new(Job {
        executable,
        key: 0,
        arguments: vec![ArrayId(0), ArrayId(1)],
        results: vec![ArrayId(0), ArrayId(1)],
        forget: Vec::new(),
        light: false,
        numbers: Vec::new(),
    });
    let (barrier, start) = (Barrier::new(ranks), Barrier::new(ranks + 1));
    let boxes: Vec<Mutex<Vec<f64>>> = (0..ranks).map(|_| Mutex::default()).collect();
    let results: Vec<Mutex<Vec<f64>>> = (0..ranks).map(|_| Mutex::default()).collect();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        for rank in 0..ranks {
            let mine = |array: &Vec<f64>| array[rank * share..(rank + 1) * share].to_vec();
            let (x, y) = (mine(&arrays[0]), mine(&arrays[1]));
            let (boxes, barrier, start) = (boxes.as_slice(), &barrier, &start);
            let result = &results[rank];
            scope.spawn(move || {
                let rows = SIDE / ranks;
                let mut share = Share { rank, ranks, rows, x, y, boxes, barrier };
                for _ in 0..REPEATS {
                    start.wait();
                    (0..TURNS).for_each(|_| (case.by_hand)(&mut share));
                    start.wait();
                }
                *result.lock().unwrap() = share.y;
            });
        }
        for _ in 0..REPEATS {
            let begun = Instant::now();
            crew.run(&job).unwrap();
            ours.push(begun.elapsed().as_secs_f64());
            let begun = Instant::now();
            start.wait();
            start.wait();
            theirs.push(begun.elapsed().as_secs_f64());
        }
    });
    for ((_, tile), result) in crew.get(ArrayId(1)).iter().zip(&results) {
        let pairs = tile.as_slice::<f64>().iter().zip(result.lock().unwrap().clone());
        let near = |(one, other): (&f64, f64)| (one - other).abs() <= 1e-9 * other.abs().max(1.0);
        assert!(pairs.into_iter().all(near), "{}: the results differ", case.name);
    }
    let ratio = median(theirs.iter().zip(&ours).skip(1).map(|(loops, own)| loops / own).collect());
    let each = |times: Vec<f64>| median(times[1..].to_vec()) * 1e3 / TURNS as f64;
    let (ours, theirs) = (each(ours), each(theirs));
    println!("{:44} {ranks:>6} {ours:>8.2} ms {theirs:>8.2} ms {ratio:>6.2}", case.name);
}

/// Every thread lays out what the others need of it, and adds blocks of 32 by 32.
fn turn_by_hand(share: &mut Share<'_>) {
    let (rows, rank) = (share.rows, share.rank);
    for peer in (0..share.ranks).filter(|peer| *peer != rank) {
        // Two threads: what one has for the other is one block.
        let mut out = share.boxes[rank].lock().unwrap();
        out.resize(rows * rows, 0.0);
        for (into, row) in out.chunks_mut(rows).zip(share.x.chunks(SIDE)) {
            into.copy_from_slice(&row[peer * rows..][..rows]);
        }
    }
    share.barrier.wait();
    for peer in 0..share.ranks {
        let left = peer * rows;
        if peer == rank {
            add_turned(&share.x[left..], SIDE, &mut share.y[left..], rows);
        } else {
            let block = share.boxes[peer].lock().unwrap();
            add_turned(&block, rows, &mut share.y[left..], rows);
        }
    }
    share.x.iter_mut().for_each(|x| *x += 1.0);
    share.barrier.wait();
}

fn add_turned(from: &[f64], pitch: usize, into: &mut [f64], rows: usize) {
    const BLOCK: usize = 32;
    for top in (0..rows).step_by(BLOCK) {
        for left in (0..rows).step_by(BLOCK) {
            for row in top..top + BLOCK {
                let line = &mut into[row * SIDE + left..][..BLOCK];
                for (column, cell) in line.iter_mut().enumerate() {
                    *cell += from[(left + column) * pitch + row];
                }
            }
        }
    }
}

/// Every thread lays out its first and last two rows.
fn star_by_hand(share: &mut Share<'_>) {
    let (rows, rank, ranks) = (share.rows, share.rank, share.ranks);
    {
        let mut out = share.boxes[rank].lock().unwrap();
        out.clear();
        out.extend_from_slice(&share.x[..2 * SIDE]);
        out.extend_from_slice(&share.x[(rows - 2) * SIDE..]);
    }
    share.barrier.wait();
    let above = (rank > 0).then(|| share.boxes[rank - 1].lock().unwrap()[2 * SIDE..].to_vec());
    let below =
        (rank + 1 < ranks).then(|| share.boxes[rank + 1].lock().unwrap()[..2 * SIDE].to_vec());
    share.barrier.wait();
    let (first, last) =
        (if rank > 0 { 0 } else { 2 }, if rank + 1 < ranks { rows } else { rows - 2 });
    for row in first..last {
        let line = |away: isize| -> &[f64] {
            let at = row as isize + away;
            match (usize::try_from(at), &above, &below) {
                (Ok(at), _, _) if at < rows => &share.x[at * SIDE..][..SIDE],
                (Ok(at), _, Some(below)) => &below[(at - rows) * SIDE..][..SIDE],
                (_, Some(above), _) => &above[(at + 2) as usize * SIDE..][..SIDE],
                _ => unreachable!("rows at the border are left out"),
            }
        };
        let [a, b, own, c, d] = [-2, -1, 0, 1, 2].map(line);
        let into = &mut share.y[row * SIDE..][..SIDE];
        for at in 2..SIDE - 2 {
            into[at] += -0.125 * a[at] - 0.25 * b[at] - 0.125 * own[at - 2] - 0.25 * own[at - 1]
                + 0.25 * own[at + 1]
                + 0.125 * own[at + 2]
                + 0.25 * c[at]
                + 0.125 * d[at];
        }
    }
    share.x.iter_mut().for_each(|x| *x += 1.0);
}
