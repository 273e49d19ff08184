//! Memory, events and memory pools that processes share (`cuIpc*`, `cuMemPoolExport*`).

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{Arc, Mutex, MutexGuard};

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, unsupported_feature, write_out};
use crate::device;
use crate::memory::heap::{self, BlockOwner, HeapBlock};
use crate::memory::ipc::{self, HANDLE_BYTES, IpcKind, RemoteIpcRecord};
use crate::memory::pool::MemoryPool;
use crate::memory::pool::POOLS;
use crate::stream::context::{Context, current};
use crate::stream::event::EVENTS;
use crate::stream::event::Event;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

const POSIX_FD_HANDLE_TYPE: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// How often memory of another process is open, and its block, by context and record.
type OpenIpcBlocks = HashMap<(u64, u64), (u32, HeapBlock)>;

static OPEN_IPC_BLOCKS: Mutex<Option<OpenIpcBlocks>> = Mutex::new(None);

fn lock_open_ipc_blocks() -> MutexGuard<'static, Option<OpenIpcBlocks>> {
    OPEN_IPC_BLOCKS.lock().ignore_poison()
}

fn bytes_to_c_chars(bytes: [u8; HANDLE_BYTES]) -> [c_char; HANDLE_BYTES] {
    bytes.map(|b| b as c_char)
}

fn c_chars_to_bytes(chars: [c_char; HANDLE_BYTES]) -> [u8; HANDLE_BYTES] {
    chars.map(|c| c as u8)
}

/// The handle of the block that an address lies in.
fn memory_ipc_handle(address: u64) -> Res<[u8; HANDLE_BYTES]> {
    current()?;
    let heap = crate::memory::account::device_heap()?;
    let block = heap.find_block(address).filter(|b| b.kind == heap::MemoryKind::Device && b.owner.pool == 0);
    let block = block.ok_or(ResultCode::INVALID_VALUE)?;
    ipc::export_block_handle(block.start, IpcKind::Memory, || heap.export_block(&block, 0))
}

/// Maps the memory of another process into this one, for a context.
fn import_block(context: &Context, foreign: &RemoteIpcRecord, pool: u64) -> Res<HeapBlock> {
    let device = device::device_by_ordinal(foreign.place.device as c_int).map_or(context.device.ordinal, |d| d.ordinal);
    let owner = BlockOwner { ctx: context.id, device, pool };
    crate::memory::account::device_heap()?.import_block(&foreign.open_memory_file()?, &foreign.place, owner)
}

/// Opens memory once more, or for the first time.
fn open_ipc_memory(handle: &[u8; HANDLE_BYTES]) -> Res<u64> {
    let context = current()?;
    let foreign = RemoteIpcRecord::open_handle(handle, IpcKind::Memory)?;
    let mut guard = lock_open_ipc_blocks();
    let known = guard.get_or_insert_default();
    let is_there = |b: &HeapBlock| {
        crate::memory::account::device_heap().is_ok_and(|h| h.find_block(b.start).is_some_and(|now| now.id == b.id))
    };
    if let Some((count, block)) = known.get_mut(&(context.id, foreign.id)).filter(|(_, b)| is_there(b)) {
        *count += 1;
        return Ok(block.start);
    }
    let block = import_block(&context, &foreign, 0)?;
    known.insert((context.id, foreign.id), (1, block));
    Ok(block.start)
}

fn close_ipc_memory(address: u64) -> Res {
    let context = crate::stream::context::current_alive_context()?;
    let outcome = context.synchronize();
    let mut guard = lock_open_ipc_blocks();
    let known = guard.get_or_insert_default();
    let found = known.iter_mut().find(|(_, (_, block))| block.start == address);
    let (&key, (count, block)) = found.ok_or(ResultCode::INVALID_VALUE)?;
    *count -= 1;
    if *count == 0 {
        let start = block.start;
        known.remove(&key);
        crate::memory::account::free_block(start)?;
    }
    outcome
}

fn pool_from_handle(handle: u64) -> Res<Arc<MemoryPool>> {
    POOLS.get_object_or(handle, ResultCode::INVALID_VALUE)
}

/// What other processes are told about a block of a pool that can be shared.
fn pool_memory_ipc_handle(address: u64) -> Res<[u8; HANDLE_BYTES]> {
    let heap = crate::memory::account::device_heap()?;
    let block = heap.find_block(address).filter(|b| b.kind == heap::MemoryKind::Device && b.start == address);
    let block = block.ok_or(ResultCode::INVALID_VALUE)?;
    let pool = pool_from_handle(block.owner.pool)?;
    let ticket = pool.ipc_record.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
    ipc::export_block_handle(block.start, IpcKind::PoolMemory, || heap.export_block(&block, ticket.id))
}

