//! Cached machine code: its key, and the interface to what stores it.
//!
//! A key covers all that code is made from: the version of the code generator (and of the functions that code
//! calls), the processor's instructions, the text of the module, the kernel, the
//! variant, the checks. It covers no addresses: code names what it refers to (`emit::relocations`).

use super::emit::compile::isa_name;
use super::{Instrument, Variant};
use sha2::{Digest, Sha256};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names a piece of machine code.
pub type Key = [u8; 32];

/// What keeps machine code. Both functions may be called by several threads at once.
pub trait CodeStore: Debug + Send + Sync {
    /// The bytes kept under a key, complete and unchanged.
    fn get(&self, key: &Key) -> Option<Vec<u8>>;
    /// Keeps bytes. That they cannot be kept is no error.
    fn put(&self, key: &Key, bytes: &[u8]);
}

/// Where the machine code of a module's kernels is kept.
#[derive(Debug, Clone)]
pub struct ModuleCodeCache {
    /// What keeps it.
    pub store: Arc<dyn CodeStore>,
    /// See [`text_key`].
    pub text: Key,
    /// The version of the code generator.
    pub generator: Key,
}

/// Kernels and masked parts of kernels that this process has compiled and taken from a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileCounts {
    /// Compiled.
    pub compiled: u64,
    /// Taken from a store.
    pub loaded: u64,
}

pub(super) static COMPILED: AtomicU64 = AtomicU64::new(0);
pub(super) static LOADED: AtomicU64 = AtomicU64::new(0);

/// What this process has compiled and loaded so far.
pub fn counts() -> CompileCounts {
    CompileCounts { compiled: COMPILED.load(Ordering::Relaxed), loaded: LOADED.load(Ordering::Relaxed) }
}

/// SHA-256 over fields, each with its length before it, so that no two lists of fields collide.
#[derive(Default)]
pub(crate) struct KeyHasher(Sha256);

impl KeyHasher {
    /// Adds a field.
    pub(crate) fn field(mut self, bytes: &[u8]) -> KeyHasher {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }
    /// The key.
    pub(crate) fn finish(self) -> Key {
        self.0.finalize().into()
    }
}

/// The key of a module's text.
pub fn text_key(text: &str) -> Key {
    KeyHasher::default().field(text.as_bytes()).finish()
}

impl ModuleCodeCache {
    /// The key of a part of a kernel.
    pub(crate) fn key(
        &self,
        kernel: &str,
        variant: Variant,
        instrument: &Instrument,
        window_bits: u32,
        masked: bool,
    ) -> Result<Key, String> {
        // What is verified is no other code.
        let Variant {
            linear_tid,
            tid_contiguous_8,
            full_warps,
            force_masked,
            no_if_conversion,
            optimise,
            baseline,
            one_pass,
            verify: _,
        } = variant;
        let optimise = optimise.map_or(2, u8::from);
        let flags =
            [linear_tid, tid_contiguous_8, full_warps, force_masked, no_if_conversion, baseline, one_pass, masked];
        // The functions that are notified of accesses have names; whether there are any decides about code.
        let Instrument { memory, device_bit, init, access: _, local: _, diverged, race, random } = instrument;
        let checks = [memory.is_some(), *init, diverged.is_some(), race.is_some(), random.is_some()];
        let mask = memory.map_or(0, |states| states.mask);
        let hasher = KeyHasher::default()
            .field(&self.generator)
            .field(isa_name(baseline)?.as_bytes())
            .field(&self.text)
            .field(kernel.as_bytes())
            .field(&flags.map(u8::from))
            .field(&[optimise, *device_bit, window_bits as u8])
            .field(&checks.map(u8::from))
            .field(&mask.to_le_bytes());
        Ok(hasher.finish())
    }
}
