//! Events and what follows from them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use super::super::placement::RANKS_MAX;
use super::*;

/// A coordinator whose workers and clients are the ends of channels.
struct TestCoordinator {
    state: CoordinatorState,
    start: Instant,
    workers: BTreeMap<u64, mpsc::Receiver<Result<WorkerOrder, Status>>>,
    clients: BTreeMap<u64, mpsc::Receiver<Result<ClientReply, Status>>>,
    credits: BTreeMap<u64, RequestCredit>,
}

impl TestCoordinator {
    fn new(workers: &[u64], clients: &[u64]) -> Self {
        let start = Instant::now();
        let (workers_at, clients_at) = (BTreeMap::new(), BTreeMap::new());
        let mut scene = Self {
            state: CoordinatorState::new(start, Refusals::new(None)),
            start,
            workers: workers_at,
            clients: clients_at,
            credits: BTreeMap::new(),
        };
        for id in workers {
            let (out, orders) = mpsc::channel(64);
            scene.workers.insert(*id, orders);
            scene.state.handle(CoordinatorEvent::WorkerConnected(*id, out));
            scene.registration(*id, VERSION);
        }
        for id in clients {
            let ((out, answers), credit) = (mpsc::channel(64), RequestCredit::new());
            scene.clients.insert(*id, answers);
            scene.credits.insert(*id, credit.clone());
            scene.state.handle(CoordinatorEvent::ClientConnected(
                *id,
                format!("client {id}"),
                (out, credit),
            ));
        }
        scene
    }

    fn registration(&mut self, id: u64, version: u32) {
        self.register_as(id, version, &format!("w{id}"));
    }

    fn register_as(&mut self, id: u64, version: u32, name: &str) {
        let name = name.to_owned();
        let registration =
            Registration { version, name, memory: 1000, ranks: 1, ..Registration::default() };
        self.report(id, ReportKind::Register(registration));
    }

    fn report(&mut self, id: u64, kind: ReportKind) {
        self.state.handle(CoordinatorEvent::WorkerReported(id, WorkerReport { kind: Some(kind) }));
    }

    fn request(&mut self, id: u64, kind: RequestKind) {
        assert!(self.try_request(id, kind), "the client has no credit");
    }

    /// Asks something as far as there is credit for it.
    fn try_request(&mut self, id: u64, kind: RequestKind) -> bool {
        let ask = ClientRequest { kind: Some(kind) };
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let waits = std::pin::pin!(self.credits[&id].spend(&ask)).poll(&mut context).is_pending();
        if waits {
            return false;
        }
        self.state.handle(CoordinatorEvent::ClientRequested(id, ask));
        true
    }

    fn count(&mut self, worker: u64, [session, rank]: [u64; 2]) {
        let counts = Counts { session, rank, bytes: 5, programs: 3, ..Counts::default() };
        self.report(worker, ReportKind::Counts(counts));
    }

    fn open(&mut self, client: u64, ranks: u64) {
        self.request(client, RequestKind::Open(wire::OpenSession { version: VERSION, ranks }));
    }

    fn done(&mut self, worker: u64, [session, number, rank]: [u64; 3], fault: Option<WireFault>) {
        self.report(worker, ReportKind::Done(Done { session, number, rank, fault }));
    }

    /// Everything that a worker was ordered so far.
    fn orders(&mut self, id: u64) -> Vec<OrderKind> {
        let orders = self.workers.get_mut(&id).unwrap();
        std::iter::from_fn(|| orders.try_recv().ok()).filter_map(|one| one.unwrap().kind).collect()
    }

    fn answers(&mut self, id: u64) -> Vec<ReplyKind> {
        let answers = self.clients.get_mut(&id).unwrap();
        std::iter::from_fn(|| answers.try_recv().ok()).filter_map(|one| one.unwrap().kind).collect()
    }

    /// A session over workers 1 and 2, joined.
    fn opened(client: u64) -> Self {
        let mut scene = Self::new(&[1, 2], &[client]);
        scene.open(client, 0);
        scene.done(1, [client, 0, 0], None);
        scene.done(2, [client, 0, 1], None);
        assert!(matches!(scene.answers(client)[..], [ReplyKind::Opened(_)]));
        scene.orders(1);
        scene.orders(2);
        scene
    }

    fn program(&mut self, client: u64) {
        let program = wire::ProgramText { session: 99, hash: vec![7; 16], text: "x".to_owned() };
        self.request(client, RequestKind::Program(program));
    }

    fn run(&mut self, client: u64, number: u64) {
        let run = wire::RunRequest {
            session: 99,
            number,
            program: vec![7; 16],
            ..wire::RunRequest::default()
        };
        self.request(client, RequestKind::Run(run));
    }
}

