//! Launches whose kernel and arguments are made once, for iterations that repeat them.

use crate::kernels::THREADS;
use crate::{ArrayContext, GpuArray, Result};
use rtcg_array::{DType, KernelSpec, LaunchableKernel, Order, PackedKernelArgs};
use std::fmt;
use std::sync::Arc;

/// A kernel with its grid and packed arguments. The arrays whose addresses are among them have to outlive it.
pub(crate) struct PreparedLaunch {
    kernel: Arc<dyn LaunchableKernel>,
    blocks: u32,
    rows: u32,
    args: PackedKernelArgs,
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
        Ok(Self { kernel: ctx.compiled_kernel(spec)?, blocks, rows: 1, args })
    }

    /// The same with so many rows of blocks.
    pub(crate) fn with_rows(self, rows: u32) -> Self {
        Self { rows, ..self }
    }

    /// Enqueues it.
    pub(crate) fn launch(&self) -> Result<()> {
        self.kernel.launch([self.blocks, self.rows, 1], [THREADS, 1, 1], 0, self.args.packed_bytes())
    }
}

/// Appends the addresses of arrays, which are about to be used.
pub(crate) fn push_arrays(args: &mut PackedKernelArgs, arrays: &[&GpuArray]) -> Result<()> {
    for array in arrays {
        array.check_memory()?;
        args.push_u64(array.first_element_address());
    }
    Ok(())
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
