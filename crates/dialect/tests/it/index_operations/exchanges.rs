//! What members tell the runtime when rows move: halos, reshapes, permutations, views.

use std::ops::Range;

use pantile_dialect::Member;
use pantile_ir::Op;
use pantile_testkit::cases;

use super::{constants, hull, owners, passed, spread};

/// The numbers behind the first operand of the first exchange of a member.
fn exchange(text: &str, passes: &[&str], member: &Member) -> Vec<usize> {
    let program = passed(text, passes, member);
    let moves = program.functions[0].body.operations.iter().find(|operation| {
        matches!(operation.op, Op::GetHalo { .. } | Op::CopyReshape { .. } | Op::CopyPermute { .. })
    });
    let numbers = constants(&program, &moves.unwrap().operands[1..]);
    numbers.into_iter().map(|n| usize::try_from(n).unwrap()).collect()
}

fn cells(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |all, length| {
        let longer = |cell: &Vec<usize>| {
            let cell = cell.clone();
            (0..*length).map(move |i| cell.iter().copied().chain([i]).collect::<Vec<_>>())
        };
        all.iter().flat_map(longer).collect()
    })
}

/// Elements from sender to receiver: where a row was, and where it is then.
fn matrix(ranks: usize, moves: &[(usize, usize)], rows: [&[Range<usize>]; 2]) -> Vec<Vec<usize>> {
    let mut matrix = vec![vec![0; ranks]; ranks];
    for (from, to) in moves {
        let owner = |rows: &[Range<usize>], row: &usize| {
            rows.iter().position(|own| own.contains(row)).unwrap()
        };
        matrix[owner(rows[0], from)][owner(rows[1], to)] += 1;
    }
    matrix
}

/// What members say about a reshape or permutation: rows before and after.
fn rearranged(
    from: &[usize],
    to: &[usize],
    axes: Option<&[usize]>,
    ranks: usize,
) -> Vec<Vec<usize>> {
    let (a, b) = (spread(from, "i64"), spread(to, "i64"));
    let (mut text, mut names) = (format!("func.func @main(%a: {a}) -> {b} {{\n"), Vec::new());
    for (at, length) in to.iter().enumerate() {
        text += &format!("  %c{at} = arith.constant {length} : index\n");
        names.push(format!("%c{at}"));
    }
    text += &match axes {
        Some(axes) => format!("  %b = ndarray.permute_dims %a {axes:?} : {a} -> {b}\n"),
        None => format!("  %b = ndarray.reshape %a {} : {a} -> {b}\n", names.join(", ")),
    };
    text += &format!("  return %b : {b}\n}}\n");
    let (n, m) = (from.len(), to.len());
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (rank, own) in owners(from[0], ranks).into_iter().enumerate() {
        let found = exchange(&text, &["member"], &Member::new(ranks, rank));
        assert_eq!(found[..n], *from);
        let last = found.len() - 2 * m;
        if axes.is_none() {
            assert_eq!(found[2 * n..last], *to);
        }
        // Where the member is, and the columns it has: all.
        assert_eq!(found[n], own.start);
        assert_eq!(found[last + m + 1..], to[1..]);
        before.push(own);
        after.push(found[last]..found[last] + found[last + m]);
    }
    let per = |shape: &[usize]| shape[1..].iter().product::<usize>();
    let moves: Vec<(usize, usize)> = match axes {
        None => (0..from.iter().product()).map(|at| (at / per(from), at / per(to))).collect(),
        Some(axes) => cells(from).iter().map(|cell| (cell[0], cell[axes[0]])).collect(),
    };
    assert_eq!(after, owners(to[0], ranks));
    matrix(ranks, &moves, [&before, &after])
}

