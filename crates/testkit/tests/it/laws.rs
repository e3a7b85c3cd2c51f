//! The laws, checked on the model itself: they must hold before it may judge anything.

use pantile_testkit::generate::{Case, legal_pair, pair, spec, sum_pair, target_for};
use pantile_testkit::model::minimum::{least_moves, promised};
use pantile_testkit::model::normal::same_meaning;
use pantile_testkit::model::values::{check, dot, filled, moved, operator_of, scattered};
use pantile_testkit::model::{between, dual, faults, normalised, same_holders, same_owners};
use pantile_testkit::{Rng, cases};

#[test]
fn the_adjoint_is_the_movement_between_the_duals() {
    cases("adjoint", 6_000, |rng| {
        let Case { source, target, .. } = sum_pair(rng);
        let forward = between(&source, &target).unwrap();
        let back = between(&dual(&target).unwrap(), &dual(&source).unwrap());
        assert_eq!(Ok(forward.adjoint()), back, "\n{source:?}\n{target:?}");
    });
}

#[test]
fn a_pair_is_illegal_if_and_only_if_its_dual_is() {
    cases("dual faults", 3_000, |rng| {
        let case = pair(rng);
        let (Ok(a), Ok(b)) = (dual(&case.source), dual(&case.target)) else { return };
        let turned = faults(&b, &a);
        assert_eq!(case.faults.len(), turned.len(), "\n{case:?}\n{turned:?}");
    });
}

#[test]
fn every_target_holds_the_values_of_the_source() {
    cases("values", 8_000, |rng| {
        let Case { source, target, .. } = legal_pair(rng);
        let operator = operator_of(&source, &target);
        let before = filled(&source, rng);
        let after = moved(&between(&source, &target).unwrap(), operator, &target, &before);
        let checked = check((&source, &before), (&target, &after));
        assert_eq!(checked, Ok(()), "\n{source:?}\n{target:?}");
    });
}

#[test]
fn a_path_carries_the_values_to_its_end() {
    cases("paths", 4_000, |rng| {
        let Case { source, target: middle, .. } = legal_pair(rng);
        let end = target_for(rng, &middle);
        // A source may leave unknown (a gap in Copies) what a middle without it calls the
        // identity (a gap in Terms); the direct movement would be refused.
        if !faults(&source, &end).is_empty() {
            return;
        }
        let mut values = filled(&source, rng);
        let before = values.clone();
        for (from, to) in [(&source, &middle), (&middle, &end)] {
            let movement = between(from, to).unwrap();
            values = moved(&movement, operator_of(from, to), to, &values);
        }
        let checked = check((&source, &before), (&end, &values));
        assert_eq!(checked, Ok(()), "\n{source:?}\n{middle:?}\n{end:?}");
    });
}

#[test]
fn dot_products_agree_with_the_adjoint() {
    cases("dot products", 3_000, |rng| {
        let Case { source, target, .. } = sum_pair(rng);
        let (x, y) = (scattered(&source, rng), scattered(&target, rng));
        let operator = pantile_testkit::model::Operator::Sum;
        let (back_source, back_target) = (dual(&target).unwrap(), dual(&source).unwrap());
        let forward = moved(&between(&source, &target).unwrap(), operator, &target, &x);
        let back = moved(&between(&back_source, &back_target).unwrap(), operator, &source, &y);
        assert_eq!(dot(&forward, &y), dot(&x, &back), "\n{source:?}\n{target:?}");
    });
}

#[test]
fn moving_to_oneself_moves_nothing() {
    cases("identity", 4_000, |rng| {
        let spec = small(rng);
        let movement = between(&spec, &spec).unwrap();
        for pairs in movement.elements.values() {
            assert!(pairs.iter().all(|(from, to)| from == to), "\n{spec:?}\n{pairs:?}");
        }
    });
}

#[test]
fn the_normal_form_changes_no_holder_and_no_movement() {
    cases("normal form", 3_000, |rng| {
        let Case { source, target, .. } = legal_pair(rng);
        let (a, b) = (normalised(&source), normalised(&target));
        assert!(same_holders(&a, &source) && same_owners(&a, &source) && same_meaning(&a, &source));
        assert_eq!(normalised(&a), a);
        assert_eq!(between(&a, &b), between(&source, &target));
    });
}

#[test]
fn the_dual_of_the_dual_is_the_normal_form() {
    cases("dual twice", 4_000, |rng| {
        let spec = small(rng);
        let Ok(once) = dual(&spec) else { return };
        assert_eq!(dual(&once), Ok(normalised(&spec)), "\n{spec:?}");
    });
}

#[test]
fn promised_minima_are_reached() {
    cases("minimum", 6_000, |rng| {
        let Case { source, target, .. } = legal_pair(rng);
        if !promised(&source, &target) {
            return;
        }
        let movement = between(&source, &target).unwrap();
        for (index, pairs) in &movement.elements {
            let moves = pairs.iter().filter(|(from, to)| from.rank != to.rank).count();
            if let Some(least) = least_moves(&source, &target, index, 5_000) {
                assert_eq!(moves, least, "{index:?}\n{source:?}\n{target:?}");
            }
        }
    });
}

/// A distribution with few enough holders to be moved onto itself.
fn small(rng: &mut Rng) -> pantile_testkit::model::Spec {
    if rng.chance(1, 2) { spec(rng) } else { pair(rng).source }
}
