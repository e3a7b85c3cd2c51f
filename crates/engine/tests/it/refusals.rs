//! What an engine refuses, and what it says.

use pantile_comm::{RankError, threads};
use pantile_engine::{DType, Engine, Error, Tile};
use pantile_geometry::Distribution;

fn parsed(text: &str) -> Distribution {
    text.parse().unwrap()
}

/// What each of two ranks says.
fn say(body: impl Fn(&mut Engine) -> Result<(), Error> + Sync) -> Vec<String> {
    let results =
        threads::run(2, &Default::default(), |communicator| body(&mut Engine::new(communicator)));
    let text = |result: Result<(), RankError<Error>>| match result {
        Ok(()) => "fine".to_owned(),
        Err(error) => error.to_string(),
    };
    results.into_iter().map(text).collect()
}

#[test]
fn a_wrong_tile_on_one_rank_stops_all() {
    let said = say(|engine| {
        let (rows, all) = (parsed("4 on r=2: block(r)"), parsed("4 on r=2: whole"));
        let movement = engine.movement("gather", &rows, &all, DType::F64)?;
        let len = if engine.rank() == 1 { 3 } else { 2 };
        let source = Tile::zeroed(DType::F64, len);
        engine.run(&movement, &source, &mut Tile::zeroed(DType::F64, 4))
    });
    let fault = "the source of the movement has 2 elements of f64, got 3 of f64";
    assert!(said[1].contains(fault), "{said:?}");
    assert!(said[0].contains("rank 1 failed in gather (") && said[0].contains(fault), "{said:?}");
}

#[test]
fn movements_that_cannot_be_are_refused_alike() {
    let said = say(|engine| {
        let (rows, all) = (parsed("4 on r=3: block(r)"), parsed("4 on r=2: whole"));
        let error = engine.movement("gather", &rows, &all, DType::F64).expect_err("three ranks");
        assert_eq!(error, Error::NoSuchRank { rank: 2, size: 2 });
        let (rows, other) = (parsed("4 on r=2: block(r)"), parsed("5 on r=2: whole"));
        assert!(matches!(engine.movement("x", &rows, &other, DType::F64), Err(Error::Plan(_))));
        let terms = parsed("4 on r=2: whole; and(r)");
        let all = parsed("4 on r=2: whole");
        let refused = engine.movement("x", &terms, &all, DType::F32);
        assert!(matches!(refused, Err(Error::Kernel(_))), "{refused:?}");
        // Nothing has happened: the ranks still work together.
        engine.barrier()
    });
    assert_eq!(said, ["fine", "fine"]);
}

#[test]
fn a_movement_that_reads_what_it_writes_is_not_in_place() {
    let said = say(|engine| {
        let (here, there) = (parsed("4 on r=2: block(r)"), parsed("4 on r=2 team [1 0]: block(r)"));
        let movement = engine.movement("swap", &here, &there, DType::I8)?;
        assert!(!movement.is_in_place());
        let mut tile = Tile::zeroed(DType::I8, 2);
        engine.run_in_place(&movement, &mut tile)
    });
    assert!(said.iter().any(|said| said.contains("the movement reads cells that it also writes")));
    assert!(said.iter().all(|said| said != "fine"), "{said:?}");
    let error = Error::NotInPlace { rank: 1 };
    assert!(error.to_string().starts_with("rank 1: "));
}

#[test]
fn movements_are_kept() {
    let said = say(|engine| {
        let (rows, all) = (parsed("4 on r=2: block(r)"), parsed("4 on r=2: whole"));
        for _ in 0..3 {
            let movement = engine.movement("gather", &rows, &all, DType::F64)?;
            let source = Tile::from_vec(vec![1.0_f64; 2]);
            engine.run(&movement, &source, &mut Tile::zeroed(DType::F64, 4))?;
        }
        let counters = engine.counters();
        assert_eq!((counters.compiled, counters.runs), (1, 3));
        assert_eq!((counters.messages, counters.bytes), (3, 3 * 16));
        Ok(())
    });
    assert_eq!(said, ["fine", "fine"]);
}
