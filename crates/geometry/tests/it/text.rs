//! The text form of distributions: what it accepts, prints and refuses.

use pantile_geometry::{Distribution, Error};

fn parse(text: &str) -> Distribution {
    text.parse().unwrap_or_else(|error: Error| panic!("{error}"))
}

/// Prints back exactly.
#[test]
fn canonical_texts_round_trip() {
    for text in [
        "8x6 on x=2, y=3: block(x) halo 1, cyclic(y, 2)",
        "scalar on r=4:",
        "scalar on rank 7:",
        "0x5 on r=2: block(r), whole",
        "10 on r=4: block(r, ceil)",
        "10 on r=4: block(r, last) halo 1 2",
        "10 on r=3: block(r, cuts 0 3 3 10) held 0:4 3:3 2:10 room 0:5 3:3 1:10",
        "10 on r=2: block(r) periodic halo 2 room halo 3",
        "10 on x=2, y=3: block(y*x) halo -1",
        "7 on r=3: indexed(r, [3 0] [4 2 1] [5 6])",
        "5 on r=2: indexed(r, [-3 100] [7 0 -50] universe [-50 -3 0 7 100])",
        "5 on r=2: cyclic(r, 2) of 16 from 1 by 3",
        "5 on r=2: block(r) of 16 from 13 by -3 halo 1",
        "8 on r=4: whole; sum(r)",
        "8x8 on x=2, y=2: block(x) halo 1, whole; max(0, y)",
        "8 on x=2, y=2 team [3 1 2 0]: block(x)",
        "8 on x=2, y=2 team from 4 by 10 1: block(x)",
        "8x6 on r=2: boxes [0:4, 0:6] [2:8, 1:3]; sum(boxes)",
        "8 on r=1: whole held 2:5",
    ] {
        let parsed = parse(text);
        assert_eq!(parsed.to_string(), text);
        assert_eq!(parse(&parsed.to_string()), parsed);
        assert_eq!(parse(&parsed.normal().to_string()), parsed, "normal form of {text}");
        assert_eq!(parse(&parsed.normal().to_string()).fingerprint(), parsed.fingerprint());
    }
}

#[test]
fn equal_distributions_in_several_spellings() {
    for (a, b) in [
        ("8 on r=4: block(r, ceil)", "8 on z=4: block(z, cuts 0 2 4 6 8)"),
        ("5 on r=4: block(r, ceil)", "5 on r=4: block(r, cuts 0 2 4 5 5)"),
        ("8 on r=4: block(r) halo 0", "8 on r=4: block(r); max(0)"),
        ("8 on x=4, y=1: block(x*y)", "8 on q=1, x=4: block(x); sum(q)"),
        ("8 on r=2: block(r) halo 9", "8 on r=2: block(r) held 0:8 0:8"),
        ("8 on r=1: block(r)", "8 on r=1: cyclic(r, 3)"),
        ("5 on r=2: block(r) of 10 from 1 by 2", "5 on r=2: block(r, cuts 0 2 5)"),
        ("10 on r=2: block(r) periodic", "10 on r=2: block(r)"),
        ("3 on r=2: whole of 7 from 6 by -3", "3 on r=2: whole"),
        ("1 on r=3: block(r) of 9 from 8 by -5", "1 on r=3: block(r, cuts 0 0 0 1)"),
        ("8 on x=2, y=2 team [0 1 2 3]: block(x)", "8 on x=2, y=2: block(x)"),
        ("8 on r=2: block(r) held 0:0 4:8", "8 on r=2: block(r) held 2:2 4:8"),
    ] {
        let (a, b) = (parse(a), parse(b));
        assert_eq!(a, b, "{a} / {b}");
        assert_eq!(a.fingerprint(), b.fingerprint(), "{a} / {b}");
    }
    for (a, b) in [
        ("8 on r=4: whole", "8 on r=4: whole; sum(r)"),
        ("8 on r=4: whole; max(r)", "8 on r=4: whole; sum(r)"),
        ("8 on r=4: block(r) halo 1", "8 on r=4: block(r) halo 1; sum(0)"),
        ("8 on r=4: block(r)", "8 on r=4 team [3 2 1 0]: block(r)"),
        ("10 on r=4: block(r)", "10 on r=4: block(r, ceil)"),
        ("8 on r=2: block(r) held 0:3 4:8", "8 on r=2: block(r) held 0:3 4:8; sum(0)"),
    ] {
        assert_ne!(parse(a), parse(b), "{a} / {b}");
    }
}

