//! Starting messages.

use pantile_comm::{CommError, Head, Piece, Rank, Tag, Ticket};

use super::World;
use crate::ffi::{self, Address, Comm, Fault};
use crate::lanes::Parcel;
use crate::records::{Part, Record, Use};
use crate::slot::{Front, SLOT_BYTES, SMALL_MAX};

impl World {
    pub(crate) fn post_send(
        &mut self,
        to: Rank,
        tag: Tag,
        body: &Piece,
    ) -> Result<Ticket, CommError> {
        let address = self.address(to, tag)?;
        let (number, call) = self.calls.current();
        let lane = self.lanes.number(to, tag);
        let lane = self.lanes.lane(lane);
        let at = self.records.take(Use::Send, to, 0);
        if to == self.rank {
            let head = Head::encode(call, body.len());
            let body = ffi::bytes(body, 0..body.len()).to_vec();
            lane.parcels.push_back(Parcel { head, body });
        } else {
            let front = match lane.tell(number) {
                Some(place) => Front::short(body.len(), place),
                None => Front::full(body.len(), &Head::encode(call, body.len())),
            };
            let record = self.records.at(at);
            let sent = start_send(&self.data, record, (&front, body, self.chunk), address);
            sent.map_err(|fault| self.refused("sending to", to, fault))?;
        }
        self.peers[to].sent += 1;
        Ok(self.records.ticket(at))
    }

    pub(crate) fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &Piece,
    ) -> Result<Ticket, CommError> {
        let address = self.address(from, tag)?;
        let at = self.start_receive(Use::Receive, address, tag)?;
        let record = self.records.at(at);
        record.body = Some(room.clone());
        if room.len() > SMALL_MAX && from != self.rank {
            let started = start_parts(&self.data, record, self.chunk, address);
            started.map_err(|fault| self.refused("receiving from", from, fault))?;
        }
        Ok(self.records.ticket(at))
    }

    /// Makes room for a head.
    fn start_receive(&mut self, used: Use, address: Address, tag: Tag) -> Result<usize, CommError> {
        let from = usize::try_from(address.rank).unwrap_or(usize::MAX);
        let lane = self.lanes.number(from, tag);
        // Somebody who waited in vain for a message of any length left room for its head.
        if let Some(&last) = self.lanes.lane(lane).waiting.back()
            && self.records.at(last).used == Use::Any
        {
            self.records.at(last).used = used;
            return Ok(last);
        }
        let at = self.records.take(used, from, lane);
        if from != self.rank {
            let record = self.records.at(at);
            match self.data.receive(&record.slot, 0..SLOT_BYTES, address) {
                Ok(request) => record.head = request,
                Err(fault) => return Err(self.refused("receiving from", from, fault)),
            }
        }
        self.lanes.lane(lane).waiting.push_back(at);
        Ok(at)
    }

    pub(crate) fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        let address = self.address(from, tag)?;
        let at = self.start_receive(Use::Any, address, tag)?;
        let result = self.take_any(at, address);
        match result {
            // Nobody else knows this record, so nobody could wait for the rest of the body.
            Err(error) if self.records.at(at).head_done => Err(self.spoil(error)),
            result => result,
        }
    }

    fn take_any(&mut self, at: usize, address: Address) -> Result<Vec<u8>, CommError> {
        self.finish(at)?;
        let record = self.records.at(at);
        let bytes = record.bytes;
        let body = match record.body.take() {
            Some(body) => body.memory().clone(),
            None if bytes <= SMALL_MAX => {
                let vector =
                    ffi::bytes(&record.slot, record.body_at..record.body_at + bytes).to_vec();
                self.records.free(at);
                return Ok(vector);
            }
            None => {
                let mut vector: Vec<u8> = Vec::new();
                if vector.try_reserve_exact(bytes).is_err() {
                    let (rank, peer) = (self.rank, record.peer);
                    let call = format!("room for {bytes} bytes from rank {peer}");
                    let reason = "there is not so much memory".to_owned();
                    return Err(CommError::Backend { rank, call, reason });
                }
                vector.resize(bytes, 0);
                let memory = ffi::room_in(vector);
                record.body = Some(memory.whole());
                let (peer, started) =
                    (record.peer, start_parts(&self.data, record, self.chunk, address));
                started.map_err(|fault| self.refused("receiving from", peer, fault))?;
                self.finish(at)?;
                memory
            }
        };
        self.records.free(at);
        let vector = body.into_owner().ok().and_then(|owner| owner.downcast().ok());
        Ok(*vector.expect("the vector that was made room of"))
    }
}

/// Starts to send a head, with the body or before it.
fn start_send(
    data: &Comm,
    record: &mut Record,
    (front, body, chunk): (&Front, &Piece, usize),
    to: Address,
) -> Result<(), Fault> {
    let front = front.as_bytes();
    ffi::write(&record.slot, 0, front);
    if body.len() <= SMALL_MAX {
        ffi::write(&record.slot, front.len(), ffi::bytes(body, 0..body.len()));
        record.head = data.send(&record.slot, 0..front.len() + body.len(), to)?;
        return Ok(());
    }
    record.head = data.send(&record.slot, 0..front.len(), to)?;
    record.body = Some(body.clone());
    start_parts(data, record, chunk, to)
}

/// Starts the parts of a large body.
fn start_parts(
    data: &Comm,
    record: &mut Record,
    chunk: usize,
    address: Address,
) -> Result<(), Fault> {
    let Some(body) = &record.body else { return Ok(()) };
    for start in (0..body.len()).step_by(chunk) {
        let part = start..body.len().min(start + chunk);
        let bytes = part.len();
        let request = match record.used {
            Use::Send => data.send(body, part, address)?,
            _ => data.receive(body, part, address)?,
        };
        record.parts.push(Part { request, bytes });
    }
    Ok(())
}
