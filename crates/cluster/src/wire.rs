//! What travels on the control plane: small messages, bounded in size. Elements travel elsewhere.
//!
//! ```text
//! client ── Ask ──► coordinator ── Order ──► worker
//!        ◄─ Answer ─            ◄── Say ────
//! ```
#![allow(missing_docs, reason = "fields of messages are named after what they carry")]

use prost::{Enumeration, Message, Oneof};

/// The version of all messages; changes with any of them, and both sides must have the same.
pub const VERSION: u32 = 3;

/// Largest message of the control plane.
pub const MESSAGE_MAX: usize = 16 << 20;

/// Longest text of a program.
pub const PROGRAM_MAX: usize = 8 << 20;

/// Programs that a session may name at a time; whoever sends more says the oldest again.
pub const PROGRAMS_MAX: usize = 4096;

/// Why something was not done.
#[derive(Clone, PartialEq, Message)]
pub struct Fault {
    #[prost(enumeration = "FaultKind", tag = "1")]
    pub kind: i32,
    #[prost(string, tag = "2")]
    pub worker: String,
    #[prost(string, tag = "3")]
    pub reason: String,
}

/// What kind of fault it is: types stay types on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub enum FaultKind {
    /// Not allowed, or not understood; nothing was done.
    Refused = 0,
    /// A rank could not do it.
    Execution = 1,
    /// A worker is gone.
    WorkerLost = 2,
}

/// What a worker says of itself when it comes.
#[derive(Clone, PartialEq, Message)]
pub struct Hello {
    #[prost(uint32, tag = "1")]
    pub version: u32,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub data_address: String,
    #[prost(uint64, tag = "4")]
    pub memory: u64,
    #[prost(uint32, tag = "5")]
    pub ranks: u32,
    /// The same number for all workers that draw from the same memory; zero if no other does.
    #[prost(uint64, tag = "6")]
    pub scope: u64,
    /// True if the memory is what the worker was told to use, false if it is what is free.
    #[prost(bool, tag = "7")]
    pub stated: bool,
}

/// A rank of a world: the worker that hosts it, and where its elements are sent.
#[derive(Clone, PartialEq, Message)]
pub struct Seat {
    #[prost(string, tag = "1")]
    pub worker: String,
    #[prost(string, tag = "2")]
    pub data_address: String,
}

/// A world to be joined by some ranks of a worker.
#[derive(Clone, PartialEq, Message)]
pub struct Join {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    /// Sixteen bytes that nobody guesses.
    #[prost(bytes = "vec", tag = "2")]
    pub world: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    pub secret: Vec<u8>,
    #[prost(uint64, repeated, tag = "4")]
    pub own: Vec<u64>,
    #[prost(message, repeated, tag = "5")]
    pub seats: Vec<Seat>,
    /// Bytes that each rank may use.
    #[prost(uint64, tag = "6")]
    pub memory: u64,
}

/// A program, known by the hash of its text from then on.
#[derive(Clone, PartialEq, Message)]
pub struct Program {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub hash: Vec<u8>,
    #[prost(string, tag = "3")]
    pub text: String,
}

/// A number that is an argument.
#[derive(Clone, PartialEq, Message)]
pub struct Number {
    #[prost(string, tag = "1")]
    pub dtype: String,
    #[prost(bytes = "vec", tag = "2")]
    pub bytes: Vec<u8>,
}

/// A program to be run on arrays.
#[derive(Clone, PartialEq, Message)]
pub struct Run {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(uint64, tag = "2")]
    pub number: u64,
    #[prost(bytes = "vec", tag = "3")]
    pub program: Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub numbers: Vec<Number>,
    #[prost(uint64, repeated, tag = "5")]
    pub arguments: Vec<u64>,
    #[prost(uint64, repeated, tag = "6")]
    pub results: Vec<u64>,
    #[prost(uint64, repeated, tag = "7")]
    pub forget: Vec<u64>,
}

