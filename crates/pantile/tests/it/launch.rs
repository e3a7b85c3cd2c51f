//! Starting ranks, and what is said when they fail.

use std::process::Command;

use pantile::prelude::*;
use pantile::{Launch, LaunchError, Scheme};

#[test]
fn results_come_in_the_order_of_ranks() {
    let ranks = Launch::threads(3).run(|world| Ok::<_, String>(10 * world.rank())).unwrap();
    assert_eq!(ranks, [0, 10, 20]);
}

#[test]
fn a_rank_that_fails_is_named_by_all() {
    let error = Launch::threads(3)
        .run(|world| {
            if world.rank() == 1 {
                return Err("no more paper".to_owned());
            }
            world.barrier().map_err(|error| error.to_string())
        })
        .unwrap_err();
    let LaunchError::Failed(faults) = &error else { panic!("{error}") };
    let ranks: Vec<usize> = faults.iter().map(|(rank, _)| *rank).collect();
    assert_eq!(ranks, [0, 1, 2]);
    for (rank, fault) in faults {
        assert!(fault.contains("no more paper"), "{fault}");
        assert!(*rank == 1 || fault.contains("rank 1 failed"), "{fault}");
    }
}

#[test]
fn panics_are_errors_of_all() {
    let error = Launch::threads(2)
        .run(|world| {
            assert!(world.rank() != 0, "rank 0 has had enough");
            let all = world.partition();
            all.allgather_data(&[1]).map(|_| ())
        })
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("rank 0: panicked: rank 0 has had enough"), "{text}");
    assert!(text.contains("rank 1: "), "{text}");
    assert!(text.contains("rank 0 failed: its program panicked"), "{text}");
}

#[test]
fn ranks_that_disagree_are_told_who_called_what_where() {
    let error = Launch::threads(2)
        .run(|world| {
            let rows: Distribution = "4 on r=2: block(r)".parse().unwrap();
            let array = DistArray::from_fn(world, &rows, |at| at[0] as f64);
            match world.rank() {
                0 => array.gather(0).map(|_| ()),
                _ => array.gather_all().map(|_| ()),
            }
        })
        .unwrap_err()
        .to_string();
    assert!(error.contains("ranks disagree"), "{error}");
    assert!(error.contains("tests/it/launch.rs:") && error.contains("gather"), "{error}");
}

/// The environment is read by examples, so that this process keeps its own.
fn heat(variables: &[(&str, &str)]) -> (bool, String) {
    example("heat", variables)
}

/// Examples lie beside the folder of the tests.
fn example(name: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    let path = path.join("examples").join(name);
    assert!(path.exists(), "`cargo test -p pantile` builds the examples, `--test` alone does not");
    let mut command = Command::new(path);
    let known = [
        "PANTILE_RANKS",
        "PANTILE_DEADLINE",
        "PANTILE_THREADS",
        "PANTILE_SCHEME",
        "PANTILE_CLUSTER",
    ];
    for name in known.into_iter().chain(["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"]) {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text.into_owned())
}

#[test]
fn the_environment_says_how() {
    let (fine, three) = heat(&[("PANTILE_RANKS", "3")]);
    assert!(fine, "{three}");
    assert_eq!(heat(&[("PANTILE_RANKS", "1")]), (true, three), "the same on any number of ranks");
    let (fine, text) = heat(&[("PANTILE_RANKS", "none")]);
    assert!(!fine && text.contains("PANTILE_RANKS is `none`"), "{text}");
    let error = LaunchError::Ranks("none".to_owned()).to_string();
    assert_eq!(error, "PANTILE_RANKS is `none`, expected a positive number of ranks");
    let (fine, threads) = heat(&[("PANTILE_RANKS", "2"), ("PANTILE_THREADS", "2")]);
    assert!(fine, "{threads}");
    let (fine, text) = heat(&[("PANTILE_THREADS", "0")]);
    let sentence = "PANTILE_THREADS is `0`, expected 1 to 256 threads of each rank";
    assert!(!fine && text.contains(sentence), "{text}");
    let (fine, text) = heat(&[("PANTILE_DEADLINE", "soon")]);
    assert!(!fine && text.contains("PANTILE_DEADLINE is `soon`"), "{text}");
}

#[test]
fn worlds_read_the_same_environment() {
    assert!(example("star", &[("PANTILE_RANKS", "3")]).0);
    let wrong = [
        ("PANTILE_RANKS", "0"),
        ("PANTILE_DEADLINE", "soon"),
        ("PANTILE_THREADS", "257"),
        ("PANTILE_SCHEME", "quick"),
        // Nobody is there, or this was built without clusters.
        ("PANTILE_CLUSTER", "127.0.0.1:1"),
        ("PANTILE_CLUSTER", "nowhere"),
    ];
    for (name, value) in wrong {
        let (fine, text) = example("star", &[(name, value)]);
        assert!(!fine && text.contains(&format!("{name} is `{value}`")), "{text}");
    }
}

