//! Virtual memory management: addresses, physical memory, mappings; and what processes share.

use std::ffi::{c_int, c_uint, c_void};

use rtcg_cuda_sys::*;

use super::{driver_functions, unsupported, write_out};
use crate::context::{current, current_alive};
use crate::device::{Device, device};
use crate::error::{Code, Res, ensure};
use crate::memory::mapping::{self, GRANULARITY, PHYSICAL, Physical};

const FILE: u32 = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.0;

/// The device that memory is requested on.
///
/// # Safety
/// `prop` is null or valid.
unsafe fn device_of(prop: *const CUmemAllocationProp) -> Res<(&'static Device, u32)> {
    // SAFETY: this function's contract.
    let prop = unsafe { prop.as_ref() }.ok_or(Code::INVALID_VALUE)?;
    ensure(prop.type_ == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Code::INVALID_VALUE)?;
    if prop.location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(unsupported("physical memory that is not on a device"));
    }
    if prop.requestedHandleTypes.0 & !FILE != 0 {
        return Err(unsupported("handles of memory other than file descriptors"));
    }
    Ok((device(prop.location.id)?, prop.requestedHandleTypes.0))
}

fn set_access(ptr: CUdeviceptr, size: usize, wish: CUmemAccessDesc) -> Res {
    if wish.location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(unsupported("access to mapped memory by the host"));
    }
    let ordinal = device(wish.location.id)?.ordinal as c_int;
    match wish.flags {
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE => mapping::set_access(ptr, size as u64, ordinal, false),
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => mapping::set_access(ptr, size as u64, ordinal, true),
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => Err(unsupported("read-only mappings")),
        _ => Code::INVALID_VALUE.err(),
    }
}

driver_functions! {
    fn cuMemGetAllocationGranularity(granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags) {
        ensure(option.0 <= 1, Code::INVALID_VALUE)?;
        device_of(prop)?;
        write_out(granularity, GRANULARITY as usize)
    }

    fn cuMemAddressReserve(ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: u64) {
        // The address is a wish.
        let _ = addr;
        ensure(!ptr.is_null() && flags == 0, Code::INVALID_VALUE)?;
        write_out(ptr, mapping::reserve(size as u64, alignment as u64)?)
    }

    fn cuMemAddressFree(ptr: CUdeviceptr, size: usize) {
        mapping::unreserve(ptr, size as u64)
    }

    fn cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64) {
        ensure(!handle.is_null() && flags == 0, Code::INVALID_VALUE)?;
        let (device, handle_types) = device_of(prop)?;
        write_out(handle, Physical::create(size as u64, device, handle_types)?)
    }

    fn cuMemRelease(handle: CUmemGenericAllocationHandle) {
        mapping::release(handle)
    }

    fn cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void) {
        ensure(!handle.is_null(), Code::INVALID_VALUE)?;
        write_out(handle, mapping::retain_at(addr.addr() as u64)?)
    }

    fn cuMemGetAllocationPropertiesFromHandle(prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle) {
        let memory = PHYSICAL.get_or(handle, Code::INVALID_VALUE)?;
        let location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: memory.device as c_int };
        write_out(prop, CUmemAllocationProp {
            type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            requestedHandleTypes: CUmemAllocationHandleType(memory.handle_types),
            location,
            ..Default::default()
        })
    }

    fn cuMemMap(ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64) {
        ensure(flags == 0, Code::INVALID_VALUE)?;
        mapping::map(ptr, size as u64, offset as u64, handle)
    }

    fn cuMemUnmap(ptr: CUdeviceptr, size: usize) {
        // Work that uses the memory is over before it goes.
        let outcome = current_alive().map_or(Ok(()), |context| context.synchronize());
        mapping::unmap(ptr, size as u64)?;
        outcome
    }

    fn cuMemSetAccess(ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize) {
        ensure(!desc.is_null() && count > 0, Code::INVALID_VALUE)?;
        (0..count).try_for_each(|i| set_access(ptr, size, desc.add(i).read_unaligned()))
    }

    fn cuMemGetAccess(flags: *mut u64, location: *const CUmemLocation, ptr: CUdeviceptr) {
        let location = location.as_ref().ok_or(Code::INVALID_VALUE)?;
        ensure(location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, Code::INVALID_VALUE)?;
        let ordinal = device(location.id)?.ordinal as c_int;
        let has = mapping::access(ptr, ordinal).ok_or(Code::INVALID_VALUE)?;
        write_out(flags, if has { 3 } else { 0 })
    }

    fn cuMemExportToShareableHandle(shareableHandle: *mut c_void, handle: CUmemGenericAllocationHandle, handleType: CUmemAllocationHandleType, flags: u64) {
        ensure(!shareableHandle.is_null() && flags == 0, Code::INVALID_VALUE)?;
        let memory = PHYSICAL.get_or(handle, Code::INVALID_VALUE)?;
        ensure(handleType.0 == FILE && memory.handle_types & FILE != 0, Code::INVALID_VALUE)?;
        write_out(shareableHandle.cast::<c_int>(), memory.export()?)
    }

    fn cuMemImportFromShareableHandle(handle: *mut CUmemGenericAllocationHandle, osHandle: *mut c_void, shHandleType: CUmemAllocationHandleType) {
        ensure(!handle.is_null(), Code::INVALID_VALUE)?;
        if shHandleType.0 != FILE {
            return Err(unsupported("handles of memory other than file descriptors"));
        }
        let fd = c_int::try_from(osHandle.addr()).map_err(|_| Code::INVALID_VALUE)?;
        write_out(handle, Physical::import(fd, current()?.device.ordinal)?)
    }

    fn cuMemMapArrayAsync(mapInfoList: *mut CUarrayMapInfo, count: c_uint, hStream: CUstream) {
        let _ = (mapInfoList, count, hStream);
        Err(unsupported("sparse arrays"))
    }

    fn cuMemGetHandleForAddressRange(handle: *mut c_void, dptr: CUdeviceptr, size: usize, handleType: CUmemRangeHandleType, flags: u64) {
        let _ = (handle, dptr, size, handleType, flags);
        Err(unsupported("handles for the memory of address ranges (dma-buf)"))
    }
}
