//! Memory, events and memory pools that processes share (`cuIpc*`, `cuMemPoolExport*`).

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, unsupported, write_out};
use crate::context::{Context, current};
use crate::device;
use crate::driver::{self, EVENTS, POOLS};
use crate::error::{Code, Res, ensure};
use crate::event::Event;
use crate::memory::heap::{self, Block, Owner};
use crate::memory::ipc::{self, HANDLE_BYTES, Kind, RemoteIpcRecord};
use crate::objects::Pool;

const FILE: CUmemAllocationHandleType = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// How often memory of another process is open, and its block, by context and record.
type Open = HashMap<(u64, u64), (u32, Block)>;

static OPEN: Mutex<Option<Open>> = Mutex::new(None);

fn open() -> MutexGuard<'static, Option<Open>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn to_chars(bytes: [u8; HANDLE_BYTES]) -> [c_char; HANDLE_BYTES] {
    bytes.map(|b| b as c_char)
}

fn to_bytes(chars: [c_char; HANDLE_BYTES]) -> [u8; HANDLE_BYTES] {
    chars.map(|c| c as u8)
}

/// The handle of the block that an address lies in.
fn memory_handle(address: u64) -> Res<[u8; HANDLE_BYTES]> {
    current()?;
    let heap = driver::heap()?;
    let block = heap.find(address).filter(|b| b.kind == heap::Kind::Device && b.owner.pool == 0);
    let block = block.ok_or(Code::INVALID_VALUE)?;
    ipc::handle_of(block.start, Kind::Memory, || heap.export_block(&block, 0))
}

/// Maps the memory of another process into this one, for a context.
fn import_block(context: &Context, foreign: &RemoteIpcRecord, pool: u64) -> Res<Block> {
    let device = device::device(foreign.place.device as c_int).map_or(context.device.ordinal, |d| d.ordinal);
    let owner = Owner { ctx: context.id, device, pool };
    driver::heap()?.import_block(&foreign.memory()?, &foreign.place, owner)
}

/// Opens memory once more, or for the first time.
fn open_memory(handle: &[u8; HANDLE_BYTES]) -> Res<u64> {
    let context = current()?;
    let foreign = RemoteIpcRecord::open(handle, Kind::Memory)?;
    let mut guard = open();
    let known = guard.get_or_insert_default();
    let is_there = |b: &Block| driver::heap().is_ok_and(|h| h.find(b.start).is_some_and(|now| now.id == b.id));
    if let Some((count, block)) = known.get_mut(&(context.id, foreign.id)).filter(|(_, b)| is_there(b)) {
        *count += 1;
        return Ok(block.start);
    }
    let block = import_block(&context, &foreign, 0)?;
    known.insert((context.id, foreign.id), (1, block));
    Ok(block.start)
}

fn close_memory(address: u64) -> Res {
    let context = crate::context::current_alive()?;
    let outcome = context.synchronize();
    let mut guard = open();
    let known = guard.get_or_insert_default();
    let found = known.iter_mut().find(|(_, (_, block))| block.start == address);
    let (&key, (count, block)) = found.ok_or(Code::INVALID_VALUE)?;
    *count -= 1;
    if *count == 0 {
        let start = block.start;
        known.remove(&key);
        driver::free(start)?;
    }
    outcome
}

fn pool_of(handle: u64) -> Res<Arc<Pool>> {
    POOLS.get_or(handle, Code::INVALID_VALUE)
}

/// What other processes are told about a block of a pool that can be shared.
fn pool_memory_handle(address: u64) -> Res<[u8; HANDLE_BYTES]> {
    let heap = driver::heap()?;
    let block = heap.find(address).filter(|b| b.kind == heap::Kind::Device && b.start == address);
    let block = block.ok_or(Code::INVALID_VALUE)?;
    let pool = pool_of(block.owner.pool)?;
    let ticket = pool.ipc_record.as_ref().ok_or(Code::INVALID_VALUE)?;
    ipc::handle_of(block.start, Kind::PoolMemory, || heap.export_block(&block, ticket.id))
}

