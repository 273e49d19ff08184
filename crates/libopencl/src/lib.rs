//! The OpenCL platform as a shared library: every function of the declaration list under its C name.
//!
//! A loader opens it as a vendor's library (an ICD) and asks `clGetExtensionFunctionAddress` for
//! `clIcdGetPlatformIDsKHR`; a program that is linked with `libOpenCL.so.1` calls the functions by name. There is no
//! logic here: that is `rtcg-opencl-platform`.
#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

#[allow(unused_imports)]
use rtcg_opencl_sys::types::*;

/// What a function that the platform does not have returns.
trait NotOffered {
    fn not_offered() -> Self;
}

impl NotOffered for cl_int {
    fn not_offered() -> Self {
        rtcg_opencl_sys::CL_INVALID_OPERATION
    }
}

impl NotOffered for () {
    fn not_offered() -> Self {}
}

impl NotOffered for *mut c_void {
    fn not_offered() -> Self {
        std::ptr::null_mut()
    }
}

macro_rules! not_offered_handles {
    ($($handle:ident)*) => {$(
        impl NotOffered for $handle {
            fn not_offered() -> Self {
                Self::NULL
            }
        }
    )*};
}

not_offered_handles! { cl_context cl_command_queue cl_mem cl_program cl_kernel cl_event cl_sampler }

macro_rules! export {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            match rtcg_opencl_platform::dispatch_table().$name {
                // SAFETY: the arguments are the caller's promise.
                Some(function) => unsafe { function($($arg),*) },
                None => NotOffered::not_offered(),
            }
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
