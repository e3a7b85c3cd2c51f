//! Ranks as processes that talk over TCP.
//!
//! A [`Hub`] is where the connections of a process come in. [`Hub::join`] takes a [`Seat`] in a world
//! and gives a [`Net`], a [`Transport`](pantile_comm::Transport) that passes the conformance suite.
//! Connections of other kinds carry frames between ordinary threads: [`dial`] and
//! [`Hub::on_connect`] give a [`Connection`].
//!
//! Must never contain anything that neither the conformance suite nor the cluster asks for; no
//! shapes, element types or plans.
//!
//! # Who may come in
//!
//! A connection begins with a greeting: a version, a kind, an id and a [`Secret`]. Whoever does not
//! greet in time, or wrongly, is refused, counted and reported. [`Security`] says whether TLS is
//! spoken before that; without it only addresses of this machine are listened at and dialled.
//!
//! # How messages travel
//!
//! ```text
//!   at most 64 KiB   message [ tag | head | body ]
//!   larger           announce [ tag | number | head ]
//!                                        ◄── grant [ number ]       when there is room
//!                    data [ number | 4 MiB ] …                       from memory to memory
//! ```
//!
//! ```
//! use pantile_comm::{Call, Communicator, Options, Piece};
//! use pantile_comm_net::{Hub, HubOptions, Seat, Secret, Security, random_id};
//!
//! let hub = Hub::listen("127.0.0.1:0", Security::Plain, HubOptions::default())?;
//! let addresses = vec![hub.address().to_string(); 2];
//! let seat = Seat { world: random_id()?, secret: Secret::random()?, rank: 0, addresses };
//! std::thread::scope(|scope| {
//!     for rank in 0..2 {
//!         let (hub, seat) = (&hub, Seat { rank, ..seat.clone() });
//!         scope.spawn(move || {
//!             let net = hub.join(&seat, &Options::default()).expect("both come");
//!             let mut world = Communicator::new(Box::new(net));
//!             let heard = world.operation(&Call::here("greet", 7), |operation| {
//!                 operation.send(1 - rank, &Piece::copied_from(b"hello"))?;
//!                 operation.receive_any(1 - rank)
//!             });
//!             assert_eq!(heard.unwrap(), b"hello");
//!         });
//!     }
//! });
//! # Ok::<(), pantile_comm_net::NetError>(())
//! ```

mod connection;
mod dial;
mod door;
mod error;
pub mod frame;
pub mod greeting;
mod hub;
mod join;
pub mod keys;
mod net;
pub mod notice;
mod options;
mod poll;
mod secret;
mod security;
mod wire;

pub use connection::{Closer, Connection, Frame, Receiver, Sender};
pub use dial::dial;
pub use error::{NetError, Refusal};
pub use frame::FrameError;
pub use greeting::Greeting;
pub use hub::Hub;
pub use join::{RANKS_MAX, Seat};
pub use net::{Handle, Net};
pub use options::{HubOptions, Report};
pub use secret::{Secret, random_id};
pub use security::{Security, Tls};
