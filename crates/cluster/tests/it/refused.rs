//! Connections and requests that are refused, while nothing else is disturbed.

use std::time::Duration;

use crate::common::TestSite;
use pantile_cluster::{
    Cluster, ClusterError, ClusterOptions, Coordinator, CoordinatorOptions, Guard, Worker,
    WorkerOptions,
};
use pantile_comm_net::keys::{Authority, CertificateRole};
use pantile_comm_net::{Handshake, Secret, Security, connect, random_id};
use pantile_testkit::timing::soon;

fn options(guard: &Guard) -> ClusterOptions {
    let mut options = ClusterOptions::default();
    options.guard = guard.clone();
    options
}

fn refusal(site: &TestSite, guard: &Guard) -> String {
    match Cluster::connect(&site.address(), options(guard)) {
        Ok(_) => panic!("it was let in"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_token_is_asked_for() {
    let token = Secret::random().unwrap();
    let right = Guard::default().with_token(token.clone());
    let site = TestSite::guarded(2, &right);
    assert!(refusal(&site, &Guard::default()).contains("wants a token"));
    let other = Secret::random().unwrap();
    let wrong = Guard::default().with_token(other.clone());
    assert!(refusal(&site, &wrong).contains("not that of this cluster"));
    assert!(Cluster::status(&site.address(), &wrong).is_err());
    // A worker without the token does not come either.
    let worker = Worker::new(&WorkerOptions::default()).unwrap();
    assert!(matches!(worker.serve(&site.address()), Err(ClusterError::Refused { .. })));
    let (world, _) = site.connect_with(options(&right));
    assert_eq!(world.arange(0, 10, 1).sum().item::<i64>().unwrap(), 45);
    // All four are counted and told, and what they showed is not.
    assert_eq!(Cluster::overview(&site.address(), &right).unwrap().refused, 4);
    let (lines, shown) = (site.told.lines(), [token.to_hex(), other.to_hex()]);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("wants a token")).count(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("refused 127.0.0.1:")), "{lines:?}");
    assert!(!lines.iter().any(|line| shown.iter().any(|token| line.contains(token))));
}

#[test]
fn certificates_of_others_are_told_and_counted() {
    let [ours, theirs] = ["ours", "theirs"].map(keys);
    let site = TestSite::guarded(1, &ours);
    let before = site.told.lines().len();
    assert_eq!(before, 0);
    assert!(Cluster::connect(&site.address(), options(&theirs)).is_err());
    assert!(Cluster::connect(&site.address(), options(&Guard::default())).is_err());
    soon("the coordinator's", || {
        let refused = Cluster::overview(&site.address(), &ours).unwrap().refused;
        (refused >= 2).then_some(())
    });
    // The same where elements come and go.
    let status = Cluster::status(&site.address(), &ours).unwrap();
    let (id, secret) = (random_id().unwrap(), Secret::random().unwrap());
    let handshake = Handshake { kind: 1, id, secret, payload: Vec::new() };
    let deadline = Duration::from_secs(5);
    assert!(connect(&status[0].data_address, theirs.security(), &handshake, deadline).is_err());
    soon("the worker's", || {
        let workers = Cluster::status(&site.address(), &ours).unwrap();
        (workers[0].refused > 0).then_some(())
    });
    let lines = site.told.lines();
    let unprotected = lines.iter().filter(|line| line.contains("not protected as it should be"));
    assert!(unprotected.count() >= 3, "{lines:?}");
    let (world, _) = site.connect_with(options(&ours));
    assert_eq!(world.arange(0, 10, 1).sum().item::<i64>().unwrap(), 45);
}

/// A guard with certificates of an authority of its own.
fn keys(name: &str) -> Guard {
    let authority = Authority::generate().unwrap();
    let names = ["127.0.0.1".to_owned()];
    let pair = authority.issue(&names, CertificateRole::Server).unwrap();
    let folder = std::env::temp_dir().join(format!("pantile-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let token = Secret::random().unwrap().to_hex();
    let texts = [authority.certificate(), &pair.certificate, &pair.key, &token];
    for (file, text) in pantile_cluster::FILES.iter().zip(texts) {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let guard = Guard::from_folder(&folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    guard
}

#[test]
fn nothing_is_open_to_the_network_by_default() {
    let mut coordinator = CoordinatorOptions::default();
    coordinator.address = "0.0.0.0:0".to_owned();
    let Err(error) = Coordinator::start(&coordinator) else { panic!("it listens") };
    assert!(matches!(error, ClusterError::Unprotected { .. }), "{error}");
    let mut worker = WorkerOptions::default();
    worker.data_address = "0.0.0.0:0".to_owned();
    assert!(Worker::new(&worker).is_err());
    coordinator.guard = Guard::default().insecure();
    assert!(Coordinator::start(&coordinator).is_ok(), "unless the user says so");
}

#[test]
fn elements_are_only_for_those_who_know_the_secret() {
    let site = TestSite::new(1);
    let (world, _) = site.connect(0);
    let a = world.arange(0, 10, 1);
    a.compute().unwrap();
    let status = Cluster::status(&site.address(), &Guard::default()).unwrap();
    let address = &status[0].data_address;
    for _ in 0..3 {
        let (id, secret) = (random_id().unwrap(), Secret::random().unwrap());
        let handshake = Handshake { kind: 1, id, secret, payload: Vec::new() };
        let dialled = connect(address, &Security::Plain, &handshake, Duration::from_secs(5));
        assert!(dialled.is_err());
    }
    assert_eq!(a.sum().item::<i64>().unwrap(), 45, "no client was disturbed");
}

#[test]
fn nobody_there_is_an_error_with_the_address() {
    let error = Cluster::connect("127.0.0.1:1", ClusterOptions::default()).err().unwrap();
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
    let site = TestSite::new(0);
    let error = refusal(&site, &Guard::default());
    assert!(error.contains("no worker has come"), "{error}");
}

#[test]
fn what_needs_too_much_memory_is_refused_and_everything_goes_on() {
    let site = TestSite::new(0);
    let mut options = WorkerOptions::default();
    (options.name, options.memory) = ("small".to_owned(), 1 << 20);
    let worker = Worker::new(&options).unwrap();
    let address = site.address();
    std::thread::spawn(move || worker.serve(&address));
    site.wait_for(1, &Guard::default());
    let (world, _) = site.connect(0);
    let fault = (world.zeros(&[1 << 20]) + 1.0).compute().unwrap_err();
    assert!(fault.kind.to_string().contains("each can have 1048576"), "{fault}");
    assert_eq!(world.arange(0, 10, 1).sum().item::<i64>().unwrap(), 45);
}

#[test]
fn addresses_and_keys_that_cannot_be_used_are_named() {
    let site = TestSite::new(0);
    let mut second = CoordinatorOptions::default();
    second.address = site.address();
    let Err(error) = Coordinator::start(&second) else { panic!("two at one address") };
    assert!(matches!(error, ClusterError::Listen { .. }), "{error}");
    let error = Guard::from_folder(std::path::Path::new("no such folder")).err().unwrap();
    assert!(matches!(error, ClusterError::Keys { .. }), "{error}");
    let guard = Guard::default();
    let error = Cluster::connect("127.0.0.1:1", options(&guard)).err().unwrap();
    assert!(matches!(error, ClusterError::Connect { .. }), "{error}");
}
