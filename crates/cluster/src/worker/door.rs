//! Clients that bring elements to a worker, and fetch them.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use pantile_comm_net::{Connection, NetError};
use pantile_engine::ArrayId;

use super::seat::{Seat, Task};
use super::sessions::{Session, Sessions};
use crate::data::{
    About, DONE, DataError, FAULT, FRAME, GET, HEAD, KIND, PUT, decode_size, encode_size,
    receive_body, send_body,
};
use crate::refusals::Refusals;

/// How long a client that has nothing to say is kept.
const IDLE: Duration = Duration::from_secs(600);

/// Lets clients in that name a session of this worker and know its secret.
pub(crate) fn open(hub: &pantile_comm_net::Hub, sessions: &Arc<Sessions>) {
    let (admits, takes) = (Arc::clone(sessions), Arc::clone(sessions));
    hub.on_connect(
        KIND,
        move |greeting| admits.admitted(greeting).is_some(),
        move |greeting, connection| {
            if let Some(session) = takes.admitted(&greeting) {
                let session = Arc::downgrade(&session);
                let mut connection = connection.with_deadline(IDLE);
                // The session may end while somebody is connected.
                while let Some(session) = session.upgrade() {
                    let client = Client { session: &session, refusals: &takes.refusals };
                    match client.serve(&mut connection) {
                        Ok(()) => {}
                        Err(NetError::Frame { address, error }) => {
                            return takes.refusals.note(&address, &error);
                        }
                        Err(_) => return,
                    }
                }
            }
        },
    );
}

/// One who has shown that it knows the secret of a session.
struct Client<'a> {
    session: &'a Session,
    refusals: &'a Refusals,
}

impl Client<'_> {
    /// One request; an error if the connection is over.
    fn serve(&self, connection: &mut Connection) -> Result<(), NetError> {
        let frame = connection.receive()?;
        let Some((about, rest)) = About::decode(&frame.head) else {
            return self.refuse(connection, "got a request that is too short");
        };
        let Some(seat) = self.session.seats.get(&about.rank) else {
            return self.refuse(connection, &format!("rank {} is not on this worker", about.rank));
        };
        match frame.kind {
            PUT => self.put(connection, seat, about, rest),
            GET => self.get(connection, seat, about),
            kind => {
                let text = format!("got a request of kind {kind}, expected {PUT} or {GET}");
                self.refuse(connection, &text)
            }
        }
    }

    /// Says why not; the connection goes on.
    fn refuse(&self, connection: &mut Connection, reason: &str) -> Result<(), NetError> {
        self.refusals.note(&connection.peer(), &reason);
        connection.send(FAULT, reason.as_bytes(), &[])
    }

    fn put(
        &self,
        connection: &mut Connection,
        seat: &Seat,
        about: About,
        size: &[u8],
    ) -> Result<(), NetError> {
        let left = self.session.memory.saturating_sub(seat.stored());
        let received = decode_size(size, left).map_err(DataError::Said);
        let received = received
            .and_then(|size| receive_body(connection, seat.pool(), size))
            .and_then(|tile| {
                let (answer, answers) = channel();
                let there = seat.give(Task::Put(ArrayId(about.array), tile, answer));
                let answered = if there { answers.recv().ok() } else { None };
                let gone = || Err("the rank is not there any more".to_owned());
                answered.unwrap_or_else(gone).map_err(DataError::Said)
            });
        match received {
            Ok(()) => connection.send(DONE, &[], &[]),
            Err(DataError::Net(error)) => Err(error),
            // What follows may be elements of what was refused: the connection is over.
            Err(DataError::Said(reason)) => {
                self.refuse(connection, &reason)?;
                Err(NetError::Closed { address: connection.peer().to_string() })
            }
        }
    }

    fn get(&self, connection: &mut Connection, seat: &Seat, about: About) -> Result<(), NetError> {
        let (answer, answers) = channel();
        let there = seat.give(Task::Get(ArrayId(about.array), answer));
        let tile = if there { answers.recv().ok().flatten() } else { None };
        let Some(tile) = tile else {
            let text = format!("rank {} has no array {}", about.rank, about.array);
            return self.refuse(connection, &text);
        };
        connection.send(HEAD, &encode_size(tile.dtype(), tile.len()), &[])?;
        send_body(connection, &tile, FRAME)
    }
}
