//! Each operation of the dialect alone: known and open lengths, members without rows, every type.

use std::collections::BTreeMap;

use pantile_engine::Tile;
use pantile_ir::reference::{Array, cast};
use pantile_ir::text::parse;
use pantile_lanes::{DType, Scalar};
use pantile_member::{LocalArray, MemberSetting, MemberValue, MemberWay, argument, execute};

use crate::common::{check_tile, compare, on_ranks, owned_tile, random_array};

fn element(dtype: DType) -> String {
    pantile_ir::Type::scalar(dtype).to_string()
}

/// 0, 1, 2, ... in a type.
fn counted(dtype: DType, shape: &[usize]) -> Array {
    let count = shape.iter().product::<usize>();
    let one = |number: usize| cast(Scalar::of(i64::try_from(number % 120).unwrap()), dtype);
    Array { dtype, shape: shape.to_vec(), data: (0..count).map(one).collect() }
}

/// What the members of a program get: its text, and the rank's elements of one array.
fn run_text(
    text: &(impl Fn(usize) -> String + Sync),
    array: &Array,
    ranks: usize,
) -> Vec<Result<Vec<MemberText>, String>> {
    on_ranks(ranks, |engine| {
        let rank = engine.rank();
        let text = text(rank);
        let program = parse(&text, "one.dist").unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
        let tile = owned_tile(array, &rows_home(&array.shape, ranks), rank);
        let entry = program.entry().unwrap();
        let mut given = Vec::new();
        if let Some(value) = entry.body.arguments.first() {
            given.push(match entry.ty(*value) {
                ty if ty.as_array().is_some_and(|array| array.dist_env().is_some()) => {
                    argument(ty, &tile, &MemberSetting::default(), (ranks, rank))?
                }
                _ => {
                    let rows = tile.len() * array.shape[0].max(1)
                        / array.shape.iter().product::<usize>().max(1);
                    let shape = [&[rows], &array.shape[1..]].concat();
                    MemberValue::Local(LocalArray::new(&shape, tile).unwrap())
                }
            });
        }
        let made = execute(engine, &program, &BTreeMap::new(), given)?;
        Ok(made.iter().map(shown).collect::<Vec<MemberText>>())
    })
}

/// The default partition.
fn rows_home(shape: &[usize], ranks: usize) -> pantile_geometry::Distribution {
    let lengths = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
    let whole = ", whole".repeat(shape.len() - 1);
    format!("{lengths} on r={ranks}: block(r, last){whole}").parse().unwrap()
}

/// A value as it can travel between threads.
#[derive(Debug, PartialEq)]
enum MemberText {
    Number(i64),
    Local(Vec<usize>, Vec<u8>),
    Parts(usize, [usize; 3], Vec<u8>),
    Handle,
}

fn shown(value: &MemberValue) -> MemberText {
    match value {
        MemberValue::Number(scalar) => MemberText::Number(scalar.get().unwrap_or(-1)),
        MemberValue::Local(array) => {
            MemberText::Local(array.shape().to_vec(), array.tile().as_bytes().to_vec())
        }
        MemberValue::Parts(array) => {
            let bytes = array.parts.iter().map(|part| part.tile().as_bytes().to_vec());
            let bytes: Vec<Vec<u8>> = bytes.collect();
            MemberText::Parts(array.layout.offset, array.layout.rows, bytes.concat())
        }
        MemberValue::Handle => MemberText::Handle,
    }
}

fn numbers(values: &[MemberText]) -> Vec<i64> {
    values
        .iter()
        .map(|value| match value {
            MemberText::Number(number) => *number,
            other => panic!("{other:?} is no number"),
        })
        .collect()
}

#[test]
fn members_know_their_place_and_their_rows() {
    let text = |_: usize| {
        "func.func @main() -> (index, index, index, index, index, index) {
           %n = \"distruntime.team_size\"() <{team = 22 : i64}> : () -> index
           %r = \"distruntime.team_member\"() <{team = 22 : i64}> : () -> index
           %rows = arith.constant 10 : index
           %columns = arith.constant 7 : index
           %p:4 = \"dist.default_partition\"(%n, %r, %rows, %columns) : (index, index, index, index) -> (index, index, index, index)
           return %n, %r, %p#0, %p#1, %p#2, %p#3 : index, index, index, index, index, index
         }"
        .to_owned()
    };
    let expected = [(0, 2), (2, 2), (4, 3), (7, 3)];
    for (rank, got) in run_text(&text, &counted(DType::I8, &[1]), 4).into_iter().enumerate() {
        let (start, rows) = expected[rank];
        let member = i64::try_from(rank).unwrap();
        assert_eq!(numbers(&got.unwrap()), [4, member, start, 0, rows, 7]);
    }
}

