//! Clusters: `pantile coordinator`, `pantile worker`, `pantile cluster`, and how the others reach
//! one.
//!
//! ```text
//! pantile cluster -n 2 ──┬── a coordinator, in this process
//!                        ├── pantile worker ...   children, which end when their
//!                        └── pantile worker ...   standard input closes: however we end
//! mpirun -n 3 pantile cluster                      rank 0 coordinates, the others work
//! ```

pub(crate) mod coordinator;
mod in_job;
mod keys;
mod life;
pub(crate) mod offload;
mod protection;
pub(crate) mod site;
mod status;
pub(crate) mod target;
pub(crate) mod worker;

use anyhow::{Result, anyhow};

/// The host and the port of `HOST:PORT`.
///
/// # Errors
/// The text is anything else.
fn host_and_port(option: &str, text: &str) -> Result<(String, u16)> {
    let parts = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    let parts = parts.and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    parts.ok_or_else(|| anyhow!("{option} {text}: expected HOST:PORT, for example 127.0.0.1:7420"))
}

/// The same for an address that others dial: a host that stands for all addresses is none.
///
/// # Errors
/// The text is anything else.
fn named_host_and_port(option: &str, text: &str) -> Result<(String, u16)> {
    let (host, port) = host_and_port(option, text)?;
    match host.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
        Ok(ip) if ip.is_unspecified() => Err(anyhow!(
            "{option} {text}: others shall dial it, expected the name or the address by which they \
             know this machine"
        )),
        _ => Ok((host, port)),
    }
}

/// True if a host is this machine, to judge by its name.
fn is_loopback(host: &str) -> bool {
    let ip = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    ip.map_or(host == "localhost", |ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        assert_eq!(host_and_port("-l", "[::1]:80").unwrap(), ("[::1]".to_owned(), 80));
        for wrong in ["host", ":80", "host:", "host:70000", "host:x"] {
            let error = host_and_port("--listen", wrong).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--listen {wrong}: expected HOST:PORT")), "{error}");
        }
        for wrong in ["0.0.0.0:80", "[::]:80"] {
            let error = named_host_and_port("--data", wrong).unwrap_err().to_string();
            assert!(error.contains("by which they know this machine"), "{error}");
        }
        assert!(["localhost", "127.3.2.1", "[::1]"].iter().all(|host| is_loopback(host)));
        assert!(!["node-3", "10.0.0.1", "localhost.example"].iter().any(|host| is_loopback(host)));
    }
}
