//! The index operations of the dist dialect, folded in texts: known results.

use pantile_dialect::{Member, MemberError, PassError, find};
use pantile_ir::text::parse;
use pantile_ir::{Op, Program, Reduction};

fn folded(text: &str, member: &Member) -> Program {
    let mut program = parse(text, "vector.dist").unwrap_or_else(|faults| panic!("{}", faults[0]));
    for pass in ["fold", "cse", "dce"] {
        find(pass).unwrap().run(&mut program, member).unwrap();
        pantile_ir::verify::verify(&program).unwrap_or_else(|f| panic!("{}\n{program}", f[0]));
    }
    program
}

/// The constants that a program returns.
fn returned(text: &str, member: &Member) -> Vec<i64> {
    let program = folded(text, member);
    let body = &program.functions[0].body;
    let constant = |value| {
        let made = body.operations.iter().find(|operation| operation.results.contains(value));
        match made.map(|operation| &operation.op) {
            Some(Op::Constant(scalar)) => scalar.get::<i64>().unwrap(),
            _ => panic!("not folded:\n{program}"),
        }
    };
    body.operations.last().unwrap().operands.iter().map(constant).collect()
}

/// A function that returns the results `%r:n` of the operation after constants `%cN`.
fn program(numbers: &[i64], before: &str, operation: &str, results: usize) -> String {
    let mut text = "func.func @main() -> (".to_owned();
    text += &vec!["index"; results].join(", ");
    text += ") {\n";
    for (at, number) in numbers.iter().enumerate() {
        text += &format!("  %c{at} = arith.constant {number} : index\n");
    }
    let values: Vec<String> = (0..results).map(|number| format!("%r#{number}")).collect();
    text += &format!("  {before}\n  %r:{results} = {operation}\n");
    text + &format!("  return {} : {}\n}}\n", values.join(", "), vec!["index"; results].join(", "))
}

fn array(length: usize, loffs: usize, parts: [usize; 3]) -> String {
    let [left, owned, right] = parts;
    format!(
        "!ndarray.ndarray<{length}xf64, #dist.dist_env<team = 22 loffs = {loffs} lparts = {left},{owned},{right}>>"
    )
}

#[test]
fn v2_default_partition() {
    let check = |length: i64, ranks: usize, offsets: &[i64], sizes: &[i64]| {
        for rank in 0..ranks {
            let text = program(
                &[length],
                "%n = \"distruntime.team_size\"() <{team = 22}> : () -> index\n  %m = \"distruntime.team_member\"() <{team = 22}> : () -> index",
                "\"dist.default_partition\"(%n, %m, %c0) : (index, index, index) -> (index, index)",
                2,
            );
            let found = returned(&text, &Member::new(ranks, rank));
            assert_eq!(found, [offsets[rank], sizes[rank]], "{length} over {ranks}, {rank}");
        }
    };
    check(8, 4, &[0, 2, 4, 6], &[2, 2, 2, 2]);
    check(8, 3, &[0, 2, 5], &[2, 3, 3]);
    check(33, 4, &[0, 8, 16, 24], &[8, 8, 8, 9]);
    check(10, 4, &[0, 2, 4, 7], &[2, 2, 3, 3]);
    check(5, 3, &[0, 1, 3], &[1, 2, 2]);
    check(1, 4, &[0, 0, 0, 0], &[0, 0, 0, 1]);
    check(0, 3, &[0, 0, 0], &[0, 0, 0]);
    check(100, 7, &[0, 14, 28, 42, 56, 70, 85], &[14, 14, 14, 14, 14, 15, 15]);
    let text = program(
        &[2, 0, 1, 7],
        "",
        "\"dist.default_partition\"(%c0, %c1, %c2, %c3) : (index, index, index, index) -> (index, index, index, index)",
        4,
    );
    assert_eq!(returned(&text, &Member::default()), [0, 0, 0, 7]);
}

