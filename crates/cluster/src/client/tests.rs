//! What a client may not do, and what becomes of it: told, counted, and no other client is
//! disturbed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::Mutex;

use pantile_comm_net::{Security, random_id};
use pantile_testkit::timing::soon;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::*;
use crate::control::coordinator_client::CoordinatorClient;
use crate::wire::{Heartbeat, ProgramText, Registration, ReportKind, RunRequest, WorkerReport};
use crate::{Coordinator, CoordinatorOptions, Tell, Worker, WorkerOptions};

pub(super) type Lines = Arc<Mutex<Vec<String>>>;

fn tell(lines: &Lines) -> Option<Tell> {
    let lines = Arc::clone(lines);
    Some(Arc::new(move |line| lines.lock().unwrap().push(line.to_owned())))
}

/// A coordinator with one worker; both tell their refusals.
fn site() -> (Coordinator, Lines) {
    let lines = Lines::default();
    let coordinator = coordinator(&lines);
    add_worker(&coordinator, &lines);
    (coordinator, lines)
}

pub(super) fn coordinator(lines: &Lines) -> Coordinator {
    let address = "127.0.0.1:0".to_owned();
    let options = CoordinatorOptions { address, tell: tell(lines), ..Default::default() };
    Coordinator::start(&options).unwrap()
}

fn add_worker(coordinator: &Coordinator, lines: &Lines) {
    let name = "real".to_owned();
    let options = WorkerOptions { name, tell: tell(lines), ..Default::default() };
    let (worker, address) = (Worker::new(&options).unwrap(), coordinator.address().to_string());
    // Ends with the coordinator.
    std::thread::spawn(move || worker.serve(&address));
}

pub(super) fn status(coordinator: &Coordinator) -> wire::ClusterStatus {
    Cluster::overview(&coordinator.address().to_string(), &Guard::default()).unwrap()
}

pub(super) fn connect(coordinator: &Coordinator, ranks: usize) -> Result<Cluster, ClusterError> {
    let options = ClusterOptions { ranks, ..ClusterOptions::default() };
    Cluster::connect(&coordinator.address().to_string(), options)
}

/// The session of a client, once the worker is there.
pub(super) fn session(coordinator: &Coordinator) -> Cluster {
    soon("the worker", || (status(coordinator).workers.len() == 1).then_some(()));
    connect(coordinator, 1).unwrap()
}

/// A connection for elements, with what a client says of itself.
pub(super) fn connect_data(
    cluster: &Cluster,
    id: u128,
    secret: &Secret,
) -> Result<Connection, DataError> {
    let handshake = Handshake { kind: KIND, id, secret: secret.clone(), payload: Vec::new() };
    let address = &cluster.opened.hosts[0].data_address;
    Ok(pantile_comm_net::connect(address, &Security::Plain, &handshake, REPLY_TIMEOUT)?)
}

#[test]
fn wrong_requests_for_elements_are_told_and_counted() {
    let (coordinator, lines) = site();
    let (one, other) = (session(&coordinator), connect(&coordinator, 1).unwrap());
    // The session of one client with the secret of another, and a session that does not exist.
    assert!(connect_data(&one, one.world, &other.secret).is_err());
    assert!(connect_data(&one, random_id().unwrap(), &one.secret).is_err());
    let mut connection = connect_data(&one, one.world, &one.secret).unwrap();
    let mut said = |kind: u16, header: &[u8]| {
        connection.send(kind, header, &[]).unwrap();
        let answer = connection.receive().unwrap();
        assert_eq!(answer.kind, FAULT);
        String::from_utf8(answer.header).unwrap()
    };
    assert_eq!(said(GET, &[1]), "got a request that is too short");
    assert_eq!(said(GET, &ArrayKey { rank: 9, array: 1 }.encode()), "rank 9 is not on this worker");
    assert_eq!(said(GET, &ArrayKey { rank: 0, array: 7 }.encode()), "rank 0 has no array 7");
    assert!(said(77, &ArrayKey { rank: 0, array: 7 }.encode()).contains("a request of kind 77"));
    // A frame that is longer than agreed ends the connection.
    let mut long = connect_data(&one, one.world, &one.secret).unwrap().with_body_max(64 << 20);
    let sent = long.send(PUT, &[0; 16], &[&vec![0; 9 << 20]]);
    assert!(sent.is_err() || long.receive().is_err());
    let counted = soon("seven refusals", || {
        let refused = status(&coordinator).workers[0].refused;
        (refused >= 7).then_some(refused)
    });
    let lines = lines.lock().unwrap();
    assert_eq!((counted, lines.len()), (7, 7), "{lines:?}");
    for words in
        ["a wrong token", "too short", "rank 9", "no array 7", "kind 77", "body of 9437184"]
    {
        assert!(lines.iter().any(|line| line.contains(words)), "{words}: {lines:?}");
    }
    let secrets = [one.secret.to_hex(), other.secret.to_hex()];
    assert!(!lines.iter().any(|line| secrets.iter().any(|secret| line.contains(secret))));
}

