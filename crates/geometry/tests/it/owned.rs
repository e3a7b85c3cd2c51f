//! The elements that a rank owns, as runs.

use pantile_geometry::{Distribution, Mesh, OwnedElements, OwnedRun};

/// Distributions with cuts of every kind, more ranks than rows, teams, views and empty axes.
const DISTRIBUTIONS: [(&str, usize); 12] = [
    ("7x5 on x=2, y=2: block(x), block(y)", 4),
    ("7x5 on r=3: block(r), whole", 3),
    ("7x5 on r=3: whole, cyclic(r, 2)", 3),
    ("7x5x3 on x=2, y=2: cyclic(y, 1), whole, block(x)", 4),
    ("4x3 on r=3: whole, whole", 3),
    ("2x3 on r=4: block(r), whole", 4),
    ("8 on r=2: indexed(r, [0 3 5] [1 2 4 6 7])", 2),
    ("4 on r=2: block(r) of 8 from 7 by -2", 2),
    ("6 on r=2 team [2 0]: block(r)", 3),
    ("0x3 on r=2: block(r), whole", 2),
    ("3x4x2 on r=2: whole, whole, whole", 2),
    ("5x1x4 on r=2: whole, whole, block(r)", 2),
];

/// The numbers of all elements in the order of memory, and their places.
fn listed(runs: impl Iterator<Item = OwnedRun>, by: usize) -> Vec<(usize, usize)> {
    let each = |run: OwnedRun| (0..run.count).map(move |k| (run.global + k, run.local + k * by));
    runs.flat_map(each).collect()
}

fn index_of(home: &Distribution, number: usize) -> Vec<usize> {
    let mut rest = number;
    let mut index = vec![0; home.ndim()];
    for (at, length) in index.iter_mut().zip(home.shape()).rev() {
        (*at, rest) = (rest % length, rest / length);
    }
    index
}

#[test]
fn every_element_has_one_first_owner() {
    for (text, ranks) in DISTRIBUTIONS {
        let home: Distribution = text.parse().unwrap();
        let mut owners = vec![0; home.size()];
        for rank in 0..ranks {
            let Some(owned) = home.owned_elements(rank) else { continue };
            let elements = listed(owned.dense_runs(), 1);
            assert_eq!(elements.len(), owned.len(), "{text}");
            assert_eq!(owned.is_empty(), elements.is_empty(), "{text}");
            for (at, (number, local)) in elements.iter().enumerate() {
                assert_eq!(*local, at, "{text}, rank {rank}");
                assert_eq!(owned.local(*number), Some(at), "{text}, rank {rank}");
                let holders = home.holders(&index_of(&home, *number));
                assert!(holders.iter().any(|holder| holder.rank == rank), "{text}: {number}");
                owners[*number] += usize::from(home.is_first_owner(rank));
            }
            let known = |number: &usize| elements.iter().any(|(one, _)| one == number);
            let other = (0..home.size()).find(|number| !known(number));
            assert!(other.is_none_or(|number| owned.local(number).is_none()), "{text}");
        }
        assert!(owners.iter().all(|count| *count == 1), "{text}: {owners:?}");
    }
}

/// Places in memory with gaps, by counting along every axis.
fn places(owned: &OwnedElements, first: usize, strides: &[usize]) -> Vec<usize> {
    let shape = owned.local_shape();
    let place = |number: usize| {
        let mut rest = number;
        let axes = shape.iter().zip(strides).rev();
        axes.fold(first, |at, (length, stride)| {
            let index = rest % length;
            rest /= length;
            at + index * stride
        })
    };
    (0..owned.len()).map(place).collect()
}

#[test]
fn memory_with_room_around_has_the_same_elements_in_the_same_order() {
    for (text, ranks) in DISTRIBUTIONS {
        let home: Distribution = text.parse().unwrap();
        for owned in (0..ranks).filter_map(|rank| home.owned_elements(rank)) {
            let numbers: Vec<usize> =
                listed(owned.dense_runs(), 1).iter().map(|one| one.0).collect();
            // Room behind every axis, or behind none but the last.
            for (room, last) in [(2, 1), (0, 1), (1, 3), (0, 2)] {
                let mut strides = vec![last; owned.local_shape().len()];
                for axis in (1..strides.len()).rev() {
                    strides[axis - 1] = strides[axis] * (owned.local_shape()[axis] + room);
                }
                let elements = listed(owned.runs_in(5, &strides), last);
                let expected: Vec<(usize, usize)> =
                    numbers.iter().copied().zip(places(&owned, 5, &strides)).collect();
                assert_eq!(elements, expected, "{text}, strides {strides:?}");
            }
        }
    }
}

#[test]
fn a_single_element_is_of_every_rank_and_first_on_one() {
    let home = Distribution::copies(&[], Mesh::line(3).unwrap()).unwrap();
    for rank in 0..3 {
        let owned = home.owned_elements(rank).unwrap();
        assert_eq!(
            (owned.len(), owned.local(0), home.is_first_owner(rank)),
            (1, Some(0), rank == 0)
        );
        let run = OwnedRun { global: 0, local: 7, count: 1 };
        assert_eq!(owned.runs_in(7, &[]).collect::<Vec<_>>(), [run]);
    }
    assert_eq!(home.owned_elements(3), None);
    assert!(!home.is_first_owner(3));
}

#[test]
fn rows_that_are_owned_whole_are_one_run() {
    let home: Distribution = "6x4x2 on r=2: block(r), whole, whole".parse().unwrap();
    let owned = home.owned_elements(1).unwrap();
    let run = OwnedRun { global: 24, local: 0, count: 24 };
    assert_eq!(owned.dense_runs().collect::<Vec<_>>(), [run]);
    assert_eq!(owned.reversed().local_shape(), [2, 4, 3]);
}
