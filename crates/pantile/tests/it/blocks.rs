//! Functions of blocks and of neighbours against plain loops, on several numbers of ranks.

use pantile::array::SliceItem;
use pantile::prelude::*;
use pantile_testkit::{Rng, cases};

const HOMES: [&str; 5] =
    ["block(r), whole", "whole, block(r)", "cyclic(r, 2), whole", "copies", "auto"];

/// Calls `f` for worlds of several sizes and homes of arrays with two axes.
fn everywhere(mut f: impl FnMut(&Session, &str)) {
    for ranks in [1, 2, 3, 5, 40] {
        let world = Session::threads(ranks).unwrap();
        for home in HOMES {
            f(&world.dist(home), &format!("{home} on {ranks} ranks"));
        }
    }
}

/// The blocks of a matrix: each as its first row, first column, rows and columns.
fn grid(shape: [usize; 2], block: [usize; 2]) -> Vec<[usize; 4]> {
    let mut list = Vec::new();
    for i in (0..shape[0]).step_by(block[0]) {
        for j in (0..shape[1]).step_by(block[1]) {
            list.push([i, j, block[0].min(shape[0] - i), block[1].min(shape[1] - j)]);
        }
    }
    list
}

fn element(i: usize, j: usize) -> i64 {
    i64::try_from((i * 37 + j * 11) % 23).unwrap() - 5
}

#[test]
fn a_function_of_blocks_sees_each_block_alone() {
    for (shape, block) in [
        ([6, 4], [2, 2]),
        ([7, 5], [3, 2]),
        ([5, 7], [8, 3]),
        ([4, 1], [1, 1]),
        ([1, 1], [4, 4]),
        ([0, 3], [2, 2]),
        ([3, 0], [1, 5]),
    ] {
        // Sums of blocks, turned around, and the first element of the block changed.
        let mut expected = vec![0i64; shape[0] * shape[1]];
        for [i, j, rows, columns] in grid(shape, block) {
            let cells = || (0..rows).flat_map(move |r| (0..columns).map(move |c| (r, c)));
            let sum: i64 = cells().map(|(r, c)| element(i + r, j + c)).sum();
            for (r, c) in cells() {
                let turned = element(i + rows - 1 - r, j + columns - 1 - c);
                expected[(i + r) * shape[1] + j + c] = 2 * turned + sum;
            }
            expected[i * shape[1] + j] = -1;
        }
        everywhere(|world, what| {
            let a = world.from_fn(&shape, |at| element(at[0], at[1]));
            let got = a.map_blocks(&block, |block| {
                let turned = 2 * block.get(s![by(.., -1), by(.., -1)]) + block.sum();
                turned.set(s![..1, ..1], -1);
                turned
            });
            assert_eq!(got.shape(), shape);
            let got = got.to_vec::<i64>().unwrap();
            assert_eq!(got, expected, "{shape:?} in {block:?}, {what}");
            let before = |at: usize| element(at / shape[1], at % shape[1]);
            assert!(a.to_vec::<i64>().unwrap().into_iter().eq((0..expected.len()).map(before)));
        });
    }
}

#[test]
fn blocks_of_random_shapes_are_those_of_loops() {
    cases("blocks_of_random_shapes_are_those_of_loops", 40, |rng: &mut Rng| {
        let shape = [rng.below(9), rng.below(9)];
        let block = [1 + rng.below(5), 1 + rng.below(5)];
        let (ranks, home) = (1 + rng.below(6), HOMES[rng.below(HOMES.len())]);
        let world = Session::threads(ranks).unwrap().dist(home);
        let a = world.from_fn(&shape, |at| element(at[0], at[1]));
        let b = world.index(&shape, 1);
        let world = a.session().clone();
        let got = world.map_blocks(&[&a, &b], &block, |blocks| {
            let first = blocks[0].get(s![.., ..1]);
            (&blocks[1] * blocks[0].max()) - first
        });
        let mut expected = vec![0i64; shape[0] * shape[1]];
        for [i, j, rows, columns] in grid(shape, block) {
            let cells = || (i..i + rows).flat_map(move |r| (j..j + columns).map(move |c| (r, c)));
            let most = cells().map(|(r, c)| element(r, c)).max().unwrap();
            for (r, c) in cells() {
                let index = i64::try_from(c).unwrap();
                expected[r * shape[1] + c] = index * most - element(r, j);
            }
        }
        assert_eq!(
            got.to_vec::<i64>().unwrap(),
            expected,
            "{shape:?} in {block:?}, {ranks} {home}"
        );
    });
}

