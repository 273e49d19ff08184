//! Device memory: plain, managed, and mapped from another process.

use crate::context::Device;
use crate::context::{Context, current_driver_table};
use crate::error::{Error, Result};
use crate::flags::{IpcMemoryFlags, MemAttachFlags};
use crate::memory::diagnosis::{explain_address_error, explain_allocation_error};
use crate::memory::memory_pool::{DriverPool, current_pool_of_device};
use crate::memory::reclaim::{self, allocate_with_reclaim};
use crate::stream::{Stream, checked_stream_handle};
use rtcg_cuda_sys::*;
use rtcg_hal::lock_ignoring_poison;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The `(free, total)` bytes of the current context's device. Memory that pools of this process hold unused counts as
/// free: an allocation that would otherwise not fit gets it.
pub fn mem_get_info() -> Result<(usize, usize)> {
    let (mut free, mut total) = (0usize, 0);
    // SAFETY: writes two sizes.
    unsafe { call_in_current_context!(cuMemGetInfo(&raw mut free, &raw mut total)) }?;
    let unused = Context::current_device().map_or(0, reclaim::unused_bytes);
    Ok((free.saturating_add(unused).min(total), total))
}

/// Allocates device memory in the current context. Zero bytes are a driver error.
pub fn mem_alloc(nbytes: usize) -> Result<DeviceAllocation> {
    DeviceAllocation::new(nbytes)
}

/// Allocates rows of `width` bytes, each aligned for accesses of `access_size` (4, 8 or 16) bytes, and returns
/// `(allocation, pitch)`.
pub fn mem_alloc_pitch(width: usize, height: usize, access_size: u32) -> Result<(DeviceAllocation, usize)> {
    let ctx = Context::current_or_error()?;
    let (ptr, pitch) = allocate_with_retry(&ctx, "cuMemAllocPitch", width.saturating_mul(height), |table| {
        let (mut ptr, mut pitch) = (0, 0);
        let out = (&raw mut ptr, &raw mut pitch);
        // SAFETY: writes a pointer and a size.
        unsafe { call_driver!(table, cuMemAllocPitch(out.0, out.1, width, height, access_size)) }?;
        Ok((ptr, pitch))
    })
    .map_err(|error| explain_pitch_error(error, width, height, access_size))?;
    let nbytes = pitch.saturating_mul(height);
    Ok((DeviceAllocation::from_parts(ctx, ptr, nbytes, AllocationOrigin::Alloc), pitch))
}

#[cold]
fn explain_pitch_error(error: Error, width: usize, height: usize, access_size: u32) -> Error {
    match error.code {
        CUresult::CUDA_ERROR_INVALID_VALUE => error.with_detail(format!(
            "{height} rows of {width} bytes for accesses of {access_size} bytes were asked for; expected no 0, and \
             accesses of 4, 8 or 16 bytes"
        )),
        _ => error,
    }
}

/// The `(base, nbytes)` of the allocation that contains `ptr`.
pub fn mem_get_address_range(ptr: CUdeviceptr) -> Result<(CUdeviceptr, usize)> {
    let (mut base, mut nbytes) = (0, 0);
    let table = current_driver_table("cuMemGetAddressRange")?;
    // SAFETY: writes a pointer and a size; the driver checks `ptr`.
    let result =
        unsafe { retry_if_context_displaced!(table, cuMemGetAddressRange(&raw mut base, &raw mut nbytes, ptr)) };
    explain_address_error(table, result, &[("ptr", ptr, 1)])?;
    Ok((base, nbytes))
}

/// The handle with which another process can map the allocation at `ptr` ([`IpcMemory`]).
pub fn mem_get_ipc_handle(ptr: CUdeviceptr) -> Result<[u8; 64]> {
    let mut handle = CUipcMemHandle::default();
    let table = current_driver_table("cuIpcGetMemHandle")?;
    // SAFETY: writes one structure; the driver checks `ptr`.
    let result = unsafe { retry_if_context_displaced!(table, cuIpcGetMemHandle(&raw mut handle, ptr)) };
    explain_address_error(table, result, &[("ptr", ptr, 1)])?;
    Ok(handle.reserved.map(|b| b as u8))
}

/// Runs an allocating call in a context, again when memory was short and some could be made free.
fn allocate_with_retry<T>(
    ctx: &Context,
    call: &'static str,
    nbytes: usize,
    allocate: impl Fn(&DriverTable) -> Result<T>,
) -> Result<T> {
    let table = ctx.driver_table_if_alive(call)?;
    allocate_with_reclaim(ctx.device(), || {
        allocate(table).map_err(|error| explain_allocation_error(table, error, nbytes))
    })
}