fn target(ty: &str, member: &Member, slice: (i64, i64, i64)) -> Vec<i64> {
    let text = program(
        &[slice.0, slice.1, slice.2, 16],
        &format!("%a = ndarray.create %c3 : (index) -> {ty}"),
        &format!("dist.local_target_of_slice %a[%c0] [%c1] [%c2] : {ty} to index, index"),
        2,
    );
    returned(&text, member)
}

#[test]
fn v3_local_target() {
    let check = |slice: (i64, i64, i64), expected: [(i64, i64); 4]| {
        for (rank, (offset, count)) in expected.into_iter().enumerate() {
            let plain = "!ndarray.ndarray<16xf64, #dist.dist_env<team = 22>>";
            let found = target(plain, &Member::new(4, rank), slice);
            assert_eq!(found, [offset, count], "{slice:?}, member {rank}");
            let found = target(&array(16, 4 * rank, [0, 4, 0]), &Member::default(), slice);
            assert_eq!(found, [offset, count], "{slice:?}, parts of {rank}");
        }
    };
    check((0, 16, 1), [(0, 4), (4, 4), (8, 4), (12, 4)]);
    check((3, 10, 1), [(0, 1), (1, 4), (5, 4), (9, 1)]);
    check((1, 5, 3), [(0, 1), (1, 2), (3, 1), (4, 1)]);
    check((7, 3, 3), [(0, 0), (0, 1), (1, 1), (2, 1)]);
    check((15, 1, 1), [(0, 0), (0, 0), (0, 0), (0, 1)]);
    check((0, 1, 1), [(0, 1), (1, 0), (1, 0), (1, 0)]);
    check((4, 0, 1), [(0, 0); 4]);
}

#[test]
fn v3b_two_axes() {
    let check = |o: [i64; 2], s: [i64; 2], t: [i64; 2], expected: [[i64; 4]; 3]| {
        for (rank, expected) in expected.into_iter().enumerate() {
            let ty = "!ndarray.ndarray<10x6xf64, #dist.dist_env<team = 22>>";
            let text = program(
                &[o[0], o[1], s[0], s[1], t[0], t[1]],
                &format!("%a = ndarray.create : () -> {ty}"),
                &format!(
                    "dist.local_target_of_slice %a[%c0, %c1] [%c2, %c3] [%c4, %c5] : {ty} to index, index, index, index"
                ),
                4,
            );
            assert_eq!(returned(&text, &Member::new(3, rank)), expected, "member {rank}");
        }
    };
    check([1, 1], [8, 4], [1, 1], [[0, 0, 2, 4], [2, 0, 3, 4], [5, 0, 3, 4]]);
    check([0, 0], [5, 3], [2, 2], [[0, 0, 2, 3], [2, 0, 1, 3], [3, 0, 2, 3]]);
}

#[test]
fn v4_targets_are_those_of_the_owned_part() {
    let check = |loffs, parts, slice, expected: [i64; 2]| {
        assert_eq!(target(&array(16, loffs, parts), &Member::default(), slice), expected);
    };
    check(3, [1, 4, 1], (3, 10, 1), [1, 4]);
    check(3, [1, 4, 1], (0, 8, 2), [2, 2]);
    check(0, [0, 4, 2], (3, 10, 1), [0, 1]);
}

fn bounds(view: (i64, i64, i64), target: (i64, i64), before: Option<(i64, i64)>) -> Vec<i64> {
    let mut numbers = vec![view.0, view.1, view.2, target.0, target.1];
    let mut previous = String::new();
    if let Some((offset, size)) = before {
        numbers.extend([offset, size]);
        previous = " bboffs %c5 bb_sizes %c6".to_owned();
    }
    let operation = format!(
        "dist.local_bounding_box false[%c0] [%c1] [%c2] [%c3] [%c4]{previous} : index, index"
    );
    returned(&program(&numbers, "", &operation, 2), &Member::default())
}

