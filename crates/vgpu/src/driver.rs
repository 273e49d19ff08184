//! The state of the driver as a whole: initialisation, and what ends with a context.
//!
//! Nothing here is undone at the end of the process; in a forked child, which has the memory but
//! none of the threads, every call fails instead of waiting for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::device;
use crate::graph::{self, capture};
use crate::memory::account::{device_heap, uncharge_block};
use crate::memory::array::{ARRAYS, MIPMAPS};
use crate::memory::globals;
use crate::resource::function::FUNCTIONS;
use crate::resource::linker::LINKERS;
use crate::resource::module::MODULES;
use crate::resource::texture_ref::{SURFREFS, TEXREFS};
use crate::stream::context::{self, Context};
use crate::stream::event::EVENTS;
use crate::stream::{STREAMS, Stream, chaos_schedule};
use rtcg_cuda_sys::trace;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::schedule;
use rtcg_vgpu_exec::check::checks_from_environment;
use rtcg_vgpu_exec::host_ranges;

static IS_INITIALISED: AtomicBool = AtomicBool::new(false);
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// `cuInit`
pub(crate) fn init_driver() -> Res {
    ensure(!IS_FORKED.load(Ordering::Relaxed), ResultCode::NOT_INITIALIZED)?;
    validate_settings().map_err(|text| {
        // A C program sees the code only.
        eprintln!("rtcg: {text}");
        ResultCode::INVALID_VALUE.with_detail(text)
    })?;
    ensure(!device::virtual_devices().is_empty(), ResultCode::NO_DEVICE)?;
    static FORK_HANDLER: OnceLock<()> = OnceLock::new();
    FORK_HANDLER.get_or_init(|| {
        // SAFETY: the handler only stores to an atomic, which is allowed in a forked child.
        unsafe { libc::pthread_atfork(None, None, Some(mark_forked)) };
        // SAFETY: the handler takes locks of the virtual GPU only, which no thread holds for long.
        unsafe { libc::atexit(report_errors_at_exit) };
    });
    rtcg_vgpu_jit::set_compile_tracer(rtcg_vgpu_jit::CompileTracer {
        begin: || trace::is_tracing().then(trace::clock_ns),
        end: |begun, description| trace::emit_span("jit", description, begun),
    });
    context::set_resource_release(free_context_resources);
    schedule::set_operation_finisher(chaos_schedule::run_all_pending_operations);
    IS_INITIALISED.store(true, Ordering::Release);
    Ok(())
}

/// Fails if a setting that decides what a program finds out about its kernels cannot be read: a program that runs on
/// without it would seem to have passed the checks.
pub fn validate_settings() -> Result<(), String> {
    checks_from_environment()?;
    schedule::schedule_from_environment()?;
    context::fault_scope_from_environment()?;
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
    let _ = std::panic::catch_unwind(|| crate::stream::context::CONTEXTS.for_each(Context::print_unreported_errors));
}

/// Fails before `cuInit` and in a forked child.
pub(crate) fn check_initialised() -> Res {
    let ready = IS_INITIALISED.load(Ordering::Acquire) && !IS_FORKED.load(Ordering::Relaxed);
    ensure(ready, ResultCode::NOT_INITIALIZED)
}

/// Frees all that belongs to a context that is going away.
fn free_context_resources(id: u64) {
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
    rtcg_vgpu_exec::texture::registry::remove_objects_of_context(id);
    graph::exec::GRAPH_EXECS.remove_orphaned_objects(|e| e.ctx_id == id);
    host_ranges::unregister_context_ranges(id);
    globals::remove_context_globals(id);
    if let Ok(heap) = device_heap() {
        let freed = heap.free_matching_blocks(|b| b.owner.ctx == id);
        freed.iter().for_each(uncharge_block);
        crate::memory::leaks::report_context_leaks(&freed, &left);
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
        let ctx = crate::stream::context::current()?;
        let stream = stream_from_handle(&ctx, handle)?;
        if stream.kind == crate::stream::StreamKind::Legacy {
            capture::refuse_if_blocking_stream_captures(&ctx)?;
        }
        return Ok((ctx, stream));
    }
    let stream = STREAMS.get_object(handle)?;
    let ctx = stream.ctx.upgrade().ok_or(ResultCode::CONTEXT_IS_DESTROYED)?;
    ctx.check_usable()?;
    Ok((ctx, stream))
}
