//! Sums that several operations need are computed once.

use pantile_lower::{Fold, Setting, Step, Write};

/// How many sums a program on two ranks makes.
fn sums(body: &str) -> usize {
    fn count(steps: &[Step]) -> usize {
        let folds = |step: &Step| match step {
            Step::Compute(compute) => {
                let exact = |write: &&Write| matches!(write, Write::Fold(Fold::Exact, ..));
                compute.writes.iter().filter(exact).count()
            }
            Step::Repeat(repeat) => count(&repeat.body),
            _ => 0,
        };
        steps.iter().map(folds).sum()
    }
    let text = format!(
        "!g = !ndarray.ndarray<40x3xf64, #pantile.dist<\"block(r), whole\">>\n\
         !c = !ndarray.ndarray<3xf64>\n!s = !ndarray.ndarray<f64>\n\
         func.func @main(%a: !g) -> (!c, !c) {{\n{body}\n}}\n"
    );
    let program = pantile_ir::text::parse(&text, "sums").unwrap();
    let setting = Setting { ranks: 2, ..Setting::default() };
    count(&pantile_lower::compile(&program, &setting).unwrap().steps)
}

#[test]
fn a_mean_is_that_of_the_deviation_too() {
    let mean = "%m = ndarray.reduction %a {op = \"mean\", axes = [0]} : !g -> !c\n";
    let std = "%s = ndarray.reduction %a {op = \"std\", axes = [0]} : !g -> !c\n";
    let both = "return %m, %s : !c, !c";
    assert_eq!(sums(&format!("{mean}{std}{both}")), 2);
    assert_eq!(sums(&format!("{std}{mean}{both}")), 2);
    let other = "%m = ndarray.reduction %a {op = \"sum\", axes = [0]} : !g -> !c\n";
    assert_eq!(sums(&format!("{other}{std}{both}")), 3, "a sum is no mean");
}

#[test]
fn what_a_loop_sums_is_gone_after_it() {
    let body = "\
        %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n\
        %n = arith.constant 0 : index\n\
        %zero = ndarray.reduction %a {op = \"max\", axes = [0]} : !g -> !c\n\
        %m = scf.for %t = %c0 to %n step %c1 iter_args(%x = %zero) -> (!c) {\n\
        %p = ndarray.reduction %a {op = \"mean\", axes = [0]} : !g -> !c\n\
        %q = ndarray.ewbin %x, %p {op = \"add\"} : (!c, !c) -> !c\n\
        scf.yield %q : !c\n}\n\
        %s = ndarray.reduction %a {op = \"mean\", axes = [0]} : !g -> !c\n\
        return %m, %s : !c, !c";
    assert_eq!(sums(body), 2);
}