#[test]
fn wrong_programs_are_told_and_counted() {
    let (coordinator, lines) = site();
    let mut cluster = session(&coordinator);
    let refused = |cluster: &mut Cluster, number: u64, hash: u128, text: &str| {
        let hash = hash.to_le_bytes().to_vec();
        let program = ProgramText { session: 0, hash: hash.clone(), text: text.to_owned() };
        cluster.stream.request(RequestKind::Program(program)).unwrap();
        let run = RunRequest { number, program: hash, ..RunRequest::default() };
        cluster.stream.request(RequestKind::Run(run)).unwrap();
        let done = cluster.stream.receive_if(REPLY_TIMEOUT, |kind| match kind {
            ReplyKind::Done(done) => Some(done),
            _ => None,
        });
        done.unwrap().fault.unwrap().reason
    };
    let nonsense = "program on 1 ranks\n----\nfunc.func @main(";
    let reason = refused(&mut cluster, 1, Fingerprint::of(nonsense).0, nonsense);
    assert!(reason.contains("expected"), "{reason}");
    let reason = refused(&mut cluster, 2, 5, nonsense);
    assert!(reason.contains("not the one of its hash"), "{reason}");
    soon("two refusals", || (status(&coordinator).workers[0].refused == 2).then_some(()));
    // What the coordinator refuses ends the session, and is its own to count.
    let run = RunRequest { number: 3, program: vec![9; 16], ..RunRequest::default() };
    cluster.stream.request(RequestKind::Run(run)).unwrap();
    let ended = cluster.stream.receive_if(REPLY_TIMEOUT, |_| None::<()>).unwrap_err();
    assert!(ended.reason.contains("was not sent"), "{}", ended.reason);
    assert_eq!(status(&coordinator).refused, 1);
    // Messages that are too long are not even read.
    let mut long = connect(&coordinator, 1).unwrap();
    let text = "x".repeat(wire::MESSAGE_MAX + 1);
    let program = ProgramText { session: 0, hash: vec![0; 16], text };
    long.stream.request(RequestKind::Program(program)).unwrap();
    soon("the coordinator's second", || (status(&coordinator).refused == 2).then_some(()));
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("refused a program of client "), "{lines:?}");
    assert!(lines[2].starts_with("refused 127.0.0.1:"), "{lines:?}");
}

/// Sends a program, and has it run.
pub(super) fn start(cluster: &mut Cluster, text: String) {
    let hash = Fingerprint::of(&text).0.to_le_bytes().to_vec();
    let program = ProgramText { session: 0, hash: hash.clone(), text };
    cluster.stream.request(RequestKind::Program(program)).unwrap();
    let run = RunRequest { number: 1, program: hash, results: vec![1], ..RunRequest::default() };
    cluster.stream.request(RequestKind::Run(run)).unwrap();
}

/// A program that has no end.
pub(super) const ENDLESS: &str = "program on 1 ranks\n----\nfunc.func @main() -> (i64) {\n\
    %one = arith.constant 1 : i64\n%zero = arith.constant 0 : i64\n\
    %r = scf.while (%a = %one) : (i64) -> (i64) {\n\
    %c = arith.cmpi sgt, %a, %zero : i64\nscf.condition(%c) %a : i64\n} do {\n\
    ^bb0(%b: i64):\nscf.yield %b : i64\n}\nreturn %r : i64\n}\n";

/// A program of many lines, which takes long to lower.
fn long() -> String {
    let mut text = "program on 1 ranks\n----\n\
        !all = !ndarray.ndarray<64xf64, #pantile.dist<\"block(r)\">>\n\
        func.func @main() -> (!all) {\n%one = arith.constant 1.0 : f64\n\
        %a0 = ndarray.create value %one : (f64) -> !all\n"
        .to_owned();
    for line in 1..=LINES {
        let last = line - 1;
        text += &format!(
            "%a{line} = ndarray.ewbin %a{last}, %a{} {{op = \"mul\"}} : (!all, !all) -> !all\n",
            last / 2
        );
    }
    text + &format!("return %a{LINES} : !all\n}}\n")
}

const LINES: usize = 40_000;

