//! Authentication: processes of this machine alone, unless certificates or an explicit option say
//! otherwise.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pantile_comm_net::{Secret, Security, Tls};
use tonic::metadata::MetadataValue;
use tonic::service::Interceptor;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity, Server};
use tonic::{Code, Request, Status};

use crate::ClusterError;
use crate::refusals::Refusals;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// After so long without an answer a connection is taken for dead.
const ALIVE: Duration = Duration::from_secs(5);

/// The files of a folder of keys.
pub const FILES: [&str; 4] = ["authority.pem", "certificate.pem", "key.pem", "token"];

/// How a process of a cluster protects itself.
#[derive(Clone)]
pub struct Guard {
    security: Security,
    /// Authority, certificate and key.
    pem: Option<Arc<[String; 3]>>,
    token: Option<Secret>,
}

impl Default for Guard {
    /// For processes of one machine: nothing else is let in, or reached.
    fn default() -> Self {
        Self { security: Security::Plain, pem: None, token: None }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = if self.token.is_some() { "a token" } else { "no token" };
        write!(out, "Guard({:?}, {token})", self.security)
    }
}

impl Guard {
    /// Certificates and the token of a folder: the files of [`FILES`].
    ///
    /// # Errors
    /// A file that cannot be read or used.
    pub fn from_folder(folder: &Path) -> Result<Self, ClusterError> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|error| ClusterError::Keys {
                reason: format!("{} cannot be read: {error}", path.display()),
            })
        };
        let [authority, certificate, key, token] = FILES;
        let pem = [read(authority)?, read(certificate)?, read(key)?];
        let tls = Tls::from_pem(&pem[0], &pem[1], &pem[2])?;
        let token = Secret::from_hex(read(token)?.trim())?;
        Ok(Self { security: Security::Tls(tls), pem: Some(Arc::new(pem)), token: Some(token) })
    }

    /// The same with another token.
    #[must_use]
    pub fn with_token(mut self, token: Secret) -> Self {
        self.token = Some(token);
        self
    }

    /// Nothing is protected, anywhere: only for networks that the user trusts.
    #[must_use]
    pub fn insecure(mut self) -> Self {
        if matches!(self.security, Security::Plain) {
            self.security = Security::Insecure;
        }
        self
    }

    /// How elements are protected on their way.
    #[must_use]
    pub fn security(&self) -> &Security {
        &self.security
    }

    /// Refuses to listen where any process could connect.
    pub(crate) fn check(&self, address: SocketAddr) -> Result<(), ClusterError> {
        let loopback = address.ip().to_canonical().is_loopback();
        match self.security {
            Security::Plain if !loopback => {
                Err(ClusterError::Unprotected { address: address.to_string() })
            }
            _ => Ok(()),
        }
    }

    /// A server for connections that are protected already.
    pub(crate) fn server(&self) -> Server {
        Server::builder()
            .http2_keepalive_interval(Some(ALIVE))
            .http2_keepalive_timeout(Some(ALIVE))
            .max_concurrent_streams(Some(64))
    }

    /// A channel to `HOST:PORT`.
    pub(crate) async fn channel(&self, address: &str) -> Result<Channel, ClusterError> {
        let failed = |reason: String| ClusterError::Connect { address: address.to_owned(), reason };
        let places = tokio::net::lookup_host(address).await;
        let places: Vec<SocketAddr> = places.map_err(|error| failed(error.to_string()))?.collect();
        places.iter().try_for_each(|place| self.check(*place))?;
        let scheme = if self.pem.is_some() { "https" } else { "http" };
        let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"));
        let mut endpoint = endpoint
            .map_err(|error| failed(error.to_string()))?
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(ALIVE)
            .keep_alive_timeout(ALIVE)
            .keep_alive_while_idle(true);
        if let Some(pem) = &self.pem {
            let [authority, certificate, key] = &**pem;
            let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
            let tls = ClientTlsConfig::new()
                .ca_certificate(Certificate::from_pem(authority))
                .identity(Identity::from_pem(certificate, key))
                .domain_name(host.trim_matches(['[', ']']));
            endpoint = endpoint.tls_config(tls).map_err(|error| failed(error.to_string()))?;
        }
        endpoint.connect().await.map_err(|error| failed(causes(&error)))
    }

    /// Why the first call at `HOST:PORT` got no answer: a refusal, or another protocol.
    pub(crate) fn unanswered(&self, address: &str, status: &Status) -> ClusterError {
        let reason = status.message();
        match (status.code(), &self.pem) {
            (Code::Unauthenticated | Code::FailedPrecondition | Code::ResourceExhausted, _) => {
                ClusterError::Refused { reason: format!("{address}: {reason}") }
            }
            (_, pem) => {
                let guess = match pem {
                    None => "perhaps it wants keys",
                    Some(_) => "perhaps its keys are those of another cluster",
                };
                let reason = format!("{guess} ({reason})");
                ClusterError::Connect { address: address.to_owned(), reason }
            }
        }
    }

    /// The check of the tokens of incoming calls.
    pub(crate) fn token_check(&self, refusals: &Arc<Refusals>) -> TokenCheck {
        TokenCheck { token: self.token(), refusals: Arc::clone(refusals) }
    }

    /// What sends the token on one side, and checks it on the other.
    pub(crate) fn token(&self) -> Token {
        Token(self.token.clone())
    }
}

/// An error with what caused it.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// Where a call comes from.
pub(crate) fn caller<T>(request: &Request<T>) -> String {
    request
        .remote_addr()
        .map_or_else(|| "an unknown address".to_owned(), |address| address.to_string())
}

/// Shows the token with every call.
#[derive(Clone)]
pub(crate) struct Token(Option<Secret>);

impl Interceptor for Token {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            let value = MetadataValue::try_from(format!("Bearer {}", token.to_hex()))
                .map_err(|_| Status::internal("a token is hexadecimal digits"))?;
            request.metadata_mut().insert("authorization", value);
        }
        Ok(request)
    }
}

/// Admits only calls that have the token, if there is one.
#[derive(Clone)]
pub(crate) struct TokenCheck {
    token: Token,
    refusals: Arc<Refusals>,
}

impl Interceptor for TokenCheck {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let Some(token) = &self.token.0 else { return Ok(request) };
        let shown = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
        let shown = shown.and_then(|value| value.strip_prefix("Bearer "));
        let shown = shown.and_then(|text| Secret::from_hex(text).ok());
        let reason = match shown {
            Some(shown) if shown.matches(token) => return Ok(request),
            Some(_) => "the token is not that of this cluster",
            None => "this cluster wants a token",
        };
        self.refusals.note(&caller(&request), &reason);
        Err(Status::unauthenticated(reason))
    }
}
