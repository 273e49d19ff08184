//! Virtual memory management: addresses, physical memory, mappings; and what processes share.

use std::ffi::{c_int, c_uint, c_void};

use rtcg_cuda_sys::*;

use super::{driver_functions, unsupported_feature, write_out};
use crate::device::{Device, device_by_ordinal};
use crate::memory::copy::check_device_range;
use crate::memory::mapping::{self, ALLOCATION_GRANULARITY, Access, PHYSICAL_MEMORY, PhysicalMemory};
use crate::stream::context::{current, current_alive_context};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// Handles for other hosts, which need a service that runs with the rights of the system.
const FABRIC_HANDLE_TYPE: u32 = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC.0;
const POSIX_FD_HANDLE_TYPE: u32 = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.0;

/// The device that memory is requested on, none for memory of the host, and the kinds of handles.
///
/// # Safety
/// `prop` is null or valid.
unsafe fn device_of_location(prop: *const CUmemAllocationProp) -> Res<(Option<&'static Device>, u32)> {
    // SAFETY: this function's contract.
    let prop = unsafe { prop.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    ensure(prop.type_ == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, ResultCode::INVALID_VALUE)?;
    let handles = prop.requestedHandleTypes.0;
    ensure(handles & !(POSIX_FD_HANDLE_TYPE | FABRIC_HANDLE_TYPE) == 0, ResultCode::INVALID_VALUE)?;
    ensure(handles & FABRIC_HANDLE_TYPE == 0, ResultCode::NOT_PERMITTED)?;
    ensure(prop.allocFlags.compressionType <= 1, ResultCode::INVALID_VALUE)?;
    let device = match prop.location.type_ {
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => Some(device_by_ordinal(prop.location.id)?),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA => None,
        _ => return ResultCode::INVALID_VALUE.err(),
    };
    Ok((device, handles))
}

fn set_access(ptr: CUdeviceptr, size: usize, wish: CUmemAccessDesc) -> Res {
    if matches!(
        wish.location.type_,
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA
    ) {
        return Err(unsupported_feature("access to mapped memory by the host"));
    }
    let is_device = wish.location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let device = device_by_ordinal(wish.location.id).ok().filter(|_| is_device);
    let ordinal = device.ok_or(ResultCode::INVALID_VALUE)?.ordinal as c_int;
    let access = match wish.flags {
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE => Access::None,
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => Access::Read,
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => Access::ReadWrite,
        _ => return ResultCode::INVALID_VALUE.err(),
    };
    mapping::set_access(ptr, size as u64, ordinal, access)
}

driver_functions! {
    fn cuMemGetAllocationGranularity(granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags) {
        // It is the same for all memory, also for such as cannot be made.
        ensure(option.0 <= 1 && !prop.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(granularity, ALLOCATION_GRANULARITY as usize)
    }

    fn cuMemAddressReserve(ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: u64) {
        // The address is a wish, which must be possible.
        let is_possible = addr.is_multiple_of(ALLOCATION_GRANULARITY);
        ensure(!ptr.is_null() && flags == 0 && is_possible, ResultCode::INVALID_VALUE)?;
        write_out(ptr, mapping::reserve_addresses(size as u64, alignment as u64)?)
    }

    fn cuMemAddressFree(ptr: CUdeviceptr, size: usize) {
        mapping::unreserve_addresses(ptr, size as u64)
    }

    fn cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64) {
        ensure(!handle.is_null() && flags == 0, ResultCode::INVALID_VALUE)?;
        let (device, handle_types) = device_of_location(prop)?;
        let location = ((*prop).location.type_.0, (*prop).location.id);
        write_out(handle, PhysicalMemory::create_physical(size as u64, device, location, handle_types)?)
    }

    fn cuMemRelease(handle: CUmemGenericAllocationHandle) {
        mapping::release_handle(handle)
    }

    fn cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void) {
        ensure(!handle.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(handle, mapping::retain_mapped_handle(addr.addr() as u64)?)
    }

    fn cuMemGetAllocationPropertiesFromHandle(prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle) {
        let memory = PHYSICAL_MEMORY.get_object_or(handle, ResultCode::INVALID_VALUE)?;
        let location = CUmemLocation { type_: CUmemLocationType(memory.location.0), id: memory.location.1 };
        write_out(prop, CUmemAllocationProp {
            type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            requestedHandleTypes: CUmemAllocationHandleType(memory.handle_types),
            location,
            ..Default::default()
        })
    }

    fn cuMemMap(ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64) {
        ensure(flags == 0, ResultCode::INVALID_VALUE)?;
        mapping::map_memory(ptr, size as u64, offset as u64, handle)
    }

    fn cuMemUnmap(ptr: CUdeviceptr, size: usize) {
        // Work that uses the memory is over before it goes.
        let outcome = current_alive_context().map_or(Ok(()), |context| context.synchronize());
        mapping::unmap_memory(ptr, size as u64)?;
        outcome
    }

    fn cuMemSetAccess(ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize) {
        ensure(!desc.is_null() && count > 0, ResultCode::INVALID_VALUE)?;
        (0..count).try_for_each(|i| set_access(ptr, size, desc.add(i).read_unaligned()))
    }

    fn cuMemGetAccess(flags: *mut u64, location: *const CUmemLocation, ptr: CUdeviceptr) {
        let location = location.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        let device = match location.type_ {
            CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => Some(device_by_ordinal(location.id)?.ordinal as c_int),
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => None,
            _ => return ResultCode::INVALID_VALUE.err(),
        };
        let access = mapping::access_of_device(ptr, device);
        // Where nothing is mapped, the call fails and says so, too.
        write_out(flags, u64::from(access.map_or(0, Access::flags)))?;
        ensure(access.is_some(), ResultCode::INVALID_VALUE)
    }

    fn cuMemExportToShareableHandle(shareableHandle: *mut c_void, handle: CUmemGenericAllocationHandle, handleType: CUmemAllocationHandleType, flags: u64) {
        ensure(!shareableHandle.is_null() && flags == 0, ResultCode::INVALID_VALUE)?;
        let memory = PHYSICAL_MEMORY.get_object_or(handle, ResultCode::INVALID_VALUE)?;
        let is_shared = memory.is_imported || memory.handle_types & POSIX_FD_HANDLE_TYPE != 0;
        ensure(handleType.0 == POSIX_FD_HANDLE_TYPE && is_shared, ResultCode::INVALID_VALUE)?;
        write_out(shareableHandle.cast::<c_int>(), memory.export_fd()?)
    }

    fn cuMemImportFromShareableHandle(handle: *mut CUmemGenericAllocationHandle, osHandle: *mut c_void, shHandleType: CUmemAllocationHandleType) {
        ensure(!handle.is_null(), ResultCode::INVALID_VALUE)?;
        if shHandleType.0 != POSIX_FD_HANDLE_TYPE {
            return Err(unsupported_feature("handles of memory other than file descriptors"));
        }
        let fd = c_int::try_from(osHandle.addr()).map_err(|_| ResultCode::UNKNOWN)?;
        write_out(handle, PhysicalMemory::import_fd(fd, current()?.device.ordinal)?)
    }

    fn cuMemMapArrayAsync(mapInfoList: *mut CUarrayMapInfo, count: c_uint, hStream: CUstream) {
        let _ = (mapInfoList, count, hStream);
        Err(unsupported_feature("sparse arrays"))
    }

    fn cuMemGetHandleForAddressRange(handle: *mut c_void, dptr: CUdeviceptr, size: usize, handleType: CUmemRangeHandleType, flags: u64) {
        const PAGE_BYTES: u64 = 4096;
        let is_known = handleType == CUmemRangeHandleType::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD && flags <= 1;
        let is_whole = size > 0 && (size as u64).is_multiple_of(PAGE_BYTES) && dptr.is_multiple_of(PAGE_BYTES);
        ensure(!handle.is_null() && is_known && dptr != 0 && is_whole, ResultCode::INVALID_VALUE)?;
        check_device_range(dptr, size as u64)?;
        Err(unsupported_feature("handles for the memory of address ranges (dma-buf)"))
    }
}
