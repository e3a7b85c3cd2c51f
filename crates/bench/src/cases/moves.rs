//! Movements, and the transpose of the Parallel Research Kernels.

use crate::bounds::{
    SourceRows, add_one, add_transpose, add_transpose_by_8, transpose, transpose_by_8,
};

use super::stencils::ITERATIONS;
use super::{CaseSize, SIDES, program};
use crate::case::{Case, FigureGroup, Site};

/// All of them.
pub(crate) fn all(setting: CaseSize) -> Vec<Case> {
    let (ranks, side) = (setting.ranks, setting.side(SIDES[1]));
    let shape = [side, side];
    let by_hand: fn(&Site<'_>) = |site| site.own(0).as_mut_slice().copy_from_slice(site.part(0));
    let columns = Case {
        text: program(&shape, 0, 1, ("!c", COLUMNS)),
        by_hand: vec![("memcpy of as many bytes", by_hand)],
        aim: setting.at_least(1.0 / 1.3),
        ..Case::base(FigureGroup::Movements, "row blocks to column blocks", ranks, &shape)
    };
    let transpose = Case {
        text: program(&shape, 0, 1, ("!g", TURNED)),
        by_hand: vec![
            ("loop over blocks of 32x32", |site| turn(site, transpose)),
            ("loop over blocks of 8x8", |site| turn(site, transpose_by_8)),
        ],
        aim: setting.at_least(1.0 / 1.2),
        ..Case::base(FigureGroup::Movements, "transpose", ranks, &shape)
    };
    let mut cases = vec![research(setting, &shape), transpose];
    // One rank has all rows and all columns.
    if ranks > 1 {
        cases.insert(1, columns);
    }
    cases
}

/// A loop that turns columns of rows into rows: target, first column, number of rows, rows.
type TransposeLoop = fn(&mut [f64], usize, usize, SourceRows<'_>);

/// This thread's rows of the transposed matrix.
fn turn(site: &Site<'_>, by: TransposeLoop) {
    let (count, columns) = site.extents();
    let row = |row: usize| &site.input(0)[row * columns..][..columns];
    by(site.own(0).as_mut_slice(), site.rows().0, count, &row);
}

/// All iterations of the research kernel; threads look at each other's rows.
fn iterate(site: &Site<'_>, by: TransposeLoop) {
    for _ in 0..ITERATIONS {
        let parts = site.look(0);
        let row = |row: usize| site.row(&parts, row);
        by(site.own(1).as_mut_slice(), site.rows().0, site.extents().0, &row);
        drop(parts);
        site.gate.wait();
        add_one(site.own(0).as_mut_slice());
        site.gate.wait();
    }
}

fn research(setting: CaseSize, shape: &[usize]) -> Case {
    let body = format!(
        "%first = arith.constant 0 : index\n%turns = arith.constant {ITERATIONS} : index\n\
         %step = arith.constant 1 : index\n%unit = arith.constant 1.0 : f64\n\
         %m, %n = scf.for %turn = %first to %turns step %step \
         iter_args(%x = %a, %y = %b) -> (!g, !g) {{\n\
         %across = ndarray.permute_dims %x [1, 0] : !g -> !g\n\
         %sum = ndarray.ewbin %y, %across {{op = \"add\"}} : (!g, !g) -> !g\n\
         %more = ndarray.ewbin %x, %unit {{op = \"add\"}} : (!g, f64) -> !g\n\
         scf.yield %more, %sum : !g, !g\n}}\nreturn %m, %n : !g, !g"
    );
    Case {
        text: program(shape, 0, 2, ("(!g, !g)", &body)),
        inputs: 0,
        states: 2,
        rooms: 0,
        by_hand: vec![
            ("loop over blocks of 32x32, another over rows", |site| iterate(site, add_transpose)),
            ("loop over blocks of 8x8, another over rows", |site| {
                iterate(site, add_transpose_by_8)
            }),
        ],
        steps: ITERATIONS,
        aim: setting.at_least(0.90),
        ..Case::base(FigureGroup::Research, "PRK transpose", setting.ranks, shape)
    }
}

const COLUMNS: &str = "%r = ndarray.redistribute %a : !g -> !c\nreturn %r : !c";

const TURNED: &str = "%r = ndarray.permute_dims %a [1, 0] : !g -> !g\nreturn %r : !g";
