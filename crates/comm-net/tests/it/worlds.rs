//! What the network adds to the suite: credit, nonsense, other threads, connections with deadlines.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use pantile_comm::{
    CollectiveSignature, CommError, Failure, MemoryBlock, MemorySlice, Options, Tag, Transport,
};
use pantile_comm_net::handshake::encode_ranks;
use pantile_comm_net::{
    Connection, FrameError, Handshake, JoinConfig, Listener, ListenerOptions, Net, NetError,
    Secret, Security, connect,
};
use pantile_testkit::timing::SOON;

fn pair() -> (Net, Net) {
    let mut nets =
        crate::common::nets(2, &Options::default(), &ListenerOptions::default(), &Security::Plain);
    let one = nets.pop().unwrap();
    (nets.pop().unwrap(), one)
}

fn enter(nets: [&mut Net; 2]) {
    nets.into_iter().for_each(|net| net.enter(&CollectiveSignature::here("test", 0)).unwrap());
}

/// Far more than there is credit for, in bytes and in messages, before any receive is posted:
/// posting does not wait, and everything comes in order.
#[test]
fn messages_beyond_the_credit_wait_with_their_sender() {
    let (mut zero, mut one) = pair();
    enter([&mut zero, &mut one]);
    let body = |index: usize, bytes: usize| vec![u8::try_from(index % 251).unwrap(); bytes];
    let lengths = |index: usize| if index.is_multiple_of(100) { 60_000 } else { 10 };
    let count = 70_000;
    let sends: Vec<_> = (0..count)
        .map(|index| {
            let body = MemorySlice::copied_from(&body(index, lengths(index)));
            zero.post_send(1, Tag(0), &body).unwrap()
        })
        .collect();
    // At most 65,536 messages are known to the receiver now; the others wait for it to take some.
    for index in 0..count {
        let bytes = one.receive_any(0, Tag(0)).unwrap();
        assert_eq!(bytes, body(index, lengths(index)), "message {index}");
    }
    for ticket in sends {
        zero.wait(ticket).unwrap();
    }
}

#[test]
fn large_messages_do_not_hold_up_small_ones() {
    let (mut zero, mut one) = pair();
    enter([&mut zero, &mut one]);
    let large = MemoryBlock::zeroed(64 << 20).whole();
    let sending = zero.post_send(1, Tag(1), &large).unwrap();
    let _ = zero.post_send(1, Tag(2), &MemorySlice::copied_from(b"small")).unwrap();
    assert_eq!(one.receive_any(0, Tag(2)).unwrap(), b"small");
    assert!(!zero.is_done(sending).unwrap(), "no receive is posted");
    assert_eq!(one.receive_any(0, Tag(1)).unwrap().len(), 64 << 20);
    zero.wait(sending).unwrap();
}

/// While both ranks compute, their progress threads bring a large message over.
#[test]
fn messages_move_while_ranks_compute() {
    let (mut zero, mut one) = pair();
    enter([&mut zero, &mut one]);
    let (body, room) =
        (MemoryBlock::zeroed(16 << 20).whole(), MemoryBlock::zeroed(16 << 20).whole());
    let incoming = one.post_receive(0, Tag(0), &room).unwrap();
    let sending = zero.post_send(1, Tag(0), &body).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    // Asking moves messages, too, but not all of a large one that has not even been asked for.
    assert!(one.is_done(incoming).unwrap() && zero.is_done(sending).unwrap());
}

#[test]
fn another_thread_ends_the_world() {
    let (mut zero, mut one) = pair();
    enter([&mut zero, &mut one]);
    let handle = zero.handle();
    let failure = Failure { culprit: 0, call: None, reason: "cancelled".to_owned() };
    let waiting = std::thread::spawn(move || {
        let errors = [zero.receive_any(1, Tag(0)).unwrap_err()];
        (zero, errors)
    });
    std::thread::sleep(Duration::from_millis(100));
    handle.abort(failure.clone());
    let (_zero, [error]) = waiting.join().unwrap();
    assert!(matches!(error, CommError::Failed { rank: 0, failure: told } if *told == failure));
    let error = one.receive_any(0, Tag(0)).unwrap_err();
    assert!(matches!(error, CommError::Failed { rank: 1, failure: told } if *told == failure));
}