#[test]
fn targets_boxes_and_cores_are_those_of_the_vectors() {
    for parts in ["", " loffs = ? lparts = ?,?,?"] {
        let text = |_: usize| {
            format!(
                "!a = !ndarray.ndarray<16xi64, #dist.dist_env<team = 22 : i64{parts}>>
                 func.func @main(%a: !a) -> (index, index, index, index, index, index, index) {{
                   %c0 = arith.constant 0 : index
                   %c1 = arith.constant 1 : index
                   %c3 = arith.constant 3 : index
                   %c10 = arith.constant 10 : index
                   %o = \"dist.local_offsets_of\"(%a) : (!a) -> index
                   %t:2 = dist.local_target_of_slice %a[%c3] [%c10] [%c1] : !a to index, index
                   %b:2 = dist.local_bounding_box false[%c0] [%c10] [%c1] [%t#0] [%t#1] : index, index
                   %d:2 = dist.local_bounding_box false[%c3] [%c10] [%c1] [%t#0] [%t#1] bboffs %b#0 bb_sizes %b#1 : index, index
                   %k:2 = dist.local_core %a toffs %t#0 tsizes %t#1 soffs %c0 ssizes %c10 sstrides %c1 : !a to index, index
                   %l:2 = dist.local_core %a toffs %t#0 tsizes %t#1 soffs %c3 ssizes %c10 sstrides %c1 coffs %k#0 csizes %k#1 : !a to index, index
                   return %o, %t#0, %t#1, %d#0, %d#1, %l#0, %l#1 : index, index, index, index, index, index, index
                 }}"
            )
        };
        // Vector V10 of the dialect's specification: box (1, 7), core (3, 1) on member 1.
        let expected = [[0, 0, 1, 0, 4, 0, 1], [4, 1, 4, 1, 7, 3, 1], [8, 5, 4, 5, 7, 3, 1]];
        let results = run_text(&text, &counted(DType::I64, &[16]), 4);
        for (got, expected) in results.into_iter().zip(expected) {
            assert_eq!(numbers(&got.unwrap()), expected);
        }
    }
}

#[test]
fn halos_come_from_the_members_that_own_the_rows() {
    // Rows 5 over 4 members, radius 1 (vector V19), known and open lengths, in every type.
    let boxes = [(0, 2), (0, 3), (1, 3), (2, 3)];
    let owned = [(0, 1), (1, 1), (2, 1), (3, 2)];
    let halos = [(0, 1), (1, 1), (1, 1), (1, 0)];
    for dtype in DType::ALL {
        let array = counted(dtype, &[5, 2]);
        for open in [false, true] {
            let text = |rank: usize| {
                let ((start, count), (own, rows)) = (boxes[rank], owned[rank]);
                let (left, right) = halos[rank];
                let ty = |rows: usize| match open {
                    true => format!("!ndarray.ndarray<?x?x{}>", element(dtype)),
                    false => format!("!ndarray.ndarray<{rows}x2x{}>", element(dtype)),
                };
                let (local, left, right) = (ty(rows), ty(left), ty(right));
                format!(
                    "func.func @main(%a: {local}) -> ({left}, {right}) {{
                       %n = arith.constant 5 : index
                       %two = arith.constant 2 : index
                       %zero = arith.constant 0 : index
                       %own = arith.constant {own} : index
                       %start = arith.constant {start} : index
                       %count = arith.constant {count} : index
                       %h:3 = \"distruntime.get_halo\"(%a, %n, %two, %own, %zero, %start, %zero, %count, %two) <{{team = 22 : i64, key = -1 : i64}}> : ({local}, index, index, index, index, index, index, index, index) -> (!distruntime.asynchandle, {left}, {right})
                       \"distruntime.wait\"(%h#0) : (!distruntime.asynchandle) -> ()
                       return %h#1, %h#2 : {left}, {right}
                     }}"
                )
            };
            let all = |rows: std::ops::Range<usize>| -> Vec<u8> {
                let data = &array.data[rows.start * 2..rows.end * 2];
                data.iter().flat_map(|value| value.as_bytes().to_vec()).collect()
            };
            for (rank, got) in run_text(&text, &array, 4).into_iter().enumerate() {
                let ((start, count), (own, rows)) = (boxes[rank], owned[rank]);
                let (left, right) =
                    (all(start..own), all(own + rows..(start + count).max(own + rows)));
                let (l, r) = halos[rank];
                let expected =
                    [MemberText::Local(vec![l, 2], left), MemberText::Local(vec![r, 2], right)];
                assert_eq!(got.unwrap(), expected, "{dtype} {rank}");
            }
        }
    }
}

