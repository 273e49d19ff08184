//! Events: a recorded event is a point in a stream's order with the time at which it was passed.
//!
//! Recording again replaces the point; earlier waits still wait for the old point.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::capture::StreamCapture;
use crate::memory::ipc::HANDLE_BYTES;
use crate::stream::context::{CONTEXTS, Context};
use crate::stream::ipc_event::IpcEvent;
use crate::stream::{OperationWork, Stream, StreamPoint, StreamPoints, interruption_error, is_interrupted_generation};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::clocks::CLOCK_STEP_NS;
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};
use rtcg_vgpu_exec as exec;

/// Events.
pub(crate) static EVENTS: HandleTable<Event> = HandleTable::new(0x13);

/// `CU_EVENT_DISABLE_TIMING`
const DISABLE_TIMING_FLAG: u32 = 2;
/// `CU_EVENT_INTERPROCESS`
const INTERPROCESS_FLAG: u32 = 4;

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    /// Identifier of the context it was made in.
    pub(crate) ctx_id: u64,
    /// Flags of `cuEventCreate`.
    pub(crate) flags: u32,
    recorded: Mutex<Option<LastRecord>>,
    /// Where it was recorded in a capture, if that was the last time.
    captured: Mutex<Option<StreamCapture>>,
    /// Its state, when other processes have a part in it.
    shared: Option<Arc<IpcEvent>>,
}

#[derive(Debug, Clone)]
struct LastRecord {
    record: Arc<CompletionRecord>,
    /// `None` when the stream was idle, so that the point was passed at once.
    fence: Option<StreamPoint>,
}

/// When a point was passed.
#[derive(Debug, Default)]
pub(crate) struct CompletionRecord {
    /// Nanoseconds since [`clock_epoch`], 0 for not yet.
    at_ns: AtomicU64,
    /// The event of several processes that this is a record of, and its number there.
    shared: Option<(Arc<IpcEvent>, u32)>,
}

fn clock_epoch() -> Instant {
    static CLOCK_EPOCH: OnceLock<Instant> = OnceLock::new();
    *CLOCK_EPOCH.get_or_init(Instant::now)
}

/// Nanoseconds of a clock that only runs forward, in its steps.
fn now_ns() -> u64 {
    // One step is added so that the very first reading is not "not yet".
    (clock_epoch().elapsed().as_nanos() as u64 / CLOCK_STEP_NS + 1) * CLOCK_STEP_NS
}

impl CompletionRecord {
    /// The point has been passed.
    pub(crate) fn mark_completed(&self) {
        self.at_ns.store(now_ns(), Ordering::Release);
        if let Some((event, number)) = &self.shared {
            event.mark_record_completed(*number);
        }
    }
}

impl Event {
    /// A new event that was never recorded.
    pub(crate) fn new(ctx_id: u64, flags: u32) -> Res<Event> {
        clock_epoch();
        ensure(flags & !7 == 0, ResultCode::INVALID_VALUE)?;
        if flags & INTERPROCESS_FLAG != 0 {
            ensure(flags & DISABLE_TIMING_FLAG != 0, ResultCode::INVALID_VALUE)?;
        }
        let shared = if flags & INTERPROCESS_FLAG != 0 { Some(IpcEvent::new()?) } else { None };
        Ok(Event::new_with_ipc_event(ctx_id, flags, shared))
    }

    /// The event of another process.
    pub(crate) fn open_ipc_event(ctx_id: u64, handle: &[u8; HANDLE_BYTES]) -> Res<Event> {
        Ok(Event::new_with_ipc_event(
            ctx_id,
            INTERPROCESS_FLAG | DISABLE_TIMING_FLAG,
            Some(IpcEvent::open_remote(handle)?),
        ))
    }

    fn new_with_ipc_event(ctx_id: u64, flags: u32, shared: Option<Arc<IpcEvent>>) -> Event {
        Event { ctx_id, flags, recorded: Mutex::new(None), captured: Mutex::new(None), shared }
    }

    /// What other processes open it with.
    pub(crate) fn ipc_handle(&self) -> Res<[u8; HANDLE_BYTES]> {
        self.shared.as_ref().ok_or(ResultCode::INVALID_HANDLE)?.ipc_handle()
    }

    fn new_record(&self) -> Arc<CompletionRecord> {
        let shared = self.shared.as_ref().map(|s| (s.clone(), s.next_record_number()));
        Arc::new(CompletionRecord { shared, ..CompletionRecord::default() })
    }

