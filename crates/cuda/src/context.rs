//! What the compiler must produce for a device, and contexts that are current for a while.

use rtcg_compile::{Arch, Target};
use rtcg_driver::{Context, Device, Error};

/// What the compiler must produce for `device`: machine code if the device can load it, else PTX.
///
/// # Errors
/// When the driver does not report the compute capability.
pub fn device_compile_target(device: &Device) -> rtcg_driver::Result<Target> {
    let (major, minor) = device.compute_capability()?;
    let arch = Arch::new(major, minor);
    let target = if device.can_load_cubins() { Target::cubin_for_arch(arch) } else { Target::ptx_for_arch(arch) };
    Ok(Target { line_info: device.is_checked(), ..target })
}

/// Runs `body` with `ctx` current in the calling thread.
///
/// # Errors
/// Those of `body`; and when the context is closed.
pub fn with_current<T, E: From<Error>>(ctx: &Context, body: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    if ctx.is_current() {
        return body();
    }
    ctx.push()?;
    let entered = PopOnDrop;
    let result = body();
    std::mem::forget(entered);
    Context::pop()?;
    result
}

/// Leaves a context that was entered, where a panic passes.
struct PopOnDrop;

impl Drop for PopOnDrop {
    fn drop(&mut self) {
        let _ = Context::pop();
    }
}
