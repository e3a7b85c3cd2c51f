//! Why elements travel in frames of our own: the same bytes by blocking sockets, by frames of 4
//! MiB, and by a stream of gRPC with messages of 4 MiB and large windows. Two streams at once, in
//! turns within one run; every receiver has the bytes contiguous in the end.
#![allow(clippy::print_stdout, reason = "prints figures")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use pantile_comm_net::{
    Connection, Handshake, Listener, ListenerOptions, Secret, Security, connect, random_id,
};
use prost::Message;
use prost::bytes::Bytes;
use tokio::runtime::Runtime;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::{ClientStreamingService, Grpc, NamedService};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

const TURNS: usize = 9;
/// Bytes of each of the two streams.
const BYTES: usize = 64 << 20;
const FRAME: usize = 4 << 20;
const WINDOW: u32 = 32 << 20;

type Rooms = Arc<[Mutex<Vec<u8>>; 2]>;

fn main() {
    let (from, rooms) = (vec![1_u8; BYTES], Rooms::default());
    rooms.iter().for_each(|room| *room.lock().unwrap() = vec![0; BYTES]);
    let (mut raw, mut framed) = (sockets(), connections());
    let grpc = Carriers::new(&rooms);
    let whole = Bytes::from(from.clone());
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..TURNS {
        times[0].push(by_sockets(&mut raw, &from, &rooms));
        times[1].push(by_frames(&mut framed, &from, &rooms));
        times[2].push(grpc.with_connections(&whole));
    }
    println!("{} MiB in two streams; medians of {TURNS} turns; a ratio is raw TCP by ours\n", 128);
    let [raw, framed, grpc] = times.map(|mut times| {
        times.sort();
        times[TURNS / 2]
    });
    for (name, time) in
        [("TCP", raw), ("frames of 4 MiB", framed), ("gRPC, messages of 4 MiB", grpc)]
    {
        let rate = 2.0 * BYTES as f64 / time.as_secs_f64() / 1e9;
        let ratio = raw.as_secs_f64() / time.as_secs_f64();
        println!("{name:26} {time:>11.2?} {rate:6.2} GB/s {ratio:6.2}");
    }
}

/// Two senders and two receivers at once.
fn timed<S: Send, R: Send>(
    ends: &mut [(S, R)],
    send: impl Fn(&mut S) + Sync,
    receive: impl Fn(&mut R, usize) + Sync,
) -> Duration {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for (number, (there, here)) in ends.iter_mut().enumerate() {
            let (send, receive) = (&send, &receive);
            scope.spawn(move || send(there));
            scope.spawn(move || receive(here, number));
        }
    });
    start.elapsed()
}

fn sockets() -> Vec<(TcpStream, TcpStream)> {
    let pair = |_| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (there, listener.accept().unwrap().0)
    };
    (0..2).map(pair).collect()
}

fn by_sockets(ends: &mut [(TcpStream, TcpStream)], from: &[u8], rooms: &Rooms) -> Duration {
    timed(
        ends,
        |there| from.chunks(FRAME).for_each(|part| there.write_all(part).unwrap()),
        |here, number| here.read_exact(&mut rooms[number].lock().unwrap()).unwrap(),
    )
}

fn connections() -> Vec<(Connection, Connection)> {
    let data_listener =
        Listener::listen("127.0.0.1:0", Security::Plain, ListenerOptions::default()).unwrap();
    let (sender, taken): (_, Receiver<Connection>) = channel();
    let sender = Mutex::new(sender);
    data_listener.on_connect(
        1,
        |_| true,
        move |_, connection| sender.lock().unwrap().send(connection).unwrap(),
    );
    let (id, secret) = (random_id().unwrap(), Secret::random().unwrap());
    let handshake = Handshake { kind: 1, id, secret, payload: Vec::new() };
    let (address, deadline) = (data_listener.address().to_string(), Duration::from_secs(30));
    let pair = |_| {
        let there = connect(&address, &Security::Plain, &handshake, deadline).unwrap();
        (there, taken.recv_timeout(deadline).unwrap())
    };
    (0..2).map(pair).collect()
}

