//! Reading, writing, copying and filling of buffers.

use super::{MemBody, resolve_buffer};
use crate::command::queue::{QueueBody, Wanted};
use crate::command::work::StreamCommand;
use crate::error::{ClError, Result, code_of, refuse};
use crate::object::{Ref, resolve};
use rtcg_driver::memory::{
    memcpy_dtod_async, memcpy_dtoh_async, memcpy_htod_async, memset_d8_async, memset_d16_async, memset_d32_async,
};
use rtcg_driver::{CUdeviceptr, Stream};
use rtcg_opencl_sys::*;

/// Memory of the program's, which stays as long as the command runs: the program's promise.
#[derive(Clone, Copy)]
pub(crate) struct HostMemory(pub(crate) *mut u8);

// SAFETY: the address goes to the driver only.
unsafe impl Send for HostMemory {}

impl HostMemory {
    /// The address, taken as a whole so that closures hold the wrapper.
    pub(crate) fn address(self) -> *mut u8 {
        self.0
    }
}

/// Refuses what the flags say the host does not do.
fn check_host_access(buffer: &Ref<MemBody>, forbidden: cl_mem_flags, what: &str) -> Result<()> {
    if buffer.flags & (forbidden | CL_MEM_HOST_NO_ACCESS) != 0 {
        return refuse(
            CL_INVALID_OPERATION,
            format!("buffer: its flags {:#x} do not let the host {what}", buffer.flags),
        );
    }
    Ok(())
}

/// Refuses reading by the host where the flags exclude it.
pub(crate) fn check_host_reads(buffer: &Ref<MemBody>) -> Result<()> {
    check_host_access(buffer, CL_MEM_HOST_WRITE_ONLY, "read")
}

/// Refuses writing by the host where the flags exclude it.
pub(crate) fn check_host_writes(buffer: &Ref<MemBody>) -> Result<()> {
    check_host_access(buffer, CL_MEM_HOST_READ_ONLY, "write")
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueReadBuffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_read: cl_bool,
    offset: usize,
    size: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let buffer = resolve_buffer(buffer, &queue.context)?;
        buffer.check_range("offset, size", offset, size)?;
        if ptr.is_null() {
            return ClError::value("ptr is null");
        }
        check_host_reads(&buffer)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?.blocking(blocking_read);
        let to = HostMemory(ptr.cast());
        let work = move |stream: &Stream| {
            let from = buffer.address() + offset as CUdeviceptr;
            Ok(memcpy_dtoh_async(to.address(), from, size, Some(stream))?)
        };
        QueueBody::enqueue(&queue, CL_COMMAND_READ_BUFFER, wanted, StreamCommand(work))
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueWriteBuffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_write: cl_bool,
    offset: usize,
    size: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let buffer = resolve_buffer(buffer, &queue.context)?;
        buffer.check_range("offset, size", offset, size)?;
        if ptr.is_null() {
            return ClError::value("ptr is null");
        }
        check_host_writes(&buffer)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?.blocking(blocking_write);
        let from = HostMemory(ptr.cast_mut().cast());
        let work = move |stream: &Stream| {
            let to = buffer.address() + offset as CUdeviceptr;
            Ok(memcpy_htod_async(to, from.address(), size, Some(stream))?)
        };
        QueueBody::enqueue(&queue, CL_COMMAND_WRITE_BUFFER, wanted, StreamCommand(work))
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueCopyBuffer(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let (from, to) = (resolve_buffer(src_buffer, &queue.context)?, resolve_buffer(dst_buffer, &queue.context)?);
        from.check_range("src_offset, size", src_offset, size)?;
        to.check_range("dst_offset, size", dst_offset, size)?;
        let (source, target) = (from.address() + src_offset as CUdeviceptr, to.address() + dst_offset as CUdeviceptr);
        if source.abs_diff(target) < size as CUdeviceptr {
            return refuse(CL_MEM_COPY_OVERLAP, "src_offset, dst_offset: the regions overlap");
        }
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let work = move |stream: &Stream| {
            let _kept = (&from, &to);
            Ok(memcpy_dtod_async(target, source, size, Some(stream))?)
        };
        QueueBody::enqueue(&queue, CL_COMMAND_COPY_BUFFER, wanted, StreamCommand(work))
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueFillBuffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let buffer = resolve_buffer(buffer, &queue.context)?;
        buffer.check_range("offset, size", offset, size)?;
        let pattern = checked_pattern(pattern, pattern_size)?;
        if !offset.is_multiple_of(pattern.len()) || !size.is_multiple_of(pattern.len()) {
            return ClError::value(format!(
                "offset, size: {offset}, {size} are no multiples of the pattern's {}",
                pattern.len()
            ));
        }
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let work = move |stream: &Stream| fill(buffer.address() + offset as CUdeviceptr, &pattern, size, stream);
        QueueBody::enqueue(&queue, CL_COMMAND_FILL_BUFFER, wanted, StreamCommand(work))
    })
}

/// The bytes of a fill pattern.
///
/// # Safety
/// `pattern` is null or has `nbytes` bytes.
pub(crate) unsafe fn checked_pattern(pattern: *const c_void, nbytes: usize) -> Result<Vec<u8>> {
    if pattern.is_null() || !nbytes.is_power_of_two() || nbytes > 128 {
        return ClError::value(format!("pattern_size: {nbytes}, expected a power of two up to 128, and a pattern"));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pattern.cast::<u8>(), nbytes) }.to_vec())
}

/// Fills `nbytes` bytes with a pattern: the driver's memset up to 4 bytes, else the first pattern is doubled by copies.
///
/// # Safety
/// The memory is the device's, and lives until the stream has come so far.
pub(crate) unsafe fn fill(to: CUdeviceptr, pattern: &[u8], nbytes: usize, stream: &Stream) -> Result<()> {
    let count = nbytes / pattern.len();
    // SAFETY: the caller's promise.
    unsafe {
        match *pattern {
            _ if count == 0 => {}
            [byte] => memset_d8_async(to, byte, count, Some(stream))?,
            [a, b] => memset_d16_async(to, u16::from_le_bytes([a, b]), count, Some(stream))?,
            [a, b, c, d] => memset_d32_async(to, u32::from_le_bytes([a, b, c, d]), count, Some(stream))?,
            _ => {
                for (index, word) in pattern.as_chunks::<4>().0.iter().enumerate() {
                    memset_d32_async(to + 4 * index as CUdeviceptr, u32::from_le_bytes(*word), 1, Some(stream))?;
                }
                let mut filled = pattern.len();
                while filled < nbytes {
                    let more = filled.min(nbytes - filled);
                    memcpy_dtod_async(to + filled as CUdeviceptr, to, more, Some(stream))?;
                    filled += more;
                }
            }
        }
    }
    Ok(())
}

/// Memory is where all devices of the context reach it: there is nothing to move.
///
/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueMigrateMemObjects(
    command_queue: cl_command_queue,
    num_mem_objects: cl_uint,
    mem_objects: *const cl_mem,
    flags: cl_mem_migration_flags,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        if num_mem_objects == 0 || mem_objects.is_null() {
            return ClError::value("num_mem_objects: there is no memory object in the list");
        }
        if flags & !(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) != 0 {
            return ClError::value(format!("flags: {flags:#x} has unknown bits"));
        }
        for handle in std::slice::from_raw_parts(mem_objects, num_mem_objects as usize) {
            super::check_context(&resolve::<MemBody>(*handle)?, &queue.context)?;
        }
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        QueueBody::enqueue(&queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, wanted, StreamCommand(|_: &Stream| Ok(())))
    })
}
