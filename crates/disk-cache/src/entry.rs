//! The form of files that know what they are: magic, key, checksum, payload.

use crate::{DiskCache, FileKey};
use std::path::Path;

/// What kind of file it is, in which form. Another form is another magic.
pub type FileMagic = [u8; 8];

/// Bytes before the payload.
const HEADER_BYTES: usize = size_of::<FileMagic>() + size_of::<FileKey>() + size_of::<Checksum>();

/// A checksum of contents.
pub type Checksum = [u8; 16];

/// The checksum of a byte string (XXH3). It finds accidents: a file that was cut off, a header that was edited. Nobody
/// relies on it against those who can write files anyway.
pub fn checksum(bytes: &[u8]) -> Checksum {
    xxhash_rust::xxh3::xxh3_128(bytes).to_le_bytes()
}

impl DiskCache {
    /// The payload of a file that [`DiskCache::write_entry`] wrote with this magic and key; `None` for all other files,
    /// and if it is damaged.
    pub fn read_entry(&self, path: &Path, magic: &FileMagic, key: &FileKey) -> Option<Vec<u8>> {
        let mut bytes = self.read_file(path)?;
        let (sum, payload) = bytes.strip_prefix(magic)?.strip_prefix(key)?.split_first_chunk()?;
        if checksum(payload) != *sum {
            return None;
        }
        bytes.drain(..HEADER_BYTES);
        Some(bytes)
    }

    /// Puts a file of this kind in place; the bytes that were written, 0 for a file that is larger than the cache.
    ///
    /// # Errors
    /// Those of [`DiskCache::write_file`].
    pub fn write_entry(&self, path: &Path, magic: &FileMagic, key: &FileKey, payload: &[u8]) -> std::io::Result<u64> {
        let size = (HEADER_BYTES + payload.len()) as u64;
        if size > self.limit {
            return Ok(0);
        }
        self.write_file(path, &[magic, key, &checksum(payload), payload])?;
        Ok(size)
    }
}
