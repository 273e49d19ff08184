//! SHA-256 for cache keys, and a hash for constants.

use sha2::{Digest, Sha256};

/// A cache key.
pub(crate) type CacheKey = [u8; 32];

/// SHA-256 over fields, each with its length before it, so that no two lists of fields collide.
#[derive(Default)]
pub(crate) struct KeyHasher(Sha256);

impl KeyHasher {
    /// Adds one field.
    pub(crate) fn hash_field(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Adds a list of fields.
    pub(crate) fn hash_list<T: AsRef<[u8]>>(&mut self, items: impl ExactSizeIterator<Item = T>) {
        self.0.update((items.len() as u64).to_le_bytes());
        for item in items {
            self.hash_field(item.as_ref());
        }
    }

    /// The key.
    pub(crate) fn finish_key(self) -> CacheKey {
        self.0.finalize().into()
    }
}

/// FNV-1a, usable in constants: the identity of the embedded headers.
pub(crate) const fn fnv1a(bytes: &[u8], mut state: u64) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        state = (state ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    state
}
