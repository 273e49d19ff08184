//! Virtual memory management: addresses, physical memory, mappings; and what processes share.

use std::ffi::{c_int, c_uint, c_void};

use rtcg_cuda_sys::*;

use super::{driver_functions, unsupported_feature, write_out};
use crate::device::{Device, device_by_ordinal};
use crate::memory::mapping::{self, ALLOCATION_GRANULARITY, PHYSICAL_MEMORY, PhysicalMemory};
use crate::stream::context::{current, current_alive_context};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

const POSIX_FD_HANDLE_TYPE: u32 = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.0;

/// The device that memory is requested on.
///
/// # Safety
/// `prop` is null or valid.
unsafe fn device_of_location(prop: *const CUmemAllocationProp) -> Res<(&'static Device, u32)> {
    // SAFETY: this function's contract.
    let prop = unsafe { prop.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    ensure(prop.type_ == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, ResultCode::INVALID_VALUE)?;
    if prop.location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(unsupported_feature("physical memory that is not on a device"));
    }
    if prop.requestedHandleTypes.0 & !POSIX_FD_HANDLE_TYPE != 0 {
        return Err(unsupported_feature("handles of memory other than file descriptors"));
    }
    Ok((device_by_ordinal(prop.location.id)?, prop.requestedHandleTypes.0))
}

fn set_access(ptr: CUdeviceptr, size: usize, wish: CUmemAccessDesc) -> Res {
    if wish.location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(unsupported_feature("access to mapped memory by the host"));
    }
    let ordinal = device_by_ordinal(wish.location.id)?.ordinal as c_int;
    match wish.flags {
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE => mapping::set_access(ptr, size as u64, ordinal, false),
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => mapping::set_access(ptr, size as u64, ordinal, true),
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => Err(unsupported_feature("read-only mappings")),
        _ => ResultCode::INVALID_VALUE.err(),
    }
}

driver_functions! {
    fn cuMemGetAllocationGranularity(granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags) {
        ensure(option.0 <= 1, ResultCode::INVALID_VALUE)?;
        device_of_location(prop)?;
        write_out(granularity, ALLOCATION_GRANULARITY as usize)
    }

    fn cuMemAddressReserve(ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: u64) {
        // The address is a wish.
        let _ = addr;
        ensure(!ptr.is_null() && flags == 0, ResultCode::INVALID_VALUE)?;
        write_out(ptr, mapping::reserve_addresses(size as u64, alignment as u64)?)
    }

    fn cuMemAddressFree(ptr: CUdeviceptr, size: usize) {
        mapping::unreserve_addresses(ptr, size as u64)
    }

    fn cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64) {
        ensure(!handle.is_null() && flags == 0, ResultCode::INVALID_VALUE)?;
        let (device, handle_types) = device_of_location(prop)?;
        write_out(handle, PhysicalMemory::create_physical(size as u64, device, handle_types)?)
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
        let location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: memory.device as c_int };
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
        ensure(location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, ResultCode::INVALID_VALUE)?;
        let ordinal = device_by_ordinal(location.id)?.ordinal as c_int;
        let has = mapping::device_has_access(ptr, ordinal).ok_or(ResultCode::INVALID_VALUE)?;
        write_out(flags, if has { 3 } else { 0 })
    }

    fn cuMemExportToShareableHandle(shareableHandle: *mut c_void, handle: CUmemGenericAllocationHandle, handleType: CUmemAllocationHandleType, flags: u64) {
        ensure(!shareableHandle.is_null() && flags == 0, ResultCode::INVALID_VALUE)?;
        let memory = PHYSICAL_MEMORY.get_object_or(handle, ResultCode::INVALID_VALUE)?;
        ensure(handleType.0 == POSIX_FD_HANDLE_TYPE && memory.handle_types & POSIX_FD_HANDLE_TYPE != 0, ResultCode::INVALID_VALUE)?;
        write_out(shareableHandle.cast::<c_int>(), memory.export_fd()?)
    }

    fn cuMemImportFromShareableHandle(handle: *mut CUmemGenericAllocationHandle, osHandle: *mut c_void, shHandleType: CUmemAllocationHandleType) {
        ensure(!handle.is_null(), ResultCode::INVALID_VALUE)?;
        if shHandleType.0 != POSIX_FD_HANDLE_TYPE {
            return Err(unsupported_feature("handles of memory other than file descriptors"));
        }
        let fd = c_int::try_from(osHandle.addr()).map_err(|_| ResultCode::INVALID_VALUE)?;
        write_out(handle, PhysicalMemory::import_fd(fd, current()?.device.ordinal)?)
    }

    fn cuMemMapArrayAsync(mapInfoList: *mut CUarrayMapInfo, count: c_uint, hStream: CUstream) {
        let _ = (mapInfoList, count, hStream);
        Err(unsupported_feature("sparse arrays"))
    }

    fn cuMemGetHandleForAddressRange(handle: *mut c_void, dptr: CUdeviceptr, size: usize, handleType: CUmemRangeHandleType, flags: u64) {
        let _ = (handle, dptr, size, handleType, flags);
        Err(unsupported_feature("handles for the memory of address ranges (dma-buf)"))
    }
}
