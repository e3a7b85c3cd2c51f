//! A few elements of an array that is there already: read where they are, without a program.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pantile_ir::Scalar;
use pantile_ir::lower::owned_places;

use super::fault::Fault;
use super::node::{Home, lock};
use super::reads::stored_element;
use super::views::unravel;
use super::{Array, here};

/// Views with more elements are cut out by a program.
const FEW: usize = 4096;

impl Array {
    /// Its only element, if that is soon known and nobody else computes: as
    /// [`Array::compute_light`].
    ///
    /// # Errors
    /// As [`Array::compute`].
    #[track_caller]
    pub fn item_light(&self) -> Result<Option<Scalar>, Fault> {
        let mut room = [0; 16];
        let room = &mut room[..self.dtype().bytes()];
        if self.size() != 1 || self.fault().is_some() {
            return Ok(None);
        }
        // As long as this is ours no program runs: nothing below waits for one.
        let Some(turn) = self.world.free_turn() else { return Ok(None) };
        let base = Arc::clone(&lock(&self.base));
        let stored = base.is_stored() || stored_element(&base).is_some();
        let known = stored || self.world.evaluate_light(&turn, &[self.node(&here())])?;
        match known && self.peek(room) {
            true => Ok(Scalar::from_bytes(self.dtype(), room)),
            false => Ok(None),
        }
    }

    /// Writes the bytes of a view of a stored array, if this process hosts all of it and there are
    /// few of them. False if that cannot be.
    pub(crate) fn peek(&self, room: &mut [u8]) -> bool {
        let base = Arc::clone(&lock(&self.base));
        let inner = &self.world.inner;
        let hosts_all = inner.hosted.len() == inner.size;
        if !hosts_all || self.size() > FEW || inner.forbidden.load(Ordering::Relaxed) {
            return false;
        }
        // What is elsewhere is cut out there, not here.
        if !inner.near || inner.is_forked() {
            return false;
        }
        // Whoever has to wait for ranks wants to be able to stop.
        if !lock(&inner.crew).is_idle() {
            return false;
        }
        // An element read that waits looks at what is there.
        let (base, element_of) = match stored_element(&base) {
            Some((base, index)) => (base, Some(index)),
            None => (base, None),
        };
        let Ok(Some((home, tiles))) = self.world.tiles_of(&base) else { return false };
        let tiles = tiles.get().map_or(&[][..], Vec::as_slice);
        let (size, shape) = (self.dtype().bytes(), self.shape());
        for (number, element) in room.chunks_exact_mut(size).enumerate() {
            let views = self.view.iter().rev();
            let index = views.fold(unravel(number, &shape), |index, view| view.through(&index));
            let index = element_of.clone().unwrap_or(index);
            let Some((rank, place)) = find(&home, &index) else { return false };
            let Some((_, tile)) = tiles.iter().find(|(own, _)| *own == rank) else { return false };
            element.copy_from_slice(&tile.as_bytes()[place * size..][..size]);
        }
        true
    }
}

/// The rank that owns an element, and its place in what that rank has.
fn find(home: &Home, index: &[usize]) -> Option<(usize, usize)> {
    let rank = home.plain.owner(index)?.rank;
    let (_, places) = owned_places(&home.room, rank)?;
    let mut place = places.offset;
    for (axis, ((map, at), stride)) in
        home.plain.axes()?.iter().zip(index).zip(&places.strides).enumerate()
    {
        let local = map.local(home.plain.coordinate(rank, axis)?, 0, *at)?;
        place += stride * isize::try_from(local).ok()?;
    }
    Some((rank, usize::try_from(place).ok()?))
}
