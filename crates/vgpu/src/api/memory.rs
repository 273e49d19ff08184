//! Allocation: device, pitched, managed, page-locked and registered memory.

use std::ffi::{c_uint, c_void};

use rtcg_cuda_sys::*;

use super::{driver_functions, write_out, write_out_if_not_null};
use crate::graph::{self, capture};
use crate::memory::heap::{HeapBlock, MemoryKind};
use crate::memory::{globals, mapping, synchronous_copies};
use crate::stream::context::{Context, current, current_or_owner_context};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_exec::host_ranges;
use rtcg_vgpu_exec::window;

/// Rows of pitched memory start at multiples of this.
const PITCH_ALIGNMENT: usize = 512;

/// Frees a block of one of the given kinds after all work of the context, as CUDA does. Without a current
/// context that is the block's own.
pub(crate) fn free_after_pending_work(address: u64, kinds: &[MemoryKind]) -> Res {
    let context = crate::stream::context::top_of_context_stack()
        .map(|_| crate::stream::context::current_alive_context())
        .transpose()?;
    capture::refuse_call_unsafe_in_capture()?;
    if address == 0 {
        return Ok(());
    }
    if let Some(outcome) = graph::memory::release_allocation(address) {
        return context.map_or(Ok(()), |c| c.synchronize()).and(outcome);
    }
    // Imported blocks of pools are freed like those of the pool itself, others are closed.
    let fits = |b: &HeapBlock| kinds.contains(&b.kind) || (b.kind == MemoryKind::Imported && b.owner.pool != 0);
    let block = crate::memory::account::device_heap()?.find_block(address).filter(|b| b.start == address && fits(b));
    if block.is_none() {
        crate::memory::leaks::report_invalid_free(address);
    }
    let block = block.ok_or(ResultCode::INVALID_VALUE)?;
    let outcome = context.map_or_else(|| current_or_owner_context(block.owner.ctx), Ok)?.synchronize();
    crate::memory::account::free_block(address)?;
    // A poisoned context says so at every call; the memory is given back all the same.
    outcome
}

/// [`Context::alloc_with_retry`] for calls that a capture may forbid.
fn alloc_unless_capturing(context: &Context, size: usize, kind: MemoryKind, flags: u32) -> Res<HeapBlock> {
    capture::refuse_call_unsafe_in_capture()?;
    context.alloc_with_retry(size, kind, 0, flags)
}

fn host_alloc(size: usize, flags: u32) -> Res<*mut c_void> {
    ensure(flags & !7 == 0, ResultCode::INVALID_VALUE)?;
    let context = current()?;
    if size == 0 {
        return Ok(std::ptr::null_mut());
    }
    let block = alloc_unless_capturing(&context, size, MemoryKind::Host, flags | CU_MEMHOSTALLOC_DEVICEMAP)?;
    Ok(block.start as *mut c_void)
}

