//! Shared virtual memory: its allocation and cap, commands on it, and the function that frees it.

use crate::setup::{set, set_up};
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn allocates_aligned_memory_and_refuses_what_it_cannot_give() {
    let setup = set_up(0);
    for alignment in [0, 1, 4, 64, 128, 256] {
        let pointer = cl!(clSVMAlloc(setup.context, CL_MEM_READ_WRITE, 100, alignment));
        assert!(!pointer.is_null() && pointer.addr().is_multiple_of(128.max(alignment as usize)), "{alignment}");
        cl!(clSVMFree(setup.context, pointer));
    }
    let null = |context, flags, size, alignment| {
        assert!(cl!(clSVMAlloc(context, flags, size, alignment)).is_null(), "{flags:#x} {size} {alignment}");
    };
    null(cl_context::NULL, CL_MEM_READ_WRITE, 100, 0);
    null(setup.context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 100, 0);
    null(setup.context, CL_MEM_USE_HOST_PTR, 100, 0);
    null(setup.context, CL_MEM_SVM_ATOMICS, 100, 0);
    null(setup.context, CL_MEM_READ_WRITE, 0, 0);
    null(setup.context, CL_MEM_READ_WRITE, 100, 3);
    null(setup.context, CL_MEM_READ_WRITE, 100, 1 << 20);
    null(setup.context, CL_MEM_READ_WRITE, usize::MAX, 0);
    cl!(clSVMFree(setup.context, null_mut()));
}

#[test]
fn caps_the_total_at_what_the_device_has() {
    // The virtual device has as much memory as this.
    own_process!("RTCG_VIRTUAL_MEMORY" = "64M", "RTCG_VIRTUAL_DEVICES" = "1");
    let setup = set_up(0);
    const SIZE: usize = 24 << 20;
    let allocate = || cl!(clSVMAlloc(setup.context, CL_MEM_READ_WRITE, SIZE, 0));
    let (first, second, third) = (allocate(), allocate(), allocate());
    assert!(!first.is_null() && !second.is_null() && third.is_null());
    cl!(clSVMFree(setup.context, first));
    let again = allocate();
    assert!(!again.is_null());
    assert!(allocate().is_null());
    for pointer in [second, again] {
        cl!(clSVMFree(setup.context, pointer));
    }
}

#[test]
fn says_why_it_refuses_shared_memory() {
    const HERE: &str = "says_why_it_refuses_shared_memory";
    if !crate::own_process::is_child() {
        let mut child = crate::own_process::rerun(module_path!(), HERE);
        let variables = [("RTCG_OPENCL_ERRORS", "1"), ("RTCG_VIRTUAL_MEMORY", "64M"), ("RTCG_VIRTUAL_DEVICES", "1")];
        let output = child.envs(variables).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        assert!(
            text.contains("CL_OUT_OF_RESOURCES (-5): size: 67108865 bytes of shared memory, the device has "),
            "{text}"
        );
        return;
    }
    let setup = set_up(0);
    assert!(cl!(clSVMAlloc(setup.context, CL_MEM_READ_WRITE, (64 << 20) + 1, 0)).is_null());
}

