//! Products of matrices against plain loops, for every distribution, on several numbers of ranks.

use pantile::array::SliceItem;
use pantile::prelude::*;

const RANKS: [usize; 6] = [1, 2, 3, 4, 7, 20];

const HOMES: [&str; 6] = [
    "copies",
    "block(r), whole",
    "whole, block(r)",
    "cyclic(r, 2), whole",
    "whole, cyclic(r, 1)",
    "indexed(r), whole",
];

/// Homes of matrices; one that deals rows out backwards is made for the ranks.
fn home(name: &str, rows: usize, ranks: usize) -> String {
    if name != "indexed(r), whole" {
        return name.to_owned();
    }
    let list = |rank: usize| {
        let own = (0..rows).rev().filter(|row| row % ranks == rank);
        own.map(|row| row.to_string()).collect::<Vec<_>>().join(" ")
    };
    let lists: Vec<String> = (0..ranks).map(|rank| format!("[{}]", list(rank))).collect();
    format!("indexed(r, {}), whole", lists.join(" "))
}

fn number(seed: usize, at: usize) -> f64 {
    let mixed = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ (seed as u64) << 32);
    (mixed >> 11) as f64 / (1u64 << 53) as f64 - 0.3
}

fn numbers(seed: usize, count: usize) -> Vec<f64> {
    (0..count).map(|at| number(seed, at)).collect()
}

/// Chains of panels, added in order.
fn rule(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let panel =
        |pairs: &[(f64, f64)]| pairs.iter().fold(0.0, |sum, (a, b)| f64::mul_add(*a, *b, sum));
    let panels: Vec<f64> = pairs.chunks(256).map(panel).collect();
    panels.split_first().map_or(0.0, |(first, rest)| rest.iter().fold(*first, |all, one| all + one))
}

