//! Self-describing files: magic, key, checksum, payload.

use crate::{DiskCache, FileKey};
use std::path::Path;

/// The kind and format version of a file; another format has another magic.
pub type FileMagic = [u8; 8];

/// Bytes before the payload.
const HEADER_BYTES: usize = size_of::<FileMagic>() + size_of::<FileKey>() + size_of::<Checksum>();

/// A checksum of contents.
pub type Checksum = [u8; 16];

/// Computes the checksum (XXH3) of a byte string. It detects accidents, such as a truncated file or an edited header,
/// and does not protect against anyone who can write the files.
pub fn checksum(bytes: &[u8]) -> Checksum {
    xxhash_rust::xxh3::xxh3_128(bytes).to_le_bytes()
}

impl DiskCache {
    /// Reads the payload of a file that [`DiskCache::write_entry`] wrote with this magic and key; `None` for any other
    /// file, or if it is damaged.
    pub fn read_entry(&self, path: &Path, magic: &FileMagic, key: &FileKey) -> Option<Vec<u8>> {
        let mut bytes = self.read_file(path)?;
        let (sum, payload) = bytes.strip_prefix(magic)?.strip_prefix(key)?.split_first_chunk()?;
        if checksum(payload) != *sum {
            return None;
        }
        bytes.drain(..HEADER_BYTES);
        Some(bytes)
    }

    /// Writes a file of this kind; returns the number of bytes written, which is 0 if the file is larger than the
    /// cache.
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