#[test]
fn copies_fills_maps_and_reaches_memory_behind_pointers() {
    let setup = set_up(0);
    let program = setup.build(
        "typedef struct node { int value; __global struct node *next; } node;
        __kernel void sum(__global node *list, __global int *to) {
            int total = 0;
            for (__global node *at = list; at; at = at->next) total += at->value;
            *to = total;
        }",
    );
    let kernel = setup.kernel(program, "sum");
    let allocate = |size| cl!(clSVMAlloc(setup.context, CL_MEM_READ_WRITE, size, 0));
    // A list of nodes in allocations of their own: the kernel is given the first only.
    let nodes: Vec<*mut u64> = (0..10).map(|_| allocate(16).cast::<u64>()).collect();
    let to = allocate(4).cast::<i32>();
    for (index, node) in nodes.iter().copied().enumerate() {
        let next = nodes.get(index + 1).map_or(0, |next| next.addr() as u64);
        let code = cl!(clEnqueueSVMMap(setup.queue, CL_TRUE, CL_MAP_WRITE, node.cast(), 16, 0, null(), null_mut()));
        assert_eq!(code, CL_SUCCESS);
        unsafe {
            *node.cast::<i32>() = index as i32;
            *node.add(1) = next;
        }
        assert_eq!(cl!(clEnqueueSVMUnmap(setup.queue, node.cast(), 0, null(), null_mut())), CL_SUCCESS);
    }
    assert_eq!(cl!(clSetKernelArgSVMPointer(kernel, 0, nodes[0].cast())), CL_SUCCESS);
    assert_eq!(cl!(clSetKernelArgSVMPointer(kernel, 1, to.cast())), CL_SUCCESS);
    let (size, list) = (8 * nodes.len(), nodes.as_ptr().cast());
    assert_eq!(cl!(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, size, list)), CL_SUCCESS);
    let no = CL_FALSE;
    let name = CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM;
    assert_eq!(cl!(clSetKernelExecInfo(kernel, name, 4, (&raw const no).cast())), CL_SUCCESS);
    assert_eq!(setup.launch(kernel, &[1], None), CL_SUCCESS);
    let mut found = 0i32;
    let pointer = (&raw mut found).cast();
    assert_eq!(cl!(clEnqueueSVMMemcpy(setup.queue, CL_TRUE, pointer, to.cast(), 4, 0, null(), null_mut())), CL_SUCCESS);
    assert_eq!(found, 45);

    let (from, into) = (allocate(4096).cast::<u32>(), allocate(4096).cast::<u32>());
    let pattern = [1u32, 2, 3, 4];
    let pattern = pattern.as_ptr().cast();
    assert_eq!(
        cl!(clEnqueueSVMMemFill(setup.queue, from.cast(), pattern, 16, 4096, 0, null(), null_mut())),
        CL_SUCCESS
    );
    assert_eq!(
        cl!(clEnqueueSVMMemcpy(setup.queue, CL_FALSE, into.cast(), from.cast(), 4096, 0, null(), null_mut())),
        CL_SUCCESS
    );
    let own = [9u32; 4];
    let own = own.as_ptr().cast();
    assert_eq!(cl!(clEnqueueSVMMemcpy(setup.queue, CL_TRUE, into.cast(), own, 16, 0, null(), null_mut())), CL_SUCCESS);
    let found = unsafe { std::slice::from_raw_parts(into, 1024) };
    let expected: Vec<u32> = (0..1024).map(|i| if i < 4 { 9 } else { i % 4 + 1 }).collect();
    assert_eq!(found, expected);
    let inside = into.wrapping_add(100).cast::<c_void>().cast_const();
    let mut list = [from.cast::<c_void>().cast_const(), inside];
    let list = list.as_mut_ptr();
    let migrate = |sizes: &[usize; 2]| {
        cl!(clEnqueueSVMMigrateMem(setup.queue, 2, list, sizes.as_ptr(), 0, 0, null(), null_mut()))
    };
    assert_eq!(migrate(&[0, 4096 - 400]), CL_SUCCESS);
    assert_eq!(migrate(&[0, 4096]), CL_INVALID_VALUE);
    assert_eq!(migrate(&[4097, 0]), CL_INVALID_VALUE);
    assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
    for pointer in nodes.into_iter().map(<*mut u64>::cast::<c_void>).chain([to.cast(), from.cast(), into.cast()]) {
        cl!(clSVMFree(setup.context, pointer));
    }
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

/// What a freeing function is given.
struct Freed {
    context: cl_context,
    other: cl_command_queue,
    calls: AtomicU32,
}

