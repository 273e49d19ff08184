//! The driver's memory pools, which serve stream-ordered allocations.

use super::device::DeviceAllocation;
use super::mapping::{AccessRights, own_fd_from_driver};
use crate::active_captures::is_any_capturing;
use crate::context::Context;
use crate::context::Device;
use crate::error::{Error, Result};
use crate::hidden_captures::between_hidden_captures;
use crate::process_state;
use crate::release_region::releasing_region;
use crate::stream::Stream;
use rtcg_cuda_sys::*;
use rtcg_hal::lock_ignoring_poison;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// A pool as the driver has it, destroyed with the last reference. Its memory holds one until it is
/// freed: freeing memory of a destroyed pool is allowed, but NVIDIA's driver (580) damages its own
/// data in it and crashes later.
#[derive(Debug)]
pub(super) struct DriverPool {
    device: Device,
    handle: CUmemoryPool,
    /// False for the pool that a device has from the beginning, which stays.
    is_made_here: bool,
}

/// The pools that were made here.
static CREATED_POOLS: Mutex<Vec<Weak<DriverPool>>> = Mutex::new(Vec::new());

impl DriverPool {
    fn register_created(device: Device, handle: CUmemoryPool) -> Arc<Self> {
        let new = Arc::new(Self { device, handle, is_made_here: true });
        let mut made = lock_ignoring_poison(&CREATED_POOLS);
        made.retain(|pool| pool.strong_count() > 0);
        made.push(Arc::downgrade(&new));
        new
    }

    pub(super) fn handle(&self) -> CUmemoryPool {
        self.handle
    }

    /// An attribute; 0 where the driver does not report.
    fn attribute_or_zero(&self, attribute: CUmemPool_attribute) -> u64 {
        let mut value = 0u64;
        let table = self.device.driver_table();
        // SAFETY: the pool exists, the value has room for all sizes.
        let told =
            unsafe { call_driver!(table, cuMemPoolGetAttribute(self.handle, attribute, (&raw mut value).cast())) };
        told.map_or(0, |()| value)
    }
}

/// The default pool of a device, and those that were made here.
fn pools_of_device(device: Device) -> Vec<Arc<DriverPool>> {
    let made = lock_ignoring_poison(&CREATED_POOLS).iter().filter_map(Weak::upgrade).collect::<Vec<_>>();
    let default = MemoryPool::default_of_device(device)
        .ok()
        .and_then(|pool| pool.driver_pool_if_open("cuMemPoolGetAttribute").ok());
    made.into_iter().filter(|pool| pool.device == device).chain(default).collect()
}

