//! Random distributions against a model that enumerates every element and shares no code.

use std::collections::BTreeSet;

use crate::common::distribution;
use pantile_geometry::{Axis, Cuts, Distribution, ElementHolder, Mesh};
use pantile_testkit::model::{self, AxisSpec, CutSpec, Holder, Map, Spec};
use pantile_testkit::{cases, generate};

fn made(spec: &Spec) -> Distribution {
    distribution(spec).unwrap_or_else(|error| panic!("{error}\n{spec:#?}"))
}

fn ours(holder: &Holder) -> ElementHolder {
    ElementHolder { rank: holder.rank, lifts: holder.lifts.clone() }
}

/// Holders and owner of every element, of the distribution and of its normal form.
#[test]
fn holders_and_owners_are_the_model_s() {
    cases("holders", 12_000, |rng| {
        let spec = generate::spec(rng);
        let made = made(&spec);
        for side in [&made, &made.normal()] {
            for index in model::indices(&spec.shape) {
                let want: Vec<ElementHolder> =
                    model::element_holders(&spec, &index).iter().map(ours).collect();
                assert_eq!(side.holders(&index), want, "{side} at {index:?}\n{spec:#?}");
                let owner = model::element_owner(&spec, &index);
                assert_eq!(side.owner(&index), owner.as_ref().map(ours), "{side} at {index:?}");
            }
        }
    });
}

/// Where the owned parts tile the axis every element has exactly one owner, and held regions
/// list exactly the elements that the holders of each element say.
#[test]
fn held_regions_cover_what_holders_say() {
    cases("held", 6_000, |rng| {
        let spec = generate::spec(rng);
        let made = made(&spec);
        let mut listed: BTreeSet<(Vec<usize>, usize, Vec<i64>)> = BTreeSet::new();
        for rank in spec.team.iter().copied().chain([99]) {
            for (lifts, region) in made.held(rank) {
                let cells = region.cells();
                assert_eq!(cells.len(), region.size());
                for cell in cells {
                    assert!(listed.insert((cell, rank, lifts.clone())), "listed twice: {made}");
                }
            }
        }
        let mut said = BTreeSet::new();
        for index in model::indices(&spec.shape) {
            for holder in model::element_holders(&spec, &index) {
                said.insert((index.clone(), holder.rank, holder.lifts));
            }
        }
        assert_eq!(listed, said, "{made}");
    });
}

/// local(global(place)) = place for every place of the room; held elements have distinct places;
/// slabs list the places one by one.
#[test]
fn local_and_global_are_inverse() {
    cases("local", 6_000, |rng| {
        let spec = generate::spec(rng);
        let made = made(&spec);
        for rank in spec.team.iter().copied() {
            let shape = made.local_shape(rank).expect("the rank is in the team");
            for place in model::indices(&shape) {
                let (index, lifts) = made.global(rank, &place).expect("inside the room");
                let back = made.local(rank, &lifts, &index);
                assert_eq!(back.as_ref(), Some(&place), "{made} rank {rank}");
                assert_eq!(made.normal().local(rank, &lifts, &index), Some(place));
            }
            let beyond: Vec<usize> = shape.iter().map(|extent| extent + 1).collect();
            assert!(shape.is_empty() || made.global(rank, &beyond).is_none());
            let mut taken = BTreeSet::new();
            for (lifts, region) in made.held(rank) {
                for cell in region.cells() {
                    let place = made.local(rank, &lifts, &cell).expect("held lies in room");
                    assert!(place.iter().zip(&shape).all(|(at, n)| at < n), "{made} rank {rank}");
                    assert!(taken.insert(place), "two elements at one place: {made} rank {rank}");
                }
                let slab = made.slab(rank, &lifts, &region).expect("held lies in room");
                let flat = |place: Vec<usize>| {
                    place.iter().zip(&shape).fold(0, |at, (p, extent)| at * extent + p)
                };
                let places: Vec<usize> = region
                    .cells()
                    .iter()
                    .map(|cell| flat(made.local(rank, &lifts, cell).expect("held lies in room")))
                    .collect();
                assert_eq!(slab.offsets(&shape), places, "{made} rank {rank}");
            }
        }
    });
}

