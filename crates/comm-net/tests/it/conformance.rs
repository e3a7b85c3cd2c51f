//! The transport passes the suite with all ranks in one process, over sockets of this machine.

use pantile_comm::conformance;
use pantile_comm_net::Security;
use pantile_comm_net::keys::{Authority, CertificateRole};

/// One rank, a pair, an odd and an even number, more ranks than this machine may have cores.
const SIZES: [usize; 5] = [1, 2, 3, 4, 6];

fn check(security: &Security) {
    let found =
        conformance::check(&SIZES, |size, options| crate::common::world(size, options, security));
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn plain_connections_conform() {
    check(&Security::Plain);
}

#[test]
fn protected_connections_conform() {
    let authority = Authority::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    check(&Security::Tls(authority.tls(&names, CertificateRole::Server).unwrap()));
}
