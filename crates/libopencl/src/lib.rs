//! The OpenCL platform as a shared library: every function of the declaration list under its C name.
//!
//! A loader opens it as a vendor's library (an ICD) and asks `clGetExtensionFunctionAddress` for
//! `clIcdGetPlatformIDsKHR`; every call is the platform's, `rtcg-opencl-platform`. Built as `libOpenCL.so.1`
//! (`cfg(loader)`), which programs are linked with, it is a loader itself (`loader.rs`).
#![allow(unsafe_code, reason = "symbols that C programs call")]
#![allow(
    non_snake_case,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "OpenCL's functions, which its specification describes"
)]

mod loader;

use rtcg_opencl_sys::DispatchTable;
use rtcg_opencl_sys::types::*;

/// Whose function a call is: that of its first object, with the functions where that is not the first argument. The
/// arguments are the caller's promise.
macro_rules! table_for {
    (clGetPlatformIDs $($arg:ident)*) => {
        &loader::OWN
    };
    (clGetExtensionFunctionAddress $($arg:ident)*) => {
        &loader::OWN
    };
    (clCreateContext $properties:ident $count:ident $devices:ident $($arg:ident)*) => {
        // SAFETY: so many objects, by the caller's promise.
        unsafe { loader::table_of_list($count, $devices) }
    };
    (clWaitForEvents $count:ident $events:ident) => {
        // SAFETY: so many objects, by the caller's promise.
        unsafe { loader::table_of_list($count, $events) }
    };
    (clCreateContextFromType $properties:ident $($arg:ident)*) => {
        // SAFETY: null or a list that ends with zero, by the caller's promise.
        unsafe { loader::table_of_properties($properties) }
    };
    (clGetGLContextInfoKHR $properties:ident $($arg:ident)*) => {
        // SAFETY: null or a list that ends with zero, by the caller's promise.
        unsafe { loader::table_of_properties($properties) }
    };
    ($name:ident $object:ident $($arg:ident)*) => {
        // SAFETY: null or an object, by the caller's promise.
        unsafe { loader::table_of($object) }
    };
    ($name:ident) => {
        loader::ours()
    };
}

macro_rules! export {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> $result {
                let table = if cfg!(loader) { table_for!($name $($arg)*) } else { loader::ours() };
                let function = table.$name.or(loader::ours().$name).expect("the platform's table is full");
                // SAFETY: the arguments are the caller's promise.
                unsafe { function($($arg),*) }
            }
        )*

        /// The functions above.
        static EXPORTED: DispatchTable = DispatchTable { $($name: Some($name),)* };
    };
}

rtcg_opencl_sys::for_each_opencl_function!(export);

/// `clIcdGetPlatformIDsKHR`: the platforms of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    let list = loader::ours().clGetPlatformIDs.expect("the platform's table is full");
    // SAFETY: the arguments are the caller's promise.
    unsafe { list(num_entries, platforms, num_platforms) }
}
