//! Clients that bring elements to a worker, and fetch them.

use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pantile_comm_net::{Connection, NetError, ReceivedFrame};
use pantile_engine::ArrayId;

use super::quota::ReadLease;
use super::rank_thread::RankTask;
use super::sessions::{HostedSession, Sessions};
use crate::data::{
    ArrayKey, DONE, DataError, FAULT, FRAME, GET, KIND, PUT, SIZE, decode_size, encode_size,
    receive_body, send_body,
};
use crate::refusals::Refusals;

/// How long an idle client is kept (idle timeout).
const IDLE: Duration = Duration::from_secs(600);

/// How long a frame of elements may take: a client that stops in the middle holds memory.
const FRAME_TIMEOUT: Duration = Duration::from_secs(60);

/// Admits clients that name a session of this worker and know its secret.
pub(crate) fn open(data_listener: &pantile_comm_net::Listener, sessions: &Arc<Sessions>) {
    let (admits, takes) = (Arc::clone(sessions), Arc::clone(sessions));
    data_listener.on_connect(
        KIND,
        move |handshake| admits.admitted(handshake).is_some(),
        move |handshake, mut connection| {
            let Some(session) = takes.admitted(&handshake) else { return };
            let Some(_visit) = session.enter() else {
                let text = "this session has too many connections already";
                takes.refusals.note(&connection.peer(), &text);
                // The first request is answered by it.
                let _ = connection.send(FAULT, text.as_bytes(), &[]);
                return;
            };
            let client =
                DataClient { session: Arc::downgrade(&session), refusals: &takes.refusals };
            drop(session);
            let served = client.serve_all(&mut connection);
            if let Err(NetError::Frame { address, error }) = served {
                takes.refusals.note(&address, &error);
            }
        },
    );
}

/// A client that has shown the secret of a session. The session may end while the client is
/// connected, and a thread that waits for the client does not keep it alive.
struct DataClient<'a> {
    session: Weak<HostedSession>,
    refusals: &'a Refusals,
}

impl DataClient<'_> {
    /// One request after the other, until the session or the connection is over.
    fn serve_all(&self, connection: &mut Connection) -> Result<(), NetError> {
        connection.sender().set_deadline(FRAME_TIMEOUT);
        loop {
            connection.receiver().set_deadline(IDLE);
            let frame = connection.receive()?;
            connection.receiver().set_deadline(FRAME_TIMEOUT);
            let Some(session) = self.session.upgrade() else { return Ok(()) };
            self.serve(connection, session, &frame)?;
        }
    }

    /// One request; an error if the connection is over.
    fn serve(
        &self,
        connection: &mut Connection,
        session: Arc<HostedSession>,
        frame: &ReceivedFrame,
    ) -> Result<(), NetError> {
        let Some((key, rest)) = ArrayKey::decode(&frame.header) else {
            return self.refuse(connection, "got a request that is too short");
        };
        if !session.rank_threads.contains_key(&key.rank) {
            return self.refuse(connection, &format!("rank {} is not on this worker", key.rank));
        }
        match frame.kind {
            PUT => self.put(connection, session, key, rest),
            GET => {
                drop(session);
                self.get(connection, key)
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
        session: Arc<HostedSession>,
        key: ArrayKey,
        size: &[u8],
    ) -> Result<(), NetError> {
        match self.take_in(connection, session, key, size) {
            Ok(()) => connection.send(DONE, &[], &[]),
            Err(DataError::Net(error)) => Err(error),
            // What follows may be elements of what was refused: the connection is over.
            Err(error) => {
                self.refuse(connection, &error.to_string())?;
                Err(NetError::Closed { address: connection.peer().to_string() })
            }
        }
    }

    /// Memory is reserved first, and given back wherever this ends early.
    fn take_in(
        &self,
        connection: &mut Connection,
        session: Arc<HostedSession>,
        key: ArrayKey,
        size: &[u8],
    ) -> Result<(), DataError> {
        let rank_thread = session.rank_threads.get(&key.rank).ok_or(DataError::RankGone)?;
        let (dtype, elements) = decode_size(size, u64::MAX).map_err(DataError::Size)?;
        // It was multiplied before without a loss.
        let bytes = (elements * dtype.bytes()) as u64;
        let reservation = rank_thread.quota().reserve(bytes).map_err(DataError::Shortage)?;
        let pool = rank_thread.quota().pool().clone();
        drop(session);
        let tile = receive_body(connection, &pool, (dtype, elements))?;
        let (answer, answers) = channel();
        let task = RankTask::Put(ArrayId(key.array), tile, reservation, answer);
        self.give(key.rank, task).ok_or(DataError::RankGone)?;
        answers.recv().map_err(|_| DataError::RankGone)?.map_err(DataError::Put)
    }

    /// Gives a rank something to do; nothing if it is not there any more.
    fn give(&self, rank: u64, task: RankTask) -> Option<()> {
        let session = self.session.upgrade()?;
        session.rank_threads.get(&rank)?.give(task).then_some(())
    }

    fn get(&self, connection: &mut Connection, key: ArrayKey) -> Result<(), NetError> {
        let (answer, answers) = channel();
        let given = self.give(key.rank, RankTask::Get(ArrayId(key.array), answer));
        let lease: Option<ReadLease> = given.and_then(|()| answers.recv().ok().flatten());
        let Some(tile) = lease else {
            let text = format!("rank {} has no array {}", key.rank, key.array);
            return self.refuse(connection, &text);
        };
        connection.send(SIZE, &encode_size(tile.dtype(), tile.len()), &[])?;
        send_body(connection, &tile, FRAME)
    }
}
