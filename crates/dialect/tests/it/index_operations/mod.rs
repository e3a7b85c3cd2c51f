//! Index operations, halos and rearrangements of all members, read from the texts that passes
//! print, against lists of all elements.

mod exchanges;

use std::ops::Range;

use pantile_dialect::{Member, find};
use pantile_ir::reference::{Array, run};
use pantile_ir::text::parse;
use pantile_ir::{Op, Program};
use pantile_testkit::{Rng, cases};

fn passed(text: &str, passes: &[&str], member: &Member) -> Program {
    let mut program = parse(text, "vector.dist").unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
    for name in passes {
        let pass = find(name).unwrap();
        pass.run(&mut program, member).unwrap_or_else(|error| panic!("{error}\n{text}"));
        pantile_ir::verify::verify(&program).unwrap_or_else(|f| panic!("{}\n{program}", f[0]));
    }
    // What is looked at is what was printed.
    parse(&program.to_string(), "printed.dist").unwrap_or_else(|f| panic!("{}\n{program}", f[0]))
}

/// The constants that values of the first function are.
fn constants(program: &Program, values: &[pantile_ir::Value]) -> Vec<i64> {
    let operations = &program.functions[0].body.operations;
    let number = |value| {
        let made = operations.iter().find(|operation| operation.results.contains(value));
        match made.map(|operation| &operation.op) {
            Some(Op::Constant(scalar)) => scalar.get::<i64>().unwrap(),
            _ => panic!("not a constant\n{program}"),
        }
    };
    values.iter().map(number).collect()
}

/// The numbers that a program of this operation returns once it is folded.
fn folded(numbers: &[usize], before: &str, operation: &str, results: usize) -> Vec<usize> {
    folded_for(&Member::default(), numbers, before, operation, results)
}

fn folded_for(
    member: &Member,
    numbers: &[usize],
    before: &str,
    operation: &str,
    results: usize,
) -> Vec<usize> {
    let types = vec!["index"; results].join(", ");
    let mut text = format!("func.func @main() -> ({types}) {{\n");
    for (at, number) in numbers.iter().enumerate() {
        text += &format!("  %c{at} = arith.constant {number} : index\n");
    }
    let values: Vec<String> = (0..results).map(|number| format!("%r#{number}")).collect();
    text += &format!("  {before}\n  %r:{results} = {operation}\n  return ");
    text += &format!("{} : {types}\n}}\n", values.join(", "));
    let program = passed(&text, &["fold", "cse", "dce"], member);
    let end = program.functions[0].body.operations.last().unwrap();
    constants(&program, &end.operands).into_iter().map(|n| usize::try_from(n).unwrap()).collect()
}

/// Who owns what: every element goes to somebody, the last ones get one more.
fn owners(length: usize, ranks: usize) -> Vec<Range<usize>> {
    let mut sizes = vec![0; ranks];
    for element in 0..length {
        sizes[ranks - 1 - element % ranks] += 1;
    }
    let mut start = 0;
    sizes
        .into_iter()
        .map(|size| {
            start += size;
            start - size..start
        })
        .collect()
}

fn spread(shape: &[usize], element: &str) -> String {
    let dims: String = shape.iter().map(|length| format!("{length}x")).collect();
    format!("!ndarray.ndarray<{dims}{element}, #dist.dist_env<team = 22>>")
}

fn parted(length: usize, loffs: usize, parts: [usize; 3]) -> String {
    let [left, owned, right] = parts;
    format!(
        "!ndarray.ndarray<{length}xi64, #dist.dist_env<team = 22 loffs = {loffs} lparts = {left},{owned},{right}>>"
    )
}

/// A slice that stays within a length: offset, size, stride.
fn slice(rng: &mut Rng, length: usize) -> [usize; 3] {
    let stride = 1 + rng.below(4);
    let size = rng.below(length / stride + 1);
    let room = if size == 0 { length } else { length - ((size - 1) * stride + 1) };
    [rng.below(room + 1), size, stride]
}

fn elements([offset, size, stride]: [usize; 3]) -> Vec<usize> {
    (0..size).map(|k| offset + k * stride).collect()
}

fn hull(of: &[usize]) -> Option<(usize, usize)> {
    let (first, last) = (of.iter().min()?, of.iter().max()?);
    Some((*first, last - first + 1))
}