/// Rank 0 of a world whose rank 1 is played by the test.
fn rogue(bytes: &[u8]) -> (CommError, Net) {
    let listener = crate::common::listener(&Security::Plain, ListenerOptions::default());
    let addresses = vec![listener.address().to_string(); 2];
    let config = JoinConfig { world: 9, secret: Secret::random().unwrap(), rank: 0, addresses };
    let payload = encode_ranks(1, 0, 2);
    let handshake = Handshake { kind: 0, id: 9, secret: config.secret.clone(), payload };
    let mut socket = TcpStream::connect(listener.address()).unwrap();
    socket.write_all(&handshake.encode()).unwrap();
    let mut net = Listener::join(&listener, &config, &Options::default()).unwrap();
    net.enter(&CollectiveSignature::here("test", 0)).unwrap();
    socket.write_all(bytes).unwrap();
    (net.receive_any(1, Tag(0)).unwrap_err(), net)
}

#[test]
fn nonsense_between_ranks_names_who_said_it() {
    let check = |bytes: &[u8], words: &str| {
        let (error, net) = rogue(bytes);
        let failure = net.failure().unwrap();
        assert_eq!(failure.culprit, 1);
        assert!(matches!(error, CommError::Failed { .. }), "{error}");
        assert!(failure.reason.contains(words), "{}", failure.reason);
    };
    check(b"GET / HTTP/1.1\r\n\r\n", "no frame: it begins with 0x4547");
    check(b"\x50\x54\x63\0\0\0\0\0\0\0\0\0\0\0\0\0", "kind 99: ranks say no such thing");
    check(b"\x50\x54\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0x", "kind 3: a header that cannot be read");
    check(b"\x50\x54\x04\0\x08\0\0\0\xff\xff\xff\xff\0\0\0\0", "a body of 4294967295 bytes");
    check(b"\x50\x54\x04\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0", "a header of 4294967295 bytes");
}

/// Random frames of every kind: an error, or nothing, but never a panic; the world can be left.
#[test]
fn random_frames_between_ranks_disturb_nobody_else() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    for _ in 0..60 {
        let mut bytes = Vec::new();
        for _ in 0..20 {
            let head: Vec<u8> = (0..below(200)).map(|_| u8::try_from(below(4)).unwrap()).collect();
            bytes.extend_from_slice(b"\x50\x54");
            bytes.extend_from_slice(&u16::try_from(below(13)).unwrap().to_le_bytes());
            bytes.extend_from_slice(&u32::try_from(head.len()).unwrap().to_le_bytes());
            bytes.extend_from_slice(&(below(3) * below(40)).to_le_bytes());
            bytes.extend_from_slice(&head);
        }
        let (error, _net) = rogue(&bytes);
        let expected = matches!(error, CommError::Failed { .. } | CommError::Gone { .. });
        assert!(expected, "{error}");
    }
}

/// Two ends of a connection.
fn connected(
    on_connection: impl Fn(Connection) + Send + Sync + 'static,
) -> (std::sync::Arc<Listener>, Connection) {
    let listener = crate::common::listener(&Security::Plain, ListenerOptions::default());
    listener.on_connect(1, |_| true, move |_, connection| on_connection(connection));
    let handshake =
        Handshake { kind: 1, id: 0, secret: Secret::random().unwrap(), payload: Vec::new() };
    let connection =
        connect(&listener.address().to_string(), &Security::Plain, &handshake, SOON).unwrap();
    (listener, connection)
}

