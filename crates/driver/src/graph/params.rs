//! Parameters of graph nodes.

use crate::error::{Error, Result};
use crate::module::Function;
use rtcg_cuda_sys::*;

/// A kernel launch as a graph node.
#[derive(Clone, Debug)]
pub struct KernelNode {
    /// The kernel.
    pub function: Function,
    /// Blocks along each axis.
    pub grid: [u32; 3],
    /// Threads per block along each axis.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// Packed arguments, see [`Function::arg_packer`].
    pub args: Vec<u8>,
    /// All blocks must be resident at once, so that the grid can synchronise.
    pub cooperative: bool,
}

impl KernelNode {
    /// Calls `body` with the driver's description, which is valid for the call.
    pub(super) fn with_raw_params<T>(&self, body: impl FnOnce(*const CUDA_KERNEL_NODE_PARAMS) -> T) -> T {
        self.function.with_arguments(&self.args, |each, extra| {
            let raw = CUDA_KERNEL_NODE_PARAMS {
                func: self.function.handle(),
                gridDimX: self.grid[0],
                gridDimY: self.grid[1],
                gridDimZ: self.grid[2],
                blockDimX: self.block[0],
                blockDimY: self.block[1],
                blockDimZ: self.block[2],
                sharedMemBytes: self.shared_bytes,
                kernelParams: each,
                extra,
                ..Default::default()
            };
            body(&raw const raw)
        })
    }

    /// Says which of its numbers a device cannot have, before a driver says less.
    pub(super) fn check_limits(&self, call: &'static str) -> Result<()> {
        for (name, numbers) in [("grid", self.grid), ("block", self.block)] {
            if numbers.contains(&0) {
                let detail = format!("{name} {numbers:?} of kernel '{}' has an empty direction", self.function.name());
                return Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail));
            }
        }
        Ok(())
    }
}

/// A fill of device memory as a graph node: `height` rows of `width` elements, `pitch` bytes apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemsetNode {
    /// The address of the first element.
    pub dst: CUdeviceptr,
    /// Bytes from one row to the next; ignored for a single row.
    pub pitch: usize,
    /// The value of every element.
    pub value: u32,
    /// Bytes per element: 1, 2 or 4.
    pub element_size: u32,
    /// Elements per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
}

impl MemsetNode {
    pub(super) fn raw_params(&self) -> CUDA_MEMSET_NODE_PARAMS {
        CUDA_MEMSET_NODE_PARAMS {
            dst: self.dst,
            pitch: self.pitch,
            value: self.value,
            elementSize: self.element_size,
            width: self.width,
            height: self.height,
        }
    }
}

/// The condition of a conditional node. Kernels of the graph set it with `cudaGraphSetConditional`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConditionalHandle(pub CUgraphConditionalHandle);

/// The source or destination of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyEndpoint {
    /// Device memory, or any address that the driver knows.
    Device(CUdeviceptr),
    /// Host memory.
    Host(*mut u8),
}

// SAFETY: an address by itself does nothing; whoever has a graph use it promises that it is valid.
unsafe impl Send for CopyEndpoint {}
// SAFETY: shared references only read the address.
unsafe impl Sync for CopyEndpoint {}

/// Describes a copy of `nbytes` contiguous bytes.
pub fn linear_copy_params(dst: CopyEndpoint, src: CopyEndpoint, nbytes: usize) -> CUDA_MEMCPY3D {
    let mut copy = CUDA_MEMCPY3D {
        srcPitch: nbytes,
        dstPitch: nbytes,
        srcHeight: 1,
        dstHeight: 1,
        WidthInBytes: nbytes,
        Height: 1,
        Depth: 1,
        ..Default::default()
    };
    match src {
        CopyEndpoint::Device(ptr) => (copy.srcMemoryType, copy.srcDevice) = (CU_MEMORYTYPE_DEVICE, ptr),
        CopyEndpoint::Host(ptr) => (copy.srcMemoryType, copy.srcHost) = (CU_MEMORYTYPE_HOST, ptr.cast_const().cast()),
    }
    match dst {
        CopyEndpoint::Device(ptr) => (copy.dstMemoryType, copy.dstDevice) = (CU_MEMORYTYPE_DEVICE, ptr),
        CopyEndpoint::Host(ptr) => (copy.dstMemoryType, copy.dstHost) = (CU_MEMORYTYPE_HOST, ptr.cast()),
    }
    copy
}
