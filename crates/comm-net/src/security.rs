//! How connections are protected.

use std::fmt;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};

use crate::NetError;
use crate::wire::{Halt, Wire};

/// How connections are protected.
#[derive(Clone, Debug)]
pub enum Security {
    /// Not at all, and therefore only between processes of this machine: any address but loopback
    /// is refused.
    Plain,
    /// Not at all, anywhere: the user has asked for it.
    Insecure,
    /// By TLS 1.3 with certificates on both sides.
    Tls(Arc<Tls>),
}

impl Security {
    /// An error if connections with this address would have to be protected.
    pub(crate) fn check(&self, address: SocketAddr) -> Result<(), NetError> {
        match self {
            Self::Plain if !address.ip().to_canonical().is_loopback() => {
                Err(NetError::Unprotected { address: address.to_string() })
            }
            _ => Ok(()),
        }
    }

    /// The connecting side of a connection to `host`.
    pub(crate) fn secure_outgoing(
        &self,
        socket: TcpStream,
        host: &str,
        until: Instant,
    ) -> Result<Wire, Halt> {
        let wire = Wire::plain(socket).map_err(Halt::Io)?;
        let Self::Tls(tls) = self else { return Ok(wire) };
        let refused = |error: String| Halt::Io(std::io::Error::other(error));
        let name = match host.parse::<IpAddr>() {
            Ok(ip) => ServerName::from(ip),
            Err(_) => ServerName::try_from(host.to_owned()).map_err(|error| {
                refused(format!("`{host}` cannot be in a certificate: {error}"))
            })?,
        };
        let session = ClientConnection::new(Arc::clone(&tls.client), name);
        let session = session.map_err(|error| refused(error.to_string()))?;
        wire.protect(session.into(), until)
    }

    /// The listening side of a connection.
    pub(crate) fn secure_incoming(&self, wire: Wire, until: Instant) -> Result<Wire, Halt> {
        let Self::Tls(tls) = self else { return Ok(wire) };
        let session = ServerConnection::new(Arc::clone(&tls.server));
        let session = session.map_err(|error| Halt::Io(std::io::Error::other(error)))?;
        wire.protect(session.into(), until)
    }
}

/// A certificate with its key, and the authority whose certificates are believed: for the side
/// that connects and for the side that listens.
pub struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl Tls {
    /// From texts in PEM: the certificate of the authority, our own certificate, and its key.
    ///
    /// # Errors
    /// [`NetError::Keys`] if one of them cannot be read, or they do not belong together.
    pub fn from_pem(authority: &str, certificate: &str, key: &str) -> Result<Arc<Self>, NetError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        for root in certificates("certificate of the authority", authority)? {
            let added = roots.add(root);
            added.map_err(|error| unusable("certificate of the authority", &error))?;
        }
        let (roots, chain) = (Arc::new(roots), certificates("certificate", certificate)?);
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
        let key = key.map_err(|error| unusable("key", &error))?;
        let client = client(&provider, &roots, &chain, key.clone_key());
        let server = server(&provider, &roots, chain, key);
        Ok(Arc::new(Self { client: Arc::new(client?), server: Arc::new(server?) }))
    }
}

impl Tls {
    /// The side that listens, for a protocol above TLS that has these names.
    #[must_use]
    pub fn server_for(&self, protocols: &[&[u8]]) -> Arc<ServerConfig> {
        let mut server = ServerConfig::clone(&self.server);
        server.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Arc::new(server)
    }
}

fn client(
    provider: &Arc<CryptoProvider>,
    roots: &Arc<RootCertStore>,
    chain: &[CertificateDer<'static>],
    key: PrivateKeyDer<'static>,
) -> Result<ClientConfig, NetError> {
    let builder = ClientConfig::builder_with_provider(Arc::clone(provider));
    let builder = builder.with_protocol_versions(&[&TLS13]);
    let builder = builder.map_err(|error| unusable("versions of TLS", &error))?;
    let builder = builder.with_root_certificates(Arc::clone(roots));
    let config = builder.with_client_auth_cert(chain.to_vec(), key);
    config.map_err(|error| unusable("certificate and key", &error))
}

fn server(
    provider: &Arc<CryptoProvider>,
    roots: &Arc<RootCertStore>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, NetError> {
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::clone(roots), Arc::clone(provider));
    let verifier = verifier.build();
    let verifier = verifier.map_err(|error| unusable("certificate of the authority", &error))?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(provider));
    let builder = builder.with_protocol_versions(&[&TLS13]);
    let builder = builder.map_err(|error| unusable("versions of TLS", &error))?;
    let config = builder.with_client_cert_verifier(verifier).with_single_cert(chain, key);
    let mut config = config.map_err(|error| unusable("certificate and key", &error))?;
    // Connections last: a ticket for the next one would only be in the way.
    config.send_tls13_tickets = 0;
    Ok(config)
}

fn certificates(what: &'static str, pem: &str) -> Result<Vec<CertificateDer<'static>>, NetError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let found = found.map_err(|error| unusable(what, &error))?;
    match found.is_empty() {
        true => Err(NetError::Keys { what, reason: "there is none in the text".to_owned() }),
        false => Ok(found),
    }
}

fn unusable(what: &'static str, error: &dyn fmt::Display) -> NetError {
    NetError::Keys { what, reason: error.to_string() }
}

impl fmt::Debug for Tls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Tls(..)")
    }
}