#[test]
fn default_partitions_and_targets() {
    cases("default_partitions_and_targets", 150, |rng| {
        let (length, ranks) = (rng.below(40), 1 + rng.below(12));
        let given = slice(rng, length);
        for (rank, own) in owners(length, ranks).into_iter().enumerate() {
            let member = Member::new(ranks, rank);
            let team = "%n = \"distruntime.team_size\"() <{team = 22}> : () -> index\n  %m = \"distruntime.team_member\"() <{team = 22}> : () -> index";
            let operation = "\"dist.default_partition\"(%n, %m, %c0, %c1) : (index, index, index, index) -> (index, index, index, index)";
            let found = folded_for(&member, &[length, 7], team, operation, 4);
            assert_eq!(found, [own.start, 0, own.len(), 7], "{length} over {ranks}, {rank}");
            let ty = spread(&[length], "i64");
            let made = format!("%a = ndarray.create : () -> {ty}");
            let operation =
                format!("dist.local_target_of_slice %a[%c0] [%c1] [%c2] : {ty} to index, index");
            let found = folded_for(&member, &given, &made, &operation, 2);
            let before = elements(given).iter().filter(|at| **at < own.start).count();
            let count = elements(given).iter().filter(|at| own.contains(at)).count();
            assert_eq!(found, [before, count], "{given:?} of {length} over {ranks}, {rank}");
        }
    });
}

#[test]
fn v22_where_slices_of_1024_lie() {
    let check = |given: [usize; 3], ends: [usize; 5]| {
        for rank in 0..4 {
            let ty = spread(&[1024], "i64");
            let made = format!("%a = ndarray.create : () -> {ty}");
            let operation =
                format!("dist.local_target_of_slice %a[%c0] [%c1] [%c2] : {ty} to index, index");
            let found = folded_for(&Member::new(4, rank), &given, &made, &operation, 2);
            assert_eq!(found, [ends[rank], ends[rank + 1] - ends[rank]], "{given:?} {rank}");
        }
    };
    check([1, 4, 256], [0, 1, 2, 3, 4]);
    check([0, 3, 3], [0, 3, 3, 3, 3]);
    check([511, 3, 1], [0, 0, 1, 3, 3]);
    check([1000, 3, 1], [0, 0, 0, 0, 3]);
    check([255, 3, 257], [0, 1, 1, 2, 3]);
    check([100, 600, 1], [0, 156, 412, 600, 600]);
}

#[test]
fn bounding_boxes() {
    cases("bounding_boxes", 300, |rng| {
        let length = 1 + rng.below(30);
        let view = slice(rng, length);
        let to = rng.below(view[1] + 1);
        let ts = if view[1] > to { rng.below(view[1] - to + 3) } else { 0 };
        let before = [rng.below(20), rng.below(6)];
        let numbers = [view[0], view[1], view[2], to, ts, before[0], before[1]];
        let needed: Vec<usize> = elements(view).into_iter().skip(to).take(ts).collect();
        let boxed = "dist.local_bounding_box false[%c0] [%c1] [%c2] [%c3] [%c4]";
        let found = folded(&numbers, "", &format!("{boxed} : index, index"), 2);
        match hull(&needed) {
            Some((first, size)) => assert_eq!(found, [first, size], "{numbers:?}"),
            None => assert_eq!(found, [view[0] + to * view[2], 0], "{numbers:?}"),
        }
        let boxed = format!("{boxed} bboffs %c5 bb_sizes %c6 : index, index");
        let found = folded(&numbers, "", &boxed, 2);
        let all: Vec<usize> = needed.into_iter().chain(before[0]..before[0] + before[1]).collect();
        if let Some((first, size)) = hull(&all) {
            assert_eq!(found, [first, size], "{numbers:?}");
        }
    });
}

