//! Shared virtual memory: managed memory, which host and devices reach at one address.

use super::map::check_map_flags;
use super::transfer::{HostMemory, checked_pattern, fill};
use crate::command::queue::{QueueBody, Wanted};
use crate::command::work::StreamCommand;
use crate::context::{ContextBody, UserData};
use crate::error::{ClError, Result, code_of, refuse};
use crate::object::{Ref, resolve};
use crate::platform::managed::CappedAllocation;
use rtcg_driver::memory::{memcpy_dtod_async, memcpy_dtoh_async, memcpy_htod_async, pointer_attribute_u64};
use rtcg_driver::sys::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
use rtcg_driver::{CUdeviceptr, Stream, lock_ignoring_poison};
use rtcg_opencl_sys::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// Allocations by address, of all contexts.
static ALLOCATIONS: Mutex<BTreeMap<usize, CappedAllocation>> = Mutex::new(BTreeMap::new());

fn allocations() -> MutexGuard<'static, BTreeMap<usize, CappedAllocation>> {
    lock_ignoring_poison(&ALLOCATIONS)
}

/// Alignment of managed memory.
const ALIGNMENT: cl_uint = 256;

fn allocate(
    context: &Ref<ContextBody>,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    let known = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY | CL_MEM_SVM_FINE_GRAIN_BUFFER;
    let access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
    if flags & !known != 0 || (flags & access).count_ones() > 1 {
        return ClError::value(format!("flags: {flags:#x}; fine-grain atomics and other bits are not offered"));
    }
    if size == 0 || alignment > ALIGNMENT || (alignment != 0 && !alignment.is_power_of_two()) {
        return ClError::value(format!("size, alignment: {size}, {alignment}"));
    }
    let is_fine = flags & CL_MEM_SVM_FINE_GRAIN_BUFFER != 0;
    if is_fine && !context.devices.iter().all(|device| device.shares_memory_finely()) {
        return refuse(CL_INVALID_OPERATION, "flags: a device of the context has no fine-grained shared memory");
    }
    let memory = CappedAllocation::new(context.first_device(), size)?;
    let address = memory.address() as usize;
    allocations().insert(address, memory);
    Ok(address as *mut c_void)
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSVMAlloc(
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    let mut address = std::ptr::null_mut();
    code_of(|| {
        // SAFETY: the caller's promise.
        address = allocate(&unsafe { resolve::<ContextBody>(context) }?, flags, size, alignment)?;
        Ok(())
    });
    address
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSVMFree(_context: cl_context, svm_pointer: *mut c_void) {
    free(svm_pointer as usize);
}

/// Whether bytes are within one allocation.
pub(crate) fn is_allocated(address: usize, nbytes: usize) -> bool {
    allocations().range(..=address).next_back().is_some_and(|(start, memory)| {
        let left = (start + memory.nbytes()).checked_sub(address);
        left.is_some_and(|left| nbytes <= left)
    })
}

/// Whether an address is in an allocation, or at its end, where an array without elements may be.
pub(crate) fn is_pointer(address: usize) -> bool {
    is_allocated(address, 0)
}

/// Frees an allocation. What waits for the device does so without the lock.
fn free(address: usize) {
    let freed = allocations().remove(&address);
    drop(freed);
}

/// A handle of the user's, handed back as it is.
struct SameHandle(cl_command_queue);

// SAFETY: the handle is only handed back.
unsafe impl Send for SameHandle {}

/// Pointers of the user's list.
struct Pointers(Vec<usize>);

type FreeFunction = unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void);

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueSVMFree(
    command_queue: cl_command_queue,
    num_svm_pointers: cl_uint,
    svm_pointers: *mut *mut c_void,
    pfn_free_func: Option<FreeFunction>,
    user_data: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        if svm_pointers.is_null() != (num_svm_pointers == 0) {
            return ClError::value(format!("num_svm_pointers: {num_svm_pointers}, and svm_pointers says another"));
        }
        let list = match num_svm_pointers {
            0 => Vec::new(),
            count => std::slice::from_raw_parts(svm_pointers, count as usize).iter().map(|p| *p as usize).collect(),
        };
        let (pointers, user_data) = (Pointers(list), UserData(user_data));
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let queue_handle = SameHandle(command_queue);
        // The context and the queue live until the command has run.
        QueueBody::enqueue_host(&queue, CL_COMMAND_SVM_FREE, wanted, move || {
            let (Pointers(list), user_data, SameHandle(queue)) = (pointers, user_data, queue_handle);
            match pfn_free_func {
                Some(function) => {
                    let mut list: Vec<*mut c_void> = list.iter().map(|address| *address as *mut c_void).collect();
                    function(queue, list.len() as cl_uint, list.as_mut_ptr(), user_data.0);
                }
                None => list.iter().for_each(|address| free(*address)),
            }
        })
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueSVMMemcpy(
    command_queue: cl_command_queue,
    blocking_copy: cl_bool,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        if dst_ptr.is_null() || src_ptr.is_null() {
            return ClError::value("dst_ptr or src_ptr is null");
        }
        if (dst_ptr as usize).abs_diff(src_ptr as usize) < size {
            return refuse(CL_MEM_COPY_OVERLAP, "dst_ptr, src_ptr: the regions overlap");
        }
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?.blocking(blocking_copy);
        let (to, from) = (HostMemory(dst_ptr.cast()), HostMemory(src_ptr.cast_mut().cast()));
        let (target, source) = (dst_ptr as CUdeviceptr, src_ptr as CUdeviceptr);
        let known: Result<_> =
            queue.device.cuda_context()?.with_current(|| Ok((is_known_to_driver(target), is_known_to_driver(source))));
        let known = known?;
        if known == (false, false) {
            // The program's own memory on both sides.
            return QueueBody::enqueue_host(&queue, CL_COMMAND_SVM_MEMCPY, wanted, move || {
                std::ptr::copy_nonoverlapping(from.address(), to.address(), size);
            });
        }
        let work = move |stream: &Stream| {
            match known {
                (true, true) => memcpy_dtod_async(target, source, size, Some(stream))?,
                (false, _) => memcpy_dtoh_async(to.address(), source, size, Some(stream))?,
                (true, false) => memcpy_htod_async(target, from.address(), size, Some(stream))?,
            }
            Ok(())
        };
        QueueBody::enqueue(&queue, CL_COMMAND_SVM_MEMCPY, wanted, StreamCommand(work))
    })
}

