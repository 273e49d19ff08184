//! Types of the CUDA driver API: handles, codes, attributes, structures, flags.
//!
//! Names are the C names, so NVIDIA's documentation applies unchanged. Handles, codes and enumerations are transparent
//! newtypes; flags that C takes as `unsigned int` are plain `u32` constants.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    clippy::upper_case_acronyms,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

mod enums;
mod macros;
mod result;
mod structs;

pub use enums::*;
pub(crate) use macros::{cuda_enum, cuda_handle, cuda_struct, cuda_union};
pub use result::*;
pub use std::ffi::{c_char, c_int, c_long, c_schar, c_short, c_uchar, c_uint, c_ulong, c_ushort, c_void};
pub use structs::*;

cuda_handle!(CUcontext);
cuda_handle!(CUmodule);
cuda_handle!(CUfunction);
cuda_handle!(CUlibrary);
cuda_handle!(CUkernel);
cuda_handle!(CUarray);
cuda_handle!(CUmipmappedArray);
cuda_handle!(CUtexref);
cuda_handle!(CUsurfref);
cuda_handle!(CUevent);
cuda_handle!(CUstream);
cuda_handle!(CUgraphicsResource);
cuda_handle!(CUexternalMemory);
cuda_handle!(CUexternalSemaphore);
cuda_handle!(CUgraph);
cuda_handle!(CUgraphNode);
cuda_handle!(CUgraphExec);
cuda_handle!(CUmemoryPool);
cuda_handle!(CUuserObject);
cuda_handle!(CUgraphDeviceNode);
cuda_handle!(CUasyncCallbackHandle);
cuda_handle!(CUgreenCtx);
cuda_handle!(CUlinkState);
cuda_handle!(CUdevResourceDesc);
cuda_handle!(CUlogsCallbackHandle);

/// The C type `CUdeviceptr`.
pub type CUdeviceptr = u64;
/// The C type `CUdevice`.
pub type CUdevice = c_int;
/// The C type `CUtexObject`.
pub type CUtexObject = u64;
/// The C type `CUsurfObject`.
pub type CUsurfObject = u64;
/// The C type `CUgraphConditionalHandle`.
pub type CUgraphConditionalHandle = u64;
/// The C type `CUasyncCallback`.
pub type CUasyncCallback =
    Option<unsafe extern "C" fn(*mut CUasyncNotificationInfo, *mut c_void, CUasyncCallbackHandle)>;
/// The C type `CUhostFn`.
pub type CUhostFn = Option<unsafe extern "C" fn(*mut c_void)>;
/// The C type `CUkernelNodeAttrID`.
pub type CUkernelNodeAttrID = CUlaunchAttributeID;
/// The C type `CUkernelNodeAttrValue`.
pub type CUkernelNodeAttrValue = CUlaunchAttributeValue;
/// The C type `CUstreamAttrID`.
pub type CUstreamAttrID = CUlaunchAttributeID;
/// The C type `CUstreamAttrValue`.
pub type CUstreamAttrValue = CUlaunchAttributeValue;
/// The C type `CUstreamCallback`.
pub type CUstreamCallback = Option<unsafe extern "C" fn(CUstream, CUresult, *mut c_void)>;
/// The C type `CUoccupancyB2DSize`.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(c_int) -> usize>;
/// The C type `CUmemGenericAllocationHandle`.
pub type CUmemGenericAllocationHandle = u64;
/// The C type `CUlogsCallback`.
pub type CUlogsCallback = Option<unsafe extern "C" fn(*mut c_void, CUlogLevel, *mut c_char, usize)>;
/// The C type `CUlogIterator`.
pub type CUlogIterator = c_uint;
/// The C type `GLuint`.
pub type GLuint = c_uint;
/// The C type `GLenum`.
pub type GLenum = c_uint;