/// Runs a program with distributed arrays as it stands; the result must be what it means.
fn check_meaning(text: &str, array: &Array, ranks: usize) {
    let program = parse(text, "one.dist").unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
    let given = std::slice::from_ref(array);
    let expected = pantile_ir::reference::run(&program, given).unwrap();
    let results = on_ranks(ranks, |engine| {
        let rank = engine.rank();
        let home = rows_home(&array.shape, ranks);
        let entry = program.entry().unwrap();
        let ty = entry.ty(entry.body.arguments[0]);
        let tile = owned_tile(array, &home, rank);
        let value = argument(ty, &tile, &MemberSetting::default(), (ranks, rank))?;
        let made = execute(engine, &program, &BTreeMap::new(), vec![value])?;
        let tile: Tile = match &made[0] {
            MemberValue::Parts(array) => Tile::clone(&array.parts[1].tile()),
            MemberValue::Local(array) => Tile::clone(&array.tile()),
            _ => panic!("the result is an array"),
        };
        Ok(check_tile(&tile, &home, &expected[0], rank))
    });
    for (rank, result) in results.into_iter().enumerate() {
        let checked =
            result.unwrap_or_else(|fault| panic!("{ranks} ranks, {rank}: {fault}\n{text}"));
        checked.unwrap_or_else(|fault| panic!("{ranks} ranks, {rank}: {fault}\n{text}"));
    }
}