/// Arrays that nobody needs any more.
#[derive(Clone, PartialEq, Message)]
pub struct Free {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(uint64, repeated, tag = "2")]
    pub arrays: Vec<u64>,
}

/// How many threads each rank has from now on.
#[derive(Clone, PartialEq, Message)]
pub struct Threads {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(uint64, tag = "2")]
    pub threads: u64,
}

/// Something about a session, and nothing else to say.
#[derive(Clone, PartialEq, Message)]
pub struct Session {
    #[prost(uint64, tag = "1")]
    pub session: u64,
}

/// What a rank has to say about an order.
#[derive(Clone, PartialEq, Message)]
pub struct Done {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    /// Of the run; zero for joining.
    #[prost(uint64, tag = "2")]
    pub number: u64,
    #[prost(uint64, tag = "3")]
    pub rank: u64,
    #[prost(message, optional, tag = "4")]
    pub fault: Option<Fault>,
}

/// What ranks have done so far.
#[derive(Clone, PartialEq, Message)]
pub struct Counts {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(uint64, tag = "2")]
    pub rank: u64,
    #[prost(uint64, tag = "3")]
    pub compiled: u64,
    #[prost(uint64, tag = "4")]
    pub runs: u64,
    #[prost(uint64, tag = "5")]
    pub messages: u64,
    #[prost(uint64, tag = "6")]
    pub bytes: u64,
    #[prost(uint64, tag = "7")]
    pub programs: u64,
    /// Bytes of arrays that are kept.
    #[prost(uint64, tag = "8")]
    pub stored: u64,
}

/// A sign of life.
#[derive(Clone, PartialEq, Message)]
pub struct Beat {
    #[prost(uint64, tag = "1")]
    pub stored: u64,
    #[prost(uint64, tag = "2")]
    pub sessions: u64,
    /// Programs that were lowered here so far.
    #[prost(uint64, tag = "3")]
    pub lowered: u64,
    /// Connections, requests and programs that were refused here so far.
    #[prost(uint64, tag = "4")]
    pub refused: u64,
}

/// From a worker.
#[derive(Clone, PartialEq, Message)]
pub struct Say {
    #[prost(oneof = "say::What", tags = "1, 2, 3, 4")]
    pub what: Option<say::What>,
}

pub mod say {
    #[derive(Clone, PartialEq, super::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Hello(super::Hello),
        #[prost(message, tag = "2")]
        Done(super::Done),
        #[prost(message, tag = "3")]
        Counts(super::Counts),
        #[prost(message, tag = "4")]
        Beat(super::Beat),
    }
}

/// To a worker.
#[derive(Clone, PartialEq, Message)]
pub struct Order {
    #[prost(oneof = "order::What", tags = "1, 2, 3, 4, 5, 6, 7, 8")]
    pub what: Option<order::What>,
}

pub mod order {
    #[derive(Clone, PartialEq, super::Oneof)]
    pub enum What {
        /// The name that the worker has from now on.
        #[prost(string, tag = "1")]
        Welcome(String),
        #[prost(message, tag = "2")]
        Join(super::Join),
        #[prost(message, tag = "3")]
        Program(super::Program),
        #[prost(message, tag = "4")]
        Run(super::Run),
        #[prost(message, tag = "5")]
        Free(super::Free),
        #[prost(message, tag = "6")]
        Threads(super::Threads),
        #[prost(message, tag = "7")]
        Counts(super::Session),
        #[prost(message, tag = "8")]
        Leave(super::Session),
        /// Bytes of memory that the worker may use from now on: its share of what is free.
        #[prost(uint64, tag = "9")]
        Memory(u64),
    }
}

/// A client wants a world.
#[derive(Clone, PartialEq, Message)]
pub struct Open {
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// Zero: as many as the workers like to host.
    #[prost(uint64, tag = "2")]
    pub ranks: u64,
}

