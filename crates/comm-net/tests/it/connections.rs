//! Which connections are accepted: all others are refused, counted and reported, and disturb none.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pantile_comm::{Options, Transport};
use pantile_comm_net::keys::{Authority, CertificateRole};
use pantile_comm_net::{
    Handshake, JoinConfig, Listener, ListenerOptions, NetError, Refusal, Secret, Security, Tls,
    connect, random_id,
};
use pantile_testkit::timing::SOON;

/// A listener that tells what it refuses, and takes connections of kind 7 that know the secret.
struct House {
    listener: Arc<Listener>,
    refused: Receiver<Refusal>,
    secret: Secret,
}

fn house(security: &Security, options: ListenerOptions) -> House {
    let (sender, refused) = channel();
    let sender = Mutex::new(sender);
    let options = options.with_report(move |_: SocketAddr, refusal: &Refusal| {
        let _ = sender.lock().unwrap().send(refusal.clone());
    });
    let (listener, secret) =
        (crate::common::listener(security, options), Secret::random().unwrap());
    let known = secret.clone();
    listener.on_connect(
        7,
        move |handshake| handshake.secret.matches(&known),
        |handshake, mut connection| {
            while let Ok(frame) = connection.receive() {
                let _ = connection.send(frame.kind, &handshake.payload, &[&frame.body]);
            }
        },
    );
    House { listener, refused, secret }
}

impl House {
    fn handshake(&self) -> Handshake {
        Handshake { kind: 7, id: 1, secret: self.secret.clone(), payload: b"note".to_vec() }
    }

    fn address(&self) -> String {
        self.listener.address().to_string()
    }

    /// The next refusal.
    fn refused(&self) -> Refusal {
        self.refused.recv_timeout(SOON).expect("something was refused")
    }

    /// Connections that are allowed are still accepted.
    fn is_undisturbed(&self, security: &Security) {
        let connected = connect(&self.address(), security, &self.handshake(), SOON);
        let mut connection = connected.unwrap();
        connection.send(3, b"", &[b"hel", b"", b"lo"]).unwrap();
        let frame = connection.receive().unwrap();
        assert_eq!(
            (frame.kind, &frame.header[..], &frame.body[..]),
            (3, &b"note"[..], &b"hello"[..])
        );
    }
}

fn plain() -> House {
    house(&Security::Plain, ListenerOptions::default().with_handshake(Duration::from_millis(300)))
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
    let connected =
        |handshake: Handshake| connect(&house.address(), &Security::Plain, &handshake, SOON);
    let wrong = Handshake { secret: Secret::random().unwrap(), ..house.handshake() };
    assert_eq!(refusal(connected(wrong)), Refusal::Secret);
    assert_eq!(house.refused(), Refusal::Secret);
    assert_eq!(refusal(connected(Handshake { kind: 8, ..house.handshake() })), Refusal::Kind);
    assert_eq!(house.refused(), Refusal::Kind);
    let long = connected(Handshake { payload: vec![0; 1025], ..house.handshake() }).unwrap_err();
    assert!(long.to_string().contains("a payload of 1025 bytes, expected at most 1024"), "{long}");
    assert_eq!(house.listener.refused(), 2);
    house.is_undisturbed(&Security::Plain);
}

#[test]
fn another_version_is_told_ours() {
    let house = plain();
    let mut bytes = house.handshake().encode();
    bytes[8] = 200;
    let mut socket = TcpStream::connect(house.listener.address()).unwrap();
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
    let handshake = house.handshake().encode();
    let pieces: [(&[u8], Refusal); 5] = [
        (
            b"GET / HTTP/1.1\r\nHost: somewhere\r\nUser-Agent: somebody who means well\r\n\r\n",
            Refusal::NoHandshake,
        ),
        (b"", Refusal::Slow),
        (&handshake[..5], Refusal::Slow),
        (&handshake[..61], Refusal::Slow),
        (&handshake[..63], Refusal::Slow),
    ];
    for (bytes, expected) in pieces {
        let mut socket = TcpStream::connect(house.listener.address()).unwrap();
        socket.write_all(bytes).unwrap();
        assert_eq!(house.refused(), expected, "{} bytes", bytes.len());
    }
    // A drop at a time does not help.
    let mut socket = TcpStream::connect(house.listener.address()).unwrap();
    for byte in &handshake {
        if socket.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(house.refused(), Refusal::Slow);
    // Nor does leaving at once.
    drop(TcpStream::connect(house.listener.address()).unwrap());
    assert_eq!(house.refused(), Refusal::NoHandshake);
    assert!(started.elapsed() < SOON);
    house.is_undisturbed(&Security::Plain);
}

#[test]
fn many_pending_connections_keep_none_out() {
    let options =
        ListenerOptions::default().with_pending_max(4).with_handshake(Duration::from_secs(60));
    let house = house(&Security::Plain, options);
    let crowd: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(house.listener.address()).unwrap()).collect();
    house.is_undisturbed(&Security::Plain);
    // All but the last few had to go, long before their time was over.
    for _ in 0..36 {
        assert!(matches!(house.refused(), Refusal::NoHandshake | Refusal::Slow));
    }
    drop(crowd);
}

