//! Programs from source to result through the dispatch table, on whatever device comes first.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[macro_use]
mod setup;

use rtcg_opencl_sys::*;
use setup::{Setup, binary_of, set, set_up};
use std::ffi::CString;
use std::ptr::{null, null_mut};

#[test]
fn adds_scaled_vectors_of_any_size() {
    let setup = set_up(0);
    let (program, code) = setup.build_with(
        "__kernel void saxpy(__global float *y, __global const float *x, float a) {
            size_t i = get_global_id(0);
            y[i] = a * x[i] + y[i];
        }",
        "-cl-std=CL2.0",
    );
    assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
    let kernel = setup.kernel(program, "saxpy");
    // 1,000 items in groups of 64 leave a last group of 40, and the values behind must stay.
    let x: Vec<f32> = (0..1024).map(|i| i as f32).collect();
    let y = vec![1f32; 1024];
    let (x_buffer, y_buffer) = (setup.buffer(&x), setup.buffer(&y));
    assert_eq!(setup.launch(kernel, &[1000], Some(&[64])), CL_INVALID_KERNEL_ARGS);
    assert_eq!(set(kernel, 0, &y_buffer), CL_SUCCESS);
    assert_eq!(set(kernel, 1, &x_buffer), CL_SUCCESS);
    assert_eq!(set(kernel, 2, &2f64), CL_INVALID_ARG_SIZE);
    assert_eq!(set(kernel, 2, &2f32), CL_SUCCESS);
    assert_eq!(set(kernel, 3, &2f32), CL_INVALID_ARG_INDEX);
    assert_eq!(setup.launch(kernel, &[1000], Some(&[64])), CL_SUCCESS);
    let found: Vec<f32> = setup.read(y_buffer, 1024);
    for (i, value) in found.iter().enumerate() {
        assert_eq!(*value, if i < 1000 { 2.0 * i as f32 + 1.0 } else { 1.0 }, "at {i}");
    }
    for buffer in [x_buffer, y_buffer] {
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_INVALID_MEM_OBJECT, "it was released");
    }
    assert_eq!(cl!(clReleaseKernel(kernel)), CL_SUCCESS);
    assert_eq!(cl!(clReleaseProgram(program)), CL_SUCCESS);
}

#[test]
fn gives_each_local_argument_its_own_memory() {
    let setup = set_up(0);
    let program = setup.build(
        "__kernel void mirror(__global int *data, __local int *a, __local int *b) {
            size_t i = get_local_id(0), n = get_local_size(0);
            a[i] = data[get_global_id(0)];
            b[i] = -1;
            barrier(CLK_LOCAL_MEM_FENCE);
            data[get_global_id(0)] = a[n - 1 - i] + b[n - 1 - i];
        }",
    );
    let kernel = setup.kernel(program, "mirror");
    let values: Vec<i32> = (0..64).collect();
    let buffer = setup.buffer(&values);
    assert_eq!(set(kernel, 0, &buffer), CL_SUCCESS);
    assert_eq!(cl!(clSetKernelArg(kernel, 1, 32 * 4, null())), CL_SUCCESS);
    assert_eq!(cl!(clSetKernelArg(kernel, 2, 32 * 4, null())), CL_SUCCESS);
    assert_eq!(setup.launch(kernel, &[64], Some(&[32])), CL_SUCCESS);
    let found: Vec<i32> = setup.read(buffer, 64);
    let expected: Vec<i32> = (0..64).map(|i| i / 32 * 32 + 31 - i % 32 - 1).collect();
    assert_eq!(found, expected);
    cl!(clReleaseMemObject(buffer));
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

#[test]
fn reads_constants_of_the_program_and_of_arguments() {
    let setup = set_up(0);
    let program = setup.build(
        "__constant int table[4] = {10, 20, 30, 40};
        __kernel void pick(__global int *to, __constant int *given, int which) {
            __constant int *from = which ? given : table;
            to[get_global_id(0)] = from[get_global_id(0)] + table[1];
        }",
    );
    let kernel = setup.kernel(program, "pick");
    let (to, given) = (setup.buffer(&[0i32; 4]), setup.buffer(&[1i32, 2, 3, 4]));
    assert_eq!(set(kernel, 0, &to), CL_SUCCESS);
    assert_eq!(set(kernel, 1, &given), CL_SUCCESS);
    for (which, expected) in [(0i32, [30, 40, 50, 60]), (1, [21, 22, 23, 24])] {
        assert_eq!(set(kernel, 2, &which), CL_SUCCESS);
        assert_eq!(setup.launch(kernel, &[4], None), CL_SUCCESS);
        assert_eq!(setup.read::<i32>(to, 4), expected);
    }
    // CUDA's constant memory is a space of its own, in which buffers are not.
    let binary = binary_of(program);
    let ptx = String::from_utf8_lossy(&binary);
    assert!(ptx.contains("ld.global.nc") && !ptx.contains(".const"), "{ptx}");
    for buffer in [to, given] {
        cl!(clReleaseMemObject(buffer));
    }
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

#[test]
fn refuses_source_with_its_line() {
    let setup = set_up(0);
    let text = CString::new("__kernel void f(__global int *x) {\n    x[0] = y;\n}\n").unwrap();
    let mut pointer = text.as_ptr();
    let mut code = 1;
    let program = cl!(clCreateProgramWithSource(setup.context, 1, &raw mut pointer, null(), &raw mut code));
    let code = cl!(clBuildProgram(program, 0, null(), null(), None, null_mut()));
    assert_eq!(code, CL_BUILD_PROGRAM_FAILURE);
    assert!(setup.build_log(program).contains("program.cl:2:12: error"), "{}", setup.build_log(program));
    cl!(clReleaseProgram(program));
}

#[test]
fn waits_for_a_user_event() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE] {
        let setup = set_up(properties);
        let buffer = setup.buffer(&[0u32; 256]);
        let mut code = 1;
        let gate = cl!(clCreateUserEvent(setup.context, &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        let mut filled = cl_event::NULL;
        let pattern = 7u32;
        let code = cl!(clEnqueueFillBuffer(
            setup.queue,
            buffer,
            (&raw const pattern).cast(),
            4,
            0,
            1024,
            1,
            &raw const gate,
            &raw mut filled
        ));
        assert_eq!(code, CL_SUCCESS);
        let status = |event| {
            let mut status = 100i32;
            let pointer = (&raw mut status).cast();
            let code = cl!(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, 4, pointer, null_mut()));
            assert_eq!(code, CL_SUCCESS);
            status
        };
        assert_eq!((status(gate), status(filled)), (CL_SUBMITTED, CL_QUEUED));
        assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
        assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_INVALID_OPERATION);
        assert_eq!(cl!(clWaitForEvents(1, &raw const filled)), CL_SUCCESS);
        assert_eq!(status(filled), CL_COMPLETE);
        assert_eq!(setup.read::<u32>(buffer, 256), vec![7; 256]);
        for event in [gate, filled] {
            assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
        }
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
    }
}

