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

/// A pipe as one of the things that [`poll`] waits for.
pub(crate) fn watch_pipe(pipe: &SelfPipe) -> PollFd<'_> {
    PollFd::new(&pipe.reader, PollFlags::IN)
}

/// Waits until something happens on one of them, or for `longest`. May return early.
pub(crate) fn poll(watched: &mut [PollFd<'_>], longest: Duration) {
    let timeout = Timespec {
        tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(longest.subsec_nanos()),
    };
    // Interrupted, or short of kernel memory: the caller polls again and has a clock of its own.
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

/// Wakes a thread that waits for sockets: the self-pipe trick.
pub(crate) struct SelfPipe {
    reader: UnixStream,
    writer: UnixStream,
}

impl SelfPipe {
    pub(crate) fn new() -> std::io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Self { reader, writer })
    }

    /// Wakes the thread that polls, now or the next time.
    pub(crate) fn notify(&self) {
        // If the pipe is full, its reader will be woken anyway.
        let _ = std::io::Write::write(&mut &self.writer, &[1]);
    }

    /// Forgets all notifications so far.
    pub(crate) fn drain(&self) {
        let mut reader = [0; 64];
        while matches!(std::io::Read::read(&mut &self.reader, &mut reader), Ok(64)) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_stays_until_the_pipe_is_drained() {
        let pipe = SelfPipe::new().unwrap();
        let reads = || {
            let mut watched = [watch_pipe(&pipe)];
            poll(&mut watched, Duration::from_millis(1));
            !watched[0].revents().is_empty()
        };
        assert!(!reads());
        (0..100).for_each(|_| pipe.notify());
        assert!(reads() && reads());
        pipe.drain();
        assert!(!reads());
    }
}
