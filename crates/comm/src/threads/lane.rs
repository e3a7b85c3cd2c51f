//! The protocol of one window: memory that one rank shows to another.

use crate::sync::{AtomicU32, Mutex, Ordering, lock};
use crate::{Call, Memory};

/// Nothing is shown; the shower may open.
const EMPTY: u32 = 0;
/// Something is shown and nobody looks yet; the viewer may look, the shower may take it back.
const OPEN: u32 = 1;
/// The viewer looks; only it can go on.
const SEEN: u32 = 2;
/// The viewer has finished; the shower may close.
const DONE: u32 = 3;

/// What is shown, and in which call.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) call: Call,
    pub(super) memory: Memory,
}

/// Memory that one rank, the shower, shows to another, the viewer.
///
/// ```text
///        open            look            done
/// EMPTY ─────► OPEN ───────────► SEEN ─────────► DONE
///   ▲            │ take back                       │ close
///   └────────────┴─────────────────────────────────┘
/// ```
///
/// Invariants:
/// 1. Only the shower leaves EMPTY and DONE; only the viewer leaves SEEN; from OPEN whoever comes
///    first.
/// 2. In SEEN the viewer reads the memory, in every other state nobody but the shower does.
/// 3. `shown` is set from before OPEN until after DONE.
#[derive(Default)]
pub(super) struct Lane {
    state: AtomicU32,
    shown: Mutex<Option<Shown>>,
}

impl Lane {
    /// Shower: shows memory. False if something is shown already.
    pub(super) fn open(&self, shown: Shown) -> bool {
        if self.state.load(Ordering::Acquire) != EMPTY {
            return false;
        }
        *lock(&self.shown) = Some(shown);
        self.state.store(OPEN, Ordering::Release);
        true
    }

    /// Anybody: true if there is something to look at.
    pub(super) fn is_open(&self) -> bool {
        self.state.load(Ordering::Acquire) == OPEN
    }

    /// Viewer: starts to look, if something is shown.
    pub(super) fn look(&self) -> Option<Shown> {
        let entered =
            self.state.compare_exchange(OPEN, SEEN, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !entered {
            return None;
        }
        let shown = lock(&self.shown).clone();
        debug_assert!(shown.is_some(), "invariant 3 of a lane");
        shown
    }

    /// Viewer: has finished looking; nothing happens if it did not look.
    pub(super) fn done(&self) {
        let _ = self.state.compare_exchange(SEEN, DONE, Ordering::Release, Ordering::Relaxed);
    }

    /// Shower: closes the window if the viewer has finished. Also true if there is none.
    pub(super) fn close(&self) -> bool {
        match self.state.load(Ordering::Acquire) {
            EMPTY => true,
            DONE => {
                *lock(&self.shown) = None;
                self.state.store(EMPTY, Ordering::Release);
                true
            }
            _ => false,
        }
    }

    /// Shower: takes the window back unless the viewer looks right now. True if it is closed.
    pub(super) fn take_back(&self) -> bool {
        // From OPEN to DONE, as if the viewer had been there.
        let _ = self.state.compare_exchange(OPEN, DONE, Ordering::AcqRel, Ordering::Relaxed);
        self.close()
    }
}

#[cfg(all(test, not(feature = "explore")))]
mod tests {
    use super::*;

    fn shown() -> Shown {
        Shown { call: Call::here("test", 1), memory: Memory::zeroed(8) }
    }

    #[test]
    fn a_window_goes_around_once() {
        let lane = Lane::default();
        assert!(lane.look().is_none() && lane.close());
        assert!(lane.open(shown()) && !lane.open(shown()));
        assert!(lane.is_open() && !lane.close());
        assert!(lane.look().is_some() && lane.look().is_none());
        assert!(!lane.close() && !lane.take_back());
        lane.done();
        assert!(lane.close() && !lane.is_open() && lane.open(shown()));
    }

    #[test]
    fn a_window_is_taken_back_unless_somebody_looks() {
        let lane = Lane::default();
        assert!(lane.open(shown()) && lane.take_back());
        assert!(lane.look().is_none());
        lane.done();
        assert!(lane.close(), "done without a look changes nothing");
    }
}