#[test]
fn v5_and_v6_bounding_boxes() {
    let one = |view: (i64, i64), target, before, expected: [i64; 2]| {
        assert_eq!(bounds((view.0, view.1, 1), target, before), expected, "{view:?} {target:?}");
    };
    one((0, 8), (4, 4), None, [4, 4]);
    one((1, 7), (4, 4), None, [5, 3]);
    one((1, 7), (0, 0), None, [1, 0]);
    one((1, 7), (2, 2), None, [3, 2]);
    one((1, 3), (0, 4), None, [1, 3]);
    one((1, 7), (4, 4), Some((4, 4)), [4, 4]);
    one((1, 3), (0, 4), Some((0, 5)), [0, 5]);
    one((1, 7), (2, 2), Some((1, 0)), [3, 2]);
    one((7, 8), (0, 1), Some((0, 5)), [0, 8]);
    let check = |view, target, before, expected: [i64; 2]| {
        assert_eq!(bounds(view, target, before), expected, "{view:?} {target:?}");
    };
    check((0, 8, 2), (4, 4), None, [8, 7]);
    check((1, 5, 3), (2, 2), None, [7, 4]);
    check((2, 4, 4), (0, 1), None, [2, 1]);
    check((2, 4, 4), (0, 0), Some((5, 3)), [5, 3]);
    check((0, 10, 1), (3, 4), Some((6, 2)), [3, 5]);
    check((3, 10, 1), (1, 4), Some((0, 3)), [0, 8]);
    check((0, 6, 1), (4, 5), None, [4, 2]);
}

#[test]
fn inner_boxes_fold_too() {
    let text = "dist.local_bounding_box true[%c0] [%c1] [%c2] [%c3] [%c4] bboffs %c5 bb_sizes %c6 : index, index";
    let found = |numbers: [i64; 7]| returned(&program(&numbers, "", text, 2), &Member::default());
    assert_eq!(found([0, 10, 1, 3, 4, 6, 2]), [6, 1]);
    assert_eq!(found([0, 10, 1, 3, 4, 8, 2]), [8, 0]);
}

#[test]
fn v8_cores() {
    let check = |owned: (usize, usize),
                 to: (i64, i64),
                 slice: (i64, i64, i64),
                 core: Option<(i64, i64)>,
                 expected: [i64; 2]| {
        let ty = array(16, owned.0, [0, owned.1, 0]);
        let mut numbers = vec![to.0, to.1, slice.0, slice.1, slice.2];
        let mut previous = String::new();
        if let Some((offset, size)) = core {
            numbers.extend([offset, size]);
            previous = " coffs %c5 csizes %c6".to_owned();
        }
        let text = program(
            &numbers,
            &format!("%a = ndarray.create : () -> {ty}"),
            &format!(
                "dist.local_core %a toffs %c0 tsizes %c1 soffs %c2 ssizes %c3 sstrides %c4{previous} : {ty} to index, index"
            ),
            2,
        );
        assert_eq!(returned(&text, &Member::default()), expected, "{owned:?} {to:?} {slice:?}");
    };
    check((4, 4), (0, 8), (0, 8, 1), None, [4, 4]);
    check((4, 4), (0, 8), (2, 8, 1), None, [2, 4]);
    check((4, 4), (1, 3), (1, 5, 3), None, [0, 2]);
    check((4, 4), (0, 8), (2, 8, 1), Some((3, 4)), [3, 3]);
    check((12, 4), (0, 4), (0, 8, 1), None, [4, 0]);
    check((6, 4), (4, 4), (2, 8, 1), Some((1, 2)), [1, 2]);
}

/// The printed text after `fold`, `cse` and `dce`.
fn text_of(text: &str) -> String {
    folded(text, &Member::default()).to_string()
}

