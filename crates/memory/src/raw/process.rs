//! Which process this is, without asking the system each time: a forked process has copies of the
//! memory of its parent, but none of its threads.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// Forks between the first process that asked and this one.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// A number that a process and those forked from it do not share.
#[must_use]
pub fn process() -> u64 {
    static ASKED: Once = Once::new();
    ASKED.call_once(|| {
        #[cfg(unix)]
        // SAFETY: R4; `forked` below is the handler, and the standard allows what it does.
        unsafe {
            libc::pthread_atfork(None, None, Some(forked));
        }
    });
    FORKS.load(Ordering::Relaxed)
}

/// Called in the new process.
#[cfg(unix)]
unsafe extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::process;

    #[test]
    fn a_forked_process_is_another_one() {
        let own = process();
        // SAFETY: the child calls nothing but what is allowed after a fork, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = i32::from(process() == own);
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(code) };
        }
        let mut status = 0;
        // SAFETY: waits for the child from above.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!((status, process()), (0, own));
    }
}
