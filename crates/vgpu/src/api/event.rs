//! Events.

use std::ffi::c_uint;
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, write_out};
use crate::driver::stream_and_context;
use crate::graph::{NodeAction, capture};
use crate::memory::pool::release_unused_reservations;
use crate::stream::context::{self, Context, current};
use crate::stream::event::EVENTS;
use crate::stream::event::Event;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// An event and its context, which must not be poisoned.
fn event_and_context(handle: CUevent) -> Res<(Arc<Event>, Arc<Context>)> {
    let event = EVENTS.get_object(handle.handle_number())?;
    let context = context::CONTEXTS.find_object(|c| c.id == event.ctx_id).ok_or(ResultCode::CONTEXT_IS_DESTROYED)?;
    Ok((event, context))
}

/// `external`: in a capture, the event is recorded by each launch of the graph.
pub(crate) fn record_event(event: CUevent, stream: CUstream, external: bool) -> Res {
    let number = event.handle_number();
    let event = EVENTS.get_object(number)?;
    let (context, stream) = stream_and_context(stream.handle_number())?;
    ensure(event.ctx_id == context.id, ResultCode::INVALID_HANDLE)?;
    if external && capture::capture_operation(&stream, || Ok(NodeAction::Record(number)))? {
        return Ok(());
    }
    ensure(!external, ResultCode::ILLEGAL_STATE)?;
    match capture::capture_of_stream(&stream) {
        Some(captured) if captured.capture.is_invalid() => return ResultCode::STREAM_CAPTURE_INVALIDATED.err(),
        Some(captured) => event.record_captured(captured),
        None => event.record_at_stream_end(&context, &stream),
    }
    Ok(())
}

/// Whether an event may be one that a launch in `ctx` records: of that context, without times, of this process alone.
pub(crate) fn check_launch_event(ctx: &Context, event: CUevent) -> Res {
    let event = EVENTS.get_object(event.handle_number())?;
    ensure(event.ctx_id == ctx.id, ResultCode::INVALID_HANDLE)?;
    let (no_times, shared) = (CU_EVENT_DISABLE_TIMING.0, CU_EVENT_INTERPROCESS.0);
    if event.flags & (no_times | shared) != no_times {
        let reason = "an event that a launch records must be made with DISABLE_TIMING and without INTERPROCESS";
        return Err(ResultCode::INVALID_VALUE.with_detail(reason));
    }
    Ok(())
}

fn elapsed_ms(start: CUevent, end: CUevent) -> Res<f32> {
    let (start, _) = event_and_context(start)?;
    let (end, context) = event_and_context(end)?;
    context.check_usable()?;
    ensure(start.ctx_id == end.ctx_id, ResultCode::INVALID_HANDLE)?;
    // Unlike a question about completion, this one leaves the capture valid.
    let is_captured = start.last_capture().is_some() || end.last_capture().is_some();
    ensure(!is_captured, ResultCode::CAPTURED_EVENT)?;
    end.elapsed_since(&start)
}

driver_functions! {
    fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) {
        ensure(!phEvent.is_null(), ResultCode::INVALID_VALUE)?;
        let context = current()?;
        let event = Arc::new(Event::new(context.id, Flags)?);
        let (handle, _) = EVENTS.insert_with(|_| event)?;
        write_out(phEvent, CUevent::from_handle_number(handle))
    }

    fn cuEventRecord(hEvent: CUevent, hStream: CUstream) {
        record_event(hEvent, hStream, false)
    }

    fn cuEventRecordWithFlags(hEvent: CUevent, hStream: CUstream, flags: c_uint) {
        ensure(flags <= 1, ResultCode::INVALID_VALUE)?;
        record_event(hEvent, hStream, flags == 1)
    }

    fn cuEventQuery(hEvent: CUevent) {
        let (event, context) = event_and_context(hEvent)?;
        context.check_usable()?;
        capture::refuse_captured_event(event.last_capture())?;
        capture::refuse_call_unsafe_in_capture()?;
        crate::stream::chaos_schedule::run_random_operation_on_query();
        ensure(event.is_completed(), ResultCode::NOT_READY)?;
        context.check_async_errors()
    }

    fn cuEventSynchronize(hEvent: CUevent) {
        let (event, context) = event_and_context(hEvent)?;
        capture::refuse_captured_event(event.last_capture())?;
        capture::refuse_call_unsafe_in_capture()?;
        event.wait_for_record(&context)?;
        release_unused_reservations();
        context.check_async_errors()
    }

    fn cuEventDestroy(hEvent: CUevent) {
        let event = EVENTS.remove_object(hEvent.handle_number())?;
        // It is destroyed also where its context has failed, which the code tells.
        let context = context::CONTEXTS.find_object(|c| c.id == event.ctx_id);
        context.map_or(Ok(()), |context| context.check_usable())
    }

    fn cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        write_out(pMilliseconds, elapsed_ms(hStart, hEnd)?)
    }

    fn cuEventElapsedTime_v2(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        write_out(pMilliseconds, elapsed_ms(hStart, hEnd)?)
    }
}