#[test]
fn v7_repartitions_get_known_parts() {
    let check = |owned: (usize, usize), request: (i64, i64), parts: [usize; 3]| {
        let (from, to) = (
            array(512, owned.0, [0, owned.1, 0]),
            "!ndarray.ndarray<512xf64, #dist.dist_env<team = 22 loffs = ? lparts = ?,?,?>>",
        );
        let text = format!(
            "func.func @main(%a: {from}) -> {to} {{\n  %o = arith.constant {} : index\n  %s = arith.constant {} : index\n  %b = dist.repartition %a loffs %o lsizes %s : {from}, index, index to {to}\n  return %b : {to}\n}}\n",
            request.0, request.1
        );
        let [left, view, right] = parts;
        let wanted = format!("loffs = {} lparts = {left},{view},{right}", request.0);
        let found = text_of(&text);
        assert!(found.contains(&wanted), "expected {wanted} in\n{found}");
    };
    check((4, 4), (4, 4), [0, 4, 0]);
    check((4, 4), (3, 6), [1, 4, 1]);
    check((4, 4), (0, 4), [4, 0, 0]);
    check((4, 4), (8, 3), [0, 0, 3]);
    check((4, 4), (5, 2), [0, 2, 0]);
    check((4, 4), (0, 16), [4, 4, 8]);
    check((4, 0), (2, 5), [2, 0, 3]);
    check((4, 0), (1, 3), [3, 0, 0]);
    check((34, 34), (32, 38), [2, 34, 2]);
    check((170, 171), (168, 175), [2, 171, 2]);
}

#[test]
fn v7_columns_are_cropped_to_the_request() {
    let text = "!a = !ndarray.ndarray<4x4x4xf64, #dist.dist_env<team = 22 loffs = 1,1,1 lparts = 0x0x0,3x3x3,0x0x0>>
!d = !ndarray.ndarray<4x4x4xf64, #dist.dist_env<team = 22 loffs = ?,?,? lparts = ?x?x?,?x?x?,?x?x?>>
!l = !ndarray.ndarray<3x3x3xf64>
!p = !ndarray.ndarray<?x?x?xf64>
func.func @main(%a: !a, %l: !l, %n: index) -> (!d, !p, !p, !p, !p) {
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  %4 = arith.constant 4 : index
  %b = dist.repartition %a loffs %1, %1, %1 lsizes %2, %2, %2 : !a, index, index, index, index, index, index to !d
  %h:3 = \"distruntime.get_halo\"(%l, %4, %4, %4, %1, %1, %1, %1, %1, %1, %2, %2, %2) <{team = 22, key = -1 : i64}> : (!l, index, index, index, index, index, index, index, index, index, index, index, index) -> (!distruntime.asynchandle, !p, !p)
  \"distruntime.wait\"(%h#0) : (!distruntime.asynchandle) -> ()
  %g:3 = \"distruntime.get_halo\"(%l, %4, %4, %4, %1, %1, %1, %1, %1, %1, %n, %2, %2) <{team = 22, key = -1 : i64}> : (!l, index, index, index, index, index, index, index, index, index, index, index, index) -> (!distruntime.asynchandle, !p, !p)
  \"distruntime.wait\"(%g#0) : (!distruntime.asynchandle) -> ()
  return %b, %h#1, %h#2, %g#1, %g#2 : !d, !p, !p, !p, !p
}
";
    let found = text_of(text);
    assert!(found.contains("loffs = 1,1,1 lparts = 0x2x2,2x2x2,0x2x2>>"), "{found}");
    let halos = |rows: &str| {
        format!(
            "-> (!distruntime.asynchandle, !ndarray.ndarray<{rows}x2x2xf64>, !ndarray.ndarray<{rows}x2x2xf64>)"
        )
    };
    assert!(found.contains(&halos("0")), "{found}");
    // Rows that are not known leave the columns known.
    assert!(found.contains(&halos("?")), "{found}");
}

