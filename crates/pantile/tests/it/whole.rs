//! New arrays, reductions and shapes against plain loops, on several numbers of ranks.

use pantile::array::{Number, Random};
use pantile::prelude::*;

const RANKS: [usize; 5] = [1, 2, 3, 5, 40];

#[test]
fn new_arrays() {
    for ranks in RANKS {
        for home in ["auto", "copies", "block", "cyclic(r, 2)"] {
            let world = Session::threads(ranks).unwrap().dist(home);
            let what = format!("{home} on {ranks} ranks");
            for n in [0, 1, 2, 7] {
                assert_eq!(world.zeros(&[n]).to_vec::<f64>().unwrap(), vec![0.0; n], "{what}");
                assert_eq!(world.ones(&[n]).to_vec::<f64>().unwrap(), vec![1.0; n], "{what}");
                assert_eq!(world.full(&[n], 3).to_vec::<i64>().unwrap(), vec![3; n], "{what}");
                let small = world.full_of(&[n], 3, DType::U8);
                assert_eq!(small.to_vec::<u8>().unwrap(), vec![3; n], "{what}");
                let whole = world.index(&[n], 0).to_vec::<i64>().unwrap();
                assert!(whole.into_iter().eq(0..i64::try_from(n).unwrap()), "{what}");
                let (a, b) = (world.empty(&[n]), world.empty_of(&[n], DType::Bool));
                a.assign(2.5);
                b.assign(true);
                assert_eq!(a.to_vec::<f64>().unwrap(), vec![2.5; n], "{what}");
                assert_eq!(b.to_vec::<bool>().unwrap(), vec![true; n], "{what}");
                let parts = |open: f64| (0..n).map(move |i| 1.0 + i as f64 * (2.0 / open));
                let open: Vec<f64> = parts(n as f64).collect();
                assert_eq!(world.linspace_open(1.0, 3.0, n).to_vec::<f64>().unwrap(), open);
                let mut closed: Vec<f64> = parts((n as f64 - 1.0).max(1.0)).collect();
                closed.iter_mut().skip(1).last().into_iter().for_each(|last| *last = 3.0);
                assert_eq!(world.linspace(1.0, 3.0, n).to_vec::<f64>().unwrap(), closed, "{n}");
            }
        }
        let world = Session::threads(ranks).unwrap();
        for k in -4..5i64 {
            let eye = world.eye_at(3, 4, k).to_vec::<f64>().unwrap();
            let on = |at: i64| at % 4 == at / 4 + k;
            assert_eq!(eye, (0..12).map(|at| f64::from(u8::from(on(at)))).collect::<Vec<_>>());
        }
        assert_eq!(world.eye(2, 2).to_vec::<f64>().unwrap(), [1.0, 0.0, 0.0, 1.0]);
    }
}

#[test]
fn ranges_are_counted_one_by_one() {
    let world = Session::threads(3).unwrap();
    for (start, stop) in (-5..6).flat_map(|start| (-5..6).map(move |stop| (start, stop))) {
        for step in [-4, -3, -1, 1, 2, 7i64] {
            let mut list = Vec::new();
            let mut at = start;
            while (step > 0 && at < stop) || (step < 0 && at > stop) {
                list.push(at);
                at += step;
            }
            let got = world.arange(start, stop, step);
            assert_eq!(got.shape(), [list.len()], "{start} {stop} {step}");
            assert_eq!(got.to_vec::<i64>().unwrap(), list, "{start} {stop} {step}");
            let floats: Vec<f64> = list.iter().map(|at| *at as f64 / 4.0).collect();
            let got = world.arange(start as f64 / 4.0, stop as f64 / 4.0, step as f64 / 4.0);
            assert_eq!(got.to_vec::<f64>().unwrap(), floats);
        }
    }
    let ends = world.arange(i64::MIN, i64::MAX, i64::MAX);
    assert_eq!(ends.to_vec::<i64>().unwrap(), [i64::MIN, -1, i64::MAX - 1]);
    assert_eq!(world.arange(0, 1.5, 1).to_vec::<f64>().unwrap(), [0.0, 1.0]);
    let refused = |array: Array, words: &str| {
        let fault = array.compute().unwrap_err().to_string();
        assert!(fault.contains(words), "{fault}");
    };
    refused(world.arange(0, 5, 0), "got arange(0, 5, 0), expected finitely many real numbers");
    refused(world.arange(0.0, f64::INFINITY, 1), "got arange(0, inf, 1)");
    refused(world.arange(0, f64::NAN, 1), "got arange(0, NaN, 1)");
    let turned = Number::Complex(pantile::ir::Complex::new(0.0, 1.0));
    refused(world.arange(0, turned, 1), "got arange(0, (0, 1), 1)");
    refused(world.arange(false, true, 1), "got arange(false, true, 1)");
    refused(world.index(&[2], 1), "axis 1, expected one of the 1 of [2]");
}

