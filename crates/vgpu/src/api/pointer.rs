//! What is known about an address, and hints about managed memory.

use std::ffi::{c_int, c_uint, c_void};

use rtcg_cuda_sys::*;

use super::{Handle, copy, driver_functions, write_out};
use crate::device;
use crate::driver;
use crate::graph::{self, capture};
use crate::memory::copy::check_device_range;
use crate::memory::heap::MemoryKind;
use crate::memory::hints::{self, HintKind};
use crate::memory::pool::POOLS;
use crate::memory::{globals, mapping, synchronous_copies};
use crate::stream::context::{CONTEXTS, current};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::memory::{
    HINT_PAGE_BYTES, MANAGED_COPIES_ARE_SYNCHRONOUS, MAPPED_RANGE_IS_RESERVATION, MEMORY_BLOCK_BYTES,
    POOL_MEMORY_HAS_CONTEXT, POOL_RESERVATION_BYTES,
};
use rtcg_vgpu_exec::address_space::AddressSpace;
use rtcg_vgpu_exec::host_ranges;

/// An address in memory that the device knows.
struct AddressInfo {
    start: u64,
    size: u64,
    ctx: u64,
    device: u32,
    kind: MemoryKind,
    id: u64,
    pool: u64,
    /// Memory is mapped in blocks of so many bytes; 0 where the allocation is the mapping.
    mapping_unit: u64,
    /// Address and length that are told; `None` for those of the allocation.
    range: Option<(u64, u64)>,
    /// Kinds of handles that the memory can be exported by.
    handle_types: u32,
}

impl AddressInfo {
    /// The first address and the bytes of the blocks of memory that the allocation shares; what a program has mapped or
    /// registered itself is a mapping of its own.
    fn mapping(&self) -> (u64, u64) {
        let unit = match self.mapping_unit {
            0 => return (self.start, self.size),
            unit => unit,
        };
        let base = self.start - self.start % unit;
        (base, (self.start + self.size).next_multiple_of(unit) - base)
    }
}

/// Kinds of handles that memory of a pool can be exported by.
fn pool_handle_types(pool: u64) -> u32 {
    let is_shared = pool != 0 && POOLS.get_object(pool).is_ok_and(|pool| pool.ipc_record.is_some());
    if is_shared { CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.0 } else { 0 }
}

/// Whether the program wants memory to be copied synchronously.
pub(crate) fn is_copied_synchronously(address: u64) -> bool {
    let wish = |known: AddressInfo| synchronous_copies::get(known.id, known.start);
    synchronous_copies::is_any_set() && find_address_info(address).and_then(wish).unwrap_or(false)
}

fn find_address_info(address: u64) -> Option<AddressInfo> {
    if let Some(b) = crate::memory::account::device_heap().ok()?.find_block(address) {
        if graph::memory::is_unallocated(b.start) {
            return None;
        }
        return Some(AddressInfo {
            start: b.start,
            size: b.size,
            ctx: if b.owner.pool == 0 || POOL_MEMORY_HAS_CONTEXT { b.owner.ctx } else { 0 },
            device: b.owner.device,
            kind: b.kind,
            id: b.id,
            pool: b.owner.pool,
            mapping_unit: if b.owner.pool == 0 { MEMORY_BLOCK_BYTES } else { POOL_RESERVATION_BYTES },
            range: None,
            handle_types: pool_handle_types(b.owner.pool),
        });
    }
    if let Some(g) = globals::find_global(address) {
        let kind = if g.managed { MemoryKind::Managed } else { MemoryKind::Device };
        return Some(AddressInfo {
            start: g.start,
            size: g.size,
            ctx: g.ctx,
            device: g.device,
            kind,
            id: g.module,
            pool: 0,
            mapping_unit: MEMORY_BLOCK_BYTES,
            range: None,
            handle_types: 0,
        });
    }
    if let Some(m) = mapping::find_mapping(address) {
        // Mapped memory belongs to no context.
        let (start, size) = (m.start, m.len);
        return Some(AddressInfo {
            start,
            size,
            ctx: 0,
            device: m.device,
            kind: MemoryKind::Device,
            id: start,
            pool: 0,
            mapping_unit: 0,
            range: MAPPED_RANGE_IS_RESERVATION.then_some(m.reservation),
            handle_types: m.handle_types,
        });
    }
    let r = host_ranges::find_registration(address)?;
    Some(AddressInfo {
        start: r.start,
        size: r.len,
        ctx: r.ctx,
        device: 0,
        kind: MemoryKind::Host,
        id: r.start,
        pool: 0,
        mapping_unit: 0,
        range: None,
        handle_types: 0,
    })
}

