//! What commands use lives until they are done, and destructors are called when an object is gone.

use crate::setup::{Setup, set, set_up};
use rtcg_opencl_sys::*;
use std::ffi::CString;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What the destructors of one test have written.
struct Log(Mutex<Vec<(usize, u32)>>);

/// What a destructor is given: its log, its number, and something to look at.
struct Note<'l> {
    log: &'l Log,
    number: u32,
    look: *const u32,
}

impl Log {
    fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn found(&self) -> Vec<u32> {
        self.0.lock().unwrap().iter().map(|(_, number)| *number).collect()
    }
}

unsafe extern "C" fn write_memory_note(memory: cl_mem, note: *mut c_void) {
    let note = unsafe { &*note.cast::<Note>() };
    // A lock that is held would keep these from returning.
    assert_eq!(cl!(clRetainMemObject(memory)), CL_INVALID_MEM_OBJECT, "the object is gone");
    if !note.look.is_null() {
        assert_eq!(unsafe { note.look.read_volatile() }, 7, "the command has written");
    }
    note.log.0.lock().unwrap().push((memory.0.addr(), note.number));
}

unsafe extern "C" fn write_context_note(context: cl_context, note: *mut c_void) {
    let note = unsafe { &*note.cast::<Note>() };
    assert_eq!(cl!(clRetainContext(context)), CL_INVALID_CONTEXT, "the object is gone");
    note.log.0.lock().unwrap().push((context.0.addr(), note.number));
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn fill(setup: &Setup, buffer: cl_mem, nbytes: usize, waits: &[cl_event]) -> cl_int {
    let pattern = 7u32;
    let list = if waits.is_empty() { null() } else { waits.as_ptr() };
    let (count, pattern) = (waits.len() as cl_uint, (&raw const pattern).cast());
    cl!(clEnqueueFillBuffer(setup.queue, buffer, pattern, 4, 0, nbytes, count, list, null_mut()))
}

fn user_event(setup: &Setup) -> cl_event {
    let mut code = 1;
    let event = cl!(clCreateUserEvent(setup.context, &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    event
}

#[test]
fn destructors_of_memory_are_called_last_first_when_its_commands_and_parts_are_gone() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let log = Log::new();
        let setup = set_up(properties);
        let mut host = vec![0u32; 1024];
        let (size, pointer) = (4096, host.as_mut_ptr());
        let mut code = 1;
        let buffer = cl!(clCreateBuffer(setup.context, CL_MEM_USE_HOST_PTR, size, pointer.cast(), &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        let notes = [1, 2, 3].map(|number| Note { log: &log, number, look: pointer });
        for note in &notes {
            let data = (&raw const *note).cast_mut().cast();
            assert_eq!(cl!(clSetMemObjectDestructorCallback(buffer, Some(write_memory_note), data)), CL_SUCCESS);
        }
        let region = cl_buffer_region { origin: 0, size: 2048 };
        let region = (&raw const region).cast();
        let part =
            cl!(clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, region, &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        let gate = user_event(&setup);
        assert_eq!(fill(&setup, buffer, size, &[gate]), CL_SUCCESS);
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
        assert_eq!(log.found(), [0; 0], "the command has not run");
        assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
        assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
        assert_eq!(log.found(), [0; 0], "there is a part");
        assert_eq!(fill(&setup, part, 2048, &[]), CL_SUCCESS);
        assert_eq!(cl!(clReleaseMemObject(part)), CL_SUCCESS);
        assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
        wait_until("the destructors are called", || log.found().len() == 3);
        assert_eq!(log.found(), [3, 2, 1]);
        assert_eq!(cl!(clReleaseEvent(gate)), CL_SUCCESS);
    }
}

#[test]
fn destructors_are_called_without_a_call_of_the_program() {
    let log = Log::new();
    let setup = set_up(0);
    let buffer = setup.buffer(&[0u32; 1024]);
    let note = Note { log: &log, number: 1, look: null() };
    let data = (&raw const note).cast_mut().cast();
    assert_eq!(cl!(clSetMemObjectDestructorCallback(buffer, Some(write_memory_note), data)), CL_SUCCESS);
    assert_eq!(fill(&setup, buffer, 4096, &[]), CL_SUCCESS);
    assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
    wait_until("the destructor is called", || log.found() == [1]);
}

/// What the destructor of a buffer uses: its queue, and how often it was called.
struct Chain {
    queue: cl_command_queue,
    calls: AtomicU32,
}

unsafe extern "C" fn enqueue_more(_: cl_mem, chain: *mut c_void) {
    let chain = unsafe { &*chain.cast::<Chain>() };
    let mut event = cl_event::NULL;
    // A lock of the queue would keep these from returning.
    assert_eq!(cl!(clEnqueueMarkerWithWaitList(chain.queue, 0, null(), &raw mut event)), CL_SUCCESS);
    assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
    assert_eq!(cl!(clFlush(chain.queue)), CL_SUCCESS);
    chain.calls.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn destructors_may_use_the_queue_whose_commands_kept_the_object() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        for has_events in [false, true] {
            let setup = set_up(properties);
            let chain = Chain { queue: setup.queue, calls: AtomicU32::new(0) };
            let data = (&raw const chain).cast_mut().cast();
            let buffers: Vec<_> = (0..300).map(|_| setup.buffer(&[0u32; 16])).collect();
            let gate = user_event(&setup);
            let mut events = Vec::new();
            for (number, buffer) in buffers.into_iter().enumerate() {
                assert_eq!(cl!(clSetMemObjectDestructorCallback(buffer, Some(enqueue_more), data)), CL_SUCCESS);
                let (pattern, mut event) = (7u32, cl_event::NULL);
                let (pattern, at) = ((&raw const pattern).cast(), &raw mut event);
                // Some are submitted by whoever opens the gate.
                let (n, waits) = if number == 100 { (1, &raw const gate) } else { (0, null()) };
                let at = if has_events { at } else { null_mut() };
                let code = cl!(clEnqueueFillBuffer(setup.queue, buffer, pattern, 4, 0, 64, n, waits, at));
                assert_eq!(code, CL_SUCCESS);
                assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
                events.extend(has_events.then_some(event));
                if number == 200 {
                    assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
                }
            }
            assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
            wait_until("all destructors are called", || chain.calls.load(Ordering::SeqCst) == 300);
            for event in events.into_iter().chain([gate]) {
                assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
            }
        }
    }
}

#[test]
fn destructors_of_a_context_are_called_last_first_after_those_of_its_memory() {
    let log = Log::new();
    let setup = set_up(0);
    let buffer = setup.buffer(&[0u32; 1024]);
    let notes = [1, 2, 3].map(|number| Note { log: &log, number, look: null() });
    let data = |index: usize| (&raw const notes[index]).cast_mut().cast();
    assert_eq!(cl!(clSetContextDestructorCallback(setup.context, Some(write_context_note), data(0))), CL_SUCCESS);
    assert_eq!(cl!(clSetContextDestructorCallback(setup.context, Some(write_context_note), data(1))), CL_SUCCESS);
    assert_eq!(cl!(clSetMemObjectDestructorCallback(buffer, Some(write_memory_note), data(2))), CL_SUCCESS);
    assert_eq!(fill(&setup, buffer, 4096, &[]), CL_SUCCESS);
    drop(setup);
    assert_eq!(log.found(), [0; 0], "the buffer has the context");
    assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
    wait_until("the destructors are called", || log.found().len() == 3);
    assert_eq!(log.found(), [3, 2, 1]);
}

const ADD: &str = "__kernel void add(__global int *x, int a, __global const int *y) {
    x[get_global_id(0)] += a * y[get_global_id(0)];
}";

const SPIN: &str = "__kernel void spin(__global uint *x, uint n) {
    uint y = x[0];
    for (uint i = 0; i < n; i++) y = y * 1664525 + 1013904223;
    x[0] = y;
}";

/// Sets all arguments; the values are those at the time of enqueueing.
fn set_all(kernel: cl_kernel, x: cl_mem, a: i32, y: cl_mem) {
    for code in [set(kernel, 0, &x), set(kernel, 1, &a), set(kernel, 2, &y)] {
        assert_eq!(code, CL_SUCCESS);
    }
}

#[test]
fn an_enqueued_launch_has_its_arguments_and_objects() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let setup = set_up(properties);
        let program = setup.build(ADD);
        let kernel = setup.kernel(program, "add");
        let (x, other) = (setup.buffer(&[1i32; 1024]), setup.buffer(&[1i32; 1024]));
        let gate = user_event(&setup);
        let mut done = [cl_event::NULL; 9];
        let global = 1024usize;
        for (round, event) in done.iter_mut().enumerate() {
            // Each launch waits for the one before: the first for the program.
            let y = setup.buffer(&[10i32.pow(round as u32); 1024]);
            set_all(kernel, x, 2, y);
            let wait = if round == 0 { gate } else { cl_event::NULL };
            let before = if round == 0 { &raw const wait } else { null() };
            let count = cl_uint::from(round == 0);
            let code = cl!(clEnqueueNDRangeKernel(
                setup.queue,
                kernel,
                1,
                null(),
                &raw const global,
                null(),
                count,
                before,
                &raw mut *event
            ));
            assert_eq!(code, CL_SUCCESS);
            // None of this changes what was enqueued.
            set_all(kernel, other, 100, other);
            assert_eq!(cl!(clReleaseMemObject(y)), CL_SUCCESS);
            assert_eq!(set(kernel, 2, &y), CL_INVALID_MEM_OBJECT, "it was released, whoever uses it");
            if properties != 0 {
                assert_eq!(cl!(clEnqueueBarrierWithWaitList(setup.queue, 0, null(), null_mut())), CL_SUCCESS);
            }
        }
        assert_eq!(cl!(clReleaseKernel(kernel)), CL_SUCCESS);
        assert_eq!(cl!(clReleaseKernel(kernel)), CL_INVALID_KERNEL);
        assert_eq!(cl!(clReleaseProgram(program)), CL_SUCCESS);
        assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
        assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
        assert_eq!(setup.read::<i32>(x, 1024), vec![222_222_223; 1024]);
        assert_eq!(setup.read::<i32>(other, 1024), vec![1; 1024]);
        for event in done.into_iter().chain([gate]) {
            assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
        }
        for buffer in [x, other] {
            assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
        }
    }
}

