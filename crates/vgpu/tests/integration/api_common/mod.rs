//! What the tests of the driver API share: calls through the table, with codes as results.

use rtcg_cuda_sys::*;

/// The table under test.
pub fn driver_table() -> &'static DriverTable {
    rtcg_vgpu::virtual_driver_table()
}

/// Calls a driver function; `Err` holds its code.
macro_rules! call {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        // SAFETY: the tests pass valid pointers and, on purpose, invalid handles and addresses.
        let code = unsafe { $crate::api_common::driver_table().$name($($arg),*) };
        if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(code) }
    }};
}

/// Calls a driver function that must succeed.
macro_rules! ok {
    ($name:ident($($arg:expr),* $(,)?)) => {
        assert_eq!(call!($name($($arg),*)), Ok(()), "{}: {:?}", stringify!($name), rtcg_vgpu::last_error_detail())
    };
}

/// Calls a driver function that must fail with a code.
macro_rules! fails {
    ($code:ident, $name:ident($($arg:expr),* $(,)?)) => {
        assert_eq!(call!($name($($arg),*)), Err(CUresult::$code), stringify!($name))
    };
}

/// A new context, current on this thread.
pub fn new_context() -> CUcontext {
    ok!(cuInit(0));
    new_context_on(0)
}

/// A new context of a device, current on this thread.
pub fn new_context_on(device: i32) -> CUcontext {
    let mut ctx = CUcontext::null();
    ok!(cuCtxCreate(&raw mut ctx, std::ptr::null_mut(), 0, device));
    ctx
}

/// Makes a context current on this thread.
pub fn make_current(ctx: CUcontext) {
    ok!(cuCtxSetCurrent(ctx));
}

/// Allocated device memory.
pub fn alloc(bytes: usize) -> CUdeviceptr {
    let mut address = 0;
    ok!(cuMemAlloc(&raw mut address, bytes));
    address
}

/// A new stream.
pub fn new_stream(flags: u32) -> CUstream {
    let mut stream = CUstream::null();
    ok!(cuStreamCreate(&raw mut stream, flags));
    stream
}

/// A new event.
pub fn new_event(flags: u32) -> CUevent {
    let mut event = CUevent::null();
    ok!(cuEventCreate(&raw mut event, flags));
    event
}
