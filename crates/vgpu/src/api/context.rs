//! Contexts.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, write_out, write_out_if_not_null};
use crate::device::device_by_ordinal;
use crate::graph::capture;
use crate::stream::attributes::STREAM_PRIORITY_RANGE;
use crate::stream::context::{
    self, Context, alive_or_primary_context, context_by_handle, current, current_alive_context,
    current_or_primary_context,
};
use crate::stream::event::EVENTS;
use crate::stream::{OperationWork, StreamPoints};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_exec::limits;

/// The version of the interface, as `cuCtxGetApiVersion` reports it.
const API_VERSION: c_uint = 3020;

/// # Safety
/// `place` is null or valid for writing a handle.
unsafe fn create_context(place: *mut CUcontext, flags: c_uint, dev: CUdevice) -> Res {
    ensure(!place.is_null(), ResultCode::INVALID_VALUE)?;
    let context = Context::create(device_by_ordinal(dev)?, flags)?;
    context::push_current(context.clone())?;
    // SAFETY: not null, so valid by this function's contract.
    unsafe { write_out(place, CUcontext::from_handle_number(context.handle)) }
}

/// The context of a handle, or the current one for null.
fn context_or_current(ctx: CUcontext) -> Res<Arc<Context>> {
    if ctx.is_null() { current_alive_context() } else { context_by_handle(ctx.handle_number()) }
}

