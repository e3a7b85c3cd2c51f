//! A coordinator and workers in this process, on loopback.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use pantile::Session;
use pantile_cluster::{
    Cluster, ClusterOptions, Coordinator, CoordinatorOptions, Guard, Tell, Worker, WorkerOptions,
};
use pantile_engine::RemoteTraffic;
use pantile_testkit::timing::soon;

/// A coordinator with its workers, each a thread with a data port of its own.
pub(crate) struct TestSite {
    pub(crate) coordinator: Coordinator,
    workers: Vec<JoinHandle<()>>,
    /// What the coordinator and the workers have told about refusals.
    pub(crate) told: ToldLines,
}

/// Lines about refusals.
#[derive(Clone, Default)]
pub(crate) struct ToldLines(Arc<Mutex<Vec<String>>>);

impl ToldLines {
    pub(crate) fn tell(&self) -> Option<Tell> {
        let lines = Arc::clone(&self.0);
        Some(Arc::new(move |line| lines.lock().unwrap().push(line.to_owned())))
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl TestSite {
    pub(crate) fn new(workers: usize) -> Self {
        Self::guarded(workers, &Guard::default())
    }

    pub(crate) fn guarded(workers: usize, guard: &Guard) -> Self {
        let mut options = CoordinatorOptions::default();
        options.address = "127.0.0.1:0".to_owned();
        options.guard = guard.clone();
        let told = ToldLines::default();
        options.tell = told.tell();
        let coordinator = Coordinator::start(&options).unwrap();
        let mut site = Self { coordinator, workers: Vec::new(), told };
        for number in 0..workers {
            site.add(&format!("w{number}"), guard);
        }
        site.wait_for(workers, guard);
        site
    }

    pub(crate) fn address(&self) -> String {
        self.coordinator.address().to_string()
    }

    pub(crate) fn add(&mut self, name: &str, guard: &Guard) {
        let mut options = WorkerOptions::default();
        (options.name, options.guard) = (name.to_owned(), guard.clone());
        options.tell = self.told.tell();
        let worker = Worker::new(&options).unwrap();
        let address = self.address();
        self.workers.push(std::thread::spawn(move || {
            // Ends with the coordinator.
            let _ = worker.serve(&address);
        }));
    }

    pub(crate) fn wait_for(&self, workers: usize, guard: &Guard) {
        let count = || Cluster::status(&self.address(), guard).map_or(0, |list| list.len());
        soon("the workers", || (count() >= workers).then_some(()));
    }

    pub(crate) fn connect(&self, ranks: usize) -> (Session, Meter) {
        let mut options = ClusterOptions::default();
        options.ranks = ranks;
        self.connect_with(options)
    }

    pub(crate) fn connect_with(&self, options: ClusterOptions) -> (Session, Meter) {
        let cluster = Cluster::connect(&self.address(), options).unwrap();
        let session = Session::with_executor(cluster.into_executor());
        (session.clone(), Meter(session))
    }
}

/// What a session has sent and received.
pub(crate) struct Meter(Session);

impl Meter {
    pub(crate) fn read(&self) -> RemoteTraffic {
        self.0.traffic().unwrap()
    }
}
