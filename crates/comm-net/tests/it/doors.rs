//! Who may come in: everything else is refused, counted and reported, and disturbs nobody.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pantile_comm::{Options, Transport};
use pantile_comm_net::keys::{Authority, Role};
use pantile_comm_net::{
    Greeting, Hub, HubOptions, NetError, Refusal, Seat, Secret, Security, Tls, dial, random_id,
};
use pantile_testkit::timing::SOON;

/// A hub that tells what it refuses, and takes connections of kind 7 that know the secret.
struct House {
    hub: Arc<Hub>,
    refused: Receiver<Refusal>,
    secret: Secret,
}

fn house(security: &Security, options: HubOptions) -> House {
    let (sender, refused) = channel();
    let sender = Mutex::new(sender);
    let options = options.with_report(move |_: SocketAddr, refusal: &Refusal| {
        let _ = sender.lock().unwrap().send(refusal.clone());
    });
    let (hub, secret) = (crate::common::hub(security, options), Secret::random().unwrap());
    let known = secret.clone();
    hub.on_connect(
        7,
        move |greeting| greeting.secret.matches(&known),
        |greeting, mut connection| {
            while let Ok(frame) = connection.receive() {
                let _ = connection.send(frame.kind, &greeting.note, &[&frame.body]);
            }
        },
    );
    House { hub, refused, secret }
}

impl House {
    fn greeting(&self) -> Greeting {
        Greeting { kind: 7, id: 1, secret: self.secret.clone(), note: b"note".to_vec() }
    }

    fn address(&self) -> String {
        self.hub.address().to_string()
    }

    /// The next refusal.
    fn refused(&self) -> Refusal {
        self.refused.recv_timeout(SOON).expect("something was refused")
    }

    /// Who may come in still does.
    fn is_undisturbed(&self, security: &Security) {
        let dialled = dial(&self.address(), security, &self.greeting(), SOON);
        let mut connection = dialled.unwrap();
        connection.send(3, b"", &[b"hel", b"", b"lo"]).unwrap();
        let frame = connection.receive().unwrap();
        assert_eq!(
            (frame.kind, &frame.head[..], &frame.body[..]),
            (3, &b"note"[..], &b"hello"[..])
        );
    }
}

fn plain() -> House {
    house(&Security::Plain, HubOptions::default().with_greeting(Duration::from_millis(300)))
}

