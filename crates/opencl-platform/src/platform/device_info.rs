//! What can be asked about devices.

use super::device::*;
use super::{EXTENSIONS, PRODUCT, extension_names, name_version, platform_handle};
use crate::error::Result;
use crate::info::{Answer, info_function};
use crate::object::Ref;
use rtcg_driver::sys::*;
use rtcg_opencl_sys::*;

/// Programs launch so many groups for each unit and loop over the rest, PyOpenCL 4096 items for each: of large arrays an
/// item of the virtual GPU then touches a power of two of places, and not more of them than processors prefetch.
const VIRTUAL_COMPUTE_UNITS: cl_uint = 128;

info_function!(clGetDeviceInfo(cl_device_id, cl_device_info) of DeviceBody = device_info);

fn device_info(device: &Ref<DeviceBody>, name: cl_device_info, answer: Answer) -> Result<()> {
    for part in [identity, versions, queues, launches, memory, images, arithmetic] {
        if part(device, name, answer)? {
            return Ok(());
        }
    }
    answer.unknown("device", name)
}

/// Which device it is.
fn identity(device: &DeviceBody, name: cl_device_info, answer: Answer) -> Result<bool> {
    let outcome = match name {
        CL_DEVICE_TYPE => answer.plain(CL_DEVICE_TYPE_GPU),
        CL_DEVICE_VENDOR_ID => answer.plain::<cl_uint>(if device.device.is_virtual() { 0 } else { 0x10DE }),
        CL_DEVICE_PLATFORM => answer.plain(platform_handle()),
        CL_DEVICE_NAME => answer.text(&device.device.name()?),
        CL_DEVICE_VENDOR => answer.text(if device.device.is_virtual() { "rtcg" } else { "NVIDIA Corporation" }),
        CL_DEVICE_PROFILE => answer.text("FULL_PROFILE"),
        CL_DEVICE_PARENT_DEVICE => answer.plain(cl_device_id::NULL),
        CL_DEVICE_REFERENCE_COUNT => answer.plain::<cl_uint>(1),
        CL_DEVICE_UUID_KHR | CL_DRIVER_UUID_KHR => answer.bytes(&device.device.uuid()?),
        CL_DEVICE_LUID_VALID_KHR => answer.boolean(false),
        CL_DEVICE_LUID_KHR => answer.bytes(&[0; 8]),
        CL_DEVICE_NODE_MASK_KHR => answer.plain::<cl_uint>(0),
        CL_DEVICE_PCI_BUS_INFO_KHR => answer.slice(&[
            device.attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?,
            device.attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?,
            device.attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?,
            0,
        ]),
        CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV => answer.plain(device.device.compute_capability()?.0),
        CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV => answer.plain(device.device.compute_capability()?.1),
        CL_DEVICE_PCI_BUS_ID_NV => answer.plain(device.attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?),
        CL_DEVICE_PCI_SLOT_ID_NV => answer.plain(device.attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?),
        CL_DEVICE_PCI_DOMAIN_ID_NV => answer.plain(device.attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?),
        _ => return Ok(false),
    };
    outcome.map(|()| true)
}

/// Versions, extensions and features.
fn versions(_device: &DeviceBody, name: cl_device_info, answer: Answer) -> Result<bool> {
    let outcome = match name {
        CL_DRIVER_VERSION => answer.text(env!("CARGO_PKG_VERSION")),
        CL_DEVICE_VERSION => answer.text(&format!("OpenCL 3.0 {PRODUCT}")),
        CL_DEVICE_NUMERIC_VERSION => answer.plain(make_version(3, 0, 0)),
        CL_DEVICE_OPENCL_C_VERSION => answer.text(&format!("OpenCL C 3.0 {PRODUCT}")),
        CL_DEVICE_OPENCL_C_ALL_VERSIONS => {
            let versions = [(1, 0), (1, 1), (1, 2), (2, 0), (3, 0)];
            let list = versions.map(|(major, minor)| name_version("OpenCL C", make_version(major, minor, 0)));
            answer.slice(&list)
        }
        CL_DEVICE_OPENCL_C_FEATURES => {
            let list: Vec<_> = FEATURES.iter().map(|feature| name_version(feature, make_version(3, 0, 0))).collect();
            answer.slice(&list)
        }
        CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => answer.text(""),
        CL_DEVICE_IL_VERSION | CL_DEVICE_BUILT_IN_KERNELS => answer.text(""),
        CL_DEVICE_ILS_WITH_VERSION | CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => answer.slice::<cl_name_version>(&[]),
        CL_DEVICE_EXTENSIONS => answer.text(&extension_names()),
        CL_DEVICE_EXTENSIONS_WITH_VERSION => {
            let list: Vec<_> = EXTENSIONS.iter().map(|(name, version)| name_version(name, *version)).collect();
            answer.slice(&list)
        }
        CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => answer.plain(make_version(3, 0, 0)),
        _ => return Ok(false),
    };
    outcome.map(|()| true)
}

