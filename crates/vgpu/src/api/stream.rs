//! Streams.

use rtcg_vgpu_abi::IgnorePoison;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, write_out, write_out_if_not_null};
use crate::driver::stream_and_context;
use crate::graph::{AssertSend, NodeAction, capture};
use crate::memory::pool::release_unused_reservations;
use crate::stream::STREAMS;
use crate::stream::attributes::{AttributeBytes, STREAM_ATTRIBUTES, STREAM_PRIORITY_RANGE};
use crate::stream::context::{current, current_alive_context};
use crate::stream::event::EVENTS;
use crate::stream::{OperationWork, Stream, StreamKind, StreamPoints};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

fn create_stream(flags: c_uint, priority: c_int) -> Res<CUstream> {
    ensure(flags <= 1, ResultCode::INVALID_VALUE)?;
    let context = current()?;
    let kind = if flags & 1 == 0 { StreamKind::Blocking } else { StreamKind::NonBlocking };
    let priority = priority.clamp(STREAM_PRIORITY_RANGE.1, STREAM_PRIORITY_RANGE.0);
    let make = |_| Stream::new(Arc::downgrade(&context), context.id, kind, priority);
    let (handle, stream) = STREAMS.insert_with(make)?;
    context.add_stream(&stream);
    Ok(CUstream::from_handle_number(handle))
}

/// A pointer of the program that only goes back to the program.
#[derive(Clone, Copy)]
struct UserData(*mut c_void);

// SAFETY: never dereferenced here; the program gave it for use on the driver's threads.
unsafe impl Send for UserData {}

impl UserData {
    /// By value, so that a closure captures the whole and not its raw pointer.
    fn get(self) -> *mut c_void {
        self.0
    }
}

