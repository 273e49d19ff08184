//! The limits of a context: what `cuCtxSetLimit` makes of a value, and until when it may be set.
//!
//! The buffer of `printf` and the heap of `malloc` are laid out when the first kernel that uses them is launched; their
//! limits are fixed from then on. The stack grows by itself to what a launched kernel needs.

use crate::module::Kernel;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::limits as model;
use rtcg_vgpu_exec::launch::MAX_SHARED_OPTIN_BYTES;

/// `CU_LIMIT_STACK_SIZE`
const STACK: u32 = 0;
/// `CU_LIMIT_PRINTF_FIFO_SIZE`
const PRINTF_FIFO: u32 = 1;
/// `CU_LIMIT_MALLOC_HEAP_SIZE`
const MALLOC_HEAP: u32 = 2;
/// `CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH`
const SYNC_DEPTH: u32 = 3;
/// `CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT`
const PENDING_LAUNCHES: u32 = 4;
/// `CU_LIMIT_MAX_L2_FETCH_GRANULARITY`
const FETCH_GRANULARITY: u32 = 5;
/// `CU_LIMIT_PERSISTING_L2_CACHE_SIZE`
const PERSISTING_CACHE: u32 = 6;
/// `CU_LIMIT_SHMEM_SIZE`
const SHARED_BYTES: u32 = 7;
/// `CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED`
const GRAPHICS_FALLBACK: u32 = 9;
/// Values of `CUlimit` below this exist.
const N_LIMITS: usize = 10;

/// A heap larger than this is not to be had.
const MAX_MALLOC_HEAP_BYTES: usize = 32 << 30;
/// The whole second-level cache: the most that can be kept for persisting accesses.
const MAX_PERSISTING_CACHE_BYTES: usize = 16 * model::PERSISTING_CACHE_GRANULARITY;

/// The limits of a context.
#[derive(Debug)]
pub(crate) struct ContextLimits {
    /// By number of `CUlimit`.
    values: [usize; N_LIMITS],
    /// A kernel that prints was launched.
    printf_in_use: bool,
    /// A kernel that calls `malloc` or `free` was launched.
    malloc_in_use: bool,
}

impl Default for ContextLimits {
    fn default() -> ContextLimits {
        let mut values = [0; N_LIMITS];
        values[STACK as usize] = model::DEFAULT_STACK_BYTES;
        values[PRINTF_FIFO as usize] = model::DEFAULT_PRINTF_FIFO_BYTES;
        values[MALLOC_HEAP as usize] = model::DEFAULT_MALLOC_HEAP_BYTES;
        values[PENDING_LAUNCHES as usize] = model::DEFAULT_PENDING_LAUNCHES;
        values[FETCH_GRANULARITY as usize] = model::DEFAULT_FETCH_GRANULARITY;
        values[PERSISTING_CACHE as usize] = model::DEFAULT_PERSISTING_CACHE_BYTES;
        values[SHARED_BYTES as usize] = MAX_SHARED_OPTIN_BYTES as usize;
        ContextLimits { values, printf_in_use: false, malloc_in_use: false }
    }
}

impl ContextLimits {
    /// `cuCtxGetLimit`
    pub(crate) fn limit(&self, number: u32) -> Res<usize> {
        ensure(number != SYNC_DEPTH || model::HAS_SYNC_DEPTH_LIMIT, ResultCode::UNSUPPORTED_LIMIT)?;
        let has_fallback = number != GRAPHICS_FALLBACK || model::HAS_GRAPHICS_FALLBACK_LIMIT;
        ensure(has_fallback, ResultCode::UNSUPPORTED_LIMIT)?;
        self.values.get(number as usize).copied().ok_or(ResultCode::INVALID_VALUE.into())
    }

    /// `cuCtxSetLimit`: the value that the limit has now.
    pub(crate) fn set_limit(&mut self, number: u32, value: usize) -> Res<usize> {
        let value = self.accepted_value(number, value)?;
        self.values[number as usize] = value;
        Ok(value)
    }