#[test]
fn connections_have_deadlines_and_ends() {
    let (_listener, connection) = connected(|connection| {
        let mut connection = connection.with_deadline(Duration::from_secs(60));
        // One frame after a while, then an end; what comes in is never read.
        std::thread::sleep(Duration::from_millis(300));
        connection.send(5, b"late", &[]).unwrap();
        std::thread::sleep(Duration::from_millis(1500));
    });
    let mut connection = connection.with_deadline(Duration::from_millis(100));
    let error = connection.receive().unwrap_err();
    assert!(matches!(error, NetError::Late { what: "a frame", .. }), "{error}");
    let connection = connection.with_deadline(Duration::from_millis(500));
    let (mut sender, mut receiver) = connection.split();
    assert_eq!(receiver.receive().unwrap().header, b"late");
    let frame = vec![0; 8 << 20];
    let error = (0..100).find_map(|_| sender.send(1, &[], &[&frame]).err()).unwrap();
    assert!(matches!(error, NetError::Late { what: "space for a frame", .. }), "{error}");
    assert!(matches!(sender.send(1, &[], &[]), Err(NetError::Closed { .. })), "it is broken");
    receiver.set_deadline(SOON);
    assert!(matches!(receiver.receive(), Err(NetError::Closed { .. })));
}

#[test]
fn bodies_are_received_in_pieces_or_skipped() {
    let (_listener, mut connection) = connected(|mut connection| {
        connection.send(1, b"one", &[b"abc", b"def"]).unwrap();
        connection.send(2, b"two", &[&[7; 10_000]]).unwrap();
        connection.send(3, b"three", &[]).unwrap();
    });
    let receiver = connection.receiver();
    let (prefix, header) = receiver.receive_header().unwrap();
    assert_eq!((prefix.kind, prefix.body, &header[..]), (1, 6, &b"one"[..]));
    let mut part = [0; 4];
    receiver.receive_body(&mut part).unwrap();
    assert_eq!(&part, b"abcd");
    let error = receiver.receive_body(&mut [0; 3]).unwrap_err();
    let long = FrameError::TooLong { part: "body", got: 3, most: 2 };
    assert!(matches!(error, NetError::Frame { error, .. } if error == long));
    assert_eq!(receiver.receive_header().unwrap().1, b"two");
    assert_eq!(receiver.receive().unwrap().header, b"three");
    assert!(matches!(receiver.receive(), Err(NetError::Closed { .. })));
}

#[test]
fn a_connection_is_closed_from_another_thread() {
    let (_listener, mut connection) = connected(|_| std::thread::sleep(Duration::from_secs(1)));
    let closer = connection.closer();
    let closing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        closer.close();
    });
    assert!(matches!(connection.receive(), Err(NetError::Closed { .. })));
    closing.join().unwrap();
}

#[test]
fn a_frame_that_is_cut_says_so() {
    let listener = crate::common::listener(&Security::Plain, ListenerOptions::default());
    let (sender, result) = std::sync::mpsc::channel();
    let sender = std::sync::Mutex::new(sender);
    listener.on_connect(
        1,
        |_| true,
        move |_, mut connection| {
            sender.lock().unwrap().send(connection.receive()).unwrap();
        },
    );
    let handshake =
        Handshake { kind: 1, id: 0, secret: Secret::random().unwrap(), payload: Vec::new() };
    let mut socket = TcpStream::connect(listener.address()).unwrap();
    socket.write_all(&handshake.encode()).unwrap();
    socket.write_all(b"\x50\x54\x01\0\0\0\0\0\x0a\0\0\0\0\0\0\0four").unwrap();
    // Closing it with the answer of the handshake unread would throw away what is under way.
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let error = result.recv_timeout(SOON).unwrap().unwrap_err();
    let cut = FrameError::Cut { missing: 6 };
    assert!(matches!(&error, NetError::Frame { error, .. } if *error == cut), "{error}");
}