#[test]
fn cores() {
    cases("cores", 300, |rng| {
        let start = rng.below(12);
        let own = start..start + rng.below(16 - start + 1);
        let given = slice(rng, 16);
        let to = rng.below(given[1] + 1);
        let ts = rng.below(given[1] - to + 1);
        let first = rng.below(ts + 1);
        let core = [first, rng.below(ts - first + 1)];
        let mine = |j: &usize| own.contains(&elements(given)[to + j]);
        for chained in [false, true] {
            let inside = |j: &usize| !chained || (core[0]..core[0] + core[1]).contains(j);
            let expected: Vec<usize> = (0..ts).filter(mine).filter(inside).collect();
            let ty = parted(16, own.start, [0, own.len(), 0]);
            let numbers = [to, ts, given[0], given[1], given[2], core[0], core[1]];
            let previous = if chained { " coffs %c5 csizes %c6" } else { "" };
            let found = folded(
                &numbers,
                &format!("%a = ndarray.create : () -> {ty}"),
                &format!(
                    "dist.local_core %a toffs %c0 tsizes %c1 soffs %c2 ssizes %c3 sstrides %c4{previous} : {ty} to index, index"
                ),
                2,
            );
            match hull(&expected) {
                Some((first, size)) => assert_eq!(found, [first, size], "{own:?} {numbers:?}"),
                None => assert!(found[1] == 0 && found[0] <= ts, "{own:?} {numbers:?} {found:?}"),
            }
        }
    });
}

/// Where the parts of the result of the last operation before the end lie, as its type says.
fn printed_parts(text: &str) -> (usize, [usize; 3]) {
    let program = passed(text, &["fold", "cse", "dce"], &Member::default());
    let line = program.to_string();
    let line = line.lines().rev().find(|line| line.contains(" = dist.")).unwrap().to_owned();
    let ty = line.rsplit(" to ").next().unwrap();
    let (loffs, parts) = ty.split_once("loffs = ").unwrap().1.split_once(" lparts = ").unwrap();
    let parts: Vec<usize> =
        parts.trim_end_matches('>').split(',').map(|n| n.parse().unwrap()).collect();
    (loffs.parse().unwrap(), parts.try_into().unwrap())
}

#[test]
fn repartitions_and_views() {
    cases("repartitions_and_views", 300, |rng| {
        let start = rng.below(16);
        let own = start..start + rng.below(17 - start);
        let first = rng.below(16);
        let asked = first..first + rng.below(17 - first);
        let to = "!ndarray.ndarray<16xi64, #dist.dist_env<team = 22 loffs = ? lparts = ?,?,?>>";
        let from = parted(16, own.start, [0, own.len(), 0]);
        let text = format!(
            "func.func @main(%a: {from}) -> {to} {{\n  %o = arith.constant {} : index\n  %s = arith.constant {} : index\n  %b = dist.repartition %a loffs %o lsizes %s : {from}, index, index to {to}\n  return %b : {to}\n}}\n",
            asked.start,
            asked.len()
        );
        let below = asked.clone().filter(|row| *row < own.start).count();
        let above = asked.clone().filter(|row| *row >= own.end).count();
        let expected = (asked.start, [below, asked.len() - below - above, above]);
        assert_eq!(printed_parts(&text), expected, "{own:?} {asked:?}");

        let parts = [rng.below(3), rng.below(5), rng.below(3)];
        let loffs = rng.below(17 - parts.iter().sum::<usize>());
        let given = slice(rng, 16);
        let target = rng.below(given[1] + 1);
        let target = target..target + rng.below(given[1] - target + 1);
        let targeted = rng.chance(1, 2);
        let shown = if targeted { target.clone() } else { 0..given[1] };
        let mut ends = [loffs; 4];
        for part in 0..3 {
            ends[part + 1] = ends[part] + parts[part];
        }
        let cells = &elements(given)[shown.clone()];
        let inside = |part: usize| {
            cells.iter().filter(|cell| (ends[part]..ends[part + 1]).contains(cell)).count()
        };
        let before = cells.iter().filter(|cell| **cell < loffs).count();
        let from = parted(16, loffs, parts);
        let to = to.replace("<16x", &format!("<{}x", given[1]));
        let clause = if targeted { " toffs %o tsizes %s" } else { "" };
        let text = format!(
            "func.func @main(%a: {from}) -> {to} {{\n  %o = arith.constant {} : index\n  %s = arith.constant {} : index\n  %b = dist.subview %a[{}] [{}] [{}]{clause} : {from} to {to}\n  return %b : {to}\n}}\n",
            target.start,
            target.len(),
            given[0],
            given[1],
            given[2]
        );
        let expected = (shown.start + before, [inside(0), inside(1), inside(2)]);
        assert_eq!(printed_parts(&text), expected, "{loffs} {parts:?} {given:?} {shown:?}");
    });
}

