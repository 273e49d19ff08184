//! Functions of parts that are optional and not offered: pipes, sharing with OpenGL and EGL.

use crate::context::ContextBody;
use crate::error::{ClError, code_of, object_of, refuse};
use crate::object::resolve;
use rtcg_opencl_sys::*;

/// What a function that is not offered returns: a code, no object, no address.
trait NotOffered {
    fn not_offered() -> Self;
}

impl NotOffered for cl_int {
    fn not_offered() -> Self {
        CL_INVALID_OPERATION
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

/// A table of functions that do nothing: a loader calls what a table has without looking whether it is there.
macro_rules! not_offered_table {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        $(
            unsafe extern "C" fn $name($(_: $type),*) -> $result {
                NotOffered::not_offered()
            }
        )*

        /// Every function, not offered.
        pub(crate) const NOT_OFFERED: DispatchTable = DispatchTable { $($name: Some($name),)* };
    };
}

mod all {
    use super::NotOffered;
    use rtcg_opencl_sys::*;

    rtcg_opencl_sys::for_each_opencl_function!(not_offered_table);
}

pub(crate) use all::NOT_OFFERED;

macro_rules! unsupported_objects {
    ($($name:ident($($type:ty),*) -> $object:ident, $why:expr;)*) => {$(
        /// # Safety
        /// As the specification of OpenCL says.
        pub(crate) unsafe extern "C" fn $name(
            context: cl_context,
            $(_: $type,)*
            errcode_ret: *mut cl_int,
        ) -> $object {
            // SAFETY: the caller's promise.
            unsafe {
                object_of(errcode_ret, $object::NULL, || {
                    resolve::<ContextBody>(context)?;
                    refuse(CL_INVALID_OPERATION, $why)
                })
            }
        }
    )*};
}

const OPENGL: &str = "objects of OpenGL cannot be shared";
const PIPES: &str = "pipes are not offered: CL_DEVICE_PIPE_SUPPORT says so";

unsupported_objects! {
    clCreatePipe(cl_mem_flags, cl_uint, cl_uint, *const cl_pipe_properties) -> cl_mem,
        PIPES;
    clCreateFromGLBuffer(cl_mem_flags, cl_GLuint) -> cl_mem, OPENGL;
    clCreateFromGLTexture(cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint) -> cl_mem,
        OPENGL;
    clCreateFromGLTexture2D(cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint) -> cl_mem,
        OPENGL;
    clCreateFromGLTexture3D(cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint) -> cl_mem,
        OPENGL;
    clCreateFromGLRenderbuffer(cl_mem_flags, cl_GLuint) -> cl_mem, OPENGL;
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetPipeInfo(
    _pipe: cl_mem,
    _param_name: cl_pipe_info,
    _param_value_size: usize,
    _param_value: *mut c_void,
    _param_value_size_ret: *mut usize,
) -> cl_int {
    code_of(|| Err(ClError::new(CL_INVALID_MEM_OBJECT, PIPES)))
}
