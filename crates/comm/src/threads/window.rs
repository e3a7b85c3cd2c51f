//! The protocol of one window: memory that one rank shows to another.

use crate::sync::{AtomicU32, Mutex, Ordering, lock};
use crate::{CollectiveSignature, MemoryBlock};

/// Nothing is exposed; the owner may expose.
const EMPTY: u32 = 0;
/// Something is exposed and not read yet; the viewer may acquire it, the owner may revoke it.
const EXPOSED: u32 = 1;
/// The viewer reads; only it can go on.
const READING: u32 = 2;
/// The viewer has finished; the owner may close.
const RELEASED: u32 = 3;

/// What is exposed, and in which call.
#[derive(Clone)]
pub(super) struct ExposedMemory {
    pub(super) call: CollectiveSignature,
    pub(super) memory: MemoryBlock,
}

/// Memory that one rank, the owner, shows to another, the viewer.
///
/// ```text
///        expose            acquire            release
/// EMPTY ───────► EXPOSED ───────────► READING ─────────► RELEASED
///   ▲               │ revoke                                │ close
///   └───────────────┴───────────────────────────────────────┘
/// ```
///
/// Invariants:
/// 1. Only the owner leaves EMPTY and RELEASED; only the viewer leaves READING; from EXPOSED
///    either, the first one.
/// 2. In READING the viewer reads the memory, in every other state only the owner does.
/// 3. `exposed` is set from before EXPOSED until after RELEASED.
#[derive(Default)]
pub(super) struct SharedWindow {
    state: AtomicU32,
    exposed: Mutex<Option<ExposedMemory>>,
}

impl SharedWindow {
    /// Owner: exposes memory. False if something is exposed already.
    pub(super) fn expose(&self, exposed: ExposedMemory) -> bool {
        if self.state.load(Ordering::Acquire) != EMPTY {
            return false;
        }
        *lock(&self.exposed) = Some(exposed);
        self.state.store(EXPOSED, Ordering::Release);
        true
    }

    /// Any thread: true if there is something to acquire.
    pub(super) fn is_exposed(&self) -> bool {
        self.state.load(Ordering::Acquire) == EXPOSED
    }

    /// Viewer: starts to read, if something is exposed.
    pub(super) fn acquire(&self) -> Option<ExposedMemory> {
        let entered = self
            .state
            .compare_exchange(EXPOSED, READING, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok();
        if !entered {
            return None;
        }
        let exposed = lock(&self.exposed).clone();
        debug_assert!(exposed.is_some(), "invariant 3 of a window");
        exposed
    }

    /// Viewer: has finished reading; nothing happens if it did not read.
    pub(super) fn release(&self) {
        let _ =
            self.state.compare_exchange(READING, RELEASED, Ordering::Release, Ordering::Relaxed);
    }

    /// Owner: closes the window if the viewer has finished. Also true if there is none.
    pub(super) fn close(&self) -> bool {
        match self.state.load(Ordering::Acquire) {
            EMPTY => true,
            RELEASED => {
                *lock(&self.exposed) = None;
                self.state.store(EMPTY, Ordering::Release);
                true
            }
            _ => false,
        }
    }

    /// Owner: revokes the window unless the viewer reads right now. True if it is closed.
    pub(super) fn revoke(&self) -> bool {
        // From EXPOSED to RELEASED, as if the viewer had read it.
        let _ = self.state.compare_exchange(EXPOSED, RELEASED, Ordering::AcqRel, Ordering::Relaxed);
        self.close()
    }
}

#[cfg(all(test, not(feature = "explore")))]
mod tests {
    use super::*;

    fn exposed() -> ExposedMemory {
        ExposedMemory { call: CollectiveSignature::here("test", 1), memory: MemoryBlock::zeroed(8) }
    }

    #[test]
    fn a_window_goes_around_once() {
        let window = SharedWindow::default();
        assert!(window.acquire().is_none() && window.close());
        assert!(window.expose(exposed()) && !window.expose(exposed()));
        assert!(window.is_exposed() && !window.close());
        assert!(window.acquire().is_some() && window.acquire().is_none());
        assert!(!window.close() && !window.revoke());
        window.release();
        assert!(window.close() && !window.is_exposed() && window.expose(exposed()));
    }

    #[test]
    fn a_window_is_revoked_unless_the_viewer_reads() {
        let window = SharedWindow::default();
        assert!(window.expose(exposed()) && window.revoke());
        assert!(window.acquire().is_none());
        window.release();
        assert!(window.close(), "a release without an acquire changes nothing");
    }
}