/// Bytes that the driver's pools on a device keep though they are not in use.
pub(super) fn unused_bytes(device: Device) -> usize {
    let unused = |pool: &Arc<DriverPool>| {
        let reserved = pool.attribute_or_zero(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
        reserved.saturating_sub(pool.attribute_or_zero(CU_MEMPOOL_ATTR_USED_MEM_CURRENT)) as usize
    };
    pools_of_device(device).iter().map(unused).sum()
}

/// Makes the driver's pools on a device return their unused memory. Waits for what was freed in stream order in the
/// current context. Does nothing while a stream is being captured, which forbids this.
pub(super) fn trim_pools_of_device(device: Device) {
    let mut pools = pools_of_device(device);
    pools.retain(|pool| pool.attribute_or_zero(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > 0);
    if pools.is_empty() || is_any_capturing() {
        return;
    }
    let table = device.driver_table();
    // SAFETY: takes no arguments. Without a current context, or after a kernel that failed, nobody has to be waited for.
    let _ = between_hidden_captures(|| unsafe { table.cuCtxSynchronize() });
    for pool in pools {
        // SAFETY: the pool exists. What cannot be given back is missed by the allocation that asked.
        let _ = unsafe { table.cuMemPoolTrimTo(pool.handle, 0) };
    }
}

impl Drop for DriverPool {
    fn drop(&mut self) {
        if !self.is_made_here || process_state::is_forked_or_exiting() {
            return;
        }
        // SAFETY: the pool is this object's, and this is its last use.
        let destroyed =
            releasing_region(|| unsafe { call_driver!(self.device.driver_table(), cuMemPoolDestroy(self.handle)) });
        if let Err(error) = destroyed {
            crate::context::loaded_drivers::report_cleanup_error(&error);
        }
    }
}

/// The pools that were made current, at most one for a device: kept as long as they are.
static POOLS_MADE_CURRENT: Mutex<Vec<Arc<DriverPool>>> = Mutex::new(Vec::new());
static IS_ANY_POOL_CURRENT: AtomicBool = AtomicBool::new(false);

fn locked_current_pools() -> MutexGuard<'static, Vec<Arc<DriverPool>>> {
    lock_ignoring_poison(&POOLS_MADE_CURRENT)
}

/// The pool that was made current on a device. Costs nothing while a program makes none current.
pub(super) fn current_pool_of_device(device: Device) -> Option<Arc<DriverPool>> {
    if !IS_ANY_POOL_CURRENT.load(Ordering::Acquire) {
        return None;
    }
    locked_current_pools().iter().find(|pool| pool.device == device).cloned()
}

struct MemoryPoolInner {
    device: Device,
    handle: CUmemoryPool,
    /// Whether closing it gives the pool up.
    is_owner: bool,
    /// None once it was closed.
    pool: Mutex<Option<Arc<DriverPool>>>,
}

/// A memory pool of the driver. Cloning gives another reference to the same pool.
#[derive(Clone)]
pub struct MemoryPool(Arc<MemoryPoolInner>);

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
pub(super) fn device_location(device: &Device) -> CUmemLocation {
    CUmemLocation { type_: CU_MEM_LOCATION_TYPE_DEVICE, id: device.handle() }
}

/// Making and finding pools.
impl MemoryPool {
    fn from_parts(pool: Arc<DriverPool>, is_owner: bool) -> Self {
        let (device, handle) = (pool.device, pool.handle);
        Self(Arc::new(MemoryPoolInner { device, handle, is_owner, pool: Mutex::new(Some(pool)) }))
    }

    fn from_created_handle(device: Device, handle: CUmemoryPool) -> Self {
        Self::from_parts(DriverPool::register_created(device, handle), true)
    }

    fn from_existing_handle(device: Device, handle: CUmemoryPool) -> Self {
        let made = current_pool_of_device(device).filter(|pool| pool.handle == handle);
        Self::from_parts(made.unwrap_or_else(|| Arc::new(DriverPool { device, handle, is_made_here: false })), false)
    }

    /// Creates a pool on a device, of at most `max_bytes` (0: limited only by the device's memory). An `exportable`
    /// pool can be passed to another process as a file descriptor.
    pub fn new(device: Device, max_bytes: usize, exportable: bool) -> Result<Self> {
        let handle_types = if exportable { CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR } else { CU_MEM_HANDLE_TYPE_NONE };
        let props = CUmemPoolProps {
            allocType: CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: handle_types,
            location: device_location(&device),
            maxSize: max_bytes,
            ..Default::default()
        };
        let mut handle = CUmemoryPool::null();
        // SAFETY: one handle is written, one structure read.
        unsafe { call_driver!(device.driver_table(), cuMemPoolCreate(&raw mut handle, &raw const props)) }?;
        Ok(Self::from_created_handle(device, handle))
    }

    /// The default pool of a device.
    pub fn default_of_device(device: Device) -> Result<Self> {
        let mut handle = CUmemoryPool::null();
        // SAFETY: writes one handle.
        unsafe { call_driver!(device.driver_table(), cuDeviceGetDefaultMemPool(&raw mut handle, device.handle())) }?;
        Ok(Self::from_existing_handle(device, handle))
    }

    /// The pool that a device currently uses for stream-ordered allocations.
    pub fn current_of_device(device: Device) -> Result<Self> {
        let mut handle = CUmemoryPool::null();
        // SAFETY: writes one handle.
        unsafe { call_driver!(device.driver_table(), cuDeviceGetMemPool(&raw mut handle, device.handle())) }?;
        Ok(Self::from_existing_handle(device, handle))
    }

    /// Imports a pool that another process exported. Get its memory from [`MemoryPool::import_pointer`]; the imported
    /// pool cannot allocate.
    pub fn import(device: Device, fd: BorrowedFd<'_>) -> Result<Self> {
        let mut handle = CUmemoryPool::null();
        let fd = std::ptr::without_provenance_mut(fd.as_raw_fd() as usize);
        let kind = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        // SAFETY: writes one handle; the driver checks the descriptor.
        unsafe {
            call_driver!(device.driver_table(), cuMemPoolImportFromShareableHandle(&raw mut handle, fd, kind, 0))
        }?;
        Ok(Self::from_created_handle(device, handle))
    }

    /// Makes this the pool for its device's stream-ordered allocations, until another pool is made current or this one
    /// is closed.
    pub fn make_current(&self) -> Result<()> {
        let pool = self.driver_pool_if_open("cuDeviceSetMemPool")?;
        let mut current = locked_current_pools();
        // SAFETY: device and pool exist.
        unsafe { call_driver!(pool.device.driver_table(), cuDeviceSetMemPool(pool.device.handle(), pool.handle)) }?;
        current.retain(|other| other.device != pool.device);
        current.push(pool);
        IS_ANY_POOL_CURRENT.store(true, Ordering::Release);
        Ok(())
    }

    /// Closes the pool: it allocates no more, and is destroyed once all of its memory is freed. If it was its device's
    /// current pool, the default pool becomes current again. Does nothing if the pool is closed already, or was not
    /// created by this process.
    pub fn close(&self) -> Result<()> {
        if !self.0.is_owner {
            return Ok(());
        }
        let pool = lock_ignoring_poison(&self.0.pool).take();
        match current_pool_of_device(self.0.device).filter(|current| pool.is_some() && current.handle == self.0.handle)
        {
            Some(_) if !process_state::is_forked_or_exiting() => Self::default_of_device(self.0.device)?.make_current(),
            _ => Ok(()),
        }
    }
}

/// Memory.
impl MemoryPool {
    /// Allocates memory for `stream`, freed in stream order; `None` is the current context's default stream.
    pub fn allocate(&self, nbytes: usize, stream: Option<&Stream>) -> Result<DeviceAllocation> {
        let pool = self.driver_pool_if_open("cuMemAllocFromPoolAsync")?;
        DeviceAllocation::from_pool(pool, nbytes, stream)
    }

    /// The bytes that identify memory of an exportable pool to a process that has imported the pool.
    pub fn export_pointer(memory: &DeviceAllocation) -> Result<[u8; 64]> {
        let mut data = CUmemPoolPtrExportData::default();
        // SAFETY: writes one structure; the driver checks the address.
        unsafe { call_if_alive!(memory.context(), cuMemPoolExportPointer(&raw mut data, memory.ptr())) }?;
        Ok(data.reserved)
    }

    /// Maps memory of another process, which exported this pool. It is unmapped in the default stream.
    pub fn import_pointer(&self, bytes: [u8; 64]) -> Result<DeviceAllocation> {
        let ctx = Context::current_or_error()?;
        let pool = self.driver_pool_if_open("cuMemPoolImportPointer")?;
        let mut data = CUmemPoolPtrExportData { reserved: bytes };
        let mut ptr = 0;
        // SAFETY: writes one pointer; the driver checks the bytes.
        unsafe {
            call_driver!(pool.device.driver_table(), cuMemPoolImportPointer(&raw mut ptr, pool.handle, &raw mut data))
        }?;
        DeviceAllocation::from_imported(ctx, ptr, pool)
    }

    /// Returns unused memory to the device until at most `keep_bytes` are reserved.
    pub fn trim_to(&self, keep_bytes: usize) -> Result<()> {
        // SAFETY: the pool exists.
        self.call_with_open_pool("cuMemPoolTrimTo", |table, pool| unsafe {
            call_driver!(table, cuMemPoolTrimTo(pool, keep_bytes))
        })
    }
}

/// Attributes and access.
impl MemoryPool {
    /// The device of the pool.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUmemoryPool {
        self.0.handle
    }

    /// An attribute; the reuse settings are 0 or 1, all others are in bytes.
    pub fn attribute(&self, attribute: CUmemPool_attribute) -> Result<u64> {
        // Settings are ints, all others 64 bits; zero beforehand, so both read the same.
        let mut value = 0u64;
        // SAFETY: the value has room for both sizes.
        self.call_with_open_pool("cuMemPoolGetAttribute", |table, pool| unsafe {
            call_driver!(table, cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()))
        })?;
        Ok(value)
    }

    /// Sets an attribute: a reuse setting (0 or 1), the release threshold in bytes, or a high-water mark, which can
    /// only be reset to 0.
    pub fn set_attribute(&self, attribute: CUmemPool_attribute, mut value: u64) -> Result<()> {
        // SAFETY: the value has room for both sizes; the first bytes are those of the number as an int.
        self.call_with_open_pool("cuMemPoolSetAttribute", |table, pool| unsafe {
            call_driver!(table, cuMemPoolSetAttribute(pool, attribute, (&raw mut value).cast()))
        })
    }

    /// Sets a device's access rights to the pool's memory.
    pub fn set_access(&self, device: &Device, rights: AccessRights) -> Result<()> {
        let desc = CUmemAccessDesc { location: device_location(device), flags: rights.to_driver_flags() };
        // SAFETY: reads one structure.
        self.call_with_open_pool("cuMemPoolSetAccess", |table, pool| unsafe {
            call_driver!(table, cuMemPoolSetAccess(pool, &raw const desc, 1))
        })
    }

    /// A device's access rights to the pool's memory.
    pub fn access(&self, device: &Device) -> Result<AccessRights> {
        let mut flags = CUmemAccess_flags::default();
        let mut location = device_location(device);
        // SAFETY: writes one value.
        self.call_with_open_pool("cuMemPoolGetAccess", |table, pool| unsafe {
            call_driver!(table, cuMemPoolGetAccess(&raw mut flags, pool, &raw mut location))
        })?;
        Ok(AccessRights::from_driver_flags(flags))
    }

    /// Exports the pool as a file descriptor for another process.
    pub fn export(&self) -> Result<OwnedFd> {
        let mut fd: c_int = -1;
        let kind = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        // SAFETY: writes one file descriptor.
        self.call_with_open_pool("cuMemPoolExportToShareableHandle", |table, pool| unsafe {
            call_driver!(table, cuMemPoolExportToShareableHandle((&raw mut fd).cast(), pool, kind, 0))
        })?;
        own_fd_from_driver("cuMemPoolExportToShareableHandle", fd)
    }

    fn driver_pool_if_open(&self, call: &'static str) -> Result<Arc<DriverPool>> {
        let pool = lock_ignoring_poison(&self.0.pool).clone();
        pool.ok_or_else(|| Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, "the pool was closed"))
    }

    fn call_with_open_pool(
        &self,
        call: &'static str,
        ask: impl FnOnce(&'static DriverTable, CUmemoryPool) -> Result<()>,
    ) -> Result<()> {
        let pool = self.driver_pool_if_open(call)?;
        ask(pool.device.driver_table(), pool.handle)
    }
}