/// Whether the driver made or registered this memory; the rest is the program's own.
fn is_known_to_driver(address: CUdeviceptr) -> bool {
    pointer_attribute_u64(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address).is_ok()
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueSVMMemFill(
    command_queue: cl_command_queue,
    svm_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let pattern = checked_pattern(pattern, pattern_size)?;
        if svm_ptr.is_null() || !(svm_ptr as usize).is_multiple_of(pattern.len()) || !size.is_multiple_of(pattern.len())
        {
            return ClError::value(format!(
                "svm_ptr, size: no multiples of the pattern's {} bytes, or null",
                pattern.len()
            ));
        }
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let address = svm_ptr as CUdeviceptr;
        let work = move |stream: &Stream| fill(address, &pattern, size, stream);
        QueueBody::enqueue(&queue, CL_COMMAND_SVM_MEMFILL, wanted, StreamCommand(work))
    })
}

/// A command without work: host and devices see the same memory.
///
/// # Safety
/// As the specification of OpenCL says.
unsafe fn enqueue_visible(
    command_queue: cl_command_queue,
    command: cl_command_type,
    blocking: cl_bool,
    checked: Result<()>,
    (count, list, event): (cl_uint, *const cl_event, *mut cl_event),
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        checked?;
        let wanted = Wanted::new(&queue, count, list, event)?.blocking(blocking);
        QueueBody::enqueue(&queue, command, wanted, StreamCommand(|_: &Stream| Ok(())))
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueSVMMap(
    command_queue: cl_command_queue,
    blocking_map: cl_bool,
    flags: cl_map_flags,
    svm_ptr: *mut c_void,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let events = (num_events_in_wait_list, event_wait_list, event);
    let checked = match size {
        0 => ClError::value("size is 0"),
        _ => check_pointer(svm_ptr).and_then(|()| check_map_flags(flags)),
    };
    // SAFETY: the caller's promise.
    unsafe { enqueue_visible(command_queue, CL_COMMAND_SVM_MAP, blocking_map, checked, events) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueSVMUnmap(
    command_queue: cl_command_queue,
    svm_ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let events = (num_events_in_wait_list, event_wait_list, event);
    // SAFETY: the caller's promise.
    unsafe { enqueue_visible(command_queue, CL_COMMAND_SVM_UNMAP, CL_FALSE, check_pointer(svm_ptr), events) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueSVMMigrateMem(
    command_queue: cl_command_queue,
    num_svm_pointers: cl_uint,
    svm_pointers: *mut *const c_void,
    sizes: *const usize,
    flags: cl_mem_migration_flags,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let events = (num_events_in_wait_list, event_wait_list, event);
    // SAFETY: the caller's promise.
    let checked = unsafe { check_migration(num_svm_pointers, svm_pointers, sizes, flags) };
    // SAFETY: the caller's promise.
    unsafe { enqueue_visible(command_queue, CL_COMMAND_SVM_MIGRATE_MEM, CL_FALSE, checked, events) }
}

fn check_pointer(svm_ptr: *const c_void) -> Result<()> {
    if svm_ptr.is_null() { ClError::value("svm_ptr is null") } else { Ok(()) }
}

/// # Safety
/// The lists are null or have `count` entries.
unsafe fn check_migration(
    count: cl_uint,
    pointers: *mut *const c_void,
    sizes: *const usize,
    flags: cl_mem_migration_flags,
) -> Result<()> {
    if count == 0 || pointers.is_null() {
        return ClError::value("num_svm_pointers: there is no pointer in the list");
    }
    if flags & !(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) != 0 {
        return ClError::value(format!("flags: {flags:#x} has unknown bits"));
    }
    for index in 0..count as usize {
        // SAFETY: the caller's promise.
        let (address, size) =
            unsafe { (*pointers.add(index) as usize, if sizes.is_null() { 0 } else { *sizes.add(index) }) };
        if !is_allocated(address, size.max(1)) {
            return ClError::value(format!(
                "svm_pointers: number {index}, {address:#x} with {size} bytes, is not allocated"
            ));
        }
    }
    Ok(())
}
