//! Host reads: a few elements of a stored array, read where they are, without a program.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pantile_lower::owned_places;

use super::Array;
use super::node::{Home, Node, lock};
use super::reads::stored_element;
use super::sections::Section;
use super::views::seen_axes;

/// Views with more elements are cut out by a program.
const FEW: usize = 4096;

impl Array {
    /// Writes the bytes of all elements in row-major order, if they are there already, there are few of
    /// them, and no rank has to be waited for. False if that cannot be.
    #[must_use]
    pub fn read_in_place(&self, room: &mut [u8]) -> bool {
        // As long as this is ours no program runs: nothing below waits for one.
        let turn = self.world.try_evaluation_lock();
        turn.is_some() && self.host_read(room)
    }

    /// Writes the bytes of a view of a stored array, if this process hosts all of it and there are
    /// few of them. False if that cannot be.
    pub(crate) fn host_read(&self, room: &mut [u8]) -> bool {
        let base = Arc::clone(&lock(&self.base));
        let inner = &self.world.inner;
        let hosts_all = !inner.is_spread;
        if !hosts_all || self.size() > FEW || inner.no_comm.load(Ordering::Relaxed) {
            return false;
        }
        // What is elsewhere is cut out there, not here.
        if !inner.in_process || inner.is_forked() {
            return false;
        }
        // A caller that has to wait for ranks wants to be able to stop.
        if !lock(&inner.executor).is_idle() {
            return false;
        }
        // A deferred element read takes the stored element.
        let (base, element_of) = match stored_element(&base) {
            Some((base, index)) => (base, Some(index)),
            None => (base, None),
        };
        if !base.is_stored() {
            return false;
        }
        if self.size() == 1 {
            let index = element_of.unwrap_or_else(|| {
                let first = vec![0; self.ndim()];
                self.view.iter().rev().fold(first, |index, view| view.through(&index))
            });
            return self.host_read_element(&base, &index, room);
        }
        // Another shape has the same elements in the same order.
        let views = match self.view.split_last() {
            Some((last, before)) if last.is_reshape() => before,
            _ => &self.view[..],
        };
        let Ok(sections) = self.world.sections_of(&base) else { return false };
        // Of copies the first is enough.
        let copies =
            if sections.first().is_some_and(Section::is_copy) { 1 } else { sections.len() };
        let sections = &sections[..copies];
        if views.is_empty() {
            sections.iter().for_each(|section| section.copy_into(room));
        } else {
            let Some(seen) = seen_axes(&base.shape(), views) else { return false };
            sections.iter().for_each(|section| section.copy_seen(&seen, room));
        }
        !sections.is_empty()
    }

    /// Writes the bytes of one element of a stored node.
    fn host_read_element(&self, base: &Arc<Node>, index: &[usize], room: &mut [u8]) -> bool {
        let Ok(Some((home, tiles))) = self.world.tiles_of(base) else { return false };
        let Some((rank, place)) = find(&home, index) else { return false };
        let mut tiles = tiles.iter();
        let Some((_, tile)) = tiles.find(|(own, _)| *own == rank) else { return false };
        room.copy_from_slice(&tile.as_bytes()[place * room.len()..][..room.len()]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Session, SliceItem};
    use pantile_testkit::{Rng, cases};

    /// Places where an array of two axes can live, on so many ranks.
    fn dist(rng: &mut Rng, ranks: usize) -> String {
        let half = ranks / 2;
        match rng.below(7) {
            0 => "copies".to_owned(),
            1 => "whole, block(r)".to_owned(),
            2 => "cyclic(r, 3), whole".to_owned(),
            3 if half > 0 => format!("x=2, y={half}: block(x), cyclic(y, 1)"),
            4 if half > 0 => format!("x=2, y={half}: block(y), whole"),
            5 => format!("r=1 team [{}]: whole, whole", rng.below(ranks)),
            _ => "block(r), whole".to_owned(),
        }
    }

    fn item(rng: &mut Rng, length: usize) -> SliceItem {
        let end = |rng: &mut Rng| {
            (rng.below(3) > 0).then(|| rng.below(2 * length + 3) as i64 - length as i64)
        };
        match rng.below(4) {
            0 if length > 0 => SliceItem::At(rng.below(length) as i64),
            1 => SliceItem::Range(None, None, 1),
            _ => SliceItem::Range(end(rng), end(rng), [1, 2, 3, -1, -2][rng.below(5)]),
        }
    }

    fn view(rng: &mut Rng, array: &Array) -> Array {
        let shape = array.shape();
        match rng.below(4) {
            0 => array.permute(&(0..shape.len()).rev().collect::<Vec<usize>>()),
            1 => array.reshape(&[array.size()]),
            _ => array.view(shape.iter().map(|length| item(rng, *length)).collect::<Vec<_>>()),
        }
    }

    #[test]
    fn what_is_read_in_place_is_what_a_program_gives() {
        let peeked = std::cell::Cell::new(0);
        cases("host_read", 300, |rng| {
            let ranks = 1 + rng.below(5);
            let world = Session::threads(ranks).unwrap();
            // Around the largest that is read in place, too.
            let rows = [rng.below(9), 62 + rng.below(4)][rng.below(2)];
            let shape = [rows, [rng.below(9), 64][rng.below(2)]];
            let text = dist(rng, ranks);
            let number = |index: &[usize]| (index[0] * 100 + index[1]) as i64;
            let mut array = world.dist(&text).from_fn(&shape, number);
            assert_eq!(array.fault(), None, "{text}");
            for _ in 0..rng.below(4) {
                array = view(rng, &array);
                if array.ndim() == 0 {
                    break;
                }
            }
            let mut room = vec![0xff; array.size() * 8];
            if array.host_read(&mut room) {
                peeked.set(peeked.get() + 1);
                let read: Vec<i64> =
                    room.chunks(8).map(|one| i64::from_le_bytes(one.try_into().unwrap())).collect();
                assert_eq!(read, array.to_vec::<i64>().unwrap(), "{shape:?} {text}");
            } else {
                // A copy in another shape has not been computed.
                let known = array.is_stored() && array.seen_axes().is_some();
                assert!(array.size() > FEW || !known, "{shape:?} {text}");
            }
        });
        assert!(peeked.get() > 0, "nothing was read in place");
    }
}