/// Fills the buffer behind the listed events; returns the event of the fill.
fn fill_behind(setup: &Setup, buffer: cl_mem, pattern: u32, waits: &[cl_event]) -> cl_event {
    let mut filled = cl_event::NULL;
    let list = if waits.is_empty() { null() } else { waits.as_ptr() };
    let code = cl!(clEnqueueFillBuffer(
        setup.queue,
        buffer,
        (&raw const pattern).cast(),
        4,
        0,
        1024,
        waits.len() as cl_uint,
        list,
        &raw mut filled
    ));
    assert_eq!(code, CL_SUCCESS);
    filled
}

fn status_of(event: cl_event) -> cl_int {
    let mut status = 100i32;
    let pointer = (&raw mut status).cast();
    assert_eq!(cl!(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, 4, pointer, null_mut())), CL_SUCCESS);
    status
}

#[test]
fn a_failed_event_ends_what_waits_for_it_and_nothing_else() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let setup = set_up(properties);
        let buffer = setup.buffer(&[0u32; 256]);
        let mut code = 1;
        let gate = cl!(clCreateUserEvent(setup.context, &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        let first = fill_behind(&setup, buffer, 7, &[gate]);
        let second = fill_behind(&setup, buffer, 8, &[first]);
        assert_eq!(cl!(clSetUserEventStatus(gate, -1)), CL_SUCCESS);
        assert_eq!(cl!(clSetUserEventStatus(gate, -1)), CL_INVALID_OPERATION);
        let failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        assert_eq!((status_of(first), status_of(second)), (failed, failed));
        // A barrier waits for the end of all, however they ended; commands behind it run.
        assert_eq!(cl!(clEnqueueBarrierWithWaitList(setup.queue, 0, null(), null_mut())), CL_SUCCESS);
        let third = fill_behind(&setup, buffer, 9, &[]);
        assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
        assert_eq!(status_of(third), CL_COMPLETE);
        assert_eq!(setup.read::<u32>(buffer, 256), vec![9; 256]);
        for event in [gate, first, second, third] {
            assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
        }
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
    }
}

#[test]
fn atomic_functions_of_each_order_agree_with_arithmetic() {
    let setup = set_up(0);
    let source =
        "kernel void count(volatile global int *a, volatile global atomic_float *f, volatile global ulong *u) {
            int i = get_global_id(0);
            atomic_add(a, 1);
            atomic_min(a + 1, -i);
            atomic_fetch_or((volatile global atomic_int *)(a + 2), 1 << i % 31);
            atomic_fetch_sub_explicit((volatile global atomic_int *)(a + 3), 2, memory_order_relaxed);
            atom_max(u, ((ulong)i << 32) + 1);
            atomic_store(f, 2.5f);
            float expected = 2.5f;
            if (!atomic_compare_exchange_strong(f, &expected, 2.5f) || atomic_load(f) != 2.5f
                || atomic_load_explicit(f, memory_order_acquire) != 2.5f) atomic_sub(a, 1000);
            if (!i) a[4] = add_sat(INT_MAX, a[5]) - sub_sat(INT_MIN, a[5]);
        }";
    let (program, code) = setup.build_with(source, "-cl-std=CL2.0");
    assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
    let kernel = setup.kernel(program, "count");
    let (numbers, float, wide) = (setup.buffer(&[0i32, 0, 0, 0, 0, 7]), setup.buffer(&[0f32]), setup.buffer(&[5u64]));
    for (index, buffer) in [numbers, float, wide].iter().enumerate() {
        assert_eq!(set(kernel, index as cl_uint, buffer), CL_SUCCESS);
    }
    assert_eq!(setup.launch(kernel, &[256], Some(&[32])), CL_SUCCESS);
    assert_eq!(setup.read::<i32>(numbers, 6), [256, -255, i32::MAX, -512, -1, 7]);
    assert_eq!((setup.read::<f32>(float, 1), setup.read::<u64>(wide, 1)), (vec![2.5], vec![(255 << 32) + 1]));
}
