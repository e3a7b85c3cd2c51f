//! Arrays whose memory others read and write, too.

use std::sync::Arc;

use pantile::array::{Brought, OpenPiece, Opening};
use pantile::prelude::*;
use pantile_engine::{ExternalBuffer, Tile, TilePlaces};

/// Somebody else sets all elements of a section.
fn set(opening: &Opening, rank: usize, value: f64) {
    let piece = opening.pieces().iter().find(|piece| piece.rank == Some(rank)).unwrap();
    let shape = piece.foreign.shape();
    let tile = Tile::from_vec(vec![value; shape.iter().product::<usize>().max(1)]);
    let picks: Vec<Vec<(usize, usize)>> =
        shape.iter().map(|length| (0..*length).map(|at| (at, 0)).collect()).collect();
    piece.foreign.write(&picks, &TilePlaces { first: 0, strides: vec![0; shape.len()] }, &tile);
}

/// What somebody else finds there.
fn get(opening: &Opening, rank: usize) -> Vec<f64> {
    let piece = opening.pieces().iter().find(|piece| piece.rank == Some(rank)).unwrap();
    let length = piece.foreign.shape()[0];
    let mut tile = Tile::zeroed(DType::F64, length);
    let picks = vec![(0..length).map(|at| (at, at)).collect()];
    piece.foreign.read(&picks, &TilePlaces { first: 0, strides: vec![1] }, &mut tile);
    tile.to_vec()
}

#[test]
fn writes_are_seen_on_both_sides() {
    for ranks in [1, 2, 3, 4, 7] {
        let world = Session::threads(ranks).unwrap();
        let a = world.dist("block(r)").zeros(&[6]);
        let opening = a.open().unwrap().unwrap();
        assert!(opening.is_direct() && a.is_open() && !a.is_read_only());
        (0..ranks).for_each(|rank| set(&opening, rank, rank as f64));
        let expected: Vec<f64> = (0..ranks).flat_map(|rank| get(&opening, rank)).collect();
        assert_eq!(a.to_vec::<f64>().unwrap(), expected);
        let before = &a + 0.5;
        a.set(s![1..3], 9.0);
        let now = a.to_vec::<f64>().unwrap();
        assert_eq!((0..ranks).flat_map(|rank| get(&opening, rank)).collect::<Vec<_>>(), now);
        let halves: Vec<f64> = expected.iter().map(|one| one + 0.5).collect();
        assert_eq!(before.to_vec::<f64>().unwrap(), halves, "what was recorded before");
        drop(opening);
        assert!(!a.is_open());
    }
}

#[test]
fn copies_do_not_see_what_others_write() {
    let world = Session::threads(2).unwrap();
    let a = world.dist("block(r)").zeros(&[6]);
    let opening = a.open().unwrap().unwrap();
    let copy = a.copy();
    copy.compute().unwrap();
    set(&opening, 0, 5.0);
    assert_eq!(copy.to_vec::<f64>().unwrap(), [0.0; 6]);
    assert_eq!(a.to_vec::<f64>().unwrap(), [5.0, 5.0, 5.0, 0.0, 0.0, 0.0]);
    assert!(world.dist("copies").zeros(&[6]).open().unwrap().is_none());
}

/// Two columns of three, which lie one after the other in memory, on one rank.
fn columns(read_only: bool) -> (Arc<Tile>, Brought) {
    let memory = Arc::new(Tile::from_vec(vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0]));
    let places = TilePlaces { first: 0, strides: vec![1, 3] };
    let foreign = ExternalBuffer::of_tile(&memory, vec![3, 2], &places);
    let all = |length: usize| (0..length).map(|at| (at, at)).collect();
    let piece = OpenPiece { rank: None, foreign, places: vec![all(3), all(2)] };
    let plain: Distribution = "3x2 on r=2: block(r), whole".parse().unwrap();
    let (room, direct, note) = (plain.clone(), Vec::new(), None);
    let pieces = vec![piece];
    let dtype = DType::F64;
    (memory, Brought { plain, room, dtype, pieces, read_only, direct, note })
}

#[test]
fn memory_in_another_order_comes_in() {
    let world = Session::threads(2).unwrap();
    let (memory, brought) = columns(false);
    let a = world.bring(brought).unwrap();
    assert_eq!(a.to_vec::<f64>().unwrap(), [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
    a.set(s![1, ..], 7.0);
    a.compute().unwrap();
    assert_eq!(memory.to_vec::<f64>(), [0.0, 7.0, 2.0, 10.0, 7.0, 12.0]);
    assert_eq!(a.distribution().unwrap().to_string(), "3x2 on r=2: block(r), whole");
    assert!(a.brought_note().is_none());
}

#[test]
fn mistakes_are_faults() {
    let world = Session::threads(2).unwrap();
    let (_, brought) = columns(true);
    let a = world.bring(brought).unwrap();
    assert!(a.is_read_only());
    a.set(s![0], 1.0);
    let fault = a.compute().unwrap_err().to_string();
    assert!(fault.contains("only lets it be read"), "{fault}");
    let (_, brought) = columns(false);
    let direct = vec![(0, Tile::zeroed(DType::F64, 3))];
    let fault = world.bring(Brought { direct, ..brought }).unwrap_err().to_string();
    assert!(fault.contains("rank 0: got 3 elements of f64, expected 4 of f64"), "{fault}");
}

#[test]
fn callers_hear_each_other() {
    let world = Session::threads(3).unwrap();
    assert_eq!(world.gather_records("said", b"here").unwrap(), [b"here".to_vec()]);
}
