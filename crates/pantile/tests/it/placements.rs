//! Arrays that are placed by a text, and by a distribution.

use pantile::prelude::*;

fn at(text: &str) -> Distribution {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_distribution_places_arrays_as_its_text_does() {
    for ranks in [1, 2, 3, 5] {
        let world = Session::threads(ranks).unwrap();
        for (shape, place) in [
            (vec![7, 3], "r=2: block(r), whole"),
            (vec![7, 3], "r=3: whole, cyclic(r, 1)"),
            (vec![1, 3], "r=4: block(r), whole"),
            (vec![0, 3], "r=2: block(r), whole"),
            (vec![7, 3], "x=2, y=2: block(x), block(y, last)"),
            (vec![7, 3], "r=2 team [1 0]: block(r, cuts 0 6 7), whole"),
            (vec![6], "rank 1: whole"),
            (vec![6], "r=3: whole"),
        ] {
            let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
            let home = at(&format!("{} on {place}", lengths.join("x")));
            let by_text = world.dist(place).index(&shape, 0);
            let by_value = world.at(&home).index(&shape, 0);
            assert_eq!(by_text.distribution().unwrap(), home, "{place}");
            assert_eq!(by_value.distribution().unwrap(), home, "{place}");
            let both = (&by_text + &by_value).to_vec::<i64>().unwrap();
            let twice = world.index(&shape, 0) * 2;
            assert_eq!(both, twice.to_vec::<i64>().unwrap(), "{place}");
            let moved = world.index(&shape, 0).redistribute_to(&home);
            assert_eq!(moved.distribution().unwrap(), home, "{place}");
            assert_eq!(
                moved.to_vec::<i64>().unwrap(),
                by_text.to_vec::<i64>().unwrap(),
                "{place} on {ranks}"
            );
        }
    }
}

#[test]
fn one_program_serves_a_text_and_its_distribution() {
    let world = Session::threads(2).unwrap();
    let home = at("64 on r=2: block(r)");
    let made = |world: &Session| world.full(&[64], 1.5).sum().item::<f64>().unwrap();
    assert_eq!(made(&world.dist("r=2: block(r)")).to_bits(), made(&world.at(&home)).to_bits());
    let before = world.lowered();
    for _ in 0..20 {
        made(&world.at(&home));
    }
    assert_eq!(world.lowered(), before, "the program is known");
}

#[test]
fn a_distribution_that_is_none_of_the_array_is_refused_at_once() {
    let world = Session::threads(2).unwrap();
    let a = world.arange(0, 8, 1);
    for (text, words) in [
        ("9 on r=2: block(r)", "no distribution of an array of shape [8]"),
        ("8x1 on r=2: block(r), whole", "no distribution of an array of shape [8]"),
        ("8 on r=2: whole; sum(r)", "has terms or boxes"),
        ("8 on r=2: boxes [0:4] [4:8]", "has terms or boxes"),
        ("8 on r=5000: block(r)", "expected ranks below 4096"),
    ] {
        for fault in [a.redistribute_to(&at(text)).fault(), world.at(&at(text)).zeros(&[8]).fault()]
        {
            let fault = fault.unwrap_or_else(|| panic!("{text} is taken")).to_string();
            assert!(fault.contains(words), "{text}: {fault}");
        }
        assert_eq!(a.to_vec::<i64>().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7], "nothing has changed");
    }
}