#[test]
fn ranks_have_threads() {
    let threads = Launch::threads(2).with_threads(3).unwrap();
    let threads = threads.run(|world| Ok::<_, String>(world.engine().threads())).unwrap();
    assert_eq!(threads, [3, 3]);
    for wrong in [0, 257] {
        let sentence = format!("got {wrong} threads of each rank, expected 1 to 256");
        let error = Launch::threads(2).with_threads(wrong).unwrap_err();
        assert!(matches!(error, LaunchError::Threads(_)), "{error}");
        assert_eq!(error.to_string(), sentence);
        let world = Session::threads(2).unwrap();
        assert_eq!(world.threads_per_rank(wrong).unwrap_err().to_string(), sentence);
        assert_eq!(world.threads_per_rank(4).unwrap(), 1, "nothing has changed");
        assert_eq!(world.threads_per_rank(1).unwrap(), 4);
    }
}

#[test]
fn threads_cut_loops_as_they_are_told() {
    let launch = Launch::threads(2).with_scheme(Scheme::Guided);
    let schemes = launch.run(|world| Ok::<_, String>(world.engine().scheme())).unwrap();
    assert_eq!(schemes, [Scheme::Guided; 2]);
    let world = Session::threads(2).unwrap();
    assert_eq!(world.scheme(Scheme::Factoring).unwrap(), Scheme::Even);
    // It stays if the number of threads changes.
    world.threads_per_rank(2).unwrap();
    assert_eq!(world.scheme(Scheme::Even).unwrap(), Scheme::Factoring);
    let error = LaunchError::Scheme("quick".parse::<Scheme>().unwrap_err()).to_string();
    assert!(error.contains("got scheme `quick`, expected one of EVEN, STATIC, SS, GSS"), "{error}");
    let (address, reason) = ("a:1".to_owned(), "no coordinator is there".to_owned());
    let error = LaunchError::Cluster { address, reason }.to_string();
    assert_eq!(error, "PANTILE_CLUSTER is `a:1`: no coordinator is there");
}

#[test]
fn results_do_not_depend_on_how_loops_are_cut() {
    // Large enough to be cut: maps along rows and columns, folds with shared cells and without.
    let program = |world: &Session| {
        let a = world.dist("block(r), whole").uniform(7, &[1200, 300]);
        let b = (&a * 3.0).sin() + &a;
        let sums = [b.sum(), b.mean_along(&[0]), b.max_along(&[1]), b.sum_along(&[1])];
        let sums = sums.map(|one| one.to_vec::<f64>().unwrap());
        (b.to_vec::<f64>().unwrap(), sums)
    };
    let expected = program(&Session::threads(1).unwrap());
    for (name, scheme) in Scheme::ALL {
        for (ranks, threads) in [(1, 3), (2, 2)] {
            let world = Session::threads(ranks).unwrap();
            world.threads_per_rank(threads).unwrap();
            world.scheme(scheme).unwrap();
            let what = format!("{name} on {ranks} ranks with {threads} threads");
            assert!(program(&world) == expected, "{what}");
        }
    }
}

#[test]
fn more_threads_than_a_machine_bears_are_refused() {
    let most = pantile::threads::MAX_RANKS;
    let many = most + 1;
    let sentence = format!("got {many} ranks, expected at most {most} in one process");
    let refused = LaunchError::TooMany { ranks: many }.to_string();
    assert_eq!(refused, format!("{sentence}; `pantile explain` takes any number"));
    let error = Launch::threads(many).run(|_| Ok::<_, String>(())).unwrap_err();
    assert_eq!(error, LaunchError::TooMany { ranks: many });
    assert_eq!(Session::threads(many).err().unwrap().to_string(), sentence);
    assert!(Session::threads(usize::MAX).is_err());
    for name in ["heat", "star"] {
        let (fine, text) = example(name, &[("PANTILE_RANKS", &many.to_string())]);
        assert!(!fine && text.contains(&sentence), "{name}: {text}");
    }
}

#[test]
#[cfg(not(feature = "mpi"))]
fn one_of_many_without_mpi_stops_with_a_sentence() {
    let (fine, text) = heat(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "1")]);
    assert!(!fine && text.contains("build it with the feature `mpi`"), "{text}");
    assert!(text.contains(&LaunchError::WithoutMpi.to_string()), "{text}");
}

#[test]
fn the_page_of_variables_is_their_table() {
    let row = |variable: &pantile::launch::Variable| {
        format!("| `{}` | {} |\n", variable.name, variable.meaning)
    };
    let rows: String = pantile::launch::VARIABLES.iter().map(row).collect();
    let page = format!(
        "# Environment variables\n\nOptions and arguments of programs weigh more than variables. This table is \
         that of\n`pantile::launch::VARIABLES`; a test compares them, `BLESS=1` renews the page.\n\n\
         | variable | meaning |\n|---|---|\n{rows}"
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/environment.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, page, "BLESS=1 cargo test -p pantile --test it variables");
}
