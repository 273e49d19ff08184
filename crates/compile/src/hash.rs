//! A fast 128-bit checksum for file contents and cache entries, and SHA-256 for cache keys.
//!
//! The checksum finds accidents (a truncated file, an edited header); nobody relies on it against
//! an adversary, who could write to the cache directory anyway.

use sha2::{Digest, Sha256};

/// A cache key.
pub(crate) type CacheKey = [u8; 32];

const MIX_PRIMES: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x85eb_ca77_c2b2_ae63];

fn mix_words(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

fn read_word(bytes: &[u8]) -> u64 {
    let mut buffer = [0; 8];
    buffer[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(buffer)
}

/// The checksum of a byte string.
pub(crate) fn checksum(bytes: &[u8]) -> [u8; 16] {
    let mut state = [MIX_PRIMES[0] ^ bytes.len() as u64, MIX_PRIMES[1]];
    for chunk in bytes.chunks(16) {
        let (low, high) = chunk.split_at(chunk.len().min(8));
        let (low, high) = (read_word(low), read_word(high));
        // Additions beside the multiplications keep a zero factor from erasing the state.
        state[0] = mix_words(state[0] ^ low, high ^ MIX_PRIMES[2]).wrapping_add(state[1]).rotate_left(23);
        state[1] = mix_words(state[1] ^ high, low ^ MIX_PRIMES[3]).wrapping_add(state[0].wrapping_mul(MIX_PRIMES[0]));
    }
    let first = mix_words(state[0] ^ MIX_PRIMES[1], state[1] ^ MIX_PRIMES[0]);
    let second = mix_words(state[1].rotate_left(32) ^ MIX_PRIMES[2], state[0] ^ MIX_PRIMES[3]).wrapping_add(first);
    let mut out = [0; 16];
    out[..8].copy_from_slice(&first.to_le_bytes());
    out[8..].copy_from_slice(&second.to_le_bytes());
    out
}

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

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn checksum_depends_on_every_bit_and_the_length() {
        let base = vec![0u8; 100];
        let mut seen = std::collections::HashSet::from([checksum(&base)]);
        for length in 0..100 {
            assert!(seen.insert(checksum(&base[..length])), "length {length}");
        }
        for bit in 0..800 {
            let mut changed = base.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(checksum(&changed)), "bit {bit}");
        }
    }
}
