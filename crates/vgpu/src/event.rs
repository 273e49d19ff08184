//! Events: a recorded event is a point in a stream's order with the time at which it was passed.
//!
//! Recording again replaces the point; whoever waits on the old one keeps waiting on that one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::context::Context;
use crate::error::{Code, Res, ensure};
use crate::graph::capture::Captured;
use crate::stream::{Fence, Fences, Stream, Work};

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
    recorded: Mutex<Option<Recorded>>,
    /// Where it was recorded in a capture, if that was the last time.
    captured: Mutex<Option<Captured>>,
}

#[derive(Debug, Clone)]
struct Recorded {
    record: Arc<Record>,
    /// `None` when the stream was idle, so that the point was passed at once.
    fence: Option<Fence>,
}

/// When a point was passed.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Nanoseconds since [`epoch`], 0 for not yet.
    at_ns: AtomicU64,
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
    }
}

impl Event {
    /// A new event that was never recorded.
    pub(crate) fn new(ctx_id: u64, flags: u32) -> Res<Event> {
        epoch();
        ensure(flags & !7 == 0, Code::INVALID_VALUE)?;
        if flags & INTERPROCESS != 0 {
            ensure(flags & DISABLE_TIMING != 0, Code::INVALID_VALUE)?;
            return Err(Code::NOT_SUPPORTED.because("events cannot be shared between processes on the virtual GPU"));
        }
        Ok(Event { ctx_id, flags, recorded: Mutex::new(None), captured: Mutex::new(None) })
    }

    /// Records the event at the end of what the stream has to do.
    pub(crate) fn record(&self, ctx: &Arc<Context>, stream: &Arc<Stream>) {
        *self.captured.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let record = Arc::new(Record::default());
        let fence = match stream.try_turn(ctx) {
            Some(_turn) => {
                record.finish();
                None
            }
            None => Some(stream.submit(ctx, Fences::new(), Work::Record(record.clone()))),
        };
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(Recorded { record, fence });
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
    pub(crate) fn record_after(&self, ctx: &Arc<Context>, fences: Fences) {
        let record = Arc::new(Record::default());
        // A stream of its own, so that nothing else waits for it.
        let stream = Stream::new(Arc::downgrade(ctx), ctx.id, crate::stream::Kind::NonBlocking, 0);
        let fence = stream.submit(ctx, fences, Work::Record(record.clone()));
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(Recorded { record, fence: Some(fence) });
    }

    fn recorded(&self) -> Option<Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the latest record has been passed; true for an event that was never recorded.
    pub(crate) fn is_done(&self) -> bool {
        self.fence().is_none()
    }

    /// The point to wait for, if the latest record has not been passed yet.
    pub(crate) fn fence(&self) -> Option<Fence> {
        self.recorded()?.fence.filter(|f| !f.is_reached())
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
