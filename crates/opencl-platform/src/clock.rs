//! The platform's clock, which is the host's, and times of CUDA events on it, the same for all queues of a device.
//!
//! A base is an event whose time is known: its host time lies between that of its recording and that of its first
//! sight. Within these bounds a new base goes on from the one before it, so that the times of a device do not jump.

use crate::error::Result;
use rtcg_driver::{Event, EventFlags, Stream, StreamFlags};
use rtcg_opencl_sys::cl_ulong;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The clock of this platform: nanoseconds since its first use, which profiling counts in too.
pub(crate) fn nanoseconds() -> cl_ulong {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as cl_ulong + 1
}

/// An event whose time is known.
pub(crate) struct TimeBase {
    event: Event,
    nanoseconds: cl_ulong,
}

/// The bases of a device.
pub(crate) struct DeviceClock {
    /// Nothing else is in this stream, so that what is recorded there is reached at once.
    stream: Stream,
    base: Arc<TimeBase>,
    /// The next base, and when it was recorded.
    next: Option<(Event, cl_ulong)>,
}

/// Nanoseconds after which times count from a new event: milliseconds are single precision in CUDA.
const TIME_BASE_LIFE: cl_ulong = 500_000_000;

/// Nanoseconds after which a base says too little of the next.
const MAX_GAP: cl_ulong = 4 * TIME_BASE_LIFE;

impl TimeBase {
    /// Nanoseconds of an event that has happened.
    pub(crate) fn time_of(&self, event: &Event) -> Result<cl_ulong> {
        let since = (f64::from(event.time_since(&self.event)?) * 1e6) as i64;
        Ok(self.nanoseconds.saturating_add_signed(since))
    }
}

impl DeviceClock {
    /// In the current context, which is the device's.
    pub(crate) fn new() -> Result<Self> {
        let stream = Stream::new(StreamFlags::NON_BLOCKING)?;
        let base = measured(&stream)?;
        Ok(Self { stream, base, next: None })
    }

    /// The base of a command that is submitted now. The device's context is current.
    pub(crate) fn base(&mut self) -> Result<Arc<TimeBase>> {
        let now = nanoseconds();
        match self.next.take() {
            _ if now - self.base.nanoseconds > MAX_GAP => self.base = measured(&self.stream)?,
            None if now - self.base.nanoseconds > TIME_BASE_LIFE => self.next = Some(record(&self.stream)?),
            Some((event, recorded_at)) if event.query()? => {
                let nanoseconds = self.base.time_of(&event)?.clamp(recorded_at, now);
                self.base = Arc::new(TimeBase { event, nanoseconds });
            }
            waiting => self.next = waiting,
        }
        Ok(self.base.clone())
    }
}

fn record(stream: &Stream) -> Result<(Event, cl_ulong)> {
    let event = Event::new(EventFlags::DEFAULT)?;
    let recorded_at = nanoseconds();
    event.record(Some(stream))?;
    Ok((event, recorded_at))
}

/// A base of which nothing is known but what is measured now.
fn measured(stream: &Stream) -> Result<Arc<TimeBase>> {
    let (event, recorded_at) = record(stream)?;
    event.synchronize()?;
    let nanoseconds = recorded_at + (nanoseconds() - recorded_at) / 2;
    Ok(Arc::new(TimeBase { event, nanoseconds }))
}