/// Whether the kernels of the calling thread's context may not use another device's memory at `address`.
fn is_peer_access_refused(address: u64) -> bool {
    current().is_ok_and(|context| context.peers.device_without_peer_access(address).is_some())
}

/// Writes the value of an attribute of a known address.
///
/// # Safety
/// `data` is null or valid for the attribute's type.
unsafe fn write_attribute(data: *mut c_void, attribute: CUpointer_attribute, known: &AddressInfo, address: u64) -> Res {
    use CUpointer_attribute as A;
    let memory_type = if known.kind == MemoryKind::Host {
        CUmemorytype::CU_MEMORYTYPE_HOST
    } else {
        CUmemorytype::CU_MEMORYTYPE_DEVICE
    };
    // SAFETY: each arm writes the type that the attribute's documentation states.
    unsafe {
        match attribute {
            A::CU_POINTER_ATTRIBUTE_CONTEXT => {
                let handle = CONTEXTS.find_object(|c| c.id == known.ctx).map_or(0, |c| c.handle);
                write_out(data.cast(), CUcontext::from_handle_number(handle))
            }
            A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => write_out(data.cast(), memory_type),
            // Kernels reach it all the same, but are told by the rules of several GPUs.
            A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER if is_peer_access_refused(address) => {
                ResultCode::INVALID_VALUE.err()
            }
            A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => write_out(data.cast(), address),
            // Plain device memory has no host address in CUDA's terms, although it has one here.
            A::CU_POINTER_ATTRIBUTE_HOST_POINTER if known.kind.is_device() => ResultCode::INVALID_VALUE.err(),
            A::CU_POINTER_ATTRIBUTE_HOST_POINTER => write_out(data.cast(), address),
            A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
                let default = known.kind == MemoryKind::Managed && MANAGED_COPIES_ARE_SYNCHRONOUS;
                let is_synchronous = synchronous_copies::get(known.id, known.start).unwrap_or(default);
                write_out(data.cast(), c_int::from(is_synchronous))
            }
            A::CU_POINTER_ATTRIBUTE_BUFFER_ID | A::CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID => {
                write_out(data.cast(), known.id)
            }
            A::CU_POINTER_ATTRIBUTE_IS_MANAGED => {
                write_out(data.cast::<c_uint>(), c_uint::from(known.kind == MemoryKind::Managed))
            }
            A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => write_out(data.cast(), known.device as c_int),
            A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE => {
                let is_plain = crate::memory::account::device_heap()?
                    .find_block(address)
                    .is_some_and(|b| b.kind == MemoryKind::Device && b.owner.pool == 0);
                write_out(data.cast::<c_uint>(), c_uint::from(is_plain))
            }
            A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE | A::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => {
                write_out(data.cast::<c_uint>(), 0)
            }
            A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => {
                write_out(data.cast(), known.range.map_or(known.start, |r| r.0))
            }
            A::CU_POINTER_ATTRIBUTE_RANGE_SIZE => write_out(data.cast(), known.range.map_or(known.size, |r| r.1)),
            A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR => write_out(data.cast(), known.mapping().0),
            A::CU_POINTER_ATTRIBUTE_MAPPING_SIZE => write_out(data.cast(), known.mapping().1),
            A::CU_POINTER_ATTRIBUTE_MAPPED => write_out(data.cast::<c_uint>(), 1),
            A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => {
                write_out(data.cast::<u64>(), u64::from(known.handle_types))
            }
            A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS if let Some(flags) = mapped_access_flags(address) => {
                write_out(data.cast(), flags)
            }
            A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => {
                let refused = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
                let allowed = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
                write_out(data.cast(), if is_peer_access_refused(address) { refused } else { allowed })
            }
            A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => write_out(data.cast(), known.pool),
            _ => ResultCode::INVALID_VALUE.err(),
        }
    }
}

