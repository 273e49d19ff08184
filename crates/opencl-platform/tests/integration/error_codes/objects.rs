//! Queries, and the making of objects.

use super::{BIG, RGBA, Rows, World};
use crate::setup::Setup;
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};

pub(super) fn queries(rows: &mut Rows, world: &World) {
    let World { setup, buffer, image, program, kernel, done, user, .. } = world;
    let (mut value, mut count) = ([0u8; 8], 0);
    let (room, count) = (value.as_mut_ptr().cast(), &raw mut count);
    let mut platform = cl_platform_id::NULL;
    row!(rows, "no room and no count", CL_INVALID_VALUE, clGetPlatformIDs(0, null_mut(), null_mut()));
    row!(rows, "a list without entries", CL_INVALID_VALUE, clGetPlatformIDs(0, &raw mut platform, count));
    assert_eq!(cl!(clGetPlatformIDs(1, &raw mut platform, null_mut())), CL_SUCCESS);
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetPlatformInfo(platform, 1, 8, room, null_mut()));
    row!(rows, "too little room", CL_INVALID_VALUE, clGetPlatformInfo(platform, CL_PLATFORM_NAME, 1, room, null_mut()));
    let all = CL_DEVICE_TYPE_ALL;
    row!(rows, "unknown type", CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(platform, 1 << 20, 0, null_mut(), count));
    row!(rows, "no type", CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(platform, 0, 0, null_mut(), count));
    row!(
        rows,
        "no such device",
        CL_DEVICE_NOT_FOUND,
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 0, null_mut(), count)
    );
    row!(rows, "no room and no count", CL_INVALID_VALUE, clGetDeviceIDs(platform, all, 0, null_mut(), null_mut()));
    row!(rows, "a list without entries", CL_INVALID_VALUE, clGetDeviceIDs(platform, all, 0, room.cast(), null_mut()));
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetDeviceInfo(setup.device, 1, 8, room, null_mut()));
    row!(rows, "too little room", CL_INVALID_VALUE, clGetDeviceInfo(setup.device, CL_DEVICE_TYPE, 4, room, null_mut()));
    let partition: [cl_device_partition_property; 3] = [0x1086, 2, 0];
    let list = partition.as_ptr();
    row!(rows, "partition", CL_INVALID_VALUE, clCreateSubDevices(setup.device, list, 0, null_mut(), null_mut()));
    row!(rows, "null", CL_INVALID_VALUE, clGetHostTimer(setup.device, null_mut()));
    row!(rows, "null", CL_INVALID_VALUE, clGetDeviceAndHostTimer(setup.device, null_mut(), null_mut()));
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetContextInfo(setup.context, 1, 8, room, null_mut()));
    let name = CL_CONTEXT_DEVICES;
    row!(rows, "too little room", CL_INVALID_VALUE, clGetContextInfo(setup.context, name, 1, room, null_mut()));
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetCommandQueueInfo(setup.queue, 1, 8, room, null_mut()));
    row!(
        rows,
        "too little room",
        CL_INVALID_VALUE,
        clGetCommandQueueInfo(setup.queue, CL_QUEUE_CONTEXT, 4, room, null_mut())
    );
    let name = CL_QUEUE_SIZE;
    row!(rows, "of the host", CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(setup.queue, name, 8, room, null_mut()));
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetMemObjectInfo(*buffer, 1, 8, room, null_mut()));
    row!(rows, "too little room", CL_INVALID_VALUE, clGetMemObjectInfo(*buffer, CL_MEM_SIZE, 4, room, null_mut()));
    row!(rows, "a buffer", CL_INVALID_MEM_OBJECT, clGetImageInfo(*buffer, CL_IMAGE_WIDTH, 8, room, null_mut()));
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetImageInfo(*image, 1, 8, room, null_mut()));
    row!(rows, "too little room", CL_INVALID_VALUE, clGetImageInfo(*image, CL_IMAGE_WIDTH, 4, room, null_mut()));
    row!(rows, "a buffer", CL_INVALID_MEM_OBJECT, clGetPipeInfo(*buffer, 0x1120, 8, room, null_mut()));
    let kind = CL_MEM_OBJECT_IMAGE2D;
    row!(
        rows,
        "kind of a buffer",
        CL_INVALID_VALUE,
        clGetSupportedImageFormats(setup.context, 0, CL_MEM_OBJECT_BUFFER, 0, null_mut(), count)
    );
    row!(
        rows,
        "unknown flags",
        CL_INVALID_VALUE,
        clGetSupportedImageFormats(setup.context, 1 << 40, kind, 0, null_mut(), count)
    );
    row!(
        rows,
        "a list without entries",
        CL_INVALID_VALUE,
        clGetSupportedImageFormats(setup.context, 0, kind, 0, room.cast(), null_mut())
    );
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetProgramInfo(*program, 1, 8, room, null_mut()));
    row!(rows, "too little room", CL_INVALID_VALUE, clGetProgramInfo(*program, CL_PROGRAM_SOURCE, 8, room, null_mut()));
    row!(
        rows,
        "not built",
        CL_INVALID_PROGRAM_EXECUTABLE,
        clGetProgramInfo(world.unbuilt, CL_PROGRAM_NUM_KERNELS, 8, room, null_mut())
    );
    row!(
        rows,
        "not built",
        CL_INVALID_PROGRAM_EXECUTABLE,
        clGetProgramInfo(world.unbuilt, CL_PROGRAM_KERNEL_NAMES, 8, room, null_mut())
    );
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetProgramBuildInfo(*program, setup.device, 1, 8, room, null_mut()));
    row!(
        rows,
        "a device that is none",
        CL_INVALID_DEVICE,
        clGetProgramBuildInfo(*program, cl_device_id::NULL, CL_PROGRAM_BUILD_STATUS, 8, room, null_mut())
    );
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetKernelInfo(*kernel, 1, 8, room, null_mut()));
    row!(rows, "too little room", CL_INVALID_VALUE, clGetKernelInfo(*kernel, CL_KERNEL_NUM_ARGS, 2, room, null_mut()));
    let name = CL_KERNEL_ARG_NAME;
    row!(rows, "index", CL_INVALID_ARG_INDEX, clGetKernelArgInfo(*kernel, 4, name, 8, room, null_mut()));
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetKernelArgInfo(*kernel, 0, 1, 8, room, null_mut()));
    row!(rows, "too little room", CL_INVALID_VALUE, clGetKernelArgInfo(*kernel, 0, name, 1, room, null_mut()));
    row!(
        rows,
        "unknown name",
        CL_INVALID_VALUE,
        clGetKernelWorkGroupInfo(*kernel, setup.device, 1, 8, room, null_mut())
    );
    row!(
        rows,
        "no built-in kernel",
        CL_INVALID_VALUE,
        clGetKernelWorkGroupInfo(*kernel, setup.device, CL_KERNEL_GLOBAL_WORK_SIZE, 24, room, null_mut())
    );
    row!(
        rows,
        "too little room",
        CL_INVALID_VALUE,
        clGetKernelWorkGroupInfo(*kernel, setup.device, CL_KERNEL_WORK_GROUP_SIZE, 4, room, null_mut())
    );
    row!(
        rows,
        "no input",
        CL_INVALID_VALUE,
        clGetKernelSubGroupInfo(*kernel, setup.device, 0x2033, 0, null(), 8, room, null_mut())
    );
    row!(
        rows,
        "unknown name",
        CL_INVALID_VALUE,
        clGetKernelSubGroupInfo(*kernel, setup.device, 1, 0, null(), 8, room, null_mut())
    );
    row!(rows, "unknown name", CL_INVALID_VALUE, clGetEventInfo(*done, 1, 8, room, null_mut()));
    row!(rows, "too little room", CL_INVALID_VALUE, clGetEventInfo(*done, CL_EVENT_CONTEXT, 4, room, null_mut()));
    let name = CL_PROFILING_COMMAND_END;
    row!(
        rows,
        "no profiling",
        CL_PROFILING_INFO_NOT_AVAILABLE,
        clGetEventProfilingInfo(*done, name, 8, room, null_mut())
    );
    row!(
        rows,
        "a user event",
        CL_PROFILING_INFO_NOT_AVAILABLE,
        clGetEventProfilingInfo(*user, name, 8, room, null_mut())
    );
}

