//! The platform: one object, made at first use, with all devices of the CUDA drivers of the process.

pub(crate) mod device;
pub(crate) mod device_info;
pub(crate) mod managed;
pub(crate) mod mark;

use crate::error::{ClError, Result, code_of};
use crate::info::{Answer, list_handles};
use crate::object::{Ref, body, resolve};
use crate::platform::device::DeviceBody;
use rtcg_opencl_sys::*;
use std::ffi::CStr;
use std::sync::OnceLock;

pub(crate) struct PlatformBody;

body!(PlatformBody: cl_platform_id, b"plat", CL_INVALID_PLATFORM, "platform");

/// What stands behind "OpenCL 3.0" in versions.
pub(crate) const PRODUCT: &str = concat!("rtcg ", env!("CARGO_PKG_VERSION"));

/// The suffix of the platform's own extension functions.
const ICD_SUFFIX: &str = "RTCG";

/// The extensions of all devices.
pub(crate) const EXTENSIONS: &[(&str, cl_version)] = &[
    ("cl_khr_icd", make_version(2, 0, 0)),
    ("cl_khr_byte_addressable_store", make_version(1, 0, 0)),
    ("cl_khr_global_int32_base_atomics", make_version(1, 0, 0)),
    ("cl_khr_global_int32_extended_atomics", make_version(1, 0, 0)),
    ("cl_khr_local_int32_base_atomics", make_version(1, 0, 0)),
    ("cl_khr_local_int32_extended_atomics", make_version(1, 0, 0)),
    ("cl_khr_int64_base_atomics", make_version(1, 0, 0)),
    ("cl_khr_int64_extended_atomics", make_version(1, 0, 0)),
    ("cl_khr_fp64", make_version(1, 0, 0)),
    ("cl_khr_3d_image_writes", make_version(1, 0, 0)),
    ("cl_khr_depth_images", make_version(1, 0, 0)),
    ("cl_khr_image2d_from_buffer", make_version(1, 0, 0)),
    ("cl_khr_subgroups", make_version(1, 0, 0)),
    ("cl_khr_device_uuid", make_version(1, 0, 0)),
    ("cl_khr_pci_bus_info", make_version(1, 0, 0)),
    ("cl_khr_extended_versioning", make_version(1, 0, 0)),
    ("cl_nv_device_attribute_query", make_version(1, 0, 0)),
];

/// The names of [`EXTENSIONS`] with blanks between them.
pub(crate) fn extension_names() -> String {
    EXTENSIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
}

/// A name with its version in the form of C.
pub(crate) fn name_version(name: &str, version: cl_version) -> cl_name_version {
    let mut entry = cl_name_version { version, name: [0; CL_NAME_VERSION_MAX_NAME_SIZE] };
    for (to, from) in entry.name.iter_mut().zip(name.bytes().take(CL_NAME_VERSION_MAX_NAME_SIZE - 1)) {
        *to = from as c_char;
    }
    entry
}

struct Platform {
    object: Ref<PlatformBody>,
    devices: Vec<Ref<DeviceBody>>,
}

fn platform() -> &'static Platform {
    static PLATFORM: OnceLock<Platform> = OnceLock::new();
    PLATFORM.get_or_init(|| {
        // Devices come with the platform, and live as long as the process.
        let found = rtcg_driver::Device::all().unwrap_or_default();
        let devices = found.into_iter().filter_map(|device| DeviceBody::new(device).ok());
        Platform { object: Ref::new(PlatformBody), devices: devices.map(Ref::new).collect() }
    })
}

/// The handle of the platform.
pub(crate) fn platform_handle() -> cl_platform_id {
    platform().object.handle()
}