/// How memory came here, and so how it is given back.
#[derive(Debug)]
enum AllocationOrigin {
    Alloc,
    /// In the order of a stream, or of the default stream; from a pool that is held until it is freed.
    AllocAsync(Option<Stream>, Mutex<Option<Arc<DriverPool>>>),
    Ipc,
}

/// Device memory, freed when dropped.
#[derive(Debug)]
pub struct DeviceAllocation {
    ctx: Context,
    ptr: CUdeviceptr,
    nbytes: usize,
    origin: AllocationOrigin,
    freed: AtomicBool,
}

impl DeviceAllocation {
    fn from_parts(ctx: Context, ptr: CUdeviceptr, nbytes: usize, origin: AllocationOrigin) -> Self {
        Self { ctx, ptr, nbytes, origin, freed: AtomicBool::new(false) }
    }

    /// Allocates in the current context. Zero bytes are a driver error.
    pub fn new(nbytes: usize) -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let ptr = allocate_with_retry(&ctx, "cuMemAlloc", nbytes, |table| {
            let mut ptr = 0;
            // SAFETY: writes one pointer.
            unsafe { call_driver!(table, cuMemAlloc(&raw mut ptr, nbytes)) }?;
            Ok(ptr)
        })?;
        Ok(Self::from_parts(ctx, ptr, nbytes, AllocationOrigin::Alloc))
    }

    /// Allocates in stream order, which is much cheaper than [`DeviceAllocation::new`] on a real device. Work in
    /// `stream` (`None` is the current context's default stream) may use the memory, and so may other work that waits
    /// for the allocation. The memory is freed in the order of the same stream.
    pub fn new_async(nbytes: usize, stream: Option<&Stream>) -> Result<Self> {
        Self::new_stream_ordered("cuMemAllocAsync", nbytes, stream, current_pool_of_device, |table, ptr, stream| {
            // SAFETY: writes one pointer; the stream is alive.
            unsafe { call_driver!(table, cuMemAllocAsync(ptr, nbytes, stream)) }
        })
    }

    /// [`DeviceAllocation::new_async`] from a pool.
    pub(super) fn from_pool(pool: Arc<DriverPool>, nbytes: usize, stream: Option<&Stream>) -> Result<Self> {
        let handle = pool.handle();
        Self::new_stream_ordered(
            "cuMemAllocFromPoolAsync",
            nbytes,
            stream,
            |_| Some(pool),
            |table, ptr, stream| {
                // SAFETY: writes one pointer; pool and stream are alive.
                unsafe { call_driver!(table, cuMemAllocFromPoolAsync(ptr, nbytes, handle, stream)) }
            },
        )
    }

    fn new_stream_ordered(
        call: &'static str,
        nbytes: usize,
        stream: Option<&Stream>,
        pool_on: impl FnOnce(Device) -> Option<Arc<DriverPool>>,
        ask: impl Fn(&DriverTable, *mut CUdeviceptr, CUstream) -> Result<()>,
    ) -> Result<Self> {
        let entered = if stream.is_none() { Stream::current() } else { None };
        let stream = stream.or(entered.as_ref());
        let ctx = stream.map_or_else(Context::current_or_error, |stream| Ok(stream.context().clone()))?;
        let handle = checked_stream_handle(call, ctx.driver_table_if_alive(call)?, stream)?;
        if nbytes == 0 {
            // Drivers give address 0 for this; memory of no bytes is an error in every other call.
            let detail = "nbytes is 0; expected at least 1";
            return Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail));
        }
        let pool = pool_on(ctx.device());
        let ptr = ctx.with_current(|| {
            allocate_with_retry(&ctx, call, nbytes, |table| {
                let mut ptr = 0;
                ask(table, &raw mut ptr, handle)?;
                Ok(ptr)
            })
        })?;
        Ok(Self::from_parts(ctx, ptr, nbytes, AllocationOrigin::AllocAsync(stream.cloned(), Mutex::new(pool))))
    }

    /// Memory that belongs to another process, whose pool this process imported.
    pub(super) fn from_imported(ctx: Context, ptr: CUdeviceptr, pool: Arc<DriverPool>) -> Result<Self> {
        let (base, size) = mem_get_address_range(ptr)?;
        Ok(Self::from_parts(
            ctx,
            ptr,
            size - (ptr - base) as usize,
            AllocationOrigin::AllocAsync(None, Mutex::new(Some(pool))),
        ))
    }

    /// The address of the first byte.
    #[inline]
    pub fn ptr(&self) -> CUdeviceptr {
        self.ptr
    }

    /// The size in bytes, as requested.
    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// The context to which it belongs.
    pub fn context(&self) -> &Context {
        &self.ctx
    }

    /// Whether [`DeviceAllocation::free`] was called.
    pub fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Acquire)
    }

    /// Frees the memory now. A second call is an error.
    pub fn free(&self) -> Result<()> {
        if self.freed.swap(true, Ordering::AcqRel) {
            let code = CUresult::CUDA_ERROR_INVALID_HANDLE;
            return Err(Error::new("device_allocation::free", code, "it was freed before"));
        }
        let result = self.ctx.free_in_context(|table| self.free_in_driver(table));
        self.drop_pool_reference();
        result
    }

    /// Frees the memory as dropping does: does nothing if it was freed before, and reports errors to the cleanup hook.
    /// For owners that must not hold a lock while the driver waits.
    pub fn free_quietly(&self) {
        if !self.freed.swap(true, Ordering::AcqRel) {
            self.ctx.free_on_drop(|table| self.free_in_driver(table));
            self.drop_pool_reference();
        }
    }

    /// Frees memory that was allocated in stream order, once `stream` has finished its present work. No other stream
    /// may be using the memory then.
    pub fn free_async(&self, stream: Option<&Stream>) -> Result<()> {
        if !matches!(self.origin, AllocationOrigin::AllocAsync(..)) {
            let detail = "the memory was not allocated in stream order";
            return Err(Error::new("cuMemFreeAsync", CUresult::CUDA_ERROR_INVALID_VALUE, detail));
        }
        let stream =
            checked_stream_handle("cuMemFreeAsync", self.ctx.driver_table_if_alive("cuMemFreeAsync")?, stream)?;
        if self.freed.swap(true, Ordering::AcqRel) {
            let code = CUresult::CUDA_ERROR_INVALID_HANDLE;
            return Err(Error::new("device_allocation::free", code, "it was freed before"));
        }
        // SAFETY: the memory is this object's, and `freed` lets only one call come here.
        let result = self.ctx.free_in_context(|table| unsafe { call_driver!(table, cuMemFreeAsync(self.ptr, stream)) });
        self.drop_pool_reference();
        result
    }

    /// Lets go of the pool, for memory that was freed.
    fn drop_pool_reference(&self) {
        if let AllocationOrigin::AllocAsync(_, pool) = &self.origin {
            lock_ignoring_poison(pool).take();
        }
    }

    fn free_in_driver(&self, table: &DriverTable) -> Result<()> {
        // SAFETY: the memory is this object's, and `freed` lets only one call come here.
        unsafe {
            match &self.origin {
                AllocationOrigin::Alloc => call_driver!(table, cuMemFree(self.ptr)),
                AllocationOrigin::AllocAsync(stream, _) => {
                    let own =
                        stream.as_ref().map(|stream| checked_stream_handle("cuMemFreeAsync", table, Some(stream)));
                    match own {
                        None => call_driver!(table, cuMemFreeAsync(self.ptr, CUstream::null())),
                        Some(Ok(stream)) => call_driver!(table, cuMemFreeAsync(self.ptr, stream)),
                        // A stream that was closed has no order any more.
                        Some(Err(_)) => call_driver!(table, cuMemFree(self.ptr)),
                    }
                }
                AllocationOrigin::Ipc => call_driver!(table, cuIpcCloseMemHandle(self.ptr)),
            }
        }
    }

    /// Copies host bytes to `offset`; waits for completion.
    pub fn write(&self, offset: usize, src: &[u8]) -> Result<()> {
        let dst = self.checked_range("cuMemcpyHtoD", offset, src.len())?;
        // SAFETY: both ranges are valid for the length, which `checked_range` checked.
        self.ctx.with_current_locked(|| unsafe { super::memcpy_htod_with_table(self.ctx.driver_table(), dst, src) })
    }

    /// Copies bytes from `offset` to the host; waits for completion.
    pub fn read(&self, offset: usize, dst: &mut [u8]) -> Result<()> {
        let src = self.checked_range("cuMemcpyDtoH", offset, dst.len())?;
        // SAFETY: both ranges are valid for the length, which `checked_range` checked.
        self.ctx.with_current_locked(|| unsafe { super::memcpy_dtoh_with_table(self.ctx.driver_table(), dst, src) })
    }

    fn checked_range(&self, call: &'static str, offset: usize, nbytes: usize) -> Result<CUdeviceptr> {
        let end = offset.checked_add(nbytes).filter(|end| *end <= self.nbytes);
        if end.is_none() || self.is_freed() {
            let detail = if self.is_freed() {
                "the memory was freed".to_owned()
            } else {
                format!("{nbytes} bytes at {offset} are outside {} bytes", self.nbytes)
            };
            return Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail));
        }
        Ok(self.ptr + offset as u64)
    }
}

