//! A connected socket that never blocks, plain or under TLS, and how to wait for it.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustls::Connection as Session;

use crate::poll::{self, Interest};

/// Ciphertext that is read at once: enough for many records.
const CIPHER_BYTES: usize = 128 << 10;

/// Plaintext that TLS takes before it has to be written.
const PLAIN_BYTES: usize = 256 << 10;

/// One end of a connection.
pub(crate) struct Wire {
    socket: TcpStream,
    peer: SocketAddr,
    tls: Option<Mutex<TlsState>>,
}

struct TlsState {
    session: Session,
    cipher: Box<[u8]>,
    /// What of `cipher` was read from the socket and not yet taken.
    start: usize,
    stop: usize,
}

/// Why a wait for bytes ended without them.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The time is over.
    Late,
    /// The other side closed before the first byte.
    Closed,
    /// The other side closed when so many bytes were missing.
    Cut(usize),
    /// The system, or TLS, refused.
    Io(io::Error),
}

impl Wire {
    /// A connected socket, from now on without blocking and without delay.
    pub(crate) fn plain(socket: TcpStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let peer = socket.peer_addr()?;
        Ok(Self { socket, peer, tls: None })
    }

    /// The same under TLS; returns when both sides have shaken hands.
    pub(crate) fn protect(mut self, mut session: Session, until: Instant) -> Result<Self, Halt> {
        session.set_buffer_limit(Some(PLAIN_BYTES));
        let cipher = vec![0; CIPHER_BYTES].into_boxed_slice();
        let mut tls = TlsState { session, cipher, start: 0, stop: 0 };
        while tls.session.is_handshaking() || tls.session.wants_write() {
            let step = tls.flush(&self.socket).and_then(|()| match tls.session.is_handshaking() {
                true => tls.fill(&self.socket),
                false => Ok(true),
            });
            match step {
                Ok(true) => {}
                Ok(false) => return Err(Halt::Closed),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let interest = Interest { read: true, write: tls.session.wants_write() };
                    if !poll::wait(&self.socket, interest, until) {
                        return Err(Halt::Late);
                    }
                }
                Err(error) => {
                    // The other side should know why.
                    let _ = tls.flush(&self.socket);
                    return Err(Halt::Io(error));
                }
            }
        }
        self.tls = Some(Mutex::new(tls));
        Ok(self)
    }

    /// Address of the other side.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The socket, to be waited for.
    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    fn tls(&self) -> Option<MutexGuard<'_, TlsState>> {
        let tls = self.tls.as_ref()?;
        Some(tls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads what is there: zero bytes at the end, `WouldBlock` if nothing has come.
    pub(crate) fn try_read(&self, room: &mut [u8]) -> io::Result<usize> {
        again(|| match self.tls() {
            None => (&self.socket).read(room),
            Some(mut tls) => tls.read(&self.socket, room),
        })
    }

    /// As [`Wire::try_read`], into several slices, none of them empty.
    pub(crate) fn try_read_vectored(&self, posted: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        again(|| match self.tls() {
            None => (&self.socket).read_vectored(posted),
            Some(mut tls) => tls.read_vectored(&self.socket, posted),
        })
    }

    /// Writes as much as there is space for, `WouldBlock` if there is none.
    pub(crate) fn try_write(&self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        again(|| match self.tls() {
            None => (&self.socket).write_vectored(bytes),
            Some(mut tls) => tls.write(&self.socket, bytes),
        })
    }

    /// Sends what TLS has taken and not yet sent: false if there is no space.
    pub(crate) fn try_flush(&self) -> io::Result<bool> {
        let Some(mut tls) = self.tls() else { return Ok(true) };
        match again(|| tls.flush(&self.socket)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// True if bytes may have been read from the socket that no caller has taken: then the socket
    /// does not tell whether there is more.
    pub(crate) fn reads_ahead(&self) -> bool {
        self.tls.is_some()
    }

    /// True if TLS has taken bytes that it could not send yet.
    pub(crate) fn has_pending_writes(&self) -> bool {
        self.tls().is_some_and(|tls| tls.session.wants_write())
    }

    /// Ends the connection for both sides; a thread that reads or writes it is told.
    pub(crate) fn cut(&self) {
        // An error means that it has ended already.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish(&self) {
        if let Some(mut tls) = self.tls() {
            tls.session.send_close_notify();
            let _ = tls.flush(&self.socket);
        }
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Fills the room, and waits for it until then.
    pub(crate) fn read_exact(&self, room: &mut [u8], until: Instant) -> Result<(), Halt> {
        let mut got = 0;
        while got < room.len() {
            match self.try_read(&mut room[got..]) {
                Ok(0) if got == 0 => return Err(Halt::Closed),
                Ok(0) => return Err(Halt::Cut(room.len() - got)),
                Ok(count) => got += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !poll::wait(&self.socket, Interest::READ, until) {
                        return Err(if got == 0 {
                            Halt::Late
                        } else {
                            Halt::Cut(room.len() - got)
                        });
                    }
                }
                Err(error) => return Err(Halt::Io(error)),
            }
        }
        Ok(())
    }

    /// Writes everything, and waits for space until then.
    pub(crate) fn write_all(&self, bytes: &[&[u8]], until: Instant) -> Result<(), Halt> {
        let mut slices: Vec<IoSlice<'_>> = bytes.iter().map(|part| IoSlice::new(part)).collect();
        let mut left = &mut slices[..];
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match self.try_write(left) {
                Ok(count) => IoSlice::advance_slices(&mut left, count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait_writable(until)?,
                Err(error) => return Err(Halt::Io(error)),
            }
        }
        while !self.try_flush().map_err(Halt::Io)? {
            self.wait_writable(until)?;
        }
        Ok(())
    }

    fn wait_writable(&self, until: Instant) -> Result<(), Halt> {
        match poll::wait(&self.socket, Interest::WRITE, until) {
            true => Ok(()),
            false => Err(Halt::Late),
        }
    }
}

/// Tries again when a signal came in between.
fn again<T>(mut step: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match step() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl TlsState {
    fn read(&mut self, socket: &TcpStream, room: &mut [u8]) -> io::Result<usize> {
        if room.is_empty() {
            return Ok(0);
        }
        loop {
            match self.session.reader().read(room) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // An end without a farewell: the reader of frames knows whether it is too early.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) => return Err(error),
            }
            if !self.fill(socket)? {
                return Ok(0);
            }
        }
    }

    /// Reads slice by slice, as far as there is plaintext. What goes wrong behind the first bytes
    /// goes wrong again with the next call.
    fn read_vectored(
        &mut self,
        socket: &TcpStream,
        posted: &mut [IoSliceMut<'_>],
    ) -> io::Result<usize> {
        let mut got = 0;
        for room in posted {
            match self.read(socket, room) {
                Ok(count) => {
                    got += count;
                    if count < room.len() {
                        break;
                    }
                }
                Err(_) if got > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(got)
    }

    /// Takes more ciphertext: false at the end.
    fn fill(&mut self, mut socket: &TcpStream) -> io::Result<bool> {
        if self.start == self.stop {
            (self.start, self.stop) = (0, socket.read(&mut self.cipher)?);
            if self.stop == 0 {
                return Ok(false);
            }
        }
        self.start += self.session.read_tls(&mut &self.cipher[self.start..self.stop])?;
        let state = self.session.process_new_packets();
        state.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        Ok(true)
    }

    fn write(&mut self, socket: &TcpStream, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        self.flush(socket)?;
        let count = self.session.writer().write_vectored(bytes)?;
        match self.flush(socket) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    fn flush(&mut self, mut socket: &TcpStream) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut socket)?;
        }
        Ok(())
    }
}
