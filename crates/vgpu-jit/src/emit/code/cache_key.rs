//! Cached machine code: its key, and the interface to what stores it.
//!
//! A key covers all that code is made from: the version of the code generator (and of the functions that code
//! calls), the processor's instructions, the text of the module, the kernel, the
//! variant, the checks. It covers no addresses: code names what it refers to (`emit::relocations`).

use crate::emit::function::compile::isa_name;
use crate::{Instrumentation, LaunchVariant};
use sha2::{Digest, Sha256};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names a piece of machine code.
pub type CodeKey = [u8; 32];

/// What keeps machine code. Both functions may be called by several threads at once.
pub trait CodeStore: Debug + Send + Sync {
    /// The bytes kept under a key, complete and unchanged.
    fn get_code(&self, key: &CodeKey) -> Option<Vec<u8>>;
    /// Keeps bytes. That they cannot be kept is no error.
    fn put_code(&self, key: &CodeKey, bytes: &[u8]);
}

/// Where the machine code of a module's kernels is kept.
#[derive(Debug, Clone)]
pub struct ModuleCodeCache {
    /// What keeps it.
    pub store: Arc<dyn CodeStore>,
    /// See [`module_text_key`].
    pub text: CodeKey,
    /// The version of the code generator.
    pub generator: CodeKey,
}

/// Kernels and masked parts of kernels that this process has compiled and taken from a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileCounts {
    /// Compiled.
    pub compiled: u64,
    /// Taken from a store.
    pub loaded: u64,
}

pub(in crate::emit) static N_COMPILED: AtomicU64 = AtomicU64::new(0);
pub(in crate::emit) static N_LOADED_FROM_CACHE: AtomicU64 = AtomicU64::new(0);

/// What this process has compiled and loaded so far.
pub fn compile_counts() -> CompileCounts {
    CompileCounts { compiled: N_COMPILED.load(Ordering::Relaxed), loaded: N_LOADED_FROM_CACHE.load(Ordering::Relaxed) }
}

/// SHA-256 over fields, each with its length before it, so that no two lists of fields collide.
#[derive(Default)]
pub struct CodeKeyHasher(Sha256);

impl CodeKeyHasher {
    /// Adds a field.
    pub fn hash_field(mut self, bytes: &[u8]) -> CodeKeyHasher {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }
    /// The key.
    pub fn finish_key(self) -> CodeKey {
        self.0.finalize().into()
    }
}

/// The key of a module's text.
pub fn module_text_key(text: &str) -> CodeKey {
    CodeKeyHasher::default().hash_field(text.as_bytes()).finish_key()
}

impl ModuleCodeCache {
    /// The key of a part of a kernel.
    pub(crate) fn compiled_code_key(
        &self,
        kernel: &str,
        variant: LaunchVariant,
        instrument: &Instrumentation,
        window_bits: u32,
        masked: bool,
    ) -> Result<CodeKey, String> {
        // What is verified is no other code.
        let LaunchVariant {
            linear_tid,
            tid_contiguous_8,
            full_warps,
            single_thread,
            force_masked,
            no_if_conversion,
            optimise,
            baseline,
            first_tier,
            verify: _,
        } = variant;
        let optimise = optimise.map_or(2, u8::from);
        let shape = [linear_tid, tid_contiguous_8, full_warps, single_thread];
        let approximations = crate::has_device_approximations();
        let flags = [force_masked, no_if_conversion, baseline, first_tier, masked, approximations];
        // The functions that are notified of accesses have names; whether there are any decides about code.
        let Instrumentation { memory, device_bit, init, access: _, local: _, alloca: _, diverged, race, random } =
            instrument;
        let checks = [memory.is_some(), *init, diverged.is_some(), race.is_some(), random.is_some()];
        let mask = memory.map_or(0, |states| states.mask);
        let hasher = CodeKeyHasher::default()
            .hash_field(&self.generator)
            .hash_field(isa_name(baseline)?.as_bytes())
            .hash_field(&self.text)
            .hash_field(kernel.as_bytes())
            .hash_field(&shape.map(u8::from))
            .hash_field(&flags.map(u8::from))
            .hash_field(&[optimise, *device_bit, window_bits as u8])
            .hash_field(&checks.map(u8::from))
            .hash_field(&mask.to_le_bytes());
        Ok(hasher.finish_key())
    }
}