#[test]
fn functions_of_blocks_may_change_the_type_and_apply_others() {
    everywhere(|world, what| {
        let a = world.from_fn(&[5, 6], |at| (at[0] * 6 + at[1]) as f64);
        let odd = a.map_blocks(&[2, 4], |block| (block % 2.0).equal(1.0));
        let expected: Vec<bool> = (0..30).map(|at| at % 2 == 1).collect();
        assert_eq!(odd.to_vec::<bool>().unwrap(), expected, "{what}");
        // Blocks of blocks: the maxima of 2x2 in blocks of 4x4, less the maximum of the block.
        let nested = a.map_blocks(&[4, 4], |block| {
            block.map_blocks(&[2, 2], |inner| inner - inner + inner.max()) - block.max()
        });
        let (mut outer, mut inner) = (vec![0.0; 30], vec![0.0; 30]);
        for [i, j, rows, columns] in grid([5, 6], [4, 4]) {
            for [k, l, height, width] in grid([rows, columns], [2, 2]) {
                for (r, c) in (0..height).flat_map(|r| (0..width).map(move |c| (r, c))) {
                    let at = (i + k + r) * 6 + j + l + c;
                    inner[at] = ((i + k + height - 1) * 6 + j + l + width - 1) as f64;
                    outer[at] = ((i + rows - 1) * 6 + j + columns - 1) as f64;
                }
            }
        }
        let expected: Vec<f64> = inner.iter().zip(&outer).map(|(a, b)| a - b).collect();
        assert_eq!(nested.to_vec::<f64>().unwrap(), expected, "{what}");
        // The block itself, arrays made inside, views, and a scalar array.
        let same = a.get(s![1.., by(.., 2)]).map_blocks(&[3, 3], Clone::clone);
        let same = same.map_blocks(&[4, 3], |block| block + block.session().ones(&block.shape()));
        let expected: Vec<f64> =
            (1..5).flat_map(|i| [0, 2, 4].map(|j| f64::from(i * 6 + j + 1))).collect();
        assert_eq!(same.to_vec::<f64>().unwrap(), expected, "{what}");
        let one = a.sum().map_blocks(&[], |block| block * 2.0);
        assert_eq!(one.item::<f64>().unwrap(), 870.0, "{what}");
    });
}

#[test]
fn a_loop_of_blocks_plans_once() {
    let world = Session::threads(2).unwrap();
    let mut a = world.dist("block(r)").ones(&[8]);
    let mut lowered = 0;
    for turn in 0..20 {
        a = a.map_blocks(&[4], |block| block + block.sum());
        a.compute().unwrap();
        if turn == 2 {
            lowered = world.lowered();
        }
    }
    assert_eq!(world.lowered(), lowered);
    assert_eq!(a.max().item::<f64>().unwrap(), 5f64.powi(20));
}

