//! Random programs mean the same before and after every pass, and so do the programs of all
//! members together.

mod members;
mod programs;

use pantile_dialect::{self as passes, Member};
use pantile_ir::reference::{Array, run};
use pantile_ir::text::parse;
use pantile_ir::verify::verify;
use pantile_ir::{Program, Scalar};
use pantile_testkit::{Rng, cases, enough};

fn parsed(text: &str) -> Program {
    let program = parse(text, "random.dist").unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
    verify(&program).unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
    program
}

fn arguments(shape: &[usize], rng: &mut Rng) -> Vec<Array> {
    let count: usize = shape.iter().product();
    let mut array = || {
        let data: Vec<i64> = (0..count).map(|_| rng.range(-9, 9)).collect();
        Array::of(shape, &data)
    };
    let mut arguments = vec![array(), array()];
    arguments.push(Array { shape: Vec::new(), ..Array::of(&[], &[3_i64]) });
    arguments
}

fn apply(program: &mut Program, name: &str, member: &Member) {
    let before = program.to_string();
    let pass = passes::find(name).unwrap();
    pass.run(program, member).unwrap_or_else(|e| panic!("{name}: {e}\n{before}"));
    verify(program).unwrap_or_else(|f| panic!("{name}: {}\n{before}\n{program}", f[0]));
}

#[test]
fn every_pass_keeps_the_meaning() {
    let chains: [&[&str]; 11] = [
        &["fold"],
        &["cse"],
        &["dce"],
        &["slices"],
        &["values", "slices", "fold", "cse", "dce"],
        &["distribute"],
        &["distribute", "coalesce"],
        &["distribute", "coalesce", "cores", "fold", "cse", "dce"],
        &["regions", "drop-regions"],
        &["slices", "fold", "distribute", "coalesce"],
        &["regions"],
    ];
    cases("every_pass_keeps_the_meaning", 300, |rng| {
        let case = programs::random(rng, true);
        let program = parsed(&case.text);
        let given = arguments(&case.shape, rng);
        let expected = run(&program, &given).unwrap_or_else(|f| panic!("{f}\n{}", case.text));
        let chain = *rng.pick(&chains);
        let mut changed = program.clone();
        let ranks = 1 + rng.below(4);
        // `fold` for a member may say only what holds on all of them here.
        let member = Member { ranks: Some(ranks), ..Member::default() };
        for name in chain {
            apply(&mut changed, name, &member);
        }
        let found = run(&changed, &given).unwrap_or_else(|f| panic!("{chain:?} {f}\n{changed}"));
        assert_eq!(found, expected, "{chain:?}\n{}\n{changed}", case.text);
    });
}

#[test]
fn the_members_together_mean_the_program() {
    cases("the_members_together_mean_the_program", 300, |rng| {
        let case = programs::random(rng, false);
        let program = parsed(&case.text);
        let given = arguments(&case.shape, rng);
        let expected = run(&program, &given).unwrap();
        let ranks = 1 + rng.below(5);
        let chains: [&[&str]; 4] = [
            &["distribute", "member"],
            &["distribute", "coalesce", "member"],
            &["distribute", "coalesce", "cores", "member", "overlap"],
            &[
                "slices",
                "distribute",
                "coalesce",
                "cores",
                "member",
                "slices",
                "cse",
                "dce",
                "overlap",
                "keys",
            ],
        ];
        let chain = *rng.pick(&chains);
        let mut programs = Vec::new();
        for rank in 0..ranks {
            let mut changed = program.clone();
            for name in chain {
                apply(&mut changed, name, &Member::new(ranks, rank));
            }
            programs.push(changed);
        }
        let told = || std::panic::catch_unwind(|| members::run(&programs, &given, &case.shape));
        let found = told().unwrap_or_else(|_| {
            panic!("{chain:?}, {ranks} members\n{}\n{}", case.text, programs[0])
        });
        let expected: Vec<Vec<Scalar>> = expected.into_iter().map(|array| array.data).collect();
        for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let printed = &programs[ranks / 2];
            assert_eq!(found, expected, "result {number}, {chain:?}\n{}\n{printed}", case.text);
        }
    });
}

#[test]
fn v26_members_without_rows_bring_what_changes_nothing() {
    let check = |data: &[i64], ops: [&str; 2], expected: [i64; 2]| {
        let count = data.len();
        let a = format!("!ndarray.ndarray<{count}xi64, #dist.dist_env<team = 22>>");
        let s = "!ndarray.ndarray<i64, #dist.dist_env<team = 22>>";
        let [one, other] = ops;
        let text = format!(
            "func.func @main(%a: {a}) -> ({s}, {s}) {{\n  %x = ndarray.reduction %a {{op = \"{one}\"}} : {a} -> {s}\n  %y = ndarray.reduction %a {{op = \"{other}\"}} : {a} -> {s}\n  return %x, %y : {s}, {s}\n}}\n"
        );
        let program = parsed(&text);
        for ranks in [1, 2, 3, 5, 8] {
            let programs: Vec<Program> = (0..ranks)
                .map(|rank| {
                    let mut changed = program.clone();
                    apply(&mut changed, "member", &Member::new(ranks, rank));
                    changed
                })
                .collect();
            let found = members::run(&programs, &[Array::of(&[count], data)], &[count]);
            assert_eq!(found, expected.map(|x| vec![Scalar::of(x)]), "{ops:?}, {ranks}");
        }
    };
    check(&[-3, -7, -1], ["sum", "prod"], [-11, -21]);
    check(&[-3, -7, -1], ["max", "min"], [-1, -7]);
    check(&[4, 2, 9, 5], ["min", "prod"], [2, 360]);
    check(&[], ["sum", "prod"], [0, 1]);
}

