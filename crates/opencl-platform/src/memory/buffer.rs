//! The making of buffers and of parts of them.

use super::{MemBody, Storage};
use crate::context::{ContextBody, Destructors, UserData, property_list};
use crate::error::{ClError, Result, object_of, refuse};
use crate::object::{Ref, resolve};
use crate::platform::device::BASE_ALIGNMENT_BITS;
use rtcg_opencl_sys::*;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

/// How kernels use the memory.
const DEVICE_ACCESS: cl_mem_flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
/// How the host uses it.
const HOST_ACCESS: cl_mem_flags = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
/// Where its bytes come from.
const HOST_POINTER: cl_mem_flags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// Refuses flags that contradict each other; without any access it is for reading and writing.
pub(crate) fn checked_flags(flags: cl_mem_flags) -> Result<cl_mem_flags> {
    let known = DEVICE_ACCESS | HOST_ACCESS | HOST_POINTER | CL_MEM_KERNEL_READ_AND_WRITE;
    let uses_and_makes = flags & CL_MEM_USE_HOST_PTR != 0 && flags & (HOST_POINTER ^ CL_MEM_USE_HOST_PTR) != 0;
    if flags & !known != 0
        || (flags & DEVICE_ACCESS).count_ones() > 1
        || (flags & HOST_ACCESS).count_ones() > 1
        || uses_and_makes
    {
        return ClError::value(format!("flags: {flags:#x} has unknown bits, or bits that exclude each other"));
    }
    Ok(if flags & DEVICE_ACCESS == 0 { flags | CL_MEM_READ_WRITE } else { flags })
}

/// Refuses a host pointer without the flags for one, and the reverse.
pub(crate) fn check_host_pointer(flags: cl_mem_flags, host_ptr: *mut c_void) -> Result<()> {
    let wants_pointer = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    if wants_pointer == host_ptr.is_null() {
        let given = if host_ptr.is_null() { "null" } else { "given" };
        return refuse(CL_INVALID_HOST_PTR, format!("host_ptr: {given}, which the flags {flags:#x} do not go with"));
    }
    Ok(())
}

/// The storage of a new memory object, with the program's bytes where the flags say so.
///
/// # Safety
/// `host_ptr` has `nbytes` bytes: until the object is released with `CL_MEM_USE_HOST_PTR`, else now.
pub(crate) unsafe fn new_storage(
    context: &Ref<ContextBody>,
    flags: cl_mem_flags,
    nbytes: usize,
    host_ptr: *mut c_void,
) -> Result<Storage> {
    if flags & CL_MEM_USE_HOST_PTR != 0 {
        // SAFETY: the caller's promise.
        return unsafe { Storage::of_host_memory(context, host_ptr, nbytes) };
    }
    let storage = Storage::allocate(context, flags, nbytes)?;
    if flags & CL_MEM_COPY_HOST_PTR != 0 {
        // SAFETY: the caller's promise; the storage has as many bytes.
        unsafe {
            let bytes = std::slice::from_raw_parts(host_ptr.cast::<u8>(), nbytes);
            match storage.host {
                Some(host) => std::ptr::copy_nonoverlapping(bytes.as_ptr(), host.0.cast(), nbytes),
                None => context.first_device().upload(storage.address, bytes)?,
            }
        }
    }
    Ok(storage)
}

