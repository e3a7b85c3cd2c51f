//! Random movements against a model that enumerates every element and shares no code.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::distribution;
use pantile_geometry::Distribution;
use pantile_plan::{Error, Lifts, Machine, Plan, Schedule, Terrain, Totals, Transfer, route};
use pantile_testkit::generate::Case;
use pantile_testkit::model::{self, Fault, Holder, Movement, Spec};
use pantile_testkit::{cases, enough, generate};

fn made(spec: &Spec) -> Distribution {
    distribution(spec).unwrap_or_else(|error| panic!("{error}\n{spec:#?}"))
}

fn sides(case: &Case) -> (Distribution, Distribution) {
    (made(&case.source), made(&case.target))
}

fn plan(source: &Distribution, target: &Distribution) -> Plan {
    Plan::between(source, target).unwrap_or_else(|error| panic!("{source}\n{target}\n{error}"))
}

fn full(lifts: &Lifts, ndim: usize) -> Vec<i64> {
    (0..ndim).map(|axis| lifts.along(axis)).collect()
}

/// Every pair of every element, as the model writes it.
fn pairs<'a>(transfers: impl Iterator<Item = &'a Transfer>, ndim: usize) -> Movement {
    let mut movement = Movement::default();
    for transfer in transfers {
        let from = Holder { rank: transfer.from, lifts: full(&transfer.source_lifts, ndim) };
        let to = Holder { rank: transfer.to, lifts: full(&transfer.target_lifts, ndim) };
        for cell in transfer.region.cells() {
            let fresh = movement.elements.entry(cell).or_default();
            assert!(fresh.insert((from.clone(), to.clone())), "listed twice: {transfer}");
        }
    }
    movement
}

fn all_ranks(case: &Case) -> BTreeSet<usize> {
    case.source.team.iter().chain(&case.target.team).copied().chain([0, 99]).collect()
}

/// The plan has exactly the pairs of the rule, lifts included, or is refused for the same reason.
#[test]
fn pairs_are_the_model_s() {
    cases("pairs", 20_000, |rng| {
        let case = generate::pair(rng);
        let (source, target) = sides(&case);
        match (Plan::between(&source, &target), model::between(&case.source, &case.target)) {
            (Ok(plan), Ok(want)) => {
                let got = pairs(plan.transfers(), source.ndim());
                assert_eq!(got, want, "{source}\n{target}\n{plan}");
            }
            (Err(error), Err(_)) => {
                let agrees = case.faults.iter().any(|fault| match (fault, &error) {
                    (Fault::Shape, Error::Shapes { .. })
                    | (Fault::Operators, Error::Operators { .. })
                    | (Fault::SourceGap { .. }, Error::SourceGap { .. })
                    | (Fault::TargetGap { .. }, Error::TargetGap { .. }) => true,
                    (Fault::Labels { axis }, Error::Labels { axis: ours }) => axis == ours,
                    _ => false,
                });
                assert!(agrees, "{source}\n{target}\n{error} is none of {:?}", case.faults);
            }
            (ours, theirs) => {
                panic!("{source}\n{target}\n{:?}\n{:?}", ours.map(|p| p.to_string()), theirs)
            }
        }
    });
}

/// A rank's schedule, made alone, is its share of the plan, on every rank and on idle ones.
#[test]
fn schedule_is_the_plan_for_the_rank() {
    cases("schedule", 8_000, |rng| {
        let case = generate::pair(rng);
        let (source, target) = sides(&case);
        let whole = Plan::between(&source, &target);
        for rank in all_ranks(&case) {
            match (&whole, Schedule::between(&source, &target, rank)) {
                (Ok(plan), Ok(alone)) => {
                    assert_eq!(alone, plan.for_rank(rank), "{source}\n{target}\nrank {rank}");
                }
                (Err(a), Err(b)) => assert_eq!(*a, b, "the same error on every rank"),
                (a, b) => panic!("{source}\n{target}\n{a:?}\n{b:?}"),
            }
        }
    });
}

/// The adjoint turns every arrow around, and is the movement between the duals.
#[test]
fn adjoint_is_transpose_and_dual_redistribution() {
    cases("adjoint", 12_000, |rng| {
        let case = generate::sum_pair(rng);
        let (source, target) = sides(&case);
        let plan = plan(&source, &target);
        let adjoint = plan.adjoint().expect("sums have duals");
        let ndim = source.ndim();
        assert_eq!(pairs(adjoint.transfers(), ndim), pairs(plan.transfers(), ndim).adjoint());
        let transposed: BTreeMap<(usize, usize), usize> =
            plan.matrix().into_iter().map(|((from, to), size)| ((to, from), size)).collect();
        assert_eq!(adjoint.matrix(), transposed);
        let (source, target) = (source.dual().expect("sum"), target.dual().expect("sum"));
        assert_eq!(adjoint, self::plan(&target, &source), "{source}\n{target}");
        assert_eq!(adjoint.adjoint().expect("sum"), plan);
    });
}

