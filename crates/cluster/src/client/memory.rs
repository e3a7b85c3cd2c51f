//! Clients that bring or make more than a rank may keep: refused with numbers, and nothing is lost.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pantile_testkit::timing::soon;

use super::tests::{ENDLESS, Lines, connect, connect_data, coordinator, session, start};
use super::*;
use crate::data::BODY;
use crate::{Coordinator, Worker, WorkerOptions};

/// Bytes that a worker has.
const MEMORY: u64 = 1 << 20;

/// Elements and bytes of an array that fits once, and not twice.
const ELEMENTS: usize = 80 << 10;
const BYTES: usize = 8 * ELEMENTS;

/// A coordinator with one worker that has so little memory.
fn site(memory: u64) -> Coordinator {
    let coordinator = coordinator(&Lines::default());
    let name = "small".to_owned();
    let worker = Worker::new(&WorkerOptions { name, memory, ..Default::default() }).unwrap();
    let address = coordinator.address().to_string();
    // Ends with the coordinator.
    std::thread::spawn(move || worker.serve(&address));
    coordinator
}

/// Says that an array comes, and sends the first frame of it.
fn begin(cluster: &Cluster, array: u64) -> Connection {
    let mut connection = connect_data(cluster, cluster.world, &cluster.secret).unwrap();
    let mut header = ArrayKey { rank: 0, array }.encode();
    header.extend(encode_size(pantile_engine::DType::F64, ELEMENTS));
    connection.send(PUT, &header, &[]).unwrap();
    // A client that is refused may have been told already.
    let _ = connection.send(BODY, &[], &[&[0; BYTES / 2]]);
    connection
}

/// Sends the rest of an array; why it was refused, if it was.
fn finish(mut connection: Connection) -> Result<(), DataError> {
    let _ = connection.send(BODY, &[], &[&[0; BYTES / 2]]);
    let answer = connection.receive().unwrap();
    match answer.kind {
        DONE => Ok(()),
        _ => Err(DataError::Refused(String::from_utf8(answer.header).unwrap())),
    }
}

/// Brings an array as clients do.
fn put(cluster: &mut Cluster, array: u64) -> Result<(), Error> {
    let tile = Arc::new(Tile::from_vec(vec![0.5; ELEMENTS]));
    cluster.send_tiles(ArrayId(array), &[(0, tile)])
}

/// Forgets an array, and waits until the ranks have.
fn forget(cluster: &mut Cluster, array: u64) {
    cluster.forget(&[ArrayId(array)]);
    cluster.counters();
}

/// Brings an array as soon as there is memory for it, and forgets it again.
fn fits(cluster: &mut Cluster) {
    soon("memory", || put(cluster, 99).ok());
    forget(cluster, 99);
}

/// An upload that has begun before something else, which was refused for it.
fn begun(
    cluster: &mut Cluster,
    array: u64,
    mut refused: impl FnMut(&mut Cluster) -> bool,
) -> Connection {
    soon("an upload", || {
        let upload = begin(cluster, array);
        let came_first = refused(cluster);
        if !came_first {
            forget(cluster, 2);
            drop(finish(upload));
            forget(cluster, array);
            return None;
        }
        Some(upload)
    })
}

#[test]
fn uploads_at_once_together_exceed_the_memory_of_a_rank() {
    let coordinator = site(MEMORY);
    let mut cluster = session(&coordinator);
    let uploads = [begin(&cluster, 1), begin(&cluster, 2)];
    let results = uploads.map(finish);
    let refused: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert_eq!(refused.len(), 1, "{results:?}");
    let refused = refused[0].to_string();
    assert!(refused.contains(&format!("asks for {BYTES} bytes")), "{refused}");
    assert!(refused.contains("bytes are left"), "{refused}");
    // The other is there, and keeps further ones out; the client is told where.
    let there = if results[0].is_ok() { 1 } else { 2 };
    assert_eq!(cluster.get(ArrayId(there), &[0]).unwrap()[0].1.len(), ELEMENTS);
    let error = put(&mut cluster, 3).unwrap_err().to_string();
    assert!(error.contains("worker `small`, rank 0: "), "{error}");
    forget(&mut cluster, there);
    fits(&mut cluster);
}

#[test]
fn an_upload_that_was_cut_takes_memory_for_ever() {
    let coordinator = site(MEMORY);
    let mut cluster = session(&coordinator);
    for _ in 0..3 {
        drop(begun(&mut cluster, 1, |cluster| put(cluster, 2).is_err()));
        fits(&mut cluster);
    }
    // Elements that are none end an upload, too.
    let mut upload = begin(&cluster, 1);
    upload.send(PUT, &[], &[]).unwrap();
    assert_eq!(upload.receive().unwrap().kind, FAULT);
    fits(&mut cluster);
}

