//! Who is not let in, and what is not taken: refused, and nothing is disturbed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use std::time::Duration;

use common::Site;
use pantile_cluster::{
    Cluster, ClusterError, ClusterOptions, Coordinator, CoordinatorOptions, Guard, Worker,
    WorkerOptions,
};
use pantile_comm_net::{Greeting, Secret, Security, dial, random_id};

fn options(guard: &Guard) -> ClusterOptions {
    let mut options = ClusterOptions::default();
    options.guard = guard.clone();
    options
}

fn refusal(site: &Site, guard: &Guard) -> String {
    match Cluster::connect(&site.address(), options(guard)) {
        Ok(_) => panic!("it was let in"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_token_is_asked_for() {
    let token = Secret::random().unwrap();
    let right = Guard::default().with_token(token);
    let site = Site::guarded(2, &right);
    assert!(refusal(&site, &Guard::default()).contains("wants a token"));
    let wrong = Guard::default().with_token(Secret::random().unwrap());
    assert!(refusal(&site, &wrong).contains("not that of this cluster"));
    assert!(Cluster::status(&site.address(), &wrong).is_err());
    // A worker without the token does not come either.
    let worker = Worker::new(&WorkerOptions::default()).unwrap();
    assert!(matches!(worker.serve(&site.address()), Err(ClusterError::Refused { .. })));
    let (world, _) = site.connect_with(options(&right));
    assert_eq!(world.arange(0, 10, 1).sum().item::<i64>().unwrap(), 45);
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
    assert!(Coordinator::start(&coordinator).is_ok(), "unless somebody says so");
}

#[test]
fn elements_are_only_for_those_who_know_the_secret() {
    let site = Site::new(1);
    let (world, _) = site.connect(0);
    let a = world.arange(0, 10, 1);
    a.compute().unwrap();
    let status = Cluster::status(&site.address(), &Guard::default()).unwrap();
    let address = &status[0].data_address;
    for _ in 0..3 {
        let (id, secret) = (random_id().unwrap(), Secret::random().unwrap());
        let greeting = Greeting { kind: 1, id, secret, note: Vec::new() };
        let dialled = dial(address, &Security::Plain, &greeting, Duration::from_secs(5));
        assert!(dialled.is_err());
    }
    assert_eq!(a.sum().item::<i64>().unwrap(), 45, "nobody was disturbed");
}

#[test]
fn nobody_there_is_an_error_with_the_address() {
    let error = Cluster::connect("127.0.0.1:1", ClusterOptions::default()).err().unwrap();
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
    let site = Site::new(0);
    let error = refusal(&site, &Guard::default());
    assert!(error.contains("no worker has come"), "{error}");
}

#[test]
fn what_needs_too_much_memory_is_refused_and_everything_goes_on() {
    let site = Site::new(0);
    let mut options = WorkerOptions::default();
    (options.name, options.memory) = ("small".to_owned(), 1 << 20);
    let worker = Worker::new(&options).unwrap();
    let address = site.address();
    std::thread::spawn(move || worker.serve(&address));
    site.wait_for(1, &Guard::default());
    let (world, _) = site.connect(0);
    let fault = (world.zeros(&[1 << 20]) + 1.0).compute().unwrap_err();
    assert!(fault.message.contains("each can have 1048576"), "{fault}");
    assert_eq!(world.arange(0, 10, 1).sum().item::<i64>().unwrap(), 45);
}

#[test]
fn addresses_and_keys_that_cannot_be_used_are_named() {
    let site = Site::new(0);
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