fn product(a: &[f64], b: &[f64], [rows, columns, terms]: [usize; 3]) -> Vec<f64> {
    let at = |row: usize, column: usize| {
        rule((0..terms).map(|term| (a[row * terms + term], b[term * columns + column])))
    };
    (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .map(|(row, column)| at(row, column))
        .collect()
}

#[test]
fn products_have_the_same_bits_wherever_the_factors_live() {
    for [rows, columns, terms] in
        [[5, 7, 300], [1, 3, 9], [9, 1, 2], [0, 3, 4], [3, 0, 4], [3, 4, 0]]
    {
        let (a, b) = (numbers(1, rows * terms), numbers(2, terms * columns));
        let expected = product(&a, &b, [rows, columns, terms]);
        for ranks in RANKS {
            let world = Session::threads(ranks).unwrap();
            for one in HOMES {
                for other in HOMES {
                    let (from, by) = (home(one, rows, ranks), home(other, terms, ranks));
                    let left = world.dist(&from).from_vec(&[rows, terms], &a);
                    let right = world.dist(&by).from_vec(&[terms, columns], &b);
                    let got = left.matmul(&right);
                    let what = format!("{rows} x {columns} x {terms}, {one} by {other} on {ranks}");
                    assert_eq!(got.shape(), [rows, columns], "{what}");
                    assert_eq!(got.to_vec::<f64>().unwrap(), expected, "{what}");
                }
            }
        }
    }
}

#[test]
fn meshes_of_two_axes_and_teams() {
    let [rows, columns, terms] = [10, 9, 270];
    let (a, b) = (numbers(3, rows * terms), numbers(4, terms * columns));
    let expected = product(&a, &b, [rows, columns, terms]);
    let world = Session::threads(6).unwrap();
    let homes = [
        "x=2, y=3: block(x), block(y)",
        "x=3, y=2: block(x), whole",
        "x=3, y=2: whole, block(y)",
        "x=2, y=3: cyclic(y, 1), block(x)",
        "copies",
    ];
    for one in homes {
        for other in homes {
            let left = world.dist(one).from_vec(&[rows, terms], &a);
            let right = world.dist(other).from_vec(&[terms, columns], &b);
            assert_eq!(left.matmul(&right).to_vec::<f64>().unwrap(), expected, "{one} by {other}");
        }
    }
}

#[test]
fn transposes_slices_and_what_is_computed() {
    for ranks in RANKS {
        for home in ["auto", "block(r), whole", "whole, block(r)"] {
            let world = Session::threads(ranks).unwrap().dist(home);
            let (n, data) = (12, numbers(5, 144));
            let m = world.from_vec(&[n, n], &data);
            let turned: Vec<f64> = (0..n * n).map(|at| data[at % n * n + at / n]).collect();
            let what = format!("{home} on {ranks}");
            let check = |got: Array, a: &[f64], b: &[f64], shape: [usize; 3]| {
                assert_eq!(got.to_vec::<f64>().unwrap(), product(a, b, shape), "{what}");
            };
            check(m.t().matmul(&m), &turned, &data, [n, n, n]);
            check(m.matmul(&m.t()), &data, &turned, [n, n, n]);
            check(m.matmul(&m), &data, &data, [n, n, n]);
            let twice: Vec<f64> = data.iter().map(|x| x * 2.0).collect();
            check((&m * 2.0).matmul(&m.t()), &twice, &turned, [n, n, n]);
            // Every other row backwards, and columns from the third on.
            let odd = m.get([SliceItem::Range(Some(11), None, -2)]);
            let rows: Vec<f64> =
                (0..6).flat_map(|row| data[(11 - 2 * row) * n..][..n].to_vec()).collect();
            check(odd.matmul(&m.get(s![.., 3..])), &rows, &columns(&data, n, 3), [6, n - 3, n]);
            // A matrix and its own rows in time.
            let p = world.from_vec(&[n, 1], &numbers(6, n));
            let after = m.matmul(&p) + &p;
            let sums: Vec<f64> = product(&data, &numbers(6, n), [n, 1, n])
                .iter()
                .zip(numbers(6, n))
                .map(|(one, other)| one + other)
                .collect();
            assert_eq!(after.to_vec::<f64>().unwrap(), sums, "{what}");
        }
    }
}

/// Long sums of few elements are made of panels where their terms are.
#[test]
fn sums_over_a_cut_axis() {
    for terms in [257, 512, 1500] {
        let (a, b) = (numbers(7, terms * 4), numbers(8, terms * 3));
        let turned: Vec<f64> = (0..4 * terms).map(|at| a[at % terms * 4 + at / terms]).collect();
        let wide: Vec<f64> = (0..3 * terms).map(|at| b[at % terms * 3 + at / terms]).collect();
        let expected = product(&turned, &b, [4, 3, terms]);
        for ranks in RANKS {
            let world = Session::threads(ranks).unwrap();
            for (one, other) in
                [("block(r)", "block(r)"), ("block(r)", "copies"), ("copies", "block(r)")]
            {
                let rows = |home: &str| match home {
                    "copies" => world.dist(home),
                    _ => world.dist(&format!("{home}, whole")),
                };
                let left = rows(one).from_vec(&[terms, 4], &a);
                let right = rows(other).from_vec(&[terms, 3], &b);
                let what = format!("{terms} terms, {one} by {other} on {ranks}");
                let list = |array: Array| array.to_vec::<f64>().unwrap();
                assert_eq!(list(left.t().matmul(&right)), expected, "{what}");
                let x = world.dist(one).from_vec(&[terms], &turned[..terms]);
                assert_eq!(list(x.matmul(&right)), expected[..3], "{what}");
                let columns = world.dist("whole, block(r)").from_vec(&[3, terms], &wide);
                let y = product(&wide, &turned[..terms], [3, 1, terms]);
                assert_eq!(list(columns.matmul(&x)), y, "{what}");
                let many = left.reshape(&[1, terms, 4]).permute(&[0, 2, 1]).matmul(&right);
                assert_eq!(list(many), expected, "{what}");
                let whole = (left.cast(DType::I8).t()).matmul(&right.cast(DType::I16));
                assert_eq!(whole.shape(), [4, 3]);
            }
        }
    }
}

fn columns(data: &[f64], n: usize, from: usize) -> Vec<f64> {
    data.chunks(n).flat_map(|row| row[from..].to_vec()).collect()
}

#[test]
fn vectors_and_broadcast_axes() {
    for ranks in RANKS {
        let world = Session::threads(ranks).unwrap();
        let whole = |shape: &[usize], from: i64| {
            let count = i64::try_from(shape.iter().product::<usize>()).unwrap();
            let list: Vec<i64> = (from..from + count).collect();
            world.dist("block").from_vec(shape, &list)
        };
        let (a, x, y) = (whole(&[2, 3], 1), whole(&[3], 4), whole(&[2], -7));
        let list = |array: Array| array.to_vec::<i64>().unwrap();
        assert_eq!(list(a.matmul(&x)), [4 + 10 + 18, 16 + 25 + 36]);
        assert_eq!(list(y.matmul(&a)), [-7 - 24, -14 - 30, -21 - 36]);
        assert_eq!(list(x.matmul(&x)), [16 + 25 + 36]);
        assert_eq!(x.matmul(&x).shape(), Vec::<usize>::new());
        let (many, one) = (whole(&[4, 1, 2, 3], 0), whole(&[5, 3, 2], -6));
        let got = many.matmul(&one);
        assert_eq!(got.shape(), [4, 5, 2, 2]);
        let mut expected = Vec::new();
        for (i, j, row, column) in (0..80).map(|at| (at / 20, at / 4 % 5, at / 2 % 2, at % 2)) {
            let term = |k: i64| (i * 6 + row * 3 + k) * (j * 6 + k * 2 + column - 6);
            expected.push((0..3).map(term).sum::<i64>());
        }
        assert_eq!(list(got), expected, "{ranks}");
        // Neighbours in a row of matrices: one of the two lies next door.
        let row = whole(&[9, 2, 2], 1);
        let got = row.get(s![1..]).matmul(&row.get(s![..-1]));
        let at = |matrix: usize, i: usize, j: usize| (matrix * 4 + i * 2 + j + 1) as i64;
        let next = |(matrix, i, j): (usize, usize, usize)| -> i64 {
            (0..2).map(|k| at(matrix + 1, i, k) * at(matrix, k, j)).sum()
        };
        let places = (0..32).map(|place| (place / 4, place / 2 % 2, place % 2));
        assert_eq!(list(got), places.map(next).collect::<Vec<_>>(), "{ranks}");
        assert_eq!(a.matmul(&whole(&[4, 3, 2], 0)).shape(), [4, 2, 2]);
        assert_eq!(whole(&[4, 3, 2], 0).matmul(&y).shape(), [4, 3]);
        assert_eq!(x.matmul(&whole(&[4, 3, 2], 0)).shape(), [4, 2]);
        // A vector that is spread over rows and over columns is one array read twice alike.
        let (row, column) = (x.broadcast_to(&[2, 3]), x.reshape(&[3, 1]).broadcast_to(&[3, 2]));
        assert_eq!(list(row.matmul(&column)), [77; 4]);
        // Narrow integers wrap, and promotion is that of other functions.
        let small = world.full_of(&[2, 2], 100, DType::I8);
        assert_eq!(small.matmul(&small).to_vec::<i8>().unwrap(), [32; 4]);
        let mixed = small.matmul(&world.full_of(&[2, 1], 300, DType::I16));
        assert_eq!(mixed.to_vec::<i16>().unwrap(), [-5536; 2]);
    }
}

#[test]
fn other_sums_of_products() {
    for ranks in [1, 3] {
        let world = Session::threads(ranks).unwrap().dist("block");
        let (big, one) = (1e100, 1.0);
        let x = world.from_vec(&[2, 3], &[big, one, -big, 1.0, 2.0, 3.0]);
        let ones = world.ones(&[3]);
        // The exact sum, as two vectors have it.
        assert_eq!(x.vecdot(&ones).to_vec::<f64>().unwrap(), [1.0, 6.0]);
        assert_eq!(x.get(s![0]).matmul(&ones).to_vec::<f64>().unwrap(), [1.0]);
        let small = world.full_of(&[2], 100, DType::I8);
        let dot = small.vecdot(&small);
        assert_eq!((dot.dtype(), dot.to_vec::<i8>().unwrap()), (DType::I8, vec![32]));
        let i = pantile::ir::Complex::new(0.0, 1.0);
        let z = world.from_vec(&[2], &[i, i + i]);
        let five = pantile::ir::Complex::new(5.0, 0.0);
        assert_eq!(z.vecdot(&z).to_vec::<pantile::ir::Complex<f64>>().unwrap(), [five]);
        assert_eq!(z.matmul(&z).to_vec::<pantile::ir::Complex<f64>>().unwrap(), [-five]);

        let t = world.from_vec(&[2, 3, 4], &(0..24).collect::<Vec<i64>>());
        let u = world.from_vec(&[4, 3, 5], &(0..60).collect::<Vec<i64>>());
        let got = t.tensordot(&u, &[1, 2], &[1, 0]);
        assert_eq!(got.shape(), [2, 5]);
        let mut expected = vec![0i64; 10];
        for (a, b, c, d) in (0..120).map(|at| (at / 60, at / 20 % 3, at / 5 % 4, at % 5)) {
            expected[a * 5 + d] += ((a * 3 + b) * 4 + c) as i64 * ((c * 3 + b) * 5 + d) as i64;
        }
        assert_eq!(got.to_vec::<i64>().unwrap(), expected);
        assert_eq!(t.tensordot(&u, &[2], &[0]).shape(), [2, 3, 3, 5]);
        assert_eq!(t.tensordot(&u, &[], &[]).shape(), [2, 3, 4, 4, 3, 5]);
        assert_eq!(t.tensordot(&t, &[0, 1, 2], &[0, 1, 2]).to_vec::<i64>().unwrap(), [4324]);
        let none = world.zeros(&[0, 3]);
        assert_eq!(none.tensordot(&none, &[0], &[0]).to_vec::<f64>().unwrap(), [0.0; 9]);
    }
}

#[test]
fn what_has_no_product_is_refused_with_shapes() {
    let world = Session::threads(2).unwrap();
    let (a, b, x) = (world.zeros(&[2, 3]), world.zeros(&[4, 2]), world.zeros(&[]));
    let refused = |array: Array, words: &str| {
        let error = array.to_vec::<f64>().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(
        a.matmul(&b),
        "matmul: got shapes 2x3 and 4x2: axis 1 of the left has 3 elements, axis 0 of the right 4",
    );
    refused(a.matmul(&x), "got operands of 2 and 0 axes, expected at least 1 each");
    refused(
        world.zeros(&[2, 1, 3]).matmul(&world.zeros(&[3, 3, 1])),
        "lengths 2 and 3 of axis 0 do not go together",
    );
    let truth = a.equal(0.0);
    refused(truth.matmul(&truth.t()), "matmul is not defined for elements of type bool");
    refused(truth.vecdot(&truth), "vecdot is not defined for elements of type bool");
    refused(a.vecdot(&b), "vecdot of shapes [2, 3] and [4, 2], expected last axes of equal length");
    refused(x.vecdot(&a), "expected last axes of equal length");
    refused(a.tensordot(&b, &[1], &[1, 0]), "as many different axes on both sides");
    refused(a.tensordot(&b, &[1], &[2]), "tensordot of shapes [2, 3] and [4, 2]");
    refused(a.tensordot(&b, &[0, 0], &[1, 1]), "over axes [0, 0] and [1, 1]");
    refused(a.tensordot(&b, &[1], &[0]), "of equal lengths");
}
