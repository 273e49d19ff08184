//! Safe objects over the CUDA driver API: devices, contexts, streams, events, modules, functions and memory.
//!
//! Every object holds the driver table it was made with and keeps its context alive. Objects may be dropped in any
//! order and from any thread, after their context was destroyed, after `fork` and at process exit: a drop never panics
//! or aborts, and does nothing if there is nothing left to free.
//!
//! Functions that act on "the current context" mean the top of the calling thread's [`Context`] stack. Device pointers
//! are plain numbers ([`CUdeviceptr`]); functions that take one are `unsafe`, because under unified addressing such a
//! number can also refer to host memory. The methods of [`DeviceAllocation`] check bounds and are safe.
//!
//! Each of these folders imports only folders that are listed before it.
//!
//! | folder, file | contents |
//! |---|---|
//! | `context/` | devices and contexts |
//! | `stream/` | streams and events |
//! | `memory/`, `pool/` | memory, and pools |
//! | `module/` | modules and functions |
//! | `launch/` | launches |
//! | `graph/` | graphs |
//! | `collective.rs`, `nccl.rs` | collectives |
//! | `libraries.rs` | cuBLAS, cuFFT, cuSOLVER |
//!
//! `launch/prepared.rs` is the short path for a repeated launch, and `launch/diagnosis.rs` explains failures. Arguments
//! are validated once, here; nothing above this crate depends on which driver is behind the table.
#![doc = include_str!("tasks.md")]
#![allow(unsafe_code, reason = "every call of the driver is one of C")]

#[macro_use]
mod error;
#[macro_use]
mod context;
#[macro_use]
mod stream;
mod active_captures;
mod collective;
mod flags;
pub mod gl;
mod graph;
mod hidden_captures;
mod last_launch;
mod launch;
mod launch_options;
mod launch_queue;
pub mod libraries;
pub mod memory;
mod module;
pub mod nccl;
mod nvml;
pub mod pool;
mod process_state;
pub mod profiler;
mod release_region;
mod tensor_map;
mod texture_object;
mod virtual_gpu;

pub use active_captures::{is_any_capturing, with_relaxed_capture_mode};
pub use context::loaded_drivers::{
    driver_version, init, is_initialized, set_cleanup_error_hook, set_notice_hook, show_notice,
};
pub use context::multiprocessor::{BlockTooLargeError, Multiprocessor, Occupancy, OccupancyLimiter};
pub use context::{Context, ContextKind, Device};
pub use error::{Error, ErrorKind, Result};
pub use flags::{
    ContextFlags, EventFlags, EventRecordFlags, GraphicsMapFlags, GraphicsRegisterFlags, HostAllocFlags,
    HostRegisterFlags, IpcMemoryFlags, MemAttachFlags, PeerAccessFlags, StreamFlags, WaitValueFlags, WriteValueFlags,
};
pub use graph::{
    CaptureInfo, ConditionalHandle, CopyEndpoint, Graph, GraphExec, GraphNode, KernelNode, MemsetNode,
    linear_copy_params,
};
pub use hidden_captures::HiddenCapture;
pub use launch::{ArgPacker, PackedArgs, PreparedArgs};
pub use launch_options::LaunchOptions;
pub use launch_queue::PendingHostWork;
pub use memory::{
    AlignedHostAllocation, Array, DeviceAllocation, HostAllocation, IpcMemory, ManagedAllocation, MemoryPool,
    MipmappedArray, RegisteredHostMemory,
};
pub use module::library::{Kernel, Library};
pub use module::linker::Linker;
pub use module::signature;
pub use module::texture_reference::{SurfaceReference, TextureReference};
pub use module::{Function, JitLog, Module, ModuleSource, Param};
pub use nvml::NvmlDevice;
pub use rtcg_cuda_sys as sys;
pub use rtcg_cuda_sys::CUdeviceptr;
pub use rtcg_cuda_sys::trace;
pub use rtcg_hal::{WeakScalar, lock_ignoring_poison};
pub use stream::capture::{exchange_capture_mode, retain_in_capture};
pub use stream::host_call::HostFn;
pub use stream::{Event, Stream};
pub use tensor_map::encode_tensor_map;
pub use texture_object::{SurfaceObject, TextureObject, TextureResource};
pub use virtual_gpu::virtual_gpu_table as virtual_table;
#[cfg(feature = "vgpu")]
pub use virtual_gpu::{check, finish_or_cancel_work, schedule, set_interrupt_check};