#[test]
fn random_numbers_belong_to_seed_stream_and_place() {
    let alone = Session::threads(1).unwrap();
    for (kind, mean, deviation) in
        [(Random::Uniform, 0.5, (1.0f64 / 12.0).sqrt()), (Random::Normal, 0.0, 1.0)]
    {
        let (shape, count) = ([100, 100], 10_000);
        let all = alone.random(kind, (3, 2), &shape).to_vec::<f64>().unwrap();
        let sum: f64 = all.iter().sum();
        assert!((sum / f64::from(count) - mean).abs() < 0.05, "{kind:?}");
        let squares: f64 = all.iter().map(|x| (x - mean).powi(2)).sum();
        assert!(((squares / f64::from(count)).sqrt() - deviation).abs() < 0.05, "{kind:?}");
        for ranks in [2, 3, 5] {
            let world = Session::threads(ranks).unwrap().dist("whole, block(r)");
            assert_eq!(world.random(kind, (3, 2), &shape).to_vec::<f64>().unwrap(), all);
        }
        for other in [(3, 0), (4, 2)] {
            assert_ne!(alone.random(kind, other, &shape).to_vec::<f64>().unwrap(), all);
        }
    }
    let (one, other) = (alone.uniform(3, &[5]), alone.random(Random::Uniform, (3, 0), &[5]));
    assert!(one.equal(other).all().item::<bool>().unwrap());
}

/// What a list leaves; truths as 0 and 1. The numbers are such that all sums are exact.
fn plain(reduction: Reduction, list: &[f64]) -> f64 {
    let sum = || list.iter().sum::<f64>();
    let mean = sum() / list.len() as f64;
    let var = || list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / list.len() as f64;
    let first = |best: f64| list.iter().position(|x| *x == best).unwrap() as f64;
    let (min, max) = list
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let truth = |value: bool| f64::from(u8::from(value));
    match reduction {
        Reduction::Max => max,
        Reduction::Min => min,
        Reduction::Mean => mean,
        Reduction::Prod => list.iter().product(),
        Reduction::Sum => sum(),
        Reduction::Std => var().sqrt(),
        Reduction::Var => var(),
        Reduction::Any => truth(list.iter().any(|x| *x != 0.0)),
        Reduction::All => truth(list.iter().all(|x| *x != 0.0)),
        Reduction::ArgMin => first(min),
        Reduction::ArgMax => first(max),
        Reduction::CountNonZero => list.iter().filter(|x| **x != 0.0).count() as f64,
        Reduction::Norm1 => list.iter().map(|x| x.abs()).sum(),
        Reduction::Norm2 => list.iter().map(|x| x * x).sum::<f64>().sqrt(),
        Reduction::NormInf => list.iter().fold(0.0, |most, x| most.max(x.abs())),
    }
}

/// The methods of a reduction: of all elements, and along axes.
fn methods(reduction: Reduction, a: &Array, axes: &[usize]) -> (Array, Array) {
    match reduction {
        Reduction::Max => (a.max(), a.max_along(axes)),
        Reduction::Min => (a.min(), a.min_along(axes)),
        Reduction::Mean => (a.mean(), a.mean_along(axes)),
        Reduction::Prod => (a.prod(), a.prod_along(axes)),
        Reduction::Sum => (a.sum(), a.sum_along(axes)),
        Reduction::Std => (a.std(), a.std_along(axes)),
        Reduction::Var => (a.var(), a.var_along(axes)),
        Reduction::Any => (a.any(), a.any_along(axes)),
        Reduction::All => (a.all(), a.all_along(axes)),
        Reduction::ArgMin => (a.argmin(), a.argmin_along(axes)),
        Reduction::ArgMax => (a.argmax(), a.argmax_along(axes)),
        Reduction::CountNonZero => (a.count_nonzero(), a.count_nonzero_along(axes)),
        Reduction::Norm1 => (a.norm1(), a.norm1_along(axes)),
        Reduction::Norm2 => (a.norm(), a.norm_along(axes)),
        Reduction::NormInf => (a.norm_inf(), a.norm_inf_along(axes)),
    }
}