/// Nothing moves between equal distributions, whatever their spelling.
#[test]
fn equal_distributions_move_nothing() {
    cases("identity", 6_000, |rng| {
        let case = generate::legal_pair(rng);
        let source = made(&case.source);
        for target in [source.clone(), source.normal()] {
            let plan = plan(&source, &target);
            assert_eq!((plan.moved(), plan.messages()), (0, 0), "{source}\n{plan}");
        }
    });
}

/// Moved elements equal the least that any correct movement can move, where that is promised.
#[test]
fn moved_elements_are_the_minimum() {
    cases("minimum", 6_000, |rng| {
        let case = generate::legal_pair(rng);
        if !model::minimum::promised(&case.source, &case.target) {
            return;
        }
        let (source, target) = sides(&case);
        let mut moved: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let plan = plan(&source, &target);
        for transfer in plan.transfers().filter(|transfer| transfer.travels()) {
            for cell in transfer.region.cells() {
                *moved.entry(cell).or_default() += 1;
            }
        }
        for index in model::indices(&case.source.shape) {
            let least = model::minimum::least_moves(&case.source, &case.target, &index, 2_000);
            if let Some(least) = least {
                let got = moved.get(&index).copied().unwrap_or(0);
                assert_eq!(got, least, "{source}\n{target}\n{index:?}");
            }
        }
    });
}

/// Buffers in local memory, moved by every rank's schedule through slabs: values are right on
/// every holder.
#[test]
fn values_are_right_on_every_holder() {
    cases("values", 8_000, |rng| {
        let case = generate::legal_pair(rng);
        let (source, target) = sides(&case);
        let values = model::values::filled(&case.source, rng);
        let operator = model::values::operator_of(&case.source, &case.target);
        let mut got: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        let buffers = fill(&source, &values);
        for rank in &case.target.team {
            let shape = target.local_shape(*rank).expect("in the team");
            let identity = model::values::identity(operator);
            let mut buffer = vec![identity; shape.iter().product()];
            let schedule = Schedule::between(&source, &target, *rank).expect("legal");
            for part in schedule.hops.iter().flat_map(|hop| &hop.receives).flat_map(|m| &m.parts) {
                let from = offsets(&source, part.from, &part.source_lifts, part);
                let to = offsets(&target, *rank, &part.target_lifts, part);
                for (from, to) in from.into_iter().zip(to) {
                    let value = buffers[&part.from][from];
                    buffer[to] = model::values::combine(operator, buffer[to], value);
                }
            }
            got.insert(*rank, buffer);
        }
        let landed = collect(&case.target, &target, &got);
        let verdict = model::values::check((&case.source, &values), (&case.target, &landed));
        assert_eq!(verdict, Ok(()), "{source}\n{target}");
    });
}

type Values = model::values::Values;

fn place(side: &Distribution, index: &[usize], holder: &Holder) -> usize {
    let shape = side.local_shape(holder.rank).expect("in the team");
    let local = side.local(holder.rank, &holder.lifts, index).expect("held lies in room");
    local.iter().zip(&shape).fold(0, |at, (place, extent)| at * extent + place)
}

fn fill(side: &Distribution, values: &Values) -> BTreeMap<usize, Vec<i64>> {
    let mut buffers: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for ((index, holder), value) in values {
        let size = side.local_shape(holder.rank).expect("in the team").iter().product();
        let buffer = buffers.entry(holder.rank).or_insert_with(|| vec![i64::MIN; size]);
        buffer[place(side, index, holder)] = *value;
    }
    buffers
}

fn offsets(side: &Distribution, rank: usize, lifts: &Lifts, part: &Transfer) -> Vec<usize> {
    let slab = side.slab(rank, &full(lifts, side.ndim()), &part.region).expect("held");
    slab.offsets(&side.local_shape(rank).expect("in the team"))
}

fn collect(spec: &Spec, side: &Distribution, buffers: &BTreeMap<usize, Vec<i64>>) -> Values {
    let mut values = Values::new();
    for index in model::indices(&spec.shape) {
        for holder in model::element_holders(spec, &index) {
            let value = buffers[&holder.rank][place(side, &index, &holder)];
            values.insert((index.clone(), holder), value);
        }
    }
    values
}

