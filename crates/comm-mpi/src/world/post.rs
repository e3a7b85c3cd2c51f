//! Starting messages.

use pantile_comm::{CommError, Envelope, MemoryBlock, MemorySlice, Rank, Tag, Ticket};

use super::MpiWorld;
use crate::raw::{self, Address, Comm, MpiError};
use crate::records::{BodyPart, RecordUse, RequestRecord};
use crate::slot::{EAGER_MAX, SLOT_BYTES, SlotHeader};
use crate::tag_queues::SelfMessage;

impl MpiWorld {
    pub(crate) fn post_send(
        &mut self,
        to: Rank,
        tag: Tag,
        body: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        let address = self.address(to, tag)?;
        let (number, call) = self.calls.current();
        let queue = self.queues.number(to, tag);
        let queue = self.queues.queue(queue);
        let at = self.records.take(RecordUse::Send, to, 0);
        if to == self.rank {
            let envelope = Envelope::encode(call, body.len());
            let body = raw::bytes(body, 0..body.len()).to_vec();
            queue.self_messages.push_back(SelfMessage { envelope, body });
        } else {
            let header = match queue.record_sent(number) {
                Some(place) => SlotHeader::short(body.len(), place),
                None => SlotHeader::full(body.len(), &Envelope::encode(call, body.len())),
            };
            let record = self.records.at(at);
            let sent = start_send(&self.data, record, (&header, body, self.chunk), address);
            sent.map_err(|fault| self.refused("sending to", to, fault))?;
        }
        self.peers[to].sent += 1;
        Ok(self.records.ticket(at))
    }

    pub(crate) fn post_receive(
        &mut self,
        from: Rank,
        tag: Tag,
        room: &MemorySlice,
    ) -> Result<Ticket, CommError> {
        let address = self.address(from, tag)?;
        let at = self.start_receive(RecordUse::Receive, address, tag)?;
        let record = self.records.at(at);
        record.body = Some(room.clone());
        if room.len() > EAGER_MAX && from != self.rank {
            let started = start_parts(&self.data, record, self.chunk, address);
            started.map_err(|fault| self.refused("receiving from", from, fault))?;
        }
        Ok(self.records.ticket(at))
    }

    /// Makes room for an envelope.
    fn start_receive(
        &mut self,
        used: RecordUse,
        address: Address,
        tag: Tag,
    ) -> Result<usize, CommError> {
        let from = usize::try_from(address.rank).unwrap_or(usize::MAX);
        let queue = self.queues.number(from, tag);
        // A wait in vain for a message of any length has left room for its envelope.
        if let Some(&last) = self.queues.queue(queue).waiting.back()
            && self.records.at(last).used == RecordUse::Any
        {
            self.records.at(last).used = used;
            return Ok(last);
        }
        let at = self.records.take(used, from, queue);
        if from != self.rank {
            let record = self.records.at(at);
            match self.data.receive(&record.slot, 0..SLOT_BYTES, address) {
                Ok(request) => record.envelope = request,
                Err(fault) => return Err(self.refused("receiving from", from, fault)),
            }
        }
        self.queues.queue(queue).waiting.push_back(at);
        Ok(at)
    }

    pub(crate) fn receive_any(&mut self, from: Rank, tag: Tag) -> Result<Vec<u8>, CommError> {
        let address = self.address(from, tag)?;
        let at = self.start_receive(RecordUse::Any, address, tag)?;
        let result = self.take_any(at, address);
        match result {
            // The caller has no ticket of this record, so it could not wait for the rest of the
            // body.
            Err(error) if self.records.at(at).envelope_done => Err(self.spoil(error)),
            result => result,
        }
    }

    fn take_any(&mut self, at: usize, address: Address) -> Result<Vec<u8>, CommError> {
        self.finish(at)?;
        let record = self.records.at(at);
        let bytes = record.bytes;
        let body = match record.body.take() {
            Some(body) => body.memory().clone(),
            None if bytes <= EAGER_MAX => {
                let vector =
                    raw::bytes(&record.slot, record.body_at..record.body_at + bytes).to_vec();
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
                let memory = MemoryBlock::from_vec(vector);
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

/// Starts to send an envelope, with the body or before it.
fn start_send(
    data: &Comm,
    record: &mut RequestRecord,
    (header, body, chunk): (&SlotHeader, &MemorySlice, usize),
    to: Address,
) -> Result<(), MpiError> {
    let header = header.as_bytes();
    raw::write(&record.slot, 0, header);
    if body.len() <= EAGER_MAX {
        raw::write(&record.slot, header.len(), raw::bytes(body, 0..body.len()));
        record.envelope = data.send(&record.slot, 0..header.len() + body.len(), to)?;
        return Ok(());
    }
    record.envelope = data.send(&record.slot, 0..header.len(), to)?;
    record.body = Some(body.clone());
    start_parts(data, record, chunk, to)
}

/// Starts the parts of a large body.
fn start_parts(
    data: &Comm,
    record: &mut RequestRecord,
    chunk: usize,
    address: Address,
) -> Result<(), MpiError> {
    let Some(body) = &record.body else { return Ok(()) };
    for start in (0..body.len()).step_by(chunk) {
        let part = start..body.len().min(start + chunk);
        let bytes = part.len();
        let request = match record.used {
            RecordUse::Send => data.send(body, part, address)?,
            _ => data.receive(body, part, address)?,
        };
        record.parts.push(BodyPart { request, bytes });
    }
    Ok(())
}