/// The devices of a type: `CL_DEVICE_TYPE_DEFAULT` is the first, real ones come before virtual ones.
pub(crate) fn devices_of_type(device_type: cl_device_type) -> Result<Vec<Ref<DeviceBody>>> {
    const KNOWN: cl_device_type = CL_DEVICE_TYPE_DEFAULT
        | CL_DEVICE_TYPE_CPU
        | CL_DEVICE_TYPE_GPU
        | CL_DEVICE_TYPE_ACCELERATOR
        | CL_DEVICE_TYPE_CUSTOM;
    if device_type != CL_DEVICE_TYPE_ALL && (device_type & !KNOWN != 0 || device_type == 0) {
        return Err(ClError::new(CL_INVALID_DEVICE_TYPE, format!("device_type: {device_type:#x}")));
    }
    let devices = &platform().devices;
    Ok(if device_type & CL_DEVICE_TYPE_GPU != 0 {
        devices.clone()
    } else if device_type & CL_DEVICE_TYPE_DEFAULT != 0 {
        devices.iter().take(1).cloned().collect()
    } else {
        Vec::new()
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetPlatformIDs(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        list_handles(&[platform_handle()], num_entries, platforms, num_platforms, CL_PLATFORM_NOT_FOUND_KHR)
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetPlatformInfo(
    platform: cl_platform_id,
    param_name: cl_platform_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise. A null platform is this one: a loader may ask for "the" platform.
        let answer = unsafe {
            if !platform.is_null() {
                resolve::<PlatformBody>(platform)?;
            }
            Answer::new(param_value_size, param_value, param_value_size_ret)
        };
        match param_name {
            CL_PLATFORM_PROFILE => answer.text("FULL_PROFILE"),
            CL_PLATFORM_VERSION => answer.text(&format!("OpenCL 3.0 {PRODUCT}")),
            CL_PLATFORM_NUMERIC_VERSION => answer.plain(make_version(3, 0, 0)),
            CL_PLATFORM_NAME => answer.text("rtcg"),
            CL_PLATFORM_VENDOR => answer.text("rtcg"),
            CL_PLATFORM_EXTENSIONS => answer.text(&extension_names()),
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => {
                let list: Vec<_> = EXTENSIONS.iter().map(|(name, version)| name_version(name, *version)).collect();
                answer.slice(&list)
            }
            CL_PLATFORM_HOST_TIMER_RESOLUTION => answer.plain::<cl_ulong>(1),
            CL_PLATFORM_ICD_SUFFIX_KHR => answer.text(ICD_SUFFIX),
            _ => answer.unknown("platform", param_name),
        }
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetDeviceIDs(
    platform: cl_platform_id,
    device_type: cl_device_type,
    num_entries: cl_uint,
    devices: *mut cl_device_id,
    num_devices: *mut cl_uint,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        if !platform.is_null() {
            resolve::<PlatformBody>(platform)?;
        }
        let found: Vec<_> = devices_of_type(device_type)?.iter().map(Ref::handle).collect();
        list_handles(&found, num_entries, devices, num_devices, CL_DEVICE_NOT_FOUND)
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clUnloadPlatformCompiler(platform: cl_platform_id) -> cl_int {
    // SAFETY: the caller's promise. The compiler is a process of its own, so that nothing is loaded.
    code_of(|| unsafe { resolve::<PlatformBody>(platform) }.map(drop))
}

pub(crate) unsafe extern "C" fn clUnloadCompiler() -> cl_int {
    CL_SUCCESS
}

/// # Safety
/// `function_name` is null or a text of C.
pub(crate) unsafe extern "C" fn clGetExtensionFunctionAddress(function_name: *const c_char) -> *mut c_void {
    if function_name.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    let Ok(name) = unsafe { CStr::from_ptr(function_name) }.to_str() else { return std::ptr::null_mut() };
    let found = match name {
        "clIcdGetPlatformIDsKHR" => Some(clGetPlatformIDs as fn_type::clGetPlatformIDs as *const c_void),
        name => crate::object::table().address_of(name),
    };
    found.map_or(std::ptr::null_mut(), <*const c_void>::cast_mut)
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(
    platform: cl_platform_id,
    function_name: *const c_char,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe {
        match resolve::<PlatformBody>(platform) {
            Ok(_) => clGetExtensionFunctionAddress(function_name),
            Err(_) => std::ptr::null_mut(),
        }
    }
}
