//! What travels on the control plane: small messages, bounded in size. Elements travel elsewhere.
//!
//! ```text
//! client ── ClientRequest ──► coordinator ── WorkerOrder ───► worker
//!        ◄── ClientReply ───              ◄─ WorkerReport ───
//! ```
#![allow(missing_docs, reason = "fields of messages are named after what they carry")]

use prost::{Enumeration, Message, Oneof};

/// The version of all messages; changes with any of them, and both sides must have the same.
pub const VERSION: u32 = 3;

/// Largest message of the control plane.
pub const MESSAGE_MAX: usize = 16 << 20;

/// Longest text of a program.
pub const PROGRAM_MAX: usize = 8 << 20;

/// Programs that a session may name at a time; a client that sends more sends the oldest again.
pub const PROGRAMS_MAX: usize = 4096;

/// Why something was not done.
#[derive(Clone, PartialEq, Message)]
pub struct WireFault {
    #[prost(enumeration = "FaultKind", tag = "1")]
    pub kind: i32,
    #[prost(string, tag = "2")]
    pub worker: String,
    #[prost(string, tag = "3")]
    pub reason: String,
    #[prost(enumeration = "FaultCause", tag = "4")]
    pub cause: i32,
}

/// Whether a rank failed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub enum FaultCause {
    /// It did, or that is not known.
    Own = 0,
    /// Another rank did not connect to it; that one knows more.
    NotConnected = 1,
    /// Another rank failed.
    Other = 2,
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

/// What a worker says of itself when it registers.
#[derive(Clone, PartialEq, Message)]
pub struct Registration {
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
pub struct RankHost {
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
    /// Sixteen bytes that cannot be guessed.
    #[prost(bytes = "vec", tag = "2")]
    pub world: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    pub secret: Vec<u8>,
    #[prost(uint64, repeated, tag = "4")]
    pub own: Vec<u64>,
    #[prost(message, repeated, tag = "5")]
    pub hosts: Vec<RankHost>,
    /// Bytes that each rank may use.
    #[prost(uint64, tag = "6")]
    pub memory: u64,
}

/// A program, known by the hash of its text from then on.
#[derive(Clone, PartialEq, Message)]
pub struct ProgramText {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub hash: Vec<u8>,
    #[prost(string, tag = "3")]
    pub text: String,
}

/// A number that is an argument.
#[derive(Clone, PartialEq, Message)]
pub struct ScalarArgument {
    #[prost(string, tag = "1")]
    pub dtype: String,
    #[prost(bytes = "vec", tag = "2")]
    pub bytes: Vec<u8>,
}

/// A program to be run on arrays.
#[derive(Clone, PartialEq, Message)]
pub struct RunRequest {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(uint64, tag = "2")]
    pub number: u64,
    #[prost(bytes = "vec", tag = "3")]
    pub program: Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub numbers: Vec<ScalarArgument>,
    #[prost(uint64, repeated, tag = "5")]
    pub arguments: Vec<u64>,
    #[prost(uint64, repeated, tag = "6")]
    pub results: Vec<u64>,
    #[prost(uint64, repeated, tag = "7")]
    pub forget: Vec<u64>,
}

/// Arrays that are not needed any more.
#[derive(Clone, PartialEq, Message)]
pub struct FreeArrays {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(uint64, repeated, tag = "2")]
    pub arrays: Vec<u64>,
}

/// How many threads each rank has from now on.
#[derive(Clone, PartialEq, Message)]
pub struct SetThreads {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(uint64, tag = "2")]
    pub threads: u64,
}

/// Something about a session, and nothing else to say.
#[derive(Clone, PartialEq, Message)]
pub struct SessionRef {
    #[prost(uint64, tag = "1")]
    pub session: u64,
}

/// What a rank reports about an order.
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
    pub fault: Option<WireFault>,
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