#[test]
fn orders_of_a_client_whose_rank_is_busy_pile_up_for_all() {
    for (text, endless) in [(ENDLESS.to_owned(), true), (long(), false)] {
        let (coordinator, _) = site();
        let (mut one, mut other) = (session(&coordinator), connect(&coordinator, 1).unwrap());
        start(&mut one, text);
        // Ends with the coordinator at the latest: it waits for its rank.
        let flood = std::thread::spawn(move || {
            let free = || RequestKind::Free(wire::FreeArrays { session: 0, arrays: vec![7; 1000] });
            let _ = (0..10_000).all(|_| one.stream.request(free()).is_ok());
            let done = |kind| matches!(kind, ReplyKind::Done(_)).then_some(());
            let _ = one.stream.receive_if(REPLY_TIMEOUT, done);
            std::time::Instant::now()
        });
        let mut first_answer = None;
        for number in 0..50 {
            other
                .send_tiles(ArrayId(number), &[(0, Arc::new(Tile::from_vec(vec![1.0; 9])))])
                .unwrap();
            assert_eq!(other.get(ArrayId(number), &[0]).unwrap().len(), 1);
            other.forget(&[ArrayId(number)]);
            other.stream.request(RequestKind::Counts(wire::Empty {})).unwrap();
            let counts = |kind| matches!(kind, ReplyKind::Counts(_)).then_some(());
            other.stream.receive_if(REPLY_TIMEOUT, counts).unwrap();
            first_answer.get_or_insert_with(std::time::Instant::now);
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!(endless && flood.is_finished()), "as many wait as it likes");
        assert_eq!(status(&coordinator).workers.len(), 1);
        // However slow the machine: others are answered while the rank is still busy.
        assert!(endless || first_answer.unwrap() < flood.join().unwrap(), "others wait");
    }
}

#[test]
fn connections_for_elements_are_counted() {
    let (coordinator, lines) = site();
    let mut cluster = session(&coordinator);
    cluster.send_tiles(ArrayId(1), &[(0, Arc::new(Tile::from_vec(vec![1.0; 9])))]).unwrap();
    let mut visits: Vec<_> =
        (0..70).map(|_| connect_data(&cluster, cluster.world, &cluster.secret).unwrap()).collect();
    let mut last = visits.pop().unwrap();
    let answer = last.receive().unwrap();
    assert_eq!(answer.kind, FAULT);
    assert!(String::from_utf8_lossy(&answer.header).contains("too many connections"));
    // Those that are there go on, and others may come when they have gone.
    assert_eq!(cluster.get(ArrayId(1), &[0]).unwrap().len(), 1);
    visits.clear();
    soon("a place", || {
        let mut next = connect_data(&cluster, cluster.world, &cluster.secret).unwrap();
        next.send(GET, &ArrayKey { rank: 0, array: 1 }.encode(), &[]).ok()?;
        next.receive().ok().filter(|answer| answer.kind == SIZE)
    });
    assert!(lines.lock().unwrap().iter().any(|line| line.contains("too many connections")));
}

/// A worker that says where it listens, and does not; it is there as long as what comes back.
fn add_ghost(coordinator: &Coordinator, nobody: &str) -> impl Sized {
    let runtime = crate::driver::Driver::start().unwrap();
    let (reports, outgoing) = mpsc::channel(64);
    let registration = Registration {
        version: VERSION,
        name: "ghost".to_owned(),
        data_address: nobody.to_owned(),
        memory: 1 << 30,
        ranks: 1,
        ..Registration::default()
    };
    reports.try_send(WorkerReport { kind: Some(ReportKind::Register(registration)) }).unwrap();
    let (guard, address) = (Guard::default(), coordinator.address().to_string());
    let orders = runtime.run(async {
        let channel = guard.channel(&address).await.unwrap();
        let mut client = CoordinatorClient::with_interceptor(channel, guard.token());
        client.work(ReceiverStream::new(outgoing)).await.unwrap().into_inner()
    });
    let heartbeats = async move {
        let heartbeat = || WorkerReport { kind: Some(ReportKind::Heartbeat(Heartbeat::default())) };
        while reports.send(heartbeat()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    runtime.run(async { drop(tokio::spawn(heartbeats)) });
    (orders, runtime)
}

#[test]
fn workers_that_cannot_reach_each_other_are_named() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = nobody.to_string();
    for real_first in [true, false] {
        let coordinator = coordinator(&Lines::default());
        let there = |count: usize| {
            soon("a worker", || (status(&coordinator).workers.len() == count).then_some(()));
        };
        if real_first {
            add_worker(&coordinator, &Lines::default());
            there(1);
        }
        let _ghost = add_ghost(&coordinator, &nobody);
        there(if real_first { 2 } else { 1 });
        if !real_first {
            add_worker(&coordinator, &Lines::default());
            there(2);
        }
        let error = connect(&coordinator, 2).err().unwrap().to_string();
        // The worker that came first is rank 0, and is connected to.
        let expected = match real_first {
            true => {
                "worker `real`: was not dialled by worker `ghost` (rank 1) within 5 s".to_owned()
            }
            false => format!(
                "worker `real`: cannot reach worker `ghost` (rank 0) at {nobody} within 5 s: \
                 connecting to {nobody}"
            ),
        };
        assert!(error.contains(&expected), "{error}");
    }
}
