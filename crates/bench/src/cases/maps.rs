//! Elementwise programs.

use crate::bounds::{CURVE, Copied, Formula, MARKET, Prices, Six, Triad, Waves, write};

use super::{CaseSize, program};
use crate::case::{Case, HandLoop, Site};

/// Writes a formula to this thread's part of the result.
fn by<F: Formula>(site: &Site<'_>, formula: F, streaming: bool) {
    write(site.own(0).as_mut_slice(), formula, streaming);
}

/// This thread's parts of all inputs.
fn parts<'a, const N: usize>(site: &'a Site<'_>) -> [&'a [f64]; N] {
    std::array::from_fn(|array| site.part(array))
}

/// Two ways to write a formula.
macro_rules! ways {
    ($formula:path) => {
        vec![
            ("loop", |site| by(site, $formula(parts(site)), false)),
            ("loop with streaming stores", |site| by(site, $formula(parts(site)), true)),
        ]
    };
}

/// All of them, in memory and in the caches.
pub(crate) fn all(setting: CaseSize) -> Vec<Case> {
    let mut copy: Vec<HandLoop> = ways!(Copied);
    copy.push(("memcpy", |site| site.own(0).as_mut_slice().copy_from_slice(site.part(0))));
    let prices = prices();
    let list: [(&'static str, usize, &str, Vec<HandLoop>, f64); 5] = [
        ("copy a", 1, COPY, copy, 0.90),
        ("triad a + 3 b", 2, TRIAD, ways!(Triad), 0.90),
        ("a b + c d - e / f", 6, SIX, ways!(Six), 0.70),
        ("exp(-x^2) sin(y) + sqrt |z|", 3, WAVES, ways!(Waves), 0.45),
        ("option prices", 3, &prices, ways!(Prices::new), 0.45),
    ];
    let mut cases = Vec::new();
    for (name, inputs, body, by_hand, aim) in list {
        cases.extend(setting.in_both(name, aim).map(|base| Case {
            text: program(&base.shape, 0, inputs, ("!g", body)),
            inputs,
            by_hand: by_hand.clone(),
            ..base
        }));
    }
    cases
}

/// A plain `ndarray.copy` of what nobody changes copies nothing; this has to read and write.
const COPY: &str = "%r = ndarray.ewuny %a {op = \"positive\"} : !g -> !g\nreturn %r : !g";

const TRIAD: &str = "\
%k = arith.constant 3.0 : f64
%p = ndarray.ewbin %b, %k {op = \"multiply\"} : (!g, f64) -> !g
%r = ndarray.ewbin %a, %p {op = \"add\"} : (!g, !g) -> !g
return %r : !g";

const SIX: &str = "\
%p = ndarray.ewbin %a, %b {op = \"multiply\"} : (!g, !g) -> !g
%q = ndarray.ewbin %c, %d {op = \"multiply\"} : (!g, !g) -> !g
%s = ndarray.ewbin %p, %q {op = \"add\"} : (!g, !g) -> !g
%t = ndarray.ewbin %e, %f {op = \"divide\"} : (!g, !g) -> !g
%r = ndarray.ewbin %s, %t {op = \"subtract\"} : (!g, !g) -> !g
return %r : !g";

const WAVES: &str = "\
%square = ndarray.ewbin %a, %a {op = \"multiply\"} : (!g, !g) -> !g
%minus = ndarray.ewuny %square {op = \"negative\"} : !g -> !g
%bell = ndarray.ewuny %minus {op = \"exp\"} : !g -> !g
%wave = ndarray.ewuny %b {op = \"sin\"} : !g -> !g
%p = ndarray.ewbin %bell, %wave {op = \"multiply\"} : (!g, !g) -> !g
%size = ndarray.ewuny %c {op = \"abs\"} : !g -> !g
%root = ndarray.ewuny %size {op = \"sqrt\"} : !g -> !g
%r = ndarray.ewbin %p, %root {op = \"add\"} : (!g, !g) -> !g
return %r : !g";

/// The price of an option, for a share of price `%a`, a strike price `%b` and a time `%c`.
fn prices() -> String {
    let [rate, drift, volatility] = MARKET;
    let [slope, bend] = CURVE;
    let normal = |d: &str| {
        format!(
            "%q{d} = ndarray.ewbin %{d}, %{d} {{op = \"multiply\"}} : (!g, !g) -> !g\n\
             %b{d} = ndarray.ewbin %q{d}, %bend {{op = \"multiply\"}} : (!g, f64) -> !g\n\
             %s{d} = ndarray.ewbin %b{d}, %slope {{op = \"add\"}} : (!g, f64) -> !g\n\
             %x{d} = ndarray.ewbin %{d}, %s{d} {{op = \"multiply\"}} : (!g, !g) -> !g\n\
             %e{d} = ndarray.ewuny %x{d} {{op = \"exp\"}} : !g -> !g\n\
             %u{d} = ndarray.ewbin %e{d}, %one {{op = \"add\"}} : (!g, f64) -> !g\n\
             %n{d} = ndarray.ewbin %one, %u{d} {{op = \"divide\"}} : (f64, !g) -> !g\n"
        )
    };
    format!(
        "%zero = arith.constant 0.0 : f64\n%one = arith.constant 1.0 : f64\n\
         %minus = arith.constant {:?} : f64\n%drift = arith.constant {drift:?} : f64\n\
         %volatility = arith.constant {volatility:?} : f64\n\
         %slope = arith.constant {slope:?} : f64\n%bend = arith.constant {bend:?} : f64\n\
         %root = ndarray.ewuny %c {{op = \"sqrt\"}} : !g -> !g\n\
         %spread = ndarray.ewbin %root, %volatility {{op = \"multiply\"}} : (!g, f64) -> !g\n\
         %ratio = ndarray.ewbin %a, %b {{op = \"divide\"}} : (!g, !g) -> !g\n\
         %log = ndarray.ewuny %ratio {{op = \"log\"}} : !g -> !g\n\
         %grown = ndarray.ewbin %c, %drift {{op = \"multiply\"}} : (!g, f64) -> !g\n\
         %above = ndarray.ewbin %log, %grown {{op = \"add\"}} : (!g, !g) -> !g\n\
         %h = ndarray.ewbin %above, %spread {{op = \"divide\"}} : (!g, !g) -> !g\n\
         %l = ndarray.ewbin %h, %spread {{op = \"subtract\"}} : (!g, !g) -> !g\n{}{}\
         %interest = ndarray.ewbin %c, %minus {{op = \"multiply\"}} : (!g, f64) -> !g\n\
         %now = ndarray.ewuny %interest {{op = \"exp\"}} : !g -> !g\n\
         %gain = ndarray.ewbin %a, %nh {{op = \"multiply\"}} : (!g, !g) -> !g\n\
         %paid = ndarray.ewbin %b, %now {{op = \"multiply\"}} : (!g, !g) -> !g\n\
         %cost = ndarray.ewbin %paid, %nl {{op = \"multiply\"}} : (!g, !g) -> !g\n\
         %price = ndarray.ewbin %gain, %cost {{op = \"subtract\"}} : (!g, !g) -> !g\n\
         %good = ndarray.ewbin %zero, %price {{op = \"less\"}} : (f64, !g) -> !b\n\
         %r = ndarray.where %good, %price, %zero : (!b, !g, f64) -> !g\nreturn %r : !g",
        -rate,
        normal("h"),
        normal("l"),
    )
}
