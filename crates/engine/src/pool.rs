//! Memory that arrays leave behind, kept for the next ones: fresh pages cost as much as the
//! arithmetic that fills them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pantile_comm::MemoryBlock;
use pantile_kernels::DType;
use pantile_memory::OutOfMemory;

use crate::Tile;

/// Smaller blocks are left to the allocator.
pub(super) const SMALL: usize = 1 << 10;

/// Smaller blocks are kept without looking at the clock, but few of them.
pub(super) const LARGE: usize = 64 << 10;
const FEW: usize = 16;

/// Free bytes that are kept however little is in use.
const SPARE: usize = 64 << 20;

/// So long as much is kept as was in use at a time: a loop uses in every turn what it let go in the
/// turn before.
const KEPT: Duration = Duration::from_secs(10);

/// Sizes are rounded up to this, so that nearly equal ones fit; those of small blocks to the other.
pub(super) const GRAIN: usize = 4 << 10;
const FINE_GRAIN: usize = 512;

/// Memory that tiles leave behind, for the next ones: of one rank, or of a client that fetches
/// elements. Clones are the same pool.
#[derive(Clone, Default)]
pub struct Pool(Arc<Mutex<Free>>);

impl fmt::Debug for Pool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Pool({} bytes free)", self.free_bytes())
    }
}

/// Free blocks. Bytes of bool arrays stay 0 or 1: other bits would be no values of that type.
#[derive(Default)]
struct Free {
    blocks: BTreeMap<(bool, usize), Vec<MemoryBlock>>,
    /// Blocks that are not large, the oldest first.
    few: Vec<(bool, MemoryBlock)>,
    /// Bytes of large blocks.
    free: usize,
    used: usize,
    /// The most that was in use lately, and when.
    peak: Option<(usize, Instant)>,
    /// No more may be held in all than now.
    scarce: bool,
}

impl Pool {
    /// A tile of so many elements of any value.
    ///
    /// # Panics
    /// With an [`OutOfMemory`] if there is not so much memory.
    pub(crate) fn tile(&self, dtype: DType, len: usize) -> Tile {
        self.try_tile(dtype, len).unwrap_or_else(|error| std::panic::panic_any(error))
    }

    /// A tile of so many elements of any value, if there is so much memory.
    ///
    /// # Errors
    /// How many bytes were asked for.
    pub(crate) fn try_tile(&self, dtype: DType, len: usize) -> Result<Tile, OutOfMemory> {
        let bytes = len.saturating_mul(dtype.bytes());
        let memory = match bytes {
            // Under guards every tile ends with its buffer, and none is used again.
            _ if pantile_memory::guarded() => return Ok(Tile::try_zeroed(dtype, len)?.poisoned()),
            ..SMALL => return Ok(Tile::try_zeroed(dtype, len)?.poisoned()),
            SMALL..LARGE => self.small(dtype, bytes.next_multiple_of(FINE_GRAIN))?,
            _ => {
                let rounded = bytes.checked_next_multiple_of(GRAIN).ok_or(OutOfMemory { bytes });
                self.large(dtype, rounded?)?
            }
        };
        Ok(Tile::pooled(memory, dtype, len, self.clone()).poisoned())
    }

    fn small(&self, dtype: DType, bytes: usize) -> Result<MemoryBlock, OutOfMemory> {
        let wanted = |(truths, memory): &(bool, MemoryBlock)| {
            *truths == (dtype == DType::Bool) && memory.bytes() == bytes
        };
        let mut state = self.lock();
        match state.few.iter().rposition(wanted) {
            Some(place) => Ok(state.few.remove(place).1),
            None => {
                drop(state);
                MemoryBlock::try_zeroed(bytes)
            }
        }
    }

    fn large(&self, dtype: DType, bytes: usize) -> Result<MemoryBlock, OutOfMemory> {
        let mut state = self.lock();
        let key = (dtype == DType::Bool, bytes);
        if let Some(memory) = state.blocks.get_mut(&key).and_then(Vec::pop) {
            state.free -= bytes;
            state.take(bytes, Instant::now());
            return Ok(memory);
        }
        if state.scarce {
            let kept = state.free.saturating_sub(bytes);
            state.shrink_to(kept);
        }
        drop(state);
        let memory = MemoryBlock::try_zeroed(bytes).or_else(|_| {
            // What is kept for later may be what is missing now.
            self.clear();
            MemoryBlock::try_zeroed(bytes)
        })?;
        let mut state = self.lock();
        state.take(bytes, Instant::now());
        state.shrink(Instant::now());
        Ok(memory)
    }

