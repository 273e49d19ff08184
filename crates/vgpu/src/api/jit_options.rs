//! The options of module loading and linking: arrays of numbers and of what they mean.

use std::ffi::{c_uint, c_void};
use std::time::Instant;

use rtcg_cuda_sys::*;

use crate::module::LoadOptions;
use crate::module::link_log::JitLogs;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::launch::THREADS_PER_BLOCK_STEP;
use rtcg_vgpu_abi::model::ptx::{CACHE_MODES, JIT_TARGETS};

/// Options with the time at which they were read.
#[derive(Debug)]
pub(crate) struct JitOptions {
    /// What the loader understands.
    pub(crate) load: LoadOptions,
    /// Where messages go.
    pub(crate) logs: JitLogs,
    started: Instant,
    /// Where `CU_JIT_THREADS_PER_BLOCK` is written back to; 0 where it was not given.
    threads_place: usize,
}

/// Reads the two arrays.
///
/// # Safety
/// Both have `n` elements (or `n` is 0), and the buffers they name are valid for their sizes for as
/// long as the result is used.
pub(crate) unsafe fn from_option_arrays(
    n: c_uint,
    options: *const CUjit_option,
    values: *const *mut c_void,
) -> Res<JitOptions> {
    ensure(n == 0 || (!options.is_null() && !values.is_null()), ResultCode::INVALID_VALUE)?;
    let mut result = JitOptions {
        load: LoadOptions::default(),
        logs: JitLogs::default(),
        started: Instant::now(),
        threads_place: 0,
    };
    let given = |option| {
        (0..n as usize).any(|i| {
            // SAFETY: `i < n`.
            unsafe { *options.add(i) == option }
        })
    };
    check_options_that_need_each_other(given)?;
    for i in 0..n as usize {
        // SAFETY: `i < n`.
        let (option, place, value) = unsafe { (*options.add(i), values.add(i).addr(), (*values.add(i)).addr()) };
        let logs = &mut result.logs;
        match option {
            CUjit_option::CU_JIT_MAX_REGISTERS => {
                ensure(value as u32 != 0, ResultCode::INVALID_VALUE)?;
                result.load.max_registers = Some(value as u32);
            }
            CUjit_option::CU_JIT_THREADS_PER_BLOCK => {
                let threads = (value as u32).max(1).checked_next_multiple_of(THREADS_PER_BLOCK_STEP);
                result.load.threads_per_block = threads;
                result.threads_place = place;
            }
            CUjit_option::CU_JIT_WALL_TIME => logs.wall_time = place,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER => logs.info.start = value,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => {
                (logs.info.size, logs.info.size_place) = (value as u32 as usize, place)
            }
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER => logs.error.start = value,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {
                (logs.error.size, logs.error.size_place) = (value as u32 as usize, place)
            }
            CUjit_option::CU_JIT_TARGET => {
                let target = value as u32 & 0xffff;
                ensure(JIT_TARGETS.contains(&target), ResultCode::INVALID_VALUE)?;
                result.load.target = Some(target);
            }
            CUjit_option::CU_JIT_CACHE_MODE => ensure((value as u32) < CACHE_MODES, ResultCode::INVALID_VALUE)?,
            CUjit_option::CU_JIT_OPTIMIZATION_LEVEL => ensure(value as i32 >= 0, ResultCode::INVALID_PTX)?,
            // An option of compilers before those of today, which refuse it.
            CUjit_option::CU_JIT_NEW_SM3X_OPT => ensure(value as u32 == 0, ResultCode::INVALID_PTX)?,
            // Everything else is about machine code for a GPU, or advice.
            other => ensure(other.0 < CUjit_option::CU_JIT_NUM_OPTIONS.0, ResultCode::INVALID_VALUE)?,
        }
    }
    Ok(result)
}

/// A buffer needs its size and the other way round, and the names of symbols their addresses and their number.
fn check_options_that_need_each_other(given: impl Fn(CUjit_option) -> bool) -> Res {
    let groups: [&[CUjit_option]; 3] = [
        &[CUjit_option::CU_JIT_INFO_LOG_BUFFER, CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES],
        &[CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES],
        &[
            CUjit_option::CU_JIT_GLOBAL_SYMBOL_NAMES,
            CUjit_option::CU_JIT_GLOBAL_SYMBOL_ADDRESSES,
            CUjit_option::CU_JIT_GLOBAL_SYMBOL_COUNT,
        ],
    ];
    let whole = |group: &&[CUjit_option]| group.iter().all(|&o| given(o)) || !group.iter().any(|&o| given(o));
    ensure(groups.iter().all(whole), ResultCode::INVALID_VALUE)
}

impl JitOptions {
    /// Writes messages and times to where the caller wants them.
    ///
    /// # Safety
    /// The arrays and buffers that [`from_option_arrays`] saw are still valid.
    pub(crate) unsafe fn write_results(&self, info: &str, error: &str) {
        // SAFETY: this function's contract.
        unsafe { self.logs.write_logs(info, error) };
        if let Some(threads) = self.load.threads_per_block {
            // SAFETY: the place is an element of the caller's array.
            unsafe { (self.threads_place as *mut u32).write_unaligned(threads) };
        }
        if self.logs.wall_time != 0 {
            let ms = self.started.elapsed().as_secs_f32() * 1e3;
            // The value's place is as wide as a pointer; the time is a float in its first bytes.
            // SAFETY: the place is an element of the caller's array.
            unsafe { (self.logs.wall_time as *mut f32).write_unaligned(ms) };
        }
    }
}
