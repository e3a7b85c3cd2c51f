//! Small programs: what everything around the arithmetic costs.

use crate::bounds::jacobi;

use super::stencils::{FIVE, QUARTER};
use super::{CaseSize, program};
use crate::case::{Case, FigureGroup, Site};
use crate::figure::Aim;

/// Steps in time within one program.
const STEPS: usize = 100;

/// The side of a small grid.
const SIDE: usize = 64;

/// All of them.
pub(crate) fn all(setting: CaseSize) -> Vec<Case> {
    let steps = steps(setting.ranks);
    match setting.ranks {
        1 => vec![one(), steps],
        _ => vec![steps],
    }
}

/// One operation on a thousand elements.
fn one() -> Case {
    Case {
        text: program(&[1000], 0, 1, ("!g", MORE)),
        by_hand: vec![("loop", |site| {
            let mut own = site.own(0);
            let pairs = own.as_mut_slice::<f64>().iter_mut().zip(site.part(0));
            pairs.for_each(|(own, a)| *own = a + 1.0);
        })],
        aim: Some(Aim::Within(2e-6)),
        ..Case::base(FigureGroup::Small, "a + 1, a known program", 1, &[1000])
    }
}

/// Many steps in time on a small grid.
fn steps(ranks: usize) -> Case {
    let side = SIDE.max(4 * ranks);
    let shape = [side, side];
    let body = format!(
        "%first = arith.constant 0 : index\n%turns = arith.constant {STEPS} : index\n\
         %step = arith.constant 1 : index\n{QUARTER}\
         %last = scf.for %turn = %first to %turns step %step iter_args(%a = %start) -> (!g) {{\n\
         {FIVE}scf.yield %r : !g\n}}\nreturn %last : !g"
    );
    let text = program(&shape, 2, 1, ("!g", &body));
    Case {
        text: text.replace("@main(%a: !g)", "@main(%start: !g)"),
        inputs: 0,
        states: 1,
        by_hand: vec![("loop over rows, two arrays in turns", |site| {
            for step in 0..STEPS {
                one_step(site, step % 2);
                site.gate.wait();
            }
        })],
        steps: STEPS,
        aim: (ranks == 1).then_some(Aim::Beyond(1e-5)),
        ..Case::base(FigureGroup::Small, "a step in time, stencil of 5 points", ranks, &shape)
    }
}

/// From one array to the other; the edges stay.
fn one_step(site: &Site<'_>, from: usize) {
    let ((rows, columns), (first, end)) = (site.extents(), site.rows());
    let parts = site.look(from);
    let mut own = site.own(1 - from);
    for (at, into) in (first..end).zip(own.as_mut_slice::<f64>().chunks_exact_mut(columns)) {
        match at == 0 || at == rows - 1 {
            true => into.copy_from_slice(site.row(&parts, at)),
            false => jacobi(into, [at - 1, at, at + 1].map(|row| site.row(&parts, row))),
        }
    }
}

const MORE: &str = "\
%k = arith.constant 1.0 : f64
%r = ndarray.ewbin %a, %k {op = \"add\"} : (!g, f64) -> !g
return %r : !g";
