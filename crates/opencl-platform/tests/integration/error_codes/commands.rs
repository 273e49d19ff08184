//! Kernels, launches and events.

use super::{BIG, E, N, RGBA, Rows, World};
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};

pub(super) fn kernels(rows: &mut Rows, world: &World) {
    let World { setup, kernel, sized, unset, program, unbuilt, buffer, image, .. } = world;
    let queue = setup.queue;
    let (one, value) = (1i32, world.pointer().cast_const());
    object_row!(rows, "not built", CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(*unbuilt, c"f".as_ptr()));
    object_row!(rows, "no name", CL_INVALID_VALUE, clCreateKernel(*program, null()));
    object_row!(rows, "unknown name", CL_INVALID_KERNEL_NAME, clCreateKernel(*program, c"g".as_ptr()));
    let mut list = [cl_kernel::NULL; 3];
    let list = list.as_mut_ptr();
    row!(rows, "not built", CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernelsInProgram(*unbuilt, 3, list, null_mut()));
    row!(rows, "too little room", CL_INVALID_VALUE, clCreateKernelsInProgram(*program, 1, list, null_mut()));
    row!(
        rows,
        "there are kernels",
        CL_INVALID_OPERATION,
        clBuildProgram(*program, 0, null(), null(), None, null_mut())
    );
    row!(rows, "devices", CL_INVALID_VALUE, clBuildProgram(*unbuilt, 1, null(), null(), None, null_mut()));
    row!(rows, "index", CL_INVALID_ARG_INDEX, clSetKernelArg(*kernel, 4, 4, (&raw const one).cast()));
    row!(rows, "size of a value", CL_INVALID_ARG_SIZE, clSetKernelArg(*kernel, 1, 8, value));
    row!(rows, "null value", CL_INVALID_ARG_VALUE, clSetKernelArg(*kernel, 1, 4, null()));
    row!(rows, "size of a buffer", CL_INVALID_ARG_SIZE, clSetKernelArg(*kernel, 0, 4, (&raw const *buffer).cast()));
    row!(rows, "an image", CL_INVALID_MEM_OBJECT, clSetKernelArg(*kernel, 0, 8, (&raw const *image).cast()));
    row!(rows, "no buffer", CL_INVALID_MEM_OBJECT, clSetKernelArg(*kernel, 0, 8, (&raw const setup.queue).cast()));
    let wild = cl_mem(0xdead_bee0 as *mut ObjectHead);
    row!(rows, "no address", CL_INVALID_MEM_OBJECT, clSetKernelArg(*kernel, 0, 8, (&raw const wild).cast()));
    row!(rows, "local value", CL_INVALID_ARG_VALUE, clSetKernelArg(*kernel, 2, 64, value));
    row!(rows, "no local size", CL_INVALID_ARG_SIZE, clSetKernelArg(*kernel, 2, 0, null()));
    let drawn = setup.kernel(*program, "drawn");
    row!(rows, "a buffer", CL_INVALID_MEM_OBJECT, clSetKernelArg(drawn, 0, 8, (&raw const *buffer).cast()));
    row!(rows, "null image", CL_INVALID_ARG_VALUE, clSetKernelArg(drawn, 0, 8, null()));
    row!(rows, "no sampler", CL_INVALID_SAMPLER, clSetKernelArg(drawn, 2, 8, (&raw const *buffer).cast()));
    row!(rows, "size of a sampler", CL_INVALID_ARG_SIZE, clSetKernelArg(drawn, 2, 4, (&raw const *buffer).cast()));
    let read_only =
        cl!(clCreateImage2D(setup.context, CL_MEM_READ_ONLY, &raw const RGBA, 8, 8, 0, null_mut(), null_mut()));
    row!(rows, "access", CL_INVALID_ARG_VALUE, clSetKernelArg(drawn, 1, 8, (&raw const read_only).cast()));
    cl!(clReleaseMemObject(read_only));
    cl!(clReleaseKernel(drawn));
    row!(rows, "index", CL_INVALID_ARG_INDEX, clSetKernelArgSVMPointer(*kernel, 9, value));
    row!(rows, "no pointer", CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(*kernel, 1, value));
    let wild = 0xdead_bee0 as *const c_void;
    row!(rows, "not allocated", CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(*kernel, 0, wild));
    row!(rows, "unknown name", CL_INVALID_VALUE, clSetKernelExecInfo(*kernel, 1, 8, value));
    row!(rows, "no value", CL_INVALID_VALUE, clSetKernelExecInfo(*kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, null()));
    row!(rows, "size", CL_INVALID_VALUE, clSetKernelExecInfo(*kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 7, value));
    let yes = CL_TRUE;
    let name = CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM;
    row!(rows, "optional", CL_INVALID_OPERATION, clSetKernelExecInfo(*kernel, name, 4, (&raw const yes).cast()));
    row!(rows, "size", CL_INVALID_VALUE, clSetKernelExecInfo(*kernel, name, 8, value));

    let sizes = |x: usize, y: usize, z: usize| [x, y, z];
    let (g, none) = (sizes(64, 1, 1), null::<usize>());
    let (global, odd, huge, zero) = (g.as_ptr(), sizes(BIG, BIG, BIG), sizes(4096, 1, 1), sizes(0, 1, 1));
    row!(
        rows,
        "dimensions",
        CL_INVALID_WORK_DIMENSION,
        clEnqueueNDRangeKernel(queue, *kernel, 0, none, global, none, 0, N, E)
    );
    row!(
        rows,
        "dimensions",
        CL_INVALID_WORK_DIMENSION,
        clEnqueueNDRangeKernel(queue, *kernel, 4, none, global, none, 0, N, E)
    );
    row!(
        rows,
        "offset",
        CL_INVALID_GLOBAL_OFFSET,
        clEnqueueNDRangeKernel(queue, *kernel, 1, odd.as_ptr(), global, none, 0, N, E)
    );
    row!(
        rows,
        "size",
        CL_INVALID_GLOBAL_WORK_SIZE,
        clEnqueueNDRangeKernel(queue, *kernel, 1, none, odd.as_ptr(), none, 0, N, E)
    );
    row!(
        rows,
        "items",
        CL_INVALID_WORK_ITEM_SIZE,
        clEnqueueNDRangeKernel(queue, *kernel, 1, none, global, huge.as_ptr(), 0, N, E)
    );
    row!(
        rows,
        "no items",
        CL_INVALID_WORK_GROUP_SIZE,
        clEnqueueNDRangeKernel(queue, *kernel, 1, none, global, zero.as_ptr(), 0, N, E)
    );
    let (large, plane) = (sizes(64, 32, 1), sizes(64, 64, 1));
    row!(
        rows,
        "a group",
        CL_INVALID_WORK_GROUP_SIZE,
        clEnqueueNDRangeKernel(queue, *kernel, 2, none, plane.as_ptr(), large.as_ptr(), 0, N, E)
    );
    row!(
        rows,
        "required size",
        CL_INVALID_WORK_GROUP_SIZE,
        clEnqueueNDRangeKernel(queue, *sized, 1, none, global, global, 0, N, E)
    );
    row!(
        rows,
        "unset arguments",
        CL_INVALID_KERNEL_ARGS,
        clEnqueueNDRangeKernel(queue, *unset, 1, none, global, none, 0, N, E)
    );
    row!(
        rows,
        "no kernel",
        CL_INVALID_KERNEL,
        clEnqueueNDRangeKernel(queue, cl_kernel::NULL, 1, none, global, none, 0, N, E)
    );
    row!(
        rows,
        "queue of another context",
        CL_INVALID_CONTEXT,
        clEnqueueNDRangeKernel(world.other.queue, *kernel, 1, none, global, none, 0, N, E)
    );
    row!(
        rows,
        "wait list",
        CL_INVALID_EVENT_WAIT_LIST,
        clEnqueueNDRangeKernel(queue, *kernel, 1, none, global, none, 1, N, E)
    );
    row!(rows, "no sizes", CL_SUCCESS, clEnqueueNDRangeKernel(queue, *kernel, 1, none, none, none, 0, N, E));
    row!(
        rows,
        "a size of 0",
        CL_SUCCESS,
        clEnqueueNDRangeKernel(queue, *kernel, 1, none, zero.as_ptr(), none, 0, N, E)
    );
    row!(rows, "unset arguments", CL_INVALID_KERNEL_ARGS, clEnqueueTask(queue, *unset, 0, N, E));
    row!(rows, "required size", CL_INVALID_WORK_GROUP_SIZE, clEnqueueTask(queue, *sized, 0, N, E));
    row!(
        rows,
        "no function",
        CL_INVALID_VALUE,
        clEnqueueNativeKernel(queue, None, null_mut(), 0, 0, null(), null_mut(), 0, N, E)
    );
    assert_eq!(cl!(clSetKernelArg(*kernel, 2, BIG, null())), CL_SUCCESS);
    row!(
        rows,
        "local memory",
        CL_OUT_OF_RESOURCES,
        clEnqueueNDRangeKernel(queue, *kernel, 1, none, global, none, 0, N, E)
    );
    assert_eq!(cl!(clSetKernelArg(*kernel, 2, 64, null())), CL_SUCCESS);
}

