//! What can be asked about kernels.

use crate::error::{ClError, Result, code_of, refuse};
use crate::info::{Answer, info_function};
use crate::kernel::KernelBody;
use crate::object::{Ref, resolve};
use crate::platform::device::{DeviceBody, SUBGROUP_SIZE};
use rtcg_compile::clang::AddressSpace;
use rtcg_driver::sys::{
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
};
use rtcg_opencl_sys::*;

info_function!(clGetKernelInfo(cl_kernel, cl_kernel_info) of KernelBody = kernel_info);

fn kernel_info(kernel: &Ref<KernelBody>, param_name: cl_kernel_info, answer: Answer) -> Result<()> {
    let built = kernel.kernel();
    match param_name {
        CL_KERNEL_FUNCTION_NAME => answer.text(&built.entry.name),
        CL_KERNEL_NUM_ARGS => answer.plain(built.entry.slots.len() as cl_uint),
        CL_KERNEL_REFERENCE_COUNT => answer.plain(kernel.user_count()),
        CL_KERNEL_CONTEXT => answer.plain(kernel.context().handle()),
        CL_KERNEL_PROGRAM => answer.plain(kernel.program.handle()),
        CL_KERNEL_ATTRIBUTES => {
            let size = |name: &str, size: Option<[u32; 3]>| size.map(|[x, y, z]| format!("{name}({x},{y},{z})"));
            let metadata = &built.metadata;
            let list = [
                size("reqd_work_group_size", metadata.required_size),
                size("work_group_size_hint", metadata.size_hint),
            ];
            answer.text(&list.into_iter().flatten().collect::<Vec<_>>().join(" "))
        }
        _ => answer.unknown("kernel", param_name),
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetKernelArgInfo(
    kernel: cl_kernel,
    arg_index: cl_uint,
    param_name: cl_kernel_arg_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let (kernel, answer) = unsafe {
            (resolve::<KernelBody>(kernel)?, Answer::new(param_value_size, param_value, param_value_size_ret))
        };
        let argument = kernel.argument(arg_index)?;
        match param_name {
            CL_KERNEL_ARG_ADDRESS_QUALIFIER => answer.plain(match argument.space {
                AddressSpace::Private => CL_KERNEL_ARG_ADDRESS_PRIVATE,
                AddressSpace::Global => CL_KERNEL_ARG_ADDRESS_GLOBAL,
                AddressSpace::Constant => CL_KERNEL_ARG_ADDRESS_CONSTANT,
                AddressSpace::Local => CL_KERNEL_ARG_ADDRESS_LOCAL,
            }),
            CL_KERNEL_ARG_ACCESS_QUALIFIER => answer.plain(match argument.access.as_str() {
                "read_only" => CL_KERNEL_ARG_ACCESS_READ_ONLY,
                "write_only" => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
                "read_write" => CL_KERNEL_ARG_ACCESS_READ_WRITE,
                _ => CL_KERNEL_ARG_ACCESS_NONE,
            }),
            CL_KERNEL_ARG_TYPE_NAME => answer.text(&argument.type_name),
            CL_KERNEL_ARG_TYPE_QUALIFIER => {
                let bits = argument.qualifiers.split(' ').map(|word| match word {
                    "const" => CL_KERNEL_ARG_TYPE_CONST,
                    "restrict" => CL_KERNEL_ARG_TYPE_RESTRICT,
                    "volatile" => CL_KERNEL_ARG_TYPE_VOLATILE,
                    "pipe" => CL_KERNEL_ARG_TYPE_PIPE,
                    _ => CL_KERNEL_ARG_TYPE_NONE,
                });
                answer.plain(bits.fold(CL_KERNEL_ARG_TYPE_NONE, |all, bit| all | bit))
            }
            CL_KERNEL_ARG_NAME => answer.text(&argument.name),
            _ => answer.unknown("kernel argument", param_name),
        }
    })
}