/// What is held as a list is a halo once nobody leaves the axis, and was not before.
#[test]
fn a_periodic_axis_that_nobody_leaves_had_two_normal_forms() {
    let made = parse("8 on r=2: block(r) periodic held 0:8 0:8");
    let plain = parse("8 on r=2: block(r) held 0:8 0:8");
    assert_eq!(made.normal().normal().to_string(), made.normal().to_string());
    assert_eq!((made.normal(), made.fingerprint()), (made.clone(), plain.fingerprint()));
    assert_eq!(made, plain);
}

/// (text, line, column, part of the message).
#[test]
fn faults_name_the_place() {
    for (text, column, message) in [
        ("8 on r=4 block(r)", 10, "expected `:`, found `block`"),
        ("8 on r=4: blok(r)", 11, "expected `whole`, `block`"),
        ("8 on r=4: block(q)", 17, "mesh axis `q` does not exist on this mesh"),
        ("8 on r=0: block(r)", 6, "has extent 0"),
        ("8 on r=2: block(r, cuts 0 3)", 11, "got 2 cuts of a block axis, expected 3"),
        ("8 on r=2: block(r, cuts 0 5 7)", 11, "cuts 0:7 of coordinate 0"),
        ("8x8 on r=2: block(r), block(r)", 29, "mesh axis `r` is used twice"),
        ("8 on r=2: block(r), whole", 11, "got 2 axis descriptions, expected 1"),
        ("8 on r=2: cyclic(r, 0)", 11, "cyclic blocks of 0"),
        ("8x8 on r=2: whole, cyclic(r, 0)", 20, "cyclic blocks of 0"),
        ("8x8 on r=2: whole, block(r) held 0:9 3:4", 20, "is not an interval within 0:8"),
        ("99999999999999999999 on r=2: whole", 1, "99999999999999999999 does not fit in 64 bits"),
        ("8 on r=2: cyclic(r, 1) halo 1", 11, "is not cut in blocks"),
        ("8 on r=2: block(r) halo 1 halo 2", 27, "each modifier at most once"),
        ("8 on r=2: block(r) held 0:9 3:4", 11, "is not an interval within 0:8"),
        ("8 on r=2: indexed(r, [0 1] [1 8])", 11, "label 8 of coordinate 1"),
        ("8 on r=2: indexed(r, [0 0] [1])", 11, "label 0 is listed twice"),
        ("8 on r=2 team [1 1]: whole", 15, "world rank 1 is listed twice"),
        ("8 on r=2 team [0..99]: whole", 15, "more than 2 numbers"),
        ("8 on r=2: whole; total(r)", 18, "expected sum, prod"),
        ("8 on r=2: whole; sum(q)", 18, "mesh axis `q` does not exist"),
        ("8 on r=2: block(r); sum(r)", 21, "cuts an array axis"),
        ("8 on r=2: whole; sum(1)", 18, "array axis 1 does not exist"),
        ("8 on r=2: whole extra", 17, "expected the end of the text, found `extra`"),
        ("3 on r=2: block(r) of 7 from 5 by 2", 11, "leaves array axis 0 of length 7"),
        ("8 on r=2: block(r) periodic halo 99999999", 11, "turns of a periodic halo"),
        ("999999999999999x999999 on r=2: whole, whole", 32, "expected at most"),
        ("8 on r=2: boxes [0:9] [1:2]", 11, "box 0:9 of coordinate 0"),
        ("", 1, "found the end of the text"),
    ] {
        match text.parse::<Distribution>() {
            Err(Error::Text(fault)) => {
                assert!(fault.message().contains(message), "{text}: {fault}");
                assert_eq!(fault.column(), column, "{text}: {fault}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Every distribution that the documentation shows is one, and prints as it is shown.
#[test]
fn the_documentation_s_examples_parse() {
    let page = include_str!("../../../../docs/distributions.md");
    let spans = page.split('`').skip(1).step_by(2);
    let whole: Vec<&str> = spans
        .filter(|span| !span.contains('\n') && span.contains(" on ") && span.contains(": "))
        .collect();
    assert!(whole.len() >= 5, "found only {whole:?}");
    for text in whole {
        let parsed = parse(text);
        assert!(text.contains('*') || parsed.to_string() == text, "{text}");
    }
    for axis in [
        "block(x, last)",
        "block(x, ceil)",
        "block(x, cuts 0 3 3 10)",
        "cyclic(x, 2)",
        "indexed(x, [5 0 3] [1 2 4] [9])",
        "block(x) halo 1 2",
        "block(x) periodic room halo 2",
        "block(x) of 31 from 1 by 3",
    ] {
        parse(&format!("10 on x=3: {axis}"));
    }
}
