//! Allocation: device, pitched, managed, page-locked and registered memory.

use std::ffi::{c_uint, c_void};

use rtcg_cuda_sys::*;

use super::{driver_functions, unsupported, write_optional, write_out};
use crate::context::{Context, current, current_or_owner};
use crate::driver;
use crate::error::{Code, Res, ensure};
use crate::graph::{self, capture};
use crate::memory::heap::{Block, Kind};
use crate::memory::{globals, host, mapping, window};

/// Rows of pitched memory start at multiples of this.
const PITCH_ALIGNMENT: usize = 512;

/// Frees a block of one of the given kinds after all work of the context, as CUDA does. Without a current
/// context that is the block's own.
pub(crate) fn free_after_work(address: u64, kinds: &[Kind]) -> Res {
    ensure(!crate::stream::in_host_call(), Code::NOT_PERMITTED)?;
    let context = crate::context::top().map(|_| crate::context::current_alive()).transpose()?;
    capture::check_unsafe_call()?;
    if address == 0 {
        return Ok(());
    }
    if let Some(outcome) = graph::memory::release(address) {
        return context.map_or(Ok(()), |c| c.synchronize()).and(outcome);
    }
    // Imported blocks of pools are freed like those of the pool itself, others are closed.
    let fits = |b: &Block| kinds.contains(&b.kind) || (b.kind == Kind::Imported && b.owner.pool != 0);
    let block = driver::heap()?.find(address).filter(|b| b.start == address && fits(b));
    if block.is_none() {
        crate::check::leaks::invalid_free(address);
    }
    let block = block.ok_or(Code::INVALID_VALUE)?;
    let outcome = context.map_or_else(|| current_or_owner(block.owner.ctx), Ok)?.synchronize();
    driver::free(address)?;
    // A poisoned context says so at every call; the memory is given back all the same.
    outcome
}

/// [`alloc_with_retry`] for calls that a capture may forbid.
fn alloc_checking_capture(context: &Context, size: usize, kind: Kind, flags: u32) -> Res<Block> {
    capture::check_unsafe_call()?;
    alloc_with_retry(context, size, kind, 0, flags)
}

/// Allocates; if there is no room, once more after the work that may free some.
pub(crate) fn alloc_with_retry(context: &Context, size: usize, kind: Kind, pool: u64, flags: u32) -> Res<Block> {
    match driver::alloc(context, size as u64, kind, pool, flags) {
        Err(error) if error.code == Code::OUT_OF_MEMORY => {
            context.synchronize()?;
            driver::heap()?.trim();
            driver::alloc(context, size as u64, kind, pool, flags)
        }
        outcome => outcome,
    }
}

fn host_alloc(size: usize, flags: u32) -> Res<*mut c_void> {
    ensure(flags & !7 == 0, Code::INVALID_VALUE)?;
    let context = current()?;
    if size == 0 {
        return Ok(std::ptr::null_mut());
    }
    let block = alloc_checking_capture(&context, size, Kind::Host, flags | CU_MEMHOSTALLOC_DEVICEMAP)?;
    Ok(block.start as *mut c_void)
}

/// Whether every page of a range is mapped into this process.
fn is_mapped(start: usize, len: usize) -> bool {
    let page = window::page_size();
    let first = start & !(page - 1);
    let Some(end) = start.checked_add(len).and_then(|e| e.checked_next_multiple_of(page)) else { return false };
    let mut residency = vec![0_u8; (end - first) / page];
    // SAFETY: mincore reads no memory of the range and writes one byte per page of it.
    unsafe { libc::mincore(first as *mut c_void, end - first, residency.as_mut_ptr().cast()) == 0 }
}

