//! Marks in streams: CUDA events that are used again when nobody looks at them any more.
//!
//! To make an event costs as much as to record one. An event that is recorded again keeps what waits for its older record.

use crate::error::Result;
use rtcg_driver::{Context, Event, EventFlags, Stream, lock_ignoring_poison};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

/// The events of a device that wait to be used again.
#[derive(Default)]
pub(crate) struct MarkPool(Arc<Free>);

#[derive(Default)]
struct Free {
    /// Without times.
    plain: Mutex<Vec<Event>>,
    timed: Mutex<Vec<Event>>,
}

/// Events of one kind that are kept at most.
const MAX_FREE: usize = 1024;

/// A point in a stream. Cloning gives another reference to it.
#[derive(Clone)]
pub(crate) struct Mark(Arc<Recorded>);

struct Recorded {
    event: Event,
    is_timed: bool,
    home: Arc<Free>,
}

impl Free {
    fn lock(&self, is_timed: bool) -> MutexGuard<'_, Vec<Event>> {
        let list = if is_timed { &self.timed } else { &self.plain };
        lock_ignoring_poison(list)
    }
}

impl MarkPool {
    /// Marks the present end of a stream. `context` is the device's, and current.
    pub(crate) fn record(&self, context: &Context, stream: &Stream, is_timed: bool) -> Result<Mark> {
        let free = self.0.lock(is_timed).pop();
        let event = match free {
            Some(event) => event,
            None => {
                let flags = if is_timed { EventFlags::DEFAULT } else { EventFlags::DISABLE_TIMING };
                Event::new_in_context(context, flags.0)?
            }
        };
        event.record(Some(stream))?;
        Ok(Mark(Arc::new(Recorded { event, is_timed, home: self.0.clone() })))
    }
}

impl Deref for Mark {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.0.event
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let mut free = self.home.lock(self.is_timed);
        if free.len() < MAX_FREE {
            free.push(self.event.clone());
        }
    }
}