pub(super) fn creation(rows: &mut Rows, world: &World) {
    let World { setup, buffer, image, .. } = world;
    let Setup { device, context, .. } = *setup;
    let (host, devices) = (world.pointer(), &raw const device);
    let none = null::<cl_context_properties>();
    object_row!(rows, "no device", CL_INVALID_VALUE, clCreateContext(none, 0, null(), None, null_mut()));
    object_row!(rows, "no list", CL_INVALID_VALUE, clCreateContext(none, 1, null(), None, null_mut()));
    object_row!(rows, "data without a function", CL_INVALID_VALUE, clCreateContext(none, 1, devices, None, host));
    let null_device = cl_device_id::NULL;
    object_row!(
        rows,
        "null device",
        CL_INVALID_DEVICE,
        clCreateContext(none, 1, &raw const null_device, None, null_mut())
    );
    let unknown: [cl_context_properties; 3] = [0x9999, 1, 0];
    object_row!(rows, "property", CL_INVALID_PROPERTY, clCreateContext(unknown.as_ptr(), 1, devices, None, null_mut()));
    let wrong: [cl_context_properties; 3] = [CL_CONTEXT_PLATFORM, context.0.addr() as isize, 0];
    object_row!(rows, "platform", CL_INVALID_PLATFORM, clCreateContext(wrong.as_ptr(), 1, devices, None, null_mut()));
    let no_platform: [cl_context_properties; 3] = [CL_CONTEXT_PLATFORM, 0, 0];
    object_row!(
        rows,
        "null platform",
        CL_INVALID_PLATFORM,
        clCreateContext(no_platform.as_ptr(), 1, devices, None, null_mut())
    );
    let twice: [cl_context_properties; 5] = [CL_CONTEXT_INTEROP_USER_SYNC, 0, CL_CONTEXT_INTEROP_USER_SYNC, 0, 0];
    object_row!(
        rows,
        "property twice",
        CL_INVALID_PROPERTY,
        clCreateContext(twice.as_ptr(), 1, devices, None, null_mut())
    );
    let types = [(1 << 30, "type"), (CL_DEVICE_TYPE_ACCELERATOR, "none")].map(|(kind, _)| kind);
    object_row!(rows, "type", CL_INVALID_DEVICE_TYPE, clCreateContextFromType(none, types[0], None, null_mut()));
    object_row!(rows, "no such device", CL_DEVICE_NOT_FOUND, clCreateContextFromType(none, types[1], None, null_mut()));
    object_row!(rows, "data alone", CL_INVALID_VALUE, clCreateContextFromType(none, CL_DEVICE_TYPE_GPU, None, host));
    row!(rows, "no function", CL_INVALID_VALUE, clSetContextDestructorCallback(context, None, null_mut()));

    object_row!(rows, "null device", CL_INVALID_DEVICE, clCreateCommandQueue(context, null_device, 0));
    object_row!(rows, "unknown bits", CL_INVALID_VALUE, clCreateCommandQueue(context, device, 1 << 20));
    object_row!(
        rows,
        "on the device",
        CL_INVALID_QUEUE_PROPERTIES,
        clCreateCommandQueue(context, device, CL_QUEUE_ON_DEVICE)
    );
    let queue_list: [cl_queue_properties; 3] = [0x9999, 0, 0];
    let list = queue_list.as_ptr();
    object_row!(rows, "property", CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, list));
    let size_list: [cl_queue_properties; 3] = [CL_QUEUE_SIZE.into(), 1024, 0];
    let list = size_list.as_ptr();
    object_row!(rows, "a size", CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, list));
    row!(rows, "later", CL_INVALID_OPERATION, clSetCommandQueueProperty(setup.queue, 1, CL_TRUE, null_mut()));
    row!(rows, "on the device", CL_INVALID_OPERATION, clSetDefaultDeviceCommandQueue(context, device, setup.queue));

    object_row!(rows, "no size", CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, 0, null_mut()));
    object_row!(rows, "too large", CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, BIG, null_mut()));
    object_row!(rows, "unknown flags", CL_INVALID_VALUE, clCreateBuffer(context, 1 << 30, 64, null_mut()));
    let both = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    object_row!(rows, "two kinds of access", CL_INVALID_VALUE, clCreateBuffer(context, both, 64, null_mut()));
    let both = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    object_row!(rows, "two kinds of host access", CL_INVALID_VALUE, clCreateBuffer(context, both, 64, null_mut()));
    let both = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    object_row!(rows, "used and copied", CL_INVALID_VALUE, clCreateBuffer(context, both, 64, host));
    object_row!(rows, "no pointer", CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 64, null_mut()));
    object_row!(rows, "no pointer", CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 64, null_mut()));
    object_row!(rows, "a pointer alone", CL_INVALID_HOST_PTR, clCreateBuffer(context, 0, 64, host));
    let list: [cl_mem_properties; 3] = [5, 1, 0];
    let list = list.as_ptr();
    object_row!(rows, "property", CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, list, 0, 64, null_mut()));
    let region = |origin, size| cl_buffer_region { origin, size };
    let kind = CL_BUFFER_CREATE_TYPE_REGION;
    let at = |region: &cl_buffer_region| (&raw const *region).cast::<c_void>();
    object_row!(rows, "no region", CL_INVALID_VALUE, clCreateSubBuffer(*buffer, 0, kind, null()));
    object_row!(rows, "kind", CL_INVALID_VALUE, clCreateSubBuffer(*buffer, 0, 1, at(&region(0, 64))));
    object_row!(rows, "no size", CL_INVALID_BUFFER_SIZE, clCreateSubBuffer(*buffer, 0, kind, at(&region(0, 0))));
    object_row!(rows, "too long", CL_INVALID_VALUE, clCreateSubBuffer(*buffer, 0, kind, at(&region(512, 513))));
    object_row!(rows, "beyond size_t", CL_INVALID_VALUE, clCreateSubBuffer(*buffer, 0, kind, at(&region(BIG, 2))));
    object_row!(
        rows,
        "origin",
        CL_MISALIGNED_SUB_BUFFER_OFFSET,
        clCreateSubBuffer(*buffer, 0, kind, at(&region(4, 64)))
    );
    object_row!(rows, "a part", CL_INVALID_MEM_OBJECT, clCreateSubBuffer(world.part, 0, kind, at(&region(0, 64))));
    object_row!(rows, "an image", CL_INVALID_MEM_OBJECT, clCreateSubBuffer(*image, 0, kind, at(&region(0, 64))));
    let uses = CL_MEM_USE_HOST_PTR;
    object_row!(rows, "host pointer", CL_INVALID_VALUE, clCreateSubBuffer(*buffer, uses, kind, at(&region(0, 64))));
    row!(rows, "no function", CL_INVALID_VALUE, clSetMemObjectDestructorCallback(*buffer, None, null_mut()));

    let (clamp, nearest) = (CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
    object_row!(rows, "addressing", CL_INVALID_VALUE, clCreateSampler(context, CL_TRUE, 1, nearest));
    object_row!(rows, "filter", CL_INVALID_VALUE, clCreateSampler(context, CL_TRUE, clamp, 1));
    object_row!(
        rows,
        "repeats pixels",
        CL_INVALID_VALUE,
        clCreateSampler(context, CL_FALSE, CL_ADDRESS_REPEAT, nearest)
    );
    let list: [cl_sampler_properties; 3] = [1, 1, 0];
    object_row!(rows, "property", CL_INVALID_VALUE, clCreateSamplerWithProperties(context, list.as_ptr()));
    object_row!(rows, "optional", CL_INVALID_OPERATION, clCreatePipe(context, 0, 4, 4, null()));
    object_row!(rows, "optional", CL_INVALID_OPERATION, clCreateProgramWithIL(context, host, 4));
    object_row!(rows, "no text", CL_INVALID_VALUE, clCreateProgramWithSource(context, 0, null_mut(), null()));
    let mut text = null();
    object_row!(rows, "null text", CL_INVALID_VALUE, clCreateProgramWithSource(context, 1, &raw mut text, null()));
}