#[test]
fn oversize_and_broken_frames_end_their_connection_only() {
    let house = plain();
    let frames: [&[u8]; 3] = [
        // A header of 4 GiB, a body of 16 EiB, no frame at all.
        b"\x50\x54\x01\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0",
        b"\x50\x54\x01\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
        b"sixteen bytes or more of nothing",
    ];
    for frame in frames {
        let mut socket = TcpStream::connect(house.listener.address()).unwrap();
        socket.write_all(&house.handshake().encode()).unwrap();
        socket.write_all(frame).unwrap();
        socket.set_read_timeout(Some(SOON)).unwrap();
        let mut answer = Vec::new();
        let ended = socket.read_to_end(&mut answer);
        assert!(answer.len() <= 11, "only the answer to the handshake: {answer:?}");
        assert!(
            ended.is_ok() || ended.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset)
        );
        house.is_undisturbed(&Security::Plain);
    }
    let mut connection =
        connect(&house.address(), &Security::Plain, &house.handshake(), SOON).unwrap();
    let error = connection.send(1, &[], &[&vec![0; (8 << 20) + 1]]).unwrap_err();
    assert!(error.to_string().contains("a body of 8388609 bytes, expected at most 8388608"));
    connection.send(1, &[], &[b"still there"]).unwrap();
    assert_eq!(connection.receive().unwrap().body, b"still there");
}

fn tls(authority: &Authority, name: &str, role: CertificateRole) -> Security {
    Security::Tls(authority.tls(&[name.to_owned()], role).unwrap())
}

#[test]
fn certificates_decide_who_comes_in() {
    let (ours, theirs) = (Authority::generate().unwrap(), Authority::generate().unwrap());
    let options = ListenerOptions::default().with_handshake(Duration::from_secs(2));
    let security = tls(&ours, "127.0.0.1", CertificateRole::Server);
    let house = house(&security, options);
    house.is_undisturbed(&tls(&ours, "somebody", CertificateRole::Client));
    let refuse = |security: &Security| {
        let told = connect(&house.address(), security, &house.handshake(), SOON);
        assert!(told.is_err(), "{told:?}");
        let refusal = house.refused();
        assert!(matches!(refusal, Refusal::Protection { .. } | Refusal::NoHandshake), "{refusal}");
        told.unwrap_err().to_string()
    };
    let stranger = refuse(&tls(&theirs, "somebody", CertificateRole::Client));
    assert!(stranger.contains("not protected as it should be"), "{stranger}");
    refuse(&Security::Plain);
    // One of ours whose certificate was not signed by the authority that the listener believes in.
    let pair = theirs.issue(&["somebody".to_owned()], CertificateRole::Client).unwrap();
    let mixed = Tls::from_pem(ours.certificate(), &pair.certificate, &pair.key).unwrap();
    let told = refuse(&Security::Tls(mixed));
    assert!(told.contains("refused") || told.contains("closed"), "{told}");
    house.is_undisturbed(&tls(&ours, "somebody", CertificateRole::Client));
}

#[test]
fn a_listener_with_a_wrong_certificate_is_refused() {
    let authority = Authority::generate().unwrap();
    let client = tls(&authority, "somebody", CertificateRole::Client);
    for wrong in [
        tls(&authority, "elsewhere.example", CertificateRole::Server),
        tls(&authority, "127.0.0.1", CertificateRole::Client),
    ] {
        let house = house(&wrong, ListenerOptions::default());
        let told = refusal(connect(&house.address(), &client, &house.handshake(), SOON));
        assert!(matches!(told, Refusal::Protection { .. }), "{told}");
    }
    // A plain listener does not answer a client that speaks TLS.
    let house = plain();
    let told = connect(&house.address(), &client, &house.handshake(), SOON).unwrap_err();
    assert!(matches!(told, NetError::Refused { .. }), "{told}");
    assert_eq!(house.refused(), Refusal::NoHandshake);
}

