//! All cases: programs as text, the loops by hand, and what we aim at.

mod maps;
mod moves;
mod small;
mod stencils;
mod sums;

use super::case::{Case, FigureGroup};
use super::figure::Aim;

/// Elements of arrays in memory, and of those in the caches.
const COUNTS: [usize; 2] = [16_000_000, 16_384];

/// Sides of grids in memory, of matrices that move, and of grids in the caches.
const SIDES: [usize; 3] = [8192, 4096, 256];

/// All cases for these numbers of ranks; `scale` below 1 makes the arrays in memory smaller.
pub fn all(ranks: &[usize], scale: f64) -> Vec<Case> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut cases = Vec::new();
    for &ranks in ranks {
        let setting = CaseSize { ranks, scale, cores };
        cases.extend(maps::all(setting));
        cases.extend(sums::all(setting));
        cases.extend(stencils::all(setting));
        cases.extend(moves::all(setting));
        cases.extend(small::all(setting));
    }
    // The same figure with more ranks stands below that with fewer; headings keep their order.
    let mut names: Vec<&str> = Vec::new();
    for case in &cases {
        if !names.contains(&case.name) {
            names.push(case.name);
        }
    }
    let place = |case: &Case| names.iter().position(|name| *name == case.name);
    let mut order: Vec<(_, Case)> =
        cases.iter().map(|case| ((case.group, place(case), case.ranks), case.clone())).collect();
    order.sort_by_key(|(place, _)| *place);
    order.into_iter().map(|(_, case)| case).collect()
}

/// For how many ranks, and how large.
#[derive(Clone, Copy, Debug)]
struct CaseSize {
    ranks: usize,
    scale: f64,
    cores: usize,
}

impl CaseSize {
    /// About `whole` elements.
    fn count(self, whole: usize) -> usize {
        scaled(whole, self.scale).max(64 * self.ranks)
    }

    /// The side of a square of about `whole * whole` elements; every rank has a few rows.
    fn side(self, whole: usize) -> usize {
        scaled(whole, self.scale.sqrt()).max(8).max(4 * self.ranks)
    }

    /// The same case of arrays with one axis twice: in memory, where it has this aim, and in the
    /// caches.
    fn in_both(self, name: &'static str, aim: f64) -> [Case; 2] {
        let places = [
            (FigureGroup::Memory, self.count(COUNTS[0]), self.at_least(aim)),
            (FigureGroup::Caches, COUNTS[1].max(64 * self.ranks), None),
        ];
        places.map(|(group, count, aim)| Case {
            aim,
            ..Case::base(group, name, self.ranks, &[count])
        })
    }

    /// At least so much of the speed of the bound; nothing where ranks have to share cores.
    fn at_least(self, ratio: f64) -> Option<Aim> {
        (self.ranks <= self.cores).then_some(Aim::Ratio(ratio))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is not negative, and far below 2^53")]
#[expect(clippy::cast_sign_loss, reason = "it is not negative, and far below 2^53")]
fn scaled(whole: usize, scale: f64) -> usize {
    (whole as f64 * scale).round() as usize
}

/// A program of arguments of one type, `!g`, named `%a`, `%b`, ... with one result or several.
/// `!s` is a number, `!i` an array without a place and with `less` fewer elements along each axis.
fn program(
    shape: &[usize],
    less: usize,
    arguments: usize,
    (results, body): (&str, &str),
) -> String {
    let extents = |less: usize| shape.iter().map(|n| format!("{}x", n - less)).collect::<String>();
    let place = if shape.len() == 1 { "block(r)" } else { "block(r), whole" };
    let arguments: Vec<String> =
        ('a'..='z').take(arguments).map(|name| format!("%{name}: !g")).collect();
    let inner: Vec<String> = shape.iter().map(|n| (n - less).to_string()).collect();
    let ones = vec!["1"; shape.len()].join(", ");
    let body = body.replace("SIZES", &format!("[{}] [{ones}]", inner.join(", ")));
    format!(
        "!g = !ndarray.ndarray<{}f64, #pantile.dist<\"{place}\">>\n\
         !c = !ndarray.ndarray<{}f64, #pantile.dist<\"whole, block(r)\">>\n\
         !i = !ndarray.ndarray<{}f64>\n\
         !b = !ndarray.ndarray<{}i1, #pantile.dist<\"{place}\">>\n\
         !s = !ndarray.ndarray<f64>\n\
         func.func @main({}) -> {results} {{\n{body}\n}}\n",
        extents(0),
        if shape.len() == 2 { extents(0) } else { "1x1x".to_owned() },
        extents(less),
        extents(0),
        arguments.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_legal() {
        for (ranks, scale) in [(1, 1e-9), (2, 1e-4), (7, 1e-6), (1, 1.0)] {
            for case in all(&[ranks], scale) {
                let least = if case.shape.len() == 2 { 8 } else { 64 };
                assert!(case.shape.iter().all(|n| *n >= least), "{}", case.name);
                assert!(case.shape[0] >= 4 * ranks, "{}", case.name);
            }
        }
        let setting = CaseSize { ranks: 1, scale: 1.0, cores: 1 };
        assert_eq!(setting.at_least(0.5), Some(Aim::Ratio(0.5)));
        assert_eq!(CaseSize { ranks: 2, ..setting }.at_least(0.5), None);
        assert_eq!((setting.count(COUNTS[0]), setting.side(SIDES[0])), (16_000_000, 8192));
    }
}
