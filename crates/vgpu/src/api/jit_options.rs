//! The options of module loading and linking: arrays of numbers and of what they mean.

use std::ffi::{c_uint, c_void};
use std::time::Instant;

use rtcg_cuda_sys::*;

use crate::error::{Res, ResultCode, ensure};
use crate::module::LoadOptions;

/// Where the caller wants messages. Addresses, because a linker keeps them between calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JitLogs {
    info: LogBuffer,
    error: LogBuffer,
    /// Where the wall time goes.
    wall_time: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct LogBuffer {
    start: usize,
    size: usize,
    /// Where the number of bytes written goes.
    size_place: usize,
}

/// Options with the time at which they were read.
#[derive(Debug)]
pub(crate) struct JitOptions {
    /// What the loader understands.
    pub(crate) load: LoadOptions,
    /// Where messages go.
    pub(crate) logs: JitLogs,
    started: Instant,
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
    let mut result = JitOptions { load: LoadOptions::default(), logs: JitLogs::default(), started: Instant::now() };
    for i in 0..n as usize {
        // SAFETY: `i < n`.
        let (option, place, value) = unsafe { (*options.add(i), values.add(i).addr(), (*values.add(i)).addr()) };
        let logs = &mut result.logs;
        match option {
            CUjit_option::CU_JIT_MAX_REGISTERS => result.load.max_registers = Some(value as u32),
            CUjit_option::CU_JIT_WALL_TIME => logs.wall_time = place,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER => logs.info.start = value,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => {
                (logs.info.size, logs.info.size_place) = (value as u32 as usize, place)
            }
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER => logs.error.start = value,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {
                (logs.error.size, logs.error.size_place) = (value as u32 as usize, place)
            }
            // Everything else is about machine code for a GPU, or advice.
            other => ensure(other.0 < CUjit_option::CU_JIT_NUM_OPTIONS.0, ResultCode::INVALID_VALUE)?,
        }
    }
    Ok(result)
}

impl JitOptions {
    /// Writes messages and times to where the caller wants them.
    ///
    /// # Safety
    /// The arrays and buffers that [`from_option_arrays`] saw are still valid.
    pub(crate) unsafe fn write_results(&self, info: &str, error: &str) {
        // SAFETY: this function's contract.
        unsafe { self.logs.write_logs(info, error) };
        if self.logs.wall_time != 0 {
            let ms = self.started.elapsed().as_secs_f32() * 1e3;
            // The value's place is as wide as a pointer; the time is a float in its first bytes.
            // SAFETY: the place is an element of the caller's array.
            unsafe { (self.logs.wall_time as *mut f32).write_unaligned(ms) };
        }
    }
}

impl JitLogs {
    /// Writes messages to where the caller wants them.
    ///
    /// # Safety
    /// The buffers are still valid.
    pub(crate) unsafe fn write_logs(&self, info: &str, error: &str) {
        // SAFETY: this function's contract.
        unsafe {
            self.info.write_text(info);
            self.error.write_text(error);
        }
    }
}

impl LogBuffer {
    /// # Safety
    /// The buffer and the place of its size are still valid.
    unsafe fn write_text(&self, text: &str) {
        let mut written = 0;
        if self.start != 0 && self.size > 0 {
            written = text.len().min(self.size - 1);
            // SAFETY: `written + 1 <= size`, and the buffer is valid for `size` bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(text.as_ptr(), self.start as *mut u8, written);
                (self.start as *mut u8).add(written).write(0);
            }
        }
        if self.size_place != 0 {
            // SAFETY: an element of the caller's array, which is as wide as a pointer.
            unsafe { (self.size_place as *mut c_uint).write_unaligned(written as c_uint) };
        }
    }
}
