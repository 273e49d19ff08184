//! Events: a recorded event is a point in a stream's order with the time at which it was passed.
//!
//! Recording again replaces the point; earlier waits still wait for the old point.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::context::{CONTEXTS, Context};
use crate::error::{Code, Res, ensure};
use crate::exec;
use crate::graph::capture::Captured;
use crate::ipc_event::IpcEvent;
use crate::memory::ipc::HANDLE_BYTES;
use crate::stream::{Stream, StreamPoint, StreamPoints, Work, interrupted, is_dropped};

/// `CU_EVENT_DISABLE_TIMING`
const DISABLE_TIMING: u32 = 2;
/// `CU_EVENT_INTERPROCESS`
const INTERPROCESS: u32 = 4;

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    /// Identifier of the context it was made in.
    pub(crate) ctx_id: u64,
    /// Flags of `cuEventCreate`.
    pub(crate) flags: u32,
    recorded: Mutex<Option<LastRecord>>,
    /// Where it was recorded in a capture, if that was the last time.
    captured: Mutex<Option<Captured>>,
    /// Its state, when other processes have a part in it.
    shared: Option<Arc<IpcEvent>>,
}

#[derive(Debug, Clone)]
struct LastRecord {
    record: Arc<Record>,
    /// `None` when the stream was idle, so that the point was passed at once.
    fence: Option<StreamPoint>,
}

/// When a point was passed.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Nanoseconds since [`epoch`], 0 for not yet.
    at_ns: AtomicU64,
    /// The event of several processes that this is a record of, and its number there.
    shared: Option<(Arc<IpcEvent>, u32)>,
}

fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

/// Nanoseconds of a clock that only runs forward.
fn now_ns() -> u64 {
    // One is added so that the very first reading is not "not yet".
    epoch().elapsed().as_nanos() as u64 + 1
}

impl Record {
    /// The point has been passed.
    pub(crate) fn finish(&self) {
        self.at_ns.store(now_ns(), Ordering::Release);
        if let Some((event, number)) = &self.shared {
            event.pass(*number);
        }
    }
}

impl Event {
    /// A new event that was never recorded.
    pub(crate) fn new(ctx_id: u64, flags: u32) -> Res<Event> {
        epoch();
        ensure(flags & !7 == 0, Code::INVALID_VALUE)?;
        if flags & INTERPROCESS != 0 {
            ensure(flags & DISABLE_TIMING != 0, Code::INVALID_VALUE)?;
        }
        let shared = if flags & INTERPROCESS != 0 { Some(IpcEvent::new()?) } else { None };
        Ok(Event::with(ctx_id, flags, shared))
    }

    /// The event of another process.
    pub(crate) fn open(ctx_id: u64, handle: &[u8; HANDLE_BYTES]) -> Res<Event> {
        Ok(Event::with(ctx_id, INTERPROCESS | DISABLE_TIMING, Some(IpcEvent::open(handle)?)))
    }

    fn with(ctx_id: u64, flags: u32, shared: Option<Arc<IpcEvent>>) -> Event {
        Event { ctx_id, flags, recorded: Mutex::new(None), captured: Mutex::new(None), shared }
    }

    /// What other processes open it with.
    pub(crate) fn ipc_handle(&self) -> Res<[u8; HANDLE_BYTES]> {
        self.shared.as_ref().ok_or(Code::INVALID_HANDLE)?.handle()
    }

    fn new_record(&self) -> Arc<Record> {
        let shared = self.shared.as_ref().map(|s| (s.clone(), s.record()));
        Arc::new(Record { shared, ..Record::default() })
    }

    /// Records the event at the end of what the stream has to do.
    pub(crate) fn record(&self, ctx: &Arc<Context>, stream: &Arc<Stream>) {
        *self.captured.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let record = self.new_record();
        let fence = match stream.try_run_inline(ctx) {
            Some(_turn) => {
                record.finish();
                None
            }
            None => Some(stream.submit(ctx, StreamPoints::new(), Work::Record(record.clone()))),
        };
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(LastRecord { record, fence });
    }

    /// Records the event in a capture: it stands for what the stream's next node comes after.
    pub(crate) fn record_captured(&self, captured: Captured) {
        *self.captured.lock().unwrap_or_else(PoisonError::into_inner) = Some(captured);
    }

    /// Where in a capture it was last recorded.
    pub(crate) fn captured(&self) -> Option<Captured> {
        self.captured.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it was ever recorded outside of captures.
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorded().is_some()
    }

    /// Records the event at the point after all of `fences`.
    pub(crate) fn record_after(&self, ctx: &Arc<Context>, fences: StreamPoints) {
        let record = self.new_record();
        // A stream of its own, so that nothing else waits for it.
        let stream = Stream::new(Arc::downgrade(ctx), ctx.id, crate::stream::Kind::NonBlocking, 0);
        let fence = stream.submit(ctx, fences, Work::Record(record.clone()));
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(LastRecord { record, fence: Some(fence) });
    }

    fn recorded(&self) -> Option<LastRecord> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the latest record has been passed; true for an event that was never recorded.
    pub(crate) fn is_done(&self) -> bool {
        match &self.shared {
            Some(event) => event.is_passed(event.latest()),
            None => self.fence().is_none(),
        }
    }

    /// The point to wait for, if the latest record has not been passed yet.
    pub(crate) fn fence(&self) -> Option<StreamPoint> {
        if let Some(event) = &self.shared {
            return self.fence_of_processes(event);
        }
        self.recorded()?.fence.filter(|f| !f.is_reached())
    }

    /// A point that is reached when whichever process recorded the event last has passed it.
    fn fence_of_processes(&self, event: &Arc<IpcEvent>) -> Option<StreamPoint> {
        let number = event.latest();
        if event.is_passed(number) {
            return None;
        }
        let ctx = CONTEXTS.find(|c| c.id == self.ctx_id)?;
        let stream = Stream::new(Arc::downgrade(&ctx), ctx.id, crate::stream::Kind::NonBlocking, 0);
        let (event, context, generation) = (event.clone(), ctx.clone(), ctx.cancel.generation());
        let wait = move || {
            while !event.is_passed(number) {
                if exec::can_check_interrupt() && exec::is_requested() {
                    context.interrupt();
                }
                if is_dropped(&context, generation) {
                    return Err(interrupted());
                }
                event.pause(number, exec::TICK);
            }
            Ok(())
        };
        Some(stream.submit(&ctx, StreamPoints::new(), Work::Device(Box::new(wait))))
    }

    /// Waits for the latest record on behalf of a call.
    pub(crate) fn wait(&self, ctx: &Context) -> Res {
        ctx.wait_for_all(self.fence())
    }

    /// Milliseconds from `start` to this event.
    pub(crate) fn elapsed_since(&self, start: &Event) -> Res<f32> {
        ensure((self.flags | start.flags) & DISABLE_TIMING == 0, Code::INVALID_HANDLE)?;
        let begin = start.recorded().ok_or(Code::INVALID_HANDLE)?;
        let end = self.recorded().ok_or(Code::INVALID_HANDLE)?;
        let (t0, t1) = (begin.record.at_ns.load(Ordering::Acquire), end.record.at_ns.load(Ordering::Acquire));
        ensure(t0 != 0 && t1 != 0, Code::NOT_READY)?;
        Ok(((t1 as i64 - t0 as i64) as f64 * 1e-6) as f32)
    }
}
