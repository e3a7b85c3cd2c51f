//! What a message costs against TCP itself: the same bytes by [`Net`], by [`Connection`] and by
//! blocking sockets, in turns within one run of two threads, plain and under TLS.
#![allow(clippy::print_stdout, reason = "prints figures")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pantile_comm::{CollectiveSignature, MemoryBlock, MemorySlice, Options, Tag, Transport};
use pantile_comm_net::keys::{Authority, CertificateRole};
use pantile_comm_net::{
    Connection, Handshake, JoinConfig, Listener, ListenerOptions, Net, Secret, Security, connect,
    random_id,
};

/// Samples of which the median is taken.
const SAMPLES: usize = 31;

/// Bytes of one frame of a connection.
const FRAME: usize = 4 << 20;

/// Bytes of the answer to a large message.
const WORD: usize = 8;

/// One side of everything that is compared.
struct BenchRank {
    /// The side that begins.
    first: bool,
    net: Net,
    connection: Connection,
    raw: TcpStream,
}

/// What goes there, and what comes back.
#[derive(Clone, Copy)]
struct Trip {
    name: &'static str,
    there: usize,
    back: usize,
    repetitions: usize,
}

const TRIPS: [Trip; 4] = [
    Trip { name: "8 B and back", there: WORD, back: WORD, repetitions: 200 },
    Trip { name: "64 KiB and back", there: 64 << 10, back: 64 << 10, repetitions: 30 },
    Trip { name: "1 MiB, a word back", there: 1 << 20, back: WORD, repetitions: 10 },
    Trip { name: "64 MiB, a word back", there: 64 << 20, back: WORD, repetitions: 1 },
];

fn main() {
    println!("times are medians; a ratio is the time of plain TCP by that of ours\n");
    let authority = Authority::generate().unwrap();
    let tls = authority.tls(&["127.0.0.1".to_owned()], CertificateRole::Server).unwrap();
    for (name, security) in [("plain", Security::Plain), ("TLS", Security::Tls(tls))] {
        println!(
            "{name:20} {:>12} {:>12} {:>7} {:>12} {:>7}",
            "TCP", "transport", "ratio", "connection", "ratio"
        );
        let [zero, one] = sides(&security);
        let other = std::thread::spawn(move || measure(one));
        measure(zero);
        other.join().unwrap();
        println!();
    }
}

/// Two sides that are connected in all three ways.
fn sides(security: &Security) -> [BenchRank; 2] {
    let listener =
        Listener::listen("127.0.0.1:0", security.clone(), ListenerOptions::default()).unwrap();
    let address = listener.address().to_string();
    let config = JoinConfig {
        world: random_id().unwrap(),
        secret: Secret::random().unwrap(),
        rank: 0,
        addresses: vec![address.clone(); 2],
    };
    let (sender, taken) = channel();
    let sender = Mutex::new(sender);
    listener.on_connect(
        1,
        |_| true,
        move |_, connection| {
            sender.lock().unwrap().send(connection).unwrap();
        },
    );
    let handshake =
        Handshake { kind: 1, id: 0, secret: config.secret.clone(), payload: Vec::new() };
    let deadline = Duration::from_secs(30);
    let connected = connect(&address, security, &handshake, deadline).unwrap();
    let taken = taken.recv_timeout(deadline).unwrap();
    let (inside, one) = (Arc::clone(&listener), JoinConfig { rank: 1, ..config.clone() });
    let one = std::thread::spawn(move || inside.join(&one, &Options::default()).unwrap());
    let zero = listener.join(&config, &Options::default()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let raw = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    [&raw, &accepted].iter().for_each(|socket| socket.set_nodelay(true).unwrap());
    let one = one.join().unwrap();
    [
        BenchRank { first: true, net: zero, connection: connected, raw },
        BenchRank { first: false, net: one, connection: taken, raw: accepted },
    ]
}

/// Everything, in turns.
fn measure(mut side: BenchRank) {
    for trip in TRIPS {
        let mut times: [Vec<Duration>; 3] = Default::default();
        let (out, room) = match side.first {
            true => (trip.there, trip.back),
            false => (trip.back, trip.there),
        };
        let pieces = (MemoryBlock::zeroed(out).whole(), MemoryBlock::zeroed(room).whole());
        let mut bytes = (vec![1; out], vec![1; room]);
        for _ in 0..SAMPLES {
            times[0].push(timed(&trip, || by_tcp(&mut side, &mut bytes)));
            times[1].push(timed(&trip, || by_net(&mut side, &pieces)));
            times[2].push(timed(&trip, || by_connection(&mut side, &mut bytes)));
        }
        if side.first {
            show(&trip, &mut times);
        }
    }
}

fn timed(trip: &Trip, mut once: impl FnMut()) -> Duration {
    let started = Instant::now();
    (0..trip.repetitions).for_each(|_| once());
    started.elapsed() / u32::try_from(trip.repetitions).unwrap()
}

fn show(trip: &Trip, times: &mut [Vec<Duration>; 3]) {
    let [tcp, net, connection] = times.each_mut().map(|times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    let ratio = |ours: Duration| tcp.as_secs_f64() / ours.as_secs_f64();
    let text = |time: Duration| format!("{:.1} us", time.as_secs_f64() * 1e6);
    println!(
        "{:20} {:>12} {:>12} {:>7.2} {:>12} {:>7.2}",
        trip.name,
        text(tcp),
        text(net),
        ratio(net),
        text(connection),
        ratio(connection)
    );
}

fn by_tcp(side: &mut BenchRank, (out, room): &mut (Vec<u8>, Vec<u8>)) {
    if side.first {
        side.raw.write_all(out).unwrap();
    }
    side.raw.read_exact(room).unwrap();
    if !side.first {
        side.raw.write_all(out).unwrap();
    }
}

fn by_net(side: &mut BenchRank, (out, room): &(MemorySlice, MemorySlice)) {
    let (net, peer) = (&mut side.net, usize::from(side.first));
    net.enter(&CollectiveSignature::here("there and back", 0)).unwrap();
    let incoming = net.post_receive(peer, Tag(0), room).unwrap();
    let sent = side.first.then(|| net.post_send(peer, Tag(0), out).unwrap());
    net.wait(incoming).unwrap();
    let sent = sent.unwrap_or_else(|| net.post_send(peer, Tag(0), out).unwrap());
    net.wait(sent).unwrap();
    net.leave();
}

fn by_connection(side: &mut BenchRank, (out, room): &mut (Vec<u8>, Vec<u8>)) {
    let connection = &mut side.connection;
    let send = |connection: &mut Connection| {
        out.chunks(FRAME).for_each(|part| connection.send(1, &[], &[part]).unwrap());
    };
    if side.first {
        send(connection);
    }
    let mut got = 0;
    while got < room.len() {
        let (front, _) = connection.receiver().receive_header().unwrap();
        connection.receiver().receive_body(&mut room[got..got + front.body]).unwrap();
        got += front.body;
    }
    if !side.first {
        send(connection);
    }
}
