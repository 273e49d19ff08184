//! What makes `libOpenCL.so.1` a loader: vendors' platforms behind ours, and each call sent to the table of its object.
//!
//! Vendors are searched for when a program first asks for platforms, with `rtcg_opencl_sys::vendor`; before that no
//! object of theirs can exist, and every call is ours. A vendor whose table lacks a function has that of our platform,
//! which refuses the other's handle with the specification's code.

use rtcg_opencl_sys::vendor::{Vendor, VendorError, VendorErrorKind, find_vendors};
use rtcg_opencl_sys::*;
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there may be objects of vendors.
static HAS_VENDORS: AtomicBool = AtomicBool::new(false);

/// The functions that are the loader's own.
pub(crate) static OWN: DispatchTable = DispatchTable {
    clGetPlatformIDs: Some(clGetPlatformIDs),
    clGetExtensionFunctionAddress: Some(clGetExtensionFunctionAddress),
    ..DispatchTable::EMPTY
};

/// Our platform's functions.
pub(crate) fn ours() -> &'static DispatchTable {
    rtcg_opencl_platform::dispatch_table()
}

/// The functions of whoever made an object.
///
/// # Safety
/// The handle is null or an object, of ours possibly one that was released.
pub(crate) unsafe fn table_of(handle: impl Into<*mut ObjectHead>) -> &'static DispatchTable {
    let head = handle.into();
    if head.is_null() || !HAS_VENDORS.load(Ordering::Relaxed) {
        return ours();
    }
    // SAFETY: an object's first word points to its table, which stays as its library does.
    unsafe { (*head).dispatch.as_ref() }.unwrap_or_else(ours)
}

/// The functions for the first of these objects.
///
/// # Safety
/// As for [`table_of`], of `count` objects or a null list.
pub(crate) unsafe fn table_of_list<T: Copy + Into<*mut ObjectHead>>(
    count: cl_uint,
    list: *const T,
) -> &'static DispatchTable {
    // SAFETY: the caller's promise.
    if count == 0 || list.is_null() { ours() } else { unsafe { table_of(*list) } }
}

/// The functions of the platform that a context's properties name.
///
/// # Safety
/// `properties` is null, or pairs with a zero behind them.
pub(crate) unsafe fn table_of_properties(properties: *const cl_context_properties) -> &'static DispatchTable {
    let mut pair = properties;
    // SAFETY: the caller's promise; the value of this name is a platform.
    unsafe {
        while !pair.is_null() && *pair != 0 {
            if *pair == CL_CONTEXT_PLATFORM as cl_context_properties {
                return table_of(cl_platform_id(*pair.add(1) as *mut ObjectHead));
            }
            pair = pair.add(2);
        }
    }
    ours()
}

/// The platforms of vendors; a library that looks for platforms while it is opened finds none.
fn vendors() -> &'static [Platform] {
    static VENDORS: OnceLock<Vec<Platform>> = OnceLock::new();
    thread_local!(static IS_SEARCHING: Cell<bool> = const { Cell::new(false) });
    if IS_SEARCHING.replace(true) {
        return &[];
    }
    let found = VENDORS.get_or_init(|| {
        let is_wanted = std::env::var_os("RTCG_OPENCL_VENDORS").is_none_or(|value| value != "none");
        let named = if is_wanted { find_vendors() } else { Vec::new() };
        let found: Vec<_> = named.iter().flat_map(|vendor| platforms_of(vendor).unwrap_or_else(report)).collect();
        HAS_VENDORS.store(!found.is_empty(), Ordering::Relaxed);
        found
    });
    IS_SEARCHING.set(false);
    found
}

/// The platforms of a library, unless it is our own as a vendor's.
fn platforms_of(vendor: &Vendor) -> Result<Vec<Platform>, VendorError> {
    let probe = vendor.probe(&Default::default())?;
    // SAFETY: the platform is this library's, which stays loaded.
    let own = unsafe { Platform::from_handle(own_platform()) }.icd_suffix().unwrap_or_default();
    if probe.suffixes().contains(&own) { Ok(Vec::new()) } else { probe.open() }
}

/// A library that is skipped; its platforms are none. Files that name a library which is not installed are common.
fn report(error: VendorError) -> Vec<Platform> {
    if !matches!(error.kind, VendorErrorKind::NotLoaded(_) | VendorErrorKind::NoPlatforms(_))
        || rtcg_opencl_platform::are_reasons_wanted()
    {
        eprintln!("rtcg: {error}");
    }
    Vec::new()
}

fn own_platform() -> cl_platform_id {
    let mut platform = cl_platform_id::NULL;
    let list = ours().clGetPlatformIDs.expect("the platform's table is full");
    // SAFETY: there is room for one platform.
    unsafe { list(1, &raw mut platform, std::ptr::null_mut()) };
    platform
}

unsafe extern "C" fn clGetPlatformIDs(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    if (num_entries == 0 && !platforms.is_null()) || (platforms.is_null() && num_platforms.is_null()) {
        return CL_INVALID_VALUE;
    }
    let others = std::panic::catch_unwind(vendors).unwrap_or_default();
    let all = || std::iter::once(own_platform()).chain(others.iter().map(|platform| platform.handle()));
    // SAFETY: the caller's promise: there is room for `num_entries`.
    unsafe {
        if !platforms.is_null() {
            all().take(num_entries as usize).enumerate().for_each(|(idx, handle)| *platforms.add(idx) = handle);
        }
        if !num_platforms.is_null() {
            *num_platforms = all().count() as cl_uint;
        }
    }
    CL_SUCCESS
}

/// A function of the interface, which sends its calls on; else one of the platform whose suffix the name ends in.
unsafe extern "C" fn clGetExtensionFunctionAddress(func_name: *const c_char) -> *mut c_void {
    if func_name.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(func_name) }.to_string_lossy();
    if let Some(function) = crate::EXPORTED.address_of(&name) {
        return function.cast_mut();
    }
    let is_of = |platform: &&Platform| {
        platform.icd_suffix().is_ok_and(|suffix| !suffix.is_empty() && name.ends_with(suffix.as_str()))
    };
    let table = if HAS_VENDORS.load(Ordering::Relaxed) { vendors().iter().find(is_of) } else { None };
    let table = table.map_or_else(ours, |platform| platform.table());
    // SAFETY: the caller promises a name, which is passed on.
    table.clGetExtensionFunctionAddress.map_or(std::ptr::null_mut(), |find| unsafe { find(func_name) })
}
