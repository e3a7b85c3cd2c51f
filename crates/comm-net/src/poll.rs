//! Waiting for sockets, with an end.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

/// What is waited for on a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interest {
    /// Something to read, or the end.
    pub(crate) read: bool,
    /// Space to write.
    pub(crate) write: bool,
}

impl Interest {
    pub(crate) const READ: Self = Self { read: true, write: false };
    pub(crate) const WRITE: Self = Self { read: false, write: true };

    fn flags(self) -> PollFlags {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, self.read);
        flags.set(PollFlags::OUT, self.write);
        flags
    }
}

/// One of the things that [`poll`] waits for.
pub(crate) fn watch(socket: &TcpStream, interest: Interest) -> PollFd<'_> {
    PollFd::new(socket, interest.flags())
}

/// A bell as one of the things that [`poll`] waits for.
pub(crate) fn watch_bell(bell: &Bell) -> PollFd<'_> {
    PollFd::new(&bell.rings, PollFlags::IN)
}

/// Waits until something happens on one of them, or for `longest`. May return early.
pub(crate) fn poll(watched: &mut [PollFd<'_>], longest: Duration) {
    let timeout = Timespec {
        tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(longest.subsec_nanos()),
    };
    // Interrupted, or short of kernel memory: whoever waits looks again and has a clock of its own.
    let _ = rustix::event::poll(watched, Some(&timeout));
}

/// Waits for one socket: false if nothing happened by then.
pub(crate) fn wait(socket: &TcpStream, interest: Interest, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut watched = [watch(socket, interest)];
        poll(&mut watched, left);
        if !watched[0].revents().is_empty() {
            return true;
        }
        if left.is_zero() {
            return false;
        }
    }
}

/// Wakes a thread that waits for sockets.
pub(crate) struct Bell {
    rings: UnixStream,
    rope: UnixStream,
}

impl Bell {
    pub(crate) fn new() -> std::io::Result<Self> {
        let (rings, rope) = UnixStream::pair()?;
        rings.set_nonblocking(true)?;
        rope.set_nonblocking(true)?;
        Ok(Self { rings, rope })
    }

    /// Wakes whoever watches, now or the next time.
    pub(crate) fn ring(&self) {
        // If the bell is full of rings already, it will be heard.
        let _ = std::io::Write::write(&mut &self.rope, &[1]);
    }

    /// Forgets all rings so far.
    pub(crate) fn hush(&self) {
        let mut rings = [0; 64];
        while matches!(std::io::Read::read(&mut &self.rings, &mut rings), Ok(64)) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_is_heard_until_it_is_hushed() {
        let bell = Bell::new().unwrap();
        let heard = || {
            let mut watched = [watch_bell(&bell)];
            poll(&mut watched, Duration::from_millis(1));
            !watched[0].revents().is_empty()
        };
        assert!(!heard());
        (0..100).for_each(|_| bell.ring());
        assert!(heard() && heard());
        bell.hush();
        assert!(!heard());
    }
}
