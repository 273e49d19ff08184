//! GPU run-time code generation: write CUDA C as text at run time, when you know the problem best, compile it (cached
//! and automatically) and launch it, on an NVIDIA GPU or, without one, on the virtual GPU.
//!
//! ```
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let module = ctx.compile("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")?;
//! let a = ctx.to_device(&[1.0f32, 2.0, 3.0])?;
//! // SAFETY: the kernel writes the three elements of `a` and nothing else.
//! unsafe { module.function("twice")?.launch(Grid::new(1, 3), &[&a])? };
//! assert_eq!(a.to_vec()?, [2.0, 4.0, 6.0]);
//! # Ok(())
//! # }
//! ```
//!
//! | task | begin with |
//! |---|---|
//! | compile and launch a kernel | [`Context::compile`], [`Function::launch`], [`Grid`] |
//! | compile options, macros, C++ templates | [`Context::compile_with`], [`compile::CompileRequest`] |
//! | what may be an argument; structures | [`KernelArgument`], [`Element`](trait@Element) |
//! | copies that do not wait | [`PinnedVec`], [`DeviceVec::write_async`] |
//! | streams, and time by events | [`Context::stream`], [`Context::event`] |
//! | images, textures, surfaces | [`textures`] |
//! | arrays with NumPy's operations | [`ArrayFactory`], [`GpuArray`] |
//! | a formula, a reduction or a scan as a kernel | [`generators`] |
//! | sparse matrices and solvers | [`sparse`] |
//! | filters of images | [`ndimage`] |
//! | nearest neighbours | [`neighbors`] |
//! | data-parallel programs | [`lang`] |
//! | cuBLAS, cuFFT, cuSOLVER, when asked for | [`libraries`] |
//! | stencils; reductions by label, histograms, k-means | [`specialize`] |
//! | several devices; what to do after a fault | [`Context`] |
//! | the kinds of errors | [`enum@Error`] |
//! | the fastest of many variants | [`tune`] |
//! | the choices of array kernels, recorded or forced | [`array_tuning`] |
//! | graphs, pools, contexts, all else of the driver | [`driver`] |
//!
//! A program that compiles kernels needs NVIDIA's compiler library NVRTC at run time: in the active virtual environment
//! (`pip install nvidia-cuda-nvrtc`), in a `.venv` beside or above the program, in a CUDA toolkit, or at the path in
//! `RTCG_NVRTC`. Compiled programs are cached on disk.
//!
//! The underlying crates are re-exported whole: [`driver`] covers every object of the CUDA driver API; [`compile`] is
//! the compiler with its cache; [`mod@array`] has arrays whose element type is known at run time ([`typed_arrays`] has
//! those with a static one); [`codegen`] generates the source of the kernels that [`generators`] compile and launch.

pub mod array_tuning;
mod context;
pub mod element;
pub mod generators;
pub mod info;
mod kernel_arguments;
mod kernel_target;
pub mod lang;
mod launch;
pub mod libraries;
mod memory;
mod module;
pub mod nccl;
pub mod ndimage;
pub mod neighbors;
mod pinned_memory;
pub mod profile;
pub mod source;
pub mod sparse;
pub mod specialize;
pub mod textures;
pub mod tune;
pub mod typed_arrays;
mod typed_elementwise;

