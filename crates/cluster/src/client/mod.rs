//! A client: a world of ranks that workers host, as ranks that are elsewhere.

mod request_stream;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use pantile_comm::Rank;
use pantile_comm_net::{Connection, Handshake, Secret, connect};
use pantile_engine::{
    ArrayId, Counters, Error, Executor, ExecutorHandle, Job, Pool, RankRuntime, RankTiles,
    RemoteTraffic, Scheme, Started, ThreadsError, Tile, check_threads,
};
use pantile_geometry::Fingerprint;

use crate::ClusterError;
use crate::data::{
    ArrayKey, DONE, DataError, FAULT, FRAME, GET, KIND, PUT, SIZE, decode_size, encode_size,
    receive_body, send_body,
};
use crate::guard::Guard;
use crate::wire::{self, ReplyKind, RequestKind, VERSION, WireFault, WorkerStatus};
use request_stream::RequestStream;

/// How long small answers may take.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a frame of elements may take.
const FRAME_TIMEOUT: Duration = Duration::from_secs(60);

/// So long a client whose elements do not arrive waits to hear why.
const REASON_TIMEOUT: Duration = Duration::from_secs(3);

/// The options of a client's world.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClusterOptions {
    /// Number of ranks; as many as the workers like to host if zero.
    pub ranks: usize,
    /// Bytes of a frame of elements.
    pub frame: usize,
    /// How it protects itself.
    pub guard: Guard,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self { ranks: 0, frame: FRAME, guard: Guard::default() }
    }
}

/// A session at a coordinator: ranks on workers, for this client alone, until it is dropped.
pub struct Cluster {
    stream: RequestStream,
    options: ClusterOptions,
    opened: wire::SessionOpened,
    secret: Secret,
    world: u128,
    /// To the worker of each rank, once there was something to carry.
    connections: Vec<Option<Connection>>,
    /// Hashes of the programs that the workers have, by the caller's keys.
    sent: BTreeMap<u128, u128>,
    runs: u64,
    /// A program was sent and has not ended.
    running: bool,
    threads: usize,
    traffic: RemoteTraffic,
    /// Memory of elements that were fetched and are not needed any more.
    pool: Pool,
}

impl Cluster {
    /// Opens a session at the coordinator at `HOST:PORT`.
    ///
    /// # Errors
    /// No process answers there, or it expects a token or certificates; there is no worker; ranks
    /// cannot reach each other.
    pub fn connect(address: &str, options: ClusterOptions) -> Result<Self, ClusterError> {
        let mut stream = RequestStream::connect(address, &options.guard)?;
        let open = wire::OpenSession { version: VERSION, ranks: options.ranks as u64 };
        let refused = |fault: WireFault| match Error::from(fault) {
            Error::Refused { reason } => ClusterError::Refused { reason },
            error => ClusterError::Engine(error),
        };
        stream.request(RequestKind::Open(open)).map_err(refused)?;
        let opened = stream.receive_if(REPLY_TIMEOUT, |kind| match kind {
            ReplyKind::Opened(opened) => Some(opened),
            _ => None,
        });
        let opened = opened.map_err(refused)?;
        let strange = || ClusterError::Refused { reason: "got a session without a secret".into() };
        let secret = <[u8; 32]>::try_from(&opened.secret[..]).map_err(|_| strange())?;
        let world = <[u8; 16]>::try_from(&opened.world[..]).map_err(|_| strange())?;
        let (secret, world) = (Secret::from_bytes(secret), u128::from_le_bytes(world));
        let connections = opened.hosts.iter().map(|_| None).collect();
        let (sent, traffic) = (BTreeMap::new(), RemoteTraffic::default());
        let (runs, threads) = (0, 1);
        Ok(Self {
            stream,
            options,
            opened,
            secret,
            world,
            connections,
            sent,
            runs,
            running: false,
            threads,
            traffic,
            pool: Pool::default(),
        })
    }

    /// What a coordinator knows of its workers, without opening a session.
    ///
    /// # Errors
    /// As [`Cluster::connect`].
    pub fn status(address: &str, guard: &Guard) -> Result<Vec<WorkerStatus>, ClusterError> {
        Ok(Self::overview(address, guard)?.workers)
    }

    /// What a coordinator knows of its workers and of itself, without opening a session.
    ///
    /// # Errors
    /// As [`Cluster::connect`].
    pub fn overview(address: &str, guard: &Guard) -> Result<wire::ClusterStatus, ClusterError> {
        let mut stream = RequestStream::connect(address, guard)?;
        let lost = |fault: WireFault| ClusterError::Engine(fault.into());
        stream.request(RequestKind::Status(wire::Empty {})).map_err(lost)?;
        let status = stream.receive_if(REPLY_TIMEOUT, |kind| match kind {
            ReplyKind::Status(status) => Some(status),
            _ => None,
        });
        status.map_err(lost)
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.opened.hosts.len()
    }

