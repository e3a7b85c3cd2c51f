//! Several steps in time for one exchange of halos: the same bits, and fewer messages.

use std::sync::Arc;

use pantile_lower::Setting;

/// A plate whose edges stay, and one without edges; the counter of turns matters.
const PLATE: &str = r#"
!g = !ndarray.ndarray<HxWxf64, #pantile.dist<"DIST">>
!i = !ndarray.ndarray<IxJxf64>
func.func @main() -> (!g, !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant TURNS : index
  %q = arith.constant 0.25 : f64
  %half = arith.constant 0.5 : f64
  %seed = arith.constant 7 : i64
  %a = ndarray.random %seed {kind = "uniform", stream = 0} : (i64) -> !g
  %p, %o = scf.for %t = %c0 to %n step %c1 iter_args(%u = %a, %v = %a) -> (!g, !g) {
    %north = ndarray.subview %u[0, 1][I, J][1, 1] : !g to !i
    %south = ndarray.subview %u[2, 1][I, J][1, 1] : !g to !i
    %west = ndarray.subview %u[1, 0][I, J][1, 1] : !g to !i
    %east = ndarray.subview %u[1, 2][I, J][1, 1] : !g to !i
    %s1 = ndarray.ewbin %north, %south {op = "add"} : (!i, !i) -> !i
    %s2 = ndarray.ewbin %west, %east {op = "add"} : (!i, !i) -> !i
    %s3 = ndarray.ewbin %s1, %s2 {op = "add"} : (!i, !i) -> !i
    %m = ndarray.ewbin %s3, %q {op = "multiply"} : (!i, f64) -> !i
    %w = ndarray.immutable_insert_slice %m into %u[1, 1][I, J][1, 1] : !i into !g
    %k = arith.index_cast %t : index to i64
    %x = arith.sitofp %k : i64 to f64
    %y = ndarray.ewbin %v, %x {op = "add"} : (!g, f64) -> !g
    %z = ndarray.stencil %y {points = [[-2, 0], [0, 1], [1, -1]], weights = [0.5, 0.25, 0.125], boundary = "zero"} : !g -> !g
    scf.yield %w, %z : !g, !g
  }
  return %p, %o : !g, !g
}
"#;

fn program(rows: usize, columns: usize, turns: usize, dist: &str) -> String {
    PLATE
        .replace("HxW", &format!("{rows}x{columns}"))
        .replace("IxJ", &format!("{}x{}", rows - 2, columns - 2))
        .replace("[I, J]", &format!("[{}, {}]", rows - 2, columns - 2))
        .replace("TURNS", &turns.to_string())
        .replace("DIST", dist)
}

/// What every rank has in the end, and all messages.
fn run(text: &str, ranks: usize, steps: usize) -> (Vec<Vec<u8>>, u64) {
    let program = pantile_ir::text::parse(text, "plate").unwrap();
    let setting = Setting { ranks, steps_per_exchange: steps, ..Setting::default() };
    let executable = Arc::new(pantile_lower::compile(&program, &setting).unwrap());
    let (made, messages, _) = crate::runs::run(&executable, 1);
    (made, messages)
}

#[test]
fn one_exchange_serves_several_steps() {
    for (dist, ranks) in [
        ("block(r), whole", vec![1, 2, 3, 5]),
        ("whole, block(r)", vec![2, 4]),
        ("block(r), block(c)", vec![4, 6]),
    ] {
        for ranks in ranks {
            for (rows, columns, turns) in [(24, 17, 12), (13, 31, 7), (6, 6, 3), (4, 9, 1)] {
                let dist = match dist {
                    "block(r), block(c)" => format!("r=2, c={}: block(r), block(c)", ranks / 2),
                    plain => plain.to_owned(),
                };
                let text = program(rows, columns, turns, &dist);
                let (expected, before) = run(&text, ranks, 1);
                for steps in [2, 3, 5] {
                    let (got, messages) = run(&text, ranks, steps);
                    assert_eq!(got, expected, "{ranks} ranks, {steps} steps, {rows}x{columns}");
                    if turns >= 12 && ranks > 1 && rows / ranks > 8 {
                        assert!(messages * 3 <= before * 2, "{messages} messages, before {before}");
                    }
                }
            }
        }
    }
}