/// What the current context's device, or without one any device, may do with mapped memory.
fn mapped_access_flags(address: u64) -> Option<u32> {
    let device = current().ok().map(|context| context.device.ordinal as c_int);
    mapping::access_of_device(address, device).map(mapping::Access::flags)
}

/// Bytes that an attribute's value takes.
fn attribute_bytes(attribute: CUpointer_attribute) -> usize {
    match attribute.0 {
        2 | 6 | 8 | 9 | 10 | 13 | 15 | 16 | 21 => 4,
        5 => 16,
        _ => 8,
    }
}

/// The allocation that a hint is about, which must be managed. Hints change nothing here, but wrong
/// ranges are told.
fn find_managed_allocation(address: u64, count: usize) -> Res<(u64, u64)> {
    ensure(count > 0, ResultCode::INVALID_VALUE)?;
    check_device_range(address, count as u64)?;
    let known =
        find_address_info(address).filter(|k| k.kind == MemoryKind::Managed).ok_or(ResultCode::INVALID_VALUE)?;
    Ok((known.id, known.start))
}

fn check_device_or_cpu(device: c_int) -> Res {
    ensure(device == CU_DEVICE_CPU || device::device_by_ordinal(device).is_ok(), ResultCode::INVALID_DEVICE)
}

/// The device of a location; all of the host is one. Only the first node of the host's memory has a number.
pub(crate) fn location_device(location: CUmemLocation) -> Res<c_int> {
    use CUmemLocationType as T;
    let node_exists = location.type_ != T::CU_MEM_LOCATION_TYPE_HOST_NUMA || location.id == 0;
    match location.type_ {
        T::CU_MEM_LOCATION_TYPE_DEVICE => {
            let device = device::device_by_ordinal(location.id).map_err(|_| ResultCode::INVALID_VALUE)?;
            Ok(device.ordinal as c_int)
        }
        T::CU_MEM_LOCATION_TYPE_HOST
        | T::CU_MEM_LOCATION_TYPE_HOST_NUMA
        | T::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
            if node_exists =>
        {
            Ok(CU_DEVICE_CPU)
        }
        _ => ResultCode::INVALID_VALUE.err(),
    }
}

/// The pages of an allocation that a range touches, as a start and a length: hints are about whole pages.
fn touched_pages(allocation_start: u64, address: u64, count: usize) -> (u64, u64) {
    let offset = address - allocation_start;
    let first = offset - offset % HINT_PAGE_BYTES;
    (allocation_start + first, (offset + count as u64).next_multiple_of(HINT_PAGE_BYTES) - first)
}

/// `place` is asked for only by the kinds of advice that name one.
fn advise_range(address: u64, count: usize, advice: CUmem_advise, place: impl FnOnce() -> Res<c_int>) -> Res {
    current()?;
    let allocation = find_managed_allocation(address, count)?;
    let (subject, value) = match advice.0 {
        1 => (HintKind::ReadMostly, Some(1)),
        2 => (HintKind::ReadMostly, None),
        3 => (HintKind::PreferredLocation, Some(place()?)),
        4 => (HintKind::PreferredLocation, None),
        5 => (HintKind::AccessedBy(place()?), Some(1)),
        _ => (HintKind::AccessedBy(place()?), None),
    };
    let (start, len) = touched_pages(allocation.1, address, count);
    hints::set_hint(allocation, subject, start, len, value);
    Ok(())
}

fn prefetch_range(address: u64, count: usize, kind: CUmemLocationType, place: c_int) -> Res {
    let allocation = find_managed_allocation(address, count)?;
    let (start, len) = touched_pages(allocation.1, address, count);
    hints::set_hint(allocation, HintKind::LastPrefetch, start, len, Some(place));
    hints::set_hint(allocation, HintKind::LastPrefetchKind, start, len, Some(kind.0 as i32));
    Ok(())
}

