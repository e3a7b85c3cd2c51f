//! What writing does to held and room, selecting an index, sub-meshes.

use pantile_geometry::{Distribution, Error, Region};

fn parse(text: &str) -> Distribution {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn written(text: &str, ranges: &[(usize, usize)]) -> Result<Distribution, Error> {
    parse(text).written_part(&Region::from_ranges(ranges))
}

#[test]
fn writing_everything_makes_halos_room() {
    for (before, after) in [
        ("8 on r=2: block(r) halo 1", "8 on r=2: block(r) room halo 1"),
        ("8 on r=2: block(r)", "8 on r=2: block(r)"),
        ("8 on r=2: block(r) halo -1", "8 on r=2: block(r)"),
        ("8 on r=2: block(r) held 0:2 2:8 room 0:3 1:8", "8 on r=2: block(r) room 0:4 1:8"),
        ("8 on r=2: block(r) periodic halo 2", "8 on r=2: block(r) periodic room halo 2"),
        ("8x4 on r=2: cyclic(r, 1), whole held 1:3", "8x4 on r=2: cyclic(r, 1), whole"),
    ] {
        let got = parse(before).written().expect("blocks can be written");
        assert_eq!(got, parse(after), "{before}");
    }
}

#[test]
fn writing_a_part_makes_halos_stale_only_where_somebody_has_it() {
    let halos = "8 on r=2: block(r) halo 1";
    assert_eq!(written(halos, &[(0, 3)]), Ok(parse(halos)), "only its owner holds 0:3");
    assert_eq!(written(halos, &[(2, 4)]), Ok(parse("8 on r=2: block(r) room halo 1")));
    assert_eq!(written(halos, &[(3, 3)]), Ok(parse(halos)), "nothing is written");
    let tiles = "8x8 on x=2, y=2: block(x) halo 1, block(y) halo 1";
    let stale = "8x8 on x=2, y=2: block(x) room halo 1, block(y) room halo 1";
    assert_eq!(written(tiles, &[(0, 2), (0, 3)]), Ok(parse(tiles)));
    assert_eq!(written(tiles, &[(0, 2), (3, 4)]), Ok(parse(stale)), "one axis is enough");
    let ring = "8 on r=1: block(r) periodic halo 1";
    assert_eq!(written(ring, &[(0, 1)]), Ok(parse("8 on r=1: block(r) periodic room halo 1")));
}

#[test]
fn owners_must_hold_what_they_write_in_part() {
    let window = "8 on r=2: block(r) held 0:3 3:8";
    assert_eq!(written(window, &[(0, 1)]), Err(Error::NotHeld { axis: 0, coordinate: 0 }));
    let terms = "8 on r=2: block(r) halo 1; sum(0)";
    assert!(written(terms, &[(0, 1)]).is_err());
    assert!(written("4 on r=2: boxes [0:2] [1:4]", &[(0, 1)]).is_err());
}

#[test]
fn one_index_lives_with_its_owner() {
    let tiles = parse("8x6 on x=2, y=3: block(x), block(y)");
    let row = tiles.select(0, 5).expect("an index");
    assert_eq!(row, parse("6 on y=3 team [3 4 5]: block(y)"));
    assert_eq!(row.to_string(), "6 on y=3 team from 3 by 1: block(y)");
    let cell = row.select(0, 1).expect("an index");
    assert_eq!(cell, parse("scalar on rank 3:"));
    let copies = parse("8x6 on x=2, y=3: whole, block(y)").select(1, 3).expect("an index");
    assert_eq!(copies, parse("8 on x=2 team [1 4]: whole"));
    let both = parse("12 on x=2, y=3: block(y*x)").select(0, 11).expect("an index");
    assert_eq!(both, parse("scalar on rank 5:"));
    for (text, axis, index) in [
        ("8 on r=2: block(r) halo 1; sum(0)", 0, 3),
        ("8 on r=2: block(r) held 0:3 4:8", 0, 3),
        ("8 on r=2: block(r)", 0, 8),
        ("8 on r=2: block(r)", 1, 0),
        ("8 on r=2: boxes [0:8] [0:8]", 0, 0),
    ] {
        assert!(parse(text).select(axis, index).is_err(), "{text}[{index}]");
    }
}

#[test]
fn defaults_of_arrays_nobody_places() {
    let auto = |shape: &[usize]| Distribution::auto(shape, 4).expect("small");
    assert_eq!(auto(&[10, 10]), parse("10x10 on r=4: whole, whole"));
    assert_eq!(auto(&[64, 64]), parse("64x64 on r=4: block(r), whole"));
    assert_eq!(auto(&[]), parse("scalar on r=4:"));
}
