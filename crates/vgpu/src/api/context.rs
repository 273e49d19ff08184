//! Contexts.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, write_optional, write_out};
use crate::context::{self, Context, alive_or_primary, by_handle, current, current_alive, current_or_primary};
use crate::device::device;
use crate::driver::EVENTS;
use crate::error::{Code, Res, ensure};
use crate::exec::limits;
use crate::graph::capture;
use crate::stream::{StreamPoints, Work};

/// The version of the interface, as `cuCtxGetApiVersion` reports it.
const API_VERSION: c_uint = 3020;
/// Stream priorities: smaller numbers are more urgent.
pub(crate) const PRIORITIES: (c_int, c_int) = (0, -5);

/// # Safety
/// `place` is null or valid for writing a handle.
unsafe fn create(place: *mut CUcontext, flags: c_uint, dev: CUdevice) -> Res {
    ensure(!place.is_null(), Code::INVALID_VALUE)?;
    ensure(!crate::stream::in_host_call(), Code::NOT_PERMITTED)?;
    let context = Context::create(device(dev)?, flags)?;
    context::push(context.clone())?;
    // SAFETY: not null, so valid by this function's contract.
    unsafe { write_out(place, CUcontext::from_number(context.handle)) }
}

/// The context of a handle, or the current one for null.
fn given_or_current(ctx: CUcontext) -> Res<Arc<Context>> {
    if ctx.is_null() { current_alive() } else { by_handle(ctx.number()) }
}

/// Largest value that a limit may have, and whether it may be set at all.
fn check_limit(number: u32, value: usize) -> Res {
    match number {
        0 => ensure(value <= 512 << 10, Code::INVALID_VALUE),
        1 | 2 => ensure(value <= 32 << 30, Code::INVALID_VALUE),
        5 => ensure(value <= 128, Code::INVALID_VALUE),
        // Dynamic parallelism and the persisting cache do not exist here.
        3 | 4 | 6 => Code::UNSUPPORTED_LIMIT.err(),
        7..=9 => Code::NOT_SUPPORTED.err(),
        _ => Code::INVALID_VALUE.err(),
    }
}

