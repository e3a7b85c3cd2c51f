//! Tokens: a connection that shows the right one is admitted.

use std::fmt;
use std::hint::black_box;

use crate::NetError;

/// Bytes of a secret.
pub(crate) const SECRET_BYTES: usize = 32;

/// A token of 256 random bits. It does not show itself, is compared in a time that does not depend
/// on where two differ, and is wiped when it is dropped.
#[derive(Clone)]
pub struct Secret([u8; SECRET_BYTES]);

impl Secret {
    /// A new secret from the system's source of random numbers.
    ///
    /// # Errors
    /// [`NetError::Keys`] if that source does not work.
    pub fn random() -> Result<Self, NetError> {
        Ok(Self(random()?))
    }

    /// These bytes as a secret.
    #[must_use]
    pub fn from_bytes(bytes: [u8; SECRET_BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes, to be sent to a process that may know them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }

    /// The secret that a text of 64 hexadecimal digits spells; space around it does not count.
    ///
    /// # Errors
    /// [`NetError::Token`] if the text is anything else. The text itself is not repeated.
    pub fn from_hex(text: &str) -> Result<Self, NetError> {
        let text = text.trim();
        let wrong = || NetError::Token { characters: text.chars().count() };
        let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() == 2 * SECRET_BYTES).ok_or_else(wrong)?;
        let mut bytes = [0; SECRET_BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::try_from(pair[0] * 16 + pair[1]).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }

    /// 64 hexadecimal digits, for a file that only its reader can open.
    #[must_use]
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// True if both are the same; takes as long for any two.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        black_box(pairs.fold(0, |differs, (a, b)| black_box(differs | (a ^ b)))) == 0
    }
}

/// Random bytes from the system.
fn random<const N: usize>() -> Result<[u8; N], NetError> {
    let mut bytes = [0; N];
    let source = rustls::crypto::ring::default_provider().secure_random;
    let filled = source.fill(&mut bytes);
    filled.map_err(|_| NetError::Keys {
        what: "random numbers of the system",
        reason: String::new(),
    })?;
    Ok(bytes)
}

/// A number that cannot be guessed: the name of a world or a session.
///
/// # Errors
/// As [`Secret::random`].
pub fn random_id() -> Result<u128, NetError> {
    Ok(u128::from_le_bytes(random()?))
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(..)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0 = [0; SECRET_BYTES];
        // Without a reader the compiler would leave the wiping out.
        black_box(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_random_comes_back_and_is_not_shown() {
        let (one, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert!(one.matches(&one.clone()) && !one.matches(&other));
        let text = one.to_hex();
        assert!(Secret::from_hex(&format!(" {}\n", text.to_uppercase())).unwrap().matches(&one));
        assert_eq!(format!("{one:?}"), "Secret(..)");
        assert_ne!(random_id().unwrap(), random_id().unwrap());
    }

    #[test]
    fn one_other_bit_does_not_match() {
        let one = Secret::from_bytes([7; SECRET_BYTES]);
        for at in 0..SECRET_BYTES {
            let mut bytes = [7; SECRET_BYTES];
            bytes[at] ^= 1;
            assert!(!one.matches(&Secret::from_bytes(bytes)), "byte {at}");
        }
    }

    #[test]
    fn other_texts_are_no_secrets_and_are_not_repeated() {
        for wrong in ["", "abc", &"g".repeat(64), &"a".repeat(63), &"ä".repeat(64), &"0".repeat(66)]
        {
            let error = Secret::from_hex(wrong).unwrap_err();
            assert_eq!(error, NetError::Token { characters: wrong.chars().count() });
            assert!(wrong.is_empty() || !error.to_string().contains(wrong), "{error}");
        }
    }
}