pub(super) fn events(rows: &mut Rows, world: &World) {
    let World { setup, user, done, failed, foreign_event, .. } = world;
    let queue = setup.queue;
    let none = cl_event::NULL;
    let pair = [*done, *foreign_event];
    row!(rows, "no event", CL_INVALID_VALUE, clWaitForEvents(0, &raw const *done));
    row!(rows, "no list", CL_INVALID_VALUE, clWaitForEvents(1, null()));
    row!(rows, "null event", CL_INVALID_EVENT, clWaitForEvents(1, &raw const none));
    row!(rows, "two contexts", CL_INVALID_CONTEXT, clWaitForEvents(2, pair.as_ptr()));
    row!(rows, "a failure", CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &raw const *failed));
    row!(rows, "a command's", CL_INVALID_EVENT, clSetUserEventStatus(*done, CL_COMPLETE));
    row!(rows, "a state", CL_INVALID_VALUE, clSetUserEventStatus(*user, CL_SUBMITTED));
    row!(rows, "again", CL_INVALID_OPERATION, clSetUserEventStatus(*failed, CL_COMPLETE));
    row!(rows, "no function", CL_INVALID_VALUE, clSetEventCallback(*user, CL_COMPLETE, None, null_mut()));
    unsafe extern "C" fn never(_: cl_event, _: cl_int, _: *mut c_void) {}
    row!(rows, "state", CL_INVALID_VALUE, clSetEventCallback(*user, CL_QUEUED, Some(never), null_mut()));
    row!(rows, "state", CL_INVALID_VALUE, clSetEventCallback(*user, -1, Some(never), null_mut()));
    row!(
        rows,
        "a list without events",
        CL_INVALID_EVENT_WAIT_LIST,
        clEnqueueMarkerWithWaitList(queue, 0, &raw const *done, E)
    );
    row!(rows, "events without a list", CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, N, E));
    row!(rows, "null event", CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, &raw const none, E));
    row!(rows, "another context", CL_INVALID_CONTEXT, clEnqueueMarkerWithWaitList(queue, 2, pair.as_ptr(), E));
    row!(rows, "null event", CL_INVALID_EVENT_WAIT_LIST, clEnqueueBarrierWithWaitList(queue, 1, &raw const none, E));
    row!(rows, "another context", CL_INVALID_CONTEXT, clEnqueueBarrierWithWaitList(queue, 2, pair.as_ptr(), E));
    row!(rows, "no event", CL_INVALID_VALUE, clEnqueueMarker(queue, E));
}
