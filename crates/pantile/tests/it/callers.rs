//! Several callers, each one rank: as under `mpirun`, but in one process.

use pantile::array::{Fault, Session, written_at};
use pantile::ir::Place;
use pantile::prelude::*;
use pantile::{Options, RankError, threads};

type Said<T> = Vec<Result<T, RankError<Fault>>>;

/// Calls `body` for each of `ranks` ranks, with a world of its own.
fn callers<T: Send>(ranks: usize, body: impl Fn(&Session) -> Result<T, Fault> + Sync) -> Said<T> {
    let options = Options::default().with_deadline(std::time::Duration::from_secs(20));
    threads::run(ranks, &options, |communicator| body(&Session::on(communicator)))
}

fn texts<T: std::fmt::Debug>(said: Said<T>) -> Vec<String> {
    said.into_iter().map(|one| one.unwrap_err().to_string()).collect()
}

fn rank_of(world: &Session) -> usize {
    world.hosted()[0]
}

#[test]
fn callers_get_what_one_caller_gets() {
    let program = |world: &Session| {
        let a = world.arange(0.0, 12.0, 1.0).reshape(&[3, 4]);
        let b = &a * 2.0 + 1.0;
        b.set(s![1.., ..-1], a.get(s![..-1, 1..]));
        let sum = b.sum().item::<f64>()?;
        Ok((b.to_vec::<f64>()?, sum))
    };
    let expected = program(&Session::threads(1).unwrap()).unwrap();
    for ranks in [1, 2, 3, 5] {
        for said in callers(ranks, program) {
            assert_eq!(said.unwrap(), expected, "{ranks} ranks");
        }
    }
}

#[test]
fn a_handle_may_end_earlier_on_one_rank() {
    let said = callers(3, |world| {
        let a = world.dist("block(r)").arange(0.0, 30.0, 1.0);
        let b = a.exp();
        let c = b.sqrt();
        let other = (rank_of(world) != 1).then(|| b.clone());
        drop(b);
        let first = c.sum().item::<f64>()?;
        // What only some of them still refer to does not change what all of them do.
        drop(other);
        let second = (&c + &a).sum().item::<f64>()?;
        Ok((first, second))
    });
    let said: Vec<(f64, f64)> = said.into_iter().map(Result::unwrap).collect();
    assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
}

#[test]
fn another_branch_is_an_error_that_names_ranks_and_lines() {
    let said = callers(3, |world| {
        let a = world.dist("block(r)").arange(0.0, 30.0, 1.0);
        let line = 10 + u32::try_from(rank_of(world)).unwrap();
        let place = Place { file: "user.py".into(), line, column: 1 };
        written_at(place, || match rank_of(world) {
            1 => a.max().item::<f64>(),
            _ => a.sum().item::<f64>(),
        })
    });
    for text in texts(said) {
        assert!(text.contains("disagree") && text.contains("user.py:11"), "{text}");
    }
}

#[test]
fn nothing_may_move_on_all_ranks_or_on_none() {
    let said = callers(2, |world| {
        let a = world.dist("block(r)").arange(0.0, 30.0, 1.0);
        if rank_of(world) == 1 {
            world.forbid_movement(true);
        }
        a.sum().item::<f64>()
    });
    for text in texts(said) {
        assert!(text.contains("nothing may move"), "{text}");
    }
}

#[test]
fn whoever_looks_alone_hears_that_others_have_left() {
    let said = callers(2, |world| {
        let a = world.dist("block(r)").arange(0.0, 30.0, 1.0);
        let place = Place { file: "user.py".into(), line: 7, column: 1 };
        match rank_of(world) {
            0 => written_at(place, || a.sum().item::<f64>()),
            _ => Ok(0.0),
        }
    });
    let text = said.into_iter().next().unwrap().unwrap_err().to_string();
    assert!(text.contains("rank 1") && text.contains("user.py:7"), "{text}");
}

#[test]
fn mistakes_name_the_line_that_was_written() {
    let world = Session::threads(2).unwrap();
    let place = Place { file: "user.py".into(), line: 3, column: 1 };
    let wrong = written_at(place, || world.zeros(&[2, 3]) + world.zeros(&[4]));
    let text = wrong.to_vec::<f64>().unwrap_err().to_string();
    assert!(text.starts_with("user.py:3:1"), "{text}");
    let here = (world.zeros(&[2]) + world.zeros(&[3])).to_vec::<f64>().unwrap_err().to_string();
    assert!(here.contains("callers.rs"), "{here}");
}

#[test]
fn threads_may_share_a_world() {
    let world = Session::threads(2).unwrap();
    let a = world.arange(0.0, 1000.0, 1.0);
    let sums: Vec<f64> = std::thread::scope(|scope| {
        let count = |by: usize| {
            let a = &a;
            scope.spawn(move || (0..20).map(|_| (a * by as f64).sum().item::<f64>().unwrap()).sum())
        };
        let threads: Vec<_> = (0..4).map(count).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(sums, [0.0, 20.0 * 499_500.0, 40.0 * 499_500.0, 60.0 * 499_500.0]);
}

/// A sum lives where its terms did, also if these are fewer ranks than there are.
#[test]
fn numbers_of_a_smaller_mesh_can_be_used() {
    let program = |world: &Session| {
        let a = world.dist("x=2: cyclic(x, 1)").arange(0.0, 5.0, 1.0);
        let sum = a.sum();
        sum.compute()?;
        let more = (&sum + 1.0).item::<f64>()?;
        Ok((sum.item::<f64>()?, more, (&a * &sum).to_vec::<f64>()?))
    };
    let expected = (10.0, 11.0, vec![0.0, 10.0, 20.0, 30.0, 40.0]);
    assert_eq!(program(&Session::threads(4).unwrap()).unwrap(), expected);
    for said in callers(3, program) {
        assert_eq!(said.unwrap(), expected);
    }
}

/// Each rank would fit by itself; that they do not fit together is said by all, and all go on.
#[test]
fn processes_of_one_machine_do_not_each_count_all_of_it() {
    let free = pantile_engine::available_memory().expect("this machine says so");
    let each = free / 8 / 2;
    let said = callers(3, |world| {
        // Not one more: what is not refused would take all of the machine.
        let fault = world.dist("block(r)").ones(&[3 * each]).compute().unwrap_err();
        Ok((fault.to_string(), world.ones(&[5]).sum().item::<f64>()?))
    });
    let said: Vec<(String, f64)> = said.into_iter().map(Result::unwrap).collect();
    for (text, sum) in &said {
        assert!(text.contains("for each of 3 processes here of the"), "{text}");
        assert!(text.contains("computing this on rank 0: "), "{text}");
        assert_eq!((text, *sum), (&said[0].0, 5.0));
    }
}

/// More memory than any machine has: a sentence, not the end of the process.
#[test]
fn what_does_not_fit_is_refused_with_numbers() {
    let world = Session::threads(2).unwrap();
    let text = (world.zeros(&[1 << 46]) + 1.0).compute().unwrap_err().to_string();
    assert!(text.contains("bytes of memory are needed") && text.contains("are left of"), "{text}");
    assert_eq!(world.ones(&[3]).sum().item::<f64>().unwrap(), 3.0);
}
