//! Launches of the kernels of sparse matrices.

use crate::kernels::{THREADS, gpu_elements_ahead};
use rtcg_array::{GpuArray, Order};
use rtcg_hal::{ArrayContext, DType, KernelSpec, Launch, LaunchArgs, Result};
use std::sync::Arc;

/// The launch of so many blocks of [`THREADS`] threads.
pub(crate) fn prepare_launch<K: KernelSpec>(
    ctx: &ArrayContext,
    spec: &K,
    blocks: u32,
    args: LaunchArgs,
) -> Result<Launch> {
    ctx.prepare_launch(spec, [blocks, 1, 1], [THREADS, 1, 1], args)
}

/// The launch, which holds arrays.
pub(crate) fn keeping(mut launch: Launch, arrays: &[&GpuArray]) -> Launch {
    launch.keeps.extend(arrays.iter().filter_map(|array| array.buffer().cloned()));
    launch
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
