//! A transport of one's own: it logs every message of the ranks of this process.
//!
//! `cargo run -p pantile-comm --example logging`
//!
//! The transport is in `transport.rs`; `tests/it/logging.rs` gives it to the conformance suite.
#![allow(clippy::print_stdout, reason = "an example shows what it logs")]

mod transport;

use std::sync::PoisonError;
use std::thread;

use pantile_comm::threads::Threads;
use pantile_comm::{CollectiveSignature, CommError, Communicator, MemorySlice, Options};

use transport::{Log, Logging};

/// Every rank sends its number to the next one around the ring, and gives the number that it got.
fn ring(communicator: &mut Communicator) -> Result<Vec<u8>, CommError> {
    let (rank, size) = (communicator.rank(), communicator.size());
    let own = MemorySlice::copied_from(rank.to_string().as_bytes());
    communicator.operation(&CollectiveSignature::here("ring", 0), |operation| {
        operation.send((rank + 1) % size, &own)?;
        operation.receive_any((rank + size - 1) % size)
    })
}

fn main() {
    let log = Log::default();
    let ends = Threads::world(3, &Options::default()).into_iter();
    let ranks = ends.map(|end| Communicator::new(Box::new(Logging::new(end, &log))));
    let threads: Vec<_> = ranks.map(|mut rank| thread::spawn(move || ring(&mut rank))).collect();
    for (rank, thread) in threads.into_iter().enumerate() {
        match thread.join() {
            Ok(Ok(body)) => println!("rank {rank} got `{}`", String::from_utf8_lossy(&body)),
            Ok(Err(error)) => println!("rank {rank}: {error}"),
            Err(_) => println!("rank {rank} panicked"),
        }
    }
    let mut lines: Vec<String> = log
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
        .map(ToString::to_string)
        .collect();
    lines.sort();
    println!("{}", lines.join("\n"));
}
