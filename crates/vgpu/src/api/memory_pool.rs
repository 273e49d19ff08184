//! Memory in stream order, and memory pools.
//!
//! An allocation in stream order is there when the call returns, which is earlier than asked for;
//! a free happens when it reaches the head of the stream.

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, write_out};
use crate::device::{self, Device, device_by_ordinal};
use crate::driver::stream_and_context;
use crate::graph::{self, GraphMemory, NodeAction, capture};
use crate::memory::heap::MemoryKind;
use crate::memory::ipc::{self, IpcRecord, SharedBlock};
use crate::memory::pool::MemoryPool;
use crate::memory::pool::POOLS;
use crate::stream::context::Context;
use crate::stream::{OperationWork, Stream, StreamPoints};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::memory::{IMPORTED_POOLS_CAN_BE_CHANGED, POOL_HANDLE_TYPES};

/// The default pool of a device, made when it is first asked for.
fn default_pool(device: &Device) -> Res<u64> {
    static DEFAULT_POOLS: OnceLock<Vec<Res<u64>>> = OnceLock::new();
    let make =
        |d: &Device| POOLS.insert_with(|_| Arc::new(MemoryPool::new(d.ordinal, 0, true))).map(|(handle, _)| handle);
    DEFAULT_POOLS.get_or_init(|| device::virtual_devices().iter().map(make).collect())[device.ordinal as usize].clone()
}

fn current_pool(device: &Device) -> Res<u64> {
    match device.pool.load(Ordering::Acquire) {
        0 => default_pool(device),
        handle if POOLS.get_object(handle).is_ok() => Ok(handle),
        _ => default_pool(device),
    }
}

/// A kind of memory at a location: the type and the number of the location, and the type of the memory.
type PoolPlace = (u32, i32, u32);

/// The default pool and the current pool of each place other than a device's own memory, from when they are asked for.
static LOCATION_POOLS: Mutex<BTreeMap<PoolPlace, (u64, u64)>> = Mutex::new(BTreeMap::new());

/// The place that a pool is asked of, and what its memory is. Managed memory may be without a location; ranges of the
/// host have no number.
///
/// # Safety
/// `location` is null or valid.
unsafe fn pool_place(
    location: *const CUmemLocation,
    allocation_type: CUmemAllocationType,
) -> Res<(PoolPlace, MemoryKind)> {
    use CUmemLocationType as T;
    // SAFETY: this function's contract.
    let CUmemLocation { type_: location, id } = *unsafe { location.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    ensure(location != T::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, ResultCode::NOT_SUPPORTED)?;
    let (id, kind) = memory_of_location(CUmemLocation { type_: location, id }, pool_memory_kind(allocation_type)?)?;
    Ok(((location.0, id, allocation_type.0), kind))
}

/// The number of a location, which only devices have, and what memory of a kind is there.
fn memory_of_location(location: CUmemLocation, kind: MemoryKind) -> Res<(i32, MemoryKind)> {
    use CUmemLocationType as T;
    Ok(match location.type_ {
        T::CU_MEM_LOCATION_TYPE_DEVICE => {
            let device = device_by_ordinal(location.id).map_err(|_| ResultCode::INVALID_VALUE)?;
            (device.ordinal as i32, kind)
        }
        T::CU_MEM_LOCATION_TYPE_HOST => (0, host_memory_kind(kind)),
        T::CU_MEM_LOCATION_TYPE_HOST_NUMA if location.id == 0 => (0, host_memory_kind(kind)),
        T::CU_MEM_LOCATION_TYPE_NONE if kind == MemoryKind::Managed => (0, kind),
        _ => return ResultCode::INVALID_VALUE.err(),
    })
}

/// What memory is when it lies on the host and not on a device.
fn host_memory_kind(kind: MemoryKind) -> MemoryKind {
    if kind == MemoryKind::Managed { kind } else { MemoryKind::Host }
}

/// The device whose own memory a place is.
fn device_of_place(place: PoolPlace, kind: MemoryKind) -> Option<&'static Device> {
    if kind == MemoryKind::Device { device_by_ordinal(place.1).ok() } else { None }
}

/// The default and the current pool of a place.
fn pools_of_place(place: PoolPlace, kind: MemoryKind) -> Res<(u64, u64)> {
    if let Some(device) = device_of_place(place, kind) {
        return Ok((default_pool(device)?, current_pool(device)?));
    }
    let mut pools = LOCATION_POOLS.lock().ignore_poison();
    let (default, current) = match pools.get(&place) {
        Some(&known) => known,
        None => {
            let is_device = place.0 == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE.0;
            let mut made = MemoryPool::new(if is_device { place.1 as u32 } else { 0 }, 0, true);
            (made.kind, made.location) = (kind, (place.0, place.1));
            let (handle, _) = POOLS.insert_with(|_| Arc::new(made))?;
            pools.insert(place, (handle, handle));
            (handle, handle)
        }
    };
    // A current pool that was destroyed is none.
    Ok((default, if POOLS.get_object(current).is_ok() { current } else { default }))
}