    /// The worker of every rank, by name.
    #[must_use]
    pub fn workers(&self) -> Vec<String> {
        self.opened.hosts.iter().map(|host| host.worker.clone()).collect()
    }

    /// The ranks, ready to be a session: `Session::with_executor(cluster.into_executor())`.
    #[must_use]
    pub fn into_executor(self) -> ExecutorHandle {
        ExecutorHandle::new(Box::new(self))
    }

    /// Sends a program, and gives its hash.
    fn send_program(&mut self, job: &Job) -> Result<u128, WireFault> {
        let text = job.unit.to_string();
        let hash = Fingerprint::of(&text).0;
        if !self.sent.values().any(|known| *known == hash) {
            let hash = hash.to_le_bytes().to_vec();
            self.stream.request(RequestKind::Program(wire::ProgramText {
                session: 0,
                hash,
                text,
            }))?;
            self.traffic.programs += 1;
        }
        // Workers keep as many.
        if self.sent.len() >= wire::PROGRAMS_MAX {
            self.sent.clear();
        }
        self.sent.insert(job.key, hash);
        Ok(hash)
    }

    /// Gives ranks their elements of an array.
    fn send_tiles(&mut self, id: ArrayId, tiles: &[(Rank, Arc<Tile>)]) -> Result<(), Error> {
        let frame = self.options.frame;
        let ranks: Vec<Rank> = tiles.iter().map(|(rank, _)| *rank).collect();
        self.with_connections(&ranks, |connection, rank| {
            let Some((_, tile)) = tiles.iter().find(|(own, _)| *own == rank) else { return Ok(()) };
            let mut header = ArrayKey { rank: rank as u64, array: id.0 }.encode();
            header.extend(encode_size(tile.dtype(), tile.len()));
            connection.send(PUT, &header, &[])?;
            let sent = send_body(connection, tile, frame);
            // A worker that takes no more of it has said why, and reads nothing else.
            let answer = match (connection.receive(), sent) {
                (Ok(answer), _) => answer,
                (Err(_), Err(error)) | (Err(error), Ok(())) => return Err(error.into()),
            };
            match answer.kind {
                DONE => Ok(()),
                _ => Err(DataError::Refused(String::from_utf8_lossy(&answer.header).into_owned())),
            }
        })?;
        let bytes: usize = tiles.iter().map(|(_, tile)| tile.as_bytes().len()).sum();
        self.traffic.bytes_up += bytes as u64;
        Ok(())
    }

    /// Does something with the connections to the workers of some ranks, each on its own thread.
    fn with_connections<T: Send>(
        &mut self,
        ranks: &[Rank],
        f: impl Fn(&mut Connection, Rank) -> Result<T, DataError> + Sync,
    ) -> Result<Vec<(Rank, T)>, Error> {
        let Self { connections, opened, options, secret, world, stream, .. } = self;
        let security = options.guard.security();
        let fresh = |rank: Rank| -> Result<Connection, DataError> {
            let address = &opened.hosts[rank].data_address;
            let handshake =
                Handshake { kind: KIND, id: *world, secret: secret.clone(), payload: Vec::new() };
            Ok(connect(address, security, &handshake, REPLY_TIMEOUT)?.with_deadline(FRAME_TIMEOUT))
        };
        let work = |rank: Rank, kept: &mut Option<Connection>| {
            if let Some(mut connection) = kept.take() {
                match f(&mut connection, rank) {
                    // Workers end connections that were idle for long: connect again.
                    Err(DataError::Net(_)) => {}
                    Err(rejected) => return Err(rejected),
                    Ok(done) => {
                        *kept = Some(connection);
                        return Ok(done);
                    }
                }
            }
            let mut connection = fresh(rank)?;
            let done = f(&mut connection, rank)?;
            *kept = Some(connection);
            Ok(done)
        };
        let wanted: BTreeSet<Rank> = ranks.iter().copied().collect();
        let jobs = connections.iter_mut().enumerate().filter(|(rank, _)| wanted.contains(rank));
        let results: Vec<(Rank, Result<T, DataError>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = jobs
                .map(|(rank, connection)| {
                    let work = &work;
                    (rank, scope.spawn(move || work(rank, connection)))
                })
                .collect();
            let panicked = |_| Err(DataError::Panicked);
            threads
                .into_iter()
                .map(|(rank, thread)| (rank, thread.join().unwrap_or_else(panicked)))
                .collect()
        });
        let name = |rank: Rank| opened.hosts[rank].worker.clone();
        results
            .into_iter()
            .map(|(rank, result)| match result {
                Ok(value) => Ok((rank, value)),
                Err(DataError::Net(error)) => {
                    // When another worker is lost this one forgets the session, and takes nothing
                    // any more: the coordinator knows whose fault it is.
                    let _ = stream.receive_if(REASON_TIMEOUT, |_| None::<()>);
                    let unreached = || WireFault::lost(&name(rank), error.to_string());
                    Err(stream.ended.get_or_insert_with(unreached).clone().into())
                }
                Err(error) => {
                    let reason = format!("worker `{}`, rank {rank}: {error}", name(rank));
                    Err(Error::Refused { reason })
                }
            })
            .collect()
    }
}

