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
use crate::error::{Code, Res, ensure};
use crate::event::Event;
use crate::graph::{self, capture};
use crate::handles::Table;
use crate::library::{Kernel, Library};
use crate::memory::heap::{Block, Heap, Kind, Owner};
use crate::memory::{globals, host, window};
use crate::objects::{Array, Function, Linker, MipmappedArray, Module, Pool};
use crate::stream::Stream;

/// Streams made by `cuStreamCreate`.
pub(crate) static STREAMS: Table<Stream> = Table::new(0x12);
/// Events.
pub(crate) static EVENTS: Table<Event> = Table::new(0x13);
/// Modules.
pub(crate) static MODULES: Table<Module> = Table::new(0x14);
/// Functions of modules.
pub(crate) static FUNCTIONS: Table<Function> = Table::new(0x15);
/// Memory pools.
pub(crate) static POOLS: Table<Pool> = Table::new(0x16);
/// Linkers.
pub(crate) static LINKERS: Table<Linker> = Table::new(0x17);
/// Libraries.
pub(crate) static LIBRARIES: Table<Library> = Table::new(0x18);
/// Kernels of libraries.
pub(crate) static KERNELS: Table<Kernel> = Table::new(0x19);

/// Arrays.
pub(crate) static ARRAYS: Table<Array> = Table::new(0x1a);

/// Mipmapped arrays.
pub(crate) static MIPMAPS: Table<MipmappedArray> = Table::new(0x31);
/// Texture references.
pub(crate) static TEXREFS: Table<TextureRef> = Table::new(0x32);
/// Surface references.
pub(crate) static SURFREFS: Table<SurfaceRef> = Table::new(0x33);

/// Freed memory that stays with the process at most, whatever the devices' size.
const MAX_CACHED_BYTES: u64 = 512 << 20;

static INITIALISED: AtomicBool = AtomicBool::new(false);
static FORKED: AtomicBool = AtomicBool::new(false);

/// `cuInit`
pub(crate) fn init() -> Res {
    ensure(!FORKED.load(Ordering::Relaxed), Code::NOT_INITIALIZED)?;
    ensure(!device::devices().is_empty(), Code::NO_DEVICE)?;
    static FORK_HANDLER: OnceLock<()> = OnceLock::new();
    FORK_HANDLER.get_or_init(|| {
        // SAFETY: the handler only stores to an atomic, which is allowed in a forked child.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        // SAFETY: the handler takes locks of this crate only, which no thread holds for long.
        unsafe { libc::atexit(at_exit) };
    });
    INITIALISED.store(true, Ordering::Release);
    Ok(())
}

unsafe extern "C" fn forked() {
    FORKED.store(true, Ordering::Relaxed);
}

/// Prints the faults of contexts that no later call has reported.
extern "C" fn at_exit() {
    if FORKED.load(Ordering::Relaxed) {
        return;
    }
    let _ = std::panic::catch_unwind(|| crate::context::CONTEXTS.for_each(Context::report_unreported));
}

/// Fails before `cuInit` and in a forked child.
pub(crate) fn check_initialised() -> Res {
    let ready = INITIALISED.load(Ordering::Acquire) && !FORKED.load(Ordering::Relaxed);
    ensure(ready, Code::NOT_INITIALIZED)
}

/// The heap.
pub(crate) fn heap() -> Res<&'static Heap> {
    static HEAP: OnceLock<Option<Heap>> = OnceLock::new();
    let make = || {
        let area = window::window().ok()?.heap();
        let smallest = device::devices().iter().map(|d| d.memory_bytes).min().unwrap_or(0);
        Some(Heap::new(area.start as u64, area.len as u64, (smallest / 8).min(MAX_CACHED_BYTES)))
    };
    HEAP.get_or_init(make).as_ref().ok_or_else(|| {
        let why = window::window().err().map(|e| e.to_string()).unwrap_or_default();
        Code::OUT_OF_MEMORY.because(why)
    })
}

/// Allocates for a context and charges its device.
pub(crate) fn alloc(ctx: &Context, size: u64, kind: Kind, pool: u64, flags: u32) -> Res<Block> {
    ensure(size > 0, Code::INVALID_VALUE)?;
    let heap = heap()?;
    let on_device = kind != Kind::Host;
    // Charged by request first, so that no memory is touched for what cannot fit.
    ensure(!on_device || size <= ctx.device.free_bytes(), Code::OUT_OF_MEMORY)?;
    let block = heap.alloc(size, kind, Owner { ctx: ctx.id, device: ctx.device.ordinal, pool }, flags)?;
    if on_device && let Err(error) = ctx.device.charge(block.charged) {
        heap.free(block.start)?;
        return Err(error);
    }
    Ok(block)
}

/// Frees a block and gives its bytes back to its device.
pub(crate) fn free(start: u64) -> Res {
    let block = heap()?.free(start)?;
    discharge(&block);
    Ok(())
}

fn discharge(block: &Block) {
    if block.kind == Kind::Imported {
        return;
    }
    if block.owner.pool != 0
        && let Ok(pool) = POOLS.get(block.owner.pool)
    {
        pool.discharge(block.charged);
    }
    if block.kind != Kind::Host
        && let Ok(device) = device::device(block.owner.device as i32)
    {
        device.discharge(block.charged);
    }
}

/// Frees all that belongs to a context that is going away.
pub(crate) fn free_context(id: u64) {
    let left = [
        ("stream", STREAMS.orphan(|s| s.ctx_id == id).len()),
        ("event", EVENTS.orphan(|e| e.ctx_id == id).len()),
        ("module", MODULES.orphan(|m| m.ctx_id == id).len()),
        ("linker", LINKERS.orphan(|l| l.ctx_id == id).len()),
        ("array", ARRAYS.orphan(|a| a.ctx_id == id).len()),
    ];
    FUNCTIONS.orphan(|f| f.ctx_id == id);
    MIPMAPS.orphan(|m| m.ctx_id == id);
    TEXREFS.orphan(|r| r.ctx_id == id);
    SURFREFS.orphan(|r| r.ctx_id == id);
    crate::texture::registry::forget_context(id);
    graph::exec::EXECS.orphan(|e| e.ctx_id == id);
    host::unregister_context(id);
    globals::forget_context(id);
    if let Ok(heap) = heap() {
        let freed = heap.free_all(|b| b.owner.ctx == id);
        freed.iter().for_each(discharge);
        check::leaks::report_context_leaks(&freed, &left);
    }
}

/// The stream that a handle means for a context: 0 and 1 are the legacy default stream, 2 the
/// calling thread's own.
pub(crate) fn stream(ctx: &Arc<Context>, handle: u64) -> Res<Arc<Stream>> {
    match handle {
        0 | 1 => Ok(ctx.legacy.clone()),
        2 => ctx.per_thread_stream(),
        _ => STREAMS.get(handle),
    }
}

/// The context and the stream that a stream handle means: a stream's own context, else the
/// current one, and ready for work.
pub(crate) fn stream_and_context(handle: u64) -> Res<(Arc<Context>, Arc<Stream>)> {
    if handle <= 2 {
        let ctx = crate::context::current()?;
        let stream = stream(&ctx, handle)?;
        if stream.kind == crate::stream::Kind::Legacy {
            capture::check_legacy(&ctx)?;
        }
        return Ok((ctx, stream));
    }
    ensure(!crate::stream::in_host_call(), Code::NOT_PERMITTED)?;
    let stream = STREAMS.get(handle)?;
    let ctx = stream.ctx.upgrade().ok_or(Code::CONTEXT_IS_DESTROYED)?;
    ctx.check()?;
    Ok((ctx, stream))
}
