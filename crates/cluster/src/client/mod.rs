//! A client: a world of ranks that workers host, as ranks that are elsewhere.

mod link;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use pantile_comm::Rank;
use pantile_comm_net::{Connection, Greeting, Secret, dial};
use pantile_engine::{
    ArrayId, Counters, Error, Executor, ExecutorHandle, Job, Pool, RankRuntime, RankTiles,
    RemoteTraffic, Scheme, Started, ThreadsError, Tile, check_threads,
};
use pantile_geometry::Fingerprint;

use crate::ClusterError;
use crate::data::{
    About, DONE, DataError, FAULT, FRAME, GET, HEAD, KIND, PUT, decode_size, encode_size,
    receive_body, send_body,
};
use crate::guard::Guard;
use crate::wire::{self, Fault, VERSION, WorkerStatus, answer, ask};
use link::Link;

/// How long small answers may take.
const ANSWER: Duration = Duration::from_secs(60);

/// How long a frame of elements may take.
const FRAME_TIME: Duration = Duration::from_secs(60);

/// So long a client whose elements do not arrive waits to hear why.
const VERDICT: Duration = Duration::from_secs(3);

/// How a client wants its world.
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
    link: Link,
    options: ClusterOptions,
    opened: wire::Opened,
    secret: Secret,
    world: u128,
    /// To the worker of each rank, once there was something to carry.
    carriers: Vec<Option<Connection>>,
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
    /// Nobody is there, or wants a token or certificates; there is no worker; ranks cannot reach
    /// each other.
    pub fn connect(address: &str, options: ClusterOptions) -> Result<Self, ClusterError> {
        let mut link = Link::connect(address, &options.guard)?;
        let open = wire::Open { version: VERSION, ranks: options.ranks as u64 };
        let refused = |fault: Fault| match Error::from(fault) {
            Error::Refused { reason } => ClusterError::Refused { reason },
            error => ClusterError::Engine(error),
        };
        link.ask(ask::What::Open(open)).map_err(refused)?;
        let opened = link.hear_if(ANSWER, |what| match what {
            answer::What::Opened(opened) => Some(opened),
            _ => None,
        });
        let opened = opened.map_err(refused)?;
        let strange = || ClusterError::Refused { reason: "got a session without a secret".into() };
        let secret = <[u8; 32]>::try_from(&opened.secret[..]).map_err(|_| strange())?;
        let world = <[u8; 16]>::try_from(&opened.world[..]).map_err(|_| strange())?;
        let (secret, world) = (Secret::from_bytes(secret), u128::from_le_bytes(world));
        let carriers = opened.seats.iter().map(|_| None).collect();
        let (sent, traffic) = (BTreeMap::new(), RemoteTraffic::default());
        let (runs, threads) = (0, 1);
        Ok(Self {
            link,
            options,
            opened,
            secret,
            world,
            carriers,
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
    pub fn overview(address: &str, guard: &Guard) -> Result<wire::Status, ClusterError> {
        let mut link = Link::connect(address, guard)?;
        let lost = |fault: Fault| ClusterError::Engine(fault.into());
        link.ask(ask::What::Status(wire::Nothing {})).map_err(lost)?;
        let status = link.hear_if(ANSWER, |what| match what {
            answer::What::Status(status) => Some(status),
            _ => None,
        });
        status.map_err(lost)
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.opened.seats.len()
    }

    /// The worker of every rank, by name.
    #[must_use]
    pub fn workers(&self) -> Vec<String> {
        self.opened.seats.iter().map(|seat| seat.worker.clone()).collect()
    }

    /// The ranks, ready to be a session: `Session::with_executor(cluster.into_executor())`.
    #[must_use]
    pub fn into_executor(self) -> ExecutorHandle {
        ExecutorHandle::new(Box::new(self))
    }

    /// Sends a program, and gives its hash.
    fn send_program(&mut self, job: &Job) -> Result<u128, Fault> {
        let text = job.recipe.to_string();
        let hash = Fingerprint::of(&text).0;
        if !self.sent.values().any(|known| *known == hash) {
            let hash = hash.to_le_bytes().to_vec();
            self.link.ask(ask::What::Program(wire::Program { session: 0, hash, text }))?;
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
        self.carry(&ranks, |connection, rank| {
            let Some((_, tile)) = tiles.iter().find(|(own, _)| *own == rank) else { return Ok(()) };
            let mut head = About { rank: rank as u64, array: id.0 }.encode();
            head.extend(encode_size(tile.dtype(), tile.len()));
            connection.send(PUT, &head, &[])?;
            let sent = send_body(connection, tile, frame);
            // Who wants no more of it has said why, and hears nothing else.
            let answer = match (connection.receive(), sent) {
                (Ok(answer), _) => answer,
                (Err(_), Err(error)) | (Err(error), Ok(())) => return Err(error.into()),
            };
            match answer.kind {
                DONE => Ok(()),
                _ => Err(DataError::Said(String::from_utf8_lossy(&answer.head).into_owned())),
            }
        })?;
        let bytes: usize = tiles.iter().map(|(_, tile)| tile.as_bytes().len()).sum();
        self.traffic.bytes_up += bytes as u64;
        Ok(())
    }

    /// Does something with the connections to the workers of some ranks, each on its own thread.
    fn carry<T: Send>(
        &mut self,
        ranks: &[Rank],
        f: impl Fn(&mut Connection, Rank) -> Result<T, DataError> + Sync,
    ) -> Result<Vec<(Rank, T)>, Error> {
        let Self { carriers, opened, options, secret, world, link, .. } = self;
        let security = options.guard.security();
        let fresh = |rank: Rank| -> Result<Connection, DataError> {
            let address = &opened.seats[rank].data_address;
            let greeting =
                Greeting { kind: KIND, id: *world, secret: secret.clone(), note: Vec::new() };
            Ok(dial(address, security, &greeting, ANSWER)?.with_deadline(FRAME_TIME))
        };
        let work = |rank: Rank, carrier: &mut Option<Connection>| {
            if let Some(mut kept) = carrier.take() {
                match f(&mut kept, rank) {
                    // Workers end connections on which nothing was said for long: dial again.
                    Err(DataError::Net(_)) => {}
                    Err(said) => return Err(said),
                    Ok(done) => {
                        *carrier = Some(kept);
                        return Ok(done);
                    }
                }
            }
            let mut connection = fresh(rank)?;
            let done = f(&mut connection, rank)?;
            *carrier = Some(connection);
            Ok(done)
        };
        let wanted: BTreeSet<Rank> = ranks.iter().copied().collect();
        let jobs = carriers.iter_mut().enumerate().filter(|(rank, _)| wanted.contains(rank));
        let results: Vec<(Rank, Result<T, DataError>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = jobs
                .map(|(rank, carrier)| {
                    let work = &work;
                    (rank, scope.spawn(move || work(rank, carrier)))
                })
                .collect();
            let panicked = |_| Err(DataError::Said("a panic while elements travelled".to_owned()));
            threads
                .into_iter()
                .map(|(rank, thread)| (rank, thread.join().unwrap_or_else(panicked)))
                .collect()
        });
        let name = |rank: Rank| opened.seats[rank].worker.clone();
        results
            .into_iter()
            .map(|(rank, result)| match result {
                Ok(value) => Ok((rank, value)),
                Err(DataError::Net(error)) => {
                    // When another worker is lost this one forgets the session, and takes nothing
                    // any more: the coordinator knows whose fault it is.
                    let _ = link.hear_if(VERDICT, |_| None::<()>);
                    let unreached = || Fault::lost(&name(rank), error.to_string());
                    Err(link.over.get_or_insert_with(unreached).clone().into())
                }
                Err(DataError::Said(text)) => {
                    let reason = format!("worker `{}`, rank {rank}: {text}", name(rank));
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
        let numbers = job.parameters.iter().map(|number| wire::Number {
            dtype: number.dtype().to_string(),
            bytes: number.as_bytes().to_vec(),
        });
        let run = wire::Run {
            session: 0,
            number: self.runs,
            program: hash.to_le_bytes().to_vec(),
            numbers: numbers.collect(),
            arguments: ids(&job.arguments),
            results: ids(&job.results),
            forget: ids(&job.forget),
        };
        self.link.ask(ask::What::Run(run))?;
        self.running = true;
        Ok(Started::Running)
    }

    fn wait(&mut self, longest: Duration, faults: &mut Vec<Error>) -> bool {
        if !self.running {
            return true;
        }
        match self.link.hear(longest) {
            Some(Err(fault)) => faults.push(fault.into()),
            Some(Ok(answer::What::Done(done))) if done.number == self.runs => {
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
        let tiles = self.carry(ranks, |connection, rank| {
            connection.send(GET, &About { rank: rank as u64, array: id.0 }.encode(), &[])?;
            let answer = connection.receive()?;
            match answer.kind {
                HEAD => {
                    let size = decode_size(&answer.head, u64::MAX).map_err(DataError::Said)?;
                    Ok(Arc::new(receive_body(connection, &pool, size)?))
                }
                FAULT => Err(DataError::Said(String::from_utf8_lossy(&answer.head).into_owned())),
                kind => Err(DataError::Said(format!("got a frame of kind {kind}"))),
            }
        })?;
        let bytes: usize = tiles.iter().map(|(_, tile)| tile.as_bytes().len()).sum();
        self.traffic.bytes_down += bytes as u64;
        Ok(tiles)
    }

    fn forget(&mut self, ids: &[ArrayId]) {
        let arrays = ids.iter().map(|id| id.0).collect();
        // What is over has forgotten everything.
        let _ = self.link.ask(ask::What::Free(wire::Free { session: 0, arrays }));
    }

    fn counters(&mut self) -> Counters {
        if self.link.ask(ask::What::Counts(wire::Nothing {})).is_err() {
            return Counters::default();
        }
        let counts = self.link.hear_if(ANSWER, |what| match what {
            answer::What::Counts(counts) => Some(counts),
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
        let one = wire::Threads { session: 0, threads: threads as u64 };
        // What is over has no threads any more.
        let _ = self.link.ask(ask::What::Threads(one));
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