    /// Records the event at the end of what the stream has to do.
    pub(crate) fn record_at_stream_end(&self, ctx: &Arc<Context>, stream: &Arc<Stream>) {
        *self.captured.lock().ignore_poison() = None;
        let record = self.new_record();
        let fence = match stream.try_run_inline(ctx) {
            Some(_turn) => {
                record.mark_completed();
                None
            }
            None => Some(stream.submit_operation(ctx, StreamPoints::new(), OperationWork::Record(record.clone()))),
        };
        *self.recorded.lock().ignore_poison() = Some(LastRecord { record, fence });
    }

    /// Records the event in a capture: it stands for what the stream's next node comes after.
    pub(crate) fn record_captured(&self, captured: StreamCapture) {
        *self.captured.lock().ignore_poison() = Some(captured);
    }

    /// Where in a capture it was last recorded.
    pub(crate) fn last_capture(&self) -> Option<StreamCapture> {
        self.captured.lock().ignore_poison().clone()
    }

    /// Whether it was ever recorded outside of captures.
    pub(crate) fn is_recorded(&self) -> bool {
        self.last_record().is_some()
    }

    /// Records the event at the point after all of `fences`.
    pub(crate) fn record_after_points(&self, ctx: &Arc<Context>, fences: StreamPoints) {
        *self.captured.lock().ignore_poison() = None;
        let record = self.new_record();
        let fence = if fences.is_empty() {
            record.mark_completed();
            None
        } else {
            // A stream of its own, so that nothing waits for it but who waits for the whole context.
            let stream = Stream::new(Arc::downgrade(ctx), ctx.id, crate::stream::StreamKind::NonBlocking, 0);
            ctx.add_stream(&stream);
            Some(stream.submit_operation(ctx, fences, OperationWork::Record(record.clone())))
        };
        *self.recorded.lock().ignore_poison() = Some(LastRecord { record, fence });
    }

    fn last_record(&self) -> Option<LastRecord> {
        self.recorded.lock().ignore_poison().clone()
    }

    /// Whether the latest record has been passed; true for an event that was never recorded.
    pub(crate) fn is_completed(&self) -> bool {
        match &self.shared {
            Some(event) => event.is_record_completed(event.latest_record_number()),
            None => self.pending_stream_point().is_none(),
        }
    }

    /// The point to wait for, if the latest record has not been passed yet.
    pub(crate) fn pending_stream_point(&self) -> Option<StreamPoint> {
        if let Some(event) = &self.shared {
            return self.submit_ipc_event_wait(event);
        }
        self.last_record()?.fence.filter(|f| !f.is_point_reached())
    }

    /// A point that is reached when whichever process recorded the event last has passed it.
    fn submit_ipc_event_wait(&self, event: &Arc<IpcEvent>) -> Option<StreamPoint> {
        let number = event.latest_record_number();
        if event.is_record_completed(number) {
            return None;
        }
        let ctx = CONTEXTS.find_object(|c| c.id == self.ctx_id)?;
        let stream = Stream::new(Arc::downgrade(&ctx), ctx.id, crate::stream::StreamKind::NonBlocking, 0);
        let (event, context, generation) = (event.clone(), ctx.clone(), ctx.cancel.interrupt_generation());
        let wait = move || {
            while !event.is_record_completed(number) {
                if exec::can_check_interrupt() && exec::is_interrupt_requested() {
                    context.interrupt();
                }
                if is_interrupted_generation(&context, generation) {
                    return Err(interruption_error());
                }
                event.wait_for_progress(number, exec::CHECK_INTERVAL);
            }
            Ok(())
        };
        Some(stream.submit_operation(&ctx, StreamPoints::new(), OperationWork::Device(Box::new(wait))))
    }

    /// Waits for the latest record on behalf of a call.
    pub(crate) fn wait_for_record(&self, ctx: &Context) -> Res {
        ctx.wait_for_all_streams(self.pending_stream_point())
    }

    /// Milliseconds from `start` to this event.
    pub(crate) fn elapsed_since(&self, start: &Event) -> Res<f32> {
        ensure((self.flags | start.flags) & DISABLE_TIMING_FLAG == 0, ResultCode::INVALID_HANDLE)?;
        let begin = start.last_record().ok_or(ResultCode::INVALID_HANDLE)?;
        let end = self.last_record().ok_or(ResultCode::INVALID_HANDLE)?;
        let (t0, t1) = (begin.record.at_ns.load(Ordering::Acquire), end.record.at_ns.load(Ordering::Acquire));
        ensure(t0 != 0 && t1 != 0, ResultCode::NOT_READY)?;
        Ok(((t1 as i64 - t0 as i64) as f64 * 1e-6) as f32)
    }
}
