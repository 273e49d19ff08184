//! Memory in stream order, and memory pools.
//!
//! An allocation in stream order is there when the call returns, which is earlier than asked for;
//! a free happens when it reaches the head of the stream.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use rtcg_cuda_sys::*;

use super::memory::alloc_with_retry;
use super::{Handle, driver_functions, unsupported, write_out};
use crate::context::Context;
use crate::device::{self, Device, device};
use crate::driver::{self, POOLS, stream_and_context};
use crate::error::{Code, Res, ensure};
use crate::graph::{self, Action, GraphMemory, capture};
use crate::memory::heap::Kind;
use crate::memory::ipc::{self, IpcRecord, SharedBlock};
use crate::objects::Pool;
use crate::stream::{Stream, StreamPoints, Work};

/// The default pool of a device, made when it is first asked for.
fn default_pool(device: &Device) -> Res<u64> {
    static DEFAULTS: OnceLock<Vec<Res<u64>>> = OnceLock::new();
    let make = |d: &Device| POOLS.insert_with(|_| Arc::new(Pool::new(d.ordinal, 0, true))).map(|(handle, _)| handle);
    DEFAULTS.get_or_init(|| device::devices().iter().map(make).collect())[device.ordinal as usize].clone()
}

fn current_pool(device: &Device) -> Res<u64> {
    match device.pool.load(Ordering::Acquire) {
        0 => default_pool(device),
        handle if POOLS.get(handle).is_ok() => Ok(handle),
        _ => default_pool(device),
    }
}

fn alloc(ctx: &Context, size: usize, pool_handle: u64) -> Res<u64> {
    let pool = POOLS.get_or(pool_handle, Code::INVALID_VALUE)?;
    ensure(pool.device == ctx.device.ordinal && pool.imported == 0, Code::INVALID_VALUE)?;
    if size == 0 {
        // As on a real driver; freeing the null pointer is success, too.
        return Ok(0);
    }
    let block = alloc_with_retry(ctx, size, Kind::Device, pool_handle, 0)?;
    if let Err(error) = pool.charge(block.charged) {
        // The block was not charged to the pool, so it must not be given back to it.
        let freed = driver::heap()?.free(block.start)?;
        ctx.device.discharge(freed.charged);
        return Err(error);
    }
    Ok(block.start)
}

/// The address of an allocation node if the stream is capturing.
fn captured_alloc(ctx: &Context, stream: &Stream, size: usize) -> Res<Option<u64>> {
    if size == 0 && capture::of(stream).is_some() {
        return Ok(Some(0));
    }
    let mut start = 0;
    let params = CUDA_MEM_ALLOC_NODE_PARAMS { bytesize: size, ..Default::default() };
    let captured = capture::intercept(stream, || {
        let memory = GraphMemory::new(ctx, params)?;
        start = memory.start;
        Ok(Action::Alloc(memory))
    })?;
    Ok(captured.then_some(start))
}

/// The device of a location, which must be one.
///
/// # Safety
/// `location` is null or valid.
unsafe fn device_of(location: *const CUmemLocation) -> Res<&'static Device> {
    // SAFETY: this function's contract.
    let location = unsafe { location.as_ref() }.ok_or(Code::INVALID_VALUE)?;
    ensure(location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, Code::NOT_SUPPORTED)?;
    device(location.id)
}

fn set_pool(device: &Device, pool: CUmemoryPool) -> Res {
    let found = POOLS.get_or(pool.number(), Code::INVALID_VALUE)?;
    ensure(found.device == device.ordinal && found.imported == 0, Code::INVALID_VALUE)?;
    device.pool.store(pool.number(), Ordering::Release);
    Ok(())
}