driver_functions! {
    fn cuCtxCreate(pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: c_uint, dev: CUdevice) {
        if let Some(params) = ctxCreateParams.as_ref() {
            ensure(params.numExecAffinityParams == 0, ResultCode::UNSUPPORTED_EXEC_AFFINITY)?;
            ensure(params.cigParams.is_null(), ResultCode::NOT_SUPPORTED)?;
        }
        create_context(pctx, flags, dev)
    }

    fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice) {
        create_context(pctx, flags, dev)
    }

    fn cuCtxCreate_v3(pctx: *mut CUcontext, paramsArray: *mut CUexecAffinityParam, numParams: c_int, flags: c_uint, dev: CUdevice) {
        let _ = paramsArray;
        ensure(numParams == 0, ResultCode::UNSUPPORTED_EXEC_AFFINITY)?;
        create_context(pctx, flags, dev)
    }

    fn cuCtxDestroy(ctx: CUcontext) {
        ensure(!ctx.is_null(), ResultCode::INVALID_VALUE)?;
        let context = context_by_handle(ctx.handle_number())?;
        // The primary context goes with its last release, not like this.
        ensure(!context.primary, ResultCode::INVALID_CONTEXT)?;
        context.destroy()?;
        context.device.check_not_ended()
    }

    fn cuCtxAttach(pctx: *mut CUcontext, flags: c_uint) {
        ensure(flags == 0 && !pctx.is_null(), ResultCode::INVALID_VALUE)?;
        let context = current_alive_context()?;
        ensure(!context.primary, ResultCode::INVALID_CONTEXT)?;
        context.attach();
        write_out(pctx, CUcontext::from_handle_number(context.handle))
    }

    fn cuCtxDetach(ctx: CUcontext) {
        let context = context_by_handle(ctx.handle_number())?;
        let is_current = context::top_of_context_stack().is_some_and(|top| top.id == context.id);
        ensure(is_current && !context.primary, ResultCode::INVALID_CONTEXT)?;
        context.detach()
    }

    fn cuCtxPushCurrent(ctx: CUcontext) {
        ensure(!ctx.is_null(), ResultCode::INVALID_VALUE)?;
        context::push_current(alive_or_primary_context(ctx.handle_number())?)
    }

    fn cuCtxPopCurrent(pctx: *mut CUcontext) {
        let context = context::pop_current()?;
        write_out_if_not_null(pctx, CUcontext::from_handle_number(context.handle));
        Ok(())
    }

    fn cuCtxSetCurrent(ctx: CUcontext) {
        let context = if ctx.is_null() { None } else { Some(alive_or_primary_context(ctx.handle_number())?) };
        context::set_current(context)
    }

    fn cuCtxGetCurrent(pctx: *mut CUcontext) {
        let handle = context::top_of_context_stack().map_or(0, |c| c.handle);
        write_out(pctx, CUcontext::from_handle_number(handle))
    }

    fn cuCtxGetDevice(device: *mut CUdevice) {
        write_out(device, current_or_primary_context()?.device.ordinal as CUdevice)
    }

    fn cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext) {
        write_out(device, context_or_current(ctx)?.device.ordinal as CUdevice)
    }

    fn cuCtxGetFlags(flags: *mut c_uint) {
        write_out(flags, current_or_primary_context()?.flags.load(Ordering::Acquire))
    }

    fn cuCtxSetFlags(flags: c_uint) {
        current()?.set_flags(flags)
    }

    fn cuCtxGetId(ctx: CUcontext, ctxId: *mut u64) {
        write_out(ctxId, context_or_current(ctx)?.id)
    }

    fn cuCtxSynchronize() {
        let context = current()?;
        capture::refuse_if_context_captures(&context)?;
        context.synchronize()
    }

    fn cuCtxSynchronize_v2(ctx: CUcontext) {
        context_or_current(ctx)?.synchronize()
    }

    fn cuCtxSetLimit(limit: CUlimit, value: usize) {
        let context = current()?;
        capture::refuse_call_unsafe_in_capture()?;
        let value = context.lock_settings().limits.set_limit(limit.0, value)?;
        match limit {
            CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => limits::set_printf_fifo_bytes(value),
            CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE => limits::set_malloc_heap_bytes(value),
            CUlimit::CU_LIMIT_STACK_SIZE => context.cancel.set_stack_limit(value),
            _ => {}
        }
        Ok(())
    }

    fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit) {
        let context = current()?;
        let value = context.lock_settings().limits.limit(limit.0)?;
        write_out(pvalue, value)
    }

    fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache) {
        let config = current()?.lock_settings().cache_config;
        write_out(pconfig, CUfunc_cache(config))
    }

    fn cuCtxSetCacheConfig(config: CUfunc_cache) {
        let context = current()?;
        ensure(config.0 <= 3, ResultCode::INVALID_VALUE)?;
        context.lock_settings().cache_config = config.0;
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig) {
        let config = current()?.lock_settings().shared_config;
        write_out(pConfig, CUsharedconfig(config))
    }

    fn cuCtxSetSharedMemConfig(config: CUsharedconfig) {
        let context = current()?;
        ensure(config.0 <= 2, ResultCode::INVALID_VALUE)?;
        // Banks have four bytes on this device; as on real ones of its kind the call is accepted
        // and changes nothing.
        drop(context);
        Ok(())
    }

    fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) {
        context_or_current(ctx)?;
        write_out(version, API_VERSION)
    }

    fn cuCtxGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int) {
        current()?;
        write_out_if_not_null(leastPriority, STREAM_PRIORITY_RANGE.0);
        write_out_if_not_null(greatestPriority, STREAM_PRIORITY_RANGE.1);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        current().map(drop)
    }

    fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: c_uint) {
        ensure(Flags == 0, ResultCode::INVALID_VALUE)?;
        let context = current()?;
        let peer = context_by_handle(peerContext.handle_number())?;
        ensure(peer.device.ordinal != context.device.ordinal, ResultCode::PEER_ACCESS_UNSUPPORTED)?;
        let added = context.peers.enable(peer.id);
        ensure(added, ResultCode::PEER_ACCESS_ALREADY_ENABLED)
    }

    fn cuCtxDisablePeerAccess(peerContext: CUcontext) {
        let context = current()?;
        let peer = context_by_handle(peerContext.handle_number())?;
        let removed = context.peers.disable(peer.id);
        ensure(removed, ResultCode::PEER_ACCESS_NOT_ENABLED)
    }

    fn cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent) {
        // Null is no context here.
        let context = context_by_handle(hCtx.handle_number())?;
        let event = EVENTS.get_object(hEvent.handle_number())?;
        ensure(event.ctx_id == context.id, ResultCode::INVALID_HANDLE)?;
        event.record_after_points(&context, context.stream_points().into());
        Ok(())
    }

    fn cuCtxWaitEvent(hCtx: CUcontext, hEvent: CUevent) {
        let context = context_by_handle(hCtx.handle_number())?;
        let event = EVENTS.get_object(hEvent.handle_number())?;
        if let Some(fence) = event.pending_stream_point() {
            for stream in context.all_streams() {
                stream.submit_operation(&context, StreamPoints::from_elem(fence.clone(), 1), OperationWork::Wait);
            }
        }
        Ok(())
    }
}
