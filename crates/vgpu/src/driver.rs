//! The state of the driver as a whole: initialisation, the heap, the tables of handles.
//!
//! Nothing here is undone at the end of the process; in a forked child, which has the memory but
//! none of the threads, every call fails instead of waiting for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::api::texture_ref::{SurfaceRef, TextureRef};
use crate::check;
use crate::context::Context;
use crate::device;
use crate::driver_objects::{DriverArray, DriverFunction, DriverLinker, DriverModule, MemoryPool, MipmappedArray};
use crate::error::{Res, ResultCode, ensure};
use crate::event::Event;
use crate::graph::{self, capture};
use crate::handles::HandleTable;
use crate::library::{Kernel, Library};
use crate::memory::heap::{BlockOwner, DeviceHeap, HeapBlock, MemoryKind};
use crate::memory::{globals, host, window};
use crate::stream::Stream;

/// Streams made by `cuStreamCreate`.
pub(crate) static STREAMS: HandleTable<Stream> = HandleTable::new(0x12);
/// Events.
pub(crate) static EVENTS: HandleTable<Event> = HandleTable::new(0x13);
/// Modules.
pub(crate) static MODULES: HandleTable<DriverModule> = HandleTable::new(0x14);
/// Functions of modules.
pub(crate) static FUNCTIONS: HandleTable<DriverFunction> = HandleTable::new(0x15);
/// Memory pools.
pub(crate) static POOLS: HandleTable<MemoryPool> = HandleTable::new(0x16);
/// Linkers.
pub(crate) static LINKERS: HandleTable<DriverLinker> = HandleTable::new(0x17);
/// Libraries.
pub(crate) static LIBRARIES: HandleTable<Library> = HandleTable::new(0x18);
/// Kernels of libraries.
pub(crate) static KERNELS: HandleTable<Kernel> = HandleTable::new(0x19);

/// Arrays.
pub(crate) static ARRAYS: HandleTable<DriverArray> = HandleTable::new(0x1a);

/// Mipmapped arrays.
pub(crate) static MIPMAPS: HandleTable<MipmappedArray> = HandleTable::new(0x31);
/// Texture references.
pub(crate) static TEXREFS: HandleTable<TextureRef> = HandleTable::new(0x32);
/// Surface references.
pub(crate) static SURFREFS: HandleTable<SurfaceRef> = HandleTable::new(0x33);

/// Freed memory that stays with the process at most, whatever the devices' size.
const MAX_CACHED_FREE_BYTES: u64 = 512 << 20;

static IS_INITIALISED: AtomicBool = AtomicBool::new(false);
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// `cuInit`
pub(crate) fn init_driver() -> Res {
    ensure(!IS_FORKED.load(Ordering::Relaxed), ResultCode::NOT_INITIALIZED)?;
    ensure(!device::virtual_devices().is_empty(), ResultCode::NO_DEVICE)?;
    static FORK_HANDLER: OnceLock<()> = OnceLock::new();
    FORK_HANDLER.get_or_init(|| {
        // SAFETY: the handler only stores to an atomic, which is allowed in a forked child.
        unsafe { libc::pthread_atfork(None, None, Some(mark_forked)) };
        // SAFETY: the handler takes locks of this crate only, which no thread holds for long.
        unsafe { libc::atexit(report_errors_at_exit) };
    });
    IS_INITIALISED.store(true, Ordering::Release);
    Ok(())
}

unsafe extern "C" fn mark_forked() {
    IS_FORKED.store(true, Ordering::Relaxed);
}

/// Prints the faults of contexts that no later call has reported.
extern "C" fn report_errors_at_exit() {
    if IS_FORKED.load(Ordering::Relaxed) {
        return;
    }
    let _ = std::panic::catch_unwind(|| crate::context::CONTEXTS.for_each(Context::print_unreported_errors));
}

/// Fails before `cuInit` and in a forked child.
pub(crate) fn check_initialised() -> Res {
    let ready = IS_INITIALISED.load(Ordering::Acquire) && !IS_FORKED.load(Ordering::Relaxed);
    ensure(ready, ResultCode::NOT_INITIALIZED)
}

/// The heap.
pub(crate) fn device_heap() -> Res<&'static DeviceHeap> {
    static DEVICE_HEAP: OnceLock<Option<DeviceHeap>> = OnceLock::new();
    let make = || {
        let area = window::device_window().ok()?.heap_area();
        let smallest = device::virtual_devices().iter().map(|d| d.memory_bytes).min().unwrap_or(0);
        Some(DeviceHeap::new(area.start as u64, area.len as u64, (smallest / 8).min(MAX_CACHED_FREE_BYTES)))
    };
    DEVICE_HEAP.get_or_init(make).as_ref().ok_or_else(|| {
        let why = window::device_window().err().map(|e| e.to_string()).unwrap_or_default();
        ResultCode::OUT_OF_MEMORY.with_detail(why)
    })
}