pub(super) fn images(rows: &mut Rows, world: &World) {
    let context = world.setup.context;
    let format = &raw const RGBA;
    let desc = |kind, width, height, depth, row| cl_image_desc {
        image_type: kind,
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: 1,
        image_row_pitch: row,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        mem_object: cl_mem::NULL,
    };
    let flat = desc(CL_MEM_OBJECT_IMAGE2D, 8, 8, 1, 0);
    let (host, none) = (world.pointer(), null_mut());
    object_row!(
        rows,
        "no format",
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
        clCreateImage(context, 0, null(), &raw const flat, none)
    );
    object_row!(rows, "no description", CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, format, null(), none));
    object_row!(
        rows,
        "unknown flags",
        CL_INVALID_VALUE,
        clCreateImage(context, 1 << 40, format, &raw const flat, none)
    );
    object_row!(rows, "a pointer alone", CL_INVALID_HOST_PTR, clCreateImage(context, 0, format, &raw const flat, host));
    let wrong = cl_image_format { image_channel_order: 1, image_channel_data_type: CL_FLOAT };
    object_row!(
        rows,
        "order",
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
        clCreateImage(context, 0, &raw const wrong, &raw const flat, none)
    );
    let rare = cl_image_format { image_channel_order: CL_RGB, image_channel_data_type: CL_FLOAT };
    object_row!(
        rows,
        "format",
        CL_IMAGE_FORMAT_NOT_SUPPORTED,
        clCreateImage(context, 0, &raw const rare, &raw const flat, none)
    );
    let buffer = desc(CL_MEM_OBJECT_BUFFER, 8, 8, 1, 0);
    object_row!(rows, "kind", CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, format, &raw const buffer, none));
    let empty = desc(CL_MEM_OBJECT_IMAGE2D, 8, 0, 1, 0);
    object_row!(rows, "no height", CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, format, &raw const empty, none));
    let wide = desc(CL_MEM_OBJECT_IMAGE2D, BIG, 8, 1, 0);
    object_row!(rows, "width", CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, format, &raw const wide, none));
    let pitch = desc(CL_MEM_OBJECT_IMAGE2D, 8, 8, 1, 64);
    object_row!(
        rows,
        "a pitch alone",
        CL_INVALID_IMAGE_DESCRIPTOR,
        clCreateImage(context, 0, format, &raw const pitch, none)
    );
    let (copies, short) = (CL_MEM_COPY_HOST_PTR, desc(CL_MEM_OBJECT_IMAGE2D, 8, 8, 1, 28));
    object_row!(
        rows,
        "a short pitch",
        CL_INVALID_IMAGE_DESCRIPTOR,
        clCreateImage(context, copies, format, &raw const short, host)
    );
    let far = desc(CL_MEM_OBJECT_IMAGE2D, 8, 8, 1, BIG & !3);
    object_row!(
        rows,
        "pitches beyond size_t",
        CL_INVALID_IMAGE_DESCRIPTOR,
        clCreateImage(context, copies, format, &raw const far, host)
    );
    let deep = cl_image_desc { image_slice_pitch: BIG / 2, ..desc(CL_MEM_OBJECT_IMAGE3D, 8, 8, 8, 32) };
    object_row!(
        rows,
        "slices beyond size_t",
        CL_INVALID_IMAGE_DESCRIPTOR,
        clCreateImage(context, copies, format, &raw const deep, host)
    );
    let of_buffer = cl_image_desc { mem_object: world.buffer, ..desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, 257, 1, 1, 0) };
    object_row!(
        rows,
        "larger than its buffer",
        CL_INVALID_IMAGE_SIZE,
        clCreateImage(context, 0, format, &raw const of_buffer, none)
    );
    let of_none = desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, 8, 1, 1, 0);
    object_row!(
        rows,
        "no buffer",
        CL_INVALID_IMAGE_DESCRIPTOR,
        clCreateImage(context, 0, format, &raw const of_none, none)
    );
    let list: [cl_mem_properties; 3] = [5, 1, 0];
    let list = list.as_ptr();
    object_row!(
        rows,
        "property",
        CL_INVALID_PROPERTY,
        clCreateImageWithProperties(context, list, 0, format, &raw const flat, none)
    );
    object_row!(rows, "no width", CL_INVALID_IMAGE_SIZE, clCreateImage2D(context, 0, format, 0, 8, 0, none));
    object_row!(rows, "no depth", CL_INVALID_IMAGE_SIZE, clCreateImage3D(context, 0, format, 8, 8, 0, 0, 0, none));
}