#[test]
fn v11_and_v12_views_get_known_parts() {
    type Slice = (i64, i64, i64);
    let check = |loffs,
                 parts,
                 slice: Slice,
                 target: Option<(i64, i64)>,
                 at: usize,
                 rows: [usize; 3]| {
        let from = array(16, loffs, parts);
        let to = format!(
            "!ndarray.ndarray<{}xf64, #dist.dist_env<team = 22 loffs = ? lparts = ?,?,?>>",
            slice.1
        );
        let (offset, size) = target.unwrap_or((0, 0));
        let clause = if target.is_some() { " toffs %o tsizes %s" } else { "" };
        let text = format!(
            "func.func @main(%a: {from}) -> {to} {{\n  %o = arith.constant {offset} : index\n  %s = arith.constant {size} : index\n  %b = dist.subview %a[{}] [{}] [{}]{clause} : {from} to {to}\n  return %b : {to}\n}}\n",
            slice.0, slice.1, slice.2
        );
        let [left, owned, right] = rows;
        let wanted = format!("loffs = {at} lparts = {left},{owned},{right}");
        let found = text_of(&text);
        assert!(found.contains(&wanted), "expected {wanted} in\n{found}");
    };
    let lit = (2, 8, 1);
    check(6, [0, 4, 0], lit, Some((4, 4)), 4, [0, 4, 0]);
    check(6, [0, 4, 0], lit, Some((6, 2)), 6, [0, 2, 0]);
    check(5, [1, 4, 0], lit, Some((4, 4)), 4, [0, 4, 0]);
    check(5, [1, 4, 0], lit, Some((6, 2)), 6, [0, 2, 0]);
    check(2, [1, 4, 1], lit, Some((4, 4)), 4, [0, 1, 1]);
    check(2, [1, 4, 1], lit, Some((6, 2)), 6, [0, 0, 0]);
    check(3, [0, 4, 1], lit, Some((4, 4)), 4, [0, 1, 1]);
    check(3, [0, 4, 1], lit, Some((5, 4)), 5, [0, 0, 1]);
    check(0, [0, 4, 0], (1, 5, 3), None, 0, [0, 1, 0]);
    check(4, [0, 4, 0], (1, 5, 3), None, 1, [0, 2, 0]);
    check(12, [0, 4, 0], (1, 5, 3), None, 4, [0, 1, 0]);
    check(2, [2, 4, 3], (0, 8, 2), Some((2, 2)), 2, [0, 2, 0]);
    check(3, [1, 4, 2], (2, 12, 1), Some((1, 7)), 1, [1, 4, 2]);
    check(5, [0, 3, 0], (0, 3, 5), None, 1, [0, 1, 0]);
}

#[test]
fn passes_have_names_of_their_own_and_members_are_of_their_team() {
    let names: Vec<&str> = pantile_dialect::all().iter().map(|pass| pass.name).collect();
    for (number, name) in names.iter().enumerate() {
        assert_eq!(names.iter().position(|other| other == name), Some(number));
        assert_eq!(find(name).unwrap().name, *name);
        let error = find(name).unwrap().run(&mut Program::default(), &Member::new(3, 3));
        let error = error.unwrap_err();
        assert_eq!(error, PassError::NoSuchMember { rank: 3, ranks: 3 });
        assert_eq!(error.to_string(), "got member 3 of a team of 3, expected one below that");
    }
    assert!(find("nothing").is_none());
}

/// The operations of a member, as text, after these passes.
fn of_member(text: &str, passes: &[&str], member: &Member) -> Vec<String> {
    let mut program = parse(text, "vector.dist").unwrap_or_else(|faults| panic!("{}", faults[0]));
    for pass in passes {
        find(pass).unwrap().run(&mut program, member).unwrap_or_else(|error| panic!("{error}"));
        pantile_ir::verify::verify(&program).unwrap_or_else(|f| panic!("{}\n{program}", f[0]));
    }
    program.to_string().lines().map(|line| line.trim().to_owned()).collect()
}

const ALL: [&str; 5] = ["distribute", "coalesce", "cores", "member", "overlap"];

