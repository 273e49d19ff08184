//! What can be passed to kernels: numbers and structures by value, memory of all kinds by pointer, textures and
//! surfaces by handle.

use crate::element::{Element, bytes_of};
use crate::launch::{KernelArgument, WriteArgumentFn};
use crate::memory::DeviceVec;
use crate::module::DeviceGlobal;
use crate::pinned_memory::PinnedVec;
use crate::typed_arrays::{ArrayElement, GpuArray, GpuArrayDyn};
use rtcg_array::{Order, PythonTuple};
use rtcg_cuda::run_in_stream;
use rtcg_driver::pool::PooledDeviceAllocation;
use rtcg_driver::signature::GivenArgument;
use rtcg_driver::sys::CUresult;
use rtcg_driver::{
    DeviceAllocation, Error, HostAllocation, IpcMemory, ManagedAllocation, RegisteredHostMemory, Result, Stream,
    SurfaceObject, TextureObject, retain_in_capture,
};
use rtcg_hal::DType;
use std::sync::Arc;

fn put_pointer(put: &mut WriteArgumentFn<'_>, ptr: u64, elements: Option<DType>) -> Result<()> {
    put(&ptr.to_ne_bytes(), 8, GivenArgument::Pointer(elements))
}

fn invalid(detail: String) -> Error {
    Error::new("cuLaunchKernel", CUresult::CUDA_ERROR_INVALID_VALUE, detail)
}

fn freed_error(what: &str) -> Error {
    invalid(format!("an argument is {what} that was freed"))
}

/// By value. An array `[T; N]` is what C has as a structure of it or as a vector such as `float4`.
impl<T: Element> KernelArgument for T {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        let given = T::NUMBER_TYPE.map_or(GivenArgument::Bytes, GivenArgument::Value);
        put(&bytes_of(std::slice::from_ref(self)), T::C_ALIGN, given)
    }
}

/// The address of its first element.
impl<T: Element> KernelArgument for DeviceVec<T> {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        put_pointer(put, self.ptr(), T::POINTEE)
    }

    fn used_in(&self, stream: Option<&Stream>) {
        Self::used_in(self, stream);
    }
}

/// The variable's address; a graph holds its module.
impl<T: Element> KernelArgument for DeviceGlobal<T> {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        put_pointer(put, self.ptr(), T::POINTEE)
    }

    fn used_in(&self, stream: Option<&Stream>) {
        retain_in_capture(stream, || Arc::new(self.clone()));
    }
}

/// The address of page-locked memory as the device sees it. Nobody may touch the elements until the kernel has finished.
impl<T: Element> KernelArgument for PinnedVec<T> {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        put_pointer(put, self.device_address()?, T::POINTEE)
    }
}

/// The address of its first element. Kernels count elements in C order, so an array of another layout is refused; for
/// those that take strides there is [`Strided`].
impl<T: ArrayElement> KernelArgument for GpuArray<T> {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        self.as_dyn().pack_argument(put)
    }

    fn used_in(&self, stream: Option<&Stream>) {
        KernelArgument::used_in(self.as_dyn(), stream);
    }
}

/// As an array with a static element type.
impl KernelArgument for GpuArrayDyn {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        let layout = self.layout();
        if !self.is_contiguous(Order::C) {
            let (shape, strides) = (PythonTuple(&layout.shape), &layout.strides);
            return Err(invalid(format!(
                "an argument is an array of shape {shape} with strides of {strides:?} bytes; expected one without gaps in C \
                 order: pass copy() of it, or Strided(&array) to a kernel that takes the strides"
            )));
        }
        put_array_pointer(self, put)
    }

    fn used_in(&self, stream: Option<&Stream>) {
        record_array_use(self, stream);
    }
}

fn put_array_pointer(array: &GpuArrayDyn, put: &mut WriteArgumentFn<'_>) -> Result<()> {
    put_pointer(put, array.device_ptr().unwrap_or(0), array.dtype().number())
}

