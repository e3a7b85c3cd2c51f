//! Loops that read what others have where it is: the same bits as with copies, and no copies.

use std::sync::Arc;

use pantile_lower::{Executable, Setting, Step};
use pantile_testkit::sampled;

/// A matrix is added to its transpose again and again, and then grows itself.
const ADDED: &str = r#"
!g = !ndarray.ndarray<NxNxDTYPE, #pantile.dist<"DIST">>
func.func @main() -> (!g, !g) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %zero = arith.constant 0 : i64
  %r = ndarray.random %zero {kind = "normal", stream = 1} : (i64) -> !ndarray.ndarray<NxNxf64, #pantile.dist<"DIST">>
  %a = ndarray.cast_elemtype %r {copy = true} : !ndarray.ndarray<NxNxf64, #pantile.dist<"DIST">> to !g
  %p, %q = scf.for %t = %c0 to %n step %c1 iter_args(%x = %a, %y = %a) -> (!g, !g) {
    %across = ndarray.permute_dims %x [1, 0] : !g -> !g
    %sum = ndarray.ewbin %y, %across {op = "add"} : (!g, !g) -> !g
    %more = ndarray.ewbin %x, %x {op = "add"} : (!g, !g) -> !g
    scf.yield %more, %sum : !g, !g
  }
  return %p, %q : !g, !g
}
"#;

/// Rows beside columns, shifted.
const BESIDE: &str = r#"
!g = !ndarray.ndarray<NxNxf64, #pantile.dist<"DIST">>
!c = !ndarray.ndarray<NxNxf64, #pantile.dist<"whole, block(r)">>
!i = !ndarray.ndarray<IxIxf64>
func.func @main() -> !g {
  %seed = arith.constant 5 : i64
  %a = ndarray.random %seed {kind = "normal", stream = 1} : (i64) -> !g
  %b = ndarray.random %seed {kind = "normal", stream = 2} : (i64) -> !c
  %u = ndarray.subview %a[1, 1][I, I][1, 1] : !g to !i
  %v = ndarray.subview %b[0, 2][I, I][1, 1] : !c to !i
  %s = ndarray.ewbin %u, %v {op = "multiply"} : (!i, !i) -> !i
  %w = ndarray.immutable_insert_slice %s into %a[1, 1][I, I][1, 1] : !i into !g
  return %w : !g
}
"#;

/// A part of what was moved is computed anew, the rest of it stays.
const PART: &str = r#"
!g = !ndarray.ndarray<NxNxf64, #pantile.dist<"DIST">>
!c = !ndarray.ndarray<NxNxf64, #pantile.dist<"TO">>
!i = !ndarray.ndarray<IxIxf64>
func.func @main() -> !c {
  %seed = arith.constant 5 : i64
  %a = ndarray.random %seed {kind = "normal", stream = 1} : (i64) -> !g
  %b = ndarray.redistribute %a : !g -> !c
  %u = ndarray.subview %b[1, 1][I, I][1, 1] : !c to !i
  %s = ndarray.ewbin %u, %u {op = "add"} : (!i, !i) -> !i
  %w = ndarray.immutable_insert_slice %s into %b[1, 1][I, I][1, 1] : !i into !c
  return %w : !c
}
"#;

fn compiled(text: &str, ranks: usize, remote_reads: bool) -> Arc<Executable> {
    let program = pantile_ir::text::parse(text, "remote_reads").unwrap();
    let setting = Setting { ranks, remote_reads, ..Setting::default() };
    Arc::new(pantile_lower::compile(&program, &setting).unwrap())
}

/// How many loops of a rank read the memory of others.
fn looking(executable: &Executable, steps: &[Step], rank: usize) -> usize {
    let pairs = steps.windows(2).filter(|pair| match pair {
        [Step::Move(step), Step::Compute(compute)] => {
            let boxes = executable.local_remote_reads(compute, step, rank).unwrap_or_default();
            executable.remote_reads.contains(&step.to)
                && boxes.iter().any(|(peer, _)| *peer != rank)
        }
        _ => false,
    });
    let inner = steps.iter().map(|step| match step {
        Step::Repeat(repeat) => looking(executable, &repeat.body, rank),
        _ => 0,
    });
    pairs.count() + inner.sum::<usize>()
}

fn somebody_looks(executable: &Executable) -> bool {
    (0..executable.ranks).any(|rank| looking(executable, &executable.steps, rank) > 0)
}

/// A program, where its matrices live, their side, how many ranks there are, and the type.
type Case = ((&'static str, &'static str), &'static str, usize, usize, &'static str);

fn all_cases() -> Vec<Case> {
    let dists = ["block(r), whole", "whole, block(r)", "r=*, c=2: block(r), block(c)"];
    let mut all = Vec::new();
    for (program, dist) in
        [("added", ADDED), ("beside", BESIDE)].into_iter().flat_map(|p| dists.map(|d| (p, d)))
    {
        for (side, ranks) in [3, 4, 9, 30].into_iter().flat_map(|s| [1, 2, 4, 6].map(|r| (s, r))) {
            let types = if side == 9 && program.0 == "added" { 4 } else { 1 };
            if ranks > 1 || !dist.contains("c=2") {
                let types = ["f64", "f32", "i16", "complex<f64>"].into_iter().take(types);
                all.extend(types.map(|dtype| (program, dist, side, ranks, dtype)));
            }
        }
    }
    all
}

#[test]
fn what_others_have_is_read_where_it_is() {
    for ((name, text), dist, side, ranks, dtype) in sampled(all_cases()) {
        let text = text
            .replace("NxN", &format!("{side}x{side}"))
            .replace("IxI", &format!("{0}x{0}", side - 2))
            .replace("[I, I]", &format!("[{0}, {0}]", side - 2))
            .replace("DTYPE", dtype)
            .replace("DIST", dist);
        let [with, without] =
            [true, false].map(|remote_reads| compiled(&text, ranks, remote_reads));
        let about = format!("{name}, {dist}, {side}, {ranks} ranks, {dtype}");
        assert_eq!(crate::runs::run(&with, 2), crate::runs::run(&without, 2), "{about}");
        if ranks > 1 && side >= 9 && (name == "added" || dist.starts_with("block")) {
            assert!(somebody_looks(&with), "{about}");
        }
        assert!(!somebody_looks(&without), "{about}");
    }
}

#[test]
fn what_stays_beside_a_part_is_moved() {
    let dists =
        ["block(r), whole", "whole, block(r)", "whole, whole", "r=*, c=2: block(r), block(c)"];
    let pairs = dists.into_iter().flat_map(|dist| dists.map(|to| (dist, to)));
    let sizes = [3, 4, 9, 30].into_iter().flat_map(|side| [2, 4, 6].map(|ranks| (side, ranks)));
    let all = pairs.flat_map(|pair| sizes.clone().map(move |size| (pair, size))).collect();
    for ((dist, to), (side, ranks)) in sampled::<((&str, &str), (usize, usize))>(all) {
        let text = PART
            .replace("NxN", &format!("{side}x{side}"))
            .replace("IxI", &format!("{0}x{0}", side - 2))
            .replace("[I, I]", &format!("[{0}, {0}]", side - 2))
            .replace("DIST", dist)
            .replace("TO", to);
        let [with, without] =
            [true, false].map(|remote_reads| compiled(&text, ranks, remote_reads));
        let about = format!("{dist} to {to}, {side}, {ranks} ranks");
        assert_eq!(crate::runs::run(&with, 2), crate::runs::run(&without, 2), "{about}");
    }
}
