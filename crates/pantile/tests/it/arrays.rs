//! Arrays against plain loops, on several numbers of ranks.

use pantile::prelude::*;
use pantile::spmd::Element;

/// Runs the same code on 1, 2, 3 and 7 ranks; the results have to be the same bits.
fn on_ranks(body: impl Fn(&Session) -> Vec<u64>) {
    let alone = body(&Session::threads(1).unwrap());
    for ranks in [2, 3, 7] {
        assert_eq!(body(&Session::threads(ranks).unwrap()), alone, "{ranks} ranks");
    }
}

fn bits(array: &Array) -> Vec<u64> {
    array.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits).collect()
}

fn all<T: Element>(array: &Array) -> Vec<T> {
    array.to_vec().unwrap()
}

#[test]
fn a_heat_equation_is_that_of_plain_loops() {
    let (n, turns) = (9usize, 6);
    let mut plain = vec![0.0f64; n * n];
    for (at, value) in plain.iter_mut().enumerate() {
        *value = ((at * 7) % 11) as f64 / 10.0;
    }
    let start = plain.clone();
    for _ in 0..turns {
        let old = plain.clone();
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                let at = i * n + j;
                plain[at] = 0.25 * (((old[at - n] + old[at + n]) + old[at - 1]) + old[at + 1]);
            }
        }
    }
    for dist in [
        "copies",
        "block(r), whole",
        "whole, block(r)",
        "cyclic(r, 2), whole",
        "x=1, y=*: block(x), block(y)",
    ] {
        for ranks in [1, 2, 3, 4, 12] {
            let world = Session::threads(ranks).unwrap().dist(dist);
            let u = world.from_vec(&[n, n], &start);
            for _ in 0..turns {
                let near = u.get(s![..-2, 1..-1])
                    + u.get(s![2.., 1..-1])
                    + u.get(s![1..-1, ..-2])
                    + u.get(s![1..-1, 2..]);
                u.set(s![1..-1, 1..-1], 0.25 * near);
            }
            assert_eq!(all::<f64>(&u), plain, "{dist} on {ranks} ranks");
        }
    }
}