/// Makes a pool the one of a place, for which it must have been made.
fn set_pool_of_place(place: PoolPlace, kind: MemoryKind, pool: CUmemoryPool) -> Res {
    let found = POOLS.get_object_or(pool.handle_number(), ResultCode::INVALID_VALUE)?;
    let fits = found.location == (place.0, place.1) && found.kind == kind && found.imported == 0;
    ensure(fits, ResultCode::INVALID_VALUE)?;
    if let Some(device) = device_of_place(place, kind) {
        return set_current_pool(device, pool);
    }
    let (default, _) = pools_of_place(place, kind)?;
    LOCATION_POOLS.lock().ignore_poison().insert(place, (default, pool.handle_number()));
    Ok(())
}

/// A pool that this process has made, whose attributes and memory are its own.
fn own_pool(pool: CUmemoryPool) -> Res<Arc<MemoryPool>> {
    let found = POOLS.get_object_or(pool.handle_number(), ResultCode::INVALID_VALUE)?;
    ensure(found.imported == 0 || IMPORTED_POOLS_CAN_BE_CHANGED, ResultCode::INVALID_VALUE)?;
    Ok(found)
}

fn alloc_from_pool(ctx: &Context, size: usize, pool_handle: u64) -> Res<u64> {
    let pool = POOLS.get_object_or(pool_handle, ResultCode::INVALID_VALUE)?;
    ensure(pool.serves_device(ctx.device.ordinal) && pool.imported == 0, ResultCode::INVALID_VALUE)?;
    if size == 0 {
        // As on a real driver; freeing the null pointer is success, too.
        return Ok(0);
    }
    let block = ctx.alloc_with_retry(size, pool.kind, pool_handle, 0)?;
    if let Err(error) = pool.charge_allocation(block.size) {
        // The block was not charged to the pool, so it must not be given back to it.
        let freed = crate::memory::account::device_heap()?.free_block(block.start)?;
        ctx.device.uncharge_memory(freed.charged);
        return Err(error);
    }
    Ok(block.start)
}

/// The address of an allocation node if the stream is capturing.
fn capture_alloc_node(ctx: &Context, stream: &Stream, size: usize) -> Res<Option<u64>> {
    let Some(place) = capture::capture_of_stream(stream) else { return Ok(None) };
    if size == 0 {
        return Ok(Some(0));
    }
    let mut start = 0;
    let params = CUDA_MEM_ALLOC_NODE_PARAMS { bytesize: size, ..Default::default() };
    let captured = capture::capture_operation(stream, || {
        let memory = GraphMemory::for_node(&place.capture.graph(), &place.after, ctx, MemoryKind::Device, params)?;
        start = memory.start;
        Ok(NodeAction::Alloc(memory))
    })?;
    Ok(captured.then_some(start))
}

/// What memory a pool of this type has.
pub(crate) fn pool_memory_kind(allocation_type: CUmemAllocationType) -> Res<MemoryKind> {
    match allocation_type {
        CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED => Ok(MemoryKind::Device),
        CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED => Ok(MemoryKind::Managed),
        _ => ResultCode::INVALID_VALUE.err(),
    }
}

/// A pool with these properties.
fn pool_from_props(props: &CUmemPoolProps) -> Res<MemoryPool> {
    let kind = pool_memory_kind(props.allocType)?;
    ensure(POOL_HANDLE_TYPES.contains(&props.handleTypes.0), ResultCode::INVALID_VALUE)?;
    let (id, kind) = memory_of_location(props.location, kind)?;
    let device = id as u32;
    let mut made = MemoryPool::new(device, props.maxSize as u64, false);
    (made.kind, made.location) = (kind, (props.location.type_.0, id));
    if props.handleTypes.0 == 1 {
        let place = SharedBlock { device: u64::from(device), ..SharedBlock::default() };
        made.ipc_record = Some(IpcRecord::new(ipc::IpcKind::Pool, place)?);
    }
    Ok(made)
}

