//! Memory objects: buffers, parts of buffers, images; where their bytes are.

pub(crate) mod buffer;
mod format;
pub(crate) mod image;
pub(crate) mod image_transfer;
pub(crate) mod map;
pub(crate) mod rectangle;
pub(crate) mod svm;
pub(crate) mod transfer;

use crate::context::{ContextBody, Destructors, UserData};
use crate::error::{ClError, Result, code_of, refuse};
use crate::info::{Answer, info_function};
use crate::object::{Ref, body, release, resolve, retain};
use crate::platform::managed::CappedAllocation;
use rtcg_driver::RegisteredHostMemory;
use rtcg_driver::{CUdeviceptr, DeviceAllocation, HostAllocFlags, HostAllocation};
use rtcg_opencl_sys::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) struct MemBody {
    pub(crate) context: Ref<ContextBody>,
    pub(crate) kind: cl_mem_object_type,
    pub(crate) flags: cl_mem_flags,
    pub(crate) size: usize,
    /// What the user gave as `host_ptr` with `CL_MEM_USE_HOST_PTR`.
    host_ptr: UserData,
    properties: Vec<cl_mem_properties>,
    pub(crate) storage: Arc<Storage>,
    /// Bytes from the beginning of the storage.
    pub(crate) origin: usize,
    pub(crate) parent: Option<Ref<MemBody>>,
    /// What an image has beyond a buffer.
    pub(crate) image: Option<Box<image::ImageBody>>,
    pub(crate) maps: Mutex<Vec<map::Mapping>>,
    /// Parts of this object, and images of it, that exist.
    n_parts: AtomicUsize,
    destructors: Destructors<cl_mem>,
}

body!(MemBody: cl_mem, b"memo", CL_INVALID_MEM_OBJECT, "memory object",
    on_last_release = reclaim, survives_release = has_parts, destructors = take_destructors);

/// The host's memory of `CL_MEM_USE_HOST_PTR` may be used again when the functions are called; their context is there.
fn take_destructors(memory: &mut MemBody) -> Option<Box<dyn FnOnce(cl_mem)>> {
    let (call, context) = (memory.destructors.take()?, memory.context.clone());
    Some(Box::new(move |handle| {
        call(handle);
        drop(context);
    }))
}

/// Parts of a memory object are asked for the whole.
fn has_parts(memory: &MemBody) -> bool {
    memory.n_parts.load(Ordering::Relaxed) != 0
}

/// Bytes of an object from which on it is waited for where its memory is the host's: new pages cost more than waiting.
const WAITED_FOR: usize = 1 << 20;

/// Commands may still use the object; it goes when they are done.
fn reclaim(memory: &Ref<MemBody>) {
    if !memory.is_used_elsewhere() {
        return;
    }
    let is_waited_for = memory.size >= WAITED_FOR
        && memory.parent.is_none()
        && !memory.context.first_device().device.has_discrete_memory();
    for in_flight in memory.context.all_in_flight() {
        if is_waited_for { in_flight.drain() } else { in_flight.reclaim() }
    }
}

