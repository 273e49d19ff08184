//! Several devices in one context: buffers go where their commands are, events order them, errors name the device.

use crate::random::{Random, first_seed};
use crate::setup::{Setup, set, set_up};
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};

const N: usize = 1024;
const BYTES: usize = 4 * N;

/// A context with all devices, a queue on each, and a [`Setup`] on the first.
struct Devices {
    list: Vec<cl_device_id>,
    queues: Vec<cl_command_queue>,
    setup: Setup,
}

impl Devices {
    fn new(count: usize) -> Self {
        let mut platform = cl_platform_id::NULL;
        assert_eq!(cl!(clGetPlatformIDs(1, &raw mut platform, null_mut())), CL_SUCCESS);
        let (mut list, mut found) = (vec![cl_device_id::NULL; count], 0);
        let (all, pointer) = (CL_DEVICE_TYPE_ALL, list.as_mut_ptr());
        assert_eq!(cl!(clGetDeviceIDs(platform, all, count as cl_uint, pointer, &raw mut found)), CL_SUCCESS);
        assert_eq!(found as usize, count);
        let mut code = 1;
        let devices = list.as_ptr();
        let context = cl!(clCreateContext(null(), count as cl_uint, devices, None, null_mut(), &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        let queues: Vec<_> = list
            .iter()
            .enumerate()
            .map(|(index, device)| {
                let properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE * (index as u64 % 2);
                let queue = cl!(clCreateCommandQueue(context, *device, properties, &raw mut code));
                assert_eq!(code, CL_SUCCESS);
                queue
            })
            .collect();
        assert_eq!(cl!(clRetainCommandQueue(queues[0])), CL_SUCCESS);
        let setup = Setup { device: list[0], context, queue: queues[0] };
        Self { list, queues, setup }
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        for queue in &self.queues {
            assert_eq!(cl!(clReleaseCommandQueue(*queue)), CL_SUCCESS);
        }
    }
}

const SOURCE: &str = "__kernel void step(__global uint *x, __global const uint *y, uint a) {
    size_t i = get_global_id(0);
    x[i] = x[i] * 5 + y[i] + a;
}";

/// Random launches and copies, each on a random device behind the one before.
fn work_on_all(count: usize) {
    let devices = Devices::new(count);
    let setup = &devices.setup;
    let program = setup.build(SOURCE);
    let kernel = setup.kernel(program, "step");
    let mut random = Random::new(first_seed());
    let mut models: Vec<Vec<u32>> = (0..3).map(|_| (0..N).map(|_| random.next() as u32).collect()).collect();
    let buffers: Vec<cl_mem> = models.iter().map(|model| setup.buffer(model)).collect();
    let mut last = cl_event::NULL;
    for _ in 0..300 {
        let queue = devices.queues[random.below(count)];
        let (x, y) = (random.below(3), random.below(3));
        let (n, list) = if last.is_null() { (0, null()) } else { (1, &raw const last) };
        let mut event = cl_event::NULL;
        let at = &raw mut event;
        let code = match random.below(6) {
            0 if x != y => {
                models[y] = models[x].clone();
                cl!(clEnqueueCopyBuffer(queue, buffers[x], buffers[y], 0, 0, BYTES, n, list, at))
            }
            1 => cl!(clEnqueueMigrateMemObjects(queue, 3, buffers.as_ptr(), 0, n, list, at)),
            2 => {
                let mut found = vec![0u32; N];
                let pointer = found.as_mut_ptr().cast();
                let code = cl!(clEnqueueReadBuffer(queue, buffers[x], CL_TRUE, 0, BYTES, pointer, n, list, at));
                assert_eq!(found, models[x]);
                code
            }
            _ => {
                let a = random.next() as u32;
                for code in [set(kernel, 0, &buffers[x]), set(kernel, 1, &buffers[y]), set(kernel, 2, &a)] {
                    assert_eq!(code, CL_SUCCESS);
                }
                let other = models[y].clone();
                for (element, y) in models[x].iter_mut().zip(other) {
                    *element = element.wrapping_mul(5).wrapping_add(y).wrapping_add(a);
                }
                let global = &raw const N_ITEMS;
                cl!(clEnqueueNDRangeKernel(queue, kernel, 1, null(), global, null(), n, list, at))
            }
        };
        assert_eq!(code, CL_SUCCESS);
        if !last.is_null() {
            assert_eq!(cl!(clReleaseEvent(last)), CL_SUCCESS);
        }
        last = event;
    }
    assert_eq!(cl!(clWaitForEvents(1, &raw const last)), CL_SUCCESS);
    assert_eq!(cl!(clReleaseEvent(last)), CL_SUCCESS);
    for (buffer, model) in buffers.into_iter().zip(&models) {
        assert_eq!(setup.read::<u32>(buffer, N), *model);
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
    }
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

static N_ITEMS: usize = N;

#[test]
fn two_devices_work_on_the_same_buffers() {
    own_process!("RTCG_VIRTUAL_DEVICES" = "2");
    work_on_all(2);
}

#[test]
fn four_devices_work_on_the_same_buffers() {
    own_process!("RTCG_VIRTUAL_DEVICES" = "4");
    work_on_all(4);
}

#[test]
fn devices_that_something_was_not_made_for_are_refused() {
    own_process!("RTCG_VIRTUAL_DEVICES" = "2");
    let devices = Devices::new(2);
    let both = &devices.setup;
    let second = devices.list[1];
    // A context with the first device only.
    let alone = set_up(0);
    let mut code = 1;
    assert!(cl!(clCreateCommandQueue(alone.context, second, 0, &raw mut code)).is_null());
    assert_eq!(code, CL_INVALID_DEVICE);
    // A program for the first device only, in the context of both.
    let built = both.build(SOURCE);
    let mut size = [0usize; 2];
    let pointer = size.as_mut_ptr().cast();
    assert_eq!(cl!(clGetProgramInfo(built, CL_PROGRAM_BINARY_SIZES, 16, pointer, null_mut())), CL_SUCCESS);
    let mut binary = vec![0u8; size[0]];
    let mut list = [binary.as_mut_ptr(), null_mut()];
    let pointer = list.as_mut_ptr().cast();
    assert_eq!(cl!(clGetProgramInfo(built, CL_PROGRAM_BINARIES, 16, pointer, null_mut())), CL_SUCCESS);
    let (first, mut bytes) = (devices.list[0], binary.as_ptr());
    let (first, bytes) = (&raw const first, &raw mut bytes);
    let of_first =
        cl!(clCreateProgramWithBinary(both.context, 1, first, size.as_ptr(), bytes, null_mut(), &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(cl!(clBuildProgram(of_first, 0, null(), null(), None, null_mut())), CL_SUCCESS);
    assert_eq!(cl!(clBuildProgram(of_first, 1, &raw const second, null(), None, null_mut())), CL_INVALID_DEVICE);
    let kernel = both.kernel(of_first, "step");
    let buffer = both.buffer(&[1u32; N]);
    for code in [set(kernel, 0, &buffer), set(kernel, 1, &buffer), set(kernel, 2, &0u32)] {
        assert_eq!(code, CL_SUCCESS);
    }
    let launch = |queue| {
        let global = &raw const N_ITEMS;
        cl!(clEnqueueNDRangeKernel(queue, kernel, 1, null(), global, null(), 0, null(), null_mut()))
    };
    assert_eq!(launch(devices.queues[1]), CL_INVALID_PROGRAM_EXECUTABLE);
    assert_eq!(launch(devices.queues[0]), CL_SUCCESS);
    let mut value = [0usize; 3];
    let (name, room) = (CL_KERNEL_WORK_GROUP_SIZE, value.as_mut_ptr().cast());
    let none = cl_device_id::NULL;
    assert_eq!(cl!(clGetKernelWorkGroupInfo(kernel, second, name, 8, room, null_mut())), CL_INVALID_DEVICE);
    assert_eq!(cl!(clGetKernelWorkGroupInfo(kernel, none, name, 8, room, null_mut())), CL_SUCCESS);
    // With several devices there is no one that is meant.
    let of_both = both.kernel(built, "step");
    assert_eq!(cl!(clGetKernelWorkGroupInfo(of_both, none, name, 8, room, null_mut())), CL_INVALID_DEVICE);
    assert_eq!(cl!(clGetKernelWorkGroupInfo(of_both, second, name, 8, room, null_mut())), CL_SUCCESS);
    // Devices have no parts.
    let equally: [cl_device_partition_property; 3] = [0x1086, 1, 0];
    let mut count = 9;
    let code = cl!(clCreateSubDevices(second, equally.as_ptr(), 0, null_mut(), &raw mut count));
    assert_eq!(code, CL_INVALID_VALUE);
    for kernel in [kernel, of_both] {
        cl!(clReleaseKernel(kernel));
    }
    for program in [built, of_first] {
        cl!(clReleaseProgram(program));
    }
    cl!(clReleaseMemObject(buffer));
}
