//! Several distributions of one array side by side: what is there already is not moved again.

use pantile::prelude::*;
use pantile::{Options, threads};
use pantile_engine::{Tile, TilePlaces};

const COLUMNS: &str = "whole, block(r)";

fn element(at: &[usize]) -> i64 {
    i64::try_from(at[0] * 100 + at[1]).unwrap()
}

fn expected(shape: [usize; 2]) -> Vec<i64> {
    (0..shape[0] * shape[1]).map(|n| element(&[n / shape[1], n % shape[1]])).collect()
}

/// Bytes that computing an array moves between ranks.
fn moved(world: &Session, array: &Array) -> u64 {
    let before = world.counters().bytes;
    array.compute().unwrap();
    world.counters().bytes - before
}

/// Somebody else writes the first element of an array, and looks away.
fn write_first(array: &Array, value: i64) {
    let opening = array.open().unwrap().unwrap();
    let piece = opening.pieces().iter().find(|piece| piece.rank == Some(0)).unwrap();
    let places = TilePlaces { first: 0, strides: vec![0, 0] };
    piece.foreign.write(&[vec![(0, 0)], vec![(0, 0)]], &places, &Tile::from_vec(vec![value]));
}

#[test]
fn what_is_there_already_does_not_move_again() {
    for ranks in [2, 3, 5, 7] {
        let world = Session::threads(ranks).unwrap();
        let a = world.dist("block(r), whole").from_fn(&[6, 9], element);
        let turned = a.redistribute(COLUMNS);
        assert!(moved(&world, &turned) > 0, "{ranks} ranks");
        let again = a.redistribute(COLUMNS);
        assert_eq!(moved(&world, &again), 0, "{ranks} ranks");
        // The same place in other words, and other places beside it.
        assert_eq!(moved(&world, &a.redistribute(&format!("r={ranks}: {COLUMNS}"))), 0);
        let copies = a.replicate();
        assert!(moved(&world, &copies) > 0);
        assert_eq!(moved(&world, &a.replicate()), 0);
        assert_eq!(moved(&world, &a.redistribute("copies")), 0);
        assert_eq!(moved(&world, &a.redistribute(COLUMNS)), 0, "the first one is still there");
        for array in [&turned, &again, &copies] {
            assert_eq!(array.to_vec::<i64>().unwrap(), expected([6, 9]));
        }
        assert_eq!(again.home().unwrap(), format!("6x9 on r={ranks}: {COLUMNS}"));
        // Nobody has it any more: it moves.
        drop((turned, again));
        assert!(moved(&world, &a.redistribute(COLUMNS)) > 0);
    }
}

#[test]
fn what_was_not_computed_yet_is_recorded_once() {
    let world = Session::threads(3).unwrap();
    let a = world.dist("block(r), whole").from_fn(&[6, 9], element);
    let (one, other) = (a.redistribute(COLUMNS), a.redistribute(COLUMNS));
    let once = moved(&world, &(&one + &other));
    let fresh = Session::threads(3).unwrap();
    let b = fresh.dist("block(r), whole").from_fn(&[6, 9], element);
    assert_eq!(once, moved(&fresh, &b.redistribute(COLUMNS)));
}

#[test]
fn assignments_make_versions() {
    for ranks in [1, 2, 3, 5] {
        let world = Session::threads(ranks).unwrap();
        let a = world.dist("block(r), whole").from_fn(&[6, 9], element);
        let before = a.redistribute(COLUMNS);
        before.compute().unwrap();
        // Of the source: the next movement brings the new elements.
        a.set(s![2, 3], -1);
        let after = a.redistribute(COLUMNS);
        let mut changed = expected([6, 9]);
        changed[2 * 9 + 3] = -1;
        assert_eq!(after.to_vec::<i64>().unwrap(), changed, "{ranks} ranks");
        assert_eq!(before.to_vec::<i64>().unwrap(), expected([6, 9]), "{ranks} ranks");
        // Of a result: neither the source nor another result of it sees that.
        let same = a.redistribute(COLUMNS);
        after.set(s![0, ..], 7);
        let third = a.redistribute(COLUMNS);
        for array in [&a, &same, &third] {
            assert_eq!(array.to_vec::<i64>().unwrap(), changed, "{ranks} ranks");
        }
        changed[..9].fill(7);
        assert_eq!(after.to_vec::<i64>().unwrap(), changed, "{ranks} ranks");
    }
}

#[test]
fn memory_that_others_write_is_looked_at_again() {
    for ranks in [1, 2, 3] {
        let world = Session::threads(ranks).unwrap();
        let a = world.dist("block(r), whole").from_fn(&[6, 9], element);
        let first = a.redistribute(COLUMNS);
        first.compute().unwrap();
        write_first(&a, -5);
        let mut changed = expected([6, 9]);
        changed[0] = -5;
        assert_eq!(a.redistribute(COLUMNS).to_vec::<i64>().unwrap(), changed, "{ranks} ranks");
        // Also if the memory is that of a result.
        let b = world.dist("block(r), whole").from_fn(&[6, 9], element);
        let result = b.redistribute(COLUMNS);
        result.compute().unwrap();
        write_first(&result, -5);
        assert_eq!(b.redistribute(COLUMNS).to_vec::<i64>().unwrap(), expected([6, 9]));
        assert_eq!(result.to_vec::<i64>().unwrap(), changed, "{ranks} ranks");
        // Two results of one movement are two arrays.
        let (one, other) = (b.redistribute(COLUMNS), b.redistribute(COLUMNS));
        one.compute().unwrap();
        write_first(&one, -5);
        assert_eq!(other.to_vec::<i64>().unwrap(), expected([6, 9]), "{ranks} ranks");
        assert_eq!(one.to_vec::<i64>().unwrap(), changed, "{ranks} ranks");
    }
}

#[test]
fn callers_whose_handles_end_at_different_times_go_on() {
    let options = Options::default().with_deadline(std::time::Duration::from_secs(20));
    let said = threads::run(3, &options, |communicator| {
        let world = Session::on(communicator);
        let a = world.dist("block(r), whole").from_fn(&[6, 9], element);
        let first = a.redistribute(COLUMNS);
        first.compute()?;
        // As a collector of garbage may have it.
        let kept = (world.hosted()[0] != 1).then_some(first);
        let again = a.redistribute(COLUMNS).to_vec::<i64>()?;
        drop(kept);
        Ok::<_, Fault>(again)
    });
    for one in said {
        assert_eq!(one.unwrap(), expected([6, 9]));
    }
}