/// Allocates for a context and charges its device.
pub(crate) fn alloc_for_context(ctx: &Context, size: u64, kind: MemoryKind, pool: u64, flags: u32) -> Res<HeapBlock> {
    ensure(size > 0, ResultCode::INVALID_VALUE)?;
    let heap = device_heap()?;
    let on_device = kind != MemoryKind::Host;
    // Charged by request first, so that no memory is touched for what cannot fit.
    ensure(!on_device || size <= ctx.device.free_bytes(), ResultCode::OUT_OF_MEMORY)?;
    let block = heap.alloc_block(size, kind, BlockOwner { ctx: ctx.id, device: ctx.device.ordinal, pool }, flags)?;
    if on_device && let Err(error) = ctx.device.charge_memory(block.charged) {
        heap.free_block(block.start)?;
        return Err(error);
    }
    Ok(block)
}

/// Frees a block and gives its bytes back to its device.
pub(crate) fn free_block(start: u64) -> Res {
    let block = device_heap()?.free_block(start)?;
    uncharge_block(&block);
    Ok(())
}

fn uncharge_block(block: &HeapBlock) {
    if block.kind == MemoryKind::Imported {
        return;
    }
    if block.owner.pool != 0
        && let Ok(pool) = POOLS.get_object(block.owner.pool)
    {
        pool.uncharge_block(block.charged);
    }
    if block.kind != MemoryKind::Host
        && let Ok(device) = device::device_by_ordinal(block.owner.device as i32)
    {
        device.uncharge_memory(block.charged);
    }
}

/// Frees all that belongs to a context that is going away.
pub(crate) fn free_context_resources(id: u64) {
    let left = [
        ("stream", STREAMS.remove_orphaned_objects(|s| s.ctx_id == id).len()),
        ("event", EVENTS.remove_orphaned_objects(|e| e.ctx_id == id).len()),
        ("module", MODULES.remove_orphaned_objects(|m| m.ctx_id == id).len()),
        ("linker", LINKERS.remove_orphaned_objects(|l| l.ctx_id == id).len()),
        ("array", ARRAYS.remove_orphaned_objects(|a| a.ctx_id == id).len()),
    ];
    FUNCTIONS.remove_orphaned_objects(|f| f.ctx_id == id);
    MIPMAPS.remove_orphaned_objects(|m| m.ctx_id == id);
    TEXREFS.remove_orphaned_objects(|r| r.ctx_id == id);
    SURFREFS.remove_orphaned_objects(|r| r.ctx_id == id);
    crate::texture::registry::remove_objects_of_context(id);
    graph::exec::GRAPH_EXECS.remove_orphaned_objects(|e| e.ctx_id == id);
    host::unregister_context_ranges(id);
    globals::remove_context_globals(id);
    if let Ok(heap) = device_heap() {
        let freed = heap.free_matching_blocks(|b| b.owner.ctx == id);
        freed.iter().for_each(uncharge_block);
        check::leaks::report_context_leaks(&freed, &left);
    }
}

/// The stream that a handle means for a context: 0 and 1 are the legacy default stream, 2 the
/// calling thread's own.
pub(crate) fn stream_from_handle(ctx: &Arc<Context>, handle: u64) -> Res<Arc<Stream>> {
    match handle {
        0 | 1 => Ok(ctx.legacy.clone()),
        2 => ctx.per_thread_stream(),
        _ => STREAMS.get_object(handle),
    }
}

/// The context and the stream that a stream handle means: a stream's own context, else the
/// current one, and ready for work.
pub(crate) fn stream_and_context(handle: u64) -> Res<(Arc<Context>, Arc<Stream>)> {
    if handle <= 2 {
        let ctx = crate::context::current()?;
        let stream = stream_from_handle(&ctx, handle)?;
        if stream.kind == crate::stream::StreamKind::Legacy {
            capture::refuse_if_blocking_stream_captures(&ctx)?;
        }
        return Ok((ctx, stream));
    }
    ensure(!crate::stream::is_in_host_call(), ResultCode::NOT_PERMITTED)?;
    let stream = STREAMS.get_object(handle)?;
    let ctx = stream.ctx.upgrade().ok_or(ResultCode::CONTEXT_IS_DESTROYED)?;
    ctx.check_usable()?;
    Ok((ctx, stream))
}