/// A right to a pool's memory that a program wants to give: to a device, which keeps its right to read and write its own.
fn checked_pool_access(pool: &MemoryPool, right: &CUmemAccessDesc) -> Res<(u32, CUmemAccess_flags)> {
    use CUmemAccess_flags as F;
    let is_device = right.location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    ensure(is_device && right.flags != F::CU_MEM_ACCESS_FLAGS_PROT_READ, ResultCode::NOT_SUPPORTED)?;
    let device = device_by_ordinal(right.location.id)?.ordinal;
    match right.flags {
        F::CU_MEM_ACCESS_FLAGS_PROT_NONE if device == pool.device => ResultCode::INVALID_DEVICE.err(),
        F::CU_MEM_ACCESS_FLAGS_PROT_NONE | F::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => Ok((device, right.flags)),
        _ => ResultCode::INVALID_VALUE.err(),
    }
}

/// What a location may do with a pool's memory; the host reaches that of the host and what is managed.
fn pool_access_of_location(pool: &MemoryPool, location: CUmemLocation) -> Res<CUmemAccess_flags> {
    use CUmemLocationType as T;
    match location.type_ {
        T::CU_MEM_LOCATION_TYPE_DEVICE => {
            let device = device_by_ordinal(location.id).map_err(|_| ResultCode::INVALID_VALUE)?;
            Ok(pool.device_access(device.ordinal))
        }
        T::CU_MEM_LOCATION_TYPE_HOST
        | T::CU_MEM_LOCATION_TYPE_HOST_NUMA
        | T::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok(match pool.kind {
            MemoryKind::Host | MemoryKind::Managed => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            _ => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
        }),
        _ => ResultCode::INVALID_VALUE.err(),
    }
}

fn set_current_pool(device: &Device, pool: CUmemoryPool) -> Res {
    let found = POOLS.get_object_or(pool.handle_number(), ResultCode::INVALID_VALUE)?;
    let is_local = found.location == (CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE.0, device.ordinal as i32);
    ensure(is_local && found.imported == 0, ResultCode::INVALID_VALUE)?;
    device.pool.store(pool.handle_number(), Ordering::Release);
    Ok(())
}

