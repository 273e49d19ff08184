//! Virtual memory management: address ranges and physical memory as separate objects.
//!
//! Establishes: a mapping keeps its memory and addresses alive, and is undone before either is released. None of the
//! three belongs to a context.

use super::memory_pool::device_location;
use crate::active_captures::{is_any_capturing, with_relaxed_capture_mode};
use crate::context::Context;
use crate::context::Device;
use crate::context::loaded_drivers;
use crate::error::{Error, Result};
use crate::memory::reclaim::allocate_with_reclaim;
use crate::process_state;
use crate::release_region::releasing_region;
use rtcg_cuda_sys::*;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A device's access rights to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessRights {
    /// No access.
    None,
    /// Read only.
    Read,
    /// Read and write.
    ReadWrite,
}

impl AccessRights {
    /// Converts to the driver's flags.
    pub fn to_driver_flags(self) -> CUmemAccess_flags {
        match self {
            Self::None => CU_MEM_ACCESS_FLAGS_PROT_NONE,
            Self::Read => CU_MEM_ACCESS_FLAGS_PROT_READ,
            Self::ReadWrite => CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        }
    }

    /// Converts from the driver's flags; `None` if they mean something else.
    pub fn from_flags(flags: u32) -> Option<Self> {
        [Self::None, Self::Read, Self::ReadWrite].into_iter().find(|rights| rights.to_driver_flags().0 == flags)
    }

    pub(super) fn from_driver_flags(flags: CUmemAccess_flags) -> Self {
        match flags {
            CU_MEM_ACCESS_FLAGS_PROT_NONE => Self::None,
            CU_MEM_ACCESS_FLAGS_PROT_READ => Self::Read,
            _ => Self::ReadWrite,
        }
    }
}

/// Owns a file descriptor that the driver made.
pub(super) fn own_fd_from_driver(call: &'static str, fd: c_int) -> Result<OwnedFd> {
    if fd < 0 {
        return Err(Error::new(call, CUresult::CUDA_ERROR_UNKNOWN, "the driver gave no file descriptor"));
    }
    // SAFETY: the driver made the descriptor for the caller, who is the only one to have it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Reports a failed clean-up, unless there was nothing to clean up any more.
fn report_failed_cleanup(result: Result<()>) {
    if let Err(error) = result {
        loaded_drivers::report_cleanup_error(&error);
    }
}

fn allocation_properties(device: &Device, exportable: bool) -> CUmemAllocationProp {
    let handle_types = if exportable { CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR } else { CU_MEM_HANDLE_TYPE_NONE };
    CUmemAllocationProp {
        type_: CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: handle_types,
        location: device_location(device),
        ..Default::default()
    }
}

/// The granularity, in bytes, of sizes and offsets of physical memory on a device.
pub fn mem_granularity(device: &Device) -> Result<usize> {
    let mut granularity = 0;
    let (props, option) = (allocation_properties(device, false), CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    // SAFETY: one size is written, one structure read.
    unsafe {
        call_driver!(
            device.driver_table(),
            cuMemGetAllocationGranularity(&raw mut granularity, &raw const props, option)
        )
    }?;
    Ok(granularity)
}

struct PhysicalMemoryInner {
    device: Device,
    handle: CUmemGenericAllocationHandle,
    nbytes: usize,
}

/// Physical memory of a device, without an address. Cloning gives another reference to the same memory.
#[derive(Clone)]
pub struct PhysicalMemory(Arc<PhysicalMemoryInner>);

impl std::fmt::Debug for PhysicalMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PhysicalMemory({} bytes on device {})", self.0.nbytes, self.0.device.ordinal())
    }
}

impl PhysicalMemory {
    /// Allocates memory on a device; `nbytes` is rounded up to [`mem_granularity`]. Memory that is `exportable` can be
    /// passed to another process as a file descriptor.
    pub fn new(device: Device, nbytes: usize, exportable: bool) -> Result<Self> {
        let nbytes = nbytes.checked_next_multiple_of(mem_granularity(&device)?.max(1)).unwrap_or(usize::MAX);
        let props = allocation_properties(&device, exportable);
        let handle = allocate_with_reclaim(device, || {
            let mut handle = 0;
            // SAFETY: one handle is written, one structure read.
            unsafe { call_driver!(device.driver_table(), cuMemCreate(&raw mut handle, nbytes, &raw const props, 0)) }
                .map_err(|error| super::diagnosis::explain_allocation_error(device.driver_table(), error, nbytes))?;
            Ok(handle)
        })?;
        Ok(Self(Arc::new(PhysicalMemoryInner { device, handle, nbytes })))
    }

