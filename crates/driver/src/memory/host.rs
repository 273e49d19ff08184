//! Host memory that the device can access: page-locked and registered memory; also plain aligned memory.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::flags::{HostAllocFlags, HostRegisterFlags};
use crate::memory::diagnosis::explain_allocation_error;
use crate::memory::reclaim::allocate_with_reclaim;
use rtcg_cuda_sys::{CUdeviceptr, CUresult, DriverTable, c_void};
use std::alloc::Layout;
use std::sync::atomic::{AtomicBool, Ordering};

/// A second `free` is an error with this call's name.
fn double_free_error(call: &'static str) -> Error {
    Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, "it was freed before")
}

/// The device's address of page-locked or registered memory.
fn device_pointer(ctx: &Context, host: *mut u8) -> Result<CUdeviceptr> {
    let mut ptr = 0;
    // SAFETY: writes one pointer; the driver checks the host pointer.
    ctx.with_current_locked(|| unsafe {
        call_if_alive!(ctx, cuMemHostGetDevicePointer(&raw mut ptr, host.cast(), 0))
    })?;
    Ok(ptr)
}

/// The device address of page-locked or registered memory, in the current context.
pub fn host_device_pointer(host: *const u8) -> Result<CUdeviceptr> {
    let mut ptr = 0;
    // SAFETY: writes one pointer; the driver checks the host pointer.
    unsafe { call_in_current_context!(cuMemHostGetDevicePointer(&raw mut ptr, host.cast_mut().cast(), 0)) }?;
    Ok(ptr)
}

/// Page-locked host memory, freed when dropped.
#[derive(Debug)]
pub struct HostAllocation {
    ctx: Context,
    ptr: *mut u8,
    nbytes: usize,
    freed: AtomicBool,
}

// SAFETY: the memory is owned, and its contents are only reached through raw pointers whose
// users answer for races.
unsafe impl Send for HostAllocation {}
// SAFETY: a shared reference gives the address and the size, no contents.
unsafe impl Sync for HostAllocation {}

impl HostAllocation {
    /// Allocates in the current context. The contents are undefined.
    pub fn new(nbytes: usize, flags: impl Into<HostAllocFlags>) -> Result<Self> {
        let HostAllocFlags(flags) = flags.into();
        let ctx = Context::current_or_error()?;
        let table = ctx.driver_table_if_alive("cuMemHostAlloc")?;
        let ptr = allocate_with_reclaim(ctx.device(), || Self::allocate_page_locked(table, nbytes, flags))?;
        Ok(Self { ctx, ptr, nbytes, freed: AtomicBool::new(false) })
    }

    /// The allocation itself, in the context that is current in the driver.
    pub(crate) fn allocate_page_locked(table: &DriverTable, nbytes: usize, flags: u32) -> Result<*mut u8> {
        let mut ptr: *mut c_void = std::ptr::null_mut();
        // SAFETY: writes one pointer.
        unsafe { call_driver!(table, cuMemHostAlloc(&raw mut ptr, nbytes, flags)) }.map_err(|error| {
            match error.code {
                CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                    error.with_detail(format!("{nbytes} bytes of page-locked host memory were asked for"))
                }
                _ => explain_allocation_error(table, error, nbytes),
            }
        })?;
        Ok(ptr.cast())
    }

    /// Whether [`HostAllocation::free`] was called.
    pub fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Acquire)
    }

    /// The address of the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.ptr
    }

    /// The size in bytes.
    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// The context to which it belongs.
    pub fn context(&self) -> &Context {
        &self.ctx
    }

    /// Frees the memory as dropping does: does nothing if it was freed before, and reports errors to the cleanup hook.
    /// For owners that must not hold a lock while the driver waits.
    pub fn free_quietly(&self) {
        if !self.freed.swap(true, Ordering::AcqRel) {
            self.ctx.free_on_drop(|table| self.free_page_locked(table));
        }
    }

    /// The flags of the allocation, as the driver reports them.
    pub fn flags(&self) -> Result<u32> {
        let mut flags = 0;
        // SAFETY: writes one value.
        unsafe { call_if_alive!(self.ctx, cuMemHostGetFlags(&raw mut flags, self.ptr.cast())) }?;
        Ok(flags)
    }

    /// The device address of this memory (with the flag `DEVICEMAP`, or unified addressing).
    pub fn device_pointer(&self) -> Result<CUdeviceptr> {
        device_pointer(&self.ctx, self.ptr)
    }

    /// Frees the memory now. A second call is an error.
    pub fn free(&self) -> Result<()> {
        if self.freed.swap(true, Ordering::AcqRel) {
            return Err(double_free_error("pagelocked_host_allocation::free"));
        }
        self.ctx.free_in_context(|table| self.free_page_locked(table))
    }

    fn free_page_locked(&self, table: &DriverTable) -> Result<()> {
        // SAFETY: the memory is this object's, and `freed` lets only one call come here.
        unsafe { call_driver!(table, cuMemFreeHost(self.ptr.cast())) }
    }
}

