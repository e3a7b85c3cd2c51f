//! Ranks as processes that talk over TCP.
//!
//! A [`Listener`] is where the connections of a process come in. [`Listener::join`] takes the
//! [`JoinConfig`] of a rank in a world and gives a [`Net`], a
//! [`Transport`](pantile_comm::Transport) that passes the conformance suite. Connections of other
//! kinds carry frames between ordinary threads: [`connect()`] and [`Listener::on_connect`] give a
//! [`Connection`].
//!
//! Must never contain anything that neither the conformance suite nor the cluster asks for; no
//! shapes, element types or plans.
//!
//! # Which connections are accepted
//!
//! A connection begins with a handshake: a version, a kind, an id and a [`Secret`]. A connection
//! whose handshake is late or wrong is refused, counted and reported. [`Security`] says whether TLS
//! is spoken before that; without it only addresses of this machine are listened at and connected
//! to.
//!
//! # How messages travel
//!
//! ```text
//!   at most 64 KiB   message [ tag | envelope | body ]             eager
//!   larger           request to send [ tag | number | envelope ]   rendezvous
//!                                        ◄── clear to send [ number ]       when there is room
//!                    data [ number | 4 MiB ] …                       from memory to memory
//! ```
//!
//! ```
//! use pantile_comm::{CollectiveSignature, Communicator, Options, MemorySlice};
//! use pantile_comm_net::{Listener, ListenerOptions, JoinConfig, Secret, Security, random_id};
//!
//! let listener = Listener::listen("127.0.0.1:0", Security::Plain, ListenerOptions::default())?;
//! let addresses = vec![listener.address().to_string(); 2];
//! let config = JoinConfig { world: random_id()?, secret: Secret::random()?, rank: 0, addresses };
//! std::thread::scope(|scope| {
//!     for rank in 0..2 {
//!         let (listener, config) = (&listener, JoinConfig { rank, ..config.clone() });
//!         scope.spawn(move || {
//!             let net = listener.join(&config, &Options::default()).expect("both come");
//!             let mut world = Communicator::new(Box::new(net));
//!             let heard = world.operation(&CollectiveSignature::here("shake_hands", 7), |operation| {
//!                 operation.send(1 - rank, &MemorySlice::copied_from(b"hello"))?;
//!                 operation.receive_any(1 - rank)
//!             });
//!             assert_eq!(heard.unwrap(), b"hello");
//!         });
//!     }
//! });
//! # Ok::<(), pantile_comm_net::NetError>(())
//! ```

mod acceptor;
mod connect;
mod connection;
pub mod control_message;
mod error;
pub mod frame;
pub mod handshake;
mod join;
pub mod keys;
mod listener;
mod net;
mod options;
mod poll;
mod raw;
mod secret;
mod security;
mod wire;

pub use connect::connect;
pub use connection::{Closer, Connection, ReceivedFrame, Receiver, Sender};
pub use error::{NetError, Refusal};
pub use frame::FrameError;
pub use handshake::Handshake;
pub use join::{JoinConfig, RANKS_MAX};
pub use listener::Listener;
pub use net::{AbortHandle, Net};
pub use options::{ListenerOptions, RefusalCallback};
pub use secret::{Secret, random_id};
pub use security::{Security, Tls};
