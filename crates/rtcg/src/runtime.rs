//! The CUDA runtime of arrays: driver and compiler behind [`rtcg_array::Runtime`].

// Copies and launches of the driver crate are unsafe because addresses are plain numbers there;
// here every address comes from an array that holds its memory.
#![allow(unsafe_code)]

use crate::context::Context;
use crate::error::Error;
use rtcg_array::{ArrayContext, ArrayError, Buffer, Kernel, KernelArg, Result, Runtime};
use rtcg_driver::{DeviceAllocation, Function, PackedArgs, memory, sys};
use std::any::Any;
use std::sync::Arc;

/// Threads per block of array kernels.
const BLOCK_THREADS: u32 = 256;

/// Device memory of an array.
#[derive(Debug)]
pub struct DeviceBuffer(pub Arc<DeviceAllocation>);

impl Buffer for DeviceBuffer {
    fn device_ptr(&self) -> u64 {
        self.0.ptr()
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// Arrays on one CUDA context, in its default stream.
#[derive(Debug)]
pub struct CudaRuntime {
    ctx: Context,
    /// Blocks that fill the device; more elements than their threads are covered by striding.
    max_blocks: u32,
}

impl CudaRuntime {
    /// A runtime for `ctx`.
    ///
    /// # Errors
    /// When the device does not tell its size.
    pub fn new(ctx: &Context) -> crate::Result<Self> {
        let attribute = |which| ctx.device().attribute(which).map(|value| value.max(1) as u32);
        let processors = attribute(sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let threads = attribute(sys::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?;
        let resident = processors.saturating_mul((threads / BLOCK_THREADS).max(1));
        Ok(Self { ctx: ctx.clone(), max_blocks: resident.saturating_mul(4) })
    }

    /// Arrays of `ctx`.
    ///
    /// # Errors
    /// As [`CudaRuntime::new`].
    pub fn arrays(ctx: &Context) -> crate::Result<Arc<ArrayContext>> {
        Ok(ArrayContext::new(Arc::new(Self::new(ctx)?)))
    }

    fn run<T>(&self, body: impl FnOnce() -> rtcg_driver::Result<T>) -> Result<T> {
        self.ctx.enter(body).map_err(runtime_error)
    }
}

/// Keeps the concrete error as the source, so that callers find it again.
fn runtime_error(error: Error) -> ArrayError {
    match error {
        Error::Driver(error) => ArrayError::runtime(error),
        Error::Compile(error) => ArrayError::runtime(*error),
        Error::Array(error) => error,
        Error::Generator(error) => ArrayError::runtime(error),
    }
}

impl Runtime for CudaRuntime {
    fn alloc(&self, nbytes: usize) -> Result<Arc<dyn Buffer>> {
        let memory = self.run(|| DeviceAllocation::new(nbytes))?;
        Ok(Arc::new(DeviceBuffer(Arc::new(memory))))
    }

    fn write(&self, dst: u64, src: &[u8]) -> Result<()> {
        // SAFETY: the array that owns `dst` has checked the length.
        self.run(|| unsafe { memory::memcpy_htod(dst, src) })
    }

    fn read(&self, dst: &mut [u8], src: u64) -> Result<()> {
        // SAFETY: the array that owns `src` has checked the length.
        self.run(|| unsafe { memory::memcpy_dtoh(dst, src) })
    }

    fn copy(&self, dst: u64, src: u64, nbytes: usize) -> Result<()> {
        // SAFETY: both are arrays of `nbytes` bytes.
        self.run(|| unsafe { memory::memcpy_dtod_async(dst, src, nbytes, None) })
    }

    fn clear(&self, dst: u64, nbytes: usize) -> Result<()> {
        // SAFETY: `dst` is an array of `nbytes` bytes.
        self.run(|| unsafe { memory::memset_d8_async(dst, 0, nbytes, None) })
    }

    fn compile(&self, source: &str, name: &str) -> Result<Arc<dyn Kernel>> {
        let mut request = rtcg_compile::CompileRequest::new(
            source,
            crate::target_of(&self.ctx.device()).map_err(ArrayError::runtime)?,
        );
        request.no_extern_c = true;
        let module = self.ctx.compile_with(&request).map_err(runtime_error)?;
        let function = module.driver().function(name).map_err(ArrayError::runtime)?;
        Ok(Arc::new(CudaKernel { ctx: self.ctx.clone(), function, max_blocks: self.max_blocks }))
    }
}

struct CudaKernel {
    ctx: Context,
    function: Function,
    max_blocks: u32,
}

impl Kernel for CudaKernel {
    fn launch_over(&self, n: usize, args: &[KernelArg]) -> Result<()> {
        let packed = self.pack(args).map_err(ArrayError::runtime)?;
        let blocks = n.div_ceil(BLOCK_THREADS as usize).clamp(1, self.max_blocks as usize) as u32;
        let (grid, block) = ([blocks, 1, 1], [BLOCK_THREADS, 1, 1]);
        // SAFETY: generated kernels touch the first `n` elements of their arrays, which exist.
        self.ctx.enter(|| unsafe { self.function.launch(grid, block, 0, None, &packed) }).map_err(runtime_error)
    }
}

impl CudaKernel {
    fn pack(&self, args: &[KernelArg]) -> rtcg_driver::Result<PackedArgs> {
        let mut packer = self.function.args();
        for arg in args {
            match arg {
                KernelArg::Ptr(value) | KernelArg::Size(value) => packer.push(&value.to_ne_bytes(), 8)?,
                KernelArg::Value { bytes, len } => {
                    let len = usize::from(*len);
                    packer.push(&bytes[..len], len.min(8))?;
                }
            }
        }
        packer.pack()
    }
}