#[test]
fn ranks_are_dealt_in_rows() {
    let mut scene = TestCoordinator::new(&[1, 2], &[10]);
    scene.open(10, 5);
    let own = |orders: Vec<OrderKind>| match orders.into_iter().last() {
        Some(OrderKind::Join(join)) => (join.own, join.memory),
        other => panic!("{other:?}"),
    };
    assert_eq!(own(scene.orders(1)), (vec![0, 1, 2], 333));
    assert_eq!(own(scene.orders(2)), (vec![3, 4], 333), "the share of the poorest");
}

#[test]
fn a_run_is_done_when_all_ranks_are() {
    let mut scene = TestCoordinator::opened(10);
    scene.program(10);
    scene.run(10, 1);
    // Whatever the client says, it is its own session.
    let sessions = scene.orders(1).into_iter().map(|order| match order {
        OrderKind::Program(program) => program.session,
        OrderKind::Run(run) => run.session,
        other => panic!("{other:?}"),
    });
    assert_eq!(sessions.collect::<Vec<_>>(), [10, 10]);
    scene.done(1, [10, 1, 0], None);
    // A worker cannot speak for the rank of another, nor twice for its own, nor of another run.
    scene.done(1, [10, 1, 1], None);
    scene.done(1, [10, 1, 0], None);
    scene.done(2, [10, 7, 1], None);
    assert!(scene.answers(10).is_empty());
    let heard = "rank 1 cannot go on, because rank 0 failed";
    scene.done(2, [10, 1, 1], Some(WireFault::execution("", heard)));
    match &scene.answers(10)[..] {
        [ReplyKind::Done(Done { number: 1, fault: Some(fault), .. })] => {
            assert_eq!((fault.worker.as_str(), fault.reason.as_str()), ("w2", heard));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_rank_that_failed_by_itself_is_named() {
    let heard = WireFault::execution("a", "rank 0 failed").caused(FaultCause::Other);
    let own = WireFault::execution("b", "no");
    assert_eq!(main_fault(vec![heard.clone(), own.clone()]), Some(own.clone()));
    let refused = WireFault::refused("never");
    assert_eq!(main_fault(vec![heard, own, refused.clone()]), Some(refused));
    assert_eq!(main_fault(Vec::new()), None);
}

fn lost(answers: &[ReplyKind]) -> (String, String) {
    match answers {
        [ReplyKind::Over(fault)] if fault.kind == i32::from(FaultKind::WorkerLost) => {
            (fault.worker.clone(), fault.reason.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lost_worker_is_named_and_the_others_are_freed() {
    for silent in [false, true] {
        let mut scene = TestCoordinator::opened(10);
        match silent {
            false => scene.state.handle(CoordinatorEvent::WorkerGone(2, "it has left".to_owned())),
            true => {
                let later = scene.start + SILENCE;
                scene.state.handle(CoordinatorEvent::Tick(later));
                scene.report(1, ReportKind::Heartbeat(Heartbeat::default()));
                scene.state.handle(CoordinatorEvent::Tick(later + Duration::from_millis(1)));
            }
        }
        let (worker, reason) = lost(&scene.answers(10));
        assert_eq!(worker, "w2");
        assert!(reason.contains(if silent { "silent" } else { "left" }), "{reason}");
        assert!(matches!(scene.orders(1)[..], [OrderKind::Leave(_)]));
        // The others serve the next one.
        scene.open(10, 0);
        scene.done(1, [10, 0, 0], None);
        assert!(matches!(scene.answers(10)[..], [ReplyKind::Opened(_)]));
    }
}

#[test]
fn a_client_that_leaves_frees_its_ranks() {
    let mut scene = TestCoordinator::opened(10);
    scene.state.handle(CoordinatorEvent::ClientGone(10));
    for worker in [1, 2] {
        assert!(matches!(scene.orders(worker)[..], [OrderKind::Leave(_)]));
    }
    assert_eq!(scene.state.status().sessions, 0);
}

#[test]
fn what_is_not_allowed_ends_the_session_with_a_sentence() {
    let refused = |scene: &mut TestCoordinator, words: &str| match &scene.answers(10)[..] {
        [.., ReplyKind::Over(fault)] => assert!(fault.reason.contains(words), "{fault:?}"),
        other => panic!("{other:?}"),
    };
    let mut scene = TestCoordinator::new(&[], &[10]);
    scene.open(10, 0);
    refused(&mut scene, "no worker has come");
    scene.run(10, 1);
    refused(&mut scene, "there is no session");
    let mut scene = TestCoordinator::new(&[1], &[10]);
    scene.open(10, RANKS_MAX + 1);
    refused(&mut scene, "expected at most 1024");
    scene.request(10, RequestKind::Open(wire::OpenSession { version: VERSION + 1, ranks: 0 }));
    refused(&mut scene, "expected version");
    let mut scene = TestCoordinator::opened(10);
    scene.open(10, 0);
    refused(&mut scene, "open already");
    let mut scene = TestCoordinator::opened(10);
    scene.run(10, 1);
    refused(&mut scene, "was not sent");
    let mut scene = TestCoordinator::opened(10);
    scene.program(10);
    scene.run(10, 1);
    scene.run(10, 2);
    refused(&mut scene, "one program after the other");
    let mut scene = TestCoordinator::opened(10);
    let text = " ".repeat(PROGRAM_MAX + 1);
    let program = wire::ProgramText { session: 0, hash: vec![7; 16], text };
    scene.request(10, RequestKind::Program(program));
    refused(&mut scene, "expected at most");
}

#[test]
fn workers_of_another_version_are_sent_away() {
    let mut scene = TestCoordinator::new(&[1], &[10]);
    scene.orders(1);
    scene.registration(1, VERSION + 1);
    let status = scene.workers.get_mut(&1).unwrap().try_recv().unwrap().unwrap_err();
    assert!(status.message().contains("expected version"), "{status}");
    scene.open(10, 0);
    assert!(matches!(scene.answers(10)[..], [ReplyKind::Over(_)]));
}

#[test]
fn a_worker_that_says_large_things_of_itself_fills_the_memory() {
    let registration = |ranks: u32, name: &str| Registration {
        version: VERSION,
        name: name.to_owned(),
        data_address: String::new(),
        memory: 1000,
        ranks,
        ..Registration::default()
    };
    // As many ranks as it likes to host are not written down first.
    let mut scene = TestCoordinator::new(&[1], &[10]);
    scene.report(1, ReportKind::Register(registration(u32::MAX, "w")));
    scene.open(10, 0);
    assert_eq!(scene.state.status().sessions, 1);
    let mut scene = TestCoordinator::new(&[1], &[10]);
    scene.orders(1);
    scene.report(1, ReportKind::Register(registration(1, &"w".repeat(NAME_MAX + 1))));
    let status = scene.workers.get_mut(&1).unwrap().try_recv().unwrap().unwrap_err();
    assert!(status.message().contains("a name or an address of 257 bytes"), "{status}");
}

#[test]
fn counts_are_added_up() {
    let mut scene = TestCoordinator::opened(10);
    scene.request(10, RequestKind::Counts(wire::Empty {}));
    for (worker, rank) in [(1, 0), (1, 1), (2, 1)] {
        scene.count(worker, [10, rank]);
    }
    match &scene.answers(10)[..] {
        [ReplyKind::Counts(counts)] => assert_eq!((counts.bytes, counts.programs), (10, 3)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_client_that_floods_its_workers_loses_them_for_all() {
    let mut scene = TestCoordinator::opened(10);
    let whole = scene.credits[&10].left();
    let free = || RequestKind::Free(wire::FreeArrays { session: 0, arrays: vec![1] });
    let flood = |scene: &mut TestCoordinator| {
        let mut asked = 0;
        while scene.try_request(10, free()) {
            asked += 1;
            assert!(asked < 10_000, "it floods");
            // Workers take what comes, but their ranks are busy.
            let counts = |orders: Vec<OrderKind>| {
                orders.iter().filter(|order| matches!(order, OrderKind::Counts(_))).count()
            };
            let counts = [1, 2].map(|worker| counts(scene.orders(worker)));
            assert_eq!(counts[0], counts[1]);
        }
        asked
    };
    assert!(flood(&mut scene) > 100);
    // When all ranks have said that they have taken it, it goes on; the client is told nothing.
    scene.count(1, [10, 0]);
    assert!(!scene.try_request(10, free()));
    scene.count(2, [10, 1]);
    assert!(flood(&mut scene) > 100);
    assert!(scene.answers(10).is_empty());
    for (worker, rank) in [(1, 0), (2, 1)] {
        scene.count(worker, [10, rank]);
    }
    // A run that is done shows the same.
    scene.program(10);
    scene.run(10, 1);
    scene.done(1, [10, 1, 0], None);
    scene.done(2, [10, 1, 1], None);
    assert!(matches!(scene.answers(10)[..], [ReplyKind::Done(_)]));
    assert_eq!(scene.credits[&10].left(), whole);
    // Requests that no worker has to answer cost nothing; the largest can be paid.
    scene.request(10, RequestKind::Status(wire::Empty {}));
    assert_eq!(scene.credits[&10].left(), whole);
    let arrays = vec![u64::MAX; (wire::MESSAGE_MAX - 100) / 10];
    assert!(scene.try_request(10, RequestKind::Free(wire::FreeArrays { session: 0, arrays })));
}

#[test]
fn counts_that_a_client_requests_come_after_those_of_the_coordinator() {
    let mut scene = TestCoordinator::opened(10);
    scene.state.count(10, false);
    scene.request(10, RequestKind::Counts(wire::Empty {}));
    for round in 0..2 {
        assert!(scene.answers(10).is_empty(), "{round}");
        assert!(matches!(scene.orders(1)[..], [OrderKind::Counts(_)]));
        scene.count(1, [10, 0]);
        scene.count(2, [10, 1]);
    }
    assert!(matches!(scene.answers(10)[..], [ReplyKind::Counts(_)]));
}

#[test]
fn no_two_workers_have_one_name() {
    let mut scene = TestCoordinator::new(&[1, 2, 3], &[]);
    for id in [2, 3] {
        scene.register_as(id, VERSION, "w1");
    }
    // A worker that registers twice keeps its name.
    scene.register_as(1, VERSION, "w1");
    let names: Vec<String> =
        scene.state.status().workers.into_iter().map(|worker| worker.name).collect();
    assert_eq!(names, ["w1", "w1-2", "w1-3"]);
    let welcome = scene.orders(3).pop();
    assert_eq!(welcome, Some(OrderKind::Welcome("w1-3".to_owned())));
    // A name is free again when its worker is gone.
    scene.state.handle(CoordinatorEvent::WorkerGone(2, "it has left".to_owned()));
    scene.register_as(3, VERSION, "w1");
    assert_eq!(scene.orders(3).pop(), Some(OrderKind::Welcome("w1-2".to_owned())));
}

#[test]
fn joining_fails_with_the_first_rank_that_cannot_reach_another() {
    let apart = |text: &str| Some(WireFault::execution("", text));
    let mut scene = TestCoordinator::new(&[1, 2], &[10]);
    scene.open(10, 2);
    scene.done(2, [10, 0, 1], apart("cannot reach worker `w1` (rank 0) at x within 5 s: no"));
    let answers = scene.answers(10);
    let [ReplyKind::Over(fault)] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(fault.worker, "w2");
    assert!(fault.reason.contains("cannot reach worker `w1`"), "{}", fault.reason);
    // A rank that only was not reached is not believed at once, but not waited for either.
    let mut scene = TestCoordinator::new(&[1, 2], &[10]);
    scene.open(10, 2);
    let text = "was not dialled by worker `w2` (rank 1) within 5 s";
    let unheard = apart(text).map(|fault| fault.caused(FaultCause::NotConnected));
    scene.done(1, [10, 0, 0], unheard);
    assert!(scene.answers(10).is_empty());
    scene.state.handle(CoordinatorEvent::Tick(scene.start + GRACE_PERIOD));
    assert!(scene.answers(10).is_empty());
    scene
        .state
        .handle(CoordinatorEvent::Tick(scene.start + GRACE_PERIOD + Duration::from_millis(1)));
    let answers = scene.answers(10);
    let [ReplyKind::Over(fault)] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((fault.worker.as_str(), &fault.reason), ("w1", &text.to_owned()));
}

/// Each would count all of the machine as its own.
#[test]
fn workers_that_come_one_after_the_other_divide_the_memory_of_their_machine() {
    let mut scene = TestCoordinator::new(&[1, 2, 3], &[10, 11]);
    let registration = |scene: &mut TestCoordinator, id: u64| {
        let (version, name, scope) = (VERSION, format!("w{id}"), 7);
        let registration =
            Registration { version, name, memory: 900, ranks: 1, scope, ..Registration::default() };
        scene.report(id, ReportKind::Register(registration));
    };
    let told = |scene: &mut TestCoordinator, id: u64| {
        let memory = |order| if let OrderKind::Memory(bytes) = order { Some(bytes) } else { None };
        scene.orders(id).into_iter().filter_map(memory).collect::<Vec<u64>>()
    };
    let may_use = |scene: &TestCoordinator| -> Vec<u64> {
        scene.state.status().workers.iter().map(|worker| worker.memory).collect()
    };
    (1..=3).for_each(|id| registration(&mut scene, id));
    assert_eq!(may_use(&scene), [300, 300, 300]);
    assert_eq!(
        [1, 2, 3].map(|id| told(&mut scene, id)),
        [vec![450, 300], vec![450, 300], vec![300]]
    );
    scene.open(10, 3);
    let joins = scene.orders(2).into_iter().find_map(|order| match order {
        OrderKind::Join(join) => Some(join.memory),
        _ => None,
    });
    assert_eq!(joins, Some(300));
    scene.state.handle(CoordinatorEvent::WorkerGone(3, "it went".to_owned()));
    assert_eq!((may_use(&scene), told(&mut scene, 1)), (vec![450, 450], vec![450]));
}
