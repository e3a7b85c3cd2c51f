//! What a loop carries is updated in place, unless it is still read.

use std::sync::Arc;

use pantile_lower::Setting;

const ROWS: usize = 10;

/// A loop over two rows of numbers: the lines of its body, and what it yields.
fn program(body: &str, yields: &str) -> String {
    format!(
        r#"
!v = !ndarray.ndarray<{ROWS}xi64, #pantile.dist<"block(r)">>
!i = !ndarray.ndarray<{}xi64>
func.func @main() -> (!v, !v) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %one = arith.constant 1 : i64
  %a = ndarray.index {{axis = 0}} : () -> !v
  %b = ndarray.ewbin %a, %a {{op = "add"}} : (!v, !v) -> !v
  %p, %q = scf.for %t = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!v, !v) {{
{body}
    scf.yield {yields} : !v, !v
  }}
  return %p, %q : !v, !v
}}
"#,
        ROWS - 2
    )
}

/// What both rows are after three turns of a step, from first rows on.
fn expected(step: impl Fn(&[i64], &[i64]) -> (Vec<i64>, Vec<i64>)) -> Vec<i64> {
    let a: Vec<i64> = (0..ROWS as i64).collect();
    let mut rows: (Vec<i64>, Vec<i64>) = (a.clone(), a.iter().map(|value| 2 * value).collect());
    for _ in 0..3 {
        rows = step(&rows.0, &rows.1);
    }
    [rows.0, rows.1].concat()
}

/// Runs a loop on some numbers of ranks, twice each; gives the memories that it takes.
fn check(text: &str, expected: &[i64]) -> usize {
    let program = pantile_ir::text::parse(text, "renewed").unwrap();
    let mut buffers = 0;
    for ranks in [1, 2, 3, 13] {
        let setting = Setting { ranks, ..Setting::default() };
        let executable = Arc::new(pantile_lower::compile(&program, &setting).unwrap());
        let (made, ..) = crate::runs::run(&executable, 2);
        // Every rank has its share of the first row, and then that of the second.
        let numbers = |bytes: &Vec<u8>| -> Vec<i64> {
            bytes.as_chunks().0.iter().copied().map(i64::from_ne_bytes).collect()
        };
        let shares: Vec<Vec<i64>> = made.iter().map(numbers).collect();
        let half = |second: bool| {
            shares.iter().flat_map(move |share| {
                let (one, two) = share.split_at(share.len() / 2);
                if second { two.to_vec() } else { one.to_vec() }
            })
        };
        let got: Vec<i64> = half(false).chain(half(true)).collect();
        assert_eq!(got, expected, "{ranks} ranks:\n{text}");
        buffers = executable.buffers;
    }
    buffers
}

fn each(a: &[i64], b: &[i64], f: impl Fn(i64, i64) -> i64) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

#[test]
fn what_nobody_reads_any_more_is_renewed_where_it_is() {
    let body = "    %y1 = ndarray.ewbin %y, %x {op = \"add\"} : (!v, !v) -> !v
    %x1 = ndarray.ewbin %x, %one {op = \"add\"} : (!v, i64) -> !v";
    let step = |x: &[i64], y: &[i64]| (each(x, y, |x, _| x + 1), each(x, y, |x, y| x + y));
    let renewed = check(&program(body, "%x1, %y1"), &expected(step));
    // The other order: the first row is replaced while the second still needs what it was.
    let body = "    %x1 = ndarray.ewbin %x, %one {op = \"add\"} : (!v, i64) -> !v
    %m = ndarray.reduce %x1 {op = \"max\"} : !v -> !ndarray.ndarray<i64>
    %z = ndarray.ewbin %y, %m {op = \"add\"} : (!v, !ndarray.ndarray<i64>) -> !v
    %y1 = ndarray.ewbin %z, %x {op = \"add\"} : (!v, !v) -> !v";
    let step = |x: &[i64], y: &[i64]| {
        let next = each(x, y, |x, _| x + 1);
        let most = next.iter().max().copied().unwrap_or(0);
        let sums = each(x, y, |x, y| x + y + most);
        (next, sums)
    };
    let kept = check(&program(body, "%x1, %y1"), &expected(step));
    assert!(renewed < kept, "{renewed} memories, {kept} where the old values are needed");
}

#[test]
fn rows_that_trade_places_stay_apart() {
    let body = "    %x1 = ndarray.ewbin %x, %one {op = \"add\"} : (!v, i64) -> !v";
    let step = |x: &[i64], y: &[i64]| (y.to_vec(), each(x, y, |x, _| x + 1));
    check(&program(body, "%y, %x1"), &expected(step));
    let step = |x: &[i64], y: &[i64]| (y.to_vec(), x.to_vec());
    check(&program("", "%y, %x"), &expected(step));
    let step = |x: &[i64], y: &[i64]| (x.to_vec(), each(x, y, |x, _| x + 1));
    check(&program(body, "%x, %x1"), &expected(step));
}

#[test]
fn neighbours_are_read_before_they_are_replaced() {
    let body = "    %l = ndarray.subview %x[0] [8] [1] : !v to !i
    %r = ndarray.subview %x[2] [8] [1] : !v to !i
    %s = ndarray.ewbin %l, %r {op = \"add\"} : (!i, !i) -> !i
    %x1 = ndarray.immutable_insert_slice %s into %x[1] [8] [1] : !i into !v
    %y1 = ndarray.ewbin %y, %x1 {op = \"add\"} : (!v, !v) -> !v";
    let step = |x: &[i64], y: &[i64]| {
        let mut next = x.to_vec();
        (1..ROWS - 1).for_each(|at| next[at] = x[at - 1] + x[at + 1]);
        let sums = each(&next, y, |x, y| x + y);
        (next, sums)
    };
    check(&program(body, "%x1, %y1"), &expected(step));
}
