//! Certificates and keys of a cluster.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::NetError;
use crate::security::Tls;

/// A certificate with its key, as texts in PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct CertificateAndKey {
    /// The certificate, which is public.
    pub certificate: String,
    /// The key, for its owner alone.
    pub key: String,
}

/// What the holder of a certificate may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateRole {
    /// Listen, and connect to others: coordinators and workers.
    Server,
    /// Connect only.
    Client,
}

/// The authority of one cluster: the holder of a certificate of it belongs to the cluster.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
    key: String,
}

impl Authority {
    /// A new authority.
    ///
    /// # Errors
    /// [`NetError::Keys`] if the system has no random numbers.
    pub fn generate() -> Result<Self, NetError> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "Pantile cluster");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().map_err(|error| failed("key of the authority", &error))?;
        let certificate = params.self_signed(&key);
        let certificate =
            certificate.map_err(|error| failed("certificate of the authority", &error))?;
        let text = key.serialize_pem();
        let issuer = Issuer::new(params, key);
        Ok(Self { certificate: certificate.pem(), issuer, key: text })
    }

    /// Its certificate, which every process of the cluster needs, in PEM.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Its key, in PEM. It is not needed any more once all certificates are made.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// A certificate and a key for a machine or a person that others know by these names and
    /// addresses.
    ///
    /// # Errors
    /// [`NetError::Keys`] if there is no name, or one cannot stand in a certificate.
    pub fn issue(
        &self,
        names: &[String],
        role: CertificateRole,
    ) -> Result<CertificateAndKey, NetError> {
        let Some(first) = names.first() else {
            let reason = "expected at least one name or address".to_owned();
            return Err(NetError::Keys { what: "certificate", reason });
        };
        let params = CertificateParams::new(names.to_vec());
        let mut params = params.map_err(|error| failed("certificate", &error))?;
        params.distinguished_name.push(DnType::CommonName, first.as_str());
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = match role {
            CertificateRole::Server => {
                vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth]
            }
            CertificateRole::Client => vec![ExtendedKeyUsagePurpose::ClientAuth],
        };
        let key = KeyPair::generate().map_err(|error| failed("key", &error))?;
        let certificate = params.signed_by(&key, &self.issuer);
        let certificate = certificate.map_err(|error| failed("certificate", &error))?;
        Ok(CertificateAndKey { certificate: certificate.pem(), key: key.serialize_pem() })
    }

    /// A certificate and key of this authority, ready to be used.
    ///
    /// # Errors
    /// As [`Authority::issue`].
    pub fn tls(&self, names: &[String], role: CertificateRole) -> Result<Arc<Tls>, NetError> {
        let pair = self.issue(names, role)?;
        Tls::from_pem(&self.certificate, &pair.certificate, &pair.key)
    }
}

fn failed(what: &'static str, error: &rcgen::Error) -> NetError {
    NetError::Keys { what, reason: error.to_string() }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Authority(..)")
    }
}

impl std::fmt::Debug for CertificateAndKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Pair(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn keys_are_made_and_used() {
        let authority = Authority::generate().unwrap();
        for role in [CertificateRole::Server, CertificateRole::Client] {
            authority.tls(&names(&["localhost", "127.0.0.1", "::1"]), role).unwrap();
        }
        assert!(authority.key().contains("PRIVATE KEY"));
        assert!(!format!("{authority:?}").contains("PRIVATE"));
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let authority = Authority::generate().unwrap();
        let check = |result: Result<(), NetError>, words: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        check(
            authority.issue(&[], CertificateRole::Client).map(drop),
            "expected at least one name",
        );
        check(
            authority.issue(&names(&["größe"]), CertificateRole::Client).map(drop),
            "cannot use the",
        );
        let pair = authority.issue(&names(&["a"]), CertificateRole::Client).unwrap();
        let other = authority.issue(&names(&["b"]), CertificateRole::Client).unwrap();
        let root = authority.certificate();
        let tls = |root, certificate, key| Tls::from_pem(root, certificate, key).map(drop);
        check(tls("", &pair.certificate, &pair.key), "certificate of the authority: there is none");
        check(tls(root, "nothing", &pair.key), "certificate: there is none");
        check(tls(root, &pair.certificate, "nothing"), "cannot use the key");
        check(tls(root, &pair.certificate, &other.key), "certificate and key");
    }
}