driver_functions! {
    fn cuCtxCreate(pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: c_uint, dev: CUdevice) {
        if let Some(params) = ctxCreateParams.as_ref() {
            ensure(params.numExecAffinityParams == 0, Code::UNSUPPORTED_EXEC_AFFINITY)?;
            ensure(params.cigParams.is_null(), Code::NOT_SUPPORTED)?;
        }
        create(pctx, flags, dev)
    }

    fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice) {
        create(pctx, flags, dev)
    }

    fn cuCtxCreate_v3(pctx: *mut CUcontext, paramsArray: *mut CUexecAffinityParam, numParams: c_int, flags: c_uint, dev: CUdevice) {
        let _ = paramsArray;
        ensure(numParams == 0, Code::UNSUPPORTED_EXEC_AFFINITY)?;
        create(pctx, flags, dev)
    }

    fn cuCtxDestroy(ctx: CUcontext) {
        ensure(!ctx.is_null(), Code::INVALID_VALUE)?;
        let context = by_handle(ctx.number())?;
        // The primary context goes with its last release, not like this.
        ensure(!context.primary, Code::INVALID_CONTEXT)?;
        context.destroy()
    }

    fn cuCtxAttach(pctx: *mut CUcontext, flags: c_uint) {
        ensure(flags == 0 && !pctx.is_null(), Code::INVALID_VALUE)?;
        let context = current_alive()?;
        ensure(!context.primary, Code::INVALID_CONTEXT)?;
        context.attach();
        write_out(pctx, CUcontext::from_number(context.handle))
    }

    fn cuCtxDetach(ctx: CUcontext) {
        let context = by_handle(ctx.number())?;
        let is_current = context::top().is_some_and(|top| top.id == context.id);
        ensure(is_current && !context.primary, Code::INVALID_CONTEXT)?;
        context.detach()
    }

    fn cuCtxPushCurrent(ctx: CUcontext) {
        ensure(!ctx.is_null(), Code::INVALID_VALUE)?;
        context::push(alive_or_primary(ctx.number())?)
    }

    fn cuCtxPopCurrent(pctx: *mut CUcontext) {
        let context = context::pop()?;
        write_optional(pctx, CUcontext::from_number(context.handle));
        Ok(())
    }

    fn cuCtxSetCurrent(ctx: CUcontext) {
        let context = if ctx.is_null() { None } else { Some(alive_or_primary(ctx.number())?) };
        context::set(context)
    }

    fn cuCtxGetCurrent(pctx: *mut CUcontext) {
        let handle = context::top().map_or(0, |c| c.handle);
        write_out(pctx, CUcontext::from_number(handle))
    }

    fn cuCtxGetDevice(device: *mut CUdevice) {
        write_out(device, current_or_primary()?.device.ordinal as CUdevice)
    }

    fn cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext) {
        write_out(device, given_or_current(ctx)?.device.ordinal as CUdevice)
    }

    fn cuCtxGetFlags(flags: *mut c_uint) {
        write_out(flags, current_or_primary()?.flags.load(Ordering::Acquire))
    }

    fn cuCtxSetFlags(flags: c_uint) {
        current_alive()?.set_flags(flags)
    }

    fn cuCtxGetId(ctx: CUcontext, ctxId: *mut u64) {
        write_out(ctxId, given_or_current(ctx)?.id)
    }

    fn cuCtxSynchronize() {
        let context = current()?;
        capture::check_context_wait(&context)?;
        context.synchronize()
    }

    fn cuCtxSynchronize_v2(ctx: CUcontext) {
        ensure(!crate::stream::in_host_call(), Code::NOT_PERMITTED)?;
        given_or_current(ctx)?.synchronize()
    }

    fn cuCtxSetLimit(limit: CUlimit, value: usize) {
        let context = current()?;
        capture::check_unsafe_call()?;
        check_limit(limit.0, value)?;
        context.settings().limits[limit.0 as usize] = value;
        match limit {
            CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => limits::set_printf_fifo(value),
            CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE => limits::set_malloc_heap(value),
            CUlimit::CU_LIMIT_STACK_SIZE => context.cancel.set_stack_limit(value),
            _ => {}
        }
        Ok(())
    }

    fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit) {
        let context = current_alive()?;
        ensure(limit.0 < 10, Code::INVALID_VALUE)?;
        let value = context.settings().limits[limit.0 as usize];
        write_out(pvalue, value)
    }

    fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache) {
        let config = current_alive()?.settings().cache_config;
        write_out(pconfig, CUfunc_cache(config))
    }

    fn cuCtxSetCacheConfig(config: CUfunc_cache) {
        let context = current()?;
        ensure(config.0 <= 3, Code::INVALID_VALUE)?;
        context.settings().cache_config = config.0;
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig) {
        let config = current_alive()?.settings().shared_config;
        write_out(pConfig, CUsharedconfig(config))
    }

    fn cuCtxSetSharedMemConfig(config: CUsharedconfig) {
        let context = current()?;
        ensure(config.0 <= 2, Code::INVALID_VALUE)?;
        // Banks have four bytes on this device; as on real ones of its kind the call is accepted
        // and changes nothing.
        drop(context);
        Ok(())
    }

    fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) {
        given_or_current(ctx)?;
        write_out(version, API_VERSION)
    }

    fn cuCtxGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int) {
        current_alive()?;
        write_optional(leastPriority, PRIORITIES.0);
        write_optional(greatestPriority, PRIORITIES.1);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        current().map(drop)
    }

    fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: c_uint) {
        ensure(Flags == 0, Code::INVALID_VALUE)?;
        let context = current()?;
        let peer = by_handle(peerContext.number())?;
        ensure(peer.device.ordinal != context.device.ordinal, Code::PEER_ACCESS_UNSUPPORTED)?;
        let added = context.peers.enable(peer.id);
        ensure(added, Code::PEER_ACCESS_ALREADY_ENABLED)
    }

    fn cuCtxDisablePeerAccess(peerContext: CUcontext) {
        let context = current()?;
        let peer = by_handle(peerContext.number())?;
        let removed = context.peers.disable(peer.id);
        ensure(removed, Code::PEER_ACCESS_NOT_ENABLED)
    }

    fn cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent) {
        let context = given_or_current(hCtx)?;
        let event = EVENTS.get(hEvent.number())?;
        ensure(event.ctx_id == context.id, Code::INVALID_HANDLE)?;
        event.record_after(&context, context.fences().into());
        Ok(())
    }

    fn cuCtxWaitEvent(hCtx: CUcontext, hEvent: CUevent) {
        let context = given_or_current(hCtx)?;
        let event = EVENTS.get(hEvent.number())?;
        if let Some(fence) = event.fence() {
            for stream in context.all_streams() {
                stream.submit(&context, StreamPoints::from_elem(fence.clone(), 1), Work::Wait);
            }
        }
        Ok(())
    }
}