#[test]
fn a_statement_of_the_dialect_runs_in_every_type() {
    for dtype in DType::ALL {
        let function = if dtype == DType::Bool { "logical_xor" } else { "add" };
        let single = if dtype == DType::Bool { "logical_not" } else { "square" };
        for parts in ["", " loffs = ?,? lparts = ?x?,?x?,?x?"] {
            let of = |rows: usize| {
                let element = element(dtype);
                format!(
                    "!ndarray.ndarray<{rows}x3x{element}, #dist.dist_env<team = 22 : i64{parts}>>"
                )
            };
            let text = format!(
                "!a = {a}
                 !v = {v}
                 func.func @main(%a: !a) -> !a {{
                   %c0 = arith.constant 0 : index
                   %c1 = arith.constant 1 : index
                   %c2 = arith.constant 2 : index
                   %c3 = arith.constant 3 : index
                   %c4 = arith.constant 4 : index
                   %t:4 = dist.local_target_of_slice %a[%c1, %c0] [%c4, %c3] [%c1, %c1] : !a to index, index, index, index
                   %b:4 = dist.local_bounding_box false[%c0, %c0] [%c4, %c3] [%c1, %c1] [%t#0, %t#1] [%t#2, %t#3] : index, index, index, index
                   %d:4 = dist.local_bounding_box false[%c2, %c0] [%c4, %c3] [%c1, %c1] [%t#0, %t#1] [%t#2, %t#3] bboffs %b#0, %b#1 bb_sizes %b#2, %b#3 : index, index, index, index
                   %k:4 = dist.local_core %a toffs %t#0, %t#1 tsizes %t#2, %t#3 soffs %c0, %c0 ssizes %c4, %c3 sstrides %c1, %c1 : !a to index, index, index, index
                   %l:4 = dist.local_core %a toffs %t#0, %t#1 tsizes %t#2, %t#3 soffs %c2, %c0 ssizes %c4, %c3 sstrides %c1, %c1 coffs %k#0, %k#1 csizes %k#2, %k#3 : !a to index, index, index, index
                   %r = dist.repartition %a loffs %d#0, %d#1 lsizes %d#2, %d#3 : !a, index, index, index, index to !a
                   %x = dist.subview %r[0, 0] [4, 3] [1, 1] toffs %t#0, %t#1 tsizes %t#2, %t#3 : !a to !v
                   %y = dist.subview %r[2, 0] [%c4, 3] [1, %c1] toffs %t#0, %t#1 tsizes %t#2, %t#3 : !a to !v
                   %s = \"dist.ewbin\"(%x, %y, %l#0, %l#1, %l#2, %l#3, %t#0, %t#1) <{{op = \"{function}\"}}> : (!v, !v, index, index, index, index, index, index) -> !v
                   %u = \"dist.ewuny\"(%s) <{{op = \"{single}\"}}> : (!v) -> !v
                   ndarray.insert_slice %u into %a[1, 0] [4, 3] [1, 1] : !v into !a
                   return %a : !a
                 }}",
                a = of(6),
                v = of(4),
            );
            for ranks in 1..=4 {
                check_meaning(&text, &counted(dtype, &[6, 3]), ranks);
            }
            check_meaning(&text, &counted(dtype, &[6, 3]), 9);
            let (program, given) = (parse(&text, "one.dist").unwrap(), [counted(dtype, &[6, 3])]);
            let expected = pantile_ir::reference::run(&program, &given).unwrap();
            let way = compare(&program, &MemberSetting::default(), 3, (&given, &expected)).unwrap();
            // The passes need numbers where the parts lie.
            assert_eq!(way == MemberWay::Members, parts.is_empty(), "{way:?}");
        }
    }
}

#[test]
fn parts_are_bound_and_taken_apart() {
    for dtype in DType::ALL {
        let element = element(dtype);
        let text = format!(
            "!a = !ndarray.ndarray<5x{element}, #dist.dist_env<team = 22 : i64>>
             !p = !ndarray.ndarray<?x{element}>
             func.func @main(%a: !a) -> !a {{
               %o = \"dist.local_offsets_of\"(%a) : (!a) -> index
               %p:3 = \"dist.parts_of\"(%a) : (!a) -> (!p, !p, !p)
               %b = dist.init_dist_array l_offset %o parts %p#0, %p#1, %p#2 : index, !p, !p, !p to !a
               %c = dist.repartition %b : !a to !a
               return %c : !a
             }}"
        );
        for ranks in [1, 2, 3, 7] {
            let parts = run_text(&|_| text.clone(), &counted(dtype, &[5]), ranks);
            let mut all = Vec::new();
            for part in parts {
                match &part.unwrap()[..] {
                    [MemberText::Parts(_, [0, _, 0], bytes)] => all.extend(bytes.clone()),
                    other => panic!("{other:?}"),
                }
            }
            let data = counted(dtype, &[5]).data;
            let expected: Vec<u8> = data.iter().flat_map(|one| one.as_bytes().to_vec()).collect();
            assert_eq!(all, expected, "{dtype} on {ranks}");
        }
    }
}

#[test]
fn reductions_have_the_bits_of_one_rank_in_every_type() {
    let mut rng = pantile_testkit::Rng::law(7);
    for dtype in DType::ALL {
        for op in
            ["sum", "prod", "max", "min", "mean", "any", "all", "count_nonzero", "norm1", "norminf"]
        {
            let Some(reduction) =
                pantile_ir::Reduction::ALL.into_iter().find(|one| one.name() == op)
            else {
                panic!("{op}")
            };
            let Ok(result) = pantile_ir::infer::reduced_dtype(reduction, dtype) else { continue };
            for (axes, left) in
                [("", ""), (", axes = [0]", "3x"), (", axes = [0], keepdims = true", "1x3x")]
            {
                let (of, to) = (element(dtype), element(result));
                let team = "#dist.dist_env<team = 22 : i64>";
                let text = format!(
                    "func.func @main(%a: !ndarray.ndarray<7x3x{of}, {team}>) -> !ndarray.ndarray<{left}{to}, {team}> {{
                       %s = ndarray.reduce %a {{op = \"{op}\"{axes}}} : !ndarray.ndarray<7x3x{of}, {team}> -> !ndarray.ndarray<{left}{to}, {team}>
                       return %s : !ndarray.ndarray<{left}{to}, {team}>
                     }}"
                );
                let program =
                    parse(&text, "reduce.dist").unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
                let array = random_array(&mut rng, dtype, &[7, 3]);
                let given = [array];
                let expected = pantile_ir::reference::run(&program, &given).unwrap();
                for ranks in [1, 2, 4, 9] {
                    let setting = MemberSetting::default();
                    let way = compare(&program, &setting, ranks, (&given, &expected))
                        .unwrap_or_else(|fault| panic!("{ranks} ranks: {fault}\n{text}"));
                    let complex = matches!(dtype, DType::C64 | DType::C128);
                    assert!(way == MemberWay::Members || complex, "{way:?}\n{text}");
                }
            }
        }
    }
}

#[test]
fn shapes_and_orders_of_axes_change_in_every_type() {
    for dtype in DType::ALL {
        let array = counted(dtype, &[2, 3, 4]);
        for (op, to) in [
            ("ndarray.reshape %a", "6x4"),
            ("ndarray.reshape %a", "24"),
            ("ndarray.permute_dims %a [1, 2, 0]", "3x4x2"),
            ("ndarray.permute_dims %a [2, 0, 1]", "4x2x3"),
            ("ndarray.permute_dims %a [0, 2, 1]", "2x4x3"),
        ] {
            let (element, team) = (element(dtype), "#dist.dist_env<team = 22 : i64>");
            let (from, to) = (
                format!("!ndarray.ndarray<2x3x4x{element}, {team}>"),
                format!("!ndarray.ndarray<{to}x{element}, {team}>"),
            );
            let text = format!(
                "func.func @main(%a: {from}) -> {to} {{\n  %b = {op} : {from} -> {to}\n  return %b : {to}\n}}"
            );
            let program = parse(&text, "one.dist").unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
            let given = [array.clone()];
            let expected = pantile_ir::reference::run(&program, &given).unwrap();
            for ranks in [1, 2, 3, 5] {
                let way = compare(&program, &MemberSetting::default(), ranks, (&given, &expected));
                assert_eq!(way, Ok(MemberWay::Members), "{text}");
            }
        }
    }
}