    /// Imports memory that another process exported, with its size there.
    pub fn import(device: Device, fd: BorrowedFd<'_>, nbytes: usize) -> Result<Self> {
        let mut handle = 0;
        let fd = std::ptr::without_provenance_mut(fd.as_raw_fd() as usize);
        let kind = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        // SAFETY: writes one handle; the driver checks the descriptor.
        unsafe { call_driver!(device.driver_table(), cuMemImportFromShareableHandle(&raw mut handle, fd, kind)) }?;
        Ok(Self(Arc::new(PhysicalMemoryInner { device, handle, nbytes })))
    }

    /// Exports the memory as a file descriptor for another process.
    pub fn export(&self) -> Result<OwnedFd> {
        let mut fd: c_int = -1;
        let (handle, kind) = (self.0.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        // SAFETY: the memory exists, one file descriptor is written.
        unsafe {
            call_driver!(
                self.0.device.driver_table(),
                cuMemExportToShareableHandle((&raw mut fd).cast(), handle, kind, 0)
            )
        }?;
        own_fd_from_driver("cuMemExportToShareableHandle", fd)
    }

    /// The size in bytes.
    pub fn nbytes(&self) -> usize {
        self.0.nbytes
    }

    /// The device it is on.
    pub fn device(&self) -> Device {
        self.0.device
    }
}

impl Drop for PhysicalMemoryInner {
    fn drop(&mut self) {
        if !process_state::is_forked_or_exiting() {
            // SAFETY: this is the last use of the handle.
            report_failed_cleanup(releasing_region(|| unsafe {
                call_driver!(self.device.driver_table(), cuMemRelease(self.handle))
            }));
        }
    }
}

struct AddressRangeInner {
    table: &'static DriverTable,
    ptr: CUdeviceptr,
    nbytes: usize,
}

/// A reserved range of addresses without memory. Cloning gives another reference to the same range.
#[derive(Clone)]
pub struct AddressRange(Arc<AddressRangeInner>);

impl std::fmt::Debug for AddressRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AddressRange({:#x}, {} bytes)", self.0.ptr, self.0.nbytes)
    }
}

impl AddressRange {
    /// Reserves addresses for memory of a device; `nbytes` is rounded up to [`mem_granularity`].
    /// `alignment` is a power of two, or 0 for the driver's choice.
    pub fn new(device: &Device, nbytes: usize, alignment: usize) -> Result<Self> {
        let table = device.driver_table();
        let nbytes = nbytes.checked_next_multiple_of(mem_granularity(device)?.max(1)).unwrap_or(usize::MAX);
        let mut ptr = 0;
        // SAFETY: writes one pointer.
        unsafe { call_driver!(table, cuMemAddressReserve(&raw mut ptr, nbytes, alignment, 0, 0)) }
            .map_err(|error| error.with_detail(format!("{nbytes} bytes of addresses, aligned to {alignment}")))?;
        Ok(Self(Arc::new(AddressRangeInner { table, ptr, nbytes })))
    }

    /// The start address.
    pub fn ptr(&self) -> CUdeviceptr {
        self.0.ptr
    }

    /// The size in bytes.
    pub fn nbytes(&self) -> usize {
        self.0.nbytes
    }

