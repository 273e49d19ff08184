//! Limits, flags and preferences of the current context.

use super::Context;
use crate::error::Result;
use rtcg_cuda_sys::*;

/// Settings of the context that is current.
impl Context {
    /// Sets a limit of the current context.
    pub fn set_limit(limit: CUlimit, value: usize) -> Result<()> {
        // SAFETY: plain values.
        unsafe { call_in_current_context!(cuCtxSetLimit(limit, value)) }
    }

    /// Returns a limit of the current context.
    pub fn limit(limit: CUlimit) -> Result<usize> {
        let mut value = 0;
        // SAFETY: writes one size.
        unsafe { call_in_current_context!(cuCtxGetLimit(&raw mut value, limit)) }?;
        Ok(value)
    }

    /// The flags of the current context, as `CUctx_flags`.
    pub fn flags() -> Result<u32> {
        let mut flags = 0;
        // SAFETY: writes one unsigned int.
        unsafe { call_in_current_context!(cuCtxGetFlags(&raw mut flags)) }?;
        Ok(flags)
    }

    /// The current context's preferred split between L1 cache and shared memory.
    pub fn cache_config() -> Result<CUfunc_cache> {
        let mut config = CUfunc_cache::default();
        // SAFETY: writes one value.
        unsafe { call_in_current_context!(cuCtxGetCacheConfig(&raw mut config)) }?;
        Ok(config)
    }

    /// Sets the current context's preferred split between L1 cache and shared memory.
    pub fn set_cache_config(config: CUfunc_cache) -> Result<()> {
        // SAFETY: plain value.
        unsafe { call_in_current_context!(cuCtxSetCacheConfig(config)) }
    }

    /// The shared-memory bank size of the current context.
    pub fn shared_config() -> Result<CUsharedconfig> {
        let mut config = CUsharedconfig::default();
        // SAFETY: writes one value.
        unsafe { call_in_current_context!(cuCtxGetSharedMemConfig(&raw mut config)) }?;
        Ok(config)
    }

    /// Sets the shared-memory bank size of the current context.
    pub fn set_shared_config(config: CUsharedconfig) -> Result<()> {
        // SAFETY: plain value.
        unsafe { call_in_current_context!(cuCtxSetSharedMemConfig(config)) }
    }

    /// The range of stream priorities of the current context, `(least, greatest)`; the greatest priority is the smaller
    /// number.
    pub fn stream_priority_range() -> Result<(i32, i32)> {
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: writes two ints.
        unsafe { call_in_current_context!(cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)) }?;
        Ok((least, greatest))
    }
}