#[test]
fn v17_and_v18_rearrangements() {
    assert_eq!(rearranged(&[12], &[3, 4], None, 2), [[4, 2], [0, 6]]);
    assert_eq!(rearranged(&[3, 4], &[2, 3, 2], None, 2), [[4, 0], [2, 6]]);
    assert_eq!(rearranged(&[6, 4], &[4, 6], None, 3), [[6, 2, 0], [0, 4, 4], [0, 0, 8]]);
    assert_eq!(rearranged(&[5, 2], &[2, 5], None, 3), [[0, 2, 0], [0, 3, 1], [0, 0, 4]]);
    let permuted = |from: &[usize], axes: &[usize]| {
        let to: Vec<usize> = axes.iter().map(|axis| from[*axis]).collect();
        rearranged(from, &to, Some(axes), 2)
    };
    assert_eq!(permuted(&[3, 4], &[1, 0]), [[2, 2], [4, 4]]);
    assert_eq!(permuted(&[5, 2], &[1, 0]), [[2, 2], [3, 3]]);
    assert_eq!(permuted(&[2, 3, 4], &[1, 0, 2]), [[4, 8], [4, 8]]);
    assert_eq!(permuted(&[2, 3, 4], &[0, 2, 1]), [[12, 0], [0, 12]]);
    assert_eq!(permuted(&[2, 3, 4], &[1, 2, 0]), [[4, 8], [4, 8]]);
    assert_eq!(permuted(&[2, 3, 4], &[2, 0, 1]), [[6, 6], [6, 6]]);
    rearranged(&[1, 6], &[3, 2], None, 7);
}

/// The boxes of all members for `a[r..n - r] = sum of a moved by -r, 0 and r`.
fn boxes(length: usize, ranks: usize, radius: usize) -> Vec<(usize, usize)> {
    let size = length - 2 * radius;
    let (a, v) = (spread(&[length], "i64"), spread(&[size], "i64"));
    let view = |at: usize| {
        format!("  %v{at} = ndarray.subview %a[{}] [{size}] [1] : {a} to {v}\n", at * radius)
    };
    let text = format!(
        "func.func @main(%a: {a}) -> {a} {{\n{}{}{}  %s = ndarray.ewbin %v0, %v1 {{op = 0 : i32}} : ({v}, {v}) -> {v}\n  %t = ndarray.ewbin %s, %v2 {{op = 0 : i32}} : ({v}, {v}) -> {v}\n  ndarray.insert_slice %t into %a[{radius}] [{size}] [1] : {v} into {a}\n  return %a : {a}\n}}\n",
        view(0),
        view(1),
        view(2)
    );
    let passes = ["distribute", "coalesce", "cores", "member", "overlap", "keys"];
    let one = |rank| {
        let found = exchange(&text, &passes, &Member::new(ranks, rank));
        assert_eq!(found[..2], [length, owners(length, ranks)[rank].start]);
        (found[2], found[3])
    };
    (0..ranks).map(one).collect()
}

#[test]
fn v19_and_v20_boxes_of_stencils() {
    assert_eq!(boxes(16, 4, 1), [(0, 5), (3, 6), (7, 6), (11, 5)]);
    assert_eq!(boxes(16, 4, 2), [(0, 6), (2, 8), (6, 8), (10, 6)]);
    assert_eq!(boxes(5, 4, 1)[1..3], [(0, 3), (1, 3)]);
    assert_eq!(boxes(10, 3, 1)[..2], [(0, 4), (2, 5)]);
    cases("v19_and_v20_boxes_of_stencils", 40, |rng| {
        let (radius, ranks) = (1 + rng.below(3), 1 + rng.below(8));
        let length = 2 * radius + 1 + rng.below(20);
        let found = boxes(length, ranks, radius);
        for (own, found) in owners(length, ranks).into_iter().zip(found) {
            let written = own.filter(|row| (radius..length - radius).contains(row));
            let read: Vec<usize> =
                written.flat_map(|row| [row - radius, row, row + radius]).collect();
            match hull(&read) {
                Some(expected) => assert_eq!(found, expected, "{length} {ranks} {radius}"),
                None => assert_eq!(found.1, 0),
            }
        }
    });
}

#[test]
fn v21_rows_of_a_strided_view() {
    let (a, v) = (spread(&[11, 10], "i64"), spread(&[4, 3], "i64"));
    let text = format!(
        "func.func @main(%a: {a}) -> {v} {{\n  %b = ndarray.subview %a[4, 1] [4, 3] [2, 3] : {a} to {v}\n  return %b : {v}\n}}\n"
    );
    let expected = [(0, 0), (0, 1), (1, 1), (2, 2)];
    for (rank, (offset, rows)) in expected.into_iter().enumerate() {
        let program = passed(&text, &["distribute", "print-member"], &Member::new(4, rank));
        let wanted = format!("loffs = {offset},0 lparts = ");
        let text = program.to_string();
        let line = text.lines().find(|line| line.contains("return")).unwrap();
        assert!(line.contains(&wanted) && line.contains(&format!(",{rows}x3,")), "{rank}: {line}");
    }
}