/// A heartbeat.
#[derive(Clone, PartialEq, Message)]
pub struct Heartbeat {
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
pub struct WorkerReport {
    #[prost(oneof = "ReportKind", tags = "1, 2, 3, 4")]
    pub kind: Option<ReportKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum ReportKind {
    #[prost(message, tag = "1")]
    Register(Registration),
    #[prost(message, tag = "2")]
    Done(Done),
    #[prost(message, tag = "3")]
    Counts(Counts),
    #[prost(message, tag = "4")]
    Heartbeat(Heartbeat),
}

/// To a worker.
#[derive(Clone, PartialEq, Message)]
pub struct WorkerOrder {
    #[prost(oneof = "OrderKind", tags = "1, 2, 3, 4, 5, 6, 7, 8")]
    pub kind: Option<OrderKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum OrderKind {
    /// The name that the worker has from now on.
    #[prost(string, tag = "1")]
    Welcome(String),
    #[prost(message, tag = "2")]
    Join(Join),
    #[prost(message, tag = "3")]
    Program(ProgramText),
    #[prost(message, tag = "4")]
    Run(RunRequest),
    #[prost(message, tag = "5")]
    Free(FreeArrays),
    #[prost(message, tag = "6")]
    Threads(SetThreads),
    #[prost(message, tag = "7")]
    Counts(SessionRef),
    #[prost(message, tag = "8")]
    Leave(SessionRef),
    /// Bytes of memory that the worker may use from now on: its share of what is free.
    #[prost(uint64, tag = "9")]
    Memory(u64),
}

/// A client requests a world.
#[derive(Clone, PartialEq, Message)]
pub struct OpenSession {
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// Zero: as many as the workers like to host.
    #[prost(uint64, tag = "2")]
    pub ranks: u64,
}

/// A world that a client has got.
#[derive(Clone, PartialEq, Message)]
pub struct SessionOpened {
    #[prost(uint64, tag = "1")]
    pub session: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub world: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    pub secret: Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub hosts: Vec<RankHost>,
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
pub struct ClusterStatus {
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
pub struct Empty {}

/// From a client.
#[derive(Clone, PartialEq, Message)]
pub struct ClientRequest {
    #[prost(oneof = "RequestKind", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub kind: Option<RequestKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum RequestKind {
    #[prost(message, tag = "1")]
    Open(OpenSession),
    #[prost(message, tag = "2")]
    Program(ProgramText),
    #[prost(message, tag = "3")]
    Run(RunRequest),
    #[prost(message, tag = "4")]
    Free(FreeArrays),
    #[prost(message, tag = "5")]
    Threads(SetThreads),
    #[prost(message, tag = "6")]
    Counts(Empty),
    #[prost(message, tag = "7")]
    Status(Empty),
}

/// To a client.
#[derive(Clone, PartialEq, Message)]
pub struct ClientReply {
    #[prost(oneof = "ReplyKind", tags = "1, 2, 3, 4, 5")]
    pub kind: Option<ReplyKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum ReplyKind {
    #[prost(message, tag = "1")]
    Opened(SessionOpened),
    #[prost(message, tag = "2")]
    Done(Done),
    /// Sums over all ranks.
    #[prost(message, tag = "3")]
    Counts(Counts),
    #[prost(message, tag = "4")]
    Status(ClusterStatus),
    /// The session is over.
    #[prost(message, tag = "5")]
    Over(WireFault),
}

impl WireFault {
    /// Not allowed, or not understood.
    #[must_use]
    pub fn refused(reason: impl Into<String>) -> Self {
        let (kind, worker) = (FaultKind::Refused.into(), String::new());
        Self { kind, worker, reason: reason.into(), cause: 0 }
    }

    /// A rank could not do it.
    #[must_use]
    pub fn execution(worker: &str, reason: impl Into<String>) -> Self {
        let (kind, worker) = (FaultKind::Execution.into(), worker.to_owned());
        Self { kind, worker, reason: reason.into(), cause: 0 }
    }

    /// The same fault of this cause.
    #[must_use]
    pub fn caused(self, cause: FaultCause) -> Self {
        Self { cause: cause.into(), ..self }
    }

    /// A worker is gone.
    #[must_use]
    pub fn lost(worker: &str, reason: impl Into<String>) -> Self {
        let (kind, worker) = (FaultKind::WorkerLost.into(), worker.to_owned());
        Self { kind, worker, reason: reason.into(), cause: 0 }
    }
}

impl From<WireFault> for pantile_engine::Error {
    fn from(fault: WireFault) -> Self {
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