#[test]
fn every_reduction_along_any_axes() {
    let shape = [3usize, 2, 4];
    let value = |at: &[usize]| ((at[0] * 5 + at[1] * 7 + at[2] * 3) % 8) as f64 - 3.0;
    let indices = || (0..24).map(|at: usize| [at / 8, at / 4 % 2, at % 4]);
    for ranks in RANKS {
        for home in ["block(r), whole, whole", "whole, whole, cyclic(r, 1)", "auto", "copies"] {
            let world = Session::threads(ranks).unwrap().dist(home);
            let a = world.from_fn(&shape, value);
            for axes in [&[][..], &[0], &[1], &[2], &[1, 0], &[0, 2], &[1, 2], &[0, 1, 2]] {
                let kept: Vec<usize> = (0..3).filter(|axis| !axes.contains(axis)).collect();
                let mut groups = std::collections::BTreeMap::<Vec<usize>, Vec<f64>>::new();
                for index in indices() {
                    let key = kept.iter().map(|axis| index[*axis]).collect();
                    groups.entry(key).or_default().push(value(&index));
                }
                for reduction in Reduction::ALL {
                    let expected: Vec<f64> =
                        groups.values().map(|list| plain(reduction, list)).collect();
                    let (all, along) = methods(reduction, &a, axes);
                    let what = format!("{} {axes:?} {home} {ranks}", reduction.name());
                    let shape: Vec<usize> = kept.iter().map(|axis| shape[*axis]).collect();
                    assert_eq!(along.shape(), shape, "{what}");
                    near(&along, &expected, &what);
                    let every: Vec<f64> = indices().map(|index| value(&index)).collect();
                    if axes.is_empty() {
                        near(&all, &[plain(reduction, &every)], &what);
                        let kept = a.reduce(reduction, Some(&[2, 0]), true, 0.0);
                        assert_eq!(kept.shape(), [1, 2, 1], "{what}");
                    }
                }
            }
        }
    }
}

fn near(got: &Array, expected: &[f64], what: &str) {
    let got = got.cast(DType::F64).to_vec::<f64>().unwrap();
    let close = |(one, other): (&f64, &f64)| (one - other).abs() <= 1e-14 * other.abs();
    assert!(
        got.len() == expected.len() && got.iter().zip(expected).all(close),
        "{what}: got {got:?}, expected {expected:?}"
    );
}

#[test]
fn corrections_and_arrays_without_elements() {
    for ranks in RANKS {
        let world = Session::threads(ranks).unwrap();
        let a = world.from_vec(&[4], &[1.0, 2.0, 4.0, 5.0]);
        let var = a.reduce(Reduction::Var, None, false, 1.0).item::<f64>().unwrap();
        assert_eq!(var, 10.0 / 3.0);
        let none = world.zeros(&[0, 3]);
        assert_eq!(none.sum_along(&[0]).to_vec::<f64>().unwrap(), [0.0; 3]);
        assert_eq!(none.prod_along(&[0]).to_vec::<f64>().unwrap(), [1.0; 3]);
        assert_eq!(none.any_along(&[0]).to_vec::<bool>().unwrap(), [false; 3]);
        assert_eq!(none.all_along(&[0]).to_vec::<bool>().unwrap(), [true; 3]);
        assert_eq!(none.count_nonzero().item::<i64>().unwrap(), 0);
        assert_eq!(none.norm1_along(&[0]).to_vec::<f64>().unwrap(), [0.0; 3]);
        assert_eq!(none.max_along(&[1]).to_vec::<f64>().unwrap(), []);
        assert!(none.mean_along(&[0]).is_nan().all().item::<bool>().unwrap());
        for of in [&none.clip(-1, 1), &none.exp(), &none.cast(DType::I64).cast(DType::F64)] {
            assert_eq!(of.to_vec::<f64>().unwrap(), []);
        }
        assert_eq!(none.t().shape(), [3, 0]);
        assert_eq!(none.reshape(&[5, 0, 2]).to_vec::<f64>().unwrap(), []);
        assert_eq!(none.broadcast_to(&[2, 0, 3]).replicate().to_vec::<f64>().unwrap(), []);
        assert_eq!(none.redistribute("whole, block(r)").to_vec::<f64>().unwrap(), []);
    }
}