/// Ranges of managed memory that a call names at once.
///
/// # Safety
/// `starts` and `sizes` are null or have `count` elements.
unsafe fn batch_ranges(starts: *const CUdeviceptr, sizes: *const usize, count: usize) -> Res<Vec<(u64, usize)>> {
    ensure(count > 0 && !starts.is_null() && !sizes.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    let range = |i| unsafe { (starts.add(i).read_unaligned(), sizes.add(i).read_unaligned()) };
    let ranges: Vec<_> = (0..count).map(range).collect();
    ranges.iter().try_for_each(|&(start, size)| find_managed_allocation(start, size).map(drop))?;
    Ok(ranges)
}

/// Prefetches each range of a batch to the location that counts for it.
///
/// # Safety
/// `locations` and `firsts` are null or have `n` elements.
unsafe fn prefetch_batch(
    ranges: Vec<(u64, usize)>,
    locations: *const CUmemLocation,
    firsts: *const usize,
    n: usize,
) -> Res {
    let read = |location: CUmemLocation| Ok((location.type_, location_device(location)?));
    // SAFETY: this function's contract.
    let places = unsafe { copy::batch_entries(locations, firsts, n, ranges.len(), read) }?;
    ranges
        .into_iter()
        .zip(places)
        .try_for_each(|((start, size), (kind, place))| prefetch_range(start, size, kind, place))
}

/// The stream of a batch of hints.
fn check_hint_batch(flags: u64, stream: CUstream) -> Res {
    ensure(flags == 0, ResultCode::INVALID_VALUE)?;
    capture::refuse_if_capturing(&copy::batch_queue(stream)?.stream)
}

/// The number of a location of a kind and device; ranges of the host have none, and nodes of its memory are the first.
fn location_id(kind: CUmemLocationType, device: Option<c_int>) -> c_int {
    use CUmemLocationType as T;
    match kind {
        T::CU_MEM_LOCATION_TYPE_HOST_NUMA | T::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => 0,
        _ => device.unwrap_or(CU_DEVICE_INVALID),
    }
}

/// Writes what is known about a range of managed memory.
///
/// # Safety
/// `data` is null or valid for `size` bytes.
unsafe fn write_range_attribute(data: *mut c_void, size: usize, attribute: c_uint, address: u64, count: usize) -> Res {
    current()?;
    let allocation = find_managed_allocation(address, count)?;
    ensure(!data.is_null() && size >= 4 && size.is_multiple_of(4), ResultCode::INVALID_VALUE)?;
    ensure(size == 4 || attribute == 3, ResultCode::INVALID_VALUE)?;
    let get = |subject| hints::get_hint(allocation, subject, address, count as u64);
    let kind = |place: Option<c_int>| match place {
        None => CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID,
        Some(CU_DEVICE_CPU) => CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST,
        Some(_) => CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
    };
    let (preferred, last) = (|| get(HintKind::PreferredLocation), || get(HintKind::LastPrefetch));
    let last_kind = || CUmemLocationType(get(HintKind::LastPrefetchKind).unwrap_or(0) as _);
    let value = match attribute {
        1 => get(HintKind::ReadMostly).unwrap_or(0),
        2 => preferred().unwrap_or(CU_DEVICE_INVALID),
        4 => last().unwrap_or(CU_DEVICE_INVALID),
        5 => kind(preferred()).0 as c_int,
        6 => location_id(kind(preferred()), preferred()),
        7 => last_kind().0 as c_int,
        8 => location_id(last_kind(), last()),
        3 => {
            let ordinals = (0..device::virtual_devices().len() as c_int).chain(std::iter::once(CU_DEVICE_CPU));
            let mut users = ordinals.filter(|&d| get(HintKind::AccessedBy(d)).is_some());
            for i in 0..size / 4 {
                // SAFETY: `i` is within the `size` bytes.
                unsafe { write_out(data.cast::<c_int>().add(i), users.next().unwrap_or(CU_DEVICE_INVALID))? };
            }
            return Ok(());
        }
        _ => return ResultCode::INVALID_VALUE.err(),
    };
    // SAFETY: `data` has four bytes.
    unsafe { write_out(data.cast(), value) }
}

driver_functions! {
    fn cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr) {
        let known = find_address_info(ptr).ok_or(ResultCode::INVALID_VALUE)?;
        write_attribute(data, attribute, &known, ptr)
    }

    fn cuPointerGetAttributes(numAttributes: c_uint, attributes: *mut CUpointer_attribute, data: *mut *mut c_void, ptr: CUdeviceptr) {
        ensure(numAttributes > 0 && !attributes.is_null() && !data.is_null(), ResultCode::INVALID_VALUE)?;
        let known = find_address_info(ptr);
        for i in 0..numAttributes as usize {
            let (attribute, place) = (*attributes.add(i), *data.add(i));
            ensure(!place.is_null() && (1..=21).contains(&attribute.0), ResultCode::INVALID_VALUE)?;
            // What an address does not have is zero; only wrong attributes are errors.
            let given = known.as_ref().map(|k| write_attribute(place, attribute, k, ptr));
            if !matches!(given, Some(Ok(()))) {
                place.cast::<u8>().write_bytes(0, attribute_bytes(attribute));
            }
            if known.is_none() && attribute == CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL {
                write_out(place.cast::<c_int>(), CU_DEVICE_INVALID)?;
            }
        }
        Ok(())
    }

    fn cuPointerSetAttribute(value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr) {
        ensure(!value.is_null() && attribute == CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ResultCode::INVALID_VALUE)?;
        let known = find_address_info(ptr).ok_or(ResultCode::INVALID_VALUE)?;
        synchronous_copies::set(known.id, known.start, value.cast::<c_uint>().read_unaligned() != 0);
        Ok(())
    }

    fn cuMemAdvise(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation) {
        ensure((1..=6).contains(&advice.0), ResultCode::INVALID_VALUE)?;
        advise_range(devPtr, count, advice, || location_device(location))
    }

    fn cuMemAdvise_v1(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice) {
        ensure((1..=6).contains(&advice.0), ResultCode::INVALID_VALUE)?;
        advise_range(devPtr, count, advice, || check_device_or_cpu(device).map(|()| device))
    }

    fn cuMemPrefetchAsync(devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, hStream: CUstream) {
        ensure(flags == 0, ResultCode::INVALID_VALUE)?;
        let (_, stream) = driver::stream_and_context(hStream.handle_number())?;
        capture::refuse_if_capturing(&stream)?;
        prefetch_range(devPtr, count, location.type_, location_device(location)?)
    }

    fn cuMemPrefetchAsync_v1(devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream) {
        check_device_or_cpu(dstDevice)?;
        let (_, stream) = driver::stream_and_context(hStream.handle_number())?;
        capture::refuse_if_capturing(&stream)?;
        let on_host = dstDevice == CU_DEVICE_CPU;
        let kind = if on_host { CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST } else { CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE };
        prefetch_range(devPtr, count, kind, dstDevice)
    }

    fn cuMemPrefetchBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream) {
        check_hint_batch(flags, hStream)?;
        prefetch_batch(batch_ranges(dptrs, sizes, count)?, prefetchLocs, prefetchLocIdxs, numPrefetchLocs)
    }

    fn cuMemDiscardBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: u64, hStream: CUstream) {
        // What is discarded may be read as anything until it is written, also as what it was.
        check_hint_batch(flags, hStream)?;
        batch_ranges(dptrs, sizes, count).map(drop)
    }

    fn cuMemDiscardAndPrefetchBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream) {
        // What is discarded stays as it was.
        check_hint_batch(flags, hStream)?;
        prefetch_batch(batch_ranges(dptrs, sizes, count)?, prefetchLocs, prefetchLocIdxs, numPrefetchLocs)
    }

    fn cuMemRangeGetAttribute(data: *mut c_void, dataSize: usize, attribute: CUmem_range_attribute, devPtr: CUdeviceptr, count: usize) {
        write_range_attribute(data, dataSize, attribute.0 as c_uint, devPtr, count)
    }

    fn cuMemRangeGetAttributes(data: *mut *mut c_void, dataSizes: *mut usize, attributes: *mut CUmem_range_attribute, numAttributes: usize, devPtr: CUdeviceptr, count: usize) {
        ensure(!data.is_null() && !dataSizes.is_null() && !attributes.is_null() && numAttributes > 0, ResultCode::INVALID_VALUE)?;
        (0..numAttributes).try_for_each(|i| {
            let (place, size, attribute) = (*data.add(i), *dataSizes.add(i), *attributes.add(i));
            write_range_attribute(place, size, attribute.0 as c_uint, devPtr, count)
        })
    }
}