/// Text and JSON lose nothing; check finds nothing; totals are those of the listed transfers.
#[test]
fn texts_round_trip_and_plans_are_right() {
    cases("round trips", 6_000, |rng| {
        let case = generate::legal_pair(rng);
        let (source, target) = sides(&case);
        let plan = plan(&source, &target);
        let text = plan.to_string();
        let parsed: Plan = text.parse().unwrap_or_else(|error| panic!("{text}\n{error}"));
        assert_eq!(parsed, plan, "{text}");
        assert_eq!(parsed.to_string(), text);
        assert_eq!(parsed.fingerprint(), plan.fingerprint());
        let json = plan.to_json().to_string();
        assert_eq!(Plan::from_json(&json).unwrap_or_else(|e| panic!("{json}\n{e}")), plan);
        assert_eq!(plan.check(), Vec::new(), "{plan}");
        let transfers: Vec<Transfer> = plan.transfers().cloned().collect();
        assert_eq!(Totals::between(&source, &target).expect("legal"), Totals::of(&transfers));
    });
}

/// A plan with one transfer dropped, doubled or sent elsewhere is found out.
#[test]
fn check_finds_broken_plans() {
    let mut found = 0;
    cases("broken", 3_000, |rng| {
        let case = generate::legal_pair(rng);
        let (source, target) = sides(&case);
        let plan = plan(&source, &target);
        let mut steps = plan.steps().to_vec();
        let transfers = &mut steps[0].rounds[0].transfers;
        if transfers.is_empty() {
            return;
        }
        let at = rng.below(transfers.len());
        match rng.below(3) {
            0 => drop(transfers.remove(at)),
            1 => transfers.push(transfers[at].clone()),
            _ => transfers[at].to = 98,
        }
        assert!(!Plan::from_steps(steps).check().is_empty(), "{plan}");
        found += 1;
    });
    assert!(enough(found, 2_400), "too few plans had anything to break: {found}");
}

type Matrix = BTreeMap<(Vec<usize>, Holder, Holder), usize>;

/// How often each source holder's element ends up at each target holder, over all steps.
fn composed(plan: &Plan) -> Matrix {
    let ndim = plan.steps()[0].source.ndim();
    let mut whole: Option<Matrix> = None;
    for step in plan.steps() {
        let mut next = Matrix::new();
        for (cell, pairs) in pairs(step.transfers(), ndim).elements {
            for (from, to) in pairs {
                match &whole {
                    None => *next.entry((cell.clone(), from, to)).or_default() += 1,
                    Some(before) => {
                        for ((at, first, middle), count) in before {
                            if *at == cell && *middle == from {
                                let key = (cell.clone(), first.clone(), to.clone());
                                *next.entry(key).or_default() += count;
                            }
                        }
                    }
                }
            }
        }
        whole = Some(next);
    }
    whole.unwrap_or_default()
}

/// All-reduce through blocks is the same matrix as the direct one and never moves more.
#[test]
fn through_blocks_equals_direct() {
    let mut tried = 0;
    cases("through blocks", 10_000, |rng| {
        let case = generate::sum_pair(rng);
        let (source, target) = sides(&case);
        let Some(path) = Plan::through_blocks(&source, &target).expect("legal") else { return };
        tried += 1;
        assert_eq!(composed(&path), composed(&plan(&source, &target)), "{source}\n{target}");
        assert_eq!(path.check(), Vec::new());
    });
    assert!(enough(tried, 100), "too few paths through blocks: {tried}");
}

/// Whatever can be moved has a cheapest path and a route, however little it is: a stop that wants
/// more than there is, or terms of another operator, is no reason to refuse.
#[test]
fn whatever_can_be_moved_has_a_path() {
    cases("a path", 20_000, |rng| {
        let case = generate::legal_pair(rng);
        let (source, target) = sides(&case);
        let machine = Machine::default().with_ranks(1, 1 + rng.below(4));
        let best = Plan::best(&source, &target, &machine, 8)
            .unwrap_or_else(|error| panic!("{source}\n{target}\n{error}"));
        assert_eq!(best.check(), Vec::new(), "{best}");
        assert!(Plan::axis_by_axis(&source, &target).is_ok(), "{source}\n{target}");
        for windows in [true, false] {
            let terrain = Terrain { windows, large_bytes: 0 };
            for stops in route(&source, &target, 8, terrain).windows(2) {
                let step = Plan::between(&stops[0], &stops[1]);
                assert!(step.is_ok(), "{source}\n{target}\n{} -> {}", stops[0], stops[1]);
            }
        }
    });
}