#[test]
fn shapes_and_homes_keep_the_elements() {
    for ranks in RANKS {
        for home in ["block(r), whole, whole", "whole, cyclic(r, 2), whole", "auto", "copies"] {
            let world = Session::threads(ranks).unwrap().dist(home);
            let what = format!("{home} on {ranks} ranks");
            let a = world.from_fn(&[4, 3, 5], |at| (at[0] * 15 + at[1] * 5 + at[2]) as f64);
            let list: Vec<f64> = (0..60).map(f64::from).collect();
            for shape in [&[60][..], &[5, 12], &[2, 2, 3, 5], &[3, 20]] {
                let got = a.reshape(shape);
                assert_eq!(got.shape(), shape);
                assert_eq!(got.to_vec::<f64>().unwrap(), list, "{shape:?} {what}");
            }
            for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let lengths = axes.map(|axis| [4, 3, 5][axis]);
                let by = axes.map(|axis| [15, 5, 1][axis]);
                let mut expected = Vec::new();
                for i in 0..lengths[0] {
                    for j in 0..lengths[1] {
                        expected.extend(
                            (0..lengths[2]).map(|k| f64::from(i * by[0] + j * by[1] + k * by[2])),
                        );
                    }
                }
                assert_eq!(a.permute(&axes).to_vec::<f64>().unwrap(), expected, "{axes:?} {what}");
            }
            let row = a.get(s![2, 1..2, ..]);
            let wide = row.broadcast_to(&[3, 2, 5]).to_vec::<f64>().unwrap();
            let expected: Vec<f64> = (0..30).map(|at| f64::from(35 + at % 5)).collect();
            assert_eq!(wide, expected, "{what}");
            let whole = a.replicate();
            assert_eq!(whole.to_vec::<f64>().unwrap(), list, "{what}");
            // On one rank everything is everywhere already.
            let text = whole.home().unwrap();
            assert!(ranks == 1 || text.contains("whole, whole, whole"), "{text}, {what}");
            let moved = a.redistribute("whole, whole, block(r)");
            assert_eq!(moved.to_vec::<f64>().unwrap(), list, "{what}");
            let text = moved.home().unwrap();
            assert!(ranks == 1 || text.contains("whole, whole, block(r)"), "{text}, {what}");
        }
    }
    let world = Session::threads(2).unwrap();
    let fault = world.ones(&[2]).broadcast_to(&[3]).compute().unwrap_err().to_string();
    assert!(fault.contains("shape [2] does not broadcast to [3]"), "{fault}");
    let fault = world.ones(&[2]).reduce(Reduction::Sum, Some(&[0, 0]), false, 0.0);
    assert!(fault.compute().unwrap_err().to_string().contains("different axes"));
}

#[test]
fn shapes_beyond_all_numbers_are_refused() {
    let world = Session::threads(2).unwrap();
    let huge = [usize::MAX, 3];
    let refused = |array: Array| {
        let fault = array.sum().item::<f64>().unwrap_err();
        assert!(fault.to_string().contains(&format!("{huge:?}")), "{fault}");
        assert!(fault.place.line > 0, "{fault}");
    };
    refused(world.zeros(&huge));
    refused(world.index(&huge, 0));
    refused(world.uniform(1, &huge));
    refused(world.eye(huge[0], huge[1]));
    refused(world.from_fn(&huge, |_| 0.0));
    refused(world.from_vec(&huge, &[0.0]));
    refused(world.ones(&[3]).reshape(&huge));
    refused(world.ones(&[3]).broadcast_to(&huge));
    assert_eq!(world.zeros(&[usize::MAX, 3, 0]).size(), 0);
    let outer = world.zeros(&[1 << 40, 1]) + world.zeros(&[1, 1 << 40]);
    assert!(outer.compute().unwrap_err().to_string().contains("expected at most"));
}
