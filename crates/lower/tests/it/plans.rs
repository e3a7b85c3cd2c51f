//! Who sends how much to whom when a default-partitioned array is reshaped or permuted.

use pantile_geometry::{Axis, Cuts, Distribution, Mesh};
use pantile_lower::Setting;
use pantile_plan::{Machine, Plan, Terrain};
use pantile_testkit::{Rng, cases, enough};

/// Elements from sender (row) to receiver (column), those that stay included.
fn matrix(source: &Distribution, target: &Distribution, members: usize) -> Vec<Vec<usize>> {
    let plan = Plan::between(source, target).unwrap();
    let mut counts = vec![vec![0; members]; members];
    for transfer in plan.transfers() {
        counts[transfer.from][transfer.to] += transfer.size();
    }
    counts
}

/// The elements of a default-partitioned array in one row, each where it lives.
fn in_a_row(shape: &[usize], members: usize) -> Distribution {
    let row: usize = shape[1..].iter().product();
    let rows = |member| Cuts::RemainderLast.start(shape[0], members, member) * row;
    let cuts: Vec<usize> = (0..=members).map(rows).collect();
    let axis = Axis::cut(&["r"], Cuts::At(cuts.into()));
    Distribution::new(&[shape[0] * row], Mesh::line(members).unwrap(), vec![axis]).unwrap()
}

/// An array whose axis `cut` is cut by default.
fn cut_along(shape: &[usize], cut: usize, members: usize) -> Distribution {
    let axis = |axis: usize| match axis == cut {
        true => Axis::cut(&["r"], Cuts::RemainderLast),
        false => Axis::whole(),
    };
    let axes = (0..shape.len()).map(axis).collect();
    Distribution::new(shape, Mesh::line(members).unwrap(), axes).unwrap()
}

#[test]
fn reshapes() {
    let check = |from: &[usize], to: &[usize], members: usize, expected: &[&[usize]]| {
        let got = matrix(&in_a_row(from, members), &in_a_row(to, members), members);
        assert_eq!(got, expected, "{from:?} -> {to:?} on {members}");
    };
    check(&[12], &[3, 4], 2, &[&[4, 2], &[0, 6]]);
    check(&[3, 4], &[2, 3, 2], 2, &[&[4, 0], &[2, 6]]);
    check(&[6, 4], &[4, 6], 3, &[&[6, 2, 0], &[0, 4, 4], &[0, 0, 8]]);
    check(&[5, 2], &[2, 5], 3, &[&[0, 2, 0], &[0, 3, 1], &[0, 0, 4]]);
}

#[test]
fn permutations() {
    let check = |shape: &[usize], axes: &[usize], expected: &[&[usize]]| {
        let new: Vec<usize> = axes.iter().map(|axis| shape[*axis]).collect();
        // Axis 0 of the array is where the permutation puts it.
        let was_cut = axes.iter().position(|axis| *axis == 0).unwrap();
        let got = matrix(&cut_along(&new, was_cut, 2), &cut_along(&new, 0, 2), 2);
        assert_eq!(got, expected, "{shape:?} by {axes:?}");
    };
    check(&[3, 4], &[1, 0], &[&[2, 2], &[4, 4]]);
    check(&[5, 2], &[1, 0], &[&[2, 2], &[3, 3]]);
    check(&[2, 3, 4], &[1, 0, 2], &[&[4, 8], &[4, 8]]);
    check(&[2, 3, 4], &[0, 2, 1], &[&[12, 0], &[0, 12]]);
    check(&[2, 3, 4], &[1, 2, 0], &[&[4, 8], &[4, 8]]);
    check(&[2, 3, 4], &[2, 0, 1], &[&[6, 6], &[6, 6]]);
}

