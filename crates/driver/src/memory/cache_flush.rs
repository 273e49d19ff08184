//! Flushes a device's L2 cache, so that a timed operation starts with a cold cache.

use crate::context::Context;
use crate::error::Result;
use crate::memory::{DeviceAllocation, memset_d32_async};
use crate::stream::Stream;
use rtcg_cuda_sys::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;

/// Where a device does not say how large its cache is.
const USUAL_L2_BYTES: usize = 32 << 20;

/// A buffer of twice the L2 cache's size. Writing it replaces the contents of the cache; the size is doubled because a
/// cache need not evict the oldest lines first.
#[derive(Debug)]
pub struct CacheFlush {
    buffer: DeviceAllocation,
}

impl CacheFlush {
    /// Allocates the buffer in the current context.
    pub fn new() -> Result<Self> {
        let l2_bytes = Context::current_or_error()?.device().attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?;
        let l2_bytes = usize::try_from(l2_bytes).ok().filter(|&bytes| bytes > 0).unwrap_or(USUAL_L2_BYTES);
        Ok(Self { buffer: DeviceAllocation::new((2 * l2_bytes).next_multiple_of(4))? })
    }

    /// The size of the buffer.
    pub fn nbytes(&self) -> usize {
        self.buffer.nbytes()
    }

    /// Writes the buffer, in stream order.
    pub fn flush(&self, stream: Option<&Stream>) -> Result<()> {
        // SAFETY: the buffer has that many bytes, and its release waits for the device.
        unsafe { memset_d32_async(self.buffer.ptr(), 0, self.buffer.nbytes() / 4, stream) }
    }
}
