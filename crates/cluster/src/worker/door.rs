//! Clients that bring elements to a worker, and fetch them.

use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pantile_comm_net::{Connection, Frame, NetError};
use pantile_engine::ArrayId;

use super::account::Loan;
use super::seat::Task;
use super::sessions::{Session, Sessions};
use crate::data::{
    About, DONE, DataError, FAULT, FRAME, GET, HEAD, KIND, PUT, decode_size, encode_size,
    receive_body, send_body,
};
use crate::refusals::Refusals;

/// How long a client that has nothing to say is kept.
const IDLE: Duration = Duration::from_secs(600);

/// How long a frame of elements may take: whoever stops in the middle holds memory.
const FRAME_TIME: Duration = Duration::from_secs(60);

/// Lets clients in that name a session of this worker and know its secret.
pub(crate) fn open(hub: &pantile_comm_net::Hub, sessions: &Arc<Sessions>) {
    let (admits, takes) = (Arc::clone(sessions), Arc::clone(sessions));
    hub.on_connect(
        KIND,
        move |greeting| admits.admitted(greeting).is_some(),
        move |greeting, mut connection| {
            let Some(session) = takes.admitted(&greeting) else { return };
            let Some(_visit) = session.enter() else {
                let text = "this session has too many connections already";
                takes.refusals.note(&connection.peer(), &text);
                // Who asks something is answered by it.
                let _ = connection.send(FAULT, text.as_bytes(), &[]);
                return;
            };
            let client = Client { session: Arc::downgrade(&session), refusals: &takes.refusals };
            drop(session);
            let served = client.serve_all(&mut connection);
            if let Err(NetError::Frame { address, error }) = served {
                takes.refusals.note(&address, &error);
            }
        },
    );
}

/// One who has shown that it knows the secret of a session. The session may end while somebody is
/// connected, and nobody who waits for a client keeps it alive.
struct Client<'a> {
    session: Weak<Session>,
    refusals: &'a Refusals,
}

impl Client<'_> {
    /// One request after the other, until the session or the connection is over.
    fn serve_all(&self, connection: &mut Connection) -> Result<(), NetError> {
        connection.sender().set_deadline(FRAME_TIME);
        loop {
            connection.receiver().set_deadline(IDLE);
            let frame = connection.receive()?;
            connection.receiver().set_deadline(FRAME_TIME);
            let Some(session) = self.session.upgrade() else { return Ok(()) };
            self.serve(connection, session, &frame)?;
        }
    }

    /// One request; an error if the connection is over.
    fn serve(
        &self,
        connection: &mut Connection,
        session: Arc<Session>,
        frame: &Frame,
    ) -> Result<(), NetError> {
        let Some((about, rest)) = About::decode(&frame.head) else {
            return self.refuse(connection, "got a request that is too short");
        };
        if !session.seats.contains_key(&about.rank) {
            return self.refuse(connection, &format!("rank {} is not on this worker", about.rank));
        }
        match frame.kind {
            PUT => self.put(connection, session, about, rest),
            GET => {
                drop(session);
                self.get(connection, about)
            }
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
        session: Arc<Session>,
        about: About,
        size: &[u8],
    ) -> Result<(), NetError> {
        match self.take_in(connection, session, about, size) {
            Ok(()) => connection.send(DONE, &[], &[]),
            Err(DataError::Net(error)) => Err(error),
            // What follows may be elements of what was refused: the connection is over.
            Err(DataError::Said(reason)) => {
                self.refuse(connection, &reason)?;
                Err(NetError::Closed { address: connection.peer().to_string() })
            }
        }
    }

    /// Memory is promised first, and given back wherever this ends early.
    fn take_in(
        &self,
        connection: &mut Connection,
        session: Arc<Session>,
        about: About,
        size: &[u8],
    ) -> Result<(), DataError> {
        let gone = || DataError::Said("the rank is not there any more".to_owned());
        let seat = session.seats.get(&about.rank).ok_or_else(gone)?;
        let (dtype, elements) = decode_size(size, u64::MAX).map_err(DataError::Said)?;
        // It was multiplied before without a loss.
        let bytes = (elements * dtype.bytes()) as u64;
        let short = |short| DataError::Said(format!("an upload {short}"));
        let promise = seat.account().promise(bytes).map_err(short)?;
        let pool = seat.account().pool().clone();
        drop(session);
        let tile = receive_body(connection, &pool, (dtype, elements))?;
        let (answer, answers) = channel();
        let task = Task::Put(ArrayId(about.array), tile, promise, answer);
        self.give(about.rank, task).ok_or_else(gone)?;
        answers.recv().map_err(|_| gone())?.map_err(DataError::Said)
    }

    /// Gives a rank something to do; nothing if it is not there any more.
    fn give(&self, rank: u64, task: Task) -> Option<()> {
        let session = self.session.upgrade()?;
        session.seats.get(&rank)?.give(task).then_some(())
    }

    fn get(&self, connection: &mut Connection, about: About) -> Result<(), NetError> {
        let (answer, answers) = channel();
        let given = self.give(about.rank, Task::Get(ArrayId(about.array), answer));
        let loan: Option<Loan> = given.and_then(|()| answers.recv().ok().flatten());
        let Some(tile) = loan else {
            let text = format!("rank {} has no array {}", about.rank, about.array);
            return self.refuse(connection, &text);
        };
        connection.send(HEAD, &encode_size(tile.dtype(), tile.len()), &[])?;
        send_body(connection, &tile, FRAME)
    }
}
