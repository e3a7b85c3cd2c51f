//! Clients that ask for much and do not read it: the worker keeps nothing for them, and no other
//! client waits.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::process::{Child, Command, Stdio};

use super::tests::{Lines, connect, connect_data, coordinator, session};
use super::*;
use crate::data::BODY;
use crate::{Worker, WorkerOptions};

/// Where a process that is to be a worker finds its coordinator.
const COORDINATOR: &str = "PANTILE_TEST_COORDINATOR";

/// Elements and bytes of the array that all readers request.
const ELEMENTS: usize = 4 << 20;
const BYTES: usize = 8 * ELEMENTS;

const READERS: usize = 16;

/// A worker in a process of its own, so that its memory can be looked at.
struct WorkerProcess(Child);

impl WorkerProcess {
    /// Starts this program again, as a worker.
    fn start(coordinator: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "client::slow::is_a_worker_where_a_coordinator_is_named"])
            .env(COORDINATOR, coordinator)
            .stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// Bytes of memory that it uses now.
    fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() << 10
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // It may have ended with the coordinator.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn is_a_worker_where_a_coordinator_is_named() {
    let Ok(address) = std::env::var(COORDINATOR) else { return };
    let worker = Worker::new(&WorkerOptions::default()).unwrap();
    // Ends with the coordinator.
    let _ = worker.serve(&address);
}

/// The first frame of an array, and not the others.
fn begin(cluster: &Cluster, id: u64) -> (Connection, Vec<u8>) {
    let mut reader = connect_data(cluster, cluster.world, &cluster.secret).unwrap();
    reader.send(GET, &ArrayKey { rank: 0, array: id }.encode(), &[]).unwrap();
    assert_eq!(reader.receive().unwrap().kind, SIZE);
    let frame = reader.receive().unwrap();
    assert_eq!(frame.kind, BODY);
    assert!(frame.body.len() < BYTES / 2, "most of it is still to come");
    (reader, frame.body)
}

/// Has the worker compute array 2 from array 1, element by element.
fn double(cluster: &mut Cluster) {
    let kind = format!("!ndarray.ndarray<{ELEMENTS}xf64, #pantile.dist<\"block(r)\">>");
    let text = format!(
        "program on 1 ranks\n----\n!all = {kind}\n\
         func.func @main(%a: !all) -> (!all) {{\n\
         %b = ndarray.ewbin %a, %a {{op = \"add\"}} : (!all, !all) -> !all\n\
         return %b : !all\n}}\n"
    );
    let hash = Fingerprint::of(&text).0.to_le_bytes().to_vec();
    let program = wire::ProgramText { session: 0, hash: hash.clone(), text };
    cluster.stream.request(RequestKind::Program(program)).unwrap();
    let (arguments, results) = (vec![1], vec![2]);
    let run =
        wire::RunRequest { number: 1, program: hash, arguments, results, ..Default::default() };
    cluster.stream.request(RequestKind::Run(run)).unwrap();
    let done = cluster.stream.receive_if(REPLY_TIMEOUT, |kind| match kind {
        ReplyKind::Done(done) => Some(done),
        _ => None,
    });
    assert_eq!(done.unwrap().fault, None);
}

#[test]
fn slow_readers_cost_a_worker_no_memory_and_others_no_time() {
    let coordinator = coordinator(&Lines::default());
    let process = WorkerProcess::start(&coordinator.address().to_string());
    let (mut cluster, mut other) = (session(&coordinator), connect(&coordinator, 1).unwrap());
    let numbers: Vec<f64> = (0..ELEMENTS).map(|at| at as f64).collect();
    let tile = Arc::new(Tile::from_vec(numbers.clone()));
    cluster.send_tiles(ArrayId(1), &[(0, Arc::clone(&tile))]).unwrap();
    let before = process.memory();
    assert!(before > BYTES, "the array is there");
    let readers: Vec<_> = (0..READERS).map(|_| begin(&cluster, 1)).collect();
    let after = process.memory();
    assert!(after < before + BYTES, "{READERS} readers made {before} bytes {after}");
    // Their own rank computes, elements come and go, and so it is for another client.
    double(&mut cluster);
    let twice = cluster.get(ArrayId(2), &[0]).unwrap();
    assert!(twice[0].1.as_slice::<f64>().iter().zip(&numbers).all(|(two, one)| *two == 2.0 * one));
    other.send_tiles(ArrayId(1), &[(0, Arc::clone(&tile))]).unwrap();
    double(&mut other);
    assert!(other.get(ArrayId(2), &[0]).unwrap()[0].1.as_bytes() == twice[0].1.as_bytes());
    // Two arrays of each client, and nothing for those that do not read.
    let after = process.memory();
    assert!(after < before + 4 * BYTES, "{READERS} readers made {before} bytes {after}");
    // Half of them give up; the others get everything, though it was forgotten meanwhile.
    cluster.forget(&[ArrayId(1)]);
    for (mut reader, mut got) in readers.into_iter().skip(READERS / 2) {
        while got.len() < BYTES {
            got.extend(reader.receive().unwrap().body);
        }
        assert!(got == tile.as_bytes());
    }
}