/// Runs a program that makes an array out of nothing, or of another one.
fn make(cluster: &mut Cluster, from: Option<u64>, into: u64) -> Result<(), Error> {
    let kind = format!("!ndarray.ndarray<{ELEMENTS}xf64, #pantile.dist<\"block(r)\">>");
    let text = match from {
        None => format!(
            "program on 1 ranks\n----\n!all = {kind}\nfunc.func @main() -> (!all) {{\n\
             %one = arith.constant 1.0 : f64\n\
             %a = ndarray.create value %one : (f64) -> !all\nreturn %a : !all\n}}\n"
        ),
        Some(_) => {
            let home = format!("{ELEMENTS} on r=1: block(r)");
            format!("move f64 on 1 ranks\nfrom {home}\nto {home}\n")
        }
    };
    let hash = Fingerprint::of(&text).0.to_le_bytes().to_vec();
    let program = wire::ProgramText { session: 0, hash: hash.clone(), text };
    cluster.stream.request(RequestKind::Program(program)).unwrap();
    cluster.runs += 1;
    let (number, arguments, results) = (cluster.runs, from.into_iter().collect(), vec![into]);
    let run = wire::RunRequest { number, program: hash, arguments, results, ..Default::default() };
    cluster.stream.request(RequestKind::Run(run)).unwrap();
    let done = cluster.stream.receive_if(REPLY_TIMEOUT, |kind| match kind {
        ReplyKind::Done(done) if done.number == number => Some(done),
        _ => None,
    });
    done.unwrap().fault.map_or(Ok(()), |fault| Err(Error::from(fault)))
}

#[test]
fn results_beside_each_other_exceed_the_memory_of_a_rank() {
    let coordinator = site(MEMORY);
    let mut cluster = session(&coordinator);
    make(&mut cluster, None, 1).unwrap();
    // Nothing that needs as much fits beside it, from any source; and nothing ends by that.
    for from in [None, Some(1), None] {
        let error = make(&mut cluster, from, 2).unwrap_err().to_string();
        assert!(error.contains(&format!("asks for {BYTES} bytes")), "{error}");
        assert!(error.contains("bytes are left") && error.contains("worker `small`"), "{error}");
    }
    assert!(put(&mut cluster, 3).is_err());
    forget(&mut cluster, 1);
    make(&mut cluster, None, 2).unwrap();
    forget(&mut cluster, 2);
    // Nor does a program fit beside an upload that is under way.
    let upload = begun(&mut cluster, 3, |cluster| make(cluster, None, 2).is_err());
    finish(upload).unwrap();
    forget(&mut cluster, 3);
    fits(&mut cluster);
}

#[test]
fn arrays_that_are_read_and_forgotten_exceed_the_memory_of_a_rank() {
    let coordinator = site(64 * MEMORY);
    let mut cluster = session(&coordinator);
    // More than the system takes while no reader takes it.
    let tile = Arc::new(Tile::from_vec(vec![0.5; 5 << 20]));
    let put =
        |cluster: &mut Cluster, id| cluster.send_tiles(ArrayId(id), &[(0, Arc::clone(&tile))]);
    put(&mut cluster, 1).unwrap();
    let mut reader = connect_data(&cluster, cluster.world, &cluster.secret).unwrap();
    reader.send(GET, &ArrayKey { rank: 0, array: 1 }.encode(), &[]).unwrap();
    assert_eq!(reader.receive().unwrap().kind, SIZE);
    forget(&mut cluster, 1);
    // What is still being read is memory, forgotten or not.
    for _ in 0..20 {
        assert!(put(&mut cluster, 2).is_err());
    }
    drop(reader);
    soon("memory", || put(&mut cluster, 2).ok());
}

#[test]
fn sessions_beside_each_other_exceed_the_memory_of_a_worker() {
    let coordinator = site(MEMORY);
    let mut one = session(&coordinator);
    let mut other = connect(&coordinator, 1).unwrap();
    put(&mut one, 1).unwrap();
    let error = put(&mut other, 1).unwrap_err().to_string();
    assert!(error.contains(&format!("asks for {BYTES} bytes")), "{error}");
    assert!(make(&mut other, None, 2).is_err());
    // The end of a session gives everything back.
    drop(one);
    fits(&mut other);
}

#[test]
fn a_session_lives_on_with_a_connection_that_is_silent() {
    let coordinator = site(MEMORY);
    let mut one = session(&coordinator);
    put(&mut one, 1).unwrap();
    let silent = connect_data(&one, one.world, &one.secret).unwrap();
    drop(one);
    fits(&mut connect(&coordinator, 1).unwrap());
    drop(silent);
}

#[test]
fn a_loop_runs_on_for_an_upload_whose_client_is_gone() {
    let coordinator = site(MEMORY);
    let mut one = session(&coordinator);
    start(&mut one, ENDLESS.to_owned());
    assert!(one.stream.receive(Duration::from_millis(300)).is_none(), "it runs for ever");
    // All of it is there, and waits for the rank.
    let mut upload = begin(&one, 1);
    upload.send(BODY, &[], &[&[0; BYTES / 2]]).unwrap();
    drop(one);
    fits(&mut connect(&coordinator, 1).unwrap());
    // Where all of it came before the end, it is told.
    assert!(upload.receive().map_or(true, |answer| answer.kind == FAULT));
}
