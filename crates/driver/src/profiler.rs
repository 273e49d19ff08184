//! Switching an external profiler on and off.

use crate::error::Result;
use crate::module::c_string;
use rtcg_cuda_sys::CUoutput_mode;

/// Configures the (long retired) command-line profiler.
pub fn initialize(config_file: &str, output_file: &str, mode: CUoutput_mode) -> Result<()> {
    let config = c_string("cuProfilerInitialize", config_file.as_bytes())?;
    let output = c_string("cuProfilerInitialize", output_file.as_bytes())?;
    // SAFETY: both names are NUL-terminated.
    unsafe { call_in_current_context!(cuProfilerInitialize(config.as_ptr(), output.as_ptr(), mode)) }
}

/// Starts profiling.
pub fn start() -> Result<()> {
    // SAFETY: takes no arguments.
    unsafe { call_in_current_context!(cuProfilerStart()) }
}

/// Stops profiling.
pub fn stop() -> Result<()> {
    // SAFETY: takes no arguments.
    unsafe { call_in_current_context!(cuProfilerStop()) }
}
