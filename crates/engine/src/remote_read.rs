//! Direct remote reads: reading what a movement would bring where it lies, in the memory of peers.

use std::panic::Location;

use pantile_comm::{CollectiveSignature, CommError, Rank};

use crate::movement::Movement;
use crate::{Engine, Error, Tile};

impl Movement {
    /// True if reading what the ranks expose is all there is to it: nothing is combined, filled or
    /// kept, and nothing passes through staging buffers.
    pub(crate) fn is_remote_read(&self) -> bool {
        let [hop] = &self.hops[..] else { return self.hops.is_empty() };
        hop.any_order && hop.before.is_none() && hop.after.is_none() && hop.save.is_none()
    }
}

impl Engine {
    /// Exposes `source` to the ranks that need a part of it, and calls `read` with every rank that has a
    /// part for this one, itself included, and its source. No rank may write `source` meanwhile.
    /// Collective, also with ranks that run the movement; only where ranks have windows.
    ///
    /// # Errors
    /// As [`Engine::run`], and what `read` says; then the world has ended.
    pub(crate) fn look(
        &mut self,
        movement: &Movement,
        source: &Tile,
        place: &'static Location<'static>,
        read: &mut dyn FnMut(Rank, &Tile) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let call = CollectiveSignature::at(movement.name, movement.fingerprint, place);
        self.expect_tile(&call, "source", (movement.dtype, movement.lengths.0), source)?;
        let me = self.rank();
        let mut inner: Option<Error> = None;
        let (communicator, ..) = self.parts();
        let result: Result<(), CommError> = communicator.operation(&call, |operation| {
            let windows = operation.windows().expect("a rank that reads remotely has windows");
            let sends = movement.hops.iter().flat_map(|hop| &hop.sends);
            for outgoing in sends.clone() {
                windows.expose(outgoing.peer, source.memory())?;
            }
            for incoming in movement.hops.iter().flat_map(|hop| hop.by_turns(me)) {
                let peer = incoming.peer;
                let shown = match peer == me {
                    true => source.alias(),
                    false => Tile::shown(windows.acquire(peer)?, movement.dtype),
                };
                // After an error the others still get what they wait for.
                if inner.is_none() {
                    inner = read(peer, &shown).err();
                }
                if peer != me {
                    windows.release(peer);
                }
            }
            sends.clone().try_for_each(|outgoing| windows.close(outgoing.peer))
        });
        if let Some(error) = inner {
            self.fail(Some(call), &error);
            return Err(error);
        }
        result?;
        let (messages, bytes) = movement.sends();
        self.count(1, messages as u64, bytes as u64);
        Ok(())
    }
}
