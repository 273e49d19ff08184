//! Every function of the declaration list that begins with a handle, with handles that are none: null, wild, of another
//! kind, released. The codes are those of the OpenCL 3.0 specification.

use crate::setup::{Setup, set_up};
use rtcg_opencl_sys::*;
use std::cell::Cell;
use std::ptr::{null, null_mut};

/// An argument that stands where it does not matter.
trait Zero {
    fn zero() -> Self;
}

macro_rules! zeros {
    ($($type:ty = $value:expr;)*) => {$(
        impl Zero for $type {
            fn zero() -> Self {
                $value
            }
        }
    )*};
}

thread_local! {
    /// Where functions that return objects write their code.
    static CODE: Cell<cl_int> = const { Cell::new(0) };
}

zeros! {
    cl_int = 0; cl_uint = 0; cl_ulong = 0; usize = 0; isize = 0;
    cl_platform_id = cl_platform_id::NULL; cl_device_id = cl_device_id::NULL; cl_context = cl_context::NULL;
    cl_command_queue = cl_command_queue::NULL; cl_mem = cl_mem::NULL; cl_program = cl_program::NULL;
    cl_kernel = cl_kernel::NULL; cl_event = cl_event::NULL; cl_sampler = cl_sampler::NULL;
    *mut cl_int = CODE.with(Cell::as_ptr);
}

/// Pointers: those that must not be null are no reason to pass over a handle that is none.
macro_rules! nulls {
    ($($type:ty)*) => {$(
        impl Zero for $type {
            fn zero() -> Self {
                null_mut::<std::ffi::c_void>() as $type
            }
        }
    )*};
}

nulls! {
    *mut c_void *const c_void *const c_char *mut *const c_char *const usize *mut usize *mut cl_uint *mut cl_ulong
    *const cl_platform_id *mut cl_platform_id *const cl_device_id *mut cl_device_id *const cl_mem *const cl_program
    *mut cl_kernel *const cl_event *mut cl_event *const isize *const cl_ulong *mut *const c_uchar *mut *mut c_void
    *mut *const c_void *const cl_image_format *mut cl_image_format *const cl_image_desc
}

impl<F> Zero for Option<F> {
    fn zero() -> Self {
        None
    }
}

/// What a function returns.
trait Outcome {
    fn code(self) -> cl_int;
}

impl Outcome for cl_int {
    fn code(self) -> cl_int {
        self
    }
}

impl Outcome for () {
    fn code(self) -> cl_int {
        0
    }
}

macro_rules! objects {
    ($($type:ty)*) => {$(
        impl Outcome for $type {
            fn code(self) -> cl_int {
                assert_eq!(self, <$type>::zero(), "an object beside an error");
                CODE.get()
            }
        }
    )*};
}

objects! { cl_context cl_command_queue cl_mem cl_program cl_kernel cl_event cl_sampler *mut c_void }

/// The first argument of a function, with values that are wrong.
trait First: Sized {
    fn wrong(_: &World) -> Vec<(&'static str, Self, cl_int)> {
        Vec::new()
    }
}

/// Objects of other kinds, and how to make one that is released.
struct World<'s> {
    setup: &'s Setup,
    program: cl_program,
}

macro_rules! first_handles {
    ($($type:ident $code:ident $other:ident $released:expr;)*) => {$(
        impl First for $type {
            fn wrong(world: &World) -> Vec<(&'static str, Self, cl_int)> {
                let other = $type(world.setup.$other.0);
                let released: fn(&World) -> Option<$type> = $released;
                let mut list = vec![("null", $type::NULL, $code), ("another kind of object", other, $code)];
                for (what, address) in [("no address", 0xdead_bee0usize), ("an address of zeros", ZEROS.as_ptr() as usize)] {
                    list.push((what, $type(address as *mut ObjectHead), $code));
                }
                list.extend(released(world).map(|handle| ("a released object", handle, $code)));
                list
            }
        }
    )*};
}