fn refusal(result: Result<impl Sized, NetError>) -> Refusal {
    match result.err() {
        Some(NetError::Refused { refusal, .. }) => refusal,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn wrong_tokens_and_kinds_are_refused() {
    let house = plain();
    let dialled = |greeting: Greeting| dial(&house.address(), &Security::Plain, &greeting, SOON);
    let wrong = Greeting { secret: Secret::random().unwrap(), ..house.greeting() };
    assert_eq!(refusal(dialled(wrong)), Refusal::Secret);
    assert_eq!(house.refused(), Refusal::Secret);
    assert_eq!(refusal(dialled(Greeting { kind: 8, ..house.greeting() })), Refusal::Kind);
    assert_eq!(house.refused(), Refusal::Kind);
    let long = dialled(Greeting { note: vec![0; 1025], ..house.greeting() }).unwrap_err();
    assert!(long.to_string().contains("a note of 1025 bytes, expected at most 1024"), "{long}");
    assert_eq!(house.hub.refused(), 2);
    house.is_undisturbed(&Security::Plain);
}

#[test]
fn another_version_is_told_ours() {
    let house = plain();
    let mut bytes = house.greeting().encode();
    bytes[8] = 200;
    let mut socket = TcpStream::connect(house.hub.address()).unwrap();
    socket.write_all(&bytes).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    assert_eq!(answer[8..10], [1, 0], "our version");
    assert_eq!(house.refused(), Refusal::Version { ours: 1, theirs: 200 });
    house.is_undisturbed(&Security::Plain);
}

#[test]
fn garbage_halves_and_silence_are_refused() {
    let house = plain();
    let started = Instant::now();
    let greeting = house.greeting().encode();
    let pieces: [(&[u8], Refusal); 5] = [
        (
            b"GET / HTTP/1.1\r\nHost: somewhere\r\nUser-Agent: somebody who means well\r\n\r\n",
            Refusal::NoGreeting,
        ),
        (b"", Refusal::Slow),
        (&greeting[..5], Refusal::Slow),
        (&greeting[..61], Refusal::Slow),
        (&greeting[..63], Refusal::Slow),
    ];
    for (bytes, expected) in pieces {
        let mut socket = TcpStream::connect(house.hub.address()).unwrap();
        socket.write_all(bytes).unwrap();
        assert_eq!(house.refused(), expected, "{} bytes", bytes.len());
    }
    // A drop at a time does not help.
    let mut socket = TcpStream::connect(house.hub.address()).unwrap();
    for byte in &greeting {
        if socket.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(house.refused(), Refusal::Slow);
    // Nor does leaving at once.
    drop(TcpStream::connect(house.hub.address()).unwrap());
    assert_eq!(house.refused(), Refusal::NoGreeting);
    assert!(started.elapsed() < SOON);
    house.is_undisturbed(&Security::Plain);
}

#[test]
fn a_crowd_at_the_door_keeps_nobody_out() {
    let options =
        HubOptions::default().with_ungreeted_max(4).with_greeting(Duration::from_secs(60));
    let house = house(&Security::Plain, options);
    let crowd: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(house.hub.address()).unwrap()).collect();
    house.is_undisturbed(&Security::Plain);
    // All but the last few had to go, long before their time was over.
    for _ in 0..36 {
        assert!(matches!(house.refused(), Refusal::NoGreeting | Refusal::Slow));
    }
    drop(crowd);
}

#[test]
fn oversize_and_broken_frames_end_their_connection_only() {
    let house = plain();
    let frames: [&[u8]; 3] = [
        // A head of 4 GiB, a body of 16 EiB, no frame at all.
        b"\x50\x54\x01\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0",
        b"\x50\x54\x01\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
        b"sixteen bytes or more of nothing",
    ];
    for frame in frames {
        let mut socket = TcpStream::connect(house.hub.address()).unwrap();
        socket.write_all(&house.greeting().encode()).unwrap();
        socket.write_all(frame).unwrap();
        socket.set_read_timeout(Some(SOON)).unwrap();
        let mut answer = Vec::new();
        let ended = socket.read_to_end(&mut answer);
        assert!(answer.len() <= 11, "only the answer to the greeting: {answer:?}");
        assert!(
            ended.is_ok() || ended.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset)
        );
        house.is_undisturbed(&Security::Plain);
    }
    let mut connection = dial(&house.address(), &Security::Plain, &house.greeting(), SOON).unwrap();
    let error = connection.send(1, &[], &[&vec![0; (8 << 20) + 1]]).unwrap_err();
    assert!(error.to_string().contains("a body of 8388609 bytes, expected at most 8388608"));
    connection.send(1, &[], &[b"still there"]).unwrap();
    assert_eq!(connection.receive().unwrap().body, b"still there");
}

fn tls(authority: &Authority, name: &str, role: Role) -> Security {
    Security::Tls(authority.tls(&[name.to_owned()], role).unwrap())
}

#[test]
fn certificates_decide_who_comes_in() {
    let (ours, theirs) = (Authority::generate().unwrap(), Authority::generate().unwrap());
    let options = HubOptions::default().with_greeting(Duration::from_secs(2));
    let security = tls(&ours, "127.0.0.1", Role::Server);
    let house = house(&security, options);
    house.is_undisturbed(&tls(&ours, "somebody", Role::Client));
    let refuse = |security: &Security| {
        let told = dial(&house.address(), security, &house.greeting(), SOON);
        assert!(told.is_err(), "{told:?}");
        let refusal = house.refused();
        assert!(matches!(refusal, Refusal::Protection { .. } | Refusal::NoGreeting), "{refusal}");
        told.unwrap_err().to_string()
    };
    let stranger = refuse(&tls(&theirs, "somebody", Role::Client));
    assert!(stranger.contains("not protected as it should be"), "{stranger}");
    refuse(&Security::Plain);
    // One of ours whose certificate was not signed by the authority that the hub believes in.
    let pair = theirs.issue(&["somebody".to_owned()], Role::Client).unwrap();
    let mixed = Tls::from_pem(ours.certificate(), &pair.certificate, &pair.key).unwrap();
    let told = refuse(&Security::Tls(mixed));
    assert!(told.contains("refused") || told.contains("closed"), "{told}");
    house.is_undisturbed(&tls(&ours, "somebody", Role::Client));
}

#[test]
fn a_hub_that_is_not_who_it_should_be_is_not_talked_to() {
    let authority = Authority::generate().unwrap();
    let client = tls(&authority, "somebody", Role::Client);
    for wrong in [
        tls(&authority, "elsewhere.example", Role::Server),
        tls(&authority, "127.0.0.1", Role::Client),
    ] {
        let house = house(&wrong, HubOptions::default());
        let told = refusal(dial(&house.address(), &client, &house.greeting(), SOON));
        assert!(matches!(told, Refusal::Protection { .. }), "{told}");
    }
    // A plain hub does not answer a client that speaks TLS.
    let house = plain();
    let told = dial(&house.address(), &client, &house.greeting(), SOON).unwrap_err();
    assert!(matches!(told, NetError::Refused { .. }), "{told}");
    assert_eq!(house.refused(), Refusal::NoGreeting);
}

#[test]
fn unprotected_connections_stay_on_this_machine() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let error = Hub::listen(address, Security::Plain, HubOptions::default()).unwrap_err();
        assert!(matches!(error, NetError::Unprotected { .. }), "{error}");
    }
    assert!(Hub::listen("0.0.0.0:0", Security::Insecure, HubOptions::default()).is_ok());
    let greeting = Greeting { kind: 7, id: 1, secret: Secret::random().unwrap(), note: Vec::new() };
    let error = dial("192.0.2.1:9", &Security::Plain, &greeting, SOON).unwrap_err();
    assert!(error.to_string().contains("192.0.2.1:9 is not of this machine alone"), "{error}");
    for wrong in ["", "127.0.0.1", "127.0.0.1:port", "127.0.0.1:99999", "no such name:1"] {
        let error = dial(wrong, &Security::Plain, &greeting, SOON).unwrap_err();
        assert!(matches!(error, NetError::Address { .. }), "{wrong}: {error}");
    }
    let taken = crate::common::hub(&Security::Plain, HubOptions::default());
    let again = Hub::listen(&taken.address().to_string(), Security::Plain, HubOptions::default());
    assert!(matches!(again.unwrap_err(), NetError::System { what: "listening at", .. }));
}

