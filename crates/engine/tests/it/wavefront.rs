//! Loops that go right behind each other give what they give one after the other.

use std::sync::Arc;

use pantile_comm::threads;
use pantile_engine::{Engine, Error, Runner};
use pantile_lower::Setting;
use pantile_testkit::{Rng, cases};

/// Two arrays that renew each other in turns: from a part of one, so far away, a part of the other.
const PROGRAM: &str = r#"
!g = !ndarray.ndarray<HxWxf64, #pantile.dist<"block(r), whole">>
!i = !ndarray.ndarray<IxJxf64>
func.func @main() -> (!g, !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %q = arith.constant 0.25 : f64
  %seed = arith.constant 7 : i64
  %a = ndarray.random %seed {kind = "uniform", stream = 0} : (i64) -> !g
  %b = ndarray.random %seed {kind = "uniform", stream = 1} : (i64) -> !g
  %p, %o = scf.for %t = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!g, !g) {
    %far = ndarray.subview %x[R0, C0][I, J][1, 1] : !g to !i
    %near = ndarray.subview %x[4, 4][I, J][1, 1] : !g to !i
    %step = ndarray.ewbin %far, %near {op = "subtract"} : (!i, !i) -> !i
    %part = ndarray.ewbin %step, %q {op = "multiply"} : (!i, f64) -> !i
    %old = ndarray.subview %y[4, 4][I, J][1, 1] : !g to !i
    %sum = ndarray.ewbin %old, %part {op = "add"} : (!i, !i) -> !i
    ndarray.insert_slice %sum into %y[4, 4][I, J][1, 1] : !i into !g
    SECOND
    scf.yield %x, %y : !g, !g
  }
  return %p, %o : !g, !g
}
"#;

/// The second loop renews all of the first array, or a part of it from the other one.
const SECONDS: [&str; 2] = [
    r#"%w = ndarray.subview %x[0, 0][H, W][1, 1] : !g to !g
    %m = ndarray.ewbin %w, %q {op = "add"} : (!g, f64) -> !g
    ndarray.insert_slice %m into %x[0, 0][H, W][1, 1] : !g into !g"#,
    r#"%w = ndarray.subview %x[R2, 4][I, J][1, 1] : !g to !i
    %z = ndarray.subview %y[R1, C1][I, J][1, 1] : !g to !i
    %m = ndarray.ewbin %w, %z {op = "subtract"} : (!i, !i) -> !i
    ndarray.insert_slice %m into %x[R2, 4][I, J][1, 1] : !i into !g"#,
];

fn program(rng: &mut Rng, rows: usize, columns: usize) -> String {
    let mut text = PROGRAM.replace("SECOND", SECONDS[rng.below(2)]);
    for place in ["R0", "C0", "R1", "C1", "R2"] {
        text = text.replace(place, &rng.below(9).to_string());
    }
    let (inner, across) = (rows - 8, columns - 8);
    text.replace("HxW", &format!("{rows}x{columns}"))
        .replace("[H, W]", &format!("[{rows}, {columns}]"))
        .replace("IxJ", &format!("{inner}x{across}"))
        .replace("[I, J]", &format!("[{inner}, {across}]"))
}

/// What all ranks have; with a profiler they run one step after the other.
fn run(text: &str, ranks: usize, profiled: bool) -> Vec<Vec<u8>> {
    let program = pantile_ir::text::parse(text, "wavefront").unwrap();
    let setting = Setting { ranks, ..Setting::default() };
    let executable = Arc::new(pantile_lower::compile(&program, &setting).unwrap());
    let results = threads::run(ranks, &pantile_comm::Options::default(), |communicator| {
        let mut engine = Engine::new(communicator);
        let mut runner = Runner::new(&mut engine, Arc::clone(&executable))?;
        let made = match profiled {
            true => runner.run_profiled(&mut engine, &[], &mut |_| {})?,
            false => runner.run(&mut engine, &[])?,
        };
        Ok::<_, Error>(made.iter().flat_map(|tile| tile.as_bytes().to_vec()).collect())
    });
    results.into_iter().map(Result::unwrap).collect()
}

#[test]
fn loops_right_behind_each_other_give_the_same() {
    cases("wavefronts", 6, |rng| {
        // On one rank, and mostly on two, arrays are too large for the caches.
        let (rows, columns) = (1100 + rng.below(300), 900 + rng.below(200));
        let text = program(rng, rows, columns);
        for ranks in [1, 2, 3] {
            let same = run(&text, ranks, false) == run(&text, ranks, true);
            assert!(same, "{ranks} ranks, {rows}x{columns}:\n{text}");
        }
    });
}
