//! The identity of a tuned kernel.

use super::source_text::normalise;
use crate::strict_json::printable;
use sha2::{Digest, Sha256};

/// The identity of a tuned kernel: results of other identities never apply.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelKey {
    /// The kernel's name.
    pub name: String,
    /// A hash of its name, source, options and the names of its parameters: 32 hexadecimal digits.
    pub hash: String,
    /// The names of its parameters, sorted. Their values are not part of the identity, so adding a value keeps old
    /// results.
    pub parameters: Vec<String>,
}

impl KernelKey {
    /// Makes the key of a kernel. Comments, the amount of white space in the source, and the order of parameters do not
    /// matter. Put what changes the *result* of a kernel, such as a tolerance, into the options.
    pub fn new(name: &str, source: &str, options: &[String], parameters: &[String]) -> Self {
        let (source, parameters) = (normalise(source), sorted(parameters));
        let mut hasher = Sha256::new();
        for list in [&[name.to_owned(), source], options, &parameters[..]] {
            hasher.update((list.len() as u64).to_le_bytes());
            for part in list {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
        let hash = hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self { name: name.to_owned(), hash, parameters }
    }

    /// A key that stands in a file.
    pub(super) fn from_parts(name: String, hash: String, parameters: &[String]) -> Result<Self, String> {
        if hash.len() != 32 || !hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(format!("the hash of a kernel is {:?}; expected 32 hexadecimal digits", printable(&hash)));
        }
        Ok(Self { name, hash, parameters: sorted(parameters) })
    }

    /// The name of its file: nothing of the kernel's name can lead out of the folder.
    pub(super) fn file_name(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let plain = |text: &str, max_chars: usize| -> String {
            text.chars().map(|c| if is_plain(c) { c } else { '_' }).take(max_chars).collect()
        };
        format!("{}-{}.jsonl", plain(&self.name, 60), plain(&self.hash, 32))
    }
}

fn sorted(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort();
    names.dedup();
    names
}
