//! Arrays on the first CUDA device, which is the virtual GPU where there is no other, for tests of crates that know no
//! back end. Next to this file a crate's tests include `fake_device.rs`.
#![allow(dead_code, unreachable_pub, reason = "each crate's tests use a part")]

use crate::fake_device::{FakeDevice, LARGE_GPU};
use rtcg_cuda::CudaRuntime;
use rtcg_driver::Device;
use rtcg_hal::{ArrayContext, DeviceInfo};
use std::sync::{Arc, LazyLock};

/// The runtime of the device.
pub fn cuda_runtime() -> CudaRuntime {
    rtcg_driver::init(0).unwrap();
    CudaRuntime::new(&Device::new(0).unwrap().retain_primary_context().unwrap()).unwrap()
}

/// Arrays on the device; tests share its kernels.
pub fn context() -> Arc<ArrayContext> {
    static CONTEXT: LazyLock<Arc<ArrayContext>> = LazyLock::new(|| ArrayContext::new(Arc::new(cuda_runtime())));
    CONTEXT.clone()
}

/// Arrays on the device, which claims these properties.
pub fn context_claiming(info: DeviceInfo) -> Arc<ArrayContext> {
    FakeDevice::on(Arc::new(cuda_runtime())).claiming(info).context().0
}

/// Arrays on the device, which claims to be a large GPU; tests share its kernels.
pub fn large_gpu() -> Arc<ArrayContext> {
    static CONTEXT: LazyLock<Arc<ArrayContext>> = LazyLock::new(|| context_claiming(LARGE_GPU));
    CONTEXT.clone()
}
