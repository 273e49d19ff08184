//! The driver's own pools, from which memory in stream order comes.

use super::device::DeviceAllocation;
use super::mapping::{AccessRights, take_fd};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::process;
use crate::stream::Stream;
use rtcg_cuda_sys::*;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct Inner {
    device: Device,
    handle: CUmemoryPool,
    /// Whether it is destroyed with the last reference; a device's default pool is not.
    is_owned: bool,
    closed: AtomicBool,
}

/// A pool of the driver. Cloning gives another reference to the same one.
#[derive(Clone)]
pub struct MemoryPool(Arc<Inner>);

impl std::fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MemoryPool({:?}, device {})", self.0.handle, self.0.device.ordinal())
    }
}

impl PartialEq for MemoryPool {
    /// The same pool of the driver.
    fn eq(&self, other: &Self) -> bool {
        self.0.handle == other.0.handle && self.0.device == other.0.device
    }
}

impl Eq for MemoryPool {}

/// The place that a device is to the functions of memory.
pub(super) fn location_of(device: &Device) -> CUmemLocation {
    CUmemLocation { type_: CU_MEM_LOCATION_TYPE_DEVICE, id: device.handle() }
}

/// Making and finding pools.
impl MemoryPool {
    fn from_parts(device: Device, handle: CUmemoryPool, is_owned: bool) -> Self {
        Self(Arc::new(Inner { device, handle, is_owned, closed: AtomicBool::new(false) }))
    }

    /// A new pool on a device, of at most `max_bytes` (0: no limit but the device's memory). One that
    /// is `exportable` can go to another process as a file descriptor.
    pub fn new(device: Device, max_bytes: usize, exportable: bool) -> Result<Self> {
        let handle_types = if exportable { CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR } else { CU_MEM_HANDLE_TYPE_NONE };
        let props = CUmemPoolProps {
            allocType: CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: handle_types,
            location: location_of(&device),
            maxSize: max_bytes,
            ..Default::default()
        };
        let mut handle = CUmemoryPool::null();
        // SAFETY: one handle is written, one structure read.
        unsafe { call!(device.table(), cuMemPoolCreate(&raw mut handle, &raw const props)) }?;
        Ok(Self::from_parts(device, handle, true))
    }

    /// The pool that a device has from the beginning.
    pub fn default_of(device: Device) -> Result<Self> {
        let mut handle = CUmemoryPool::null();
        // SAFETY: writes one handle.
        unsafe { call!(device.table(), cuDeviceGetDefaultMemPool(&raw mut handle, device.handle())) }?;
        Ok(Self::from_parts(device, handle, false))
    }

    /// The pool that allocations in stream order on a device use now.
    pub fn current_of(device: Device) -> Result<Self> {
        let mut handle = CUmemoryPool::null();
        // SAFETY: writes one handle.
        unsafe { call!(device.table(), cuDeviceGetMemPool(&raw mut handle, device.handle())) }?;
        Ok(Self::from_parts(device, handle, false))
    }

    /// Opens a pool that another process exported. Its memory comes by [`MemoryPool::import_pointer`];
    /// it allocates none itself.
    pub fn import(device: Device, fd: BorrowedFd<'_>) -> Result<Self> {
        let mut handle = CUmemoryPool::null();
        let fd = std::ptr::without_provenance_mut(fd.as_raw_fd() as usize);
        let kind = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        // SAFETY: writes one handle; the driver checks the descriptor.
        unsafe { call!(device.table(), cuMemPoolImportFromShareableHandle(&raw mut handle, fd, kind, 0)) }?;
        Ok(Self::from_parts(device, handle, true))
    }

    /// Makes it the pool of its device's allocations in stream order.
    pub fn make_current(&self) -> Result<()> {
        // SAFETY: device and pool exist.
        self.call("cuDeviceSetMemPool", |table, pool| unsafe {
            call!(table, cuDeviceSetMemPool(self.0.device.handle(), pool))
        })
    }

    /// Gives the pool up. Memory from it stays until it is freed. Closing it again does nothing.
    pub fn close(&self) -> Result<()> {
        if !self.0.is_owned || self.0.closed.swap(true, Ordering::AcqRel) || process::is_gone() {
            return Ok(());
        }
        // SAFETY: the pool is this object's, and `closed` lets only one call come here.
        unsafe { call!(self.0.device.table(), cuMemPoolDestroy(self.0.handle)) }
    }
}

/// Memory.
impl MemoryPool {
    /// Memory for `stream`, freed in its order; `None` is the default stream of the current context.
    pub fn allocate(&self, nbytes: usize, stream: Option<&Stream>) -> Result<DeviceAllocation> {
        self.live("cuMemAllocFromPoolAsync")?;
        DeviceAllocation::from_pool(self.0.handle, nbytes, stream)
    }

