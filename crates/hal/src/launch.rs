//! Compiled kernels, and the arguments of a launch.

use crate::error::Result;
use smallvec::SmallVec;
use std::any::Any;

/// A compiled kernel.
pub trait LaunchableKernel: Send + Sync + Any {
    /// Enqueues the kernel with packed arguments; does not wait.
    fn launch(&self, grid: [u32; 3], block: [u32; 3], shared_bytes: u32, args: &[u8]) -> Result<()>;
}

/// The packed arguments of a kernel, laid out by C's alignment rules.
#[derive(Debug, Default, Clone)]
pub struct PackedKernelArgs(SmallVec<[u8; 256]>);

impl PackedKernelArgs {
    /// Makes an empty argument buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `bytes` at the next multiple of `align`.
    pub fn push(&mut self, bytes: &[u8], align: usize) {
        let start = self.0.len().next_multiple_of(align.max(1));
        self.0.resize(start, 0);
        self.0.extend_from_slice(bytes);
    }

    /// Appends an address or a 64-bit number.
    pub fn push_u64(&mut self, value: u64) {
        self.push(&value.to_ne_bytes(), 8);
    }

    /// Appends a signed 64-bit number.
    pub fn push_i64(&mut self, value: i64) {
        self.push(&value.to_ne_bytes(), 8);
    }

    /// Appends a 32-bit number.
    pub fn push_u32(&mut self, value: u32) {
        self.push(&value.to_ne_bytes(), 4);
    }

    /// The packed bytes.
    pub fn packed_bytes(&self) -> &[u8] {
        &self.0
    }
}