#[test]
fn mistakes_in_functions_of_blocks() {
    let world = Session::threads(2).unwrap();
    let (a, b) = (world.ones(&[6]), world.ones(&[5]));
    let refused = |array: Array, words: &str| {
        let fault = array.compute().unwrap_err();
        assert!(fault.to_string().contains(words), "{fault}");
        assert!(fault.place.line > 0, "{fault}");
    };
    refused(a.map_blocks(&[2, 2], Clone::clone), "blocks of shape [2, 2], expected 1 lengths");
    refused(a.map_blocks(&[0], Clone::clone), "blocks of shape [0]");
    refused(a.map_blocks(&[4], Array::sum), "gives shape [] for blocks of shape [4]");
    refused(world.map_blocks(&[], &[2], |_| a.clone()), "got no arrays");
    let both = world.map_blocks(&[&a, &b], &[2], |blocks| &blocks[0] + &blocks[1]);
    refused(both, "shapes [6] and [5], expected the same");
    refused((&a + &b).map_blocks(&[], Clone::clone), "add of shapes");
    refused(a.map_blocks(&[2], |block| block + block.reshape(&[3])), "[3] for the elements");
    // Other arrays, whether they are computed or not.
    let other = world.ones(&[2]);
    refused(a.map_blocks(&[2], |block| block + &other), "from outside");
    refused(a.map_blocks(&[2], |block| block + other.get(s![by(.., -1)])), "from outside");
    refused(a.map_blocks(&[2], |_| other.clone()), "from outside");
    other.compute().unwrap();
    refused(a.map_blocks(&[2], |block| block + &other), "from outside");
    // Nor arrays that the function made and computed: they are on the ranks, not in the function.
    let computed = |block: &Array| {
        let own = block.session().ones(&[2]);
        own.compute().unwrap();
        block + own
    };
    refused(a.map_blocks(&[2], computed), "from outside");
    let nested = |block: &Array| block.map_blocks(&[2], |inner| inner + block.sum());
    refused(a.map_blocks(&[2], nested), "from outside");
    // Nobody sees the elements of any block.
    let looked = std::cell::RefCell::new(Vec::new());
    let seen = a.map_blocks(&[2], |block| {
        looked.borrow_mut().push(block.clone());
        assert!(block.sum().item::<f64>().unwrap_err().to_string().contains("any block"));
        block * 3.0
    });
    assert_eq!(seen.to_vec::<f64>().unwrap(), [3.0; 6]);
    refused(&looked.borrow()[0] + 1.0, "no meaning outside");
    let types = a.map_blocks(&[4], |block| match block.size() {
        4 => block.clone(),
        _ => block.cast(DType::I64),
    });
    refused(types, "gives i64 for blocks of shape [2], expected f64");
    refused(world.ones(&[5000]).map_blocks(&[1], Clone::clone), "5000 blocks, expected at most");
    // The world still works, and many waiting operations change nothing.
    let many = (0..4090).fold(world.zeros(&[2]), |sum, _| sum + 1.0);
    let late = a.map_blocks(&[2], |block| {
        (0..20).fold(block.clone(), |sum, _| sum + block.session().ones(&[2]))
    });
    assert_eq!(late.to_vec::<f64>().unwrap(), [21.0; 6]);
    assert_eq!(many.to_vec::<f64>().unwrap(), [4090.0; 2]);
}