#[test]
fn unprotected_connections_stay_on_this_machine() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let error =
            Listener::listen(address, Security::Plain, ListenerOptions::default()).unwrap_err();
        assert!(matches!(error, NetError::Unprotected { .. }), "{error}");
    }
    assert!(Listener::listen("0.0.0.0:0", Security::Insecure, ListenerOptions::default()).is_ok());
    let handshake =
        Handshake { kind: 7, id: 1, secret: Secret::random().unwrap(), payload: Vec::new() };
    let error = connect("192.0.2.1:9", &Security::Plain, &handshake, SOON).unwrap_err();
    assert!(error.to_string().contains("192.0.2.1:9 is not of this machine alone"), "{error}");
    for wrong in ["", "127.0.0.1", "127.0.0.1:port", "127.0.0.1:99999", "no such name:1"] {
        let error = connect(wrong, &Security::Plain, &handshake, SOON).unwrap_err();
        assert!(matches!(error, NetError::Address { .. }), "{wrong}: {error}");
    }
    let taken = crate::common::listener(&Security::Plain, ListenerOptions::default());
    let again =
        Listener::listen(&taken.address().to_string(), Security::Plain, ListenerOptions::default());
    assert!(matches!(again.unwrap_err(), NetError::System { what: "listening at", .. }));
}

#[test]
fn a_world_is_joined_with_its_secret_only() {
    let options = ListenerOptions::default().with_join(Duration::from_secs(2));
    let house = house(&Security::Plain, options);
    let addresses = vec![house.address(); 2];
    let config = JoinConfig {
        world: random_id().unwrap(),
        secret: Secret::random().unwrap(),
        rank: 0,
        addresses,
    };
    std::thread::scope(|scope| {
        let (listener, config) = (&house.listener, &config);
        let zero = scope.spawn(|| listener.join(config, &Options::default()));
        let connected = |config: JoinConfig| {
            listener.join(&JoinConfig { rank: 1, ..config }, &Options::default())
        };
        let wrong = JoinConfig { secret: Secret::random().unwrap(), ..config.clone() };
        assert_eq!(refusal(connected(wrong)), Refusal::Secret);
        let larger = JoinConfig { addresses: vec![house.address(); 3], ..config.clone() };
        assert_eq!(refusal(connected(larger)), Refusal::Taken);
        let one = connected(config.clone()).unwrap();
        assert_eq!((one.rank(), one.size()), (1, 2));
        assert_eq!(zero.join().unwrap().unwrap().rank(), 0);
    });
}

#[test]
fn a_rank_that_does_not_come_is_named() {
    let options = ListenerOptions::default().with_join(Duration::from_millis(400));
    let house = house(&Security::Plain, options);
    // No process listens at a port that was given back.
    let nobody =
        crate::common::listener(&Security::Plain, ListenerOptions::default()).address().to_string();
    let secret = Secret::random().unwrap();
    let config = |rank, addresses: &[&str]| JoinConfig {
        world: 5,
        secret: secret.clone(),
        rank,
        addresses: addresses.iter().map(|address| (*address).to_owned()).collect(),
    };
    let here = house.address();
    for (config, absent) in [
        (config(1, &[&nobody, &here]), 0),
        (config(0, &[&here, &nobody]), 1),
        (config(1, &[&here, &here]), 0),
    ] {
        let started = Instant::now();
        let error = house.listener.join(&config, &Options::default()).unwrap_err();
        assert!(started.elapsed() < SOON);
        let named = matches!(&error, NetError::Absent { rank, address, .. }
            if *rank == absent && *address == config.addresses[absent]);
        assert!(named, "{error}");
    }
    let wrong = house.listener.join(&config(2, &[&here, &here]), &Options::default()).unwrap_err();
    assert!(wrong.to_string().contains("rank 2 cannot join a world of 2 addresses"), "{wrong}");
}

#[test]
fn closing_a_listener_ends_joining() {
    let listener = crate::common::listener(&Security::Plain, ListenerOptions::default());
    let address = listener.address().to_string();
    let config = JoinConfig {
        world: 5,
        secret: Secret::random().unwrap(),
        rank: 0,
        addresses: vec![address.clone(); 2],
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| listener.join(&config, &Options::default()));
        std::thread::sleep(Duration::from_millis(50));
        listener.close();
        assert_eq!(waiting.join().unwrap().unwrap_err(), NetError::Closed { address });
    });
}