driver_functions! {
    fn cuStreamCreate(phStream: *mut CUstream, Flags: c_uint) {
        ensure(!phStream.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(phStream, create_stream(Flags, 0)?)
    }

    fn cuStreamCreateWithPriority(phStream: *mut CUstream, flags: c_uint, priority: c_int) {
        ensure(!phStream.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(phStream, create_stream(flags, priority)?)
    }

    fn cuStreamDestroy(hStream: CUstream) {
        ensure(hStream.handle_number() > 2, ResultCode::INVALID_HANDLE)?;
        // What is queued runs on; the stream itself goes with it.
        STREAMS.remove_object(hStream.handle_number()).map(drop)
    }

    fn cuStreamGetPriority(hStream: CUstream, priority: *mut c_int) {
        write_out(priority, stream_and_context(hStream.handle_number())?.1.priority)
    }

    fn cuStreamGetDevice(hStream: CUstream, device: *mut CUdevice) {
        write_out(device, stream_and_context(hStream.handle_number())?.0.device.ordinal as CUdevice)
    }

    fn cuStreamGetFlags(hStream: CUstream, flags: *mut c_uint) {
        let (_, stream) = stream_and_context(hStream.handle_number())?;
        // A real driver answers this of no stream that is captured, whatever the mode.
        capture::refuse_if_capturing(&stream)?;
        write_out(flags, c_uint::from(stream.kind == StreamKind::NonBlocking))
    }

    fn cuStreamGetId(hStream: CUstream, streamId: *mut u64) {
        write_out(streamId, stream_and_context(hStream.handle_number())?.1.id)
    }

    fn cuStreamGetCtx(hStream: CUstream, pctx: *mut CUcontext) {
        let (context, _) = stream_and_context(hStream.handle_number())?;
        write_out(pctx, CUcontext::from_handle_number(context.handle))
    }

    fn cuStreamGetCtx_v2(hStream: CUstream, pCtx: *mut CUcontext, pGreenCtx: *mut CUgreenCtx) {
        let (context, _) = stream_and_context(hStream.handle_number())?;
        write_out_if_not_null(pGreenCtx, CUgreenCtx::null());
        write_out(pCtx, CUcontext::from_handle_number(context.handle))
    }

    fn cuStreamGetGreenCtx(hStream: CUstream, phCtx: *mut CUgreenCtx) {
        stream_and_context(hStream.handle_number())?;
        write_out(phCtx, CUgreenCtx::null())
    }

    fn cuStreamQuery(hStream: CUstream) {
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        capture::refuse_if_capturing(&stream)?;
        capture::refuse_call_unsafe_in_capture()?;
        crate::stream::chaos_schedule::run_random_operation_on_query();
        let is_idle = match stream.kind {
            // What is done next in it waits for all of these.
            StreamKind::Legacy => context.points_of_blocking_streams().is_empty(),
            _ => stream.is_idle(),
        };
        ensure(is_idle, ResultCode::NOT_READY)?;
        context.check_async_errors()
    }

    fn cuStreamSynchronize(hStream: CUstream) {
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        capture::refuse_if_capturing(&stream)?;
        capture::refuse_call_unsafe_in_capture()?;
        if stream.kind == StreamKind::Legacy {
            // Work of blocking streams comes before anything that the default stream does next.
            context.wait_for_blocking_streams()?;
        }
        context.wait_for_all_streams([stream.last_submitted_point()])?;
        release_unused_reservations();
        context.check_async_errors()
    }

    fn cuStreamWaitEvent(hStream: CUstream, hEvent: CUevent, Flags: c_uint) {
        ensure(Flags <= 1, ResultCode::INVALID_VALUE)?;
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        let event = EVENTS.get_object(hEvent.handle_number())?;
        if let Some(captured) = event.last_capture() {
            // There is nothing to wait for after the capture.
            ensure(!captured.capture.is_ended(), ResultCode::INVALID_VALUE)?;
            return capture::join_event_capture(&stream, &captured);
        }
        if let Some(captured) = capture::capture_of_stream(&stream) {
            if Flags == 1 {
                return capture::capture_operation(&stream, || Ok(NodeAction::Wait(hEvent.handle_number()))).map(drop);
            }
            return if event.is_recorded() { Err(capture::capture_isolation_error(&captured)) } else { Ok(()) };
        }
        // A node that waits exists only in a capture.
        ensure(Flags == 0, ResultCode::ILLEGAL_STATE)?;
        // A point of the same stream has passed anyway when later work of it runs.
        if let Some(fence) = event.pending_stream_point().filter(|f| f.stream().id != stream.id) {
            stream.submit_operation(&context, StreamPoints::from_elem(fence, 1), OperationWork::Wait);
        }
        Ok(())
    }

    fn cuStreamAddCallback(hStream: CUstream, callback: CUstreamCallback, userData: *mut c_void, flags: c_uint) {
        ensure(flags == 0, ResultCode::INVALID_VALUE)?;
        let callback = callback.ok_or(ResultCode::INVALID_VALUE)?;
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        capture::refuse_if_capturing(&stream)?;
        let data = UserData(userData);
        stream.submit_operation(&context, StreamPoints::new(), OperationWork::Host(Box::new(move |before| {
            let status = before.map_or_else(|e| CUresult(e.code.0), |()| CUresult::CUDA_SUCCESS);
            // SAFETY: the program gave this function to be called with this pointer.
            unsafe { callback(hStream, status, data.get()) };
        })));
        Ok(())
    }

    fn cuLaunchHostFunc(hStream: CUstream, fn_: CUhostFn, userData: *mut c_void) {
        let function = fn_.ok_or(ResultCode::INVALID_VALUE)?;
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        if capture::capture_operation(&stream, || Ok(NodeAction::Host(function, AssertSend(userData))))? {
            return Ok(());
        }
        let data = UserData(userData);
        stream.submit_operation(&context, StreamPoints::new(), OperationWork::Host(Box::new(move |before| {
            if before.is_ok() {
                // SAFETY: the program gave this function to be called with this pointer.
                unsafe { function(data.get()) };
            }
        })));
        Ok(())
    }

    fn cuStreamAttachMemAsync(hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: c_uint) {
        let (_, stream) = stream_and_context(hStream.handle_number())?;
        capture::refuse_if_capturing(&stream)?;
        ensure(matches!(flags, 1 | 2 | 4), ResultCode::INVALID_VALUE)?;
        // Null is no stream of its own that memory could be attached to.
        ensure(flags != CUmemAttach_flags::CU_MEM_ATTACH_SINGLE.0 || !hStream.is_null(), ResultCode::INVALID_VALUE)?;
        let block = crate::memory::account::device_heap()?.find_block(dptr).ok_or(ResultCode::INVALID_VALUE)?;
        let whole = block.start == dptr && (length == 0 || length as u64 == block.size);
        // Managed memory is coherent here; which stream it belongs to changes nothing.
        ensure(whole && block.kind == crate::memory::heap::MemoryKind::Managed, ResultCode::INVALID_VALUE)
    }

    fn cuStreamCopyAttributes(dst: CUstream, src: CUstream) {
        let (_, dst) = stream_and_context(dst.handle_number())?;
        let (_, src) = stream_and_context(src.handle_number())?;
        let copied = src.attributes.lock().ignore_poison().clone();
        *dst.attributes.lock().ignore_poison() = copied;
        Ok(())
    }

    fn cuStreamGetAttribute(hStream: CUstream, attr: CUstreamAttrID, value_out: *mut CUstreamAttrValue) {
        let (_, stream) = stream_and_context(hStream.handle_number())?;
        let value = stream.attributes.lock().ignore_poison().get(STREAM_ATTRIBUTES, attr.0, stream.priority)?;
        write_out(value_out.cast::<AttributeBytes>(), value)
    }

    fn cuStreamSetAttribute(hStream: CUstream, attr: CUstreamAttrID, value: *const CUstreamAttrValue) {
        let (_, stream) = stream_and_context(hStream.handle_number())?;
        ensure(!value.is_null(), ResultCode::INVALID_VALUE)?;
        let bytes = value.cast::<AttributeBytes>().read_unaligned();
        stream.attributes.lock().ignore_poison().set(STREAM_ATTRIBUTES, attr.0, bytes)
    }

    fn cuProfilerStart() {
        current_alive_context().map(drop)
    }

    fn cuProfilerStop() {
        current_alive_context().map(drop)
    }
}
