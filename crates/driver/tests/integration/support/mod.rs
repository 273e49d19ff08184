//! Where tests run: a context of the first device, or of the one that `RTCG_TEST_DEVICE` picks.

use rtcg_driver::{Context, Device};

/// The device.
pub(crate) fn test_device() -> Device {
    rtcg_driver::set_notice_hook(|_| ());
    rtcg_driver::init(0).expect("there is a device, if only a virtual one");
    let ordinal = std::env::var("RTCG_TEST_DEVICE").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    Device::new(ordinal).expect("the device exists")
}

/// Runs a test body in a fresh context and takes the context down afterwards.
pub(crate) fn run_in_context(body: impl FnOnce(&Context)) {
    let ctx = test_device().make_context(0).expect("a context can be made");
    body(&ctx);
    Context::pop().expect("the context is on the stack");
    ctx.detach().expect("the context is alive");
}
