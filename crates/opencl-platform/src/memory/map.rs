//! Mapping of memory objects: the memory itself where the host reaches it, else page-locked memory that is copied.

use super::rectangle::{Layout, Region, Side, copy_region};
use super::transfer::{HostMemory, check_host_reads, check_host_writes};
use super::{MemBody, check_context, resolve_buffer};
use crate::command::queue::{QueueBody, Wanted};
use crate::command::work::StreamCommand;
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::object::{Ref, resolve};
use rtcg_driver::{HostAllocFlags, HostAllocation, Stream};
use rtcg_opencl_sys::*;
use std::sync::Arc;

/// A part that the program has mapped.
pub(crate) struct Mapping {
    pointer: usize,
    /// Page-locked memory that stands for the object's, where the host does not reach that.
    staged: Option<Staged>,
}

struct Staged {
    staging: Arc<HostAllocation>,
    layout: Layout,
    region: Region,
    /// Whether the program may have written to it, so that it is copied back.
    is_written: bool,
}

/// Refuses flags of no map.
pub(crate) fn check_map_flags(flags: cl_map_flags) -> Result<()> {
    let known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    let invalidates = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    if flags & !known != 0 || flags == 0 || (invalidates && flags != CL_MAP_WRITE_INVALIDATE_REGION) {
        return ClError::value(format!(
            "map_flags: {flags:#x} has unknown bits, none, or bits that exclude each other"
        ));
    }
    Ok(())
}

/// Maps a region: `layout` says where it lies in the object. Returns where the program finds it, and its pitches there.
///
/// # Safety
/// The event of `wanted` is null or writable.
pub(crate) unsafe fn map_region(
    queue: &Ref<QueueBody>,
    memory: Ref<MemBody>,
    flags: cl_map_flags,
    layout: Layout,
    region: Region,
    command: cl_command_type,
    wanted: Wanted,
) -> Result<(*mut c_void, Layout)> {
    check_map_flags(flags)?;
    let invalidates = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    let writes = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0;
    if flags & CL_MAP_READ != 0 {
        check_host_reads(&memory)?;
    }
    if writes {
        check_host_writes(&memory)?;
    }
    if let Some(host) = memory.host_address() {
        let pointer = host.wrapping_byte_add(layout.offset);
        remember(&memory, Mapping { pointer: pointer as usize, staged: None });
        // SAFETY: the caller's promise; nothing is done.
        unsafe { QueueBody::enqueue(queue, command, wanted, StreamCommand(|_: &Stream| Ok(()))) }
            .inspect_err(|_| drop(forget(&memory, pointer as usize)))?;
        return Ok((pointer, layout));
    }
    let dense = Layout { offset: 0, row_pitch: region[0], slice_pitch: region[0] * region[1] };
    let staging = queue
        .device
        .cuda_context()?
        .with_current(|| HostAllocation::new(region.iter().product(), HostAllocFlags::PORTABLE));
    let staging = Arc::new(staging.map_err(|error| ClError::new(CL_MAP_FAILURE, error.to_string()))?);
    let pointer = staging.as_ptr();
    let staged = Some(Staged { staging: staging.clone(), layout, region, is_written: writes });
    remember(&memory, Mapping { pointer: pointer as usize, staged });
    let (mapped, from, to) = (memory.clone(), Side::Object(memory), Side::Host(HostMemory(pointer)));
    // SAFETY: the mapping keeps the page-locked memory until it is unmapped.
    unsafe {
        let copy = move |stream: &Stream| {
            let _kept = &staging;
            if invalidates {
                return Ok(());
            }
            copy_region((&from, layout), (&to, dense), region, stream)
        };
        QueueBody::enqueue(queue, command, wanted, StreamCommand(copy))
    }
    .inspect_err(|_| drop(forget(&mapped, pointer as usize)))?;
    Ok((pointer.cast(), dense))
}

/// Takes a mapping out of the list of its object.
fn forget(memory: &Ref<MemBody>, pointer: usize) -> Option<Mapping> {
    let mut maps = memory.maps.lock().expect("no panic while maps are listed");
    let index = maps.iter().position(|mapping| mapping.pointer == pointer)?;
    Some(maps.swap_remove(index))
}

fn remember(memory: &Ref<MemBody>, mapping: Mapping) {
    memory.maps.lock().expect("no panic while maps are listed").push(mapping);
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueMapBuffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_map: cl_bool,
    map_flags: cl_map_flags,
    offset: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
    errcode_ret: *mut cl_int,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, std::ptr::null_mut(), || {
            let queue = resolve::<QueueBody>(command_queue)?;
            let buffer = resolve_buffer(buffer, &queue.context)?;
            if size == 0 {
                return ClError::value("size is 0");
            }
            buffer.check_range("offset, size", offset, size)?;
            let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?.blocking(blocking_map);
            let layout = Layout { offset, row_pitch: size, slice_pitch: size };
            let mapped = map_region(&queue, buffer, map_flags, layout, [size, 1, 1], CL_COMMAND_MAP_BUFFER, wanted)?;
            Ok(mapped.0)
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueUnmapMemObject(
    command_queue: cl_command_queue,
    memobj: cl_mem,
    mapped_ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let memory = resolve::<MemBody>(memobj)?;
        check_context(&memory, &queue.context)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let Some(mapping) = forget(&memory, mapped_ptr as usize) else {
            return refuse(CL_INVALID_VALUE, format!("mapped_ptr: {mapped_ptr:?} is not mapped"));
        };
        let (is_staged, to) = (mapping.staged.is_some(), Side::Object(memory));
        let copy_back = move |stream: &Stream| {
            let Some(Staged { staging, layout, region, .. }) =
                mapping.staged.as_ref().filter(|staged| staged.is_written)
            else {
                return Ok(());
            };
            let dense = Layout { offset: 0, row_pitch: region[0], slice_pitch: region[0] * region[1] };
            let from = Side::Host(HostMemory(staging.as_ptr()));
            copy_region((&from, dense), (&to, *layout), *region, stream)
        };
        QueueBody::enqueue(&queue, CL_COMMAND_UNMAP_MEM_OBJECT, wanted, StreamCommand(copy_back))?;
        // Page-locked memory is scarce: it goes when the copy is done, not when there are many commands.
        if is_staged {
            queue.in_flight.reclaim();
        }
        Ok(())
    })
}