#[test]
fn stencils_are_those_of_loops() {
    let points: [(&[i64], f64); 5] =
        [(&[0, 0], 2.0), (&[-1, 0], 0.5), (&[3, 1], -1.5), (&[0, -2], 0.25), (&[1, 1], 1.0)];
    for shape in [[6usize, 5], [2, 1], [1, 7], [0, 4]] {
        let value = |i: i64, j: i64| ((i * 7 + j * 3) % 11) as f64;
        let (rows, columns) = (shape[0] as i64, shape[1] as i64);
        let expected = |boundary: Boundary| -> Vec<f64> {
            let mut list = Vec::new();
            for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                let mut sum = None;
                for (by, weight) in points {
                    let (r, c) = (i + by[0], j + by[1]);
                    let inside = (0..rows).contains(&r) && (0..columns).contains(&c);
                    let one = match boundary {
                        Boundary::Periodic => value(r.rem_euclid(rows), c.rem_euclid(columns)),
                        Boundary::Zero if inside => value(r, c),
                        Boundary::Zero => 0.0,
                    };
                    sum = Some(sum.map_or(weight * one, |sum: f64| sum + weight * one));
                }
                list.push(sum.unwrap());
            }
            list
        };
        everywhere(|world, what| {
            let a = world.from_fn(&shape, |at| value(at[0] as i64, at[1] as i64));
            for boundary in [Boundary::Zero, Boundary::Periodic] {
                let got = a.stencil(&points, boundary).to_vec::<f64>().unwrap();
                assert_eq!(got, expected(boundary), "{shape:?} {boundary:?}, {what}");
            }
            let same = a.halo(&[1, 2], &[0, 3]).to_vec::<f64>().unwrap();
            assert_eq!(same, a.to_vec::<f64>().unwrap());
        });
    }
    let world = Session::threads(2).unwrap();
    let refused = |array: Array, words: &str| {
        let fault = array.compute().unwrap_err().to_string();
        assert!(fault.contains(words), "{fault}");
    };
    refused(world.ones(&[3]).halo(&[1, 1], &[1]), "2 and 1 halo widths, expected one per axis: 1");
    refused(world.ones(&[3]).stencil(&points, Boundary::Zero), "one offset per axis of at most");
    refused(world.ones(&[3]).stencil(&[(&[i64::MIN], 1.0)], Boundary::Zero), "at most 2147483648");
    refused(world.arange(0, 3, 1).stencil(&[(&[1], 1.0)], Boundary::Zero), "and floats");
}

#[test]
fn slices_of_any_step_read_and_write_as_lists_do() {
    cases("slices_of_any_step_read_and_write_as_lists_do", 60, |rng: &mut Rng| {
        let shape = [rng.below(7), rng.below(7)];
        let (ranks, home) = (1 + rng.below(6), HOMES[rng.below(HOMES.len())]);
        let world = Session::threads(ranks).unwrap().dist(home);
        let a = world.from_fn(&shape, |at| element(at[0], at[1]));
        let mut list: Vec<i64> =
            (0..shape[0] * shape[1]).map(|at| element(at / shape[1], at % shape[1])).collect();
        let mut axis = |length: usize| -> (SliceItem, Vec<usize>) {
            let step = [-3i64, -2, -1, 1, 2, 3][rng.below(6)];
            let (skip, keep) = (rng.below(3), 1 + rng.below(7));
            // Every |step|-th from one end, without the first few, at most `keep`.
            let mut all: Vec<usize> = (0..length).collect();
            if step < 0 {
                all.reverse();
            }
            let from = all.get(skip).copied();
            let some = all.into_iter().skip(skip).step_by(usize::try_from(step.abs()).unwrap());
            let some: Vec<usize> = some.take(keep).collect();
            let Some(from) = from else { return (SliceItem::Range(Some(0), Some(0), 1), some) };
            let end = from as i64 + step * some.len() as i64;
            let end = if step < 0 && end < 0 { None } else { Some(end) };
            (SliceItem::Range(Some(from as i64), end, step), some)
        };
        let ((one, rows), (two, columns)) = (axis(shape[0]), axis(shape[1]));
        let cells: Vec<usize> =
            rows.iter().flat_map(|r| columns.iter().map(move |c| r * shape[1] + c)).collect();
        let view = a.get([one, two]);
        assert_eq!(view.shape(), [rows.len(), columns.len()]);
        let expected: Vec<i64> = cells.iter().map(|at| list[*at]).collect();
        assert_eq!(view.to_vec::<i64>().unwrap(), expected, "{one:?} {two:?} {ranks} {home}");
        a.set([one, two], 100 - &view);
        cells.iter().for_each(|at| list[*at] = 100 - list[*at]);
        assert_eq!(a.to_vec::<i64>().unwrap(), list, "set {one:?} {two:?} {ranks} {home}");
    });
}
