//! Opens a vendor's library in this process, and asks it for its platforms.

use super::{Vendor, VendorError, VendorErrorKind};
use crate::*;
use std::ffi::CStr;

/// The platforms of a library that a probe has found harmless. It stays loaded: tables and code live in it.
pub(super) fn platforms(vendor: &Vendor) -> Result<Vec<Platform>, VendorError> {
    let failed = |kind| VendorError { vendor: vendor.clone(), kind, cached_in: None };
    let library = open(vendor).map_err(|error| failed(VendorErrorKind::NotLoaded(error)))?;
    let list = list_function(library).ok_or_else(|| failed(VendorErrorKind::NoProtocol))?;
    let mut count = 0;
    // SAFETY: nothing but the count is written.
    let code = unsafe { list(0, std::ptr::null_mut(), &raw mut count) };
    if code == CL_PLATFORM_NOT_FOUND_KHR {
        return Ok(Vec::new());
    }
    let mut handles = vec![cl_platform_id::NULL; count as usize];
    let code = match code {
        // SAFETY: the memory is as large as said.
        CL_SUCCESS if count > 0 => unsafe { list(count, handles.as_mut_ptr(), std::ptr::null_mut()) },
        code => code,
    };
    if code != CL_SUCCESS {
        return Err(failed(VendorErrorKind::NoPlatforms(ClStatus(code))));
    }
    // SAFETY: the protocol: these are platforms; the library stays loaded.
    Ok(handles
        .into_iter()
        .filter(|handle| !handle.is_null())
        .map(|handle| unsafe { Platform::from_handle(handle) })
        .collect())
}

fn open(vendor: &Vendor) -> Result<&'static libloading::Library, String> {
    // SAFETY: the library's initialisers ran in a probe without harm.
    #[cfg(unix)]
    let library = unsafe {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        Library::open(Some(&vendor.library), RTLD_NOW | RTLD_LOCAL).map(libloading::Library::from)
    };
    // SAFETY: the library's initialisers ran in a probe without harm.
    #[cfg(not(unix))]
    let library = unsafe { libloading::Library::new(&vendor.library) };
    library.map(|library| &*Box::leak(Box::new(library))).map_err(|error| {
        // What the loader had to say is the source of the error.
        let source = std::error::Error::source(&error);
        source.map_or_else(|| error.to_string(), |reason| format!("{error}: {reason}"))
    })
}

fn list_function(library: &'static libloading::Library) -> Option<fn_type::clGetPlatformIDs> {
    const LIST: &CStr = c"clIcdGetPlatformIDsKHR";
    // SAFETY: functions of an OpenCL library of these names have these types.
    unsafe {
        let find = library.get::<fn_type::clGetExtensionFunctionAddress>(b"clGetExtensionFunctionAddress\0");
        let found = find.map_or(std::ptr::null_mut(), |find| find(LIST.as_ptr()));
        if found.is_null() {
            library.get::<fn_type::clGetPlatformIDs>(LIST.to_bytes_with_nul()).ok().map(|list| *list)
        } else {
            Some(std::mem::transmute::<*mut c_void, fn_type::clGetPlatformIDs>(found))
        }
    }
}