impl Drop for HostAllocation {
    fn drop(&mut self) {
        if !*self.freed.get_mut() {
            self.ctx.free_on_drop(|table| self.free_page_locked(table));
        }
    }
}

/// Plain host memory with a given alignment, freed when dropped; suitable for [`RegisteredHostMemory`].
#[derive(Debug)]
pub struct AlignedHostAllocation {
    ptr: *mut u8,
    layout: Layout,
    freed: AtomicBool,
}

// SAFETY: as for `HostAllocation`, whoever uses the raw pointer answers for races.
unsafe impl Send for AlignedHostAllocation {}
// SAFETY: a shared reference gives the address and the size, no contents.
unsafe impl Sync for AlignedHostAllocation {}

impl AlignedHostAllocation {
    /// Allocates zeroed memory; `alignment` must be a power of two.
    pub fn new(nbytes: usize, alignment: usize) -> Result<Self> {
        let call = "aligned_host_allocation";
        let layout = Layout::from_size_align(nbytes.max(1), alignment).map_err(|_| {
            let detail = format!("alignment {alignment} must be a power of two");
            Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail)
        })?;
        // SAFETY: the size is not zero.
        let ptr = unsafe { std::alloc::alloc_zeroed(layout) };
        if ptr.is_null() {
            let detail = format!("{nbytes} bytes were asked for");
            return Err(Error::new(call, CUresult::CUDA_ERROR_OUT_OF_MEMORY, detail));
        }
        Ok(Self { ptr, layout, freed: AtomicBool::new(false) })
    }

    /// Whether [`AlignedHostAllocation::free`] was called.
    pub fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Acquire)
    }

    /// The address of the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.ptr
    }

    /// The size in bytes (at least 1).
    pub fn nbytes(&self) -> usize {
        self.layout.size()
    }

    /// Frees the memory now. A second call is an error.
    pub fn free(&self) -> Result<()> {
        if self.freed.swap(true, Ordering::AcqRel) {
            return Err(double_free_error("aligned_host_allocation::free"));
        }
        // SAFETY: allocated with this layout, and `freed` lets only one call come here.
        unsafe { std::alloc::dealloc(self.ptr, self.layout) };
        Ok(())
    }
}

impl Drop for AlignedHostAllocation {
    fn drop(&mut self) {
        let _ = (!*self.freed.get_mut()).then(|| self.free());
    }
}

/// The program's own host memory, page-locked until dropped.
#[derive(Debug)]
pub struct RegisteredHostMemory {
    ctx: Context,
    ptr: *mut u8,
    nbytes: usize,
    unregistered: AtomicBool,
}

// SAFETY: as for `HostAllocation`, whoever uses the raw pointer answers for races.
unsafe impl Send for RegisteredHostMemory {}
// SAFETY: a shared reference gives the address and the size, no contents.
unsafe impl Sync for RegisteredHostMemory {}

impl RegisteredHostMemory {
    /// Page-locks memory in the current context.
    ///
    /// # Safety
    /// The memory must stay allocated as long as this object lives.
    pub unsafe fn new(ptr: *mut u8, nbytes: usize, flags: impl Into<HostRegisterFlags>) -> Result<Self> {
        let HostRegisterFlags(flags) = flags.into();
        let ctx = Context::current_or_error()?;
        // SAFETY: the caller's promise.
        unsafe { call_if_alive!(ctx, cuMemHostRegister(ptr.cast(), nbytes, flags)) }.map_err(|error| {
            match error.detail {
                Some(_) => error,
                None => error.with_detail(format!("{nbytes} bytes at {ptr:p}")),
            }
        })?;
        Ok(Self { ctx, ptr, nbytes, unregistered: AtomicBool::new(false) })
    }

    /// The address of the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.ptr
    }

    /// The size in bytes.
    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// The device address of this memory.
    pub fn device_pointer(&self) -> Result<CUdeviceptr> {
        device_pointer(&self.ctx, self.ptr)
    }

    /// Whether [`RegisteredHostMemory::unregister`] was called.
    pub fn is_unregistered(&self) -> bool {
        self.unregistered.load(Ordering::Acquire)
    }

    /// Unlocks the memory now. A second call is an error.
    pub fn unregister(&self) -> Result<()> {
        if self.unregistered.swap(true, Ordering::AcqRel) {
            let code = CUresult::CUDA_ERROR_INVALID_HANDLE;
            let detail = "it was unregistered before";
            return Err(Error::new("registered_host_memory::unregister", code, detail));
        }
        self.ctx.free_in_context(|table| self.unregister_range(table))
    }

    fn unregister_range(&self, table: &DriverTable) -> Result<()> {
        // SAFETY: registered by this object, and the flag lets only one call come here.
        unsafe { call_driver!(table, cuMemHostUnregister(self.ptr.cast())) }
    }
}

impl Drop for RegisteredHostMemory {
    fn drop(&mut self) {
        if !*self.unregistered.get_mut() {
            self.ctx.free_on_drop(|table| self.unregister_range(table));
        }
    }
}