#[test]
fn sums_take_rows_that_have_moved_where_they_are() {
    let data: Vec<i64> = (1..=9).map(|k| k * k).collect();
    let a = "!ndarray.ndarray<9xi64, #dist.dist_env<team = 22>>";
    let v = "!ndarray.ndarray<7xi64, #dist.dist_env<team = 22>>";
    let s = "!ndarray.ndarray<i64, #dist.dist_env<team = 22>>";
    let text = format!(
        "func.func @main(%a: {a}) -> ({s}, {s}) {{
  %v = dist.subview %a[2] [7] [1] : {a} to {v}
  %r = dist.repartition %v : {v} to {v}
  %x = ndarray.reduction %r {{op = \"sum\"}} : {v} -> {s}
  %y = ndarray.reduction %v {{op = \"max\"}} : {v} -> {s}
  return %x, %y : {s}, {s}
}}"
    );
    let program = parsed(&text);
    for ranks in 1..8 {
        let programs: Vec<Program> = (0..ranks)
            .map(|rank| {
                let mut changed = program.clone();
                apply(&mut changed, "member", &Member::new(ranks, rank));
                changed
            })
            .collect();
        let found = members::run(&programs, &[Array::of(&[9], &data)], &[9]);
        let expected = [data[2..].iter().sum::<i64>(), 81].map(|x| vec![Scalar::of(x)]);
        assert_eq!(found, expected, "{ranks}");
    }
}

/// The first of the rows that a member owns of so many, and the one behind the last: what is left
/// over goes to the last members.
fn owned(rows: usize, ranks: usize, rank: usize) -> std::ops::Range<usize> {
    let (each, more) = (rows / ranks, rows % ranks);
    let first = |rank: usize| rank * each + (rank + more).saturating_sub(ranks);
    first(rank)..first(rank + 1)
}

/// `dist.ewbin` of two views of an array, for every member alone: it has the sums of the rows that it
/// owns of both views, or says that these are not the same ones.
#[test]
fn members_add_rows_of_equal_places_only() {
    let mut added = 0;
    cases("members_add_rows_of_equal_places_only", 400, |rng| {
        let (count, ranks) = (rng.below(14), 1 + rng.below(5));
        let size = rng.below(count + 1);
        let starts = [rng.below(count - size + 1), rng.below(count - size + 1)];
        let starts = if rng.chance(1, 4) { [starts[0]; 2] } else { starts };
        let team = "#dist.dist_env<team = 22>";
        let (a, v) = (
            format!("!ndarray.ndarray<{count}xi64, {team}>"),
            format!("!ndarray.ndarray<{size}xi64, {team}>"),
        );
        let view = |start: usize| format!("dist.subview %a[{start}] [{size}] [1] : {a} to {v}");
        let text = format!(
            "func.func @main(%a: {a}) -> {v} {{\n  %x = {}\n  %y = {}\n  %s = \"dist.ewbin\"(%x, %y) <{{op = 0 : i32}}> : ({v}, {v}) -> {v}\n  return %s : {v}\n}}\n",
            view(starts[0]),
            view(starts[1])
        );
        let data: Vec<i64> = (0..count).map(|_| rng.range(-9, 9)).collect();
        for rank in 0..ranks {
            let own = owned(count, ranks, rank);
            let rows = starts.map(|start| -> Vec<usize> {
                (0..size).filter(|row| own.contains(&(start + row))).collect()
            });
            let mut program = parsed(&text);
            let pass = passes::find("member").unwrap();
            let made = pass.run(&mut program, &Member::new(ranks, rank));
            assert_eq!(made.is_ok(), rows[0] == rows[1], "{rank} of {ranks}\n{text}{made:?}");
            if made.is_err() {
                continue;
            }
            let tile = Array::of(&[own.len()], &data[own]);
            let found = run(&program, &[tile]).unwrap_or_else(|f| panic!("{f}\n{program}"));
            let sum = |row: &usize| Scalar::of(data[starts[0] + row] + data[starts[1] + row]);
            let expected: Vec<Scalar> = rows[0].iter().map(sum).collect();
            assert_eq!(found[0].data, expected, "{rank} of {ranks}\n{text}{program}");
            added += expected.len();
        }
    });
    assert!(enough(added, 400), "too few rows were added: {added}");
}