    /// Maps memory at `offset` bytes into the range. Call [`Mapping::set_access`] before using it.
    pub fn map(&self, offset: usize, memory: &PhysicalMemory) -> Result<Mapping> {
        let nbytes = memory.nbytes();
        let code = CUresult::CUDA_ERROR_INVALID_VALUE;
        if offset.checked_add(nbytes).is_none_or(|end| end > self.0.nbytes) {
            let detail = format!("{nbytes} bytes at offset {offset} are outside the {} bytes reserved", self.0.nbytes);
            return Err(Error::new("cuMemMap", code, detail));
        }
        if memory.0.device.driver_table() != self.0.table {
            return Err(Error::new("cuMemMap", code, "memory and addresses belong to different drivers"));
        }
        let ptr = self.0.ptr + offset as u64;
        // SAFETY: range and memory exist, and the mapping lies within the range.
        unsafe { call_driver!(self.0.table, cuMemMap(ptr, nbytes, 0, memory.0.handle, 0)) }
            .map_err(|error| error.with_detail(format!("{nbytes} bytes at offset {offset}")))?;
        let (range, memory) = (self.clone(), memory.clone());
        Ok(Mapping { range, memory, ptr, unmapped: AtomicBool::new(false) })
    }
}

impl Drop for AddressRangeInner {
    fn drop(&mut self) {
        if !process_state::is_forked_or_exiting() {
            // SAFETY: nothing is mapped here any more, since mappings hold their range.
            report_failed_cleanup(releasing_region(|| unsafe {
                call_driver!(self.table, cuMemAddressFree(self.ptr, self.nbytes))
            }));
        }
    }
}

/// Memory mapped at an address, until dropped. All work that uses it must have finished by then.
#[derive(Debug)]
pub struct Mapping {
    range: AddressRange,
    memory: PhysicalMemory,
    ptr: CUdeviceptr,
    unmapped: AtomicBool,
}

impl Mapping {
    /// The start address.
    pub fn ptr(&self) -> CUdeviceptr {
        self.ptr
    }

    /// The size in bytes.
    pub fn nbytes(&self) -> usize {
        self.memory.nbytes()
    }

    /// The address range that contains the mapping.
    pub fn range(&self) -> &AddressRange {
        &self.range
    }

    /// The mapped memory.
    pub fn memory(&self) -> &PhysicalMemory {
        &self.memory
    }

    /// Whether [`Mapping::unmap`] was called.
    pub fn is_unmapped(&self) -> bool {
        self.unmapped.load(Ordering::Acquire)
    }

    /// Sets a device's access rights to the mapping.
    pub fn set_access(&self, device: &Device, rights: AccessRights) -> Result<()> {
        self.check_mapped("cuMemSetAccess")?;
        let desc = CUmemAccessDesc { location: device_location(device), flags: rights.to_driver_flags() };
        // SAFETY: the mapping exists, one structure is read.
        unsafe { call_driver!(self.range.0.table, cuMemSetAccess(self.ptr, self.nbytes(), &raw const desc, 1)) }
    }

    /// A device's access rights to the mapping.
    pub fn access(&self, device: &Device) -> Result<AccessRights> {
        self.check_mapped("cuMemGetAccess")?;
        let (mut flags, location) = (0u64, device_location(device));
        // SAFETY: the mapping exists, one value is written.
        unsafe { call_driver!(self.range.0.table, cuMemGetAccess(&raw mut flags, &raw const location, self.ptr)) }?;
        Ok(AccessRights::from_driver_flags(CUmemAccess_flags(flags as u32)))
    }

    /// Waits for the work of the current context, then unmaps: the driver would not wait, and kernels that use the
    /// memory would fault. The caller must wait for the work of other contexts; while a stream is being captured,
    /// `unmap` does not wait at all. A second call is an error.
    pub fn unmap(&self) -> Result<()> {
        if self.unmapped.swap(true, Ordering::AcqRel) {
            return Err(Error::new("cuMemUnmap", CUresult::CUDA_ERROR_INVALID_HANDLE, "it was unmapped before"));
        }
        if !process_state::is_forked_or_exiting() && !is_any_capturing() {
            // What failed before, or that there is no context, is not this call's to report.
            let _ = Context::synchronize();
        }
        self.unmap_range()
    }

    fn check_mapped(&self, call: &'static str) -> Result<()> {
        if self.is_unmapped() {
            return Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, "the mapping was undone"));
        }
        Ok(())
    }

    fn unmap_range(&self) -> Result<()> {
        if process_state::is_forked_or_exiting() {
            return Ok(());
        }
        // SAFETY: the mapping is this object's, and `unmapped` lets only one call come here.
        releasing_region(|| unsafe { call_driver!(self.range.0.table, cuMemUnmap(self.ptr, self.nbytes())) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if !*self.unmapped.get_mut() {
            report_failed_cleanup(with_relaxed_capture_mode(|| self.unmap_range()));
        }
    }
}
