//! The generator must keep producing every sort of case: a law that is never tried proves nothing.

use pantile_testkit::Rng;
use pantile_testkit::generate::{Case, pair};
use pantile_testkit::model::classes::classes;
use pantile_testkit::model::faults::{Fault, universe_meets_plain};
use pantile_testkit::model::holders::element_holders;
use pantile_testkit::model::minimum::promised;
use pantile_testkit::model::normal::{has_terms, normal_directions};
use pantile_testkit::model::{
    AxisSpec, CutSpec, Holder, Kind, Map, Operator, Spec, between, indices, same_mesh,
};
use std::collections::BTreeMap;

const CASES: u64 = 4_000;

#[test]
fn every_sort_of_case_comes_up() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for index in 0..CASES {
        let case = pair(&mut Rng::new(index));
        for (sort, found) in sorts(&case) {
            *counts.entry(sort).or_default() += usize::from(found);
        }
    }
    for (sort, count) in &counts {
        println!("{count:5} {sort}");
    }
    let rare: Vec<_> = counts.iter().filter(|(_, count)| **count < 10).collect();
    assert!(rare.is_empty(), "hardly ever generated: {rare:?}");
    assert!(counts["fault: any"] * 4 < counts["all"], "too many cases have no movement");
}

/// Every sort of case by name, and whether this case is of it.
fn sorts(case: &Case) -> Vec<(&'static str, bool)> {
    let mut sorts = vec![("all", true)];
    sorts.extend(fault_sorts(case));
    sorts.extend(shape_sorts(case));
    sorts.extend(kind_sorts(case));
    sorts.extend(cut_sorts(case));
    if case.faults.is_empty() {
        sorts.extend(holder_sorts(case));
        sorts.extend(class_sorts(case));
    }
    sorts
}

fn fault_sorts(case: &Case) -> Vec<(&'static str, bool)> {
    let has = |test: fn(&Fault) -> bool| case.faults.iter().any(test);
    vec![
        ("fault: any", has(|_| true)),
        ("fault: shape", has(|fault| *fault == Fault::Shape)),
        ("fault: labels", has(|fault| matches!(fault, Fault::Labels { .. }))),
        ("fault: operators", has(|fault| *fault == Fault::Operators)),
        ("fault: source gap", has(|fault| matches!(fault, Fault::SourceGap { .. }))),
        ("fault: target gap", has(|fault| matches!(fault, Fault::TargetGap { .. }))),
    ]
}

fn shape_sorts(Case { source, target, .. }: &Case) -> Vec<(&'static str, bool)> {
    let elements = source.shape.iter().product::<usize>();
    let team = |spec: &Spec| spec.team.iter().collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!((team(source), team(target)), (source.team.len(), target.team.len()));
    vec![
        ("shape: no axes", source.shape.is_empty()),
        ("shape: no elements", elements == 0),
        ("shape: three axes", source.shape.len() == 3),
        ("mesh: more ranks than elements", source.team.len() > elements),
        ("mesh: idle ranks", source.team.iter().any(|&rank| rank >= source.team.len())),
        ("mesh: shuffled", !source.team.is_sorted()),
        ("mesh: one rank", source.team.len() == 1),
        ("mesh: axis of length 1", source.mesh_shape.contains(&1)),
        ("mesh: same", same_mesh(source, target)),
        (
            "mesh: same, spelled otherwise",
            same_mesh(source, target) && source.mesh_shape != target.mesh_shape,
        ),
        ("mesh: same team, other shape", source.team == target.team && !same_mesh(source, target)),
        ("mesh: other team", source.team != target.team),
        ("mesh: no common rank", !source.team.iter().any(|rank| target.team.contains(rank))),
    ]
}

fn kind_sorts(Case { source, target, .. }: &Case) -> Vec<(&'static str, bool)> {
    let same = source == target;
    let kinds = (mixed(source), mixed(target));
    let terms = (has_terms(source), has_terms(target));
    vec![
        ("pair: to itself", same),
        ("kind: copies to copies", terms == (false, false)),
        ("kind: terms to copies", terms == (true, false)),
        ("kind: copies to terms", terms == (false, true)),
        ("kind: terms to terms", terms == (true, true)),
        ("kind: mixed to mixed", kinds == (true, true)),
        ("kind: minimum not promised", source.shape == target.shape && !promised(source, target)),
        ("kind: other operator than sum", terms.0 && source.operator != Operator::Sum),
        ("boxes: source", matches!(source.map, Map::Boxes { .. })),
        ("boxes: target", matches!(target.map, Map::Boxes { .. })),
        ("labels: universe beside another cut", universe_meets_plain(source, target)),
    ]
}

