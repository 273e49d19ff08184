//! The functions of queues, and those of commands without work.

use crate::command::queue::{QueueBody, Wanted};
use crate::command::work::StreamCommand;
use crate::context::{ContextBody, property_list};
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::info::{Answer, info_function};
use crate::object::{Ref, release, resolve, retain};
use crate::platform::device::DeviceBody;
use rtcg_opencl_sys::*;

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateCommandQueueWithProperties(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
    errcode_ret: *mut cl_int,
) -> cl_command_queue {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_command_queue::NULL, || {
            let (context, device) = (resolve::<ContextBody>(context)?, resolve::<DeviceBody>(device)?);
            let list = property_list(properties);
            let mut flags = 0;
            for pair in list.chunks_exact(2) {
                match pair[0] {
                    name if name == cl_queue_properties::from(CL_QUEUE_PROPERTIES) => flags = pair[1],
                    other => return ClError::value(format!("properties: {other:#x} is none of a queue")),
                }
            }
            QueueBody::create(context, device, flags, list)
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateCommandQueue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    errcode_ret: *mut cl_int,
) -> cl_command_queue {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_command_queue::NULL, || {
            QueueBody::create(resolve(context)?, resolve(device)?, properties, Vec::new())
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clRetainCommandQueue(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { retain::<QueueBody>(command_queue) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clReleaseCommandQueue(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { release::<QueueBody>(command_queue) })
}

info_function!(clGetCommandQueueInfo(cl_command_queue, cl_command_queue_info) of QueueBody = command_queue_info);

fn command_queue_info(queue: &Ref<QueueBody>, param_name: cl_command_queue_info, answer: Answer) -> Result<()> {
    match param_name {
        CL_QUEUE_CONTEXT => answer.plain(queue.context.handle()),
        CL_QUEUE_DEVICE => answer.plain(queue.device.handle()),
        CL_QUEUE_REFERENCE_COUNT => answer.plain(queue.user_count()),
        CL_QUEUE_PROPERTIES => answer.plain(queue.properties),
        CL_QUEUE_PROPERTIES_ARRAY => answer.slice(&queue.property_list),
        CL_QUEUE_DEVICE_DEFAULT => answer.plain(cl_command_queue::NULL),
        CL_QUEUE_SIZE => refuse(CL_INVALID_COMMAND_QUEUE, "param_name: only queues on a device have a size"),
        _ => answer.unknown("command queue", param_name),
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetCommandQueueProperty(
    command_queue: cl_command_queue,
    _properties: cl_command_queue_properties,
    _enable: cl_bool,
    _old_properties: *mut cl_command_queue_properties,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<QueueBody>(command_queue) }?;
        refuse(CL_INVALID_OPERATION, "properties of a queue are given when it is made, since OpenCL 1.1")
    })
}

/// Commands are submitted when they can be; nothing is held back.
///
/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clFlush(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { resolve::<QueueBody>(command_queue) }.map(drop))
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clFinish(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { resolve::<QueueBody>(command_queue) }?.finish())
}

/// # Safety
/// As the specification of OpenCL says.
unsafe fn enqueue_nothing(
    command_queue: cl_command_queue,
    command: cl_command_type,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        QueueBody::enqueue(&queue, command, wanted, StreamCommand(|_: &_| Ok(())))
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueMarkerWithWaitList(
    command_queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_MARKER, num_events_in_wait_list, event_wait_list, event) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueBarrierWithWaitList(
    command_queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_BARRIER, num_events_in_wait_list, event_wait_list, event) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueMarker(command_queue: cl_command_queue, event: *mut cl_event) -> cl_int {
    if event.is_null() {
        return code_of(|| {
            // SAFETY: the caller's promise.
            unsafe { resolve::<QueueBody>(command_queue) }?;
            ClError::value("event is null")
        });
    }
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_MARKER, 0, std::ptr::null(), event) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueBarrier(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_BARRIER, 0, std::ptr::null(), std::ptr::null_mut()) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueWaitForEvents(
    command_queue: cl_command_queue,
    num_events: cl_uint,
    event_list: *const cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_BARRIER, num_events, event_list, std::ptr::null_mut()) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetDefaultDeviceCommandQueue(
    context: cl_context,
    device: cl_device_id,
    command_queue: cl_command_queue,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe {
            resolve::<ContextBody>(context)?;
            resolve::<DeviceBody>(device)?;
            resolve::<QueueBody>(command_queue)?;
        }
        refuse(CL_INVALID_OPERATION, "devices of this platform have no queues of their own")
    })
}