impl Executor for Cluster {
    fn size(&self) -> usize {
        self.ranks()
    }

    fn hosted(&self) -> Vec<Rank> {
        (0..self.ranks()).collect()
    }

    fn is_in_process(&self) -> bool {
        false
    }

    fn has_windows(&self) -> bool {
        false
    }

    fn is_idle(&self) -> bool {
        !self.running
    }

    fn start(&mut self, job: &Arc<Job>) -> Result<Started, Error> {
        // Keys are the caller's; what is sent is known by its own hash.
        let hash = match self.sent.get(&job.key) {
            Some(hash) => *hash,
            None => self.send_program(job)?,
        };
        self.runs += 1;
        self.traffic.runs += 1;
        let ids = |list: &[ArrayId]| list.iter().map(|id| id.0).collect();
        let numbers = job.parameters.iter().map(|number| wire::ScalarArgument {
            dtype: number.dtype().to_string(),
            bytes: number.as_bytes().to_vec(),
        });
        let run = wire::RunRequest {
            session: 0,
            number: self.runs,
            program: hash.to_le_bytes().to_vec(),
            numbers: numbers.collect(),
            arguments: ids(&job.arguments),
            results: ids(&job.results),
            forget: ids(&job.forget),
        };
        self.stream.request(RequestKind::Run(run))?;
        self.running = true;
        Ok(Started::Running)
    }

    fn wait(&mut self, longest: Duration, faults: &mut Vec<Error>) -> bool {
        if !self.running {
            return true;
        }
        match self.stream.receive(longest) {
            Some(Err(fault)) => faults.push(fault.into()),
            Some(Ok(ReplyKind::Done(done))) if done.number == self.runs => {
                faults.extend(done.fault.map(Error::from));
            }
            Some(Ok(_)) | None => return false,
        }
        self.running = false;
        true
    }

    fn put(&mut self, id: ArrayId, tile: &mut dyn FnMut(Rank) -> Tile) -> Result<(), Error> {
        let tiles: Vec<(Rank, Arc<Tile>)> =
            (0..self.ranks()).map(|rank| (rank, Arc::new(tile(rank)))).collect();
        self.send_tiles(id, &tiles)
    }

    fn get(&mut self, id: ArrayId, ranks: &[Rank]) -> Result<RankTiles, Error> {
        let pool = self.pool.clone();
        let tiles = self.with_connections(ranks, |connection, rank| {
            connection.send(GET, &ArrayKey { rank: rank as u64, array: id.0 }.encode(), &[])?;
            let answer = connection.receive()?;
            match answer.kind {
                SIZE => {
                    let size = decode_size(&answer.header, u64::MAX).map_err(DataError::Size)?;
                    Ok(Arc::new(receive_body(connection, &pool, size)?))
                }
                FAULT => {
                    Err(DataError::Refused(String::from_utf8_lossy(&answer.header).into_owned()))
                }
                kind => Err(DataError::Kind(kind)),
            }
        })?;
        let bytes: usize = tiles.iter().map(|(_, tile)| tile.as_bytes().len()).sum();
        self.traffic.bytes_down += bytes as u64;
        Ok(tiles)
    }

    fn forget(&mut self, ids: &[ArrayId]) {
        let arrays = ids.iter().map(|id| id.0).collect();
        // What is over has forgotten everything.
        let _ = self.stream.request(RequestKind::Free(wire::FreeArrays { session: 0, arrays }));
    }

    fn counters(&mut self) -> Counters {
        if self.stream.request(RequestKind::Counts(wire::Empty {})).is_err() {
            return Counters::default();
        }
        let counts = self.stream.receive_if(REPLY_TIMEOUT, |kind| match kind {
            ReplyKind::Counts(counts) => Some(counts),
            _ => None,
        });
        let mut counters = Counters::default();
        if let Ok(counts) = counts {
            counters.compiled = counts.compiled;
            counters.runs = counts.runs;
            counters.messages = counts.messages;
            counters.bytes = counts.bytes;
            counters.programs = counts.programs;
        }
        counters
    }

    fn traffic(&self) -> Option<RemoteTraffic> {
        Some(self.traffic)
    }

    fn set_threads(&mut self, threads: usize) -> Result<usize, ThreadsError> {
        check_threads(threads)?;
        let one = wire::SetThreads { session: 0, threads: threads as u64 };
        // What is over has no threads any more.
        let _ = self.stream.request(RequestKind::Threads(one));
        Ok(std::mem::replace(&mut self.threads, threads))
    }

    /// Workers say how threads cut loops where they are started.
    fn set_scheme(&mut self, _: Scheme) -> Option<Scheme> {
        None
    }

    fn each_rank(&mut self, _: &mut dyn FnMut(&mut RankRuntime)) {}
}

#[cfg(test)]
mod memory;
#[cfg(all(test, target_os = "linux"))]
mod slow;
#[cfg(test)]
mod tests;