impl Drop for DeviceAllocation {
    fn drop(&mut self) {
        if !*self.freed.get_mut() {
            self.ctx.free_on_drop(|table| self.free_in_driver(table));
        }
    }
}

/// Managed memory, which migrates between host and device. The host accesses it through [`ManagedAllocation::as_ptr`].
#[derive(Debug)]
pub struct ManagedAllocation(DeviceAllocation);

impl ManagedAllocation {
    /// Allocates in the current context; flags of 0 mean [`MemAttachFlags::GLOBAL`].
    pub fn new(nbytes: usize, flags: impl Into<MemAttachFlags>) -> Result<Self> {
        let MemAttachFlags(flags) = flags.into();
        let ctx = Context::current_or_error()?;
        let flags = if flags == 0 { CU_MEM_ATTACH_GLOBAL.0 } else { flags };
        let ptr = allocate_with_retry(&ctx, "cuMemAllocManaged", nbytes, |table| {
            let mut ptr = 0;
            // SAFETY: writes one pointer.
            unsafe { call_driver!(table, cuMemAllocManaged(&raw mut ptr, nbytes, flags)) }?;
            Ok(ptr)
        })?;
        Ok(Self(DeviceAllocation::from_parts(ctx, ptr, nbytes, AllocationOrigin::Alloc)))
    }

