//! Times of commands: one clock for all queues of a device and the host.

use crate::setup::{Setup, set, set_up};
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};

fn times(event: cl_event) -> [cl_ulong; 5] {
    let names = [
        CL_PROFILING_COMMAND_QUEUED,
        CL_PROFILING_COMMAND_SUBMIT,
        CL_PROFILING_COMMAND_START,
        CL_PROFILING_COMMAND_END,
        CL_PROFILING_COMMAND_COMPLETE,
    ];
    names.map(|name| {
        let mut time = 0 as cl_ulong;
        let pointer = (&raw mut time).cast();
        assert_eq!(cl!(clGetEventProfilingInfo(event, name, 8, pointer, null_mut())), CL_SUCCESS);
        time
    })
}

fn host_time(setup: &Setup) -> cl_ulong {
    let (mut host, mut device, mut later) = (0, 0, 0);
    assert_eq!(cl!(clGetDeviceAndHostTimer(setup.device, &raw mut device, &raw mut host)), CL_SUCCESS);
    assert_eq!(cl!(clGetHostTimer(setup.device, &raw mut later)), CL_SUCCESS);
    assert!(host <= later && device.abs_diff(host) < 1_000_000, "{host} {device} {later}");
    device
}

#[test]
fn times_are_in_order_within_commands_between_queues_and_with_the_host() {
    // A GPU's times are converted; this is how far they may be off.
    const SLACK: cl_ulong = 50_000;
    let setup = set_up(CL_QUEUE_PROFILING_ENABLE);
    let mut code = 1;
    let properties = CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let other = cl!(clCreateCommandQueue(setup.context, setup.device, properties, &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    let program = setup.build(
        "__kernel void work(__global float *x, int n) {
            float y = x[get_global_id(0)];
            for (int i = 0; i < n; i++) y = y * 0.5f + 1;
            x[get_global_id(0)] = y;
        }",
    );
    let kernel = setup.kernel(program, "work");
    let buffer = setup.buffer(&[0f32; 256]);
    assert_eq!(set(kernel, 0, &buffer), CL_SUCCESS);
    let begin = host_time(&setup);
    let mut before = cl_event::NULL;
    let mut all = Vec::new();
    for round in 0..20 {
        assert_eq!(set(kernel, 1, &(if round % 3 == 0 { 20_000i32 } else { 10 })), CL_SUCCESS);
        let queue = if round % 2 == 0 { setup.queue } else { other };
        let (global, mut event) = (256usize, cl_event::NULL);
        let (count, list) = if round == 0 { (0, null()) } else { (1, &raw const before) };
        let code = cl!(clEnqueueNDRangeKernel(
            queue,
            kernel,
            1,
            null(),
            &raw const global,
            null(),
            count,
            list,
            &raw mut event
        ));
        assert_eq!(code, CL_SUCCESS);
        before = event;
        all.push(event);
    }
    assert_eq!(cl!(clWaitForEvents(1, &raw const before)), CL_SUCCESS);
    let end = host_time(&setup);
    let mut ended = begin;
    for (round, event) in all.into_iter().enumerate() {
        let [queued, submit, start, end, complete] = times(event);
        assert!(begin <= queued && queued <= submit && submit <= start && start <= end && end <= complete);
        assert!(
            start + SLACK >= ended,
            "command {round} began {} ns before the one that it waits for ended",
            ended - start
        );
        ended = end;
        assert_eq!(cl!(clReleaseEvent(event)), CL_SUCCESS);
    }
    assert!(ended <= end + SLACK, "the last command ended {} ns after the host saw it", ended - end);
    cl!(clReleaseCommandQueue(other));
    cl!(clReleaseMemObject(buffer));
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}
