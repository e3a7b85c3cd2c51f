//! Ranks that a mesh names first, beyond those with which the session began.

use pantile::prelude::*;
use pantile_testkit::cases;

const STARTS: [usize; 3] = [1, 2, 3];

fn element(at: &[usize]) -> i64 {
    at.iter().fold(7, |number, at| number * 31 + i64::try_from(*at).unwrap()) % 1000
}

fn ranks_of(array: &Array) -> Vec<usize> {
    array.sections().unwrap().iter().map(|section| section.rank).collect()
}

#[test]
fn a_mesh_makes_the_ranks_that_it_names() {
    for start in STARTS {
        for named in [1, start, start + 1, 5, 17] {
            let world = Session::threads(start).unwrap();
            let dist = format!("r={named}: block(r)");
            let a = world.dist(&dist).from_fn(&[11], element);
            let b = world.dist(&dist).arange(0, 11, 1);
            let all: Vec<usize> = (0..named.max(start)).collect();
            for array in [&a, &b] {
                array.compute().unwrap();
                assert_eq!(array.home().unwrap(), format!("11 on {dist}"));
                assert_eq!(ranks_of(array), all, "{start} ranks, {dist}");
            }
            assert_eq!((world.ranks(), world.made_ranks()), (start, all.len()));
            assert_eq!(b.sum().item::<i64>().unwrap(), 55);
            let plain: Vec<i64> = (0..11).map(|at| element(&[at])).collect();
            assert_eq!(a.to_vec::<i64>().unwrap(), plain);
        }
    }
}

#[test]
fn what_names_no_mesh_stays_on_the_ranks_of_the_session() {
    for start in STARTS {
        let world = Session::threads(start).unwrap();
        let before = world.dist("block(r)").from_fn(&[12], element);
        before.compute().unwrap();
        let wide = world.dist("r=5: block(r)").from_fn(&[12], element);
        let both = &before + &wide;
        both.compute().unwrap();
        let home = format!("12 on r={start}: block(r)");
        for dist in ["block(r)", "r=*: block(r)", "auto"] {
            // Recorded with what is on more ranks, in one program.
            let here = world.dist(dist).arange(0, 12, 1);
            let moved = wide.redistribute(dist);
            let sum = here.sum() + wide.sum();
            world.compute(&[&sum, &here, &moved]).unwrap();
            if dist != "auto" {
                assert_eq!(here.home().unwrap(), home);
                assert_eq!(ranks_of(&here), (0..start).collect::<Vec<_>>());
                assert_eq!(moved.home().unwrap(), home);
            }
            assert_eq!(moved.to_vec::<i64>().unwrap(), before.to_vec::<i64>().unwrap());
        }
        assert_eq!(before.home().unwrap(), home);
    }
}

/// Random operations on arrays that live on ever more ranks have the results of one rank.
#[test]
fn arrays_of_fewer_and_more_ranks_meet() {
    let places = [
        "block(r), whole",
        "r=2: whole, block(r)",
        "x=3, y=2: block(x), block(y)",
        "copies",
        "r=7: cyclic(r, 1), whole",
        "x=2 team [4 1]: block(x), whole",
        "r=5: whole, cyclic(r, 2)",
        "auto",
    ];
    cases("arrays on made ranks", 40, |rng| {
        let (worlds, shape) = (STARTS.map(|ranks| Session::threads(ranks).unwrap()), [6, 5]);
        let mut sets = worlds.each_ref().map(|world| {
            [
                world.dist("copies").from_fn(&shape, element),
                world.dist("block(r), whole").zeros(&shape).cast(DType::I64),
            ]
        });
        for _ in 0..8 {
            let (dist, step, first) = (places[rng.below(places.len())], rng.below(6), rng.below(2));
            for (world, set) in worlds.iter().zip(&mut sets) {
                let (a, b) = (set[first].clone(), set[1 - first].clone());
                set[first] = match step {
                    0 => a.redistribute(dist),
                    1 => world.dist(dist).from_fn(&shape, element) + &b,
                    2 => (&a + &b.redistribute(dist)).clip(-1_000_000, 1_000_000),
                    3 => a - b.sum_along(&[0]).clip(-999, 999),
                    4 => {
                        a.set(s![1..4, 2..], b.get(s![2..5, ..3]));
                        a
                    }
                    _ => {
                        a.compute().unwrap();
                        a * 2 - &b
                    }
                };
                set[first] = set[first].clip(-1_000_000, 1_000_000);
            }
        }
        let found =
            sets.each_ref().map(|set| set.each_ref().map(|array| array.to_vec::<i64>().unwrap()));
        assert!(found.iter().all(|one| *one == found[0]));
    });
}

#[test]
fn copies_that_were_computed_beside_more_ranks_are_on_them() {
    for start in STARTS {
        let world = Session::threads(start).unwrap();
        let a = world.dist("block(r)").from_fn(&[12], element);
        let copies = a.replicate();
        // Recorded when the copies named no more ranks than the session has.
        let before = &copies + 1;
        let wide = world.dist("r=6: block(r)").arange(0, 12, 1) + &copies;
        world.compute(&[&copies, &wide]).unwrap();
        let after = &copies * 2;
        let plain = a.to_vec::<i64>().unwrap();
        let expected = |f: fn(i64) -> i64| plain.iter().map(|one| f(*one)).collect::<Vec<_>>();
        assert_eq!(before.to_vec::<i64>().unwrap(), expected(|one| one + 1));
        assert_eq!(after.to_vec::<i64>().unwrap(), expected(|one| one * 2));
        assert_eq!(
            (&before + &after).sum().item::<i64>().unwrap(),
            plain.iter().sum::<i64>() * 3 + 12
        );
    }
}

#[test]
fn numbers_for_programs_come_to_all_ranks_that_it_names() {
    let world = Session::threads(1).unwrap();
    let a = world.dist("r=4: block(r)").from_fn(&[9], element);
    let scale = world.dist("copies").full(&[], 3);
    let scaled = &a * &scale;
    let total = scaled.sum().item::<i64>().unwrap();
    assert_eq!(total, (0..9).map(|at| 3 * element(&[at])).sum::<i64>());
    // Scalars that were computed on fewer ranks, too.
    let own = world.arange(0, 4, 1).sum();
    own.compute().unwrap();
    assert_eq!((&a * &own).sum().item::<i64>().unwrap(), total * 2);
}

#[test]
fn what_cannot_be_made_is_refused_and_changes_nothing() {
    let world = Session::threads(2).unwrap();
    let a = world.arange(0, 8, 1);
    for dist in ["r=4097: block(r)", "x=2 team [0 4096]: block(x)"] {
        for array in [world.dist(dist).zeros(&[8]), a.redistribute(dist)] {
            let fault = array.compute().unwrap_err().to_string();
            assert!(fault.contains("got rank 4096, expected ranks below"), "{fault}");
        }
    }
    assert_eq!(world.made_ranks(), 2);
    assert_eq!(a.sum().item::<i64>().unwrap(), 28);
}
