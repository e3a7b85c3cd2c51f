//! Stencils, and those of the Parallel Research Kernels.

use crate::bounds::{Four, STAR, add_one, add_star, write};

use super::{CaseSize, SIDES, program};
use crate::case::{Case, FigureGroup, Site};
use crate::figure::Aim;

/// Iterations of a research kernel within one run.
pub(crate) const ITERATIONS: usize = 5;

/// All of them.
pub(crate) fn all(setting: CaseSize) -> Vec<Case> {
    let ranks = setting.ranks;
    let five = setting.at_least(if ranks == 1 { 0.85 } else { 0.70 });
    let (big, small) = (setting.side(SIDES[0]), SIDES[2].max(4 * ranks));
    vec![
        five_points(FigureGroup::Memory, ranks, big, five),
        star(FigureGroup::Memory, ranks, big, setting.at_least(0.85)),
        five_points(FigureGroup::Caches, ranks, small, None),
        star(FigureGroup::Caches, ranks, small, None),
        research(ranks, setting.side(SIDES[1]), setting.at_least(0.90)),
    ]
}

fn five_points(group: FigureGroup, ranks: usize, side: usize, aim: Option<Aim>) -> Case {
    let shape = [side, side];
    Case {
        text: program(&shape, 2, 1, ("!g", &format!("{QUARTER}{FIVE}return %r : !g"))),
        by_hand: vec![
            ("loop over rows", |site| means(site, false)),
            ("loop over rows with streaming stores", |site| means(site, true)),
        ],
        aim,
        ..Case::base(group, "stencil of 5 points", ranks, &shape)
    }
}

/// The mean of four neighbours; the edges stay.
fn means(site: &Site<'_>, streaming: bool) {
    let (all, (rows, columns), (from, to)) = (site.input(0), site.extents(), site.rows());
    let row = |row: usize| &all[row * columns..][..columns];
    let mut own = site.own(0);
    for (at, into) in (from..to).zip(own.as_mut_slice::<f64>().chunks_exact_mut(columns)) {
        if at == 0 || at == rows - 1 {
            into.copy_from_slice(row(at));
            continue;
        }
        let (up, here, down) = (row(at - 1), row(at), row(at + 1));
        (into[0], into[columns - 1]) = (here[0], here[columns - 1]);
        let formula = Four([&up[1..], &down[1..], here, &here[2..]]);
        write(&mut into[1..columns - 1], formula, streaming);
    }
}

fn star(group: FigureGroup, ranks: usize, side: usize, aim: Option<Aim>) -> Case {
    let shape = [side, side];
    Case {
        text: program(&shape, 4, 2, ("!g", &format!("{}return %r : !g", add_star_text()))),
        states: 1,
        rooms: 0,
        by_hand: vec![("loop over rows", |site| {
            let columns = site.extents().1;
            add_stars(site, 0, &|row| &site.input(0)[row * columns..][..columns]);
        })],
        aim,
        ..Case::base(group, "star of radius 2, added up", ranks, &shape)
    }
}

/// Adds the star around every element where it fits to this thread's rows of an array.
fn add_stars<'a>(site: &Site<'_>, array: usize, row: &dyn Fn(usize) -> &'a [f64]) {
    let ((rows, columns), (from, to)) = (site.extents(), site.rows());
    let mut own = site.own(array);
    for (at, into) in (from..to).zip(own.as_mut_slice::<f64>().chunks_exact_mut(columns)) {
        if (2..rows - 2).contains(&at) {
            add_star(into, [at - 2, at - 1, at, at + 1, at + 2].map(row));
        }
    }
}

fn research(ranks: usize, side: usize, aim: Option<Aim>) -> Case {
    let shape = [side, side];
    let body = format!(
        "%first = arith.constant 0 : index\n%turns = arith.constant {ITERATIONS} : index\n\
         %step = arith.constant 1 : index\n%unit = arith.constant 1.0 : f64\n\
         %x, %y = scf.for %turn = %first to %turns step %step \
         iter_args(%a = %in, %b = %out) -> (!g, !g) {{\n{}\
         %more = ndarray.ewbin %a, %unit {{op = \"add\"}} : (!g, f64) -> !g\n\
         scf.yield %more, %r : !g, !g\n}}\nreturn %x, %y : !g, !g",
        add_star_text()
    );
    let text = program(&shape, 4, 2, ("(!g, !g)", &body));
    Case {
        text: text.replace("@main(%a: !g, %b: !g)", "@main(%in: !g, %out: !g)"),
        inputs: 0,
        states: 2,
        rooms: 0,
        by_hand: vec![("loop over rows, another to add 1", |site| {
            for _ in 0..ITERATIONS {
                let parts = site.look(0);
                add_stars(site, 1, &|row| site.row(&parts, row));
                drop(parts);
                site.gate.wait();
                add_one(site.own(0).as_mut_slice());
                site.gate.wait();
            }
        })],
        steps: ITERATIONS,
        aim,
        ..Case::base(FigureGroup::Research, "PRK stencil", ranks, &shape)
    }
}

/// What [`FIVE`] multiplies with; before loops around it.
pub(crate) const QUARTER: &str = "%q = arith.constant 0.25 : f64\n";

/// `%r` is `%a` with the mean of its four neighbours in place of every inner element.
pub(crate) const FIVE: &str = "\
%n = ndarray.subview %a[0, 1] SIZES : !g to !i
%s = ndarray.subview %a[2, 1] SIZES : !g to !i
%w = ndarray.subview %a[1, 0] SIZES : !g to !i
%e = ndarray.subview %a[1, 2] SIZES : !g to !i
%x = ndarray.ewbin %n, %s {op = \"add\"} : (!i, !i) -> !i
%y = ndarray.ewbin %x, %w {op = \"add\"} : (!i, !i) -> !i
%z = ndarray.ewbin %y, %e {op = \"add\"} : (!i, !i) -> !i
%v = ndarray.ewbin %z, %q {op = \"multiply\"} : (!i, f64) -> !i
%r = ndarray.immutable_insert_slice %v into %a[1, 1] SIZES : !i into !g
";

/// Where the neighbours of the star begin, in the order of its weights.
const NEIGHBOURS: [(usize, usize); 8] =
    [(2, 3), (2, 1), (3, 2), (1, 2), (2, 4), (2, 0), (4, 2), (0, 2)];

/// `%r` is `%b` with the star around every element of `%a` added, where it fits.
fn add_star_text() -> String {
    let mut text = String::new();
    for (at, ((row, column), weight)) in NEIGHBOURS.iter().zip(STAR).enumerate() {
        text.push_str(&format!(
            "%w{at} = arith.constant {weight:?} : f64\n\
             %v{at} = ndarray.subview %a[{row}, {column}] SIZES : !g to !i\n\
             %t{at} = ndarray.ewbin %v{at}, %w{at} {{op = \"multiply\"}} : (!i, f64) -> !i\n"
        ));
        let before = if at < 2 { "t0".to_owned() } else { format!("s{}", at - 1) };
        if at > 0 {
            text.push_str(&format!(
                "%s{at} = ndarray.ewbin %{before}, %t{at} {{op = \"add\"}} : (!i, !i) -> !i\n"
            ));
        }
    }
    text.push_str(
        "%old = ndarray.subview %b[2, 2] SIZES : !g to !i\n\
         %both = ndarray.ewbin %old, %s7 {op = \"add\"} : (!i, !i) -> !i\n\
         %r = ndarray.immutable_insert_slice %both into %b[2, 2] SIZES : !i into !g\n",
    );
    text
}
