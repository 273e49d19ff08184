//! Host buffers of copies in flight: each is held until its stream has passed the copy.
//!
//! An event is recorded behind the copy; later asynchronous copies look which events have
//! happened and let those buffers go. So at most the buffers of the last copies stay alive longer
//! than they need to.

use pyo3::prelude::*;
use rtcg::driver::{Event, Stream, sys};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

static IN_FLIGHT: Mutex<VecDeque<(Event, Py<PyAny>)>> = Mutex::new(VecDeque::new());

/// Holds `owner` until the work that is now in `stream` is done.
pub(crate) fn until_passed(stream: Option<&Stream>, owner: Py<PyAny>) -> rtcg::driver::Result<()> {
    let event = Event::new(sys::CU_EVENT_DISABLE_TIMING.0)?;
    event.record(stream)?;
    let mut in_flight = IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner);
    in_flight.push_back((event, owner));
    // A buffer is dropped only after the lock is released: its finaliser may run any code.
    let mut done = Vec::new();
    while in_flight.front().is_some_and(|(event, _)| event.query().unwrap_or(true)) {
        done.extend(in_flight.pop_front());
    }
    drop(in_flight);
    drop(done);
    Ok(())
}
