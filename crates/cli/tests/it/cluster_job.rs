//! A cluster whose processes a launcher started: rank 0 coordinates, the others work.

use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A process of a job of so many, as Open MPI starts them.
fn process(rank: usize, ranks: usize, listen: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pantile"));
    command.args(["cluster", "--listen", listen]);
    command.env("OMPI_COMM_WORLD_RANK", rank.to_string());
    command.env("OMPI_COMM_WORLD_SIZE", ranks.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

struct Job(Vec<Child>);

impl Drop for Job {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn pantile(words: &[&str]) -> Output {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    Command::new(env!("CARGO_BIN_EXE_pantile")).args(words).current_dir(root).output().unwrap()
}

#[test]
fn the_first_process_coordinates_and_the_others_work() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let _job = Job((0..3).map(|rank| process(rank, 3, &address).spawn().unwrap()).collect());
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let status = pantile(&["cluster", "status", &address]);
        if String::from_utf8_lossy(&status.stdout).contains("2 workers") {
            break;
        }
        assert!(Instant::now() < until, "{}", String::from_utf8_lossy(&status.stderr));
        std::thread::sleep(Duration::from_millis(50));
    }
    let there =
        pantile(&["run", "examples/standardise.dist", "--cluster", &address, "--always-ship"]);
    let here = pantile(&["run", "examples/standardise.dist", "-n", "1"]);
    assert!(there.status.success(), "{}", String::from_utf8_lossy(&there.stderr));
    assert_eq!(there.stdout, here.stdout);
}

#[test]
fn jobs_that_cannot_be_clusters_are_refused() {
    let check = |mut command: Command, words: &str| {
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(words), "{error}");
    };
    check(process(0, 1, "127.0.0.1:7499"), "at least 2 processes");
    check(process(0, 3, "127.0.0.1:0"), "a port that all of them know");
    let mut counted = process(0, 3, "127.0.0.1:7499");
    counted.args(["-n", "2"]);
    check(counted, "has started 2 workers already");
}
