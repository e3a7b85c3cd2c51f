//! Broadcast, sum-reduce and all-sum-reduce of whole tensors are plans between cell arrays.

use std::collections::{BTreeMap, BTreeSet};

use pantile_geometry::teams::{AxisChoice, Groups, Partition, Transpose};
use pantile_plan::Plan;
use pantile_testkit::cases;

type Arrows = BTreeMap<usize, BTreeSet<(usize, usize)>>;

/// Per cell: who gives to whom.
fn arrows(plan: &Plan) -> Arrows {
    let mut arrows = Arrows::new();
    for transfer in plan.transfers() {
        for cell in transfer.region.cells() {
            arrows.entry(cell[0]).or_default().insert((transfer.from, transfer.to));
        }
    }
    arrows
}

fn team(world: &Partition, ranks: &[usize], shape: &[usize]) -> Partition {
    let team = world.inclusive(ranks).expect("ranks of the world");
    team.cartesian(shape).expect("the shape fits")
}

/// The figure of the interface page: blue, yellow and red on workers 1, 2, 3.
#[test]
fn broadcast_and_its_adjoint_by_plan() {
    let world = Partition::world(12).expect("twelve workers");
    let small = team(&world, &[1, 2, 3], &[1, 3, 1]);
    let large = team(&world, &(0..12).collect::<Vec<_>>(), &[2, 3, 2]);
    let groups = Groups::broadcast(&small, &large, Transpose::default()).expect("they match");
    let (source, target) = groups.cell_distributions().expect("small teams");
    let plan = Plan::between(&source, &target).expect("no gaps");
    let found = arrows(&plan);
    for (cell, want) in [(0, vec![0, 1, 6, 7]), (1, vec![2, 3, 8, 9]), (2, vec![4, 5, 10, 11])] {
        let root = [1, 2, 3][cell];
        assert_eq!(found[&cell], want.into_iter().map(|to| (root, to)).collect());
    }
    let back = Groups::reduction(&large, &small, Transpose::default()).expect("they match");
    let (source, target) = back.cell_distributions().expect("small teams");
    let reduce = Plan::between(&source, &target).expect("no gaps");
    assert_eq!(plan.adjoint().expect("copies"), reduce);
}

#[test]
fn all_sum_reduce_by_plan() {
    let world = Partition::world(12).expect("twelve workers");
    let cube = team(&world, &(0..12).collect::<Vec<_>>(), &[2, 3, 2]);
    let choice = AxisChoice::Reduce(vec![0, 2]);
    let (before, after) = cube.allreduction_distributions(&choice).expect("axes exist");
    let plan = Plan::between(&before, &after).expect("no gaps");
    let found = arrows(&plan);
    let teams = [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]];
    for (cell, team) in teams.into_iter().enumerate() {
        let all = team.iter().flat_map(|from| team.iter().map(move |to| (*from, *to)));
        assert_eq!(found[&cell], all.collect());
    }
    assert_eq!(plan.adjoint().expect("sum"), plan, "all-sum-reduce is its own adjoint");
}

/// The plan of random teams sends along exactly the groups that the team arithmetic lists.
#[test]
fn plans_follow_the_groups() {
    cases("cells", 4_000, |rng| {
        let world = Partition::world(16).expect("sixteen workers");
        let large_shape: Vec<usize> = (0..3).map(|_| *rng.pick(&[1, 2, 2, 3])).collect();
        let small_shape: Vec<usize> =
            large_shape.iter().map(|n| if rng.chance(1, 2) { 1 } else { *n }).collect();
        let mut ranks: Vec<usize> = (0..16).collect();
        let mut pick = |shape: &[usize]| {
            rng.shuffle(&mut ranks);
            let size: usize = shape.iter().product();
            (size <= 16).then(|| team(&world, &ranks[..size], shape))
        };
        let (Some(small), Some(large)) = (pick(&small_shape), pick(&large_shape)) else { return };
        let groups = Groups::broadcast(&small, &large, Transpose::default()).expect("they match");
        let (source, target) = groups.cell_distributions().expect("small teams");
        let found = arrows(&Plan::between(&source, &target).expect("no gaps"));
        for (cell, group) in groups.iter().enumerate() {
            let members: BTreeSet<usize> =
                large.world_ranks().filter(|rank| groups.receive_of(*rank) == Some(cell)).collect();
            assert_eq!(found[&cell], members.iter().map(|to| (group.root, *to)).collect());
            let listed: BTreeSet<usize> =
                group.members.iter().copied().chain([group.root]).collect();
            assert!(members.is_subset(&listed));
        }
    });
}
