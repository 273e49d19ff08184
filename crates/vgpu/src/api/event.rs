//! Events.

use std::ffi::c_uint;
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, write_out};
use crate::context::{self, Context, current};
use crate::driver::{EVENTS, stream_and_context};
use crate::error::{Code, Res, ensure};
use crate::event::Event;
use crate::graph::{Action, capture};

/// An event and its context, which must not be poisoned.
fn event_and_context(handle: CUevent) -> Res<(Arc<Event>, Arc<Context>)> {
    ensure(!crate::stream::in_host_call(), Code::NOT_PERMITTED)?;
    let event = EVENTS.get(handle.number())?;
    let context = context::CONTEXTS.find(|c| c.id == event.ctx_id).ok_or(Code::CONTEXT_IS_DESTROYED)?;
    Ok((event, context))
}

/// `external`: in a capture, the event is recorded by each launch of the graph.
pub(crate) fn record(event: CUevent, stream: CUstream, external: bool) -> Res {
    let number = event.number();
    let event = EVENTS.get(number)?;
    let (context, stream) = stream_and_context(stream.number())?;
    ensure(event.ctx_id == context.id, Code::INVALID_HANDLE)?;
    if external && capture::intercept(&stream, || Ok(Action::Record(number)))? {
        return Ok(());
    }
    match capture::of(&stream) {
        Some(captured) if captured.capture.is_invalid() => return Code::STREAM_CAPTURE_INVALIDATED.err(),
        Some(captured) => event.record_captured(captured),
        None => event.record(&context, &stream),
    }
    Ok(())
}

/// Whether an event may be one that a launch in `ctx` records: of that context, without times, of this process alone.
pub(crate) fn check_of_launch(ctx: &Context, event: CUevent) -> Res {
    let event = EVENTS.get(event.number())?;
    ensure(event.ctx_id == ctx.id, Code::INVALID_HANDLE)?;
    let (no_times, shared) = (CU_EVENT_DISABLE_TIMING.0, CU_EVENT_INTERPROCESS.0);
    if event.flags & (no_times | shared) != no_times {
        let reason = "an event that a launch records must be made with DISABLE_TIMING and without INTERPROCESS";
        return Err(Code::INVALID_VALUE.because(reason));
    }
    Ok(())
}

fn elapsed(start: CUevent, end: CUevent) -> Res<f32> {
    let (start, _) = event_and_context(start)?;
    let (end, context) = event_and_context(end)?;
    context.check()?;
    end.elapsed_since(&start)
}

driver_functions! {
    fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) {
        ensure(!phEvent.is_null(), Code::INVALID_VALUE)?;
        let context = current()?;
        let event = Arc::new(Event::new(context.id, Flags)?);
        let (handle, _) = EVENTS.insert_with(|_| event)?;
        write_out(phEvent, CUevent::from_number(handle))
    }

    fn cuEventRecord(hEvent: CUevent, hStream: CUstream) {
        record(hEvent, hStream, false)
    }

    fn cuEventRecordWithFlags(hEvent: CUevent, hStream: CUstream, flags: c_uint) {
        ensure(flags <= 1, Code::INVALID_VALUE)?;
        record(hEvent, hStream, flags == 1)
    }

    fn cuEventQuery(hEvent: CUevent) {
        let (event, context) = event_and_context(hEvent)?;
        context.check()?;
        ensure(event.captured().is_none(), Code::CAPTURED_EVENT)?;
        capture::check_unsafe_call()?;
        crate::stream::chaos::run_one_on_query();
        ensure(event.is_done(), Code::NOT_READY)?;
        context.wait_result()
    }

    fn cuEventSynchronize(hEvent: CUevent) {
        let (event, context) = event_and_context(hEvent)?;
        ensure(event.captured().is_none(), Code::CAPTURED_EVENT)?;
        capture::check_unsafe_call()?;
        event.wait(&context)?;
        context.wait_result()
    }

    fn cuEventDestroy(hEvent: CUevent) {
        EVENTS.remove(hEvent.number()).map(drop)
    }

    fn cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        write_out(pMilliseconds, elapsed(hStart, hEnd)?)
    }

    fn cuEventElapsedTime_v2(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        write_out(pMilliseconds, elapsed(hStart, hEnd)?)
    }
}
