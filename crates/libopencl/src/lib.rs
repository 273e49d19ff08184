//! The OpenCL platform as a shared library: every function of the declaration list under its C name.
//!
//! A loader opens it as a vendor's library (an ICD) and asks `clGetExtensionFunctionAddress` for
//! `clIcdGetPlatformIDsKHR`; a program that is linked with `libOpenCL.so.1` calls the functions by name. There is no
//! logic here: that is `rtcg-opencl-platform`.
#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

#[allow(unused_imports)]
use rtcg_opencl_sys::types::*;

macro_rules! export {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            let function = rtcg_opencl_platform::dispatch_table().$name.expect("the platform's table is full");
            // SAFETY: the arguments are the caller's promise.
            unsafe { function($($arg),*) }
        }
    )*};
}

rtcg_opencl_sys::for_each_opencl_function!(export);

/// `clIcdGetPlatformIDsKHR`: the platforms of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    // SAFETY: the arguments are the caller's promise.
    unsafe { clGetPlatformIDs(num_entries, platforms, num_platforms) }
}