/// The device of a query: the only one where none is given.
///
/// # Safety
/// The handle is null or was made by a platform.
unsafe fn device_of(kernel: &Ref<KernelBody>, device: cl_device_id) -> Result<Ref<DeviceBody>> {
    let devices = &kernel.program.devices;
    // SAFETY: the caller's promise.
    match unsafe { crate::object::resolve_optional::<DeviceBody>(device) }? {
        Some(device) if devices.iter().any(|own| own.is(&device)) => Ok(device),
        None if devices.len() == 1 => Ok(devices[0].clone()),
        _ => refuse(CL_INVALID_DEVICE, "device: it is not one of the program's, or one of several is to be named"),
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetKernelWorkGroupInfo(
    kernel: cl_kernel,
    device: cl_device_id,
    param_name: cl_kernel_work_group_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let (kernel, device, answer) = unsafe {
            let kernel = resolve::<KernelBody>(kernel)?;
            let device = device_of(&kernel, device)?;
            (kernel, device, Answer::new(param_value_size, param_value, param_value_size_ret))
        };
        let mut state = kernel.lock();
        let function = kernel.function(&mut state, &device)?;
        let attribute = |attribute| function.attribute(attribute).map(|value| value as cl_ulong);
        match param_name {
            CL_KERNEL_WORK_GROUP_SIZE => {
                let most = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)? as usize;
                let required = kernel.kernel().metadata.required_size;
                answer.plain(required.map_or(most, |size| size.iter().product::<u32>() as usize))
            }
            CL_KERNEL_COMPILE_WORK_GROUP_SIZE => {
                let size = kernel.kernel().metadata.required_size.unwrap_or([0; 3]);
                answer.slice(&size.map(|extent| extent as usize))
            }
            CL_KERNEL_LOCAL_MEM_SIZE => {
                let of_source = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
                answer.plain(of_source.saturating_add(state.local_bytes as cl_ulong))
            }
            CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => answer.plain(SUBGROUP_SIZE),
            CL_KERNEL_PRIVATE_MEM_SIZE => answer.plain(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?),
            CL_KERNEL_GLOBAL_WORK_SIZE => ClError::value("param_name: only built-in kernels have a global size"),
            _ => answer.unknown("kernel on a device", param_name),
        }
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetKernelSubGroupInfo(
    kernel: cl_kernel,
    device: cl_device_id,
    param_name: cl_kernel_sub_group_info,
    input_value_size: usize,
    input_value: *const c_void,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let (device, answer) = unsafe {
            let device = device_of(&resolve::<KernelBody>(kernel)?, device)?;
            (device, Answer::new(param_value_size, param_value, param_value_size_ret))
        };
        let count = input_value_size / size_of::<usize>();
        let input = || -> Result<Vec<usize>> {
            if input_value.is_null() || count == 0 {
                return ClError::value("input_value: this query has one");
            }
            // SAFETY: the caller's promise.
            Ok(unsafe { std::slice::from_raw_parts(input_value.cast::<usize>(), count) }.to_vec())
        };
        let items = |sizes: &[usize]| sizes.iter().fold(1usize, |all, size| all.saturating_mul(*size));
        let most = device.limits.group_size;
        match param_name {
            CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => answer.plain(items(&input()?).clamp(1, SUBGROUP_SIZE)),
            CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => answer.plain(items(&input()?).div_ceil(SUBGROUP_SIZE)),
            CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
                let items = input()?[0].saturating_mul(SUBGROUP_SIZE);
                let mut size = [1; 3];
                size[0] = if items > most { 0 } else { items };
                let dimensions = (answer.room() / size_of::<usize>()).clamp(1, 3);
                answer.slice(&size[..dimensions])
            }
            CL_KERNEL_MAX_NUM_SUB_GROUPS => answer.plain(most / SUBGROUP_SIZE),
            CL_KERNEL_COMPILE_NUM_SUB_GROUPS => answer.plain::<usize>(0),
            _ => answer.unknown("subgroup of a kernel", param_name),
        }
    })
}

pub(crate) use self::clGetKernelSubGroupInfo as clGetKernelSubGroupInfoKHR;