/// Maps a block of the pool that `pool` stands for.
fn import_pool_pointer(pool_handle: u64, handle: &[u8; HANDLE_BYTES]) -> Res<u64> {
    let (context, pool) = (current()?, pool_from_handle(pool_handle)?);
    ensure(pool.imported != 0, ResultCode::INVALID_VALUE)?;
    let foreign = RemoteIpcRecord::open_handle(handle, IpcKind::PoolMemory)?;
    ensure(pool.imported == foreign.place.pool, ResultCode::INVALID_VALUE)?;
    Ok(import_block(&context, &foreign, pool_handle)?.start)
}

driver_functions! {
    fn cuIpcGetMemHandle(pHandle: *mut CUipcMemHandle, dptr: CUdeviceptr) {
        ensure(!pHandle.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(pHandle, CUipcMemHandle { reserved: bytes_to_c_chars(memory_ipc_handle(dptr)?) })
    }

    fn cuIpcOpenMemHandle(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: c_uint) {
        // The one flag there is must be given, as CUDA documents it.
        ensure(!pdptr.is_null() && Flags == CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0, ResultCode::INVALID_VALUE)?;
        write_out(pdptr, open_ipc_memory(&c_chars_to_bytes(handle.reserved))?)
    }

    fn cuIpcCloseMemHandle(dptr: CUdeviceptr) {
        close_ipc_memory(dptr)
    }

    fn cuIpcGetEventHandle(pHandle: *mut CUipcEventHandle, event: CUevent) {
        ensure(!pHandle.is_null() && !event.is_null(), ResultCode::INVALID_VALUE)?;
        current()?;
        let event = EVENTS.get_object(event.handle_number())?;
        write_out(pHandle, CUipcEventHandle { reserved: bytes_to_c_chars(event.ipc_handle()?) })
    }

    fn cuIpcOpenEventHandle(phEvent: *mut CUevent, handle: CUipcEventHandle) {
        ensure(!phEvent.is_null(), ResultCode::INVALID_VALUE)?;
        let context = current()?;
        let event = Arc::new(Event::open_ipc_event(context.id, &c_chars_to_bytes(handle.reserved))?);
        let (handle, _) = EVENTS.insert_with(|_| event)?;
        write_out(phEvent, CUevent::from_handle_number(handle))
    }

    fn cuMemPoolExportToShareableHandle(handle_out: *mut c_void, pool: CUmemoryPool, handleType: CUmemAllocationHandleType, flags: u64) {
        let pool = pool_from_handle(pool.handle_number())?;
        ensure(!handle_out.is_null() && flags == 0 && handleType == POSIX_FD_HANDLE_TYPE, ResultCode::INVALID_VALUE)?;
        let ticket = pool.ipc_record.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        write_out(handle_out.cast::<c_int>(), ticket.export_fd()?)
    }

    fn cuMemPoolImportFromShareableHandle(pool_out: *mut CUmemoryPool, handle: *mut c_void, handleType: CUmemAllocationHandleType, flags: u64) {
        ensure(!pool_out.is_null() && flags == 0, ResultCode::INVALID_VALUE)?;
        ensure(matches!(handleType.0, 1 | 2 | 4 | 8), ResultCode::INVALID_VALUE)?;
        if handleType != POSIX_FD_HANDLE_TYPE {
            return Err(unsupported_feature("handles of memory pools other than file descriptors"));
        }
        let fd = c_int::try_from(handle.addr()).map_err(|_| ResultCode::INVALID_VALUE)?;
        let foreign = RemoteIpcRecord::from_fd(fd, IpcKind::Pool)?;
        let device = device::device_by_ordinal(foreign.place.device as c_int)?;
        let mut pool = MemoryPool::new(device.ordinal, 0, false);
        pool.imported = foreign.id;
        let (handle, _) = POOLS.insert_with(|_| Arc::new(pool))?;
        write_out(pool_out, CUmemoryPool::from_handle_number(handle))
    }

    fn cuMemPoolExportPointer(shareData_out: *mut CUmemPoolPtrExportData, ptr: CUdeviceptr) {
        ensure(!shareData_out.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(shareData_out, CUmemPoolPtrExportData { reserved: pool_memory_ipc_handle(ptr)? })
    }

    fn cuMemPoolImportPointer(ptr_out: *mut CUdeviceptr, pool: CUmemoryPool, shareData: *mut CUmemPoolPtrExportData) {
        ensure(!ptr_out.is_null(), ResultCode::INVALID_VALUE)?;
        let data = shareData.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        write_out(ptr_out, import_pool_pointer(pool.handle_number(), &data.reserved)?)
    }
}