driver_functions! {
    fn cuMemGetInfo(free: *mut usize, total: *mut usize) {
        let context = current()?;
        write_optional(free, context.device.free_bytes() as usize);
        write_optional(total, context.device.memory_bytes as usize);
        Ok(())
    }

    fn cuMemAlloc(dptr: *mut CUdeviceptr, bytesize: usize) {
        ensure(!dptr.is_null(), Code::INVALID_VALUE)?;
        write_out(dptr, alloc_checking_capture(&*current()?, bytesize, Kind::Device, 0)?.start)
    }

    fn cuMemAllocPitch(dptr: *mut CUdeviceptr, pPitch: *mut usize, WidthInBytes: usize, Height: usize, ElementSizeBytes: c_uint) {
        ensure(!dptr.is_null() && !pPitch.is_null(), Code::INVALID_VALUE)?;
        ensure(matches!(ElementSizeBytes, 4 | 8 | 16) && WidthInBytes > 0, Code::INVALID_VALUE)?;
        let pitch = WidthInBytes.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(Code::OUT_OF_MEMORY)?;
        let size = pitch.checked_mul(Height).ok_or(Code::OUT_OF_MEMORY)?;
        let block = alloc_checking_capture(&*current()?, size, Kind::Device, 0)?;
        write_out(pPitch, pitch)?;
        write_out(dptr, block.start)
    }

    fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint) {
        ensure(!dptr.is_null() && matches!(flags, 1 | 2), Code::INVALID_VALUE)?;
        write_out(dptr, alloc_checking_capture(&*current()?, bytesize, Kind::Managed, flags)?.start)
    }

    fn cuMemFree(dptr: CUdeviceptr) {
        free_after_work(dptr, &[Kind::Device, Kind::Managed])
    }

    fn cuMemGetAddressRange(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr) {
        current()?;
        let block = driver::heap()?.find(dptr).map(|b| (b.start, b.size));
        let variable = || globals::find(dptr).map(|g| (g.start, g.size));
        let mapped = || mapping::find(dptr).map(|m| (m.start, m.len));
        let (start, size) = block.or_else(variable).or_else(mapped).ok_or(Code::NOT_FOUND)?;
        write_optional(pbase, start);
        write_optional(psize, size as usize);
        Ok(())
    }

    fn cuMemAllocHost(pp: *mut *mut c_void, bytesize: usize) {
        ensure(!pp.is_null(), Code::INVALID_VALUE)?;
        write_out(pp, host_alloc(bytesize, 0)?)
    }

    fn cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: c_uint) {
        ensure(!pp.is_null(), Code::INVALID_VALUE)?;
        write_out(pp, host_alloc(bytesize, Flags)?)
    }

    fn cuMemFreeHost(p: *mut c_void) {
        free_after_work(p.addr() as u64, &[Kind::Host])
    }

    fn cuMemHostGetDevicePointer(pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: c_uint) {
        ensure(Flags == 0, Code::INVALID_VALUE)?;
        current()?;
        let address = p.addr() as u64;
        let is_host_block = driver::heap()?.find(address).is_some_and(|b| !b.kind.is_device());
        ensure(is_host_block || host::find(address).is_some(), Code::INVALID_VALUE)?;
        write_out(pdptr, address)
    }

    fn cuMemHostGetFlags(pFlags: *mut c_uint, p: *mut c_void) {
        current()?;
        let address = p.addr() as u64;
        let block = driver::heap()?.find(address).filter(|b| b.kind == Kind::Host).map(|b| b.flags);
        let flags = block.or_else(|| host::find(address).map(|r| r.flags)).ok_or(Code::INVALID_VALUE)?;
        write_out(pFlags, flags)
    }

    fn cuMemHostRegister(p: *mut c_void, bytesize: usize, Flags: c_uint) {
        ensure(Flags & !15 == 0 && bytesize > 0 && !p.is_null(), Code::INVALID_VALUE)?;
        if Flags & CU_MEMHOSTREGISTER_IOMEMORY != 0 {
            return Err(unsupported("registering memory of devices"));
        }
        let context = current()?;
        capture::check_unsafe_call()?;
        let known = driver::heap()?.find(p.addr() as u64);
        ensure(!known.as_ref().is_some_and(|b| b.kind.is_device()), Code::INVALID_VALUE)?;
        ensure(known.is_none(), Code::HOST_MEMORY_ALREADY_REGISTERED)?;
        ensure(is_mapped(p.addr(), bytesize), Code::INVALID_VALUE)?;
        host::register(p.addr() as u64, bytesize as u64, Flags | CU_MEMHOSTREGISTER_DEVICEMAP, context.id)
    }

    fn cuMemHostUnregister(p: *mut c_void) {
        ensure(!p.is_null(), Code::INVALID_VALUE)?;
        let known = host::find(p.addr() as u64).ok_or(Code::HOST_MEMORY_NOT_REGISTERED)?;
        let context = current_or_owner(known.ctx)?;
        capture::check_unsafe_call()?;
        let outcome = context.synchronize();
        host::unregister(p.addr() as u64)?;
        outcome
    }
}
