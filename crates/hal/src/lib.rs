//! The device as everything above it sees it: memory, compiled kernels and their launches behind narrow traits, with
//! what decides about kernels without any device (dtypes, [`KernelSpec`], tunable decisions, caches).
//!
//! No back end is known here. A back end implements [`Device`], [`Queue`], [`Kernel`] and those capabilities that its devices have, so
//! that the same arrays work on CUDA and elsewhere.
//!
//! | folder, file | contents |
//! |---|---|
//! | `argument_types.rs` | how strictly arguments are checked |
//! | `device.rs`, `capabilities.rs` | what arrays require of a device, and what only some devices have |
//! | `kernel_spec.rs` | kernels as values |
//! | `array_context.rs`, `bounded_cache.rs` | the kernels compiled so far |
//! | `launch.rs`, `repeated_launch.rs` | compiled kernels and the arguments of a launch; launches made ready once |
//! | `recording.rs` | what a call enqueues, so that it can be repeated |
//! | `dtype.rs`, `number_conversion.rs` | dtypes, with NumPy's rules; numbers as values of a C type |
//! | `tuning/` | decisions that kernels leave open |
//! | `blocking_regions.rs` | calls and locks that may wait, and release the interpreter's lock meanwhile |
//!
//! Above a limit, the cache of kernels evicts the least recently used kernel. Cached calls keep their own reference.
#![forbid(unsafe_code)]

mod argument_types;
mod array_context;
mod blocking_regions;
mod bounded_cache;
mod capabilities;
pub mod deferred;
mod device;
mod device_info;
mod dtype;
mod error;
mod kernel_spec;
mod launch;
mod number_conversion;
mod recording;
mod repeated_launch;
mod tensor_map;
mod thread_choices;
mod thread_flag;
pub mod tuning;

pub use argument_types::{argument_types_are_checked, argument_types_are_strict};
pub use array_context::ArrayContext;
pub use blocking_regions::{
    BlockingHook, blocking_region, check_interrupt, lock_blocking, lock_ignoring_poison, set_blocking_hook,
    set_interrupt_check,
};
pub use bounded_cache::{BoundedCache, CacheUse};
pub use capabilities::{Cooperative, Graphs, LaunchableGraph, PinnedReads, ReadSlot};
pub use device::{Allocator, ArrayBuffer, Device, Queue, REDUCTION_STATE_BYTES};
pub use device_info::{BLOCK_THREADS, DeviceInfo, ExecutionModel};
pub use dtype::{DType, DTypeKind, OperandType, UnknownDType, WeakScalar, promote_operands};
pub use error::{ArrayError, ArrayErrorKind, Result};
pub use kernel_spec::{CompileSettings, KernelSpec, KernelText};
pub use launch::{ArgsView, Kernel, LaunchArg, LaunchArgs};
pub use number_conversion::{ConversionError, ConvertedScalar};
pub use recording::{Recording, record_launches};
pub use repeated_launch::Launch;
pub use tensor_map::{TensorBoxes, TensorMap};
pub use thread_choices::{compile_ahead, is_compiling_ahead, launching, with_thread_choices};
pub use thread_flag::ThreadFlag;
