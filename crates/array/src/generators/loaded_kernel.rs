//! A compiled kernel of a user with what its grid is computed from.

use rtcg_codegen::snippet_kernel::{SnippetKernel, UserSnippet};
use rtcg_hal::{ArrayContext, Kernel, KernelSpec, LaunchArgs, Result};
use std::sync::Arc;

/// A kernel ready to run.
pub(super) struct LoadedKernel {
    pub(super) kernel: Arc<dyn Kernel>,
    pub(super) threads: u32,
}

impl LoadedKernel {
    /// The compiled form of a snippet.
    pub(super) fn new<S: UserSnippet>(ctx: &ArrayContext, spec: &SnippetKernel<S>) -> Result<Self> {
        Self::with_threads(ctx, spec, spec.threads())
    }

    /// The compiled form of a kernel that is launched with so many threads of a block.
    pub(super) fn with_threads(ctx: &ArrayContext, spec: &impl KernelSpec, threads: u32) -> Result<Self> {
        Ok(Self { kernel: ctx.compiled_kernel(spec)?, threads })
    }

    /// Blocks for `items` threads' worth of work, at most `waves` times what the device holds.
    pub(super) fn blocks_for_items(&self, items: usize, waves: usize) -> Result<u32> {
        let resident = self.kernel.resident_blocks(self.threads, 0)?.max(1) as usize;
        let most = resident.saturating_mul(waves).min(i32::MAX as usize);
        Ok(items.div_ceil(self.threads as usize).clamp(1, most) as u32)
    }

    /// Enqueues the kernel.
    pub(super) fn launch(
        &self,
        ctx: &ArrayContext,
        grid: [u32; 3],
        shared_bytes: u32,
        args: &LaunchArgs,
    ) -> Result<()> {
        ctx.queue().launch(&self.kernel, grid, [self.threads, 1, 1], shared_bytes, args.view())
    }
}
