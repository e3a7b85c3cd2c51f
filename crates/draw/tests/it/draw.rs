//! Pictures: golden files, well-formed for any input, numbers that are the plan's.
//!
//! `filetests/draw/NAME.txt` says what `NAME.svg` shows: first `test draw`, then what to draw,
//! then one distribution per line. `docs/pictures` is made here too. `BLESS=1` rewrites both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::distribution;
use pantile_draw::{self as draw, DrawError, Svg};
use pantile_geometry::Distribution;
use pantile_geometry::halo::{AxisHalo, Blocks, Window};
use pantile_geometry::teams::{AxisChoice, Groups, Partition, TeamError, Transpose};
use pantile_plan::{Plan, Step, Transfer};
use pantile_testkit::{cases, enough, generate};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn parse(text: &str) -> Distribution {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn between(source: &str, target: &str) -> Plan {
    Plan::between(&parse(source), &parse(target)).unwrap()
}

fn halo(
    extent: usize,
    workers: usize,
    (kernel, stride, padding): (usize, usize, usize),
) -> AxisHalo {
    let window = Window::new(kernel, stride, padding, 1).unwrap();
    AxisHalo::new(&window, &Blocks::balanced(extent, workers).unwrap()).unwrap()
}

/// Compares a picture with its file, or writes the file.
fn check_golden(file: &Path, svg: &Svg) {
    check_xml(svg.as_str());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, svg.as_str()).unwrap();
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    let name = file.display();
    assert!(svg.as_str() == expected, "{name} is not up to date: look at it after BLESS=1");
}

/// Tags are balanced, attributes quoted, text escaped, nothing refers to other files.
fn check_xml(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim_end();
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "stray `>` in {}", &rest[..start]);
        for part in rest[..start].split('&').skip(1) {
            let name = part.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot"].contains(&name), "&{name};");
        }
        let end = start + rest[start..].find('>').expect("an open tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            assert!(!open.is_empty() || rest.is_empty(), "text after the document");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '/']).next().unwrap();
        if !tag.ends_with('/') {
            open.push(name);
        }
        assert!(!tag.contains("href") && !tag.contains("NaN") && !tag.contains("inf"), "{tag}");
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?}");
    assert!(text.starts_with("<svg ") && text.contains(" role=\"img\" "));
}

/// The texts that show when arrows and cells of tables are pointed at, and the number of each.
fn arrows(svg: &Svg) -> BTreeMap<(usize, usize), usize> {
    let mut arrows = BTreeMap::new();
    for group in svg.as_str().split("<g><title>").skip(1) {
        let (hint, rest) = group.split_once("</title>").unwrap();
        let words: Vec<&str> = hint.split([' ', ':']).collect();
        // rank 0 to rank 1: 4 elements
        let [_, from, _, _, to, _, count, _] = words[..] else { panic!("{hint}") };
        let label = rest.split("</g>").next().unwrap();
        let label = label.split("<text ").nth(1).unwrap();
        let label = label.split('>').nth(1).unwrap().strip_suffix("</text").unwrap();
        assert_eq!(label, count, "the number beside the arrow of {hint}");
        let pair = (from.parse().unwrap(), to.parse().unwrap());
        *arrows.entry(pair).or_insert(0) += count.parse::<usize>().unwrap();
    }
    arrows
}

/// What travels, by sender and receiver.
fn travelling<'a>(steps: impl Iterator<Item = &'a Step>) -> BTreeMap<(usize, usize), usize> {
    let mut pairs = BTreeMap::new();
    for transfer in steps.flat_map(Step::transfers).filter(|transfer| transfer.travels()) {
        *pairs.entry((transfer.from, transfer.to)).or_insert(0) += transfer.size();
    }
    pairs
}

fn check_numbers(plan: &Plan, svg: &Svg) {
    assert_eq!(arrows(svg), travelling(plan.steps().iter()), "{plan}");
    for step in plan.steps() {
        let sum = |travels: bool| -> usize {
            let all = step.transfers().filter(|transfer| transfer.travels() == travels);
            all.map(Transfer::size).sum()
        };
        let moves = sum(true);
        let noun = if moves == 1 { "element travels" } else { "elements travel" };
        let words = format!(">{moves} {noun} in ");
        assert!(svg.as_str().contains(&words), "{words}");
        assert!(svg.as_str().contains(&format!(", {} stay", sum(false))), "{plan}");
    }
}

/// Draws what a file in `filetests/draw` asks for.
fn drawn(text: &str) -> Svg {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("test draw"));
    let command = lines.next().unwrap();
    let path: Vec<Distribution> = lines.map(parse).collect();
    match (command, &path[..]) {
        ("distribution", [one]) => draw::distribution(one).unwrap(),
        ("plan", _) => {
            let plan = Plan::via(&path).unwrap();
            let svg = draw::plan(&plan).unwrap();
            check_numbers(&plan, &svg);
            svg
        }
        ("matrix", _) => draw::matrix(&Plan::via(&path).unwrap()).unwrap(),
        ("axis by axis", [source, target]) => {
            let plan = Plan::axis_by_axis(source, target).unwrap().unwrap();
            let svg = draw::plan(&plan).unwrap();
            check_numbers(&plan, &svg);
            svg
        }
        _ => panic!("{command} of {} distributions", path.len()),
    }
}

