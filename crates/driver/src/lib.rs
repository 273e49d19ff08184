//! Safe objects over the CUDA driver API: devices, contexts, streams, events, modules,
//! functions, memory.
//!
//! Every object holds the table it was made with and keeps its context alive. Objects may be
//! dropped in any order and from any thread, with their context already gone, after `fork` and
//! at process exit: a drop never panics and never aborts, and where nothing can be freed any more
//! it does nothing.
//!
//! Functions that act on "the current context" mean the top of the calling thread's
//! [`Context`] stack. Device pointers are plain numbers ([`CUdeviceptr`]); whatever takes one is
//! `unsafe`, because unified addressing lets such a number name host memory too. The methods of
//! [`DeviceAllocation`] check bounds and are safe.
#![doc = include_str!("tasks.md")]
#![allow(unsafe_code)]

#[macro_use]
mod error;
mod context;
mod context_settings;
mod device;
mod event;
mod flags;
mod function;
pub mod gl;
mod graph;
mod host_call;
mod last_launch;
mod launch;
mod launch_diagnosis;
mod launch_options;
mod launch_queue;
mod library;
mod linker;
mod loaded_drivers;
mod lto;
pub mod memory;
mod module;
mod multiprocessor;
mod nvml;
mod occupancy;
pub mod pool;
mod prepared_launch;
mod process_state;
pub mod profiler;
pub mod signature;
mod stream;
mod texture;
mod texture_object;
mod virtual_gpu;
mod weak_scalar;

pub use context::{Context, ContextKind};
pub use device::Device;
pub use error::{Error, ErrorKind, Result};
pub use event::Event;
pub use flags::{
    ContextFlags, EventFlags, EventRecordFlags, GraphicsMapFlags, GraphicsRegisterFlags, HostAllocFlags,
    HostRegisterFlags, IpcMemoryFlags, MemAttachFlags, PeerAccessFlags, StreamFlags, WaitValueFlags, WriteValueFlags,
};
pub use function::{Function, Param};
pub use graph::{
    CaptureInfo, ConditionalHandle, CopyEndpoint, Graph, GraphExec, GraphNode, KernelNode, MemsetNode,
    exchange_capture_mode, is_any_capturing, linear_copy_params, retain_in_capture, with_relaxed_capture_mode,
};
pub use host_call::HostFn;
pub use launch::{ArgPacker, PackedArgs, PreparedArgs};
pub use launch_options::LaunchOptions;
pub use launch_queue::PendingHostWork;
pub use library::{Kernel, Library};
pub use linker::Linker;
pub use loaded_drivers::{driver_version, init, is_initialized, set_cleanup_error_hook, set_notice_hook, show_notice};
pub use memory::{
    AlignedHostAllocation, Array, DeviceAllocation, HostAllocation, IpcMemory, ManagedAllocation, MemoryPool,
    MipmappedArray, RegisteredHostMemory,
};
pub use module::{JitLog, Module, ModuleSource};
pub use multiprocessor::{BlockTooLargeError, Multiprocessor, Occupancy, OccupancyLimiter};
pub use nvml::NvmlDevice;
pub use rtcg_cuda_sys as sys;
pub use rtcg_cuda_sys::CUdeviceptr;
pub use rtcg_cuda_sys::trace;
pub use stream::Stream;
pub use texture::{SurfaceReference, TextureReference};
pub use texture_object::{SurfaceObject, TextureObject, TextureResource};
pub use virtual_gpu::virtual_gpu_table as virtual_table;
#[cfg(feature = "vgpu")]
pub use virtual_gpu::{check, finish_or_cancel_work, schedule, set_interrupt_check};
pub use weak_scalar::{ConversionError, ConvertedScalar, WeakScalar};