    /// So many elements whose bytes a function writes, as [`Tile::filled`] makes them, in memory that
    /// was used before where there is some.
    ///
    /// # Errors
    /// What the function says.
    ///
    /// # Panics
    /// If there is not so much memory.
    pub fn filled<E>(
        &self,
        dtype: DType,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Option<Tile>, E> {
        if dtype == DType::Bool {
            // What strangers write may be no truths; their memory must not become that of truths.
            return Tile::filled(dtype, len, fill);
        }
        let mut tile = self.tile(dtype, len);
        fill(tile.bytes_mut())?;
        Ok(Some(tile))
    }

    /// Lets go all that is not used.
    pub fn clear(&self) {
        let mut state = self.lock();
        state.few.clear();
        state.shrink_to(0);
    }

    /// While memory is scarce, a new block lets go as much as it takes, if so much is unused.
    pub fn set_scarce(&self, scarce: bool) {
        self.lock().scarce = scarce;
    }

    /// Lets go what was not used lately.
    pub fn trim(&self) {
        self.lock().shrink(Instant::now());
    }

    /// Takes memory back; lets go what is too much.
    pub(crate) fn give_back(&self, memory: &MemoryBlock, dtype: DType) {
        let mut state = self.lock();
        let (bytes, truths) = (memory.bytes(), dtype == DType::Bool);
        if bytes < LARGE {
            if memory.is_alone() {
                // What was not asked for again for longest makes room.
                if state.few.len() == FEW {
                    state.few.remove(0);
                }
                state.few.push((truths, memory.clone()));
            }
            return;
        }
        state.used = state.used.saturating_sub(bytes);
        // A transport may still refer to it.
        if memory.is_alone() {
            state.free += bytes;
            state.blocks.entry((truths, bytes)).or_default().push(memory.clone());
        }
        state.shrink(Instant::now());
    }

    /// Bytes of free blocks.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        let state = self.lock();
        state.free + state.few.iter().map(|(_, memory)| memory.bytes()).sum::<usize>()
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Free {
    /// So many bytes more are in use.
    fn take(&mut self, bytes: usize, now: Instant) {
        self.used += bytes;
        if self.recent(now) <= self.used {
            self.peak = Some((self.used, now));
        }
    }

    /// The most that was in use lately.
    fn recent(&self, now: Instant) -> usize {
        self.peak
            .filter(|(_, at)| now.saturating_duration_since(*at) < KEPT)
            .map_or(0, |(bytes, _)| bytes)
    }

    /// No more is free than was in use lately, apart from a little.
    fn shrink(&mut self, now: Instant) {
        self.shrink_to(self.recent(now).max(self.used).max(SPARE));
    }

    /// No more than so many bytes of large blocks are free.
    fn shrink_to(&mut self, most: usize) {
        while self.free > most {
            let Some(mut last) = self.blocks.last_entry() else { return };
            if let Some(memory) = last.get_mut().pop() {
                self.free -= memory.bytes();
            }
            if last.get().is_empty() {
                last.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_and_goes_out_again() {
        let pool = Pool::default();
        let start = |tile: &Tile| tile.memory().start();
        let one = pool.tile(DType::F64, 1 << 16);
        let place = start(&one);
        drop(one);
        assert_eq!(start(&pool.tile(DType::I64, 1 << 16)), place);
        assert_ne!(start(&pool.tile(DType::Bool, 1 << 19)), place, "truths have their own");
        let kept = pool.tile(DType::F64, 1 << 16);
        assert_eq!(start(&kept), place);
        assert_ne!(start(&pool.tile(DType::F64, 1 << 16)), place, "in use");
    }

    #[test]
    fn a_few_small_blocks_come_back() {
        let pool = Pool::default();
        let start = |tile: &Tile| tile.memory().start();
        let one = pool.tile(DType::F64, 1000);
        let place = start(&one);
        drop(one);
        assert_ne!(start(&pool.tile(DType::Bool, 8000)), place, "truths have their own");
        assert_ne!(start(&pool.tile(DType::F64, 2000)), place, "it would not fit");
        let kept = pool.tile(DType::U8, 7999);
        assert_eq!(start(&kept), place);
        assert_ne!(start(&pool.tile(DType::F64, 1000)), place, "in use");
        let many: Vec<Tile> = (0..3 * FEW).map(|_| pool.tile(DType::F64, 1000)).collect();
        let last = start(&many[3 * FEW - 1]);
        drop(many);
        assert_eq!(pool.free_bytes(), FEW * 8192);
        assert_eq!(start(&pool.tile(DType::F64, 1000)), last, "what is warm comes first");
        let seen = pool.tile(DType::F64, 1000);
        let memory = seen.memory().clone();
        drop(seen);
        assert_ne!(start(&pool.tile(DType::F64, 1000)), memory.start(), "somebody refers to it");
        assert_eq!(pool.lock().used, 0, "only large ones are counted");
    }

    #[test]
    fn what_is_written_by_others_lies_in_memory_that_was_used_before() {
        let pool = Pool::default();
        let write = |byte: u8| {
            move |bytes: &mut [u8]| {
                bytes.fill(byte);
                Ok::<(), ()>(())
            }
        };
        let one = pool.filled(DType::U16, 1 << 16, write(3)).unwrap().unwrap();
        let place = one.memory().start();
        assert_eq!(one.as_slice::<u16>()[77], 0x0303);
        drop(one);
        let two = pool.filled(DType::F32, 1 << 15, write(0)).unwrap().unwrap();
        assert_eq!(two.memory().start(), place);
        assert_eq!(two.as_slice::<f32>()[0], 0.0);
        drop(two);
        assert_eq!(pool.filled(DType::F32, 1 << 15, |_| Err("no")).unwrap_err(), "no");
        assert!(pool.free_bytes() > 0, "what was refused comes back");
        let truths = pool.filled(DType::Bool, 1 << 17, write(1)).unwrap().unwrap();
        assert_ne!(truths.memory().start(), place);
        assert!(pool.filled(DType::Bool, 1 << 17, write(2)).unwrap().is_none());
    }

    #[test]
    fn what_is_free_is_at_most_what_was_used_lately_and_a_little() {
        let pool = Pool::default();
        let tiles: Vec<Tile> = (0..5).map(|_| pool.tile(DType::F64, SPARE / 16)).collect();
        drop(tiles);
        let later = Instant::now() + 2 * KEPT;
        assert_eq!(pool.lock().used, 0);
        assert_eq!(pool.lock().free, 5 * SPARE / 2, "lately used");
        pool.lock().shrink(later);
        assert_eq!(pool.lock().free, SPARE);
        let (kept, more) = (pool.tile(DType::U8, 2 * SPARE), pool.tile(DType::U8, SPARE + 1));
        drop(more);
        pool.lock().shrink(later);
        assert!(pool.lock().free <= 2 * SPARE, "{}", pool.lock().free);
        drop(kept);
        pool.lock().shrink(later);
        assert!(pool.lock().free <= SPARE);
    }

    #[test]
    fn what_is_not_there_is_an_error_and_changes_nothing() {
        let pool = Pool::default();
        drop(pool.tile(DType::U8, SPARE / 2));
        assert_eq!(pool.lock().free, SPARE / 2);
        let bytes = 1 << 60;
        let error = pool.try_tile(DType::U8, bytes).err();
        assert_eq!(error, Some(OutOfMemory { bytes }));
        assert_eq!(pool.lock().used, 0);
        assert_eq!(pool.free_bytes(), 0, "what was kept might have helped");
        assert!(pool.try_tile(DType::F64, usize::MAX / 2).is_err());
        drop(pool.tile(DType::U8, SPARE));
    }

    #[test]
    fn while_memory_is_scarce_new_blocks_take_the_place_of_unused_ones() {
        let pool = Pool::default();
        drop(pool.tile(DType::U8, SPARE / 4));
        pool.set_scarce(true);
        let other = pool.tile(DType::U8, SPARE / 8);
        assert_eq!(pool.lock().free, 0);
        drop(other);
        let again = pool.tile(DType::U8, SPARE / 8);
        assert_eq!(pool.lock().free, 0, "the same block");
        pool.set_scarce(false);
        let third = pool.tile(DType::U8, SPARE / 2);
        drop((again, third));
        pool.clear();
        assert_eq!(pool.free_bytes(), 0);
    }

    #[test]
    fn memory_that_somebody_refers_to_does_not_come_back() {
        let pool = Pool::default();
        let tile = pool.tile(DType::F64, 1 << 16);
        let memory = tile.memory().clone();
        drop(tile);
        assert_eq!(pool.lock().free, 0);
        assert_eq!(pool.lock().used, 0);
        drop(memory);
    }
}
