//! Small programs: what everything around the arithmetic costs.

use super::{Setting, program};
use crate::bench::case::{Case, Group, Site};
use crate::bench::figure::Aim;
use crate::bench::loops::jacobi;

/// Steps in time within one program.
const STEPS: usize = 100;

/// The side of a small grid.
const SIDE: usize = 64;

/// All of them.
pub(super) fn all(setting: Setting) -> Vec<Case> {
    let steps = steps(setting.ranks);
    match setting.ranks {
        1 => vec![one(), steps],
        _ => vec![steps],
    }
}

/// One operation on a thousand elements.
fn one() -> Case {
    Case {
        group: Group::Small,
        name: "a + 1, a known program",
        ranks: 1,
        shape: vec![1000],
        text: program(&[1000], 0, 1, ("!g", MORE)),
        inputs: 1,
        states: 0,
        rooms: 1,
        is_sum: false,
        by_hand: vec![("loop", |site| {
            let mut own = site.own(0);
            let pairs = own.as_mut_slice::<f64>().iter_mut().zip(site.part(0));
            pairs.for_each(|(own, a)| *own = a + 1.0);
        })],
        steps: 1,
        aim: Some(Aim::Within(2e-6)),
    }
}

/// Many steps in time on a small grid.
fn steps(ranks: usize) -> Case {
    let side = SIDE.max(4 * ranks);
    let shape = vec![side, side];
    let body = format!(
        "%first = arith.constant 0 : index\n%turns = arith.constant {STEPS} : index\n\
         %step = arith.constant 1 : index\n%q = arith.constant 0.25 : f64\n\
         %r = scf.for %turn = %first to %turns step %step iter_args(%u = %a) -> (!g) {{\n\
         %n = ndarray.subview %u[0, 1] SIZES : !g to !i\n\
         %s = ndarray.subview %u[2, 1] SIZES : !g to !i\n\
         %w = ndarray.subview %u[1, 0] SIZES : !g to !i\n\
         %e = ndarray.subview %u[1, 2] SIZES : !g to !i\n\
         %x = ndarray.ewbin %n, %s {{op = \"add\"}} : (!i, !i) -> !i\n\
         %y = ndarray.ewbin %x, %w {{op = \"add\"}} : (!i, !i) -> !i\n\
         %z = ndarray.ewbin %y, %e {{op = \"add\"}} : (!i, !i) -> !i\n\
         %v = ndarray.ewbin %z, %q {{op = \"multiply\"}} : (!i, f64) -> !i\n\
         %new = ndarray.immutable_insert_slice %v into %u[1, 1] SIZES : !i into !g\n\
         scf.yield %new : !g\n}}\nreturn %r : !g"
    );
    Case {
        group: Group::Small,
        name: "a step in time, stencil of 5 points",
        ranks,
        text: program(&shape, 2, 1, ("!g", &body)),
        shape,
        inputs: 0,
        states: 1,
        rooms: 1,
        is_sum: false,
        by_hand: vec![("loop over rows, two arrays in turns", |site| {
            for step in 0..STEPS {
                one_step(site, step % 2);
                site.gate.wait();
            }
        })],
        steps: STEPS,
        aim: (ranks == 1).then_some(Aim::Beyond(1e-5)),
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
