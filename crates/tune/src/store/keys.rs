//! What decides which results apply: the kernel, the device, the problem.

use crate::value::Value;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// The identity of a tuned kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelKey {
    /// The kernel's name.
    pub name: String,
    /// A hash of its source, options and the names of its parameters.
    pub hash: String,
    /// The names of its parameters; their values are not part of the identity, so that adding one keeps old results.
    pub parameters: Vec<String>,
}

impl KernelKey {
    /// The key of a kernel. Comments and white space of the source that mean nothing do not count.
    pub fn new(name: &str, source: &str, options: &[String], parameters: &[String]) -> Self {
        let mut hasher = Sha256::new();
        let source = normalise_source(source);
        let mut sorted: Vec<&String> = parameters.iter().collect();
        sorted.sort();
        let parts = [name, &source].into_iter().chain(options.iter().chain(sorted).map(String::as_str));
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let hash = hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self { name: name.to_owned(), hash, parameters: parameters.to_vec() }
    }

    /// The name of its file: nothing of the kernel's name can lead out of the folder.
    pub(super) fn file_name(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let plain = |text: &str, most: usize| -> String {
            text.chars().map(|c| if is_plain(c) { c } else { '_' }).take(most).collect()
        };
        format!("{}-{}.jsonl", plain(&self.name, 60), plain(&self.hash, 32))
    }
}

/// The source without comments, and with single blanks; strings stay, and so do the lines of directives.
fn normalise_source(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                out.push(c);
                out.extend(chars.next());
            }
            (Some(open), c) => {
                out.push(c);
                if c == open || c == '\n' {
                    quote = None;
                }
            }
            (None, '"' | '\'') => {
                out.push(c);
                quote = Some(c);
            }
            (None, '/') if chars.peek() == Some(&'/') => while chars.next_if(|&c| c != '\n').is_some() {},
            (None, '/') if chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                while let Some(c) = chars.next().filter(|&c| !(last == '*' && c == '/')) {
                    last = c;
                }
                out.push(' ');
            }
            (None, c) => out.push(c),
        }
    }
    let lines = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The device that results were measured on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceKey {
    /// `cuda` or `virtual`: results of one are never offered to the other.
    pub backend: String,
    /// The device's name.
    pub name: String,
    /// Compute capability, ten times the major number and the minor one.
    pub compute_capability: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
}

impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.backend)
    }
}

/// The values that decide which result applies, by name: sizes, dtypes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Problem(pub Vec<(String, Value)>);

impl Problem {
    /// How far apart two problems are: the sum of the logarithms of the ratios of their numbers. `None` where they
    /// differ in what is no number, or in names.
    pub fn distance(&self, other: &Self) -> Option<f64> {
        if self.0.len() != other.0.len() {
            return None;
        }
        self.0.iter().try_fold(0.0, |sum, (name, value)| {
            let (_, found) = other.0.iter().find(|(known, _)| known == name)?;
            match (value, found) {
                (a, b) if a == b => Some(sum),
                (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
                    let size = |value: &Value| (value.as_f64().unwrap_or(0.0).abs() + 1.0).log2();
                    Some(sum + (size(value) - size(found)).abs())
                }
                _ => None,
            }
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&parts.join(", "))
    }
}