fn record_array_use(array: &GpuArrayDyn, stream: Option<&Stream>) {
    let Some(buffer) = array.buffer() else { return };
    match stream {
        None => buffer.record_use(),
        Some(_) => run_in_stream(stream, || buffer.record_use()),
    }
}

/// An array of any layout as an argument: passes the address of the element at index 0 along all axes. Pass the strides
/// as further arguments.
///
/// ```
/// use rtcg::prelude::*;
/// use rtcg::{Strided, index};
///
/// # fn main() -> rtcg::Result<()> {
/// let ctx = Context::new()?;
/// let arrays = ArrayFactory::new(&ctx)?;
/// let a = arrays.range(0.0f32, 1.0, 6)?;
/// let every_second = a.index(&index![(.., 2)])?;
/// let add = ctx.compile("__global__ void add(float *x, long long step) { x[threadIdx.x * step] += 10; }")?.function("add")?;
/// let step = every_second.strides()[0] as i64 / 4;
/// // SAFETY: the kernel writes the three elements of the view.
/// unsafe { add.launch(Grid::new(1, 3), &[&Strided(&every_second), &step])? };
/// assert_eq!(a.to_vec()?, [10.0, 1.0, 12.0, 3.0, 14.0, 5.0]);
/// // SAFETY: it is refused.
/// let error = unsafe { add.launch(Grid::new(1, 3), &[&every_second, &step]).unwrap_err() };
/// assert!(error.to_string().contains("strides of [8] bytes"), "{error}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Strided<'a, A: AsRef<GpuArrayDyn>>(pub &'a A);

impl<A: AsRef<GpuArrayDyn>> KernelArgument for Strided<'_, A> {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        put_array_pointer(self.0.as_ref(), put)
    }

    fn used_in(&self, stream: Option<&Stream>) {
        record_array_use(self.0.as_ref(), stream);
    }
}

/// A `cudaTextureObject_t`; a graph holds it.
impl KernelArgument for TextureObject {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        self.handle().pack_argument(put)
    }

    fn used_in(&self, stream: Option<&Stream>) {
        retain_in_capture(stream, || Arc::new(self.clone()));
    }
}

/// A `cudaSurfaceObject_t`; a graph holds it.
impl KernelArgument for SurfaceObject {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        self.handle().pack_argument(put)
    }

    fn used_in(&self, stream: Option<&Stream>) {
        retain_in_capture(stream, || Arc::new(self.clone()));
    }
}

/// Its address. It must live until the kernel has finished, and longer than graphs with the launch. It does not know of the
/// launch: its own copies are in the order of the default stream, so wait for other streams before.
impl KernelArgument for DeviceAllocation {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        if self.is_freed() {
            return Err(freed_error("device memory"));
        }
        put_pointer(put, self.ptr(), None)
    }
}

/// Its address, as [`DeviceAllocation`]; the pool does not reuse it before the stream has passed the launch.
impl KernelArgument for PooledDeviceAllocation {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        if self.is_freed() {
            return Err(freed_error("pooled memory"));
        }
        put_pointer(put, self.ptr(), None)
    }

    fn used_in(&self, stream: Option<&Stream>) {
        Self::used_in(self, stream);
    }
}

/// Its address, as [`DeviceAllocation`].
impl KernelArgument for ManagedAllocation {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        self.allocation().pack_argument(put)
    }
}

/// Its address in this process, as [`DeviceAllocation`].
impl KernelArgument for IpcMemory {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        self.allocation().pack_argument(put)
    }
}

/// The address as the device sees it. It must live until the kernel has finished.
impl KernelArgument for HostAllocation {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        if self.is_freed() {
            return Err(freed_error("page-locked memory"));
        }
        put_pointer(put, self.device_pointer()?, None)
    }
}

/// The address as the device sees it. It must live until the kernel has finished.
impl KernelArgument for RegisteredHostMemory {
    fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> Result<()> {
        put_pointer(put, self.device_pointer()?, None)
    }
}
