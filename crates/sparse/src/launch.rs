//! Launches whose kernel and arguments are prepared once, for iterations that repeat them.

use crate::kernels::{THREADS, gpu_elements_ahead};
use rtcg_array::{GpuArray, Order};
use rtcg_hal::{ArrayContext, DType, KernelSpec, LaunchableKernel, PackedKernelArgs, Result};
use std::fmt;
use std::sync::Arc;

/// A kernel with its grid and packed arguments, to be enqueued any number of times. The arrays whose addresses are
/// among the arguments must outlive it.
pub struct PreparedLaunch {
    kernel: Arc<dyn LaunchableKernel>,
    text: Box<dyn Fn() -> KernelText + Send + Sync>,
    pub(crate) blocks: u32,
    /// Rows of blocks: one for each of several right sides.
    pub(crate) rows: u32,
    threads: u32,
    /// Bytes of shared memory beside what the kernel declares.
    shared_bytes: u32,
    pub(crate) args: PackedKernelArgs,
    /// Arrays of its own.
    kept: Vec<GpuArray>,
}

/// A kernel's name and its source.
pub(crate) struct KernelText {
    pub(crate) name: String,
    pub(crate) source: String,
}

impl fmt::Debug for PreparedLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedLaunch").field("blocks", &self.blocks).finish_non_exhaustive()
    }
}

impl PreparedLaunch {
    /// The compiled form of `spec` with its arguments.
    pub(crate) fn new<K: KernelSpec>(
        ctx: &ArrayContext,
        spec: &K,
        blocks: u32,
        args: PackedKernelArgs,
    ) -> Result<Self> {
        let kernel = ctx.compiled_kernel(spec)?;
        let spec = spec.clone();
        let text = move || KernelText { name: spec.kernel_name().into_owned(), source: spec.source() };
        Ok(Self {
            kernel,
            text: Box::new(text),
            blocks,
            rows: 1,
            threads: THREADS,
            shared_bytes: 0,
            args,
            kept: Vec::new(),
        })
    }

    /// The same with so many rows of blocks.
    pub(crate) fn with_rows(self, rows: u32) -> Self {
        Self { rows, ..self }
    }

    /// The same launch with another number of threads of a block.
    pub(crate) fn with_threads(self, threads: u32) -> Self {
        Self { threads, ..self }
    }

    /// The same launch with so many bytes of shared memory beside what the kernel declares.
    pub(crate) fn with_shared_bytes(self, shared_bytes: u32) -> Self {
        Self { shared_bytes, ..self }
    }

    /// Whether blocks have [`THREADS`] threads and the shared memory that the kernel declares.
    pub(crate) fn has_plain_blocks(&self) -> bool {
        self.threads == THREADS && self.shared_bytes == 0
    }

    /// The same launch, which holds arrays.
    pub(crate) fn keeping(mut self, arrays: impl IntoIterator<Item = GpuArray>) -> Self {
        self.kept.extend(arrays);
        self
    }

    /// The source of the kernel, which has blocks of [`THREADS`] threads.
    pub(crate) fn text(&self) -> KernelText {
        (self.text)()
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// When the device fails.
    pub fn launch(&self) -> Result<()> {
        let (grid, block) = ([self.blocks, self.rows, 1], [self.threads, 1, 1]);
        self.kernel.launch(grid, block, self.shared_bytes, self.args.packed_bytes())
    }
}

/// A vector of undefined contents.
pub(crate) fn empty(ctx: &Arc<ArrayContext>, length: usize, dtype: DType) -> Result<GpuArray> {
    GpuArray::empty(ctx, &[length], dtype, Order::C)
}

/// The elements of an int64 vector; waits.
pub(crate) fn read_numbers(array: &GpuArray) -> Result<Vec<i64>> {
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C)?;
    Ok(bytes.as_chunks().0.iter().map(|&chunk| i64::from_ne_bytes(chunk)).collect())
}

/// Whether a kernel may be given both vectors as they are: contiguous, of one dtype.
pub(crate) fn are_plain(x: &GpuArray, y: &GpuArray) -> bool {
    let is_contiguous = |array: &GpuArray| array.is_contiguous(rtcg_array::Order::C);
    x.dtype() == y.dtype() && is_contiguous(x) && is_contiguous(y)
}

/// Elements that a lane asks for before it waits for the first; wide ones take registers. On a SIMD CPU, which has other
/// rows to do meanwhile, one.
pub(crate) fn elements_ahead(ctx: &ArrayContext, vector: DType) -> u8 {
    if ctx.device_info().is_simd_cpu() { 1 } else { gpu_elements_ahead(vector) }
}

/// Blocks of so many threads in all. A GPU balances blocks that end early by itself; on a SIMD CPU each costs.
pub(crate) fn full_grid(ctx: &ArrayContext, threads: usize) -> u32 {
    let device_info = ctx.device_info();
    let most = if device_info.is_simd_cpu() { device_info.max_blocks } else { i32::MAX.cast_unsigned() };
    threads.div_ceil(THREADS as usize).clamp(1, most as usize) as u32
}