first_handles! {
    cl_platform_id CL_INVALID_PLATFORM context |_| None;
    cl_device_id CL_INVALID_DEVICE context |_| None;
    cl_context CL_INVALID_CONTEXT queue |world| Some(released(world, |setup, code| {
        cl!(clCreateContext(null(), 1, &raw const setup.device, None, null_mut(), code))
    }, |handle| cl!(clReleaseContext(handle))));
    cl_command_queue CL_INVALID_COMMAND_QUEUE context |world| Some(released(world, |setup, code| {
        cl!(clCreateCommandQueue(setup.context, setup.device, 0, code))
    }, |handle| cl!(clReleaseCommandQueue(handle))));
    cl_mem CL_INVALID_MEM_OBJECT context |world| Some(released(world, |setup, code| {
        cl!(clCreateBuffer(setup.context, 0, 64, null_mut(), code))
    }, |handle| cl!(clReleaseMemObject(handle))));
    cl_program CL_INVALID_PROGRAM context |world| Some(released(world, |setup, code| {
        let mut text = c"".as_ptr();
        cl!(clCreateProgramWithSource(setup.context, 1, &raw mut text, null(), code))
    }, |handle| cl!(clReleaseProgram(handle))));
    cl_kernel CL_INVALID_KERNEL context |world| {
        let mut code = 1;
        let kernel = cl!(clCreateKernel(world.program, c"f".as_ptr(), &raw mut code));
        assert_eq!(cl!(clReleaseKernel(kernel)), CL_SUCCESS);
        Some(kernel)
    };
    cl_event CL_INVALID_EVENT context |world| Some(released(world, |setup, code| {
        cl!(clCreateUserEvent(setup.context, code))
    }, |handle| cl!(clReleaseEvent(handle))));
    cl_sampler CL_INVALID_SAMPLER context |world| Some(released(world, |setup, code| {
        cl!(clCreateSampler(setup.context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, code))
    }, |handle| cl!(clReleaseSampler(handle))));
}

fn released<H: Copy>(world: &World, make: fn(&Setup, *mut cl_int) -> H, release: fn(H) -> cl_int) -> H {
    let mut code = 1;
    let handle = make(world.setup, &raw mut code);
    assert_eq!((code, release(handle)), (CL_SUCCESS, CL_SUCCESS));
    handle
}

impl First for cl_uint {}
impl First for *const c_char {}
impl First for *const isize {}

/// Memory that is no object.
static ZEROS: [u64; 64] = [0; 64];

/// Functions of parts that are not offered, and two that take null for the platform.
const EXCEPTIONS: &[&str] = &[
    "clGetGLObjectInfo",
    "clGetGLTextureInfo",
    "clEnqueueAcquireGLObjects",
    "clEnqueueReleaseGLObjects",
    "clCreateSubDevicesEXT",
    "clRetainDeviceEXT",
    "clReleaseDeviceEXT",
    "clCreateEventFromGLsyncKHR",
    "clCreateFromEGLImageKHR",
    "clEnqueueAcquireEGLObjectsKHR",
    "clEnqueueReleaseEGLObjectsKHR",
    "clCreateEventFromEGLSyncKHR",
    // They return no code.
    "clSVMAlloc",
    "clSVMFree",
    "clGetExtensionFunctionAddressForPlatform",
];

macro_rules! call_all {
    ($($name:ident($($first:ident: $type:ty $(, $arg:ident: $arg_type:ty)*)?) -> $result:ty;)*) => {
        /// Calls all; returns the rows that are wrong, and how many there were.
        fn call_all(world: &World) -> (Vec<String>, usize) {
            let (mut wrong, mut count) = (Vec::new(), 0);
            $($(
                for (what, handle, expected) in <$type as First>::wrong(world) {
                    let name = stringify!($name);
                    let takes_null = matches!(name, "clGetPlatformInfo" | "clGetDeviceIDs") && handle == <$type>::zero();
                    if EXCEPTIONS.contains(&name) || takes_null {
                        continue;
                    }
                    count += 1;
                    CODE.set(0);
                    let found = cl!($name(handle $(, <$arg_type as Zero>::zero())*)).code();
                    if found != expected {
                        wrong.push(format!("{name}: {what}: {found}, expected {expected}"));
                    }
                }
            )?)*
            (wrong, count)
        }
    };
}

rtcg_opencl_sys::for_each_opencl_function!(call_all);

#[test]
fn functions_refuse_handles_that_are_none() {
    // Another test could use the memory of a released object again.
    own_process!();
    let setup = set_up(0);
    let program = setup.build("__kernel void f(__global int *x) { *x = 1; }");
    let (wrong, count) = call_all(&World { setup: &setup, program });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 250, "{count} calls");
    cl!(clReleaseProgram(program));
}