/// First row and rows of each sum of two arrays with these parts, in the order of the program.
fn segments(
    lhs: [usize; 3],
    rhs: Option<[usize; 3]>,
    core: Option<(usize, usize)>,
) -> Vec<(usize, usize)> {
    let rows: usize = lhs.iter().sum();
    let x = parted(1000, 7, lhs);
    let y = rhs.map_or_else(|| spread(&[], "i64"), |rhs| parted(1000, 7, rhs));
    let z = "!ndarray.ndarray<1000xi64, #dist.dist_env<team = 22 loffs = ? lparts = ?,?,?>>";
    let (mut numbers, mut values, mut types) = (String::new(), "%x, %y".to_owned(), String::new());
    if let Some((first, size)) = core {
        numbers = [first, size, 7]
            .iter()
            .enumerate()
            .map(|(at, n)| format!("  %c{at} = arith.constant {n} : index\n"))
            .collect();
        values += ", %c0, %c1, %c2";
        types = ", index, index, index".to_owned();
    }
    let text = format!(
        "func.func @main(%x: {x}, %y: {y}) -> {z} {{\n{numbers}  %s = \"dist.ewbin\"({values}) <{{op = 0 : i32}}> : ({x}, {y}{types}) -> {z}\n  return %s : {z}\n}}\n"
    );
    let program = passed(&text, &["member"], &Member::new(3, 1));
    let body = &program.functions[0].body;
    let sums = body.operations.iter().filter(|operation| matches!(operation.op, Op::Binary(_)));
    let place = |value| {
        let wrote = body.operations.iter().find_map(|operation| match &operation.op {
            Op::InsertSlice(slice) if operation.operands[0] == value => Some(slice.offsets[0]),
            _ => None,
        });
        match wrote {
            Some(pantile_ir::Index::Known(row)) => usize::try_from(row).unwrap(),
            _ => 0,
        }
    };
    let found: Vec<(usize, usize)> = sums
        .map(|sum| {
            let count = program.functions[0].ty(sum.results[0]).shape()[0].unwrap();
            (place(sum.results[0]), count)
        })
        .collect();
    assert_eq!(found.iter().map(|(_, count)| count).sum::<usize>(), rows, "{program}");
    found
}

#[test]
fn v13_sums_are_cut_where_parts_end() {
    assert_eq!(segments([0, 4, 0], Some([0, 4, 0]), None), [(0, 4)]);
    let found = segments([1, 4, 1], Some([0, 4, 2]), None);
    assert_eq!(found, [(0, 1), (1, 3), (4, 1), (5, 1)]);
    assert_eq!(segments([2, 3, 0], None, None), [(0, 2), (2, 3)]);
    let found = segments([2, 167, 2], Some([0, 169, 2]), Some((2, 167)));
    assert_eq!(found, [(2, 167), (0, 2), (169, 2)]);
    assert_eq!(segments([0, 5, 0], Some([3, 2, 0]), None), [(0, 3), (3, 2)]);
    cases("v13_sums_are_cut_where_parts_end", 150, |rng| {
        let lhs = [rng.below(4), rng.below(6), rng.below(4)];
        let rows: usize = lhs.iter().sum();
        let left = rng.below(rows + 1);
        let rhs = [left, rng.below(rows - left + 1), 0];
        let rhs = [rhs[0], rhs[1], rows - rhs[0] - rhs[1]];
        // A core lies in the owned part of both.
        let low = lhs[0].max(rhs[0]);
        let high = (lhs[0] + lhs[1]).min(rhs[0] + rhs[1]).max(low);
        let core = rng.chance(1, 2).then_some((low, high - low));
        let found = segments(lhs, Some(rhs), core);
        let part = |parts: [usize; 3], row: usize| {
            usize::from(row >= parts[0]) + usize::from(row >= parts[0] + parts[1])
        };
        let mut done = vec![false; rows];
        for (number, (first, count)) in found.iter().enumerate() {
            for (row, done) in done.iter_mut().enumerate().skip(*first).take(*count) {
                assert!(!std::mem::replace(done, true), "{row} twice");
                assert_eq!(part(lhs, row), part(lhs, *first), "{lhs:?} {rhs:?} {found:?}");
                assert_eq!(part(rhs, row), part(rhs, *first), "{lhs:?} {rhs:?} {found:?}");
            }
            if let Some((start, size)) = core.filter(|(_, size)| *size > 0) {
                assert_eq!(number == 0, (*first, *count) == (start, size), "{found:?} {core:?}");
            }
        }
        assert!(done.iter().all(|done| *done));
    });
}