/// A world that a client has got.
#[derive(Clone, PartialEq, Message)]
pub struct Opened {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub world: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    pub secret: Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub seats: Vec<Seat>,
}

/// What is known of a worker.
#[derive(Clone, PartialEq, Message)]
pub struct WorkerStatus {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub data_address: String,
    #[prost(uint64, tag = "3")]
    pub memory: u64,
    #[prost(uint64, tag = "4")]
    pub stored: u64,
    #[prost(uint64, tag = "5")]
    pub sessions: u64,
    #[prost(uint64, tag = "6")]
    pub lowered: u64,
    #[prost(uint64, tag = "7")]
    pub refused: u64,
}

/// What is known of all workers.
#[derive(Clone, PartialEq, Message)]
pub struct Status {
    #[prost(message, repeated, tag = "1")]
    pub workers: Vec<WorkerStatus>,
    #[prost(uint64, tag = "2")]
    pub sessions: u64,
    /// What the coordinator itself has refused so far.
    #[prost(uint64, tag = "3")]
    pub refused: u64,
}

/// Nothing.
#[derive(Clone, PartialEq, Message)]
pub struct Nothing {}

/// From a client.
#[derive(Clone, PartialEq, Message)]
pub struct Ask {
    #[prost(oneof = "ask::What", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub what: Option<ask::What>,
}

pub mod ask {
    #[derive(Clone, PartialEq, super::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Open(super::Open),
        #[prost(message, tag = "2")]
        Program(super::Program),
        #[prost(message, tag = "3")]
        Run(super::Run),
        #[prost(message, tag = "4")]
        Free(super::Free),
        #[prost(message, tag = "5")]
        Threads(super::Threads),
        #[prost(message, tag = "6")]
        Counts(super::Nothing),
        #[prost(message, tag = "7")]
        Status(super::Nothing),
    }
}

/// To a client.
#[derive(Clone, PartialEq, Message)]
pub struct Answer {
    #[prost(oneof = "answer::What", tags = "1, 2, 3, 4, 5")]
    pub what: Option<answer::What>,
}

pub mod answer {
    #[derive(Clone, PartialEq, super::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Opened(super::Opened),
        #[prost(message, tag = "2")]
        Done(super::Done),
        /// Sums over all ranks.
        #[prost(message, tag = "3")]
        Counts(super::Counts),
        #[prost(message, tag = "4")]
        Status(super::Status),
        /// The session is over.
        #[prost(message, tag = "5")]
        Over(super::Fault),
    }
}

impl Fault {
    /// Not allowed, or not understood.
    #[must_use]
    pub fn refused(reason: impl Into<String>) -> Self {
        let (kind, worker) = (FaultKind::Refused.into(), String::new());
        Self { kind, worker, reason: reason.into() }
    }

    /// A rank could not do it.
    #[must_use]
    pub fn execution(worker: &str, reason: impl Into<String>) -> Self {
        let (kind, worker) = (FaultKind::Execution.into(), worker.to_owned());
        Self { kind, worker, reason: reason.into() }
    }

    /// A worker is gone.
    #[must_use]
    pub fn lost(worker: &str, reason: impl Into<String>) -> Self {
        let (kind, worker) = (FaultKind::WorkerLost.into(), worker.to_owned());
        Self { kind, worker, reason: reason.into() }
    }
}

impl From<Fault> for pantile_engine::Error {
    fn from(fault: Fault) -> Self {
        match FaultKind::try_from(fault.kind) {
            Ok(FaultKind::WorkerLost) => {
                Self::WorkerLost { worker: fault.worker, reason: fault.reason }
            }
            Ok(FaultKind::Execution) if !fault.worker.is_empty() => {
                Self::Elsewhere { reason: format!("worker `{}`: {}", fault.worker, fault.reason) }
            }
            Ok(FaultKind::Execution) => Self::Elsewhere { reason: fault.reason },
            _ => Self::Refused { reason: fault.reason },
        }
    }
}