/// A slice shows the elements of its index list, on the same holders with the same owner.
#[test]
fn slices_are_index_lists() {
    cases("slices", 6_000, |rng| {
        let spec = generate::spec(rng);
        let made = made(&spec);
        if spec.shape.is_empty() {
            return;
        }
        let axis = rng.below(spec.shape.len());
        let length = spec.shape[axis];
        let offset = if length == 0 { 0 } else { rng.below(length) };
        let mut step = rng.range(-4, 5);
        if step == 0 || matches!(spec.map, Map::Boxes { .. }) {
            step = 1;
        }
        let list: Vec<usize> = (0..length as i64)
            .map(|k| offset as i64 + step * k)
            .filter_map(|at| usize::try_from(at).ok().filter(|at| *at < length))
            .collect();
        let taken = rng.below(list.len() + 1);
        let slice = made.slice(axis, offset as i64, step, taken).expect("inside the axis");
        for index in model::indices(slice.shape()) {
            let mut base = index.clone();
            base[axis] = list[index[axis]];
            assert_eq!(slice.holders(&index), made.holders(&base), "{made} -> {slice}");
            assert_eq!(slice.owner(&index), made.owner(&base), "{made} -> {slice}");
        }
        let too_far = made.slice(axis, offset as i64, step, length + 2);
        assert!(step == 0 || too_far.is_err(), "{made}");
    });
}

/// Text prints and parses; equal texts of normal forms mean equal fingerprints; equality implies
/// equal holders and owners.
#[test]
fn text_round_trips_and_equality_is_sound() {
    cases("text", 8_000, |rng| {
        let (spec, other) = (generate::spec(rng), generate::spec(rng));
        let (made, other_made) = (made(&spec), made(&other));
        let printed = made.to_string();
        let parsed: Distribution = printed.parse().unwrap_or_else(|e| panic!("{printed}\n{e}"));
        assert_eq!(parsed, made);
        assert_eq!(parsed.to_string(), printed);
        assert_eq!(parsed.fingerprint(), made.fingerprint());
        let normal: Distribution = made.normal().to_string().parse().expect("normal forms parse");
        assert_eq!(normal, made, "{made}");
        assert_eq!(normal.normal().to_string(), made.normal().to_string(), "normal is a fixpoint");
        if made == other_made {
            assert!(model::same_holders(&spec, &other), "{made} == {other_made}");
            assert!(model::same_owners(&spec, &other), "{made} == {other_made}");
            assert_eq!(made.fingerprint(), other_made.fingerprint());
        }
    });
}

/// The dual has the same holders and the other kind; the dual of the dual is the original.
#[test]
fn dual_is_an_involution() {
    cases("dual", 4_000, |rng| {
        let spec = generate::spec(rng);
        let made = made(&spec);
        match (made.dual(), model::dual(&spec)) {
            (Ok(dual), Ok(want)) => {
                assert_eq!(dual, self::made(&want), "{made}");
                assert_eq!(dual.dual().expect("sums have duals"), made);
            }
            (Err(_), Err(_)) => {}
            (ours, theirs) => panic!("{made}: {ours:?} / {theirs:?}"),
        }
    });
}

/// `a[.., i, ..]` lives on the sub-mesh of the owner, and holds what the owner's line held.
#[test]
fn selecting_an_index_goes_to_its_owner() {
    cases("select", 4_000, |rng| {
        let spec = generate::spec(rng);
        let made = made(&spec);
        if spec.shape.is_empty() || spec.shape.contains(&0) {
            return;
        }
        let axis = rng.below(spec.shape.len());
        let at = rng.below(spec.shape[axis]);
        let Ok(selected) = made.select(axis, at) else { return };
        for index in model::indices(selected.shape()) {
            let mut full = index.clone();
            full.insert(axis, at);
            let owner = made.owner(&full).map(|holder| holder.rank);
            assert_eq!(selected.owner(&index).map(|holder| holder.rank), owner, "{made}[{at}]");
            let ranks: BTreeSet<usize> = made.holders(&full).iter().map(|h| h.rank).collect();
            assert!(selected.holders(&index).iter().all(|h| ranks.contains(&h.rank)));
        }
    });
}