#[test]
fn v14_members_make_their_part_of_the_sequence() {
    let check = |start: f64, stop: f64, count: usize, endpoint: bool, ranks: usize| {
        let ty = spread(&[count], "f64");
        let text = |ty: &str| {
            format!(
                "func.func @main() -> {ty} {{\n  %a = arith.constant {start:?} : f64\n  %b = arith.constant {stop:?} : f64\n  %n = arith.constant {count} : index\n  %x = ndarray.linspace %a %b %n {endpoint} : (f64, f64, index) -> {ty}\n  return %x : {ty}\n}}\n"
            )
        };
        let local = text(&format!("!ndarray.ndarray<{count}xf64>"));
        let whole = run(&parse(&local, "whole.dist").unwrap(), &[]).unwrap().remove(0);
        let mut all = Vec::new();
        for (rank, own) in owners(count, ranks).into_iter().enumerate() {
            let program = passed(&text(&ty), &["member"], &Member::new(ranks, rank));
            let part = run(&program, &[]).unwrap().remove(0);
            assert_eq!(part.shape, [own.len()], "{count} over {ranks}, {rank}");
            all.extend(part.data);
        }
        assert_eq!(all, whole.data, "bit for bit");
        whole.to_vec::<f64>().unwrap()
    };
    let ten: Vec<f64> = (0..10).map(f64::from).collect();
    assert_eq!(check(0.0, 10.0, 10, false, 4), ten);
    assert_eq!(check(0.0, 4.0, 9, true, 3)[6..], [3.0, 3.5, 4.0]);
    assert_eq!(check(0.0, 1.0, 3, false, 5)[1], 1.0 / 3.0);
    assert_eq!(check(10.0, 0.0, 5, false, 2), [10.0, 8.0, 6.0, 4.0, 2.0]);
    check(0.1, 0.7, 17, true, 6);
    check(-1.0, 1.0, 1, false, 3);
}

#[test]
fn v15_every_place_is_written_by_its_owner() {
    cases("v15_every_place_is_written_by_its_owner", 100, |rng| {
        let (length, ranks) = (1 + rng.below(20), 1 + rng.below(8));
        let given = slice(rng, length);
        let ty = spread(&[length], "i64");
        let text = format!(
            "func.func @main(%a: {ty}, %k: i64) -> {ty} {{\n  ndarray.insert_slice %k into %a[{}] [{}] [{}] : i64 into {ty}\n  return %a : {ty}\n}}\n",
            given[0], given[1], given[2]
        );
        for (rank, own) in owners(length, ranks).into_iter().enumerate() {
            let program = passed(&text, &["distribute", "member"], &Member::new(ranks, rank));
            let before = Array::of(&[own.len()], &vec![0_i64; own.len()]);
            let found = run(&program, &[before, Array::of(&[], &[1_i64])]).unwrap();
            let expected: Vec<i64> =
                own.clone().map(|at| i64::from(elements(given).contains(&at))).collect();
            assert_eq!(found[0].to_vec::<i64>().unwrap(), expected, "{given:?} {length} {rank}");
        }
    });
}

/// What a function of constants is once it is folded: of scalars, and of arrays.
fn constant_of(operation: &str, id: i64, of: &[f64], ty: &str) -> f64 {
    let mut answers = Vec::new();
    for wrapped in [false, true] {
        let shown = if wrapped { format!("!ndarray.ndarray<2x{ty}>") } else { ty.to_owned() };
        let mut text = format!("func.func @main() -> {shown} {{\n");
        let mut names = Vec::new();
        for (at, number) in of.iter().enumerate() {
            let number = if ty == "i64" { format!("{number}") } else { format!("{number:?}") };
            text += &format!("  %c{at} = arith.constant {number} : {ty}\n");
            names.push(format!("%c{at}"));
            if wrapped {
                text += &format!("  %a{at} = ndarray.create value %c{at} : ({ty}) -> {shown}\n");
                names[at] = format!("%a{at}");
            }
        }
        let types = vec![shown.clone(); of.len()].join(", ");
        let types = if of.len() == 1 { types } else { format!("({types})") };
        text += &format!(
            "  %r = ndarray.{operation} {} {{op = {id} : i32}} : {types} -> {shown}\n  return %r : {shown}\n}}\n",
            names.join(", ")
        );
        let program = passed(&text, &["fold", "dce"], &Member::default());
        let Some(Op::Constant(scalar)) =
            program.functions[0].body.operations.first().map(|o| &o.op)
        else {
            panic!("not folded:\n{program}");
        };
        let left = program.functions[0].body.operations.len();
        assert_eq!(left, if wrapped { 3 } else { 2 }, "{program}");
        // The same as the program says.
        let meant = run(&parse(&text, "meant.dist").unwrap(), &[]).unwrap();
        assert_eq!(meant[0].data[0], *scalar, "{program}");
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let whole = scalar.get::<i64>().map(|n| n as f64);
        answers.push(whole.or_else(|| scalar.get::<f64>()).unwrap());
    }
    assert_eq!(answers[0].to_bits(), answers[1].to_bits());
    answers[0]
}

