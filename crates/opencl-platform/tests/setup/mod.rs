//! A context, a queue and what tests do with them through the dispatch table.
#![allow(dead_code, reason = "each test uses some")]

use rtcg_opencl_sys::*;
use std::ffi::CString;
use std::ptr::{null, null_mut};

/// A function of the table.
macro_rules! cl {
    ($name:ident($($arg:expr),* $(,)?)) => {
        unsafe { rtcg_opencl_platform::dispatch_table().$name.expect(stringify!($name))($($arg),*) }
    };
}

pub(crate) struct Setup {
    pub(crate) device: cl_device_id,
    pub(crate) context: cl_context,
    pub(crate) queue: cl_command_queue,
}

pub(crate) fn set_up(properties: cl_command_queue_properties) -> Setup {
    let (mut platform, mut device) = (cl_platform_id::NULL, cl_device_id::NULL);
    assert_eq!(cl!(clGetPlatformIDs(1, &raw mut platform, null_mut())), CL_SUCCESS);
    assert_eq!(cl!(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &raw mut device, null_mut())), CL_SUCCESS);
    let mut code = 1;
    let context = cl!(clCreateContext(null(), 1, &raw const device, None, null_mut(), &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    let queue = cl!(clCreateCommandQueue(context, device, properties, &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    Setup { device, context, queue }
}

impl Drop for Setup {
    fn drop(&mut self) {
        assert_eq!(cl!(clReleaseCommandQueue(self.queue)), CL_SUCCESS);
        assert_eq!(cl!(clReleaseContext(self.context)), CL_SUCCESS);
    }
}

impl Setup {
    pub(crate) fn build(&self, source: &str) -> cl_program {
        let (program, code) = self.build_with(source, "");
        assert_eq!(code, CL_SUCCESS, "{}", self.build_log(program));
        program
    }

    /// A program, and what its build returned.
    pub(crate) fn build_with(&self, source: &str, options: &str) -> (cl_program, cl_int) {
        let (text, options) = (CString::new(source).unwrap(), CString::new(options).unwrap());
        let mut pointer = text.as_ptr();
        let mut code = 1;
        let program = cl!(clCreateProgramWithSource(self.context, 1, &raw mut pointer, null(), &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        let code = cl!(clBuildProgram(program, 0, null(), options.as_ptr(), None, null_mut()));
        (program, code)
    }

    pub(crate) fn build_log(&self, program: cl_program) -> String {
        let mut log = vec![0u8; 1 << 16];
        let mut size = 0;
        let code = cl!(clGetProgramBuildInfo(
            program,
            self.device,
            CL_PROGRAM_BUILD_LOG,
            log.len(),
            log.as_mut_ptr().cast(),
            &raw mut size
        ));
        assert_eq!(code, CL_SUCCESS);
        String::from_utf8_lossy(&log[..size.max(1) - 1]).into_owned()
    }

    pub(crate) fn kernel(&self, program: cl_program, name: &str) -> cl_kernel {
        let name = CString::new(name).unwrap();
        let mut code = 1;
        let kernel = cl!(clCreateKernel(program, name.as_ptr(), &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        kernel
    }

    pub(crate) fn buffer<T: Copy>(&self, values: &[T]) -> cl_mem {
        let mut code = 1;
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        let pointer = values.as_ptr().cast_mut().cast();
        let buffer = cl!(clCreateBuffer(self.context, flags, size_of_val(values), pointer, &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        buffer
    }

    pub(crate) fn read<T: Copy + Default>(&self, buffer: cl_mem, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        let (size, pointer) = (size_of_val(values.as_slice()), values.as_mut_ptr().cast());
        let code = cl!(clEnqueueReadBuffer(self.queue, buffer, CL_TRUE, 0, size, pointer, 0, null(), null_mut()));
        assert_eq!(code, CL_SUCCESS);
        values
    }

    pub(crate) fn launch(&self, kernel: cl_kernel, global: &[usize], local: Option<&[usize]>) -> cl_int {
        self.launch_from(kernel, None, global, local)
    }

    pub(crate) fn launch_from(
        &self,
        kernel: cl_kernel,
        offset: Option<&[usize]>,
        global: &[usize],
        local: Option<&[usize]>,
    ) -> cl_int {
        let offset = offset.map_or(null(), <[usize]>::as_ptr);
        let local = local.map_or(null(), <[usize]>::as_ptr);
        let dimensions = global.len() as cl_uint;
        cl!(clEnqueueNDRangeKernel(
            self.queue,
            kernel,
            dimensions,
            offset,
            global.as_ptr(),
            local,
            0,
            null(),
            null_mut()
        ))
    }
}

pub(crate) fn set<T>(kernel: cl_kernel, index: cl_uint, value: &T) -> cl_int {
    cl!(clSetKernelArg(kernel, index, size_of::<T>(), (&raw const *value).cast()))
}

/// The bytes of a program that was built.
pub(crate) fn binary_of(program: cl_program) -> Vec<u8> {
    let mut size = 0usize;
    let pointer = (&raw mut size).cast();
    assert_eq!(cl!(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 8, pointer, null_mut())), CL_SUCCESS);
    let mut binary = vec![0u8; size];
    let mut pointer = binary.as_mut_ptr();
    let pointer = (&raw mut pointer).cast();
    assert_eq!(cl!(clGetProgramInfo(program, CL_PROGRAM_BINARIES, 8, pointer, null_mut())), CL_SUCCESS);
    binary
}