/// `to[target] = sum of of[view]` for views of the same sizes, in one axis of 508 columns or none.
fn sum_of_views(length: usize, size: usize, views: &[usize], target: (usize, usize)) -> String {
    let ty = |n: usize| format!("!ndarray.ndarray<{n}xi64, #dist.dist_env<team = 22>>");
    let (a, v) = (ty(length), ty(size));
    let mut text = format!("func.func @main(%a: {a}) -> {a} {{\n");
    for (number, offset) in views.iter().enumerate() {
        text += &format!("  %v{number} = ndarray.subview %a[{offset}] [{size}] [1] : {a} to {v}\n");
    }
    for number in 1..views.len() {
        let before = if number == 1 { "%v0".to_owned() } else { format!("%s{}", number - 1) };
        text += &format!(
            "  %s{number} = ndarray.ewbin {before}, %v{number} {{op = 0 : i32}} : ({v}, {v}) -> {v}\n"
        );
    }
    let (offset, stride) = target;
    let last = views.len() - 1;
    text + &format!(
        "  ndarray.insert_slice %s{last} into %a[{offset}] [{size}] [{stride}] : {v} into {a}\n  return %a : {a}\n}}\n"
    )
}

fn added(lines: &[String]) -> Vec<&str> {
    let adds = lines.iter().filter(|line| line.contains("ndarray.ewbin"));
    adds.map(|line| line.rsplit("-> ").next().unwrap()).collect()
}

#[test]
fn v9_the_core_of_a_star_comes_first() {
    // The rows of the radius-2 star: views at 2, 0, 1, 3, 4 of 512 rows.
    let text = sum_of_views(512, 508, &[2, 0, 4], (2, 1));
    let lines = of_member(&text, &ALL, &Member::new(3, 1));
    let rows = |n: usize| format!("!ndarray.ndarray<{n}xi64>");
    let wait = lines.iter().position(|line| line.contains("distruntime.wait")).unwrap();
    // The last two rows of the first sum are owned as well.
    assert_eq!(added(&lines[..wait]), [rows(167), rows(2), rows(167)]);
    assert_eq!(added(&lines[wait..]), [rows(2), rows(2), rows(2)]);
    let halo = lines.iter().find(|line| line.contains("get_halo")).unwrap();
    assert!(halo.ends_with("!ndarray.ndarray<2xi64>, !ndarray.ndarray<2xi64>)"), "{halo}");
    // Member 0 has no left halo, and a core of 166 rows.
    let lines = of_member(&text, &ALL, &Member::new(3, 0));
    let wait = lines.iter().position(|line| line.contains("distruntime.wait")).unwrap();
    assert_eq!(added(&lines[..wait]), [rows(166), rows(2), rows(166)]);
    assert_eq!(added(&lines[wait..]), [rows(2)]);
}

#[test]
fn v15_inserts_go_to_owned_rows() {
    let a = "!ndarray.ndarray<16xi64, #dist.dist_env<team = 22>>";
    let check = |slice: (usize, usize, usize), expected: [Option<(usize, usize)>; 4]| {
        let (offset, size, stride) = slice;
        let text = format!(
            "func.func @main(%a: {a}, %k: i64) -> {a} {{\n  ndarray.insert_slice %k into %a[{offset}] [{size}] [{stride}] : i64 into {a}\n  return %a : {a}\n}}\n"
        );
        for (rank, expected) in expected.into_iter().enumerate() {
            let lines = of_member(&text, &["distribute", "member"], &Member::new(4, rank));
            let found = lines.iter().find(|line| line.contains("insert_slice"));
            match expected {
                None => assert!(found.is_none(), "member {rank}: {found:?}"),
                Some((first, count)) => {
                    let wanted = format!("[{first}] [{count}] [{stride}]");
                    assert!(found.is_some_and(|line| line.contains(&wanted)), "{rank}: {found:?}");
                }
            }
        }
    };
    check((7, 3, 3), [None, Some((3, 1)), Some((2, 1)), Some((1, 1))]);
    check((3, 10, 1), [Some((3, 1)), Some((0, 4)), Some((0, 4)), Some((0, 1))]);
}

