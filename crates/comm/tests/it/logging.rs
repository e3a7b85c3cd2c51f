//! The example of a transport of one's own passes the suite, and logs what travels.
#![cfg(not(feature = "explore"))]

#[path = "../../examples/logging/transport.rs"]
mod transport;

use pantile_comm::threads::Threads;
use pantile_comm::{
    CollectiveSignature, Communicator, MemorySlice, Options, Tag, Transport, conformance,
};

use transport::{Action, Entry, Log, Logging};

#[test]
fn a_transport_that_logs_conforms() {
    let log = Log::default();
    let found = conformance::check(&[1, 2, 3], |size, options| {
        let ends = Threads::world(size, options).into_iter();
        ends.map(|end| Box::new(Logging::new(end, &log)) as Box<dyn Transport>).collect()
    });
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
    assert!(log.lock().unwrap().iter().any(|entry| entry.bytes == Some(0)));
}

#[test]
fn every_message_is_in_the_log_once_on_either_side() {
    let log = Log::default();
    let mut ends = Threads::world(2, &Options::default()).into_iter();
    let mut rank = || Communicator::new(Box::new(Logging::new(ends.next().unwrap(), &log)));
    let (mut first, mut second) = (rank(), rank());
    let call = CollectiveSignature::here("log", 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let body = MemorySlice::copied_from(&[1, 2, 3]);
            first.operation(&call, |operation| operation.send(1, &body)).unwrap();
        });
        let got = second.operation(&call, |operation| operation.receive_any(0)).unwrap();
        assert_eq!(got, [1, 2, 3]);
    });
    let mut entries = log.lock().unwrap().clone();
    entries.sort_by_key(|entry| entry.rank);
    let entry = |rank: usize, action, bytes| {
        let (peer, tag, call) = (1 - rank, entries[0].tag, call.to_string());
        Entry { rank, action, peer, tag, bytes, call }
    };
    assert_eq!(entries, [entry(0, Action::Send, Some(3)), entry(1, Action::Receive, None)]);
    let Tag(tag) = entries[0].tag;
    let line = format!("rank 0 -> 1: 3 bytes, tag {tag}, in log (");
    assert!(entries[0].to_string().starts_with(&line), "{}", entries[0]);
}