driver_functions! {
    fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream) {
        ensure(!dptr.is_null(), Code::INVALID_VALUE)?;
        let (context, stream) = stream_and_context(hStream.number())?;
        if let Some(start) = captured_alloc(&context, &stream, bytesize)? {
            return write_out(dptr, start);
        }
        capture::check_unsafe_call()?;
        write_out(dptr, alloc(&context, bytesize, current_pool(context.device)?)?)
    }

    fn cuMemAllocFromPoolAsync(dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream) {
        ensure(!dptr.is_null(), Code::INVALID_VALUE)?;
        let (context, stream) = stream_and_context(hStream.number())?;
        if let Some(start) = captured_alloc(&context, &stream, bytesize)? {
            return write_out(dptr, start);
        }
        capture::check_unsafe_call()?;
        write_out(dptr, alloc(&context, bytesize, pool.number())?)
    }

    fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) {
        let (context, stream) = stream_and_context(hStream.number())?;
        if dptr == 0 {
            return Ok(());
        }
        if capture::intercept(&stream, || Ok(Action::Free(dptr)))? {
            return Ok(());
        }
        capture::check_unsafe_call()?;
        if graph::memory::find(dptr).is_some() {
            let release = move || graph::memory::release(dptr).unwrap_or(Ok(()));
            stream.submit(&context, StreamPoints::new(), Work::CleanUp(Box::new(release)));
            return Ok(());
        }
        let block = driver::heap()?.find(dptr).filter(|b| {
            b.start == dptr && b.kind != Kind::Host && (b.kind != Kind::Imported || b.owner.pool != 0)
        });
        ensure(block.is_some(), Code::INVALID_VALUE)?;
        if let Some(_turn) = stream.try_run_inline(&context) {
            return driver::free(dptr);
        }
        stream.submit(&context, StreamPoints::new(), Work::CleanUp(Box::new(move || driver::free(dptr))));
        Ok(())
    }

    fn cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice) {
        write_out(pool_out, CUmemoryPool::from_number(default_pool(device(dev)?)?))
    }

    fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) {
        write_out(pool, CUmemoryPool::from_number(current_pool(device(dev)?)?))
    }

    fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) {
        set_pool(device(dev)?, pool)
    }

    fn cuMemGetDefaultMemPool(pool_out: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType) {
        ensure(type_ == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Code::NOT_SUPPORTED)?;
        write_out(pool_out, CUmemoryPool::from_number(default_pool(device_of(location)?)?))
    }

    fn cuMemGetMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType) {
        ensure(type_ == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Code::NOT_SUPPORTED)?;
        write_out(pool, CUmemoryPool::from_number(current_pool(device_of(location)?)?))
    }

    fn cuMemSetMemPool(location: *mut CUmemLocation, type_: CUmemAllocationType, pool: CUmemoryPool) {
        ensure(type_ == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Code::NOT_SUPPORTED)?;
        set_pool(device_of(location)?, pool)
    }

    fn cuMemPoolCreate(pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps) {
        ensure(!pool.is_null(), Code::INVALID_VALUE)?;
        capture::check_unsafe_call()?;
        let props = poolProps.as_ref().ok_or(Code::INVALID_VALUE)?;
        ensure(props.allocType == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Code::INVALID_VALUE)?;
        if props.handleTypes.0 > 1 {
            return Err(unsupported("handles of memory pools other than file descriptors"));
        }
        let device = device_of(&raw const props.location)?;
        let mut made = Pool::new(device.ordinal, props.maxSize as u64, false);
        if props.handleTypes.0 == 1 {
            let place = SharedBlock { device: u64::from(device.ordinal), ..SharedBlock::default() };
            made.ipc_record = Some(IpcRecord::new(ipc::Kind::Pool, place)?);
        }
        let (handle, _) = POOLS.insert_with(|_| Arc::new(made))?;
        write_out(pool, CUmemoryPool::from_number(handle))
    }

    fn cuMemPoolDestroy(pool: CUmemoryPool) {
        let found = POOLS.get_or(pool.number(), Code::INVALID_VALUE)?;
        ensure(!found.is_default, Code::INVALID_VALUE)?;
        capture::check_unsafe_call()?;
        // Blocks that are still in use stay until they are freed.
        POOLS.remove_or(pool.number(), Code::INVALID_VALUE).map(drop)
    }

    fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize) {
        let _ = minBytesToKeep;
        POOLS.get_or(pool.number(), Code::INVALID_VALUE)?;
        capture::check_unsafe_call()?;
        driver::heap()?.trim();
        Ok(())
    }

    fn cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        let pool = POOLS.get_or(pool.number(), Code::INVALID_VALUE)?;
        ensure(!value.is_null(), Code::INVALID_VALUE)?;
        capture::check_unsafe_call()?;
        match attr.0 {
            1..=3 => pool.reuse[attr.0 as usize - 1].store(value.cast::<c_int>().read_unaligned(), Ordering::Relaxed),
            4 => pool.release_threshold.store(value.cast::<u64>().read_unaligned(), Ordering::Relaxed),
            6 | 8 => {
                ensure(value.cast::<u64>().read_unaligned() == 0, Code::INVALID_VALUE)?;
                pool.reset_high_water();
            }
            _ => return Code::INVALID_VALUE.err(),
        }
        Ok(())
    }

    fn cuMemPoolGetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        let pool = POOLS.get_or(pool.number(), Code::INVALID_VALUE)?;
        let (used, high) = pool.usage();
        match attr.0 {
            1..=3 => write_out(value.cast::<c_int>(), pool.reuse[attr.0 as usize - 1].load(Ordering::Relaxed)),
            4 => write_out(value.cast::<u64>(), pool.release_threshold.load(Ordering::Relaxed)),
            // Memory is taken from the device block by block: what is used is what is reserved.
            5 | 7 => write_out(value.cast::<u64>(), used),
            6 | 8 => write_out(value.cast::<u64>(), high),
            _ => Code::INVALID_VALUE.err(),
        }
    }

    fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) {
        let pool = POOLS.get_or(pool.number(), Code::INVALID_VALUE)?;
        ensure(count == 0 || !map.is_null(), Code::INVALID_VALUE)?;
        capture::check_unsafe_call()?;
        let mut access_rights = Vec::with_capacity(count);
        for i in 0..count {
            let right = map.add(i).read_unaligned();
            let device = device_of(&raw const right.location)?;
            let takes_own_access = device.ordinal == pool.device && right.flags != CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            ensure(!takes_own_access, Code::INVALID_VALUE)?;
            access_rights.push((device.ordinal, right.flags));
        }
        // All virtual devices share one memory: only kernels that are checked look at this.
        access_rights.into_iter().for_each(|(device, flags)| pool.set_access(device, flags));
        Ok(())
    }

    fn cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation) {
        let pool = POOLS.get_or(memPool.number(), Code::INVALID_VALUE)?;
        write_out(flags, pool.access(device_of(location)?.ordinal))
    }
}