#[test]
fn a_world_is_joined_with_its_secret_only() {
    let options = HubOptions::default().with_join(Duration::from_secs(2));
    let house = house(&Security::Plain, options);
    let addresses = vec![house.address(); 2];
    let seat =
        Seat { world: random_id().unwrap(), secret: Secret::random().unwrap(), rank: 0, addresses };
    std::thread::scope(|scope| {
        let (hub, seat) = (&house.hub, &seat);
        let zero = scope.spawn(|| hub.join(seat, &Options::default()));
        let dialled = |seat: Seat| hub.join(&Seat { rank: 1, ..seat }, &Options::default());
        let wrong = Seat { secret: Secret::random().unwrap(), ..seat.clone() };
        assert_eq!(refusal(dialled(wrong)), Refusal::Secret);
        let larger = Seat { addresses: vec![house.address(); 3], ..seat.clone() };
        assert_eq!(refusal(dialled(larger)), Refusal::Taken);
        let one = dialled(seat.clone()).unwrap();
        assert_eq!((one.rank(), one.size()), (1, 2));
        assert_eq!(zero.join().unwrap().unwrap().rank(), 0);
    });
}

#[test]
fn a_rank_that_does_not_come_is_named() {
    let options = HubOptions::default().with_join(Duration::from_millis(400));
    let house = house(&Security::Plain, options);
    // Nobody listens at a port that was given back.
    let nobody = crate::common::hub(&Security::Plain, HubOptions::default()).address().to_string();
    let secret = Secret::random().unwrap();
    let seat = |rank, addresses: &[&str]| Seat {
        world: 5,
        secret: secret.clone(),
        rank,
        addresses: addresses.iter().map(|address| (*address).to_owned()).collect(),
    };
    let here = house.address();
    for (seat, absent) in [
        (seat(1, &[&nobody, &here]), 0),
        (seat(0, &[&here, &nobody]), 1),
        (seat(1, &[&here, &here]), 0),
    ] {
        let started = Instant::now();
        let error = house.hub.join(&seat, &Options::default()).unwrap_err();
        assert!(started.elapsed() < SOON);
        let named = matches!(&error, NetError::Absent { rank, address, .. }
            if *rank == absent && *address == seat.addresses[absent]);
        assert!(named, "{error}");
    }
    let wrong = house.hub.join(&seat(2, &[&here, &here]), &Options::default()).unwrap_err();
    assert!(wrong.to_string().contains("no seat for rank 2 among 2 addresses"), "{wrong}");
}

#[test]
fn closing_a_hub_ends_joining() {
    let hub = crate::common::hub(&Security::Plain, HubOptions::default());
    let address = hub.address().to_string();
    let seat = Seat {
        world: 5,
        secret: Secret::random().unwrap(),
        rank: 0,
        addresses: vec![address.clone(); 2],
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| hub.join(&seat, &Options::default()));
        std::thread::sleep(Duration::from_millis(50));
        hub.close();
        assert_eq!(waiting.join().unwrap().unwrap_err(), NetError::Closed { address });
    });
}
