//! The types of the OpenCL 3.0 interface: handles, numbers, structures.
//!
//! Names are those of the Khronos headers, so that signatures can be compared with the specification.
#![allow(
    non_camel_case_types,
    missing_docs,
    reason = "the names of Khronos' headers, which the specification describes"
)]

pub use std::ffi::{c_char, c_int, c_uchar, c_void};

pub type cl_char = i8;
pub type cl_uchar = u8;
pub type cl_short = i16;
pub type cl_ushort = u16;
pub type cl_int = i32;
pub type cl_uint = u32;
pub type cl_long = i64;
pub type cl_ulong = u64;
pub type cl_half = u16;
pub type cl_float = f32;
pub type cl_double = f64;
pub type cl_bool = cl_uint;
pub type cl_bitfield = cl_ulong;
pub type cl_properties = cl_ulong;
pub type cl_version = cl_uint;

/// The beginning of every object: where its functions are.
#[repr(C)]
#[derive(Debug)]
pub struct ObjectHead {
    /// The table of the platform that made the object.
    pub dispatch: *const DispatchTable,
}

macro_rules! handles {
    ($($name:ident: $what:literal;)*) => {$(
        #[doc = concat!("A handle of ", $what, "; null is no object.")]
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub *mut ObjectHead);

        // SAFETY: a handle is an address; the interface allows it on every thread.
        unsafe impl Send for $name {}
        // SAFETY: a shared handle is only an address.
        unsafe impl Sync for $name {}

        impl From<*mut ObjectHead> for $name {
            fn from(head: *mut ObjectHead) -> Self {
                Self(head)
            }
        }

        impl From<$name> for *mut ObjectHead {
            fn from(handle: $name) -> Self {
                handle.0
            }
        }

        impl $name {
            /// No object.
            pub const NULL: Self = Self(std::ptr::null_mut());

            /// Whether this is no object.
            pub fn is_null(self) -> bool {
                self.0.is_null()
            }
        }
    )*};
}

handles! {
    cl_platform_id: "a platform";
    cl_device_id: "a device";
    cl_context: "a context";
    cl_command_queue: "a command queue";
    cl_mem: "a memory object";
    cl_program: "a program";
    cl_kernel: "a kernel";
    cl_event: "an event";
    cl_sampler: "a sampler";
}

macro_rules! numbers {
    ($($number:ident: $($name:ident)*;)*) => {$($(pub type $name = $number;)*)*};
}

numbers! {
    cl_uint: cl_platform_info cl_device_info cl_device_mem_cache_type cl_device_local_mem_type cl_context_info
        cl_command_queue_info cl_channel_order cl_channel_type cl_mem_object_type cl_mem_info cl_image_info
        cl_buffer_create_type cl_addressing_mode cl_filter_mode cl_sampler_info cl_pipe_info cl_program_info
        cl_program_build_info cl_program_binary_type cl_kernel_info cl_kernel_arg_info cl_kernel_arg_address_qualifier
        cl_kernel_arg_access_qualifier cl_kernel_work_group_info cl_kernel_sub_group_info cl_event_info
        cl_command_type cl_profiling_info cl_kernel_exec_info cl_gl_object_type cl_gl_texture_info cl_gl_context_info
        cl_GLuint cl_GLenum;
    cl_int: cl_build_status cl_GLint;
    cl_bitfield: cl_device_type cl_device_fp_config cl_device_exec_capabilities cl_device_svm_capabilities
        cl_command_queue_properties cl_device_affinity_domain cl_mem_flags cl_svm_mem_flags cl_mem_migration_flags
        cl_map_flags cl_kernel_arg_type_qualifier cl_device_atomic_capabilities cl_device_device_enqueue_capabilities
        cl_device_partition_property_ext;
    cl_properties: cl_queue_properties cl_sampler_properties cl_mem_properties;
    isize: cl_device_partition_property cl_context_properties cl_pipe_properties cl_egl_image_properties_khr;
}

pub type cl_GLsync = *mut c_void;
pub type CLeglImageKHR = *mut c_void;
pub type CLeglDisplayKHR = *mut c_void;
pub type CLeglSyncKHR = *mut c_void;

/// Order and type of an image's channels.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct cl_image_format {
    pub image_channel_order: cl_channel_order,
    pub image_channel_data_type: cl_channel_type,
}

/// Kind and extents of an image.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cl_image_desc {
    pub image_type: cl_mem_object_type,
    pub image_width: usize,
    pub image_height: usize,
    pub image_depth: usize,
    pub image_array_size: usize,
    pub image_row_pitch: usize,
    pub image_slice_pitch: usize,
    pub num_mip_levels: cl_uint,
    pub num_samples: cl_uint,
    /// The buffer or image that the image is made of, or null.
    pub mem_object: cl_mem,
}

/// A part of a buffer, in bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct cl_buffer_region {
    pub origin: usize,
    pub size: usize,
}

/// Bytes of a name in [`cl_name_version`].
pub const CL_NAME_VERSION_MAX_NAME_SIZE: usize = 64;

/// A name with a version.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cl_name_version {
    pub version: cl_version,
    pub name: [c_char; CL_NAME_VERSION_MAX_NAME_SIZE],
}

/// The version `major.minor.patch` as one number.
pub const fn make_version(major: u32, minor: u32, patch: u32) -> cl_version {
    major << 22 | minor << 12 | patch
}

// The dispatch table: a C structure of function pointers, which the first word of every object points to.
macro_rules! define_dispatch_table {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        /// The type of each function, by name: `fn_type::clFinish`.
        #[allow(non_camel_case_types, missing_docs, reason = "named as the functions")]
        pub mod fn_type {
            use crate::types::*;
            $(pub type $name = unsafe extern "C" fn($($arg: $type),*) -> $result;)*
        }

        /// The functions of one platform. An empty slot is a function that the platform does not have.
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        #[allow(non_snake_case, reason = "named as the functions")]
        pub struct DispatchTable {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub $name: Option<fn_type::$name>,
            )*
        }

        impl DispatchTable {
            /// A table without functions.
            pub const EMPTY: Self = Self { $($name: None,)* };

            /// The names of the functions, in the order of the table.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// The address of the function `name`, if the table has it.
            pub fn address_of(&self, name: &str) -> Option<*const std::ffi::c_void> {
                match name {
                    $(stringify!($name) => self.$name.map(|function| function as *const std::ffi::c_void),)*
                    _ => None,
                }
            }
        }
    };
}

crate::for_each_opencl_function!(define_dispatch_table);

const _: () = assert!(size_of::<DispatchTable>() == 149 * size_of::<usize>(), "the ICD protocol has 149 functions");