/// Whether every page of a range is mapped into this process.
fn is_host_range_mapped(start: usize, len: usize) -> bool {
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
        write_out_if_not_null(free, context.device.reported_free_bytes() as usize);
        write_out_if_not_null(total, context.device.memory_bytes as usize);
        Ok(())
    }

    fn cuMemAlloc(dptr: *mut CUdeviceptr, bytesize: usize) {
        ensure(!dptr.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(dptr, alloc_unless_capturing(&*current()?, bytesize, MemoryKind::Device, 0)?.start)
    }

    fn cuMemAllocPitch(dptr: *mut CUdeviceptr, pPitch: *mut usize, WidthInBytes: usize, Height: usize, ElementSizeBytes: c_uint) {
        ensure(!dptr.is_null() && !pPitch.is_null(), ResultCode::INVALID_VALUE)?;
        ensure(matches!(ElementSizeBytes, 4 | 8 | 16) && WidthInBytes > 0, ResultCode::INVALID_VALUE)?;
        let pitch = WidthInBytes.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(ResultCode::OUT_OF_MEMORY)?;
        let size = pitch.checked_mul(Height).ok_or(ResultCode::OUT_OF_MEMORY)?;
        let block = alloc_unless_capturing(&*current()?, size, MemoryKind::Device, 0)?;
        write_out(pPitch, pitch)?;
        write_out(dptr, block.start)
    }

    fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint) {
        ensure(!dptr.is_null() && matches!(flags, 1 | 2), ResultCode::INVALID_VALUE)?;
        write_out(dptr, alloc_unless_capturing(&*current()?, bytesize, MemoryKind::Managed, flags)?.start)
    }

    fn cuMemFree(dptr: CUdeviceptr) {
        free_after_pending_work(dptr, &[MemoryKind::Device, MemoryKind::Managed])
    }

    fn cuMemGetAddressRange(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr) {
        current()?;
        let block = crate::memory::account::device_heap()?.find_block(dptr).filter(|b| !graph::memory::is_unallocated(b.start)).map(|b| (b.start, b.size));
        let variable = || globals::find_global(dptr).map(|g| (g.start, g.size));
        let mapped = || mapping::find_mapping(dptr).filter(|m| m.is_accessible).map(|m| (m.start, m.len));
        let registered = || host_ranges::find_registration(dptr).map(|r| (r.start, r.len));
        let found = block.or_else(variable).or_else(mapped).or_else(registered);
        let (start, size) = found.ok_or(ResultCode::NOT_FOUND)?;
        write_out_if_not_null(pbase, start);
        write_out_if_not_null(psize, size as usize);
        Ok(())
    }

    fn cuMemAllocHost(pp: *mut *mut c_void, bytesize: usize) {
        ensure(!pp.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(pp, host_alloc(bytesize, 0)?)
    }

    fn cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: c_uint) {
        ensure(!pp.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(pp, host_alloc(bytesize, Flags)?)
    }

    fn cuMemFreeHost(p: *mut c_void) {
        free_after_pending_work(p.addr() as u64, &[MemoryKind::Host])
    }

    fn cuMemHostGetDevicePointer(pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: c_uint) {
        ensure(Flags == 0, ResultCode::INVALID_VALUE)?;
        current()?;
        let address = p.addr() as u64;
        let is_host_block = crate::memory::account::device_heap()?.find_block(address).is_some_and(|b| b.kind == MemoryKind::Host);
        ensure(is_host_block || host_ranges::find_registration(address).is_some(), ResultCode::INVALID_VALUE)?;
        write_out(pdptr, address)
    }

    fn cuMemHostGetFlags(pFlags: *mut c_uint, p: *mut c_void) {
        current()?;
        let address = p.addr() as u64;
        let block = crate::memory::account::device_heap()?.find_block(address).and_then(|b| match b.kind {
            MemoryKind::Host => Some(b.flags),
            MemoryKind::Managed => Some(CU_MEMHOSTALLOC_DEVICEMAP),
            MemoryKind::Device | MemoryKind::Imported => None,
        });
        let flags = block.or_else(|| host_ranges::find_registration(address).map(|r| r.flags)).ok_or(ResultCode::INVALID_VALUE)?;
        write_out(pFlags, flags)
    }

    fn cuMemHostRegister(p: *mut c_void, bytesize: usize, Flags: c_uint) {
        ensure(Flags & !15 == 0 && bytesize > 0 && !p.is_null(), ResultCode::INVALID_VALUE)?;
        // There is no memory of other devices.
        ensure(Flags & CU_MEMHOSTREGISTER_IOMEMORY == 0, ResultCode::INVALID_VALUE)?;
        let context = current()?;
        capture::refuse_call_unsafe_in_capture()?;
        // Page-locked memory is not registered, whichever kind it is: it has no registration to end.
        let known = crate::memory::account::device_heap()?.find_block(p.addr() as u64);
        ensure(known.is_none(), ResultCode::INVALID_VALUE)?;
        ensure(is_host_range_mapped(p.addr(), bytesize), ResultCode::INVALID_VALUE)?;
        // That the device only reads is not told.
        let flags = Flags & !CU_MEMHOSTREGISTER_READ_ONLY | CU_MEMHOSTREGISTER_DEVICEMAP;
        host_ranges::register_host(p.addr() as u64, bytesize as u64, flags, context.id)
    }

    fn cuMemHostUnregister(p: *mut c_void) {
        ensure(!p.is_null(), ResultCode::INVALID_VALUE)?;
        let address = p.addr() as u64;
        let is_allocated = crate::memory::account::device_heap()?.find_block(address).is_some();
        ensure(!is_allocated, ResultCode::INVALID_VALUE)?;
        let known = host_ranges::find_registration(address).ok_or(ResultCode::HOST_MEMORY_NOT_REGISTERED)?;
        ensure(known.start == address, ResultCode::INVALID_VALUE)?;
        let context = current_or_owner_context(known.ctx)?;
        capture::refuse_call_unsafe_in_capture()?;
        let outcome = context.synchronize();
        host_ranges::unregister_host(address)?;
        synchronous_copies::forget(address, address);
        outcome
    }
}