unsafe extern "C" fn free(queue: cl_command_queue, count: cl_uint, pointers: *mut *mut c_void, freed: *mut c_void) {
    let freed = unsafe { &*freed.cast::<Freed>() };
    // None of these returns under a lock of the queue.
    assert_eq!(cl!(clFlush(queue)), CL_SUCCESS);
    let mut event = cl_event::NULL;
    assert_eq!(cl!(clEnqueueMarkerWithWaitList(queue, 0, null(), &raw mut event)), CL_SUCCESS);
    assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
    assert_eq!(cl!(clFinish(freed.other)), CL_SUCCESS);
    let list = unsafe { std::slice::from_raw_parts(pointers, count as usize) };
    for pointer in list {
        assert_eq!(unsafe { pointer.cast::<u32>().read_volatile() }, 7, "commands before it are done");
        cl!(clSVMFree(freed.context, *pointer));
    }
    freed.calls.fetch_add(count, Ordering::SeqCst);
}

#[test]
fn frees_in_the_order_of_the_queue_without_a_lock() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE] {
        let setup = set_up(properties);
        let mut code = 1;
        let other = cl!(clCreateCommandQueue(setup.context, setup.device, 0, &raw mut code));
        let freed = Freed { context: setup.context, other, calls: AtomicU32::new(0) };
        let data = (&raw const freed).cast_mut().cast();
        let gate = cl!(clCreateUserEvent(setup.context, &raw mut code));
        let mut list = [0, 1].map(|_| cl!(clSVMAlloc(setup.context, CL_MEM_READ_WRITE, 64, 0)));
        let pattern = 7u32;
        let pattern = (&raw const pattern).cast();
        let mut filled = [cl_event::NULL; 2];
        for (pointer, event) in list.iter().zip(&mut filled) {
            let code =
                cl!(clEnqueueSVMMemFill(setup.queue, *pointer, pattern, 4, 64, 1, &raw const gate, &raw mut *event));
            assert_eq!(code, CL_SUCCESS);
        }
        let mut done = [cl_event::NULL; 2];
        let pointers = list.as_mut_ptr();
        let waits = filled.as_ptr();
        let code = cl!(clEnqueueSVMFree(setup.queue, 2, pointers, Some(free), data, 2, waits, &raw mut done[0]));
        assert_eq!(code, CL_SUCCESS);
        // Behind it, in order: a command that waits for the freeing, without saying so.
        let buffer = setup.buffer(&[0u32; 4]);
        let code = cl!(clEnqueueFillBuffer(setup.queue, buffer, pattern, 4, 0, 16, 0, null(), &raw mut done[1]));
        assert_eq!(code, CL_SUCCESS);
        assert_eq!(freed.calls.load(Ordering::SeqCst), 0, "it waits for the program");
        assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
        assert_eq!(cl!(clWaitForEvents(1, &raw const done[0])), CL_SUCCESS);
        assert_eq!(freed.calls.load(Ordering::SeqCst), 2);
        if properties & CL_QUEUE_PROFILING_ENABLE != 0 {
            let mut time = 0 as cl_ulong;
            let pointer = (&raw mut time).cast();
            let code = cl!(clGetEventProfilingInfo(done[0], CL_PROFILING_COMMAND_END, 8, pointer, null_mut()));
            assert_eq!(code, CL_SUCCESS);
        }
        // Without a function the platform frees.
        let mut last = cl!(clSVMAlloc(setup.context, CL_MEM_READ_WRITE, 64, 0));
        let code = cl!(clEnqueueSVMFree(setup.queue, 1, &raw mut last, None, null_mut(), 0, null(), null_mut()));
        assert_eq!(code, CL_SUCCESS);
        assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
        assert_eq!(setup.read::<u32>(buffer, 4), [7; 4]);
        for event in filled.into_iter().chain(done).chain([gate]) {
            assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
        }
        cl!(clReleaseMemObject(buffer));
        cl!(clReleaseCommandQueue(other));
    }
}