/// A halo exchange axis by axis ends with the same values as the direct one, corners included;
/// step i sends only along the mesh axes of array axis i.
#[test]
fn axis_by_axis_equals_direct_with_corners() {
    let mut tried = 0;
    cases("axis by axis", 4_000, |rng| {
        let text = halo_texts(rng);
        let source: Distribution = text.0.parse().unwrap_or_else(|e| panic!("{}: {e}", text.0));
        let target: Distribution = text.1.parse().unwrap_or_else(|e| panic!("{}: {e}", text.1));
        let path = Plan::axis_by_axis(&source, &target).expect("legal").expect("the same mesh");
        assert_eq!(path.check(), Vec::new(), "{path}");
        let direct = plan(&source, &target);
        // Which copy of an element arrives may differ; that each target holder gets it once
        // from some holder of it may not.
        let arrivals = |plan: &Plan| -> BTreeMap<(Vec<usize>, Holder), usize> {
            let mut arrivals = BTreeMap::new();
            for ((cell, _, to), count) in composed(plan) {
                *arrivals.entry((cell, to)).or_default() += count;
            }
            arrivals
        };
        assert_eq!(arrivals(&path), arrivals(&direct), "{source}\n{target}");
        for step in path.steps() {
            let mut axes = BTreeSet::new();
            for transfer in step.transfers().filter(|transfer| transfer.travels()) {
                for axis in 0..source.ndim() {
                    let coordinate = |rank| source.coordinate(rank, axis);
                    if coordinate(transfer.from) != coordinate(transfer.to) {
                        axes.insert(axis);
                    }
                }
            }
            assert!(axes.len() <= 1, "a step sends along several axes: {path}");
        }
        tried += usize::from(path.steps().len() > 1);
    });
    assert!(enough(tried, 2_100), "too few paths of several steps: {tried}");
}

/// Blocks on a 2-d or 3-d mesh, and the same with halos of any width, some periodic.
fn halo_texts(rng: &mut pantile_testkit::Rng) -> (String, String) {
    let ndim = 2 + rng.below(2);
    let names = ["x", "y", "z"];
    let shape: Vec<String> = (0..ndim).map(|_| (1 + rng.below(6)).to_string()).collect();
    let mesh: Vec<String> =
        names[..ndim].iter().map(|name| format!("{name}={}", 1 + rng.below(3))).collect();
    let head = format!("{} on {}:", shape.join("x"), mesh.join(", "));
    let (mut plain, mut haloed) = (Vec::new(), Vec::new());
    for name in &names[..ndim] {
        let periodic = if rng.chance(1, 4) { " periodic" } else { "" };
        plain.push(format!("block({name}){periodic}"));
        let (before, after) = (rng.below(4), rng.below(4));
        haloed.push(format!("block({name}){periodic} halo {before} {after}"));
    }
    (format!("{head} {}", plain.join(", ")), format!("{head} {}", haloed.join(", ")))
}

/// A target cell: element, rank, lifts; and who gives it something.
type Cell = (Vec<usize>, usize, Vec<i64>);
type Sender = (usize, Vec<i64>);

/// Rounds move the same elements, each rank stages no more than the bound, and terms of a cell
/// still come by ascending source.
#[test]
fn rounds_stay_within_the_bound() {
    cases("rounds", 4_000, |rng| {
        let case = generate::legal_pair(rng);
        let (source, target) = sides(&case);
        let whole = plan(&source, &target);
        let bound = 8 * (1 + rng.below(12));
        let rounds = whole.within(bound, 8).expect("one element fits");
        let ndim = source.ndim();
        assert_eq!(pairs(rounds.transfers(), ndim), pairs(whole.transfers(), ndim));
        let mut order: BTreeMap<Cell, Sender> = BTreeMap::new();
        for round in &rounds.steps()[0].rounds {
            let mut staged: BTreeMap<usize, usize> = BTreeMap::new();
            for transfer in &round.transfers {
                if transfer.travels() {
                    *staged.entry(transfer.from).or_default() += transfer.size() * 8;
                    *staged.entry(transfer.to).or_default() += transfer.size() * 8;
                }
                for cell in transfer.region.cells() {
                    let from = (transfer.from, full(&transfer.source_lifts, ndim));
                    let key = (cell, transfer.to, full(&transfer.target_lifts, ndim));
                    let before = order.insert(key, from.clone());
                    assert!(before.is_none_or(|before| before < from), "{rounds}");
                }
            }
            assert!(staged.values().all(|bytes| *bytes <= bound), "{bound}: {rounds}");
        }
        assert!(whole.within(7, 8).is_err());
    });
}

/// A step between different shapes is reported, not looked into.
#[test]
fn check_survives_different_shapes() {
    let text =
        "step sum\n source 9 on r=3: block(r)\n target 7 on r=3: block(r)\n round 0 -> 0: {0}";
    let plan: Plan = text.parse().expect("a plan");
    assert_eq!(plan.check().len(), 1);
}