/// Uniform halo widths, negative ones and periodic axes included, say what the model's intervals
/// say.
#[test]
fn uniform_halos_are_the_model_s_intervals() {
    cases("halo", 6_000, |rng| {
        let (length, parts) = (rng.below(9), 1 + rng.below(6));
        let cut = match rng.below(4) {
            0 => CutSpec::Balanced,
            1 => CutSpec::RemainderLast,
            2 => CutSpec::Ceil,
            _ => {
                let mut cuts: Vec<usize> = (1..parts).map(|_| rng.below(length + 1)).collect();
                cuts.extend([0, length]);
                cuts.sort_unstable();
                CutSpec::Cuts(cuts)
            }
        };
        let mut axis = AxisSpec::plain(length, &[0], cut);
        axis.periodic = rng.chance(1, 3);
        let (before, after) = (rng.range(-4, 12), rng.range(-4, 12));
        axis.held = Some(model::halo(&axis, parts, before, after));
        let want = made(&Spec::axes(vec![axis.clone()], &[parts]));
        let cuts = match &axis.cut {
            CutSpec::RemainderLast => Cuts::RemainderLast,
            CutSpec::Ceil => Cuts::Ceil,
            CutSpec::Cuts(cuts) => Cuts::At(cuts.as_slice().into()),
            _ => Cuts::Balanced,
        };
        let mut ours = Axis::cut(&["r"], cuts).halo(before, after);
        if axis.periodic {
            ours = ours.periodic();
        }
        let mesh = Mesh::line(parts).expect("some ranks");
        let got = Distribution::new(&[length], mesh, vec![ours]).expect("a small halo");
        assert_eq!(got, want);
        assert_eq!(got.fingerprint(), want.fingerprint());
        for index in 0..length {
            assert_eq!(got.holders(&[index]), want.holders(&[index]), "{got} / {want}");
            assert_eq!(got.owner(&[index]), want.owner(&[index]), "{got} / {want}");
        }
        for rank in 0..parts {
            assert_eq!(got.local_shape(rank), want.local_shape(rank), "{got} / {want}");
            assert_eq!(got.held(rank), want.held(rank), "{got} / {want}");
        }
    });
}

/// Local places of a view: ascending visible index, whichever way the base is walked; under
/// several lifts, the order of positions in memory, walked as the view walks.
#[test]
fn local_order_follows_the_view() {
    let order = |text: &str, rank: usize| -> Vec<(usize, i64)> {
        let side: Distribution = text.parse().expect("a distribution");
        let count = side.local_shape(rank).expect("in the team")[0];
        let at = |place: usize| side.global(rank, &[place]).expect("inside");
        (0..count).map(at).map(|(index, lifts)| (index[0], lifts[0])).collect()
    };
    assert_eq!(order("4 on r=2: block(r) of 8 from 7 by -2", 0), [(2, 0), (3, 0)]);
    assert_eq!(order("4 on r=2: block(r) of 8 from 7 by -2", 1), [(0, 0), (1, 0)]);
    // Base positions -1..3 of a ring of 4, seen backwards: 2, 1, 0, then 3 one turn before.
    let ring = "4 on r=2: block(r) of 4 from 3 by -1 periodic halo 1";
    assert_eq!(order(ring, 0), [(1, 0), (2, 0), (3, 0), (0, -1)]);
    assert_eq!(order("4 on r=2: block(r) periodic halo 1", 0), [(3, -1), (0, 0), (1, 0), (2, 0)]);
    assert_eq!(
        order("6 on r=2: cyclic(r, 2) of 6 from 5 by -1", 0),
        [(0, 0), (1, 0), (4, 0), (5, 0)]
    );
    assert_eq!(
        order("3 on r=2: indexed(r, [5 0 3] [1 2 4]) of 6 from 5 by -2", 0),
        [(0, 0), (1, 0)]
    );
}