/// Maps a block of the pool that `pool` stands for.
fn import_pointer(pool_handle: u64, handle: &[u8; HANDLE_BYTES]) -> Res<u64> {
    let (context, pool) = (current()?, pool_of(pool_handle)?);
    let foreign = RemoteIpcRecord::open(handle, Kind::PoolMemory)?;
    ensure(pool.imported != 0 && pool.imported == foreign.place.pool, Code::INVALID_VALUE)?;
    Ok(import_block(&context, &foreign, pool_handle)?.start)
}

driver_functions! {
    fn cuIpcGetMemHandle(pHandle: *mut CUipcMemHandle, dptr: CUdeviceptr) {
        ensure(!pHandle.is_null(), Code::INVALID_VALUE)?;
        write_out(pHandle, CUipcMemHandle { reserved: to_chars(memory_handle(dptr)?) })
    }

    fn cuIpcOpenMemHandle(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: c_uint) {
        // The one flag there is must be given, as CUDA documents it.
        ensure(!pdptr.is_null() && Flags == CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0, Code::INVALID_VALUE)?;
        write_out(pdptr, open_memory(&to_bytes(handle.reserved))?)
    }

    fn cuIpcCloseMemHandle(dptr: CUdeviceptr) {
        close_memory(dptr)
    }

    fn cuIpcGetEventHandle(pHandle: *mut CUipcEventHandle, event: CUevent) {
        ensure(!pHandle.is_null() && !event.is_null(), Code::INVALID_VALUE)?;
        current()?;
        let event = EVENTS.get(event.number())?;
        write_out(pHandle, CUipcEventHandle { reserved: to_chars(event.ipc_handle()?) })
    }

    fn cuIpcOpenEventHandle(phEvent: *mut CUevent, handle: CUipcEventHandle) {
        ensure(!phEvent.is_null(), Code::INVALID_VALUE)?;
        let context = current()?;
        let event = Arc::new(Event::open(context.id, &to_bytes(handle.reserved))?);
        let (handle, _) = EVENTS.insert_with(|_| event)?;
        write_out(phEvent, CUevent::from_number(handle))
    }

    fn cuMemPoolExportToShareableHandle(handle_out: *mut c_void, pool: CUmemoryPool, handleType: CUmemAllocationHandleType, flags: u64) {
        let pool = pool_of(pool.number())?;
        ensure(!handle_out.is_null() && flags == 0 && handleType == FILE, Code::INVALID_VALUE)?;
        let ticket = pool.ipc_record.as_ref().ok_or(Code::INVALID_VALUE)?;
        write_out(handle_out.cast::<c_int>(), ticket.export()?)
    }

    fn cuMemPoolImportFromShareableHandle(pool_out: *mut CUmemoryPool, handle: *mut c_void, handleType: CUmemAllocationHandleType, flags: u64) {
        ensure(!pool_out.is_null() && flags == 0, Code::INVALID_VALUE)?;
        if handleType != FILE {
            return Err(unsupported("handles of memory pools other than file descriptors"));
        }
        let fd = c_int::try_from(handle.addr()).map_err(|_| Code::INVALID_VALUE)?;
        let foreign = RemoteIpcRecord::from_fd(fd, Kind::Pool)?;
        let device = device::device(foreign.place.device as c_int)?;
        let mut pool = Pool::new(device.ordinal, 0, false);
        pool.imported = foreign.id;
        let (handle, _) = POOLS.insert_with(|_| Arc::new(pool))?;
        write_out(pool_out, CUmemoryPool::from_number(handle))
    }

    fn cuMemPoolExportPointer(shareData_out: *mut CUmemPoolPtrExportData, ptr: CUdeviceptr) {
        ensure(!shareData_out.is_null(), Code::INVALID_VALUE)?;
        write_out(shareData_out, CUmemPoolPtrExportData { reserved: pool_memory_handle(ptr)? })
    }

    fn cuMemPoolImportPointer(ptr_out: *mut CUdeviceptr, pool: CUmemoryPool, shareData: *mut CUmemPoolPtrExportData) {
        ensure(!ptr_out.is_null(), Code::INVALID_VALUE)?;
        let data = shareData.as_ref().ok_or(Code::INVALID_VALUE)?;
        write_out(ptr_out, import_pointer(pool.number(), &data.reserved)?)
    }
}
