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
                    if serve(&mut connection, &session).is_err() {
                        return;
                    }
                }
            }
        },
    );
}

/// One request; an error if the connection is over.
fn serve(connection: &mut Connection, session: &Session) -> Result<(), NetError> {
    let frame = connection.receive()?;
    let Some((about, rest)) = About::decode(&frame.head) else {
        return connection.send(FAULT, b"got a request that is too short", &[]);
    };
    let Some(seat) = session.seats.get(&about.rank) else {
        let text = format!("rank {} is not on this worker", about.rank);
        return connection.send(FAULT, text.as_bytes(), &[]);
    };
    match frame.kind {
        PUT => put(connection, (session, seat), about, rest),
        GET => get(connection, seat, about),
        kind => {
            let text = format!("got a request of kind {kind}, expected {PUT} or {GET}");
            connection.send(FAULT, text.as_bytes(), &[])
        }
    }
}

fn put(
    connection: &mut Connection,
    (session, seat): (&Session, &Seat),
    about: About,
    size: &[u8],
) -> Result<(), NetError> {
    let left = session.memory.saturating_sub(seat.stored());
    let received = decode_size(size, left).map_err(DataError::Said);
    let received =
        received.and_then(|size| receive_body(connection, seat.pool(), size)).and_then(|tile| {
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
            connection.send(FAULT, reason.as_bytes(), &[])?;
            Err(NetError::Closed { address: connection.peer().to_string() })
        }
    }
}

fn get(connection: &mut Connection, seat: &Seat, about: About) -> Result<(), NetError> {
    let (answer, answers) = channel();
    let there = seat.give(Task::Get(ArrayId(about.array), answer));
    let tile = if there { answers.recv().ok().flatten() } else { None };
    let Some(tile) = tile else {
        let text = format!("rank {} has no array {}", about.rank, about.array);
        return connection.send(FAULT, text.as_bytes(), &[]);
    };
    connection.send(HEAD, &encode_size(tile.dtype(), tile.len()), &[])?;
    send_body(connection, &tile, FRAME)
}