#[test]
fn views_share_their_elements() {
    let world = Session::threads(3).unwrap();
    let a = world.arange(0.0, 10.0, 1.0);
    let (even, copy) = (a.get(s![by(.., 2)]), a.copy());
    let inner = even.get(s![1..3]);
    a.set(s![2], 20.0);
    assert_eq!(all::<f64>(&inner), [20.0, 4.0]);
    inner.assign(-1.0);
    assert_eq!(all::<f64>(&a), [0.0, 1.0, -1.0, 3.0, -1.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    even.set(s![by(.., -1)], world.arange(0.0, 5.0, 1.0));
    assert_eq!(all::<f64>(&a), [4.0, 1.0, 3.0, 3.0, 2.0, 5.0, 1.0, 7.0, 0.0, 9.0]);
    assert_eq!(all::<f64>(&copy), (0..10).map(f64::from).collect::<Vec<_>>());
    let mut b = a.clone();
    b += 1.0;
    assert_eq!(a.get(s![0]).item::<f64>().unwrap(), 5.0, "a clone is the same array");
    // An array assigned to itself, shifted.
    let c = world.arange(0.0, 6.0, 1.0);
    c.set(s![1..], c.get(s![..-1]));
    assert_eq!(all::<f64>(&c), [0.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
    // Columns and rows of one index.
    let m = world.zeros(&[3, 4]);
    m.set(s![.., 1], world.arange(1.0, 4.0, 1.0));
    m.set(s![2, ..], 7.0);
    assert_eq!(
        m.to_string(),
        "[[0.0, 1.0, 0.0, 0.0],\n [0.0, 2.0, 0.0, 0.0],\n [7.0, 7.0, 7.0, 7.0]]"
    );
}

#[test]
fn numbers_take_the_type_of_the_array() {
    let world = Session::threads(2).unwrap();
    let whole = world.index(&[4], 0);
    assert_eq!((&whole + 1).dtype(), DType::I64);
    assert_eq!((&whole + 0.5).dtype(), DType::F64);
    assert_eq!((&whole / 2).dtype(), DType::F64);
    let single = whole.cast(DType::F32);
    assert_eq!((2 * &single).dtype(), DType::F32);
    assert_eq!((2.5 * &single).dtype(), DType::F32);
    assert_eq!(single.less(2.0).dtype(), DType::Bool);
    assert_eq!((&whole.cast(DType::U8) + 1).dtype(), DType::U8);
    assert_eq!(all::<i64>(&(10 - &whole)), [10, 9, 8, 7]);
    assert_eq!(all::<i64>(&whole.greater(1).choose(&whole, -1)), [-1, -1, 2, 3]);
    assert_eq!(all::<bool>(&!whole.less(2)), [false, false, true, true]);
    assert_eq!(all::<i64>(&whole.clip(1, 2)), [1, 1, 2, 2]);
}

#[test]
fn results_have_the_same_bits_on_any_number_of_ranks() {
    on_ranks(|world| {
        let x = world.dist("block(r), whole").normal(7, &[37, 5]);
        let y = world.dist("whole, block(r)").uniform(8, &[37, 5]);
        let z = (&x * 0.1).sin() + y.exp().log1p() / (&y + 1.0).sqrt();
        let scaled = (&z - z.mean_along(&[0])) / z.std_along(&[0]);
        let mut list = bits(&scaled);
        list.extend(bits(&z.norm_along(&[1])));
        for scalar in [z.sum(), z.var(), z.prod(), z.min(), z.max(), z.norm()] {
            list.extend(bits(&scalar));
        }
        list.push(z.argmax().item::<i64>().unwrap().cast_unsigned());
        list.extend(bits(&z.t().reshape(&[5 * 37]).get(s![by(.., -3)])));
        list.extend(bits(&z.redistribute("cyclic(r, 3), whole").sum_along(&[1])));
        list
    });
}

#[test]
fn mistakes_name_the_line_and_lose_nothing() {
    let world = Session::threads(2).unwrap();
    let (a, b) = (world.zeros(&[3, 4]), world.ones(&[5]));
    let line = line!() + 1;
    let wrong = &a + &b;
    let fault = (wrong.sum() * 2.0).item::<f64>().unwrap_err();
    assert_eq!(fault.place.line, line);
    assert!(fault.to_string().contains("shapes [3, 4] and [5]"), "{fault}");
    assert!(wrong.to_string().starts_with("fault: "));
    let refused = |array: Array, words: &str| {
        let fault = array.compute().unwrap_err();
        assert!(fault.to_string().contains(words), "{fault}");
    };
    refused(a.get(s![3, ..]).copy(), "index 3 is not among its 3");
    refused(a.get(s![.., .., 0]).copy(), "a slice of 3 axes");
    refused(a.reshape(&[5]), "[5] for the elements of shape [3, 4]");
    refused(a.permute(&[0, 0]), "a permutation of the 2 axes");
    refused(a.sum_along(&[2]), "along [2] of shape [3, 4]");
    refused(a.redistribute("blocks(r)"), "blocks");
    refused(a.choose(1.0, 2.0), "a condition of type f64, expected bool");
    refused(world.from_vec(&[2], &[1.0]), "1 elements for shape [2], expected 2");
    refused(world.dist("x=4097: block(x)").zeros(&[4]), "rank 4096");
    refused(world.arange(0.0, 1.0, 0.0), "finitely many");
    refused(a.less(1.0) - true, "subtract");
    assert!(a.to_vec::<f32>().unwrap_err().to_string().contains("expected f32"));
    assert!(a.item::<f64>().unwrap_err().to_string().contains("expected one element"));
    let c = world.zeros(&[2]);
    c.set(s![..], world.zeros(&[3]));
    assert!(c.compute().unwrap_err().to_string().contains("shape [3] for a slice of shape [2]"));
    assert!(Session::threads(0).is_err());
    // The world still works.
    assert_eq!((a + 1.0).sum().item::<f64>().unwrap(), 12.0);
}

#[test]
fn a_loop_plans_once_and_its_memory_stays_flat() {
    let world = Session::threads(2).unwrap();
    let u = world.dist("block(r)").arange(0.0, 64.0, 1.0);
    let step = |u: &Array| {
        u.set(s![1..-1], 0.5 * (u.get(s![..-2]) + u.get(s![2..])));
        u.compute().unwrap();
    };
    (0..3).for_each(|_| step(&u));
    let (lowered, compiled) = (world.lowered(), world.counters().compiled);
    (0..100).for_each(|_| step(&u));
    assert_eq!((world.lowered(), world.counters().compiled), (lowered, compiled));
    // Without looking at it in between, too.
    let v = world.zeros(&[16]);
    for _ in 0..20_000 {
        v.set(s![0], &v.get(s![0]) + 1.0);
    }
    assert_eq!(v.sum().item::<f64>().unwrap(), 20_000.0);
}

#[test]
fn more_ranks_than_elements() {
    let world = Session::threads(300).unwrap();
    let a = world.dist("block(r)").arange(0.0, 10.0, 1.0);
    let b = a.get(s![by(.., -1)]) * 2.0 + &a;
    assert_eq!(all::<f64>(&b), (0..10).map(|i| f64::from(18 - i)).collect::<Vec<_>>());
    assert_eq!(b.sum().item::<f64>().unwrap(), 135.0);
    let none = world.zeros(&[0, 3]);
    assert_eq!(none.sum().item::<f64>().unwrap(), 0.0);
    assert_eq!(all::<f64>(&none.mean_along(&[1])), []);
}

#[test]
fn what_it_will_cost_is_known_before() {
    let world = Session::threads(4).unwrap();
    let u = world.dist("block(r), whole").zeros(&[64, 64]);
    u.compute().unwrap();
    let before = world.counters();
    let near = u.get(s![..-2, ..]) + u.get(s![2.., ..]);
    let text = near.explain().unwrap();
    assert_eq!(world.counters(), before, "nothing ran");
    assert!(text.contains("moves 3072 bytes in 3 messages"), "{text}");
    near.compute().unwrap();
    assert_eq!(world.counters().bytes - before.bytes, 3072);
}