pub use context::Context;
pub use element::{DevicePtr, Element};
pub use kernel_arguments::Strided;
pub use kernel_target::KernelTarget;
pub use launch::{Dim3, DimLength, Function, Grid, KernelArgument, WriteArgumentFn};
pub use libraries::{cublas, cublaslt, cufft, cusolver};
pub use memory::DeviceVec;
pub use module::{DeviceGlobal, Module, NamedModule};
pub use pinned_memory::{Pending, PinnedVec};
pub use rtcg_cgen as cgen;
pub use rtcg_compile as compile;
/// ```
/// use rtcg::array::{DType, GpuArray, Op, Order, fuse};
/// use rtcg::{Context, CudaRuntime};
///
/// # fn main() -> rtcg::Result<()> {
/// let arrays = CudaRuntime::array_context(&Context::new()?)?;
/// let x = GpuArray::empty(&arrays, &[100], DType::F32, Order::C)?;
/// x.write(&[3.0f32; 100].map(f32::to_le_bytes).concat(), Order::C)?;
/// // One kernel, and no memory for `scaled`.
/// let root = fuse::fuse(|| {
///     let scaled = x.binary(Op::Multiply, 2.0)?;
///     scaled.binary(Op::Add, &x)?.unary(Op::Sqrt)
/// })?;
/// let mut bytes = vec![0; root.nbytes()];
/// root.read(&mut bytes, Order::C)?;
/// assert_eq!(bytes, [3.0f32; 100].map(f32::to_le_bytes).concat());
/// # Ok(())
/// # }
/// ```
pub use rtcg_cuda::CudaRuntime;
/// How a caller can react to an error depends on the part that failed:
///
/// ```
/// use rtcg::Error;
/// use rtcg::driver::ErrorKind;
/// use rtcg::prelude::*;
///
/// # fn main() -> rtcg::Result<()> {
/// let ctx = Context::new()?;
/// match ctx.compile("__global__ void wrong(float *a) { *a = b; }") {
///     Err(Error::Compile(error)) => assert!(error.to_string().contains(r#"identifier "b" is undefined"#)),
///     other => panic!("{:?}", other.map(|_| ())),
/// }
/// match ctx.zeros::<f32>(1 << 50) {
///     Err(Error::Driver(error)) if error.kind == ErrorKind::Memory => {} // free something, or take less
///     other => panic!("{:?}", other.map(|_| ())),
/// }
/// # Ok(())
/// # }
/// ```
pub use rtcg_cuda::Error;
pub use rtcg_cuda::{
    DeviceBuffer, Result, attach_module_source, current_stream, device_compile_target, driver_function, has_allocator,
    kernel_parameters, run_in_stream, with_allocator,
};
#[cfg(feature = "derive")]
pub use rtcg_derive::Element;
pub use rtcg_driver as driver;
pub use rtcg_hal::{Allocator, argument_types_are_checked, argument_types_are_strict};
pub use typed_arrays::{ArrayFactory, GpuArray, GpuArrayDyn, einsum};

/// Arrays whose element type is known at run time, and what they need of a device: [`rtcg_array`] with the names of
/// [`rtcg_hal`] that belong to it.
pub mod array {
    pub use rtcg_array::*;
    pub use rtcg_hal::{
        Allocator, ArgsView, ArrayBuffer, ArrayContext, ArrayError, ArrayErrorKind, BLOCK_THREADS, BlockingHook,
        BoundedCache, CacheUse, ConversionError, Cooperative, DType, DTypeKind, Device, DeviceInfo, ExecutionModel,
        Graphs, Kernel, KernelSpec, KernelText, Launch, LaunchArg, LaunchArgs, LaunchableGraph, PinnedReads, Queue,
        ReadSlot, Result, ThreadFlag, WeakScalar, blocking_region, check_interrupt, compile_ahead, is_compiling_ahead,
        lock_blocking, set_blocking_hook, set_interrupt_check, tuning, with_thread_choices,
    };
}

/// Generators of kernel source, with the dtypes and tunable decisions that they use: [`rtcg_codegen`] with the names of
/// [`rtcg_hal`] that belong to it.
pub mod codegen {
    pub use rtcg_codegen::*;
    pub use rtcg_hal::{
        BLOCK_THREADS, DType, DTypeKind, DeviceInfo, ExecutionModel, KernelSpec, OperandType, UnknownDType, WeakScalar,
        promote_operands, tunable, tuning,
    };
}

/// The items that most programs need.
pub mod prelude {
    pub use crate::{
        ArrayFactory, Context, DeviceGlobal, DeviceVec, Element, Function, GpuArray, Grid, KernelArgument, Module,
        PinnedVec,
    };
}

/// Builds a basic index of an array in NumPy's notation from integers, ranges, `(range, step)`, `Index::Ellipsis` and
/// `Index::NewAxis`, each of which converts to [`array::Index`]. Negative numbers count from the end.
///
/// ```
/// use rtcg::array::Index;
/// use rtcg::index;
///
/// let items: [Index; 4] = index![-1, 2.., Index::NewAxis, (..5, -1)];
/// assert_eq!(items[1], Index::Slice(Some(2), None, None));
/// ```
#[macro_export]
macro_rules! index {
    ($($item:expr),* $(,)?) => {{
        #[allow(clippy::reversed_empty_ranges, reason = "`1..-1` ends at the last element but one")]
        let items = [$($crate::array::Index::from($item)),*];
        items
    }};
}