impl Drop for MemBody {
    fn drop(&mut self) {
        if let Some(whole) = &self.parent {
            whole.n_parts.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The bytes of a memory object.
pub(crate) struct Storage {
    address: CUdeviceptr,
    /// Where the host reaches the same bytes.
    host: Option<UserData>,
    owner: Owner,
}

/// What gives the memory back.
#[expect(dead_code, reason = "held until it is dropped")]
enum Owner {
    Device(DeviceAllocation),
    Managed(CappedAllocation),
    Pinned(HostAllocation),
    Registered(RegisteredHostMemory),
    /// Shared virtual memory, which lives longer.
    Shared,
    /// Memory of the program's that is registered as a part of something else, and lives longer.
    Borrowed,
}

impl Storage {
    /// Memory for `nbytes` bytes, where all devices of the context reach it. Where there is too little, what was released
    /// and is still in use is waited for.
    pub(crate) fn allocate(context: &Ref<ContextBody>, flags: cl_mem_flags, nbytes: usize) -> Result<Self> {
        match Self::allocate_at_once(context, flags, nbytes) {
            Err(error) if error.code == CL_MEM_OBJECT_ALLOCATION_FAILURE => {
                context.all_in_flight().iter().for_each(|in_flight| in_flight.drain());
                Self::allocate_at_once(context, flags, nbytes)
            }
            outcome => outcome,
        }
    }

    fn allocate_at_once(context: &Ref<ContextBody>, flags: cl_mem_flags, nbytes: usize) -> Result<Self> {
        let device = context.first_device();
        device.cuda_context()?.with_current(|| {
            if flags & CL_MEM_ALLOC_HOST_PTR != 0 {
                let memory = HostAllocation::new(nbytes, HostAllocFlags::DEVICE_MAP | HostAllocFlags::PORTABLE)?;
                let host = Some(UserData(memory.as_ptr().cast()));
                return Ok(Self { address: memory.device_pointer()?, host, owner: Owner::Pinned(memory) });
            }
            if context.devices.len() > 1 {
                let memory = CappedAllocation::new(device, nbytes)
                    .map_err(|error| ClError::new(CL_MEM_OBJECT_ALLOCATION_FAILURE, error.detail))?;
                let address = memory.address();
                let host = Some(UserData(address as usize as *mut c_void));
                return Ok(Self { address, host, owner: Owner::Managed(memory) });
            }
            let memory = DeviceAllocation::new(nbytes)?;
            let address = memory.ptr();
            // The memory of a device that has none of its own is the host's.
            let host = (!device.device.has_discrete_memory() && device.device.is_virtual())
                .then_some(UserData(address as usize as *mut c_void));
            Ok(Self { address, host, owner: Owner::Device(memory) })
        })
    }

    /// The program's own memory, which devices reach after it is registered.
    ///
    /// # Safety
    /// `host` has `nbytes` bytes until the storage is dropped.
    unsafe fn of_host_memory(context: &Ref<ContextBody>, host: *mut c_void, nbytes: usize) -> Result<Self> {
        if svm::is_allocated(host as usize, nbytes) {
            return Ok(Self { address: host as CUdeviceptr, host: Some(UserData(host)), owner: Owner::Shared });
        }
        context.first_device().cuda_context()?.with_current(|| {
            const PORTABLE_AND_MAPPED: u32 = 3;
            // SAFETY: the caller's promise.
            match unsafe { RegisteredHostMemory::new(host.cast(), nbytes, PORTABLE_AND_MAPPED) } {
                Ok(memory) => {
                    let address = memory.device_pointer()?;
                    Ok(Self { address, host: Some(UserData(host)), owner: Owner::Registered(memory) })
                }
                // It was registered before, as a part of something else.
                Err(error) => match rtcg_driver::memory::host_device_pointer(host.cast()) {
                    Ok(address) => Ok(Self { address, host: Some(UserData(host)), owner: Owner::Borrowed }),
                    Err(_) => Err(error.into()),
                },
            }
        })
    }
}

impl MemBody {
    /// A part of another object, which is told.
    fn count_part(whole: Ref<MemBody>) -> Option<Ref<MemBody>> {
        whole.n_parts.fetch_add(1, Ordering::Relaxed);
        Some(whole)
    }

    /// The address of the first byte on every device of the context.
    pub(crate) fn address(&self) -> CUdeviceptr {
        self.storage.address + self.origin as CUdeviceptr
    }

    /// Where the host reaches the first byte, if it does.
    pub(crate) fn host_address(&self) -> Option<*mut c_void> {
        self.storage.host.map(|host| host.0.wrapping_byte_add(self.origin))
    }

    /// Refuses a part that is not inside.
    pub(crate) fn check_range(&self, what: &str, offset: usize, nbytes: usize) -> Result<()> {
        match offset.checked_add(nbytes) {
            Some(end) if end <= self.size => Ok(()),
            _ => ClError::value(format!("{what}: bytes {offset} to {offset} + {nbytes} of {}", self.size)),
        }
    }
}

/// The buffer behind a handle; images are refused.
///
/// # Safety
/// As for [`resolve`].
pub(crate) unsafe fn resolve_buffer(handle: cl_mem, context: &Ref<ContextBody>) -> Result<Ref<MemBody>> {
    // SAFETY: the caller's promise.
    let memory = unsafe { resolve::<MemBody>(handle) }?;
    if memory.kind != CL_MEM_OBJECT_BUFFER {
        return refuse(CL_INVALID_MEM_OBJECT, "buffer: the object is an image");
    }
    check_context(&memory, context)?;
    Ok(memory)
}

/// Refuses memory of another context than the queue's.
pub(crate) fn check_context(memory: &Ref<MemBody>, context: &Ref<ContextBody>) -> Result<()> {
    if memory.context.is(context) {
        return Ok(());
    }
    refuse(CL_INVALID_CONTEXT, "the memory object and the queue are of different contexts")
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clRetainMemObject(memobj: cl_mem) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { retain::<MemBody>(memobj) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clReleaseMemObject(memobj: cl_mem) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { release::<MemBody>(memobj) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetMemObjectDestructorCallback(
    memobj: cl_mem,
    pfn_notify: Option<unsafe extern "C" fn(cl_mem, *mut c_void)>,
    user_data: *mut c_void,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<MemBody>(memobj) }?.destructors.add(pfn_notify, user_data)
    })
}

info_function!(clGetMemObjectInfo(cl_mem, cl_mem_info) of MemBody = mem_object_info);

fn mem_object_info(memory: &Ref<MemBody>, param_name: cl_mem_info, answer: Answer) -> Result<()> {
    match param_name {
        CL_MEM_TYPE => answer.plain(memory.kind),
        CL_MEM_FLAGS => answer.plain(memory.flags),
        CL_MEM_SIZE => answer.plain(memory.size),
        CL_MEM_HOST_PTR => answer.plain(memory.host_ptr.0),
        CL_MEM_MAP_COUNT => answer.plain(memory.maps.lock().expect("no panic while maps are listed").len() as cl_uint),
        CL_MEM_REFERENCE_COUNT => answer.plain(memory.user_count()),
        CL_MEM_CONTEXT => answer.plain(memory.context.handle()),
        CL_MEM_ASSOCIATED_MEMOBJECT => {
            answer.plain(memory.parent.as_ref().map_or(cl_mem::NULL, |parent| parent.handle()))
        }
        CL_MEM_OFFSET => answer.plain(memory.parent.as_ref().map_or(0, |parent| memory.origin - parent.origin)),
        CL_MEM_USES_SVM_POINTER => answer.boolean(matches!(memory.storage.owner, Owner::Shared)),
        CL_MEM_PROPERTIES => answer.slice(&memory.properties),
        _ => answer.unknown("memory object", param_name),
    }
}