    /// The memory as a device allocation.
    pub fn allocation(&self) -> &DeviceAllocation {
        &self.0
    }

    /// The device address.
    pub fn ptr(&self) -> CUdeviceptr {
        self.0.ptr
    }

    /// The host address, which is the same number.
    pub fn as_ptr(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0.ptr as usize)
    }

    /// Attaches the memory to a stream, to all streams or to the host, depending on `flags`.
    pub fn attach(&self, flags: impl Into<MemAttachFlags>, stream: Option<&Stream>) -> Result<()> {
        let MemAttachFlags(flags) = flags.into();
        let table = self.0.ctx.driver_table_if_alive("cuStreamAttachMemAsync")?;
        let stream = checked_stream_handle("cuStreamAttachMemAsync", table, stream)?;
        // SAFETY: memory and stream are alive; length 0 means the whole allocation.
        unsafe { call_driver!(table, cuStreamAttachMemAsync(stream, self.0.ptr, 0, flags)) }
    }

    /// Frees the memory now. A second call is an error.
    pub fn free(&self) -> Result<()> {
        self.0.free()
    }
}

/// Memory of another process, mapped until dropped.
#[derive(Debug)]
pub struct IpcMemory(DeviceAllocation);

impl IpcMemory {
    /// Maps the memory with the handle `bytes` from [`mem_get_ipc_handle`].
    pub fn open_ipc_handle(bytes: [u8; 64], flags: impl Into<IpcMemoryFlags>) -> Result<Self> {
        let IpcMemoryFlags(flags) = flags.into();
        let ctx = Context::current_or_error()?;
        let handle = CUipcMemHandle { reserved: bytes.map(|b| b as c_char) };
        let mut ptr = 0;
        // SAFETY: writes one pointer; the driver checks the bytes.
        unsafe { call_if_alive!(ctx, cuIpcOpenMemHandle(&raw mut ptr, handle, flags)) }?;
        let nbytes = mem_get_address_range(ptr).map_or(0, |(base, size)| size - (ptr - base) as usize);
        Ok(Self(DeviceAllocation::from_parts(ctx, ptr, nbytes, AllocationOrigin::Ipc)))
    }

    /// The memory as an allocation, with the size of the other process's allocation.
    pub fn allocation(&self) -> &DeviceAllocation {
        &self.0
    }

    /// The address in this process.
    pub fn ptr(&self) -> CUdeviceptr {
        self.0.ptr
    }

    /// Unmaps the memory now. A second call is an error.
    pub fn close(&self) -> Result<()> {
        self.0.free()
    }
}