    fn accepted_value(&self, number: u32, value: usize) -> Res<usize> {
        let at_most = |most: usize| ensure(value <= most, ResultCode::INVALID_VALUE);
        match number {
            STACK => {
                at_most(model::REFUSED_STACK_BYTES - model::STACK_GRANULARITY)?;
                Ok(value.next_multiple_of(model::STACK_GRANULARITY))
            }
            PRINTF_FIFO => {
                ensure(!self.printf_in_use, ResultCode::INVALID_VALUE)?;
                let bytes = value.clamp(model::MIN_PRINTF_FIFO_BYTES, model::MAX_PRINTF_FIFO_BYTES);
                Ok(bytes.next_multiple_of(model::PRINTF_FIFO_GRANULARITY))
            }
            MALLOC_HEAP => {
                ensure(!self.malloc_in_use, ResultCode::INVALID_VALUE)?;
                at_most(MAX_MALLOC_HEAP_BYTES)?;
                Ok(value.max(model::MIN_MALLOC_HEAP_BYTES).next_multiple_of(model::MALLOC_HEAP_GRANULARITY))
            }
            SYNC_DEPTH => ResultCode::UNSUPPORTED_LIMIT.err(),
            PENDING_LAUNCHES => Ok(value.max(model::MIN_PENDING_LAUNCHES)),
            FETCH_GRANULARITY => at_most(model::MAX_FETCH_GRANULARITY).map(|()| value),
            PERSISTING_CACHE => {
                at_most(MAX_PERSISTING_CACHE_BYTES)?;
                Ok(value.next_multiple_of(model::PERSISTING_CACHE_GRANULARITY))
            }
            // The size of shared memory is told only; what remains is set when a context is made.
            _ if (number as usize) < N_LIMITS => ResultCode::NOT_PERMITTED.err(),
            _ => ResultCode::INVALID_VALUE.err(),
        }
    }

    /// Takes note of a launch of a kernel that [may change the limits](Kernel::touches_limits).
    pub(crate) fn note_launch(&mut self, kernel: &Kernel) {
        let services = kernel.services();
        self.printf_in_use |= services.printf;
        self.malloc_in_use |= services.malloc;
        let stack = (kernel.local_bytes() as usize).next_multiple_of(model::STACK_GRANULARITY);
        self.values[STACK as usize] = self.values[STACK as usize].max(stack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(number: u32, value: usize) -> Result<usize, u32> {
        ContextLimits::default().set_limit(number, value).map_err(|e| e.code.0)
    }

    #[test]
    fn values_are_rounded_and_bounded_as_by_a_device() {
        let invalid = Err(ResultCode::INVALID_VALUE.0);
        assert_eq!([0, 1, 1000, 2000].map(|n| set(STACK, n)), [Ok(0), Ok(16), Ok(1008), Ok(2000)]);
        assert_eq!([524_272, 524_273, usize::MAX].map(|n| set(STACK, n)), [Ok(524_272), invalid, invalid]);
        assert_eq!([0, 524_289, 1 << 40].map(|n| set(PRINTF_FIFO, n)), [Ok(524_288), Ok(524_544), Ok(2 << 30)]);
        assert_eq!([0, 8_388_609].map(|n| set(MALLOC_HEAP, n)), [Ok(4 << 20), Ok(8_454_144)]);
        assert_eq!([0, 33, 4096].map(|n| set(PENDING_LAUNCHES, n)), [Ok(32), Ok(33), Ok(4096)]);
        assert_eq!([0, 33, 128, 129].map(|n| set(FETCH_GRANULARITY, n)), [Ok(0), Ok(33), Ok(128), invalid]);
        assert_eq!([0, 1, 1 << 40].map(|n| set(PERSISTING_CACHE, n)), [Ok(0), Ok(3_932_160), invalid]);
        let refused = Err(ResultCode::NOT_PERMITTED.0);
        assert_eq!([7, 8, 9, 10, 99].map(|n| set(n, 1)), [refused, refused, refused, invalid, invalid]);
        let limits = ContextLimits::default();
        assert_eq!(set(SYNC_DEPTH, 2), Err(ResultCode::UNSUPPORTED_LIMIT.0));
        assert_eq!(limits.limit(SYNC_DEPTH).unwrap_err().code, ResultCode::UNSUPPORTED_LIMIT);
        assert_eq!(limits.limit(GRAPHICS_FALLBACK).unwrap_err().code, ResultCode::UNSUPPORTED_LIMIT);
        assert_eq!(limits.limit(8).unwrap(), 0);
        assert_eq!(limits.limit(SHARED_BYTES).unwrap(), MAX_SHARED_OPTIN_BYTES as usize);
        assert_eq!(limits.limit(10).unwrap_err().code, ResultCode::INVALID_VALUE);
    }
}
