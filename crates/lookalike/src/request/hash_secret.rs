//! The secret key of the hashes of identifiers.

use std::fmt;

/// The bytes of a key. They are never printed, and are part of no file that the program writes.
#[derive(Clone, PartialEq, Eq)]
pub struct HashSecret(Vec<u8>);

impl HashSecret {
    /// The key with these bytes.
    pub fn new(bytes: Vec<u8>) -> HashSecret {
        HashSecret(bytes)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for HashSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashSecret(secret)")
    }
}