/// # Safety
/// As the specification of OpenCL says.
unsafe fn create_buffer(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    // SAFETY: the caller's promise.
    let (context, properties) = unsafe { (resolve::<ContextBody>(context)?, property_list(properties)) };
    if let Some(pair) = properties.chunks_exact(2).next() {
        return refuse(CL_INVALID_PROPERTY, format!("properties: {:#x} is none of a buffer", pair[0]));
    }
    let flags = checked_flags(flags)?;
    let limit = context.devices.iter().map(|device| device.max_allocation()).max().unwrap_or(0);
    if size == 0 || size > limit {
        return refuse(CL_INVALID_BUFFER_SIZE, format!("size: {size} bytes, expected 1 to {limit}"));
    }
    check_host_pointer(flags, host_ptr)?;
    // SAFETY: the caller's promise.
    let storage = unsafe { new_storage(&context, flags, size, host_ptr) }?;
    let used = flags & CL_MEM_USE_HOST_PTR != 0;
    Ok(Ref::new_for_user(MemBody {
        context,
        kind: CL_MEM_OBJECT_BUFFER,
        flags,
        size,
        host_ptr: UserData(if used { host_ptr } else { std::ptr::null_mut() }),
        properties,
        storage: Arc::new(storage),
        origin: 0,
        parent: None,
        image: None,
        maps: Mutex::new(Vec::new()),
        n_parts: AtomicUsize::new(0),
        destructors: Destructors::new(),
    }))
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateBuffer(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    // SAFETY: the caller's promise.
    unsafe { object_of(errcode_ret, cl_mem::NULL, || create_buffer(context, std::ptr::null(), flags, size, host_ptr)) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateBufferWithProperties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    // SAFETY: the caller's promise.
    unsafe { object_of(errcode_ret, cl_mem::NULL, || create_buffer(context, properties, flags, size, host_ptr)) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateSubBuffer(
    buffer: cl_mem,
    flags: cl_mem_flags,
    buffer_create_type: cl_buffer_create_type,
    buffer_create_info: *const c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_mem::NULL, || {
            let parent = resolve::<MemBody>(buffer)?;
            if parent.kind != CL_MEM_OBJECT_BUFFER || parent.parent.is_some() {
                return refuse(CL_INVALID_MEM_OBJECT, "buffer: parts are made of whole buffers only");
            }
            if buffer_create_type != CL_BUFFER_CREATE_TYPE_REGION || buffer_create_info.is_null() {
                return ClError::value("buffer_create_type, buffer_create_info: expected a region");
            }
            let region = *buffer_create_info.cast::<cl_buffer_region>();
            let flags = inherited_flags(flags, parent.flags)?;
            if region.size == 0 {
                return refuse(CL_INVALID_BUFFER_SIZE, "region: its size is 0");
            }
            parent.check_range("region", region.origin, region.size)?;
            let alignment = BASE_ALIGNMENT_BITS as usize / 8;
            if !region.origin.is_multiple_of(alignment) {
                let why = format!("region: origin {} is no multiple of {alignment} bytes", region.origin);
                return refuse(CL_MISALIGNED_SUB_BUFFER_OFFSET, why);
            }
            let host_ptr = match parent.host_ptr.0 {
                none if none.is_null() => none,
                host => host.wrapping_byte_add(region.origin),
            };
            Ok(Ref::new_for_user(MemBody {
                context: parent.context.clone(),
                kind: CL_MEM_OBJECT_BUFFER,
                flags,
                size: region.size,
                host_ptr: UserData(host_ptr),
                properties: Vec::new(),
                storage: parent.storage.clone(),
                origin: parent.origin + region.origin,
                parent: MemBody::count_part(parent),
                image: None,
                maps: Mutex::new(Vec::new()),
                n_parts: AtomicUsize::new(0),
                destructors: Destructors::new(),
            }))
        })
    }
}

/// The flags of a part: its own where they allow no more than the whole's, else the whole's.
pub(crate) fn inherited_flags(flags: cl_mem_flags, parent: cl_mem_flags) -> Result<cl_mem_flags> {
    let device = flags & DEVICE_ACCESS;
    let parent_device = parent & DEVICE_ACCESS;
    let widens = device != 0 && parent_device != CL_MEM_READ_WRITE && device != parent_device;
    let host = flags & HOST_ACCESS;
    let parent_host = parent & HOST_ACCESS;
    let widens_host = host != 0 && parent_host != 0 && host != parent_host && host != CL_MEM_HOST_NO_ACCESS;
    if flags & HOST_POINTER != 0 || widens || widens_host {
        return ClError::value(format!("flags: {flags:#x} of a part do not go with {parent:#x} of the whole"));
    }
    checked_flags(flags)?;
    Ok((if device == 0 { parent_device } else { device })
        | (if host == 0 { parent_host } else { host })
        | parent & HOST_POINTER)
}
