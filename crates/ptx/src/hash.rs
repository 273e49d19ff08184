//! A fast hash for short names. Collisions cost time only; the tables are bounded by the text.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type FxMap<K, V> = HashMap<K, V, BuildHasherDefault<FxHasher>>;
pub(crate) type FxSet<K> = HashSet<K, BuildHasherDefault<FxHasher>>;

/// Multiply and rotate, eight bytes at a time.
#[derive(Default)]
pub(crate) struct FxHasher(u64);

impl FxHasher {
    fn hash_word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for FxHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.hash_word(u64::from_le_bytes(word));
        }
    }
    fn finish(&self) -> u64 {
        // The table takes the low bits, the product is best in the high ones.
        self.0 ^ (self.0 >> 32)
    }
}