#[test]
fn v16_functions_of_constants() {
    let whole = [(0, 16), (2, 1), (4, 15), (6, 14), (8, 4), (18, 13), (19, 3), (20, 1), (21, 39)];
    for (id, expected) in whole.into_iter().chain([(23, 2197), (24, 10), (25, 4)]) {
        let found = constant_of("ewbin", id, &[13.0, 3.0], "i64");
        assert_eq!(found, f64::from(expected), "{id}");
    }
    let close = |found: f64, expected: f64, id| {
        assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{id}: {found} {expected}");
    };
    let real = [
        (0, 15.3),
        (1, 1.40441),
        (18, 13.1),
        (19, 2.2),
        (20, 2.1),
        (21, 28.82),
        (23, 287.076),
        (24, 10.9),
        (25, 5.95455),
    ];
    for (id, expected) in real {
        close(constant_of("ewbin", id, &[13.1, 2.2], "f64"), expected, id);
    }
    let one = [
        (5, 1.14417),
        (7, 3.0),
        (8, -0.588501),
        (10, 0.998137),
        (11, 9.02501),
        (12, 8.02501),
        (13, 2.0),
        (17, 0.788457),
        (18, 1.16315),
        (19, 1.1375),
        (20, 0.342423),
        (21, 2.0),
        (23, 0.808496),
        (25, 4.84),
        (26, 1.48324),
        (27, -1.37382),
        (28, 0.975743),
        (29, 2.0),
        (30, -2.2),
        (31, 2.2),
    ];
    for (id, expected) in one {
        close(constant_of("ewuny", id, &[2.2], "f64"), expected, id);
    }
    close(constant_of("ewuny", 0, &[-2.2], "f64"), 2.2, 0);
}

/// What `arith` makes of two constants: folded, and as the naive evaluator has it.
fn whole(name: &str, one: i64, other: i64, ty: &str) -> i64 {
    let text = format!(
        "func.func @main() -> {ty} {{\n  %a = arith.constant {one} : {ty}\n  %b = arith.constant {other} : {ty}\n  %c = arith.{name} %a, %b : {ty}\n  return %c : {ty}\n}}\n"
    );
    let meant = run(&parse(&text, "").unwrap(), &[]).unwrap().remove(0).data[0];
    let program = passed(&text, &["fold"], &Member::default());
    let folded = program.functions[0].body.operations.iter().rev().find_map(|operation| {
        match &operation.op {
            Op::Constant(scalar) => Some(*scalar),
            _ => None,
        }
    });
    assert!(!program.to_string().contains("%c = arith.div"), "{program}");
    assert_eq!(folded, Some(meant), "{name} {one} {other}\n{program}");
    meant.get::<i64>().or(meant.get::<i32>().map(i64::from)).unwrap()
}

#[test]
fn bits_may_be_taken_for_unsigned_numbers() {
    assert_eq!(whole("divui", -1, 2, "index"), i64::MAX);
    assert_eq!(whole("divsi", -1, 2, "index"), 0);
    assert_eq!(whole("divui", 17, 5, "index"), 3);
    assert_eq!(whole("ceildivui", 17, 5, "index"), 4);
    assert_eq!(whole("ceildivui", -2, i64::MAX, "i64"), 2);
    assert_eq!(whole("remui", 17, 5, "index"), 2);
    assert_eq!(whole("remui", -1, 10, "i32"), 5);
    assert_eq!(whole("minui", -1, 3, "index"), 3);
    assert_eq!(whole("maxui", -1, 3, "index"), -1);
    assert_eq!(whole("shli", 3, 4, "index"), 48);
    assert_eq!(whole("shrsi", -16, 2, "index"), -4);
    assert_eq!(whole("shrui", -16, 28, "i32"), 15);
}