driver_functions! {
    fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream) {
        ensure(!dptr.is_null(), ResultCode::INVALID_VALUE)?;
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        if let Some(start) = capture_alloc_node(&context, &stream, bytesize)? {
            return write_out(dptr, start);
        }
        capture::refuse_call_unsafe_in_capture()?;
        write_out(dptr, alloc_from_pool(&context, bytesize, current_pool(context.device)?)?)
    }

    fn cuMemAllocFromPoolAsync(dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream) {
        ensure(!dptr.is_null(), ResultCode::INVALID_VALUE)?;
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        if let Some(start) = capture_alloc_node(&context, &stream, bytesize)? {
            return write_out(dptr, start);
        }
        capture::refuse_call_unsafe_in_capture()?;
        write_out(dptr, alloc_from_pool(&context, bytesize, pool.handle_number())?)
    }

    fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) {
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        if dptr == 0 {
            return Ok(());
        }
        if let Some(captured) = capture::capture_of_stream(&stream) {
            // What is no memory of a graph is refused without harm to the capture.
            graph::memory::check_free_node(&captured.capture.graph(), dptr)?;
        }
        if capture::capture_operation(&stream, || Ok(NodeAction::Free(dptr)))? {
            return Ok(());
        }
        capture::refuse_call_unsafe_in_capture()?;
        if let Some(memory) = graph::memory::find_allocation(dptr) {
            // Free at once for launches that are asked for later; what runs keeps the memory.
            graph::memory::release_allocation(dptr).unwrap_or(Ok(()))?;
            let keep = move || { drop(memory); Ok(()) };
            stream.submit_operation(&context, StreamPoints::new(), OperationWork::CleanUp(Box::new(keep)));
            return Ok(());
        }
        let block = crate::memory::account::device_heap()?.find_block(dptr).filter(|b| b.start == dptr);
        let block = block.ok_or(ResultCode::INVALID_VALUE)?;
        let is_of_pool = block.owner.pool != 0;
        ensure(is_of_pool || block.kind != MemoryKind::Managed, ResultCode::NOT_SUPPORTED)?;
        ensure(is_of_pool || block.kind == MemoryKind::Device, ResultCode::INVALID_VALUE)?;
        if let Some(_turn) = stream.try_run_inline(&context) {
            return crate::memory::account::free_block(dptr);
        }
        stream.submit_operation(&context, StreamPoints::new(), OperationWork::CleanUp(Box::new(move || crate::memory::account::free_block(dptr))));
        Ok(())
    }

    fn cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice) {
        write_out(pool_out, CUmemoryPool::from_handle_number(default_pool(device_by_ordinal(dev)?)?))
    }

    fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) {
        write_out(pool, CUmemoryPool::from_handle_number(current_pool(device_by_ordinal(dev)?)?))
    }

    fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) {
        set_current_pool(device_by_ordinal(dev)?, pool)
    }

    fn cuMemGetDefaultMemPool(pool_out: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType) {
        ensure(!pool_out.is_null(), ResultCode::INVALID_VALUE)?;
        let (place, kind) = pool_place(location, type_)?;
        write_out(pool_out, CUmemoryPool::from_handle_number(pools_of_place(place, kind)?.0))
    }

    fn cuMemGetMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType) {
        ensure(!pool.is_null(), ResultCode::INVALID_VALUE)?;
        let (place, kind) = pool_place(location, type_)?;
        write_out(pool, CUmemoryPool::from_handle_number(pools_of_place(place, kind)?.1))
    }

    fn cuMemSetMemPool(location: *mut CUmemLocation, type_: CUmemAllocationType, pool: CUmemoryPool) {
        let (place, kind) = pool_place(location, type_)?;
        set_pool_of_place(place, kind, pool)
    }

    fn cuMemPoolCreate(pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps) {
        ensure(!pool.is_null(), ResultCode::INVALID_VALUE)?;
        capture::refuse_call_unsafe_in_capture()?;
        let props = poolProps.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        let made = pool_from_props(props)?;
        let (handle, _) = POOLS.insert_with(|_| Arc::new(made))?;
        write_out(pool, CUmemoryPool::from_handle_number(handle))
    }

    fn cuMemPoolDestroy(pool: CUmemoryPool) {
        ensure(!own_pool(pool)?.is_default, ResultCode::INVALID_VALUE)?;
        capture::refuse_call_unsafe_in_capture()?;
        // Blocks that are still in use stay until they are freed.
        POOLS.remove_object_or(pool.handle_number(), ResultCode::INVALID_VALUE).map(drop)
    }

    fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize) {
        let pool = own_pool(pool)?;
        capture::refuse_call_unsafe_in_capture()?;
        pool.trim_to(minBytesToKeep as u64);
        crate::memory::account::device_heap()?.trim_free_pages();
        Ok(())
    }

    fn cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        let pool = own_pool(pool)?;
        ensure(!value.is_null(), ResultCode::INVALID_VALUE)?;
        capture::refuse_call_unsafe_in_capture()?;
        match attr.0 {
            1..=3 => pool.reuse[attr.0 as usize - 1].store(c_int::from(value.cast::<c_int>().read_unaligned() != 0), Ordering::Relaxed),
            4 => pool.release_threshold.store(value.cast::<u64>().read_unaligned(), Ordering::Relaxed),
            6 | 8 => {
                ensure(value.cast::<u64>().read_unaligned() == 0, ResultCode::INVALID_VALUE)?;
                pool.change_usage(|usage| if attr.0 == 6 { usage.reserved_high = usage.reserved } else { usage.used_high = usage.used });
            }
            _ => return ResultCode::INVALID_VALUE.err(),
        }
        Ok(())
    }

    fn cuMemPoolGetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        let pool = own_pool(pool)?;
        let usage = pool.usage();
        match attr.0 {
            1..=3 => write_out(value.cast::<c_int>(), pool.reuse[attr.0 as usize - 1].load(Ordering::Relaxed)),
            4 => write_out(value.cast::<u64>(), pool.release_threshold.load(Ordering::Relaxed)),
            5 => write_out(value.cast::<u64>(), usage.reserved),
            6 => write_out(value.cast::<u64>(), usage.reserved_high),
            7 => write_out(value.cast::<u64>(), usage.used),
            8 => write_out(value.cast::<u64>(), usage.used_high),
            _ => ResultCode::INVALID_VALUE.err(),
        }
    }

    fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) {
        let pool = POOLS.get_object_or(pool.handle_number(), ResultCode::INVALID_VALUE)?;
        ensure(count == 0 || !map.is_null(), ResultCode::INVALID_VALUE)?;
        capture::refuse_call_unsafe_in_capture()?;
        let mut access_rights = Vec::with_capacity(count);
        for i in 0..count {
            access_rights.push(checked_pool_access(&pool, &map.add(i).read_unaligned())?);
        }
        // All virtual devices share one memory: only kernels that are checked look at this.
        access_rights.into_iter().for_each(|(device, flags)| pool.set_pool_access(device, flags));
        Ok(())
    }

    fn cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation) {
        let pool = POOLS.get_object_or(memPool.handle_number(), ResultCode::INVALID_VALUE)?;
        let location = location.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        write_out(flags, pool_access_of_location(&pool, *location)?)
    }
}