/// Moves an array of a team by one operation, and gives what the program moves: elements, messages.
fn moved(operation: &str, from: &[usize], to: &[usize], members: usize) -> (usize, usize) {
    let ty = |shape: &[usize]| {
        let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
        format!("!ndarray.ndarray<{}xi64, #dist.dist_env<team = 1>>", lengths.join("x"))
    };
    let (from, to) = (ty(from), ty(to));
    let text = format!(
        "func.func @main(%a: {from}) -> {to} {{\n  \
         %b = ndarray.{operation} : {from} -> {to}\n  return %b : {to}\n}}\n"
    );
    let program = pantile_ir::text::parse(&text, "test").unwrap_or_else(|f| panic!("{text}{f:?}"));
    let setting = Setting { ranks: members, ..Setting::default() };
    let made = pantile_lower::compile(&program, &setting).unwrap_or_else(|f| panic!("{text}{f}"));
    let (slot, ty) = &made.results[0];
    assert_eq!(made.plain_home(*slot), pantile_lower::home_of(ty, &setting).unwrap(), "{text}");
    let cost = made.cost(&Machine::default(), Terrain::new(true)).unwrap();
    let (bytes, messages) = (cost.bytes.unwrap(), cost.messages.unwrap());
    (usize::try_from(bytes).unwrap() / 8, usize::try_from(messages).unwrap())
}

/// What changes rank in a matrix of elements: how many, and between how many pairs.
fn travels(matrix: &[Vec<usize>]) -> (usize, usize) {
    let rows = matrix.iter().enumerate();
    let all = rows.flat_map(|(from, row)| row.iter().enumerate().map(move |(to, n)| (from, to, n)));
    let counts = all.filter(|(from, to, n)| from != to && **n > 0).map(|(_, _, n)| *n);
    counts.fold((0, 0), |(elements, pairs), n| (elements + n, pairs + 1))
}

/// Lengths of up to three axes with so many elements together.
fn factors(rng: &mut Rng, size: usize) -> Vec<usize> {
    let (mut shape, mut rest) = (Vec::new(), size);
    for _ in 0..rng.below(3) {
        let divisors: Vec<usize> = (1..=rest).filter(|n| rest.is_multiple_of(*n)).collect();
        shape.push(*rng.pick(&divisors));
        rest /= shape[shape.len() - 1];
    }
    shape.push(rest);
    rng.shuffle(&mut shape);
    shape
}

/// The axes that have more than one element: shapes that differ in others only are views, which are
/// read and not moved.
fn long(shape: &[usize]) -> Vec<usize> {
    shape.iter().copied().filter(|length| *length != 1).collect()
}

/// A program moves every element once, straight to where the team has it.
#[test]
fn programs_reshape_in_one_movement() {
    let mut some = 0;
    cases("reshape in one movement", 1_500, |rng| {
        let (size, members) = (1 + rng.below(300), 1 + rng.below(7));
        let (from, to) = (factors(rng, size), factors(rng, size));
        if long(&from) == long(&to) {
            return;
        }
        let plan = matrix(&in_a_row(&from, members), &in_a_row(&to, members), members);
        let expected = travels(&plan);
        let got = moved("reshape %a", &from, &to, members);
        assert_eq!(got, expected, "{from:?} -> {to:?} on {members}");
        some += usize::from(expected.0 > 0);
    });
    assert!(enough(some, 600), "too few movements: {some}");
}

/// The result of a permutation lives where its type says, as that of a reshape does.
#[test]
fn programs_permute_to_the_cut_of_the_team() {
    cases("permute to the team", 500, |rng| {
        let (size, members) = (1 + rng.below(300), 1 + rng.below(7));
        let from = factors(rng, size);
        let mut axes: Vec<usize> = (0..from.len()).collect();
        rng.shuffle(&mut axes);
        let to: Vec<usize> = axes.iter().map(|axis| from[*axis]).collect();
        let was_cut = axes.iter().position(|axis| *axis == 0).unwrap();
        let plan = matrix(&cut_along(&to, was_cut, members), &cut_along(&to, 0, members), members);
        let (elements, _) = moved(&format!("permute_dims %a {axes:?}"), &from, &to, members);
        assert!(elements >= travels(&plan).0, "{from:?} by {axes:?} on {members}");
    });
}