    /// What stands for memory of an exportable pool in a process that has imported the pool.
    pub fn export_pointer(memory: &DeviceAllocation) -> Result<[u8; 64]> {
        let mut data = CUmemPoolPtrExportData::default();
        // SAFETY: writes one structure; the driver checks the address.
        unsafe { call_in!(memory.context(), cuMemPoolExportPointer(&raw mut data, memory.ptr())) }?;
        Ok(data.reserved)
    }

    /// Memory of another process, whose pool this is. It is unmapped in the default stream.
    pub fn import_pointer(&self, bytes: [u8; 64]) -> Result<DeviceAllocation> {
        let ctx = Context::require()?;
        let mut data = CUmemPoolPtrExportData { reserved: bytes };
        let mut ptr = 0;
        // SAFETY: writes one pointer; the driver checks the bytes.
        self.call("cuMemPoolImportPointer", |table, pool| unsafe {
            call!(table, cuMemPoolImportPointer(&raw mut ptr, pool, &raw mut data))
        })?;
        DeviceAllocation::imported(ctx, ptr)
    }

    /// Gives unused memory back to the device until no more than `keep_bytes` are reserved.
    pub fn trim_to(&self, keep_bytes: usize) -> Result<()> {
        // SAFETY: the pool exists.
        self.call("cuMemPoolTrimTo", |table, pool| unsafe { call!(table, cuMemPoolTrimTo(pool, keep_bytes)) })
    }
}

/// Attributes and access.
impl MemoryPool {
    /// The device it is on.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUmemoryPool {
        self.0.handle
    }

    /// An attribute; the settings of reuse are 0 or 1, all others bytes.
    pub fn attribute(&self, attribute: CUmemPool_attribute) -> Result<u64> {
        // Settings are ints, all others 64 bits; zero beforehand, so both read the same.
        let mut value = 0u64;
        // SAFETY: the value has room for both sizes.
        self.call("cuMemPoolGetAttribute", |table, pool| unsafe {
            call!(table, cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()))
        })?;
        Ok(value)
    }

    /// Sets an attribute: a setting of reuse (0 or 1), the release threshold in bytes, or a high-water
    /// mark, which can be set to 0 only.
    pub fn set_attribute(&self, attribute: CUmemPool_attribute, mut value: u64) -> Result<()> {
        // SAFETY: the value has room for both sizes; the first bytes are those of the number as an int.
        self.call("cuMemPoolSetAttribute", |table, pool| unsafe {
            call!(table, cuMemPoolSetAttribute(pool, attribute, (&raw mut value).cast()))
        })
    }

    /// Says what a device may do with the pool's memory.
    pub fn set_access(&self, device: &Device, rights: AccessRights) -> Result<()> {
        let wish = CUmemAccessDesc { location: location_of(device), flags: rights.flags() };
        // SAFETY: reads one structure.
        self.call("cuMemPoolSetAccess", |table, pool| unsafe {
            call!(table, cuMemPoolSetAccess(pool, &raw const wish, 1))
        })
    }

    /// What a device may do with the pool's memory.
    pub fn access(&self, device: &Device) -> Result<AccessRights> {
        let mut flags = CUmemAccess_flags::default();
        let mut location = location_of(device);
        // SAFETY: writes one value.
        self.call("cuMemPoolGetAccess", |table, pool| unsafe {
            call!(table, cuMemPoolGetAccess(&raw mut flags, pool, &raw mut location))
        })?;
        Ok(AccessRights::of(flags))
    }

    /// The pool as a file descriptor, for another process.
    pub fn export(&self) -> Result<OwnedFd> {
        let mut fd: c_int = -1;
        let kind = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        // SAFETY: writes one file descriptor.
        self.call("cuMemPoolExportToShareableHandle", |table, pool| unsafe {
            call!(table, cuMemPoolExportToShareableHandle((&raw mut fd).cast(), pool, kind, 0))
        })?;
        take_fd("cuMemPoolExportToShareableHandle", fd)
    }

    fn live(&self, call: &'static str) -> Result<()> {
        if self.0.closed.load(Ordering::Acquire) {
            return Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, "the pool was closed"));
        }
        Ok(())
    }

    fn call(
        &self,
        call: &'static str,
        ask: impl FnOnce(&'static DriverTable, CUmemoryPool) -> Result<()>,
    ) -> Result<()> {
        self.live(call)?;
        ask(self.0.device.table(), self.0.handle)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.is_owned || *self.closed.get_mut() || process::is_gone() {
            return;
        }
        // SAFETY: the pool is this object's, and this is its last use.
        if let Err(error) = unsafe { call!(self.device.table(), cuMemPoolDestroy(self.handle)) } {
            crate::drivers::report_cleanup(&error);
        }
    }
}