/// Queues, and parts that are there or not.
fn queues(_device: &DeviceBody, name: cl_device_info, answer: Answer) -> Result<bool> {
    let outcome = match name {
        CL_DEVICE_IMAGE_SUPPORT
        | CL_DEVICE_AVAILABLE
        | CL_DEVICE_COMPILER_AVAILABLE
        | CL_DEVICE_LINKER_AVAILABLE
        | CL_DEVICE_ENDIAN_LITTLE
        | CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => answer.boolean(true),
        CL_DEVICE_PROFILING_TIMER_RESOLUTION => answer.plain::<usize>(1000),
        CL_DEVICE_EXECUTION_CAPABILITIES => answer.plain(CL_EXEC_KERNEL),
        CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => {
            answer.plain(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
        }
        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => answer.plain::<cl_command_queue_properties>(0),
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE
        | CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE
        | CL_DEVICE_MAX_ON_DEVICE_QUEUES
        | CL_DEVICE_MAX_ON_DEVICE_EVENTS
        | CL_DEVICE_MAX_PIPE_ARGS
        | CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS
        | CL_DEVICE_PIPE_MAX_PACKET_SIZE
        | CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT
        | CL_DEVICE_PARTITION_MAX_SUB_DEVICES => answer.plain::<cl_uint>(0),
        CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => answer.plain::<cl_device_device_enqueue_capabilities>(0),
        CL_DEVICE_PIPE_SUPPORT => answer.boolean(false),
        CL_DEVICE_PARTITION_PROPERTIES | CL_DEVICE_PARTITION_TYPE => answer.plain::<cl_device_partition_property>(0),
        CL_DEVICE_PARTITION_AFFINITY_DOMAIN => answer.plain::<cl_device_affinity_domain>(0),
        _ => return Ok(false),
    };
    outcome.map(|()| true)
}

/// Sizes of launches, and what runs them.
fn launches(device: &DeviceBody, name: cl_device_info, answer: Answer) -> Result<bool> {
    const VECTOR_WIDTH: cl_uint = 1;
    let limits = &device.limits;
    let outcome = match name {
        CL_DEVICE_MAX_COMPUTE_UNITS if device.device.is_virtual() => answer.plain(VIRTUAL_COMPUTE_UNITS),
        CL_DEVICE_MAX_COMPUTE_UNITS => answer.plain(device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?),
        CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => answer.plain::<cl_uint>(3),
        CL_DEVICE_MAX_WORK_GROUP_SIZE => answer.plain(limits.group_size),
        CL_DEVICE_MAX_WORK_ITEM_SIZES => answer.slice(&limits.item_sizes),
        CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => answer.plain(SUBGROUP_SIZE),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => answer.plain(VECTOR_WIDTH),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => answer.plain::<cl_uint>(0),
        CL_DEVICE_MAX_CLOCK_FREQUENCY => answer.plain(device.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)? / 1000),
        CL_DEVICE_MAX_PARAMETER_SIZE => answer.plain(MAX_PARAMETER_BYTES),
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT
        | CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT
        | CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT
        | CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => answer.boolean(true),
        CL_DEVICE_MAX_NUM_SUB_GROUPS => answer.plain((limits.group_size / SUBGROUP_SIZE) as cl_uint),
        CL_DEVICE_PRINTF_BUFFER_SIZE => answer.plain::<usize>(1 << 20),
        CL_DEVICE_REGISTERS_PER_BLOCK_NV => {
            answer.plain(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?)
        }
        CL_DEVICE_WARP_SIZE_NV => answer.plain(SUBGROUP_SIZE as cl_uint),
        CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV => {
            answer.boolean(device.attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)? != 0)
        }
        _ => return Ok(false),
    };
    outcome.map(|()| true)
}

