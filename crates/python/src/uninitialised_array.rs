//! What stands for the contents of an array object whose `__init__` was not called: an array that no operation takes.
//!
//! Most methods refuse such an object before they look at its contents. Functions that take arrays do not ask, since
//! their errors come from here.

use crate::resource_lifetime::NOT_INITIALISED;
use rtcg::array::{
    ArgsView, ArrayBuffer, ArrayContext, ArrayError, DType, Device, DeviceInfo, ExecutionModel, GpuArray, Kernel,
    KernelText, Layout, Order, Queue, Result,
};
use std::any::Any;
use std::sync::Arc;

/// Memory and device that are not there.
struct Missing;

fn refuse<T>() -> Result<T> {
    Err(ArrayError::type_error(format!("GPUArray: {NOT_INITIALISED}")))
}

impl ArrayBuffer for Missing {
    fn device_ptr(&self) -> u64 {
        0
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn ensure_computed(&self) -> Result<()> {
        refuse()
    }
}

impl Device for Missing {
    fn device_info(&self) -> DeviceInfo {
        DeviceInfo {
            multiprocessors: 1,
            max_blocks: 1,
            execution: ExecutionModel::SimdCpu,
            vector_bytes: 1,
            bulk_copy_smem_bytes: 0,
            shared_bytes: 0,
            compute_capability: 0,
        }
    }

    fn alloc(&self, _: usize) -> Result<Arc<dyn ArrayBuffer>> {
        refuse()
    }

    fn compile(&self, _: &KernelText<'_>) -> Result<Arc<dyn Kernel>> {
        refuse()
    }

    fn queue(&self) -> &dyn Queue {
        self
    }

    fn synchronize(&self) -> Result<()> {
        refuse()
    }
}

impl Queue for Missing {
    fn write(&self, _: u64, _: &[u8]) -> Result<()> {
        refuse()
    }

    fn read(&self, _: &mut [u8], _: u64) -> Result<()> {
        refuse()
    }

    fn copy(&self, _: u64, _: u64, _: usize) -> Result<()> {
        refuse()
    }

    fn fill_zero(&self, _: u64, _: usize) -> Result<()> {
        refuse()
    }

    fn launch(&self, _: &Arc<dyn Kernel>, _: [u32; 3], _: [u32; 3], _: u32, _: ArgsView<'_>) -> Result<()> {
        refuse()
    }

    fn reduction_workspace(&self, _: usize) -> Result<(u64, u64)> {
        refuse()
    }
}

/// The array that an object which was not initialised holds.
#[cold]
pub(crate) fn uninitialised_array() -> GpuArray {
    let layout = Layout::contiguous(&[], DType::F64.itemsize(), Order::C);
    let ctx = ArrayContext::new(Arc::new(Missing));
    GpuArray::from_buffer(&ctx, Some(Arc::new(Missing)), layout, DType::F64)
}