fn by_frames(ends: &mut [(Connection, Connection)], from: &[u8], rooms: &Rooms) -> Duration {
    timed(
        ends,
        |there| from.chunks(FRAME).for_each(|part| there.send(1, &[], &[part]).unwrap()),
        |here, number| {
            for part in rooms[number].lock().unwrap().chunks_mut(FRAME) {
                here.receiver().receive_header().unwrap();
                here.receiver().receive_body(part).unwrap();
            }
        },
    )
}

/// A message with a part of the bytes.
#[derive(Clone, PartialEq, Message)]
struct BenchPart {
    #[prost(uint64, tag = "1")]
    stream: u64,
    #[prost(bytes = "bytes", tag = "2")]
    bytes: Bytes,
}

/// That all of them have come.
#[derive(Clone, PartialEq, Message)]
struct Came {}

/// Takes streams of parts, and puts them where they belong.
#[derive(Clone)]
struct Taker(Rooms);

impl ClientStreamingService<BenchPart> for Taker {
    type Response = Came;
    type Future = BoxFuture<Response<Came>, Status>;

    fn call(&mut self, request: Request<Streaming<BenchPart>>) -> Self::Future {
        let rooms = Arc::clone(&self.0);
        Box::pin(async move {
            let (mut parts, mut at) = (request.into_inner(), 0);
            while let Some(part) = parts.message().await? {
                let mut room = rooms[usize::from(part.stream > 0)].lock().unwrap();
                room[at..at + part.bytes.len()].copy_from_slice(&part.bytes);
                at += part.bytes.len();
            }
            assert_eq!(at, BYTES);
            Ok(Response::new(Came {}))
        })
    }
}

impl NamedService for Taker {
    const NAME: &'static str = "bench.Taker";
}

impl Service<http::Request<Body>> for Taker {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let taker = self.clone();
        Box::pin(async move {
            let codec = ProstCodec::<Came, BenchPart>::default();
            let mut grpc = Grpc::new(codec).max_decoding_message_size(2 * FRAME);
            Ok(grpc.client_streaming(taker, request).await)
        })
    }
}

/// A server and two channels to it, each with a runtime of its own.
struct Carriers {
    _server: Runtime,
    channels: Vec<(Runtime, Channel)>,
}

impl Carriers {
    fn new(rooms: &Rooms) -> Self {
        let runtime = |threads| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(threads).enable_all().build().unwrap()
        };
        let (server, taker) = (runtime(2), Taker(Arc::clone(rooms)));
        let listener = server.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let incoming = tonic::transport::server::TcpIncoming::from(listener);
        server.spawn(async move {
            let server = Server::builder()
                .initial_stream_window_size(WINDOW)
                .initial_connection_window_size(WINDOW)
                .max_frame_size(1 << 20);
            server.clone().add_service(taker).serve_with_incoming(incoming).await.unwrap();
        });
        let channel = |_| {
            let own = runtime(1);
            let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
            let channel = own.block_on(endpoint.connect()).unwrap();
            (own, channel)
        };
        Self { _server: server, channels: (0..2).map(channel).collect() }
    }

    fn with_connections(&self, whole: &Bytes) -> Duration {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for (stream, (runtime, channel)) in (0_u64..).zip(&self.channels) {
                scope.spawn(move || {
                    let parts: Vec<BenchPart> = (0..BYTES / FRAME)
                        .map(|at| whole.slice(at * FRAME..(at + 1) * FRAME))
                        .map(|bytes| BenchPart { stream, bytes })
                        .collect();
                    runtime.block_on(async {
                        let mut grpc = tonic::client::Grpc::new(channel.clone());
                        grpc.ready().await.unwrap();
                        let path = http::uri::PathAndQuery::from_static("/bench.Taker/Take");
                        let codec = ProstCodec::<BenchPart, Came>::default();
                        let request = Request::new(tokio_stream::iter(parts));
                        grpc.client_streaming(request, path, codec).await.unwrap();
                    });
                });
            }
        });
        start.elapsed()
    }
}