#[test]
fn what_has_no_form_for_one_member_is_refused() {
    let text = "!a = !ndarray.ndarray<4xf64, #dist.dist_env<team = 1>>
func.func @main(%a: !a) -> !a {
  %x = ndarray.stencil %a {points = [[0]], weights = [0.5], boundary = \"periodic\"} : !a -> !a
  return %x : !a
}";
    let program = parse(text, "points.dist").unwrap();
    for name in ["member", "print-member"] {
        let error = find(name).unwrap().run(&mut program.clone(), &Member::default());
        let error = error.unwrap_err();
        assert!(matches!(error, PassError::NeedsMember { pass } if pass == name), "{error:?}");
        let sentence =
            "is done for one member: expected the number of ranks (`-n`) and a rank (`--rank`)";
        assert_eq!(error.to_string(), format!("{name} {sentence}"));
    }
    let mut changed = program.clone();
    let error = find("member").unwrap().run(&mut changed, &Member::new(2, 0)).unwrap_err();
    assert!(matches!(&error, PassError::NotCovered { op: "ndarray.stencil", .. }), "{error:?}");
    let start = "points.dist:3:8: member of `ndarray.stencil`: got a distributed array";
    assert!(error.to_string().starts_with(start), "{error}");
    assert_eq!(changed.to_string(), program.to_string(), "it is left as it was");
}

#[test]
fn refusals_say_what_and_where() {
    let check = |body: &str, expected: MemberError| {
        let text = format!(
            "!a = !ndarray.ndarray<4x2xf64, #dist.dist_env<team = 1>>
!v = !ndarray.ndarray<3x2xf64, #dist.dist_env<team = 1>>
!z = !ndarray.ndarray<4xcomplex<f64>, #dist.dist_env<team = 1>>
!e = !ndarray.ndarray<0x2xf64, #dist.dist_env<team = 1>>
!s = !ndarray.ndarray<f64, #dist.dist_env<team = 1>>
func.func @main(%a: !a, %z: !z, %e: !e, %l: !ndarray.ndarray<4x2xf64>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  {body}
  return
}}
"
        );
        let mut program = parse(&text, "no.dist").unwrap_or_else(|f| panic!("{}", f[0]));
        let error = find("member").unwrap().run(&mut program, &Member::new(3, 2)).unwrap_err();
        let PassError::NotCovered { reason, place, .. } = error else { panic!("{body}: {error}") };
        assert_eq!((*reason, place.line), (expected, 9), "{body}");
    };
    check("%x = ndarray.load %a[%c9, %c0] : !a", MemberError::Row { row: 9, length: 4 });
    check("%x = ndarray.load %z[%c0] : !z", MemberError::Complex);
    check(
        "%x = ndarray.reduction %e {op = \"max\"} : !e -> !s",
        MemberError::Empty(Reduction::Max),
    );
    check(
        "%x = ndarray.ewbin %a, %l {op = \"add\"} : (!a, !ndarray.ndarray<4x2xf64>) -> !a",
        MemberError::LocalOperand,
    );
    check("%x = ndarray.subview %a[%n, 0] [3, 2] [1, 1] : !a to !v", MemberError::UnknownSlice);
    check(
        "ndarray.insert_slice %n into %a[%n, 0] [3, 2] [1, 1] : index into !a",
        MemberError::UnknownSlice,
    );
    check(
        "%r = dist.repartition %a loffs %n, %c0 lsizes %c0, %c0 : !a, index, index, index, index to !a",
        MemberError::UnknownRequest,
    );
    check(
        "%t:4 = dist.local_target_of_slice %a[%n, %c0] [%c0, %c0] [%c9, %c9] : !a to index, index, index, index",
        MemberError::UnknownNumbers,
    );
}