#[test]
fn golden_pictures() {
    let mut names: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder("filetests/draw")).unwrap() {
        names.push(entry.unwrap().path());
    }
    let has = |path: &PathBuf, end: &str| path.extension().is_some_and(|known| known == end);
    let texts: Vec<&PathBuf> = names.iter().filter(|path| has(path, "txt")).collect();
    for text in &texts {
        let svg = drawn(&std::fs::read_to_string(text).unwrap());
        check_golden(&text.with_extension("svg"), &svg);
    }
    assert!(texts.len() >= 30, "the pictures are found");
    for picture in names.iter().filter(|path| has(path, "svg")) {
        assert!(picture.with_extension("txt").exists(), "{} has no text", picture.display());
    }
}

#[test]
fn pictures_of_the_documents() {
    let world = Partition::world(12).unwrap();
    let large = world.cartesian(&[2, 3, 2]).unwrap();
    let small = world.inclusive(&[1, 2, 3]).unwrap().cartesian(&[1, 3, 1]).unwrap();
    let plain = Transpose::default();
    let broadcast = Groups::broadcast(&small, &large, plain).unwrap();
    let reduction = Groups::reduction(&large, &small, plain).unwrap();
    let both = AxisChoice::Reduce(vec![0, 2]);
    let convolution = halo(12, 3, (3, 1, 1));
    let pooling = [
        ("pooling of 10 cells, kernel 2, stride 2, on 4 workers", &halo(10, 4, (2, 2, 0))),
        ("pooling of 11 cells, kernel 2, stride 1, on 3 workers", &halo(11, 3, (2, 1, 0))),
    ];
    let words = "convolution of 12 cells, kernel 3, padding 1, on 3 workers";
    let (blocks, halos) = (
        "8x9 on x=2, y=3: block(x), block(y)",
        "8x9 on x=2, y=3: block(x) halo 1, block(y) halo 1",
    );
    let exchange = between(blocks, halos);
    let nested = Plan::axis_by_axis(&parse(blocks), &parse(halos)).unwrap().unwrap();
    let rows = between("4x4 on r=4: block(r), whole", "4x4 on r=4: whole, block(r)");
    for (name, svg) in [
        ("all_sum_reduce_2x3x2", draw::allreduction(&large, &both)),
        ("broadcast_1x3x1_to_2x3x2", draw::groups(&broadcast)),
        ("sum_reduce_2x3x2_to_1x3x1", draw::groups(&reduction)),
        ("halo_exchange", draw::halo(&convolution, words)),
        ("pooling", draw::halos(&pooling)),
        ("blocks_to_halo", draw::plan(&exchange)),
        ("nested_exchange", draw::plan(&nested)),
        ("rows_to_columns", draw::plan(&rows)),
    ] {
        check_golden(&folder("docs/pictures").join(name).with_extension("svg"), &svg.unwrap());
    }
}

#[test]
fn groups_and_widths_are_said_in_words() {
    let world = Partition::world(12).unwrap();
    let large = world.cartesian(&[2, 3, 2]).unwrap();
    let small = world.inclusive(&[1, 2, 3]).unwrap().cartesian(&[1, 3, 1]).unwrap();
    let groups = Groups::broadcast(&small, &large, Transpose::default()).unwrap();
    let text = draw::groups(&groups).unwrap().to_string();
    for words in [">P0: 1, 0, 6, 7<", ">P1: 2, 3, 8, 9<", ">P2: 3, 4, 5, 10, 11<"] {
        assert!(text.contains(words), "{words}");
    }
    let teams = draw::allreduction(&large, &AxisChoice::Reduce(vec![0, 2])).unwrap().to_string();
    for words in [">P0: 0, 1, 6, 7<", ">P1: 2, 3, 8, 9<", ">P2: 4, 5, 10, 11<"] {
        assert!(teams.contains(words), "{words}");
    }
    let text = draw::halo(&halo(10, 4, (2, 2, 0)), "a < b & c").unwrap().to_string();
    assert!(text.contains(">a &lt; b &amp; c<"));
    assert!(text.contains("<title>worker 1 to worker 0: 1 cell</title>"));
    assert!(text.contains(">−1, 0<"), "worker 1 does not need its first cell");
}

#[test]
fn neighbours_are_drawn_in_their_grid() {
    let exchange = between("12 on r=4: block(r)", "12 on r=4: block(r) halo 1 2");
    let svg = draw::plan(&exchange).unwrap();
    assert_eq!(arrows(&svg).len(), 6);
    assert!(!svg.as_str().contains(">source<"), "one picture, not two");
    // In rounds an arrow stands for several transfers.
    let rounds = exchange.within(16, 8).unwrap();
    assert!(rounds.steps()[0].transfers().count() > exchange.steps()[0].transfers().count());
    check_numbers(&rounds, &draw::plan(&rounds).unwrap());
    // Wider than a tile: neighbours of neighbours give too.
    let wide = draw::plan(&between("8 on r=4: block(r)", "8 on r=4: block(r) halo 3")).unwrap();
    assert!(wide.as_str().contains(">source<"));
}