/// Memory, and what host and device share of it.
fn memory(device: &DeviceBody, name: cl_device_info, answer: Answer) -> Result<bool> {
    let limits = &device.limits;
    let outcome = match name {
        CL_DEVICE_ADDRESS_BITS => answer.plain::<cl_uint>(64),
        CL_DEVICE_MAX_MEM_ALLOC_SIZE => answer.plain(device.max_allocation() as cl_ulong),
        CL_DEVICE_GLOBAL_MEM_SIZE => answer.plain(limits.global_bytes as cl_ulong),
        CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => answer.plain(CL_READ_WRITE_CACHE),
        CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => answer.plain::<cl_uint>(128),
        CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => {
            answer.plain(cl_ulong::from(device.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?))
        }
        CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => answer.plain(device.max_allocation() as cl_ulong),
        CL_DEVICE_MAX_CONSTANT_ARGS => answer.plain::<cl_uint>(64),
        CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE => answer.plain(1usize << 30),
        CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => answer.plain(1usize << 30),
        CL_DEVICE_LOCAL_MEM_TYPE => answer.plain(CL_LOCAL),
        CL_DEVICE_LOCAL_MEM_SIZE => answer.plain(limits.local_bytes as cl_ulong),
        CL_DEVICE_MEM_BASE_ADDR_ALIGN => answer.plain(BASE_ALIGNMENT_BITS),
        CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => answer.plain::<cl_uint>(128),
        CL_DEVICE_ERROR_CORRECTION_SUPPORT => answer.boolean(device.attribute(CU_DEVICE_ATTRIBUTE_ECC_ENABLED)? != 0),
        CL_DEVICE_HOST_UNIFIED_MEMORY => answer.boolean(device.device.is_virtual()),
        CL_DEVICE_SVM_CAPABILITIES => {
            let fine = if device.shares_memory_finely() { CL_DEVICE_SVM_FINE_GRAIN_BUFFER } else { 0 };
            answer.plain(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | fine)
        }
        CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES | CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => answer.plain(
            CL_DEVICE_ATOMIC_ORDER_RELAXED
                | CL_DEVICE_ATOMIC_ORDER_ACQ_REL
                | CL_DEVICE_ATOMIC_ORDER_SEQ_CST
                | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM
                | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
                | CL_DEVICE_ATOMIC_SCOPE_DEVICE,
        ),
        CL_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT_NV => {
            answer.plain(device.attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)?)
        }
        CL_DEVICE_GPU_OVERLAP_NV => answer.boolean(device.attribute(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP)? != 0),
        CL_DEVICE_INTEGRATED_MEMORY_NV => answer.boolean(device.attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0),
        _ => return Ok(false),
    };
    outcome.map(|()| true)
}

/// Images and samplers.
fn images(_device: &DeviceBody, name: cl_device_info, answer: Answer) -> Result<bool> {
    let outcome = match name {
        CL_DEVICE_MAX_READ_IMAGE_ARGS => answer.plain::<cl_uint>(128),
        CL_DEVICE_MAX_WRITE_IMAGE_ARGS | CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => answer.plain::<cl_uint>(64),
        CL_DEVICE_MAX_SAMPLERS => answer.plain::<cl_uint>(32),
        CL_DEVICE_IMAGE2D_MAX_WIDTH | CL_DEVICE_IMAGE2D_MAX_HEIGHT => answer.plain(MAX_IMAGE_2D),
        CL_DEVICE_IMAGE3D_MAX_WIDTH | CL_DEVICE_IMAGE3D_MAX_HEIGHT | CL_DEVICE_IMAGE3D_MAX_DEPTH => {
            answer.plain(MAX_IMAGE_3D)
        }
        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => answer.plain(MAX_IMAGE_BUFFER),
        CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => answer.plain(MAX_IMAGE_LAYERS),
        CL_DEVICE_IMAGE_PITCH_ALIGNMENT | CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => answer.plain::<cl_uint>(1),
        _ => return Ok(false),
    };
    outcome.map(|()| true)
}

/// What single, double and half precision have.
fn arithmetic(_device: &DeviceBody, name: cl_device_info, answer: Answer) -> Result<bool> {
    let outcome = match name {
        CL_DEVICE_SINGLE_FP_CONFIG => answer.plain(
            CL_FP_DENORM
                | CL_FP_INF_NAN
                | CL_FP_ROUND_TO_NEAREST
                | CL_FP_ROUND_TO_ZERO
                | CL_FP_ROUND_TO_INF
                | CL_FP_FMA
                | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
        ),
        CL_DEVICE_DOUBLE_FP_CONFIG => answer.plain(
            CL_FP_DENORM
                | CL_FP_INF_NAN
                | CL_FP_ROUND_TO_NEAREST
                | CL_FP_ROUND_TO_ZERO
                | CL_FP_ROUND_TO_INF
                | CL_FP_FMA,
        ),
        CL_DEVICE_HALF_FP_CONFIG => answer.plain::<cl_device_fp_config>(0),
        _ => return Ok(false),
    };
    outcome.map(|()| true)
}

/// The optional parts of OpenCL C 3.0 that programs may use.
const FEATURES: &[&str] = &[
    "__opencl_c_3d_image_writes",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_images",
    "__opencl_c_int64",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_read_write_images",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
];