pub const CU_IPC_HANDLE_SIZE: usize = 64;
pub const CU_MEMHOSTALLOC_PORTABLE: u32 = 0x01;
pub const CU_MEMHOSTALLOC_DEVICEMAP: u32 = 0x02;
pub const CU_MEMHOSTALLOC_WRITECOMBINED: u32 = 0x04;
pub const CU_MEMHOSTREGISTER_PORTABLE: u32 = 0x01;
pub const CU_MEMHOSTREGISTER_DEVICEMAP: u32 = 0x02;
pub const CU_MEMHOSTREGISTER_IOMEMORY: u32 = 0x04;
pub const CU_MEMHOSTREGISTER_READ_ONLY: u32 = 0x08;
pub const CUDA_EXTERNAL_MEMORY_DEDICATED: u32 = 0x1;
pub const CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC: u32 = 0x01;
pub const CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC: u32 = 0x02;
pub const CUDA_ARRAY3D_LAYERED: u32 = 0x01;
pub const CUDA_ARRAY3D_2DARRAY: u32 = 0x01;
pub const CUDA_ARRAY3D_SURFACE_LDST: u32 = 0x02;
pub const CUDA_ARRAY3D_CUBEMAP: u32 = 0x04;
pub const CUDA_ARRAY3D_TEXTURE_GATHER: u32 = 0x08;
pub const CUDA_ARRAY3D_DEPTH_TEXTURE: u32 = 0x10;
pub const CUDA_ARRAY3D_COLOR_ATTACHMENT: u32 = 0x20;
pub const CUDA_ARRAY3D_SPARSE: u32 = 0x40;
pub const CUDA_ARRAY3D_DEFERRED_MAPPING: u32 = 0x80;
pub const CUDA_ARRAY3D_VIDEO_ENCODE_DECODE: u32 = 0x100;
pub const CU_TRSA_OVERRIDE_FORMAT: u32 = 0x01;
pub const CU_TRSF_READ_AS_INTEGER: u32 = 0x01;
pub const CU_TRSF_NORMALIZED_COORDINATES: u32 = 0x02;
pub const CU_TRSF_SRGB: u32 = 0x10;
pub const CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION: u32 = 0x20;
pub const CU_TRSF_SEAMLESS_CUBEMAP: u32 = 0x40;
pub const CU_LAUNCH_KERNEL_REQUIRED_BLOCK_DIM: u32 = 1;
pub const CU_GRAPH_COND_ASSIGN_DEFAULT: u32 = 0x1;
pub const CU_GRAPH_KERNEL_NODE_PORT_DEFAULT: u32 = 0;
pub const CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC: u32 = 1;
pub const CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER: u32 = 2;
pub const CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL: u32 = 0x1;
pub const CU_TENSOR_MAP_NUM_QWORDS: usize = 16;
pub const CU_MEM_CREATE_USAGE_TILE_POOL: u32 = 0x1;
pub const CU_MEM_CREATE_USAGE_HW_DECOMPRESS: u32 = 0x2;

/// Ends the `extra` list of a launch.
pub const CU_LAUNCH_PARAM_END: *mut c_void = std::ptr::null_mut();
/// In the `extra` list of a launch: the next entry points to the packed arguments.
pub const CU_LAUNCH_PARAM_BUFFER_POINTER: *mut c_void = std::ptr::without_provenance_mut(1);
/// In the `extra` list of a launch: the next entry points to the size of the packed arguments.
pub const CU_LAUNCH_PARAM_BUFFER_SIZE: *mut c_void = std::ptr::without_provenance_mut(2);
/// The legacy default stream, explicitly.
pub const CU_STREAM_LEGACY: CUstream = CUstream(std::ptr::without_provenance_mut(1));
/// The per-thread default stream, explicitly.
pub const CU_STREAM_PER_THREAD: CUstream = CUstream(std::ptr::without_provenance_mut(2));
/// Lets the driver choose the texture unit.
pub const CU_PARAM_TR_DEFAULT: c_int = -1;
/// "No device": the host, where a device is expected.
pub const CU_DEVICE_CPU: CUdevice = -1;
/// An invalid device.
pub const CU_DEVICE_INVALID: CUdevice = -2;
