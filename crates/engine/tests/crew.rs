//! Ranks that wait for programs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::Arc;

use pantile_comm::{Options, threads};
use pantile_engine::{ArrayId, Crew, Error, Job, Tile};
use pantile_ir::lower::{self, Setting};

const DOUBLE: &str = r#"
!v = !ndarray.ndarray<5xi64, #pantile.dist<"block(r)">>
func.func @main(%a: !v) -> !v {
  %b = ndarray.ewbin %a, %a {op = "add"} : (!v, !v) -> !v
  return %b : !v
}
"#;

fn job(ranks: usize, arguments: &[u64], result: u64) -> Arc<Job> {
    let program = pantile_ir::text::parse(DOUBLE, "double").unwrap();
    let setting = Setting { ranks, ..Setting::default() };
    Arc::new(Job {
        executable: Arc::new(lower::compile(&program, &setting).unwrap()),
        key: 1,
        arguments: arguments.iter().copied().map(ArrayId).collect(),
        results: vec![ArrayId(result)],
        forget: Vec::new(),
    })
}

/// The elements of a row that a rank of two owns: three, then two.
fn share(rank: usize) -> Tile {
    Tile::from_vec(if rank == 0 { vec![0i64, 1, 2] } else { vec![3, 4] })
}

#[test]
fn arrays_stay_with_the_ranks() {
    let mut crew = Crew::threads(2, &Options::default());
    assert_eq!((crew.size(), crew.hosted()), (2, vec![0, 1]));
    assert!(crew.has_windows());
    crew.put(ArrayId(1), share);
    for turn in 1..4 {
        crew.run(&job(2, &[turn], turn + 1)).unwrap();
    }
    let tiles: Vec<Vec<i64>> = crew.get(ArrayId(4)).iter().map(|(_, tile)| tile.to_vec()).collect();
    assert_eq!(tiles, [vec![0, 8, 16], vec![24, 32]]);
    let mut last = (*job(2, &[4], 5)).clone();
    last.forget = vec![ArrayId(1), ArrayId(2)];
    crew.run(&Arc::new(last)).unwrap();
    assert!(crew.get(ArrayId(1)).is_empty(), "forgotten");
    assert_eq!(crew.counters().bytes, 0);
}

#[test]
fn a_crew_that_failed_says_so_from_then_on() {
    let mut crew = Crew::threads(2, &Options::default());
    let error = crew.run(&job(2, &[7], 8)).unwrap_err();
    assert!(matches!(error, Error::UnknownArray { id: 7, .. }), "{error}");
    assert!(error.to_string().contains("got array 7, which it does not have"));
    crew.put(ArrayId(7), share);
    assert_eq!(crew.run(&job(2, &[7], 8)).unwrap_err(), error);
    let panicked = Error::Panicked { rank: 1, message: "no".to_owned() };
    assert_eq!(panicked.to_string(), "rank 1 panicked: no");
}

#[test]
fn alone_every_caller_is_a_rank() {
    let results = threads::run(2, &Options::default(), |communicator| {
        let mut crew = Crew::alone(communicator);
        let rank = crew.hosted()[0];
        crew.put(ArrayId(1), share);
        crew.run(&job(2, &[1], 2))?;
        let tiles = crew.get(ArrayId(2));
        assert_eq!(tiles[0].0, rank);
        Ok::<_, Error>(tiles[0].1.to_vec::<i64>())
    });
    let results: Vec<Vec<i64>> = results.into_iter().map(Result::unwrap).collect();
    assert_eq!(results, [vec![0, 2, 4], vec![6, 8]]);
}
