//! What every back end has to do, by CUDA: as it is, with the kernels of large GPUs, and without any capability.

#[path = "../../../tests/support/contexts.rs"]
mod contexts;
#[path = "../../../tests/support/fake_device.rs"]
mod fake_device;

use fake_device::FakeDevice;
use rtcg_hal::ArrayContext;
use std::sync::{Arc, LazyLock};

fn without_capabilities() -> Arc<ArrayContext> {
    static CONTEXT: LazyLock<Arc<ArrayContext>> =
        LazyLock::new(|| FakeDevice::on(Arc::new(contexts::cuda_runtime())).without_capabilities().context().0);
    CONTEXT.clone()
}

mod cuda {
    rtcg_conformance::conformance_tests!(crate::contexts::context());
}

mod large_gpu {
    rtcg_conformance::conformance_tests!(crate::contexts::large_gpu());
}

mod device_without_capabilities {
    rtcg_conformance::conformance_tests!(crate::without_capabilities());
}