#[test]
fn kernels_do_not_keep_what_they_were_given() {
    let log = Log::new();
    let setup = set_up(0);
    let program = setup.build(ADD);
    let kernel = setup.kernel(program, "add");
    let (x, y) = (setup.buffer(&[0i32; 64]), setup.buffer(&[1i32; 64]));
    let note = Note { log: &log, number: 1, look: null() };
    let data = (&raw const note).cast_mut().cast();
    assert_eq!(cl!(clSetMemObjectDestructorCallback(y, Some(write_memory_note), data)), CL_SUCCESS);
    set_all(kernel, x, 5, y);
    assert_eq!(setup.launch(kernel, &[64], None), CL_SUCCESS);
    assert_eq!(cl!(clReleaseMemObject(y)), CL_SUCCESS);
    assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
    wait_until("the destructor is called", || log.found() == [1]);
    assert_eq!(setup.launch(kernel, &[64], None), CL_INVALID_KERNEL_ARGS, "an argument is gone");
    // Another object may have the same handle.
    let y = setup.buffer(&[1i32; 64]);
    assert_eq!(setup.launch(kernel, &[64], None), CL_INVALID_KERNEL_ARGS);
    assert_eq!(set(kernel, 2, &y), CL_SUCCESS);
    assert_eq!(setup.launch(kernel, &[64], None), CL_SUCCESS);
    assert_eq!(setup.read::<i32>(x, 64), vec![10; 64]);
    for buffer in [x, y] {
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
    }
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

#[test]
fn many_commands_give_back_what_they_used() {
    let setup = set_up(0);
    let program = setup.build(ADD);
    let kernel = setup.kernel(program, "add");
    let log = Log::new();
    let x = setup.buffer(&[0i32; 256]);
    let notes: Vec<_> = (0..300).map(|number| Note { log: &log, number, look: null() }).collect();
    for note in &notes {
        let y = setup.buffer(&[1i32; 256]);
        let data = (&raw const *note).cast_mut().cast();
        assert_eq!(cl!(clSetMemObjectDestructorCallback(y, Some(write_memory_note), data)), CL_SUCCESS);
        set_all(kernel, x, 1, y);
        assert_eq!(setup.launch(kernel, &[256], Some(&[64])), CL_SUCCESS);
        assert_eq!(cl!(clReleaseMemObject(y)), CL_SUCCESS);
    }
    assert_eq!(setup.read::<i32>(x, 256), vec![300; 256]);
    wait_until("all destructors are called", || log.found().len() == 300);
    cl!(clReleaseMemObject(x));
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

#[test]
fn what_a_running_command_uses_is_there_until_it_ends() {
    for has_event in [false, true] {
        let setup = set_up(0);
        let program = setup.build(SPIN);
        let kernel = setup.kernel(program, "spin");
        let log = Log::new();
        let buffer = setup.buffer(&[0u32; 64]);
        let note = Note { log: &log, number: 1, look: null() };
        let data = (&raw const note).cast_mut().cast();
        assert_eq!(cl!(clSetMemObjectDestructorCallback(buffer, Some(write_memory_note), data)), CL_SUCCESS);
        for code in [set(kernel, 0, &buffer), set(kernel, 1, &10_000_000u32)] {
            assert_eq!(code, CL_SUCCESS);
        }
        let (one, mut event) = (1usize, cl_event::NULL);
        let (one, at) = (&raw const one, if has_event { &raw mut event } else { null_mut() });
        let code = cl!(clEnqueueNDRangeKernel(setup.queue, kernel, 1, null(), one, null(), 0, null(), at));
        assert_eq!(code, CL_SUCCESS);
        let mut marker = cl_event::NULL;
        assert_eq!(cl!(clEnqueueMarkerWithWaitList(setup.queue, 0, null(), &raw mut marker)), CL_SUCCESS);
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
        cl!(clReleaseKernel(kernel));
        cl!(clReleaseProgram(program));
        let (is_gone, mut status) = (!log.found().is_empty(), 9);
        let pointer = (&raw mut status).cast();
        let name = CL_EVENT_COMMAND_EXECUTION_STATUS;
        assert_eq!(cl!(clGetEventInfo(marker, name, 4, pointer, null_mut())), CL_SUCCESS);
        assert!(!is_gone || status == CL_COMPLETE, "the command is at {status}");
        assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
        wait_until("the destructor is called", || log.found() == [1]);
        for event in [marker, event].into_iter().filter(|event| !event.is_null()) {
            assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
        }
    }
}

#[test]
fn memory_of_released_objects_is_waited_for_where_there_is_too_little() {
    own_process!("RTCG_VIRTUAL_MEMORY" = "64M", "RTCG_VIRTUAL_DEVICES" = "1");
    const N: usize = 200 << 10;
    let setup = set_up(0);
    let program = setup.build(&[ADD, SPIN].concat());
    let (kernel, spin) = (setup.kernel(program, "add"), setup.kernel(program, "spin"));
    let (x, spun) = (setup.buffer(&[1i32; N]), setup.buffer(&[0u32]));
    // What is behind this cannot go before it.
    for code in [set(spin, 0, &spun), set(spin, 1, &10_000_000u32), setup.launch(spin, &[1], None)] {
        assert_eq!(code, CL_SUCCESS);
    }
    // More than twice the device's memory.
    for round in 0..200 {
        let y = setup.buffer(&[round; N]);
        set_all(kernel, x, 1, y);
        assert_eq!(setup.launch(kernel, &[N], None), CL_SUCCESS);
        assert_eq!(cl!(clReleaseMemObject(y)), CL_SUCCESS);
    }
    assert_eq!(setup.read::<i32>(x, N), vec![1 + 199 * 100; N]);
    for buffer in [x, spun] {
        cl!(clReleaseMemObject(buffer));
    }
    cl!(clReleaseKernel(spin));
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

#[test]
fn samplers_and_images_may_be_released_behind_the_launch() {
    let setup = set_up(0);
    let program = setup.build(
        "__kernel void look(__global float4 *to, read_only image2d_t image, sampler_t sampler) {
            int i = get_global_id(0);
            to[i] = read_imagef(image, sampler, (float2)(i + 1, 0.5f));
        }",
    );
    let kernel = setup.kernel(program, "look");
    let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_FLOAT };
    let mut code = 1;
    let pixels: Vec<f32> = (0..16).map(|i| i as f32).collect();
    let (flags, pointer) = (CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, pixels.as_ptr().cast_mut().cast());
    let image = cl!(clCreateImage2D(setup.context, flags, &raw const format, 4, 1, 0, pointer, &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    let filter = CL_FILTER_LINEAR;
    let sampler = cl!(clCreateSampler(setup.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, filter, &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    let to = setup.buffer(&[0f32; 12]);
    for code in [set(kernel, 0, &to), set(kernel, 1, &image), set(kernel, 2, &sampler)] {
        assert_eq!(code, CL_SUCCESS);
    }
    let gate = user_event(&setup);
    let global = 3usize;
    let code = cl!(clEnqueueNDRangeKernel(
        setup.queue,
        kernel,
        1,
        null(),
        &raw const global,
        null(),
        1,
        &raw const gate,
        null_mut()
    ));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(cl!(clReleaseMemObject(image)), CL_SUCCESS);
    assert_eq!(cl!(clReleaseSampler(sampler)), CL_SUCCESS);
    assert_eq!(cl!(clReleaseSampler(sampler)), CL_INVALID_SAMPLER);
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
    assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
    let found = setup.read::<f32>(to, 12);
    assert_eq!(found, (0..12).map(|i| i as f32 + 2.0).collect::<Vec<_>>());
    cl!(clReleaseEvent(gate));
    cl!(clReleaseMemObject(to));
}

#[test]
fn a_name_that_is_no_kernel_leaves_no_kernel() {
    let setup = set_up(0);
    let program = setup.build(ADD);
    let mut code = 1;
    let name = CString::new("sub").unwrap();
    assert!(cl!(clCreateKernel(program, name.as_ptr(), &raw mut code)).is_null());
    assert_eq!(code, CL_INVALID_KERNEL_NAME);
    // It would stand in the way of building.
    assert_eq!(cl!(clBuildProgram(program, 0, null(), null(), None, null_mut())), CL_SUCCESS);
    cl!(clReleaseProgram(program));
}
