//! Incoming connections of the control plane: the TLS handshake first, and a note if that fails.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use pantile_comm_net::Security;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::{Connected, TcpConnectInfo};

use crate::guard::Guard;
use crate::refusals::Refusals;

/// How long showing certificates may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Most connections that are showing certificates at a time.
const SHAKING_MAX: usize = 256;

/// After an error of the system (too many open files) it is not asked again at once.
const PAUSE: Duration = Duration::from_millis(20);

/// A connection to a server.
pub(crate) enum ServerStream {
    Plain(TcpStream),
    Protected(Box<TlsStream<TcpStream>>),
}

/// The connections of a listener, protected as the guard says. One without a certificate of this
/// cluster is noted. Ends when no server takes connections any more.
pub(crate) fn incoming(
    listener: TcpListener,
    guard: &Guard,
    refusals: &Arc<Refusals>,
) -> ReceiverStream<io::Result<ServerStream>> {
    let acceptor = match guard.security() {
        Security::Tls(tls) => Some(TlsAcceptor::from(tls.server_for(&[b"h2"]))),
        _ => None,
    };
    let (bring, streams) = mpsc::channel(16);
    let refusals = Arc::clone(refusals);
    tokio::spawn(async move {
        let shaking = Arc::new(Semaphore::new(SHAKING_MAX));
        loop {
            let come = tokio::select! {
                come = listener.accept() => come,
                () = bring.closed() => return,
            };
            let Ok((socket, address)) = come else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            // Small messages do not wait for more: two in a row would take 40 ms. A connection that
            // is gone already says so when it is used.
            let _ = socket.set_nodelay(true);
            let Some(acceptor) = acceptor.clone() else {
                let _ = bring.send(Ok(ServerStream::Plain(socket))).await;
                continue;
            };
            let Ok(turn) = Arc::clone(&shaking).try_acquire_owned() else {
                refusals.note(&address, &"too many come at once");
                continue;
            };
            let (bring, refusals) = (bring.clone(), Arc::clone(&refusals));
            tokio::spawn(async move {
                match tokio::time::timeout(HANDSHAKE, acceptor.accept(socket)).await {
                    Ok(Ok(stream)) => {
                        let _ = bring.send(Ok(ServerStream::Protected(Box::new(stream)))).await;
                    }
                    Ok(Err(error)) => refusals.note(&address, &unprotected(&error)),
                    Err(_) => refusals.note(&address, &"it showed no certificate in time"),
                }
                drop(turn);
            });
        }
    });
    ReceiverStream::new(streams)
}

fn unprotected(error: &io::Error) -> String {
    format!("not protected as it should be: {error}")
}

impl Connected for ServerStream {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        match self {
            Self::Plain(socket) => socket.connect_info(),
            Self::Protected(stream) => stream.get_ref().0.connect_info(),
        }
    }
}

impl AsyncRead for ServerStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_read(context, room),
            Self::Protected(stream) => Pin::new(stream).poll_read(context, room),
        }
    }
}

impl AsyncWrite for ServerStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Self::Protected(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_flush(context),
            Self::Protected(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Self::Protected(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