/// True if some directions are Terms and some Copies.
fn mixed(spec: &Spec) -> bool {
    let directions = normal_directions(spec);
    [Kind::Copies, Kind::Terms].iter().all(|kind| directions.iter().any(|d| d.kind == *kind))
}

fn cut_sorts(case: &Case) -> Vec<(&'static str, bool)> {
    let axes: Vec<&AxisSpec> = [&case.source, &case.target]
        .iter()
        .flat_map(|spec| match &spec.map {
            Map::Axes(axes) => axes.iter().collect(),
            Map::Boxes { .. } => Vec::new(),
        })
        .collect();
    let any = |test: fn(&AxisSpec) -> bool| axes.iter().any(|axis| test(axis));
    let universes = |axis: &&&AxisSpec| {
        matches!(axis.cut, CutSpec::Indexed { universe: Some(_), .. }) && axis.length() > 0
    };
    vec![
        ("cut: several mesh axes", any(|axis| axis.over.len() > 1)),
        ("cut: balanced", any(|axis| axis.cut == CutSpec::Balanced)),
        ("cut: remainder last", any(|axis| axis.cut == CutSpec::RemainderLast)),
        ("cut: ceil", any(|axis| axis.cut == CutSpec::Ceil)),
        ("cut: cuts", any(|axis| matches!(axis.cut, CutSpec::Cuts(_)))),
        ("cut: cyclic", any(|axis| matches!(axis.cut, CutSpec::Cyclic { .. }))),
        ("cut: labels", any(|axis| matches!(axis.cut, CutSpec::Indexed { universe: None, .. }))),
        ("cut: universe", axes.iter().any(|axis| universes(&axis))),
        ("cut: cropped whole", any(|axis| axis.cut == CutSpec::Whole && axis.held.is_some())),
        (
            "labels: two universes meet",
            case.faults.is_empty() && axes.iter().filter(universes).count() > 1,
        ),
        ("view: any", any(|axis| axis.view.is_some())),
        ("view: backwards", any(|axis| axis.view.is_some_and(|v| v.step < 0 && v.length > 1))),
        ("view: at most one", any(|axis| axis.view.is_some_and(|view| view.length < 2))),
        ("view: of a periodic axis", any(|axis| axis.view.is_some() && axis.periodic)),
        ("room: any", any(|axis| axis.room.is_some())),
    ]
}

fn holder_sorts(Case { source, target, .. }: &Case) -> Vec<(&'static str, bool)> {
    let indices = indices(&source.shape);
    let any = |spec: &Spec, test: &dyn Fn(&Holder) -> bool| {
        indices.iter().any(|index| element_holders(spec, index).iter().any(test))
    };
    let lift = |least: i64| {
        let far = move |holder: &Holder| holder.lifts.iter().any(|lift| lift.abs() >= least);
        any(source, &far) || any(target, &far)
    };
    let gap = |spec| indices.iter().any(|index| element_holders(spec, index).is_empty());
    let twice = |spec| {
        indices.iter().any(|index| {
            let holders: Vec<usize> =
                element_holders(spec, index).into_iter().map(|holder| holder.rank).collect();
            holders.windows(2).any(|pair| pair[0] == pair[1])
        })
    };
    vec![
        ("lift: any", lift(1)),
        ("lift: several turns", lift(2)),
        ("lift: twice on one rank", twice(source) && twice(target)),
        ("gap: in both", gap(source) && gap(target)),
        ("gap: in a legal source", gap(source)),
        ("gap: in a legal target", gap(target)),
    ]
}

fn class_sorts(Case { source, target, .. }: &Case) -> Vec<(&'static str, bool)> {
    let (from, to) = (normal_directions(source), normal_directions(target));
    let classes = classes((source, &from), (target, &to));
    let real = classes.iter().filter(|class| !class.source.is_empty() && !class.target.is_empty());
    let movement = between(source, target).expect("the case has no fault");
    let apart = |pairs: &std::collections::BTreeSet<(Holder, Holder)>| {
        pairs.iter().all(|(from, to)| from.rank != to.rank)
    };
    vec![
        ("class: several", same_mesh(source, target) && real.count() > 1),
        ("move: no pair stays", movement.elements.values().any(apart)),
        ("move: some travel", movement.moves() > 0),
    ]
}