#[test]
fn counts_arguments_of_shared_memory_as_set() {
    let setup = set_up(0);
    let program = setup.build("__kernel void put(__global int *to, int value) { *to = value; }");
    let kernel = setup.kernel(program, "put");
    let to = cl!(clSVMAlloc(setup.context, CL_MEM_READ_WRITE, 4, 0)).cast::<i32>();
    assert_eq!(set(kernel, 1, &5i32), CL_SUCCESS);
    assert_eq!(setup.launch(kernel, &[1], None), CL_INVALID_KERNEL_ARGS);
    assert_eq!(cl!(clSetKernelArgSVMPointer(kernel, 0, to.cast())), CL_SUCCESS);
    assert_eq!(setup.launch(kernel, &[1], None), CL_SUCCESS);
    assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
    assert_eq!(unsafe { to.read_volatile() }, 5);
    cl!(clSVMFree(setup.context, to.cast()));
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

#[test]
fn buffers_may_be_of_shared_memory() {
    let setup = set_up(0);
    let memory = cl!(clSVMAlloc(setup.context, CL_MEM_READ_WRITE, 4096, 0));
    let inside = memory.wrapping_byte_add(1024);
    let mut code = 1;
    let buffer = cl!(clCreateBuffer(setup.context, CL_MEM_USE_HOST_PTR, 1024, inside, &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    let other = setup.buffer(&[0u32]);
    let uses = |buffer| {
        let mut uses = 9 as cl_bool;
        let at = (&raw mut uses).cast();
        assert_eq!(cl!(clGetMemObjectInfo(buffer, CL_MEM_USES_SVM_POINTER, 4, at, null_mut())), CL_SUCCESS);
        uses
    };
    assert_eq!((uses(buffer), uses(other)), (CL_TRUE, CL_FALSE));
    let pattern = 7u32;
    let pattern = (&raw const pattern).cast();
    assert_eq!(cl!(clEnqueueFillBuffer(setup.queue, buffer, pattern, 4, 0, 1024, 0, null(), null_mut())), CL_SUCCESS);
    assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
    assert_eq!(unsafe { inside.cast::<u32>().add(255).read_volatile() }, 7);
    for buffer in [buffer, other] {
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
    }
    cl!(clSVMFree(setup.context, memory));
}

#[test]
fn says_which_shared_memory_there_is() {
    let setup = set_up(0);
    let mut found = 0 as cl_device_svm_capabilities;
    let at = (&raw mut found).cast();
    assert_eq!(cl!(clGetDeviceInfo(setup.device, CL_DEVICE_SVM_CAPABILITIES, 8, at, null_mut())), CL_SUCCESS);
    assert_ne!(found & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, 0);
    assert_eq!(found & (CL_DEVICE_SVM_FINE_GRAIN_SYSTEM | CL_DEVICE_SVM_ATOMICS), 0);
    let fine = cl!(clSVMAlloc(setup.context, CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 0));
    assert_eq!(fine.is_null(), found & CL_DEVICE_SVM_FINE_GRAIN_BUFFER == 0);
    cl!(clSVMFree(setup.context, fine));
}

#[test]
fn copies_the_programs_own_memory_in_order() {
    let setup = set_up(0);
    let mut code = 1;
    let gate = cl!(clCreateUserEvent(setup.context, &raw mut code));
    let shared = cl!(clSVMAlloc(setup.context, CL_MEM_READ_WRITE, 64, 0));
    let (mut first, mut second) = ([0u32; 16], [0u32; 16]);
    let (first, second) = (first.as_mut_ptr(), second.as_mut_ptr());
    let pattern = 7u32;
    let pattern = (&raw const pattern).cast();
    assert_eq!(
        cl!(clEnqueueSVMMemFill(setup.queue, shared, pattern, 4, 64, 1, &raw const gate, null_mut())),
        CL_SUCCESS
    );
    let copy = |to: *mut c_void, from: *mut c_void, is_blocking| {
        cl!(clEnqueueSVMMemcpy(setup.queue, is_blocking, to, from, 64, 0, null(), null_mut()))
    };
    // Behind a command that waits for the program none of these waits.
    assert_eq!(copy(first.cast(), shared, CL_FALSE), CL_SUCCESS);
    assert_eq!(copy(second.cast(), first.cast(), CL_FALSE), CL_SUCCESS);
    assert_eq!(cl!(clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
    let mut third = [0u32; 16];
    assert_eq!(copy(third.as_mut_ptr().cast(), second.cast(), CL_TRUE), CL_SUCCESS);
    assert_eq!(third, [7; 16]);
    cl!(clReleaseEvent(gate));
    cl!(clSVMFree(setup.context, shared));
}