#[test]
fn rounds_and_left_out_corners_are_said() {
    let plan = between("8 on r=4: whole; sum(r)", "8 on r=4: whole").within(64, 8).unwrap();
    let text = draw::plan(&plan).unwrap().to_string();
    let rounds = plan.steps()[0].rounds.len();
    assert!(rounds > 1 && text.contains(&format!(" over {rounds} rounds, 32 stay on their rank")));
    let (blocks, halos) = (
        "4x4 on x=2, y=2: block(x), block(y)",
        "4x4 on x=2, y=2: block(x) halo 1, block(y) halo 1",
    );
    let faces = Plan::faces_only(&parse(blocks), &parse(halos)).unwrap();
    assert!(draw::plan(&faces).unwrap().as_str().contains("; corners are left out<"));
}

#[test]
fn many_arrows_are_a_table() {
    let line = |ranks: usize| {
        let (rows, columns) = (
            format!("60x60 on r={ranks}: block(r), whole"),
            format!("60x60 on r={ranks}: whole, block(r)"),
        );
        let plan = between(&rows, &columns);
        let svg = draw::plan(&plan).unwrap();
        check_numbers(&plan, &svg);
        svg.as_str().contains(">from ↓  to →<")
    };
    assert!(!line(4) && line(12) && line(20));
}

#[test]
fn what_is_too_large_is_refused_with_a_sentence() {
    let error = |text: &str| draw::distribution(&parse(text)).unwrap_err().to_string();
    assert_eq!(
        error("100000 on r=500: block(r)"),
        "got 500 tiles along an axis, expected at most 64 in a picture"
    );
    assert_eq!(
        error("900x900 on x=30, y=30: block(x), block(y)"),
        "got 900 tiles, expected at most 400 in a picture"
    );
    assert_eq!(
        error("2x2x2x2 on r=2: block(r), whole, whole, whole"),
        "got an array of 4 axes, expected at most 3 in a picture"
    );
    assert_eq!(
        error("9 on r=1000000: cyclic(r, 1)"),
        "got 1000000 ranks along an axis, expected at most 4096 in a picture"
    );
    let empty = Plan::from_steps(Vec::new());
    assert_eq!(draw::plan(&empty), Err(DrawError::NoSteps));
    assert_eq!(draw::matrix(&empty), Err(DrawError::NoSteps));
    let deep = Partition::world(16).unwrap().cartesian(&[2, 2, 2, 2]).unwrap();
    let refused = draw::allreduction(&deep, &AxisChoice::Keep(vec![])).unwrap_err();
    assert_eq!(refused, DrawError::TooManyAxes { what: "a partition", ndim: 4, limit: 3 });
    let line = Partition::world(4).unwrap().cartesian(&[4]).unwrap();
    let refused = draw::allreduction(&line, &AxisChoice::Reduce(vec![1])).unwrap_err();
    assert_eq!(refused, TeamError::AxisOutOfRange { axis: 1, ndim: 1 }.into());
    let many = draw::halo(&halo(1000, 100, (3, 1, 1)), "many").unwrap_err();
    assert_eq!(many.to_string(), "got 100 workers, expected at most 48 in a picture");
}

#[test]
fn large_arrays_and_meshes_are_summed_up() {
    for text in [
        "281474976710656x3 on r=8: block(r) halo 1, whole",
        "1000000x1000000 on r=1000000: whole, whole; sum(r)",
        "scalar on r=1000000:",
        "281474976710656 on r=64: cyclic(r, 1000)",
    ] {
        let svg = draw::distribution(&parse(text)).unwrap();
        check_xml(svg.as_str());
        assert!(svg.as_str().len() < 100_000, "{text}");
    }
    for (extent, workers, window) in
        [(0, 3, (1, 1, 5)), (1 << 40, 48, (9, 1, 4)), (5, 2, (1, 1, 999))]
    {
        let svg = draw::halo(&halo(extent, workers, window), "large").unwrap();
        check_xml(svg.as_str());
        assert!(svg.as_str().len() < 100_000, "{extent}");
    }
}

/// Whatever the distribution or movement, a picture or an error; the numbers are the plan's.
#[test]
fn random_distributions_and_movements_are_drawn() {
    let (mut pictures, mut plans) = (0, 0);
    cases("draw", 3_000, |rng| {
        let case = generate::legal_pair(rng);
        let (source, target) = (distribution(&case.source), distribution(&case.target));
        let (Ok(source), Ok(target)) = (source, target) else { return };
        if let Ok(svg) = draw::distribution(&source) {
            check_xml(svg.as_str());
            pictures += 1;
        }
        let Ok(plan) = Plan::between(&source, &target) else { return };
        check_xml(draw::matrix(&plan).unwrap().as_str());
        if let Ok(svg) = draw::plan(&plan) {
            check_xml(svg.as_str());
            check_numbers(&plan, &svg);
            plans += 1;
        }
    });
    assert!(enough(pictures, 2_900) && enough(plans, 2_900), "{pictures} pictures, {plans} plans");
}
