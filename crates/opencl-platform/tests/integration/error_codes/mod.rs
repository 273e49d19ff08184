//! What is wrong with a call, and the code that the OpenCL 3.0 specification has for it: sizes, flags, orders, contexts.
//! Handles that are none are in `wrong_handles`.

use crate::setup::{Setup, set, set_up};
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};

/// Objects of one context, some of another, and host memory.
struct World {
    setup: Setup,
    other: Setup,
    buffer: cl_mem,
    foreign: cl_mem,
    part: cl_mem,
    image: cl_mem,
    program: cl_program,
    unbuilt: cl_program,
    kernel: cl_kernel,
    sized: cl_kernel,
    unset: cl_kernel,
    done: cl_event,
    user: cl_event,
    failed: cl_event,
    foreign_event: cl_event,
    host: Vec<u64>,
}

const SOURCE: &str = "
    __kernel void f(__global int *x, int n, __local int *l, __constant int *c) { *x = n; }
    __kernel __attribute__((reqd_work_group_size(8, 4, 1))) void sized(__global int *x) { *x = 1; }
    __kernel void drawn(read_only image2d_t r, write_only image2d_t w, sampler_t s) { }";

const KB: usize = 1024;

fn program_of(setup: &Setup, text: &std::ffi::CStr) -> cl_program {
    let (mut text, mut code) = (text.as_ptr(), 1);
    let program = cl!(clCreateProgramWithSource(setup.context, 1, &raw mut text, null(), &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    program
}

fn user_event(setup: &Setup) -> cl_event {
    let mut code = 1;
    let event = cl!(clCreateUserEvent(setup.context, &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    event
}

static RGBA: cl_image_format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNORM_INT8 };

impl World {
    fn new() -> Self {
        let (setup, other) = (set_up(0), set_up(0));
        let program = setup.build(SOURCE);
        let [kernel, sized, unset] = ["f", "sized", "f"].map(|name| setup.kernel(program, name));
        let buffer = setup.buffer(&[0u8; KB]);
        let region = cl_buffer_region { origin: 128, size: 256 };
        let region = (&raw const region).cast();
        let part = cl!(clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, region, null_mut()));
        let image =
            cl!(clCreateImage2D(setup.context, CL_MEM_READ_WRITE, &raw const RGBA, 8, 8, 0, null_mut(), null_mut()));
        for code in [set(kernel, 0, &buffer), set(kernel, 1, &1i32), set(kernel, 3, &buffer), set(sized, 0, &buffer)] {
            assert_eq!(code, CL_SUCCESS);
        }
        assert_eq!(cl!(clSetKernelArg(kernel, 2, 64, null())), CL_SUCCESS);
        let mut done = cl_event::NULL;
        assert_eq!(cl!(clEnqueueMarkerWithWaitList(setup.queue, 0, null(), &raw mut done)), CL_SUCCESS);
        assert_eq!(cl!(clWaitForEvents(1, &raw const done)), CL_SUCCESS);
        let failed = user_event(&setup);
        assert_eq!(cl!(clSetUserEventStatus(failed, -5)), CL_SUCCESS);
        Self {
            buffer,
            part,
            image,
            program,
            kernel,
            sized,
            unset,
            done,
            failed,
            foreign: other.buffer(&[0u8; KB]),
            unbuilt: program_of(&setup, c"__kernel void f() {}"),
            user: user_event(&setup),
            foreign_event: user_event(&other),
            host: vec![0; 1024],
            setup,
            other,
        }
    }

    fn pointer(&self) -> *mut c_void {
        self.host.as_ptr().cast_mut().cast()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for memory in [self.part, self.buffer, self.foreign, self.image] {
            assert_eq!(cl!(clReleaseMemObject(memory)), CL_SUCCESS);
        }
        for kernel in [self.kernel, self.sized, self.unset] {
            assert_eq!(cl!(clReleaseKernel(kernel)), CL_SUCCESS);
        }
        for program in [self.program, self.unbuilt] {
            assert_eq!(cl!(clReleaseProgram(program)), CL_SUCCESS);
        }
        for event in [self.done, self.user, self.failed, self.foreign_event] {
            assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
        }
    }
}

/// Rows that were wrong, and how many there were.
#[derive(Default)]
struct Rows {
    wrong: Vec<String>,
    count: usize,
}

impl Rows {
    fn check(&mut self, call: &str, what: &str, expected: cl_int, found: cl_int) {
        self.count += 1;
        if found != expected {
            let name = |code: cl_int| status::name_of(code.into()).unwrap_or("?");
            self.wrong.push(format!("{call}: {what}: {}, expected {}", name(found), name(expected)));
        }
    }
}

/// A row of a function that returns a code.
macro_rules! row {
    ($rows:ident, $what:literal, $expected:ident, $name:ident($($arg:expr),* $(,)?)) => {
        $rows.check(stringify!($name), $what, $expected, cl!($name($($arg),*)))
    };
}

/// A row of a function that returns an object, and its code last.
macro_rules! object_row {
    ($rows:ident, $what:literal, $expected:ident, $name:ident($($arg:expr),* $(,)?)) => {{
        let mut code = 1;
        let made = cl!($name($($arg,)* &raw mut code));
        assert_eq!(format!("{made:?}").contains("0x0"), code != CL_SUCCESS, "{}: {}", stringify!($name), $what);
        $rows.check(stringify!($name), $what, $expected, code)
    }};
}

const N: *const cl_event = null();
const E: *mut cl_event = null_mut();
const BIG: usize = usize::MAX;

mod commands;
mod objects;
mod transfers;

use commands::{events, kernels};
use objects::{creation, images, queries};
use transfers::{buffers, image_transfers, rectangles, shared_memory};

#[test]
fn wrong_calls_get_the_codes_of_the_specification() {
    let world = World::new();
    let mut rows = Rows::default();
    queries(&mut rows, &world);
    creation(&mut rows, &world);
    images(&mut rows, &world);
    kernels(&mut rows, &world);
    events(&mut rows, &world);
    buffers(&mut rows, &world);
    rectangles(&mut rows, &world);
    image_transfers(&mut rows, &world);
    shared_memory(&mut rows, &world);
    assert!(rows.wrong.is_empty(), "{}", rows.wrong.join("\n"));
    assert!(rows.count >= 280, "{} rows", rows.count);
}
