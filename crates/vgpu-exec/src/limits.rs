//! Limits that programs can set (`cuCtxSetLimit`), for the whole virtual GPU.

use rtcg_vgpu_abi::model::limits::{DEFAULT_MALLOC_HEAP_BYTES, DEFAULT_PRINTF_FIFO_BYTES};
use std::sync::atomic::{AtomicUsize, Ordering};

static MALLOC_HEAP_BYTES: AtomicUsize = AtomicUsize::new(DEFAULT_MALLOC_HEAP_BYTES);
static PRINTF_FIFO_BYTES: AtomicUsize = AtomicUsize::new(DEFAULT_PRINTF_FIFO_BYTES);

/// `CU_LIMIT_MALLOC_HEAP_SIZE`: what device-side `malloc` can give in all, bytes.
pub fn malloc_heap_bytes() -> usize {
    MALLOC_HEAP_BYTES.load(Ordering::Relaxed)
}
/// Sets `malloc_heap`.
pub fn set_malloc_heap_bytes(bytes: usize) {
    MALLOC_HEAP_BYTES.store(bytes, Ordering::Relaxed);
}
/// `CU_LIMIT_PRINTF_FIFO_SIZE`: how many bytes of output wait for the end of the kernel. More
/// is not lost but written early.
pub(crate) fn printf_fifo_bytes() -> usize {
    PRINTF_FIFO_BYTES.load(Ordering::Relaxed)
}
/// Sets `printf_fifo`.
pub fn set_printf_fifo_bytes(bytes: usize) {
    PRINTF_FIFO_BYTES.store(bytes, Ordering::Relaxed);
}
